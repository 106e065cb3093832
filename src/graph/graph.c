/* The graph as an object: what it says of itself, its rows, its names. See graph.h. */
#include "graph/graph.h"

#include "base/given.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tw_status twi_graph_check_vertices(tw_context *ctx, int64_t vertices)
{
    if (vertices < 0 || vertices > TWI_MOST_VERTICES) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%lld vertices: expected 0 to %d", (long long)vertices,
                       TWI_MOST_VERTICES);
    }
    return TW_OK;
}

tw_status twi_graph_allocate(tw_context *ctx, tw_graph **out, int64_t vertices, tw_type weight_type)
{
    *out = NULL;
    tw_graph *graph = NULL;
    tw_status status = twi_graph_check_vertices(ctx, vertices);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &graph, 1, sizeof *graph, "a graph");
    }
    if (status != TW_OK) {
        return status;
    }
    graph->n = vertices;
    graph->weight_type = weight_type;
    uint64_t offsets = (uint64_t)vertices + 1;
    char what[64];
    snprintf(what, sizeof what, "a graph of %lld vertices", (long long)vertices);
    status = twi_memory_check(ctx, offsets * sizeof(int64_t), what);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &graph->offsets, offsets, sizeof(int64_t),
                                  "the rows of the graph");
    }
    if (status != TW_OK) {
        tw_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return TW_OK;
}

tw_status twi_graph_allocate_arcs(tw_context *ctx, tw_graph *graph, int64_t arcs)
{
    uint64_t size = tw_type_size(graph->weight_type);
    uint64_t bytes;
    if (!twi_mul((uint64_t)arcs, size + sizeof(int32_t), &bytes)) {
        bytes = UINT64_MAX;
    }
    char what[64];
    snprintf(what, sizeof what, "a graph of %lld arcs", (long long)arcs);
    tw_status status = twi_memory_check(ctx, bytes, what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &graph->targets, (uint64_t)arcs, sizeof(int32_t),
                           "the arcs of the graph");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &graph->weights, (uint64_t)arcs, size, "the weights of the graph");
    }
    if (status == TW_OK) {
        graph->arcs = arcs;
    }
    return status;
}

const char *twi_vertex_name(char out[TWI_VERTEX_NAME], const tw_graph *graph, int64_t vertex)
{
    graph = graph->named != NULL ? graph->named : graph;
    const char *label = tw_graph_label(graph, vertex);
    if (label != NULL) {
        return label;
    }
    snprintf(out, TWI_VERTEX_NAME, "%lld", (long long)vertex + graph->first);
    return out;
}

uint64_t twi_graph_memory(const tw_graph *graph)
{
    uint64_t n = (uint64_t)graph->n;
    uint64_t arc = (graph->borrowed_targets ? 0 : sizeof *graph->targets) +
                   (graph->borrowed_weights ? 0 : tw_type_size(graph->weight_type));
    uint64_t bytes = sizeof *graph + (n + 1) * sizeof *graph->offsets + (uint64_t)graph->arcs * arc;
    if (graph->label_text != NULL && n > 0) {
        int64_t last = graph->label_offsets[n - 1];
        bytes += (uint64_t)last + strlen(graph->label_text + last) + 1 +
                 n * (sizeof *graph->label_offsets + sizeof *graph->label_order);
    }
    return bytes;
}

void twi_merge_stats(twi_weight_stats *into, const twi_weight_stats *from)
{
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->integral &= from->integral;
    into->whole &= from->whole;
}

void twi_graph_set_stats(tw_graph *graph, const twi_weight_stats *stats)
{
    bool any = graph->arcs > 0;
    graph->min_weight = any ? stats->min : 0;
    graph->max_weight = any ? stats->max : 0;
    graph->integral = any ? stats->integral : true;
    graph->whole = any ? stats->whole : true;
    graph->equal = any && stats->min == stats->max && stats->min > 0;
}

void tw_graph_destroy(tw_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    twi_free(graph->label_order);
    twi_free(graph->label_offsets);
    twi_free(graph->label_text);
    if (!graph->borrowed_weights) {
        twi_free(graph->weights);
    }
    if (!graph->borrowed_targets) {
        twi_free(graph->targets);
    }
    twi_free(graph->offsets);
    twi_free(graph);
}

tw_status tw_graph_describe(const tw_graph *graph, tw_graph_info *out)
{
    if (graph == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const tw_graph_info info = {
        .size = sizeof info,
        .vertices = graph->n,
        .arcs = graph->arcs,
        .weight_type = graph->weight_type,
        .undirected = graph->undirected,
        .equal = graph->equal,
        .integral = graph->integral,
        .labelled = graph->label_text != NULL,
        .header = graph->header_guessed,
        .first = graph->first,
        .min_weight = graph->min_weight,
        .max_weight = graph->max_weight,
    };
    return TWI_DESCRIBE(NULL, tw_graph_info, out, &info);
}

void tw_graph_rows(const tw_graph *graph, const int64_t **offsets, const int32_t **targets,
                   const void **weights)
{
    if (offsets != NULL) {
        *offsets = graph != NULL ? graph->offsets : NULL;
    }
    if (targets != NULL) {
        *targets = graph != NULL ? graph->targets : NULL;
    }
    if (weights != NULL) {
        *weights = graph != NULL ? graph->weights : NULL;
    }
}

const char *tw_graph_label(const tw_graph *graph, int64_t vertex)
{
    if (graph == NULL || graph->label_text == NULL || vertex < 0 || vertex >= graph->n) {
        return NULL;
    }
    return graph->label_text + graph->label_offsets[vertex];
}

int64_t tw_graph_find(const tw_graph *graph, const char *label)
{
    if (graph == NULL || label == NULL || graph->label_text == NULL) {
        return -1;
    }
    int64_t low = 0;
    int64_t high = graph->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int32_t vertex = graph->label_order[middle];
        int order = strcmp(graph->label_text + graph->label_offsets[vertex], label);
        if (order == 0) {
            return vertex;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

/* The lightest arc between two vertices. */
static double lightest(const tw_graph *graph, int32_t from, int32_t to)
{
    double weight = (double)INFINITY;
    for (int64_t a = graph->offsets[from]; a < graph->offsets[from + 1]; a++) {
        weight = graph->targets[a] == to ? fmin(weight, twi_graph_weight(graph, a)) : weight;
    }
    return weight;
}

bool twi_graph_is_symmetric(tw_context *ctx, const tw_graph *graph)
{
    const int64_t most = 64 * graph->arcs;
    int64_t seen = 0;
    int64_t left = 0;
    for (int32_t u = 0; u < graph->n && !graph->undirected; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int32_t v = graph->targets[a];
            const int64_t both = graph->offsets[u + 1] - graph->offsets[u] + graph->offsets[v + 1] -
                                 graph->offsets[v];
            seen += both;
            if (seen > most || twi_is_stopped(ctx, &left, both) ||
                lightest(graph, u, v) != lightest(graph, v, u)) {
                return false;
            }
        }
    }
    return true;
}

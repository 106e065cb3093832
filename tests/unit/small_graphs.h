/* Graphs for tests: written out by hand, or of every kind that matters, by a seed. */
#ifndef TW_TESTS_SMALL_GRAPHS_H
#define TW_TESTS_SMALL_GRAPHS_H

#include "harness.h"

#include "apsp/reference.h"
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of {source, target, weight}. */
static inline tw_graph *graph_of(tw_context *ctx, int64_t n, int64_t count, const double (*arcs)[3],
                                 tw_type type)
{
    int32_t source[64];
    int32_t target[64];
    int32_t whole[64];
    double real[64];
    tw_graph *graph = NULL;
    for (int64_t i = 0; i < count; i++) {
        source[i] = (int32_t)arcs[i][0];
        target[i] = (int32_t)arcs[i][1];
        whole[i] = (int32_t)arcs[i][2];
        real[i] = arcs[i][2];
    }
    const void *weight = type == TW_I32 ? (const void *)whole : (const void *)real;
    tw_edges edges = {sizeof edges, count, source, target, weight, type, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    return graph;
}

enum { SMALL_KINDS = 8 };

/* Kind 0: sparse; 1: dense; 2: zero weights in plenty; 3: undirected; 4: f32; 5: f64; 6: negative
 * whole weights; 7: negative f64 weights. No negative cycles: those kinds are non-negative graphs
 * with an arc u->v made longer by p[u] - p[v]. */
static inline tw_graph *small_graph(tw_context *ctx, int kind, int64_t n, uint64_t seed)
{
    tw_graph *graph = NULL;
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = kind == 1 || kind == 5 ? "dense" : "sparse";
    opts.vertices = n;
    opts.degree = n > 4 ? 2.5 : 0.5;
    opts.density = 0.3;
    opts.seed = seed;
    opts.directed = kind == 3 ? TW_GRAPH_DIRECTED_NO : TW_GRAPH_DIRECTED_YES;
    opts.weight_type = kind == 4 ? TW_F32 : kind == 5 || kind == 7 ? TW_F64 : TW_I32;
    opts.min_weight = 0;
    opts.max_weight = kind == 2 ? 1 : 50;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
    if (kind < 6) {
        return graph;
    }
    tw_graph *shifted = NULL;
    int32_t *source = malloc((size_t)(graph->arcs + 1) * sizeof *source);
    int32_t *whole = malloc((size_t)(graph->arcs + 1) * sizeof *whole);
    double *real = malloc((size_t)(graph->arcs + 1) * sizeof *real);
    for (int32_t u = 0; u < n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double shift = (u * 37 % 101) - (graph->targets[a] * 37 % 101);
            source[a] = u;
            real[a] = twi_graph_weight(graph, a) + shift;
            whole[a] = (int32_t)real[a];
        }
    }
    tw_edges edges = {sizeof edges,
                      graph->arcs,
                      source,
                      graph->targets,
                      kind == 6 ? (const void *)whole : (const void *)real,
                      kind == 6 ? TW_I32 : TW_F64,
                      TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &shifted, n, &edges, 0));
    free(source);
    free(whole);
    free(real);
    tw_graph_destroy(graph);
    return shifted;
}

/* The distances of the reference in `type`, as a matrix to be freed. */
static inline tw_matrix true_distances(tw_context *ctx, const tw_graph *graph, tw_type type)
{
    const int64_t n = graph->n;
    double *d = malloc((size_t)(n * n + 1) * sizeof *d);
    tw_matrix m = {malloc((size_t)(n * n + 1) * 8), n, n, n, type};
    assert_ok(ctx, twi_reference_apsp(ctx, graph, d));
    for (int64_t i = 0; i < n * n; i++) {
        if (type == TW_I32) {
            ((int32_t *)m.data)[i] = isinf(d[i]) ? TW_APSP_INF_I32 : (int32_t)d[i];
        } else if (type == TW_U16) {
            ((uint16_t *)m.data)[i] = isinf(d[i]) ? TW_APSP_INF_U16 : (uint16_t)d[i];
        } else if (type == TW_F32) {
            ((float *)m.data)[i] = (float)d[i];
        } else {
            ((double *)m.data)[i] = d[i];
        }
    }
    free(d);
    return m;
}

#endif

/*
 * Renumbering and copying the graph for the searches. The new order is grown in patches: from a
 * seed, a breadth-first walk takes vertices until the patch has 64, what it touched beyond becomes
 * seeds of later patches. Cost: two passes over the arcs.
 */
#include "apsp/search/net.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define PATCH 64 /* maximum number of sources in one batch of the lane search */

enum { FRESH = 0, WAITING = 1, TAKEN = 2 };

static size_t arc_size(twi_net_kind kind)
{
    switch (kind) {
    case TWI_NET_I32:
        return sizeof(twi_arc_i32);
    case TWI_NET_F32:
        return sizeof(twi_arc_f32);
    case TWI_NET_F64:
        return sizeof(twi_arc_f64);
    default:
        return sizeof(twi_arc_dual);
    }
}

static double searched_weight(const tw_graph *graph, const double *potential, int64_t u, int64_t a)
{
    double weight = twi_graph_weight(graph, a);
    if (potential != NULL) {
        weight += potential[u] - potential[graph->targets[a]];
        weight = weight > 0 ? weight : 0;
    }
    return weight;
}

double twi_net_max_weight(const tw_graph *graph, const double *potential)
{
    if (potential == NULL) {
        return graph->max_weight;
    }
    double max = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            max = fmax(max, searched_weight(graph, potential, u, a));
        }
    }
    return max;
}

uint64_t twi_net_memory(const tw_graph *graph, twi_net_kind kind)
{
    uint64_t n = (uint64_t)graph->n;
    /* offsets, place, vertex; while it is made also the waiting list and the marks */
    return sizeof(twi_net) + (n + 1) * 8 + n * (4 + 4 + 4 + 1) +
           (uint64_t)graph->arcs * arc_size(kind);
}

/* Fill vertex[]: patch after patch. `waiting` has room for n, `mark` is n zeros. */
static tw_status grow_patches(tw_context *ctx, const tw_graph *graph, int32_t *vertex,
                              int32_t *waiting, uint8_t *mark)
{
    int64_t taken = 0;
    int64_t waited = 0;
    int64_t waiting_count = 0;
    int64_t fresh = 0;
    int64_t left = 0;
    while (taken < graph->n) {
        int64_t seed = -1;
        while (seed < 0 && waited < waiting_count) {
            int32_t v = waiting[waited++];
            seed = mark[v] == TAKEN ? -1 : v;
        }
        while (seed < 0) {
            seed = mark[fresh] == TAKEN ? -1 : fresh;
            fresh++;
        }
        int64_t first = taken;
        int64_t head = taken;
        mark[seed] = TAKEN;
        vertex[taken++] = (int32_t)seed;
        while (head < taken) {
            int32_t u = vertex[head++];
            if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
                return twi_check_cancel(ctx);
            }
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                int32_t v = graph->targets[a];
                if (mark[v] != TAKEN && taken - first < PATCH) {
                    mark[v] = TAKEN;
                    vertex[taken++] = v;
                } else if (mark[v] == FRESH) {
                    mark[v] = WAITING;
                    waiting[waiting_count++] = v;
                }
            }
        }
    }
    return TW_OK;
}

static void put_arc(twi_net *net, int64_t at, int32_t target, double searched, double weight)
{
    switch (net->kind) {
    case TWI_NET_I32:
        ((twi_arc_i32 *)net->arc)[at] =
            (twi_arc_i32){target, searched < TW_APSP_INF_I32 ? (int32_t)searched : TW_APSP_INF_I32};
        break;
    case TWI_NET_F32:
        ((twi_arc_f32 *)net->arc)[at] = (twi_arc_f32){target, (float)searched};
        break;
    case TWI_NET_F64:
        ((twi_arc_f64 *)net->arc)[at] = (twi_arc_f64){target, searched};
        break;
    case TWI_NET_DUAL:
        ((twi_arc_dual *)net->arc)[at] = (twi_arc_dual){target, searched, weight};
        break;
    }
}

static tw_status copy_arcs(tw_context *ctx, twi_net *net, const tw_graph *graph,
                           const double *potential)
{
    int64_t at = 0;
    int64_t left = 0;
    double sum = 0;
    for (int64_t p = 0; p < net->n; p++) {
        int32_t u = net->vertex[p];
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            return twi_check_cancel(ctx);
        }
        net->offsets[p] = at;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double searched = searched_weight(graph, potential, u, a);
            sum += searched;
            net->max = fmax(net->max, searched);
            put_arc(net, at, net->place[graph->targets[a]], searched, twi_graph_weight(graph, a));
            at++;
        }
    }
    net->offsets[net->n] = at;
    net->mean = at > 0 && isfinite(sum) ? sum / (double)at : net->max;
    return TW_OK;
}

tw_status twi_net_create(tw_context *ctx, twi_net **out, const tw_graph *graph,
                         const double *potential, twi_net_kind kind)
{
    *out = NULL;
    twi_net *net = NULL;
    int32_t *waiting = NULL;
    uint8_t *mark = NULL;
    const char *what = "the copy of the graph for searches";
    uint64_t n = (uint64_t)graph->n;
    tw_status status = twi_alloc_zeroed(ctx, &net, 1, sizeof *net, what);
    if (status != TW_OK) {
        goto done;
    }
    net->n = graph->n;
    net->arcs = graph->arcs;
    net->kind = kind;
    if ((status = twi_alloc(ctx, &net->offsets, n + 1, sizeof *net->offsets, what)) != TW_OK ||
        (status = twi_alloc(ctx, &net->place, n, sizeof *net->place, what)) != TW_OK ||
        (status = twi_alloc(ctx, &net->vertex, n, sizeof *net->vertex, what)) != TW_OK ||
        (status = twi_alloc(ctx, &net->arc, (uint64_t)graph->arcs, arc_size(kind), what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &waiting, n, sizeof *waiting, what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &mark, n, 1, what)) != TW_OK ||
        (status = grow_patches(ctx, graph, net->vertex, waiting, mark)) != TW_OK) {
        goto done;
    }
    for (int64_t p = 0, left = 0; p < graph->n && !twi_is_stopped(ctx, &left, 0); p++) {
        net->place[net->vertex[p]] = (int32_t)p;
    }
    status = copy_arcs(ctx, net, graph, potential);
    if (status == TW_OK) {
        *out = net;
        net = NULL;
    }
done:
    twi_free(mark);
    twi_free(waiting);
    twi_net_destroy(net);
    return status;
}

void twi_net_destroy(twi_net *net)
{
    if (net == NULL) {
        return;
    }
    twi_free(net->arc);
    twi_free(net->vertex);
    twi_free(net->place);
    twi_free(net->offsets);
    twi_free(net);
}

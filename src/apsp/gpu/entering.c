/* Arcs by where they lead: see entering.h. */
#include "apsp/gpu/entering.h"

#include "apsp/gpu/kernels/kernels.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

/* An undirected graph has each of its arcs in both directions with one weight, unless potentials
 * tell them apart. */
static bool is_in_order(const tw_apsp_plan *plan)
{
    return plan->graph->undirected && plan->potential == NULL;
}

static tw_status turn_arcs(tw_context *ctx, twi_entering *out, const tw_graph *graph)
{
    const char *what = "the arcs sorted by target";
    tw_status status =
        twi_alloc_zeroed(ctx, &out->begin, (uint64_t)graph->n + 2, sizeof *out->begin, what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->from, (uint64_t)graph->arcs, sizeof *out->from, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->arc, (uint64_t)graph->arcs, sizeof *out->arc, what);
    }
    if (status != TW_OK) {
        return status;
    }
    const int team = twi_thread_count(ctx);
    twi_bring_in(ctx, out->from, (uint64_t)graph->arcs * sizeof *out->from, team);
    twi_bring_in(ctx, out->arc, (uint64_t)graph->arcs * sizeof *out->arc, team);
    int64_t *next = out->begin + 1; /* while filling: where the next arc to v goes */
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            return twi_check_cancel(ctx);
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            next[graph->targets[a] + 1]++;
        }
    }
    for (int64_t v = 0; v < graph->n; v++) {
        next[v + 1] += next[v];
    }
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int64_t at = next[graph->targets[a]]++;
            out->from[at] = (int32_t)u;
            out->arc[at] = (int32_t)a;
        }
    }
    return twi_check_cancel(ctx);
}

/* Calls for each part of a vertex's list, a list that is not cut being one. */
static void cut(twi_entering *out, int64_t v, int64_t *at_length, bool count)
{
    const int64_t first = out->offsets[v], end = out->offsets[v + 1];
    const bool hub = end - first > TWI_LABELS_PART;
    const int32_t parts = out->part_count;
    for (int64_t at = first; at < end; at += TWI_LABELS_PART) {
        const int64_t stop = end - at < TWI_LABELS_PART ? end : at + TWI_LABELS_PART;
        if (count) {
            at_length[stop - at]++;
        } else {
            out->items[at_length[stop - at]++] = (twi_labels_item){
                (int32_t)v, (int32_t)at, (int32_t)stop, hub ? out->part_count++ : -1};
        }
    }
    if (hub && !count) {
        out->hubs[out->hub_count] = (twi_labels_hub){(int32_t)v, parts, out->part_count};
    }
    out->hub_count += hub;
}

/* Items with as many arcs stand beside each other, so that the groups of a thread block end at the
 * same time; the longest come first. */
static tw_status cut_all(tw_context *ctx, twi_entering *out, int64_t n)
{
    int64_t at_length[TWI_LABELS_PART + 1] = {0};
    int64_t left = 0;
    for (int64_t v = 0; v < n; v++) {
        if (twi_is_stopped(ctx, &left, 1)) {
            return twi_check_cancel(ctx);
        }
        cut(out, v, at_length, true);
    }
    int64_t items = 0;
    for (int64_t length = TWI_LABELS_PART; length > 0; length--) {
        const int64_t count = at_length[length];
        at_length[length] = items;
        items += count;
    }
    tw_status status = twi_alloc(ctx, &out->items, (uint64_t)items, sizeof *out->items,
                                 "the vertices of searches");
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &out->hubs, (uint64_t)out->hub_count, sizeof *out->hubs, "the hubs");
    }
    out->hub_count = 0;
    for (int64_t v = 0; v < n && status == TW_OK; v++) {
        if (twi_is_stopped(ctx, &left, 1)) {
            status = twi_check_cancel(ctx);
            break;
        }
        cut(out, v, at_length, false);
    }
    out->item_count = status == TW_OK ? (int32_t)items : 0;
    return status;
}

tw_status twi_entering_create(tw_context *ctx, twi_entering *out, const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    memset(out, 0, sizeof *out);
    tw_status status = is_in_order(plan) ? TW_OK : turn_arcs(ctx, out, graph);
    out->offsets = out->begin != NULL ? out->begin : graph->offsets;
    out->origin = out->from != NULL ? out->from : graph->targets;
    return status == TW_OK ? cut_all(ctx, out, graph->n) : status;
}

void twi_entering_clear(twi_entering *entering)
{
    twi_free(entering->hubs);
    twi_free(entering->items);
    twi_free(entering->arc);
    twi_free(entering->from);
    twi_free(entering->begin);
    memset(entering, 0, sizeof *entering);
}

int64_t twi_entering_most_items(const tw_apsp_plan *plan)
{
    return plan->graph->n + plan->graph->arcs / TWI_LABELS_PART;
}

/* A hub of k parts has more than k - 1 times TWI_LABELS_PART arcs, and k is at least 2. */
int64_t twi_entering_most_parts(const tw_apsp_plan *plan)
{
    return 2 * (plan->graph->arcs / TWI_LABELS_PART);
}

uint64_t twi_entering_memory(const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    const uint64_t turned = is_in_order(plan) ? 0
                                              : (uint64_t)(graph->n + 2) * sizeof(int64_t) +
                                                    (uint64_t)graph->arcs * 2 * sizeof(int32_t);
    return turned + (uint64_t)twi_entering_most_items(plan) * sizeof(twi_labels_item) +
           (uint64_t)(graph->arcs / TWI_LABELS_PART) * sizeof(twi_labels_hub);
}

static void put(void *out, tw_type type, int64_t at, double weight)
{
    switch (type) {
    case TW_U16:
        ((uint16_t *)out)[at] = (uint16_t)(weight < TWI_GPU_INF_U16 ? weight : TWI_GPU_INF_U16);
        break;
    case TW_I32:
        ((int32_t *)out)[at] = (int32_t)(weight < TW_APSP_INF_I32 ? weight : TW_APSP_INF_I32);
        break;
    case TW_F32:
        ((float *)out)[at] = (float)weight;
        break;
    default:
        ((double *)out)[at] = weight;
        break;
    }
}

tw_status twi_entering_weights(tw_context *ctx, const twi_entering *entering,
                               const tw_apsp_plan *plan, tw_type type, void *out)
{
    const int64_t n = plan->graph->n;
    int64_t left = 0;
#pragma omp parallel for num_threads(twi_team(plan->threads)) firstprivate(left) schedule(static)
    for (int64_t v = 0; v < n; v++) {
        if (twi_is_stopped(ctx, &left, entering->offsets[v + 1] - entering->offsets[v])) {
            left = 0; /* from now on at each of them */
            continue;
        }
        for (int64_t at = entering->offsets[v]; at < entering->offsets[v + 1]; at++) {
            const int64_t arc = entering->arc != NULL ? entering->arc[at] : at;
            put(out, type, at, twi_plan_arc_weight(plan, entering->origin[at], (int32_t)v, arc));
        }
    }
    return twi_check_cancel(ctx);
}

/* Arcs in pieces: see pieces.h. */
#include "apsp/gpu/pieces.h"

#include "base/memory.h"

#include <string.h>

static tw_status turn_arcs(tw_context *ctx, twi_pieces *out, const tw_graph *graph)
{
    const char *what = "the reversed arcs";
    tw_status status =
        twi_alloc_zeroed(ctx, &out->entering, (uint64_t)graph->n + 2, sizeof(int64_t), what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->turned, (uint64_t)graph->arcs, sizeof(int32_t), what);
    }
    if (status != TW_OK) {
        return status;
    }
    int64_t *next = out->entering + 1; /* while filling: where the next arc into v goes */
    for (int64_t a = 0; a < graph->arcs; a++) {
        next[graph->targets[a] + 1]++;
    }
    for (int64_t v = 0; v < graph->n; v++) {
        next[v + 1] += next[v];
    }
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            out->turned[next[graph->targets[a]]++] = (int32_t)u;
        }
    }
    return TW_OK;
}

/* The pieces of one vertex: counted by length, or put where those of a length go. */
static void cut(twi_pieces *out, const int64_t *offsets, int64_t v, int64_t *at_length, bool count)
{
    const int64_t first = offsets[v], end = offsets[v + 1];
    const bool hub = end - first > TWI_HOPS_PIECE;
    for (int64_t at = first; at < end; at += TWI_HOPS_PIECE) {
        const int64_t stop = end - at < TWI_HOPS_PIECE ? end : at + TWI_HOPS_PIECE;
        if (count) {
            at_length[stop - at]++;
        } else {
            out->items[at_length[stop - at]++] =
                (twi_hops_item){(int32_t)v, (int32_t)at, (int32_t)stop, hub ? out->hub_count : -1};
        }
    }
    if (hub && !count) {
        out->hubs[out->hub_count] = (int32_t)v;
    }
    out->hub_count += hub;
}

tw_status twi_pieces_cut(tw_context *ctx, twi_pieces *out, const tw_graph *graph, bool against)
{
    int64_t at_length[TWI_HOPS_PIECE + 1] = {0};
    int64_t items = 0;
    memset(out, 0, sizeof *out);
    tw_status status = against ? turn_arcs(ctx, out, graph) : TW_OK;
    const int64_t *offsets = against ? out->entering : graph->offsets;
    out->targets = against ? out->turned : graph->targets;
    for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
        cut(out, offsets, v, at_length, true);
    }
    for (int64_t length = TWI_HOPS_PIECE; length > 0; length--) { /* where each begins */
        const int64_t count = at_length[length];
        at_length[length] = items;
        items += count;
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->items, (uint64_t)items, sizeof *out->items,
                           "the pieces of searches");
    }
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &out->hubs, (uint64_t)out->hub_count, sizeof *out->hubs, "the hubs");
    }
    out->hub_count = 0;
    for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
        cut(out, offsets, v, at_length, false);
    }
    out->item_count = status == TW_OK ? (int32_t)items : 0;
    return status;
}

void twi_pieces_clear(twi_pieces *pieces)
{
    twi_free(pieces->hubs);
    twi_free(pieces->items);
    twi_free(pieces->turned);
    twi_free(pieces->entering);
    memset(pieces, 0, sizeof *pieces);
}

/* Arcs in pieces: see pieces.h. */
#include "apsp/gpu/pieces.h"

#include "base/memory.h"

#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The pieces of a vertex, counted by length. */
static void count(const int64_t *offsets, int64_t v, int64_t *at_length)
{
    for (int64_t at = offsets[v]; at < offsets[v + 1]; at += TWI_HOPS_PIECE) {
        at_length[smaller(offsets[v + 1] - at, TWI_HOPS_PIECE)]++;
    }
}

/* Piece `number` of a vertex where those of its length go; true if there are more. */
static bool put(twi_pieces *out, const int64_t *offsets, int32_t v, int64_t number, int32_t hub,
                int64_t *at_length)
{
    const int64_t end = offsets[v + 1], first = offsets[v] + number * TWI_HOPS_PIECE;
    const int64_t length = smaller(end - first, TWI_HOPS_PIECE);
    if (length > 0) {
        out->items[at_length[length]++] =
            (twi_hops_item){v, (int32_t)first, (int32_t)(first + length), hub};
    }
    return first + length < end;
}

/* The first pieces of all vertices, then the second ones of hubs, and so on: groups that come later
 * see what others have found. `left`: as many as there are hubs. */
static void put_all(twi_pieces *out, const int64_t *offsets, int64_t n, int32_t *left,
                    int64_t *at_length)
{
    int32_t hubs = 0, more = 0;
    for (int64_t v = 0; v < n; v++) {
        const bool hub = offsets[v + 1] - offsets[v] > TWI_HOPS_PIECE;
        (void)put(out, offsets, (int32_t)v, 0, hub ? hubs : -1, at_length);
        if (hub) {
            left[hubs] = hubs;
            out->hubs[hubs++] = (int32_t)v;
        }
    }
    for (int64_t number = 1; hubs > 0; number++, hubs = more) {
        more = 0;
        for (int32_t i = 0; i < hubs; i++) {
            const int32_t hub = left[i];
            if (put(out, offsets, out->hubs[hub], number, hub, at_length)) {
                left[more++] = hub;
            }
        }
    }
}

tw_status twi_pieces_cut(tw_context *ctx, twi_pieces *out, const tw_graph *graph, bool against)
{
    int64_t at_length[TWI_HOPS_PIECE + 1] = {0};
    int64_t items = 0;
    int32_t *left = NULL;
    memset(out, 0, sizeof *out);
    tw_status status = against ? twi_graph_reverse(ctx, &out->reversed, graph) : TW_OK;
    const tw_graph *along = out->reversed != NULL ? out->reversed : graph;
    const int64_t *offsets = along->offsets;
    out->targets = along->targets;
    for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
        count(offsets, v, at_length);
        out->hub_count += offsets[v + 1] - offsets[v] > TWI_HOPS_PIECE;
    }
    for (int64_t length = TWI_HOPS_PIECE; length > 0; length--) { /* where each begins */
        const int64_t pieces = at_length[length];
        at_length[length] = items;
        items += pieces;
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->items, (uint64_t)items, sizeof *out->items,
                           "the pieces of searches");
    }
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &out->hubs, (uint64_t)out->hub_count, sizeof *out->hubs, "the hubs");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &left, (uint64_t)out->hub_count, sizeof *left, "the hubs");
    }
    if (status == TW_OK) {
        put_all(out, offsets, graph->n, left, at_length);
        out->item_count = (int32_t)items;
    }
    twi_free(left);
    return status;
}

void twi_pieces_clear(twi_pieces *pieces)
{
    twi_free(pieces->hubs);
    twi_free(pieces->items);
    tw_graph_destroy(pieces->reversed);
    memset(pieces, 0, sizeof *pieces);
}

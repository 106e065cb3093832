/* Arcs in pieces: see pieces.h. */
#include "apsp/gpu/pieces.h"

#include "base/memory.h"

#include <string.h>

/* Lists of a dense graph are in about so many pieces: a group that finds that it has nothing to do
 * takes its time, too. Tests have fewer. */
#ifndef TWI_HOPS_PIECES
#define TWI_HOPS_PIECES 8
#endif

typedef struct cutting {
    const int64_t *offsets;
    int64_t n;
    int64_t piece;      /* arcs, at most */
    int64_t *at_length; /* pieces of that length; then where the next of them goes */
    int32_t *left;      /* hubs that have more pieces */
} cutting;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_hub(const cutting *c, int64_t v)
{
    return c->offsets[v + 1] - c->offsets[v] > c->piece;
}

/* The pieces of a vertex, by length. */
static void count(const cutting *c, int64_t v)
{
    for (int64_t at = c->offsets[v]; at < c->offsets[v + 1]; at += c->piece) {
        c->at_length[smaller(c->offsets[v + 1] - at, c->piece)]++;
    }
}

/* Piece `number` of a vertex where those of its length go; true if there are more. */
static bool put(const cutting *c, twi_hops_item *items, int32_t v, int64_t number, int32_t hub)
{
    const int64_t end = c->offsets[v + 1], first = c->offsets[v] + number * c->piece;
    const int64_t length = smaller(end - first, c->piece);
    if (length > 0) {
        items[c->at_length[length]++] =
            (twi_hops_item){v, (int32_t)first, (int32_t)(first + length), hub};
    }
    return first + length < end;
}

/* The first pieces of all vertices, then the second ones of hubs, and so on: groups that come later
 * see what others have found. */
static void put_all(const cutting *c, twi_pieces *out)
{
    int32_t hubs = 0, more = 0;
    for (int64_t v = 0; v < c->n; v++) {
        const bool hub = is_hub(c, v);
        (void)put(c, out->items, (int32_t)v, 0, hub ? hubs : -1);
        if (hub) {
            c->left[hubs] = hubs;
            out->hubs[hubs++] = (int32_t)v;
        }
    }
    for (int64_t number = 1; hubs > 0; number++, hubs = more) {
        more = 0;
        for (int32_t i = 0; i < hubs; i++) {
            const int32_t hub = c->left[i];
            if (put(c, out->items, out->hubs[hub], number, hub)) {
                c->left[more++] = hub;
            }
        }
    }
}

/* How many there are of each length, the longest first, and of hubs; returns their number. */
static int64_t count_all(const cutting *c, twi_pieces *out)
{
    int64_t items = 0;
    for (int64_t v = 0; v < c->n; v++) {
        count(c, v);
        out->hub_count += is_hub(c, v);
    }
    for (int64_t length = c->piece; length > 0; length--) { /* where each begins */
        const int64_t pieces = c->at_length[length];
        c->at_length[length] = items;
        items += pieces;
    }
    return items;
}

tw_status twi_pieces_cut(tw_context *ctx, twi_pieces *out, const tw_graph *graph, bool against,
                         int threads)
{
    const char *what = "the pieces of searches";
    const int64_t usual = graph->n > 0 ? graph->arcs / graph->n / TWI_HOPS_PIECES : 0;
    cutting c = {.n = graph->n, .piece = usual > TWI_HOPS_PIECE ? usual : TWI_HOPS_PIECE};
    int64_t items = 0;
    memset(out, 0, sizeof *out);
    tw_status status = against ? twi_graph_reverse(ctx, &out->reversed, graph, threads) : TW_OK;
    const tw_graph *along = out->reversed != NULL ? out->reversed : graph;
    c.offsets = along->offsets;
    out->targets = along->targets;
    if (status == TW_OK) {
        status =
            twi_alloc_zeroed(ctx, &c.at_length, (uint64_t)c.piece + 1, sizeof *c.at_length, what);
    }
    if (status == TW_OK) {
        items = count_all(&c, out);
        status = twi_alloc(ctx, &out->items, (uint64_t)items, sizeof *out->items, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->hubs, (uint64_t)out->hub_count, sizeof *out->hubs, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &c.left, (uint64_t)out->hub_count, sizeof *c.left, what);
    }
    if (status == TW_OK) {
        put_all(&c, out);
        out->item_count = (int32_t)items;
    }
    twi_free(c.left);
    twi_free(c.at_length);
    return status;
}

void twi_pieces_clear(twi_pieces *pieces)
{
    twi_free(pieces->hubs);
    twi_free(pieces->items);
    tw_graph_destroy(pieces->reversed);
    memset(pieces, 0, sizeof *pieces);
}

/*
 * Steps that batches are spared: see spared.h. Some batches are followed up the tree. In a block of
 * theirs they have something in the rows of their sources, and in those that lower blocks lead to.
 *
 * A block S can lead to all of A(S) only if arcs go both ways. So for each vertex of A(S) two bits
 * tell whether walks whose inner vertices lie in S or below lead from S there, and from there to S:
 * an arc does, and so does a child of S which a walk from S can enter, if it leads there itself.
 * Within S every vertex is taken to reach the others: most blocks are of one vertex, or of a core.
 *
 * Time: as many steps as there are arcs and entries of A, and for each batch the entries of A of
 * the blocks above it. Memory: four bytes for an arc and one for an entry of A.
 */
#include "apsp/sweep/spared.h"

#include "base/memory.h"

#include <string.h>

#define FOLLOWED 64 /* batches, which tell what all are spared */

enum { OUT = 1, IN = 2 };

/* Of a block, while a batch is followed: its rows that the batch has anything in, and columns of
 * the batch that have a source there or below. */
typedef struct arrivals {
    int32_t rows;
    int32_t columns;
} arrivals;

typedef struct follower {
    tw_context *ctx;
    const twi_tree *tree;
    const tw_graph *graph;
    uint8_t *ways;          /* of each entry of tree->high */
    int64_t *entry;         /* of each vertex: its entry in the last list that had it */
    int32_t *lowest;        /* of each block: the first of its descendants, or itself */
    int64_t *entering_from; /* blocks + 1, into */
    int32_t *entering;      /*   vertices of higher blocks that have an arc to this one */
    arrivals *at;           /* of each block */
    int32_t *met;           /* of each vertex: the last batch that had something in its row */
} follower;

/* -------------------------------------------------------------------------------- directions */

/* Arcs that lead down, by the block that they lead to. */
static tw_status list_entering(follower *f)
{
    const tw_graph *graph = f->graph;
    const int32_t *block = f->tree->block;
    const int32_t blocks = f->tree->blocks;
    memset(f->entering_from, 0, ((size_t)blocks + 1) * sizeof *f->entering_from);
    int64_t left = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t u = 0; u < graph->n; u++) {
            if (twi_is_stopped(f->ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
                return twi_check_cancel(f->ctx);
            }
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                const int32_t b = block[graph->targets[a]];
                if (b >= block[u]) {
                    continue;
                }
                if (pass == 0) {
                    f->entering_from[b + 1]++;
                } else {
                    f->entering[f->entering_from[b]++] = u;
                }
            }
        }
        for (int32_t b = 0; b < blocks && pass == 0; b++) {
            f->entering_from[b + 1] += f->entering_from[b];
        }
    }
    memmove(f->entering_from + 1, f->entering_from, (size_t)blocks * sizeof *f->entering_from);
    f->entering_from[0] = 0;
    return twi_check_cancel(f->ctx);
}

/* What a child adds to the ways of its parent b. */
static void take_child(follower *f, int32_t b, int32_t child)
{
    const twi_tree *tree = f->tree;
    const int64_t begin = tree->high_first[child], end = tree->high_first[child + 1];
    uint8_t between = 0;
    for (int64_t h = begin; h < end; h++) {
        between |= tree->block[tree->high[h]] == b ? f->ways[h] : 0;
    }
    /* What b can enter leads on for it; what leads to b can be entered for it. */
    const uint8_t passes =
        (uint8_t)(((between & IN) != 0 ? OUT : 0) | ((between & OUT) != 0 ? IN : 0));
    for (int64_t h = begin; h < end; h++) {
        if (tree->block[tree->high[h]] != b) {
            f->ways[f->entry[tree->high[h]]] |= f->ways[h] & passes;
        }
    }
}

static tw_status find_ways(follower *f)
{
    const twi_tree *tree = f->tree;
    const tw_graph *graph = f->graph;
    memset(f->ways, 0, (size_t)tree->high_first[tree->blocks]);
    for (int32_t b = 0; b < tree->blocks; b++) {
        f->lowest[b] = b;
    }
    int64_t left = 0;
    for (int32_t b = 0; b < tree->blocks; b++) {
        if (twi_is_stopped(f->ctx, &left, tree->high_first[b + 1] - tree->high_first[b])) {
            break;
        }
        for (int64_t h = tree->high_first[b]; h < tree->high_first[b + 1]; h++) {
            f->entry[tree->high[h]] = h;
        }
        for (int32_t p = tree->first[b]; p < tree->first[b + 1]; p++) {
            const int32_t u = tree->vertex[p];
            if (twi_is_stopped(f->ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
                return twi_check_cancel(f->ctx);
            }
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                const int32_t v = graph->targets[a];
                if (tree->block[v] > b) {
                    f->ways[f->entry[v]] |= OUT;
                }
            }
        }
        for (int64_t i = f->entering_from[b]; i < f->entering_from[b + 1]; i++) {
            f->ways[f->entry[f->entering[i]]] |= IN;
        }
        for (int32_t child = b - 1; child >= f->lowest[b]; child = f->lowest[child] - 1) {
            take_child(f, b, child);
        }
        const int32_t parent = tree->parent[b];
        if (parent >= 0 && f->lowest[b] < f->lowest[parent]) {
            f->lowest[parent] = f->lowest[b];
        }
    }
    return twi_check_cancel(f->ctx);
}

/* ----------------------------------------------------------------------------------- batches */

/* The batch has something in the row of this vertex. */
static void meet(follower *f, int32_t vertex, int32_t batch)
{
    f->at[f->tree->block[vertex]].rows += f->met[vertex] != batch;
    f->met[vertex] = batch;
}

/* Steps that a batch of the sources at these places is spared. It touches their blocks and, since
 * descendants come right before a block, those above the last of them. */
static double follow(follower *f, int64_t begin, int64_t end, int32_t batch)
{
    const twi_tree *tree = f->tree;
    const int32_t last = tree->block[tree->vertex[end - 1]];
    double spared = 0;
    for (int64_t p = begin; p < end; p++) {
        meet(f, tree->vertex[p], batch);
        f->at[tree->block[tree->vertex[p]]].columns++;
    }
    for (int32_t b = tree->block[tree->vertex[begin]]; b >= 0;
         b = b < last ? b + 1 : tree->parent[b]) {
        arrivals *at = &f->at[b];
        const double size = (double)twi_tree_size(tree, b);
        const double front = size + (double)twi_tree_high(tree, b);
        const int64_t entries = at->rows > 0 ? tree->high_first[b + 1] : 0;
        for (int64_t h = tree->high_first[b]; h < entries; h++) {
            if ((f->ways[h] & OUT) != 0) {
                meet(f, tree->high[h], batch);
            }
        }
        if (tree->parent[b] >= 0) {
            f->at[tree->parent[b]].columns += at->columns;
        }
        spared += at->columns * (size - at->rows) * front;
        *at = (arrivals){0};
    }
    return spared;
}

/* Of a column, on the average of the batches that are followed. */
static double spared_steps(follower *f, int64_t width)
{
    const int64_t n = f->tree->n;
    const int64_t batches = (n + width - 1) / width;
    const int64_t followed = batches < FOLLOWED ? batches : FOLLOWED;
    double steps = 0, columns = 0;
    memset(f->at, 0, (size_t)f->tree->blocks * sizeof *f->at);
    memset(f->met, 0xff, (size_t)n * sizeof *f->met);
    for (int64_t i = 0; i < followed && !twi_is_cancelled(f->ctx); i++) {
        const int64_t begin = i * batches / followed * width;
        const int64_t end = begin + width < n ? begin + width : n;
        steps += follow(f, begin, end, (int32_t)i);
        columns += (double)(end - begin);
    }
    return columns > 0 ? steps / columns : 0;
}

/* ------------------------------------------------------------------------------------- all */

tw_status twi_tree_count_spared(tw_context *ctx, twi_tree *tree, const tw_graph *graph,
                                int64_t width)
{
    const char *what = "the steps of the sweep";
    const uint64_t n = (uint64_t)tree->n, blocks = (uint64_t)tree->blocks;
    follower f = {.ctx = ctx, .tree = tree, .graph = graph};
    tw_status status = TW_OK;
    if ((status = twi_alloc(ctx, &f.ways, (uint64_t)tree->high_first[blocks], 1, what)) != TW_OK ||
        (status = twi_alloc(ctx, &f.entry, n, sizeof *f.entry, what)) != TW_OK ||
        (status = twi_alloc(ctx, &f.lowest, blocks, sizeof *f.lowest, what)) != TW_OK ||
        (status = twi_alloc(ctx, &f.entering_from, blocks + 1, sizeof *f.entering_from, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &f.entering, (uint64_t)graph->arcs, sizeof *f.entering, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &f.at, blocks, sizeof *f.at, what)) != TW_OK ||
        (status = twi_alloc(ctx, &f.met, n, sizeof *f.met, what)) != TW_OK ||
        (status = list_entering(&f)) != TW_OK || (status = find_ways(&f)) != TW_OK) {
        goto done;
    }
    tree->spared = spared_steps(&f, width);
    status = twi_check_cancel(ctx);
done:
    twi_free(f.met);
    twi_free(f.at);
    twi_free(f.entering);
    twi_free(f.entering_from);
    twi_free(f.lowest);
    twi_free(f.entry);
    twi_free(f.ways);
    return status;
}

/* A block for each vertex, and lists of a few. */
uint64_t twi_tree_spared_memory(const tw_graph *graph)
{
    const uint64_t each = sizeof(int64_t) + sizeof(int32_t) + 4 + sizeof(int32_t) +
                          sizeof(int64_t) + sizeof(arrivals);
    return (uint64_t)graph->n * each + (uint64_t)graph->arcs * sizeof(int32_t);
}

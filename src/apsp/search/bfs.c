/*
 * Bit-parallel breadth-first search. A level takes the vertices that somebody reached at the level
 * before (and no others: a path graph has few of them at a time), spreads their sets over their
 * arcs, and keeps in each touched vertex the sources that are new to it. Every pair is written
 * once, when it is new.
 *
 * Rows lie far apart, so writing into them pair by pair misses the cache each time. Levels that fit
 * a byte are therefore gathered by vertex, 512 bytes each, and transposed at the end; deeper ones,
 * and those of graphs too large for that, go into the rows directly.
 */
#include "apsp/search/bfs.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

#define WORDS TWI_BFS_WORDS
#define GATHER_MOST 65536 /* vertices whose levels are gathered: 32 MiB of them */
#define STRIP 64          /* rows that are transposed at a time: their lines fit the cache */
#define LOOK_EVERY 256    /* vertices between two looks at the clock */

uint64_t twi_bfs_space_memory(int64_t n)
{
    uint64_t level = n <= GATHER_MOST ? TWI_BFS_MOST : 0;
    return (uint64_t)n * (3 * sizeof(twi_bfs_set) + 2 * sizeof(int32_t) + 1 + level) +
           sizeof(int32_t);
}

tw_status twi_bfs_space_create(tw_context *ctx, twi_bfs_space *space, int64_t vertices)
{
    const char *what = "the sets of the breadth-first search";
    uint64_t n = (uint64_t)vertices;
    uint64_t set = sizeof(twi_bfs_set);
    tw_status status = TW_OK;
    memset(space, 0, sizeof *space);
    if ((status = twi_alloc(ctx, &space->seen, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->front, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->coming, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->active, n, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->touched, n + 1, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->is_touched, n, 1, what)) != TW_OK ||
        (vertices <= GATHER_MOST &&
         (status = twi_alloc(ctx, &space->level, n, TWI_BFS_MOST, what)) != TW_OK)) {
        twi_bfs_space_clear(space);
    }
    return status;
}

void twi_bfs_space_clear(twi_bfs_space *space)
{
    twi_free(space->level);
    twi_free(space->is_touched);
    twi_free(space->touched);
    twi_free(space->active);
    twi_free(space->coming);
    twi_free(space->front);
    twi_free(space->seen);
    memset(space, 0, sizeof *space);
}

static inline bool is_empty(const twi_bfs_set *set)
{
    uint64_t any = 0;
    for (int i = 0; i < WORDS; i++) {
        any |= (*set)[i];
    }
    return any == 0;
}

static void fill_infinity(tw_type type, void *levels, int64_t count)
{
    if (type == TW_I32) {
        for (int64_t i = 0; i < count; i++) {
            ((int32_t *)levels)[i] = TW_APSP_INF_I32;
        }
    } else {
        memset(levels, 0xff, (size_t)count * tw_type_size(type));
    }
}

/* The level of those in `set` at vertex v into the rows. */
static void put_in_rows(const twi_bfs_job *job, const twi_bfs_set *set, void *rows, int64_t v,
                        int64_t level)
{
    int64_t n = job->graph->n;
    for (int64_t i = 0; i < WORDS; i++) {
        for (uint64_t bits = (*set)[i]; bits != 0; bits &= bits - 1) {
            int64_t at = (i * 64 + __builtin_ctzll(bits)) * n + v;
            switch (job->type) {
            case TW_U8:
                ((uint8_t *)rows)[at] = (uint8_t)level;
                break;
            case TW_U16:
                ((uint16_t *)rows)[at] = (uint16_t)level;
                break;
            default:
                ((int32_t *)rows)[at] = (int32_t)level;
                break;
            }
        }
    }
}

/* Byte k is 255 if bit k of `bits` is set, else 0 (as a little-endian word). */
static inline uint64_t spread_bits(uint64_t bits)
{
    uint64_t one_each = (bits * 0x0101010101010101u) & 0x8040201008040201u;
    return (((one_each + 0x7f7f7f7f7f7f7f7fu) & 0x8080808080808080u) >> 7) * 255;
}

/* Up to this many bits of a word are worth writing one by one. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FEW_BITS 8
#else
#define FEW_BITS 64
#endif

/* The same into the gathered levels of the vertex, which are 255 so far. */
static void put_by_vertex(const twi_bfs_set *set, uint8_t *levels, uint8_t level)
{
    const uint64_t everywhere = level * 0x0101010101010101u;
    for (int i = 0; i < WORDS; i++, levels += 64) {
        uint64_t bits = (*set)[i];
        if (__builtin_popcountll(bits) <= FEW_BITS) {
            for (; bits != 0; bits &= bits - 1) {
                levels[__builtin_ctzll(bits)] = level;
            }
            continue;
        }
        for (int k = 0; k < 8; k++) {
            uint64_t eight;
            memcpy(&eight, levels + k * 8, sizeof eight);
            eight &= everywhere | ~spread_bits((bits >> (k * 8)) & 255);
            memcpy(levels + k * 8, &eight, sizeof eight);
        }
    }
}

static void put_levels(const twi_bfs_job *job, twi_bfs_space *space, void *rows, int64_t v,
                       int64_t level)
{
    const twi_bfs_set *set = space->front + v;
    if (job->type == TW_U8 && space->level != NULL) {
        put_by_vertex(set, space->level + v * TWI_BFS_MOST, (uint8_t)level);
    } else {
        put_in_rows(job, set, rows, v, level);
    }
}

/* The gathered levels into the rows. */
static void give_rows(const twi_bfs_job *job, const twi_bfs_space *space, uint8_t *rows)
{
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(job->isa, TW_U8);
    int64_t n = job->graph->n;
    for (int64_t first = 0; first < job->count; first += STRIP) {
        int64_t count = job->count - first < STRIP ? job->count - first : STRIP;
        kernel->transpose(rows + first * n, n, space->level + first, TWI_BFS_MOST, n, count);
    }
}

/* Level 0; returns how many vertices are active. */
static int64_t start(const twi_bfs_job *job, twi_bfs_space *space, void *rows)
{
    int64_t n = job->graph->n;
    size_t bytes = (size_t)n * sizeof(twi_bfs_set);
    memset(space->seen, 0, bytes);
    memset(space->coming, 0, bytes);
    memset(space->is_touched, 0, (size_t)n);
    if (job->type == TW_U8 && space->level != NULL) {
        fill_infinity(job->type, space->level, n * TWI_BFS_MOST);
    } else {
        fill_infinity(job->type, rows, job->count * n);
    }
    int64_t active = 0;
    for (int i = 0; i < job->count; i++) {
        int64_t s = job->sources[i];
        if (is_empty(&space->seen[s])) {
            space->active[active++] = (int32_t)s;
        }
        space->seen[s][i / 64] |= (uint64_t)1 << (i % 64);
    }
    for (int64_t i = 0; i < active; i++) {
        int64_t s = space->active[i];
        space->front[s] = space->seen[s];
        put_levels(job, space, rows, s, 0);
    }
    return active;
}

/* Carry the fronts over the arcs; returns how many vertices were touched, -1 when late. */
static int64_t spread(const twi_bfs_job *job, twi_bfs_space *space, int64_t active,
                      int64_t *scanned)
{
    /* Copies: a store of a byte could change *space for all the compiler knows. */
    const tw_graph *graph = job->graph;
    twi_bfs_set *coming = space->coming;
    int32_t *list = space->touched;
    uint8_t *is_touched = space->is_touched;
    int64_t touched = 0;
    for (int64_t i = 0; i < active; i++) {
        if (job->deadline > 0 && i % LOOK_EVERY == 0 && twi_seconds() > job->deadline) {
            return -1;
        }
        int32_t u = space->active[i];
        const twi_bfs_set front = space->front[u];
        const int64_t stop = graph->offsets[u + 1];
        for (int64_t a = graph->offsets[u]; a < stop; a++) {
            int32_t v = graph->targets[a];
            coming[v] |= front;
            list[touched] = v; /* overwritten by the next one unless new */
            touched += !is_touched[v];
            is_touched[v] = 1;
        }
        *scanned += stop - graph->offsets[u];
    }
    return touched;
}

/* Keep in touched vertex v those to whom it is new; false if there are none. */
static inline bool settle(twi_bfs_space *space, int32_t v)
{
    const twi_bfs_set fresh = space->coming[v] & ~space->seen[v];
    space->seen[v] |= fresh;
    space->front[v] = fresh;
    space->coming[v] = (twi_bfs_set){0};
    space->is_touched[v] = 0;
    return !is_empty(&fresh);
}

twi_bfs_end twi_bfs(const twi_bfs_job *job, twi_bfs_space *space, void *rows, int64_t *scanned)
{
    const int64_t deepest = (int64_t)tw_apsp_infinity(job->type) - 1;
    int64_t active = start(job, space, rows);
    *scanned = 0;
    for (int64_t level = 1; active > 0 && (double)level <= job->level_limit; level++) {
        if (twi_is_cancelled(job->ctx)) {
            return TWI_BFS_CANCELLED;
        }
        int64_t touched = spread(job, space, active, scanned);
        if (touched < 0) {
            return TWI_BFS_LATE;
        }
        active = 0;
        for (int64_t i = 0; i < touched; i++) {
            int32_t v = space->touched[i];
            if (settle(space, v)) {
                if (level > deepest) {
                    return TWI_BFS_DEEP;
                }
                put_levels(job, space, rows, v, level);
                space->active[active++] = v;
            }
        }
    }
    if (job->type == TW_U8 && space->level != NULL) {
        give_rows(job, space, rows);
    }
    return TWI_BFS_DONE;
}

/*
 * Bit-parallel breadth-first search. A level takes the vertices that somebody reached at the level
 * before (and no others: a path graph has few of them at a time), spreads their sets over their
 * arcs, and keeps in each touched vertex the sources that are new to it. Those are written into the
 * rows at once: every pair is written at most once.
 */
#include "apsp/bfs.h"

#include "base/clock.h"

#include <string.h>

#define WORDS TWI_BFS_WORDS
#define LOOK_EVERY 256 /* vertices between two looks at the clock */

uint64_t twi_bfs_space_memory(int64_t n)
{
    return (uint64_t)n * (3 * WORDS * sizeof(uint64_t) + 2 * sizeof(int32_t) + 1);
}

tw_status twi_bfs_space_create(tw_context *ctx, twi_bfs_space *space, int64_t vertices)
{
    const char *what = "the sets of the breadth-first search";
    uint64_t n = (uint64_t)vertices;
    uint64_t set = WORDS * sizeof(uint64_t);
    tw_status status = TW_OK;
    memset(space, 0, sizeof *space);
    if ((status = twi_alloc(ctx, &space->seen, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->front, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->coming, n, set, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->active, n, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->touched, n + 1, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->is_touched, n, 1, what)) != TW_OK) {
        twi_bfs_space_clear(space);
    }
    return status;
}

void twi_bfs_space_clear(twi_bfs_space *space)
{
    twi_free(space->is_touched);
    twi_free(space->touched);
    twi_free(space->active);
    twi_free(space->coming);
    twi_free(space->front);
    twi_free(space->seen);
    memset(space, 0, sizeof *space);
}

static void fill_infinity(const twi_bfs_job *job, void *row)
{
    int64_t n = job->graph->n;
    if (job->type == TW_I32) {
        for (int64_t v = 0; v < n; v++) {
            ((int32_t *)row)[v] = TW_INF_I32;
        }
    } else {
        memset(row, 0xff, (size_t)n * tw_type_size(job->type));
    }
}

static inline void put_level(tw_type type, void *row, int64_t v, int64_t level)
{
    switch (type) {
    case TW_U8:
        ((uint8_t *)row)[v] = (uint8_t)level;
        break;
    case TW_U16:
        ((uint16_t *)row)[v] = (uint16_t)level;
        break;
    default:
        ((int32_t *)row)[v] = (int32_t)level;
        break;
    }
}

static inline void put_levels(tw_type type, const uint64_t *set, void *const *rows, int64_t v,
                              int64_t level)
{
    for (int i = 0; i < WORDS; i++) {
        for (uint64_t bits = set[i]; bits != 0; bits &= bits - 1) {
            put_level(type, rows[i * 64 + __builtin_ctzll(bits)], v, level);
        }
    }
}

/* Level 0; returns how many vertices are active. */
static int64_t start(const twi_bfs_job *job, twi_bfs_space *space, void *const *rows)
{
    size_t bytes = (size_t)job->graph->n * WORDS * sizeof(uint64_t);
    memset(space->seen, 0, bytes);
    memset(space->coming, 0, bytes);
    memset(space->is_touched, 0, (size_t)job->graph->n);
    int64_t active = 0;
    for (int i = 0; i < job->count; i++) {
        fill_infinity(job, rows[i]);
        int64_t s = job->sources[i];
        put_level(job->type, rows[i], s, 0);
        uint64_t *seen = space->seen + s * WORDS;
        uint64_t any = 0;
        for (int k = 0; k < WORDS; k++) {
            any |= seen[k];
        }
        if (any == 0) {
            space->active[active++] = (int32_t)s;
        }
        seen[i / 64] |= (uint64_t)1 << (i % 64);
        memcpy(space->front + s * WORDS, seen, WORDS * sizeof *seen);
    }
    return active;
}

/* Carry the fronts over the arcs; returns how many vertices were touched, -1 when late. */
static int64_t spread(const twi_bfs_job *job, twi_bfs_space *space, int64_t active,
                      int64_t *scanned)
{
    const tw_graph *graph = job->graph;
    int64_t touched = 0;
    for (int64_t i = 0; i < active; i++) {
        if (job->deadline > 0 && i % LOOK_EVERY == 0 && twi_seconds() > job->deadline) {
            return -1;
        }
        int32_t u = space->active[i];
        uint64_t front[WORDS];
        memcpy(front, space->front + (int64_t)u * WORDS, sizeof front);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            uint64_t *coming = space->coming + (int64_t)v * WORDS;
            for (int k = 0; k < WORDS; k++) {
                coming[k] |= front[k];
            }
            space->touched[touched] = v; /* overwritten by the next one unless new */
            touched += !space->is_touched[v];
            space->is_touched[v] = 1;
        }
        *scanned += graph->offsets[u + 1] - graph->offsets[u];
    }
    return touched;
}

twi_bfs_end twi_bfs(const twi_bfs_job *job, twi_bfs_space *space, void *const *rows,
                    int64_t *scanned)
{
    const int64_t deepest = (int64_t)tw_type_infinity(job->type) - 1;
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
            uint64_t *seen = space->seen + (int64_t)v * WORDS;
            uint64_t *front = space->front + (int64_t)v * WORDS;
            uint64_t *coming = space->coming + (int64_t)v * WORDS;
            uint64_t any = 0;
            for (int k = 0; k < WORDS; k++) {
                front[k] = coming[k] & ~seen[k];
                seen[k] |= coming[k];
                coming[k] = 0;
                any |= front[k];
            }
            space->is_touched[v] = 0;
            if (any != 0) {
                if (level > deepest) {
                    return TWI_BFS_DEEP;
                }
                put_levels(job->type, front, rows, v, level);
                space->active[active++] = v;
            }
        }
    }
    return TWI_BFS_DONE;
}

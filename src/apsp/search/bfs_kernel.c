/*
 * Bit-parallel breadth-first search (bfs.h), compiled once per instruction set. A narrow level
 * pushes: it takes the vertices that somebody reached at the level before (and no others: a path
 * graph has few of them at a time), spreads their sets over their arcs, and keeps in each touched
 * vertex the sources that are new to it. A wide one pulls: every vertex that still misses a source
 * gathers whom those before it have seen, and stops as soon as it misses none. That reads a set for
 * each arc where a push reads and writes one, and late levels, when few sources are missing
 * anywhere, look at a small part of the arcs.
 *
 * Rows lie far apart, so writing into them pair by pair misses the cache each time. Levels that fit
 * a byte are therefore kept as the bits of their binary numbers, one set of sources per bit and
 * vertex: a level is noted by as many operations on whole sets as its number has ones. At the end
 * the eight sets of a vertex become the bytes of its 512 sources, and those are transposed into
 * rows. Deeper levels, and those of graphs too large for that, go into the rows directly. Where
 * nobody wants rows no level is kept at all: the sets that are new at a level are counted by
 * source, sixteen at a time, as adders in hardware do it, all 512 sources side by side.
 */
#include "apsp/search/bfs.h"

#include "base/clock.h"

#include <string.h>

#define WORDS TWI_BFS_WORDS
#define PLANES TWI_BFS_PLANES
#define STRIP TWI_BFS_STRIP
#define AHEAD 24        /* arcs from a set that is fetched to the one that is read */
#define LOOK_EVERY 256  /* vertices between two looks at the clock, */
#define LOOK_ARCS 16384 /*   and arcs; */
#define FRESH_EVERY 16  /*   and at the flag, where a vertex may be the first on its page */
#define PIECE (1 << 22) /* bytes that are cleared at a time */

/* The bit of source s, and the source of a bit, such that the levels of sources stand side by side
 * when those of the bits are written out (write_levels). */
static inline int word_of(int64_t source)
{
    return (int)(source / 8 % WORDS);
}

static inline int bit_of(int64_t source)
{
    return (int)(source % 8 * 8 + source / (8 * WORDS));
}

static inline int64_t source_at(int64_t word, int bit)
{
    return (int64_t)(bit % 8 * 8 * WORDS) + word * 8 + bit / 8;
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

/* All rows of the job, unless the call is cancelled. */
static void fill_rows(const twi_bfs_job *job, void *rows)
{
    const int64_t size = (int64_t)tw_type_size(job->type), all = job->count * job->graph->n;
    for (int64_t first = 0; first < all && !twi_is_cancelled(job->ctx); first += PIECE / size) {
        const int64_t count = all - first < PIECE / size ? all - first : PIECE / size;
        fill_infinity(job->type, (char *)rows + first * size, count);
    }
}

/* Whether levels are gathered, rather than counted, or put into the rows one by one. */
static inline bool gathers(const twi_bfs_job *job, const twi_bfs_space *space)
{
    return job->folds == NULL && job->type == TW_U8 && space->plane != NULL;
}

/* The level of those in `set` at vertex v into the rows. */
static void put_in_rows(const twi_bfs_job *job, const twi_bfs_set *set, void *rows, int64_t v,
                        int64_t level)
{
    int64_t n = job->graph->n;
    for (int64_t i = 0; i < WORDS; i++) {
        for (uint64_t bits = (*set)[i]; bits != 0; bits &= bits - 1) {
            int64_t at = source_at(i, __builtin_ctzll(bits)) * n + v;
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

/* The three digits' worth of a, b and c in two: what is odd stays, a pair is carried. */
static inline twi_bfs_set add_three(twi_bfs_set *odd, const twi_bfs_set *b, const twi_bfs_set *c)
{
    const twi_bfs_set differ = *odd ^ *b;
    const twi_bfs_set carried = (*odd & *b) | (differ & *c);
    *odd = differ ^ *c;
    return carried;
}

/* Count what is held: sixteen sets become one carry, by about one step for each of them, which goes
 * on to the digits above. */
static void count_held(twi_bfs_tally *t)
{
    twi_bfs_set *digit = t->digit;
    twi_bfs_set carry[TWI_BFS_HELD / 2];
    int carries = TWI_BFS_HELD / 2, place = 0;
    for (int i = 0; i < carries; i++) {
        carry[i] = add_three(&digit[0], &t->held[2 * i], &t->held[2 * i + 1]);
    }
    for (place = 1; carries > 1; place++, carries /= 2) {
        for (int i = 0; i < carries / 2; i++) {
            carry[i] = add_three(&digit[place], &carry[2 * i], &carry[2 * i + 1]);
        }
    }
    for (; !is_empty(&carry[0]); place++) {
        const twi_bfs_set sum = digit[place] ^ carry[0];
        carry[0] &= digit[place];
        digit[place] = sum;
    }
    t->waiting = 0;
}

static inline void count_set(twi_bfs_tally *t, const twi_bfs_set *fresh)
{
    t->held[t->waiting++] = *fresh;
    t->sets++;
    if (t->waiting == TWI_BFS_HELD) {
        count_held(t);
    }
}

/* A level is complete: its counts go from the digits of all to numbers for each. */
static void end_of_level(twi_bfs_tally *t, int64_t level)
{
    const int digits = t->sets > 0 ? 64 - __builtin_clzll((uint64_t)t->sets) : 0;
    memset(t->held + t->waiting, 0, (size_t)(TWI_BFS_HELD - t->waiting) * sizeof *t->held);
    count_held(t);
    for (int half = 0; half < TWI_BFS_MOST / 32; half++) {
        uint32_t reached[32] = {0};
        for (int p = 0; p < digits; p++) {
            const uint32_t bits = (uint32_t)(t->digit[p][half / 2] >> (half % 2 * 32));
            for (uint32_t b = 0; b < 32; b++) {
                reached[b] += (bits >> b & 1) << p;
            }
        }
        for (int b = 0; b < 32; b++) {
            const int at = half * 32 + b;
            t->reached[at] += (int32_t)reached[b];
            t->sum[at] += (int64_t)reached[b] * level;
            t->most[at] = reached[b] > 0 ? (int32_t)level : t->most[at];
        }
    }
    memset(t->digit, 0, sizeof t->digit);
    t->sets = 0;
}

/* The level, from 1 on, of those in `fresh` at vertex v. Plane p of it says whose level has bit p.
 */
static inline void put_level(const twi_bfs_job *job, twi_bfs_space *space, void *rows,
                             const twi_bfs_set *fresh, int64_t v, int64_t level)
{
    if (job->folds != NULL) {
        count_set(space->tally, fresh);
        return;
    }
    if (!gathers(job, space)) {
        put_in_rows(job, fresh, rows, v, level);
        return;
    }
    for (int64_t bits = level; bits != 0; bits &= bits - 1) {
        space->plane[__builtin_ctzll((uint64_t)bits) * job->graph->n + v] |= *fresh;
    }
}

/* Memory of a set for each of n vertices, unless the call is cancelled. */
static void clear_sets(const twi_bfs_job *job, twi_bfs_set *sets, int64_t n)
{
    const int64_t most = PIECE / (int64_t)sizeof *sets;
    for (int64_t first = 0; first < n && !twi_is_cancelled(job->ctx); first += most) {
        const int64_t count = n - first < most ? n - first : most;
        memset(sets + first, 0, (size_t)count * sizeof *sets);
    }
}

/* Before the first of its levels a plane is empty. */
static void clear_plane_of(const twi_bfs_job *job, twi_bfs_space *space, int64_t level)
{
    if (gathers(job, space) && (level & (level - 1)) == 0 && level < 1 << PLANES) {
        int64_t n = job->graph->n;
        clear_sets(job, space->plane + __builtin_ctzll((uint64_t)level) * n, n);
        space->planes = __builtin_ctzll((uint64_t)level) + 1;
    }
}

/* Exchange the bits of a at places where `mask` is 0 with those of b `by` places lower. */
static inline void exchange(twi_bfs_set *a, twi_bfs_set *b, int by, uint64_t mask)
{
    const twi_bfs_set differ = ((*a >> by) ^ *b) & mask;
    *b ^= differ;
    *a ^= differ << by;
}

/* The levels of vertex v: a byte per source, in their order. Bit b of every byte of plane p goes to
 * bit p of every byte of set b. */
static void write_levels(const twi_bfs_space *space, int64_t n, int64_t v, uint8_t *levels)
{
    twi_bfs_set plane[PLANES];
    const twi_bfs_set nobody = ~space->seen[v]; /* 255: no path */
    for (int p = 0; p < PLANES; p++) {
        plane[p] = p < space->planes ? space->plane[p * n + v] | nobody : nobody;
    }
    for (int p = 0; p < PLANES; p += 2) {
        exchange(&plane[p], &plane[p + 1], 1, 0x5555555555555555u);
    }
    for (int p = 0; p < PLANES; p += 1 + (p & 1) * 2) {
        exchange(&plane[p], &plane[p + 2], 2, 0x3333333333333333u);
    }
    for (int p = 0; p < PLANES / 2; p++) {
        exchange(&plane[p], &plane[p + 4], 4, 0x0f0f0f0f0f0f0f0fu);
    }
    memcpy(levels, plane, sizeof plane);
}

/* The gathered levels into the rows. */
static void give_rows(const twi_bfs_job *job, const twi_bfs_space *space, uint8_t *rows)
{
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(job->isa, TW_U8);
    int64_t n = job->graph->n;
    for (int64_t first = 0; first < n && !twi_is_cancelled(job->ctx); first += STRIP) {
        int64_t count = n - first < STRIP ? n - first : STRIP;
        for (int64_t i = 0; i < count; i++) {
            write_levels(space, n, first + i, space->strip + i * TWI_BFS_MOST);
        }
        kernel->transpose(rows + first, n, space->strip, TWI_BFS_MOST, count, job->count);
    }
}

/* What was counted into the folds. */
static void give_folds(const twi_bfs_job *job, const twi_bfs_space *space)
{
    const twi_bfs_tally *t = space->tally;
    for (int i = 0; i < job->count; i++) {
        const int at = 64 * word_of(i) + bit_of(i);
        job->folds[i] = (twi_fold){
            .reached = t->reached[at], .sum = t->sum[at], .most = t->most[at], .farthest = -1};
    }
}

/* Level 0; returns how many vertices are active, none if cancelled. */
static int64_t start(const twi_bfs_job *job, twi_bfs_space *space, void *rows)
{
    int64_t n = job->graph->n;
    clear_sets(job, space->seen, n);
    clear_sets(job, space->coming, n);
    memset(space->is_touched, 0, (size_t)n);
    space->planes = 0;
    space->open_arcs = job->graph->arcs;
    if (job->folds != NULL) {
        memset(space->tally, 0, sizeof *space->tally);
    } else if (!gathers(job, space)) {
        fill_rows(job, rows);
    }
    int64_t active = 0;
    if (twi_is_cancelled(job->ctx)) { /* its memory may be such as nobody has touched */
        return 0;
    }
    for (int i = 0; i < job->count; i++) {
        int64_t s = job->sources[i];
        if (is_empty(&space->seen[s])) {
            space->active[active++] = (int32_t)s;
        }
        space->seen[s][word_of(i)] |= (uint64_t)1 << bit_of(i);
    }
    for (int64_t i = 0; i < active; i++) {
        int64_t s = space->active[i];
        space->front[s] = space->seen[s];
        if (job->folds == NULL && !gathers(job, space)) {
            put_in_rows(job, &space->front[s], rows, s, 0);
        }
    }
    return active;
}

/* Whether it is too late for more, or not wanted any longer. */
static inline bool has_to_stop(const twi_bfs_job *job)
{
    return twi_is_cancelled(job->ctx) ||
           (job->deadline > 0 && twi_thread_seconds() > job->deadline);
}

/* Carry the fronts over the arcs; returns how many vertices were touched, -1 when late or
 * cancelled. */
static int64_t spread(const twi_bfs_job *job, twi_bfs_space *space, int64_t active,
                      int64_t *scanned)
{
    /* Copies: a store of a byte could change *space for all the compiler knows. */
    const tw_graph *graph = job->graph;
    twi_bfs_set *coming = space->coming;
    int32_t *list = space->touched;
    uint8_t *is_touched = space->is_touched;
    int64_t touched = 0, look = 0;
    for (int64_t i = 0; i < active; i++) {
        if (i % LOOK_EVERY == 0 || *scanned >= look) {
            look = *scanned + LOOK_ARCS;
            if (has_to_stop(job)) {
                return -1;
            }
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

/* A level by its arcs from the active vertices; the new active ones. */
static int64_t push(const twi_bfs_job *job, twi_bfs_space *space, void *rows, int64_t level,
                    int64_t active, int64_t *scanned)
{
    int64_t touched = spread(job, space, active, scanned);
    active = touched < 0 ? -1 : 0;
    for (int64_t i = 0; i < touched; i++) {
        if (i % FRESH_EVERY == 0 && twi_is_cancelled(job->ctx)) {
            return -1;
        }
        int32_t v = space->touched[i];
        if (settle(space, v)) {
            put_level(job, space, rows, &space->front[v], v, level);
            space->active[active++] = v;
        }
    }
    return active;
}

/* Whom those before a vertex have seen, as far as they are missing there. From `from` on there are
 * `left` arcs in all, `count` of them the vertex's. */
static inline twi_bfs_set gather(const twi_bfs_set *seen, const int32_t *from, int64_t count,
                                 int64_t left, const twi_bfs_set *missing, int64_t *scanned)
{
    twi_bfs_set got = {0};
    int64_t a = 0;
    for (; a + 4 <= count; a += 4) {
        for (int i = 0; i < 4 && a + AHEAD + 4 <= left; i++) { /* of vertices that follow, mostly */
            __builtin_prefetch(&seen[from[a + AHEAD + i]]);
        }
        got |= (seen[from[a]] | seen[from[a + 1]]) | (seen[from[a + 2]] | seen[from[a + 3]]);
        const twi_bfs_set still = *missing & ~got;
        if (is_empty(&still)) {
            *scanned += a + 4;
            return *missing;
        }
    }
    for (; a < count; a++) {
        got |= seen[from[a]];
    }
    *scanned += count;
    return got & *missing;
}

/* Everybody. */
static twi_bfs_set all_sources(const twi_bfs_job *job)
{
    twi_bfs_set all = {0};
    for (int64_t i = 0; i < job->count; i++) {
        all[word_of(i)] |= (uint64_t)1 << bit_of(i);
    }
    return all;
}

/* A level by the arcs into all vertices that miss somebody. What those before one have seen at
 * earlier levels it has seen too, so that no fronts are needed: two lines of memory are in use for
 * each vertex, what has been seen and what will have been. */
static int64_t pull(const twi_bfs_job *job, twi_bfs_space *space, void *rows, int64_t level,
                    int64_t *scanned)
{
    const twi_bfs_set all = all_sources(job);
    const tw_graph *back = job->back;
    const twi_bfs_set *seen = space->seen;
    twi_bfs_set *coming = space->coming;
    uint8_t *is_full = space->is_touched;
    int64_t active = 0, open_arcs = 0, look = 0;
    for (int64_t v = 0; v < back->n; v++) {
        if (v % LOOK_EVERY == 0 || *scanned >= look) {
            look = *scanned + LOOK_ARCS;
            if (has_to_stop(job)) {
                return -1;
            }
        }
        if (is_full[v]) {
            continue;
        }
        const twi_bfs_set before = seen[v];
        const twi_bfs_set missing = all & ~before;
        if (is_empty(&missing)) {
            coming[v] = before;
            is_full[v] = 1;
            continue;
        }
        const int64_t first = back->offsets[v];
        const int64_t count = back->offsets[v + 1] - first;
        const twi_bfs_set fresh =
            gather(seen, back->targets + first, count, back->arcs - first, &missing, scanned);
        const twi_bfs_set left = missing & ~fresh;
        coming[v] = before | fresh;
        open_arcs += is_empty(&left) ? 0 : count;
        if (!is_empty(&fresh)) {
            put_level(job, space, rows, &fresh, v, level);
            space->active[active++] = (int32_t)v;
        }
    }
    space->coming = space->seen;
    space->seen = coming;
    space->open_arcs = open_arcs;
    return active;
}

/* From a pull to a push: the fronts of active vertices, which are what the last level added. */
static void make_fronts(const twi_bfs_job *job, twi_bfs_space *space, int64_t active)
{
    for (int64_t i = 0; i < active; i++) {
        const int32_t v = space->active[i];
        if (i % FRESH_EVERY == 0 && twi_is_cancelled(job->ctx)) {
            return;
        }
        space->front[v] = space->seen[v] & ~space->coming[v];
    }
    clear_sets(job, space->coming, job->graph->n);
    memset(space->is_touched, 0, (size_t)job->graph->n);
}

/* Whether a level is rather pulled: an arc costs about half as much, but those of every vertex
 * that misses somebody are looked at. */
static bool pulls(const twi_bfs_job *job, const twi_bfs_space *space, int64_t active)
{
    int64_t arcs = 0;
    for (int64_t i = 0; i < active; i++) {
        const int32_t u = space->active[i];
        if (i % LOOK_EVERY == 0 && twi_is_cancelled(job->ctx)) {
            return false;
        }
        arcs += job->graph->offsets[u + 1] - job->graph->offsets[u];
    }
    return job->back != NULL && 2 * arcs > space->open_arcs + job->graph->n;
}

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
twi_bfs_end PASTE(twi_bfs, TWI_KERNEL_ISA)(const twi_bfs_job *job, twi_bfs_space *space, void *rows,
                                           int64_t *scanned)
{
    const int64_t deepest =
        job->folds != NULL ? INT32_MAX : (int64_t)tw_apsp_infinity(job->type) - 1;
    int64_t active = start(job, space, rows);
    bool pulled = false;
    *scanned = 0;
    for (int64_t level = 1; active > 0 && (double)level <= job->level_limit; level++) {
        if (twi_is_cancelled(job->ctx)) {
            return TWI_BFS_CANCELLED;
        }
        clear_plane_of(job, space, level);
        const bool pulling = pulls(job, space, active);
        if (pulled && !pulling) {
            make_fronts(job, space, active);
        }
        pulled = pulling;
        active = pulling ? pull(job, space, rows, level, scanned)
                         : push(job, space, rows, level, active, scanned);
        if (active < 0) {
            return twi_is_cancelled(job->ctx) ? TWI_BFS_CANCELLED : TWI_BFS_LATE;
        }
        if (active > 0 && level > deepest) {
            return TWI_BFS_DEEP;
        }
        if (job->folds != NULL) {
            end_of_level(space->tally, level);
        }
    }
    if (twi_is_cancelled(job->ctx)) {
        return TWI_BFS_CANCELLED;
    }
    if (job->folds != NULL) {
        give_folds(job, space);
    } else if (gathers(job, space)) {
        give_rows(job, space, rows);
    }
    return TWI_BFS_DONE;
}

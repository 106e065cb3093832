/* Blocks of sources, and the counts that need no rows: see blocks.h. */
#include "reach/cpu/blocks.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define WORDS TWI_REACH_WORDS
#define BLOCK TWI_REACH_BLOCK
#define LOOK_EVERY 16384 /* sets between two looks at the cancel flag: under a millisecond */

static inline void join(twi_reach_set *into, const twi_reach_set *from)
{
    for (int i = 0; i < WORDS; i++) {
        into->word[i] |= from->word[i];
    }
}

static inline bool has(const twi_reach_set *set, int64_t bit)
{
    return (set->word[bit / 64] >> (bit % 64)) & 1;
}

static int32_t place_sources(const twi_condensation *c, const twi_reach_sources *sources,
                             twi_reach_set *sets)
{
    int32_t lowest = (int32_t)c->components;
    memset(sets, 0, (size_t)c->components * sizeof *sets);
    for (int i = 0; i < sources->count; i++) {
        const int32_t s = sources->list[i];
        lowest = s < lowest ? s : lowest;
        sets[s].word[i / 64] |= (uint64_t)1 << (i % 64);
    }
    return lowest;
}

bool twi_reach_block(tw_context *ctx, const twi_condensation *c, const twi_reach_sources *sources,
                     twi_reach_set *sets)
{
    const int32_t lowest = place_sources(c, sources, sets);
    int64_t looked = 0, steps = 0;
    for (int64_t to = lowest; to < c->components; to++) {
        twi_reach_set set = sets[to];
        const int32_t *list = c->predecessors + c->before[to];
        for (int32_t i = 0; i < c->predecessor_count[to] && list[i] >= lowest; i++) {
            join(&set, &sets[list[i]]);
            steps++;
        }
        sets[to] = set;
        if (++steps - looked >= LOOK_EVERY) {
            looked = steps;
            if (twi_is_cancelled(ctx)) {
                return false;
            }
        }
    }
    return true;
}

/* The same for the components from `lowest` on as sources, marking the redundant arcs out of them.
 * `counts` of each, by the sizes of what they reach. */
static bool count_block(tw_context *ctx, const twi_condensation *c,
                        const twi_reach_sources *sources, twi_reach_set *sets, uint8_t *redundant,
                        twi_tally *tally)
{
    const int32_t lowest = place_sources(c, sources, sets);
    const int64_t end = redundant != NULL ? lowest + (int64_t)sources->count : 0;
    int64_t looked = 0, steps = 0;
    twi_tally_clear(tally);
    for (int64_t to = lowest; to < c->components; to++) {
        twi_reach_set set = sets[to];
        const int32_t *list = c->predecessors + c->before[to];
        for (int32_t i = 0; i < c->predecessor_count[to] && list[i] >= lowest; i++) {
            if (list[i] < end && has(&set, list[i] - lowest)) {
                redundant[c->before[to] + i] = 1;
            } else {
                join(&set, &sets[list[i]]);
            }
            steps++;
        }
        sets[to] = set;
        twi_tally_add(tally, set.word, (uint64_t)c->size[to]);
        if (++steps - looked >= LOOK_EVERY) {
            looked = steps;
            if (twi_is_cancelled(ctx)) {
                return false;
            }
        }
    }
    return true;
}

/* Take marked arcs out of the lists, which keep their order. */
static void drop_redundant(twi_condensation *c, uint8_t *redundant, int32_t from, int64_t threads)
{
    (void)threads;
#pragma omp parallel for schedule(dynamic, 256) num_threads(twi_team((int)threads))
    for (int64_t to = from; to < c->components; to++) {
        int32_t *list = c->predecessors + c->before[to];
        uint8_t *marks = redundant + c->before[to];
        int32_t kept = 0;
        for (int32_t i = 0; i < c->predecessor_count[to]; i++) {
            if (!marks[i]) {
                list[kept++] = list[i];
            }
            marks[i] = 0;
        }
        c->predecessor_count[to] = kept;
    }
}

int twi_reach_team(tw_context *ctx, uint64_t beside, uint64_t each, int64_t most)
{
    const uint64_t left = twi_memory_left(ctx);
    int64_t team = twi_thread_count(ctx);
    const int64_t room = left > beside ? (int64_t)((left - beside) / (each + 1)) : 0;
    team = team < most ? team : most;
    team = team < room ? team : room;
    return team > 1 ? (int)team : 1;
}

typedef struct counting {
    twi_condensation *condensation;
    const int32_t *list;
    int64_t count;
    int64_t *counts;
    twi_reach_set *sets;
    twi_tally *tallies;
    uint8_t *redundant; /* NULL: not all components are sources */
    int team;
} counting;

/* Blocks first ... first + team - 1, counted from the last of the list. */
static bool count_round(tw_context *ctx, const counting *job, int64_t first)
{
    const twi_condensation *c = job->condensation;
    bool going = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(twi_team(job->team)) reduction(&& : going)
    for (int k = 0; k < job->team; k++) {
        const int64_t end = job->count - (first + k) * BLOCK;
        if (end <= 0) {
            continue;
        }
        const int64_t from = end > BLOCK ? end - BLOCK : 0;
        const twi_reach_sources sources = {job->list + from, (int)(end - from)};
        going = going && count_block(ctx, c, &sources, job->sets + (size_t)k * c->components,
                                     job->redundant, &job->tallies[k]);
        for (int i = 0; going && i < sources.count; i++) {
            job->counts[sources.list[i]] = twi_tally_sum(&job->tallies[k], i);
        }
    }
    return going;
}

static tw_status count_all(tw_context *ctx, const counting *job)
{
    const int64_t blocks = (job->count + BLOCK - 1) / BLOCK;
    for (int64_t first = 0; first < blocks; first += job->team) {
        if (!count_round(ctx, job, first)) {
            return twi_check_cancel(ctx);
        }
        if (job->redundant != NULL) {
            const int64_t lowest = job->count - (first + job->team) * BLOCK;
            drop_redundant(job->condensation, job->redundant, (int32_t)(lowest > 0 ? lowest : 0),
                           job->team);
        }
        const int64_t done = (first + job->team) * BLOCK;
        twi_progress(ctx, "reachability", (double)(done < job->count ? done : job->count),
                     (double)job->count, "components");
    }
    return twi_check_cancel(ctx);
}

tw_status twi_reach_count(tw_context *ctx, twi_condensation *condensation, const int32_t *list,
                          int64_t count, int64_t *counts)
{
    const char *what = "the sets of reachability";
    const uint64_t all = (uint64_t)condensation->components;
    counting job = {.condensation = condensation, .list = list, .count = count, .counts = counts};
    tw_status status = TW_OK;
    job.team = twi_reach_team(ctx, (uint64_t)condensation->arcs,
                              all * sizeof(twi_reach_set) + sizeof(twi_tally),
                              (count + BLOCK - 1) / BLOCK);
    if ((status = twi_alloc(ctx, &job.sets, (uint64_t)job.team * all, sizeof(twi_reach_set),
                            what)) != TW_OK ||
        (status = twi_alloc(ctx, &job.tallies, (uint64_t)job.team, sizeof(twi_tally), what)) !=
            TW_OK ||
        (count == condensation->components &&
         (status = twi_alloc_zeroed(ctx, &job.redundant, (uint64_t)condensation->arcs, 1, what)) !=
             TW_OK)) {
        goto done;
    }
    status = count_all(ctx, &job);
done:
    twi_free(job.redundant);
    twi_free(job.tallies);
    twi_free(job.sets);
    return status;
}

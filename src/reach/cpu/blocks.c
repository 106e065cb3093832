/* Blocks of sources, and the counts that need no rows: see blocks.h. */
#include "reach/cpu/blocks.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define WORDS TWI_REACH_WORDS
#define LOOK_EVERY 16384 /* sets between two looks at the cancel flag: under a millisecond */

static inline int32_t source_of(const twi_reach_sources *sources, int i)
{
    return sources->list != NULL ? sources->list[i] : sources->first + i;
}

static int32_t place_sources(const twi_condensation *c, const twi_reach_sources *sources,
                             uint64_t *sets, int words)
{
    int32_t lowest = (int32_t)c->components;
    memset(sets, 0, (size_t)c->components * (size_t)words * sizeof *sets);
    for (int i = 0; i < sources->count; i++) {
        const int32_t s = source_of(sources, i);
        lowest = s < lowest ? s : lowest;
        sets[(int64_t)s * words + i / 64] |= (uint64_t)1 << (i % 64);
    }
    return lowest;
}

__attribute__((always_inline)) static inline void
join(uint64_t *restrict into, const uint64_t *restrict from, const int words)
{
    for (int i = 0; i < words; i++) {
        into[i] |= from[i];
    }
}

/* A set of a constant number of words, in registers as far as they go. */
typedef struct set {
    uint64_t word[WORDS];
} set;

/* Sources of a block, and where counting puts what it finds beside their sets: the redundant arcs
 * out of the sources, which then are the components from the lowest on (NULL: not wanted), and how
 * many vertices each source reaches. */
typedef struct block {
    const twi_reach_sources *sources;
    uint64_t *sets;
    uint8_t *redundant;
    twi_tally *tally;
} block;

__attribute__((always_inline)) static inline bool close_block(tw_context *ctx,
                                                              const twi_condensation *c,
                                                              const block *b, const int words,
                                                              const bool counting)
{
    uint64_t *const sets = b->sets;
    uint8_t *const redundant = b->redundant;
    const int32_t lowest = place_sources(c, b->sources, sets, words);
    const int64_t end = counting && redundant != NULL ? lowest + (int64_t)b->sources->count : 0;
    const size_t bytes = (size_t)words * sizeof(uint64_t);
    int64_t looked = 0, steps = 0;
    for (int64_t to = lowest; to < c->components; to++) {
        const int64_t before = c->before[to];
        const int32_t count = c->predecessor_count[to];
        const int32_t *list = c->predecessors + before;
        set all;
        memcpy(&all, sets + to * words, bytes);
        for (int32_t i = 0; i < count && list[i] >= lowest; i++) {
            const int64_t bit = list[i] - lowest;
            if (counting && list[i] < end && ((all.word[bit / 64] >> (bit % 64)) & 1) != 0 &&
                redundant != NULL) {
                redundant[before + i] = 1;
            } else {
                join(all.word, sets + (int64_t)list[i] * words, words);
            }
            steps++;
        }
        memcpy(sets + to * words, &all, bytes);
        if (counting) {
            memset(all.word + words, 0, sizeof all - bytes);
            twi_tally_add(b->tally, all.word, (uint64_t)c->size[to]);
        }
        if (++steps - looked >= LOOK_EVERY) {
            looked = steps;
            if (twi_is_cancelled(ctx)) {
                return false;
            }
        }
    }
    return true;
}

__attribute__((always_inline)) static inline bool close_block_of(tw_context *ctx,
                                                                 const twi_condensation *c,
                                                                 const block *b, int words,
                                                                 const bool counting)
{
    switch (words) {
    case 1:
        return close_block(ctx, c, b, 1, counting);
    case 2:
        return close_block(ctx, c, b, 2, counting);
    case 4:
        return close_block(ctx, c, b, 4, counting);
    case 8:
        return close_block(ctx, c, b, 8, counting);
    default:
        return close_block(ctx, c, b, WORDS, counting);
    }
}

bool twi_reach_block(tw_context *ctx, const twi_condensation *c, const twi_reach_sources *sources,
                     uint64_t *sets, int words)
{
    const block b = {.sources = sources, .sets = sets};
    return close_block_of(ctx, c, &b, words, false);
}

static bool count_block(tw_context *ctx, const twi_condensation *c, const block *b, int words)
{
    twi_tally_clear(b->tally);
    return close_block_of(ctx, c, b, words, true);
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

int twi_reach_words(int64_t sources)
{
    int words = WORDS;
    while (words > 1 && sources <= 32 * words) {
        words /= 2;
    }
    return words;
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
    int words; /* of a set */
    uint64_t *sets;
    twi_tally *tallies;
    uint8_t *redundant; /* NULL: not all components are sources */
    int team;
} counting;

/* Blocks first ... first + team - 1, counted from the last of the list. */
static bool count_round(tw_context *ctx, const counting *job, int64_t first)
{
    const twi_condensation *c = job->condensation;
    const int64_t most = 64 * (int64_t)job->words;
    bool going = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(twi_team(job->team)) reduction(&& : going)
    for (int k = 0; k < job->team; k++) {
        const int64_t end = job->count - (first + k) * most;
        if (end <= 0) {
            continue;
        }
        const int64_t from = end > most ? end - most : 0;
        const twi_reach_sources sources = {job->list != NULL ? job->list + from : NULL,
                                           (int32_t)from, (int)(end - from)};
        const block b = {.sources = &sources,
                         .sets = job->sets + (size_t)k * c->components * job->words,
                         .redundant = job->redundant,
                         .tally = &job->tallies[k]};
        going = going && count_block(ctx, c, &b, job->words);
        for (int i = 0; going && i < sources.count; i++) {
            job->counts[source_of(&sources, i)] = twi_tally_sum(b.tally, i);
        }
    }
    return going;
}

static tw_status count_all(tw_context *ctx, const counting *job)
{
    const int64_t most = 64 * (int64_t)job->words;
    const int64_t blocks = (job->count + most - 1) / most;
    for (int64_t first = 0; first < blocks; first += job->team) {
        if (!count_round(ctx, job, first)) {
            return twi_check_cancel(ctx);
        }
        if (job->redundant != NULL) {
            const int64_t lowest = job->count - (first + job->team) * most;
            drop_redundant(job->condensation, job->redundant, (int32_t)(lowest > 0 ? lowest : 0),
                           job->team);
        }
        const int64_t done = (first + job->team) * most;
        twi_progress(ctx, "reachability", (double)(done < job->count ? done : job->count),
                     (double)job->count, "components");
    }
    return twi_check_cancel(ctx);
}

static uint64_t bytes_of_counter(const twi_condensation *c, int words)
{
    return (uint64_t)c->components * (uint64_t)words * sizeof(uint64_t) + sizeof(twi_tally);
}

uint64_t twi_reach_count_memory(const twi_condensation *c, bool listed)
{
    return bytes_of_counter(c, 1) + (listed ? 0 : (uint64_t)c->arcs);
}

tw_status twi_reach_count(tw_context *ctx, twi_condensation *condensation, const int32_t *list,
                          int64_t count, int64_t *counts)
{
    const char *what = "the sets of reachability";
    const uint64_t all = (uint64_t)condensation->components;
    counting job = {.condensation = condensation, .list = list, .count = count, .counts = counts};
    tw_status status = TW_OK;
    const uint64_t beside = list == NULL ? (uint64_t)condensation->arcs : 0;
    const uint64_t left = twi_memory_left(ctx);
    job.words = twi_reach_words(count);
    while (job.words > 1 && beside + bytes_of_counter(condensation, job.words) > left) {
        job.words /= 2;
    }
    const int64_t most = 64 * (int64_t)job.words;
    job.team = twi_reach_team(ctx, beside, bytes_of_counter(condensation, job.words),
                              (count + most - 1) / most);
    const uint64_t team = (uint64_t)job.team;
    if ((status = twi_alloc(ctx, &job.sets, team * all, (uint64_t)job.words * sizeof *job.sets,
                            what)) != TW_OK ||
        (status = twi_alloc(ctx, &job.tallies, team, sizeof(twi_tally), what)) != TW_OK ||
        (list == NULL &&
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

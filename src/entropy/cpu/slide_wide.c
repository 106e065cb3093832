/*
 * Four rows of f64 outputs at once: see slide_wide.h. A word of the histogram holds the counts of
 * four windows, 16 bits each. The elements that enter are found once per call: those behind the
 * runs of the first window, of the one below it, and so on; where the runs of two windows end at
 * the same element it is one element that enters both. Of a box of k rows that leaves k + 3
 * elements in place of 4 k, and as many that leave. Which lanes an element changes is known when
 * this is compiled, set by set, so nothing is asked about it in the loops.
 */
#include "entropy/cpu/slide_wide.h"

#include "base/memory.h"
#include "entropy/shared/levels.h"

#include <stdlib.h>
#include <string.h>

#define LANES TWI_WIDE_LANES
#define FIELD 16 /* bits of a count */
#define INLINE static inline __attribute__((always_inline))

#define RUNS_MOST 8192 /* of a window: more would not stay in the cache */

typedef unsigned __int128 wide;

/* The sets of lanes, in the order of the places. */
#define EACH_SET(X) \
    X(0, 0, 0)      \
    X(1, 0, 1)      \
    X(2, 0, 2) X(3, 0, 3) X(4, 1, 1) X(5, 1, 2) X(6, 1, 3) X(7, 2, 2) X(8, 2, 3) X(9, 3, 3)

/* An element and the lanes that it changes. */
typedef struct change {
    int64_t place;
    uint32_t lanes;
} change;

bool twi_wide_takes(const twi_entropy_setup *setup)
{
    return setup->shape.type == TW_F64 && setup->method == TWI_ENTROPY_LIST &&
           setup->window.size <= UINT16_MAX && setup->window.run_count <= RUNS_MOST &&
           !twi_entropy_is_wide(setup);
}

uint64_t twi_wide_bytes(const twi_entropy_setup *setup)
{
    const uint64_t changes = (uint64_t)setup->window.run_count * LANES;
    return 2 * changes * sizeof(int64_t) + changes * sizeof(change);
}

static int by_place(const void *a, const void *b)
{
    const int64_t x = ((const change *)a)->place, y = ((const change *)b)->place;
    return (x > y) - (x < y);
}

/* The set of the lanes from the lowest one of `lanes` up to the first that is not; takes them out.
 */
static int take_set(uint32_t *lanes)
{
    static const int first[LANES] = {0, 4, 7, 9};
    const int low = __builtin_ctz(*lanes);
    int high = low;
    while (high + 1 < LANES && (*lanes >> (high + 1) & 1) != 0) {
        high++;
    }
    *lanes &= ~(((uint32_t)2 << high) - ((uint32_t)1 << low));
    return first[low] + high - low;
}

/* The changes at the beginnings of the runs, or behind their ends, each element once. */
static int64_t find_changes(change *changes, const twi_window *window, int64_t pitch, bool enters)
{
    int64_t count = 0, kept = 0;
    for (int64_t i = 0; i < window->run_count; i++) {
        const twi_run *run = &window->runs[i];
        for (int lane = 0; lane < LANES; lane++) {
            changes[count++] = (change){
                (run->row + lane) * pitch + (enters ? run->end : run->begin), (uint32_t)1 << lane};
        }
    }
    qsort(changes, (size_t)count, sizeof *changes, by_place);
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && changes[kept - 1].place == changes[i].place) {
            changes[kept - 1].lanes |= changes[i].lanes;
        } else {
            changes[kept++] = changes[i];
        }
    }
    return kept;
}

/* Put the changes in order of their sets; the number of places. */
static int64_t sort_changes(int64_t *places, int64_t *counts, const change *changes, int64_t count)
{
    int64_t begin[TWI_WIDE_SETS], total = 0;
    memset(counts, 0, TWI_WIDE_SETS * sizeof *counts);
    for (int64_t i = 0; i < count; i++) {
        for (uint32_t lanes = changes[i].lanes; lanes != 0;) {
            counts[take_set(&lanes)]++;
        }
    }
    for (int s = 0; s < TWI_WIDE_SETS; s++) {
        begin[s] = total;
        total += counts[s];
    }
    for (int64_t i = 0; i < count; i++) {
        for (uint32_t lanes = changes[i].lanes; lanes != 0;) {
            places[begin[take_set(&lanes)]++] = changes[i].place;
        }
    }
    return total;
}

tw_status twi_wide_make(tw_context *ctx, twi_wide_moves *out, const twi_entropy_setup *setup,
                        int64_t pitch)
{
    const uint64_t most = (uint64_t)setup->window.run_count * LANES;
    const char *what = "the elements that a window gains and loses";
    change *changes = NULL;
    *out = (twi_wide_moves){NULL, {0}, {0}};
    tw_status status = twi_alloc(ctx, &out->places, 2 * most, sizeof *out->places, what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &changes, most, sizeof *changes, what);
    }
    if (status != TW_OK) {
        twi_wide_clear(out);
        return status;
    }
    int64_t count = find_changes(changes, &setup->window, pitch, false);
    int64_t left = sort_changes(out->places, out->leave, changes, count);
    count = find_changes(changes, &setup->window, pitch, true);
    (void)sort_changes(out->places + left, out->enter, changes, count);
    twi_free(changes);
    return TW_OK;
}

void twi_wide_clear(twi_wide_moves *moves)
{
    twi_free(moves->places);
    moves->places = NULL;
}

/* A one in the counts of the lanes lo ... hi. */
INLINE uint64_t ones(int lo, int hi)
{
    uint64_t found = 0;
    for (int j = lo; j <= hi; j++) {
        found |= (uint64_t)1 << (j * FIELD);
    }
    return found;
}

INLINE uint64_t field(uint64_t counts, int lane)
{
    return counts >> (lane * FIELD) & UINT16_MAX;
}

/* Elements that enter the windows of the lanes lo ... hi, or leave them. */
INLINE const int64_t *move_set(const uint16_t *at, const int64_t *places, int64_t count,
                               uint64_t *histogram, const wide *step, wide *sum, bool enters,
                               int lo, int hi)
{
    for (const int64_t *end = places + count; places < end; places++) {
        uint64_t *cell = histogram + at[*places];
        const uint64_t before = *cell;
        const uint64_t after = enters ? before + ones(lo, hi) : before - ones(lo, hi);
        *cell = after;
        for (int j = 0; j < LANES; j++) {
            if (lo <= j && j <= hi) {
                const wide *added = step + field(enters ? after : before, j);
                /* One load of 16 bytes, not two of 8 at sums of their own. */
                __asm__("" : "+r"(added));
                sum[j] += enters ? *added : -*added;
            }
        }
    }
    return places;
}

INLINE void move(const twi_wide_moves *moves, const uint16_t *at, uint64_t *histogram,
                 const wide *step, wide *sum)
{
    const int64_t *places = moves->places;
#define LEAVE(s, lo, hi) \
    places = move_set(at, places, moves->leave[s], histogram, step, sum, false, lo, hi);
#define ENTER(s, lo, hi) \
    places = move_set(at, places, moves->enter[s], histogram, step, sum, true, lo, hi);
    EACH_SET(LEAVE)
    EACH_SET(ENTER)
}

/* Count the windows of the first column, all lanes. */
static void begin(const twi_window *window, const uint16_t *levels, int64_t pitch,
                  uint64_t *histogram, const wide *step, wide *sum)
{
    for (int lane = 0; lane < LANES; lane++) {
        for (int64_t i = 0; i < window->run_count; i++) {
            const uint16_t *row = levels + (window->runs[i].row + lane) * pitch;
            for (int32_t x = window->runs[i].begin; x < window->runs[i].end; x++) {
                histogram[row[x]] += ones(lane, lane);
                sum[lane] += step[field(histogram[row[x]], lane)];
            }
        }
    }
}

/* Zero again what the windows of the last column counted. */
static void clear(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                  uint64_t *histogram)
{
    const twi_window *window = &setup->window;
    if (setup->opts.levels < LANES * window->size) {
        memset(histogram, 0, ((size_t)setup->opts.levels + 1) * sizeof *histogram);
        return;
    }
    for (int64_t i = 0; i < window->run_count; i++) {
        for (int lane = 0; lane < LANES; lane++) {
            const uint16_t *row = levels + (window->runs[i].row + lane) * pitch;
            for (int32_t x = window->runs[i].begin; x < window->runs[i].end; x++) {
                histogram[row[x]] = 0;
            }
        }
    }
}

void twi_slide_wide(const twi_entropy_setup *setup, const twi_wide_moves *moves,
                    const uint16_t *levels, int64_t pitch, double *out, int64_t stride,
                    int64_t live, uint64_t *histogram)
{
    const twi_window *window = &setup->window;
    const twi_entropy_table *table = &setup->table;
    const wide *step = table->wide_step;
    const int64_t end = twi_padded_cols(setup) - window->cols;
    wide sum[LANES] = {0};
    begin(window, levels, pitch, histogram, step, sum);
    for (int64_t x = 0; x <= end; x++) {
        const uint64_t uncounted = histogram[setup->opts.levels];
        for (int j = 0; j < LANES; j++) {
            if (j < live) {
                const uint64_t out_of_it = field(uncounted, j);
                const int64_t n = window->size - (int64_t)out_of_it;
                out[j * stride + x] = twi_entropy_wide_value(
                    table, table->wide_sum[n], sum[j] - table->wide_sum[out_of_it], n);
            }
        }
        if (x < end) {
            move(moves, levels + x, histogram, step, sum);
        }
    }
    clear(setup, levels + end, pitch, histogram);
}

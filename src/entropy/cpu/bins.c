/*
 * Strips of a band and what their windows differ by: see bins.h. A strip has bins for the levels
 * that its part of the band has: neighbours are alike in most images.
 */
#include "entropy/cpu/bins.h"

#include "base/context.h"
#include "entropy/cpu/permute.h"

#include <string.h>

#define STRIP 256
/* From how many rows on they are faster than the lanes. Millions of elements per second, bins and
 * lanes, on one core of a Xeon with AVX-512, a natural-like image and noise: 21 x 21 91, 56 and 72,
 * 55; 25 x 25 85, 46 and 85, 55; 31 x 31 81, 38 and 70, 39 (November 2026). */
#define ROWS_THAT_PAY 24

/* In the band's scratch: this, and the table of large counts. */
typedef struct workspace {
    uint8_t change[STRIP * (TWI_BINS + TWI_BINS_GROUP)];
    uint8_t plane[TWI_PLANES][TWI_BINS_COUNTS];
    uint16_t window[TWI_BINS + 1];
    uint16_t bin[TWI_BINS + 1]; /* of a level */
    twi_bins_list list;
} workspace;

typedef struct strip {
    const twi_entropy_setup *setup;
    const twi_permute_kernels *kernels;
    const twi_level_band *band;
    workspace *space;
    int64_t begin;
    int64_t columns;
    twi_bins_row row;
} strip;

bool twi_bins_take(const twi_entropy_setup *setup)
{
    const twi_window *window = &setup->window;
    return twi_permutes(setup->isa) != NULL && setup->opts.type == TW_F32 && window->full &&
           setup->opts.levels <= TWI_BINS && window->rows <= TWI_BINS_ROWS &&
           window->cols <= TWI_BINS_SIDE;
}

bool twi_bins_pay(const twi_entropy_setup *setup)
{
    return setup->window.rows >= ROWS_THAT_PAY;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + TWI_BINS_GROUP - 1) / TWI_BINS_GROUP * TWI_BINS_GROUP;
}

uint64_t twi_bins_scratch(const twi_entropy_setup *setup)
{
    return round_up(sizeof(workspace)) + (uint64_t)(setup->window.size + 1) * sizeof(uint64_t);
}

/* The planes of r, and what makes up for looking up the lower bits of a larger count. */
static uint64_t fill_tables(const twi_entropy_setup *setup, workspace *space, uint64_t *large)
{
    const uint64_t *total = setup->table.sum;
    const int64_t size = setup->window.size;
    const int64_t most = size < TWI_BINS_COUNTS ? size : TWI_BINS_COUNTS - 1;
    const uint64_t slope = (total[most] + (uint64_t)most - 1) / (uint64_t)most;
    memset(&space->list, 0, sizeof space->list);
    memset(space->plane, 0, sizeof space->plane);
    for (int64_t n = 0; n <= most; n++) {
        const uint64_t rest = slope * (uint64_t)n - total[n];
        for (int p = 0; p < TWI_PLANES; p++) {
            space->plane[p][n] = (uint8_t)(rest >> (8 * p));
        }
    }
    for (int64_t n = 0; n <= size; n++) {
        const int64_t lower = n % TWI_BINS_COUNTS;
        large[n] = total[n] - total[lower] - slope * (uint64_t)(n - lower);
    }
    return slope;
}

static const uint16_t *levels_of(const strip *s, int64_t row)
{
    return s->band->levels + row * s->band->pitch + s->begin;
}

/* How often each level occurs in the rows that the strip's windows have. */
static void count_levels(const strip *s, int32_t *often)
{
    const int64_t rows = s->band->count + s->setup->window.rows - 1;
    int32_t odd[TWI_BINS + 1] = {0}; /* neighbours are often alike, and would wait for each other */
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *levels = levels_of(s, r);
        for (int64_t x = 0; x + 1 < s->columns; x += 2) {
            often[levels[x]]++;
            odd[levels[x + 1]]++;
        }
        odd[levels[s->columns - 1]] += (int32_t)(s->columns % 2);
    }
    for (int32_t level = 0; level <= s->setup->opts.levels; level++) {
        often[level] += odd[level];
    }
}

/* A bin for each level that occurs, the frequent ones first: those of large counts, which are
 * looked up in more tables, share a group. */
static void choose_bins(strip *s)
{
    const int32_t none = s->setup->opts.levels;
    int32_t often[TWI_BINS + 1] = {0};
    uint16_t order[TWI_BINS];
    int32_t count = 0;
    count_levels(s, often);
    for (int32_t level = 0; level < none; level++) {
        if (often[level] > 0) {
            int32_t at = count++;
            for (; at > 0 && often[order[at - 1]] < often[level]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = (uint16_t)level;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        s->space->bin[order[i]] = (uint16_t)i;
    }
    s->row.skips = often[none] > 0;
    s->row.groups = count > 0 ? (count + TWI_BINS_GROUP - 1) / TWI_BINS_GROUP : 1;
    s->space->bin[none] = (uint16_t)(s->row.groups * TWI_BINS_GROUP);
    s->row.step = (int64_t)(s->row.groups + (s->row.skips ? 1 : 0)) * TWI_BINS_GROUP;
}

/* A row of the windows above enters them. */
static void enter_row(const strip *s, const uint16_t *levels)
{
    const uint16_t *bin = s->row.bin;
    const int64_t cols = s->setup->window.cols;
    uint8_t *change = s->row.change;
    for (int64_t x = 0; x < cols; x++) {
        s->row.window[bin[levels[x]]]++;
    }
    for (int64_t x = 0; x + 1 < s->row.outputs; x++, change += s->row.step) {
        change[bin[levels[x + cols]]]++;
        change[bin[levels[x]]]--;
    }
}

static void run_strip(strip *s)
{
    const int32_t rows = s->setup->window.rows;
    choose_bins(s);
    memset(s->space->change, 0, (size_t)(s->row.outputs * s->row.step));
    memset(s->space->window, 0, sizeof s->space->window);
    for (int32_t r = 0; r < rows; r++) {
        enter_row(s, levels_of(s, r));
    }
    for (int64_t y = 0; y < s->band->count; y++) {
        /* Behind the last row, what enters also leaves. */
        s->row.entering = levels_of(s, y + 1 < s->band->count ? y + rows : y);
        s->row.leaving = levels_of(s, y);
        s->row.out = s->band->out + y * s->band->stride + s->begin;
        s->kernels->bins(&s->row);
    }
}

void twi_bins_run(tw_context *ctx, const twi_entropy_setup *setup, const twi_level_band *band)
{
    workspace *space = band->scratch;
    uint64_t *large = (uint64_t *)((char *)band->scratch + round_up(sizeof *space));
    strip s = {.setup = setup,
               .kernels = twi_permutes(setup->isa),
               .band = band,
               .space = space,
               .row = {.setup = setup,
                       .window = space->window,
                       .change = space->change,
                       .bin = space->bin,
                       .plane = (const uint8_t(*)[TWI_BINS_COUNTS])space->plane,
                       .large = large,
                       .list = &space->list}};
    s.row.slope = fill_tables(setup, space, large);
    for (s.begin = 0; s.begin < setup->shape.cols && !twi_is_cancelled(ctx); s.begin += STRIP) {
        const int64_t left = setup->shape.cols - s.begin;
        s.row.outputs = left < STRIP ? left : STRIP;
        s.columns = s.row.outputs + setup->window.cols - 1;
        run_strip(&s);
    }
}

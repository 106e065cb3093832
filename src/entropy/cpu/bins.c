/*
 * Strips of a band and their columns: see bins.h. A strip has bins for the levels that its part of
 * the band has, from the lowest to the highest: neighbours are alike in most images.
 */
#include "entropy/cpu/bins.h"

#include "entropy/cpu/permute.h"

#include <string.h>

#define STRIP 256
/* From how many rows on they are faster than the lanes. Millions of elements per second, lanes and
 * bins, on one core of a Xeon with AVX-512, a natural-like image and noise: 15 x 15 106, 70 and
 * 113, 55; 21 x 21 53, 64 and 48, 42; 31 x 31 37, 55 and 38, 51; 63 x 63 18, 27 and 19, 46
 * (November 2026). */
#define ROWS_THAT_PAY 24

/* In the band's scratch: this, the columns, and the table of large counts. */
typedef struct workspace {
    uint8_t plane[TWI_PLANES][TWI_BINS_COUNTS];
    uint8_t none[STRIP + TWI_BINS_SIDE];
    twi_bins_list list;
} workspace;

typedef struct strip {
    const twi_entropy_setup *setup;
    const twi_permute_kernels *kernels;
    const twi_level_band *band;
    uint8_t *column;
    uint8_t *none;
    int64_t begin;
    int64_t columns;
    int64_t width; /* bytes of a column */
    bool skips;    /* some of the elements do not count */
    uint16_t lowest;
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

static uint64_t columns_bytes(const twi_entropy_setup *setup)
{
    return (uint64_t)(STRIP + setup->window.cols) * TWI_BINS;
}

uint64_t twi_bins_scratch(const twi_entropy_setup *setup)
{
    return round_up(sizeof(workspace)) + columns_bytes(setup) +
           (uint64_t)(setup->window.size + 1) * sizeof(uint64_t);
}

/* The planes of r, and what makes up for looking up the lower bits of a larger count. */
static uint64_t fill_tables(const twi_entropy_setup *setup, workspace *space, uint64_t *large)
{
    const uint64_t *total = setup->table.sum;
    const int64_t size = setup->window.size;
    const int64_t most = size < TWI_BINS_COUNTS ? size : TWI_BINS_COUNTS - 1;
    const uint64_t slope = (total[most] + (uint64_t)most - 1) / (uint64_t)most;
    memset(space, 0, sizeof *space);
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

/* The levels of all rows that the strip's windows have. */
static void choose_bins(strip *s)
{
    const int64_t rows = s->band->count + s->setup->window.rows - 1;
    const uint16_t none = (uint16_t)s->setup->opts.levels;
    uint16_t lowest = UINT16_MAX, highest = 0, highest_of_all = 0;
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *levels = levels_of(s, r);
        for (int64_t x = 0; x < s->columns; x++) {
            const uint16_t level = levels[x];
            const uint16_t counted = level == none ? 0 : level;
            lowest = level < lowest ? level : lowest;
            highest = counted > highest ? counted : highest;
            highest_of_all = level > highest_of_all ? level : highest_of_all;
        }
    }
    s->lowest = lowest < highest ? lowest : highest;
    s->skips = highest_of_all == none;
    s->row.groups = (highest - s->lowest) / TWI_BINS_GROUP + 1;
    s->width = (int64_t)s->row.groups * TWI_BINS_GROUP;
}

static void count_one(const strip *s, int64_t x, uint16_t level, int by)
{
    uint8_t *bin =
        level == s->setup->opts.levels ? s->none + x : s->column + x * s->width + level - s->lowest;
    *bin = (uint8_t)(*bin + by);
}

/* The row `enters`, counted from the band's first, enters the columns; `leaves`, if it is not
 * below 0, leaves them. */
static void move_row(const strip *s, int64_t enters, int64_t leaves)
{
    const uint16_t *entering = levels_of(s, enters);
    const uint16_t *leaving = leaves >= 0 ? levels_of(s, leaves) : NULL;
    if (s->skips || leaving == NULL) {
        for (int64_t x = 0; x < s->columns; x++) {
            count_one(s, x, entering[x], 1);
            if (leaving != NULL) {
                count_one(s, x, leaving[x], -1);
            }
        }
        return;
    }
    uint8_t *column = s->column;
    const int64_t width = s->width;
    int64_t at = -(int64_t)s->lowest;
    for (int64_t x = 0; x < s->columns; x++, at += width) {
        column[at + entering[x]]++;
        column[at + leaving[x]]--;
    }
}

static void run_strip(strip *s)
{
    const int32_t rows = s->setup->window.rows;
    choose_bins(s);
    memset(s->column, 0, (size_t)(s->columns * s->width));
    memset(s->none, 0, (size_t)s->columns);
    for (int32_t r = 0; r < rows - 1; r++) {
        move_row(s, r, -1);
    }
    for (int64_t y = 0; y < s->band->count; y++) {
        move_row(s, y + rows - 1, y - 1);
        s->row.out = s->band->out + y * s->band->stride + s->begin;
        s->kernels->bins(&s->row);
    }
}

void twi_bins_run(const twi_entropy_setup *setup, const twi_level_band *band)
{
    char *scratch = band->scratch;
    workspace *space = band->scratch;
    uint8_t *column = (uint8_t *)scratch + round_up(sizeof *space);
    uint64_t *large = (uint64_t *)(column + columns_bytes(setup));
    strip s = {.setup = setup,
               .kernels = twi_permutes(setup->isa),
               .band = band,
               .column = column,
               .none = space->none,
               .row = {.setup = setup,
                       .column = column,
                       .none = space->none,
                       .plane = (const uint8_t(*)[TWI_BINS_COUNTS])space->plane,
                       .large = large,
                       .list = &space->list}};
    s.row.slope = fill_tables(setup, space, large);
    for (s.begin = 0; s.begin < setup->shape.cols; s.begin += STRIP) {
        const int64_t left = setup->shape.cols - s.begin;
        s.row.outputs = left < STRIP ? left : STRIP;
        s.columns = s.row.outputs + setup->window.cols - 1;
        run_strip(&s);
    }
}

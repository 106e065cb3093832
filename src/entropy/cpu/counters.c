/*
 * Few levels on one band (kernels.h): the band is cut into strips of columns whose counters stay in
 * the first-level cache, and each strip goes down the band row by row.
 *
 * The counters of a strip start from the rows of the first windows. With cropped borders rows and
 * columns outside the input are never counted: columns there have level 0 on both sides of every
 * change, which is no change, and rows there are left to a plain loop over the columns inside.
 */
#include "entropy/cpu/kernels.h"
#include "entropy/cpu/permute.h"

#include <string.h>

#define STRIP 1024     /* outputs of a strip; 16 bytes of counters for each column */
#define QUAD_STRIP 256 /* where four rows go together; 64 bytes for each column, and 16 */
#define QUAD_COLUMNS (QUAD_STRIP + TWI_PLANE + TWI_GROUP)
#define CHANGES 256

/* What a strip needs, one after the other in the band's scratch. */
typedef struct workspace {
    _Alignas(TWI_CACHE_LINE) uint8_t columns[QUAD_COLUMNS][TWI_QUAD][TWI_COUNTERS];
    uint8_t changes[TWI_QUAD][QUAD_COLUMNS];
    uint32_t sums[TWI_QUAD][QUAD_STRIP + TWI_GROUP];
    uint8_t delta[CHANGES][TWI_COUNTERS];
    uint8_t column[STRIP + TWI_PLANE + TWI_GROUP][TWI_COUNTERS];
    uint8_t change[STRIP + TWI_PLANE + TWI_GROUP];
    uint8_t plane[TWI_PLANES][TWI_PLANE];
    uint16_t sum[TWI_PLANES][STRIP + TWI_GROUP];
} workspace;

/* A strip of one band. */
typedef struct strip {
    const twi_entropy_setup *setup;
    const twi_counters_kernel *kernel;
    void (*quad)(const twi_counters_quad *quad); /* NULL: rows go one by one */
    const twi_counters_band *band;
    workspace *space;
    twi_counters_row row;
    int64_t begin;    /* column of the result, and of the padded array */
    int64_t outputs;  /* columns of the result */
    int64_t in_begin; /* columns of the padded array that lie inside the input, from `begin` */
    int64_t in_end;
} strip;

uint64_t twi_counters_scratch(const twi_entropy_setup *setup)
{
    (void)setup;
    return sizeof(workspace);
}

static void fill_tables(const twi_entropy_setup *setup, workspace *space)
{
    memset(space->delta, 0, sizeof space->delta);
    for (int change = 0; change < CHANGES; change++) {
        space->delta[change][change >> 4]++;
        space->delta[change][change & 15]--;
    }
    memset(space->plane, 0, sizeof space->plane);
    for (int64_t n = 0; n <= setup->window.size; n++) {
        for (int p = 0; p < TWI_PLANES; p++) {
            space->plane[p][n] = (uint8_t)(setup->table.sum[n] >> (8 * p));
        }
    }
}

static bool crops(const strip *s)
{
    return s->setup->opts.border == TW_ENTROPY_BORDER_CROP;
}

/* Whether row `row` of the padded array counts. */
static bool row_counts(const strip *s, int64_t row)
{
    int64_t place = row - s->setup->above;
    return !crops(s) || (place >= 0 && place < s->setup->in->rows);
}

/* Levels of row `row` of the padded array, from the strip's first column. */
static const uint8_t *levels_of(const strip *s, int64_t row)
{
    return s->band->levels + (row - s->band->first) * s->band->pitch + s->begin;
}

/* Count a row in (by = 1) or out (by = -1), if it counts. */
static void count_row(const strip *s, int64_t row, int by)
{
    if (!row_counts(s, row)) {
        return;
    }
    const uint8_t *levels = levels_of(s, row);
    for (int64_t x = s->in_begin; x < s->in_end; x++) {
        s->space->column[x][levels[x]] = (uint8_t)(s->space->column[x][levels[x]] + by);
    }
}

/* The columns of the band's first windows. */
static void count_first(const strip *s)
{
    for (int32_t r = 0; r < s->setup->window.rows; r++) {
        count_row(s, s->band->first + r, 1);
    }
}

/* Bring the columns to the windows of row y: leaves to the kernel what the kernel does best. */
static void advance(const strip *s, int64_t y)
{
    const int32_t rows = s->setup->window.rows;
    const int64_t columns = s->outputs + s->setup->window.cols - 1;
    uint8_t *change = s->space->change;
    if (y == s->band->first) {
        count_first(s);
        memset(change, 0, sizeof s->space->change);
    } else if (row_counts(s, y - 1) && row_counts(s, y + rows - 1)) {
        s->kernel->pair(change, levels_of(s, y + rows - 1), levels_of(s, y - 1), columns);
    } else {
        count_row(s, y - 1, -1);
        count_row(s, y + rows - 1, 1);
        memset(change, 0, sizeof s->space->change);
    }
}

/* Elements of `count` from `begin` that lie in 0 ... end-1. */
static int64_t inside(int64_t begin, int64_t count, int64_t end)
{
    int64_t from = begin > 0 ? begin : 0;
    int64_t to = begin + count < end ? begin + count : end;
    return to > from ? to - from : 0;
}

/* Columns of the window of output x that lie inside the input. */
static int64_t columns_inside(const strip *s, int64_t x)
{
    return inside(s->begin + x - s->setup->before, s->setup->window.cols, s->setup->in->cols);
}

/* The first output from x on whose window is cropped at a side; behind the last one if none is. */
static int64_t next_cropped(const strip *s, int64_t x)
{
    const twi_entropy_setup *setup = s->setup;
    if (!crops(s)) {
        return s->outputs;
    }
    if (x < s->outputs && columns_inside(s, x) == setup->window.cols) {
        /* So are all up to the last one inside. */
        x = setup->in->cols - setup->window.cols + setup->before - s->begin + 1;
    }
    return x;
}

/* The row of outputs y. Windows that lie inside have the row's own total; cropped ones are finished
 * again, each with its own. */
static void make_row(strip *s, int64_t y)
{
    const twi_entropy_setup *setup = s->setup;
    const twi_window *window = &setup->window;
    const uint64_t *total = setup->table.sum;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    int64_t high =
        crops(s) ? inside(y - setup->above, window->rows, setup->in->rows) : window->rows;
    s->row.out = s->band->out + (y - s->band->first) * s->band->stride + s->begin;
    s->row.total = (uint32_t)total[window->cols * high];
    s->row.factor = 1 / ((double)(window->cols * high) * unit);
    s->kernel->row(&s->row);
    for (int64_t x = next_cropped(s, 0); x < s->outputs; x = next_cropped(s, x + 1)) {
        const int64_t wide = columns_inside(s, x);
        s->kernel->finish(&s->row, x, x + 1, (uint32_t)total[wide * high],
                          1 / ((double)(wide * high) * unit));
    }
}

/* Whether the rows of outputs y ... y + 3 go together: no row that enters or leaves is cropped, and
 * none of the first windows of a band. */
static bool takes_quad(const strip *s, int64_t y)
{
    const int64_t end = s->band->first + s->band->count;
    const int64_t last = y + TWI_QUAD - 1;
    return s->quad != NULL && last < end && row_counts(s, y > s->band->first ? y - 1 : y) &&
           row_counts(s, last + s->setup->window.rows - 1);
}

/* Four rows of outputs from y on. */
static void make_quad(strip *s, int64_t y)
{
    const twi_entropy_setup *setup = s->setup;
    const twi_window *window = &setup->window;
    const uint64_t *total = setup->table.sum;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    workspace *space = s->space;
    twi_counters_quad quad = {.delta = s->row.delta,
                              .column = space->column,
                              .columns = space->columns,
                              .window_cols = window->cols,
                              .outputs = s->row.outputs,
                              .planes = s->row.planes,
                              .live = s->outputs,
                              .total = (uint32_t)total[window->size],
                              .factor = 1 / ((double)window->size * unit)};
    for (int i = 0; i < TWI_QUAD; i++) {
        if (y + i == s->band->first) {
            count_first(s);
            memset(space->changes[i], 0, sizeof space->changes[i]);
        } else {
            s->kernel->pair(space->changes[i], levels_of(s, y + i + window->rows - 1),
                            levels_of(s, y + i - 1), s->outputs + window->cols - 1);
        }
        quad.change[i] = space->changes[i];
        quad.sum[i] = space->sums[i];
        quad.out[i] = s->band->out + (y + i - s->band->first) * s->band->stride + s->begin;
    }
    s->quad(&quad);
    for (int64_t x = next_cropped(s, 0); x < s->outputs; x = next_cropped(s, x + 1)) {
        const int64_t n = columns_inside(s, x) * window->rows;
        for (int i = 0; i < TWI_QUAD; i++) {
            quad.out[i][x] = (float)((double)((uint32_t)total[n] - space->sums[i][x]) *
                                     (1 / ((double)n * unit)));
        }
    }
}

static void run_strip(strip *s)
{
    workspace *space = s->space;
    const int64_t cols = s->setup->window.cols;
    const int64_t columns = s->outputs + cols - 1;
    s->in_begin = 0;
    s->in_end = columns;
    if (crops(s)) {
        int64_t before = s->setup->before - s->begin;
        int64_t after = before + s->setup->in->cols;
        s->in_begin = before > 0 ? before : 0;
        s->in_end = after < columns ? after : columns;
    }
    memset(space->column, 0, sizeof space->column);
    memset(space->change, 0, sizeof space->change);
    memset(space->changes, 0, sizeof space->changes);
    s->row = (twi_counters_row){.change = space->change,
                                .delta = (const uint8_t(*)[TWI_COUNTERS])space->delta,
                                .column = space->column,
                                .window_cols = (int32_t)cols,
                                .outputs = (s->outputs + TWI_GROUP - 1) / TWI_GROUP * TWI_GROUP,
                                .live = s->outputs};
    s->row.planes = space->plane[0];
    for (int p = 0; p < TWI_PLANES; p++) {
        s->row.sum[p] = space->sum[p];
    }
    int64_t y = s->band->first;
    while (y < s->band->first + s->band->count) {
        if (takes_quad(s, y)) {
            make_quad(s, y);
            y += TWI_QUAD;
        } else {
            advance(s, y);
            make_row(s, y++);
        }
    }
}

void twi_counters_run(const twi_entropy_setup *setup, const twi_counters_kernel *kernel,
                      const twi_counters_band *band)
{
    const twi_permute_kernels *permutes = twi_permutes(kernel->isa);
    strip s = {.setup = setup,
               .kernel = kernel,
               .quad = permutes != NULL                         ? permutes->quad
                       : setup->window.size <= TWI_SHUFFLE_MOST ? kernel->quad
                                                                : NULL,
               .band = band,
               .space = band->scratch};
    const int64_t width = s.quad != NULL ? QUAD_STRIP : STRIP;
    fill_tables(setup, s.space);
    for (s.begin = 0; s.begin < setup->shape.cols; s.begin += width) {
        int64_t left = setup->shape.cols - s.begin;
        s.outputs = left < width ? left : width;
        run_strip(&s);
    }
}

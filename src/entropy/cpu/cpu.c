/*
 * Bands and threads: the rows of the result are cut into bands, each thread takes one after the
 * other. For a band the rows of the padded array that its windows cover are turned into levels in a
 * buffer of the thread's own, small enough to stay in its cache, and a kernel runs over them. A
 * band knows nothing of its neighbours, so the input may come in bands too.
 *
 * Rows that two bands share are converted twice; bands are at least as high as the window, so no
 * more than that, unless there are fewer rows: a band is no higher than those.
 */
#include "entropy/cpu/cpu.h"

#include "base/memory.h"
#include "base/threads.h"
#include "entropy/cpu/bins.h"
#include "entropy/cpu/kernels.h"
#include "entropy/cpu/slide.h"
#include "entropy/cpu/slide_wide.h"
#include "entropy/cpu/stacks.h"
#include "entropy/shared/levels.h"

#include <stdatomic.h>
#include <string.h>

#define BUFFER_ELEMENTS ((int64_t)1 << 18)   /* of levels: half a megabyte of u16 */
#define BUFFER_OF_BINS (2 * BUFFER_ELEMENTS) /* which look at a row once for each strip only */
#define BAND_GRAIN 8                         /* rows: the lanes of the widest kernel */
#define BANDS_A_THREAD 4 /* at least, so that no thread waits long for another */

/* What the threads share. */
typedef struct job {
    tw_context *ctx;
    const twi_entropy_setup *setup;
    const twi_counters_kernel *counters;
    int64_t first, count; /* rows of the result */
    int64_t band;         /* rows of a band */
    int64_t pitch;        /* elements of a row of levels */
    char *out;
    int64_t stride;
    twi_wide_moves moves; /* of f64 results, where their rows go together */
    char *scratch;        /* one part for each thread */
    uint64_t part;        /* bytes of a part */
    uint64_t levels_bytes;
    atomic_int_fast64_t done;
} job;

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

/* Rows of outputs that go together. */
static int64_t grain_of(const twi_entropy_setup *setup)
{
    return setup->method == TWI_ENTROPY_STACKS ? TWI_STACK : BAND_GRAIN;
}

static int64_t choose_band(const job *j, int threads)
{
    const int64_t window = j->setup->window.rows;
    const int64_t room = j->setup->method == TWI_ENTROPY_BINS ? BUFFER_OF_BINS : BUFFER_ELEMENTS;
    int64_t band = room / (j->pitch > 0 ? j->pitch : 1);
    int64_t share = j->count / ((int64_t)threads * BANDS_A_THREAD);
    band = band < share ? band : share;
    band = band > window ? band : window;
    band = band < j->count ? band : j->count;
    return round_up(band > 0 ? band : 1, grain_of(j->setup));
}

/* The threads that have a band: others would wait in vain. */
static int team_of(const job *j, int threads)
{
    const int64_t bands = (j->count + j->band - 1) / j->band;
    return bands < threads ? (int)bands : threads;
}

/* Rows of levels behind a band: the lanes read whole groups. */
static int64_t band_rows(const job *j)
{
    return round_up(j->band, grain_of(j->setup)) + j->setup->window.rows - 1;
}

/* Bytes of levels of a band, and of a thread's part; false if they cannot be counted. */
static bool count_scratch(job *j)
{
    const twi_entropy_setup *setup = j->setup;
    uint64_t bytes, rest;
    if (setup->method == TWI_ENTROPY_COUNTERS) {
        rest = twi_counters_scratch(setup);
    } else if (setup->method == TWI_ENTROPY_BINS) {
        rest = twi_bins_scratch(setup);
    } else if (setup->method == TWI_ENTROPY_STACKS) {
        rest = twi_stacks_scratch(setup);
    } else {
        rest = (uint64_t)twi_slide_words(setup) * sizeof(uint64_t);
    }
    if (!twi_mul((uint64_t)band_rows(j), (uint64_t)j->pitch, &bytes) ||
        !twi_mul(bytes, twi_entropy_is_wide(setup) ? sizeof(uint32_t) : sizeof(uint16_t), &bytes) ||
        bytes > (uint64_t)INT64_MAX / 2) {
        return false;
    }
    j->levels_bytes = (bytes + TWI_CACHE_LINE) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    j->part = j->levels_bytes + (rest + 2 * TWI_CACHE_LINE) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    return true;
}

static tw_status plan_scratch(job *j, int team)
{
    if (!count_scratch(j)) {
        return tw_fail(j->ctx, TW_ERR_MEMORY, "a band of %lld x %lld levels cannot be addressed",
                       (long long)band_rows(j), (long long)j->pitch);
    }
    return twi_alloc(j->ctx, &j->scratch, (uint64_t)team, j->part, "the levels of the bands");
}

/* Where row `row` of the result goes. */
static void *out_row(const job *j, int64_t row)
{
    const size_t size = tw_type_size(j->setup->shape.type);
    return j->out + (size_t)((row - j->first) * j->stride) * size;
}

/* The one case in which levels need more than 16 bits. */
static void slide_wide_band(const job *j, int64_t first, int64_t count, char *part)
{
    uint32_t *levels = (uint32_t *)part;
    uint64_t *histogram = (uint64_t *)(part + j->levels_bytes);
    for (int64_t r = 0; r < count + j->setup->window.rows - 1; r++) {
        twi_levels_row_u32(j->setup, first + r, levels + r * j->pitch);
    }
    for (int64_t y = 0; y < count && !twi_is_cancelled(j->ctx); y++) {
        const uint32_t *at = levels + y * j->pitch;
        if (j->setup->shape.type == TW_F64) {
            twi_slide_list_u32_f64(j->setup, at, j->pitch, out_row(j, first + y), histogram);
        } else {
            twi_slide_list_u32(j->setup, at, j->pitch, out_row(j, first + y), histogram);
        }
    }
}

/* Rows of outputs that the kernel takes at once. */
static int32_t rows_at_once(const job *j)
{
    switch (j->setup->method) {
    case TWI_ENTROPY_STACKS:
        return TWI_STACK;
    case TWI_ENTROPY_LANES:
        return twi_lane_count(&j->setup->window);
    default:
        return j->moves.places != NULL ? TWI_WIDE_LANES : 1;
    }
}

/* As many rows of outputs as go together, of which `live` are written. */
static void slide_rows(const job *j, const uint16_t *levels, void *out, int64_t live,
                       uint64_t *histogram)
{
    const twi_entropy_setup *setup = j->setup;
    if (j->moves.places != NULL) {
        twi_slide_wide(setup, &j->moves, levels, j->pitch, out, j->stride, live, histogram);
    } else if (setup->method == TWI_ENTROPY_LANES) {
        twi_slide_lanes(setup, levels, j->pitch, out, j->stride, live, histogram);
    } else if (setup->shape.type == TW_F64) {
        twi_slide_list_u16_f64(setup, levels, j->pitch, out, histogram);
    } else {
        twi_slide_list_u16(setup, levels, j->pitch, out, histogram);
    }
}

static void slide_band(const job *j, int64_t first, int64_t count, char *part)
{
    const twi_entropy_setup *setup = j->setup;
    const int64_t rows = count + setup->window.rows - 1;
    const int32_t at_once = rows_at_once(j);
    const int64_t spare = round_up(count, at_once) - count;
    uint16_t *levels = (uint16_t *)part;
    for (int64_t r = 0; r < rows; r++) {
        twi_levels_row_u16(setup, first + r, levels + r * j->pitch);
    }
    memset(levels + rows * j->pitch, 0, (size_t)(spare * j->pitch) * sizeof *levels);
    const twi_level_band band = {
        levels, j->pitch, count, out_row(j, first), j->stride, part + j->levels_bytes};
    if (setup->method == TWI_ENTROPY_BINS) {
        twi_bins_run(j->ctx, setup, &band);
        return;
    }
    if (setup->method == TWI_ENTROPY_STACKS) {
        twi_stacks_run(j->ctx, setup, &band);
        return;
    }
    for (int64_t y = 0; y < count && !twi_is_cancelled(j->ctx); y += at_once) {
        const int64_t live = count - y < at_once ? count - y : at_once;
        slide_rows(j, levels + y * j->pitch, out_row(j, first + y), live, band.scratch);
    }
}

static void count_band(const job *j, int64_t first, int64_t count, char *part)
{
    const twi_entropy_setup *setup = j->setup;
    uint8_t *levels = (uint8_t *)part;
    for (int64_t r = 0; r < count + setup->window.rows - 1; r++) {
        twi_levels_row_u8(setup, first + r, levels + r * j->pitch);
    }
    twi_counters_band band = {.levels = levels,
                              .pitch = j->pitch,
                              .first = first,
                              .count = count,
                              .out = out_row(j, first),
                              .stride = j->stride,
                              .scratch = part + j->levels_bytes};
    twi_counters_run(setup, j->counters, &band);
}

static void work(job *j, int64_t bands)
{
    char *part = j->scratch + (uint64_t)twi_thread_id() * j->part;
    if (j->setup->method == TWI_ENTROPY_LANES || j->setup->method == TWI_ENTROPY_LIST) {
        memset(part + j->levels_bytes, 0, (size_t)twi_slide_words(j->setup) * sizeof(uint64_t));
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t b = 0; b < bands; b++) {
        int64_t first = b * j->band;
        int64_t count = j->count - first < j->band ? j->count - first : j->band;
        if (twi_is_cancelled(j->ctx)) {
            continue;
        }
        if (j->setup->method == TWI_ENTROPY_COUNTERS) {
            count_band(j, j->first + first, count, part);
        } else if (twi_entropy_is_wide(j->setup)) {
            slide_wide_band(j, j->first + first, count, part);
        } else {
            slide_band(j, j->first + first, count, part);
        }
        int64_t done = atomic_fetch_add_explicit(&j->done, count, memory_order_relaxed) + count;
        if (twi_thread_id() == 0) {
            twi_progress(j->ctx, "entropy", (double)(j->first + done), (double)j->setup->shape.rows,
                         "rows");
        }
    }
}

uint64_t twi_entropy_scratch(tw_context *ctx, const twi_entropy_setup *setup, int64_t rows)
{
    const int threads = twi_thread_count(ctx);
    uint64_t bytes;
    job j = {.setup = setup, .count = rows, .pitch = twi_padded_cols(setup)};
    j.band = choose_band(&j, threads);
    if (!count_scratch(&j) || !twi_mul(j.part, (uint64_t)team_of(&j, threads), &bytes)) {
        return UINT64_MAX / 2;
    }
    return bytes + (twi_wide_takes(setup) ? twi_wide_bytes(setup) : 0);
}

tw_status twi_entropy_bands(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                            int64_t count, void *out, int64_t stride, int64_t band)
{
    const int threads = twi_threads_for(ctx, count * twi_padded_cols(setup));
    job j = {.ctx = ctx,
             .setup = setup,
             .first = first,
             .count = count,
             .pitch = twi_padded_cols(setup),
             .out = out,
             .stride = stride};
    if (count == 0 || setup->shape.cols == 0) {
        return twi_check_cancel(ctx);
    }
    atomic_init(&j.done, 0);
    j.counters = twi_counters_kernel_find(setup->isa);
    j.band = band > 0 ? band : choose_band(&j, threads);
    const int team = team_of(&j, threads);
    tw_status status = plan_scratch(&j, team);
    if (status == TW_OK && twi_wide_takes(setup)) {
        status = twi_wide_make(ctx, &j.moves, setup, j.pitch);
    }
    if (status != TW_OK) {
        twi_free(j.scratch);
        return status;
    }
    const int64_t bands = (count + j.band - 1) / j.band;
#pragma omp parallel num_threads(twi_team(team)) if (team > 1)
    work(&j, bands);
    twi_wide_clear(&j.moves);
    twi_free(j.scratch);
    return twi_check_cancel(ctx);
}

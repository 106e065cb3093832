/*
 * Histograms that slide: see slide.h. Moving a window of k rows one column costs k elements that
 * enter and k that leave, each a count and a look-up of what the count adds to the sum, so nothing
 * depends on the number of levels.
 *
 * For full windows several rows of outputs go together (slide_lanes.h): windows above each other
 * share all but one row, so 8 windows of 9 rows read, count and store 16 elements per column
 * instead of 72; the look-ups stay. Windows of other shapes go row by row.
 */
#include "entropy/cpu/slide.h"

#include "entropy/shared/levels.h"

#define LEVELS_OF_TWO 4096 /* two histograms of more would not stay in the cache */
#define OUTPUTS_OF_TWO 64  /* narrower rows would be mostly beginnings */

/* Rows of windows whose counts fit bytes: each of them changes a sum by no more than T[N] - T[N-1],
 * which is below (1 + ln 255) 2^F / ln(base) < 6.55 * 2^25.12, and all by less than 2^32. */
#define ROWS_OF_BYTES 18

/* Whether the lanes run over both halves of a row at once. The sums of twice eight lanes and their
 * places do not fit the registers: 9 x 9 went from 7.0 to 7.5 ns per element with them, 5 x 5 from
 * 5.7 to 5.1 (Neoverse V1, November 2026). */
static bool has_two_streams(const twi_entropy_setup *setup)
{
    return setup->opts.levels <= LEVELS_OF_TWO && setup->shape.cols >= OUTPUTS_OF_TWO &&
           twi_lane_count(&setup->window) == 4;
}

#define LANES 8
#define FIELD 8
#define NAME bytes
#include "entropy/cpu/slide_lanes.h"

#define LANES 4
#define FIELD 8
#define NAME short_bytes
#include "entropy/cpu/slide_lanes.h"

#define LANES 4
#define FIELD 16
#define NAME words
#include "entropy/cpu/slide_lanes.h"

static bool has_byte_counts(const twi_window *window)
{
    return window->size <= UINT8_MAX && window->rows <= ROWS_OF_BYTES;
}

int64_t twi_slide_words(const twi_entropy_setup *setup)
{
    return (has_two_streams(setup) ? 2 : 1) * (int64_t)(setup->opts.levels + 1);
}

int32_t twi_lane_count(const twi_window *window)
{
    if (!window->full || window->rows < 4 || window->size > UINT16_MAX) {
        return 0;
    }
    return has_byte_counts(window) && window->rows >= 8 ? 8 : 4;
}

void twi_slide_lanes(const twi_entropy_setup *setup, const uint16_t *levels, int64_t pitch,
                     float *out, int64_t stride, int64_t live, uint64_t *histogram)
{
    if (!has_byte_counts(&setup->window)) {
        slide_words(setup, levels, pitch, out, stride, live, histogram);
    } else if (setup->window.rows >= 8) {
        slide_bytes(setup, levels, pitch, out, stride, live, histogram);
    } else {
        slide_short_bytes(setup, levels, pitch, out, stride, live, histogram);
    }
}

/* f32 */
#define SUM uint64_t
#define RESULT float
#define TOTALS sum
#define STEPS step
#define VALUE(total, sum, n, unit) twi_entropy_value(total, sum, n, unit)

#define LEVEL uint16_t
#define NAME u16
#include "entropy/cpu/slide_list.h"

#define LEVEL uint32_t
#define NAME u32
#include "entropy/cpu/slide_list.h"

#undef SUM
#undef RESULT
#undef TOTALS
#undef STEPS
#undef VALUE

/* f64 */
#define SUM unsigned __int128
#define RESULT double
#define TOTALS wide_sum
#define STEPS wide_step
#define VALUE(total, sum, n, unit) twi_entropy_wide_value(&setup->table, total, sum, n)

#define LEVEL uint16_t
#define NAME u16_f64
#include "entropy/cpu/slide_list.h"

#define LEVEL uint32_t
#define NAME u32_f64
#include "entropy/cpu/slide_list.h"

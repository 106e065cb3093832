/* Stacks of a band and what they share: see stack_run.h. */
#include "entropy/cpu/stacks.h"

#include "base/context.h"
#include "entropy/cpu/bins.h"
#include "entropy/cpu/slide.h"

#include <string.h>

/* In the band's scratch: this, then the ring of columns and the tables. */
typedef struct workspace {
    _Alignas(TWI_CACHE_LINE) uint16_t count[TWI_STACK_LEVELS + 1][TWI_STACK];
    _Alignas(TWI_CACHE_LINE) twi_stack_level level[TWI_STACK_LEVELS];
    _Alignas(TWI_CACHE_LINE) uint16_t ones[TWI_STACK_ROWS + TWI_STACK - 1][TWI_STACK];
    _Alignas(TWI_CACHE_LINE) float tile[TWI_STACK_TILE][TWI_STACK];
} workspace;

/* From how many rows on they are faster than the lanes, if those need 16 bits for a count.
 * Nanoseconds per element, stacks and lanes, on one core of a Xeon of 2019, a natural-like image
 * and noise: 15 x 15 (8 bits) 14, 15 and 22, 14; 31 x 15 15, 23 and 22, 22; 17 x 17 14, 24 and 23,
 * 24; 31 x 31 20, 40 and 28, 40 (November 2026). */
#define ROWS_THAT_PAY 15
#define ROWS_THAT_ALWAYS_PAY 19 /* if many rows of the last stack are not needed, too */

/* From here on the bins are taken where they can be had. Millions of elements per second, stacks
 * and bins, on one core of a Xeon with byte permutes, a natural-like image and noise: 31 x 31 78,
 * 81 and 53, 70; 47 x 47 59, 73 and 43, 73; 63 x 63 49, 60 and 39, 68; 127 x 127 26, 21 and 19, 44.
 * Images of few values and gradients are faster by stacks in all that were measured: of four values
 * 31 x 31 90, 49, 63 x 63 77, 46 (November 2026). */
#define ROWS_FOR_BINS 40

#define SLIDE 8192 /* columns of outputs between two looks at the cancel flag */

typedef void stack_run(const twi_stack *stack);

/* NULL where this ISA has none. */
static stack_run *run_of(twi_isa isa)
{
#ifdef TWI_HAVE_AVX512
    if (isa == TWI_ISA_AVX512) {
        return twi_stack_run_avx512;
    }
#endif
    (void)isa;
    return NULL;
}

bool twi_stacks_take(const twi_entropy_setup *setup)
{
    const twi_window *window = &setup->window;
    return run_of(setup->isa) != NULL && setup->opts.type == TW_F32 && window->full &&
           setup->opts.levels <= TWI_STACK_LEVELS && window->rows <= TWI_STACK_ROWS &&
           window->size <= UINT16_MAX;
}

bool twi_stacks_pay(const twi_entropy_setup *setup)
{
    const int32_t rows = setup->window.rows;
    return rows >= ROWS_THAT_PAY && twi_lane_count(&setup->window) != 8 &&
           !(rows >= ROWS_FOR_BINS && twi_bins_take(setup)) &&
           setup->shape.rows >= (rows < ROWS_THAT_ALWAYS_PAY ? 4 * TWI_STACK : TWI_STACK / 2);
}

static int64_t room_of(const twi_entropy_setup *setup)
{
    return (setup->window.cols / TWI_STACK_COLUMNS + 2) * TWI_STACK_COLUMNS;
}

static uint64_t table_size(const twi_entropy_setup *setup)
{
    return (uint64_t)setup->window.size + 1 + (uint64_t)2 * TWI_STACK_TABLE;
}

uint64_t twi_stacks_scratch(const twi_entropy_setup *setup)
{
    return sizeof(workspace) + (uint64_t)room_of(setup) * sizeof(twi_stack_column) +
           table_size(setup) * (sizeof(uint32_t) + sizeof(uint16_t));
}

static void fill_ones(workspace *space, int32_t rows)
{
    for (int32_t r = 0; r < rows + TWI_STACK - 1; r++) {
        for (int32_t w = 0; w < TWI_STACK; w++) {
            space->ones[r][2 * (w % 16) + w / 16] = w <= r && r < w + rows;
        }
    }
}

static void fill_tables(const twi_entropy_setup *setup, uint32_t *lower, uint16_t *upper)
{
    for (uint64_t n = 0; n < table_size(setup); n++) {
        const uint64_t total = n <= (uint64_t)setup->window.size ? setup->table.sum[n] : 0;
        lower[n] = (uint32_t)total;
        upper[n] = (uint16_t)(total >> TWI_STACK_SHIFT);
    }
}

void twi_stacks_run(tw_context *ctx, const twi_entropy_setup *setup, const twi_level_band *band)
{
    workspace *space = band->scratch;
    twi_stack_column *column = (twi_stack_column *)(space + 1);
    uint32_t *lower = (uint32_t *)(column + room_of(setup));
    uint16_t *upper = (uint16_t *)(lower + table_size(setup));
    fill_ones(space, setup->window.rows);
    fill_tables(setup, lower, upper);
    twi_stack stack = {.setup = setup,
                       .pitch = band->pitch,
                       .count = space->count,
                       .level = space->level,
                       .column = column,
                       .room = room_of(setup),
                       .ones = (const uint16_t(*)[TWI_STACK])space->ones,
                       .lower = lower,
                       .upper = upper,
                       .tile = space->tile,
                       .stride = band->stride};
    for (int64_t y = 0; y < band->count; y += TWI_STACK) {
        const int64_t below = band->count - y;
        stack.live = below < TWI_STACK ? below : TWI_STACK;
        for (int64_t x = 0; x < setup->shape.cols && !twi_is_cancelled(ctx); x += SLIDE) {
            const int64_t right = setup->shape.cols - x;
            memset(space->count, 0, sizeof space->count);
            memset(space->level, 0, sizeof space->level);
            stack.levels = band->levels + y * band->pitch + x;
            stack.out = band->out + y * band->stride + x;
            stack.outputs = right < SLIDE ? right : SLIDE;
            run_of(setup->isa)(&stack);
        }
    }
}

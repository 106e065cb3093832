/*
 * The inner loops of the counters (kernels.h), compiled once per instruction set. Eight outputs
 * are made at once: their sixteen counts each stay in registers while the planes are looked up and
 * summed, eight sums to a vector.
 *
 * The divisor is below 2^24, and so is the number it divides: both are exact in f32, and the f32
 * quotient has the bits of the f64 quotient rounded to f32, since 53 >= 2 * 24 + 2.
 */
#include "entropy/kernels.h"

#include "base/simd.h"

/* out[x] = (total - the planes of sum[x]) / divisor; the difference is exact. */
static inline __attribute__((always_inline)) void
finish(float *out, uint16_t *const *sum, int64_t begin, int64_t end, int32_t total, float divisor)
{
    for (int64_t x = begin; x < end; x++) {
        int32_t whole = sum[0][x] + (sum[1][x] << 8) + (sum[2][x] << 16);
        out[x] = (float)(total - whole) / divisor;
    }
}

static void counters_finish(const twi_counters_row *row, int64_t begin, int64_t end, int32_t total,
                            float divisor)
{
    finish(row->out, row->sum, begin, end, total, divisor);
}

static inline __attribute__((always_inline)) void run_row(const twi_counters_row *row,
                                                          int64_t window_cols)
{
    const uint8_t *change = row->change;
    const uint8_t(*delta)[TWI_COUNTERS] = row->delta;
    uint8_t(*column)[TWI_COUNTERS] = row->column;
    const int64_t outputs = row->outputs;
    const int64_t whole = row->live / TWI_GROUP * TWI_GROUP;
    const int32_t total = row->total;
    const float divisor = row->divisor;
    float *out = row->out;
    uint16_t *const sum[TWI_PLANES] = {row->sum[0], row->sum[1], row->sum[2]};
    const lookup32 plane[TWI_PLANES] = {load_lookup32(row->plane[0]), load_lookup32(row->plane[1]),
                                        load_lookup32(row->plane[2])};
    bytes16 window = zero_bytes16();
    bytes16 leaving = zero_bytes16();
    for (int64_t x = 0; x < window_cols - 1; x++) {
        bytes16 entering = add_bytes16(load_bytes16(column[x]), load_bytes16(delta[change[x]]));
        store_bytes16(column[x], entering);
        window = add_bytes16(window, entering);
    }
    for (int64_t x = 0; x < outputs; x += TWI_GROUP) {
        bytes16 counts[TWI_GROUP];
        bytes16 found[TWI_GROUP];
        sums8 sums[TWI_PLANES];
        bytes16 entered[TWI_GROUP];
        for (int i = 0; i < TWI_GROUP; i++) {
            const int64_t at = x + i + window_cols - 1;
            entered[i] = add_bytes16(load_bytes16(column[at]), load_bytes16(delta[change[at]]));
            store_bytes16(column[at], entered[i]);
            window = add_bytes16(window, sub_bytes16(entered[i], leaving));
            leaving =
                i < window_cols - 1 ? load_bytes16(column[x + i]) : entered[i - (window_cols - 1)];
            counts[i] = window;
        }
        for (int p = 0; p < TWI_PLANES; p++) {
            for (int i = 0; i < TWI_GROUP; i++) {
                found[i] = find_lookup32(plane[p], counts[i]);
            }
            /* All T[n] together are at most T[N], below 2^24: their top bytes stay below 2^8. */
            sums[p] = p < TWI_PLANES - 1 ? sum_8_bytes16(found) : sum_8_small_bytes16(found);
            store_sums8(sum[p] + x, sums[p]);
        }
        if (x < whole) {
            divide_sums8(out + x, sums, total, divisor);
        }
    }
    finish(out, sum, whole, row->live, total, divisor);
}

static void counters_row(const twi_counters_row *row)
{
    if (row->window_cols == 5) {
        run_row(row, 5);
    } else if (row->window_cols == 3) {
        run_row(row, 3);
    } else {
        run_row(row, row->window_cols);
    }
}

static void counters_pair(uint8_t *change, const uint8_t *entering, const uint8_t *leaving,
                          int64_t count)
{
    for (int64_t x = 0; x < count; x++) {
        change[x] = (uint8_t)(entering[x] << 4 | leaving[x]);
    }
}

#define KERNEL JOIN(twi_counters, TWI_KERNEL_ISA)
extern const twi_counters_kernel KERNEL;
const twi_counters_kernel KERNEL = {
    .isa = KERNEL_ISA,
    .name = "counters_" TEXT(TWI_KERNEL_ISA),
    .row = counters_row,
    .finish = counters_finish,
    .pair = counters_pair,
};

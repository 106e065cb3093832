/*
 * The inner loops of the counters (kernels.h), compiled once per instruction set. Eight outputs
 * are made at once: their sixteen counts each stay in registers while the planes are looked up and
 * summed, eight sums to a vector.
 *
 * Sums are kept modulo 2^32, which T[N] - sum never reaches. A product with 1 / (N 2^F) takes the
 * place of the division: for all counts of up to 31 elements on up to 16 levels it gives the same
 * f32 (tests/unit/entropy/entropy.c goes through them).
 */
#include "entropy/cpu/kernels.h"

#include "base/simd/simd.h"
#include "entropy/cpu/quad.h"

#if defined(TWI_KERNEL_AVX2) || defined(TWI_KERNEL_AVX512)
#define QUAD JOIN(twi_shuffle_quad, TWI_KERNEL_ISA)
#else
#define QUAD NULL
#endif

/* out[x] = (total - the planes of sum[x]) * factor */
static inline __attribute__((always_inline)) void
finish(float *out, uint16_t *const *sum, int64_t begin, int64_t end, uint32_t total, double factor)
{
    for (int64_t x = begin; x < end; x++) {
        const uint32_t whole = sum[0][x] + ((uint32_t)sum[1][x] << 8) +
                               ((uint32_t)sum[2][x] << 16) + ((uint32_t)sum[3][x] << 24);
        out[x] = (float)((double)(total - whole) * factor);
    }
}

static void counters_finish(const twi_counters_row *row, int64_t begin, int64_t end, uint32_t total,
                            double factor)
{
    finish(row->out, row->sum, begin, end, total, factor);
}

/* A plane of eight windows, looked up and summed. All T[n] together are at most T[N], below 2^32,
 * so the bytes of the top plane stay below 2^8. */
static inline __attribute__((always_inline)) sums8 sum_plane(const uint8_t *planes, int p,
                                                             const bytes16 *counts)
{
    const lookup32 plane = load_lookup32(planes + (size_t)p * TWI_PLANE);
    bytes16 found[TWI_GROUP];
    for (int i = 0; i < TWI_GROUP; i++) {
        found[i] = find_lookup32(plane, counts[i]);
    }
    return p == TWI_PLANES - 1 ? sum_8_small_bytes16(found) : sum_8_bytes16(found);
}

static inline __attribute__((always_inline)) void run_row(const twi_counters_row *row,
                                                          int64_t window_cols)
{
    const uint8_t *change = row->change;
    const uint8_t(*delta)[TWI_COUNTERS] = row->delta;
    uint8_t(*column)[TWI_COUNTERS] = row->column;
    const int64_t outputs = row->outputs;
    const int64_t whole = row->live / TWI_GROUP * TWI_GROUP;
    const uint32_t total = row->total;
    const double factor = row->factor;
    float *out = row->out;
    uint16_t *const sum[TWI_PLANES] = {row->sum[0], row->sum[1], row->sum[2], row->sum[3]};
    const uint8_t *planes = row->planes;
    bytes16 window = zero_bytes16();
    bytes16 leaving = zero_bytes16();
    for (int64_t x = 0; x < window_cols - 1; x++) {
        bytes16 entering = add_bytes16(load_bytes16(column[x]), load_bytes16(delta[change[x]]));
        store_bytes16(column[x], entering);
        window = add_bytes16(window, entering);
    }
    for (int64_t x = 0; x < outputs; x += TWI_GROUP) {
        bytes16 counts[TWI_GROUP];
        /* Eight registers of planes that stay would have to be copied for every look-up. */
        __asm__ volatile("" : "+r"(planes));
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
        const sums8 sums[TWI_PLANES] = {sum_plane(planes, 0, counts), sum_plane(planes, 1, counts),
                                        sum_plane(planes, 2, counts), sum_plane(planes, 3, counts)};
        for (int p = 0; p < TWI_PLANES; p++) {
            store_sums8(sum[p] + x, sums[p]);
        }
        if (x < whole) {
            scale_sums8(out + x, sums, total, factor);
        }
    }
    finish(out, sum, whole, row->live, total, factor);
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
    .quad = QUAD,
    .finish = counters_finish,
    .pair = counters_pair,
};

/*
 * The inner loops of the (min,+) engine, compiled once per instruction set: the build sets
 * TWI_KERNEL_ISA, the vector layer of that ISA gives the operations, and minplus_kernel_type.h is
 * included once per element type. Contract and layouts: kernels.h.
 */
#include "apsp/closure/kernels.h"

#include "base/simd/simd.h"

#include <math.h>
#include <string.h>

#define MR 4
#define LINE 64 /* bytes that are asked for at once */

/* On x86 what is wanted next is prefetched in turn with the steps (kernels.h): on a Xeon of 2019 a
 * product in i32, 4096 wide and 256 deep, went from 90 to 96 % of the ceiling, where prefetching
 * the same lines all at once cost as much as it gained (November 2026). On other machines, where
 * that has not been measured, all are prefetched before the first step. */
#if defined(TWI_KERNEL_AVX2) || defined(TWI_KERNEL_AVX512)
#define IN_TURN 1
#else
#define IN_TURN 0
#endif
#define CLOSE_STEPS 4             /* of a tile that is closed, taken at a time */
#define CLOSE_ROWS TWI_CLOSE_HALF /* and rows of it */
#define TWI_FOLD_COLS 1024        /* columns folded at a time: a multiple of every nr */

/* X(i, j) for every vector j of row i. */
#if TWI_NV == 4
#define ROW(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3)
#else
#define ROW(X, i) X(i, 0) X(i, 1)
#endif

/*
 * Transpose a square of `side` (8 or 4) rows of 8 bytes each, elements of 8 / side bytes: rows swap
 * the half of their words that belongs to the other, first with the row half a square away, then a
 * quarter, then an eighth. Little-endian, as every machine we build for is.
 */
static inline void transpose_words(void *out, int64_t out_step, const void *src, int64_t src_step,
                                   int side)
{
    static const uint64_t masks[] = {0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu};
    uint64_t row[8];
    for (int i = 0; i < side; i++) {
        memcpy(&row[i], (const char *)src + i * src_step, sizeof row[i]);
    }
    for (int apart = side / 2; apart > 0; apart /= 2) {
        int bits = apart * 64 / side;
        uint64_t mask = masks[bits == 8 ? 0 : bits == 16 ? 1 : 2];
        for (int i = 0; i < side; i++) {
            if ((i & apart) == 0) {
                uint64_t swap = ((row[i] >> bits) ^ row[i + apart]) & mask;
                row[i + apart] ^= swap;
                row[i] ^= swap << bits;
            }
        }
    }
    for (int i = 0; i < side; i++) {
        memcpy((char *)out + i * out_step, &row[i], sizeof row[i]);
    }
}

#define S u8
#define T uint8_t
#define TW_TYPE TW_U8
#define INFTY TW_APSP_INF_U8
#define WHOLE 1
#define FOLD_MOST (UINT16_MAX / UINT8_MAX)
#define SUM_ACROSS uint32_t
#include "apsp/closure/minplus_kernel_type.h"

#define S u16
#define T uint16_t
#define TW_TYPE TW_U16
#define INFTY TW_APSP_INF_U16
#define WHOLE 1
#define FOLD_MOST (UINT32_MAX / UINT16_MAX)
#define SUM_ACROSS uint32_t
#include "apsp/closure/minplus_kernel_type.h"

/* Sixteen bits of which distances use fifteen: two of them cannot overflow, so the sum is a plain
 * one, which x86-64 has twice the ports for that it has for one that stops at the maximum. */
#define vec_u15 vec_u16
#define LANES_u15 LANES_u16
#define A_LANES_u15 A_LANES_u16
#define load_u15 load_u16
#define store_u15 store_u16
#define splat_u15 splat_u16
#define broadcast_u15 broadcast_u16
#define add_u15 plain_add_u16
#define min_u15 min_u16
#define max_u15 max_u16
#define wide_u15 wide_u16
#define add_wide_u15 add_wide_u16
#define spread_wide_u15 spread_wide_u16
#define opaque_u15 opaque_u16
#define columns_4_u15 columns_4_u16
#define add_across_u15 add_across_u16
#define total_u15 total_u16
#define largest_u15 largest_u16
#define S u15
#define T uint16_t
#define TW_TYPE TW_U16
#define INFTY INT16_MAX
#define WHOLE 1
#define FOLD_MOST (UINT32_MAX / UINT16_MAX)
#define SUM_ACROSS uint32_t
#include "apsp/closure/minplus_kernel_type.h"

/* Eight bits of which distances use seven: the same with half the width. */
#define vec_u7 vec_u8
#define LANES_u7 LANES_u8
#define A_LANES_u7 A_LANES_u8
#define load_u7 load_u8
#define store_u7 store_u8
#define splat_u7 splat_u8
#define broadcast_u7 broadcast_u8
#define add_u7 plain_add_u8
#define min_u7 min_u8
#define max_u7 max_u8
#define wide_u7 wide_u8
#define add_wide_u7 add_wide_u8
#define spread_wide_u7 spread_wide_u8
#define opaque_u7 opaque_u8
#define columns_4_u7 columns_4_u8
#define add_across_u7 add_across_u8
#define total_u7 total_u8
#define largest_u7 largest_u8
#define S u7
#define T uint8_t
#define TW_TYPE TW_U8
#define INFTY INT8_MAX
#define WHOLE 1
#define FOLD_MOST (UINT16_MAX / UINT8_MAX)
#define SUM_ACROSS uint32_t
#include "apsp/closure/minplus_kernel_type.h"

#define S i32
#define T int32_t
#define TW_TYPE TW_I32
#define INFTY TW_APSP_INF_I32
#define WHOLE 1
#define FOLD_MOST INT32_MAX
#define SUM_ACROSS uint64_t
#include "apsp/closure/minplus_kernel_type.h"

#define S f32
#define T float
#define TW_TYPE TW_F32
#define INFTY INFINITY
#define WHOLE 0
#define FOLD_MOST 0
#define SUM_ACROSS double
#include "apsp/closure/minplus_kernel_type.h"

#define S f64
#define T double
#define TW_TYPE TW_F64
#define INFTY ((double)INFINITY)
#define WHOLE 0
#define FOLD_MOST 0
#define SUM_ACROSS double
#include "apsp/closure/minplus_kernel_type.h"

#define TABLE JOIN(twi_minplus, TWI_KERNEL_ISA)
extern const twi_minplus_kernel *const TABLE[7];
const twi_minplus_kernel *const TABLE[7] = {&kernel_u8,  &kernel_u16, &kernel_i32, &kernel_f32,
                                            &kernel_f64, &kernel_u15, &kernel_u7};

/*
 * Arithmetic of floats for vector functions, on top of the vector layer (simd.h, which brings it).
 * For kernel sources only. Everything is built without contraction of a * b + c
 * (-ffp-contract=off), so that every instruction set rounds at the same places and gives the same
 * bits.
 *
 * The operators + - * / and unary minus work on vec_f32 and vec_f64 as they are. For each suffix S
 * of f32 and f64 there are besides
 *   bits_S                a vector of signed integers as wide as the elements, with + - & | ^
 *   mask_S                what a comparison gives, with & and |
 *   bits_of_S, of_bits_S  the same bits as integers, and back
 *   of_whole_S            integers of few bits as floats; of f32 also times a power of two
 *   shift_left_S, shift_right_S   of integers, by a constant; the right one keeps the sign
 *   fma_S(a, b, c)        a * b + c, rounded once
 *   sqrt_S, floor_S, ceil_S, trunc_S, rint_S      exact or correctly rounded; rint to even
 *   max_S, and min_S      where the second operand is NaN they give that one
 *   less_S, at_most_S, equal_S    comparisons; false where an operand is NaN
 *   select_S(m, a, b)     a where m holds, b elsewhere
 *   select_bits_S         the same of integers
 *   opposite_S(m), any_S(m)       the opposite mask; whether m holds anywhere
 *   bits_of_mask_S, mask_of_bits_S   a mask as integers, all ones or all zeros, and back
 *   equal_bits_S, less_bits_S     comparisons of integers
 *   lacks_bits_S(a, b)    a mask: where a and b have no bit in common
 *   flip_S(v, b)          v, its sign the other one where the highest bit of b is set
 *   splat_bits_S          one integer to all lanes
 * and
 *   widen_low_f32, widen_high_f32, narrow_f64     halves of f32 as f64 and back; on one lane the
 *                         halves are the same number, and narrow takes the first
 */
#ifndef TWI_BASE_SIMD_FLOAT_H
#define TWI_BASE_SIMD_FLOAT_H

#include "base/simd/simd.h"

#if defined(TWI_KERNEL_NEON)
#include "base/simd/float_neon.h"
#elif defined(TWI_KERNEL_AVX2) || defined(TWI_KERNEL_AVX512)
#include "base/simd/float_avx.h"
#else
#include "base/simd/float_scalar.h"
#endif

#endif

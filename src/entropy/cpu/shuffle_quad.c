/*
 * The counters of four rows at once (quad.h) by byte shuffles, which look 16 bytes up in a table of
 * 16: AVX2, and AVX-512 without byte permutes. What they find for a count n is T[n mod 16]. At most
 * one count of a window of TWI_SHUFFLE_MOST elements is 16 or more; what it is above 15 is the sum
 * of what all counts are above 15, and that is looked up in a table of T[n] - T[n - 16].
 *
 * Sums are kept modulo 2^32, which T[N] never reaches.
 */
#include "base/simd/simd.h"
#include "entropy/cpu/quad.h"

#define SMALL 16 /* counts that a shuffle tells apart */

typedef struct tables {
    const uint8_t *planes;
    _Alignas(64) uint32_t large[SMALL]; /* T[15 + i] - T[i - 1]; 0 of 0 */
} tables;

static inline uint32_t entry_of(const uint8_t *planes, int count)
{
    uint32_t entry = 0;
    for (int p = 0; p < TWI_PLANES; p++) {
        entry |= (uint32_t)planes[p * TWI_PLANE + count] << (8 * p);
    }
    return entry;
}

static inline tables load_tables(const uint8_t *planes)
{
    tables t = {.planes = planes};
    for (int i = 1; i < SMALL; i++) {
        t.large[i] = entry_of(planes, SMALL - 1 + i) - entry_of(planes, i - 1);
    }
    return t;
}

static inline vec_u8 load_plane(const uint8_t *planes, int p)
{
    const __m128i plane = _mm_loadu_si128((const __m128i *)(planes + p * TWI_PLANE));
#if defined(TWI_KERNEL_AVX512)
    return _mm512_broadcast_i32x4(plane);
#else
    return _mm256_broadcastsi128_si256(plane);
#endif
}

/* Entries of `large`. `above`: for each half of a window, by how much its counts exceed 15, as a
 * number of 64 bits, whose upper half finds entry 0. */
static inline vec_i32 find_large(const uint32_t *large, vec_i32 above)
{
#if defined(TWI_KERNEL_AVX512)
    return _mm512_permutexvar_epi32(above, _mm512_load_si512(large));
#else
    const __m256i low = _mm256_load_si256((const __m256i *)large);
    const __m256i high = _mm256_load_si256((const __m256i *)(large + SMALL / 2));
    return _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(low, above),
                              _mm256_permutevar8x32_epi32(high, above),
                              _mm256_cmpgt_epi32(above, _mm256_set1_epi32(SMALL / 2 - 1)));
#endif
}

/* Two planes of every vector at a time, so that AVX2's registers hold what is needed. A plane of
 * the lower weight is summed by sums of absolute differences from 0, which is one operation, the
 * other one by two products, so that the work is spread over the ports. */
static inline void look_up(const tables *t, const vec_u8 *counts, vec_i32 *part)
{
    const uint8_t *planes = t->planes;
    const uint32_t *large = t->large;
    const vec_u8 ones = splat_u8(1), by = MM(set1_epi16)(1 << 8);
    __asm__ volatile("" : "+r"(planes), "+r"(large)); /* loaded again, rather than spilled */
    for (int i = 0; i < TWI_QUAD; i++) {
        const vec_u8 above = MM(subs_epu8)(counts[i], splat_u8(SMALL - 1));
        part[i] = find_large(large, MM(sad_epu8)(above, splat_u8(0)));
    }
    for (int p = 0; p < TWI_PLANES; p += 2) {
        const vec_u8 low = load_plane(planes, p), high = load_plane(planes, p + 1);
        for (int i = 0; i < TWI_QUAD; i++) {
            const vec_u8 found = MM(shuffle_epi8)(high, counts[i]);
            const vec_i32 upper = MM(madd_epi16)(MM(maddubs_epi16)(found, ones), by);
            const vec_i32 lower = MM(sad_epu8)(MM(shuffle_epi8)(low, counts[i]), splat_u8(0));
            const vec_i32 both = MM(add_epi32)(lower, upper);
            part[i] = MM(add_epi32)(part[i], p == 0 ? both : MM(slli_epi32)(both, 16));
        }
    }
}

#include "entropy/cpu/quad_slide.h"

#define RUN JOIN(twi_shuffle_quad, TWI_KERNEL_ISA)
void RUN(const twi_counters_quad *quad)
{
    run_quad(quad);
}

/* The counters by permutes (permute.h): one instruction looks up a plane of all four windows. */
#include "base/simd/simd.h"
#include "entropy/cpu/quad.h"

typedef struct tables {
    __m512i plane[TWI_PLANES];
} tables;

static inline tables load_tables(const uint8_t *planes)
{
    tables t;
    for (int p = 0; p < TWI_PLANES; p++) {
        const __m256i half = _mm256_loadu_si256((const __m256i *)(planes + p * TWI_PLANE));
        t.plane[p] = _mm512_broadcast_i64x4(half);
    }
    return t;
}

static inline void look_up(const tables *t, const __m512i *counts, __m512i *part)
{
    const __m512i ones = _mm512_set1_epi8(1);
    for (int i = 0; i < TWI_QUAD; i++) {
        __m512i sum = _mm512_setzero_si512();
        for (int p = TWI_PLANES - 1; p >= 0; p--) {
            const __m512i found = _mm512_permutexvar_epi8(counts[i], t->plane[p]);
            sum = _mm512_dpbusd_epi32(_mm512_slli_epi32(sum, 8), found, ones);
        }
        part[i] = sum;
    }
}

#include "entropy/cpu/quad_slide.h"

void twi_permute_quad_run(const twi_counters_quad *quad)
{
    run_quad(quad);
}

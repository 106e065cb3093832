/*
 * The kernels of the lane search (lanes.h), compiled once per instruction set: the vectors are as
 * wide as that set has them, the source is the same. lanes_template.h is the search for one type.
 *
 * The compilers do not see a minimum in a comparison of vectors, so it is named where the
 * instruction set has one (a fifth of the time on a Neoverse V1). Sums are plain ones: saturating
 * them would take a fifth more.
 */
#include "apsp/search/lanes.h"

#include "base/clock.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(TWI_KERNEL_AVX512)
#include <immintrin.h>
#define VECTOR_BYTES 64
#define LEAST_u16(a, b) (vector_u16) _mm512_min_epu16((__m512i)(a), (__m512i)(b))
#define LEAST_i32(a, b) (vector_i32) _mm512_min_epi32((__m512i)(a), (__m512i)(b))
#define LEAST_f32(a, b) (vector_f32) _mm512_min_ps((__m512)(a), (__m512)(b))
#define LEAST_f64(a, b) (vector_f64) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define ANY(m) (_mm512_test_epi64_mask((__m512i)(m), (__m512i)(m)) != 0)
#elif defined(TWI_KERNEL_AVX2)
#include <immintrin.h>
#define VECTOR_BYTES 32
#define LEAST_u16(a, b) (vector_u16) _mm256_min_epu16((__m256i)(a), (__m256i)(b))
#define LEAST_i32(a, b) (vector_i32) _mm256_min_epi32((__m256i)(a), (__m256i)(b))
#define LEAST_f32(a, b) (vector_f32) _mm256_min_ps((__m256)(a), (__m256)(b))
#define LEAST_f64(a, b) (vector_f64) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define ANY(m) (!_mm256_testz_si256((__m256i)(m), (__m256i)(m)))
#elif defined(TWI_KERNEL_NEON)
#include <arm_neon.h>
#define VECTOR_BYTES 16
#define LEAST_u16(a, b) (vector_u16) vminq_u16((uint16x8_t)(a), (uint16x8_t)(b))
#define LEAST_i32(a, b) (vector_i32) vminq_s32((int32x4_t)(a), (int32x4_t)(b))
#define LEAST_f32(a, b) (vector_f32) vminq_f32((float32x4_t)(a), (float32x4_t)(b))
#define LEAST_f64(a, b) (vector_f64) vminq_f64((float64x2_t)(a), (float64x2_t)(b))
#define ANY(m) (vmaxvq_u32((uint32x4_t)(m)) != 0)
#else
#define VECTOR_BYTES 16
#define LEAST_u16(a, b) choose_u16((mask_u16)((a) < (b)), (a), (b))
#define LEAST_i32(a, b) choose_i32((mask_i32)((a) < (b)), (a), (b))
#define LEAST_f32(a, b) choose_f32((mask_f32)((a) < (b)), (a), (b))
#define LEAST_f64(a, b) choose_f64((mask_f64)((a) < (b)), (a), (b))
#define ANY(m) any_bit(&(m))
static inline bool any_bit(const void *mask)
{
    uint64_t word[VECTOR_BYTES / 8];
    memcpy(word, mask, sizeof word);
    return (word[0] | word[1]) != 0;
}
#endif

/* Bytes of a line: lanes.h says why. */
#if defined(TWI_KERNEL_AVX512) || defined(TWI_KERNEL_AVX2)
#define LINE 256
#else
#define LINE 128
#endif
_Static_assert(LINE <= TWI_LINE_BYTES && LINE / 2 <= TWI_LANES_MOST, "there is room for lines");
#define VECTORS (LINE / VECTOR_BYTES)

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(x) PASTE(x, SUFFIX)

/* How many scans pass between two looks at the cancel flag and the clock. */
#define LOOK_EVERY 256

/* Arcs that are relaxed before the queue hears of them: the vector unit then does not wait for the
 * queue's branches. */
#define ARCS_AT_ONCE 32

static void push(twi_lanes_space *space, int32_t v, uint32_t bucket)
{
    space->next[v] = space->head[bucket];
    space->head[bucket] = v;
    space->filled[bucket / 64] |= (uint64_t)1 << (bucket % 64);
    space->queued[v] = 1;
}

/* The first bucket from `bucket` on, around the circle, that is not empty; there is one. */
static uint32_t next_bucket(const twi_lanes_space *space, uint32_t bucket)
{
    uint32_t word = bucket / 64;
    uint64_t here = space->filled[word] >> (bucket % 64);
    if (here != 0) {
        return bucket + (uint32_t)__builtin_ctzll(here);
    }
    do {
        word = (word + 1) % (TWI_LANE_BUCKETS / 64);
    } while (space->filled[word] == 0);
    return word * 64 + (uint32_t)__builtin_ctzll(space->filled[word]);
}

/* All of a bucket, as a chain. */
static int32_t take_bucket(twi_lanes_space *space, uint32_t bucket)
{
    int32_t first = space->head[bucket];
    space->head[bucket] = -1;
    space->filled[bucket / 64] &= ~((uint64_t)1 << (bucket % 64));
    return first;
}

static void empty_queue(twi_lanes_space *space, int64_t n)
{
    memset(space->queued, 0, (size_t)n);
    memset(space->head, 0xff, sizeof space->head);
    memset(space->filled, 0, sizeof space->filled);
}

/* Should the search stop? TWI_LANES_DONE: no. */
static twi_lanes_end look_around(const twi_lanes_job *job, int64_t scanned)
{
    if (twi_is_cancelled(job->ctx)) {
        return TWI_LANES_CANCELLED;
    }
    if (job->deadline > 0 && twi_thread_seconds() > job->deadline) {
        return TWI_LANES_LATE;
    }
    return scanned > job->arc_limit ? TWI_LANES_LIMIT : TWI_LANES_DONE;
}

/* Buckets per unit of distance: the mean arc spans two of them. Fewer and more are slower, by a few
 * hundredths. */
static double buckets_per_unit(const twi_net *net)
{
    return net->mean > 0 ? fmin(2 / net->mean, DBL_MAX) : 0;
}

#define SUFFIX u16
#define TYPE uint16_t
#define MASK uint16_t
#define KEY uint32_t /* may wrap: keys only order the queue */
#define ROW int32_t
#define ARC twi_arc_i32
#define CAP(net) ((uint16_t)(TW_APSP_INF_U16 - (net)->max)) /* no sum wraps */
#define ROW_INFINITY TW_APSP_INF_I32
#define WHOLE 1
#include "apsp/search/lanes_template.h"

#define SUFFIX i32
#define TYPE int32_t
#define MASK int32_t
#define KEY uint32_t
#define ROW int32_t
#define ARC twi_arc_i32
#define CAP(net) TW_APSP_INF_I32
#define ROW_INFINITY TW_APSP_INF_I32
#define WHOLE 1
#include "apsp/search/lanes_template.h"

#define SUFFIX f32
#define TYPE float
#define MASK int32_t
#define KEY float
#define ROW float
#define ARC twi_arc_f32
#define CAP(net) INFINITY
#define ROW_INFINITY INFINITY
#define WHOLE 0
#include "apsp/search/lanes_template.h"

#define SUFFIX f64
#define TYPE double
#define MASK int64_t
#define KEY double
#define ROW double
#define ARC twi_arc_f64
#define CAP(net) ((double)INFINITY)
#define ROW_INFINITY ((double)INFINITY)
#define WHOLE 0
#include "apsp/search/lanes_template.h"

#define KERNEL(type)                                              \
    {                                                             \
        LANES_##type, PASTE(search, type), PASTE(give_rows, type) \
    }
enum { LANES_u16 = LINE / 2, LANES_i32 = LINE / 4, LANES_f32 = LINE / 4, LANES_f64 = LINE / 8 };

const twi_lanes_kernels PASTE(twi_lanes, TWI_KERNEL_ISA) = {
    LINE, KERNEL(u16), KERNEL(i32), KERNEL(f32), KERNEL(f64),
};

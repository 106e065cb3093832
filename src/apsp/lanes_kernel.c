/*
 * The kernels of the lane search (lanes.h), compiled once per instruction set: the vectors are as
 * wide as that set has them, the source is the same. lanes_template.h is the search for one type.
 */
#include "apsp/lanes.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

#if defined(TWI_KERNEL_AVX512)
#define VECTOR_BYTES 64
#elif defined(TWI_KERNEL_AVX2)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTORS (TWI_LINE_BYTES / VECTOR_BYTES)

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

/* How many scans pass between two looks at the cancel flag and the clock. */
#define LOOK_EVERY 256

static void push(twi_lanes_space *space, int32_t v, uint32_t bucket)
{
    space->next[v] = -1;
    if (space->head[bucket] < 0) {
        space->head[bucket] = v;
        space->filled[bucket / 64] |= (uint64_t)1 << (bucket % 64);
    } else {
        space->next[space->tail[bucket]] = v;
    }
    space->tail[bucket] = v;
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

static int32_t pop(twi_lanes_space *space, uint32_t bucket)
{
    int32_t v = space->head[bucket];
    space->head[bucket] = space->next[v];
    if (space->head[bucket] < 0) {
        space->filled[bucket / 64] &= ~((uint64_t)1 << (bucket % 64));
    }
    space->queued[v] = 0;
    return v;
}

static void empty_queue(twi_lanes_space *space, int64_t n)
{
    memset(space->queued, 0, (size_t)n);
    memset(space->head, 0xff, sizeof space->head);
    memset(space->filled, 0, sizeof space->filled);
}

/* Buckets a unit of distance: the mean arc spans 8 of them (4, 16 and 32 were slower or no faster
 * on random, grid and preferential graphs). */
static double buckets_per_unit(const twi_net *net)
{
    return net->mean > 0 ? fmin(8 / net->mean, 0x1p60) : 0;
}

#define TYPE uint16_t
#define MASK uint16_t
#define ROW int32_t
#define ARC twi_arc_i32
#define NAME(x) PASTE(x, u15)
#define CAP ((uint16_t)TWI_LANE_CAP)
#define ROW_INFINITY TW_INF_I32
#define CAPPED 1
#include "apsp/lanes_template.h"

#define TYPE int32_t
#define MASK int32_t
#define ROW int32_t
#define ARC twi_arc_i32
#define NAME(x) PASTE(x, i32)
#define CAP TW_INF_I32
#define ROW_INFINITY TW_INF_I32
#define CAPPED 1
#include "apsp/lanes_template.h"

#define TYPE float
#define MASK int32_t
#define ROW float
#define ARC twi_arc_f32
#define NAME(x) PASTE(x, f32)
#define CAP INFINITY
#define ROW_INFINITY INFINITY
#define CAPPED 0
#include "apsp/lanes_template.h"

#define TYPE double
#define MASK int64_t
#define ROW double
#define ARC twi_arc_f64
#define NAME(x) PASTE(x, f64)
#define CAP ((double)INFINITY)
#define ROW_INFINITY ((double)INFINITY)
#define CAPPED 0
#include "apsp/lanes_template.h"

#define KERNEL(type)                                              \
    {                                                             \
        LANES_##type, PASTE(search, type), PASTE(give_rows, type) \
    }
enum {
    LANES_u15 = TWI_LINE_BYTES / 2,
    LANES_i32 = TWI_LINE_BYTES / 4,
    LANES_f32 = TWI_LINE_BYTES / 4,
    LANES_f64 = TWI_LINE_BYTES / 8
};

const twi_lanes_kernels PASTE(twi_lanes, TWI_KERNEL_ISA) = {
    KERNEL(u15),
    KERNEL(i32),
    KERNEL(f32),
    KERNEL(f64),
};

/*
 * A stack: 32 windows above each other, whose counts of a level are one
 * vector of 16-bit numbers. What a column brings into the windows and takes out of them is counted
 * first, element by element; then each level that it has is looked up once for all windows. An
 * output costs little more where windows are higher: with 31 rows 62 elements enter the 32 windows
 * and 62 leave them, and many of those are of one level.
 *
 * With each level are kept the parts of T[n] of its counts n, so that only new counts are looked
 * up: the lower 32 bits, and T[n] / 2^22 modulo 2^16. Sums of the lower bits are right modulo 2^32;
 * those of the upper parts tell by how many times 2^32 they are wrong, as each of the differences
 * that a column makes is off by less than 2^22 and there are at most 2 x 127 of them. The sum of
 * those, at most 127 steps of T or 2^35.7, fits 16 bits as a multiple of 2^22.
 *
 * In a vector the number of window w lies at place 2 w, of window 16 + w at place 2 w + 1: as
 * 32-bit numbers those of the upper half are the lower 16 bits. Counts below 128 are looked up in
 * registers; where some count is larger, in tables that begin near the least of each half.
 */
#ifndef TWI_ENTROPY_CPU_STACK_RUN_H
#define TWI_ENTROPY_CPU_STACK_RUN_H

#include "entropy/shared/setup.h"

#define TWI_STACK 32       /* windows above each other */
#define TWI_STACK_ROWS 127 /* of a window, at most */
#define TWI_STACK_LEVELS 256
#define TWI_STACK_SHIFT 22  /* of T to its upper part */
#define TWI_STACK_TABLE 64  /* counts that are looked up at once */
#define TWI_STACK_GROUPS 4  /* of 64 levels, a bit for each */
#define TWI_STACK_TILE 16   /* columns of results that are kept, then written row by row */
#define TWI_STACK_COLUMNS 8 /* columns that are brought at once */
#define TWI_STACK_PLACES ((TWI_STACK_ROWS + TWI_STACK - 1 + 7) / 8 * 8)

/* The parts of T of a level's counts; the lower bits of windows 0 to 15 and of 16 to 31. */
typedef struct twi_stack_level {
    uint16_t upper[TWI_STACK];
    uint32_t lower[2][TWI_STACK / 2];
} twi_stack_level;

/* A column of the padded array. */
typedef struct twi_stack_column {
    uint64_t has[TWI_STACK_GROUPS];   /* levels that count, a bit each */
    uint16_t place[TWI_STACK_PLACES]; /* of each element's counts, in bytes */
} twi_stack_column;

/* A stack that slides along a row. */
typedef struct twi_stack {
    const twi_entropy_setup *setup;
    const uint16_t *levels; /* the first window's upper edge */
    int64_t pitch;
    uint16_t (*count)[TWI_STACK];      /* of every level, and of what does not count; all 0 */
    twi_stack_level *level;            /* of every level; all 0 */
    twi_stack_column *column;          /* `room` of them, in a ring: more than a window has */
    int64_t room;                      /* a multiple of TWI_STACK_COLUMNS */
    const uint16_t (*ones)[TWI_STACK]; /* for each row: 1 for the windows that it belongs to */
    const uint32_t *lower; /* of T[n], for 2 x TWI_STACK_TABLE counts more than there are */
    const uint16_t *upper;
    float (*tile)[TWI_STACK];
    float *out;
    int64_t outputs; /* of a row */
    int64_t stride;
    int64_t live; /* rows that are written, the first ones */
} twi_stack;

/* For AVX-512 only. Counts and levels are not 0 any more when it returns. */
void twi_stack_run_avx512(const twi_stack *stack);

#endif

/*
 * What lies between a blocked closure and the library's engine on a CPU, a step at a time: wider
 * vectors, packed operands with the results in registers, 16 bits. The kernels are compiled once
 * for each instruction set (cpu_kernels.c); the loops around them are in cpu_bridge.c.
 */
#ifndef LAB_LADDERS_APSP_CPU_KERNELS_H
#define LAB_LADDERS_APSP_CPU_KERNELS_H

#include "base/context.h"
#include "base/isa.h"

enum { LAB_CPU_BRIDGE_BLOCK = 64, LAB_CPU_BRIDGE_ROWS = 4 /* of C in registers */ };
#define LAB_CPU_BRIDGE_NO_PATH_U16 0x7FFF /* two of them add up to less than 2^16 */

/* On tiles of LAB_CPU_BRIDGE_BLOCK a side, all of them whole. */
typedef struct lab_cpu_bridge_kernel {
    int32_t columns; /* of C in registers */
    /* C = min(C, A (x) B) where they lie, a row of A and B at a time; either may be C itself. */
    void (*update)(void *c, const void *a, const void *b, int64_t ld);
    /* The same of packed operands: A in strips of LAB_CPU_BRIDGE_ROWS rows, B of `columns`. */
    void (*product)(void *c, int64_t ld, const void *a, const void *b);
} lab_cpu_bridge_kernel;

typedef enum lab_cpu_bridge_type {
    LAB_CPU_BRIDGE_I32,
    LAB_CPU_BRIDGE_U16,
    LAB_CPU_BRIDGE_TYPES
} lab_cpu_bridge_type;

/* Of an instruction set, in each type. */
extern const lab_cpu_bridge_kernel lab_cpu_bridge_scalar[LAB_CPU_BRIDGE_TYPES];
extern const lab_cpu_bridge_kernel lab_cpu_bridge_neon[LAB_CPU_BRIDGE_TYPES];
extern const lab_cpu_bridge_kernel lab_cpu_bridge_avx2[LAB_CPU_BRIDGE_TYPES];
extern const lab_cpu_bridge_kernel lab_cpu_bridge_avx512[LAB_CPU_BRIDGE_TYPES];

/* Close n x n distances with vectors of an instruction set, on all threads of the context.
 * `packed`: by products of packed operands. What `seconds` holds is the closure, not the copies
 * around it. */
TW_CHECKED tw_status lab_cpu_bridge_solve(tw_context *ctx, int32_t *out, const int32_t *in,
                                          int64_t n, twi_isa isa, lab_cpu_bridge_type type,
                                          bool packed, double *seconds);

#endif

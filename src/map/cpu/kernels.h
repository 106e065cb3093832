/*
 * The SIMD register machine: one kernel for each operation, which runs over a block of elements.
 * A register is a block of TWI_MAP_GRAIN-fold length, so kernels know no tails, or one vector that
 * stands for a number that is the same all over the block. A mask is a block of whole numbers as
 * wide as the elements, all ones or all zeros.
 */
#ifndef TWI_MAP_CPU_KERNELS_H
#define TWI_MAP_CPU_KERNELS_H

#include "map/program/program.h"

#define TWI_MAP_GRAIN 32 /* elements: the maximum that a kernel computes at once */

/* out[i] = operation(arg[0][i * step[0]], ...), 0 <= i < n, n a multiple of the grain. A step is 1,
 * or 0 for an operand of TWI_MAP_GRAIN equal elements. `out` may be an operand of step 1. Operands
 * that the operation lacks repeat its first. */
typedef void (*twi_map_block_fn)(void *out, const void *const arg[3], const int64_t step[3],
                                 int64_t n);

/* out[k][i] = in[i * period + k] for 0 <= k < period, 0 <= i < n, as numbers of the compute type.
 */
typedef void (*twi_map_load_fn)(void *const *out, const void *in, int64_t period, int64_t n);
/* The inverse; values are such that the type can hold (TWI_OP_STORED). */
typedef void (*twi_map_store_fn)(void *out, const void *const *in, int64_t period, int64_t n);

/* Of tables that have an entry for each type that arrays can be of, by its number. */
#define TWI_MAP_TYPES (TW_F64 + 1)
_Static_assert(TW_U8 < TWI_MAP_TYPES && TW_U16 < TWI_MAP_TYPES && TW_I16 < TWI_MAP_TYPES &&
                   TW_I32 < TWI_MAP_TYPES && TW_F32 < TWI_MAP_TYPES,
               "f64 is the last of them");

/* Two or three cheap operations in one kernel: each by itself would be all loads and stores. The
 * operands of the first come first. Rounded as the operations one after the other are. */
typedef enum twi_map_fused {
#define TWI_FUSED_THEN(FIRST)                                                  \
    TWI_FUSED_##FIRST##_ADD,      /* (a FIRST b) + c, which is also c + ... */ \
        TWI_FUSED_##FIRST##_SUB,  /* (a FIRST b) - c */                        \
        TWI_FUSED_##FIRST##_FROM, /* c - (a FIRST b) */                        \
        TWI_FUSED_##FIRST##_MUL   /* (a FIRST b) c */
    TWI_FUSED_THEN(ADD),
    TWI_FUSED_THEN(SUB),
    TWI_FUSED_THEN(MUL),
#undef TWI_FUSED_THEN
    TWI_FUSED_ADD_SQRT,     /* sqrt(a + b) */
    TWI_FUSED_SQRT_ADD,     /* sqrt(a) + b */
    TWI_FUSED_ADD_SQRT_ADD, /* sqrt(a + b) + c */
    TWI_FUSED_COUNT
} twi_map_fused;

/* For one compute type. */
typedef struct twi_map_machine {
    twi_map_block_fn operation[TWI_OP_COUNT]; /* NULL for those that compute nothing */
    twi_map_block_fn fast[TWI_OP_COUNT];      /* the same under --fast */
    /* sqrt(function(a) + b) + c, where there is one: the root costs next to nothing there. */
    twi_map_block_fn roots[TWI_OP_COUNT], fast_roots[TWI_OP_COUNT];
    twi_map_block_fn stored[TWI_MAP_TYPES]; /* TWI_OP_STORED as each type */
    twi_map_block_fn fused[TWI_FUSED_COUNT];
    twi_map_load_fn load[TWI_MAP_TYPES];
    twi_map_store_fn store[TWI_MAP_TYPES];
} twi_map_machine;

typedef struct twi_map_kernel {
    twi_isa isa;
    const char *name; /* "map_neon" */
    const twi_map_machine *f32, *f64;
} twi_map_kernel;

const twi_map_kernel *twi_map_kernel_find(twi_isa isa); /* of a usable ISA */

#endif

/*
 * The operations of the register machine (kernels.h), compiled once per instruction set: the vector
 * functions of functions.h and plain arithmetic, each a loop over a block in the first cache.
 */
#include "map/cpu/kernels.h"
#include "map/functions/functions.h"

#include <stdint.h>

/* Vectors at once: as many as the registers hold. */
#if defined(TWI_KERNEL_NEON)
#define UNROLL 4
#elif defined(TWI_KERNEL_AVX2) || defined(TWI_KERNEL_AVX512)
#define UNROLL 2
#else
#define UNROLL 1
#endif
_Static_assert(TWI_MAP_GRAIN % (UNROLL * LANES_f32) == 0, "blocks are whole rounds of a kernel");

#define S f64
#include "map/cpu/evaluate_kernel_type.h"
BLOCK(run_to_f32, widen_low_f32(narrow_f64(P, P)))

static const twi_map_machine machine_f64 = {
    .operation = MACHINE_OPERATIONS(run_exp, run_log, run_sin, run_cos),
    .roots = MACHINE_ROOTS(root_exp, root_log, root_sin, root_cos),
    .fast = MACHINE_OPERATIONS(run_exp, run_log, run_sin, run_cos),
    .fast_roots = MACHINE_ROOTS(root_exp, root_log, root_sin, root_cos),
    .stored = MACHINE_STORED(run_to_f32_f64, run_copy_f64),
    .fused = MACHINE_FUSED,
    .load = MACHINE_TRANSFER(load),
    .store = MACHINE_TRANSFER(store),
};
#undef S

#define S f32
#include "map/cpu/evaluate_kernel_type.h"
NEVER_RARE(brief_exp)
STAGED(brief_exp, 2)
STAGED(brief_log, 2)
STAGED(brief_sin, 1)
STAGED(brief_cos, 1)

static const twi_map_machine machine_f32 = {
    .operation = MACHINE_OPERATIONS(run_exp, run_log, run_sin, run_cos),
    .roots = MACHINE_ROOTS(root_exp, root_log, root_sin, root_cos),
    .fast = MACHINE_OPERATIONS(run_brief_exp, run_brief_log, run_brief_sin, run_brief_cos),
    .fast_roots = MACHINE_ROOTS(root_brief_exp, root_brief_log, root_brief_sin, root_brief_cos),
    .stored = MACHINE_STORED(run_copy_f32, run_copy_f32),
    .fused = MACHINE_FUSED,
    .load = MACHINE_TRANSFER(load),
    .store = MACHINE_TRANSFER(store),
};

#define KERNEL JOIN(twi_map, TWI_KERNEL_ISA)
extern const twi_map_kernel KERNEL;
const twi_map_kernel KERNEL = {
    .isa = KERNEL_ISA,
    .name = "map_" TEXT(TWI_KERNEL_ISA),
    .f32 = &machine_f32,
    .f64 = &machine_f64,
};

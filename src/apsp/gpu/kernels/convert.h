/*
 * Passes over a whole matrix in device memory, before and after a closure: all of them are bound by
 * memory. Each launch returns the runtime's error number (0: launched).
 */
#ifndef TWI_APSP_GPU_KERNELS_CONVERT_H
#define TWI_APSP_GPU_KERNELS_CONVERT_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n x n elements in device memory, any alignment that the type itself has. */
typedef struct twi_gpu_square {
    void *data;
    int64_t ld;
} twi_gpu_square;

/* `needed`: NULL, or a flag in device memory; the pass does nothing when it is 0. */

/* out = in with every entry above infinity made infinity and a diagonal of 0; i32, f32 or f64. Both
 * may be the same matrix, which is then written only where it changes. */
int twi_gpu_tidy(tw_type type, twi_gpu_square out, twi_gpu_square in, int64_t n,
                 const int32_t *needed, void *stream);
/* out = in. */
int twi_gpu_copy(tw_type type, twi_gpu_square out, twi_gpu_square in, int64_t n,
                 const int32_t *needed, void *stream);
/* The tidy form in 16 bits: everything above TWI_GPU_INF_U16 becomes that. */
int twi_gpu_narrow(twi_gpu_square out, twi_gpu_square in, int64_t n, void *stream);
/* Whether 16 bits can be enough, in device memory. */
enum { TWI_GPU_LEVELS = 4 };
typedef struct twi_gpu_decision {
    int32_t possible;                 /* 0: some pair has no path of arcs below the cap */
    int32_t undecided;                /* the closed matrix has entries at the cap */
    int32_t found[2][TWI_GPU_LEVELS]; /* by searches from and to vertex 0, per level */
} twi_gpu_decision;

/*
 * Before a closure in 16 bits, whose result has no entry at the cap only if every vertex is reached
 * from vertex 0, and reaches it: two searches of a few levels, which is all that dense graphs have.
 * If they end and have not met all vertices, then `possible` becomes 0 and `undecided` 1, else 1
 * and 0. reached: TWI_GPU_REACHED_BYTES of device memory,
 * aligned to 4.
 */
#define TWI_GPU_REACHED_BYTES(n) (2 * (((uint64_t)(n) + 3) / 4 * 4))
int twi_gpu_decide(twi_gpu_decision *decision, uint8_t *reached, twi_gpu_square in, int64_t n,
                   void *stream);
/* `undecided` = 1 if any entry off the diagonal of a closed 16-bit matrix is at the cap, so that 16
 * bits cannot tell "far" from "no path"; untouched otherwise. */
int twi_gpu_find_capped(twi_gpu_decision *decision, twi_gpu_square in, int64_t n, void *stream);
/* out = in, from 16 bits to i32, unless `undecided`. */
int twi_gpu_widen(twi_gpu_square out, twi_gpu_square in, int64_t n,
                  const twi_gpu_decision *decision, void *stream);

#ifdef __cplusplus
}
#endif

#endif

/*
 * From the arcs of a graph to a working matrix, on the device, and what the arcs say about a closed
 * one. No n x n matrix is needed in host memory. Each launch returns the runtime's error number
 * (0: launched).
 */
#ifndef TWI_APSP_GPU_KERNELS_ARCS_H
#define TWI_APSP_GPU_KERNELS_ARCS_H

#include "apsp/gpu/kernels/convert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compressed rows in device memory. */
typedef struct twi_gpu_arcs {
    int64_t n;
    const int64_t *offsets;
    const int32_t *targets;
    const void *weights;
    tw_type weight_type;     /* TW_I32, TW_F32 or TW_F64 */
    const double *potential; /* NULL, or n of them: arc u->v counts as w + h[u] - h[v] */
} twi_gpu_arcs;

/* 0 on the diagonal, the least weight of parallel arcs, infinity elsewhere; `type` is TW_I32,
 * TW_F32, TW_F64, or TW_U16 with TWI_GPU_INF_U16 for infinity. What lies between the rows is left
 * alone. */
int twi_gpu_scatter(tw_type type, twi_gpu_square out, const twi_gpu_arcs *arcs, void *stream);

/* *differs = 1 if the matrix is not its own transpose; untouched otherwise. */
int twi_gpu_find_asymmetry(int32_t *differs, tw_type type, twi_gpu_square in, int64_t n,
                           void *stream);

/* *capped = 1 if an entry of a TW_U16 or TW_I32 matrix is at the cap; untouched otherwise. */
int twi_gpu_find_infinite(int32_t *capped, tw_type type, twi_gpu_square in, int64_t n,
                          void *stream);

/*
 * The certificate of certificate.h for a closed matrix with entries at the cap: *refuted = 1 if for
 * some source s and arc u->v D[s][u] < cap = D[s][v]. `reached` is scratch memory of
 * twi_gpu_reached_bytes: one bit for each vertex and source.
 */
uint64_t twi_gpu_reached_bytes(int64_t n);
int twi_gpu_certify(int32_t *refuted, uint32_t *reached, tw_type type, twi_gpu_square in,
                    const twi_gpu_arcs *arcs, void *stream);

#ifdef __cplusplus
}
#endif

#endif

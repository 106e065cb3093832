/*
 * Rows of a closed matrix, or of the columns of a sweep, in device memory as the user wants them:
 * the device's form of delivery (deliver.h), with the same arithmetic. The launch returns the
 * runtime's error number.
 */
#ifndef TWI_APSP_GPU_KERNELS_ROWS_H
#define TWI_APSP_GPU_KERNELS_ROWS_H

#include "apsp/gpu/kernels/convert.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twi_gpu_rows {
    twi_gpu_square in;
    tw_type work;            /* TW_U16 (TWI_GPU_INF_U16 is no path), TW_I32, TW_F32 or TW_F64 */
    tw_type type;            /* of the result */
    const int32_t *sources;  /* these four in device memory; NULL: row i is vertex i */
    const int32_t *targets;  /* likewise for columns */
    const double *potential; /* NULL, or h: take h[s] - h[t] off */
    uint64_t *misfit;   /* lowered to the least row * cols + col whose value the type cannot hold */
    int32_t keep_whole; /* 1: an f32 result may not round */
    double cutoff;      /* larger distances are no path; negative: none */
    int64_t cols;       /* of the result */
    /* NULL; or, also in device memory, where a turned matrix has its values: that of row i of the
     * result and vertex v at row place[v], column column[i - begin]. */
    const int32_t *column;
    const int32_t *place;
    int64_t begin;
} twi_gpu_rows;

/* Rows first ... first + count - 1 of the result into `out`, adjacent in memory. */
int twi_gpu_take_rows(void *out, const twi_gpu_rows *rows, int64_t first, int64_t count,
                      void *stream);

#ifdef __cplusplus
}
#endif

#endif

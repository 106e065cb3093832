/* The closure on the CPU: blocking and threads. */
#ifndef TWI_APSP_CLOSURE_CPU_H
#define TWI_APSP_CLOSURE_CPU_H

#include "apsp/closure/kernels.h"
#include "base/context.h"

/* A working matrix: n x n distances, row-major, rows padded with infinity to a multiple of the
 * kernel's nr and to a length that does not make cache sets collide. */
typedef struct twi_work {
    const twi_minplus_kernel *kernel;
    void *data;
    int64_t n;
    int64_t ld; /* elements from one row to the next */
} twi_work;

/* Elements of a row, and bytes of the whole matrix. */
TWI_SHARED int64_t twi_work_stride(const twi_minplus_kernel *kernel, int64_t n);
uint64_t twi_work_bytes(const twi_minplus_kernel *kernel, int64_t n);

/* The pivot width for n, as chosen when the caller leaves it open; and the nearest one that the
 * kernel can work with. */
TWI_SHARED int32_t twi_block_choose(const twi_minplus_kernel *kernel, int64_t n);
TWI_SHARED int32_t twi_block_round(const twi_minplus_kernel *kernel, int64_t n, int64_t block);

/* Bytes of panels and thread buffers besides the matrix. */
uint64_t twi_cpu_closure_memory(const twi_minplus_kernel *kernel, int64_t n, int32_t block,
                                int threads, bool symmetric);

/* Tasks that so many threads have to share at a time; 1 for a matrix that one of them closes. */
int64_t twi_cpu_closure_tasks(const twi_minplus_kernel *kernel, int64_t n, int threads);

/* Close `work` in place: entry (i, j) becomes the minimum sum over walks i -> j. The diagonal is 0
 * on entry; no entry is negative, but of a matrix of one tile (signed.h). With `symmetric` the
 * matrix is symmetric, half of the work is done and both halves are filled in the end. The same
 * bits for any number of threads. */
TW_CHECKED tw_status twi_cpu_closure(tw_context *ctx, const twi_work *work, int32_t block,
                                     int threads, bool symmetric);

/* Somebody who keeps the matrix between two pivots. */
typedef struct twi_keeper {
    void *self;
    bool (*due)(void *self); /* whether it is time to */
    /* The matrix as it is after the pivots of vertices 0 ... done-1; with `symmetric` its lower
     * triangle, the diagonal counted, and nothing above it. */
    tw_status (*keep)(void *self, int64_t done);
} twi_keeper;

/* The same from vertex `done` on, where `work` is what a keeper was shown then, with the same
 * `symmetric` and, of floats, the same block: the same bits in the end. `keeper` may be NULL. */
TW_CHECKED tw_status twi_cpu_closure_from(tw_context *ctx, const twi_work *work, int32_t block,
                                          int threads, bool symmetric, int64_t done,
                                          const twi_keeper *keeper);

#endif

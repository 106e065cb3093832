/*
 * Closing the condensation on a GPU. A component owns a row of bits, one for each vertex of the
 * graph: those it reaches. It starts with its own vertices; then, level by level, a component takes
 * over the rows of its successors. A level holds the components whose successors all lie in levels
 * before it, so every row is written once and by one thread block, and read only afterwards: no
 * thread reads what another writes.
 *
 * The cost is arcs times n / 8 bytes read, from the second cache or memory, and a launch per level.
 * That is far below the n^3 of a closure by products, on tensor cores or not, unless there are many
 * more arcs than any reader of graphs would like.
 */
#ifndef TWI_REACH_GPU_KERNELS_CLOSURE_H
#define TWI_REACH_GPU_KERNELS_CLOSURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of it in device memory. */
typedef struct twi_reach_device {
    int64_t vertices;
    int64_t components;
    int64_t words;          /* of a row: whole pieces of 16 bytes */
    const int64_t *offsets; /* components + 1 */
    const int32_t *successors;
    const int32_t *order; /* components by level */
    const int32_t *of;    /* vertices: the component of each */
    uint32_t *sets;       /* components rows, 16-byte aligned */
} twi_reach_device;

/* Rows of nothing but the components' own vertices. */
int twi_gpu_reach_begin(const twi_reach_device *device, void *stream);

/* Components first ... first + count - 1 of the order, which are a level. */
int twi_gpu_reach_level(const twi_reach_device *device, int64_t first, int64_t count, void *stream);

/* How many vertices each component reaches. */
int twi_gpu_reach_count(const twi_reach_device *device, int64_t *counts, void *stream);

/* The rows of `count` vertices, one after the other: vertices first ... of the list, or of the
 * graph where it is NULL. */
int twi_gpu_reach_take(const twi_reach_device *device, uint32_t *out, const int32_t *list,
                       int64_t first, int64_t count, void *stream);

#ifdef __cplusplus
}
#endif

#endif

/*
 * One block of memory for many arrays: each is placed after the ones before, aligned as kernels and
 * copies want it. Without a block only the bytes are counted, so that one function lays a device's
 * memory out and tells how much of it there must be.
 */
#ifndef TWI_GPU_LAYOUT_H
#define TWI_GPU_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { TWI_GPU_ALIGNMENT = 256, TWI_GPU_PIECE = 16 /* bytes that a thread loads or stores */ };

static inline void *twi_gpu_place(char *base, uint64_t *used, int64_t count, int64_t size)
{
    void *at = base != NULL ? base + *used : NULL;
    *used +=
        ((uint64_t)(count * size) + TWI_GPU_ALIGNMENT - 1) / TWI_GPU_ALIGNMENT * TWI_GPU_ALIGNMENT;
    return at;
}

/* Elements from one row of a matrix to the next: whole pieces. */
static inline int64_t twi_gpu_row_length(int64_t cols, int64_t element)
{
    int64_t unit = TWI_GPU_PIECE / element;
    return (cols + unit - 1) / unit * unit;
}

#endif

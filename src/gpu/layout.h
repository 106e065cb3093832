/*
 * One block of memory for many arrays: each is placed after the ones before, aligned as kernels and
 * copies want it. Without a block only the bytes are counted, so that one function lays a device's
 * memory out and tells how much of it there must be.
 */
#ifndef TWI_GPU_LAYOUT_H
#define TWI_GPU_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { TWI_GPU_ALIGNMENT = 256 };

static inline void *twi_gpu_place(char *base, uint64_t *used, int64_t count, int64_t size)
{
    void *at = base != NULL ? base + *used : NULL;
    *used +=
        ((uint64_t)(count * size) + TWI_GPU_ALIGNMENT - 1) / TWI_GPU_ALIGNMENT * TWI_GPU_ALIGNMENT;
    return at;
}

#endif

/* The seam between the ladder apsp-gpu and its kernels. */
#ifndef LAB_APSP_GPU_KERNELS_H
#define LAB_APSP_GPU_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a rung closes a matrix of `n` (a multiple of the block) with rows of ld. */
typedef struct lab_recipe {
    int block;            /* 1: no padding is needed */
    int (*prepare)(void); /* before the clock runs: the runtime's error number; NULL: nothing */
    void (*solve)(int *d, int ld, int n);
    const void *kernel; /* the one that takes the time */
    int threads, shared;
} lab_recipe;

extern const lab_recipe lab_naive;
extern const lab_recipe lab_first;
extern const lab_recipe lab_merged;
extern const lab_recipe lab_no_barrier;
extern const lab_recipe lab_in_register;
extern const lab_recipe lab_two_tiles;
extern const lab_recipe lab_hoisted;
extern const lab_recipe lab_tiles_1;
extern const lab_recipe lab_tiles_2;
extern const lab_recipe lab_tiles_4;
extern const lab_recipe lab_tiles_6;
extern const lab_recipe lab_large_rolled;
extern const lab_recipe lab_large;
extern const lab_recipe lab_large_apart;
extern const lab_recipe lab_grid;
extern const lab_recipe lab_padded;
extern const lab_recipe lab_coalesced;
extern const lab_recipe lab_conflicts;
extern const lab_recipe lab_straight;
extern const lab_recipe lab_block_64;
extern const lab_recipe lab_threads_32;
extern const lab_recipe lab_coarse;
extern const lab_recipe lab_unrolled;
extern const lab_recipe lab_block_78;
extern const lab_recipe lab_fused;
extern const lab_recipe lab_shape_8_8_8;
extern const lab_recipe lab_shape_16_16_16;
extern const lab_recipe lab_shape_32_32_32;
extern const lab_recipe lab_shape_32_8_32;
extern const lab_recipe lab_shape_32_16_16;
extern const lab_recipe lab_shape_48_16_16;
extern const lab_recipe lab_shape_64_32_32;
extern const lab_recipe lab_shape_64_64_16;
extern const lab_recipe lab_shape_64_16_16;
extern const lab_recipe lab_shape_78_39_13;
extern const lab_recipe lab_shape_80_16_40;
extern const lab_recipe lab_shape_90_45_15;
extern const lab_recipe lab_shape_128_32_32;
extern const lab_recipe lab_shape_128_16_16;
extern const lab_recipe lab_global_16;
extern const lab_recipe lab_global_32;
extern const lab_recipe lab_global_64;
extern const lab_recipe lab_global_128;
extern const lab_recipe lab_global_256;

/* "No path" into what lies beyond n of a matrix of side x side with rows of ld; the runtime's error
 * number. */
int lab_pad(int *d, int ld, int side, int n);

/* For two GPUs: a round with pivot tile k on one of them, which owns the rows of tiles first ...
 * end-1; and `count` elements read from host memory that the device can reach. */
#define LAB_MULTI_SIDE 64
int lab_multi_round(int *d, int ld, int k, int first, int end, void *stream);
int lab_multi_fetch(int *to, const int *from, int64_t count, void *stream);

#ifdef __cplusplus
}
#endif

#endif

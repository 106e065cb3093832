/* The seam between the ladder apsp-gpu and its kernels. */
#ifndef LAB_LADDERS_APSP_GPU_KERNELS_H
#define LAB_LADDERS_APSP_GPU_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a rung closes a matrix of `n` (a multiple of the block) with rows of ld. */
typedef struct lab_recipe {
    int block;            /* 1: no padding is needed */
    int (*prepare)(void); /* before the clock runs: the runtime's error number; NULL: nothing */
    void (*solve)(int *d, int ld, int n);
    const struct twi_gpu_kernel
        *engine;        /* without solve: the library's rounds with these kernels */
    const void *kernel; /* the one that takes the time */
    int threads, shared;
} lab_recipe;

extern const lab_recipe lab_naive;
extern const lab_recipe lab_first;
extern const lab_recipe lab_merged;
extern const lab_recipe lab_merged_unrolled;
extern const lab_recipe lab_no_barrier;
extern const lab_recipe lab_in_register;
extern const lab_recipe lab_two_tiles;
extern const lab_recipe lab_hoisted;
extern const lab_recipe lab_known_side;
extern const lab_recipe lab_tiles_1;
extern const lab_recipe lab_tiles_2;
extern const lab_recipe lab_tiles_4;
extern const lab_recipe lab_tiles_6;
extern const lab_recipe lab_large_rolled;
extern const lab_recipe lab_large;
extern const lab_recipe lab_large_apart;
extern const lab_recipe lab_three_8;
extern const lab_recipe lab_three_16;
extern const lab_recipe lab_three_32;
extern const lab_recipe lab_walk;
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
extern const lab_recipe lab_wide;
extern const lab_recipe lab_wide_pivot;
extern const lab_recipe lab_packed;
extern const lab_recipe lab_buffered;
extern const lab_recipe lab_async;
extern const lab_recipe lab_bulk;
extern const lab_recipe lab_global_16;
extern const lab_recipe lab_global_64;
extern const lab_recipe lab_global_128;
extern const lab_recipe lab_global_256;
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

/* The variant of tiles_1 to tiles_6 for n vertices, as row C chooses it. */
const lab_recipe *lab_tiles_for(int64_t n);

/* "No path" into what lies beyond n of a matrix of side x side with rows of ld; the runtime's error
 * number. */
int lab_pad(int *d, int ld, int side, int n);

/* The second and the third phase of a round with tiles of LAB_WIDE_SIDE, the pivot's tile closed.
 */
#define LAB_WIDE_SIDE 128
void lab_wide_products(int *d, int ld, int n, int k);

/* For two GPUs, with row A2's kernels: the rows of tiles from `first` to `end` are a GPU's own, and
 * of the pivot's row it makes the tiles from row_first to row_end. Each is the runtime's error
 * number.
 */
#define LAB_MULTI_SIDE 64
typedef struct lab_part_of_rows {
    int first, end, row_first, row_end;
} lab_part_of_rows;
int lab_multi_close(int *d, int ld, int k, void *stream);
int lab_multi_panels(int *d, int ld, int k, const lab_part_of_rows *part, void *stream);
int lab_multi_rest(int *d, int ld, int k, const lab_part_of_rows *part, void *stream);
const void *lab_multi_kernel(void); /* of the third phase, to ask about it */

#ifdef __cplusplus
}
#endif

#endif

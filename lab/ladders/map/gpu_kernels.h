/* The seam between the ladder map-gpu and its kernels. */
#ifndef LAB_LADDERS_MAP_GPU_KERNELS_H
#define LAB_LADDERS_MAP_GPU_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* One pass in place over n x n floats (n a multiple of 4 for vectors); `table`: for table. */
typedef struct lab_map_recipe {
    void (*pass)(float *v, int n, const float *table);
    const void *kernel;
    int threads;
} lab_map_recipe;

extern const lab_map_recipe lab_map_original, lab_map_coalesced, lab_map_divided, lab_map_table,
    lab_map_vectors;

/* Fills the table of `table`: results of both branches for whole inputs 0 ... LAB_MAP_INPUTS-1. */
#define LAB_MAP_INPUTS 512
int lab_map_fill_table(float *table);

#ifdef __cplusplus
}
#endif

#endif

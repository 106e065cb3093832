/* The seam between the ladders entropy-gpu, entropy-gpu-threads and their kernels. */
#ifndef LAB_LADDERS_ENTROPY_GPU_KERNELS_H
#define LAB_LADDERS_ENTROPY_GPU_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What lies on the card: n x n levels and results, the tables, and textures of both. */
typedef struct lab_entropy_card {
    const float *input;
    const uint8_t *bytes; /* the same as bytes */
    float *output;
    const double *table; /* log n for n = 0 ... 25, the first being 0 */
    const float *float_table;
    uintptr_t table_texture; /* of float_table */
    uintptr_t input_texture; /* 2-D, of the input as floats */
    int n;
} lab_entropy_card;

typedef struct lab_entropy_recipe {
    void (*solve)(const lab_entropy_card *card);
    const void *kernel;
    int threads; /* of a block */
} lab_entropy_recipe;

#define LAB_ENTROPY_SWEPT(version)                                                         \
    lab_entropy_##version##_128, lab_entropy_##version##_256, lab_entropy_##version##_512, \
        lab_entropy_##version##_1024
extern const lab_entropy_recipe LAB_ENTROPY_SWEPT(v0), LAB_ENTROPY_SWEPT(v1), LAB_ENTROPY_SWEPT(v7),
    lab_entropy_v7_held_128, lab_entropy_v7_held_256, lab_entropy_v7_constant_1024,
    lab_entropy_v2_1024, lab_entropy_v3_1024, lab_entropy_v4_1024, lab_entropy_v5_1024,
    lab_entropy_v6_1024, lab_entropy_v7_shared_1024, lab_entropy_v7_texture_1024,
    lab_entropy_v7_float_1024, lab_entropy_v8_1024, lab_entropy_v9_1024, lab_entropy_bytes_1024;

/* The tables in constant memory, for v3 and v7_constant; the runtime's error number. */
int lab_entropy_constants(const double *table, const float *floats);

#ifdef __cplusplus
}
#endif

#endif

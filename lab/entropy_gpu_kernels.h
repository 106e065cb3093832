/* The seam between the ladder entropy-gpu and its kernels. */
#ifndef LAB_ENTROPY_GPU_KERNELS_H
#define LAB_ENTROPY_GPU_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What lies on the card: n x n levels and results, the tables, and textures of both. */
typedef struct lab_entropy_card {
    const uint8_t *input;
    float *output;
    const double *table; /* n log n for n = 0 ... 25 */
    const float *float_table;
    uintptr_t table_texture; /* of float_table */
    uintptr_t input_texture; /* 2-D, of input */
    int n;
} lab_entropy_card;

typedef struct lab_entropy_recipe {
    void (*solve)(const lab_entropy_card *card);
    const void *kernel;
    int threads;
} lab_entropy_recipe;

extern const lab_entropy_recipe lab_entropy_v0, lab_entropy_v1, lab_entropy_v2, lab_entropy_v3,
    lab_entropy_v4, lab_entropy_v5, lab_entropy_v6, lab_entropy_v7, lab_entropy_v8, lab_entropy_v9;

/* The table in constant memory, for v3; the runtime's error number. */
int lab_entropy_constants(const double *table);

#ifdef __cplusplus
}
#endif

#endif

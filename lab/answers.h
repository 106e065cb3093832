/* Answers compared with the right ones, and how much work and traffic a size means: what ladders of
 * the same problem share. */
#ifndef LAB_ANSWERS_H
#define LAB_ANSWERS_H

#include "ladder.h"

/* n x n distances, all equal; TW_ERR_VERIFY names the rung and the first that is not. */
TW_CHECKED tw_status lab_same_distances(tw_context *ctx, const lab_rung *rung, const int32_t *got,
                                        const int32_t *right, int64_t n);
/* Floats, each within `tolerance`; NaN never is. Of n x n, or of rows x cols. */
TW_CHECKED tw_status lab_near_floats(tw_context *ctx, const lab_rung *rung, const float *got,
                                     const float *right, int64_t n, float tolerance);
TW_CHECKED tw_status lab_near_rectangle(tw_context *ctx, const lab_rung *rung, const float *got,
                                        const float *right, int64_t rows, int64_t cols,
                                        float tolerance);
/* Bytes read and written a second by a copy of 64 MiB, over all threads; the best of five. */
TW_CHECKED tw_status lab_copy_bandwidth(tw_context *ctx, double *out);
/* Bytes that no right answer consists of. */
void lab_poison(void *output, int64_t n, int32_t element);

double lab_relaxations(int64_t n);  /* n^3 */
double lab_elements(int64_t n);     /* n^2 */
double lab_matrix_bytes(int64_t n); /* 4-byte elements, read and written once */
double lab_image_bytes(int64_t n);  /* bytes read, floats written */

#endif

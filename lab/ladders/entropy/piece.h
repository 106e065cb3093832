/*
 * A rectangle of outputs with the elements behind it, in host memory or on a card: what the rungs
 * of several GPUs are made of. The window of output (y, x) is the 5 x 5 around element (y + above,
 * x + before); what lies outside of the elements does not count.
 */
#ifndef LAB_LADDERS_ENTROPY_PIECE_H
#define LAB_LADDERS_ENTROPY_PIECE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAB_ENTROPY_HALF 2
#define LAB_ENTROPY_LEVELS 16
#define LAB_ENTROPY_MOST 25 /* elements of a window */

typedef struct lab_entropy_piece {
    const uint8_t *in;
    int64_t in_stride;
    int32_t in_rows, in_cols;
    float *out;
    int64_t out_stride;
    int32_t rows, cols;
    int32_t above, before; /* rows and columns of elements before the first output's */
    const float
        *floats; /* the elements as floats, instead of `in`, in strides of as many; or NULL */
} lab_entropy_piece;

/* Put the kernel of version 7 for a piece on a stream (multi_kernels.cu), in blocks of as many
 * threads as its authors'; the runtime's error number. And what it is, to ask about it. */
#define LAB_ENTROPY_PIECE_THREADS 1024
int lab_entropy_launch(const lab_entropy_piece *piece, void *stream);
const void *lab_entropy_piece_kernel(bool floats);

#ifdef __cplusplus
}
#endif

#endif

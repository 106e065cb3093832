/*
 * An array of 16 levels in host memory and the entropy of the 5 x 5 window around each element,
 * which is right to five decimals: what the ladders of entropy share.
 */
#ifndef LAB_LADDERS_ENTROPY_ARRAY_H
#define LAB_LADDERS_ENTROPY_ARRAY_H

#include "ladders/entropy/bands.h"
#include "ladders/entropy/piece.h"
#include "ladders/ladder.h"

typedef struct lab_entropy_array {
    int64_t rows, cols;
    uint8_t *input;
    float *right, *output;
} lab_entropy_array;

/* On failure, too, lab_entropy_array_free frees what is there. */
TW_CHECKED tw_status lab_entropy_array_make(lab_entropy_array *out, tw_context *ctx, int64_t rows,
                                            int64_t cols, uint64_t seed);
void lab_entropy_array_free(lab_entropy_array *array); /* and make it empty */
void lab_entropy_array_spoil(lab_entropy_array *array);
/* The one that is there if its shape is this, else a new one in its place, spoilt; none on failure.
 */
TW_CHECKED tw_status lab_entropy_array_hold(lab_entropy_array *array, tw_context *ctx, int64_t rows,
                                            int64_t cols, uint64_t seed);
TW_CHECKED tw_status lab_entropy_array_check(tw_context *ctx, const lab_entropy_array *array,
                                             const lab_rung *rung);

/* The outputs in both bands, as they lie in the array. */
lab_entropy_piece lab_entropy_piece_of(const lab_entropy_array *array, lab_band rows,
                                       lab_band cols);
/* A piece in host memory on `threads` threads: n log n from a table of doubles. Rows that are left
 * when the context is cancelled stay as they are. */
void lab_entropy_solve(tw_context *ctx, const lab_entropy_piece *piece, int threads);
/* The output by the library, on the context's device. */
TW_CHECKED tw_status lab_entropy_by_library(tw_context *ctx, lab_entropy_array *array,
                                            double *seconds);

#endif

/*
 * A sparse matrix of SciPy as it is read from an npz file, before it becomes a graph: the arrays of
 * the archive, whatever their types, and how all kinds of them become what graphs are built from.
 */
#ifndef TWI_IO_GRAPH_NPZ_EXPAND_H
#define TWI_IO_GRAPH_NPZ_EXPAND_H

#include "io/graph/format.h"
#include "io/matrix/format.h"

/* One array of the archive. */
typedef struct twi_npz_member {
    void *memory;
    twi_npy about;
    const char *elements;
} twi_npz_member;

/* The arrays of a matrix. `first` and `second` are indptr and indices; of coordinates row and col;
 * of diagonals offsets and nothing. */
typedef struct twi_npz {
    char format[4]; /* csr, csc, coo, bsr or dia */
    twi_npz_member format_word, first, second, data, shape;
    int64_t rows, cols, count;
} twi_npz;

/* Whole numbers of 32 or 64 bits. */
bool twi_npz_is_index(const twi_npz_member *array);
int64_t twi_npz_whole(const twi_npz_member *array, int64_t i);

/* Blocks (bsr) or diagonals (dia) as coordinates, of 64 bits. The zeros that fill them are no
 * entries. */
TW_CHECKED tw_status twi_npz_expand(tw_context *ctx, const twi_input *input,
                                    const tw_graph_read_options *opts, twi_npz *a);

/* The values as one of the types that a graph is made of: *type, or TW_AUTO for truth values. Whole
 * numbers of other widths are widened. */
TW_CHECKED tw_status twi_npz_settle_values(tw_context *ctx, const twi_input *input,
                                           twi_npz_member *data, tw_type *type);

#endif

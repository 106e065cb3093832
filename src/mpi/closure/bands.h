/*
 * Whole rows out of tiles, and tiles out of whole rows, as a file in global order has them. A band
 * is a row of tiles; its rows are divided among the ranks of its row of the grid, which alone talk
 * to each other: rank (r, c) has the c-th part. Of a symmetric matrix a row ends with the tile on
 * the diagonal.
 */
#ifndef TWI_MPI_BANDS_H
#define TWI_MPI_BANDS_H

#include "mpi/closure/share.h"

typedef struct twi_bands {
    const twi_share *share;
    char *rows;           /* this rank's of a band, n elements from one to the next */
    char *going, *coming; /* pieces of tiles */
    int *counts;          /* four times as many as columns of the grid */
    MPI_Datatype element;
} twi_bands;

/* Memory for the bands of a share. Not collective. */
TW_CHECKED tw_status twi_bands_open(tw_context *ctx, twi_bands *out, const twi_share *share);
/* One that was never opened has MPI_DATATYPE_NULL for its element, and else nothing. */
void twi_bands_close(twi_bands *bands);

/* The band of this rank's row of the grid in step t; -1: none. */
int64_t twi_band_tile(const twi_grid *grid, int64_t t);
/* Which rows of the matrix this rank has of band i, and how many at most of any. */
void twi_band_rows(const twi_grid *grid, int64_t i, int64_t *first, int64_t *count);
int64_t twi_band_most(const twi_grid *grid);

/* Band i from the tiles into `rows`, and back. Collective over the row of the grid. */
TW_CHECKED tw_status twi_bands_gather(tw_context *ctx, twi_bands *bands, int64_t i);
TW_CHECKED tw_status twi_bands_scatter(tw_context *ctx, twi_bands *bands, int64_t i);

#endif

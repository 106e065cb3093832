/*
 * The grid of ranks and who owns what. The matrix is cut into square tiles of `block` vertices;
 * tile (I, J) belongs to the rank in row I mod rows and column J mod cols of the grid. Ranks lie in
 * it row by row.
 */
#ifndef TWI_MPI_GRID_H
#define TWI_MPI_GRID_H

#include "mpi/shared/world.h"

typedef struct twi_grid {
    const twi_world *world;
    int rows, cols;  /* of the grid */
    int row, col;    /* of this rank */
    MPI_Comm across; /* the ranks of this row, numbered by column */
    MPI_Comm down;   /* the ranks of this column, numbered by row */
    int64_t n;       /* vertices */
    int64_t block;
    int64_t tiles; /* of a row of the matrix */
} twi_grid;

/* Rows of the grid of so many ranks. */
int twi_grid_rows(int size);

/* Collective. The grid is as near to a square as the number of ranks allows. */
TW_CHECKED tw_status twi_grid_open(tw_context *ctx, twi_grid *out, const twi_world *world,
                                   int64_t n, int64_t block);
void twi_grid_close(twi_grid *grid);

/* Vertices of tile row or column i. */
static inline int64_t twi_tile_size(const twi_grid *grid, int64_t i)
{
    const int64_t left = grid->n - i * grid->block;
    return left < grid->block ? left : grid->block;
}

/* How many of the tile rows (columns) are this rank's, and which they are. */
static inline int64_t twi_own_rows(const twi_grid *grid)
{
    return grid->tiles > grid->row ? (grid->tiles - grid->row - 1) / grid->rows + 1 : 0;
}
static inline int64_t twi_own_cols(const twi_grid *grid)
{
    return grid->tiles > grid->col ? (grid->tiles - grid->col - 1) / grid->cols + 1 : 0;
}
static inline int64_t twi_row_tile(const twi_grid *grid, int64_t own)
{
    return grid->row + own * grid->rows;
}
static inline int64_t twi_col_tile(const twi_grid *grid, int64_t own)
{
    return grid->col + own * grid->cols;
}

#endif

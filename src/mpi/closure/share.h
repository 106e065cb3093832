/*
 * One rank's share of the working matrix: its tiles, row of tiles by row of tiles, each of those
 * row-major with the tiles side by side, padded with infinity to whole strips of the kernel as a
 * matrix on one machine is, or, with `whole`, in both directions to whole tiles, as a GPU wants
 * them. With `symmetric` only tiles on and below the diagonal are kept.
 */
#ifndef TWI_MPI_SHARE_H
#define TWI_MPI_SHARE_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/plan.h"
#include "mpi/closure/grid.h"
#include "mpi/closure/pattern.h"
#include "mpi/shared/graph.h"
#include "mpi/shared/machine.h"

typedef struct twi_strip_row {
    char *data;
    int64_t ld;    /* elements */
    int64_t tiles; /* side by side */
} twi_strip_row;

typedef struct twi_share {
    const twi_grid *grid;
    const twi_minplus_kernel *kernel;
    bool symmetric;
    bool whole;
    int64_t size;               /* bytes of an element */
    int64_t row_count;          /* of tiles */
    int64_t col_count;          /* of tiles, at most */
    twi_strip_row *rows;        /* row_count */
    void *memory;               /* behind them */
    twi_common common;          /* which that is, or none */
    const twi_machine *machine; /* whose ranks may map it; NULL: nobody does */
} twi_share;

/* Element (0, 0) of the own-th row's at-th tile. */
static inline char *twi_share_tile(const twi_share *share, int64_t row, int64_t at)
{
    return share->rows[row].data + at * share->grid->block * share->size;
}

/* Rows, or columns, of tile i on its way between ranks, or in memory. */
static inline int64_t twi_share_side(const twi_share *share, int64_t i)
{
    return share->whole ? share->grid->block : twi_tile_size(share->grid, i);
}

/* Memory for the tiles, infinite but for the diagonal, by so many threads. Where the ranks of
 * `machine` help each other (it may be NULL), all of them can map it. */
TW_CHECKED tw_status twi_share_create(tw_context *ctx, twi_share *out, const twi_grid *grid,
                                      const twi_minplus_kernel *kernel, bool symmetric, bool whole,
                                      const twi_machine *machine, int threads);
void twi_share_clear(twi_share *share);

/* Fill in `rows`, for tiles that lie in that memory. */
void twi_share_lay_out(twi_share *share, void *memory);

/* Bytes of the matrix that this rank will hold. */
uint64_t twi_share_bytes(const twi_grid *grid, const twi_minplus_kernel *kernel, bool symmetric,
                         bool whole);

/* Bytes of arcs on their way at a time, at most, about, where a rank has so many. */
uint64_t twi_share_traffic(int64_t arcs, int ranks);

/* The arcs of all ranks into the shares of those who own them, and the tiles they fall into into
 * the pattern, by so many threads. Collective; the same status everywhere. */
TW_CHECKED tw_status twi_share_scatter(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                       const tw_mpi_graph *graph, int threads);

#endif

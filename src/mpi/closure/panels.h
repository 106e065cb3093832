/*
 * The panels of one pivot p, and how they reach the ranks that need them.
 *
 * Tile (I, J) takes min(C, Col[I] (x) Row[J]); so a rank needs Row[J] for its columns J and Col[I]
 * for its rows I. Row[J] is made where tile (p, J) lies and goes down the columns of the grid;
 * Col[I] where (I, p) lies and goes across the rows.
 *
 * Of a symmetric matrix only the lower half is there, and Col[I] is Row[I] transposed. Row[J] is
 * made in the grid row of p for J < p and goes down from there; for J > p it is made in the grid
 * column of p, from tile (J, p), and goes across. That is the first step. Whoever is in the row and
 * in the column of J has it now and passes it on the other way, the second step: a broadcast for
 * each such rank of a column (or row) of the grid.
 *
 * Tiles of a side that travel together are a group, adjacent in memory. Broadcasts of one
 * communicator are posted in the same order by all its ranks: the closed tile, group 0, then one
 * group for each rank that passes on. One that this rank sends is posted when what it sends is
 * ready, and those behind it wait.
 */
#ifndef TWI_MPI_PANELS_H
#define TWI_MPI_PANELS_H

#include "mpi/closure/share.h"

#define TWI_CAST_TILE (-1)

/* A broadcast, in units of a cache line. */
typedef struct twi_cast {
    char *data;
    int64_t lines;
    int root;
    int what;   /* the group, or TWI_CAST_TILE */
    bool ready; /* may be posted: what we send is there, or others send */
    bool done;
    MPI_Request request;
} twi_cast;

/* Those of one communicator, in their order. */
typedef struct twi_casts {
    MPI_Comm comm;
    int rank, size;
    int count, posted;
    twi_cast *list;
} twi_casts;

/* Row[] or Col[] of a pivot, as far as this rank needs it: raw tiles of `depth` x width (Col of a
 * directed matrix: height x depth), row-major. Of whole tiles all are squares, and those of Col are
 * transposed. */
typedef struct twi_side {
    int64_t count; /* of tiles along the side, there or not */
    int64_t *at;   /* byte of each in data; -1: it is empty, or the pivot itself */
    char *data;
    int64_t used;         /* bytes */
    int64_t *group_begin; /* of each group, and the end of the last */
    int groups;
} twi_side;

typedef struct twi_panels {
    twi_side row, col;
} twi_panels;

/* Bytes of a tile on its way. */
int64_t twi_panel_tile_bytes(const twi_share *share, int64_t depth, int64_t width);

/* Where the tiles of pivot p lie and who sends which, into `panels`; and the broadcasts for it. The
 * lists have room for all groups and the tile. */
void twi_panels_lay_out(twi_panels *panels, const twi_share *share, const twi_pattern *pattern,
                        int64_t p, char *tile, twi_casts *down, twi_casts *across);

/* Groups of a side, at most, and bytes of all its tiles. */
int twi_side_groups(const twi_share *share, bool is_row);
int64_t twi_side_bytes(const twi_share *share, bool is_row);

/* What this rank sends of it is ready. */
void twi_casts_ready(twi_casts *casts, int what);
/* Whether it is here: arrived, or there is nothing of it to send. */
bool twi_casts_here(const twi_casts *casts, int what);

/* Post what can be posted and see what has arrived. False: MPI failed. */
bool twi_casts_poll(twi_casts *casts);
bool twi_casts_done(const twi_casts *casts);

#endif

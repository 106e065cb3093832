/*
 * The update of a round: tiles of a rank take min(C, Col[I] (x) Row[J]) for the round's pivot. It
 * reads the rank's raw Col panel and its packed Row panels, and may be done by whoever has all of
 * that in memory: the rank itself, or another one of its machine (help.h).
 */
#ifndef TWI_MPI_UPDATE_H
#define TWI_MPI_UPDATE_H

#include "apsp/closure/layout.h"
#include "mpi/closure/messages.h"

/* One rank's tiles and panels, wherever they are mapped. */
typedef struct twi_update {
    const twi_share *share;
    const twi_panels *panels; /* of the even and the odd pivots */
    twi_panel *rows;          /* Row[] of the pivot, packed; col_count */
    int64_t chunk;            /* rows of a task */
    int64_t chunks;           /* of a tile */
} twi_update;

/* What a round does. */
typedef struct twi_round {
    int64_t pivot, next; /* -1: there is none */
    int64_t rest_count;  /* tasks of the tiles that are not in the next pivot's row or column */
} twi_round;

/* Tasks of `chunk` rows. */
void twi_update_divide(twi_update *self, int64_t chunk);

/* The packed Row panels of the rank, into `rows`, where there are any. */
void twi_update_place_rows(twi_layout *at, const twi_share *share, twi_panel *rows);

/* Rows of tile `own` of the rank's rows that a task beginning at `row` has; 0: none. */
int64_t twi_update_height(const twi_update *self, int64_t own, int64_t row);

/* Update a chunk of the rank's row `own` in tiles begin ... end-1 of it, but not in the pivot's
 * nor in tile `skip` (of the matrix; -1: none). `a` is the caller's room for the packed chunk. */
void twi_update_chunk(const twi_update *self, int64_t pivot, twi_panel *a, int64_t own, int64_t row,
                      int64_t begin, int64_t end, int64_t skip);

/* One of the rest's tasks. */
void twi_update_rest(const twi_update *self, const twi_round *round, twi_panel *a, int64_t task);

#endif

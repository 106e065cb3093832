/*
 * One rank's share of a closure over ranks, in the memory of its GPU: tiles in rows and columns of
 * which the rank has every so-many-th of the matrix, one beside the other, padded with infinity to
 * whole tiles. The rounds are those of gpu/multi.c, but for what comes from other ranks: that comes
 * by messages, of which nothing here knows more than where they lie, on the host or, for an MPI
 * that reads it, in memory of the device; so a round is asked for in parts,
 *
 *   head    the next pivot's row and column of tiles take the update with the pivot before; its
 *           tile, if it is here, is closed and becomes a message
 *   form    once the closed tile is known: panels of tiles that are here become messages
 *   take    once all of them are known: the panels are taken from the messages
 *   update  all other tiles take the update
 *
 * on two streams: the update of one pivot runs while the other parts make the next one ready.
 *
 * Panels and closed tiles are messages as squares of side x side elements: those of the row
 * panel as they lie in the matrix, those of the column panel transposed.
 */
#ifndef TWI_APSP_GPU_RANK_H
#define TWI_APSP_GPU_RANK_H

#include "base/context.h"

typedef struct twi_gpu_rank twi_gpu_rank;

typedef struct twi_gpu_rank_shape {
    int32_t device;
    tw_type type; /* TW_U16, of which 15 bits, TW_I32, TW_F32 or TW_F64 */
    int32_t side; /* of a tile: twi_gpu_rank_side */
    int64_t down; /* tiles here */
    int64_t across;
    const int64_t *kept; /* symmetric: how many tiles of each row are kept; NULL: all */
    uint64_t messages;   /* bytes of messages there; 0: they are on the host */
} twi_gpu_rank_shape;

/* A pivot, and where it is among the tiles here. */
typedef struct twi_gpu_rank_pivot {
    int64_t number;
    int64_t size;  /* vertices */
    int64_t row;   /* its row of tiles here; -1: it is elsewhere */
    int64_t col;   /* and its column */
    int64_t below; /* symmetric: the first row here below it; else 0 */
    int64_t left;  /* symmetric: columns here up to its own; else all */
} twi_gpu_rank_pivot;

/* A panel among the messages. */
typedef struct twi_gpu_rank_panel {
    char *data;
    const int64_t *at; /* byte of the square of each tile here in data; -1: it is empty */
    uint8_t *some;     /* room on the host for a byte for each, until the squares have been taken */
} twi_gpu_rank_panel;

/* Of the tiles for n vertices, as a closure on one GPU has them; 0 for a type without kernels. */
TWI_SHARED int32_t twi_gpu_rank_side(tw_type type, int64_t n);

/* The GPU of a rank, by the name of the context's device: of those it lists the one whose turn it
 * is among the ranks of a machine, of which this is number `local`; all of the machine's where it
 * lists none. -1: the name is one of the CPU. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_device(tw_context *ctx, int local, int32_t *device);

/* Bytes that a share takes there. */
TWI_SHARED uint64_t twi_gpu_rank_bytes(const twi_gpu_rank_shape *shape);

/* Take memory and streams; close is fine with NULL. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_open(tw_context *ctx, twi_gpu_rank **out,
                                                  const twi_gpu_rank_shape *shape);
TWI_SHARED void twi_gpu_rank_close(twi_gpu_rank *self);

/* The memory of messages there; NULL: they are on the host. */
TWI_SHARED char *twi_gpu_rank_messages(const twi_gpu_rank *self);

/* Pin memory of the host, for good copies; whether there is something to undo. */
TWI_SHARED bool twi_gpu_rank_pin(tw_context *ctx, void *data, uint64_t bytes);
TWI_SHARED void twi_gpu_rank_unpin(void *data);

/* A row of tiles to the device or back, whole tiles of rows `ld` elements apart; and wait for all
 * copies and updates. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_bring(twi_gpu_rank *self, int64_t row, int64_t tiles,
                                                   void *data, int64_t ld, bool up);
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_wait(twi_gpu_rank *self);

/* The parts of a round. `before` NULL: none has been a pivot since the matrix was brought. `tile`:
 * where the closed tile is to go, or comes from. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_head(twi_gpu_rank *self,
                                                  const twi_gpu_rank_pivot *before,
                                                  const twi_gpu_rank_pivot *next, void *tile);
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_form(twi_gpu_rank *self,
                                                  const twi_gpu_rank_pivot *next, const void *tile,
                                                  const twi_gpu_rank_panel *row,
                                                  const twi_gpu_rank_panel *col);
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_take(twi_gpu_rank *self,
                                                  const twi_gpu_rank_pivot *next,
                                                  const twi_gpu_rank_panel *row,
                                                  const twi_gpu_rank_panel *col);
/* Part number `part` of `parts` of the update, in turn, as rows of tiles: the device is another
 * process's between two of them, if the second is asked for when the first is done. `next` NULL:
 * none follows. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_update(twi_gpu_rank *self,
                                                    const twi_gpu_rank_pivot *pivot,
                                                    const twi_gpu_rank_pivot *next, int64_t part,
                                                    int64_t parts);

/* Copy within the memory of messages there. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_pass(twi_gpu_rank *self, void *to, const void *from,
                                                  int64_t bytes);

/* Whether what `head`, `form` or `pass` gives to the messages, whichever was last, is there. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_is_out(twi_gpu_rank *self, bool *out);
/* Whether the part of an update that was asked for last is done. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_is_updated(twi_gpu_rank *self, bool *done);
/* Wait until the panels of pivot number `next` - 2 have been taken: their messages lie where
 * those of `next` will. */
TWI_SHARED TW_CHECKED tw_status twi_gpu_rank_reuse(twi_gpu_rank *self, int64_t next);

#endif

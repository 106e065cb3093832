/*
 * A matrix in host memory that is streamed through a GPU in strips of full rows: how it is cut, the
 * device's memory, streams and events, and the way of a strip there and back. gpu/stream.c closes
 * the matrix with them.
 */
#ifndef TWI_APSP_GPU_STRIPS_H
#define TWI_APSP_GPU_STRIPS_H

#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/area.h"
#include "gpu/queue.h"

#define TWI_SLOTS 4 /* strips on the device: coming, being prepared, multiplied, going */

/* How the matrix is cut, all in tiles. */
typedef struct twi_cut {
    int32_t tiles; /* a side of the whole matrix */
    int32_t block; /* a multiple of strip */
    int32_t strip;
    int32_t raw; /* tile columns of a panel that are multiplied at a time */
} twi_cut;

typedef struct twi_slot {
    void *landing; /* in the caller's type */
    void *strip;   /* in the working type: the same memory if that is the same */
    twi_gpu_packed left;
    uint8_t *alive; /* a byte for each block: whether the strip has a path to it */
    cudaEvent_t loaded;
    cudaEvent_t ready; /* for the wide product */
    cudaEvent_t computed;
    cudaEvent_t finished; /* looked at, and in the caller's type again */
    cudaEvent_t free;
} twi_slot;

typedef struct twi_strips {
    tw_context *ctx;
    const twi_gpu_host *host;
    const twi_gpu_area_kernel *area;
    const twi_gpu_kernel *square_kernel; /* closes a square */
    twi_cut cut;
    int64_t ld; /* of strips */
    int32_t strips;
    int32_t blocks;
    void *memory;
    uint64_t bytes;
    twi_gpu_packed panel[2]; /* by the parity of the block */
    twi_gpu_packed raw;
    void *square;
    twi_gpu_packed square_left;
    void *square_panels; /* for the resident engine */
    int32_t *found;
    twi_slot slots[TWI_SLOTS];
    int64_t turn; /* slots taken so far */
    cudaStream_t in, out, narrow, pivot, finish, wide[2];
    cudaEvent_t formed[2];  /* the panel, by the parity of the block */
    cudaEvent_t drained[2]; /* the wide streams, at the end of a round */
    cudaEvent_t *stored;    /* each strip, in host memory; or what is told of it */
    uint8_t *alive;         /* of each strip what its slot had, in pinned host memory */
    int64_t first;          /* block that this run begins with */
    bool pauses;            /* nothing is prepared in this round: the matrix is kept after it */
    bool left_out;          /* a strip in the last round, which then has pairs without a path */
} twi_strips;

/* For the host's matrix in the type and tile of `kernel`; nothing is taken yet. */
twi_strips twi_strips_describe(tw_context *ctx, const twi_gpu_host *host,
                               const twi_gpu_kernel *kernel);
/* Cut it into the deepest blocks that fit `limit` bytes on the device, and strips as high as they
 * should be if that is possible; false if nothing fits, and then the bytes are the least. */
bool twi_strips_cut_to_fit(twi_strips *self, uint64_t limit);

/* Take memory and streams; twi_strips_close gives back what was taken, also after a failure. */
TW_CHECKED tw_status twi_strips_open(twi_strips *self);
void twi_strips_close(twi_strips *self);

/* The next slot, once it is free: so the call follows the device, and can be cancelled. */
TW_CHECKED tw_status twi_strips_take_slot(twi_strips *self, twi_slot **out);
/* From the host to the slot, once what was stored there before has arrived. */
TW_CHECKED tw_status twi_strips_load(twi_strips *self, twi_slot *s, int32_t strip);
/* From the slot to the host, after `done`. `last`: entries of 16 bits at the cap are looked for. */
TW_CHECKED tw_status twi_strips_store(twi_strips *self, twi_slot *s, int32_t strip,
                                      cudaEvent_t done, bool last);

/* Tell the host, on `stream`, which blocks the strip in a slot has paths to: `look` first, then
 * `tell`, with the event that the strip is stored. */
TW_CHECKED tw_status twi_strips_look(twi_strips *self, twi_slot *s, int32_t strip,
                                     cudaStream_t stream);
TW_CHECKED tw_status twi_strips_tell(twi_strips *self, twi_slot *s, int32_t strip,
                                     cudaStream_t stream);
/* Whether a strip that is not of the block has anything to gain from it, by what was told since the
 * strip, or of a symmetric matrix the block, was last changed. */
TW_CHECKED tw_status twi_strips_is_concerned(twi_strips *self, int32_t strip, int64_t block,
                                             bool *concerned);

/* The first tile of a block, and its tiles. */
int32_t twi_strips_first_tile(const twi_strips *self, int64_t block);
int32_t twi_strips_block_tiles(const twi_strips *self, int64_t block);
/* The strips of a block are `first` to `end` - 1. */
void twi_strips_of_block(const twi_strips *self, int64_t block, int32_t *first, int32_t *end);

/* Tile columns that a strip keeps: all, or of a symmetric matrix those up to its own rows. */
int32_t twi_strips_width(const twi_strips *self, int32_t strip);
/* Tile columns of a strip on the device; tile rows and columns of a block's panel; tile rows of its
 * square; and the rows of the host's matrix that a strip is. */
twi_gpu_area twi_strips_area(const twi_strips *self, const twi_slot *s, int32_t strip,
                             int32_t across, int32_t cols);
twi_gpu_area twi_strips_panel(const twi_strips *self, int64_t block, int32_t down, int32_t rows,
                              int32_t across, int32_t cols);
twi_gpu_area twi_strips_square(const twi_strips *self, int32_t down, int32_t rows, int32_t cols);
twi_gpu_strip twi_strips_rows(const twi_strips *self, const twi_slot *s, int32_t strip);

#endif

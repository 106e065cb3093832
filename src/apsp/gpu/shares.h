/*
 * A matrix that is dealt out to several GPUs by rows of tiles: tile row t lies on device t % count,
 * padded with infinity to whole tiles. Here are each device's memory, streams and events, and the
 * way of the rows there and back; gpu/multi.c closes the matrix.
 */
#ifndef TWI_APSP_GPU_SHARES_H
#define TWI_APSP_GPU_SHARES_H

#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/area.h"
#include "gpu/queue.h"

/* What one device holds and does. */
typedef struct twi_share {
    int32_t device;
    int32_t tiles; /* rows of tiles that lie here */
    void *memory;
    uint64_t bytes;
    twi_gpu_area matrix;
    twi_gpu_packed row[2]; /* row panels, right operands, by the parity of their pivot */
    twi_gpu_packed col[2]; /* column panels of the rows here, left operands */
    twi_gpu_packed raw_row;
    twi_gpu_packed raw_col;
    void *raw_tile;
    void *tile;
    void *tile_t;
    void *landing; /* a row of tiles in the caller's type, where that is another */
    int32_t *found;
    cudaStream_t wide;
    cudaStream_t ahead;
    cudaEvent_t updated[2]; /* by the parity of the pivot */
    cudaEvent_t prepared[2];
    cudaEvent_t formed;   /* the row panel, if this is the pivot's owner */
    cudaEvent_t extended; /* symmetric: the part of the panel that this device makes */
    uint64_t queued;      /* bytes that are copied since one of these, in turns: */
    cudaEvent_t paced[2];
    int turn;
} twi_share;

typedef struct twi_shares {
    tw_context *ctx;
    const twi_gpu_host *host;
    const twi_gpu_kernel *kernel;
    const twi_gpu_area_kernel *area;
    int32_t count;
    int32_t tiles; /* a side of the whole matrix */
    bool pauses;   /* nothing is prepared in this round: the matrix is kept after it */
    bool alone;    /* what is prepared has had the update before it */
    twi_share each[TWI_GPU_MOST];
} twi_shares;

/* The shares of the host's matrix in the type and tile of `kernel`; nothing is taken yet. */
twi_shares twi_shares_describe(tw_context *ctx, const twi_gpu_host *host, const twi_gpu_list *gpus,
                               const twi_gpu_kernel *kernel);
/* Bytes that the largest share takes. */
uint64_t twi_shares_bytes(const twi_shares *self);

/* Take memory and streams; twi_shares_close gives back what was taken, also after a failure. */
TW_CHECKED tw_status twi_shares_open(twi_shares *self);
void twi_shares_close(twi_shares *self);

/* Put the copies of the whole matrix on the wide streams, not much faster than they are done, so
 * that this can be cancelled; the second waits for them. */
TW_CHECKED tw_status twi_shares_bring_up(twi_shares *self);
TW_CHECKED tw_status twi_shares_bring_back(twi_shares *self, bool capped);
/* Whether an entry of a closed matrix of 16 bits is at the cap. */
TW_CHECKED tw_status twi_shares_find_capped(twi_shares *self, bool *capped);

/* Make the share's device the current one. */
TW_CHECKED tw_status twi_shares_use(twi_shares *self, const twi_share *s);

/* The share that holds a row of tiles, which is there number tile / count. */
static inline twi_share *twi_shares_owner(twi_shares *self, int64_t tile)
{
    return &self->each[tile % self->count];
}

/* Tiles of a row that are kept: all, or of a symmetric matrix those up to the diagonal. */
static inline int64_t twi_shares_width(const twi_shares *self, int64_t tile)
{
    return self->host->symmetric ? tile + 1 : self->tiles;
}

/* A part of the matrix there, in tiles. */
static inline twi_gpu_area twi_share_part(const twi_share *s, int64_t down, int32_t rows,
                                          int64_t across, int32_t cols, int64_t element)
{
    twi_gpu_area area = s->matrix;
    area.data = (char *)area.data + (down * area.down_step + across * area.across_step) * element;
    area.down = rows;
    area.across = cols;
    return area;
}

#endif

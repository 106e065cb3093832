/*
 * Entropy on GPUs. A piece is a rectangle of outputs with the elements behind it, in the memory of
 * one device; gpu/piece.c chooses the kernels for it (gpu/kernels/kernels.h) and puts them on a
 * stream. tw_entropy_plan_apply_device (device.c) is the entry for arrays that already lie in
 * GPU memory; arrays in host memory go through a device, or several, piece by piece (gpu/host.c).
 */
#ifndef TWI_ENTROPY_GPU_GPU_H
#define TWI_ENTROPY_GPU_GPU_H

#include "entropy/gpu/kernels/kernels.h"
#include "entropy/shared/setup.h"

#define TWI_GPU_ALIGN 256 /* bytes, of everything in a workspace */

typedef enum twi_gpu_method { TWI_GPU_PAIRS, TWI_GPU_SLIDE, TWI_GPU_LIST } twi_gpu_method;
const char *twi_gpu_method_name(twi_gpu_method method);

/* The first window of `out` begins `above` rows above and `before` columns left of `in`; what lies
 * outside follows the border. A mask without data is none. */
typedef struct twi_gpu_piece {
    tw_matrix in;
    tw_matrix mask;
    tw_matrix out;
    int64_t above, before;
    tw_entropy_border border;
} twi_gpu_piece;

/* How a piece is done, and where things lie in its workspace. */
typedef struct twi_gpu_layout {
    twi_gpu_method method;
    bool staged;        /* values become levels first */
    bool around;        /* with all that the windows cover, so that they lie inside */
    int32_t level_size; /* bytes of a level */
    int64_t rows, cols; /* of the levels */
    int64_t stride;
    int64_t run_count; /* of the list */
    uint64_t tables;   /* offsets */
    uint64_t runs;
    uint64_t edges;
    uint64_t levels;
    uint64_t histograms;
    uint64_t histogram_bytes;
    uint64_t bytes; /* of the whole workspace */
} twi_gpu_layout;

/* What device `device` offers; it becomes the current one. */
TW_CHECKED tw_status twi_gpu_limits_get(tw_context *ctx, twi_gpu_limits *out, int32_t device);

/* Sizes and alignments of the piece count here, data may be NULL where it is not known yet (it will
 * then be aligned). */
TW_CHECKED tw_status twi_gpu_layout_make(tw_context *ctx, twi_gpu_layout *out,
                                         const twi_entropy_setup *setup,
                                         const twi_gpu_limits *limits, const twi_gpu_piece *piece);

/* Tables, runs of the window and edges of bins into a workspace; once for all pieces that use it.
 * Returns when the setup is no longer read. */
TW_CHECKED tw_status twi_gpu_upload_tables(tw_context *ctx, const twi_gpu_layout *layout,
                                           const twi_entropy_setup *setup, void *workspace,
                                           void *stream);
TW_CHECKED tw_status twi_gpu_run_piece(tw_context *ctx, const twi_gpu_layout *layout,
                                       const twi_entropy_setup *setup, const twi_gpu_limits *limits,
                                       const twi_gpu_piece *piece, void *workspace, void *stream);

#endif

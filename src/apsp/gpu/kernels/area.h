/*
 * Kernels on areas: rectangles of whole tiles in GPU memory, of a matrix or of a packed panel. The
 * closures over several devices (gpu/multi.c) and out of core (gpu/stream.c) keep their matrices
 * padded with infinity to whole tiles, so that these kernels know no edges, and build every phase
 * of a round from the same few operations.
 *
 * The tile (down, across) of an area begins at data + down * down_step + across * across_step, with
 * rows of ld elements. So one kernel works on
 *
 *   a matrix of ld elements per row ld         side * ld      side
 *   a right operand, packed         side       side * side    depth * side * side
 *
 * where a right operand of `depth` tiles holds [across][depth * side][side] elements, and a left
 * one [down][depth * side][side] words, transposed: both are read in straight lines by a product
 * of any depth. (Words and elements: gpu/kernels/kernels.h.) Each launch returns the runtime's
 * error number (0: launched).
 *
 * An operand may have a byte for each of its tiles: 0 if all of the tile is infinite. Whatever
 * packs an operand sets them, and a product leaves out what they show to be nothing. Tiles that are
 * all infinite are written like others, so that a byte of 1 is never wrong.
 */
#ifndef TWI_APSP_GPU_KERNELS_AREA_H
#define TWI_APSP_GPU_KERNELS_AREA_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twi_gpu_area {
    void *data;          /* 16-byte aligned, as are all steps in bytes */
    int64_t ld;          /* elements, as are the steps */
    int64_t down_step;   /* from a tile to the one below */
    int64_t across_step; /* and to the one right of it */
    int32_t down;        /* tiles */
    int32_t across;
    uint8_t *some; /* of a right operand, or NULL: the byte of the tile that begins at data; all
                      others are as far from it as their tiles, in squares of side * side */
} twi_gpu_area;

/* A left or a right operand. */
typedef struct twi_gpu_packed {
    void *data;
    uint8_t *some; /* a byte for each tile, in the order of the tiles; NULL: there are none */
} twi_gpu_packed;

/* c = min(c, left (x) right) for all tiles but some rows and columns of them. With stairs > 0,
 * which a lower triangle needs, tile row `down` has only its first stair + down * stairs tiles. If
 * c has bytes, those of tiles that are not left out become 1. */
typedef struct twi_gpu_product {
    twi_gpu_area c;
    twi_gpu_packed left;  /* of c.down tiles */
    twi_gpu_packed right; /* of c.across tiles */
    int32_t depth;        /* tiles */
    int32_t
        skip_down; /* tile rows skip_down ... skip_down + skip_down_count - 1 stay as they are */
    int32_t skip_down_count;
    int32_t skip_across; /* and likewise tile columns */
    int32_t skip_across_count;
    int32_t stairs;
    int32_t stair;
} twi_gpu_product;

/* Rows of a caller's matrix, in its type, beside the same rows in the working type. */
typedef struct twi_gpu_strip {
    void *outside; /* rows x cols elements of the caller's type; may be the same memory as inside */
    int64_t outside_ld;
    void *inside;
    int64_t inside_ld;
    int64_t rows; /* that exist */
    int64_t cols;
    int64_t first; /* the row of the whole matrix that the first one is: where its diagonal is */
} twi_gpu_strip;

typedef struct twi_gpu_area_kernel {
    tw_type type;
    int32_t side;
    int32_t element; /* bytes */
    int32_t word;
    tw_type outside; /* the caller's type: i32 for 16 bits, else the same */

    /* Once per device: allow the shared memory that the product asks for. */
    int (*set_up)(void);
    int (*product)(const twi_gpu_product *product, void *stream);
    /* out = the area as a left operand. */
    int (*pack_left)(twi_gpu_packed out, const twi_gpu_area *in, void *stream);
    /* Between areas of the same number of tiles: packs a right operand, or unpacks it. */
    int (*copy)(const twi_gpu_area *out, const twi_gpu_area *in, void *stream);
    /* out = the transpose of the area. As a right operand that is what a left one is, in elements.
     */
    int (*transpose)(const twi_gpu_area *out, const twi_gpu_area *in, void *stream);
    /* A left operand from a right one of the transpose: `tiles` squares, each element a word, from
     * squares that are `step` apart. */
    int (*spread)(twi_gpu_packed out, twi_gpu_packed in, int64_t tiles, int64_t step, void *stream);
    /* some[x] = 1 if one of the tile columns x * each ... x * each + each - 1 has a path; untouched
     * otherwise. */
    int (*look)(uint8_t *some, const twi_gpu_area *in, int32_t each, void *stream);
    /* inside = outside, clamped, with a diagonal of 0, and infinity from `rows` to `down` and from
     * `cols` to `across`, which count elements. */
    int (*enter)(const twi_gpu_strip *strip, int64_t down, int64_t across, void *stream);
    /* outside = inside; from 16 bits, entries at the cap leave what is outside as it is: a length
     * that is too large for 16 bits and yet no longer than some path. */
    int (*leave)(const twi_gpu_strip *strip, void *stream);
    /* *found = 1 if an entry of the strip is infinite; untouched otherwise. */
    int (*find_capped)(int32_t *found, const twi_gpu_strip *strip, void *stream);
} twi_gpu_area_kernel;

/* The one that shares type and tile side with a kernel of the resident closure. */
const twi_gpu_area_kernel *twi_gpu_area_kernel_find(tw_type type, int32_t side);

/* An operand from its tile number `tile` on, each of `bytes`. */
static inline twi_gpu_packed twi_gpu_packed_from(twi_gpu_packed operand, int64_t tile,
                                                 int64_t bytes)
{
    operand.data = (char *)operand.data + tile * bytes;
    operand.some = operand.some != NULL ? operand.some + tile : NULL;
    return operand;
}

#ifdef __cplusplus
}
#endif

#endif

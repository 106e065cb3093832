/*
 * The seam between the rounds of a GPU closure (gpu/closure.c) and its kernels
 * (gpu/kernels/kernel.cu, compiled once per element type and tile side). One struct describes a
 * round; every launch takes it by value and returns the runtime's error number (0: launched).
 *
 * The matrix is cut into square tiles. A round works with two pivots: `pivot`, whose panels are
 * ready, and `next`, whose panels are being made. Panels are packed tile by tile, each tile
 * depth-major and padded with infinity, so that the product reads both of its operands in straight
 * lines. With t the number of the tile in the panel, and P = pivot * side:
 *
 *   row   tiles x side x side elements   row[t][k][j] = D[P + k][t * side + j]
 *   col   tiles x side x side words      col[t][k][i] = D[t * side + i][P + k]
 *
 * A word is what one instruction of the product works on: 32 bits that hold one i32 or f32, or two
 * neighbouring columns of 16 bits; 64 bits for f64. In `col` a 16-bit value stands in both halves.
 */
#ifndef TWI_APSP_GPU_KERNELS_KERNELS_H
#define TWI_APSP_GPU_KERNELS_KERNELS_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "No path" of the 16-bit form: two of them add up without a carry into the other half. */
#ifndef TWI_GPU_INF_U16 /* tests have a smaller one */
#define TWI_GPU_INF_U16 32767
#endif

typedef struct twi_gpu_round {
    void *c;    /* n x n elements, 16-byte aligned */
    int64_t ld; /* a multiple of 16 bytes */
    int32_t n;
    int32_t tiles;     /* a side */
    int32_t pivot;     /* -1: none is ready yet */
    int32_t next;      /* -1: none follows */
    int32_t symmetric; /* only the tiles on and below the diagonal are kept up to date */
    int32_t one;       /* 1; the compiler must not know it */
    const void *row;
    const void *col;
    const uint8_t *row_nonempty; /* for each tile of the panel, 0: all of it is infinite, and it was
                                  * never written */
    const uint8_t *col_nonempty;
    void *next_row;
    void *next_col;
    uint8_t *next_row_nonempty;
    uint8_t *next_col_nonempty; /* symmetric: next_row_nonempty */
    void *raw_row;  /* the next pivot's rows before its tile is multiplied in: like row */
    void *raw_col;  /* and its columns: like col, but elements; symmetric: none */
    void *raw_tile; /* side x side elements */
    void *tile;     /* the closed tile as a left operand: side x side words, [k][m] = D[k][m] */
    void *tile_t;   /* likewise, [k][m] = D[m][k] */
    /* For rounds of one launch; all 0 before the first one. A tile of a panel is ready from the
     * time that its flag is not 0. */
    int32_t *rounds_done;     /* tiles x tiles: the round that a tile has taken last, plus 2 */
    const int32_t *row_ready; /* the pivot's, each for every tile */
    const int32_t *col_ready;
    int32_t *next_row_ready;
    int32_t *next_col_ready; /* symmetric: next_row_ready */
    int32_t *raw_ready;    /* 2 x tiles: raw_row, raw_col; where the pivot lies, its closed tile */
    int32_t between;       /* tiles of the rest that begin before the panels; set by the launch */
    const int32_t *needed; /* NULL, or in device memory: when 0, the kernels do nothing */
} twi_gpu_round;

/* Words by which the blocks of a small matrix tell each other, from next_row on (together). */
#define TWI_GPU_PUBLISHED(tiles, side) \
    ((int64_t)(tiles) * (2 * (int64_t)(tiles) + 4) * (side) * (side))

#define TWI_GPU_PROBE_BYTES 8192

typedef struct twi_gpu_kernel {
    tw_type type;
    int32_t side;    /* of a tile */
    int32_t element; /* bytes */
    int32_t word;    /* bytes */
    const char *name;

    /* Once per device: allow the shared memory that the kernels ask for. */
    int (*set_up)(void);
    /* Everything but the rows and columns of `pivot` and `next` takes update `pivot`. */
    int (*update)(const twi_gpu_round *round, void *stream);
    /* The rows and columns of `next` take update `pivot` (if >= 0), into raw_row, raw_col and
     * raw_tile; C stays as it is. Says which tiles of the next panels have a finite entry. */
    int (*head)(const twi_gpu_round *round, void *stream);
    /* raw_tile is closed, into tile, tile_t and C. */
    int (*close)(const twi_gpu_round *round, void *stream);
    /* raw_row and raw_col times the closed tile, into next_row, next_col and C. */
    int (*panels)(const twi_gpu_round *round, void *stream);
    /* All of a matrix of n <= side at once, clamping and clearing the diagonal on the way. */
    int (*alone)(const twi_gpu_round *round, void *stream);
    /* The upper triangle from the lower one. */
    int (*mirror)(const twi_gpu_round *round, void *stream);
    /* All of a small matrix in one launch, clamping and clearing the diagonal on the way:
     * next_row, next_col, tile, tile_t, raw_row and raw_col hold words of tiles for every pivot,
     * one pivot after another, in this order and without gaps; it makes them 0 first.
     * *launched: 0 if the current device cannot hold all tiles at once. NULL: no such kernel. */
    int (*together)(const twi_gpu_round *round, void *stream, int32_t *launched);
    int32_t together_side; /* of the tiles that it takes, which `tiles` of its round counts */
    /* The step on registers alone, on all of `processors`; out: TWI_GPU_PROBE_BYTES a processor. */
    int (*probe)(void *out, int32_t processors, int32_t rounds, double *relaxations, void *stream);
} twi_gpu_kernel;

/* Rounds of one launch each, for one element type and tile side (gpu/kernels/round.cu). */
typedef struct twi_gpu_rounds {
    int (*set_up)(void); /* once per device */
    /* What head, close and panels do for `next` (if >= 0), and the update with `pivot` (if >= 0),
     * from pivot -1 on. Launches overlap, so panels that follow each other take three places in
     * turn, raw panels two; nothing else may be put on the stream between two rounds but what waits
     * for all before it. NULL: there is none. */
    int (*start)(const twi_gpu_round *round, void *stream);
    /* Raw panels stay in registers: tile and tile_t then hold words of tiles for every pivot and
     * are all 0 before the first round, there are no raw panels, and both halves of a symmetric
     * matrix are computed. */
    int32_t keeps;
} twi_gpu_rounds;

/* `together` of i32 with 64 to a side, by tiles of half the side (gpu/kernels/fine.cu). */
#define TWI_GPU_FINE_SIDE 32
int twi_gpu_fine_2(const twi_gpu_round *round, void *stream, int32_t *launched);
int twi_gpu_fine_4(const twi_gpu_round *round, void *stream, int32_t *launched);

/* NULL for a type without kernels; side 0 asks for the one with the largest tile. */
const twi_gpu_kernel *twi_gpu_kernel_find(tw_type type, int32_t side);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Hop distances by breadth-first searches from 1024 or 4096 places at once, one bit each. A vertex
 * owns a row of bits, one for each search; a group of threads, 16 bytes each, takes a vertex. A
 * level pulls: the new bits of a vertex are those that its neighbours got at the level before, and
 * that it has not seen. A row that is full is not looked at again, and a list of neighbours is left
 * as soon as it has nothing to add. At the first level a neighbour has its own bit and no other, so
 * that no row need be read: the list itself says which bits are new, and of long lists in ascending
 * order only the pieces that have any are read.
 *
 * What searches find depends on which neighbours are pulled from. Along the arcs out of a vertex,
 * bit t of v is set at level d if d hops lead from v to t: row v of a matrix whose columns are the
 * places. Along the arcs into it, if d hops lead from t to v: the transpose.
 *
 * The rows of a window of 15 levels are kept; then a pass turns them into distances, and the next
 * window begins where the last level ended. Bits of 32 places lie in a word so that distances of
 * four of them come out of it by one shift and mask: place p at bit 8 * (p % 4) + p / 4.
 *
 * No kernel writes what another thread of it reads or writes, but for flags that all writers set to
 * 1, and for sets of hubs, which are joined by atomic operations and looked at on the way: a group
 * that sees fewer bits of them than there are does work that is not needed.
 */
#ifndef TWI_APSP_GPU_KERNELS_HOPS_H
#define TWI_APSP_GPU_KERNELS_HOPS_H

#include "tilewright.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TWI_HOPS_WINDOW = 15,
    TWI_HOPS_SLOTS = 16, /* rows of the level a window begins with, and of its own */
    TWI_HOPS_LANES = 32, /* threads of a row, at most */
    TWI_HOPS_FEW_LANES = 8
};

/* Arcs that one group takes, more in dense graphs; hubs have more, and several groups. Tests have
 * fewer. */
#ifndef TWI_HOPS_PIECE
#define TWI_HOPS_PIECE 256
#endif

/* Arcs first ... end - 1 of a vertex. */
typedef struct twi_hops_item {
    int32_t vertex;
    int32_t first;
    int32_t end;
    int32_t hub; /* its number, if these are not all arcs of the vertex; else -1 */
} twi_hops_item;

/* Everything is in device memory, rows of bits 16-byte aligned. */
typedef struct twi_hops {
    int64_t n;
    int32_t lanes; /* TWI_HOPS_LANES or TWI_HOPS_FEW_LANES; 128 searches each */
    int32_t item_count;
    int32_t hub_count;
    const twi_hops_item *items; /* of vertices that have arcs */
    const int32_t *targets;
    const int32_t *hubs; /* the vertex of each */
    uint32_t *levels;    /* TWI_HOPS_SLOTS times n rows */
    uint32_t *seen;      /* n rows */
    uint32_t *hub_sets;  /* hub_count rows, zero between levels */
    uint8_t *active;     /* TWI_HOPS_SLOTS times n: the row of that level has a bit */
    uint8_t *done;       /* n: all bits of the row have been seen */
    int32_t *grown;      /* TWI_HOPS_SLOTS: level i of the window has a bit */
    int32_t *mixed;      /* 1: not every piece is in ascending order */
} twi_hops;

/* What a row of distances comes to. */
typedef struct twi_hops_fold {
    int64_t reached;
    int64_t sum;
    int64_t most;
} twi_hops_fold;

/* Bytes of one row of bits, and searches that have a bit in it. */
static inline int64_t twi_hops_row_bytes(int32_t lanes)
{
    return 16 * (int64_t)lanes;
}
static inline int32_t twi_hops_searches(int32_t lanes)
{
    return 128 * lanes;
}

/* Once, when items and targets are there: clears the sets of hubs, and looks at their order. */
int twi_gpu_hops_open(const twi_hops *hops, void *stream);

/* Searches from places first ... first + count - 1 of `list`, or from those vertices where it is
 * NULL. */
typedef struct twi_hops_batch {
    const int32_t *list;
    int64_t first;
    int32_t count;
} twi_hops_batch;

/* Level 0 in slot 0. */
int twi_gpu_hops_begin(const twi_hops *hops, const twi_hops_batch *batch, void *stream);

/* Levels of a window from `level` on, `count` of them, level 0 being that of slot `origin`.
 * `batch`: what the first window began with, NULL in later ones. Levels after one without a bit
 * cost a launch. */
int twi_gpu_hops_levels(const twi_hops *hops, const twi_hops_batch *batch, int32_t origin,
                        int32_t level, int32_t count, void *stream);

/* The next window: begins with the level of slot `origin`, which has a bit. */
int twi_gpu_hops_next(const twi_hops *hops, int32_t origin, void *stream);

/* Levels 1 ... depth of a window, which counts from `base` hops, as distances: element (v, place)
 * of `out`, for `count` places. The first window writes all of them, TW_APSP_INF_* where there is
 * no path within it, later ones what is new. Types: TW_U8, TW_U16. */
typedef struct twi_hops_out {
    void *data;
    int64_t stride; /* elements */
    tw_type type;
    int32_t count;
} twi_hops_out;
int twi_gpu_hops_write(const twi_hops *hops, const twi_hops_out *out, int32_t origin, int32_t depth,
                       int32_t base, bool last, void *stream);

/* The same as sums: added to the folds of all vertices, which the caller has zeroed. */
int twi_gpu_hops_fold(const twi_hops *hops, twi_hops_fold *folds, int32_t origin, int32_t depth,
                      int32_t base, bool last, void *stream);

/* to[j][i] = from[i][j] for n x count elements of TW_U8 or TW_U16; strides in elements. */
int twi_gpu_hops_turn(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n,
                      int32_t count, tw_type type, void *stream);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Shortest paths from many sources at once by correcting labels. x[v][j] is the length of the
 * shortest walk found so far from the source of column j to vertex v. A pass looks at every vertex:
 * x[v] = min(x[v], x[u] + w) over the arcs u -> v of weight w, in all columns, until a pass changes
 * nothing. What one arc costs is a row of x read from the second cache: columns are cut into chunks
 * so narrow that n rows of one lie there, and a group of threads, 16 bytes each, takes a vertex and
 * a chunk. Rows that have not changed since the last pass are not read.
 *
 * Labels are read while others write them. Every element is written by one thread of a pass, and is
 * read whole, so what is read is the length of some walk; labels only fall, and addition is
 * monotone, rounded or not: whatever the order, passes end with the least sum over all walks,
 * rounded from the source on, and with the same bits.
 *
 * The stamp of a row and chunk is the pass that changed it last. Pass p reads rows with a stamp of
 * p - 1 or p: what was changed too late to be seen in p is stamped p, and read in p + 1.
 *
 * A hub's arcs are taken in parts, each by a group of its own, into rows of `parts`; a second
 * kernel joins them.
 */
#ifndef TWI_APSP_GPU_KERNELS_LABELS_H
#define TWI_APSP_GPU_KERNELS_LABELS_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TWI_LABELS_PIECE_BYTES = 16,
    TWI_LABELS_LANES = 32,
    TWI_LABELS_LANES_LEAST = 8,
    TWI_LABELS_THREADS = 256, /* of a block */
    TWI_LABELS_ITEMS = 8      /* of a group: a block that has nothing to do costs 2 ns (H200) */
};

/* Arcs first ... end - 1, which lead to a vertex. */
typedef struct twi_labels_item {
    int32_t vertex;
    int32_t first;
    int32_t end;
    int32_t part; /* row of `parts`, if these are not all arcs to the vertex; else -1 */
} twi_labels_item;

/* A vertex whose arcs are taken in parts first ... end - 1. */
typedef struct twi_labels_hub {
    int32_t vertex;
    int32_t first;
    int32_t end;
} twi_labels_hub;

/* A batch of columns; everything is in device memory. */
typedef struct twi_labels {
    void *x;        /* n rows */
    int64_t n;      /* vertices */
    int64_t ld;     /* elements from one row to the next: whole chunks */
    int32_t chunks; /* of columns */
    int32_t lanes;  /* threads of a row of a chunk, 16 bytes each: 8, 16 or 32 */
    int32_t item_count;
    int32_t hub_count;
    const twi_labels_item *items; /* of vertices that arcs lead to */
    const twi_labels_hub *hubs;
    const int32_t *origin; /* of each arc, in the order of where they lead */
    const void *weight;    /* of each arc, in the type of x, at most its infinity */
    void *parts;           /* rows of ld elements */
    int32_t *part_stamp;   /* parts times chunks: the pass that wrote it; none is 0 or less */
    int32_t *stamp;        /* chunks times n; -1 at first, and 0 at sources */
    int32_t *changed;      /* chunks: the last pass that changed something; 0 at first */
    const int32_t *stop;   /* a word: passes that see another than 0 there end at once */
} twi_labels;

typedef struct twi_gpu_labels_kernel {
    tw_type type;
    int32_t element; /* bytes */
    /* Infinity everywhere, and 0 at the source of each of `count` columns: vertex list[first + j],
     * or first + j where that is NULL. The stamps of sources. */
    int (*begin)(const twi_labels *labels, const int32_t *list, int64_t first, int32_t count,
                 void *stream);
    /* Passes first ... first + count - 1, of which the first ever is 1. Chunks that the pass before
     * has not changed cost next to nothing. */
    int (*pass)(const twi_labels *labels, int32_t first, int32_t count, void *stream);
} twi_gpu_labels_kernel;

/* NULL for a type without kernels: TW_U16 (15 bits), TW_I32, TW_F32 and TW_F64 have some. */
const twi_gpu_labels_kernel *twi_gpu_labels_kernel_find(tw_type type);

#ifdef __cplusplus
}
#endif

#endif

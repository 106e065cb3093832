/* The seam between the ladder apsp-scatter and its kernels. */
#ifndef LAB_LADDERS_APSP_SCATTER_KERNELS_H
#define LAB_LADDERS_APSP_SCATTER_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Edges as three arrays, on the host or on the card. */
typedef struct lab_edges {
    int64_t count;
    int32_t *source, *target, *weight;
} lab_edges;

/* ld x ld on the card, of which n x n are vertices: 0 on their diagonal, the minimum weight of
 * the edges between two, "no path" elsewhere and in the padding; the runtime's error number. And
 * the kernel that puts the edges, to ask about it. */
#define LAB_SCATTER_THREADS 256
int lab_scatter(int32_t *d, int ld, int n, const lab_edges *edges);
const void *lab_scatter_kernel(void);

#ifdef __cplusplus
}
#endif

#endif

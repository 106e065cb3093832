/*
 * The kernels of ladder apsp-scatter (scatter.c lists the rungs): a padded matrix of distances
 * made on the card from edges that lie there, one thread an element, then one thread an edge. Edges
 * between the same vertices may meet in an element at the same time: the lightest wins by an
 * atomic minimum.
 */
#include "ladders/apsp/scatter_kernels.h"

#include "gpu/compat.h"
#include "tilewright.h"

#define SIDE 16 /* threads across and down */

static __global__ void empty(int32_t *d, int ld, int n)
{
    int i = blockIdx.y * SIDE + threadIdx.y, j = blockIdx.x * SIDE + threadIdx.x;
    if (i < ld && j < ld) {
        d[i * (size_t)ld + j] = i == j && i < n ? 0 : TW_APSP_INF_I32;
    }
}

static __global__ void put_edges(int32_t *d, int ld, lab_edges edges)
{
    int64_t e = blockIdx.x * (int64_t)LAB_SCATTER_THREADS + threadIdx.x;
    if (e < edges.count) {
        atomicMin(&d[edges.source[e] * (size_t)ld + edges.target[e]], edges.weight[e]);
    }
}

extern "C" int lab_scatter(int32_t *d, int ld, int n, const lab_edges *edges)
{
    unsigned side = (ld + SIDE - 1) / SIDE;
    unsigned blocks = (unsigned)((edges->count + LAB_SCATTER_THREADS - 1) / LAB_SCATTER_THREADS);
    empty<<<dim3(side, side), dim3(SIDE, SIDE)>>>(d, ld, n);
    put_edges<<<blocks, LAB_SCATTER_THREADS>>>(d, ld, *edges);
    return (int)cudaGetLastError();
}

extern "C" const void *lab_scatter_kernel(void)
{
    return (const void *)put_edges;
}

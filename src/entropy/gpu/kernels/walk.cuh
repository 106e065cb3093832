/*
 * How warps share the result: each goes down a strip of columns for a band of rows. Warps of the
 * first and the last strip, some of whose columns lie outside, take longer for a row; they come
 * first and have lower bands, so that the others do not wait for them in the end.
 */
#ifndef TWI_ENTROPY_GPU_KERNELS_WALK_CUH
#define TWI_ENTROPY_GPU_KERNELS_WALK_CUH

#include "entropy/gpu/kernels/kernels.h"
#include "gpu/compat.h"

#define WALK_ROUNDS 8 /* of all resident warps: more gain little */

typedef struct walk_plan {
    int32_t strips;
    int32_t rows;
    int32_t band, bands;           /* of the inner strips */
    int32_t edge_band, edge_bands; /* of the outer two */
} walk_plan;

typedef struct walk_part {
    int32_t strip;
    int32_t begin, end; /* rows; none: begin >= end */
} walk_part;

static int64_t walk_warps(const walk_plan *walk)
{
    const int64_t outer = walk->strips < 2 ? walk->strips : 2;
    return outer * walk->edge_bands + (walk->strips - outer) * walk->bands;
}

static walk_plan walk_of_height(int32_t strips, int32_t rows, int64_t height)
{
    walk_plan walk;
    walk.strips = strips;
    walk.rows = rows;
    walk.band = (int32_t)(height < 1 ? 1 : height < rows ? height : rows);
    walk.bands = (rows + walk.band - 1) / walk.band;
    walk.edge_band = (walk.band * 5 + 7) / 8;
    walk.edge_bands = (rows + walk.edge_band - 1) / walk.edge_band;
    return walk;
}

/* Bands that keep `resident` warps busy in whole rounds, `start` rows lost by each. */
static walk_plan walk_choose(int64_t resident, int32_t strips, int32_t rows, int32_t start)
{
    walk_plan best = walk_of_height(strips, rows, rows);
    int64_t least = -1;
    for (int64_t round = 1; round <= WALK_ROUNDS; round++) {
        const int64_t bands = resident * round / strips;
        walk_plan walk =
            walk_of_height(strips, rows, bands > 0 ? (rows + bands - 1) / bands : rows);
        while (walk.band < rows && walk_warps(&walk) > resident * round) {
            walk = walk_of_height(strips, rows, walk.band + 1 + walk.band / 64);
        }
        const int64_t rounds = (walk_warps(&walk) + resident - 1) / resident;
        const int64_t cost = rounds * (walk.band + start);
        if (least < 0 || cost < least) {
            least = cost;
            best = walk;
        }
    }
    return best;
}

static __device__ __forceinline__ walk_part walk_part_of(const walk_plan &walk, int64_t warp)
{
    const int outer = walk.strips < 2 ? walk.strips : 2;
    walk_part part;
    int height;
    if (warp < (int64_t)outer * walk.edge_bands) {
        part.strip = warp % outer == 0 ? 0 : walk.strips - 1;
        part.begin = (int32_t)(warp / outer) * walk.edge_band;
        height = walk.edge_band;
    } else {
        const int inner = walk.strips - outer;
        warp -= (int64_t)outer * walk.edge_bands;
        part.strip = inner > 0 ? 1 + (int32_t)(warp % inner) : 0;
        part.begin = inner > 0 ? (int32_t)(warp / inner) * walk.band : walk.rows;
        height = walk.band;
    }
    part.end = part.begin + height < walk.rows ? part.begin + height : walk.rows;
    return part;
}

/* How many of `count` from `begin` on lie in 0 ... end-1. */
static __device__ __forceinline__ int inside(int begin, int count, int end)
{
    const int from = begin > 0 ? begin : 0;
    const int to = begin + count < end ? begin + count : end;
    return to > from ? to - from : 0;
}

#endif

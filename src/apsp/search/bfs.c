/* What a breadth-first search works in, and which of its kernels (bfs_kernel.c) it takes. */
#include "apsp/search/bfs.h"

#include "base/memory.h"

#include <string.h>

#define GATHER_MOST 65536 /* vertices whose levels are gathered: 32 MiB of them */

/* Sets for each vertex. */
static uint64_t sets_of(int64_t n)
{
    return 3 + (n <= GATHER_MOST ? TWI_BFS_PLANES : 0);
}

uint64_t twi_bfs_space_memory(int64_t n)
{
    uint64_t strip = n <= GATHER_MOST ? (uint64_t)TWI_BFS_STRIP * TWI_BFS_MOST : 0;
    return (uint64_t)n * (sets_of(n) * sizeof(twi_bfs_set) + 2 * sizeof(int32_t) + 1) + strip +
           sizeof(twi_bfs_tally) + sizeof(int32_t);
}

tw_status twi_bfs_space_create(tw_context *ctx, twi_bfs_space *space, int64_t n)
{
    const char *what = "the sets of the breadth-first search";
    const uint64_t vertices = (uint64_t)n;
    uint64_t sets = 0;
    tw_status status = TW_OK;
    memset(space, 0, sizeof *space);
    if (!twi_mul(vertices, sets_of(n), &sets)) {
        return tw_fail(ctx, TW_ERR_MEMORY, "%s are too large to address", what);
    }
    /* All sets in one piece, which gets large pages. */
    if ((status = twi_alloc(ctx, &space->sets, sets, sizeof(twi_bfs_set), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->active, vertices, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->touched, vertices + 1, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->is_touched, vertices, 1, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->tally, 1, sizeof *space->tally, what)) != TW_OK ||
        (n <= GATHER_MOST &&
         (status = twi_alloc(ctx, &space->strip, TWI_BFS_STRIP, TWI_BFS_MOST, what)) != TW_OK)) {
        twi_bfs_space_clear(space);
        return status;
    }
    space->seen = space->sets;
    space->front = space->seen + n;
    space->coming = space->front + n;
    space->plane = n <= GATHER_MOST ? space->coming + n : NULL;
    return TW_OK;
}

void twi_bfs_space_clear(twi_bfs_space *space)
{
    twi_free(space->tally);
    twi_free(space->strip);
    twi_free(space->is_touched);
    twi_free(space->touched);
    twi_free(space->active);
    twi_free(space->sets);
    memset(space, 0, sizeof *space);
}

twi_bfs_end twi_bfs(const twi_bfs_job *job, twi_bfs_space *space, void *rows, int64_t *scanned)
{
    switch (job->isa) {
#ifdef TWI_HAVE_NEON
    case TWI_ISA_NEON:
        return twi_bfs_neon(job, space, rows, scanned);
#endif
#ifdef TWI_HAVE_AVX2
    case TWI_ISA_AVX2:
        return twi_bfs_avx2(job, space, rows, scanned);
#endif
#ifdef TWI_HAVE_AVX512
    case TWI_ISA_AVX512:
        return twi_bfs_avx512(job, space, rows, scanned);
#endif
    default:
        return twi_bfs_scalar(job, space, rows, scanned);
    }
}

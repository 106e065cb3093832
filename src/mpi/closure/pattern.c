/* See pattern.h. */
#include "mpi/closure/pattern.h"

#include "base/memory.h"

#define AT_ONCE (1 << 20) /* words of a message */

tw_status twi_pattern_create(tw_context *ctx, twi_pattern *out, int64_t tiles)
{
    *out = (twi_pattern){.tiles = tiles, .words = (tiles + 63) / 64};
    tw_status status =
        twi_alloc_zeroed(ctx, &out->bits, (uint64_t)tiles, (uint64_t)out->words * sizeof *out->bits,
                         "the pattern of tiles");
    for (int64_t i = 0; i < tiles && status == TW_OK; i++) {
        twi_pattern_add(out, i, i);
    }
    return status;
}

void twi_pattern_clear(twi_pattern *pattern)
{
    twi_free(pattern->bits);
    pattern->bits = NULL;
}

tw_status twi_pattern_unite(tw_context *ctx, twi_pattern *pattern, const twi_world *world)
{
    const int64_t words = pattern->tiles * pattern->words;
    tw_status status = TW_OK;
    for (int64_t at = 0; at < words && status == TW_OK; at += AT_ONCE) {
        const int count = (int)(words - at < AT_ONCE ? words - at : AT_ONCE);
        status = twi_mpi_check(ctx,
                               MPI_Allreduce(MPI_IN_PLACE, pattern->bits + at, count, MPI_UINT64_T,
                                             MPI_BOR, world->comm),
                               "unite the patterns of tiles");
    }
    return status;
}

void twi_pattern_advance(twi_pattern *pattern, int64_t k)
{
    const uint64_t *pivot = pattern->bits + k * pattern->words;
    for (int64_t i = 0; i < pattern->tiles; i++) {
        uint64_t *row = pattern->bits + i * pattern->words;
        if (i == k || !twi_pattern_has(pattern, i, k)) {
            continue;
        }
        for (int64_t w = 0; w < pattern->words; w++) {
            row[w] |= pivot[w];
        }
    }
}

int64_t twi_pattern_count(const twi_pattern *pattern)
{
    int64_t count = 0;
    for (int64_t w = 0; w < pattern->tiles * pattern->words; w++) {
        count += __builtin_popcountll(pattern->bits[w]);
    }
    return count;
}

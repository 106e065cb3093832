/*
 * The certificate over ranks: see certificate.h. Rows of tiles in which some entry is at the cap
 * are looked at, BATCH sources at a time: every rank marks which vertices these reach below the
 * cap, as far as its tiles tell, one bit per source and vertex; all ranks unite the bits; and each
 * looks for an arc of its own that leads from a vertex with a bit to one without it. Where every
 * entry is below the cap, which is usual, one message says so.
 */
#include "mpi/closure/certificate.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define WORDS 4
#define BATCH (64 * WORDS)
#define AT_ONCE (1 << 22) /* words of a message */

typedef struct bits {
    uint64_t word[WORDS];
} bits;

static uint32_t entry(const twi_share *share, const char *row, int64_t j)
{
    switch (share->kernel->type) {
    case TW_U8:
        return ((const uint8_t *)row)[j];
    case TW_U16:
        return ((const uint16_t *)row)[j];
    default:
        return (uint32_t)((const int32_t *)row)[j];
    }
}

static bool has_far(const twi_share *share, const char *tile, int64_t ld, int64_t rows,
                    int64_t cols)
{
    const uint32_t cap = (uint32_t)share->kernel->infinity;
    bool found = false;
    for (int64_t r = 0; r < rows && !found; r++) {
        for (int64_t c = 0; c < cols; c++) {
            found |= entry(share, tile + r * ld * share->size, c) >= cap;
        }
    }
    return found;
}

/* missing[I]: an entry of row I of tiles is at the cap. In the half of a symmetric matrix a tile
 * stands for two. */
static void find_missing(const twi_share *share, uint8_t *missing, int threads)
{
    (void)threads; /* unused without OpenMP */
    const twi_grid *grid = share->grid;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(dynamic, 1)
    for (int64_t own = 0; own < share->row_count; own++) {
        const int64_t i = twi_row_tile(grid, own);
        for (int64_t at = 0; at < share->rows[own].tiles; at++) {
            const int64_t j = twi_col_tile(grid, at);
            const uint8_t found =
                has_far(share, twi_share_tile(share, own, at), share->rows[own].ld,
                        twi_tile_size(grid, i), twi_tile_size(grid, j));
#pragma omp atomic
            missing[i] |= found;
#pragma omp atomic
            missing[j] |= (uint8_t)(found && share->symmetric);
        }
    }
}

/* The bits of sources first ... first+count-1 of row `i` of tiles, from this rank's tiles: that of
 * column j, or where a symmetric matrix has none, of row j and column i. */
static void mark(const twi_share *share, int64_t i, int64_t first, int64_t count, bits *reached,
                 int threads)
{
    (void)threads; /* unused without OpenMP */
    const twi_grid *grid = share->grid;
    const uint32_t cap = (uint32_t)share->kernel->infinity;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(dynamic, 1)
    for (int64_t j = 0; j < grid->tiles; j++) {
        const bool turned = share->symmetric && j > i;
        const int64_t row = turned ? j : i, col = turned ? i : j;
        if (row % grid->rows != grid->row || col % grid->cols != grid->col) {
            continue;
        }
        const int64_t own = row / grid->rows, ld = share->rows[own].ld;
        const char *tile = twi_share_tile(share, own, col / grid->cols);
        for (int64_t s = 0; s < count; s++) {
            for (int64_t v = 0; v < twi_tile_size(grid, j); v++) {
                const int64_t r = turned ? v : first + s, c = turned ? first + s : v;
                const bool below = entry(share, tile + r * ld * share->size, c) < cap;
                reached[j * grid->block + v].word[s / 64] |= (uint64_t)below << (s % 64);
            }
        }
    }
}

static bool refuted(const tw_graph *part, const bits *reached, int threads)
{
    (void)threads; /* unused without OpenMP */
    uint64_t left_out = 0;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static) reduction(| : left_out)
    for (int64_t u = 0; u < part->n; u++) {
        const bits from = reached[u];
        for (int64_t a = part->offsets[u]; a < part->offsets[u + 1]; a++) {
            const bits to = reached[part->targets[a]];
            for (int w = 0; w < WORDS; w++) {
                left_out |= from.word[w] & ~to.word[w];
            }
        }
    }
    return left_out != 0;
}

static tw_status unite(tw_context *ctx, const twi_world *world, uint64_t *words, int64_t count)
{
    tw_status status = TW_OK;
    for (int64_t at = 0; at < count && status == TW_OK; at += AT_ONCE) {
        const int some = (int)(count - at < AT_ONCE ? count - at : AT_ONCE);
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, words + at, some, MPI_UINT64_T, MPI_BOR, world->comm),
            "certify");
    }
    return status;
}

static tw_status certify_batches(tw_context *ctx, const twi_share *share, const tw_mpi_graph *graph,
                                 const uint8_t *missing, bits *reached, int threads, bool *exact)
{
    const twi_grid *grid = share->grid;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < grid->tiles && status == TW_OK && *exact; i++) {
        const int64_t sources = missing[i] ? twi_tile_size(grid, i) : 0;
        for (int64_t first = 0; first < sources && status == TW_OK && *exact; first += BATCH) {
            const int64_t count = sources - first < BATCH ? sources - first : BATCH;
            memset(reached, 0, (size_t)grid->n * sizeof *reached);
            mark(share, i, first, count, reached, threads);
            status = unite(ctx, grid->world, (uint64_t *)reached, grid->n * WORDS);
            int found = status == TW_OK && refuted(&graph->whole, reached, threads);
            if (status == TW_OK) {
                status = twi_mpi_check(
                    ctx,
                    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, grid->world->comm),
                    "certify");
            }
            *exact = found == 0;
            if (status == TW_OK) {
                status = twi_world_agree(ctx, grid->world, twi_check_cancel(ctx));
            }
        }
    }
    return status;
}

tw_status twi_mpi_certify(tw_context *ctx, const twi_share *share, const tw_mpi_graph *graph,
                          int threads, bool *exact)
{
    const twi_grid *grid = share->grid;
    bits *reached = NULL;
    uint8_t *missing = NULL;
    *exact = true;
    tw_status status = twi_alloc_zeroed(ctx, &missing, (uint64_t)grid->tiles, 1, "the certificate");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &reached, (uint64_t)grid->n, sizeof *reached, "the certificate");
    }
    status = twi_world_agree(ctx, grid->world, status);
    if (status == TW_OK) {
        find_missing(share, missing, threads);
        status = twi_mpi_check(ctx,
                               MPI_Allreduce(MPI_IN_PLACE, missing, (int)grid->tiles, MPI_UINT8_T,
                                             MPI_BOR, grid->world->comm),
                               "certify");
    }
    if (status == TW_OK) {
        status = certify_batches(ctx, share, graph, missing, reached, threads, exact);
    }
    twi_free(reached);
    twi_free(missing);
    return status;
}

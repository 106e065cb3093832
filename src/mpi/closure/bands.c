/* See bands.h. A piece is what one rank has of another's rows: row by row, its tiles side by side.
 */
#include "mpi/closure/bands.h"

#include "base/memory.h"

#include <string.h>

int64_t twi_band_most(const twi_grid *grid)
{
    return (grid->block + grid->cols - 1) / grid->cols;
}

int64_t twi_band_tile(const twi_grid *grid, int64_t t)
{
    const int64_t i = t * grid->rows + grid->row;
    return i < grid->tiles ? i : -1;
}

/* Where the part of column c of the grid begins in band i. */
static int64_t part_begin(const twi_grid *grid, int64_t i, int c)
{
    return twi_tile_size(grid, i) * c / grid->cols;
}

static int64_t part_rows(const twi_grid *grid, int64_t i, int c)
{
    return part_begin(grid, i, c + 1) - part_begin(grid, i, c);
}

void twi_band_rows(const twi_grid *grid, int64_t i, int64_t *first, int64_t *count)
{
    *first = i * grid->block + part_begin(grid, i, grid->col);
    *count = part_rows(grid, i, grid->col);
}

/* Tiles of band i. */
static int64_t band_tiles(const twi_bands *bands, int64_t i)
{
    return bands->share->symmetric ? i + 1 : bands->share->grid->tiles;
}

/* Columns of band i that ranks of column c of the grid have. */
static int64_t columns_of(const twi_bands *bands, int64_t i, int c)
{
    const twi_grid *grid = bands->share->grid;
    int64_t columns = 0;
    for (int64_t j = c; j < band_tiles(bands, i); j += grid->cols) {
        columns += twi_tile_size(grid, j);
    }
    return columns;
}

tw_status twi_bands_open(tw_context *ctx, twi_bands *out, const twi_share *share)
{
    const twi_grid *grid = share->grid;
    const uint64_t rows = (uint64_t)twi_band_most(grid) * (uint64_t)grid->n;
    const uint64_t tiles =
        (uint64_t)grid->block * (uint64_t)twi_own_cols(grid) * (uint64_t)grid->block;
    const uint64_t most = rows > tiles ? rows : tiles, size = (uint64_t)share->size;
    const char *what = "rows on their way between ranks";
    *out = (twi_bands){.share = share, .element = MPI_DATATYPE_NULL};
    tw_status status = twi_alloc(ctx, &out->rows, rows, size, what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->going, most, size, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->coming, most, size, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->counts, 4 * (uint64_t)grid->cols, sizeof *out->counts, what);
    }
    (void)MPI_Type_contiguous((int)share->size, MPI_BYTE, &out->element);
    (void)MPI_Type_commit(&out->element);
    return status;
}

void twi_bands_close(twi_bands *bands)
{
    if (bands->element != MPI_DATATYPE_NULL) {
        (void)MPI_Type_free(&bands->element);
    }
    twi_free(bands->counts);
    twi_free(bands->coming);
    twi_free(bands->going);
    twi_free(bands->rows);
    *bands = (twi_bands){.element = MPI_DATATYPE_NULL};
}

/* Elements between this rank and each of its row of the grid, and behind them, twice as many
 * further, where they begin. `tiles`: of this rank's tiles, the others' rows; `parts`: of its rows,
 * the others' tiles. */
static void count_pieces(const twi_bands *bands, int64_t i, int *tiles, int *parts)
{
    const twi_grid *grid = bands->share->grid;
    int tiles_sum = 0, parts_sum = 0;
    for (int c = 0; c < grid->cols; c++) {
        tiles[c] = (int)(part_rows(grid, i, c) * columns_of(bands, i, grid->col));
        tiles[2 * grid->cols + c] = tiles_sum;
        tiles_sum += tiles[c];
        parts[c] = (int)(part_rows(grid, i, grid->col) * columns_of(bands, i, c));
        parts[2 * grid->cols + c] = parts_sum;
        parts_sum += parts[c];
    }
}

/* Between the tiles of this rank and `pieces`: all rows of the band, one part after the other. */
static void copy_tiles(const twi_bands *bands, int64_t i, char *pieces, bool to_tiles)
{
    const twi_share *share = bands->share;
    const twi_grid *grid = share->grid;
    const int64_t own = i / grid->rows, ld = share->rows[own].ld, size = share->size;
    for (int64_t row = 0; row < twi_tile_size(grid, i); row++) {
        for (int64_t j = grid->col; j < band_tiles(bands, i); j += grid->cols) {
            char *tile = twi_share_tile(share, own, j / grid->cols) + row * ld * size;
            const int64_t bytes = twi_tile_size(grid, j) * size;
            memcpy(to_tiles ? tile : pieces, to_tiles ? pieces : tile, (size_t)bytes);
            pieces += bytes;
        }
    }
}

/* Between this rank's rows and `pieces`: the columns of the grid one after the other. */
static void copy_rows(const twi_bands *bands, int64_t i, char *pieces, bool to_rows)
{
    const twi_grid *grid = bands->share->grid;
    const int64_t size = bands->share->size;
    for (int c = 0; c < grid->cols; c++) {
        for (int64_t row = 0; row < part_rows(grid, i, grid->col); row++) {
            for (int64_t j = c; j < band_tiles(bands, i); j += grid->cols) {
                char *at = bands->rows + (row * grid->n + j * grid->block) * size;
                const int64_t bytes = twi_tile_size(grid, j) * size;
                memcpy(to_rows ? at : pieces, to_rows ? pieces : at, (size_t)bytes);
                pieces += bytes;
            }
        }
    }
}

static tw_status exchange(tw_context *ctx, twi_bands *bands, const int *sent, const int *received)
{
    const twi_grid *grid = bands->share->grid;
    return twi_mpi_check(ctx,
                         MPI_Alltoallv(bands->going, sent, sent + 2 * grid->cols, bands->element,
                                       bands->coming, received, received + 2 * grid->cols,
                                       bands->element, grid->across),
                         "exchange rows");
}

tw_status twi_bands_gather(tw_context *ctx, twi_bands *bands, int64_t i)
{
    int *tiles = bands->counts, *parts = tiles + bands->share->grid->cols;
    count_pieces(bands, i, tiles, parts);
    copy_tiles(bands, i, bands->going, false);
    tw_status status = exchange(ctx, bands, tiles, parts);
    if (status == TW_OK) {
        copy_rows(bands, i, bands->coming, true);
    }
    return status;
}

tw_status twi_bands_scatter(tw_context *ctx, twi_bands *bands, int64_t i)
{
    int *tiles = bands->counts, *parts = tiles + bands->share->grid->cols;
    count_pieces(bands, i, tiles, parts);
    copy_rows(bands, i, bands->going, false);
    tw_status status = exchange(ctx, bands, parts, tiles);
    if (status == TW_OK) {
        copy_tiles(bands, i, bands->coming, true);
    }
    return status;
}

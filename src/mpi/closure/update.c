/* See update.h. */
#include "mpi/closure/update.h"

void twi_update_divide(twi_update *self, int64_t chunk)
{
    self->chunk = chunk;
    self->chunks = (self->share->grid->block + chunk - 1) / chunk;
}

void twi_update_place_rows(twi_layout *at, const twi_share *share, twi_panel *rows)
{
    const twi_grid *grid = share->grid;
    for (int64_t j = 0; j < share->col_count; j++) {
        twi_panel packed = {0};
        twi_place_b(at, &packed, share->kernel, twi_tile_size(grid, twi_col_tile(grid, j)),
                    grid->block);
        if (rows != NULL) {
            rows[j] = packed;
        }
    }
}

int64_t twi_update_height(const twi_update *self, int64_t own, int64_t row)
{
    const twi_grid *grid = self->share->grid;
    const int64_t height = twi_tile_size(grid, twi_row_tile(grid, own));
    const int64_t left = height - row;
    return left <= 0 ? 0 : left < self->chunk ? left : self->chunk;
}

void twi_update_chunk(const twi_update *self, int64_t pivot, twi_panel *a, int64_t own, int64_t row,
                      int64_t begin, int64_t end, int64_t skip)
{
    const twi_share *share = self->share;
    const twi_grid *grid = share->grid;
    const twi_panels *panels = &self->panels[pivot % 2];
    const twi_strip_row *strip = &share->rows[own];
    const int64_t depth = twi_tile_size(grid, pivot), size = share->size;
    const int64_t height = twi_tile_size(grid, twi_row_tile(grid, own));
    const int64_t rows = twi_update_height(self, own, row);
    if (rows == 0 || panels->col.at[own] < 0) {
        return;
    }
    const char *col = panels->col.data + panels->col.at[own];
    const bool finite =
        share->symmetric
            ? twi_pack_a(share->kernel, a, rows, depth, col + row * size, 1, height)
            : twi_pack_a(share->kernel, a, rows, depth, col + row * depth * size, depth, 1);
    for (int64_t at = begin; at < end && finite; at++) {
        const int64_t j = twi_col_tile(grid, at);
        if (panels->row.at[at] < 0 || j == skip) {
            continue;
        }
        twi_panel b = self->rows[at];
        b.depth = depth; /* who packed it may be another process */
        twi_product(share->kernel, a, rows, &b, 0, twi_tile_size(grid, j),
                    twi_share_tile(share, own, at) + row * strip->ld * size, strip->ld,
                    TWI_NO_DIAGONAL);
    }
}

void twi_update_rest(const twi_update *self, const twi_round *round, twi_panel *a, int64_t task)
{
    const int64_t last = round->rest_count - 1 - task; /* the longest rows first */
    const int64_t own = last / self->chunks, row = last % self->chunks * self->chunk;
    if (twi_row_tile(self->share->grid, own) != round->next) {
        twi_update_chunk(self, round->pivot, a, own, row, 0, self->share->rows[own].tiles,
                         round->next);
    }
}

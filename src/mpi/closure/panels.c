/* See panels.h. */
#include "mpi/closure/panels.h"

#include "base/memory.h"

static int64_t whole_lines(int64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

int64_t twi_panel_tile_bytes(const twi_share *share, int64_t depth, int64_t width)
{
    return whole_lines(depth * width * share->size);
}

int twi_side_groups(const twi_share *share, bool is_row)
{
    const twi_grid *grid = share->grid;
    return share->symmetric ? 1 + (is_row ? grid->rows : grid->cols) : 1;
}

int64_t twi_side_bytes(const twi_share *share, bool is_row)
{
    const twi_grid *grid = share->grid;
    const int64_t count = is_row ? share->col_count : share->row_count;
    int64_t bytes = 0;
    for (int64_t own = 0; own < count; own++) {
        const int64_t tile = is_row ? twi_col_tile(grid, own) : twi_row_tile(grid, own);
        bytes += twi_panel_tile_bytes(share, grid->block, twi_share_side(share, tile));
    }
    return bytes;
}

/* With which group tile t travels along a side; -1: with none. */
static int group_of(const twi_share *share, const twi_pattern *pattern, bool is_row, int64_t p,
                    int64_t t)
{
    const twi_grid *grid = share->grid;
    if (t == p || !(is_row ? twi_pattern_has(pattern, p, t) : twi_pattern_has(pattern, t, p))) {
        return -1;
    }
    if (!share->symmetric || (is_row ? t < p : t > p)) {
        return 0;
    }
    return 1 + (int)(is_row ? t % grid->rows : t % grid->cols);
}

static void lay_out_side(twi_side *side, const twi_share *share, const twi_pattern *pattern,
                         bool is_row, int64_t p)
{
    const twi_grid *grid = share->grid;
    const int64_t depth = twi_share_side(share, p);
    side->used = 0;
    for (int g = 0; g < side->groups; g++) {
        side->group_begin[g] = side->used;
        for (int64_t own = 0; own < side->count; own++) {
            const int64_t t = is_row ? twi_col_tile(grid, own) : twi_row_tile(grid, own);
            const int group = group_of(share, pattern, is_row, p, t);
            if (g == 0 && group < 0) {
                side->at[own] = -1;
            }
            if (group == g) {
                side->at[own] = side->used;
                side->used += twi_panel_tile_bytes(share, depth, twi_share_side(share, t));
            }
        }
    }
    side->group_begin[side->groups] = side->used;
}

static void add(twi_casts *casts, char *data, int64_t bytes, int root, int what)
{
    if (bytes > 0) {
        casts->list[casts->count++] = (twi_cast){.data = data,
                                                 .lines = bytes / TWI_CACHE_LINE,
                                                 .root = root,
                                                 .what = what,
                                                 .ready = root != casts->rank,
                                                 .request = MPI_REQUEST_NULL};
    }
}

static void add_side(twi_casts *casts, const twi_side *side, int first_root)
{
    for (int g = 0; g < side->groups; g++) {
        add(casts, side->data + side->group_begin[g],
            side->group_begin[g + 1] - side->group_begin[g], g == 0 ? first_root : g - 1, g);
    }
}

void twi_panels_lay_out(twi_panels *panels, const twi_share *share, const twi_pattern *pattern,
                        int64_t p, char *tile, twi_casts *down, twi_casts *across)
{
    const twi_grid *grid = share->grid;
    const int64_t depth = twi_share_side(share, p);
    const int row = (int)(p % grid->rows), col = (int)(p % grid->cols);
    lay_out_side(&panels->row, share, pattern, true, p);
    lay_out_side(&panels->col, share, pattern, false, p);
    down->count = down->posted = 0;
    across->count = across->posted = 0;
    if (grid->row == row) {
        add(across, tile, twi_panel_tile_bytes(share, depth, depth), col, TWI_CAST_TILE);
    }
    if (grid->col == col) {
        add(down, tile, twi_panel_tile_bytes(share, depth, depth), row, TWI_CAST_TILE);
    }
    add_side(down, &panels->row, row);
    add_side(across, &panels->col, col);
}

/* Lines are counted in an int, so a group has at most 2^31 of them, 137 GB. */
static bool post(twi_casts *casts, twi_cast *cast)
{
    cast->request = MPI_REQUEST_NULL;
    if (casts->size == 1) {
        cast->done = true;
        return true;
    }
    MPI_Datatype line;
    bool fine = MPI_Type_contiguous(TWI_CACHE_LINE, MPI_BYTE, &line) == MPI_SUCCESS &&
                MPI_Type_commit(&line) == MPI_SUCCESS &&
                MPI_Ibcast(cast->data, (int)cast->lines, line, cast->root, casts->comm,
                           &cast->request) == MPI_SUCCESS;
    return MPI_Type_free(&line) == MPI_SUCCESS && fine;
}

void twi_casts_ready(twi_casts *casts, int what)
{
    for (int i = 0; i < casts->count; i++) {
        casts->list[i].ready = casts->list[i].ready || casts->list[i].what == what;
    }
}

bool twi_casts_here(const twi_casts *casts, int what)
{
    for (int i = 0; i < casts->count; i++) {
        if (casts->list[i].what == what) {
            return casts->list[i].done;
        }
    }
    return true;
}

bool twi_casts_poll(twi_casts *casts)
{
    while (casts->posted < casts->count && casts->list[casts->posted].ready) {
        if (!post(casts, &casts->list[casts->posted])) {
            return false;
        }
        casts->posted++;
    }
    for (int i = 0; i < casts->posted; i++) {
        twi_cast *cast = &casts->list[i];
        int arrived = 0;
        if (cast->done) {
            continue;
        }
        if (MPI_Test(&cast->request, &arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return false;
        }
        cast->done = arrived != 0;
    }
    return true;
}

bool twi_casts_done(const twi_casts *casts)
{
    for (int i = 0; i < casts->count; i++) {
        if (!casts->list[i].done) {
            return false;
        }
    }
    return true;
}

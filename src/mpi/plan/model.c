/* See model.h. */
#include "mpi/plan/model.h"

#include <math.h>

#define LOOKS 2 /* until a message is there: its announcement, then itself */

/* Rows (or columns) of the matrix that the rank with the most has. */
static double most_of(const twi_mesh *mesh, int ranks)
{
    const int64_t tiles = (mesh->n + mesh->block - 1) / mesh->block;
    const int64_t own = (tiles + ranks - 1) / ranks;
    return fmin((double)(own * mesh->block), (double)mesh->n);
}

/* Until `ranks` of them have `bytes`: the first piece goes down a tree, and the others follow it.
 */
static double cast_seconds(const twi_link *link, int ranks, double bytes)
{
    if (link->flat) {
        return ranks > 1 ? link->latency + (ranks - 1) * bytes / link->bandwidth : 0;
    }
    return ranks > 1 ? ceil(log2(ranks)) * link->latency + bytes / link->bandwidth : 0;
}

void twi_model_looks(twi_pace *pace, const twi_mesh *mesh, int64_t chunk, int threads)
{
    const int ranks = mesh->rows > mesh->cols ? mesh->rows : mesh->cols;
    const double task = (double)chunk * most_of(mesh, mesh->cols) * (double)mesh->block * threads *
                        mesh->filled / pace->rate;
    pace->looks = 2 * ceil(log2(ranks)) * LOOKS * task / 2;
}

void twi_model_casts(twi_pace *pace, const twi_mesh *mesh, const twi_link *link)
{
    const double b = (double)mesh->block, size = (double)mesh->element;
    const double across = cast_seconds(link, mesh->cols, b * b * size);
    const double down = cast_seconds(link, mesh->rows, b * b * size);
    pace->tile_cast = fmax(across, down);
    /* Both panels go through the one link of a rank; of a symmetric matrix each tile goes one way
     * and then the other. */
    pace->cast = cast_seconds(link, mesh->rows, b * most_of(mesh, mesh->cols) * size) +
                 cast_seconds(link, mesh->cols, b * most_of(mesh, mesh->rows) * size);
    pace->cast *= mesh->symmetric ? 1.5 : 1;
}

/* Of n^3, what there is to do: of a symmetric matrix the tiles on and below the diagonal. */
static double share_of(const twi_mesh *mesh)
{
    const double tiles = ceil((double)mesh->n / (double)mesh->block);
    return mesh->filled * (mesh->symmetric ? 0.5 + 0.5 / fmax(tiles, 1) : 1);
}

/* When what is sent at `at` has been looked at on its way by ranks that compute until `busy`. */
static double looked(double at, double looks, double busy)
{
    return fmin(at + looks, fmax(at, busy));
}

twi_rounds twi_model_rounds(const twi_mesh *mesh, const twi_pace *pace)
{
    const double n = (double)mesh->n, b = (double)mesh->block, ranks = mesh->rows * mesh->cols;
    const double rounds = n / b;
    const double height = most_of(mesh, mesh->rows), width = most_of(mesh, mesh->cols);
    /* Where ranks take turns on a processor, one with fewer tiles leaves it to the others. */
    const double tiles = pace->turns > 1 ? n * n / ranks : height * width;
    const double update = share_of(mesh) * b * tiles / pace->rate;
    const double own = update + (pace->copies ? mesh->filled * pace->cast : 0);
    const double half = mesh->symmetric ? 0.5 : 1;
    const double head = half * b * b * (height + width) / pace->rate;
    /* The rank with the next pivot's tile waits for panels of two others, in its row and in its
     * column of the grid, unless there is but one of those. */
    const bool line = mesh->rows == 1 || mesh->cols == 1;
    const double panel = half * b * b * (line ? height + width : fmax(height, width)) / pace->rate;
    /* A rank that has its update behind it looks all the time, unless others have its processor. */
    const double busy = pace->turns > 1 ? (double)INFINITY : own;
    const double tile = looked(head + pace->tile, pace->looks / 2, busy) + pace->tile_cast;
    const double chain = looked(tile + panel, pace->looks / 2, busy) + pace->cast;
    const double late = chain > own ? (chain - own) / pace->turns : 0;
    const double ideal = rounds * share_of(mesh) * b * n * n / (ranks * pace->rate);
    twi_rounds out = {.compute = rounds * update, .chain = rounds * chain};
    /* The first panels hide behind nothing, and the last round makes none. */
    out.total = rounds * own + fmax(ceil(rounds) - 1, 0) * late + (chain - head) / pace->turns;
    out.exposed = out.total - out.compute;
    out.ideal = out.total > 0 ? ideal / out.total : 1;
    return out;
}

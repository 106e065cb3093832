/*
 * See bridge.h. Round k, with p = k + 1 the next pivot, all on one stream:
 *
 *   head    p's rows and columns take update k, into the raw panels
 *   close   p's tile
 *   panels  the closed tile times the raw panels, packed
 *   update  everything but the rows and columns of k and p takes update k
 *
 * The library has the first three on a stream of their own, beside the update
 * (src/apsp/gpu/closure.c).
 */
#include "ladders/apsp/bridge.h"

#include "ladders/apsp/gpu_kernels.h"

#define SIDE LAB_WIDE_SIDE
#define TILE ((uint64_t)SIDE * SIDE * 4) /* bytes */
#define FLAGS 4096                       /* bytes of a panel's flags: a tile has one */

enum { PANELS = 6, TILES = 3, MARKS = 4 };

uint64_t lab_bridge_bytes(int64_t n)
{
    uint64_t tiles = ((uint64_t)n + SIDE - 1) / SIDE;
    return (PANELS * tiles + TILES) * TILE + MARKS * FLAGS;
}

/* The panels of pivot k are those of its parity. */
static twi_gpu_round round_of(twi_gpu_square square, int32_t n, char *at, int32_t pivot)
{
    int32_t tiles = (n + SIDE - 1) / SIDE;
    uint64_t panel = (uint64_t)tiles * TILE;
    char *flags = at + PANELS * panel + TILES * TILE;
    int now = pivot & 1, then = 1 - now;
    return (twi_gpu_round){.c = square.data,
                           .ld = square.ld,
                           .n = n,
                           .tiles = tiles,
                           .pivot = pivot,
                           .next = pivot + 1 < tiles ? pivot + 1 : -1,
                           .one = 1,
                           .row = at + (uint64_t)now * panel,
                           .col = at + (uint64_t)(2 + now) * panel,
                           .row_nonempty = (uint8_t *)flags + now * FLAGS,
                           .col_nonempty = (uint8_t *)flags + (2 + now) * FLAGS,
                           .next_row = at + (uint64_t)then * panel,
                           .next_col = at + (uint64_t)(2 + then) * panel,
                           .next_row_nonempty = (uint8_t *)flags + then * FLAGS,
                           .next_col_nonempty = (uint8_t *)flags + (2 + then) * FLAGS,
                           .raw_row = at + 4 * panel,
                           .raw_col = at + 5 * panel,
                           .raw_tile = at + PANELS * panel,
                           .tile = at + PANELS * panel + TILE,
                           .tile_t = at + PANELS * panel + 2 * TILE};
}

int lab_bridge_solve(const twi_gpu_kernel *kernel, twi_gpu_square square, int32_t n, void *panels)
{
    int error = 0;
    for (int32_t pivot = -1; error == 0 && pivot < (n + SIDE - 1) / SIDE; pivot++) {
        const twi_gpu_round round = round_of(square, n, panels, pivot);
        if (round.next >= 0) {
            error = kernel->head(&round, NULL);
            error = error != 0 ? error : kernel->close(&round, NULL);
            error = error != 0 ? error : kernel->panels(&round, NULL);
        }
        if (error == 0 && pivot >= 0) {
            error = kernel->update(&round, NULL);
        }
    }
    return error;
}

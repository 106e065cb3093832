/* The closure of one tile, on one thread: what the closures of whole matrices do with each pivot.
 */
#ifndef TWI_APSP_CLOSURE_TILE_H
#define TWI_APSP_CLOSURE_TILE_H

#include "apsp/closure/product.h"
#include "base/context.h"

#define TWI_CLOSE_BLOCK 64 /* tiles up to this size are closed by the plain triple loop */

/* Vertices of the smallest pivot: whole strips of every kernel of floats. Only u8 and u16 have
 * wider ones, and their sums are exact in any order. */
TWI_SHARED int64_t twi_close_unit(const twi_minplus_kernel *kernel);

/*
 * Close the tile of `size` vertices at `c` in place: the closure itself with pivots of
 * TWI_CLOSE_BLOCK (which every kernel of floats can do, so that the sums are the same in all of
 * them), whose tiles are closed by the kernel's own triple loop. `a` has room for twi_close_unit
 * rows and `b` for `size` columns, both of the depth of `size`. The rows at `c` have `padded` >=
 * size columns, the others infinite: see kernels.h.
 */
TWI_SHARED void twi_close_tile(const twi_minplus_kernel *kernel, twi_panel *a, twi_panel *b,
                               void *c, int64_t ld, int64_t size, int64_t padded);

#endif

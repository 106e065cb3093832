/*
 * The blocked (min,+) product: packed panels and a loop of micro-kernels over them, as a BLAS does
 * its matrix product. Used by the closure for its tiles and panels and by tw_minplus.
 */
#ifndef TWI_APSP_CLOSURE_PRODUCT_H
#define TWI_APSP_CLOSURE_PRODUCT_H

#include "apsp/closure/kernels.h"

/* Rows of a left panel that one thread packs and multiplies at a time, at most: with a depth of 256
 * and 16-byte vectors 256 KiB, a quarter of a second-level cache. */
#define TWI_ROWS_AT_ONCE 64

/* Depths of a product are at most this, so that ranges fit 32 bits and panels stay small. */
#define TWI_DEPTH_MOST 1024

/* Bytes of a packed left panel of `rows`, or right panel of `cols`, and `depth`. */
TWI_SHARED uint64_t twi_packed_a_bytes(const twi_minplus_kernel *kernel, int64_t rows,
                                       int64_t depth);
TWI_SHARED uint64_t twi_packed_b_bytes(const twi_minplus_kernel *kernel, int64_t cols,
                                       int64_t depth);

/* A packed panel: strips one after another, and the finite range of each. */
typedef struct twi_panel {
    void *data;
    twi_range *ranges;
    int64_t depth; /* as packed, before rounding up to even */
} twi_panel;

/* Pack rows x depth into `panel` (whose memory is large enough). False if all of it is infinite. */
TWI_SHARED bool twi_pack_a(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t rows,
                           int64_t depth, const void *src, int64_t row_step, int64_t depth_step);
/* Pack columns first ... first+cols-1 of a right panel; `first` is a multiple of nr, and src points
 * at the element (0, first). Threads may pack pieces of one panel; the one with column 0 sets its
 * depth. */
TWI_SHARED void twi_pack_b(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t first,
                           int64_t cols, int64_t depth, const void *src, int64_t ld);

/*
 * C = min(C, A (x) B) for `rows` rows and columns first ... first+cols-1 of B; c points at the
 * element (0, first). first is a multiple of nr. Micro-tiles that lie wholly above the diagonal,
 * that is with column > row + below for their first column and last row (counted within this call's
 * rows and B's columns), are left out; TWI_NO_DIAGONAL takes all.
 */
#define TWI_NO_DIAGONAL (INT64_MAX / 2)
TWI_SHARED void twi_product(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t rows,
                            const twi_panel *b, int64_t first, int64_t cols, void *c, int64_t ldc,
                            int64_t below);

#endif

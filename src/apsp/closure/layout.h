/*
 * The memory of a closure, laid out in one allocation: measured with no base, then placed. For the
 * closure of one process and the one over ranks.
 */
#ifndef TWI_APSP_CLOSURE_LAYOUT_H
#define TWI_APSP_CLOSURE_LAYOUT_H

#include "apsp/closure/product.h"
#include "base/memory.h"

/* Lays out, or with base NULL only measures, the blocks of one allocation. */
typedef struct twi_layout {
    char *base;
    uint64_t used;
} twi_layout;

static inline void *twi_place(twi_layout *at, uint64_t bytes)
{
    void *block = at->base != NULL ? at->base + at->used : NULL;
    at->used += (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    return block;
}

static inline twi_range *twi_place_ranges(twi_layout *at, int64_t count, int64_t strip)
{
    return twi_place(at, (uint64_t)((count + strip - 1) / strip) * sizeof(twi_range));
}

/* A left panel of `rows`, a right one of `cols`. */
static inline void twi_place_a(twi_layout *at, twi_panel *panel, const twi_minplus_kernel *kernel,
                               int64_t rows, int64_t depth)
{
    panel->data = twi_place(at, twi_packed_a_bytes(kernel, rows, depth));
    panel->ranges = twi_place_ranges(at, rows, kernel->mr);
}

static inline void twi_place_b(twi_layout *at, twi_panel *panel, const twi_minplus_kernel *kernel,
                               int64_t cols, int64_t depth)
{
    panel->data = twi_place(at, twi_packed_b_bytes(kernel, cols, depth));
    panel->ranges = twi_place_ranges(at, cols, kernel->nr);
}

#endif

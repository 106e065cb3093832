/* See tile.h. */
#include "apsp/closure/tile.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t twi_close_unit(const twi_minplus_kernel *kernel)
{
    return kernel->nr > TWI_CLOSE_BLOCK ? kernel->nr : TWI_CLOSE_BLOCK;
}

/* The product of packed rows with the columns of a packed tile of `size`, but not with those of its
 * pivots `s` ... `s` + width - 1, which have theirs already. */
static void product_beside(const twi_minplus_kernel *kernel, const twi_panel *a, const twi_panel *b,
                           int64_t rows, int64_t s, int64_t width, int64_t size, char *c,
                           int64_t ld)
{
    int64_t after = s + width;
    if (s > 0) {
        twi_product(kernel, a, rows, b, 0, s, c, ld, TWI_NO_DIAGONAL);
    }
    if (after < size) {
        twi_product(kernel, a, rows, b, after, size - after,
                    c + after * (int64_t)tw_type_size(kernel->type), ld, TWI_NO_DIAGONAL);
    }
}

void twi_close_tile(const twi_minplus_kernel *kernel, twi_panel *a, twi_panel *b, void *c_,
                    int64_t ld, int64_t size, int64_t padded)
{
    const int64_t unit = twi_close_unit(kernel);
    const int64_t bytes = (int64_t)tw_type_size(kernel->type);
    char *c = c_;
    for (int64_t s = 0; s < size; s += unit) {
        int64_t width = least(unit, size - s);
        char *row = c + s * ld * bytes;
        kernel->close(row + s * bytes, ld, width, s + width < size ? width : padded - s, width);
        if (size <= unit) {
            return;
        }
        twi_pack_b(kernel, b, 0, size, width, row, ld);
        (void)twi_pack_a(kernel, a, width, width, row + s * bytes, ld, 1);
        product_beside(kernel, a, b, width, s, width, size, row, ld);
        twi_pack_b(kernel, b, 0, size, width, row, ld);
        for (int64_t r = 0; r < size; r += TWI_ROWS_AT_ONCE) {
            if (r >= s && r < s + width) {
                continue;
            }
            int64_t rows = least(TWI_ROWS_AT_ONCE, size - r);
            char *chunk = c + r * ld * bytes;
            char *col = chunk + s * bytes;
            if (!twi_pack_a(kernel, a, rows, width, col, ld, 1)) {
                continue;
            }
            twi_product(kernel, a, rows, b, s, width, col, ld, TWI_NO_DIAGONAL);
            (void)twi_pack_a(kernel, a, rows, width, col, ld, 1);
            product_beside(kernel, a, b, rows, s, width, size, chunk, ld);
        }
    }
}

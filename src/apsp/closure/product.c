/*
 * The loops around the micro-kernel: see product.h. A strip of B (nr columns, 16 KiB; with AVX-512
 * 64 KiB) stays in the first- or second-level cache while the strips of A stream past it from the
 * second. The next tile of C is asked for before it is needed, since its rows are a matrix row
 * apart, and so is the next strip of B, which comes from the third level (3 % at n = 4096 on a
 * Neoverse V1, November 2026), unless it is as wide as AVX-512's: its many lines are in the way of
 * the tile's, and the processor asks for them by itself (4 % on a Xeon of 2023). A tile that sticks
 * out of C goes through a copy.
 */
#include "apsp/closure/product.h"

#include "base/memory.h"

#include <string.h>

#define TILE_BYTES_MOST 1024 /* the largest kernel's: 4 x 4 vectors of 64 bytes */

static int64_t even(int64_t depth)
{
    return depth + depth % 2;
}

static int64_t strips(int64_t count, int64_t width)
{
    return (count + width - 1) / width;
}

uint64_t twi_packed_a_bytes(const twi_minplus_kernel *kernel, int64_t rows, int64_t depth)
{
    return (uint64_t)(strips(rows, kernel->mr) * kernel->mr * even(depth) * kernel->a_lanes) *
           tw_type_size(kernel->type);
}

uint64_t twi_packed_b_bytes(const twi_minplus_kernel *kernel, int64_t cols, int64_t depth)
{
    return (uint64_t)(strips(cols, kernel->nr) * kernel->nr * even(depth)) *
           tw_type_size(kernel->type);
}

bool twi_pack_a(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t rows, int64_t depth,
                const void *src, int64_t row_step, int64_t depth_step)
{
    int64_t size = (int64_t)tw_type_size(kernel->type);
    int64_t strip_bytes = (int64_t)twi_packed_a_bytes(kernel, kernel->mr, depth);
    bool finite = false;
    panel->depth = depth;
    for (int64_t i = 0; i * kernel->mr < rows; i++) {
        int64_t row = i * kernel->mr;
        int64_t height = rows - row < kernel->mr ? rows - row : kernel->mr;
        panel->ranges[i] =
            kernel->pack_a((char *)panel->data + i * strip_bytes, height, depth,
                           (const char *)src + row * row_step * size, row_step, depth_step);
        finite = finite || panel->ranges[i].begin < panel->ranges[i].end;
    }
    return finite;
}

void twi_pack_b(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t first, int64_t cols,
                int64_t depth, const void *src, int64_t ld)
{
    int64_t size = (int64_t)tw_type_size(kernel->type);
    int64_t strip_bytes = (int64_t)twi_packed_b_bytes(kernel, kernel->nr, depth);
    int64_t strip = first / kernel->nr;
    if (first == 0) {
        panel->depth = depth;
    }
    for (int64_t col = 0; col < cols; col += kernel->nr, strip++) {
        int64_t width = cols - col < kernel->nr ? cols - col : kernel->nr;
        panel->ranges[strip] = kernel->pack_b((char *)panel->data + strip * strip_bytes, width,
                                              depth, (const char *)src + col * size, ld);
    }
}

/* The tile of C through a full-sized copy; what lies outside C holds rubbish that nobody reads. */
static void update_edge(const twi_minplus_kernel *kernel, int64_t depth, const void *a,
                        const void *b, char *c, int64_t ldc, int64_t rows, int64_t cols)
{
    _Alignas(64) char tile[TILE_BYTES_MOST];
    int64_t size = (int64_t)tw_type_size(kernel->type);
    size_t bytes = (size_t)(cols * size);
    memset(tile, 0, (size_t)(kernel->mr * kernel->nr * size));
    for (int64_t i = 0; i < rows; i++) {
        memcpy(tile + i * kernel->nr * size, c + i * ldc * size, bytes);
    }
    kernel->update(depth, a, b, tile, kernel->nr);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(c + i * ldc * size, tile + i * kernel->nr * size, bytes);
    }
}

/* Ask for the i-th of `parts` parts of a strip of B. */
static void prefetch_part(const char *strip, int64_t bytes, int64_t i, int64_t parts)
{
    int64_t step = (bytes / parts + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    for (int64_t at = i * step; at < (i + 1) * step && at < bytes; at += TWI_CACHE_LINE) {
        __builtin_prefetch(strip + at, 0, 2);
    }
}

/* All strips of A against one strip of B, from strip `from` of A on; meanwhile the next strip of B
 * (NULL: none) is brought nearer. */
static void multiply_strip(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t from,
                           int64_t rows, const char *b, twi_range b_range, const char *next_b,
                           int64_t width, char *c, int64_t ldc)
{
    const int64_t size = (int64_t)tw_type_size(kernel->type);
    const int64_t mr = kernel->mr;
    const int64_t nr = kernel->nr;
    const int64_t a_step = mr * kernel->a_lanes * size; /* bytes of A a unit of depth */
    const int64_t strip_bytes = a_step * even(a->depth);
    for (int64_t i = from; i * mr < rows; i++) {
        twi_range range = a->ranges[i];
        range.begin = range.begin > b_range.begin ? range.begin : b_range.begin;
        range.end = range.end < b_range.end ? range.end : b_range.end;
        if (range.begin >= range.end) {
            continue;
        }
        const char *a_strip = (const char *)a->data + i * strip_bytes + range.begin * a_step;
        const char *b_strip = b + range.begin * nr * size;
        char *tile = c + i * mr * ldc * size;
        int64_t height = rows - i * mr < mr ? rows - i * mr : mr;
        if (height == mr && width == nr) {
            for (int64_t next = mr; next < 2 * mr && i * mr + next < rows; next++) {
                for (int64_t at = 0; at < nr * size; at += TWI_CACHE_LINE) {
                    __builtin_prefetch(tile + next * ldc * size + at, 1);
                }
            }
            if (next_b != NULL) {
                prefetch_part(next_b, nr * size * even(a->depth), i - from,
                              strips(rows, mr) - from);
            }
            kernel->update(range.end - range.begin, a_strip, b_strip, tile, ldc);
        } else {
            update_edge(kernel, range.end - range.begin, a_strip, b_strip, tile, ldc, height,
                        width);
        }
    }
}

void twi_product(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t rows,
                 const twi_panel *b, int64_t first, int64_t cols, void *c, int64_t ldc,
                 int64_t below)
{
    const int64_t size = (int64_t)tw_type_size(kernel->type);
    const int64_t nr = kernel->nr;
    const int64_t strip_bytes = (int64_t)twi_packed_b_bytes(kernel, nr, b->depth);
    for (int64_t col = 0; col < cols; col += nr) {
        int64_t strip = (first + col) / nr;
        twi_range range = b->ranges[strip];
        if (range.begin >= range.end) {
            continue;
        }
        /* The first strip of A whose last row reaches down to this column. */
        int64_t above = first + col - below - (kernel->mr - 1);
        int64_t from = above > 0 ? strips(above, kernel->mr) : 0;
        int64_t width = cols - col < nr ? cols - col : nr;
        const char *b_strip = (const char *)b->data + strip * strip_bytes;
        const bool narrow = nr * size <= TWI_CACHE_LINE;
        const char *next_b = narrow && col + nr < cols ? b_strip + strip_bytes : NULL;
        multiply_strip(kernel, a, from, rows, b_strip, range, next_b, width, (char *)c + col * size,
                       ldc);
    }
}

/*
 * The loops around the micro-kernel: see product.h. A strip of B (nr columns, 16 KiB; with AVX-512
 * 64 KiB) stays in the first- or second-level cache while the strips of A stream past it from the
 * second. Each call of the micro-kernel is told what comes next (kernels.h): the next tile of C,
 * since its rows are a matrix row apart, and a part of the next strip of B, which comes from the
 * third level. A tile that sticks out of C goes through a copy.
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
    kernel->update(depth, a, b, tile, kernel->nr, NULL);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(c + i * ldc * size, tile + i * kernel->nr * size, bytes);
    }
}

/* Bytes of each of `parts` parts of a strip of B, whole lines. */
static int64_t part_of_strip(int64_t bytes, int64_t parts)
{
    return (bytes / parts + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* All strips of A against one strip of B, from strip `from` of A on; meanwhile the next strip of B
 * (NULL: none), and the first tile above it, are brought nearer. */
static void multiply_strip(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t from,
                           int64_t rows, const char *b, twi_range b_range, const char *next_b,
                           int64_t width, char *c, int64_t ldc)
{
    const int64_t size = (int64_t)tw_type_size(kernel->type);
    const int64_t mr = kernel->mr;
    const int64_t nr = kernel->nr;
    const int64_t a_step = mr * kernel->a_lanes * size; /* bytes of A a unit of depth */
    const int64_t strip_bytes = a_step * even(a->depth);
    if (from * mr >= rows) {
        return; /* all of it lies above the diagonal */
    }
    const int64_t part = part_of_strip(nr * size * even(a->depth), strips(rows, mr) - from);
    const int64_t part_step = part / (even(a->depth) / 2);
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
            const int64_t left = rows - (i + 1) * mr;
            twi_ahead ahead = {.c = tile, .b = b_strip};
            if (left > 0) {
                ahead.c = tile + mr * ldc * size;
                ahead.c_rows = left < mr ? left : mr;
            } else if (next_b != NULL && from == 0) {
                ahead.c = c + nr * size;
                ahead.c_rows = mr;
            }
            if (next_b != NULL) {
                ahead.b = next_b + (i - from) * part;
                ahead.b_bytes = part;
                ahead.b_step = part_step < TWI_CACHE_LINE ? part_step : TWI_CACHE_LINE;
            }
            kernel->update(range.end - range.begin, a_strip, b_strip, tile, ldc, &ahead);
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
        const char *next_b = col + nr < cols ? b_strip + strip_bytes : NULL;
        multiply_strip(kernel, a, from, rows, b_strip, range, next_b, width, (char *)c + col * size,
                       ldc);
    }
}

/*
 * TIFF: recognised and written here, read through libtiff where there is one. Every plane is a page
 * of its own size and type, uncompressed, in one strip. Since its size is known, the file is
 * written from front to back: a header that points to the first directory, then for each page its
 * elements and its directory, which points to the next. A file that would pass 4 GB is written as
 * BigTIFF, with offsets of 64 bits.
 */
#include "io/image/tiff_read.h"

#include "base/memory.h"

#include <string.h>

#define BIG_FROM ((uint64_t)4000000000) /* bytes; offsets of 32 bits end somewhat later */
#define ENTRIES 10
#define DIRECTORY_MOST 256

/* Numbers of one byte after the other, the low one first. */
typedef struct bytes {
    unsigned char data[DIRECTORY_MOST];
    size_t used;
} bytes;

static void put(bytes *b, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        b->data[b->used++] = (unsigned char)(value >> (8 * i));
    }
}

static bool tiff_recognised(const twi_input *input)
{
    static const char heads[][4] = {
        {'I', 'I', 42, 0}, {'M', 'M', 0, 42}, {'I', 'I', 43, 0}, {'M', 'M', 0, 43}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads && input->size >= 8; i++) {
        if (memcmp(input->bytes, heads[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

static tw_status tiff_accepts(tw_context *ctx, const tw_image *image)
{
    if (image->count < 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a TIFF file needs a plane");
    }
    for (int64_t k = 0; k < image->count; k++) {
        const tw_matrix *plane = &image->planes[k];
        if (plane->rows < 1 || plane->cols < 1 || plane->rows > UINT32_MAX ||
            plane->cols > UINT32_MAX) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "an image of %lld x %lld cannot be a TIFF page",
                           (long long)plane->cols, (long long)plane->rows);
        }
    }
    return TW_OK;
}

static uint64_t page_bytes(const tw_matrix *plane)
{
    return (uint64_t)plane->rows * (uint64_t)plane->cols * tw_type_size(plane->type);
}

/* Bytes of a page that is padded to where a directory may begin. */
static uint64_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static uint64_t directory_bytes(bool big)
{
    return big ? 8 + ENTRIES * 20 + 8 : 2 + ENTRIES * 12 + 4 + 2; /* the last 2: padding */
}

static void put_entry(bytes *b, bool big, int tag, bool is_short, uint64_t value)
{
    const int wide = big ? 8 : 4;
    put(b, (uint64_t)tag, 2);
    put(b, is_short ? 3 : big ? 16 : 4, 2); /* SHORT, LONG8 or LONG */
    put(b, 1, wide);
    put(b, value, wide);
}

/* The directory of a page whose elements begin at byte `at`. */
static void put_directory(bytes *b, bool big, const tw_matrix *plane, uint64_t at, uint64_t next)
{
    const uint64_t size = tw_type_size(plane->type);
    const bool real = plane->type == TW_F32 || plane->type == TW_F64 || plane->type == TW_F16;
    const bool is_signed = plane->type == TW_I16 || plane->type == TW_I32;
    put(b, ENTRIES, big ? 8 : 2);
    put_entry(b, big, 256, false, (uint64_t)plane->cols);
    put_entry(b, big, 257, false, (uint64_t)plane->rows);
    put_entry(b, big, 258, true, 8 * size);
    put_entry(b, big, 259, true, 1); /* not compressed */
    put_entry(b, big, 262, true, 1); /* 0 is black */
    put_entry(b, big, 273, false, at);
    put_entry(b, big, 277, true, 1);
    put_entry(b, big, 278, false, (uint64_t)plane->rows);
    put_entry(b, big, 279, false, page_bytes(plane));
    put_entry(b, big, 339, true, real ? 3 : is_signed ? 2 : 1);
    put(b, next, big ? 8 : 4);
    put(b, 0, big ? 0 : 2);
}

static tw_status write_page(tw_context *ctx, const tw_image *image, int64_t k, bool big,
                            uint64_t *at, twi_output *output)
{
    const tw_matrix *plane = &image->planes[k];
    const uint64_t size = page_bytes(plane);
    const uint64_t end = *at + padded(size) + directory_bytes(big);
    const char zeros[8] = {0};
    bytes directory = {.used = 0};
    uint64_t next = 0;
    if (k + 1 < image->count) {
        next = end + padded(page_bytes(plane + 1));
    }
    put_directory(&directory, big, plane, *at, next);
    tw_status status = twi_output_write(ctx, output, plane->data, size);
    if (status == TW_OK) {
        status = twi_output_write(ctx, output, zeros, padded(size) - size);
    }
    if (status == TW_OK) {
        status = twi_output_write(ctx, output, directory.data, directory.used);
    }
    *at = end;
    return status;
}

/* The head of a file whose first page is `plane` and which has about `total` bytes. */
static tw_status write_head(tw_context *ctx, const tw_matrix *plane, uint64_t total, bool *big,
                            uint64_t *at, twi_output *output)
{
    bytes head = {.used = 0};
    *big = total > BIG_FROM;
    *at = *big ? 16 : 8;
    put(&head, 0x4949, 2); /* the low byte first */
    put(&head, *big ? 43 : 42, 2);
    if (*big) {
        put(&head, 8, 4); /* bytes of an offset */
    }
    put(&head, *at + padded(page_bytes(plane)), *big ? 8 : 4);
    return twi_output_write(ctx, output, head.data, head.used);
}

static tw_status tiff_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    uint64_t total = 16;
    uint64_t at;
    bool big;
    for (int64_t k = 0; k < image->count; k++) {
        total += padded(page_bytes(&image->planes[k])) + directory_bytes(true);
    }
    tw_status status = write_head(ctx, image->planes, total, &big, &at, output);
    for (int64_t k = 0; k < image->count && status == TW_OK; k++) {
        status = write_page(ctx, image, k, big, &at, output);
    }
    return status;
}

/* One page, row by row: its directory comes after it. */
typedef struct tiff_page {
    tw_matrix plane; /* without its data */
    bool big;
    uint64_t at;
} tiff_page;

static tw_status page_begin(tw_context *ctx, void **state, twi_output *output,
                            const tw_shape *shape)
{
    tiff_page *page = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &page, 1, sizeof *page, "a TIFF writer");
    if (status != TW_OK) {
        return status;
    }
    *state = page;
    page->plane = (tw_matrix){NULL, shape->rows, shape->cols, shape->cols, shape->type};
    return write_head(ctx, &page->plane, page_bytes(&page->plane), &page->big, &page->at, output);
}

static tw_status page_row(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    const tw_matrix *plane = &((tiff_page *)state)->plane;
    return twi_output_write(ctx, output, row, (uint64_t)plane->cols * tw_type_size(plane->type));
}

static tw_status page_end(tw_context *ctx, void *state, twi_output *output)
{
    const tiff_page *page = state;
    const char zeros[8] = {0};
    const uint64_t size = page_bytes(&page->plane);
    bytes directory = {.used = 0};
    put_directory(&directory, page->big, &page->plane, page->at, 0);
    tw_status status = twi_output_write(ctx, output, zeros, padded(size) - size);
    return status == TW_OK ? twi_output_write(ctx, output, directory.data, directory.used) : status;
}

static const twi_row_writer page_writer = {page_begin, page_row, page_end, twi_free};

const twi_image_format twi_image_tiff = {"tiff",        "tif tiff", tiff_recognised,
                                         twi_tiff_read, NULL,       twi_tiff_rows,
                                         tiff_accepts,  tiff_write, &page_writer};

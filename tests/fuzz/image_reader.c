/*
 * Any bytes given to the image readers end in an image whose planes can be read, or in a sentence.
 * So do files of which only the head is in memory: an image read that way, or row by row, is the
 * one that the bytes in memory give, and a file cut behind its head is an image or a sentence, too.
 */
#include "io/image/format.h"
#include "io/image/metadata.h"
#include "io/image/tiff_directory.h"
#include "io/image/tiff_tags.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((uint64_t)32 << 20)
#define HEAD 64        /* bytes of a head: fewer than a file's, so that much is read on demand */
#define PLANES_MOST 16 /* read row by row */

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

/* A file of these bytes, of which those behind the head are absent. `left`: bytes that somebody
 * else has left of it. The head is a block of its own, so that reading past it is seen. */
static twi_input open_head(tw_context *ctx, const uint8_t *data, size_t size, size_t left)
{
    twi_input input = {.name = "head", .size = size, .absent = size - HEAD};
    insist(twi_alloc(ctx, &input.memory, HEAD, 1, "a head") == TW_OK);
    memcpy(input.memory, data, HEAD);
    input.bytes = input.memory;
    input.fd = memfd_create("head", MFD_CLOEXEC);
    insist(input.fd >= 0 && write(input.fd, data, left) == (ssize_t)left);
    return input;
}

static void insist_same_rows(const tw_matrix *plane, const void *rows)
{
    const size_t bytes = (size_t)(plane->rows * plane->cols) * tw_type_size(plane->type);
    insist(plane->stride == plane->cols || plane->rows <= 1);
    insist(bytes == 0 || memcmp(plane->data, rows, bytes) == 0);
}

/* The planes of an image that was read with all bytes in memory, by the rows of a file. */
static void read_rows(tw_context *ctx, const twi_image_format *format, const tw_image *whole,
                      const uint8_t *data, size_t size)
{
    twi_input input = open_head(ctx, data, size, size);
    for (int64_t k = 0; k < whole->count && k < PLANES_MOST && format->layout != NULL; k++) {
        const tw_matrix *plane = &whole->planes[k];
        twi_layout layout;
        char *rows = NULL;
        if (format->layout(ctx, &layout, &input, k) != TW_OK) { /* a header beyond the head */
            continue;
        }
        insist(layout.rows == plane->rows && layout.cols == plane->cols &&
               layout.type == plane->type && layout.planes == whole->count);
        const uint64_t row = (uint64_t)plane->cols * tw_type_size(plane->type);
        insist(twi_alloc(ctx, &rows, (uint64_t)plane->rows, row, "rows") == TW_OK);
        const int64_t upper = plane->rows / 3;
        insist(twi_layout_rows(ctx, &input, &layout, upper, plane->rows - upper,
                               rows + (uint64_t)upper * row, plane->cols) == TW_OK);
        insist(twi_layout_rows(ctx, &input, &layout, 0, upper, rows, plane->cols) == TW_OK);
        insist_same_rows(plane, rows);
        twi_free(rows);
    }
    twi_input_close(&input);
}

/* The same format by a head; whole NULL: it is no image. */
static void read_by_head(tw_context *ctx, const twi_image_format *format, const tw_image *whole,
                         const uint8_t *data, size_t size, size_t left)
{
    twi_input input = open_head(ctx, data, size, left);
    tw_image *image = NULL;
    insist(tw_image_create(ctx, &image) == TW_OK);
    if (format->read(ctx, image, &input) != TW_OK) {
        insist(tw_last_error(ctx)[0] != '\0');
    } else if (left == size) {
        insist(whole != NULL && image->count == whole->count);
        for (int64_t k = 0; k < image->count; k++) {
            insist(image->planes[k].rows == whole->planes[k].rows &&
                   image->planes[k].cols == whole->planes[k].cols &&
                   image->planes[k].type == whole->planes[k].type);
            insist_same_rows(&whole->planes[k], image->planes[k].data);
        }
    }
    tw_image_destroy(image);
    twi_input_close(&input);
}

/* One element with these tags, as a directory of both kinds. */
static void write_tags(tw_context *ctx, const tw_image_tags *tags)
{
    const uint64_t offset = 8, count = 1;
    char *metadata = NULL;
    const twi_metadata_bands bands = {.first = 0,
                                      .count = tags->info.bands,
                                      .without = tags->info.alpha > 0 ? tags->info.alpha - 1 : -1,
                                      .opacity = tags->info.alpha % 2 == 0,
                                      .table = true,
                                      .unchanged = tags->info.bands % 2 == 0};
    const twi_page_tags *last = tags->page_count > 0 ? &tags->pages[tags->page_count - 1] : NULL;
    insist(last == NULL || (last->first < last->end && last->end <= tags->info.planes));
    insist(twi_metadata_kept(ctx, &metadata, tags, &bands) == TW_OK ||
           tw_last_error(ctx)[0] != '\0');
    for (int big = 0; big < 2; big++) {
        const int64_t plane = big && last != NULL ? last->first : 0;
        const twi_tiff_page page = {.big = big != 0,
                                    .shape = {1, 1, TW_U16},
                                    .bands = 1,
                                    .compression = 1,
                                    .predictor = 1,
                                    .block_rows = 1,
                                    .block_cols = 1,
                                    .blocks = 1,
                                    .offsets = &offset,
                                    .counts = &count,
                                    .tags = tags,
                                    .tags_plane = plane,
                                    .table = twi_tiff_table(tags, plane),
                                    .first_row = big,
                                    .metadata = metadata};
        uint64_t bytes = 0, link = 0;
        unsigned char *out = NULL;
        insist(twi_tiff_directory_size(ctx, &page, &bytes, &link) == TW_OK && link < bytes);
        if (twi_alloc(ctx, &out, bytes, 1, "a directory") == TW_OK) {
            insist(twi_tiff_directory(ctx, &page, 8, 0, out) == TW_OK);
        }
        twi_free(out);
    }
    twi_free(metadata);
}

/* What the file says besides its elements can be written into another, and is the same there. */
static void read_tags(tw_context *ctx, const twi_image_format *format, const twi_input *input)
{
    tw_image_tags *tags = NULL;
    insist(twi_tags_create(ctx, &tags) == TW_OK);
    if (format->tags != NULL && format->tags(ctx, tags, input) == TW_OK) {
        insist(tags->info.bands >= 0 &&
               tags->info.alpha < (tags->info.bands > 0 ? tags->info.bands : 1));
        for (int64_t k = 0; k < tags->name_count; k++) {
            insist(tags->names[k] == NULL || strlen(tags->names[k]) < input->size);
        }
        write_tags(ctx, tags);
    }
    tw_image_tags_destroy(tags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FORMATS = 7 };
    static const twi_image_format *const formats[FORMATS] = {
        &twi_image_npy,  &twi_image_pnm,  &twi_image_pfm,    &twi_image_png,
        &twi_image_tiff, &twi_image_jpeg, &twi_image_records};
    tw_context *ctx = NULL;
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    for (size_t f = 0; f < FORMATS; f++) {
        twi_input input = {.name = "input", .bytes = (const char *)data, .size = size};
        tw_image *image = NULL;
        insist(tw_image_create(ctx, &image) == TW_OK);
        formats[f]->recognised(&input);
        bool good = formats[f]->read(ctx, image, &input) == TW_OK;
        read_tags(ctx, formats[f], &input);
        insist(good || tw_last_error(ctx)[0] != '\0');
        if (size > HEAD) {
            read_by_head(ctx, formats[f], good ? image : NULL, data, size, size);
            read_by_head(ctx, formats[f], NULL, data, size, HEAD + (size - HEAD) / 2);
        }
        if (size > HEAD && good) {
            read_rows(ctx, formats[f], image, data, size);
        }
        tw_image_destroy(image);
    }
    insist(tw_memory_used(ctx) == 0);
    tw_context_destroy(ctx);
    return 0;
}

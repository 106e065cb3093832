/*
 * PGM, PPM and PFM: a short text header, then the elements. P5 and P6 hold bytes, or pairs of bytes
 * with the high one first when the largest value is above 255; P2 and P3 the same as text; Pf and
 * PF floats, whose rows go from the bottom to the top and whose scale is negative when the low byte
 * comes first. Elements of colours alternate in the file and are planes here.
 */
#include "io/image/format.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MOST 96
#define MAKER_LINE "\n# " TWI_MAKER "\n" /* behind P5 or P6; PFM has no comments */

/* What the header says. */
typedef struct picture {
    const twi_input *input;
    const char *at; /* the next byte */
    const char *end;
    char kind; /* '2' '3' '5' '6' 'f' 'F' */
    int64_t cols, rows;
    int64_t largest; /* of whole numbers */
    bool big_endian; /* of floats */
    int64_t colours;
} picture;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool pnm_recognised(const twi_input *input)
{
    return input->size > 2 && input->bytes[0] == 'P' && strchr("2356", input->bytes[1]) != NULL &&
           input->bytes[1] != '\0' && is_blank(input->bytes[2]);
}

static bool pfm_recognised(const twi_input *input)
{
    return input->size > 2 && input->bytes[0] == 'P' &&
           (input->bytes[1] == 'f' || input->bytes[1] == 'F') && is_blank(input->bytes[2]);
}

static tw_status fail_at(tw_context *ctx, const picture *p, const char *what)
{
    return tw_fail(ctx, TW_ERR_FORMAT, "%.500s: byte %lld: %s", p->input->name,
                   (long long)(p->at - p->input->bytes), what);
}

static void skip_blanks(picture *p, bool comments)
{
    while (p->at < p->end && (is_blank(*p->at) || (comments && *p->at == '#'))) {
        bool comment = *p->at == '#';
        while (comment && p->at < p->end && *p->at != '\n') {
            p->at++;
        }
        p->at += p->at < p->end;
    }
}

/* A whole number of at most `most`. */
static bool read_number(picture *p, int64_t most, int64_t *out)
{
    skip_blanks(p, true);
    const char *digits = p->at;
    int64_t value = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9' && value <= most) {
        value = value * 10 + (*p->at++ - '0');
    }
    *out = value;
    return p->at > digits && value <= most;
}

/* The scale of a float image: only its sign matters here. */
static bool read_scale(picture *p)
{
    char text[32];
    size_t used = 0;
    skip_blanks(p, false);
    while (p->at < p->end && !is_blank(*p->at) && used + 1 < sizeof text) {
        text[used++] = *p->at++;
    }
    text[used] = '\0';
    char *rest = NULL;
    double scale = strtod(text, &rest);
    p->big_endian = scale > 0;
    return used > 0 && *rest == '\0' && isfinite(scale) && scale != 0;
}

static tw_status read_header(tw_context *ctx, picture *p, const twi_input *input, bool floats)
{
    const int64_t most = INT32_MAX;
    *p = (picture){.input = input, .at = input->bytes, .end = input->bytes + twi_input_held(input)};
    if (floats ? !pfm_recognised(input) : !pnm_recognised(input)) {
        return fail_at(ctx, p,
                       floats ? "not a PFM header (Pf or PF)"
                              : "not a PGM or PPM header (P2, P3, P5 or P6)");
    }
    p->kind = input->bytes[1];
    p->colours = p->kind == '3' || p->kind == '6' || p->kind == 'F' ? 3 : 1;
    p->at += 2;
    if (!read_number(p, most, &p->cols) || !read_number(p, most, &p->rows)) {
        return fail_at(ctx, p, "expected a width and a height");
    }
    if (twi_empty_too_long(p->rows, p->cols)) {
        return fail_at(ctx, p, "an image without elements has sides of at most 65536");
    }
    if (floats ? !read_scale(p) : !read_number(p, 65535, &p->largest) || p->largest < 1) {
        return fail_at(ctx, p,
                       floats ? "expected a nonzero scale"
                              : "expected a maximum value from 1 to 65535");
    }
    if (p->at >= p->end || !is_blank(*p->at)) {
        return fail_at(ctx, p, "the header does not end with a blank");
    }
    p->at++;
    return TW_OK;
}

/* The elements of a binary image must be there, and nothing else. */
static tw_status check_size(tw_context *ctx, const picture *p, uint64_t element)
{
    uint64_t want;
    const uint64_t have = p->input->size - (uint64_t)(p->at - p->input->bytes);
    if (!twi_mul((uint64_t)p->cols * (uint64_t)p->rows, element * (uint64_t)p->colours, &want) ||
        want != have) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: the header says %lld x %lld elements, but %llu byte%s follow%s it",
                       p->input->name, (long long)p->cols, (long long)p->rows,
                       (unsigned long long)have, have == 1 ? "" : "s", have == 1 ? "s" : "");
    }
    return TW_OK;
}

static tw_status add_planes(tw_context *ctx, tw_image *image, const picture *p, tw_type type)
{
    tw_status status = TW_OK;
    for (int64_t k = 0; k < p->colours && status == TW_OK; k++) {
        status = tw_image_add(ctx, image, p->rows, p->cols, type);
    }
    return status;
}

/* Element i of plane k gets a value; the caller knows that it fits. */
static void put(const tw_image *image, int64_t k, int64_t i, int64_t value)
{
    const tw_matrix *plane = &image->planes[k];
    if (plane->type == TW_U8) {
        ((uint8_t *)plane->data)[i] = (uint8_t)value;
    } else {
        ((uint16_t *)plane->data)[i] = (uint16_t)value;
    }
}

static tw_status read_text(tw_context *ctx, const tw_image *image, picture *p)
{
    const int64_t count = p->cols * p->rows;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < p->colours; k++) {
            int64_t value;
            if (!read_number(p, p->largest, &value)) {
                return fail_at(ctx, p, "expected a value from 0 to the maximum in the header");
            }
            put(image, k, i, value);
        }
    }
    skip_blanks(p, true);
    return p->at < p->end ? fail_at(ctx, p, "more values than the header says") : TW_OK;
}

/* Where plane `plane` of a binary image lies; rows of floats go from the bottom to the top. */
static twi_layout lay_out(const picture *p, bool floats, int64_t plane)
{
    const int64_t size = floats ? 4 : p->largest > 255 ? 2 : 1;
    const int64_t row = p->cols * p->colours * size;
    twi_layout layout = {.planes = p->colours,
                         .rows = p->rows,
                         .cols = p->cols,
                         .type = floats             ? TW_F32
                                 : p->largest > 255 ? TW_U16
                                                    : TW_U8,
                         .start = (uint64_t)(p->at - p->input->bytes) + (uint64_t)(plane * size),
                         .row_step = row,
                         .col_step = p->colours * size,
                         .swapped = floats ? p->big_endian : size == 2,
                         .largest = (int32_t)p->largest};
    if (floats && p->rows > 0) {
        layout.start += (uint64_t)((p->rows - 1) * row);
        layout.row_step = -row;
    }
    return layout;
}

static tw_status find_layout(tw_context *ctx, twi_layout *out, const twi_input *input,
                             int64_t plane, bool floats)
{
    picture p;
    tw_status status = read_header(ctx, &p, input, floats);
    if (status == TW_OK && (p.kind == '2' || p.kind == '3')) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s is text, which is read as a whole",
                       input->name);
    }
    if (status == TW_OK) {
        status = check_size(ctx, &p, floats ? 4 : p.largest > 255 ? 2 : 1);
    }
    if (status == TW_OK && plane >= p.colours) {
        status = twi_no_plane(ctx, input->name, plane, p.colours);
    }
    if (status == TW_OK) {
        *out = lay_out(&p, floats, plane);
    }
    return status;
}

static tw_status pnm_layout(tw_context *ctx, twi_layout *out, const twi_input *input, int64_t plane)
{
    return find_layout(ctx, out, input, plane, false);
}

static tw_status pfm_layout(tw_context *ctx, twi_layout *out, const twi_input *input, int64_t plane)
{
    return find_layout(ctx, out, input, plane, true);
}

static tw_status read_binary(tw_context *ctx, tw_image *image, twi_input *input, bool floats)
{
    twi_layout layout = {.planes = 1};
    tw_status status = TW_OK;
    for (int64_t k = 0; k < layout.planes && status == TW_OK; k++) {
        status = find_layout(ctx, &layout, input, k, floats);
        if (status == TW_OK) {
            status = twi_layout_add(ctx, image, input, &layout);
        }
    }
    return status;
}

static tw_status pnm_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    picture p;
    tw_status status = read_header(ctx, &p, input, false);
    if (status == TW_OK && (p.kind == '5' || p.kind == '6')) {
        return read_binary(ctx, image, input, false);
    }
    if (status == TW_OK) {
        status = twi_input_load(ctx, input);
    }
    if (status == TW_OK) { /* where it lies now */
        status = read_header(ctx, &p, input, false);
    }
    if (status != TW_OK) {
        return status;
    }
    if ((uint64_t)p.cols * (uint64_t)p.rows > input->size) {
        return fail_at(ctx, &p, "the file is shorter than the values its header promises");
    }
    status = add_planes(ctx, image, &p, p.largest > 255 ? TW_U16 : TW_U8);
    return status == TW_OK ? read_text(ctx, image, &p) : status;
}

static tw_status pfm_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    return read_binary(ctx, image, input, true);
}

/* -------------------------------------------------------------------------------------- writing */

/* One plane, or three of one size, all of the same type. */
static tw_status check_planes(tw_context *ctx, const tw_image *image, const char *what,
                              tw_type first, tw_type second)
{
    if (image->count != 1 && image->count != 3) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a %s file holds one plane or three, not %lld", what,
                       (long long)image->count);
    }
    const tw_matrix *plane = image->planes;
    for (int64_t k = 0; k < image->count; k++) {
        if (plane[k].type != first && plane[k].type != second) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "a %s file cannot hold elements of %s", what,
                           tw_type_name(plane[k].type));
        }
        if (plane[k].rows != plane[0].rows || plane[k].cols != plane[0].cols ||
            plane[k].type != plane[0].type) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "the planes of a %s file must have the same size and type", what);
        }
    }
    return TW_OK;
}

static tw_status pnm_accepts(tw_context *ctx, const tw_image *image)
{
    return check_planes(ctx, image, "PGM or PPM", TW_U8, TW_U16);
}

static tw_status pfm_accepts(tw_context *ctx, const tw_image *image)
{
    return check_planes(ctx, image, "PFM", TW_F32, TW_F32);
}

/* Rows of all planes as the file has them: their elements alternate, the high byte is first in
 * integers. */
static void weave(const void *const rows[3], int64_t count, int64_t cols, tw_type type,
                  unsigned char *out)
{
    const size_t size = tw_type_size(type);
    if (count == 1 && type != TW_U16) {
        memcpy(out, rows[0], (size_t)cols * size);
        return;
    }
    for (int64_t i = 0; i < cols; i++) {
        for (int64_t k = 0; k < count; k++, out += size) {
            memcpy(out, (const char *)rows[k] + (size_t)i * size, size);
            if (type == TW_U16) {
                unsigned char low = out[0];
                out[0] = out[1];
                out[1] = low;
            }
        }
    }
}

/* Row by row. */
typedef struct row_writer {
    int64_t planes, cols;
    tw_type type;
    unsigned char *row;
} row_writer;

static void rows_close(void *state)
{
    if (state != NULL) {
        twi_free(((row_writer *)state)->row);
        twi_free(state);
    }
}

static tw_status rows_begin(tw_context *ctx, void **state, twi_output *output,
                            const tw_image_file_options *opts, const tw_shape *shape)
{
    char header[HEADER_MOST];
    row_writer *w = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &w, 1, sizeof *w, "a writer of rows");
    if (status != TW_OK) {
        return status;
    }
    *state = w;
    *w = (row_writer){opts->planes, shape->cols, shape->type, NULL};
    status = twi_alloc(ctx, &w->row, (uint64_t)shape->cols * (uint64_t)w->planes,
                       tw_type_size(shape->type), "a row of the image");
    if (shape->type == TW_F32) {
        snprintf(header, sizeof header, "P%c\n%lld %lld\n-1.0\n", w->planes == 1 ? 'f' : 'F',
                 (long long)shape->cols, (long long)shape->rows);
    } else {
        snprintf(header, sizeof header, "P%d%s%lld %lld\n%d\n", w->planes == 1 ? 5 : 6, MAKER_LINE,
                 (long long)shape->cols, (long long)shape->rows,
                 shape->type == TW_U8 ? 255 : 65535);
    }
    return status == TW_OK ? twi_output_write(ctx, output, header, strlen(header)) : status;
}

static tw_status write_woven(tw_context *ctx, const row_writer *w, twi_output *output,
                             const void *const rows[3])
{
    const int64_t planes = w->planes == 1 ? 1 : 3; /* others are not accepted */
    weave(rows, planes, w->cols, w->type, w->row);
    return twi_output_write(ctx, output, w->row,
                            (uint64_t)planes * (uint64_t)w->cols * tw_type_size(w->type));
}

static tw_status rows_add(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    const row_writer *w = state;
    const void *rows[3] = {row, row, row};
    for (int64_t k = 1; k < w->planes; k++) {
        rows[k] = (const char *)row + (size_t)(k * w->cols) * tw_type_size(w->type);
    }
    return write_woven(ctx, w, output, rows);
}

static tw_status rows_end(tw_context *ctx, void *state, twi_output *output)
{
    (void)ctx;
    (void)state;
    (void)output;
    return TW_OK;
}

static const twi_row_writer pnm_writer = {rows_begin, NULL, rows_add, rows_end, rows_close, false};
static const twi_row_writer pfm_writer = {rows_begin, NULL, rows_add, rows_end, rows_close, true};

/* A whole image. */
static tw_status write_planes(tw_context *ctx, const tw_image *image, twi_output *output)
{
    const tw_matrix *plane = image->planes;
    const tw_shape shape = {plane->rows, plane->cols, plane->type};
    const bool upwards = plane->type == TW_F32;
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    void *state = NULL;
    opts.planes = image->count;
    tw_status status = rows_begin(ctx, &state, output, &opts, &shape);
    for (int64_t i = 0; i < plane->rows && status == TW_OK; i++) {
        const void *rows[3];
        for (int64_t k = 0; k < 3; k++) {
            rows[k] =
                twi_matrix_row(&plane[k < image->count ? k : 0], upwards ? plane->rows - 1 - i : i);
        }
        status = write_woven(ctx, state, output, rows);
    }
    rows_close(state);
    return status;
}

/* P3, P6 and PF have three colours. */
static tw_status header_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    (void)ctx;
    const bool colours = input->size > 1 && strchr("36F", input->bytes[1]) != NULL;
    tags->info.planes = tags->info.bands = colours ? 3 : 1;
    tags->info.colours = colours;
    tags->info.made_here = input->size > 2 + strlen(MAKER_LINE) &&
                           memcmp(input->bytes + 2, MAKER_LINE, strlen(MAKER_LINE)) == 0;
    return TW_OK;
}

const twi_image_format twi_image_pnm = {
    "pnm",       "pgm ppm pnm", pnm_recognised, pnm_read,    pnm_layout, NULL,
    pnm_accepts, write_planes,  &pnm_writer,    header_tags, NULL};
const twi_image_format twi_image_pfm = {
    "pfm",       "pfm",        pfm_recognised, pfm_read,    pfm_layout, NULL,
    pfm_accepts, write_planes, &pfm_writer,    header_tags, NULL};

/*
 * Records: int32 width, int32 height, width * height bytes, little-endian, again and again until
 * the end of the file; each is a plane. Planes of f32 are written as text, one line per record: the
 * width, the height and the values with five decimals, a comma after every number, the last too.
 *
 * A float times 10^5 has at most 41 bits and is exact in f64, so rounding it to a whole number
 * gives the five decimals that are nearest.
 */
#include "base/memory.h"
#include "io/image/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEADER 8
#define WINDOW 16384  /* bytes of the file looked at together */
#define VALUE_MOST 48 /* bytes of a value and its comma: the largest float, five decimals */
#define PIECE 4096    /* values formatted at once */

typedef struct header {
    int32_t cols, rows;
} header;

/* Part of the file: records may be as short as their heads, and a call for each would be slow. */
typedef struct window {
    uint64_t at, count;
    char bytes[WINDOW];
} window;

static bool head_at(const twi_input *input, window *w, uint64_t at, header *out)
{
    if (at < w->at || at - w->at > w->count || w->count - (at - w->at) < HEADER) {
        w->at = at;
        w->count = input->size - at < WINDOW ? input->size - at : WINDOW;
        if (w->count < HEADER || twi_input_try(input, at, w->bytes, w->count) != 0) {
            w->count = 0;
            return false;
        }
    }
    memcpy(out, w->bytes + (at - w->at), HEADER);
    return true;
}

/* The record at byte `at`: false if no whole one is there. */
static bool record_at(const twi_input *input, window *w, uint64_t at, header *out)
{
    *out = (header){0, 0};
    if (!head_at(input, w, at, out)) {
        return false;
    }
    return out->cols >= 0 && out->rows >= 0 && !twi_empty_too_long(out->rows, out->cols) &&
           (uint64_t)out->cols * (uint64_t)out->rows <= input->size - at - HEADER;
}

/* Told by content if and only if the records fill the file. */
static bool recognised(const twi_input *input)
{
    uint64_t at = 0;
    header found;
    window w = {.count = 0};
    while (at < input->size && record_at(input, &w, at, &found)) {
        at += HEADER + (uint64_t)found.cols * (uint64_t)found.rows;
    }
    return input->size > 0 && at == input->size;
}

static tw_status fail_record(tw_context *ctx, const twi_input *input, uint64_t at,
                             const header *found)
{
    if (input->size - at < HEADER) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: the file ends within the header of the record at byte %llu",
                       input->name, (unsigned long long)at);
    }
    if (twi_empty_too_long(found->rows, found->cols)) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: the record at byte %llu says %d x %d; without elements its sides "
                       "must be at most %d",
                       input->name, (unsigned long long)at, found->cols, found->rows,
                       TWI_EMPTY_SIDE_MOST);
    }
    return tw_fail(
        ctx, TW_ERR_FORMAT,
        "%.500s: the record at byte %llu says %d x %d elements, but the file ends at byte %llu",
        input->name, (unsigned long long)at, found->cols, found->rows,
        (unsigned long long)input->size);
}

static tw_status read_records(tw_context *ctx, tw_image *image, twi_input *input)
{
    uint64_t at = 0;
    header found = {0, 0};
    window w = {.count = 0};
    tw_status status = twi_input_load(ctx, input);
    while (at < input->size && status == TW_OK) {
        if (!record_at(input, &w, at, &found)) {
            return fail_record(ctx, input, at, &found);
        }
        uint64_t bytes = (uint64_t)found.cols * (uint64_t)found.rows;
        status = twi_image_add_view(ctx, image, found.rows, found.cols, TW_U8,
                                    input->bytes + at + HEADER);
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
        at += HEADER + bytes;
    }
    return status;
}

static tw_status lay_out(tw_context *ctx, twi_layout *out, const twi_input *input, int64_t plane)
{
    uint64_t at = 0;
    uint64_t place = 0; /* of the record asked for */
    int64_t planes = 0;
    header found, wanted = {0, 0};
    window w = {.count = 0};
    while (at < input->size) {
        if (!record_at(input, &w, at, &found)) {
            return fail_record(ctx, input, at, &found);
        }
        if (planes == plane) {
            place = at + HEADER;
            wanted = found;
        }
        planes++;
        at += HEADER + (uint64_t)found.cols * (uint64_t)found.rows;
    }
    if (plane >= planes) {
        return twi_no_plane(ctx, input->name, plane, planes);
    }
    *out = (twi_layout){.planes = planes,
                        .rows = wanted.rows,
                        .cols = wanted.cols,
                        .type = TW_U8,
                        .start = place,
                        .row_step = wanted.cols,
                        .col_step = 1};
    return TW_OK;
}

static tw_status accepts(tw_context *ctx, const tw_image *image)
{
    for (int64_t i = 0; i < image->count; i++) {
        const tw_matrix *plane = &image->planes[i];
        if ((plane->type != TW_U8 && plane->type != TW_F32) ||
            plane->type != image->planes[0].type) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "plane %lld has elements of %s; records hold u8, or f32 as text",
                           (long long)i, tw_type_name(plane->type));
        }
        if (plane->rows > INT32_MAX || plane->cols > INT32_MAX) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "plane %lld is too large for a record",
                           (long long)i);
        }
    }
    return TW_OK;
}

/* One value, five decimals and a comma; returns the bytes written. */
static size_t format_value(char *out, float value)
{
    double scaled = (double)value * 1e5;
    if (!(fabs(scaled) < 9e15) || scaled < 0) {
        return (size_t)snprintf(out, VALUE_MOST, "%.5f,", (double)value);
    }
    uint64_t whole = (uint64_t)llrint(scaled);
    uint64_t decimals = whole % 100000;
    char digits[24];
    size_t used = 0;
    size_t length = 0;
    whole /= 100000;
    do {
        digits[used++] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole > 0);
    while (used > 0) {
        out[length++] = digits[--used];
    }
    out[length++] = '.';
    for (int i = 4; i >= 0; i--) {
        out[length + (size_t)i] = (char)('0' + decimals % 10);
        decimals /= 10;
    }
    length += 5;
    out[length++] = ',';
    return length;
}

static tw_status write_sizes(tw_context *ctx, int64_t cols, int64_t rows, twi_output *output)
{
    char text[VALUE_MOST];
    int length = snprintf(text, sizeof text, "%lld,%lld,", (long long)cols, (long long)rows);
    return twi_output_write(ctx, output, text, (uint64_t)length);
}

static tw_status write_values(tw_context *ctx, const tw_matrix *plane, twi_output *output,
                              char *text)
{
    const int64_t count = plane->rows * plane->cols;
    const float *values = plane->data;
    tw_status status = TW_OK;
    for (int64_t at = 0; at < count && status == TW_OK; at += PIECE) {
        size_t used = 0;
        for (int64_t i = at; i < count && i < at + PIECE; i++) {
            used += format_value(text + used, values[i]);
        }
        status = twi_output_write(ctx, output, text, used);
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
    }
    return status;
}

static tw_status write_line(tw_context *ctx, const tw_matrix *plane, twi_output *output, char *text)
{
    tw_status status = write_sizes(ctx, plane->cols, plane->rows, output);
    if (status == TW_OK) {
        status = write_values(ctx, plane, output, text);
    }
    return status == TW_OK ? twi_output_write(ctx, output, "\n", 1) : status;
}

static tw_status write_bytes(tw_context *ctx, const tw_matrix *plane, twi_output *output)
{
    header head = {(int32_t)plane->cols, (int32_t)plane->rows};
    tw_status status = twi_output_write(ctx, output, &head, sizeof head);
    return status == TW_OK ? twi_output_write(ctx, output, plane->data,
                                              (uint64_t)plane->rows * (uint64_t)plane->cols)
                           : status;
}

static tw_status write_records(tw_context *ctx, const tw_image *image, twi_output *output)
{
    char *text = NULL;
    tw_status status = twi_alloc(ctx, &text, PIECE, VALUE_MOST, "lines of text");
    for (int64_t i = 0; i < image->count && status == TW_OK; i++) {
        const tw_matrix *plane = &image->planes[i];
        status = plane->type == TW_U8 ? write_bytes(ctx, plane, output)
                                      : write_line(ctx, plane, output, text);
    }
    twi_free(text);
    return status;
}

/* Records row by row. */
typedef struct record_rows {
    tw_matrix row; /* one, whose data comes each time */
    char *text;
} record_rows;

static void record_close(void *state)
{
    if (state != NULL) {
        twi_free(((record_rows *)state)->text);
        twi_free(state);
    }
}

static tw_status record_head(tw_context *ctx, record_rows *rows, twi_output *output,
                             const tw_shape *shape)
{
    const header head = {(int32_t)shape->cols, (int32_t)shape->rows};
    rows->row = (tw_matrix){NULL, 1, shape->cols, shape->cols, shape->type};
    return shape->type == TW_U8 ? twi_output_write(ctx, output, &head, sizeof head)
                                : write_sizes(ctx, head.cols, head.rows, output);
}

static tw_status record_begin(tw_context *ctx, void **state, twi_output *output,
                              const tw_image_file_options *opts, const tw_shape *shape)
{
    (void)opts;
    record_rows *rows = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &rows, 1, sizeof *rows, "a writer of records");
    if (status != TW_OK) {
        return status;
    }
    *state = rows;
    status = twi_alloc(ctx, &rows->text, PIECE, VALUE_MOST, "lines of text");
    return status == TW_OK ? record_head(ctx, rows, output, shape) : status;
}

static tw_status record_row(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    record_rows *rows = state;
    rows->row.data = (void *)row;
    return rows->row.type == TW_U8 ? twi_output_write(ctx, output, row, (uint64_t)rows->row.cols)
                                   : write_values(ctx, &rows->row, output, rows->text);
}

static tw_status record_end(tw_context *ctx, void *state, twi_output *output)
{
    const record_rows *rows = state;
    return rows->row.type == TW_U8 ? TW_OK : twi_output_write(ctx, output, "\n", 1);
}

static tw_status record_next(tw_context *ctx, void *state, twi_output *output,
                             const tw_shape *shape)
{
    tw_status status = record_end(ctx, state, output);
    return status == TW_OK ? record_head(ctx, state, output, shape) : status;
}

static const twi_row_writer record_writer = {record_begin, record_next,  record_row,
                                             record_end,   record_close, false};

const twi_image_format twi_image_records = {"records",      "records", recognised, read_records,
                                            lay_out,        NULL,      accepts,    write_records,
                                            &record_writer, NULL,      NULL};

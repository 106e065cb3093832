/*
 * Elements that a file holds as they are, uncompressed: at fixed steps from row to row and from
 * column to column, perhaps with the high byte first, perhaps from the bottom upwards. Where they
 * lie as in a matrix, and the file is in memory, they are used in place. Rows of a file that is not
 * are fetched as they are asked for, so that it may be larger than the memory.
 */
#include "io/image/format.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <string.h>

#define COPY_ROWS 64 /* between two looks at the cancel flag */

tw_status twi_no_plane(tw_context *ctx, const char *name, int64_t plane, int64_t planes)
{
    if (planes <= 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%.500s has no plane %lld; it has %s", name,
                       (long long)plane, planes == 1 ? "only plane 0" : "none");
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "%.500s has no plane %lld; valid planes are 0 to %lld",
                   name, (long long)plane, (long long)planes - 1);
}

bool twi_layout_in_place(const twi_layout *layout)
{
    const int64_t size = (int64_t)tw_type_size(layout->type);
    bool unchecked = layout->largest == 0 || (layout->type == TW_U8 && layout->largest == 255) ||
                     (layout->type == TW_U16 && layout->largest == 65535);
    return layout->stored == TWI_STORED_ALIKE && layout->col_step == size &&
           layout->row_step == layout->cols * size && unchecked && !layout->swapped &&
           layout->start % (uint64_t)size == 0;
}

/* Whether an element of a row of u8 or u16 is above the largest value; a plain loop, for speed. */
static bool any_above(const twi_layout *layout, const void *row)
{
    uint16_t most = 0;
    if (layout->type == TW_U8) {
        uint8_t top = 0;
        for (int64_t j = 0; j < layout->cols; j++) {
            uint8_t value = ((const uint8_t *)row)[j];
            top = value > top ? value : top;
        }
        most = top;
    } else {
        for (int64_t j = 0; j < layout->cols; j++) {
            uint16_t value = ((const uint16_t *)row)[j];
            most = value > most ? value : most;
        }
    }
    return most > layout->largest;
}

/* The first element of a row above the largest value; -1 if there is none. */
static int64_t first_above(const twi_layout *layout, const void *row)
{
    if (!any_above(layout, row)) {
        return -1;
    }
    for (int64_t j = 0; j < layout->cols; j++) {
        if (twi_element(row, layout->type, j) > layout->largest) {
            return j;
        }
    }
    return -1;
}

static void copy_bytes(const twi_layout *layout, const char *from, uint8_t *out)
{
    for (int64_t j = 0; j < layout->cols; j++) {
        out[j] = (uint8_t)from[j * layout->col_step];
    }
}

static void copy_pairs(const twi_layout *layout, const char *from, uint16_t *out)
{
    for (int64_t j = 0; j < layout->cols; j++) {
        memcpy(&out[j], from + j * layout->col_step, sizeof *out);
    }
    for (int64_t j = 0; layout->swapped && j < layout->cols; j++) {
        out[j] = __builtin_bswap16(out[j]);
    }
}

static void copy_quads(const twi_layout *layout, const char *from, uint32_t *out)
{
    for (int64_t j = 0; j < layout->cols; j++) {
        memcpy(&out[j], from + j * layout->col_step, sizeof *out);
    }
    for (int64_t j = 0; layout->swapped && j < layout->cols; j++) {
        out[j] = __builtin_bswap32(out[j]);
    }
}

#define EXACT_MOST ((double)((int64_t)1 << 53))

#define CONVERT(FROM, TO)                                            \
    for (int64_t j = 0; j < cols; j++) {                             \
        FROM value;                                                  \
        memcpy(&value, (const char *)from + j * step, sizeof value); \
        ((TO *)out)[j] = (TO)value;                                  \
    }                                                                \
    break

tw_status twi_stored_row(tw_context *ctx, const char *name, twi_stored stored, const void *from,
                         int64_t step, int64_t cols, int64_t row, void *out)
{
    switch (stored) {
    case TWI_STORED_I8:
        CONVERT(int8_t, int16_t);
    case TWI_STORED_U32:
        CONVERT(uint32_t, double);
    case TWI_STORED_I64:
        CONVERT(int64_t, double);
    default:
        CONVERT(uint64_t, double);
    }
    const double *elements = out;
    const bool wide = stored == TWI_STORED_I64 || stored == TWI_STORED_U64;
    for (int64_t j = 0; wide && j < cols; j++) {
        if (elements[j] > EXACT_MOST || elements[j] < -EXACT_MOST) {
            return tw_fail(ctx, TW_ERR_RANGE,
                           "%.500s: the value at row %lld, column %lld is about %.0f, and integers "
                           "beyond 2^53 are not supported",
                           name, (long long)row, (long long)j, elements[j]);
        }
    }
    return TW_OK;
}

/* A row from its first byte. */
static void copy_row(const twi_layout *layout, const char *from, void *out)
{
    const size_t size = tw_type_size(layout->type);
    if (layout->col_step == (int64_t)size && !layout->swapped) {
        memcpy(out, from, (size_t)layout->cols * size);
    } else if (size == 1) {
        copy_bytes(layout, from, out);
    } else if (size == 2) {
        copy_pairs(layout, from, out);
    } else { /* f32: no other type has its elements apart or swapped */
        copy_quads(layout, from, out);
    }
}

static tw_status check_row(tw_context *ctx, const char *name, const twi_layout *layout, int64_t row,
                           const void *elements)
{
    int64_t above = layout->largest > 0 ? first_above(layout, elements) : -1;
    if (above < 0) {
        return TW_OK;
    }
    return tw_fail(
        ctx, TW_ERR_FORMAT,
        "%.500s: the value at row %lld, column %lld is %lld, above %d, the maximum in the header",
        name, (long long)row, (long long)above,
        (long long)twi_element(elements, layout->type, above), layout->largest);
}

/* Rows one by one: `line` has room for one as the file has it, if the file is not in memory. */
static tw_status take_rows(tw_context *ctx, const twi_input *input, const twi_layout *layout,
                           int64_t first, int64_t count, void *out, int64_t stride, char *line)
{
    const uint64_t size = tw_type_size(layout->type);
    const uint64_t last = layout->stored == TWI_STORED_ALIKE ? size : (uint64_t)layout->col_step;
    const uint64_t bytes = (uint64_t)(layout->cols - 1) * (uint64_t)layout->col_step + last;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const uint64_t at = layout->start + (uint64_t)((first + i) * layout->row_step);
        const char *from = input->bytes + (line == NULL ? at : 0);
        char *row = (char *)out + (uint64_t)(i * stride) * size;
        if (line != NULL) {
            status = twi_input_fetch(ctx, input, at, line, bytes);
            from = line;
        }
        if (status == TW_OK && layout->stored != TWI_STORED_ALIKE) {
            status = twi_stored_row(ctx, input->name, layout->stored, from, layout->col_step,
                                    layout->cols, first + i, row);
        } else if (status == TW_OK) {
            copy_row(layout, from, row);
            status = check_row(ctx, input->name, layout, first + i, row);
        }
        if (status == TW_OK && i % COPY_ROWS == 0) {
            status = twi_check_cancel(ctx);
        }
    }
    return status;
}

tw_status twi_layout_rows(tw_context *ctx, const twi_input *input, const twi_layout *layout,
                          int64_t first, int64_t count, void *out, int64_t stride)
{
    char *line = NULL;
    if (count == 0 || layout->cols == 0) {
        return twi_check_cancel(ctx);
    }
    if (input->absent > 0 && twi_layout_in_place(layout) && stride == layout->cols) {
        return twi_input_fetch(ctx, input,
                               layout->start + (uint64_t)first * (uint64_t)layout->row_step, out,
                               (uint64_t)count * (uint64_t)layout->row_step);
    }
    tw_status status = input->absent > 0
                           ? twi_alloc(ctx, &line, (uint64_t)layout->cols,
                                       (uint64_t)layout->col_step, "a row of the file")
                           : TW_OK;
    if (status == TW_OK) {
        status = take_rows(ctx, input, layout, first, count, out, stride, line);
    }
    twi_free(line);
    return status;
}

tw_status twi_layout_add(tw_context *ctx, tw_image *image, twi_input *input,
                         const twi_layout *layout)
{
    if (twi_layout_in_place(layout)) {
        tw_status loaded = twi_input_load(ctx, input);
        return loaded == TW_OK ? twi_image_add_view(ctx, image, layout->rows, layout->cols,
                                                    layout->type, input->bytes + layout->start)
                               : loaded;
    }
    tw_status status = tw_image_add(ctx, image, layout->rows, layout->cols, layout->type);
    return status == TW_OK ? twi_layout_rows(ctx, input, layout, 0, layout->rows,
                                             twi_image_last(image)->data, layout->cols)
                           : status;
}

/*
 * Any bytes given to the matrix readers end in a matrix or in a sentence. What a csv file says
 * survives being written and read again; what an npy header says lies within the file.
 */
#include "io/matrix/format.h"

#include "apsp/shared/distance.h"
#include "base/matrix.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((uint64_t)32 << 20)

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

/* All lines of a matrix as text; the caller frees it. */
static char *write_lines(const tw_matrix *m, uint64_t *length)
{
    size_t width = (size_t)m->cols * twi_csv_width(m->type) + 1;
    char *text = malloc((size_t)m->rows * width + 1);
    *length = 0;
    insist(text != NULL);
    for (int64_t i = 0; i < m->rows; i++) {
        *length += twi_csv_format_row(text + *length, twi_matrix_row(m, i), m->cols, m->type);
    }
    return text;
}

/* Rows that are asked for from the last to the first are those of the matrix. */
static void read_backwards(tw_context *ctx, twi_csv *csv, const tw_matrix *m)
{
    const tw_shape shape = twi_csv_shape(csv);
    const size_t bytes = (size_t)m->cols * tw_type_size(m->type);
    char *row = malloc(bytes + 1);
    insist(row != NULL && shape.rows == m->rows && shape.cols == m->cols && shape.type == m->type);
    for (int64_t i = m->rows - 1; i >= 0; i--) {
        insist(twi_csv_rows(ctx, csv, i, 1, row, m->cols) == TW_OK);
        insist(memcmp(row, twi_matrix_row(m, i), bytes) == 0);
    }
    free(row);
}

static void read_csv(tw_context *ctx, const uint8_t *data, size_t size)
{
    tw_matrix first = {0};
    tw_matrix second = {0};
    uint64_t length;
    const twi_input input = {.name = "input", .bytes = (const char *)data, .size = size};
    twi_csv *csv = NULL;
    const tw_status opened = twi_csv_open(ctx, &csv, &input, "input", TW_AUTO);
    if (twi_csv_parse(ctx, &first, &input, "input", TW_AUTO) != TW_OK) {
        insist(first.data == NULL && tw_last_error(ctx)[0] != '\0' && opened != TW_OK);
        return;
    }
    insist(opened == TW_OK);
    read_backwards(ctx, csv, &first);
    twi_csv_close(csv);
    char *text = write_lines(&first, &length);
    const twi_input written = {.name = "again", .bytes = text, .size = length};
    tw_status status = twi_csv_parse(ctx, &second, &written, "again", TW_AUTO);
    insist(status == TW_OK || status == TW_ERR_MEMORY);
    if (status == TW_OK) {
        insist(second.rows == first.rows && second.cols == first.cols);
        for (int64_t i = 0; i < first.rows * first.cols; i++) {
            insist(twi_distance(first.data, first.type, i) ==
                   twi_distance(second.data, second.type, i));
        }
    }
    free(text);
    twi_free(second.data);
    twi_free(first.data);
}

static void read_npy(tw_context *ctx, const uint8_t *data, size_t size)
{
    twi_npy npy;
    const twi_input input = {.name = "input", .bytes = (const char *)data, .size = size};
    if (twi_npy_parse(ctx, &npy, &input) != TW_OK) {
        insist(tw_last_error(ctx)[0] != '\0');
        return;
    }
    insist(npy.rows >= 0 && npy.cols >= 0 && npy.width > 0 && npy.start <= size);
    insist((uint64_t)(npy.rows * npy.cols * npy.width) == size - npy.start);
    /* Its header alone says the same. */
    char *head = malloc(npy.start);
    insist(head != NULL && npy.start > 0);
    memcpy(head, data, npy.start);
    const twi_input cut = {
        .name = "head", .bytes = head, .size = size, .absent = size - npy.start, .fd = -1};
    twi_npy again;
    insist(twi_npy_parse(ctx, &again, &cut) == TW_OK);
    insist(again.rows == npy.rows && again.cols == npy.cols && again.start == npy.start &&
           again.width == npy.width && again.kind == npy.kind);
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw_context *ctx = NULL;
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    read_csv(ctx, data, size);
    read_npy(ctx, data, size);
    insist(tw_memory_used(ctx) == 0);
    tw_context_destroy(ctx);
    return 0;
}

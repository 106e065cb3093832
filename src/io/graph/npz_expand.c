/*
 * Sparse matrices of SciPy in the forms that graphs are not built from: see npz_expand.h. Blocks
 * and diagonals are gone through twice, to count the entries that are not 0 and to list them;
 * values keep their type until all entries are known.
 */
#include "io/graph/npz_expand.h"

#include "base/memory.h"
#include "graph/build.h"

#include <ctype.h>
#include <string.h>

bool twi_npz_is_index(const twi_npz_member *array)
{
    return array->memory != NULL && array->about.kind == 'i' &&
           (array->about.width == 4 || array->about.width == 8);
}

int64_t twi_npz_whole(const twi_npz_member *array, int64_t i)
{
    int64_t wide;
    int32_t narrow;
    if (array->about.width == sizeof wide) {
        memcpy(&wide, array->elements + i * (int64_t)sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, array->elements + i * (int64_t)sizeof narrow, sizeof narrow);
    return narrow;
}

/* ------------------------------------------------------------------------------- expansion */

/* The entries as they are found; without `values` they are counted. */
typedef struct entries {
    const twi_npz_member *data;
    int64_t *ends[2];
    char *values;
    int64_t count;
} entries;

static bool is_zero(const twi_npz_member *data, const char *element)
{
    double wide;
    float narrow;
    if (data->about.type == TW_F64) {
        memcpy(&wide, element, sizeof wide);
        return wide == 0;
    }
    if (data->about.type == TW_F32) {
        memcpy(&narrow, element, sizeof narrow);
        return narrow == 0;
    }
    bool zero = true;
    for (int b = 0; b < data->about.width; b++) {
        zero &= element[b] == 0;
    }
    return zero;
}

static void add(entries *out, int64_t row, int64_t col, int64_t element)
{
    const int64_t width = out->data->about.width;
    const char *value = out->data->elements + element * width;
    if (is_zero(out->data, value)) {
        return;
    }
    if (out->values != NULL) {
        out->ends[0][out->count] = row;
        out->ends[1][out->count] = col;
        memcpy(out->values + out->count * width, value, (size_t)width);
    }
    out->count++;
}

/* data[k][j] is entry (j - offsets[k], j). */
static void spread_diagonals(const twi_npz *a, entries *out)
{
    const int64_t length = a->data.about.cols < a->cols ? a->data.about.cols : a->cols;
    for (int64_t k = 0; k < a->data.about.rows; k++) {
        const int64_t offset = twi_npz_whole(&a->first, k);
        if (offset <= -a->rows || offset >= a->cols) {
            continue;
        }
        const int64_t end = length < a->rows + offset ? length : a->rows + offset;
        for (int64_t j = offset > 0 ? offset : 0; j < end; j++) {
            add(out, j - offset, j, k * a->data.about.cols + j);
        }
    }
}

/* data[b] is a block of column indices[b]; row r has those from indptr[r] on. */
static void spread_blocks(const twi_npz *a, entries *out)
{
    const int64_t height = a->data.about.rows, width = a->data.about.cols;
    for (int64_t r = 0; r + 1 < a->first.about.rows; r++) {
        const int64_t end = twi_npz_whole(&a->first, r + 1);
        for (int64_t b = twi_npz_whole(&a->first, r); b < end; b++) {
            const int64_t col = twi_npz_whole(&a->second, b) * width;
            for (int64_t e = 0; e < height * width; e++) {
                add(out, r * height + e / width, col + e % width, b * height * width + e);
            }
        }
    }
}

static tw_status check_blocks(tw_context *ctx, const twi_input *input, const twi_npz *a)
{
    const int64_t height = a->data.about.rows, width = a->data.about.cols;
    const int64_t blocks = a->data.about.planes;
    bool good = height > 0 && width > 0 && a->rows % height == 0 && a->cols % width == 0 &&
                a->first.about.rows == a->rows / height + 1 && a->second.about.rows == blocks &&
                twi_npz_whole(&a->first, 0) == 0;
    for (int64_t r = 0; good && r + 1 < a->first.about.rows; r++) {
        const int64_t end = twi_npz_whole(&a->first, r + 1);
        good = twi_npz_whole(&a->first, r) <= end && end <= blocks;
    }
    good = good && twi_npz_whole(&a->first, a->first.about.rows - 1) == blocks;
    for (int64_t b = 0; good && b < blocks; b++) {
        const int64_t col = twi_npz_whole(&a->second, b);
        good = col >= 0 && col < a->cols / width;
    }
    return good ? TW_OK
                : tw_fail(ctx, TW_ERR_FORMAT,
                          "%.500s: damaged npz: its blocks do not match its shape", input->name);
}

/* Before anything is taken for them: lists of the entries, twice, and the graph. */
static tw_status check_room(tw_context *ctx, const twi_input *input,
                            const tw_graph_read_options *opts, const twi_npz *a, int64_t count)
{
    const uint64_t width = (uint64_t)a->data.about.width;
    const twi_edge_source source = {.vertices = a->rows,
                                    .weight_type = width > 4 ? TW_F64 : TW_F32,
                                    .both = twi_read_both(opts, false)};
    const uint64_t lists =
        (uint64_t)count * (2 * sizeof(int64_t) + width + 2 * sizeof(int32_t) + sizeof(int64_t));
    const uint64_t building = lists + twi_graph_building(ctx, &source, count);
    const uint64_t needs = twi_graph_needs(ctx, &source, count);
    return building <= twi_memory_room(ctx)
               ? TW_OK
               : twi_graph_refuse(ctx, input->name, a->rows, count,
                                  building > needs ? building : needs, TWI_GUESS_NONE);
}

static void take_list(twi_npz_member *out, void *memory, int64_t count, char kind, int32_t width)
{
    twi_free(out->memory);
    *out = (twi_npz_member){.memory = memory, .elements = memory};
    out->about = (twi_npy){.kind = kind, .width = width, .planes = 1, .rows = count, .cols = 1};
}

tw_status twi_npz_expand(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts,
                         twi_npz *a)
{
    void (*spread)(const twi_npz *, entries *) =
        a->format[0] == 'd' ? spread_diagonals : spread_blocks;
    entries out = {.data = &a->data};
    tw_status status = TW_OK;
    if (a->format[0] == 'b') {
        status = check_blocks(ctx, input, a);
    } else if (a->data.about.planes != 1 || a->first.about.rows != a->data.about.rows) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s: damaged npz: its arrays have inconsistent lengths", input->name);
    }
    if (status == TW_OK) {
        spread(a, &out);
        status = check_room(ctx, input, opts, a, out.count);
    }
    const uint64_t count = (uint64_t)out.count;
    for (int e = 0; e < 2 && status == TW_OK; e++) {
        status = twi_alloc(ctx, &out.ends[e], count, sizeof *out.ends[e], "the entries");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out.values, count, (uint64_t)a->data.about.width, "the entries");
    }
    if (status != TW_OK) {
        twi_free(out.ends[1]);
        twi_free(out.ends[0]);
        return status;
    }
    out.count = 0;
    spread(a, &out);
    const twi_npy about = a->data.about;
    take_list(&a->first, out.ends[0], out.count, 'i', sizeof(int64_t));
    take_list(&a->second, out.ends[1], out.count, 'i', sizeof(int64_t));
    take_list(&a->data, out.values, out.count, about.kind, about.width);
    a->data.about.type = about.type;
    a->count = out.count;
    memcpy(a->format, "coo", sizeof a->format);
    return TW_OK;
}

/* ---------------------------------------------------------------------------------- values */

/* A whole number of 8 to 32 bits. */
static int64_t narrow_at(const twi_npz_member *data, int64_t i)
{
    const unsigned char *at =
        (const unsigned char *)data->elements + i * (int64_t)data->about.width;
    uint32_t bits = 0;
    for (int b = 0; b < data->about.width; b++) {
        bits |= (uint32_t)at[b] << (8 * b);
    }
    const uint32_t sign = (uint32_t)1 << (8 * data->about.width - 1);
    return data->about.kind == 'i' && (bits & sign) != 0 ? (int64_t)bits - 2 * (int64_t)sign
                                                         : (int64_t)bits;
}

/* Of unsigned numbers: whether their highest bits are clear, so that they are signed ones as well.
 */
static bool are_small(const twi_npz_member *data)
{
    const int64_t width = data->about.width;
    unsigned char bits = 0;
    for (int64_t i = 0; i < data->about.rows; i++) {
        bits |= (unsigned char)data->elements[(i + 1) * width - 1];
    }
    return (bits & 0x80) == 0;
}

/* Into i32 (8 and 16 bits) or i64 (32 without a sign). */
static tw_status widen(tw_context *ctx, twi_npz_member *data, tw_type *type)
{
    const int64_t count = data->about.rows;
    const bool wide = data->about.width == 4;
    void *memory = NULL;
    tw_status status = twi_alloc(ctx, (char **)&memory, (uint64_t)count,
                                 wide ? sizeof(int64_t) : sizeof(int32_t), "the values");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = narrow_at(data, i);
        if (wide) {
            ((int64_t *)memory)[i] = value;
        } else {
            ((int32_t *)memory)[i] = (int32_t)value;
        }
    }
    *type = wide ? TW_I64 : TW_I32;
    take_list(data, memory, count, 'i', wide ? sizeof(int64_t) : sizeof(int32_t));
    return TW_OK;
}

tw_status twi_npz_settle_values(tw_context *ctx, const twi_input *input, twi_npz_member *data,
                                tw_type *type)
{
    const char kind = data->about.kind;
    const int32_t width = data->about.width;
    const bool whole = kind == 'i' || (kind == 'u' && (width < 4 || are_small(data)));
    *type = TW_AUTO;
    if (kind == 'b') {
        return TW_OK;
    }
    if (kind == 'f' && (width == 4 || width == 8)) {
        *type = width == 4 ? TW_F32 : TW_F64;
        return TW_OK;
    }
    if (whole && (width == 4 || width == 8)) {
        *type = width == 4 ? TW_I32 : TW_I64;
        return TW_OK;
    }
    if ((kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4)) {
        return widen(ctx, data, type);
    }
    if (kind == 'u' && width == 8) {
        return tw_fail(ctx, TW_ERR_RANGE, "%.500s: a value of 2^63 or more; weights go up to 2^53",
                       input->name);
    }
    return tw_fail(ctx, TW_ERR_FORMAT,
                   "%.500s: values of type '%c%d'; whole numbers of 8 to 64 bits, f4, f8 and bool "
                   "can be read (convert with .astype)",
                   input->name, isprint((unsigned char)kind) ? kind : '?', (int)width);
}

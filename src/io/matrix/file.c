/*
 * Matrix files opened for reading: as a whole (tw_matrix_file_create), or as a source whose rows
 * are fetched when they are asked for (tw_matrix_source), so that a file may be larger than the
 * memory and a few rows of it cost no more than themselves. A csv file is parsed as a whole if its
 * numbers take no more than a part of the memory, else row by row, each of them twice.
 */
#include "io/matrix/format.h"

#include "base/memory.h"
#include "base/source.h"
#include "base/type.h"
#include "io/extension.h"
#include "io/foreign.h"
#include "io/gathered.h"
#include "io/packed/packed.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define CSV_SHARE 4 /* of the memory that is left, the part that a csv file's numbers may take */

/* As extensions. The first ones are also the names of the formats. */
static const char *const format_words[] = {"raw", "npy", "csv", "bin", "out"};

struct tw_matrix_file {
    char *path;
    twi_input input;
    tw_shape shape;
    uint64_t start; /* byte of the first element */
    char wide;      /* 'i' or 'u': elements are integers of 8 bytes, which become f64; else 0 */
    void *parsed;   /* the elements of a csv file; NULL: they lie in the input, */
    twi_csv *csv;   /* or are parsed when they are asked for */
    twi_csv_names names;
    tw_matrix view; /* of tw_matrix_file_create */
};

/* True if a word names a format; raw has more than one, for files written under such names. */
static bool find_word(twi_matrix_format *out, const char *word, const char *const *names,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, names[i]) == 0) {
            *out = i < TWI_MATRIX_FORMATS ? (twi_matrix_format)i : TWI_MATRIX_RAW;
            return true;
        }
    }
    return false;
}

tw_status twi_matrix_format_find(tw_context *ctx, twi_matrix_format *out, const char *name,
                                 const char *path)
{
    *out = TWI_MATRIX_RAW;
    const char *word = name != NULL ? name : twi_extension(path);
    if (name == NULL && (strcasecmp(word, "tsv") == 0 || strcasecmp(word, "tab") == 0)) {
        *out = TWI_MATRIX_CSV; /* read: twi_matrix_writer_find asks for no path of these */
        return TW_OK;
    }
    if (!find_word(out, word, format_words, TWI_MATRIX_FORMATS) && name != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown matrix format '%.40s'; use raw, npy or csv",
                       name);
    }
    return TW_OK;
}

tw_status twi_matrix_writer_find(tw_context *ctx, twi_matrix_format *out, const char *name,
                                 const char *path)
{
    const char *extension = twi_extension(path);
    if (name != NULL || extension[0] == '\0') {
        return twi_matrix_format_find(ctx, out, name, path);
    }
    if (find_word(out, extension, format_words, sizeof format_words / sizeof *format_words)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "cannot write '%.400s': .%.40s is not a known matrix format; use .npy, .csv, or "
                   ".raw, .bin, .out or no extension for raw elements",
                   path, extension);
}

/* What people have and this does not read, instead of what its bytes would be as numbers: of a file
 * whose name does not say that it is raw. */
static tw_status refuse_foreign(tw_context *ctx, const tw_matrix_file *file, const char *path)
{
    static const char *const images[] = {"pgm", "ppm",  "pnm", "pfm",  "png",
                                         "tif", "tiff", "jpg", "jpeg", "records"};
    static const char *const graphs[] = {"gr", "mtx", "graph", "metis", "el", "edges", "triples"};
    twi_matrix_format format;
    const char *extension = twi_extension(path);
    if (find_word(&format, extension, graphs, sizeof graphs / sizeof *graphs)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "'%.600s' has the extension of a graph; 'tilewright apsp' computes its "
                       "distances (a file of raw elements needs another extension)",
                       file->path);
    }
    if (find_word(&format, extension, images, sizeof images / sizeof *images)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "'%.600s' is an image, not a matrix; 'tilewright map x IN OUT' converts "
                       "images, to .npy, too",
                       file->path);
    }
    const uint64_t held = twi_input_held(&file->input);
    const char *name = twi_foreign_name(file->input.bytes, held);
    if (name == NULL && held >= 4 && memcmp(file->input.bytes, "PK\3\4", 4) == 0) {
        name = strcasecmp(extension, "npz") == 0 ? "npz" : "zip";
    }
    if (name == NULL || extension[0] == '\0' ||
        find_word(&format, extension, format_words, sizeof format_words / sizeof *format_words)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "'%.600s': %s files are not read as matrices; save the matrix as .npy or .csv",
                   file->path, name);
}

/* A raw file says nothing: it is square. */
static tw_status lay_out_raw(tw_context *ctx, tw_matrix_file *file, tw_type type)
{
    type = type == TW_AUTO ? TW_I32 : type;
    const uint64_t bytes = file->input.size;
    const uint64_t size = tw_type_size(type);
    const uint64_t count = bytes / size;
    uint64_t side = (uint64_t)sqrt((double)count);
    while (side * side > count) {
        side--;
    }
    while ((side + 1) * (side + 1) <= count) {
        side++;
    }
    if (side * side * size != bytes) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "'%.600s' holds %llu byte%s, which is not a square matrix of %s: %llu x %llu "
            "would be %llu, the next larger %llu",
            file->path, (unsigned long long)bytes, bytes == 1 ? "" : "s", tw_type_name(type),
            (unsigned long long)side, (unsigned long long)side,
            (unsigned long long)(side * side * size),
            (unsigned long long)((side + 1) * (side + 1) * size));
    }
    file->shape = (tw_shape){(int64_t)side, (int64_t)side, type};
    return TW_OK;
}

/* Integers of 8 bytes are what NumPy makes of Python's; as f64 they keep their place. */
static tw_status lay_out_npy(tw_context *ctx, tw_matrix_file *file)
{
    twi_npy npy;
    tw_status status = twi_npy_parse(ctx, &npy, &file->input);
    if (status == TW_OK && npy.width == 8 && (npy.kind == 'i' || npy.kind == 'u')) {
        file->wide = npy.kind;
        npy.type = TW_F64;
    }
    if (status == TW_OK && npy.type == TW_AUTO) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "'%.600s' has elements of type '%c%d'; u1, u2, u8, i2, i4, i8, f4 and f8 "
                         "can be read (convert with .astype)",
                         file->path, npy.kind, (int)npy.width);
    }
    if (status == TW_OK) {
        file->shape = (tw_shape){npy.rows, npy.cols, npy.type};
        file->start = npy.start;
    }
    return status;
}

/* Integers of 8 bytes as f64, in place: no path is 2^30 - 1, as in i32, or the greatest number.
 * What f64 does not hold is refused; `first` is the place of the first in the matrix. */
static tw_status narrow(tw_context *ctx, const tw_matrix_file *file, void *data, int64_t count,
                        int64_t first)
{
    char *at = data;
    for (int64_t i = 0; i < count; i++, at += sizeof(double)) {
        int64_t value;
        memcpy(&value, at, sizeof value);
        const bool negative = file->wide == 'i' && value < 0;
        const uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
        const uint64_t most = file->wide == 'i' ? (uint64_t)INT64_MAX : UINT64_MAX;
        const bool none = !negative && (size == TW_APSP_INF_I32 || size == most);
        const double real = none ? INFINITY : negative ? -(double)size : (double)size;
        if (!none && size > (uint64_t)1 << 53) {
            const int64_t place = first + i;
            return tw_fail(ctx, TW_ERR_RANGE,
                           "'%.600s': row %lld, column %lld is %s%llu, which f64 cannot hold "
                           "exactly; save the matrix with .astype('f8')",
                           file->path, (long long)(place / file->shape.cols),
                           (long long)(place % file->shape.cols), negative ? "-" : "",
                           (unsigned long long)size);
        }
        memcpy(at, &real, sizeof real);
    }
    return TW_OK;
}

/* The maximum that the numbers of a csv file can take: each has two characters at least, and eight
 * bytes. */
static bool has_room(const tw_context *ctx, const twi_input *input)
{
    return input->size <= twi_memory_left(ctx) / CSV_SHARE / 4;
}

static tw_status parse_csv(tw_context *ctx, tw_matrix_file *file, tw_type type, bool whole)
{
    tw_matrix parsed = {0};
    if (!whole) {
        tw_status status = twi_csv_read_names(ctx, &file->names, &file->input, file->path);
        if (status != TW_OK) {
            return status;
        }
    }
    if (!whole && !has_room(ctx, &file->input)) {
        tw_status status = twi_csv_open(ctx, &file->csv, &file->input, file->path, type);
        if (status == TW_OK) {
            file->shape = twi_csv_shape(file->csv);
        }
        return status;
    }
    tw_status status = twi_csv_parse(ctx, &parsed, &file->input, file->path, type);
    if (status == TW_OK) {
        twi_input_close(&file->input);
        file->parsed = parsed.data;
        file->shape = (tw_shape){parsed.rows, parsed.cols, parsed.type};
    }
    return status;
}

/* What comes without a name is lines of numbers if its head is text: raw elements have bytes that
 * no text has. */
static bool is_text(const twi_input *input)
{
    const uint64_t held = twi_input_held(input);
    bool lines = false;
    for (uint64_t i = 0; i < held; i++) {
        const unsigned char c = (unsigned char)input->bytes[i];
        if ((c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 127) {
            return false;
        }
        lines |= c == '\n';
    }
    return lines;
}

/* The file by its head, and what it says of its elements. `whole`: all of them will be in memory.
 */
static tw_status open_file(tw_context *ctx, tw_matrix_file **out, const char *path,
                           const char *format, tw_type type, bool whole)
{
    tw_matrix_file *file = NULL;
    twi_matrix_format found = TWI_MATRIX_RAW;
    *out = NULL;
    if (path == NULL || path[0] == '\0' || (type != TW_AUTO && !twi_type_is_element(type))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a matrix file needs a name and a known type");
    }
    char inner[TWI_PACKED_NAME];
    const bool packed = twi_packed_named(path);
    tw_status status = twi_matrix_format_find(ctx, &found, format, twi_packed_inner(path, inner));
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &file, 1, sizeof *file, "a matrix file");
    }
    if (status != TW_OK) {
        return status;
    }
    status = twi_alloc(ctx, &file->path, strlen(path) + 1, 1, "the name of a file");
    if (status == TW_OK) {
        memcpy(file->path, path, strlen(path) + 1);
        status = twi_input_open_flow(ctx, &file->input, file->path);
    }
    const bool nameless = format == NULL && strcmp(path, "-") == 0;
    if (status == TW_OK && (packed || (nameless && twi_packed_recognised(&file->input)))) {
        status = twi_unpack(ctx, &file->input);
    }
    if (status == TW_OK) {
        status = twi_input_gather(ctx, &file->input, false);
    }
    if (status == TW_OK) {
        if (format == NULL && found == TWI_MATRIX_RAW &&
            twi_npy_recognised(file->input.bytes, twi_input_held(&file->input))) {
            found = TWI_MATRIX_NPY;
        } else if (nameless && is_text(&file->input)) {
            found = TWI_MATRIX_CSV;
        }
        if (format == NULL && found == TWI_MATRIX_RAW) {
            status = refuse_foreign(ctx, file, twi_packed_inner(path, inner));
        }
    }
    if (status == TW_OK) {
        status = found == TWI_MATRIX_NPY   ? lay_out_npy(ctx, file)
                 : found == TWI_MATRIX_CSV ? parse_csv(ctx, file, type, whole)
                                           : lay_out_raw(ctx, file, type);
    }
    if (status != TW_OK) {
        tw_matrix_file_destroy(file);
        return status;
    }
    *out = file;
    return TW_OK;
}

tw_status tw_matrix_file_create(tw_context *ctx, tw_matrix_file **out, const char *path,
                                const char *format, tw_type type)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing != TW_OK) {
        return missing;
    }
    tw_status status = open_file(ctx, out, path, format, type, true);
    tw_matrix_file *file = *out;
    if (status == TW_OK && file->parsed == NULL) {
        status = twi_input_load(ctx, &file->input);
    }
    if (status != TW_OK) {
        tw_matrix_file_destroy(file);
        *out = NULL;
        return status;
    }
    const tw_shape *shape = &file->shape;
    char *elements = file->parsed != NULL ? file->parsed : (char *)file->input.memory;
    if (file->start % tw_type_size(shape->type) != 0) { /* a header of an odd length */
        memmove(elements, elements + file->start, (size_t)(file->input.size - file->start));
        file->start = 0;
    }
    if (file->wide != 0) {
        status = narrow(ctx, file, elements + file->start, shape->rows * shape->cols, 0);
    }
    if (status != TW_OK) {
        tw_matrix_file_destroy(file);
        *out = NULL;
        return status;
    }
    file->view =
        (tw_matrix){elements + file->start, shape->rows, shape->cols, shape->cols, shape->type};
    return TW_OK;
}

const tw_matrix *tw_matrix_file_view(const tw_matrix_file *file)
{
    return file != NULL ? &file->view : NULL;
}

void tw_matrix_file_destroy(tw_matrix_file *file)
{
    if (file == NULL) {
        return;
    }
    twi_csv_close(file->csv);
    twi_input_close(&file->input);
    twi_free(file->parsed);
    twi_free(file->names.rows);
    twi_free(file->names.cols);
    twi_free(file->path);
    twi_free(file);
}

/* ------------------------------------------------------------------------------- rows of a file */

static tw_status fetch_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                            int64_t stride)
{
    const tw_matrix_file *file = self;
    if (file->csv != NULL) {
        return twi_csv_rows(ctx, file->csv, first, count, data, stride);
    }
    const uint64_t size = tw_type_size(file->shape.type);
    const uint64_t row = (uint64_t)file->shape.cols * size;
    const bool together = stride == file->shape.cols;
    const int64_t calls = together ? (count > 0) : count;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < calls && status == TW_OK; i++) {
        const uint64_t at = (uint64_t)(first + i) * row;
        const uint64_t bytes = together ? (uint64_t)count * row : row;
        void *out = (char *)data + (uint64_t)(i * stride) * size;
        if (file->parsed != NULL) {
            memcpy(out, (const char *)file->parsed + at, (size_t)bytes);
        } else {
            status = twi_input_fetch(ctx, &file->input, file->start + at, out, bytes);
        }
        if (status == TW_OK && file->wide != 0) {
            status = narrow(ctx, file, out, (int64_t)(bytes / size), (int64_t)(at / size));
        }
    }
    return status;
}

static void destroy_rows(void *self)
{
    tw_matrix_file_destroy(self);
}

tw_status tw_matrix_source(tw_context *ctx, tw_source *out, const char *path, const char *format,
                           tw_type type)
{
    tw_status status = twi_source_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out});
    }
    if (status != TW_OK) {
        return status;
    }
    tw_matrix_file *file = NULL;
    status = open_file(ctx, &file, path, format, type, false);
    if (status == TW_OK) {
        twi_source_give(
            out, (tw_source){sizeof(tw_source), file, file->shape, 0, fetch_rows, destroy_rows});
    }
    return status;
}

const char *tw_matrix_source_names(const tw_source *source, int32_t columns)
{
    if (source == NULL || source->self == NULL || source->rows != fetch_rows) {
        return NULL;
    }
    const tw_matrix_file *file = source->self;
    return columns != 0 ? file->names.cols : file->names.rows;
}

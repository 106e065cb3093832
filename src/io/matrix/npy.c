/*
 * The npy header: six magic bytes, a version, a length, and a Python dictionary as text, padded so
 * that the elements begin on a multiple of 64 bytes:
 *
 *     {'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * There is no place in it for the name of who wrote the file: ours are known by 64 blanks more than
 * they need, which every reader passes over.
 *
 * Written as version 1.0. Read in versions 1 to 3, keys in any order; every length is checked
 * against the file before it is used. Only what a row-major matrix can be is accepted.
 */
#include "io/matrix/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define MAKER_BLANKS 64

static const struct {
    tw_type type;
    char kind;
    int32_t width;
} descriptions[] = {{TW_U8, 'u', 1},  {TW_U16, 'u', 2}, {TW_I16, 'i', 2}, {TW_I32, 'i', 4},
                    {TW_F32, 'f', 4}, {TW_F64, 'f', 8}, {TW_F16, 'f', 2}};
#define DESCRIPTIONS (sizeof descriptions / sizeof *descriptions)

/* `sizes` is the text between the parentheses. */
static size_t write_header(char out[TWI_NPY_HEADER_MOST], tw_type type, const char *sizes)
{
    const size_t before = MAGIC_BYTES + 4; /* magic, version, length */
    char kind = 'f';
    int width = 8;
    for (size_t i = 0; i < DESCRIPTIONS; i++) {
        if (descriptions[i].type == type) {
            kind = descriptions[i].kind;
            width = descriptions[i].width;
        }
    }
    memcpy(out, MAGIC "\x01\x00", MAGIC_BYTES + 2);
    int text = snprintf(out + before, TWI_NPY_HEADER_MOST - before,
                        "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s), }",
                        width == 1 ? '|' : '<', kind, width, sizes);
    size_t total = (before + (size_t)text + 1 + 63) / 64 * 64 + MAKER_BLANKS;
    memset(out + before + text, ' ', total - before - (size_t)text);
    out[total - 1] = '\n';
    out[MAGIC_BYTES + 2] = (char)((total - before) & 0xFF);
    out[MAGIC_BYTES + 3] = (char)((total - before) >> 8);
    return total;
}

size_t twi_npy_header(char out[TWI_NPY_HEADER_MOST], const tw_shape *shape)
{
    char sizes[64];
    snprintf(sizes, sizeof sizes, "%lld, %lld", (long long)shape->rows, (long long)shape->cols);
    return write_header(out, shape->type, sizes);
}

size_t twi_npy_header_stack(char out[TWI_NPY_HEADER_MOST], const tw_shape *shape, int64_t planes)
{
    char sizes[96];
    snprintf(sizes, sizeof sizes, "%lld, %lld, %lld", (long long)planes, (long long)shape->rows,
             (long long)shape->cols);
    return write_header(out, shape->type, sizes);
}

bool twi_npy_made_here(const void *bytes, uint64_t count, const twi_npy *npy)
{
    const tw_shape shape = {npy->rows, npy->cols, npy->type};
    char header[TWI_NPY_HEADER_MOST];
    for (int stack = 0; stack < 2; stack++) {
        const size_t length = stack != 0 ? twi_npy_header_stack(header, &shape, npy->planes)
                                         : twi_npy_header(header, &shape);
        if (length <= count && memcmp(bytes, header, length) == 0) {
            return true;
        }
    }
    return false;
}

bool twi_npy_recognised(const void *bytes, uint64_t count)
{
    return count >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

/* A cursor over the dictionary. */
typedef struct cursor {
    const char *start;
    const char *at;
    const char *end;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) {
        c->at++;
    }
}

static bool accept(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

/* A quoted text of fewer than `room` bytes. */
static bool read_text(cursor *c, char *out, size_t room)
{
    size_t used = 0;
    char quote = accept(c, '\'') ? '\'' : '"';
    if (quote == '"' && !accept(c, '"')) {
        return false;
    }
    while (c->at < c->end && *c->at != quote && used + 1 < room) {
        out[used++] = *c->at++;
    }
    out[used] = '\0';
    return accept(c, quote);
}

static bool read_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) {
        return false;
    }
    c->at += length;
    return true;
}

/* (3, 4): the first three sizes and how many there are; -1 if it is no such thing. */
static int read_shape(cursor *c, int64_t sizes[3])
{
    int count = 0;
    if (!accept(c, '(')) {
        return -1;
    }
    while (!accept(c, ')')) {
        int64_t value = 0;
        skip_blanks(c);
        const char *digits = c->at;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, *c->at - '0', &value)) {
                return -1;
            }
        }
        bool comma = c->at > digits && accept(c, ',');
        skip_blanks(c);
        if (c->at == digits || (!comma && !(c->at < c->end && *c->at == ')')) || count > 64) {
            return -1;
        }
        if (count < 3) {
            sizes[count] = value;
        }
        count++;
    }
    return count;
}

typedef struct dictionary {
    char descr[16];
    bool has_descr;
    bool has_order;
    bool fortran;
    int dimensions; /* -1: no shape yet */
    int64_t sizes[3];
} dictionary;

static bool read_dictionary(cursor *c, dictionary *out)
{
    *out = (dictionary){.dimensions = -1};
    if (!accept(c, '{')) {
        return false;
    }
    while (!accept(c, '}')) {
        char key[16];
        if (!read_text(c, key, sizeof key) || !accept(c, ':')) {
            return false;
        }
        if (strcmp(key, "descr") == 0) {
            out->has_descr = read_text(c, out->descr, sizeof out->descr);
        } else if (strcmp(key, "fortran_order") == 0) {
            out->fortran = read_word(c, "True");
            out->has_order = out->fortran || read_word(c, "False");
        } else if (strcmp(key, "shape") == 0) {
            out->dimensions = read_shape(c, out->sizes);
        } else {
            return false;
        }
        if (!accept(c, ',')) {
            skip_blanks(c);
            if (c->at >= c->end || *c->at != '}') {
                return false;
            }
        }
    }
    return out->has_descr && out->has_order && out->dimensions >= 0;
}

/* What a message may quote of a header that anybody may have written. */
static void keep_printable(char *text)
{
    for (; *text != '\0'; text++) {
        *text = *text >= ' ' && *text <= '~' ? *text : '?';
    }
}

static tw_status read_descr(tw_context *ctx, twi_npy *out, const char *path, char *descr)
{
    keep_printable(descr);
    const char *order = strchr("<>=|", descr[0]);
    long width = 0;
    if (descr[0] != '\0' && order != NULL && descr[1] != '\0') {
        width = strtol(descr + 2, NULL, 10);
    }
    if (width < 1 || width > 999) {
        return tw_fail(ctx, TW_ERR_FORMAT, "'%.600s' holds elements '%s', which are not numbers",
                       path, descr);
    }
    const uint16_t one = 1;
    bool native_big = *(const unsigned char *)&one == 0;
    if (width > 1 && (*order == '>' || (*order == '=' && native_big))) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "'%.600s' is big-endian ('%s'); save it with .astype('<%s')", path, descr,
                       descr + 1);
    }
    out->kind = descr[1];
    out->width = (int)width;
    out->type = TW_AUTO;
    for (size_t i = 0; i < DESCRIPTIONS; i++) {
        if (descriptions[i].kind == out->kind && descriptions[i].width == width &&
            descriptions[i].type != TW_F16) { /* written, not read */
            out->type = descriptions[i].type;
        }
    }
    return TW_OK;
}

/* The dictionary's place in the file; false if the file, or its head, is shorter than it says. */
static bool find_dictionary(cursor *c, const unsigned char *bytes, uint64_t count)
{
    if (!twi_npy_recognised(bytes, count) || count < MAGIC_BYTES + 2) {
        return false;
    }
    unsigned major = bytes[MAGIC_BYTES];
    uint64_t before = MAGIC_BYTES + 2 + (major == 1 ? 2 : 4);
    if (major < 1 || major > 3 || count < before) {
        return false;
    }
    uint64_t length = bytes[MAGIC_BYTES + 2] | (uint64_t)bytes[MAGIC_BYTES + 3] << 8;
    if (major > 1) {
        length |= (uint64_t)bytes[MAGIC_BYTES + 4] << 16 | (uint64_t)bytes[MAGIC_BYTES + 5] << 24;
    }
    if (length > count - before) {
        return false;
    }
    c->start = (const char *)bytes;
    c->at = c->start + before;
    c->end = c->at + length;
    return true;
}

/* The elements must be there, and nothing else. */
static tw_status check_size(tw_context *ctx, const twi_npy *npy, const twi_input *input,
                            const char *descr)
{
    uint64_t need;
    const uint64_t have = input->size - npy->start;
    if (!twi_mul((uint64_t)npy->rows, (uint64_t)npy->cols, &need) ||
        (uint64_t)npy->planes > input->size || !twi_mul(need, (uint64_t)npy->planes, &need) ||
        !twi_mul(need, (uint64_t)npy->width, &need) || need != have) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "the header of '%.600s' says %lld x %lld of '%s', but %llu byte%s follow%s it",
            input->name, (long long)npy->rows, (long long)npy->cols, descr,
            (unsigned long long)have, have == 1 ? "" : "s", have == 1 ? "s" : "");
    }
    if (need == 0 && (npy->rows > TWI_EMPTY_SIDE_MOST || npy->cols > TWI_EMPTY_SIDE_MOST ||
                      npy->planes > TWI_EMPTY_SIDE_MOST)) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "the header of '%.600s' says %lld x %lld; the sides of an array without "
                       "elements must be at most %d",
                       input->name, (long long)npy->rows, (long long)npy->cols,
                       TWI_EMPTY_SIDE_MOST);
    }
    return TW_OK;
}

typedef enum rank { FLAT, MATRIX, STACK } rank;

static tw_status check_dimensions(tw_context *ctx, const char *path, int dimensions, rank wanted)
{
    switch (wanted) {
    case FLAT:
        return dimensions <= 1 ? TW_OK
                               : tw_fail(ctx, TW_ERR_FORMAT, "'%.600s' has %d dimensions, not 1",
                                         path, dimensions);
    case MATRIX:
        return dimensions == 2
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_FORMAT, "'%.600s' has %d dimension%s; a matrix has 2",
                             path, dimensions, dimensions == 1 ? "" : "s");
    default:
        return dimensions == 2 || dimensions == 3
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_FORMAT,
                             "'%.600s' has %d dimension%s; a matrix has 2, a stack 3", path,
                             dimensions, dimensions == 1 ? "" : "s");
    }
}

static tw_status parse(tw_context *ctx, twi_npy *out, const twi_input *input, rank wanted)
{
    const char *path = input->name;
    cursor c;
    dictionary read;
    if (!find_dictionary(&c, (const unsigned char *)input->bytes, twi_input_held(input))) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "'%.600s' is not an npy file: it does not begin with an npy header", path);
    }
    if (!read_dictionary(&c, &read)) {
        return tw_fail(ctx, TW_ERR_FORMAT, "'%.600s': malformed npy header at byte %lld", path,
                       (long long)(c.at - c.start));
    }
    tw_status status = check_dimensions(ctx, path, read.dimensions, wanted);
    if (status != TW_OK) {
        return status;
    }
    for (int d = read.dimensions; d < 2; d++) {
        read.sizes[d] = 1;
    }
    const int64_t *sizes = read.sizes + (read.dimensions == 3 ? 1 : 0);
    if (read.fortran && (read.dimensions == 3 || (sizes[0] > 1 && sizes[1] > 1))) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "'%.600s' is in column order; save it with numpy.ascontiguousarray", path);
    }
    status = read_descr(ctx, out, path, read.descr);
    if (status != TW_OK) {
        return status;
    }
    out->planes = read.dimensions == 3 ? read.sizes[0] : 1;
    out->rows = sizes[0];
    out->cols = sizes[1];
    out->start = (uint64_t)(c.end - c.start);
    return check_size(ctx, out, input, read.descr);
}

tw_status twi_npy_parse(tw_context *ctx, twi_npy *out, const twi_input *input)
{
    return parse(ctx, out, input, MATRIX);
}

tw_status twi_npy_parse_stack(tw_context *ctx, twi_npy *out, const twi_input *input)
{
    return parse(ctx, out, input, STACK);
}

tw_status twi_npy_parse_flat(tw_context *ctx, twi_npy *out, const twi_input *input)
{
    return parse(ctx, out, input, FLAT);
}

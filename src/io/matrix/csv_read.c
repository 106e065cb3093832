/*
 * Matrices of comma-separated lines, read: through a buffer, never as a whole, so that the text
 * takes no memory beside its numbers. Where the first line has a semicolon before any comma, or
 * tabs and neither, that separates, as spreadsheets save tables.
 *
 * A first pass counts lines and columns. A file whose numbers have room is then read into memory;
 * of a larger one a second pass checks every number, finds the type that holds them all and notes
 * where every so many rows begin. Rows are parsed again when they are asked for, in order as fast
 * as they come, elsewhere from the place noted before them.
 *
 * A file whose first field is empty is a table with names above its columns and before its rows, as
 * tw_sink_to_table writes it, and spreadsheets and pandas do: the names are passed over, or read by
 * themselves.
 *
 * Digits are read by the fact that csv.c writes them by: m / 10^k is the double of the text where
 * m < 2^53 and k <= 22. The rest goes to strtod in the "C" locale, whatever that of the program.
 */
#include "base/memory.h"
#include "io/matrix/format.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MOST 4095            /* characters of a number; a longer one is refused */
#define BUFFER ((uint64_t)1 << 16) /* bytes of text in memory: many times TOKEN_MOST */
#define MARKS 4096                 /* places noted, at most */
#define NAMES_ROOM 256             /* bytes that the first names get */

typedef struct reader {
    tw_context *ctx;
    const char *path;
    const twi_input *input;
    char *buffer;
    const char *at;
    const char *end;     /* of what is in the buffer */
    uint64_t base;       /* the byte of the file that buffer[0] is */
    int64_t line;        /* from 1 */
    uint64_t line_start; /* its byte of the file */
    char separator;      /* ',', ';' or '\t' */
    bool named;          /* the first line and the first field of the others are names */
    tw_status status;    /* of reading the file; after a failure it seems to end there */
    locale_t c_locale;
} reader;

typedef struct mark {
    uint64_t at;
    int64_t line; /* before that byte */
} mark;

struct twi_csv {
    tw_shape shape;
    reader reader;
    int64_t next;      /* the row at the reader's place */
    int64_t mark_rows; /* from mark to mark */
    mark marks[MARKS];
};

/* ------------------------------------------------------------------------------------ the text */

static uint64_t offset(const reader *r)
{
    return r->base + (uint64_t)(r->at - r->buffer);
}

/* Have a whole number in the buffer, or all that is left. */
static void fill(reader *r)
{
    const uint64_t kept = (uint64_t)(r->end - r->at);
    const uint64_t from = r->base + (uint64_t)(r->end - r->buffer);
    if (kept > TOKEN_MOST || from == r->input->size || r->status != TW_OK) {
        return;
    }
    memmove(r->buffer, r->at, (size_t)kept);
    r->base = from - kept;
    r->at = r->buffer;
    r->end = r->buffer + kept;
    const uint64_t left = r->input->size - from;
    const uint64_t count = left < BUFFER - kept ? left : BUFFER - kept;
    r->status = twi_check_cancel(r->ctx);
    if (r->status == TW_OK) {
        r->status = twi_input_fetch(r->ctx, r->input, from, r->buffer + kept, count);
    }
    if (r->status == TW_OK) {
        r->end += count;
    }
}

static void go_to(reader *r, uint64_t at, int64_t line)
{
    r->base = at;
    r->at = r->buffer;
    r->end = r->buffer;
    r->line = line;
    fill(r);
}

/* Behind the byte order mark. */
static void rewind_reader(reader *r)
{
    go_to(r, 0, 0);
    r->at += twi_input_mark(r->at, (uint64_t)(r->end - r->at));
}

/* What separates the first line that holds anything, as far as it is in the buffer. */
static char find_separator(const reader *r)
{
    char found = ',';
    bool quoted = false, tab = false;
    for (const char *at = r->at; at < r->end; at++) {
        quoted ^= *at == '"';
        if (!quoted && (*at == ',' || *at == ';')) {
            return *at;
        }
        if (*at == '\n' && found != ',') {
            break;
        }
        tab = *at == '\n' ? false : tab || (!quoted && *at == '\t');
        found = tab && *at != '\t' && *at != ' ' && *at != '\r' ? '\t' : found;
    }
    return found;
}

static tw_status open_reader(tw_context *ctx, reader *r, const twi_input *input, const char *path)
{
    *r = (reader){.ctx = ctx, .path = path, .input = input, .separator = ','};
    r->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (r->c_locale == (locale_t)0) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory to read '%.600s'", path);
    }
    tw_status status = twi_alloc(ctx, &r->buffer, BUFFER, 1, "lines of a csv file");
    if (status == TW_OK) {
        rewind_reader(r);
        r->separator = find_separator(r);
        status = r->status;
    }
    return status;
}

static void close_reader(reader *r)
{
    twi_free(r->buffer);
    if (r->c_locale != (locale_t)0) {
        freelocale(r->c_locale);
    }
}

/* --------------------------------------------------------------------------------- the numbers */

static bool is_blank(const reader *r, char c)
{
    return c == ' ' || c == '\r' || (c == '\t' && r->separator != '\t');
}

static void fill_at_end(reader *r)
{
    if (r->at == r->end) {
        fill(r);
    }
}

static void skip_blanks(reader *r)
{
    fill(r);
    for (; r->at < r->end && is_blank(r, *r->at); fill_at_end(r)) {
        r->at++;
    }
}

static bool ends_number(const reader *r, char c)
{
    return c == r->separator || c == '\n' || is_blank(r, c);
}

/* Digits with at most one point, when few enough to be exact: the cursor moves behind them. */
static bool quick_number(reader *r, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = r->at;
    bool negative = at < r->end && *at == '-';
    at += negative ? 1 : 0;
    uint64_t m = 0;
    int decimals = -1;
    int digits = 0;
    for (; at < r->end && !ends_number(r, *at); at++) {
        if (*at >= '0' && *at <= '9' && digits < 15) {
            m = m * 10 + (uint64_t)(*at - '0');
            digits++;
            decimals += decimals >= 0 ? 1 : 0;
        } else if (*at == '.' && decimals < 0) {
            decimals = 0;
        } else {
            return false;
        }
    }
    if (digits == 0) {
        return false;
    }
    double value = decimals > 0 ? (double)m / powers[decimals] : (double)m;
    *out = negative ? -value : value;
    r->at = at;
    return true;
}

/* One number up to a separator, a blank or the end of the line. NaN is none. */
static bool read_number(reader *r, double *out)
{
    char text[TOKEN_MOST + 1];
    fill(r);
    const char *start = r->at;
    if (quick_number(r, out)) {
        return true;
    }
    const char *at = start;
    while (at < r->end && !ends_number(r, *at)) {
        at++;
    }
    size_t length = (size_t)(at - start);
    if (length == 0 || length > TOKEN_MOST) {
        return false;
    }
    memcpy(text, start, length);
    text[length] = '\0';
    char *stop;
    *out = strtod_l(text, &stop, r->c_locale);
    bool overflowed = isinf(*out) && strpbrk(text, "0123456789") != NULL;
    if (*stop != '\0' || isnan(*out) || overflowed || strpbrk(text, "xX") != NULL) {
        return false;
    }
    r->at = at;
    return true;
}

/* ----------------------------------------------------------------------------------- the lines */

static tw_status bad_place(reader *r, const char *what)
{
    if (r->status != TW_OK) { /* the file could not be read any further */
        return r->status;
    }
    return tw_fail(r->ctx, TW_ERR_FORMAT, "'%.600s', line %lld, column %lld: %s", r->path,
                   (long long)r->line, (long long)(offset(r) - r->line_start) + 1, what);
}

static bool fits_whole(double value)
{
    return (value == floor(value) && fabs(value) < TW_APSP_INF_I32) || value == (double)INFINITY;
}

static void store(void *row, tw_type type, int64_t col, double value)
{
    if (type == TW_I32) {
        ((int32_t *)row)[col] = isinf(value) ? TW_APSP_INF_I32 : (int32_t)value;
    } else if (type == TW_F32) {
        ((float *)row)[col] = (float)value;
    } else {
        ((double *)row)[col] = value;
    }
}

/* Behind the name of a row and what separates it. A name in quotes may hold that, and quotes twice.
 */
static bool skip_name(reader *r)
{
    bool quoted = false;
    skip_blanks(r);
    for (; r->at < r->end && *r->at != '\n' && (quoted || *r->at != r->separator); fill_at_end(r)) {
        quoted ^= *r->at++ == '"';
    }
    const bool whole = r->at < r->end && *r->at == r->separator;
    r->at += whole ? 1 : 0;
    return whole;
}

/* One line of numbers into `row`, or nowhere. *mixed: a value that TW_I32 cannot hold, where that
 * was wanted; the line is not read to its end. */
static tw_status read_line(reader *r, const tw_shape *shape, void *row, bool *mixed)
{
    if (r->named && !skip_name(r)) {
        return bad_place(r, "expected a name and a number for each column");
    }
    for (int64_t col = 0; col < shape->cols; col++) {
        double value;
        skip_blanks(r);
        if (!read_number(r, &value)) {
            return bad_place(r, "expected a number or inf");
        }
        if (shape->type == TW_I32 && !fits_whole(value)) {
            *mixed = true;
            return TW_OK;
        }
        if (shape->type == TW_F32 && fabs(value) > (double)FLT_MAX && !isinf(value)) {
            return bad_place(r, "the number is too large for f32");
        }
        if (row != NULL) {
            store(row, shape->type, col, value);
        }
        skip_blanks(r);
        bool last = col + 1 == shape->cols;
        if (r->at < r->end && *r->at != (last ? '\n' : r->separator)) {
            return bad_place(r, last ? "more columns than the first line has"
                                     : "fewer columns than the first line has");
        }
        if (r->at == r->end && !last) {
            return bad_place(r, "fewer columns than the first line has");
        }
        r->at += r->at < r->end ? 1 : 0;
    }
    return r->status;
}

/* Whether the line at the cursor holds nothing but separators, as rows of a spreadsheet do that
 * have been emptied. One that is longer than the buffer is sure to hold is none. */
static bool is_hollow(reader *r)
{
    fill(r);
    const size_t held = (size_t)(r->end - r->at);
    const char *end = r->at + (held < TOKEN_MOST ? held : TOKEN_MOST);
    const char *at = r->at;
    while (at < end && (*at == r->separator || is_blank(r, *at))) {
        at++;
    }
    return at < end ? *at == '\n' : held < TOKEN_MOST;
}

/* True if a line with numbers follows; blank ones are passed over. */
static bool next_line(reader *r)
{
    for (;;) {
        fill(r);
        if (r->at == r->end) {
            return false;
        }
        r->line++;
        r->line_start = offset(r);
        skip_blanks(r);
        if (r->at < r->end && *r->at != '\n' && !is_hollow(r)) {
            return true;
        }
        for (; r->at < r->end && *r->at != '\n'; fill_at_end(r)) {
            r->at++;
        }
        r->at += r->at < r->end ? 1 : 0;
    }
}

/* Behind the end of the line; how many separators were in it outside quotes, if that is asked for.
 */
static void skip_line(reader *r, int64_t *separators)
{
    bool quoted = false;
    for (;;) {
        const size_t held = (size_t)(r->end - r->at);
        const char *end = held > 0 ? memchr(r->at, '\n', held) : NULL;
        const char *stop = end != NULL ? end : r->end;
        for (const char *c = r->at; separators != NULL && c < stop; c++) {
            quoted ^= *c == '"';
            *separators += *c == r->separator && !quoted ? 1 : 0;
        }
        r->at = end != NULL ? end + 1 : r->end;
        if (end != NULL) {
            return;
        }
        fill(r);
        if (r->at == r->end) {
            return;
        }
    }
}

/* ---------------------------------------------------------------------------------- the passes */

/* An empty field, which may be in quotes, before a separator. */
static bool is_corner(const reader *r)
{
    const size_t held = (size_t)(r->end - r->at);
    return (held > 0 && r->at[0] == r->separator) ||
           (held > 2 && memcmp(r->at, "\"\"", 2) == 0 && r->at[2] == r->separator);
}

/* Lines with numbers, and separators of the first of them plus one; of a table the line of names is
 * no row, and the column of names is no column. */
static tw_status count_shape(reader *r, tw_shape *out)
{
    uint64_t elements;
    out->rows = 0;
    out->cols = 0;
    while (next_line(r)) {
        int64_t separators = 0;
        const bool first = out->rows == 0;
        r->named = r->named || (first && is_corner(r));
        skip_line(r, first ? &separators : NULL);
        out->cols = first ? separators + 1 : out->cols;
        out->rows++;
    }
    out->rows -= r->named;
    out->cols -= r->named;
    if (r->status == TW_OK && r->named && out->rows == 0) {
        return tw_fail(r->ctx, TW_ERR_FORMAT, "'%.600s' has a line of names and no numbers",
                       r->path);
    }
    if (r->status != TW_OK) {
        return r->status;
    }
    /* A number takes two characters at least, so a true file cannot have more of them than bytes:
     * a first line of separators is refused before it is believed. */
    if (!twi_mul((uint64_t)out->rows, (uint64_t)out->cols, &elements) ||
        elements > r->input->size) {
        return tw_fail(r->ctx, TW_ERR_FORMAT,
                       "'%.600s' has %lld columns in its first line and %lld lines, but too few "
                       "numbers for them",
                       r->path, (long long)out->cols, (long long)out->rows);
    }
    return TW_OK;
}

/* Every line, into `data` or nowhere; *mixed as for a line. */
static tw_status read_all(reader *r, const tw_shape *shape, char *data, twi_csv *marked,
                          bool *mixed)
{
    const size_t step = (size_t)shape->cols * tw_type_size(shape->type);
    tw_status status = TW_OK;
    int64_t row = 0;
    *mixed = false;
    rewind_reader(r);
    if (r->named && next_line(r)) {
        skip_line(r, NULL);
    }
    for (; status == TW_OK && !*mixed && row < shape->rows; row++) {
        if (marked != NULL && row % marked->mark_rows == 0) {
            marked->marks[row / marked->mark_rows] = (mark){offset(r), r->line};
        }
        if (!next_line(r)) {
            break;
        }
        status = read_line(r, shape, data != NULL ? data + (size_t)row * step : NULL, mixed);
        if (row % 64 == 0) {
            twi_progress(r->ctx, "read", (double)offset(r), (double)r->input->size, "bytes");
        }
    }
    if (status == TW_OK && !*mixed && row < shape->rows) {
        status = r->status != TW_OK ? r->status
                                    : twi_input_failed(r->ctx, r->input->name, TWI_INPUT_CUT);
    }
    return status;
}

static tw_type first_type(tw_type asked)
{
    return asked == TW_F32 || asked == TW_F64 ? asked : TW_I32;
}

static tw_status read_matrix(reader *r, tw_matrix *out, tw_shape *shape)
{
    void *data = NULL;
    bool mixed = false;
    tw_status status = twi_alloc(r->ctx, &data, (uint64_t)shape->rows * (uint64_t)shape->cols,
                                 tw_type_size(shape->type), "the matrix of a csv file");
    if (status == TW_OK) {
        status = read_all(r, shape, data, NULL, &mixed);
    }
    if (status != TW_OK || mixed) {
        twi_free(data);
    }
    if (status == TW_OK && mixed) {
        shape->type = TW_F64;
        return read_matrix(r, out, shape);
    }
    if (status == TW_OK) {
        *out = (tw_matrix){data, shape->rows, shape->cols, shape->cols, shape->type};
    }
    return status;
}

/* ------------------------------------------------------------------------------------ the names */

typedef struct lines {
    char *text; /* ended by 0 */
    uint64_t size;
    uint64_t room;
} lines;

static void append(reader *r, lines *out, char c)
{
    if (out->room - out->size < 2 && r->status == TW_OK) {
        char *wider = NULL;
        const uint64_t room = out->room == 0 ? NAMES_ROOM : 2 * out->room;
        r->status = twi_alloc(r->ctx, &wider, room, 1, "the names of a table");
        if (r->status == TW_OK && out->size > 0) {
            memcpy(wider, out->text, (size_t)out->size);
        }
        if (r->status == TW_OK) {
            twi_free(out->text);
            out->text = wider;
            out->room = room;
        }
    }
    if (r->status == TW_OK) {
        out->text[out->size++] = c;
        out->text[out->size] = '\0';
    }
}

/* One field, without the blanks around it, as a line. */
static void copy_name(reader *r, lines *out)
{
    const uint64_t start = out->size;
    bool quoted = false;
    skip_blanks(r);
    for (; r->at < r->end && *r->at != '\n' && (quoted || *r->at != r->separator); fill_at_end(r)) {
        quoted ^= *r->at == '"';
        append(r, out, *r->at++);
    }
    while (out->size > start && is_blank(r, out->text[out->size - 1])) {
        out->size--;
    }
    append(r, out, '\n');
}

static void copy_names(reader *r, lines *rows, lines *cols)
{
    bool more = skip_name(r); /* the corner */
    while (more && r->status == TW_OK) {
        copy_name(r, cols);
        more = r->at < r->end && *r->at == r->separator;
        r->at += r->at < r->end ? 1 : 0;
    }
    while (r->status == TW_OK && next_line(r)) {
        copy_name(r, rows);
        skip_line(r, NULL);
    }
}

tw_status twi_csv_read_names(tw_context *ctx, twi_csv_names *out, const twi_input *input,
                             const char *path)
{
    reader r;
    lines rows = {0}, cols = {0};
    *out = (twi_csv_names){0};
    tw_status status = open_reader(ctx, &r, input, path);
    if (status == TW_OK && next_line(&r) && is_corner(&r)) {
        copy_names(&r, &rows, &cols);
    }
    status = status == TW_OK ? r.status : status;
    if (status == TW_OK) {
        *out = (twi_csv_names){rows.text, cols.text};
    } else {
        twi_free(rows.text);
        twi_free(cols.text);
    }
    close_reader(&r);
    return status;
}

tw_status twi_csv_parse(tw_context *ctx, tw_matrix *out, const twi_input *input, const char *path,
                        tw_type type)
{
    reader r;
    tw_shape shape = {0, 0, first_type(type)};
    tw_status status = open_reader(ctx, &r, input, path);
    if (status == TW_OK) {
        status = count_shape(&r, &shape);
    }
    if (status == TW_OK) {
        status = read_matrix(&r, out, &shape);
    }
    close_reader(&r);
    return status;
}

/* --------------------------------------------------------------------------- rows when asked for
 */

tw_status twi_csv_open(tw_context *ctx, twi_csv **out, const twi_input *input, const char *path,
                       tw_type type)
{
    twi_csv *csv = NULL;
    bool mixed = false;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &csv, 1, sizeof *csv, "a csv file");
    if (status != TW_OK) {
        return status;
    }
    csv->shape.type = first_type(type);
    status = open_reader(ctx, &csv->reader, input, path);
    if (status == TW_OK) {
        status = count_shape(&csv->reader, &csv->shape);
    }
    csv->mark_rows = csv->shape.rows / MARKS + 1;
    if (status == TW_OK) {
        status = read_all(&csv->reader, &csv->shape, NULL, csv, &mixed);
    }
    if (status == TW_OK && mixed) {
        csv->shape.type = TW_F64;
        status = read_all(&csv->reader, &csv->shape, NULL, csv, &mixed);
    }
    if (status != TW_OK) {
        twi_csv_close(csv);
        return status;
    }
    csv->next = csv->shape.rows;
    *out = csv;
    return TW_OK;
}

tw_shape twi_csv_shape(const twi_csv *csv)
{
    return csv->shape;
}

void twi_csv_close(twi_csv *csv)
{
    if (csv != NULL) {
        close_reader(&csv->reader);
        twi_free(csv);
    }
}

/* It was read to its end before, so it is another file now. */
static tw_status changed(twi_csv *csv)
{
    const reader *r = &csv->reader;
    return r->status != TW_OK
               ? r->status
               : tw_fail(r->ctx, TW_ERR_IO, "'%.600s' changed while it was being read", r->path);
}

tw_status twi_csv_rows(tw_context *ctx, twi_csv *csv, int64_t first, int64_t count, void *data,
                       int64_t stride)
{
    reader *r = &csv->reader;
    const size_t step = (size_t)stride * tw_type_size(csv->shape.type);
    r->ctx = ctx;
    if (first != csv->next || r->status != TW_OK) {
        const mark *before = &csv->marks[first / csv->mark_rows];
        r->status = TW_OK;
        go_to(r, before->at, before->line);
        csv->next = first / csv->mark_rows * csv->mark_rows;
        for (; csv->next < first && next_line(r); csv->next++) {
            skip_line(r, NULL);
        }
    }
    tw_status status = csv->next == first ? r->status : changed(csv);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        bool mixed = false;
        status = next_line(r) ? read_line(r, &csv->shape, (char *)data + (size_t)i * step, &mixed)
                              : changed(csv);
        if (status == TW_OK && mixed) {
            status = changed(csv);
        }
    }
    csv->next = status == TW_OK ? first + count : -1; /* after a failure nobody knows */
    return status;
}

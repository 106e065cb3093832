/*
 * Matrices as comma-separated lines.
 *
 * Writing a number with the fewest digits that read back the same is slow through printf, so the
 * common cases are done here: whole numbers by a two-digits-at-a-time loop, and decimals by trying
 * m / 10^k for growing k. For m < 2^53 and k <= 22 both are exact doubles and IEEE division rounds
 * correctly, so m / 10^k is the very double that a correct reader makes of the digits of m with k
 * decimals; equality with the value proves the text. What that cannot reach goes through printf.
 *
 * Reading uses the same fact in reverse and falls back to strtod in the "C" locale. Neither way
 * depends on the program's locale.
 */
#include "base/memory.h"
#include "io/matrix/format.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: whole numbers below it are exact in a double */
#define TOKEN_MOST 4095          /* characters of a number; a longer one is refused */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* ---------------------------------------------------------------------------------- writing */

size_t twi_csv_width(tw_type type)
{
    switch (type) {
    case TW_U8:
        return 4;
    case TW_U16:
        return 6;
    case TW_I16:
        return 7;
    case TW_I32:
        return 12;
    case TW_F32:
        return 20;
    default:
        return 28;
    }
}

static size_t put_unsigned(char *out, uint64_t value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313"
        "23334353637383940414243444546474849505152535455565758596061626364"
        "6566676869707172737475767778798081828384858687888990919293949596979899";
    char text[20];
    size_t at = sizeof text;
    while (value >= 100) {
        at -= 2;
        memcpy(text + at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(text + at, pairs + 2 * value, 2);
    } else {
        text[--at] = (char)('0' + value);
    }
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}

static size_t put_signed(char *out, int64_t value)
{
    if (value < 0) {
        *out = '-';
        return 1 + put_unsigned(out + 1, (uint64_t)0 - (uint64_t)value);
    }
    return put_unsigned(out, (uint64_t)value);
}

static size_t put_infinity(char *out)
{
    memcpy(out, "inf", 3);
    return 3;
}

/* m with its last k digits behind the point; at most 17 digits. */
static size_t put_decimals(char *out, uint64_t m, int k)
{
    char digits[24];
    size_t length = put_unsigned(digits, m);
    size_t used = 0;
    if (length <= (size_t)k) {
        out[used++] = '0';
        out[used++] = '.';
        memset(out + used, '0', (size_t)k - length);
        used += (size_t)k - length;
        memcpy(out + used, digits, length);
        return used + length;
    }
    memcpy(out, digits, length - (size_t)k);
    used = length - (size_t)k;
    out[used++] = '.';
    memcpy(out + used, digits + length - (size_t)k, (size_t)k);
    return used + (size_t)k;
}

/* printf's text without the point of the program's locale: whatever is no part of a number in the
 * C locale is the point. */
static size_t put_neutral(char *out, const char *text)
{
    size_t used = 0;
    bool point = false;
    for (; *text != '\0'; text++) {
        bool plain = (*text >= '0' && *text <= '9') || strchr("+-e", *text) != NULL;
        if (plain) {
            out[used++] = *text;
        } else if (!point) {
            out[used++] = '.';
            point = true;
        }
    }
    return used;
}

/* Positive and finite, any size: through printf with just enough digits. */
static size_t put_general(char *out, double value, bool single)
{
    char text[64];
    /* Every text of 6 or 15 digits survives, so fewer need no try, except near zero. */
    int digits = value < (single ? (double)FLT_MIN : DBL_MIN) ? 1 : single ? 6 : 15;
    const int most = single ? 9 : 17;
    for (;; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        bool same = single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
        if (same || digits == most) {
            return put_neutral(out, text);
        }
    }
}

/* q = m / 10^k is the double of the text; the float of the text is that of q, unless q lies on
 * the very middle between two floats, where the text may lie to either side. */
static bool reads_back(double q, double value, bool single)
{
    uint64_t bits;
    if (!single) {
        return q == value;
    }
    memcpy(&bits, &q, sizeof bits);
    return (double)(float)q == value && (bits & 0x1FFFFFFF) != 0x10000000;
}

/* `single`: value is a float, and must read back as that float. */
static size_t put_real(char *out, double value, bool single)
{
    size_t sign = 0;
    if (isnan(value)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (signbit(value)) {
        *out = '-';
        sign = 1;
        value = -value;
    }
    if (isinf(value)) {
        return sign + put_infinity(out + sign);
    }
    if (value < EXACT && value == floor(value)) {
        return sign + put_unsigned(out + sign, (uint64_t)value);
    }
    if (value >= 1e-5) {
        for (int k = 1; k < 17; k++) {
            double m = rint(value * powers[k]);
            if (m >= EXACT) {
                break;
            }
            if (reads_back(m / powers[k], value, single)) {
                return sign + put_decimals(out + sign, (uint64_t)m, k);
            }
        }
    }
    return sign + put_general(out + sign, value, single);
}

size_t twi_csv_format_row(char *out, const void *row, int64_t cols, tw_type type)
{
    char *at = out;
    for (int64_t j = 0; j < cols; j++) {
        int64_t whole;
        switch (type) {
        case TW_U8:
            whole = ((const uint8_t *)row)[j];
            at += whole == TW_APSP_INF_U8 ? put_infinity(at) : put_signed(at, whole);
            break;
        case TW_U16:
            whole = ((const uint16_t *)row)[j];
            at += whole == TW_APSP_INF_U16 ? put_infinity(at) : put_signed(at, whole);
            break;
        case TW_I16:
            whole = ((const int16_t *)row)[j];
            at += whole == INT16_MAX ? put_infinity(at) : put_signed(at, whole);
            break;
        case TW_I32:
            whole = ((const int32_t *)row)[j];
            at += whole == TW_APSP_INF_I32 ? put_infinity(at) : put_signed(at, whole);
            break;
        case TW_F32:
            at += put_real(at, (double)((const float *)row)[j], true);
            break;
        default:
            at += put_real(at, ((const double *)row)[j], false);
        }
        *at++ = ',';
    }
    if (cols == 0) {
        at++;
    }
    at[-1] = '\n';
    return (size_t)(at - out);
}

/* ---------------------------------------------------------------------------------- reading */

typedef struct reader {
    tw_context *ctx;
    const char *path;
    const char *at;
    const char *end;
    int64_t line; /* from 1 */
    locale_t c_locale;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
}

static bool ends_number(char c)
{
    return c == ',' || c == '\n' || is_blank(c);
}

/* Digits with at most one point, when few enough to be exact: the cursor moves behind them. */
static bool quick_number(reader *r, double *out)
{
    const char *at = r->at;
    bool negative = at < r->end && *at == '-';
    at += negative ? 1 : 0;
    uint64_t m = 0;
    int decimals = -1;
    int digits = 0;
    for (; at < r->end && !ends_number(*at); at++) {
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

/* One number up to a comma, a blank or the end of the line. NaN is none. */
static bool read_number(reader *r, double *out)
{
    char text[TOKEN_MOST + 1];
    const char *start = r->at;
    if (quick_number(r, out)) {
        return true;
    }
    const char *at = start;
    while (at < r->end && !ends_number(*at)) {
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

static tw_status bad_place(reader *r, const char *line_start, const char *what)
{
    return tw_fail(r->ctx, TW_ERR_FORMAT, "'%.600s', line %lld, column %lld: %s", r->path,
                   (long long)r->line, (long long)(r->at - line_start) + 1, what);
}

static bool fits_whole(double value)
{
    return (value == floor(value) && fabs(value) < TW_APSP_INF_I32) || value == (double)INFINITY;
}

static void store(tw_matrix *out, int64_t index, double value)
{
    if (out->type == TW_I32) {
        ((int32_t *)out->data)[index] = isinf(value) ? TW_APSP_INF_I32 : (int32_t)value;
    } else if (out->type == TW_F32) {
        ((float *)out->data)[index] = (float)value;
    } else {
        ((double *)out->data)[index] = value;
    }
}

/* One line of numbers. *mixed: a value that TW_I32 cannot hold, where that was wanted. */
static tw_status read_line(reader *r, tw_matrix *out, int64_t row, bool *mixed)
{
    const char *start = r->at;
    for (int64_t col = 0; col < out->cols; col++) {
        double value;
        skip_blanks(r);
        if (!read_number(r, &value)) {
            return bad_place(r, start, "expected a number or inf");
        }
        if (out->type == TW_I32 && !fits_whole(value)) {
            *mixed = true;
            return TW_OK;
        }
        if (out->type == TW_F32 && fabs(value) > (double)FLT_MAX && !isinf(value)) {
            return bad_place(r, start, "the number is too large for f32");
        }
        store(out, row * out->cols + col, value);
        skip_blanks(r);
        bool last = col + 1 == out->cols;
        if (r->at < r->end && *r->at != (last ? '\n' : ',')) {
            return bad_place(r, start,
                             last ? "more columns than the first line has"
                                  : "fewer columns than the first line has");
        }
        if (r->at == r->end && !last) {
            return bad_place(r, start, "fewer columns than the first line has");
        }
        r->at += r->at < r->end ? 1 : 0;
    }
    return TW_OK;
}

/* True if a line with numbers follows; blank ones are passed over. */
static bool next_line(reader *r)
{
    while (r->at < r->end) {
        const char *start = r->at;
        r->line++;
        skip_blanks(r);
        if (r->at < r->end && *r->at != '\n') {
            r->at = start;
            return true;
        }
        r->at += r->at < r->end ? 1 : 0;
    }
    return false;
}

/* Lines with numbers, and commas of the first of them plus one. */
static void count_shape(const char *text, uint64_t count, int64_t *rows, int64_t *cols)
{
    reader r = {.at = text, .end = text + count};
    *rows = 0;
    *cols = 0;
    while (next_line(&r)) {
        const char *end = memchr(r.at, '\n', (size_t)(r.end - r.at));
        end = end != NULL ? end : r.end;
        if (*rows == 0) {
            *cols = 1;
            for (const char *c = r.at; c < end; c++) {
                *cols += *c == ',' ? 1 : 0;
            }
        }
        r.at = end < r.end ? end + 1 : end;
        ++*rows;
    }
}

/* Fill a matrix of out->type; *mixed if that is TW_I32 and not enough. */
static tw_status read_all(reader *r, tw_matrix *out, bool *mixed)
{
    uint64_t elements;
    *mixed = false;
    /* A number takes two characters at least, so a true file cannot have more of them than bytes:
     * a first line of commas is refused before it is believed. */
    if (!twi_mul((uint64_t)out->rows, (uint64_t)out->cols, &elements) ||
        elements > (uint64_t)(r->end - r->at)) {
        return tw_fail(r->ctx, TW_ERR_FORMAT,
                       "'%.600s' has %lld columns in its first line and %lld lines, but too few "
                       "numbers for them",
                       r->path, (long long)out->cols, (long long)out->rows);
    }
    tw_status status = twi_alloc(r->ctx, &out->data, elements, tw_type_size(out->type),
                                 "the matrix of a csv file");
    for (int64_t row = 0; status == TW_OK && !*mixed && next_line(r); row++) {
        status = twi_check_cancel(r->ctx);
        if (status == TW_OK) {
            status = read_line(r, out, row, mixed);
        }
    }
    if (status != TW_OK || *mixed) {
        twi_free(out->data);
        out->data = NULL;
    }
    return status;
}

tw_status twi_csv_parse(tw_context *ctx, tw_matrix *out, const char *path, const char *text,
                        uint64_t count, tw_type type)
{
    bool mixed = false;
    tw_matrix result = {.type = type == TW_F32 || type == TW_F64 ? type : TW_I32};
    const uint64_t mark = twi_input_mark(text, count);
    text += mark;
    count -= mark;
    reader r = {.ctx = ctx, .path = path, .at = text, .end = text + count};
    r.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (r.c_locale == (locale_t)0) {
        return tw_fail(ctx, TW_ERR_MEMORY, "no memory to read '%.600s'", path);
    }
    count_shape(text, count, &result.rows, &result.cols);
    result.stride = result.cols;
    tw_status status = read_all(&r, &result, &mixed);
    if (status == TW_OK && mixed) {
        result.type = TW_F64;
        r.at = text;
        r.line = 0;
        status = read_all(&r, &result, &mixed);
    }
    freelocale(r.c_locale);
    if (status == TW_OK) {
        *out = result;
    }
    return status;
}

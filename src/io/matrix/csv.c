/*
 * Matrices as comma-separated lines, written. csv_read.c reads them.
 *
 * Writing a number with the fewest digits that read back the same is slow through printf, so the
 * common cases are done here: whole numbers by a two-digits-at-a-time loop, and decimals by trying
 * m / 10^k for growing k. For m < 2^53 and k <= 22 both are exact doubles and IEEE division rounds
 * correctly, so m / 10^k is the very double that a correct reader makes of the digits of m with k
 * decimals; equality with the value proves the text. What that cannot reach goes through printf.
 * Nothing depends on the program's locale.
 */
#include "io/matrix/format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: whole numbers below it are exact in a double */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

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

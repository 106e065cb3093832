/* Reading graphs written as text: see text.h. */
#include "io/graph/text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NUMBER 4095 /* characters of a number that is no mistake */
#define CANCEL_LINES 16384  /* lines between two looks at the cancel flag */
#define HEAD_LINES 20       /* more than those that settle columns (columns.c, dense.c) */

/* ---------------------------------------------------------------------------------- errors */

bool twi_text_fail(twi_text *text, tw_status status, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text->error, sizeof text->error, format, args);
    va_end(args);
    text->status = status;
    text->error_at = at != NULL ? at : text->at;
    return false;
}

/* Bytes of the character at `at` that can be shown: printable ASCII, or UTF-8 that is no control
 * character. 0: neither. */
static size_t shown_length(const char *at, const char *end)
{
    const unsigned char *byte = (const unsigned char *)at;
    const unsigned char lead = byte[0];
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7F;
    }
    const size_t length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool control = lead == 0xC2 && byte[1] < 0xA0;
    const bool overlong = (lead == 0xE0 && byte[1] < 0xA0) || (lead == 0xF0 && byte[1] < 0x90);
    const bool forbidden = (lead == 0xED && byte[1] >= 0xA0) || (lead == 0xF4 && byte[1] >= 0x90);
    return control || overlong || forbidden ? 0 : length;
}

const char *twi_text_show(char *out, size_t room, const char *begin, const char *end)
{
    size_t used = 0;
    while (begin < end) {
        const size_t length = shown_length(begin, end);
        const size_t taken = length > 0 ? length : 1;
        if (used + taken >= room) {
            break;
        }
        if (length > 0) {
            memcpy(out + used, begin, length);
        } else {
            out[used] = '?';
        }
        used += taken;
        begin += taken;
    }
    out[used] = '\0';
    return begin;
}

/* The field at `at`, shortened. */
static void quote_field(const twi_text *text, const char *at, char out[32])
{
    const char *end = at;
    while (end < text->end && !twi_text_is_break(*end) && end - at < 64) {
        end++;
    }
    if (twi_text_show(out, 29, at, end) < end) {
        memcpy(out + strlen(out), "...", 4);
    }
}

bool twi_text_not(twi_text *text, const char *at, const char *wanted)
{
    char field[32];
    quote_field(text, at, field);
    if (field[0] == '\0') {
        return twi_text_fail(text, TW_ERR_FORMAT, at, "the line ends; expected %s", wanted);
    }
    return twi_text_fail(text, TW_ERR_FORMAT, at, "'%s' is not %s", field, wanted);
}

int64_t twi_text_count_lines(const char *begin, const char *end)
{
    int64_t lines = 0;
    while (begin < end && (begin = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
        begin++;
        lines++;
    }
    return lines;
}

tw_status twi_text_report(tw_context *ctx, const twi_input *input, const twi_text *text)
{
    return tw_fail(ctx, text->status, "%.500s:%lld: %s", input->name,
                   (long long)twi_text_count_lines(input->bytes, text->error_at) + 1, text->error);
}

/* -------------------------------------------------------------------- the head of a file */

static bool is_comment(const char *at, const char *end, const char *comments)
{
    return *at != '\0' && strchr(comments, *at) != NULL &&
           (!isalpha((unsigned char)*at) || at + 1 == end || twi_text_is_break(at[1]));
}

/* Whether enough lines have ended in the head. */
static bool has_lines(const twi_text *head, const char *comments)
{
    twi_text text = *head;
    int64_t lines = 0;
    while (text.at < text.end && lines < HEAD_LINES) {
        lines += !twi_text_line_ends(&text) && !is_comment(text.at, text.end, comments) &&
                 !twi_text_is_hollow(&text, *text.at);
        twi_text_skip_line(&text);
        (void)twi_text_next_line(&text);
    }
    return lines == HEAD_LINES;
}

tw_status twi_text_open(tw_context *ctx, twi_input *input, const char *comments)
{
    const twi_text_rules rules = {0};
    while (!twi_input_is_held(input)) {
        const twi_text head = twi_text_head(ctx, input, &rules);
        if (has_lines(&head, comments)) {
            break;
        }
        const uint64_t held = twi_input_held(input);
        const tw_status status = twi_input_widen(ctx, input, 2 * held);
        if (status == TW_ERR_MEMORY && memchr(input->bytes, '\0', (size_t)held) != NULL) {
            break; /* no text at all, which is what the reader will say */
        }
        if (status != TW_OK) {
            return status;
        }
    }
    return TW_OK;
}

twi_text twi_text_head(tw_context *ctx, const twi_input *input, const twi_text_rules *rules)
{
    const uint64_t held = twi_input_held(input);
    twi_text head = {
        .ctx = ctx,
        .rules = rules,
        .at = input->bytes + twi_input_mark(input->bytes, held),
        .end = input->bytes + held,
        .highest = -1,
    };
    if (!twi_input_is_held(input)) { /* the last line may go on */
        const char *newline = memrchr(head.at, '\n', (size_t)(head.end - head.at));
        head.end = newline != NULL ? newline + 1 : head.end;
    }
    return head;
}

/* --------------------------------------------------------------------------------- all lines */

bool twi_text_each_line(twi_text *text, twi_line_fn line, const void *self)
{
    int64_t lines = 0;
    while (text->at < text->end) {
        const char *begin = text->at;
        if (!twi_text_line_ends(text)) {
            if (text->rules->tabs && *text->at != '#' && *text->at != '%') {
                text->at = twi_text_first_field(begin, text->at);
            }
            if (!line(text, self)) {
                return false;
            }
            if (!twi_text_line_ends(text)) {
                char field[32];
                quote_field(text, text->at, field);
                return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                                     "unexpected '%s' after the last field", field);
            }
        }
        (void)twi_text_next_line(text);
        if (++lines % CANCEL_LINES == 0 && twi_is_cancelled(text->ctx)) {
            return true;
        }
    }
    return true;
}

/* --------------------------------------------------------------------------------- numbers */

void twi_text_skip_line(twi_text *text)
{
    if (text->at < text->end) {
        const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        text->at = newline != NULL ? newline : text->end;
    }
}

/* "1.25e3": at most 19 digits whose value is exact in a double, and a power of ten that is too,
 * make one rounded operation: the right result. Anything else is left to strtod. */
static bool quick_real(const char *at, const char *end, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    uint64_t mantissa = 0;
    int digits = 0;
    int exponent = 0;
    bool point = false;
    for (; at < end && (isdigit((unsigned char)*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        exponent -= point;
        if (++digits > 18) {
            return false;
        }
    }
    if (at != end || digits == 0 || mantissa > (uint64_t)1 << 53 || exponent < -22) {
        return false;
    }
    double value = (double)mantissa / powers[-exponent];
    *out = negative ? -value : value;
    return true;
}

bool twi_text_quick_decimal(twi_text *text, twi_number *out)
{
    const char *at = text->at;
    while (at < text->end && !twi_text_is_break(*at)) {
        at++;
    }
    double real;
    if (!quick_real(text->at, at, &real)) {
        return false;
    }
    *out = (twi_number){.real = real};
    text->at = at;
    return true;
}

/* Letters only as an exponent or as the names of what is not a number: no hexadecimal. */
static bool looks_like_a_number(const char *token)
{
    const char *at = token + (*token == '+' || *token == '-');
    if (strcasecmp(at, "inf") == 0 || strcasecmp(at, "infinity") == 0 ||
        strcasecmp(at, "nan") == 0) {
        return true;
    }
    return (isdigit((unsigned char)*at) || *at == '.') && at[strspn(at, "0123456789.eE+-")] == '\0';
}

/* In the "C" locale, whatever the program has set; glibc's and musl's are static. */
static bool slow_real(const char *token, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return false;
    }
    char *stop;
    *out = strtod_l(token, &stop, c);
    freelocale(c);
    return *stop == '\0' && stop != token;
}

/* Digits that f64 turned into infinity, or, not being zeros, into 0: not what the file says. */
static bool left_f64(const char *token, double real)
{
    const char *digits = token + strcspn(token, "123456789eEiI");
    bool some = *digits != '\0' && isdigit((unsigned char)*digits);
    return some && (isinf(real) || real == 0);
}

bool twi_text_slow_number(twi_text *text, twi_number *out, const char *wanted)
{
    char token[LONGEST_NUMBER + 1];
    const char *at = text->at;
    size_t length = 0;
    while (at + length < text->end && !twi_text_is_break(at[length]) && length < LONGEST_NUMBER) {
        token[length] = at[length];
        length++;
    }
    token[length] = '\0';
    bool ended = at + length == text->end || twi_text_is_break(at[length]);
    if (!ended || strlen(token) != length || !looks_like_a_number(token)) {
        return twi_text_not(text, at, wanted);
    }
    double real;
    if (!quick_real(token, token + length, &real) && !slow_real(token, &real)) {
        return twi_text_not(text, at, wanted);
    }
    if (left_f64(token, real)) {
        char field[32];
        quote_field(text, at, field);
        return twi_text_fail(text, TW_ERR_RANGE, at, "'%s' is too %s for f64%s", field,
                             real == 0 ? "small" : "large",
                             real == 0 ? "; write 0" : "; write inf for no edge");
    }
    const char *digits = token + (*token == '+' || *token == '-');
    bool whole = digits[strspn(digits, "0123456789")] == '\0';
    int64_t integer = 0;
    if (whole) { /* cut off where whoever needs it exact has long refused it */
        integer = (int64_t)fmin(fmax(real, -0x1p62), 0x1p62);
    }
    *out = (twi_number){whole, integer, real};
    text->at = at + length;
    return true;
}

bool twi_text_whole(twi_text *text, int64_t *out, const char *wanted)
{
    twi_number number = {0};
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!twi_text_number(text, &number, wanted)) {
        return false;
    }
    if (!number.whole) {
        return twi_text_not(text, at, wanted);
    }
    *out = number.integer;
    return true;
}

bool twi_text_count(twi_text *text, int64_t *out, const char *wanted, int64_t most)
{
    int64_t value = 0;
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!twi_text_whole(text, &value, wanted)) {
        return false;
    }
    if (value < 0 || value > most) {
        char field[32];
        quote_field(text, at, field);
        return twi_text_fail(text, value < 0 ? TW_ERR_FORMAT : TW_ERR_RANGE, at,
                             "%s is not %s: it must be from 0 to %lld", field, wanted,
                             (long long)most);
    }
    *out = value;
    return true;
}

bool twi_text_bad_vertex(twi_text *text, const char *at, const twi_number *number)
{
    int64_t base = text->rules->base;
    char field[32];
    quote_field(text, at, field);
    if (!number->whole) {
        return twi_text_not(text, at,
                            text->rules->vertices < 0
                                ? "a vertex: vertices are whole numbers; vertex names need --ids"
                                : "a vertex: vertices are whole numbers");
    }
    if (text->rules->vertices >= 0) {
        return twi_text_fail(
            text, TW_ERR_FORMAT, at, "vertex %s is outside %lld ... %lld: the file says %lld %s",
            field, (long long)base, (long long)(text->rules->vertices - 1 + base),
            (long long)text->rules->vertices, text->rules->vertices == 1 ? "vertex" : "vertices");
    }
    if (base > 0 && number->integer == 0) {
        return twi_text_fail(text, TW_ERR_FORMAT, at,
                             "vertex 0, but the first line is that of a KONECT list, which counts "
                             "from 1; use --ids if 0 is a vertex");
    }
    return twi_text_fail(text, TW_ERR_FORMAT, at,
                         "vertex %s is outside %lld ... %lld; vertex names need --ids", field,
                         (long long)base, (long long)(TWI_MOST_VERTICES - 1 + base));
}

/* ----------------------------------------------------------------------------------- edges */

bool twi_text_no_memory(twi_text *text)
{
    return twi_text_fail(text, TW_ERR_MEMORY, NULL, "%s", "");
}

bool twi_text_add(twi_text *text, const char *at, int32_t source, int32_t target,
                  const twi_number *weight)
{
    const twi_text_rules *rules = text->rules;
    text->records++;
    if (rules->unweighted) {
        return twi_edge_blocks_add(text->ctx, &text->edges, source, target, 1) ||
               twi_text_no_memory(text);
    }
    if (weight->whole && !rules->real) {
        if (__builtin_expect(weight->integer < INT32_MIN || weight->integer > INT32_MAX, 0)) {
            char field[32];
            quote_field(text, at, field);
            return twi_text_fail(text, TW_ERR_RANGE, at,
                                 "the weight %s does not fit in 32 bits; with a decimal point it "
                                 "is read as floating point",
                                 field);
        }
        return twi_edge_blocks_add(text->ctx, &text->edges, source, target,
                                   (int32_t)weight->integer) ||
               twi_text_no_memory(text);
    }
    if (isnan(weight->real) || weight->real == -INFINITY) {
        return twi_text_fail(text, TW_ERR_FORMAT, at,
                             "the weight is %s: it must be a number, or inf for no edge",
                             isnan(weight->real) ? "NaN" : "-inf");
    }
    if (weight->real == INFINITY) {
        return true;
    }
    if (rules->whole) {
        return twi_text_not(text, at, "a whole number, which the file declares its weights to be");
    }
    return twi_edge_blocks_add_real(text->ctx, &text->edges, source, target, weight->real) ||
           twi_text_no_memory(text);
}

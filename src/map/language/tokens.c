/* Tokens and complaints: see tokens.h. */
#include "map/language/tokens.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- complaints */

int64_t twi_scan_column(const twi_scanner *s, const char *at)
{
    int64_t column = 1;
    for (const char *c = s->text; c < at; c++) {
        column += ((unsigned char)*c & 0xC0) != 0x80; /* not the inside of a UTF-8 character */
    }
    return column;
}

tw_status twi_complain(twi_scanner *s, const char *at, const char *format, ...)
{
    char words[400];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    int64_t column = twi_scan_column(s, at);
    if (s->column != NULL) {
        *s->column = column;
    }
    return tw_fail(s->ctx, TW_ERR_FORMAT, "column %lld of the expression: %s", (long long)column,
                   words);
}

/* What is at a place, for "expected A, found B". */
static const char *shown(char out[80], const char *at)
{
    size_t length = strcspn(at, " \t\r\n()+-*/%^<>=!&|?:,");
    if (*at == '\0') {
        return "the end";
    }
    if ((unsigned char)*at < ' ' || *at == 127) {
        snprintf(out, 80, "a control character");
        return out;
    }
    length = length == 0 ? 1 : length > 40 ? 40 : length;
    while (length > 1 && ((unsigned char)at[length] & 0xC0) == 0x80) {
        length--; /* do not cut a UTF-8 character */
    }
    snprintf(out, 80, "'%.*s'", (int)length, at);
    return out;
}

tw_status twi_complain_expected(twi_scanner *s, const char *what)
{
    char found[80];
    return twi_complain(s, s->token.begin, "expected %s, found %s", what,
                        shown(found, s->token.begin));
}

/* --------------------------------------------------------------------------------------- tokens */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* digits[.digits][e[+-]digits], with a digit on one side of the point. */
static tw_status read_number(twi_scanner *s)
{
    const char *begin = s->token.begin, *end = begin;
    while (is_digit(*end)) {
        end++;
    }
    if (*end == '.') {
        end++;
        while (is_digit(*end)) {
            end++;
        }
    }
    const char *exponent = end + 1 + (*end != '\0' && (end[1] == '+' || end[1] == '-'));
    if ((*end == 'e' || *end == 'E') && is_digit(*exponent)) {
        for (end = exponent; is_digit(*end);) {
            end++;
        }
    }
    if (is_letter(*end) || *end == '.') {
        return twi_complain(s, end,
                            "expected an operator after the number; a product is written with *");
    }
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return tw_fail(s->ctx, TW_ERR_MEMORY, "not enough memory to read a number");
    }
    s->token.number = strtod_l(begin, NULL, c);
    freelocale(c);
    s->token.kind = TWI_TOKEN_NUMBER;
    s->token.end = end;
    if (isinf(s->token.number)) {
        return twi_complain(s, begin, "this number is too large for a double");
    }
    return TW_OK;
}

static bool take_binary(twi_scanner *s, const char *sign, twi_sign kind)
{
    size_t length = strlen(sign);
    if (strncmp(s->token.begin, sign, length) != 0) {
        return false;
    }
    s->token.kind = TWI_TOKEN_BINARY;
    s->token.sign = kind;
    s->token.end = s->token.begin + length;
    return true;
}

static tw_status read_sign(twi_scanner *s)
{
    static const char singles[] = "()?:,!";
    static const twi_token_kind kinds[] = {TWI_TOKEN_OPEN,  TWI_TOKEN_CLOSE, TWI_TOKEN_QUESTION,
                                           TWI_TOKEN_COLON, TWI_TOKEN_COMMA, TWI_TOKEN_NOT};
    static const struct {
        const char *sign;
        twi_sign kind;
    } signs[] = {{"||", TWI_OR}, {"&&", TWI_AND}, {"==", TWI_EQ}, {"!=", TWI_NE},  {"<=", TWI_LE},
                 {">=", TWI_GE}, {"<", TWI_LT},   {">", TWI_GT},  {"**", TWI_POW}, {"+", TWI_ADD},
                 {"-", TWI_SUB}, {"*", TWI_MUL},  {"/", TWI_DIV}, {"%", TWI_MOD},  {"^", TWI_POW}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (take_binary(s, signs[i].sign, signs[i].kind)) {
            return TW_OK;
        }
    }
    const char *single = strchr(singles, *s->token.begin);
    if (single != NULL) {
        s->token.kind = kinds[single - singles];
        s->token.end = s->token.begin + 1;
        return TW_OK;
    }
    if (*s->token.begin == '=' || *s->token.begin == '&' || *s->token.begin == '|') {
        return twi_complain(s, s->token.begin, "'%c' alone has no meaning here: write '%c%c'",
                            *s->token.begin, *s->token.begin, *s->token.begin);
    }
    char found[80];
    return twi_complain(s, s->token.begin, "%s has no meaning here", shown(found, s->token.begin));
}

tw_status twi_scan_next(twi_scanner *s)
{
    s->token.begin = s->token.end;
    s->token.begin += strspn(s->token.begin, " \t\r\n");
    s->token = (twi_token){.begin = s->token.begin, .end = s->token.begin};
    if (*s->token.begin == '\0') {
        return TW_OK;
    }
    if (is_digit(*s->token.begin) || (*s->token.begin == '.' && is_digit(s->token.begin[1]))) {
        return read_number(s);
    }
    if (is_letter(*s->token.begin)) {
        const char *end = s->token.begin;
        while (is_letter(*end) || is_digit(*end)) {
            end++;
        }
        s->token.kind = TWI_TOKEN_NAME;
        s->token.end = end;
        return TW_OK;
    }
    return read_sign(s);
}

void twi_scan_begin(twi_scanner *s, tw_context *ctx, const char *text, int64_t *column)
{
    *s = (twi_scanner){.ctx = ctx, .column = column, .text = text, .token.end = text};
}

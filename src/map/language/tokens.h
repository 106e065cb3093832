/*
 * The text of an expression as tokens, and the complaints about it: every one has a column (in
 * characters, from 1) and says what was expected there.
 */
#ifndef TWI_MAP_LANGUAGE_TOKENS_H
#define TWI_MAP_LANGUAGE_TOKENS_H

#include "base/context.h"

typedef enum twi_token_kind {
    TWI_TOKEN_END,
    TWI_TOKEN_NUMBER,
    TWI_TOKEN_NAME,
    TWI_TOKEN_BINARY, /* `sign` says which */
    TWI_TOKEN_NOT,
    TWI_TOKEN_QUESTION,
    TWI_TOKEN_COLON,
    TWI_TOKEN_COMMA,
    TWI_TOKEN_OPEN,
    TWI_TOKEN_CLOSE
} twi_token_kind;

/* The operators; the parser's table has their precedence. The first ones are TWI_TOKEN_BINARY. */
typedef enum twi_sign {
    TWI_OR,
    TWI_AND,
    TWI_EQ,
    TWI_NE,
    TWI_LT,
    TWI_LE,
    TWI_GT,
    TWI_GE,
    TWI_ADD,
    TWI_SUB,
    TWI_MUL,
    TWI_DIV,
    TWI_MOD,
    TWI_POW,
    TWI_NEG,
    TWI_PLUS,
    TWI_NOT,
    TWI_COLON,    /* of a ?: whose third operand is being read */
    TWI_QUESTION, /* its second; from here on nothing is popped by precedence */
    TWI_PAREN,
    TWI_FUNCTION
} twi_sign;

typedef struct twi_token {
    twi_token_kind kind;
    twi_sign sign;
    const char *begin, *end;
    double number;
} twi_token;

typedef struct twi_scanner {
    tw_context *ctx;
    int64_t *column; /* where the place of a complaint goes; may be NULL */
    const char *text;
    twi_token token; /* the current one */
} twi_scanner;

/* To the first, and to the next token. */
void twi_scan_begin(twi_scanner *s, tw_context *ctx, const char *text, int64_t *column);
TW_CHECKED tw_status twi_scan_next(twi_scanner *s);

int64_t twi_scan_column(const twi_scanner *s, const char *at);

/* TW_ERR_FORMAT with "column C of the expression: ...". */
tw_status twi_complain(twi_scanner *s, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected WHAT, found ..." at the current token. */
tw_status twi_complain_expected(twi_scanner *s, const char *what);

#endif

/* What one row of distances has to say, gathered from runs of its columns in their order. */
#ifndef TWI_APSP_SHARED_STATISTICS_H
#define TWI_APSP_SHARED_STATISTICS_H

#include "base/context.h"

typedef struct twi_row_statistics {
    int64_t reached;
    int64_t others; /* columns that are not the row's own vertex */
    int64_t whole;  /* sum of the distances, in integer types */
    double real;    /* the same in floats */
    double least;   /* +inf if none is reached */
    double most;    /* -inf likewise */
    double inverse; /* sum of 1 / d, if that is asked for */
} twi_row_statistics;

/* Columns [from, to) of a row added to *s, whose `least` begins with +inf and `most` with -inf. */
void twi_row_scan(tw_type type, const void *row, int64_t from, int64_t to, twi_row_statistics *s);

/* 1 / d of columns [from, to) added to lane j % TWI_INVERSE_LANES of the sums: an order that
 * depends on nothing but the columns, and that vectors follow. */
#define TWI_INVERSE_LANES 8
void twi_row_inverses(tw_type type, const void *row, int64_t from, int64_t to,
                      double sum[TWI_INVERSE_LANES]);

/* Columns [from, to) of a row counted into cells of width 2^exponent: zero[c] counts the values in
 * [c 2^exponent, (c + 1) 2^exponent). */
void twi_row_count(tw_type type, const void *row, int64_t from, int64_t to, int exponent,
                   int64_t *zero);

#endif

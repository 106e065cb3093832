/* Distances as numbers, whatever their type, and a sink that changes the type. */
#ifndef CLI_TYPED_H
#define CLI_TYPED_H

#include <tilewright.h>

/* Element `at` of a row; what means "no path" in its type is infinite. */
double cli_distance_at(const void *row, tw_type type, int64_t at);
/* The same as a plain number. */
double cli_number_at(const void *row, tw_type type, int64_t at);

typedef struct cli_typed {
    tw_sink inner;
    tw_type type; /* that the inner sink gets */
    tw_shape shape;
    void *row;
} cli_typed;

/* `out` passes rows on to typed->inner as distances of typed->type; one that it cannot hold is
 * TW_ERR_RANGE, with its place. The inner sink stays the caller's. */
void cli_typed_sink(cli_typed *typed, tw_sink *out);
void cli_typed_clear(cli_typed *typed);

#endif

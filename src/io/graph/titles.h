/*
 * What the title of a column says of it, as strangers' files have them: upper or lower case alike.
 */
#ifndef TWI_IO_GRAPH_TITLES_H
#define TWI_IO_GRAPH_TITLES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TWI_TITLE_SOURCE = 1,
    TWI_TITLE_TARGET = 2, /* "head" may be either, and "tail" is asked about here */
    TWI_TITLE_END = TWI_TITLE_SOURCE | TWI_TITLE_TARGET,
    TWI_TITLE_WEIGHT = 4,
    TWI_TITLE_PLAIN = 8,   /* in so many words: no other column is the weight */
    TWI_TITLE_REMARK = 16, /* it is no weight, whatever stands in it */
    /* It says of each edge whether it counts both ways: "Undirected" in a column "Type", as Gephi
     * has it; "false" in a column "directed"; "true" in a column "undirected". */
    TWI_TITLE_TYPE = 32,
    TWI_TITLE_DIRECTED = 64,
    TWI_TITLE_UNDIRECTED = 128
};
enum { TWI_WAYS = 3 }; /* of the last kind: TWI_TITLE_TYPE << way */

/* Bits of these; 0: a title that says nothing. */
int twi_title_of(const char *begin, size_t length);

/* Whether a field in a column of TWI_TITLE_TYPE << way says that its edge counts both ways. */
bool twi_title_both_ways(int way, const char *begin, size_t length);

#endif

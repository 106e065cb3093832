/*
 * What the title of a column says of it, as strangers' files have them: upper or lower case alike.
 */
#ifndef TWI_IO_GRAPH_TITLES_H
#define TWI_IO_GRAPH_TITLES_H

#include <stddef.h>

enum {
    TWI_TITLE_SOURCE = 1,
    TWI_TITLE_TARGET = 2, /* "head" may be either, and "tail" is asked about here */
    TWI_TITLE_END = TWI_TITLE_SOURCE | TWI_TITLE_TARGET,
    TWI_TITLE_WEIGHT = 4,
    TWI_TITLE_PLAIN = 8,  /* in so many words: no other column is the weight */
    TWI_TITLE_REMARK = 16 /* it is no weight, whatever stands in it */
};

/* Bits of these; 0: a title that says nothing. */
int twi_title_of(const char *begin, size_t length);

#endif

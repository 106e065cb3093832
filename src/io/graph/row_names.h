/*
 * Names of rows. R's write.table puts them into a first column that has no title, so that every
 * line has one field more than the header; pandas prints its index that way, too. Titles then stand
 * one column to the left of what they are about.
 */
#ifndef TWI_IO_GRAPH_ROW_NAMES_H
#define TWI_IO_GRAPH_ROW_NAMES_H

#include "io/graph/fields.h"

typedef enum twi_rows {
    TWI_ROWS_PLAIN,   /* the lines have the fields that the header has */
    TWI_ROWS_NAMED,   /* and the name of the row before them: a number that counts, or the only one
                         in quotes */
    TWI_ROWS_UNTITLED /* one field more, and nobody knows which */
} twi_rows;

/* What the first lines behind `head` are below a header of so many titles. */
twi_rows twi_rows_look(twi_text head, char separator, int64_t titles);

#endif

/*
 * The fields of a line of an edge list. Commas, semicolons, tabs and bars separate fields that may
 * hold blanks; a field in double quotes may hold anything but the end of a line, a quote being
 * written twice. Where the first line has none of them, or puts blanks between two numbers beside
 * one, as in "0 1,5", fields are separated by blanks, tabs and commas alike (separator ' ').
 */
#ifndef TWI_IO_GRAPH_FIELDS_H
#define TWI_IO_GRAPH_FIELDS_H

#include "io/graph/text.h"

typedef enum twi_found { TWI_FIELD, TWI_LINE_END, TWI_BROKEN } twi_found;

/* A field without blanks around it, and without its quotes. */
typedef struct twi_field {
    const char *begin;
    const char *end;
    bool quoted;
    bool doubled; /* a quote in it is written twice */
} twi_field;

/* To the begin of the next field; `first` of the line. TWI_BROKEN after twi_text_fail. */
twi_found twi_field_find(twi_text *text, char separator, bool first);
/* The same, and past the field. */
twi_found twi_field_next(twi_text *text, char separator, bool first, twi_field *out);

/* Whether nothing is in the next field: of several blanks, only tabs have such fields between them,
 * and only where they separate. What the line ends with is no field. */
bool twi_field_is_missing(const twi_text *text, char separator, bool first);

/* Around what reads a number: between the two, the text is the field alone. `good` is whether it
 * was read; what is left of the field then makes it false, with a sentence about what was wanted.
 */
typedef struct twi_cell {
    const char *at;
    const char *end;
} twi_cell;
twi_cell twi_field_enter(twi_text *text, const twi_field *field);
bool twi_field_leave(twi_text *text, const twi_field *field, twi_cell cell, bool good,
                     const char *wanted);

/* Whether the end of an edge can be no index, but a name: digits that are too many or begin with a
 * 0 that would be lost, and in a table whatever is no number or stands in quotes ("1.10"). */
bool twi_field_is_name(const twi_field *field, bool table);

/* Whether all of it is a number. */
bool twi_field_is_number(const twi_text_rules *rules, const twi_field *field);

#endif

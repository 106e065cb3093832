/* Names of rows: see row_names.h. */
#include "io/graph/row_names.h"

#include "io/graph/look.h"

enum { DIGITS = 9 };

typedef struct row {
    int64_t fields;
    bool full;    /* the last of them is not empty */
    bool quoted;  /* the first is in quotes, and another that is a number is not */
    int64_t name; /* the first as a whole number; -1: it is none */
} row;

static int64_t whole_of(const twi_field *field)
{
    int64_t value = 0;
    const int64_t length = field->end - field->begin;
    for (const char *at = field->begin; at < field->end; at++) {
        if (*at < '0' || *at > '9' || length > DIGITS) {
            return -1;
        }
        value = value * 10 + (*at - '0');
    }
    return length > 0 ? value : -1;
}

static bool look_at_row(twi_text text, char separator, row *out)
{
    twi_field field;
    twi_found next;
    bool first_quoted = false, bare_number = false;
    *out = (row){.name = -1};
    while ((next = twi_field_next(&text, separator, out->fields == 0, &field)) == TWI_FIELD) {
        if (out->fields == 0) {
            out->name = whole_of(&field);
            first_quoted = field.quoted;
        } else {
            bare_number |= !field.quoted && twi_field_is_number(text.rules, &field);
        }
        out->fields++;
        out->full = field.begin < field.end;
    }
    out->quoted = first_quoted && bare_number;
    return next == TWI_LINE_END;
}

twi_rows twi_rows_look(twi_text head, char separator, int64_t titles)
{
    int64_t names[TWI_SAMPLED];
    int64_t rows = 0, ignored = 0;
    bool full = false, counted = true, marked = true;
    for (; rows < TWI_SAMPLED; rows++) {
        row line;
        twi_text_skip_line(&head);
        if (!twi_text_next_line(&head) || !twi_look_for_line(&head, &ignored)) {
            break;
        }
        if (!look_at_row(head, separator, &line) || line.fields != titles + 1) {
            return TWI_ROWS_PLAIN;
        }
        names[rows] = line.name;
        full |= line.full;
        counted &= line.name >= 0 && names[0] <= 1 && line.name == names[0] + rows;
        marked &= line.name >= 0 && line.quoted;
        for (int64_t r = 0; r < rows; r++) {
            marked &= names[r] != line.name;
        }
    }
    if (!full) { /* no lines, or all of them end in a separator */
        return TWI_ROWS_PLAIN;
    }
    return marked || (counted && rows > 1) ? TWI_ROWS_NAMED : TWI_ROWS_UNTITLED;
}

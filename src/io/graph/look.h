/*
 * What the fields of a line of an edge list look like: numbers, titles, names, and which columns
 * they would be. Who settles the columns (columns.h) looks at the first lines this way.
 */
#ifndef TWI_IO_GRAPH_LOOK_H
#define TWI_IO_GRAPH_LOOK_H

#include "io/graph/fields.h"
#include "io/graph/titles.h"

/* What columns are wanted for: 1 << TWI_FROM is TWI_TITLE_SOURCE, and so on. */
enum { TWI_FROM, TWI_TO, TWI_WEIGHT, TWI_WISHES };
enum { TWI_ENDS = 2, TWI_LISTED = 160 };
enum { TWI_SAMPLED = 16 }; /* lines that settle what all of them are */

/* A column that is asked for, and what the first line has of it. */
typedef struct twi_wish {
    const char *option; /* by number or name; NULL: where it usually is */
    const char *what;
    const char *name; /* of the column; NULL: by number */
    int64_t column;   /* 0: not found */
    bool twice;       /* two columns have the name */
} twi_wish;

/* What the fields of a line look like. */
typedef struct twi_look {
    int64_t fields;
    int64_t figures; /* fields that are numbers */
    bool any_quote;
    bool hollow;       /* the first field is empty */
    int64_t titles;    /* of the ends: fields that are known titles */
    bool spelt;        /* one of them, of more than a letter, is the title of its own end */
    int64_t elsewhere; /* known titles of ends in other columns */
    int told;          /* ends whose title is one of their own: bits of titles.h */
    int64_t weighted;  /* the first column with a known title of weights; 0: none */
    int64_t weights;   /* how many have one */
    int64_t
        said[TWI_WISHES]; /* the only column with a known title of its kind; 0: none; -1: several */
    int64_t ways[TWI_WAYS]; /* the first column that says whether an edge counts both ways, of each
                               kind; 0: none */
    int all;                /* bits that any title has, as of titles.h */
    bool unknown;           /* some have none, but not the first for want of a title */
    int64_t numbers;        /* of the ends: fields that are numbers */
    bool number_like;       /* one of the ends begins like a number */
    bool weight_like;       /* so does the weight */
    int weight_title;       /* of the weight: bits of titles.h */
    twi_field weight_field;
    bool names;       /* one of the ends is a name, in a table */
    bool torn;        /* one of the ends is a number, a blank, and more */
    bool braced;      /* the third field begins with a brace: attributes, as NetworkX has them */
    bool quote_split; /* a field has one of two quotes: the separator stands between them */
    twi_field ends[TWI_ENDS];
    char list[TWI_LISTED]; /* the fields, for a sentence */
} twi_look;

/* To the first line that is neither empty, of separators alone, nor a comment; false if there is
 * none. `head` is then at its first field, which is empty if a tab comes before all else. *vertices
 * is what a comment "# vertices: N" says. */
bool twi_look_for_line(twi_text *head, int64_t *vertices);

/* The fields of the line at `text`, the wishes by name among them found. False, and *failed, for a
 * line that cannot be split. */
bool twi_look_at(twi_text text, char separator, twi_wish wishes[TWI_WISHES], twi_look *out,
                 twi_text *failed);

#endif

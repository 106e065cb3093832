/*
 * The columns of an edge list: what separates its fields, whether its first line names them, which
 * of them hold the ends and the weight of an edge, and whether the ends are names. All of it is
 * settled by the options and the first lines of data.
 */
#ifndef TWI_IO_GRAPH_COLUMNS_H
#define TWI_IO_GRAPH_COLUMNS_H

#include "io/graph/fields.h"
#include "io/graph/titles.h"

typedef struct twi_columns {
    char given;     /* the separator that the file names itself; 0: none */
    char separator; /* ',', ';', '\t', '|' or ' ' */
    int64_t from;   /* all from 1 */
    int64_t to;
    int64_t weight;         /* 0: none */
    int64_t last;           /* of those three */
    int64_t ways[TWI_WAYS]; /* which say whether an edge counts both ways, by kind; 0: none */
    int64_t span;           /* the last of all these */
    int64_t fields;         /* of the first line, and `shift` */
    int64_t shift;          /* 1: lines have the name of a row before what the titles are about */
    bool titles;            /* the first line of data names the columns */
    bool loose;             /* further columns are ignored */
    bool guessed;           /* which nobody said */
    bool unusual;           /* nor do usual words in it */
    bool lone;              /* two words before others: an edge, or titles */
    bool wordy;             /* such words before a weight that is a number */
    bool doubtful;     /* rather titles: one of them is a usual one, or numbers follow below them */
    bool no_edge;      /* the first line can be none */
    bool untitled;     /* lines have one field more than the titles, nobody knows which */
    bool names;        /* the ends are names */
    bool table;        /* by its separator or its extension: names need not be asked for */
    bool quoted;       /* fields are in quotes, if only some */
    twi_field ends[2]; /* of the first line: source and target */
    twi_field
        telling; /* the name that made names of ends that look like indices; empty: none did */
    twi_field weighing; /* the title of the weight, if it may be something else; empty: not so */
} twi_columns;

/* "sep=;" in the first line, as spreadsheets have it: passed over, and what separates fields; 0:
 * there is none. */
char twi_columns_given(twi_text *head);

/* Refuse carriage returns that no LF follows, from `head` to the first line of data: the lines they
 * end would be one line, or one comment. */
TW_CHECKED tw_status twi_columns_check_returns(tw_context *ctx, const twi_input *input,
                                               twi_text head);

/* Whether the line at `text`, which begins like a comment, would be an edge without that: in a
 * table of names "#1 Street,Main,5" is as likely one. */
bool twi_columns_hide_edge(twi_text text, const twi_columns *columns);

/* *out for a list whose first line of data is at `head`. */
TW_CHECKED tw_status twi_columns_settle(tw_context *ctx, const twi_input *input, twi_text *head,
                                        const tw_graph_read_options *opts, twi_columns *out);

/* Refuse titles, in the line at `head`, that do not say for certain which columns are meant. After
 * twi_refuse_dense: a matrix may have titles, too. */
TW_CHECKED tw_status twi_columns_check_titles(tw_context *ctx, const twi_input *input,
                                              const twi_text *head,
                                              const tw_graph_read_options *opts,
                                              const twi_columns *columns);

/* Whether the comment at `text` names columns that are not where they usually are, and nobody said
 * where they are: then false, after twi_text_fail. */
bool twi_columns_check_comment(twi_text *text, const tw_graph_read_options *opts,
                               const twi_columns *columns);

/* Indices in columns 1 and 2, the weight in column 3 or nowhere, nothing quoted, and no column that
 * says which way. */
static inline bool twi_columns_are_plain(const twi_columns *columns)
{
    return !columns->names && !columns->quoted && columns->separator != ';' &&
           columns->separator != '|' && columns->from == 1 && columns->to == 2 &&
           (columns->weight == 0 || columns->weight == 3) && columns->ways[0] == 0 &&
           columns->ways[1] == 0 && columns->ways[2] == 0;
}

#endif

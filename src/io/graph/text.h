/*
 * Reading graphs written as text. A file is cut at line ends into pieces, which threads parse by
 * themselves, each into its own list of edges; the graph is built from the lists in the order of
 * the file. Lines are not counted as they go by: an error remembers its byte, and the line number
 * of the sentence is found from that.
 *
 * Fields are separated by blanks, tabs or commas; a carriage return is a blank.
 */
#ifndef TWI_IO_GRAPH_TEXT_H
#define TWI_IO_GRAPH_TEXT_H

#include "graph/graph.h"
#include "io/graph/edge_blocks.h"
#include "io/input.h"

#define TWI_MOST_EDGES ((int64_t)1 << 60) /* a count beyond it is a mistake */

/* What a format and the options say about all edges of a file. */
typedef struct twi_text_rules {
    int64_t base;     /* the first vertex: 0 or 1 */
    int64_t vertices; /* how many; -1: as many as appear */
    bool unweighted;  /* weights count 1, whatever they say */
    bool real;        /* weights are f64 even if whole */
    bool whole;       /* weights must be whole */
    bool both;        /* each edge makes two arcs */
    bool undirected;
} twi_text_rules;

/* One piece and what its thread has found in it. */
typedef struct twi_text {
    tw_context *ctx;
    const twi_text_rules *rules;
    const char *at;
    const char *end;
    twi_edge_blocks edges;
    int64_t records; /* edges read, whether or not they stay */
    int64_t highest; /* vertex; -1 without any */
    tw_status status;
    const char *error_at;
    char error[256];
} twi_text;

typedef struct twi_text_file {
    tw_context *ctx;
    const twi_input *input;
    twi_text_rules rules;
    twi_text *pieces;
    int64_t piece_count;
} twi_text_file;

/* ------------------------------------------------------------------------------ the file */

/* A text over the whole input but for a byte order mark, for the header of a file; nothing to
 * free. */
twi_text twi_text_head(tw_context *ctx, const twi_input *input, const twi_text_rules *rules);
/* The sentence of a failed text: "FILE:LINE: ...". */
tw_status twi_text_report(tw_context *ctx, const twi_input *input, const twi_text *text);

/* Cuts the file from `begin` on into pieces; a single one if `in_order`. file->rules is set
 * before. */
TW_CHECKED tw_status twi_text_cut(twi_text_file *file, tw_context *ctx, const twi_input *input,
                                  const char *begin, bool in_order);

/* Called at the first character of a line that is not blank; leaves text->at behind what it has
 * read. False after twi_text_fail. */
typedef bool (*twi_line_fn)(twi_text *text, const void *self);

/* Calls `line` for every line of every piece, on all threads. */
TW_CHECKED tw_status twi_text_parse(twi_text_file *file, twi_line_fn line, const void *self);

int64_t twi_text_records(const twi_text_file *file);
int64_t twi_text_highest(const twi_text_file *file);

/* Builds the graph of everything that was parsed. */
TW_CHECKED tw_status twi_text_build(twi_text_file *file, tw_graph **out, int64_t vertices);
void twi_text_clear(twi_text_file *file);

/* ------------------------------------------------------------------------------- one line */

/* Records an error at `at` (NULL: here) and returns false. */
bool twi_text_fail(twi_text *text, tw_status status, const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "'abc' is not a weight", for the field at `at`. */
bool twi_text_not(twi_text *text, const char *at, const char *wanted);

/* As much of [begin, end) as `room` holds, ended by a zero, for a sentence: whole characters of
 * UTF-8, and '?' for every byte that does not print. Returns where it stopped. */
const char *twi_text_show(char *out, size_t room, const char *begin, const char *end);

static inline bool twi_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool twi_text_is_break(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

static inline void twi_text_skip_blanks(twi_text *text)
{
    while (text->at < text->end && twi_text_is_blank(*text->at)) {
        text->at++;
    }
}

/* At the end of the line, blanks skipped. */
static inline bool twi_text_line_ends(twi_text *text)
{
    twi_text_skip_blanks(text);
    return text->at == text->end || *text->at == '\n';
}

/* To the end of this line, before its newline. */
void twi_text_skip_line(twi_text *text);
/* To the begin of the next line; false at the end of the text. */
static inline bool twi_text_next_line(twi_text *text)
{
    if (text->at < text->end && *text->at == '\n') {
        text->at++;
    }
    return text->at < text->end;
}

typedef struct twi_number {
    bool whole; /* written without point or exponent */
    int64_t integer;
    double real;
} twi_number;

/* A number that the quick path of twi_text_number does not take. */
bool twi_text_slow_number(twi_text *text, twi_number *out, const char *wanted);

/* A whole number of at most 18 digits, or else the slow way. Blanks before it are skipped. */
static inline bool twi_text_number(twi_text *text, twi_number *out, const char *wanted)
{
    twi_text_skip_blanks(text);
    const char *at = text->at;
    const char *end = text->end;
    bool negative = at < end && *at == '-';
    at += negative;
    const char *digits = at;
    int64_t value = 0;
    while (at < end && (unsigned char)(*at - '0') < 10 && at - digits < 18) {
        value = value * 10 + (*at++ - '0');
    }
    if (at == digits || (at < end && !twi_text_is_break(*at))) {
        return twi_text_slow_number(text, out, wanted);
    }
    value = negative ? -value : value;
    *out = (twi_number){true, value, (double)value};
    text->at = at;
    return true;
}

/* A whole number; `wanted` names it in the sentence ("a number of vertices"). */
bool twi_text_whole(twi_text *text, int64_t *out, const char *wanted);
/* A count of vertices or edges: whole and not negative; vertices at most 2^31 - 1. */
bool twi_text_count(twi_text *text, int64_t *out, const char *wanted, int64_t most);

bool twi_text_bad_vertex(twi_text *text, const char *at, const twi_number *number);

/* A vertex, as an index from 0. */
static inline bool twi_text_vertex(twi_text *text, int32_t *out)
{
    twi_number number;
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!twi_text_number(text, &number,
                         text->rules->vertices < 0 ? "a vertex number; vertex names need --ids"
                                                   : "a vertex")) {
        return false;
    }
    int64_t index = number.integer - text->rules->base;
    int64_t most = text->rules->vertices < 0 ? TWI_MOST_VERTICES : text->rules->vertices;
    if (__builtin_expect(!number.whole || index < 0 || index >= most, 0)) {
        return twi_text_bad_vertex(text, at, &number);
    }
    text->highest = index > text->highest ? index : text->highest;
    *out = (int32_t)index;
    return true;
}

/* Keeps the edge, its weight checked; `at` is the place of the weight. */
bool twi_text_add(twi_text *text, const char *at, int32_t source, int32_t target,
                  const twi_number *weight);

#endif

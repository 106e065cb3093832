/*
 * Reading graphs written as text: the lines. Who reads a file parses lines into edges by what is
 * declared here; the file itself, which comes in pieces, is in pieces.h.
 *
 * Fields are separated by blanks, tabs or commas; a carriage return is a blank.
 */
#ifndef TWI_IO_GRAPH_TEXT_H
#define TWI_IO_GRAPH_TEXT_H

#include "graph/graph.h"
#include "io/graph/edge_blocks.h"
#include "io/input.h"

#include <string.h>

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
    bool tabs; /* separate fields: one before all else ends an empty field */
} twi_text_rules;

/* Lines that are being parsed, and what has been found in those and in others before. */
typedef struct twi_text {
    tw_context *ctx;
    const twi_text_rules *rules;
    const char *at;
    const char *end;
    int64_t lines; /* ended since it was set */
    twi_edge_blocks edges;
    int64_t records; /* edges read, whether or not they stay */
    int64_t highest; /* vertex; -1 without any */
    tw_status status;
    const char *error_at;
    char error[256]; /* "": the edges take more memory than there is */
} twi_text;

/* ---------------------------------------------------------------------- the head of a file */

/* Have the first lines of the input in memory: all that are blank or comments, which begin with one
 * of the characters `comments` (a letter being a word), and some more. */
TW_CHECKED tw_status twi_text_open(tw_context *ctx, twi_input *input, const char *comments);

/* A text over these lines but for a byte order mark, for the header of a file; nothing to free. */
twi_text twi_text_head(tw_context *ctx, const twi_input *input, const twi_text_rules *rules);
/* The sentence of a failed head: "FILE:LINE: ...". */
tw_status twi_text_report(tw_context *ctx, const twi_input *input, const twi_text *text);
/* Lines that end in [begin, end). */
int64_t twi_text_count_lines(const char *begin, const char *end);

/* --------------------------------------------------------------------------------- all lines */

/* Called at the first character of a line that is not blank, or at a tab before it that ends an
 * empty field; leaves text->at behind what it has read. False after twi_text_fail. */
typedef bool (*twi_line_fn)(twi_text *text, const void *self);

/* Calls `line` for every line of the text. False after twi_text_fail. */
bool twi_text_each_line(twi_text *text, twi_line_fn line, const void *self);

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

/* Whether nothing is in the line but blanks and this separator, which is none of a blank: rows of a
 * spreadsheet that have been emptied. `text` is at the first character that is not blank. */
static inline bool twi_text_is_hollow(const twi_text *text, char separator)
{
    const char *at = text->at;
    if (separator != ',' && separator != ';' && separator != '|') {
        return false;
    }
    while (at < text->end && (*at == separator || twi_text_is_blank(*at))) {
        at++;
    }
    return at == text->end || *at == '\n';
}

/* The first tab of the blanks in [begin, at), where tabs may separate fields, else `at`. */
static inline const char *twi_text_first_field(const char *begin, const char *at)
{
    while (begin < at && *begin != '\t') {
        begin++;
    }
    return begin;
}

/* To the end of this line, before its newline. */
void twi_text_skip_line(twi_text *text);
/* To the begin of the next line; false at the end of the text. */
static inline bool twi_text_next_line(twi_text *text)
{
    if (text->at < text->end && *text->at == '\n') {
        text->at++;
        text->lines++;
    }
    return text->at < text->end;
}

typedef struct twi_number {
    bool whole; /* written without point or exponent */
    int64_t integer;
    double real;
} twi_number;

/* A number that the quick paths of twi_text_number do not take. */
bool twi_text_slow_number(twi_text *text, twi_number *out, const char *wanted);

/* "-12.25", if its digits and their power of ten are exact in a double; else false, and nothing is
 * changed. */
bool twi_text_quick_decimal(twi_text *text, twi_number *out);

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
        return at < end && *at == '.' && twi_text_quick_decimal(text, out)
                   ? true
                   : twi_text_slow_number(text, out, wanted);
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

/* Records that there is no memory for another edge, and returns false. */
bool twi_text_no_memory(twi_text *text);

/* ----------------------------------------------------------------------- three plain numbers */

/* Digits at `at`, at most seven, of which eight bytes can be read: their number, and their value in
 * *out. Eight bytes are looked at together, without a branch on how many of them are digits: the
 * lengths of numbers are what a processor cannot guess. */
static inline int twi_text_digits(const char *at, uint32_t *out)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= 0x3030303030303030; /* digits are 0 ... 9 now, anything else is more */
    const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
    const int bits = others != 0 ? __builtin_ctzll(others) & ~7 : 0; /* 0: none, or too many */
    word = bits != 0 ? word << (64 - bits) : 0; /* the last digit in the highest byte */
    word = word * 10 + (word >> 8);             /* pairs, in every other byte */
    const uint64_t pairs = 0x000000FF000000FF;
    *out = (uint32_t)(((word & pairs) * (100 + (1000000ULL << 32)) +
                       ((word >> 16) & pairs) * (1 + (10000ULL << 32))) >>
                      32);
    return bits / 8;
}

#define TWI_QUICK_LINE                                                        \
    32 /* bytes that have to follow: more than three numbers and what follows \
        */

/* "12 34 56" and the end of the line, with one separator between the numbers: most lines of most
 * files. Keeps the edge, or fails for want of memory (text->status), and leaves text->at before the
 * newline; or returns false and changes nothing, and the line is read as any other, which also says
 * what is wrong with it. Without `weighted` the weight is 1. */
static inline bool twi_text_quick_edge(twi_text *text, const char *at, char separator,
                                       bool weighted)
{
    const twi_text_rules *rules = text->rules;
    uint32_t ends[2];
    uint32_t weight = 1;
    if (text->end - at < TWI_QUICK_LINE || rules->real || rules->unweighted) {
        return false;
    }
    for (int e = 0; e < 2; e++) {
        const int length = twi_text_digits(at, &ends[e]);
        if (length == 0 || (length > 1 && *at == '0')) { /* "007" may be a name */
            return false;
        }
        at += length;
        if (*at != separator && (e == 0 || weighted)) {
            return false;
        }
        at += e == 0 || weighted;
    }
    if (weighted) {
        const int length = twi_text_digits(at, &weight);
        at += length;
        if (length == 0) {
            return false;
        }
    }
    at += *at == '\r';
    const int64_t source = (int64_t)ends[0] - rules->base;
    const int64_t target = (int64_t)ends[1] - rules->base;
    const int64_t most = rules->vertices < 0 ? TWI_MOST_VERTICES : rules->vertices;
    if (*at != '\n' || source < 0 || target < 0 || source >= most || target >= most) {
        return false;
    }
    if (__builtin_expect(!twi_edge_blocks_add(text->ctx, &text->edges, (int32_t)source,
                                              (int32_t)target, (int32_t)weight),
                         0)) {
        (void)twi_text_no_memory(text);
    }
    const int64_t higher = source > target ? source : target;
    text->highest = higher > text->highest ? higher : text->highest;
    text->records++;
    text->at = at;
    return true;
}

/* Keeps the edge, its weight checked; `at` is the place of the weight. */
bool twi_text_add(twi_text *text, const char *at, int32_t source, int32_t target,
                  const twi_number *weight);

#endif

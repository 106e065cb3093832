/*
 * Reading graphs written as text: the file. It is read in pieces, cut at line ends, and never as a
 * whole: threads take one piece after the other, each into a buffer of its own, and parse it into a
 * list of edges of their own; the graph is built from the lists in the order of the file. What
 * comes in order alone (a pipe, a compressed file) is read into one buffer, whose lines all threads
 * parse, and then the next. So the text takes no memory beside its edges, however long it is.
 *
 * An error remembers its byte; the line number of the sentence is found from that and from how many
 * lines the pieces before it had.
 */
#ifndef TWI_IO_GRAPH_PIECES_H
#define TWI_IO_GRAPH_PIECES_H

#include "io/graph/text.h"

/* Of the edges of a piece is known who has them: each thread's are in the order of its pieces. */
typedef struct twi_text_piece {
    int64_t edges;
    int64_t lines;
    int32_t lane; /* the thread */
} twi_text_piece;

typedef struct twi_text_file {
    tw_context *ctx;
    twi_input *input;
    twi_text_rules rules;
    uint64_t begin; /* of the lines, in bytes of the input */
    uint64_t piece; /* bytes of one */
    struct twi_text_lane *lanes;
    int32_t lane_count;
    twi_text_piece *pieces;
    int64_t piece_count;
    int64_t piece_room;
    bool guessed;           /* how many vertices there are, from a sample of their names */
    uint64_t names;         /* bytes that names which were counted take beyond those they have */
    uint64_t reading_names; /* the same while they are read */
    uint64_t kept_names;    /* and when the graph has them */
} twi_text_file;

/* To parse the input from `begin` on, which is in its head; by one thread if `in_order`.
 * file->rules is set before. */
TW_CHECKED tw_status twi_text_cut(twi_text_file *file, tw_context *ctx, twi_input *input,
                                  const char *begin, bool in_order);

/* Calls `line` for every line, on all threads. A flow is gone afterwards. */
TW_CHECKED tw_status twi_text_parse(twi_text_file *file, twi_line_fn line, const void *self);

/* Called with whole lines, which it passes by twi_text_next_line. False after twi_text_fail. */
typedef bool (*twi_lines_fn)(twi_text *text, void *self);

/* Calls `lines` for one piece after the other of a file that was cut in order. */
TW_CHECKED tw_status twi_text_parse_in_order(twi_text_file *file, twi_lines_fn lines, void *self);

/* The sentence for what is wrong with the file as a whole, found at its end. */
tw_status twi_text_report_end(const twi_text_file *file, const char *sentence);

int64_t twi_text_records(const twi_text_file *file);
int64_t twi_text_highest(const twi_text_file *file);

/* Builds the graph of everything that was parsed. */
TW_CHECKED tw_status twi_text_build(twi_text_file *file, tw_graph **out, int64_t vertices);
void twi_text_clear(twi_text_file *file);

#endif

/*
 * What a list of edges leaves in doubt: asked about where an answer would be wrong if it were taken
 * the other way, and mentioned in a line of the log where that is merely likely.
 */
#ifndef TWI_IO_GRAPH_DOUBTS_H
#define TWI_IO_GRAPH_DOUBTS_H

#include "io/graph/columns.h"
#include "io/graph/remarks.h"

/* The first line may be a header although a number is in it, as in "from,to,2024", or only one end
 * has a usual title, as in "from,stop". */
TW_CHECKED tw_status twi_ask_for_header(tw_context *ctx, const twi_input *input,
                                        const twi_columns *columns);

/* An edge of words that no other line has is doubtful, or at least worth a word. */
TW_CHECKED tw_status twi_check_first_edge(tw_context *ctx, const twi_input *input,
                                          const twi_columns *columns, const tw_graph *graph);

/* Many lists count from 1, and others have identifiers: there are vertices then that nobody meant.
 * `records` is how many edges were read. */
void twi_mention_gaps(tw_context *ctx, const twi_input *input, const tw_graph *graph,
                      int64_t records);

/* A third column whose title is not known may be no weight. */
void twi_mention_weight(tw_context *ctx, const twi_input *input, const twi_columns *columns);

/* Names of rows that have no title are told by their looks. */
void twi_mention_rows(tw_context *ctx, const twi_input *input, const twi_columns *columns);

/* That ends are names is news to whoever thought that they are numbers. */
void twi_mention_name(tw_context *ctx, const twi_input *input, const twi_field *name);

/* Which way edges count may be in a comment that nobody can be sure to understand. */
void twi_mention_undirected(tw_context *ctx, const twi_input *input, const twi_remarks *remarks,
                            const tw_graph_read_options *opts, const tw_graph *graph);

#endif

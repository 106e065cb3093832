/*
 * A matrix of weights as text, where a list of edges is expected: nine numbers in three lines may
 * be either, and one taken for the other is a graph that nobody meant.
 */
#ifndef TWI_IO_GRAPH_DENSE_H
#define TWI_IO_GRAPH_DENSE_H

#include "io/graph/columns.h"

/* Refuse what looks like a matrix, unless an option or the extension says that it is a list.
 * `head` is at the first line of data. */
TW_CHECKED tw_status twi_refuse_dense(tw_context *ctx, const twi_input *input, const twi_text *head,
                                      const twi_columns *columns,
                                      const tw_graph_read_options *opts);

#endif

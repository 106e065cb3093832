/*
 * Files that are no list of edges and none of the other formats of text, told by how they begin:
 * what other programs write graphs as, pages, archives, images. Each is refused by its name, rather
 * than read as the edges that its words might be.
 */
#ifndef TWI_IO_GRAPH_STRANGERS_H
#define TWI_IO_GRAPH_STRANGERS_H

#include "io/input.h"

/* Refuses what is known to be something else, and what is no text at all. Has the first lines of
 * the input in memory afterwards. */
TW_CHECKED tw_status twi_refuse_strangers(tw_context *ctx, twi_input *input);

#endif

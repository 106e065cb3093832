/*
 * Graph formats: one file each, and one table (formats.c) that drives reading, writing and
 * recognition. To add a format, write its file and add its row.
 */
#ifndef TWI_IO_GRAPH_FORMAT_H
#define TWI_IO_GRAPH_FORMAT_H

#include "graph/graph.h"
#include "io/input.h"
#include "io/print.h"

typedef struct twi_graph_format {
    const char *name;
    const char *extensions; /* by blanks */
    bool in_pieces;         /* read from any input; else from one that is in memory as a whole */
    tw_status (*read)(tw_context *ctx, tw_graph **out, twi_input *input,
                      const tw_graph_read_options *opts);
    /* Refuses, by what the head of the file says, what will not fit in memory: with all that
     * reading and building takes. NULL: nothing is known before it is read. */
    tw_status (*check)(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts);
    /* Writes into `printer`; `extension` is that of the file, "" if none. */
    tw_status (*write)(twi_printer *printer, const tw_graph *graph, const char *extension);
} twi_graph_format;

/* By name; NULL, and a sentence that lists the names, if there is none. */
const twi_graph_format *twi_graph_format_named(tw_context *ctx, const char *name);
/* By the extension of the path; NULL when it has none that is known. */
TWI_SHARED const twi_graph_format *twi_graph_format_of_path(const char *path);
/* By the first bytes and the size; never NULL: what nothing else recognises is an edge list. */
const twi_graph_format *twi_graph_format_of_bytes(const twi_input *input);

/* Whether the edges of a file count both ways and what the graph says of itself, given what the
 * format says and what the caller wants. */
static inline bool twi_read_both(const tw_graph_read_options *opts, bool file_undirected)
{
    return file_undirected || opts->directed == TW_GRAPH_DIRECTED_NO;
}
static inline bool twi_read_undirected(const tw_graph_read_options *opts, bool file_undirected)
{
    return opts->directed == TW_GRAPH_DIRECTED_AS_FILE ? file_undirected
                                                       : opts->directed == TW_GRAPH_DIRECTED_NO;
}

/* tw_graph_read from memory; `name` stands for the file in error sentences and by its
 * extension. */
TW_CHECKED tw_status twi_graph_read_memory(tw_context *ctx, tw_graph **out, const void *bytes,
                                           uint64_t size, const char *name,
                                           const tw_graph_read_options *opts);

/* The same from an input that is open and stays so, its name being that of the file. */
TW_CHECKED tw_status twi_graph_read_input(tw_context *ctx, tw_graph **out, twi_input *input,
                                          const tw_graph_read_options *opts);

#define TWI_DECLARE_FORMAT(format)                                                   \
    tw_status twi_##format##_read(tw_context *ctx, tw_graph **out, twi_input *input, \
                                  const tw_graph_read_options *opts);                \
    tw_status twi_##format##_write(twi_printer *printer, const tw_graph *graph,      \
                                   const char *extension)
TWI_DECLARE_FORMAT(triples);
TWI_DECLARE_FORMAT(dimacs);
TWI_DECLARE_FORMAT(mtx);
TWI_DECLARE_FORMAT(edges);
TWI_DECLARE_FORMAT(metis);
TWI_DECLARE_FORMAT(npy);
TWI_DECLARE_FORMAT(npz);
#undef TWI_DECLARE_FORMAT
tw_status twi_triples_check(tw_context *ctx, const twi_input *input,
                            const tw_graph_read_options *opts);
tw_status twi_npz_check(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts);
tw_status twi_npy_check(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts);

/* In place of 1 in tw_graph_read_options.ids: nobody asked for names, but they are. */
#define TWI_IDS_FOUND 2

/* The sentence for a list whose vertices turned out to be names, from the one that says why they
 * are no indices. */
#define TWI_WHY_NAMES 640
void twi_edges_why_names(const tw_context *ctx, char why[TWI_WHY_NAMES]);

/* What begins a file of the format, for recognition by content. */
TWI_SHARED bool twi_triples_recognised(const twi_input *input);
bool twi_dimacs_recognised(const twi_input *input);
bool twi_mtx_recognised(const twi_input *input);
bool twi_npz_recognised(const twi_input *input);

#endif

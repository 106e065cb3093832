/* The options of the commands that read a graph, and the reading. */
#ifndef CLI_READING_H
#define CLI_READING_H

#include "frame/job.h"

/* The first member of their settings. */
typedef struct cli_reading {
    cli_common common;
    const char *format;
    int32_t directed;
    int32_t unweighted;
    int32_t ids;
    const char *from;
    const char *to;
    const char *weight;
    const char *no_edge;
    int32_t header; /* TW_GRAPH_HEADER_* */
} cli_reading;

extern const cli_option cli_reading_options[];

#define CLI_READING_INIT                                                                \
    {                                                                                   \
        CLI_COMMON_INIT, NULL, TW_GRAPH_DIRECTED_AS_FILE, 0, 0, NULL, NULL, NULL, NULL, \
            TW_GRAPH_HEADER_AUTO                                                        \
    }

/* The options of the command line as tw_graph_read takes them. *mark stays where it is as long as
 * they are used. */
TW_CHECKED tw_status cli_read_options(tw_context *ctx, tw_graph_read_options *out, double *mark,
                                      const cli_reading *reading);

/* Columns are those of an edge list, and --no-edge is about entries of a matrix: refuse those that
 * a file whose name says that it is something else would do nothing with. */
TW_CHECKED tw_status cli_reading_check(const cli_job *job, const char *path,
                                       const cli_reading *reading);
/* A first line that only looks like a header may be an edge. */
void cli_say_header(const cli_job *job, const char *path, const tw_graph_info *about);

/* Read a graph with them. */
TW_CHECKED tw_status cli_read_graph(cli_job *job, tw_graph **out, const char *path,
                                    const cli_reading *reading);

#endif

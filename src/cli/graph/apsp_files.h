/* The files of apsp, which it has here and over MPI: what can be told of them before anything is
 * read, and the sinks of those that are text. */
#ifndef CLI_APSP_FILES_H
#define CLI_APSP_FILES_H

#include "cli/graph/answers.h"
#include "cli/graph/names.h"

#include <stdbool.h>

typedef struct cli_apsp_files {
    const char *input;
    const char *output; /* NULL: none, as of all that follow */
    const char *format;
    const char *predecessors;
    const char *checkpoint;
    const char *sources; /* as they were given: "@FILE" is a file */
    const char *targets;
    bool in_lines; /* --long */
    bool labels;
    char row_labels[CLI_LABEL_PATH], col_labels[CLI_LABEL_PATH]; /* with --labels */
    char older[CLI_LABEL_PATH]; /* the checkpoint before the newest */
} cli_apsp_files;

/* --long and --labels say how OUT is written, and what beside it. */
TW_CHECKED tw_status cli_apsp_check_names(tw_context *ctx, cli_apsp_files *files);

/* Refuse files that would take the place of each other or of an input, and what is no checkpoint's
 * name. */
TW_CHECKED tw_status cli_apsp_check_files(const cli_job *job, cli_apsp_files *files,
                                          const cli_answers *answers);

/* Refuse what is about another method than the one that is asked for. */
TW_CHECKED tw_status cli_apsp_check_method(const cli_job *job, tw_apsp_method method);

/* The sink of OUT. An unknown extension is no hindrance if the format is said. */
TW_CHECKED tw_status cli_apsp_output_sink(tw_context *ctx, tw_sink *sink, const char *path,
                                          const char *format);

/* Whether a matrix of this name and format is text in which vertices have names. */
bool cli_apsp_has_names(const tw_graph_info *about, const char *path, const char *format);

/* The vertices of the rows and columns of OUT, into the files of --labels. */
TW_CHECKED tw_status cli_apsp_write_labels(tw_context *ctx, const cli_apsp_files *files,
                                           const tw_graph *graph, const tw_apsp_options *opts);

/* Text shows vertices as the graph's file counts or names them; a binary matrix is for programs,
 * whose rows and columns begin with 0, and names would not fit either: what `sink` will write of
 * predecessors is counted so, or it is said how it is. */
void cli_apsp_count_predecessors(const cli_job *job, const cli_apsp_files *files,
                                 const tw_graph_info *about, cli_counted *counted, tw_sink *sink);

/* Whether the file systems of OUT and --predecessors have room for results of that shape; see
 * cli_check_room. Pairs with a path alone are listed by --long: nobody knows how many those are. */
TW_CHECKED tw_status cli_apsp_check_room(tw_context *ctx, const cli_apsp_files *files,
                                         const tw_graph_info *about, const tw_shape *shape);

#endif

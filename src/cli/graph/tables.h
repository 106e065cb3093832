/* The names that a matrix has for its rows and columns: in a .csv those above and before its
 * numbers, of another matrix those that 'apsp --labels' wrote beside it. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/graph/vertices.h"
#include "cli/shared/files.h"
#include "frame/job.h"

#include <tilewright.h>

typedef struct cli_table_names {
    tw_graph *graph; /* without arcs, whose vertices have the names; NULL: there are none */
    cli_vertices rows, cols;
} cli_table_names;

/* The names of the matrix `path`, which `source` reads, if it has any. Those beside it are left
 * alone if they are older than it, or not as many as there are rows and columns, which is said. */
TW_CHECKED tw_status cli_table_names_find(cli_job *job, const char *path, const char *format,
                                          const tw_source *source, cli_table_names *out);
void cli_table_names_clear(cli_table_names *names);

/* Refuse names that are not as many as there are rows and columns. */
TW_CHECKED tw_status cli_table_names_check(tw_context *ctx, const cli_table_names *names,
                                           const tw_shape *shape);

/* Refuse names beside `dist` that are older than it. */
TW_CHECKED tw_status cli_check_labels(tw_context *ctx, const char *dist);

/* Refuse an output that --labels is not given for, where names of another matrix lie beside it;
 * `instead` is what to do. A .csv has its names in itself. */
TW_CHECKED tw_status cli_refuse_foreign_labels(tw_context *ctx, const cli_file *output,
                                               const char *format, const char *instead);

/* A name that two rows or two columns have, so that it says nothing of which is meant; *twice is
 * NULL if there is none. */
TW_CHECKED tw_status cli_table_names_twice(tw_context *ctx, const cli_table_names *names,
                                           const char **twice);

/* For each of `count` vertices of `graph`, those of `list` (NULL: the first ones), where `order` of
 * `names` has one of that name: *out, to be freed. *missing is the first name that is not there, or
 * NULL. */
TW_CHECKED tw_status cli_table_names_match(tw_context *ctx, const cli_table_names *names,
                                           const cli_vertices *order, const tw_graph *graph,
                                           const int32_t *list, int64_t count, int32_t **out,
                                           const char **missing);

/* After tw_matrix_source has returned `status`, the same again: where it could not read `path`
 * because that is a list of edges, the sentence says what makes a matrix of it. */
TW_CHECKED tw_status cli_mention_edges(tw_context *ctx, const char *path, const char *format,
                                       tw_status status);

#endif

/* Vertices on their way out, by the names that their file gives them. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/graph/vertices.h"
#include "frame/report.h"

#include <tilewright.h>

#include <stdio.h>

/* A vertex in a report: its label, or its number as its file counts. Graph NULL: from 0. */
void cli_report_vertex(cli_report *report, const char *key, const tw_graph *graph, int64_t vertex);

/* One number for each of `rows` vertices, those of `list` (NULL: all in order), as a column in a
 * file; in a .csv beside the names that the graph gives them, if it does. `type` is TW_I32 or
 * TW_F64; `name` heads the column. */
TW_CHECKED tw_status cli_write_column(tw_context *ctx, const tw_graph *graph, const int32_t *list,
                                      int64_t rows, const char *name, const void *values,
                                      tw_type type, const char *path);

/* Rows of vertices on their way into `inner`, counted from `first` instead of 0; what is negative
 * is no vertex and stays. Begin, end and abort are those of `inner`. */
typedef struct cli_counted {
    tw_sink inner;
    int32_t first;
    int64_t cols;
    int32_t *row;
} cli_counted;
void cli_counted_sink(cli_counted *counted, tw_sink *out);
void cli_counted_clear(cli_counted *counted);

/* What 'apsp --labels' wrote beside a matrix: a graph without arcs that has the names, and the
 * vertices of the matrix's rows and columns in it. */
TW_CHECKED tw_status cli_read_labels(tw_context *ctx, const char *dist, tw_graph **graph,
                                     cli_vertices *rows, cli_vertices *cols);

/* The same of the names that a .csv matrix has above its columns and before its rows, if it has
 * any: else *graph stays NULL. They are those of the source, or, where it has none, because its
 * entries are vertices or it is not there (NULL), those in the file itself. */
TW_CHECKED tw_status cli_read_table_names(tw_context *ctx, const char *dist,
                                          const tw_source *source, tw_graph **graph,
                                          cli_vertices *rows, cli_vertices *cols);

/* The length of the field that a line begins with; commas in quotes are part of it. */
size_t cli_field_length(const char *line);
/* A line of text at its first character that is no blank, or NULL at the end. The caller frees
 * *line. */
char *cli_next_line(FILE *in, char **line, size_t *room);

/* The files of --labels: OUT without its extension, and ".rows.txt" or ".cols.txt". */
#define CLI_LABEL_PATH 4096
TW_CHECKED tw_status cli_label_path(tw_context *ctx, char path[CLI_LABEL_PATH], const char *out,
                                    const char *which);

#endif

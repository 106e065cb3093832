/* Vertices on their way out, by the names that their file gives them. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "frame/report.h"

#include <tilewright.h>

/* A vertex in a report: its label, or its number as its file counts. Graph NULL: from 0. */
void cli_report_vertex(cli_report *report, const char *key, const tw_graph *graph, int64_t vertex);

/* One number for each of `rows` vertices, those of `list` (NULL: all in order), as a column in a
 * file; in a .csv beside the names that the graph gives them, if it does. `type` is TW_I32 or
 * TW_F64; `name` heads the column. */
TW_CHECKED tw_status cli_write_column(tw_context *ctx, const tw_graph *graph, const int32_t *list,
                                      int64_t rows, const char *name, const void *values,
                                      tw_type type, const char *path);

/* The files of --labels: OUT without its extension, and ".rows.txt" or ".cols.txt". */
#define CLI_LABEL_PATH 4096
TW_CHECKED tw_status cli_label_path(tw_context *ctx, char path[CLI_LABEL_PATH], const char *out,
                                    const char *which);

#endif

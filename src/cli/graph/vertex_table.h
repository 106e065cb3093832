/* A table whose entries are vertices, by the names that its columns have: what 'apsp
 * --predecessors' writes as .csv of a graph with names. */
#ifndef CLI_VERTEX_TABLE_H
#define CLI_VERTEX_TABLE_H

#include "frame/job.h"

#include <tilewright.h>

#define CLI_NO_VERTEX (-9999) /* as in a file of numbers */

/* After tw_matrix_source has refused `path`: its rows, if it is such a table, as i32 that count the
 * columns from 0. What is none is refused with the sentence that is there. */
TW_CHECKED tw_status cli_vertex_table(cli_job *job, tw_source *out, const char *path,
                                      tw_status refused);

/* Entries v of it become list[v]. */
void cli_vertex_table_renumber(tw_source *table, const int32_t *list);

#endif

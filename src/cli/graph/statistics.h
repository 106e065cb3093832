/* A tw_apsp_summary as text and as JSON, for the commands that show one. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include "frame/report.h"

#include <tilewright.h>

/* How rows, columns and vertices are named. */
typedef struct cli_naming {
    const tw_graph *graph;  /* for labels; NULL: numbers */
    const int32_t *sources; /* the vertex of each row; NULL: row i is vertex i */
    const int32_t *targets;
} cli_naming;

/* A share in percent, in brackets: 100 only of all. */
void cli_print_share(double part, double whole);
/* Lines of "name  value" on standard output, then the histogram if it has one. `info` is what
 * tw_apsp_summary_describe says of the summary. */
void cli_statistics_print(const tw_apsp_summary *summary, const tw_apsp_summary_info *info,
                          const cli_naming *naming);

/* The same as members of the object being written. */
void cli_statistics_report(cli_report *report, const tw_apsp_summary *summary,
                           const tw_apsp_summary_info *info, const cli_naming *naming);

#endif

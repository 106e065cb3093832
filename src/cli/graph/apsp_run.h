/* One run of 'tilewright apsp', from the words of the command line to what is told about it. */
#ifndef CLI_APSP_RUN_H
#define CLI_APSP_RUN_H

#include "cli/graph/answers.h"
#include "cli/graph/apsp_files.h"
#include "cli/graph/names.h"
#include "cli/graph/reading.h"
#include "cli/graph/vertices.h"
#include "cli/shared/checked.h"

typedef struct apsp_settings {
    cli_reading reading;
    const char *output;
    const char *format;
    tw_type type;
    tw_type work_type;
    tw_apsp_method method;
    int64_t block;
    int32_t no_cache;
    const char *checkpoint;
    double every; /* seconds */
    const char *sources;
    const char *targets;
    double cutoff; /* NaN: none */
    const char *predecessors;
    int32_t in_lines; /* --long */
    int32_t labels;
    int32_t summary;
    int64_t verify; /* rows; 0: all; -1: none */
    int32_t explain;
    cli_answers answers;
} apsp_settings;

typedef struct apsp_run {
    cli_job *job;
    const apsp_settings *settings;
    const char *input;
    const char *output; /* NULL: none */
    cli_apsp_files files;
    tw_graph *graph;
    tw_graph_info about; /* the graph, once it is read */
    cli_vertices sources;
    cli_vertices targets;
    tw_apsp_plan *plan;
    tw_apsp_plan_info planned;
    cli_answering answering;
    tw_apsp_verifier *verifier;
    cli_timed verifier_sink;
    cli_gated output_sink;
    cli_gated predecessor_sink;
    cli_counted predecessor_counted; /* between the two, where the file counts from 1 */
    tw_apsp_report report;
    uint64_t memory_before; /* the peak of reading and planning */
    double seconds_read;
    double seconds_plan;  /* the plan, as seen from here */
    double seconds_total; /* from the program's start to the result */
    int64_t verified_rows;
    double ceiling; /* relaxations per second of the working type; 0: not measured */
} apsp_run;

/* On standard error: what will be done, what it needs, and afterwards what it took. */
void apsp_announce(const apsp_run *run);
void apsp_conclude(const apsp_run *run);

/* The --json reports: of a finished run (status TW_OK or TW_ERR_VERIFY), of the plan alone, and of
 * a negative cycle. */
void apsp_report_run(const apsp_run *run, tw_status status);
void apsp_report_plan(const apsp_run *run);
void apsp_report_cycle(const apsp_run *run);

#endif

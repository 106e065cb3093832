/* Runs rungs: check, time, keep. See runner.c. */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "counters.h"
#include "ladder.h"

#include "job.h"

#define LAB_MOST_SIZES 16
#define LAB_MOST_REPEATS 100
#define LAB_MOST_CASES 512

/* One rung at one size, done. */
typedef struct lab_case {
    const lab_rung *rung;
    int64_t n;
    int32_t repeats;
    lab_time times[LAB_MOST_REPEATS]; /* in the order they were taken */
    double median;
    double spread;    /* (slowest - fastest) / median */
    double published; /* milliseconds; 0: none */
    lab_kernel kernel;
    lab_profile profile; /* empty without --counters */
} lab_case;

/* One ladder's run. */
typedef struct lab_run {
    cli_job *job;
    const lab_ladder *ladder;
    int64_t sizes[LAB_MOST_SIZES];
    int32_t size_count;
    bool sizes_given;
    bool published;    /* the authors' sizes, with their figures */
    const char *rungs; /* names by commas; NULL: all */
    int32_t repeat;
    double budget; /* seconds a rung may take for its repetitions before it is content with fewer */
    uint64_t seed;
    const char *folder;     /* of results; NULL: keep none */
    lab_counting *counting; /* NULL: nobody asked for counters */
    bool once;              /* check, run once more for a profiler that watches, keep nothing */
    lab_ceiling ceiling;
    double load; /* of the machine before the first case; -1: unknown */
    lab_case *cases;
    int32_t count;
} lab_run;

/* Run it: a table on standard output as cases end, JSON in the folder after each of them. */
TW_CHECKED tw_status lab_run_ladder(lab_run *run);

/* The median time of a rung at n; 0 if it was not run. */
double lab_median_of(const lab_run *run, const char *rung, int64_t n);

/* The counters of some cases as a table; nothing if none has any (counters.c). */
void lab_print_counters(const lab_case *cases, int32_t count);

/* Write the results so far to FOLDER/LADDER.json, whole or not at all (results.c). */
TW_CHECKED tw_status lab_keep_results(const lab_run *run);

#endif

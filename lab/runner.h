/* Runs rungs: check, time, keep. See runner.c. */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "counters.h"
#include "kept.h"
#include "ladder.h"

#include "frame/job.h"

#define LAB_MOST_SIZES 16
#define LAB_MOST_REPEATS 100
#define LAB_MOST_CASES 512
#define LAB_SENTENCE 512

/* One rung at one size, done. */
typedef struct lab_case {
    const lab_rung *rung;
    int64_t n;
    tw_status status;       /* TW_OK: timed. TW_ERR_VERIFY: wrong. Any other: it could not run. */
    char why[LAB_SENTENCE]; /* unless it was timed */
    int32_t repeats;        /* 0 unless it was timed */
    lab_time times[LAB_MOST_REPEATS]; /* in the order they were taken */
    double median;
    int32_t middle;   /* the repetition that took as long, or the lower one of the two nearest */
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
    lab_kept kept; /* what the folder has of this ladder already */
} lab_run;

/* The parts of a time that a rung may tell apart. */
typedef struct lab_part {
    const char *name;
    size_t place; /* in lab_time */
} lab_part;
enum { LAB_PARTS = 5 };
extern const lab_part lab_parts[LAB_PARTS];
static inline double lab_part_of(const lab_time *time, const lab_part *part)
{
    return *(const double *)((const char *)time + part->place);
}

/* Run it: a table on standard output as cases end, JSON in the folder after each of them. A rung
 * that is wrong or cannot run does not end it: the first makes the job's answer no. Where nothing
 * could be run the status is that of the last rung. */
TW_CHECKED tw_status lab_run_ladder(lab_run *run);
/* Whether others may still run after it: the answer is wrong, or this machine has too little memory
 * or not the hardware. */
bool lab_is_for_one(tw_status status);

/* ------------------------------------------------------------------------------ tables (tables.c)
 */

/* A case below the headings of its size, which come with the first; a note below the last. */
void lab_print_head(const lab_run *run, int64_t n);
void lab_print_case(const lab_run *run, const lab_case *c);
void lab_print_notes(const lab_run *run, int32_t from);
/* What the ceiling is of, and whose the published figures are. */
void lab_print_sources(const lab_run *run);

/* The first rung of the ladder that was timed at n; NULL: none. */
const lab_case *lab_first_at(const lab_run *run, int64_t n);

/* The counters of some cases as a table; nothing if none has any (counters.c). */
void lab_print_counters(const lab_case *cases, int32_t count);

/* ----------------------------------------------------------------------------- results (results.c)
 */

/* Before the first case: read what the folder has of this ladder already into run->kept, for the
 * caller to close. What was measured by another version or elsewhere cannot stand in one file with
 * what comes now, and is refused. */
TW_CHECKED tw_status lab_find_results(lab_run *run);
/* Write the results so far to FOLDER/LADDER.json, whole or not at all, with those of run->kept that
 * were not measured again. */
TW_CHECKED tw_status lab_keep_results(const lab_run *run);

#endif

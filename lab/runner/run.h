/* A ladder's run and its cases: what the runner fills, the tables print and the results keep. */
#ifndef LAB_RUNNER_RUN_H
#define LAB_RUNNER_RUN_H

#include "ladders/ladder.h"
#include "runner/counters.h"
#include "runner/kept.h"

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
    double spread;    /* (slowest - fastest) / median; of one repetition it says nothing */
    double published; /* milliseconds; 0: none */
    double load;      /* of the machine in the minute before it; -1: unknown */
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
    bool turns; /* repetitions of all rungs in turns, not of one rung after another */
    double
        budget; /* seconds a rung may take for its repetitions before it is repeated less often */
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

#endif

/*
 * The versions of row D2 and a histogram that slides, for windows of any side: rungs of entropy-cpu
 * with windows of 5 x 5, and of entropy-cpu-windows with larger ones. See versions.c.
 */
#ifndef LAB_LADDERS_ENTROPY_VERSIONS_H
#define LAB_LADDERS_ENTROPY_VERSIONS_H

#include "ladders/ladder.h"

#define LAB_ENTROPY_LARGEST 31 /* side of a window */

/* What a version solves: n x n elements of LAB_ENTROPY_LEVELS levels, an output for each. */
typedef struct lab_entropy_task {
    tw_context *ctx;
    int64_t n;
    int64_t window; /* elements per side */
    const uint8_t *input;
    float *output;
    int32_t *integrals; /* LAB_ENTROPY_LEVELS images; NULL until a version needs them */
} lab_entropy_task;

typedef struct lab_entropy_version lab_entropy_version;

extern const lab_entropy_version lab_entropy_logarithms; /* v10 */
extern const lab_entropy_version lab_entropy_table;      /* v11 */
extern const lab_entropy_version lab_entropy_counted;    /* v12 */
extern const lab_entropy_version lab_entropy_integral;   /* v13 */
extern const lab_entropy_version lab_entropy_sliding;    /* ours */

/* Solve the task on all threads of its context; rows that are left when it is cancelled stay as
 * they are. Images that it makes are in the task afterwards, for the next one and for the caller
 * to free. */
TW_CHECKED tw_status lab_entropy_run(lab_entropy_task *task, const lab_entropy_version *version,
                                     lab_time *time);

#endif

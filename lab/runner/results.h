/* A run's results as a file. See results.c. */
#ifndef LAB_RUNNER_RESULTS_H
#define LAB_RUNNER_RESULTS_H

#include "runner/run.h"

/* Before the first case: read what the folder has of this ladder already into run->kept, for the
 * caller to close. What was measured elsewhere, or otherwise, cannot stand in one file with what
 * comes now, and is refused. */
TW_CHECKED tw_status lab_find_results(lab_run *run);
/* Write the results so far to FOLDER/LADDER.json, whole or not at all, with those of run->kept that
 * were not measured again. */
TW_CHECKED tw_status lab_keep_results(const lab_run *run);

#endif

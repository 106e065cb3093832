/* Runs rungs: check, time, keep. See runner.c. */
#ifndef LAB_RUNNER_RUNNER_H
#define LAB_RUNNER_RUNNER_H

#include "runner/run.h"

/* Run it: a table on standard output as cases end, JSON in the folder after each of them. A rung
 * that is wrong or cannot run does not end it: the first makes the job's answer no. Where nothing
 * could be run the status is that of the last rung. */
TW_CHECKED tw_status lab_run_ladder(lab_run *run);
/* Whether others may still run after it: the answer is wrong, or this machine has too little memory
 * or not the hardware. */
bool lab_is_for_one(tw_status status);

#endif

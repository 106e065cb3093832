/*
 * What a refused run would need. A run that fails for want of memory has seen only the first thing
 * that does not fit; those behind it are found by a rehearsal: the same run, planned for the same
 * limit and refused nothing, up to the first row that would be read. What it reserves until then
 * nobody touches, so that the process does not grow. Its peak is the limit that a refusal names.
 */
#ifndef CLI_REHEARSAL_H
#define CLI_REHEARSAL_H

#include "frame/job.h"

#define CLI_REHEARSED 'm' /* how rasters are read in a rehearsal: not at all */

/* Whether a run that ended with `status` is to be rehearsed: the sentence is kept, and memory is no
 * longer refused. */
typedef struct cli_rehearsal {
    cli_job *job;
    tw_status status;
    char sentence[1024];
} cli_rehearsal;
bool cli_rehearsal_begin(cli_rehearsal *r, cli_job *job, tw_status status);
/* Where a rehearsal writes: nothing goes into a pipe. */
TW_CHECKED tw_status cli_rehearsal_output(const cli_job *job, const char **output);

/* The end of the rehearsal: the status of the run, and its sentence with the limit that is enough.
 */
TW_CHECKED tw_status cli_rehearsal_end(const cli_rehearsal *r, tw_status rehearsed);

/* Let a source end the rehearsal instead of giving rows. */
void cli_rehearse_source(tw_source *source);

#endif

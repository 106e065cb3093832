/*
 * What a refused run would need. A run that fails for want of memory has seen only the first thing
 * that does not fit; those behind it are found by a rehearsal: the same run, planned for the same
 * limit and refused nothing, up to the first row that would be read. What it reserves until then
 * nobody touches, so that the process does not grow. Its peak, and somewhat more, is the limit that
 * a refusal names. With more memory a run plans otherwise, and may keep what it would have put into
 * files: so it is rehearsed with that limit, too, until its peak keeps within it.
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
    uint64_t given; /* limits: of the run, and of the rehearsal */
    uint64_t limit;
    int turns;
    char named[CLI_SHOWN]; /* the limit of the rehearsal, once it is not the given one */
    char sentence[1024];
} cli_rehearsal;
bool cli_rehearsal_begin(cli_rehearsal *r, cli_job *job, tw_status status);
/* Where a rehearsal writes: nothing goes into a pipe. */
TW_CHECKED tw_status cli_rehearsal_output(const cli_job *job, const char **output);

/* After a rehearsal: whether there is to be another, with more memory. */
bool cli_rehearsal_again(cli_rehearsal *r, tw_status rehearsed);
/* The end of the rehearsals: the status of the run, and its sentence with the limit that is enough.
 */
TW_CHECKED tw_status cli_rehearsal_end(const cli_rehearsal *r, tw_status rehearsed);

/* Let a source end the rehearsal instead of giving rows. */
void cli_rehearse_source(tw_source *source);

#endif

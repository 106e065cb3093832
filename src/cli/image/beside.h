/* Files beside an image in which other programs keep what is about it. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "frame/job.h"

/* Says which of them are there and not read: a mask, a place on Earth or a no-data value that
 * somebody may miss. */
void cli_tell_beside(const cli_job *job, const char *path);

#endif

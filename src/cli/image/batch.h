/* One command over many files, whose results go into a folder. */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "frame/job.h"

#define CLI_BATCH_MOST 100000 /* operands */

typedef struct cli_batch {
    const char *folder; /* made if it is not there */
    const char *format; /* of the results; NULL: by the names of the inputs */
} cli_batch;

/* Refuse --output and --preview beside --out-dir. */
TW_CHECKED tw_status cli_batch_check(const cli_job *job, const char *output, const char *preview);

/* `one` for each input, with the name of its output. An error is said, with the name of the file,
 * and the next follows; what is cancelled ends. The status is that of the worst, and its sentence
 * says how many failed. News of single files are not said. */
TW_CHECKED tw_status cli_batch_run(cli_job *job, const cli_batch *batch, int count, char **inputs,
                                   tw_status (*one)(void *self, cli_job *job, const char *input,
                                                    const char *output),
                                   void *self);

#endif

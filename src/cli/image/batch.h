/* One command over many files, whose results go into a folder. */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "cli/image/raster.h"
#include "cli/shared/files.h"
#include "frame/job.h"
#include "frame/report.h"

#include <stdbool.h>

#define CLI_BATCH_MOST 100000 /* operands */

typedef struct cli_batch {
    const char *folder;     /* made if it is not there */
    const char *format;     /* of the results; NULL: by the names of the inputs */
    const cli_file *others; /* inputs that all files share, which no result may replace either */
    int other_count;
    const cli_storage *storage; /* refused where it would do nothing for any of the results */
    bool json;                  /* one report of all files is printed */
} cli_batch;

/* Refuse --output and --preview beside --out-dir. */
TW_CHECKED tw_status cli_batch_check(const cli_job *job, const char *output, const char *preview);

/* `one` for each input, with the name of its output. An error is said, with the name of the file,
 * and the next follows; what is cancelled ends. The status is that of the worst, and its sentence
 * says how many failed. News of single files are not said. Nothing is begun if a result would
 * replace an input or another result. */
TW_CHECKED tw_status cli_batch_run(cli_job *job, const cli_batch *batch, int count, char **inputs,
                                   tw_status (*one)(void *self, cli_job *job, const char *input,
                                                    const char *output),
                                   void *self);

/* The report of one file: a document, or a member of that of all files. */
void cli_file_report_begin(cli_job *job, cli_report *report);
void cli_file_report_end(cli_job *job, cli_report *report);

#endif

/* What entropy and map say alike at the end of a run. */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include "cli/image/tally.h"
#include "frame/job.h"
#include "frame/report.h"

typedef struct cli_ending {
    double read, compute, output; /* seconds */
    double elements;              /* computed */
    const char *method;
    const char *where; /* instruction set or device */
} cli_ending;

/* Elements per second. */
double cli_ending_rate(const cli_ending *ending);
/* Minimum, mean and maximum, null where nothing was seen. */
void cli_ending_report(cli_report *json, const cli_tally *seen);
/* A line of news: what took how long. */
void cli_ending_say(const cli_job *job, const cli_ending *ending);

#endif

/*
 * One run of one command: its context, what it says while it works, and how it ends.
 *
 * A command returns a tw_status; the sentence for the user is in the context (the library put it
 * there, or the command with tw_fail). main turns both into a line on standard error and an exit
 * code: 0 finished; 1 finished, but a check failed, files differ or no shortest path exists;
 * 2 failed.
 */
#ifndef FRAME_JOB_H
#define FRAME_JOB_H

#include "frame/clock.h"
#include "frame/options.h"
#include "frame/show.h"

#include <stdbool.h>
#include <stdio.h>

struct cli_job {
    tw_context *ctx;
    const cli_command *command;
    double started; /* cli_seconds() when the program began */
    bool quiet;
    bool silent;       /* --quiet was given: a file of many is quiet without it */
    bool answer_is_no; /* finished, but a check failed, files differ or no path exists: exit 1 */
    bool stdout_taken; /* a result goes to standard output, so a report goes to standard error */
    const cli_parsed *parsed;   /* what the arguments were */
    struct cli_report *reports; /* the document that reports of single files go into; NULL: each is
                                   a document of its own */
};

/* What most commands take; the first member of their settings. */
typedef struct cli_common {
    const char *device;
    int64_t threads;
    uint64_t memory;
    uint64_t device_memory;
    const char *isa;
    int32_t json;
    int32_t quiet;
    int32_t no_progress;
} cli_common;

/* For commands that may use a GPU. */
extern const cli_option cli_device_options[];   /* --device --isa */
extern const cli_option cli_resource_options[]; /* --threads --memory --device-memory */
/* For commands that do not. */
extern const cli_option cli_host_options[]; /* --threads --memory */
extern const cli_option cli_talk_options[]; /* --json --quiet --no-progress */
/* For a command that shows no progress. */
extern const cli_option cli_report_options[]; /* --json --quiet */

#define CLI_COMMON_INIT              \
    {                                \
        NULL, 0, 0, 0, NULL, 0, 0, 0 \
    }

/* Refuse an option that was given and would do nothing: `why` ends the sentence "--NAME has no
 * effect", as in "without OUT". */
TW_CHECKED tw_status cli_refuse(const cli_job *job, const char *name, const char *why);

/* Whether this build can use GPUs, there being some or not. */
bool cli_has_gpu_code(void);

/* Apply the common options to the job: context and progress line. */
TW_CHECKED tw_status cli_begin(cli_job *job, const cli_common *common);

/* Whether what passes --memory is refused, as it is from cli_begin on. */
TW_CHECKED tw_status cli_refuse_memory(const cli_job *job, bool refused);

/* A line of news on standard error (not with --quiet), after clearing the progress line. */
void cli_say(const cli_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same about what is lost of a file, which is said of each of many files, too. */
void cli_note(const cli_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines of the library are news, each said once if it comes again at once. */
void cli_hear(cli_job *job);

/* A piece of a result on standard output, after clearing the progress line: both may go to one
 * terminal. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "tilewright: SENTENCE" on standard error, on one line whatever is in it: control characters and
 * what is not UTF-8 are shown as question marks. */
void cli_error(const char *sentence);

/* The maximum memory that this process ever occupied, in bytes. */
uint64_t cli_peak_rss(void);

#endif

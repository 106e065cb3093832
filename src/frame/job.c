/* One run of one command: see job.h. */
#include "frame/job.h"

#include "frame/program.h"
#include "frame/progress.h"
#include "frame/utf8.h"

#include <ctype.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEPT (1 << 20)       /* bytes of a block, or at the end of all, that are not given back */
#define MEMORY_FLOOR 4000000 /* bytes; less is not worth a refusal */

#define THREADS                                                                                   \
    {                                                                                             \
        "threads", 0, CLI_COUNT, "N", offsetof(cli_common, threads), 0,                           \
            "Use N threads; 0 (the default) is one for each processor this process may use. The " \
            "result does not depend on it."                                                       \
    }

const cli_option cli_host_options[] = {
    THREADS,
    {"memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, memory), 0,
     "Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory. A run that cannot fit is "
     "refused, with the SIZE that would be enough; one that needs less than 4M never is. Default: "
     "what the machine has available, within the limits of this process (control groups, ulimit)."},
    {0}};

const cli_option cli_resource_options[] = {
    THREADS,
    {"memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, memory), 0,
     "Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host's memory, and no more than "
     "that on a GPU either. A run that cannot fit is refused before it starts, with the SIZE that "
     "would be enough; one that needs less than 4M never is. Default: what the machine has "
     "available, within the limits of this process (control groups, ulimit)."},
    {"device-memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, device_memory), 0,
     "Use at most SIZE on each GPU, whatever --memory says; a matrix that needs more is streamed "
     "through it from host memory, where all of it has to fit --memory. Default: the same as "
     "--memory, or what is free there."},
    {0}};

const cli_option cli_device_options[] = {
    {"device", 0, CLI_TEXT, "DEVICE", offsetof(cli_common, device), 0,
     "Where to compute: cpu; in a build with GPU code also cuda (or hip), cuda:1, or several, "
     "cuda:0,1; or auto (the default): a GPU if there is one and it will be faster, or the CPU if "
     "the GPU fails."},
    {"isa", 0, CLI_TEXT, "NAME", offsetof(cli_common, isa), 0,
     "Force an instruction set: scalar, neon, avx2 or avx512. The environment variable TW_ISA "
     "does the same. 'tilewright devices' lists what this machine has."},
    {0}};

#define JSON                                                                                      \
    {                                                                                             \
        "json", 0, CLI_FLAG, NULL, offsetof(cli_common, json), 1,                                 \
            "Print a report as JSON to standard output (to standard error if the result goes to " \
            "standard output)."                                                                   \
    }
#define QUIET                                                         \
    {                                                                 \
        "quiet", 'q', CLI_FLAG, NULL, offsetof(cli_common, quiet), 1, \
            "Print only errors to standard error."                    \
    }

const cli_option cli_report_options[] = {JSON, QUIET, {0}};

const cli_option cli_talk_options[] = {
    JSON,
    QUIET,
    {"no-progress", 0, CLI_FLAG, NULL, offsetof(cli_common, no_progress), 1,
     "Do not show progress. It is shown only if standard error is a terminal."},
    {0}};

uint64_t cli_peak_rss(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return 0;
    }
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* U+0080 to U+009F, some of which terminals obey. */
static bool is_c1(const char *text)
{
    return (unsigned char)text[0] == 0xC2 && (unsigned char)text[1] < 0xA0;
}

/* A text with names from files: what a terminal would obey becomes "?", all but what is in `kept`.
 */
static void put_harmless(FILE *to, const char *text, const char *kept)
{
    while (*text != '\0') {
        const int length = cli_utf8_length(text);
        const bool control = length == 1 ? iscntrl((unsigned char)*text) != 0 : is_c1(text);
        if (length > 0 && (!control || strchr(kept, *text) != NULL)) {
            fwrite(text, 1, (size_t)length, to);
        } else {
            fputc('?', to);
        }
        text += length > 0 ? length : 1;
    }
}

/* The same of a format; without memory nothing is written. */
static void print_harmless(FILE *to, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) >= 0) {
        put_harmless(to, text, "\n\t");
        free(text);
    }
}

static void say(const char *format, va_list args)
{
    cli_progress_clear();
    print_harmless(stderr, format, args);
    fputc('\n', stderr);
}

void cli_say(const cli_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!job->quiet) {
        say(format, args);
    }
    va_end(args);
}

void cli_note(const cli_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!job->silent) {
        say(format, args);
    }
    va_end(args);
}

void cli_print(const char *format, ...)
{
    cli_progress_before_output();
    va_list args;
    va_start(args, format);
    if (isatty(STDOUT_FILENO) != 0) {
        print_harmless(stdout, format, args);
    } else { /* for programs: names as they are */
        vprintf(format, args);
    }
    va_end(args);
}

void cli_error(const char *sentence)
{
    cli_progress_clear();
    fprintf(stderr, "%s: ", cli_program.name);
    put_harmless(stderr, sentence, "");
    fputc('\n', stderr);
}

static void say_log(void *user, const char *line)
{
    static char last[512];
    if (strncmp(line, last, sizeof last - 1) != 0) {
        cli_say(user, "%s", line);
    }
    snprintf(last, sizeof last, "%s", line);
}

void cli_hear(cli_job *job)
{
    tw_set_log(job->ctx, say_log, job);
}

tw_status cli_refuse(const cli_job *job, const char *name, const char *why)
{
    return cli_given(job->parsed, name)
               ? tw_fail(job->ctx, TW_ERR_ARGUMENT, "--%s has no effect%s%s", name,
                         why[0] == ':' ? "" : " ", why)
               : TW_OK;
}

/* What is freed is not kept for later, as the C library does with up to 64 MB: it would be occupied
 * beside what is counted. */
static void give_back_at_once(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

tw_status cli_refuse_memory(const cli_job *job, bool refused)
{
    return tw_set_memory_floor(job->ctx, refused ? MEMORY_FLOOR : UINT64_MAX);
}

bool cli_has_gpu_code(void)
{
    return strstr(tw_features(), "cuda") != NULL || strstr(tw_features(), "hip") != NULL;
}

tw_status cli_begin(cli_job *job, const cli_common *common)
{
    tw_context *ctx = job->ctx;
    tw_status status = TW_OK;
    job->quiet = common->quiet != 0;
    job->silent = job->quiet;
    if (common->threads > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--threads %lld is too many",
                       (long long)common->threads);
    }
    status = tw_set_threads(ctx, (int32_t)common->threads);
    if (status == TW_OK && common->device != NULL && strcmp(common->device, "cpu") == 0) {
        status = cli_refuse(job, "device-memory", "with --device cpu");
    }
    if (status == TW_OK && common->device_memory > 0 && !cli_has_gpu_code()) {
        status = cli_refuse(job, "device-memory", ": this build computes on the CPU only");
    }
    if (status == TW_OK) {
        status = tw_set_memory(ctx, common->memory);
    }
    if (status == TW_OK && common->memory > 0) {
        give_back_at_once();
    }
    if (status == TW_OK) {
        status = cli_refuse_memory(job, true);
    }
    if (status == TW_OK) {
        status = tw_set_device_memory(ctx, common->device_memory);
    }
    if (status == TW_OK && common->isa != NULL) {
        status = tw_set_isa(ctx, common->isa);
    }
    if (status == TW_OK && common->device != NULL) {
        status = tw_set_device(ctx, common->device);
    }
    if (status == TW_OK && common->device_memory > 0 &&
        tw_gpu_describe(ctx, &(tw_gpu)TW_GPU_INIT, 0) != TW_OK) {
        cli_say(job, "--device-memory has no effect: there is no GPU that can be used");
    }
    if (status == TW_OK) {
        cli_hear(job);
        if (!common->quiet && !common->no_progress) {
            cli_progress_attach(ctx);
        }
    }
    return status;
}

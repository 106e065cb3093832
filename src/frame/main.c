/*
 * The frame of a program (program.h): finds the command that is asked for, has its arguments read,
 * runs it, and turns the outcome into a sentence and an exit code.
 *
 * Exit codes: 0 finished; 1 finished, but a check failed, files differ or no shortest path exists;
 * 2 wrong usage, bad input, another signal, or any other failure.
 * Ctrl-C, SIGTERM and SIGHUP end the program as these signals do, so that a loop of a shell ends
 * with it.
 * If the reader of standard output goes away the program ends without a word and by SIGPIPE, as
 * others do, unless that was ignored when it began; but only after it has removed what it had begun
 * to write elsewhere.
 */
#include "frame/about.h"
#include "frame/help.h"
#include "frame/job.h"
#include "frame/program.h"
#include "frame/progress.h"
#include "frame/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_COMMANDS 16
#define CLOSED "the reader closed the pipe"

static const cli_command *find_command(const char *name)
{
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0) {
            return *command;
        }
    }
    return NULL;
}

static tw_status fail_unknown_command(tw_context *ctx, const char *name)
{
    const char *names[MOST_COMMANDS] = {"help"};
    int count = 1;
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        names[count++] = (*command)->name;
    }
    const char *nearest = cli_nearest(name, names, count);
    if (nearest != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown command '%.60s': did you mean '%s'?", name,
                       nearest);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown command '%.60s'; run '%s help' for a list", name,
                   cli_program.name);
}

static tw_status run_command(cli_job *job, int argc, char **argv)
{
    const cli_command *command = job->command;
    cli_parsed parsed = {.count = 0};
    void *settings = calloc(1, command->settings_size);
    if (settings == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for the options");
    }
    tw_status status = cli_parse(job->ctx, command, argc, argv, settings, &parsed);
    if (status == TW_OK && parsed.help) {
        cli_help_command(stdout, command);
    } else if (status == TW_OK) {
        job->parsed = &parsed;
        status = command->run(job, settings, parsed.count, parsed.operands);
        job->parsed = NULL;
    }
    free(settings);
    return status;
}

static tw_status help(cli_job *job, int argc, char **argv)
{
    if (argc == 0 || strcmp(argv[0], "help") == 0) {
        cli_help_overview(stdout);
        return TW_OK;
    }
    const cli_command *command = find_command(argv[0]);
    if (command == NULL) {
        return fail_unknown_command(job->ctx, argv[0]);
    }
    cli_help_command(stdout, command);
    return TW_OK;
}

/* Which of the optional parts this build has. */
static tw_status list_features(cli_job *job)
{
    static const struct {
        const char *name, *what;
    } known[] = {{"openmp", "threads"},   {"png", "PNG images"},     {"tiff", "TIFF images"},
                 {"jpeg", "JPEG images"}, {"metis", "METIS orders"}, {"zlib", ".gz files"},
                 {"zstd", ".zst files"},  {"lzma", ".xz files"}};
    tw_machine machine = TW_MACHINE_INIT;
    tw_status status = tw_machine_describe(job->ctx, &machine);
    if (status != TW_OK) {
        return status;
    }
    printf("%s %s\n", cli_program.name, tw_version());
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *at = strstr(tw_features(), known[i].name);
        printf("%-8s%-14s%s\n", known[i].name, known[i].what, at != NULL ? "yes" : "no");
    }
    printf("%-8s%-14s%s\n", "gpu", "", machine.gpu);
    return TW_OK;
}

/* What the program does without a command. */
static tw_status about(cli_job *job, const char *option)
{
    bool known = false;
    tw_status status = cli_print_about(job->ctx, option, &known);
    return known ? status
                 : tw_fail(job->ctx, TW_ERR_ARGUMENT,
                           "option '%.60s' before a command: options follow the command, as in "
                           "'%s %s --help'",
                           option, cli_program.name, cli_program.commands[0]->name);
}

static tw_status dispatch(cli_job *job, int argc, char **argv)
{
    if (argc < 2) {
        cli_help_overview(stdout);
        return TW_OK;
    }
    if (argc == 3 && strcmp(argv[1], "--version") == 0 && strcmp(argv[2], "--verbose") == 0) {
        return list_features(job);
    }
    if (argv[1][0] == '-') {
        return about(job, argv[1]);
    }
    if (strcmp(argv[1], "help") == 0) {
        return help(job, argc - 2, argv + 2);
    }
    job->command = find_command(argv[1]);
    if (job->command == NULL) {
        return fail_unknown_command(job->ctx, argv[1]);
    }
    return run_command(job, argc - 2, argv + 2);
}

/* A program started with a standard stream closed must not open its files in its place. What takes
 * the place cannot be read or written either, so that no result goes there as if it were wanted. */
static bool reserve_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int useless = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", useless) != fd) {
            return false;
        }
    }
    return true;
}

static int exit_code(const cli_job *job, tw_status status)
{
    switch (status) {
    case TW_OK:
        return job->answer_is_no ? 1 : 0;
    case TW_ERR_VERIFY:
    case TW_ERR_NEGATIVE_CYCLE:
        return 1;
    default:
        return 2;
    }
}

/* 0, or why standard output could not be written. What an earlier flush met is gone, only that it
 * failed is known: then another byte meets it again. */
static int output_error(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return 0;
    }
    if (errno == 0) {
        (void)putchar('\n');
        (void)fflush(stdout);
    }
    return errno != 0 ? errno : EIO;
}

/* Whether a run failed because whoever read standard output has stopped: head, or a pager that was
 * left. `error` is what our own writing met; the library has a sentence for it. */
static bool reader_is_gone(const cli_job *job, tw_status status, int error)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (error != EPIPE &&
        (status != TW_ERR_IO || strstr(tw_last_error(job->ctx), CLOSED) == NULL)) {
        return false;
    }
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int main(int argc, char **argv)
{
    static char line[BUFSIZ];
    cli_job job = {.started = cli_seconds()};
    (void)setvbuf(stderr, line, _IOLBF, sizeof line); /* one piece, whoever writes beside us */
    if (!reserve_standard_streams() || tw_context_create(&job.ctx) != TW_OK) {
        cli_error("cannot start: not enough memory or file descriptors");
        return 2;
    }
    cli_signals_watch(job.ctx);
    tw_status status = dispatch(&job, argc, argv);
    cli_progress_clear();
    int error = status == TW_OK ? output_error() : 0;
    if (error != 0) {
        status =
            tw_fail(job.ctx, TW_ERR_IO, "cannot write to standard output: %s", strerror(error));
    }
    const bool unread = cli_may_end_by_pipe() && reader_is_gone(&job, status, error);
    if (status != TW_OK && !unread) {
        cli_error(status == TW_ERR_CANCELLED && cli_interrupted() ? "interrupted"
                                                                  : tw_last_error(job.ctx));
    }
    int code = exit_code(&job, status);
    cli_signals_forget();
    tw_context_destroy(job.ctx);
    if (unread) {
        cli_end_by_pipe();
    }
    if (status == TW_ERR_CANCELLED && cli_interrupted()) {
        (void)fflush(stdout);
        cli_end_by_signal();
    }
    return code;
}

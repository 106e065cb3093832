/*
 * Counters of GPU rungs. The card's counters are read by its maker's profiler alone, from outside:
 * ncu for NVIDIA's, rocprof for AMD's, whose answer is a file (rocprof_csv.c). For NVIDIA's the
 * laboratory runs itself once more under ncu, for one rung, and reads the table that ncu prints
 * (ncu_csv.c). The profiler repeats each kernel until it has every counter, so only the first
 * launches of a rung are looked at: the rounds of a ladder repeat the same kernels. The clock of
 * the card and its caches are left as a rung meets them.
 *
 * The profiler is a process group of its own, so that Ctrl-C and the limit of time end it together
 * with what it runs.
 */
#include "runner/ncu_csv.h"
#include "runner/rocprof_csv.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 64, MOST_BYTES = 8 << 20, FIRST_BYTES = 1 << 16, NOT_FOUND = 127 };

/* What a process printed, and how it ended. */
typedef struct output {
    char *text;
    size_t size, room;
    bool late, endless;
    int error;  /* of starting it; 0: it ran */
    int status; /* of waitpid */
} output;

/* `from` is the end of the pipe to read. Numbers are printed in the C locale by way of env, which
 * ends with 127 if there is no such program. */
static int start(const char *const *words, pid_t *child, int *from)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t usual;
    if (pipe(ends) != 0) {
        return errno;
    }
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigdefault(&how, &usual);
    int error = posix_spawnp(child, words[0], &actions, &how, (char *const *)words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
    } else {
        *from = ends[0];
    }
    return error;
}

/* All that comes until the other end is closed, the time is up or the run cancelled. */
static tw_status collect(tw_context *ctx, int from, double end, output *out)
{
    tw_status status = TW_OK;
    struct pollfd wait = {.fd = from, .events = POLLIN};
    while (status == TW_OK && !out->late && !out->endless) {
        if (out->size == out->room) {
            size_t room = out->room == 0 ? FIRST_BYTES : 2 * out->room;
            status = twi_grow(ctx, &out->text, out->size, room, 1, "what ncu prints");
            out->room = status == TW_OK ? room : out->room;
        }
        int ready = status == TW_OK ? poll(&wait, 1, 100) : 0;
        if (ready > 0) {
            ssize_t got = read(from, out->text + out->size, out->room - out->size);
            if (got == 0 || (got < 0 && errno != EINTR)) {
                return TW_OK;
            }
            out->size += got > 0 ? (size_t)got : 0;
            out->endless = out->size >= MOST_BYTES;
        }
        out->late = twi_seconds() > end;
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
    }
    return status;
}

/* Whether the process has ended, now or after a moment; its status stays to be taken. */
static bool has_ended(pid_t child, bool wait)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    siginfo_t info = {0};
    if (wait) {
        nanosleep(&moment, NULL);
    }
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* Ask the whole group to end, and insist when its leader is gone or two seconds are over. */
static void stop(pid_t child)
{
    kill(-child, SIGTERM);
    for (int i = 0; i < 100 && !has_ended(child, true); i++) {
    }
    kill(-child, SIGKILL);
}

static tw_status run(tw_context *ctx, const char *const *words, double limit, output *out)
{
    pid_t child = 0;
    int from = -1;
    double end = twi_seconds() + limit;
    out->error = start(words, &child, &from);
    if (out->error != 0) {
        return TW_OK;
    }
    tw_status status = collect(ctx, from, end, out);
    bool ended = has_ended(child, false);
    while (status == TW_OK && !out->late && !out->endless &&
           !ended) { /* it has closed its output */
        out->late = twi_seconds() > end;
        status = twi_check_cancel(ctx);
        ended = has_ended(child, true);
    }
    if (!ended) {
        stop(child);
    }
    close(from);
    while (waitpid(child, &out->status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* What came of it: the profile, or the sentence on why not. */
static lab_answer judge(const output *printed, double limit, lab_profile *out, char why[LAB_WHY])
{
    int code = WIFEXITED(printed->status) ? WEXITSTATUS(printed->status) : -1;
    lab_profile_clear(out);
    if (printed->late) {
        snprintf(why, LAB_WHY, "ncu was stopped after %.0f s", limit);
        return LAB_NOT_THIS;
    }
    if (printed->endless) {
        snprintf(why, LAB_WHY, "ncu was stopped: too much output");
        return LAB_NOT_THIS;
    }
    if (printed->error != 0 && printed->error != ENOENT) {
        snprintf(why, LAB_WHY, "ncu could not be started: %s", strerror(printed->error));
        return LAB_NOT_THIS;
    }
    if (printed->error == ENOENT || code == NOT_FOUND) {
        snprintf(why, LAB_WHY,
                 "ncu is not on PATH; it is NVIDIA Nsight Compute, part of the CUDA toolkit");
        return LAB_HOPELESS;
    }
    if (memmem(printed->text, printed->size, "ERR_NVGPUCTRPERM", 16) != NULL) {
        snprintf(
            why, LAB_WHY,
            "the driver does not let this user read the card's counters (ERR_NVGPUCTRPERM); run as "
            "root, or load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0");
        return LAB_HOPELESS;
    }
    if (memmem(printed->text, printed->size, "Failed to initialize the profiler", 33) != NULL) {
        snprintf(why, LAB_WHY,
                 "ncu cannot read the counters of this machine's cards: it says "
                 "\"Failed to initialize the profiler\"");
        return LAB_HOPELESS;
    }
    if (lab_ncu_read(printed->text, printed->size, out, why)) {
        return LAB_COUNTED;
    }
    return LAB_NOT_THIS;
}

static tw_status ask_once(tw_context *ctx, const char *const *words, double limit, uint32_t without,
                          output *printed)
{
    char metrics[LAB_NCU_METRICS];
    const char *all[MOST_WORDS] = {"env",
                                   "LC_ALL=C",
                                   "ncu",
                                   "--csv",
                                   "--page",
                                   "raw",
                                   "--print-units",
                                   "base",
                                   "--clock-control",
                                   "none",
                                   "--cache-control",
                                   "none",
                                   "--target-processes",
                                   "all",
                                   "--profile-from-start",
                                   "off",
                                   "--launch-count",
                                   "30",
                                   "--metrics",
                                   metrics};
    int count = 0;
    lab_ncu_metrics(without, metrics);
    while (all[count] != NULL) {
        count++;
    }
    for (int i = 0; words[i] != NULL && count < MOST_WORDS - 1; i++) {
        all[count++] = words[i];
    }
    return run(ctx, all, limit, printed);
}

tw_status lab_ask_ncu(tw_context *ctx, const char *const *words, double limit, uint32_t *unknown,
                      lab_answer *answer, lab_profile *out, char why[LAB_WHY])
{
    tw_status status = TW_OK;
    for (bool again = true; again && status == TW_OK;) {
        output printed = {0};
        uint32_t more = 0;
        why[0] = '\0';
        status = ask_once(ctx, words, limit, *unknown, &printed);
        if (status == TW_OK) {
            *answer = judge(&printed, limit, out, why);
            more = *answer == LAB_NOT_THIS ? lab_ncu_unknown(printed.text, printed.size) : 0;
        }
        twi_free(printed.text);
        again = (more & ~*unknown) != 0; /* there are only so many */
        *unknown |= more;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ AMD */

/* What rocprof is told and what it writes, in a folder of their own. */
typedef struct scratch {
    char folder[64], asks[96], table[96];
} scratch;

static bool open_scratch(scratch *s)
{
    snprintf(s->folder, sizeof s->folder, "/tmp/tilewright-rocprof-XXXXXX");
    if (mkdtemp(s->folder) == NULL) {
        return false;
    }
    snprintf(s->asks, sizeof s->asks, "%s/asks.txt", s->folder);
    snprintf(s->table, sizeof s->table, "%s/table.csv", s->folder);
    FILE *file = fopen(s->asks, "w");
    bool good = file != NULL && fputs(lab_rocprof_asks, file) >= 0;
    return file != NULL && fclose(file) == 0 && good;
}

/* rocprof leaves more than it is asked for: databases, logs, a folder of inputs for each group. */
static void remove_scratch(tw_context *ctx, const scratch *s)
{
    const char *const all[] = {"rm", "-rf", "--", s->folder, NULL};
    output said = {0};
    (void)!run(ctx, all, 60, &said);
    twi_free(said.text);
}

/* The table that rocprof wrote, as a profile, or the sentence on why not. */
static tw_status judge_table(tw_context *ctx, const scratch *s, lab_profile *out,
                             lab_answer *answer, char why[LAB_WHY])
{
    FILE *file = fopen(s->table, "rb");
    struct stat about;
    char *text = NULL;
    tw_status status = TW_OK;
    *answer = LAB_NOT_THIS;
    snprintf(why, LAB_WHY, "cannot read the counters that rocprof wrote");
    if (file != NULL && fstat(fileno(file), &about) == 0 && about.st_size > 0 &&
        about.st_size <= MOST_BYTES) {
        size_t size = (size_t)about.st_size;
        status = twi_alloc(ctx, &text, size, 1, "what rocprof wrote");
        if (status == TW_OK && fread(text, 1, size, file) == size &&
            lab_rocprof_read(text, size, out, why)) {
            *answer = LAB_COUNTED;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    twi_free(text);
    return status;
}

tw_status lab_ask_rocprof(tw_context *ctx, const char *const *words, double limit,
                          lab_answer *answer, lab_profile *out, char why[LAB_WHY])
{
    scratch s = {0};
    output printed = {0};
    const char *all[MOST_WORDS] = {"env", "LC_ALL=C", "rocprof", "--timestamp", "on",
                                   "-i",  s.asks,     "-o",      s.table};
    int count = 0;
    lab_profile_clear(out);
    *answer = LAB_HOPELESS;
    if (!open_scratch(&s)) {
        snprintf(why, LAB_WHY, "cannot create a scratch folder for rocprof in /tmp: %s",
                 strerror(errno));
        return TW_OK;
    }
    while (all[count] != NULL) {
        count++;
    }
    for (int i = 0; words[i] != NULL && count < MOST_WORDS - 1; i++) {
        all[count++] = words[i];
    }
    tw_status status = run(ctx, all, limit, &printed);
    int code = WIFEXITED(printed.status) ? WEXITSTATUS(printed.status) : -1;
    if (status == TW_OK && (printed.error == ENOENT || code == NOT_FOUND)) {
        snprintf(why, LAB_WHY, "rocprof is not on PATH; it is AMD's profiler, part of ROCm");
    } else if (status == TW_OK && (printed.late || printed.endless || printed.error != 0)) {
        *answer = LAB_NOT_THIS;
        snprintf(why, LAB_WHY, "rocprof could not be started, or was stopped after %.0f s", limit);
    } else if (status == TW_OK) {
        status = judge_table(ctx, &s, out, answer, why);
    }
    twi_free(printed.text);
    remove_scratch(ctx, &s);
    return status;
}

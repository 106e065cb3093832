/* See script.h. */
#include "script.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A script lies where the program does, in the installed tree and in a build alike. No other place
 * is looked at: whoever could write there would have his code run here. */
static tw_status find_script(tw_context *ctx, const char *name, char out[PATH_MAX])
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return tw_fail(ctx, TW_ERR_IO, "cannot find this program's own path: %s", strerror(errno));
    }
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    int used = snprintf(out, PATH_MAX, "%s/%s/%s", program, LAB_PAGES_FROM_PROGRAM, name);
    if (used >= PATH_MAX || access(out, R_OK) != 0) {
        return tw_fail(ctx, TW_ERR_IO, "%s is missing; reinstall the laboratory", out);
    }
    return TW_OK;
}

tw_status lab_run_script(tw_context *ctx, const char *name, int count, const char *const *words,
                         int *exit_status)
{
    char script[PATH_MAX];
    char *arguments[LAB_SCRIPT_WORDS + 3] = {NULL};
    int status = 0;
    tw_status found = find_script(ctx, name, script);
    if (found != TW_OK) {
        return found;
    }
    arguments[0] = (char *)"python3";
    arguments[1] = script;
    for (int i = 0; i < count && i < LAB_SCRIPT_WORDS; i++) {
        arguments[2 + i] = (char *)words[i];
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
        return tw_fail(ctx, TW_ERR_IO, "cannot run python3; install Python 3");
    }
    *exit_status = WEXITSTATUS(status);
    return TW_OK;
}

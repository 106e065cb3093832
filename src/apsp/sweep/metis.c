/*
 * Orders of METIS: see metis.h. METIS prints, exits, raises signals and catches SIGTERM and SIGABRT
 * while it works, and sets the seed of rand(): none of that is for a library to do to its caller.
 * So it runs in a process of its own, whose copy of the skeleton costs nothing, and leaves the
 * order in memory that both share. Whatever becomes of that process, what it has left is an order
 * only if it says that it is done and the numbers are a permutation.
 *
 * The end of a child raises SIGCHLD. A caller that has a handler for it would be told of a process
 * it knows nothing of, so for such a caller METIS does not run. Without a handler nobody is told;
 * another thread that waits for any child, waitpid(-1), may be given this one, and that is all: see
 * wait_for.
 */
#include "apsp/sweep/metis.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <metis.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MILLISECONDS 20 /* whether the call was cancelled */

/* What both processes see. */
typedef struct shared {
    int32_t done;
    idx_t order[]; /* n, the vertices in their order; then n that METIS needs besides */
} shared;

bool twi_metis_is_built(void)
{
    return true;
}

/* The child: everything that METIS might touch is its own. */
static _Noreturn void order_and_exit(shared *out, const twi_skeleton *skeleton, idx_t *lists)
{
    idx_t n = (idx_t)skeleton->n;
    idx_t *offsets = lists;
    idx_t *targets = lists + n + 1;
    idx_t options[METIS_NOPTIONS];
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
    }
    for (int64_t v = 0; v <= skeleton->n; v++) {
        offsets[v] = (idx_t)skeleton->offsets[v];
    }
    for (int64_t a = 0; a < skeleton->offsets[skeleton->n]; a++) {
        targets[a] = (idx_t)skeleton->targets[a];
    }
    METIS_SetDefaultOptions(options);
    out->done =
        METIS_NodeND(&n, offsets, targets, NULL, options, out->order, out->order + n) == METIS_OK;
    _exit(0);
}

/* Wait until the child has gone, which closes its end of the pipe, unless somebody else's child has
 * got that, too; it is ended if the call is cancelled. Who else waits for children may have taken
 * it from us. */
static void wait_for(tw_context *ctx, pid_t child, int pipe_end)
{
    struct pollfd end = {.fd = pipe_end, .events = POLLIN};
    while (poll(&end, 1, LOOK_MILLISECONDS) <= 0) {
        if (waitpid(child, NULL, WNOHANG) != 0) {
            return; /* gone, or taken */
        }
        if (twi_is_cancelled(ctx)) {
            (void)kill(child, SIGKILL);
        }
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Whether the caller is told of children that end. */
static bool watches_children(void)
{
    struct sigaction now;
    return sigaction(SIGCHLD, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
           (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
}

/* METIS in a process of its own; false if that cannot be. */
static bool run(tw_context *ctx, shared *out, const twi_skeleton *skeleton, idx_t *lists)
{
    int ends[2];
    sigset_t all;
    sigset_t before;
    if (watches_children() || pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    (void)sigfillset(&all); /* no handler of the caller's runs in the child */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child == 0) {
        static const int raised[] = {SIGTERM, SIGABRT}; /* by METIS */
        for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
            (void)signal(raised[i], SIG_DFL);
            (void)sigdelset(&all, raised[i]);
        }
        (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
        (void)close(ends[0]);
        order_and_exit(out, skeleton, lists);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[1]);
    if (child > 0) {
        wait_for(ctx, child, ends[0]);
    }
    (void)close(ends[0]);
    return child > 0 && out->done == 1;
}

/* The order into a twi_order, every vertex a group; false if it is no permutation, or cancelled. */
static bool take(tw_context *ctx, twi_order *out, const shared *found)
{
    uint8_t *seen = (uint8_t *)out->first; /* not yet needed, and zero */
    int64_t left = 0;
    for (int64_t i = 0; i < out->n; i++) {
        const idx_t v = found->order[i];
        if (twi_is_stopped(ctx, &left, 1) || v < 0 || v >= out->n || seen[v] != 0) {
            return false;
        }
        seen[v] = 1;
        out->vertex[i] = (int32_t)v;
    }
    for (int64_t i = 0; i <= out->n; i++) {
        out->first[i] = (int32_t)i;
    }
    return true;
}

tw_status twi_metis_order(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton)
{
    const char *what = "the order of METIS";
    const uint64_t n = (uint64_t)skeleton->n;
    const uint64_t links = (uint64_t)skeleton->offsets[n];
    const size_t bytes = sizeof(shared) + 2 * n * sizeof(idx_t);
    idx_t *lists = NULL;
    tw_status status = TW_OK;
    *out = (twi_order){.n = skeleton->n, .groups = skeleton->n, .maker = TWI_ORDER_METIS};
    shared *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) {
        *out = (twi_order){0};
        return TW_OK;
    }
    if ((status = twi_alloc(ctx, &out->vertex, n, sizeof *out->vertex, what)) == TW_OK &&
        (status = twi_alloc_zeroed(ctx, &out->first, n + 1, sizeof *out->first, what)) == TW_OK &&
        (status = twi_alloc(ctx, &lists, n + 1 + links, sizeof *lists, what)) == TW_OK) {
        if (n == 0 || !run(ctx, found, skeleton, lists) || !take(ctx, out, found)) {
            twi_order_clear(out);
        }
        status = twi_check_cancel(ctx);
    }
    if (status != TW_OK) {
        twi_order_clear(out);
    }
    twi_free(lists);
    (void)munmap(found, bytes);
    return status;
}

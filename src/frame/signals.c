/*
 * Signals. The handler does nothing but tw_cancel, which is async-signal-safe; the running call
 * returns TW_ERR_CANCELLED, the sinks remove what they wrote and the program ends as after any
 * error, after SIGINT, SIGTERM and SIGHUP by that signal. That goes for every signal that would end
 * the program: a closed terminal (SIGHUP), a timer, a batch system that gives notice (SIGUSR1,
 * SIGXCPU, real-time signals). SA_RESETHAND gives the second signal its usual, deadly meaning, for
 * whoever cannot wait; not so SIGXCPU, which comes every second until the hard limit kills. Without
 * SA_RESTART, a read that waits for a terminal or a pipe wakes up.
 */
#include "frame/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(tw_context *) watched;
static atomic_int came; /* the last of them; 0: none did */
static bool pipe_ends;  /* SIGPIPE had its usual meaning */

static void on_signal(int number)
{
    atomic_store(&came, number);
    tw_context *ctx = atomic_load(&watched);
    if (ctx != NULL) {
        tw_cancel(ctx);
    }
}

/* A signal that was ignored when the program began stays so: nohup and background jobs mean it.
 * One that is handled already belongs to a profiler or the like. */
static void watch(int number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
        sigaction(number, action, NULL);
    }
}

static void watch_all(struct sigaction *action)
{
    static const int ends[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGUSR1,   SIGUSR2,
                               SIGALRM, SIGPOLL, SIGVTALRM, SIGPROF, SIGSTKFLT, SIGPWR};
    action->sa_handler = on_signal;
    action->sa_flags = SA_RESETHAND;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        watch(ends[i], action);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        watch(number, action);
    }
    action->sa_flags = 0;
    watch(SIGXCPU, action);
}

void cli_signals_watch(tw_context *ctx)
{
    atomic_store(&watched, ctx);
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    struct sigaction before = {0};
    action.sa_handler = SIG_IGN;
    pipe_ends = sigaction(SIGPIPE, &action, &before) == 0 && before.sa_handler == SIG_DFL;
    sigaction(SIGXFSZ, &action, NULL);
    watch_all(&action);
}

void cli_signals_forget(void)
{
    atomic_store(&watched, NULL);
}

bool cli_may_end_by_pipe(void)
{
    return pipe_ends;
}

void cli_end_by_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

bool cli_interrupted(void)
{
    return atomic_load(&came) != 0;
}

void cli_end_by_signal(void)
{
    const int number = atomic_load(&came);
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

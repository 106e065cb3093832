/* Ctrl-C and its kin become a request to stop, so that no half-written file stays behind. */
#ifndef FRAME_SIGNALS_H
#define FRAME_SIGNALS_H

#include <tilewright.h>

#include <stdbool.h>

/* From now on every signal that would end the program, unless it is ignored, cancels ctx; a second
 * one ends the program at once. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file
 * over the limit are errors like any other and get their sentence. */
void cli_signals_watch(tw_context *ctx);

/* Stop watching; the context may be destroyed after this. */
void cli_signals_forget(void);

/* Whether a closed pipe may end the program: SIGPIPE was not ignored when it began. */
bool cli_may_end_by_pipe(void);
/* End as a program without a handler does; returns only where that is impossible. */
void cli_end_by_pipe(void);

/* Whether one of them came. */
bool cli_interrupted(void);
/* End by the signal that came, if it was Ctrl-C, SIGTERM or SIGHUP: a shell then stops its loop,
 * and a supervisor sees its own request obeyed. Returns if it was another. */
void cli_end_by_signal(void);

#endif

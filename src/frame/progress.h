/* The progress line: one line on standard error, redrawn in place, on a terminal only. */
#ifndef FRAME_PROGRESS_H
#define FRAME_PROGRESS_H

#include <tilewright.h>

/* Show the progress of ctx from now on; does nothing unless standard error is a terminal. */
void cli_progress_attach(tw_context *ctx);

/* No longer. */
void cli_progress_detach(tw_context *ctx);

/* What stands at its beginning from now on: which of several files it is about. */
void cli_progress_label(const char *text);

/* Take the line away, if there is one; before anything else is written to the terminal. */
void cli_progress_clear(void);

/* The same before something is written to standard output. There are no more lines if that may come
 * out on the same terminal at any time: through a pipe, or because others write it. */
void cli_progress_before_output(void);
void cli_progress_yield(void);

#endif

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

#endif

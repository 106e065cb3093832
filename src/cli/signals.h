/* Ctrl-C and its kin become a request to stop, so that no half-written file stays behind. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <tilewright.h>

#include <stdbool.h>

/* From now on SIGINT and SIGTERM cancel ctx; a second one ends the program at once. SIGPIPE is
 * ignored, so that a closed pipe is an error like any other and gets its sentence. */
void cli_signals_watch(tw_context *ctx);

/* Stop watching; the context may be destroyed after this. */
void cli_signals_forget(void);

/* Whether one of them came. */
bool cli_interrupted(void);

#endif

/*
 * Sinks around sinks: one that measures the time another takes, and one that lets a file appear
 * only if the verifier that saw the same rows is content, so that a wrong result never replaces a
 * good file.
 */
#ifndef CLI_CHECKED_H
#define CLI_CHECKED_H

#include <tilewright.h>

typedef struct cli_timed {
    tw_sink inner;
    double seconds; /* spent in it so far */
} cli_timed;

/* `out` passes everything on to timed->inner, whose owner remains the caller. */
void cli_timed_sink(cli_timed *timed, tw_sink *out);

typedef struct cli_gated {
    tw_sink inner;
    const tw_apsp_verifier *verifier; /* its sink must come before this one */
} cli_gated;

void cli_gated_sink(cli_gated *gated, tw_sink *out);

#endif

/* Loads of an instrumented file: see trace.cpp. */
#ifndef LAB_EMULATED_TRACE_H
#define LAB_EMULATED_TRACE_H

#include <cstddef>

/* Which are kept: those from this memory by the first 32 threads of a block, while `kernel` runs.
 */
struct traced {
    const void *memory;
    size_t bytes;
    const unsigned *thread; /* that runs now */
    const void *const *running;
    const void *kernel;
};

void trace_begin(const traced &wanted);
/* How many turns one takes on average, all lanes of the warp together. */
double trace_end(void);

#endif

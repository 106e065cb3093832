/* Accesses of an instrumented file: see trace.cpp. */
#ifndef LAB_EMULATED_TRACE_H
#define LAB_EMULATED_TRACE_H

#include <cstddef>

/* Which loads are kept: those from this memory by the first 32 threads of a block, while `kernel`
 * runs. */
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

/* What a kernel accesses: bytes of shared and of global memory that all of its threads load and
 * store, each access as the source has it. */
struct accesses {
    double loads, stores;
    double reads, writes;
    double
        values; /* bytes of shared memory that the first 32 threads load, each byte once a thread */
};

enum { LAB_GLOBALS = 5 };

struct counted {
    const void *const *running;
    const unsigned *thread;
    const void *own; /* what the emulator has in static memory for kernels: threadIdx and so on */
    size_t own_bytes;
    const void *global[LAB_GLOBALS]; /* memory of the card */
    size_t global_bytes[LAB_GLOBALS];
    const void *kernels[2]; /* NULL: none */
};

void count_begin(const counted &wanted);
void count_end(accesses out[2]);

#endif

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

enum { LAB_WIDTHS = 5 }; /* of an access: 1, 2, 4, 8 and 16 bytes */

/* What a kernel accesses: bytes of shared and of global memory that all of its threads load and
 * store, each access as the source has it. */
struct accesses {
    double loads, stores;
    double reads, writes;
    double
        values; /* bytes of shared memory that the first 32 threads load, each byte once a thread */
    /* How many accesses there are of each width; "own" is what a thread has on its stack. */
    double loads_of[LAB_WIDTHS], reads_of[LAB_WIDTHS], writes_of[LAB_WIDTHS];
    double own_loads_of[LAB_WIDTHS], own_stores_of[LAB_WIDTHS];
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
    const void *stacks;     /* of the threads; NULL: none of what is there is counted */
    size_t stacks_bytes;
};

void count_begin(const counted &wanted);
void count_end(accesses out[2]);

#endif

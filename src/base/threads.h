/*
 * Threads are OpenMP's; without OpenMP everything runs on the calling thread. A parallel region
 * always asks for twi_thread_count(ctx) and then works with the team it was given.
 */
#ifndef TWI_BASE_THREADS_H
#define TWI_BASE_THREADS_H

#include "tilewright.h"

#ifdef _OPENMP
#include <omp.h>
static inline int twi_thread_id(void)
{
    return omp_get_thread_num();
}
static inline int twi_team_size(void)
{
    return omp_get_num_threads();
}
#else
static inline int twi_thread_id(void)
{
    return 0;
}
static inline int twi_team_size(void)
{
    return 1;
}
#endif

/* Threads a region of this context may use: as set, else the processors this process may run on;
 * 1 when called from inside somebody else's parallel region that allows no nesting. */
int twi_thread_count(const tw_context *ctx);

/* Processors this process may run on (its affinity mask). */
int twi_processor_count(void);

#endif

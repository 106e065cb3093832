/*
 * Threads are OpenMP's; without OpenMP everything runs on the calling thread. A parallel region
 * always asks for twi_thread_count(ctx), or for twi_team(n) where n was settled before, and then
 * works with the team it was given. No region names a number of its own: the runtime ends the
 * process when it cannot make a thread, so it is only asked for threads that can be made.
 */
#ifndef TWI_BASE_THREADS_H
#define TWI_BASE_THREADS_H

#include "base/context.h"

#define TWI_THREADS_MOST 4096 /* that a caller may ask for */

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
 * fewer where the system gives no more; 1 when called from inside somebody else's parallel region
 * that allows no nesting. Never more than it said before, unless tw_set_threads came between or the
 * process may run on more processors. */
TWI_SHARED int twi_thread_count(tw_context *ctx);

/* The same for so many simple steps: 1 where they are done before a team is awake. */
int twi_threads_for(tw_context *ctx, int64_t steps);

/* The same without asking the system. */
TWI_SHARED int twi_threads_wanted(const tw_context *ctx);

/* What a region may ask for that could use `wanted` threads: as many of them as there can be. */
TWI_SHARED int twi_team(int wanted);

/* Let a team write to every page of fresh memory, unless the call is cancelled: who then writes
 * here and there waits for no page. (A huge one takes as long as a thousand arcs, and the first
 * thousand arcs of a graph may need as many.) */
void twi_bring_in(tw_context *ctx, void *memory, uint64_t bytes, int team);

/* What a thread does that waits for another one: called with 0, 1, 2, ... it first stays where it
 * is, then lets others run. */
void twi_wait_a_moment(int turn);

/* Processors this process may run on (its affinity mask). */
TWI_SHARED int twi_processor_count(void);

#endif

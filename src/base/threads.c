/* How many threads: see threads.h. */
#include "base/threads.h"

#include "base/context.h"

#include <sched.h>
#include <unistd.h>

int twi_processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return CPU_COUNT(&set);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* a machine of more than 1024 processors */
    return online > 0 ? (int)online : 1;
}

int twi_thread_count(const tw_context *ctx)
{
#ifdef _OPENMP
    if (omp_get_active_level() >= omp_get_max_active_levels()) {
        return 1;
    }
    return ctx->threads > 0 ? ctx->threads : twi_processor_count();
#else
    (void)ctx;
    return 1;
#endif
}

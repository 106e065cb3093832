/* How many threads: see threads.h. */
#include "base/threads.h"

#include "base/context.h"

#include <sched.h>
#include <unistd.h>

#if defined _OPENMP && defined __clang__
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * LLVM's runtime keeps a note in shared memory under the number of the process, made when the first
 * region begins: an object is created, then given its size, then written. Whoever is killed between
 * the first two steps leaves an empty object behind, and the next process of that number dies of
 * SIGBUS writing to it. An empty one under our own number is such a leftover: it goes first.
 */
static void forget_empty_note(void)
{
    char name[64];
    struct stat found;
    (void)snprintf(name, sizeof name, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(),
                   (int)getuid());
    if (lstat(name, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 0) {
        (void)unlink(name);
    }
}

static void prepare_runtime(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, forget_empty_note);
}
#else
static void prepare_runtime(void)
{
}
#endif

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
    prepare_runtime();
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

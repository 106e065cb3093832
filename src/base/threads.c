/* How many threads: see threads.h. */
#include "base/threads.h"

#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEW_STEPS 10000 /* some microseconds of them, which a team takes to wake */

#if defined _OPENMP && defined __clang__
#include <stdio.h>
#include <sys/stat.h>

/*
 * LLVM's runtime keeps a note in shared memory under the number of the process, made when the first
 * region begins: an object is created, then given its size, then written. Whoever is killed between
 * the first two steps leaves an empty object behind, and the next process of that number dies of
 * SIGBUS reading or writing it. An empty one under our own number is such a leftover: it goes when
 * the library is loaded, because clang calls the runtime at the head of every function that has a
 * region, before anything the function itself says.
 */
__attribute__((constructor)) static void forget_empty_note(void)
{
    char name[64];
    struct stat found;
    (void)snprintf(name, sizeof name, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(),
                   (int)getuid());
    if (lstat(name, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 0) {
        (void)unlink(name);
    }
}
#endif

#define STAY 64 /* turns: a few microseconds */

void twi_wait_a_moment(int turn)
{
    if (turn >= STAY) {
        sched_yield();
        return;
    }
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory"); /* yield does nothing on most cores */
#endif
}

int twi_processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return CPU_COUNT(&set);
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* a machine of more than 1024 processors */
    return online > 0 ? (int)online : 1;
}

#ifdef _OPENMP

/*
 * libgomp and LLVM's runtime end the process when pthread_create fails under a region. So before a
 * region that needs more threads than the calling one is known to have, as many are made and ended
 * by ourselves, all there at one time. What they show can change before the runtime makes its own,
 * so that follows at once, by a region that does nothing: the runtime keeps its threads for the
 * next region. It lets go those beyond the size of a smaller one, which is why every region is
 * counted here (twi_team). About 15 us per thread, once (Neoverse V1, 2026-11).
 *
 * A child of fork has none of the threads that libgomp still counts on, and would wait for them for
 * ever. The thread that forked works alone there; every new one has a team of its own. LLVM's
 * runtime starts afresh in the child.
 */
static _Thread_local int known;     /* threads of this one's last region, itself counted */
static _Thread_local bool orphaned; /* they are the parent's */

#define SLACK ((size_t)1 << 20) /* bytes for what the runtime allocates beside the stacks */

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
} gate;

static void *wait_at(void *gate_)
{
    gate *at = gate_;
    pthread_mutex_lock(&at->lock);
    while (!at->open) {
        pthread_cond_wait(&at->opened, &at->lock);
    }
    pthread_mutex_unlock(&at->lock);
    return NULL;
}

/* The stack that the runtime gives its threads: OMP_STACKSIZE, in kB unless it says otherwise. */
static void set_stack_size(pthread_attr_t *attributes)
{
    const char *text = getenv("OMP_STACKSIZE");
    char *end = NULL;
    unsigned long long size = text != NULL ? strtoull(text, &end, 10) : 0;
    if (size == 0 || size > (SIZE_MAX >> 30)) {
        return;
    }
    end += strspn(end, " ");
    const char *units = "BKMG";
    const char *unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : units + 1;
    if (unit != NULL) {
        (void)pthread_attr_setstacksize(attributes, (size_t)size << (10 * (unit - units)));
    }
}

/* How many of `wanted` threads, the calling one counted, can be there at one time. Where they are
 * not all to be had, half of them: memory or processes are short, and the work needs some, too. */
static int threads_to_be_had(int wanted)
{
    gate at = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t *threads = malloc((size_t)wanted * sizeof *threads);
    void *slack = malloc(SLACK);
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int made = 0;
    if (threads != NULL && slack != NULL && pthread_attr_init(&attributes) == 0) {
        set_stack_size(&attributes);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (made < wanted - 1 &&
               pthread_create(&threads[made], &attributes, wait_at, &at) == 0) {
            made++;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void)pthread_attr_destroy(&attributes);
    }
    pthread_mutex_lock(&at.lock);
    at.open = true;
    pthread_cond_broadcast(&at.opened);
    pthread_mutex_unlock(&at.lock);
    for (int i = 0; i < made; i++) {
        pthread_join(threads[i], NULL);
    }
    free(slack);
    free(threads);
    return made == wanted - 1 ? wanted : (made + 1) / 2 > 1 ? (made + 1) / 2 : 1;
}

static void after_fork(void)
{
#ifndef __clang__
    orphaned = orphaned || known > 1;
#endif
    known = 0;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}

/* Inside a region of somebody else's, or where the threads are a parent's. */
static bool must_work_alone(void)
{
    return orphaned || omp_get_active_level() >= omp_get_max_active_levels();
}

int twi_team(int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (wanted <= 1 || must_work_alone()) {
        return 1;
    }
    if (omp_get_active_level() > 0) { /* the runtime keeps no threads for an inner region */
        return threads_to_be_had(wanted);
    }
    if (wanted > known) {
        (void)pthread_once(&once, watch_forks);
        wanted = threads_to_be_had(wanted);
        atomic_int there = 0;
#pragma omp parallel num_threads(wanted)
        atomic_fetch_add(&there, 1);
        wanted = there;
    }
    known = wanted;
    return wanted;
}

#else

static bool must_work_alone(void)
{
    return true;
}

int twi_team(int wanted)
{
    (void)wanted;
    return 1;
}

#endif

int twi_threads_wanted(const tw_context *ctx)
{
    if (must_work_alone()) {
        return 1;
    }
    int wanted = ctx->threads > 0 ? ctx->threads : twi_processor_count();
    return ctx->threads_had > 0 && ctx->threads_had < wanted ? ctx->threads_had : wanted;
}

int twi_thread_count(tw_context *ctx)
{
    int wanted = twi_threads_wanted(ctx);
    int team = twi_team(wanted);
    if (team < wanted) {
        ctx->threads_had = team;
    }
    return team;
}

int twi_threads_for(tw_context *ctx, int64_t steps)
{
    return steps < FEW_STEPS ? 1 : twi_thread_count(ctx);
}

tw_status tw_set_threads(tw_context *ctx, int32_t threads)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    if (threads < 0 || threads > TWI_THREADS_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%d threads: expected 1 to %d, or 0 for all processors", threads,
                       TWI_THREADS_MOST);
    }
    ctx->threads = threads;
    ctx->threads_had = 0;
    return TW_OK;
}

int32_t tw_threads(const tw_context *ctx)
{
    return ctx != NULL ? twi_threads_wanted(ctx) : 0;
}

void twi_bring_in(tw_context *ctx, void *memory, uint64_t bytes, int team)
{
    enum { PAGE = 4096, PIECE = 1 << 20 };
    const int64_t pieces = (int64_t)(bytes / PIECE) + 1;
    if (pieces == 1) {
        return; /* not worth a team */
    }
#pragma omp parallel for num_threads(twi_team(team)) schedule(static)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t begin = (uint64_t)i * PIECE;
        const uint64_t end = bytes - begin < PIECE ? bytes : begin + PIECE;
        for (uint64_t at = begin; at < end && !twi_is_cancelled(ctx); at += PAGE) {
            ((char *)memory)[at] = 0;
        }
    }
    (void)team; /* without OpenMP */
}

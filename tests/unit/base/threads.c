/*
 * Threads in a world that gives few of them: limits, fork, unloading. What may end or hang is done
 * by a child, which an alarm ends; the alarm is no measure of speed.
 */
#include "harness.h"

#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 300
#define TEAM 4
#define HANGS 300 /* seconds */

/* A sanitizer's own memory is far beyond any limit of the address space. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ThreadSanitizer refuses threads after a fork unless told otherwise. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static void fill(int32_t *a, unsigned seed)
{
    for (int i = 0; i < N * N; i++) {
        seed = seed * 1664525U + 1013904223U;
        a[i] = (int32_t)(seed >> 12);
    }
}

/* The product by its definition. */
static void multiply_plainly(int32_t *c, const int32_t *a, const int32_t *b)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int32_t least = TW_APSP_INF_I32;
            for (int k = 0; k < N; k++) {
                int32_t sum = a[i * N + k] + b[k * N + j];
                least = sum < least ? sum : least;
            }
            c[i * N + j] = least;
        }
    }
}

static int32_t left[N * N];
static int32_t right[N * N];
static int32_t expected[N * N];
static int32_t got[N * N];

/* Multiply with TEAM threads, as far as there are some; whether the result is right. */
static bool computes(tw_context *ctx)
{
    tw_matrix a = {left, N, N, N, TW_I32};
    tw_matrix b = {right, N, N, N, TW_I32};
    tw_matrix c = {got, N, N, N, TW_I32};
    for (int i = 0; i < N * N; i++) {
        got[i] = TW_APSP_INF_I32;
    }
    return tw_minplus(ctx, &c, &a, &b) == TW_OK && memcmp(got, expected, sizeof got) == 0;
}

static void prepare(void)
{
    fill(left, 1);
    fill(right, 2);
    multiply_plainly(expected, left, right);
}

/* Run `work` in a child; its exit status, or 256 and the signal that ended it. */
static int in_child(int (*work)(tw_context *ctx), tw_context *ctx)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HANGS);
        _exit(work(ctx));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static int compute(tw_context *ctx)
{
    return computes(ctx) ? 0 : 1;
}

static int compute_anew(tw_context *ctx)
{
    (void)ctx;
    tw_context *own = NULL;
    bool right_ = tw_context_create(&own) == TW_OK && tw_set_threads(own, TEAM) == TW_OK &&
                  computes(own) && computes(own);
    tw_context_destroy(own);
    return right_ ? 0 : 1;
}

static void *compute_on_thread(void *ctx)
{
    return computes(ctx) ? ctx : NULL;
}

/* A new thread of the child is as good as any. */
static int compute_beside(tw_context *ctx)
{
    pthread_t thread;
    void *right_ = NULL;
    if (pthread_create(&thread, NULL, compute_on_thread, ctx) != 0 ||
        pthread_join(thread, &right_) != 0) {
        return 2;
    }
    return right_ != NULL ? 0 : 1;
}

static int fork_again(tw_context *ctx)
{
    return !computes(ctx) ? 1 : in_child(compute, ctx);
}

static void a_child_of_a_process_that_computed_computes_too(void **state)
{
    (void)state;
    if (TW_TEST_EMULATED) {
        printf("skipped: after a fork, qemu-user 7.2 aborts at the child's first thread\n");
        skip();
    }
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, TEAM));
    assert_true(computes(ctx));
    assert_int_equal(in_child(compute, ctx), 0);
    assert_int_equal(in_child(compute_anew, ctx), 0);
    assert_int_equal(in_child(compute_beside, ctx), 0);
    assert_int_equal(in_child(fork_again, ctx), 0);
    assert_true(computes(ctx)); /* and the parent goes on with its threads */
    assert_int_equal(twi_thread_count(ctx), tw_threads(ctx));
    close_context(ctx);
}

/* As somebody whom the limit of processes binds. */
static bool allow_no_more_processes(void)
{
    struct rlimit none = {1, 1};
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
        return false;
    }
    return setrlimit(RLIMIT_NPROC, &none) == 0;
}

static int compute_without_processes(tw_context *ctx)
{
    (void)ctx;
    tw_context *own = NULL;
    if (!allow_no_more_processes() || tw_context_create(&own) != TW_OK ||
        tw_set_threads(own, TEAM) != TW_OK) {
        return 2;
    }
    bool right_ = computes(own) && twi_thread_count(own) == 1 && tw_threads(own) == 1;
    tw_context_destroy(own);
    return right_ ? 0 : 1;
}

static void a_process_that_may_have_no_threads_computes_alone(void **state)
{
    (void)state;
    assert_int_equal(in_child(compute_without_processes, NULL), 0);
}

static int compute_in_little_space(tw_context *ctx)
{
    (void)ctx;
    tw_context *own = NULL;
    char line[128];
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        return 2;
    }
    fclose(file);
    rlim_t space =
        (rlim_t)strtoul(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)24 << 20);
    struct rlimit little = {space, space};
    if (setrlimit(RLIMIT_AS, &little) != 0 || tw_context_create(&own) != TW_OK ||
        tw_set_threads(own, 64) != TW_OK) {
        return 3;
    }
    bool right_ = computes(own) && tw_threads(own) < 64 && computes(own);
    tw_context_destroy(own);
    return right_ ? 0 : 1;
}

static void little_address_space_means_fewer_threads(void **state)
{
    (void)state;
    if (TW_TEST_EMULATED) {
        printf("skipped: the address space is the emulator's\n");
    }
    if (SANITIZED || TW_TEST_EMULATED) {
        skip();
    }
    assert_int_equal(in_child(compute_in_little_space, NULL), 0);
}

/* Scratch memory is made for the threads that were there: later calls may not find more. */
static int count_as_limits_go(tw_context *ctx)
{
    struct rlimit before;
    (void)ctx;
    tw_context *own = NULL;
    if ((getuid() == 0 && setresuid(65534, 65534, 65534) != 0) ||
        getrlimit(RLIMIT_NPROC, &before) != 0 || tw_context_create(&own) != TW_OK ||
        tw_set_threads(own, TEAM) != TW_OK) {
        return 2;
    }
    struct rlimit none = {1, before.rlim_max};
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || twi_thread_count(own) != 1) {
        return 3;
    }
    if (setrlimit(RLIMIT_NPROC, &before) != 0 || twi_thread_count(own) != 1) {
        return 4;
    }
    int all = tw_set_threads(own, TEAM) == TW_OK ? twi_thread_count(own) : 0;
    tw_context_destroy(own);
    return all == tw_threads(ctx) ? 0 : 5;
}

static void a_context_that_got_fewer_threads_keeps_to_them_until_told(void **state)
{
    (void)state;
    tw_context *ctx = open_context(); /* it does not compute, so the child has a fresh start */
    assert_ok(ctx, tw_set_threads(ctx, TEAM));
    assert_int_equal(in_child(count_as_limits_go, ctx), 0);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first those whose child must be the one to make the first thread */
        cmocka_unit_test(a_process_that_may_have_no_threads_computes_alone),
        cmocka_unit_test(little_address_space_means_fewer_threads),
        cmocka_unit_test(a_context_that_got_fewer_threads_keeps_to_them_until_told),
        cmocka_unit_test(a_child_of_a_process_that_computed_computes_too),
    };
    prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

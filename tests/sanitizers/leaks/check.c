/* The leak check at the exit of a sanitized program, made only where something can have leaked.
 *
 * On aarch64 the sanitizer's allocator of gcc 12 and clang 14 keeps one byte for each megabyte of
 * the 48-bit address space, and LeakSanitizer goes through all 2^28 of them five times: 4 s of
 * processor time however little a program allocated (Neoverse V1, November 2026). There is no
 * switch for that. But if as many bytes are on the heap at the exit as there were before main, then
 * none that the program asked for is left, and there is nothing to look for. So this counts first,
 * which costs nothing, and calls LeakSanitizer to tell leaked blocks from those still in use where
 * the counts differ. Hence every start of the command in the tests can be checked.
 *
 * The two counts are equal only if the libraries below have given back what they hold until the
 * exit, too:
 *   stdout       its buffer is a static one here;
 *   libgomp      the pool of threads is dissolved first. Their stacks go when the threads have
 *                ended, if glibc keeps none for later: GLIBC_TUNABLES of the asan preset says so;
 *   pthread_exit its first call loads libgcc_s; backtrace() does the same at the start;
 *   gmtime       the time zone is read at the start.
 * What others keep (setenv, setlocale) costs the programs that call them the long check. */
#include <execinfo.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Declared here because not every gcc has the headers; the second is called by the runtime. */
size_t __sanitizer_get_current_allocated_bytes(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void);

static size_t bytes_at_start;

const char *__asan_default_options(void)
{
    return "leak_check_at_exit=0"; /* it is made here */
}

__attribute__((constructor)) static void count_at_start(void)
{
    static char buffer[BUFSIZ];
    void *frame[1];

    (void)setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof(buffer));
    (void)backtrace(frame, 1);
    tzset();
    bytes_at_start = __sanitizer_get_current_allocated_bytes();
}

/* Whether the heap is as it was; a thread of a dissolved pool may take a moment to end. */
static int everything_came_back(void)
{
    for (int tries = 0; tries < 100; tries++) {
        if (__sanitizer_get_current_allocated_bytes() == bytes_at_start) {
            return 1;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 0;
}

__attribute__((destructor)) static void check_at_exit(void)
{
#ifdef _OPENMP
    (void)omp_pause_resource_all(omp_pause_hard);
#endif
    if (!everything_came_back()) {
        __lsan_do_leak_check();
    }
}

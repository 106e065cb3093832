/*
 * Counters of CPU rungs. Processor time, page faults and context switches are known everywhere.
 * Cycles, instructions, branches and misses come from the processor's own counters through
 * perf_event_open, where the kernel offers them: a virtual machine often has none, and
 * perf_event_paranoid may forbid them.
 *
 * An event is opened once, before any other thread exists, and inherited by the threads made later:
 * its value then is the sum over all of them. It is never reset; a run is the difference of two
 * readings. Where a processor has fewer counters than events they take turns, and the kernel says
 * for which part of the time each was counting: the difference is scaled by that. Only user code
 * is counted, which needs no privilege on most machines. A reading is a dozen system calls, outside
 * of the rung's own clock.
 */
#include "runner/counters.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CYCLES, INSTRUCTIONS, BRANCHES, BRANCH_MISSES, L1_MISSES, LAST_LEVEL_MISSES };

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define CACHE(level, result)                                          \
    ((uint64_t)(level) | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 | \
     (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static int open_event(int event)
{
    static const struct {
        uint32_t type;
        uint64_t config;
    } events[LAB_EVENTS] = {
        [CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        [INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        [BRANCHES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
        [BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
        [L1_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_L1D, MISS)},
        [LAST_LEVEL_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_LL, MISS)}};
    struct perf_event_attr about = {.type = events[event].type,
                                    .size = sizeof about,
                                    .config = events[event].config,
                                    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                   PERF_FORMAT_TOTAL_TIME_RUNNING,
                                    .inherit = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* perf_event_paranoid as the kernel writes it. */
static const char *show_paranoia(char out[16])
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (file == NULL || fgets(out, 16, file) == NULL) {
        snprintf(out, 16, "unknown");
    }
    if (file != NULL) {
        fclose(file);
    }
    out[strcspn(out, "\n")] = '\0';
    return out;
}
#else
static int open_event(int event)
{
    (void)event;
    errno = ENOSYS;
    return -1;
}

static const char *show_paranoia(char out[16])
{
    snprintf(out, 16, "unknown");
    return out;
}
#endif

static void explain(char why[LAB_WHY], int error)
{
    char level[16];
    const char *without = "no hardware counters, processor time and page faults only";
    if (error == EACCES || error == EPERM) {
        snprintf(why, LAB_WHY,
                 "%s: the kernel forbids them (perf_event_paranoid is %s); 'sysctl "
                 "kernel.perf_event_paranoid=2' allows them, a container also needs CAP_PERFMON",
                 without, show_paranoia(level));
    } else if (error == ENOSYS) {
        snprintf(why, LAB_WHY, "%s: this kernel has no perf events", without);
    } else {
        snprintf(why, LAB_WHY,
                 "%s: the kernel has none for this processor, as in most virtual machines (%s)",
                 without, strerror(error));
    }
}

void lab_meter_open(lab_meter *meter, char why[LAB_WHY])
{
    int open = 0, error = 0;
    why[0] = '\0';
    for (int i = 0; i < LAB_EVENTS; i++) {
        meter->file[i] = open_event(i);
        open += meter->file[i] >= 0;
        if (meter->file[i] < 0 && error == 0) {
            error = errno;
        }
    }
    if (open == 0) {
        explain(why, error);
    }
}

void lab_meter_close(lab_meter *meter)
{
    for (int i = 0; i < LAB_EVENTS; i++) {
        if (meter->file[i] >= 0) {
            close(meter->file[i]);
        }
    }
}

void lab_meter_read(const lab_meter *meter, lab_reading *out)
{
    struct rusage use;
    struct timespec time;
    *out = (lab_reading){.wall = twi_seconds()};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0) { /* rusage's lags by a tick */
        out->processor = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    }
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        out->faults = (double)use.ru_minflt + (double)use.ru_majflt;
        out->switches = (double)use.ru_nvcsw + (double)use.ru_nivcsw;
    }
    for (int i = 0; i < LAB_EVENTS; i++) {
        uint64_t value[3] = {0}; /* count, nanoseconds enabled, nanoseconds counting */
        if (meter->file[i] >= 0 && read(meter->file[i], value, sizeof value) == sizeof value) {
            out->count[i] = (double)value[0];
            out->enabled[i] = (double)value[1];
            out->running[i] = (double)value[2];
        }
    }
}

void lab_tally_add(lab_tally *tally, const lab_reading *before, const lab_reading *after)
{
    tally->runs++;
    tally->wall += after->wall - before->wall;
    tally->processor += after->processor - before->processor;
    tally->faults += after->faults - before->faults;
    tally->switches += after->switches - before->switches;
    for (int i = 0; i < LAB_EVENTS; i++) {
        double enabled = after->enabled[i] - before->enabled[i];
        double running = after->running[i] - before->running[i];
        double count = after->count[i] - before->count[i];
        tally->count[i] += running > 0 ? count * (enabled / running) : (double)NAN;
    }
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

void lab_tally_profile(const lab_tally *tally, double work, lab_profile *out)
{
    const double *count = tally->count;
    double runs = tally->runs, units = work * runs;
    lab_profile_clear(out);
    out->value[LAB_CORES_BUSY] = ratio(tally->processor, tally->wall);
    out->value[LAB_CLOCK] = ratio(count[CYCLES], tally->processor);
    out->value[LAB_INSTRUCTIONS_PER_CYCLE] = ratio(count[INSTRUCTIONS], count[CYCLES]);
    out->value[LAB_INSTRUCTIONS] = ratio(count[INSTRUCTIONS], units);
    out->value[LAB_BRANCHES_MISSED] = ratio(count[BRANCH_MISSES], count[BRANCHES]);
    out->value[LAB_L1_MISSES] = ratio(count[L1_MISSES], units);
    out->value[LAB_LAST_LEVEL_MISSES] = ratio(count[LAST_LEVEL_MISSES], units);
    out->value[LAB_PAGE_FAULTS] = ratio(tally->faults, runs);
    out->value[LAB_SWITCHES] = ratio(tally->switches, runs);
}

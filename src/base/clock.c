#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

double twi_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double twi_thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *twi_duration(char out[TWI_DURATION], double seconds)
{
    const double whole = floor(seconds + 0.5);
    if (seconds < 0.9995e-3) {
        snprintf(out, TWI_DURATION, "%.3g us", seconds * 1e6);
    } else if (seconds < 0.9995) {
        snprintf(out, TWI_DURATION, "%.3g ms", seconds * 1e3);
    } else if (whole < 120) {
        snprintf(out, TWI_DURATION, "%.3g s", seconds);
    } else if (whole < 7200) {
        snprintf(out, TWI_DURATION, "%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60));
    } else {
        snprintf(out, TWI_DURATION, "%.*f h",
                 seconds < 36000    ? 2
                 : seconds < 360000 ? 1
                                    : 0,
                 seconds / 3600);
    }
    return out;
}

/* What rocprof writes, as a profile. See rocprof_csv.c. */
#ifndef LAB_RUNNER_ROCPROF_CSV_H
#define LAB_RUNNER_ROCPROF_CSV_H

#include "runner/counters.h"

/* The file that tells rocprof what to count. */
extern const char lab_rocprof_asks[];

/* The profile in `size` bytes of text; else false, nothing known, and `why` says what is wrong. */
bool lab_rocprof_read(const char *text, size_t size, lab_profile *out, char why[LAB_WHY]);

#endif

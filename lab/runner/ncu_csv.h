/* What ncu prints, as a profile. See ncu_csv.c. */
#ifndef LAB_RUNNER_NCU_CSV_H
#define LAB_RUNNER_NCU_CSV_H

#include "runner/counters.h"

#define LAB_NCU_METRICS 1536

/* The names of the metrics to ask for, by commas, but for those of a set. */
void lab_ncu_metrics(uint32_t without, char out[LAB_NCU_METRICS]);

/* The metrics that ncu says it does not know; none if it names all of them. */
uint32_t lab_ncu_unknown(const char *text, size_t size);

/* The profile in `size` bytes of text; else false, nothing known, and `why` says what is wrong. */
bool lab_ncu_read(const char *text, size_t size, lab_profile *out, char why[LAB_WHY]);

#endif

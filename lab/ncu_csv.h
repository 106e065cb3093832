/* What ncu prints, as a profile. See ncu_csv.c. */
#ifndef LAB_NCU_CSV_H
#define LAB_NCU_CSV_H

#include "counters.h"

#define LAB_NCU_METRICS 1024

/* The names of the metrics to ask for, by commas. */
void lab_ncu_metrics(char out[LAB_NCU_METRICS]);

/* The profile in `size` bytes of text; else false, nothing known, and `why` says what is wrong. */
bool lab_ncu_read(const char *text, size_t size, lab_profile *out, char why[LAB_WHY]);

#endif

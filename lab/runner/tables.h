/* The tables that a run prints. See tables.c. */
#ifndef LAB_RUNNER_TABLES_H
#define LAB_RUNNER_TABLES_H

#include "runner/run.h"

/* A case below the headings of its size, which come with the first; a note below the last. */
void lab_print_head(const lab_run *run, int64_t n);
void lab_print_case(const lab_run *run, const lab_case *c);
void lab_print_notes(const lab_run *run, int32_t from);
/* What the ceiling is of, and whose the published figures are. */
void lab_print_sources(const lab_run *run);
/* The counters of some cases as a table; nothing if none has any. */
void lab_print_counters(const lab_case *cases, int32_t count);

#endif

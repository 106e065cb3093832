/*
 * What a processor and a profiler count while a rung runs; `run --counters` asks for it.
 *
 * A profile is a row of numbers, each known or not: NaN stands for a counter that this machine does
 * not have. One table (counters.c) names them for the results, the printed table and the reader.
 * CPU rungs are counted by the kernel (counters_cpu.c).
 */
#ifndef LAB_COUNTERS_H
#define LAB_COUNTERS_H

#include "ladder.h"

#include "job.h"
#include "report.h"

typedef enum lab_counter {
    LAB_CORES_BUSY,
    LAB_CLOCK,
    LAB_INSTRUCTIONS_PER_CYCLE,
    LAB_INSTRUCTIONS,
    LAB_BRANCHES_MISSED,
    LAB_L1_MISSES,
    LAB_LAST_LEVEL_MISSES,
    LAB_PAGE_FAULTS,
    LAB_SWITCHES,
    LAB_COUNTERS
} lab_counter;

/* How a value is shown. */
typedef enum lab_counter_kind {
    LAB_PLAIN,  /* 1.83 */
    LAB_SHARE,  /* of 1, as a percentage */
    LAB_SCALED, /* 12.3 G */
    LAB_BYTES   /* 12.3 GB */
} lab_counter_kind;

typedef struct lab_counter_about {
    const char *name;       /* in the results */
    const char *heading[2]; /* over its column, two lines; NULL: only in the results */
    lab_counter_kind kind;
} lab_counter_about;

extern const lab_counter_about lab_counter_list[LAB_COUNTERS];

typedef struct lab_profile {
    double value[LAB_COUNTERS]; /* NaN: not known */
} lab_profile;

void lab_profile_clear(lab_profile *profile); /* nothing is known */
bool lab_profile_is_empty(const lab_profile *profile);

/* As an object "counters" of the known ones; nothing where none is known. */
void lab_profile_keep(cli_report *json, const lab_profile *profile);

/* -------------------------------------------------------------------------------- of the CPU */

enum { LAB_EVENTS = 6 }; /* cycles, instructions, branches, and three kinds of misses */

/* Counts this process and the threads it makes after opening. */
typedef struct lab_meter {
    int file[LAB_EVENTS]; /* -1: the machine does not count it */
} lab_meter;

/* What has been counted up to a moment. */
typedef struct lab_reading {
    double wall, processor; /* seconds */
    double faults, switches;
    double count[LAB_EVENTS];
    double enabled[LAB_EVENTS], running[LAB_EVENTS]; /* they differ where events took turns */
} lab_reading;

/* What was counted between pairs of moments. */
typedef struct lab_tally {
    int32_t runs;
    double wall, processor, faults, switches;
    double count[LAB_EVENTS]; /* NaN: not known */
} lab_tally;

/* Open every event that there is, before the first thread is made. `why` becomes the sentence on
 * what is missing, "" if nothing is. Never fails: processor time and page faults are always
 * known. */
#define LAB_WHY 256
void lab_meter_open(lab_meter *meter, char why[LAB_WHY]);
void lab_meter_close(lab_meter *meter);
void lab_meter_read(const lab_meter *meter, lab_reading *out);
void lab_tally_add(lab_tally *tally, const lab_reading *before, const lab_reading *after);
/* Per run, with `work` units a run. */
void lab_tally_profile(const lab_tally *tally, double work, lab_profile *out);

#endif

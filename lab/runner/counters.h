/*
 * What a processor and a profiler count while a rung runs; `run --counters` asks for it.
 *
 * A profile is a row of numbers, each known or not: NaN stands for a counter that this machine does
 * not have. One table (counters.c) names them for the results, the printed table and the reader.
 * CPU rungs are counted by the kernel (counters_cpu.c), GPU rungs by ncu (counters_gpu.c).
 */
#ifndef LAB_RUNNER_COUNTERS_H
#define LAB_RUNNER_COUNTERS_H

#include "ladders/ladder.h"

#include "frame/report.h"

#include <math.h>

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
    LAB_INTEGER_RATE, /* from here on of a GPU */
    LAB_SM_ACTIVE,
    LAB_WARPS_ACTIVE,
    LAB_BRANCHES_UNIFORM,
    LAB_THREADS_ACTIVE,
    LAB_SHARED_USEFUL,
    LAB_BANK_CONFLICTS,      /* for each access */
    LAB_BANK_CONFLICT_COUNT, /* in the launches that were looked at */
    LAB_SHARED_RATE,
    LAB_LOAD_RATE,
    LAB_L2_READ, /* bulk copies and textures too, which no load instruction shows */
    LAB_STORE_RATE,
    LAB_LOCAL_RATE, /* loads of what a thread keeps in memory: arrays it indexes, and spills */
    LAB_DRAM_READ,
    LAB_DRAM_WRITTEN,
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

#define LAB_KERNEL_NAME 128

typedef struct lab_profile {
    double value[LAB_COUNTERS];     /* NaN: not known */
    int32_t launches;               /* of GPU kernels that were looked at; 0 on a CPU */
    char kernel[LAB_KERNEL_NAME];   /* the one that took most of their time */
    double kernel_share;            /* and how much of it */
    double of_kernel[LAB_COUNTERS]; /* what its launches alone count */
} lab_profile;

/* Nothing is known. */
static inline void lab_profile_clear(lab_profile *profile)
{
    *profile = (lab_profile){0};
    for (int i = 0; i < LAB_COUNTERS; i++) {
        profile->value[i] = profile->of_kernel[i] = (double)NAN;
    }
}

bool lab_profile_is_empty(const lab_profile *profile);

/* As an object "counters" of the known ones; nothing where none is known. */
void lab_profile_keep(cli_report *json, const lab_profile *profile);

#define LAB_WHY 320 /* of a sentence on what is not counted */

/* ----------------------------------------------------------------------------------- of the CPU */

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
void lab_meter_open(lab_meter *meter, char why[LAB_WHY]);
void lab_meter_close(lab_meter *meter);
void lab_meter_read(const lab_meter *meter, lab_reading *out);
void lab_tally_add(lab_tally *tally, const lab_reading *before, const lab_reading *after);
/* Per run, with `work` units a run. */
void lab_tally_profile(const lab_tally *tally, double work, lab_profile *out);

/* ----------------------------------------------------------------------------------- of the GPU */

/* Where the kernels to be looked at begin and end, for a profiler that waits for it; nothing in a
 * build without CUDA. */
void lab_mark_begin(void);
void lab_mark_end(void);

typedef enum lab_answer {
    LAB_COUNTED,
    LAB_NOT_THIS, /* this rung could not be looked at */
    LAB_HOPELESS  /* nor will any other: there is no profiler, or it is not allowed */
} lab_answer;

/* What `run --counters` can read here. */
typedef struct lab_counting {
    lab_meter meter;
    char without[LAB_WHY]; /* what the meter lacks, until it is said */
    bool hopeless;         /* no GPU rung can be looked at */
    uint32_t unknown;      /* metrics that this ncu does not know, and is not asked for again */
    char said[LAB_WHY];    /* the last sentence on that: the same one is said once */
} lab_counting;

/* Run `words`, a program and its arguments with NULL at the end, under ncu for at most `limit`
 * seconds, and take what it counted. Metrics of `unknown` are not asked for; those that ncu turns
 * out not to know are added to it, and it is asked again without them. Where all fails `why` is the
 * sentence and the profile knows nothing. Only cancelling and a want of memory are errors. */
TW_CHECKED tw_status lab_ask_ncu(tw_context *ctx, const char *const *words, double limit,
                                 uint32_t *unknown, lab_answer *answer, lab_profile *out,
                                 char why[LAB_WHY]);
/* The same of an AMD card under rocprof, which counts all that the program launches. */
TW_CHECKED tw_status lab_ask_rocprof(tw_context *ctx, const char *const *words, double limit,
                                     lab_answer *answer, lab_profile *out, char why[LAB_WHY]);
/* The names of a set of metrics, by commas. */
void lab_ncu_names(uint32_t set, char out[LAB_WHY]);

#endif

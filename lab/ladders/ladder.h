/*
 * What a ladder is. A rung is one way to solve the ladder's problem: a short piece of code with one
 * idea more than its parent. A sweep is a ladder, too: its rungs differ by one number.
 *
 * The runner (runner/runner.c) opens a bench for each size: the inputs and the right answer. It
 * then lets each rung solve it once, has the answer checked, and only then times it. A rung says
 * itself what it took, since what counts differs: kernels alone, or copies as well.
 */
#ifndef LAB_LADDERS_LADDER_H
#define LAB_LADDERS_LADDER_H

#include "base/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one run of a rung took, in seconds. Parts that a rung does not have are 0. */
typedef struct lab_time {
    double total; /* what is compared; the runner takes the wall clock where it is 0 */
    double read, upload, compute, download, write;
} lab_time;

/* What a GPU kernel takes; 0 where unknown or on a CPU. */
typedef struct lab_kernel {
    int32_t registers;
    int32_t shared;   /* bytes per block, static and dynamic */
    int32_t local;    /* bytes of local memory a thread: arrays it indexes, and spilled registers */
    double occupancy; /* warps that fit of those the processor has places for */
} lab_kernel;

typedef struct lab_rung lab_rung;
struct lab_rung {
    const char *name;
    const char *parent; /* the rung that this one changes; NULL: a first one */
    const char *row;    /* of the write-ups; NULL: ours */
    const char *idea;
    /* "FILE FUNCTION... [FILE FUNCTION...]": its code, below lab/ladders or in src, of a file of
     * kernels with all that they call there; "FUNCTION#2" is the second of that name; NULL: the
     * ladder's */
    const char *source;
    const char *recipe;    /* what a line of that file makes its code of: MACRO(recipe, ...) */
    const char *made_with; /* what the build compiles its code with, beside that; NULL: nothing */
    const char *against;   /* what it is checked against, where that is not the ladder's text */
    /* What is wrong with its answer by its very idea; NULL: nothing. Such a rung is checked to be
     * wrong in just that way, and its time is shown, but compared with no other's. */
    const char *flaw;
    bool gpu; /* needs a card, in a ladder that does not */
    /* Solve the bench from its unspoilt input into its output. */
    tw_status (*run)(void *bench, const lab_rung *rung, lab_time *time);
    int64_t most;     /* largest default size; 0: no limit. Sizes asked for are never left out. */
    const void *code; /* the ladder's own: a kernel, say */
    int32_t a, b;     /* and numbers: a block, threads */
    /* What its main kernel takes; NULL on a CPU. */
    tw_status (*inspect)(void *bench, const lab_rung *rung, lab_kernel *out);
};

/* A figure of a write-up's authors. */
typedef struct lab_published {
    const char *rung;
    int64_t n;
    double milliseconds; /* 0: they ran it at that size, and do not tell what it took */
} lab_published;

typedef struct lab_ceiling {
    double rate;    /* units of work per second; 0: not known */
    double bytes;   /* bytes per second, read and written */
    const char *of; /* what was measured: "a copy of large arrays"; NULL: nothing */
} lab_ceiling;

typedef struct lab_ladder {
    const char *name;
    const char *title;
    const char *unit;    /* of work: "relaxations", "pixels" */
    const char *size;    /* what n is: "vertices", "side" */
    const char *against; /* what answers are checked against: "double precision, within 1e-6" */
    const char *source;  /* of rungs that share their code */
    bool gpu;
    const lab_rung *rungs;
    int32_t count;
    const int64_t *sizes;           /* the default ones; 0 ends the list */
    const lab_published *published; /* a rung of NULL ends the list; NULL: none */
    const char *published_on;       /* the authors' machine */
    /* Make the inputs and the right answer for n. */
    tw_status (*open)(tw_context *ctx, int64_t n, uint64_t seed, void **bench);
    void (*spoil)(void *bench); /* poison the output */
    tw_status (*check)(tw_context *ctx, void *bench, const lab_rung *rung);
    void (*close)(void *bench);
    double (*work)(int64_t n);    /* units */
    double (*traffic)(int64_t n); /* bytes that must be read and written once */
    tw_status (*ceiling)(tw_context *ctx, lab_ceiling *out);
    /* The kernel that takes a rung's time, as the host calls it; NULL: none of its own. */
    const void *(*kernel)(const lab_rung *rung);
    /* Whether this machine can run the rung; NULL: every one. */
    bool (*offers)(tw_context *ctx, const lab_rung *rung);
} lab_ladder;

/* All ladders; NULL ends the list. */
extern const lab_ladder *const lab_ladders[];

#define LAB_COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#ifdef __cplusplus
}
#endif

#endif

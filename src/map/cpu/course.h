/*
 * The course of a job on the CPU: which kernels run for which columns, how the result is cut into
 * tasks and blocks, and where a thread keeps what. cpu/course.c makes it, cpu.c follows it.
 */
#ifndef TWI_MAP_CPU_COURSE_H
#define TWI_MAP_CPU_COURSE_H

#include "map/cpu/kernels.h"

#include <stdatomic.h>

/* One call of a kernel: value `out` from values `args`. */
typedef struct twi_map_step {
    twi_map_block_fn run;
    int32_t out;
    int32_t args[3];
} twi_map_step;

/* The columns of one residue under one program. */
typedef struct twi_map_lane {
    const twi_program *program;
    int32_t residue;
    int32_t number;   /* of the program */
    uint64_t columns; /* its part of a thread's values of columns, in bytes from their start */
} twi_map_lane;

/* What the threads share. */
typedef struct twi_map_course {
    tw_context *ctx;
    const twi_map_job *job;
    const twi_map_job *asked; /* the same before its rows became one */
    const twi_map_machine *machine;
    const twi_map_block_fn *operation;
    int64_t size;          /* bytes of an element of the compute type */
    int64_t period;        /* of columns */
    int64_t block;         /* elements of a residue in a block */
    int64_t room;          /* elements of a register */
    bool past_caches;      /* no cache will hold the result */
    int64_t strip_room;    /* elements of a residue in a strip: whole vectors */
    int64_t strip, strips; /* columns of a task */
    int64_t band, bands;   /* rows of a task */
    uint32_t inputs;       /* those that some program reads element by element */
    int32_t input_count;   /* bits of `inputs` */
    int32_t places;
    int32_t count; /* operations of the longest program */
    int32_t lane_count;
    twi_map_lane *lanes;
    int32_t *lane_of;    /* of row residue * period + column residue */
    twi_map_step *steps; /* of each program, from steps_at on; as many as operations */
    int32_t *steps_at;   /* of each program: where its own begin */
    int32_t *still_steps, *step_count; /* those not of a pass; all */
    int32_t *uses;                     /* while steps are listed: of each value */
    char *uniform;        /* values of [0, uniform_end) of each program, a vector each */
    uint64_t *uniform_at; /* of each program, in bytes */
    uint64_t *row_at;     /* likewise in a thread's values of rows */
    uint64_t row_bytes, column_bytes, part;
    char *scratch; /* one part for each thread */
    atomic_int_fast64_t done;
} twi_map_course;

/* The course of a job whose context, machine and sizes are set, for so many threads; its scratch
 * memory is there, but nothing is computed. Cleared by the caller, also if it fails. */
TW_CHECKED tw_status twi_map_course_make(twi_map_course *p, int threads);
void twi_map_course_clear(twi_map_course *p);

static inline uint64_t twi_vector_bytes(const twi_map_course *p)
{
    return (uint64_t)(TWI_MAP_GRAIN * p->size);
}

static inline uint64_t twi_block_bytes(const twi_map_course *p)
{
    return (uint64_t)(p->room * p->size);
}

static inline int64_t twi_round_up(int64_t value, int64_t grain)
{
    return (value + grain - 1) / grain * grain;
}

static inline uint64_t twi_aligned(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

static inline twi_map_block_fn twi_kernel_of(const twi_map_course *p, const twi_operation *op)
{
    return op->code == TWI_OP_STORED ? p->machine->stored[op->type] : p->operation[op->code];
}

#endif

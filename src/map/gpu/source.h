/*
 * The kernel of a map, as the text that a run-time compiler takes. It follows the programs of
 * program.h operation by operation; what it calls is in gpu/functions.cuh.
 *
 * A thread computes `groups` groups of `group` neighbouring elements; group is a whole number of
 * column periods, so each lane's residue, and with it its program, is known when the kernel is
 * compiled, and of `piece`, the elements that one access of at most 16 bytes moves. The program of
 * a row's residue is chosen by a switch that the threads of a row take together.
 */
#ifndef TWI_MAP_GPU_SOURCE_H
#define TWI_MAP_GPU_SOURCE_H

#include "map/program/program.h"

#define TWI_MAP_KERNEL "tilewright_map" /* its name in the compiled code */
#define TWI_MAP_BLOCK 256               /* threads of a block */

typedef struct twi_map_source {
    char *text;  /* the kernel alone: what --explain shows */
    char *whole; /* with the functions before it: what is compiled */
    int32_t piece, group, groups;
    int32_t input_count; /* that it reads */
    int32_t inputs[TWI_MAP_INPUTS];
} twi_map_source;

/* The arguments of the kernel: numbers of 64 bits, in this order. */
enum {
    TWI_MAP_FIRST_ROW, /* number of the first row that is computed */
    TWI_MAP_ROWS,      /* how many */
    TWI_MAP_COLS,
    TWI_MAP_REPEAT,
    TWI_MAP_ALIGNED,  /* 1: every piece of every row lies on a multiple of its size */
    TWI_MAP_STOP,     /* address of a word that is not 0 once passes are to end; 0: none */
    TWI_MAP_OUT,      /* address of the first element of row 0, which need not be memory of ours */
    TWI_MAP_OUT_STEP, /* bytes from row to row */
    TWI_MAP_IN,       /* then address and step of each input that is read */
    TWI_MAP_ARGUMENTS = TWI_MAP_IN + 2 * TWI_MAP_INPUTS
};

/* Of a job, its variants, input types and broadcasts, x_input and whether it repeats. */
TW_CHECKED tw_status twi_map_source_make(tw_context *ctx, twi_map_source *out,
                                         const twi_map_job *job);
void twi_map_source_clear(twi_map_source *source);

/* gpu/functions.cuh */
extern const char twi_map_gpu_functions[];

/* The bound in ulp of an operation on the GPU: that of twi_op_ulp or a larger one. */
double twi_map_gpu_ulp(twi_op op, tw_type compute);

#endif

/* Maps on the CPU: the entry of the evaluator. */
#ifndef TWI_MAP_CPU_CPU_H
#define TWI_MAP_CPU_CPU_H

#include "map/program/program.h"

/* The evaluator: the whole job on the threads of the context; progress and cancelling as for every
 * long call. */
TW_CHECKED tw_status twi_map_cpu_run(tw_context *ctx, const twi_map_job *job);

#endif

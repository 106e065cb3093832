/* The oracle: the generic program, one element after the other, each operation by the C library. */
#ifndef TWI_MAP_REFERENCE_H
#define TWI_MAP_REFERENCE_H

#include "map/program/program.h"

/* A job as twi_map_cpu_run takes it, but always by variants->generic. */
TW_CHECKED tw_status twi_map_reference_run(tw_context *ctx, const twi_map_job *job);

#endif

/* Whether a GPU that nobody named should compute a map. */
#ifndef TWI_MAP_PLAN_GPU_H
#define TWI_MAP_PLAN_GPU_H

#include "map/plan/plan.h"

typedef struct twi_map_gpu_estimate {
    bool runs;          /* its driver does already */
    bool pays;          /* it is so much faster than the CPU that "auto" takes it, */
    bool pays_compiler; /*   even if the kernel has to be compiled first */
} twi_map_gpu_estimate;

/* All false where the device is not "auto", or in a build without GPU code. */
twi_map_gpu_estimate twi_map_gpu_weigh(tw_context *ctx, const tw_map_plan *plan);

#endif

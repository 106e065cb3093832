/* Whether a GPU that nobody named should compute a map. */
#ifndef TWI_MAP_PLAN_GPU_H
#define TWI_MAP_PLAN_GPU_H

#include "map/plan/plan.h"

/* Whether a GPU would be so much faster than the CPU that it is taken though "auto" is asked for.
 */
bool twi_map_gpu_pays(tw_context *ctx, const tw_map_plan *plan);

#endif

/* Searches that correct labels, on a GPU, as a candidate of a plan. */
#ifndef TWI_APSP_PLAN_GPU_LABELS_H
#define TWI_APSP_PLAN_GPU_LABELS_H

#include "apsp/plan/candidate.h"

/* Weigh them on the context's GPU, or, with "auto", on the first of the machine: starts the driver.
 * `farthest`: TWI_UNKNOWN, or a distance that was seen; `rival`: seconds of another way. A named
 * GPU that cannot be used is an error. */
TW_CHECKED tw_status twi_consider_gpu_labels(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                             double farthest, double rival);

/* The seconds of a run in `type`, if the longest path from any source has `depth` arcs. */
double twi_gpu_labels_seconds(const tw_apsp_plan *plan, tw_type type, const twi_gpu_info *info,
                              double depth);

#endif

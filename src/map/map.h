/* The inside of the map wing: how a plan is made, checked against its arrays, and run. */
#ifndef TWI_MAP_MAP_H
#define TWI_MAP_MAP_H

#include "map/plan/plan.h"

/* As tw_map_plan_create, with a method forced (AUTO: chosen). One that cannot do it is
 * TW_ERR_ARGUMENT. */
TW_CHECKED tw_status twi_map_plan_make(tw_context *ctx, tw_map_plan **out, const tw_expr *expr,
                                       const tw_shape *inputs, int32_t input_count,
                                       const tw_map_options *opts, twi_map_method method);
/* What all runs check of their inputs: input i is sources[i] if that has rows, else inputs[i].
 * `sources` may be NULL. */
TW_CHECKED tw_status twi_map_check_inputs(tw_context *ctx, const tw_map_plan *plan,
                                          const tw_matrix *inputs, const tw_source *sources,
                                          int32_t count);

/* What tw_map_plan_apply checks of its arrays, and the job that they make. */
TW_CHECKED tw_status twi_map_check(tw_context *ctx, const tw_map_plan *plan, const tw_matrix *out,
                                   const tw_matrix *inputs, int32_t input_count);
twi_map_job twi_map_job_of(const tw_map_plan *plan, int64_t first, int64_t count,
                           const tw_matrix *inputs, void *out, int64_t stride);

/* A job of the plan by its method; the inputs are checked. */
TW_CHECKED tw_status twi_map_run(tw_context *ctx, const tw_map_plan *plan, const twi_map_job *job);

/* Complete what was seen of a run, and copy it as far as the caller's struct goes. */
void twi_map_give_report(tw_context *ctx, const tw_map_plan *plan, tw_map_report *out,
                         tw_map_report *seen);

#endif

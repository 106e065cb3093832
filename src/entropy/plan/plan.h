/* A plan of local entropy: see plan.c. */
#ifndef TWI_ENTROPY_PLAN_PLAN_H
#define TWI_ENTROPY_PLAN_PLAN_H

#include "entropy/shared/plan.h"

/* The setup of a run over `in`, which must be of the planned shape. It shares what the plan holds:
 * nothing of it is to be cleared. */
TW_CHECKED tw_status twi_entropy_plan_turn_to(tw_context *ctx, const tw_entropy_plan *plan,
                                              twi_entropy_setup *out, const tw_matrix *in);

/* The same for a call on GPU memory, with its result and options checked. */
TW_CHECKED tw_status twi_entropy_plan_take_call(tw_context *ctx, const tw_entropy_plan *plan,
                                                twi_entropy_setup *out, const tw_matrix *result,
                                                const tw_matrix *in, tw_device_options *options,
                                                const tw_device_options *given);

#endif

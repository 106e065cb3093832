/*
 * A sweep as a candidate of a plan: its order is made here, unless that cannot pay, and the steps
 * of its tree are counted. `rival` are the seconds that the fastest other way is thought to take.
 */
#ifndef TWI_APSP_PLAN_SWEEP_H
#define TWI_APSP_PLAN_SWEEP_H

#include "apsp/closure/kernels.h"
#include "apsp/plan/candidate.h"

#define TWI_SWEEP_EFFICIENCY 0.7 /* of the micro-kernel's rate (Xeon, November 2026) */

/* On the CPU, beginning in `type`. */
TW_CHECKED tw_status twi_consider_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                        tw_type type, double rival);

/* Seconds of a run with the plan's tree, where the micro-kernel does `rate` relaxations per second
 * on all threads. */
double twi_sweep_seconds(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, double rate,
                         uint64_t memory);

/* Whether it can pay beside `rival`, by the time of its order alone: costs nothing to ask. */
bool twi_sweep_order_may_pay(const tw_apsp_plan *plan, double rival);

/* The same again where only its order was too dear beside a guess, when `best` (NULL: none), the
 * fastest now that searches are measured, takes longer than guessed. */
TW_CHECKED tw_status twi_reconsider_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                          tw_type type, const twi_candidate *best);

/* On the GPUs that the context names. */
TW_CHECKED tw_status twi_consider_named_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                              double farthest, double rival);

#endif

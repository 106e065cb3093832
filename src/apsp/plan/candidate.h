/* One way to compute a plan, as plan.c and plan/gpu.c weigh it. */
#ifndef TWI_APSP_PLAN_CANDIDATE_H
#define TWI_APSP_PLAN_CANDIDATE_H

#include "apsp/plan/plan.h"

typedef struct twi_candidate {
    tw_apsp_method method;
    const char *name; /* in the explanation */
    bool possible;
    char why_not[160]; /* "" while nobody has looked at it */
    double seconds;
    uint64_t memory;        /* of the host */
    uint64_t device_memory; /* of each device of the plan's list */
    tw_type work_type;      /* of a closure */
    int32_t block;
    bool gpu;
    char basis[192]; /* what the estimate rests on */
} twi_candidate;

#define TWI_UNKNOWN (-1.0) /* how far distances reach */
#define TWI_FARTHER 1.25   /* how much farther than a sample they are taken to reach */

void twi_rule_out(twi_candidate *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void twi_rule_out_if_too_large(tw_context *ctx, twi_candidate *c);

/* Whether the context names a GPU, so that nothing else will do. */
bool twi_gpu_is_named(const tw_context *ctx);

/* Weigh the closure on the context's GPU, or, with "auto", on the first of the machine: starts the
 * driver. A named GPU that cannot be used is an error; another one is ruled out. */
TW_CHECKED tw_status twi_consider_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                      double farthest);

/* With "auto": the GPU against the best candidate of the CPU (NULL: there is none). */
TW_CHECKED tw_status twi_consider_gpu_if_it_may_pay(tw_context *ctx, tw_apsp_plan *plan,
                                                    twi_candidate *c, const twi_candidate *best,
                                                    double farthest);

/* Bytes of a working matrix of one type in host memory. False if no machine could address them. */
bool twi_matrix_memory(const tw_apsp_plan *plan, tw_type type, uint64_t *out);

/* What a run holds from beginning to end, whatever its method: candidates leave it out, since it is
 * there already when they ask what is left. */
uint64_t twi_plan_held(const tw_apsp_plan *plan);

/* Write the plan's explanation, of TWI_EXPLANATION_BYTES at most, once it is settled
 * (plan/explain.c). */
#define TWI_EXPLANATION_BYTES 4096
void twi_plan_explain(tw_apsp_plan *plan, const twi_candidate *all, int count);

#endif

/* One way to compute a plan, as plan.c and gpu.c weigh it. */
#ifndef TWI_APSP_PLAN_CANDIDATE_H
#define TWI_APSP_PLAN_CANDIDATE_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/rows.h"

typedef struct twi_candidate {
    tw_apsp_method method;
    const char *name; /* in the explanation */
    bool possible;
    char why_not[160]; /* "" while nobody has looked at it */
    double seconds;
    double pays_beyond;     /* ruled out unless others take more seconds than this; 0: for good */
    uint64_t memory;        /* of the host */
    uint64_t memory_wider;  /* the same if a wider type has to follow; 0: not more */
    uint64_t device_memory; /* of each device of the plan's list */
    tw_type work_type;      /* of a closure */
    int32_t block;
    bool gpu;
    bool narrow;     /* on a GPU: 16 bits are worth trying */
    twi_gpu_way way; /* there */
    char basis[192]; /* what the estimate rests on */
} twi_candidate;

#define TWI_UNKNOWN (-1.0) /* how far distances reach */
#define TWI_FARTHER 1.25   /* how much farther than a sample they are taken to reach */

void twi_rule_out(twi_candidate *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "more than 12 s: ", and why. */
void twi_rule_out_slower(twi_candidate *c, double seconds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void twi_rule_out_if_too_large(tw_context *ctx, twi_candidate *c);

/* Whether the options let it be chosen. */
bool twi_is_wanted(const tw_apsp_plan *plan, const twi_candidate *c);

/* A breadth-first search needs equal weights above 0, which the graph does not have: why. */
void twi_rule_out_unequal(twi_candidate *c, const tw_graph *graph);

/* Will summaries be content with folds, as far as that can be seen before the run? */
bool twi_will_fold(const tw_apsp_plan *plan);

/* What is known of the rows that a method makes on the CPU, beginning in type `work`. */
TWI_SHARED twi_rows_known twi_known_rows(const tw_apsp_plan *plan, tw_apsp_method method,
                                         tw_type work);
/* Bytes of their delivery, with what the caller's sinks take besides. */
uint64_t twi_rows_planned(const tw_apsp_plan *plan, tw_apsp_method method, tw_type work);
/* Bytes of searches, delivery included. */
uint64_t twi_searches_planned(const tw_apsp_plan *plan, tw_apsp_method method);

/* Bytes of a working matrix of one type in host memory. False if no machine could address them. */
bool twi_matrix_memory(const tw_apsp_plan *plan, tw_type type, uint64_t *out);

/* The pivot block of a closure, as asked or as suits it. */
int32_t twi_closure_block(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel);

/* Its matrix, delivery, and the panels or after them the certificate. False if no machine could
 * address them. */
bool twi_closure_memory(const tw_apsp_plan *plan, tw_type type, bool symmetric, uint64_t *out);

/* The reference on one thread: what it takes. */
void twi_consider_reference(const tw_apsp_plan *plan, twi_candidate *c);

#endif

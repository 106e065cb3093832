/* What a closure will cost, for the plan. */
#ifndef TWI_APSP_PLAN_ESTIMATE_H
#define TWI_APSP_PLAN_ESTIMATE_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/plan.h"
#include "gpu/device.h"

/* Relaxations per second of `threads` threads at once on the micro-kernel, operands in cache:
 * measured for a fraction of a millisecond, unless this process has done so in the last seconds. */
TW_CHECKED tw_status twi_kernel_rate(tw_context *ctx, const twi_minplus_kernel *kernel, int threads,
                                     double *rate);

/* Whether some arcs, taken at random, all have their like in the other direction: enough for an
 * estimate; the run looks at every entry. */
bool twi_seems_symmetric(const tw_graph *graph);

/* The share of n^3 that a closure with pivots of `block` has to do. */
double twi_closure_share(const tw_apsp_plan *plan, int32_t block);
enum { TWI_GPU_PIVOT = 128 }; /* that of a GPU */

/* The same on the CPU, by what is filled when (filled.h), which takes longer to find: of a graph
 * with many arcs, and without memory for it, *share is left as it is. */
TW_CHECKED tw_status twi_closure_filled(tw_context *ctx, const tw_apsp_plan *plan,
                                        const twi_minplus_kernel *kernel, int32_t block,
                                        double *share);

/* Relaxations per second of a closure, where the micro-kernel does `kernel` of them. */
double twi_closure_rate(int64_t n, double kernel);
/* Seconds of a closure on the CPU that does that share of n^3 at such a rate. */
double twi_closure_seconds(const tw_apsp_plan *plan, int32_t block, double share, double rate);
/* Of all pivots' own closures, which go from one thread to the next. */
double twi_pivots_seconds(const tw_apsp_plan *plan);

/* Relaxations per second of a large closure on a GPU; `type` TW_U16 means 16 bits. */
double twi_gpu_rate(const twi_gpu_info *info, tw_type type);

/* What a closure over ranks is told of a GPU: its rate, the seconds of a pivot that the update does
 * not hide, bytes per second to and from memory that is pinned, and that is not, and what of its
 * memory may be used. */
typedef struct twi_gpu_pace {
    double rate;
    double round;
    double link;
    double slow_link;
    uint64_t memory;
} twi_gpu_pace;
TWI_SHARED TW_CHECKED tw_status twi_gpu_pace_find(tw_context *ctx, int32_t device, tw_type type,
                                                  twi_gpu_pace *out);

/* A closure on a GPU whose driver has started. */
typedef struct twi_gpu_job {
    int64_t n;
    tw_type type;
    double share;        /* of n^3 */
    double pinned_bytes; /* over the link, from or to pinned memory */
    double pin_bytes;    /* of host memory that has to be pinned for that */
} twi_gpu_job;
/* The closure alone, in the device's memory; and with its beginning and the copies. */
double twi_gpu_closure_seconds(const twi_gpu_info *info, const twi_gpu_job *job);
double twi_gpu_estimate(const twi_gpu_info *info, const twi_gpu_job *job);

/* A sweep on a GPU whose driver has started. */
typedef struct twi_gpu_sweep_job {
    tw_type type;
    double n;
    double rows;         /* of each GPU */
    double down, up;     /* steps of a column */
    double factor;       /* steps of all fronts, */
    double factor_rate;  /*   and how many the CPU does per second */
    double front;        /* vertices of the largest */
    int32_t threads;     /* of the CPU */
    double result_bytes; /* that come back over the link */
} twi_gpu_sweep_job;
double twi_gpu_sweep_estimate(const twi_gpu_info *info, const twi_gpu_sweep_job *job);

#endif

/*
 * tw_minplus_ceiling: what this machine could do if nothing had to be loaded. All threads run the
 * kernel's register-only probe at the same time; the best of several bursts in either instruction
 * order counts, since anything else running on the machine can only make one slower. Of the two
 * kernels of u16, and of u8, the faster one counts.
 */
#include "apsp/closure/kernels.h"
#include "apsp/gpu/gpu.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/threads.h"
#include "gpu/device.h"

#define BURSTS 8
#define ROUNDS 20000 /* of the probe in a burst: some 100 us */

/* One card after the other: together they could do the sum. */
static tw_status sum_of_gpus(tw_context *ctx, const twi_gpu_list *gpus, tw_type type, double *rate)
{
    tw_status status = TW_OK;
    *rate = 0;
    for (int32_t i = 0; i < gpus->count && status == TW_OK; i++) {
        double one = 0;
        if (twi_gpu_is_first(gpus, i)) {
            status = twi_gpu_ceiling(ctx, gpus->index[i], type, &one);
        }
        *rate += one;
    }
    return status;
}

/* What all threads reach with a kernel's probe. */
static double rate_of(const twi_minplus_kernel *kernel, int32_t threads)
{
    double total = 0;
    (void)threads; /* unused without OpenMP */
#pragma omp parallel num_threads(twi_team(threads)) reduction(+ : total)
    {
        double best = 0;
        for (int burst = 0; burst < BURSTS; burst++) {
            double began = twi_seconds();
            double done = kernel->probe(ROUNDS, burst % 2);
            double mine = done / (twi_seconds() - began);
            best = mine > best ? mine : best;
        }
        total += best;
    }
    return total;
}

tw_status tw_minplus_ceiling(tw_context *ctx, double *rate, tw_type type, int32_t threads)
{
    twi_isa isa;
    twi_gpu_list gpus;
    tw_status status = TWI_REQUIRE(ctx, {"rate", rate});
    if (status == TW_OK) {
        status = twi_check_cancel(ctx);
    }
    if (status == TW_OK) {
        status = twi_gpu_select(ctx, &gpus);
    }
    if (status == TW_OK && gpus.count > 0) {
        return sum_of_gpus(ctx, &gpus, type, rate);
    }
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &isa);
    }
    if (status != TW_OK) {
        return status;
    }
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(isa, type);
    if (kernel == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "no ceiling for type %s; use u8, u16, i32, f32 or f64",
                       tw_type_name(type));
    }
    if (threads < 1 || threads > TWI_THREADS_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the number of threads is %d; use 1 to %d", threads,
                       TWI_THREADS_MOST);
    }
    *rate = rate_of(kernel, threads);
    kernel = twi_minplus_kernel_plain(isa, type); /* where distances need a bit less */
    if (kernel != NULL) {
        const double plain = rate_of(kernel, threads);
        *rate = plain > *rate ? plain : *rate;
    }
    return TW_OK;
}

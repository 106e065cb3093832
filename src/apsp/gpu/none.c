/* A build without GPU code: the device entry says so. */
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/hops.h"

static tw_status refuse_call(tw_context *ctx, const tw_matrix *matrix, const tw_apsp_options *opts,
                             const tw_device_options *device)
{
    twi_gpu_call call;
    tw_status status = twi_gpu_take_call(ctx, &call, matrix, opts, device);
    return status == TW_OK
               ? tw_fail(ctx, TW_ERR_UNSUPPORTED, "GPU memory: this build computes on the CPU only")
               : status;
}

tw_status tw_apsp_device_workspace(tw_context *ctx, uint64_t *bytes, const tw_matrix *matrix,
                                   const tw_apsp_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"bytes", bytes}, {"matrix", matrix});
    return missing != TW_OK ? missing : refuse_call(ctx, matrix, opts, NULL);
}

tw_status tw_apsp_device(tw_context *ctx, tw_matrix *matrix, const tw_apsp_options *opts,
                         const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"matrix", matrix});
    return missing != TW_OK ? missing : refuse_call(ctx, matrix, opts, device);
}

tw_status twi_gpu_resident_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                               twi_gpu_outcome *out)
{
    (void)plan;
    (void)delivery;
    (void)out;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "this build computes on the CPU only");
}

uint64_t twi_gpu_resident_bytes(const tw_apsp_plan *plan, tw_type type)
{
    (void)plan;
    (void)type;
    return 0;
}

uint64_t twi_gpu_resident_memory(const tw_apsp_plan *plan)
{
    (void)plan;
    return 0;
}

tw_status twi_gpu_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_gpu_outcome *out)
{
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

uint64_t twi_gpu_sweep_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return twi_gpu_resident_bytes(plan, type);
}

uint64_t twi_gpu_sweep_memory(const tw_apsp_plan *plan, tw_type type)
{
    (void)type;
    return twi_gpu_resident_memory(plan);
}

tw_status twi_gpu_labels_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                             twi_gpu_outcome *out, double *arcs)
{
    *arcs = 0;
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

uint64_t twi_gpu_labels_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return twi_gpu_resident_bytes(plan, type);
}

uint64_t twi_gpu_labels_memory(const tw_apsp_plan *plan, tw_type type)
{
    (void)type;
    return twi_gpu_resident_memory(plan);
}

bool twi_gpu_narrow_pays(int64_t n, int32_t compute)
{
    (void)n;
    (void)compute;
    return false;
}

tw_status twi_gpu_allowance(tw_context *ctx, const twi_gpu_list *gpus, uint64_t *bytes)
{
    (void)gpus;
    *bytes = 0;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "GPU memory: this build computes on the CPU only");
}

tw_status twi_gpu_find_way(tw_context *ctx, const twi_gpu_list *gpus, uint64_t limit, tw_type type,
                           int64_t n, bool narrow, twi_gpu_fit *out)
{
    (void)type;
    (void)n;
    (void)narrow;
    *out = (twi_gpu_fit){.way = TWI_GPU_STREAMED};
    return twi_gpu_allowance(ctx, gpus, &limit);
}

uint64_t twi_gpu_several_bytes(const twi_gpu_list *gpus, tw_type type, int64_t n, bool narrow)
{
    (void)gpus;
    (void)type;
    (void)n;
    (void)narrow;
    return 0;
}

tw_status twi_gpu_close(tw_context *ctx, const twi_gpu_list *gpus, twi_gpu_way way, uint64_t limit,
                        const twi_gpu_host *host, bool narrow, tw_type *used)
{
    (void)way;
    (void)host;
    (void)narrow;
    (void)used;
    return twi_gpu_allowance(ctx, gpus, &limit);
}

bool twi_gpu_stream_fits(tw_type type, int64_t n, bool narrow, uint64_t limit, uint64_t *bytes)
{
    (void)type;
    (void)n;
    (void)narrow;
    (void)limit;
    *bytes = 0;
    return false;
}

tw_status twi_gpu_close_by_entry(tw_context *ctx, int32_t device, const twi_gpu_host *host)
{
    twi_gpu_list gpus = {.count = 1};
    uint64_t bytes;
    (void)device;
    (void)host;
    return twi_gpu_allowance(ctx, &gpus, &bytes);
}

tw_status twi_gpu_ceiling(tw_context *ctx, int32_t device, tw_type type, double *rate)
{
    (void)type;
    (void)rate;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only",
                   device);
}

tw_status twi_gpu_hops_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                           twi_gpu_outcome *out, double *arcs)
{
    *arcs = 0;
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

uint64_t twi_gpu_hops_bytes(const tw_apsp_plan *plan)
{
    (void)plan;
    return 0;
}

uint64_t twi_gpu_hops_memory(const tw_apsp_plan *plan)
{
    (void)plan;
    return 0;
}

tw_status twi_gpu_hops_matrix(tw_context *ctx, int32_t device, const tw_graph *graph,
                              const tw_matrix *matrix, double *seconds)
{
    (void)graph;
    (void)matrix;
    *seconds = 0;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only",
                   device);
}

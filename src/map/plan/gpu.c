/*
 * Whether a GPU that nobody named should compute a map of arrays in host memory. A map is bound by
 * memory, and the link to a GPU is slower than the memory of the CPU, so the answer is no, unless
 * the expression is long or repeated often: the estimate must say that a GPU is done in a fraction
 * of the time, with the way of the arrays there and back, the start of its driver unless that runs,
 * and the compiler unless the context keeps the kernel. The rates are of an H200 and its host, two
 * threads on a core, November 2026 (bench/gpu_calls.sh).
 */
#include "map/plan/gpu.h"

#include "base/threads.h"
#include "gpu/startup.h"

#include <string.h>

#define CPU_ADDITION 2.5e-9 /* seconds of one thread for a vector of one byte */
#define CPU_BYTES 10e9      /* read and written per second by one thread */
#define GPU_ADDITION 3e-14  /* seconds of a large card */
#define GPU_CALL 0.0002     /* seconds */
#define GPU_BYTES 44e9      /* per second over the link, gathering and scattering included */
#define GPU_COMPILER 0.2    /* seconds */
#define FASTER 1.3          /* times, if all but the rates is known, */
#define MUCH_FASTER 2       /* and if not */

static double vector_bytes(twi_isa isa)
{
    return isa == TWI_ISA_AVX512 ? 64 : isa == TWI_ISA_AVX2 ? 32 : isa == TWI_ISA_NEON ? 16 : 4;
}

static double cpu_seconds(tw_context *ctx, const tw_map_plan *plan, double cost, double bytes)
{
    twi_isa isa = TWI_ISA_SCALAR;
    if (twi_isa_resolve(ctx, &isa) != TW_OK) {
        isa = TWI_ISA_SCALAR; /* a wrong name is told where it is used */
    }
    const double addition =
        CPU_ADDITION / vector_bytes(isa) * (plan->setting.compute == TW_F64 ? 2 : 1);
    return (cost * addition + bytes / CPU_BYTES) / twi_thread_count(ctx);
}

twi_map_gpu_estimate twi_map_gpu_weigh(tw_context *ctx, const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    const double elements = (double)plan->shape.rows * (double)plan->shape.cols;
    const double bytes = elements * twi_map_bytes(plan);
    const char *short_of_it;
    double cost = 0;
    twi_map_gpu_estimate out = {.runs = twi_gpu_is_running(ctx)};
    if (strcmp(ctx->device, "auto") != 0 || twi_gpu_prefix()[0] == '\0') {
        return out;
    }
    for (int32_t i = 0; i < v->program_count; i++) {
        cost = v->programs[i].cost > cost ? v->programs[i].cost : cost;
    }
    cost *= elements * (double)plan->setting.repeat;
    const double cpu = cpu_seconds(ctx, plan, cost, bytes);
    const double start = out.runs ? 0 : twi_gpu_worth_a_look(ctx, &short_of_it);
    const double gpu = GPU_CALL + start + bytes / GPU_BYTES + cost * GPU_ADDITION;
    out.pays = cpu > (out.runs ? FASTER : MUCH_FASTER) * gpu && twi_map_gpu_is_ready(ctx);
    out.pays_compiler = out.pays && cpu > MUCH_FASTER * (gpu + GPU_COMPILER);
    return out;
}

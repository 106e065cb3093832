/*
 * Whether a GPU that nobody named should compute a map of arrays in host memory. A map is bound by
 * memory, and the link to a GPU is slower than the memory of the CPU, so the answer is no, unless
 * the expression is long or repeated often: the estimate must say that a GPU is done in half of the
 * time, with the start of the device, the compiler, and the way of the arrays there and back. The
 * rates below are rough, and on the side of the CPU.
 */
#include "map/plan/gpu.h"

#include "base/threads.h"

#include <string.h>

#define CPU_ADDITION 0.1e-9 /* seconds of one thread for one lane of a vector */
#define CPU_BYTES 10e9      /* read and written per second by one thread */
#define GPU_ADDITION 3e-14  /* seconds of a large card */
#define GPU_START 0.5       /* seconds */
#define GPU_BYTES 15e9      /* per second over the link, gathering and scattering included */
#define MUCH_FASTER 2

bool twi_map_gpu_pays(tw_context *ctx, const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    const double elements = (double)plan->shape.rows * (double)plan->shape.cols;
    const double bytes = elements * twi_map_bytes(plan);
    double cost = 0;
    if (strcmp(ctx->device, "auto") != 0) {
        return false;
    }
    for (int32_t i = 0; i < v->program_count; i++) {
        cost = v->programs[i].cost > cost ? v->programs[i].cost : cost;
    }
    cost *= elements * (double)plan->setting.repeat;
    double cpu = (cost * CPU_ADDITION + bytes / CPU_BYTES) / twi_thread_count(ctx);
    double gpu = GPU_START + bytes / GPU_BYTES + cost * GPU_ADDITION;
    return cpu > MUCH_FASTER * gpu && twi_map_gpu_is_ready(ctx);
}

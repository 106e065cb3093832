/* The ladders that need a GPU, in a build without one: they have a name and no rungs. */
#include "answers.h"
#include "counters.h"
#include "ladders.h"

#include "gpu/device.h"

#define ABSENT(symbol, text, words) \
    const lab_ladder symbol = {.name = text, .title = words, .gpu = true}

ABSENT(lab_apsp_gpu, "apsp-gpu", "All-pairs shortest paths on a GPU");
ABSENT(lab_apsp_gpu_blocks, "apsp-gpu-blocks",
       "The blocking factor of a closure on a GPU, three tiles in shared memory");
ABSENT(lab_apsp_gpu_shapes, "apsp-gpu-shapes",
       "Blocks and thread shapes of a blocked closure on a GPU");
ABSENT(lab_apsp_gpu_global, "apsp-gpu-global",
       "Blocks of a closure on a GPU without shared memory, 16 x 16 threads");
ABSENT(lab_apsp_gpu_copies, "apsp-gpu-copies",
       "All-pairs shortest paths by a GPU, host to host: ordinary memory or pinned");
ABSENT(lab_apsp_hip, "apsp-hip",
       "Blocks and threads for waves of 64 and banks of LDS (AMD; elsewhere to compare)");
ABSENT(lab_apsp_scatter, "apsp-scatter",
       "From edges to a padded matrix on a GPU, and back without the padding");
ABSENT(lab_apsp_devices, "apsp-devices",
       "Strong scaling of the library over GPUs (a card that stands for several: overhead)");
ABSENT(lab_apsp_devices_weak, "apsp-devices-weak",
       "Weak scaling over GPUs: n^3 relaxations for each (a card for several: overhead)");
ABSENT(lab_apsp_multi, "apsp-multi", "All-pairs shortest paths on two GPUs, host to host");

/* Ladders are listed with these, and run only where there is a GPU. */
static tw_status no_ceiling(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){0};
    return tw_fail(ctx, TW_ERR_DEVICE, "no GPU to measure: %s", twi_gpu_text());
}

tw_status lab_link_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}

tw_status lab_download_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}

tw_status lab_card_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}

void lab_mark_begin(void)
{
}

void lab_mark_end(void)
{
}

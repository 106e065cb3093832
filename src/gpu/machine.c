/* What `tilewright devices` shows: the processor, the memory, the GPUs and the links between them.
 */
#include "base/available.h"
#include "base/context.h"
#include "base/given.h"
#include "base/threads.h"
#include "gpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arm's own cores by the part number in /proc/cpuinfo, which has no names on aarch64. */
static const char *arm_core(unsigned part)
{
    switch (part) {
    case 0xd08:
        return "Arm Cortex-A72";
    case 0xd0b:
        return "Arm Cortex-A76";
    case 0xd0c:
        return "Arm Neoverse N1";
    case 0xd40:
        return "Arm Neoverse V1";
    case 0xd49:
        return "Arm Neoverse N2";
    case 0xd4f:
        return "Arm Neoverse V2";
    default:
        return NULL;
    }
}

static void processor_name(char *out, size_t size)
{
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) {
        return;
    }
    char line[256];
    while (out[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(out, size, "%s", colon + 2);
            out[strcspn(out, "\n")] = '\0';
        } else if (strncmp(line, "CPU part", 8) == 0 && colon != NULL) {
            const char *core = arm_core((unsigned)strtoul(colon + 1, NULL, 16));
            snprintf(out, size, "%s", core != NULL ? core : "");
        }
    }
    fclose(file);
}

tw_status tw_machine_describe(tw_context *ctx, tw_machine *out)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing == TW_OK) {
        missing = TWI_CHECK_ROOM(ctx, tw_machine, out);
    }
    if (missing != TW_OK) {
        return missing;
    }
    twi_isa isa;
    processor_name(ctx->processor, sizeof ctx->processor);
    twi_isa_names(ctx->isa_list);
    twi_gpu_versions(ctx->gpu_driver, ctx->gpu_runtime);
    bool resolved = twi_isa_resolve(ctx, &isa) == TW_OK;
    const tw_machine ours = {
        .size = sizeof ours,
        .processor = ctx->processor,
        .threads = twi_processor_count(),
        .memory = twi_memory_total(),
        .memory_available = twi_memory_available(),
        .isa = resolved ? twi_isa_name(isa) : "",
        .isas = ctx->isa_list,
        .gpu = twi_gpu_text(),
        .gpus = twi_gpu_count(),
        .gpu_driver = ctx->gpu_driver,
        .gpu_runtime = ctx->gpu_runtime,
    };
    return TWI_DESCRIBE(ctx, tw_machine, out, &ours);
}

static tw_status check_index(tw_context *ctx, int32_t index)
{
    if (index >= 0 && index < twi_gpu_count()) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_DEVICE, "GPU %d does not exist; this machine has %s", index,
                   twi_gpu_text());
}

tw_status tw_gpu_describe(tw_context *ctx, tw_gpu *out, int32_t index)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing == TW_OK) {
        missing = TWI_CHECK_ROOM(ctx, tw_gpu, out);
    }
    if (missing != TW_OK) {
        return missing;
    }
    twi_gpu_info info;
    tw_gpu ours = TW_GPU_INIT;
    tw_status status = check_index(ctx, index);
    if (status == TW_OK) {
        status = twi_gpu_describe(ctx, index, &info);
    }
    if (status == TW_OK) {
        ours.processors = info.processors;
        ours.memory = info.memory;
        ours.memory_available = info.memory_free;
        snprintf(ours.name, sizeof ours.name, "%s", info.name);
        snprintf(ours.architecture, sizeof ours.architecture, "%s", info.architecture);
        status = TWI_DESCRIBE(ctx, tw_gpu, out, &ours);
    }
    return status;
}

tw_status tw_gpu_link_describe(tw_context *ctx, tw_gpu_link *out, int32_t from, int32_t to)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing == TW_OK) {
        missing = TWI_CHECK_ROOM(ctx, tw_gpu_link, out);
    }
    if (missing != TW_OK) {
        return missing;
    }
    tw_gpu_link ours = TW_GPU_LINK_INIT;
    tw_status status = check_index(ctx, from);
    if (status == TW_OK) {
        status = check_index(ctx, to);
    }
    if (status == TW_OK && from == to) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a link is between two GPUs; GPU %d was named twice",
                       from);
    }
    if (status == TW_OK) {
        status = twi_gpu_link(ctx, &ours, from, to);
    }
    return status == TW_OK ? TWI_DESCRIBE(ctx, tw_gpu_link, out, &ours) : status;
}

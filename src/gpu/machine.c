/* What `tilewright devices` shows: the processor, the memory, and how many GPUs there are. */
#include "base/context.h"
#include "base/threads.h"
#include "gpu/device.h"

#include <stdio.h>
#include <string.h>

static void processor_name(char *out, size_t size)
{
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) {
        return;
    }
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(out, size, "%s", colon + 2);
            out[strcspn(out, "\n")] = '\0';
            break;
        }
    }
    fclose(file);
}

tw_status tw_machine_describe(tw_context *ctx, tw_machine *out)
{
    twi_isa isa;
    processor_name(ctx->processor, sizeof ctx->processor);
    twi_isa_names(ctx->isa_list);
    bool resolved = twi_isa_resolve(ctx, &isa) == TW_OK;
    *out = (tw_machine){
        .size = sizeof *out,
        .processor = ctx->processor,
        .threads = twi_processor_count(),
        .memory = twi_memory_total(),
        .memory_available = twi_memory_available(),
        .isa = resolved ? twi_isa_name(isa) : "",
        .isas = ctx->isa_list,
        .gpu = twi_gpu_text(),
    };
    return TW_OK;
}

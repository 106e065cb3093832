/* The GPUs of a machine that has none, for programs over ranks on the runtime of tests/fake-gpu:
 * FAKE_DEVICES of them, with room for whatever is asked. */
#include "gpu/device.h"

#include "base/context.h"
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t twi_gpu_count(void)
{
    return FAKE_DEVICES;
}

tw_status twi_gpu_select(tw_context *context, twi_gpu_list *out)
{
    *out = (twi_gpu_list){0};
    if (strncmp(context->device, "cuda", 4) != 0) {
        return TW_OK;
    }
    const char *at = context->device + 4;
    out->count = *at == '\0';
    while (*at != '\0') {
        char *end;
        out->index[out->count++] = (int32_t)strtol(at + 1, &end, 10);
        if (out->index[out->count - 1] >= FAKE_DEVICES) {
            return tw_fail(context, TW_ERR_DEVICE, "%s does not exist", context->device);
        }
        at = end;
    }
    return TW_OK;
}

/* A build without GPU code knows no names of theirs. */
tw_status tw_set_device(tw_context *context, const char *name)
{
    for (int device = 0; device < FAKE_DEVICES; device++) {
        fake_free_bytes[device] = 1 << 30;
    }
    snprintf(context->device, sizeof context->device, "%s", name);
    return TW_OK;
}

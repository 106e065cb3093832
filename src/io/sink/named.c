/* See named.h. */
#include "io/sink/named.h"

#include "base/memory.h"

#include <string.h>

tw_status twi_sink_named(tw_context *ctx, void *self, uint64_t size, char **kept, const char *path)
{
    void *block = NULL;
    char *copy = NULL;
    const size_t length = strlen(path) + 1;
    tw_status status = twi_alloc_zeroed(ctx, &block, 1, size, "a sink");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &copy, length, 1, "a sink");
    }
    if (status == TW_OK) {
        memcpy(copy, path, length);
    } else {
        twi_free(block);
        block = NULL;
    }
    memcpy(self, &block, sizeof block);
    *kept = copy;
    return status;
}

/* A flow that keeps what it brings: see kept.h. */
#include "io/kept.h"

#include "base/memory.h"

/* Of the memory that is left, what a copy and the one that it grows out of may take: not more than
 * a limit that was named for the list has beside it (twi_memory_advice). */
#define SHARE 16

struct twi_kept {
    twi_flow flow;
    twi_flow *inner; /* NULL: given back */
    char *copy;      /* NULL: given up */
    uint64_t size;
    uint64_t room;
    uint64_t most; /* room that it may have */
};

static void keep(tw_context *ctx, twi_kept *kept, const char *bytes, uint64_t count)
{
    if (kept->copy != NULL && count > kept->room - kept->size) {
        uint64_t room = 2 * (kept->size + count);
        room = room < kept->most - kept->room ? room : kept->most - kept->room;
        char *wider = kept->size + count <= room ? twi_try_alloc(ctx, room, 1) : NULL;
        if (wider != NULL) {
            memcpy(wider, kept->copy, (size_t)kept->size);
        }
        twi_free(kept->copy);
        kept->copy = wider;
        kept->room = room;
    }
    if (kept->copy != NULL) {
        memcpy(kept->copy + kept->size, bytes, (size_t)count);
        kept->size += count;
    }
}

static tw_status read_kept(tw_context *ctx, twi_flow *flow, char *out, uint64_t room, uint64_t *got)
{
    twi_kept *kept = (twi_kept *)flow;
    tw_status status = kept->inner->read(ctx, kept->inner, out, room, got);
    if (status == TW_OK) {
        keep(ctx, kept, out, *got);
    }
    return status;
}

/* Whoever has read it may want it again. */
static void close_kept(twi_flow *flow)
{
    (void)flow;
}

void twi_input_keep(tw_context *ctx, twi_input *input, twi_kept **out)
{
    const uint64_t most = twi_memory_left(ctx) / SHARE;
    twi_kept *kept = most >= TWI_INPUT_HEAD ? twi_try_alloc(ctx, 1, sizeof *kept) : NULL;
    if (kept == NULL) {
        return;
    }
    *kept = (twi_kept){.flow = {read_kept, close_kept},
                       .inner = input->flow,
                       .room = TWI_INPUT_HEAD,
                       .most = most};
    kept->copy = twi_try_alloc(ctx, kept->room, 1);
    keep(ctx, kept, input->bytes, input->size);
    input->flow = &kept->flow;
    *out = kept;
}

bool twi_kept_restore(twi_kept *kept, twi_input *input)
{
    if (kept->copy == NULL) {
        return false;
    }
    twi_free(input->memory);
    input->memory = kept->copy;
    input->bytes = kept->copy;
    input->size = kept->size;
    input->flow = kept->inner;
    kept->copy = NULL;
    kept->inner = NULL;
    return true;
}

void twi_kept_destroy(twi_kept *kept, twi_input *input)
{
    if (kept != NULL) {
        if (input->flow == &kept->flow) {
            input->flow = kept->inner;
        } else if (kept->inner != NULL) {
            kept->inner->close(kept->inner);
        }
        twi_free(kept->copy);
        twi_free(kept);
    }
}

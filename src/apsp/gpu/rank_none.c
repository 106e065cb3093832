/* A build without GPU code: see rank.h. Its contexts name no GPU, so no rank gets as far as a
 * share. */
#include "apsp/gpu/rank.h"

static tw_status refuse(tw_context *ctx)
{
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "this build computes on the CPU only");
}

int32_t twi_gpu_rank_side(tw_type type, int64_t n)
{
    (void)type;
    (void)n;
    return 0;
}

tw_status twi_gpu_rank_device(tw_context *ctx, int local, int32_t *device)
{
    (void)ctx;
    (void)local;
    *device = -1;
    return TW_OK;
}

uint64_t twi_gpu_rank_bytes(const twi_gpu_rank_shape *shape)
{
    (void)shape;
    return 0;
}

tw_status twi_gpu_rank_open(tw_context *ctx, twi_gpu_rank **out, const twi_gpu_rank_shape *shape)
{
    (void)shape;
    *out = NULL;
    return refuse(ctx);
}

void twi_gpu_rank_close(twi_gpu_rank *self)
{
    (void)self;
}

char *twi_gpu_rank_messages(const twi_gpu_rank *self)
{
    (void)self;
    return NULL;
}

bool twi_gpu_rank_pin(tw_context *ctx, void *data, uint64_t bytes)
{
    (void)ctx;
    (void)data;
    (void)bytes;
    return false;
}

void twi_gpu_rank_unpin(void *data)
{
    (void)data;
}

tw_status twi_gpu_rank_bring(twi_gpu_rank *self, int64_t row, int64_t tiles, void *data, int64_t ld,
                             bool up)
{
    (void)self;
    (void)row;
    (void)tiles;
    (void)data;
    (void)ld;
    (void)up;
    return TW_ERR_UNSUPPORTED;
}

tw_status twi_gpu_rank_wait(twi_gpu_rank *self)
{
    (void)self;
    return TW_ERR_UNSUPPORTED;
}

tw_status twi_gpu_rank_head(twi_gpu_rank *self, const twi_gpu_rank_pivot *before,
                            const twi_gpu_rank_pivot *next, void *tile)
{
    (void)self;
    (void)before;
    (void)next;
    (void)tile;
    return TW_ERR_UNSUPPORTED;
}

tw_status twi_gpu_rank_form(twi_gpu_rank *self, const twi_gpu_rank_pivot *next, const void *tile,
                            const twi_gpu_rank_panel *row, const twi_gpu_rank_panel *col)
{
    (void)tile;
    return twi_gpu_rank_take(self, next, row, col);
}

tw_status twi_gpu_rank_take(twi_gpu_rank *self, const twi_gpu_rank_pivot *next,
                            const twi_gpu_rank_panel *row, const twi_gpu_rank_panel *col)
{
    (void)self;
    (void)next;
    (void)row;
    (void)col;
    return TW_ERR_UNSUPPORTED;
}

tw_status twi_gpu_rank_update(twi_gpu_rank *self, const twi_gpu_rank_pivot *pivot,
                              const twi_gpu_rank_pivot *next, int64_t part, int64_t parts)
{
    (void)part;
    (void)parts;
    return twi_gpu_rank_head(self, pivot, next, NULL);
}

tw_status twi_gpu_rank_pass(twi_gpu_rank *self, void *to, const void *from, int64_t bytes)
{
    (void)self;
    (void)to;
    (void)from;
    (void)bytes;
    return TW_ERR_DEVICE;
}

tw_status twi_gpu_rank_is_out(twi_gpu_rank *self, bool *out)
{
    *out = true;
    return twi_gpu_rank_wait(self);
}

tw_status twi_gpu_rank_is_updated(twi_gpu_rank *self, bool *done)
{
    return twi_gpu_rank_is_out(self, done);
}

tw_status twi_gpu_rank_reuse(twi_gpu_rank *self, int64_t next)
{
    (void)next;
    return twi_gpu_rank_wait(self);
}

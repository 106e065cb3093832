/*
 * A closure on GPUs of a matrix in host memory: it is dealt out to several devices, or streamed
 * through one. What a device may use is what is free there, less a little that the driver takes for
 * itself, and no more than the context allows. A GPU that is named more than once has one memory
 * for all its shares.
 *
 * 16 bits that leave entries at their cap bring the matrix back without these: the lengths there
 * are always those of some paths, and no pair's shortest path is lost, so that the wider type goes
 * on from there, unless the graph tells that these pairs have no path.
 *
 * A checkpoint may be of a type that no GPU has: 8 bits, or all 16. Then a wider one goes on, and
 * what is below the checkpoint's own cap in the end is what the narrow one would have made of it
 * (docs/methods.md, lemma 1); the rest is proven to have no path, or everything is closed again.
 */
#include "apsp/closure/certificate.h"
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/kernels.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/mirror.h"
#include "apsp/shared/attempt.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/pinned.h"

#define RESERVE                                                                       \
    ((uint64_t)256 << 20) /* bytes: streams, events, and what other programs may take \
                           */

tw_status twi_gpu_allowance(tw_context *ctx, const twi_gpu_list *gpus, uint64_t *bytes)
{
    uint64_t most = twi_gpu_limit(ctx);
    *bytes = UINT64_MAX;
    for (int32_t i = 0; i < gpus->count; i++) {
        twi_gpu_info info;
        uint64_t named = 0;
        tw_status status = twi_gpu_describe(ctx, gpus->index[i], &info);
        if (status != TW_OK) {
            return status;
        }
        for (int32_t k = 0; k < gpus->count; k++) {
            named += gpus->index[k] == gpus->index[i];
        }
        uint64_t left = info.memory_free > RESERVE ? info.memory_free - RESERVE : 0;
        left = most > 0 && most < left ? most : left;
        *bytes = left / named < *bytes ? left / named : *bytes;
    }
    return TW_OK;
}

tw_status twi_gpu_find_way(tw_context *ctx, const twi_gpu_list *gpus, uint64_t limit, tw_type type,
                           int64_t n, bool narrow, twi_gpu_fit *out)
{
    char need[32];
    char have[32];
    if (gpus->count > 1) {
        *out = (twi_gpu_fit){.way = TWI_GPU_SEVERAL, .passes = 1};
        out->bytes = twi_gpu_several_bytes(gpus, type, n, narrow);
        return out->bytes <= limit
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_MEMORY,
                             "%s: %lld vertices need %s on each GPU, but %s may be used; name more "
                             "GPUs, or just one to stream the matrix through "
                             "it",
                             ctx->device, (long long)n, twi_bytes(need, (double)out->bytes),
                             twi_bytes(have, (double)limit));
    }
    *out = (twi_gpu_fit){.way = TWI_GPU_STREAMED};
    if (!twi_gpu_stream_fits(type, n, narrow, limit, &out->bytes)) {
        return tw_fail(
            ctx, TW_ERR_MEMORY,
            "%s: even when streamed, %lld vertices need %s of GPU memory, but %s may be used",
            ctx->device, (long long)n, twi_bytes(need, (double)out->bytes),
            twi_bytes(have, (double)limit));
    }
    out->passes = twi_gpu_stream_passes(type, n, narrow, limit);
    return TW_OK;
}

/* A matrix while it is closed. */
typedef struct host_run {
    tw_context *ctx;
    const twi_gpu_list *gpus;
    twi_gpu_host host;
    twi_gpu_way way;
    uint64_t limit;
    uint64_t taken; /* of that, which what follows a closure may have again */
    tw_type type;
    double cap; /* of a checkpoint that a wider type goes on from; 0: the type's own */
    bool capped;
    bool mirrored;
} host_run;

/* What is kept of it: the narrower type, whichever that is. */
static void choose_form(host_run *self)
{
    const bool narrow = self->type != self->host.type;
    if (self->cap > 0) {
        twi_checkpoint_form(self->host.checkpoint, self->host.found->type, self->cap);
    } else {
        twi_checkpoint_form(self->host.checkpoint, self->type,
                            narrow ? TWI_GPU_INF_U16 : tw_apsp_infinity(self->type));
    }
}

static tw_status open_attempt(void *self_, tw_type type)
{
    host_run *self = self_;
    self->type = type;
    choose_form(self);
    return TW_OK;
}

static tw_status close_matrix(void *self_)
{
    host_run *self = self_;
    tw_status status =
        self->way == TWI_GPU_SEVERAL
            ? twi_gpu_close_several(self->ctx, self->gpus, &self->host, self->type, &self->capped)
            : twi_gpu_close_streamed(self->ctx, self->gpus->index[0], &self->host, self->type,
                                     self->limit, &self->capped);
    self->host.done = 0; /* of the next attempt */
    return status;
}

static tw_status mirror(host_run *self)
{
    if (!self->host.symmetric) {
        return TW_OK;
    }
    self->mirrored = true;
    tw_status status =
        twi_gpu_check(self->ctx, (int)cudaSetDevice(self->gpus->index[0]), "selecting the device");
    return status == TW_OK ? twi_gpu_mirror_host(self->ctx, &self->host, self->taken) : status;
}

/* Whether entries from `cap` on are proven to have no path. */
static tw_status certify_below(host_run *self, double cap, bool *exact)
{
    const twi_gpu_host *host = &self->host;
    tw_status status = mirror(self);
    if (status == TW_OK) {
        twi_work work = {twi_minplus_kernel_find(TWI_ISA_SCALAR, TW_I32), host->data, host->n,
                         host->ld};
        status = twi_certify_below(self->ctx, host->graph, &work, cap, exact);
    }
    self->mirrored = *exact;
    return status;
}

/* After going on from a checkpoint of a narrower type: if that was not enough, once more, in the
 * type that it went on in, and from the beginning. */
static tw_status certify_found(host_run *self, bool *exact)
{
    tw_status status = certify_below(self, self->cap, exact);
    if (status != TW_OK || *exact) {
        return status;
    }
    twi_log(self->ctx, "a distance reaches the limit of the checkpoint, %.0f; closing again in %s",
            self->cap, tw_type_name(self->type));
    self->cap = 0;
    choose_form(self);
    return close_matrix(self);
}

/* Pairs at the cap of 16 bits, of which the matrix has kept what it had: whether they are proven to
 * have no path. The wider type's own certificate is the caller's. */
static tw_status certify(void *self_, bool *exact)
{
    host_run *self = self_;
    tw_status status = TW_OK;
    *exact = false;
    if (self->cap > 0) {
        status = certify_found(self, exact);
    }
    if (status != TW_OK || *exact) {
        return status;
    }
    *exact = !self->capped;
    return *exact || self->host.graph == NULL ? TW_OK : certify_below(self, TWI_GPU_INF_U16, exact);
}

/* The type to begin with. */
static tw_type first_type(host_run *self, bool narrow)
{
    const twi_minplus_kernel *found = self->host.found;
    if (found == NULL || found->type == self->host.type) {
        return narrow && found == NULL ? TW_U16 : self->host.type;
    }
    const bool fits = narrow && found->infinity <= TWI_GPU_INF_U16;
    self->cap = fits && found->infinity == TWI_GPU_INF_U16 ? 0 : found->infinity;
    return fits ? TW_U16 : self->host.type;
}

static tw_status finish(void *self_)
{
    host_run *self = self_;
    return self->mirrored ? TW_OK : mirror(self);
}

static const twi_engine engine = {"closing", open_attempt, close_matrix, certify, finish, NULL};

tw_status twi_gpu_close(tw_context *ctx, const twi_gpu_list *gpus, twi_gpu_way way, uint64_t limit,
                        const twi_gpu_host *host, bool narrow, tw_type *used)
{
    host_run self = {.ctx = ctx, .gpus = gpus, .host = *host, .way = way, .limit = limit};
    int32_t attempts = 0;
    *used = host->type;
    if (host->n == 0) {
        return TW_OK;
    }
    if (way == TWI_GPU_SEVERAL) {
        self.taken = twi_gpu_several_bytes(gpus, host->type, host->n, narrow);
    } else {
        (void)twi_gpu_stream_fits(host->type, host->n, narrow, limit, &self.taken);
    }
    uint64_t bytes = (uint64_t)host->n * (uint64_t)host->ld * tw_type_size(host->type);
    tw_status status =
        twi_gpu_check(ctx, (int)cudaSetDevice(gpus->index[0]), "selecting the device");
    bool pinned = status == TW_OK && twi_gpu_pin(ctx, host->data, bytes);
    if (status == TW_OK && host->done > 0) { /* a checkpoint has the lower triangle */
        status = mirror(&self);
        self.mirrored = false;
    }
    if (status == TW_OK) {
        status =
            twi_attempt(ctx, &engine, &self, first_type(&self, narrow), TW_AUTO, used, &attempts);
    }
    if (host->attempts != NULL && attempts > 1) {
        *host->attempts += attempts - 1;
    }
    if (pinned) {
        twi_gpu_unpin(host->data);
    }
    return status;
}

/*
 * Results checked while they pass: some elements, drawn by a seed over the whole result, or all of
 * them, are computed again by the definition (reference.c), one window each, and must have the same
 * bits.
 */
#include "entropy/verify.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/random.h"
#include "entropy/reference.h"

#include <math.h>

typedef struct check {
    tw_context *ctx;
    const twi_entropy_setup *setup;
    int64_t first, count;
    const void *rows;
    int64_t stride;
    int64_t *counts;
    int64_t done;
} check;

static tw_status check_element(check *c, int64_t y, int64_t x)
{
    const double got = twi_element(c->rows, c->setup->shape.type, (y - c->first) * c->stride + x);
    const double want = twi_reference_at(c->setup, y, x, c->counts);
    const int digits = c->setup->shape.type == TW_F64 ? 17 : 9;
    c->done++;
    if (got == want || (isnan(got) && isnan(want))) {
        return TW_OK;
    }
    return tw_fail(c->ctx, TW_ERR_VERIFY,
                   "the entropy at row %lld, column %lld is %.*g, but %.*g by the definition",
                   (long long)y, (long long)x, digits, got, digits, want);
}

static tw_status check_all(check *c)
{
    tw_status status = TW_OK;
    for (int64_t y = c->first; y < c->first + c->count && status == TW_OK; y++) {
        for (int64_t x = 0; x < c->setup->shape.cols && status == TW_OK; x++) {
            status = check_element(c, y, x);
        }
        status = status == TW_OK ? twi_check_cancel(c->ctx) : status;
    }
    return status;
}

static tw_status check_drawn(check *c, int64_t samples, uint64_t seed)
{
    const tw_shape *shape = &c->setup->shape;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < samples && status == TW_OK; i++) {
        int64_t y =
            (int64_t)twi_random_below(twi_random_at(seed, 2 * (uint64_t)i), (uint64_t)shape->rows);
        int64_t x = (int64_t)twi_random_below(twi_random_at(seed, 2 * (uint64_t)i + 1),
                                              (uint64_t)shape->cols);
        if (y >= c->first && y < c->first + c->count) {
            status = check_element(c, y, x);
        }
        if (status == TW_OK && i % 4096 == 0) {
            status = twi_check_cancel(c->ctx);
        }
    }
    return status;
}

tw_status twi_entropy_verify(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                             int64_t count, const void *rows, int64_t stride, int64_t *verified)
{
    const int64_t samples = setup->opts.verify;
    check c = {
        .ctx = ctx, .setup = setup, .first = first, .count = count, .rows = rows, .stride = stride};
    if (samples < 0 || setup->shape.cols == 0) {
        return TW_OK;
    }
    tw_status status =
        twi_alloc(ctx, &c.counts, (uint64_t)setup->opts.levels, sizeof *c.counts, "the counts");
    if (status == TW_OK) {
        status = samples == 0 ? check_all(&c) : check_drawn(&c, samples, setup->opts.verify_seed);
    }
    twi_free(c.counts);
    *verified += c.done;
    return status;
}

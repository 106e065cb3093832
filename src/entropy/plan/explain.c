/*
 * What a run would do, without the image: the method and why, the memory, and a rate that is
 * measured, not guessed: the chosen method runs for a moment over random levels of the same type.
 */
#include "entropy/stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "gpu/device.h"

#include <string.h>

#define SAMPLE_ROWS 256
#define SAMPLE_COLS 1024
#define SAMPLE_RUNS 3
#define GPU_ROWS 4096 /* of a sample: a smaller one would measure the start of a call */
#define GPU_COLS 4096
#define SEED 1

static const char *reason(const twi_entropy_setup *setup)
{
    const tw_entropy_options *opts = &setup->opts;
    if (setup->method == TWI_ENTROPY_COUNTERS) {
        return "at most 16 levels in a full window of less than 32 elements, all of which count: "
               "the counts of a window are one vector of 16 bytes";
    }
    if (setup->method == TWI_ENTROPY_LANES && opts->levels <= 16 && setup->window.size < 32) {
        return "a full window of 4 rows or more, whose elements do not all count or which this "
               "instruction set has no table look-ups for: one histogram holds several windows "
               "above each other";
    }
    if (setup->method == TWI_ENTROPY_LANES) {
        return "a full window of 4 rows or more: one histogram holds several windows above each "
               "other";
    }
    return setup->window.full ? "a window of less than 4 rows, or of more than 65535 elements, or "
                                "65536 levels of which some do not count: a histogram slides along "
                                "each row"
                              : "a window that is not full: the ends of its rows enter and leave a "
                                "histogram that slides along";
}

static void fill_sample(const twi_entropy_setup *setup, tw_matrix *sample)
{
    const double *range = setup->opts.range;
    for (int64_t i = 0; i < sample->rows * sample->cols; i++) {
        uint64_t random = twi_random_at(SEED, (uint64_t)i);
        uint64_t level = twi_random_below(random, (uint64_t)setup->opts.levels);
        double value = range != NULL ? range[0] + twi_random_unit(random) * (range[1] - range[0])
                                     : (double)level;
        switch (sample->type) {
        case TW_U8:
            ((uint8_t *)sample->data)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)sample->data)[i] = (uint16_t)value;
            break;
        case TW_I16:
            ((int16_t *)sample->data)[i] = (int16_t)value;
            break;
        default:
            ((float *)sample->data)[i] = (float)value;
            break;
        }
    }
}

/* Elements a second of the method on a sample. */
static tw_status measure(tw_context *ctx, const twi_entropy_setup *planned, double *rate)
{
    tw_entropy_options opts = planned->opts;
    const int64_t rows = planned->gpu != NULL ? GPU_ROWS : SAMPLE_ROWS;
    const int64_t cols = planned->gpu != NULL ? GPU_COLS : SAMPLE_COLS;
    tw_matrix sample = {NULL, rows, cols, cols, planned->in->type};
    twi_entropy_setup setup = {0};
    char *out = NULL;
    opts.mask = NULL;
    opts.border = opts.border == TW_ENTROPY_BORDER_VALID ? TW_ENTROPY_BORDER_CROP : opts.border;
    opts.no_data = NULL;
    opts.skip_nan = 0;
    tw_status status = twi_alloc_zeroed(ctx, &sample.data, (uint64_t)(rows * cols),
                                        tw_type_size(sample.type), "a sample");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out, (uint64_t)(rows * cols), tw_type_size(opts.type), "a sample");
    }
    if (status == TW_OK) {
        fill_sample(planned, &sample);
        status = twi_entropy_prepare(ctx, &setup, &sample, &opts, planned->method);
    }
    setup.gpu = planned->gpu;
    *rate = 0;
    for (int run = 0; run < SAMPLE_RUNS && status == TW_OK; run++) {
        double started = twi_seconds();
        status = twi_entropy_rows(ctx, &setup, 0, rows, out, cols);
        double seconds = twi_seconds() - started;
        double found = seconds > 0 ? (double)(rows * cols) / seconds : 0;
        *rate = found > *rate ? found : *rate;
    }
    setup.gpu = NULL; /* it is the plan's */
    twi_entropy_clear(&setup);
    twi_free(out);
    twi_free(sample.data);
    return status;
}

tw_status tw_entropy_explain(tw_context *ctx, tw_entropy_plan *out, const tw_shape *shape,
                             const tw_entropy_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"shape", shape});
    if (missing != TW_OK) {
        return missing;
    }
    static double nowhere;
    const tw_matrix in = {&nowhere, shape->rows, shape->cols, shape->cols, shape->type};
    tw_entropy_plan plan = TW_ENTROPY_PLAN_INIT;
    twi_entropy_setup setup;
    tw_status status = twi_entropy_prepare(ctx, &setup, &in, opts, TWI_ENTROPY_AUTO);
    if (status != TW_OK) {
        return status;
    }
    status = twi_entropy_gpu_open(ctx, &setup);
    plan.method = twi_entropy_method_name(setup.method);
    plan.isa = twi_isa_name(setup.method == TWI_ENTROPY_COUNTERS ? setup.isa : TWI_ISA_SCALAR);
    plan.why = reason(&setup);
    if (setup.gpu != NULL) {
        plan.method = twi_entropy_gpu_method(setup.gpu);
        plan.isa = twi_gpu_prefix();
        plan.why = twi_entropy_gpu_reason(setup.gpu);
    }
    plan.threads = twi_thread_count(ctx);
    plan.rows = setup.shape.rows;
    plan.cols = setup.shape.cols;
    plan.window = setup.window.size;
    twi_entropy_size(ctx, &setup, &plan.block, &plan.bytes);
    if (status == TW_OK) {
        status = measure(ctx, &setup, &plan.rate);
    }
    twi_entropy_clear(&setup);
    if (status == TW_OK) {
        size_t size = out->size;
        memcpy(out, &plan, size < sizeof plan ? size : sizeof plan);
        out->size = size;
    }
    return status;
}

/*
 * What a plan says of itself: the method and why, the memory, and a rate that is measured, not
 * guessed: the chosen method runs for a moment over random levels of the same type.
 */
#include "entropy/plan/explain.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/prepare.h"

#include <stdio.h>
#include <string.h>

#define SAMPLE_ROWS 256
#define SAMPLE_COLS 1024
#define SAMPLE_RUNS 3
#define GPU_ROWS 4096 /* of a sample: a smaller one would measure the start of a call */
#define GPU_COLS 4096
#define SEED 1
#define TEXT 1024 /* bytes of an explanation, at most */

/* The first thing that rules the other methods out. */
static const char *reason_for_list(const twi_entropy_setup *setup)
{
    if (!setup->window.full) {
        return "a window that is not full: the ends of its rows enter and leave a histogram that "
               "slides along";
    }
    if (setup->opts.type == TW_F64) {
        return "results of f64, whose sums take 128 bits: a histogram slides along the rows";
    }
    if (twi_entropy_is_wide(setup)) {
        return "65536 levels, and elements that do not count: a histogram slides along each row";
    }
    return setup->window.rows < 4
               ? "a window of fewer than 4 rows: a histogram slides along each row"
               : "a window of more than 65535 elements: a histogram slides along each row";
}

const char *twi_entropy_reason(const twi_entropy_setup *setup)
{
    if (setup->gpu != NULL) {
        return twi_entropy_gpu_reason(setup->gpu);
    }
    const tw_entropy_options *opts = &setup->opts;
    if (setup->method == TWI_ENTROPY_COUNTERS) {
        return "at most 16 levels in a full window of fewer than 32 elements, all of which count: "
               "the counts of a window are one vector of 16 bytes";
    }
    if (setup->method == TWI_ENTROPY_BINS) {
        return "at most 256 levels in a full window of 24 to 127 rows, and an instruction set that "
               "looks up 64 bytes at once: all counts of a window are a few vectors";
    }
    if (setup->method == TWI_ENTROPY_STACKS) {
        return "at most 256 levels in a full window of 15 to 127 rows, and AVX-512: one vector "
               "holds the counts of a level in 32 windows above each other";
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
    return reason_for_list(setup);
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

/* The setup of a sample: every element counts. Only windows that lie inside would leave little of
 * it, so they go over the edge; of 65536 levels, where no mark is left for what lies outside, over
 * mirrored elements. */
static twi_entropy_setup turn_to_sample(const twi_entropy_setup *planned, const tw_matrix *sample)
{
    twi_entropy_setup setup = *planned;
    tw_entropy_options *opts = &setup.opts;
    opts->mask = NULL;
    opts->no_data = NULL;
    opts->skip_nan = 0;
    if (opts->border == TW_ENTROPY_BORDER_VALID) {
        opts->border =
            opts->levels == TWI_LEVELS_MOST ? TW_ENTROPY_BORDER_REFLECT : TW_ENTROPY_BORDER_CROP;
    }
    twi_entropy_turn_to(&setup, sample);
    return setup;
}

tw_status tw_entropy_plan_rate(tw_context *ctx, tw_entropy_plan *plan, double *rate)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan}, {"rate", rate});
    if (status != TW_OK) {
        return status;
    }
    const bool gpu = plan->setup.gpu != NULL;
    const int64_t rows = gpu ? GPU_ROWS : SAMPLE_ROWS;
    const int64_t cols = gpu ? GPU_COLS : SAMPLE_COLS;
    tw_matrix sample = {NULL, rows, cols, cols, plan->planned.type};
    char *out = NULL;
    double best = 0;
    status = twi_alloc_zeroed(ctx, &sample.data, (uint64_t)(rows * cols), tw_type_size(sample.type),
                              "a sample");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out, (uint64_t)(rows * cols), tw_type_size(plan->setup.shape.type),
                           "a sample");
    }
    if (status == TW_OK) {
        fill_sample(&plan->setup, &sample);
    }
    const twi_entropy_setup setup = turn_to_sample(&plan->setup, &sample);
    for (int run = 0; run < SAMPLE_RUNS && status == TW_OK; run++) {
        double started = twi_seconds();
        status = twi_entropy_rows(ctx, &setup, 0, rows, out, cols);
        double seconds = twi_seconds() - started;
        double found = seconds > 0 ? (double)(rows * cols) / seconds : 0;
        best = found > best ? found : best;
    }
    if (status == TW_OK) {
        *rate = best;
    }
    twi_free(out);
    twi_free(sample.data);
    return status;
}

tw_status twi_entropy_explain(tw_context *ctx, tw_entropy_plan *plan)
{
    const tw_entropy_plan_info *info = &plan->info;
    const tw_entropy_options *opts = &plan->setup.opts;
    char text[TEXT];
    char bytes[32];
    const char *choice =
        strcmp(ctx->device, "auto") == 0 ? twi_entropy_gpu_choice(ctx, plan->setup.gpu) : NULL;
    int length = snprintf(
        text, sizeof text,
        "image     %lld x %lld, %s\n"
        "window    %lld element%s, %d levels, border %s\n"
        "method    %s on %s\n"
        "because   %s\n"
        "%s%s%s"
        "memory    %s besides the image: blocks of %lld row%s, %d thread%s\n",
        (long long)plan->planned.rows, (long long)plan->planned.cols,
        tw_type_name(plan->planned.type), (long long)info->window, info->window == 1 ? "" : "s",
        opts->levels, tw_entropy_border_name(opts->border), info->method, info->isa, info->why,
        choice != NULL ? "device    " : "", choice != NULL ? choice : "",
        choice != NULL ? "\n" : "", twi_bytes(bytes, (double)info->bytes), (long long)info->block,
        info->block == 1 ? "" : "s", info->threads, info->threads == 1 ? "" : "s");
    tw_status status =
        twi_alloc(ctx, &plan->explanation, (uint64_t)length + 1, 1, "the explanation");
    if (status == TW_OK) {
        memcpy(plan->explanation, text, (size_t)length + 1);
    }
    return status;
}

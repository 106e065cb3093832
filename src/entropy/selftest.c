/*
 * The wing's part of tw_selftest: every method and instruction set of this machine against the
 * oracle, bit by bit, on images whose sizes lie around the edges of groups, strips and windows,
 * into poisoned rows.
 */
#include "entropy/selftest.h"

#include "base/memory.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/prepare.h"
#include "entropy/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POISON 0xA5
#define MOST ((int64_t)1 << 15) /* elements of an image */

static const struct {
    int64_t rows, cols;
} sizes[] = {{1, 1}, {3, 2}, {5, 7}, {17, 64}, {33, 61}, {12, 1023}, {9, 1030}, {2000, 3}};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static const struct {
    int32_t rows, cols, radius, levels;
    tw_entropy_border border;
    tw_entropy_base base;
} cases[] = {
    {5, 5, -1, 16, TW_ENTROPY_BORDER_CROP, TW_ENTROPY_BASE_E},
    {5, 5, -1, 16, TW_ENTROPY_BORDER_WRAP, TW_ENTROPY_BASE_2},
    {3, 3, -1, 2, TW_ENTROPY_BORDER_REFLECT, TW_ENTROPY_BASE_10},
    {5, 6, -1, 9, TW_ENTROPY_BORDER_SYMMETRIC, TW_ENTROPY_BASE_E},
    {9, 9, -1, 256, TW_ENTROPY_BORDER_CROP, TW_ENTROPY_BASE_E},
    {4, 7, -1, 256, TW_ENTROPY_BORDER_CLAMP, TW_ENTROPY_BASE_LEVELS},
    {17, 19, -1, 256, TW_ENTROPY_BORDER_CROP, TW_ENTROPY_BASE_E},
    {0, 0, 4, 64, TW_ENTROPY_BORDER_CROP, TW_ENTROPY_BASE_2},
    {9, 8, -1, 5000, TW_ENTROPY_BORDER_VALID, TW_ENTROPY_BASE_E},
};
#define CASES ((int)(sizeof cases / sizeof *cases))

/* Room for one image and what is made of it. */
typedef struct bench {
    double *real;
    float *want;
    float *got;
} bench;

static bool same(float a, float b)
{
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1] || (isnan(a) && isnan(b));
}

static bool same_bits(const float *a, const float *b, int64_t count, int64_t *at)
{
    for (*at = 0; *at < count; ++*at) {
        if (!same(a[*at], b[*at])) {
            return false;
        }
    }
    return true;
}

static void run_way(const twi_tester *t, twi_entropy_setup *setup, const bench *b, uint64_t seed)
{
    char name[160];
    char detail[1100] = "";
    const int64_t count = setup->shape.rows * setup->shape.cols;
    int64_t at;
    memset(b->got, POISON, (size_t)count * sizeof *b->got);
    tw_status status =
        twi_entropy_rows(t->ctx, setup, 0, setup->shape.rows, b->got, setup->shape.cols);
    snprintf(name, sizeof name, "entropy %s %s %dx%d levels=%d %s %lldx%lld seed=%llu",
             setup->gpu != NULL ? twi_entropy_gpu_method(setup->gpu)
                                : twi_entropy_method_name(setup->method),
             setup->gpu != NULL ? t->ctx->device : twi_isa_name(setup->isa), setup->window.cols,
             setup->window.rows, setup->opts.levels, tw_entropy_border_name(setup->opts.border),
             (long long)setup->in->cols, (long long)setup->in->rows, (unsigned long long)seed);
    if (status != TW_OK) {
        snprintf(detail, sizeof detail, "%s: %s", tw_status_name(status), tw_last_error(t->ctx));
    } else if (!same_bits(b->got, b->want, count, &at)) {
        snprintf(detail, sizeof detail, "element %lld,%lld is %.9g, the reference has %.9g",
                 (long long)(at / setup->shape.cols), (long long)(at % setup->shape.cols),
                 (double)b->got[at], (double)b->want[at]);
    }
    twi_tell(t, name, detail[0] == '\0', detail);
}

/* One case on one image, by every method and ISA that can do it; or on the GPU, if that is the
 * context's device. */
static tw_status run_case(const twi_tester *t, const bench *b, int c, int s, uint64_t seed)
{
    tw_image_options image_options = TW_IMAGE_OPTIONS_INIT;
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_image *image = NULL;
    twi_entropy_setup setup = {0};
    image_options.kind = (c + s) % 2 == 0 ? "noise" : "natural";
    image_options.rows = sizes[s].rows;
    image_options.cols = sizes[s].cols;
    image_options.levels = opts.levels = cases[c].levels;
    image_options.seed = seed;
    opts.window_rows = cases[c].rows;
    opts.window_cols = cases[c].cols;
    opts.radius = cases[c].radius;
    opts.border = cases[c].border;
    opts.base = cases[c].base;
    tw_status status = tw_image_generate(t->ctx, &image, &image_options);
    if (status == TW_OK) {
        status =
            twi_entropy_prepare(t->ctx, &setup, tw_image_plane(image, 0), &opts, TWI_ENTROPY_AUTO);
    }
    if (status == TW_OK) {
        status = twi_reference_entropy(t->ctx, &setup, b->real, b->want);
    }
    if (status == TW_OK) {
        status = twi_entropy_gpu_open(t->ctx, &setup);
    }
    if (status == TW_OK && setup.gpu != NULL) {
        run_way(t, &setup, b, seed);
    }
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT && status == TW_OK && setup.gpu == NULL;
         isa++) {
        for (twi_entropy_method m = TWI_ENTROPY_COUNTERS; m <= TWI_ENTROPY_LIST; m++) {
            setup.isa = isa;
            setup.method = m;
            if (twi_isa_usable(isa) && twi_entropy_can(&setup, m) &&
                (isa == TWI_ISA_SCALAR || twi_entropy_has_vectors(&setup))) {
                run_way(t, &setup, b, seed);
            }
        }
    }
    twi_entropy_clear(&setup);
    tw_image_destroy(image);
    return status == TW_OK ? twi_check_cancel(t->ctx) : status;
}

tw_status twi_entropy_selftest(const twi_tester *t, uint64_t seed)
{
    bench b = {0};
    tw_status status = twi_alloc(t->ctx, &b.real, (uint64_t)MOST, sizeof *b.real, "the references");
    if (status == TW_OK) {
        status = twi_alloc(t->ctx, &b.want, (uint64_t)MOST, sizeof *b.want, "the references");
    }
    if (status == TW_OK) {
        status = twi_alloc(t->ctx, &b.got, (uint64_t)MOST, sizeof *b.got, "the results");
    }
    for (int c = 0; c < CASES && status == TW_OK; c++) {
        for (int s = 0; s < SIZES && status == TW_OK; s++) {
            status = run_case(t, &b, c, s, seed + (uint64_t)(c * SIZES + s));
            twi_progress(t->ctx, "testing", c * SIZES + s + 1, CASES * SIZES, "images");
        }
    }
    twi_free(b.got);
    twi_free(b.want);
    twi_free(b.real);
    return status;
}

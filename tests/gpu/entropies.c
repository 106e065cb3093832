/*
 * Entropy on GPUs against the definition and the CPU engine, bit by bit: every border, windows and
 * levels of every kernel, sizes around the edges of strips and words, any stride and alignment,
 * masks, ranges and types. What lies between the rows of the result is poisoned and must stay so.
 * Without a GPU everything is skipped, with the reason.
 *
 * No cmocka: the program is also built and run on machines that have a GPU and little else.
 */
#include "base/matrix.h"
#include "base/random.h"
#include "entropy/gpu/gpu.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/prepare.h"
#include "entropy/reference.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xAB
#define SMALL 4000 /* elements up to which the definition is the judge, the CPU engine beyond */

static tw_context *ctx;
static int passed, failed;
static bool hosts; /* host arrays too: each call allocates */

/* One array and its options. */
typedef struct entropy_case {
    const char *what;
    tw_matrix in; /* in host memory */
    tw_entropy_options opts;
    int64_t gap;    /* elements between rows, of the input and the result */
    int64_t offset; /* elements before the first */
} entropy_case;

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what), what);
}

static void *host_block(size_t bytes)
{
    void *block = malloc(bytes + 1);
    if (block == NULL) {
        printf("FAILED: no memory\n");
        exit(1);
    }
    return block;
}

static size_t size_of(const entropy_case *c)
{
    return tw_type_size(c->opts.type);
}

/* Element `at` of an array of the result's type. */
static double element(const entropy_case *c, const void *array, int64_t at)
{
    return twi_element(array, c->opts.type, at);
}

/* ---------------------------------------------------------------------------------- comparing */

static void expect(const entropy_case *c, const twi_entropy_setup *setup, void *want)
{
    const int64_t count = setup->shape.rows * setup->shape.cols;
    if (count <= SMALL && setup->window.size * count <= 1000000) {
        double *real = host_block((size_t)count * sizeof *real);
        must(twi_reference_entropy(ctx, setup, real, want), "the definition");
        free(real);
    } else {
        must(twi_entropy_rows(ctx, setup, 0, setup->shape.rows, want, setup->shape.cols), c->what);
    }
}

static void tell(const entropy_case *c, const twi_entropy_setup *setup, const char *way,
                 const char *got, int64_t stride, const char *want)
{
    const size_t size = size_of(c);
    char poison[sizeof(double)];
    int64_t wrong = 0;
    memset(poison, POISON, sizeof poison);
    for (int64_t y = 0; y < setup->shape.rows; y++) {
        for (int64_t x = 0; x < stride; x++) {
            const bool inside = x < setup->shape.cols;
            const int64_t from = y * setup->shape.cols + x;
            const char *right = inside ? want + (size_t)from * size : poison;
            const char *value = got + (size_t)(y * stride + x) * size;
            const double number = element(c, value, 0);
            const bool same = memcmp(value, right, size) == 0 ||
                              (inside && isnan(number) && isnan(element(c, right, 0)));
            if (!same && wrong++ == 0) {
                printf("  (%lld, %lld) is %.17g, not %.17g\n", (long long)y, (long long)x, number,
                       element(c, right, 0));
            }
        }
    }
    passed += wrong == 0;
    failed += wrong != 0;
    if (wrong != 0) {
        printf("FAILED %s, %s: %lld x %lld of %s to %s, window %d x %d, %d levels, %s, gap %lld, "
               "offset %lld: %lld wrong\n",
               c->what, way, (long long)c->in.cols, (long long)c->in.rows, tw_type_name(c->in.type),
               tw_type_name(c->opts.type), setup->window.cols, setup->window.rows, c->opts.levels,
               tw_entropy_border_name(c->opts.border), (long long)c->gap, (long long)c->offset,
               (long long)wrong);
    }
}

/* A copy in device memory, at an odd place, rows `gap` apart. */
static tw_matrix to_device(const tw_matrix *host, int64_t gap, int64_t offset, void **block)
{
    const size_t size = tw_type_size(host->type);
    tw_matrix there = *host;
    there.stride = host->cols + gap;
    must_run(cudaMalloc(block, (size_t)(there.stride * host->rows + offset) * size + 1), "memory");
    there.data = (char *)*block + (size_t)offset * size;
    must_run(cudaMemcpy2D(there.data, (size_t)there.stride * size, host->data,
                          (size_t)host->stride * size, (size_t)host->cols * size,
                          (size_t)host->rows, cudaMemcpyHostToDevice),
             "upload");
    return there;
}

static void run_device(const entropy_case *c, const twi_entropy_setup *setup, const char *want)
{
    void *in_block = NULL;
    void *mask_block = NULL;
    char *out_block = NULL;
    tw_matrix mask;
    tw_matrix in = to_device(&c->in, c->gap, c->offset, &in_block);
    tw_entropy_options opts = c->opts;
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    const tw_shape shape = {c->in.rows, c->in.cols, c->in.type};
    tw_entropy_plan *plan = NULL;
    const int64_t stride = setup->shape.cols + c->gap;
    const size_t bytes = (size_t)(setup->shape.rows * stride) * size_of(c);
    if (opts.mask != NULL) {
        mask = to_device(opts.mask, 0, 0, &mask_block);
        opts.mask = &mask;
    }
    must_run(cudaMalloc((void **)&out_block, bytes + (size_t)c->offset * size_of(c) + 1), "memory");
    tw_matrix out = {out_block + (size_t)c->offset * size_of(c), setup->shape.rows,
                     setup->shape.cols, stride, c->opts.type};
    must_run(cudaMemset(out.data, POISON, bytes), "poison");
    must(tw_entropy_plan_create(ctx, &plan, &shape, &opts), "a plan");
    must(tw_entropy_plan_device_workspace(ctx, plan, &device.workspace_bytes, &out, &in),
         "workspace");
    must_run(cudaMalloc(&device.workspace, device.workspace_bytes + 1), "workspace");
    must(tw_entropy_plan_apply_device(ctx, plan, &out, &in, &device), c->what);
    tw_entropy_plan_destroy(plan); /* the work that is queued does not need it */
    must_run(cudaDeviceSynchronize(), c->what);
    char *got = host_block(bytes);
    must_run(cudaMemcpy(got, out.data, bytes, cudaMemcpyDeviceToHost), "download");
    tell(c, setup, "device entry", got, stride, want);
    free(got);
    must_run(cudaFree(device.workspace), "free");
    must_run(cudaFree(out_block), "free");
    must_run(cudaFree(mask_block), "free");
    must_run(cudaFree(in_block), "free");
}

/* What the first run leaves on the device serves the second. */
static void run_plan(const entropy_case *c, tw_matrix *out, size_t bytes)
{
    const tw_shape shape = {c->in.rows, c->in.cols, c->in.type};
    tw_entropy_plan *plan = NULL;
    must(tw_entropy_plan_create(ctx, &plan, &shape, &c->opts), c->what);
    must(tw_entropy_plan_apply(ctx, plan, out, &c->in, NULL), c->what);
    memset(out->data, POISON, bytes);
    must(tw_entropy_plan_apply(ctx, plan, out, &c->in, NULL), c->what);
    tw_entropy_plan_destroy(plan);
}

/* Host to host, from memory that is pinned and memory that is not. */
static void run_host(const entropy_case *c, const twi_entropy_setup *setup, const char *want)
{
    const int64_t stride = setup->shape.cols + c->gap;
    const size_t bytes = (size_t)(setup->shape.rows * stride) * size_of(c);
    void *pinned = NULL;
    char *pageable = host_block(bytes);
    must_run(cudaMallocHost(&pinned, bytes + 1), "pinned memory");
    static const char *const ways[] = {"pageable", "pinned, two devices", "a plan, twice"};
    for (int way = 0; way < 3; way++) {
        char *got = way == 1 ? pinned : pageable;
        tw_matrix out = {got, setup->shape.rows, setup->shape.cols, stride, c->opts.type};
        memset(got, POISON, bytes);
        must(tw_set_device(ctx, way == 1 ? TWI_GPU_PREFIX ":0,0" : TWI_GPU_PREFIX), "a device");
        if (way < 2) {
            must(tw_entropy(ctx, &out, &c->in, &c->opts), c->what);
        } else {
            run_plan(c, &out, bytes);
        }
        tell(c, setup, ways[way], got, stride, want);
    }
    free(pageable);
    must_run(cudaFreeHost(pinned), "pinned memory");
}

static void run_case(const entropy_case *c)
{
    twi_entropy_setup setup;
    must(twi_entropy_prepare(ctx, &setup, &c->in, &c->opts, TWI_ENTROPY_AUTO), c->what);
    const int64_t count = setup.shape.rows * setup.shape.cols;
    char *want = host_block((size_t)count * size_of(c));
    if (count > 0) {
        expect(c, &setup, want);
        run_device(c, &setup, want);
        if (hosts) {
            run_host(c, &setup, want);
        }
    }
    free(want);
    twi_entropy_clear(&setup);
}

/* -------------------------------------------------------------------------------------- arrays */

static void *levels_of(tw_type type, int64_t count, int32_t levels, uint64_t seed)
{
    void *data = host_block((size_t)count * tw_type_size(type));
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        uint64_t few = twi_random_below(random, 4) == 0 ? (uint64_t)levels : 3;
        uint64_t bound = few < (uint64_t)levels ? few : (uint64_t)levels;
        uint64_t value = twi_random_below(random * 0x9E3779B97F4A7C15u, bound);
        switch (type) {
        case TW_U8:
            ((uint8_t *)data)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)data)[i] = (uint16_t)value;
            break;
        case TW_I16:
            ((int16_t *)data)[i] = (int16_t)value;
            break;
        default:
            ((float *)data)[i] = (float)value;
            break;
        }
    }
    return data;
}

static void windows_levels_and_borders(bool small)
{
    static const struct {
        int32_t rows, cols, levels;
    } kinds[] = {{5, 5, 16},    {3, 3, 16},    {3, 10, 7},    {5, 6, 16},
                 {5, 5, 256},   {9, 9, 256},   {4, 7, 100},   {11, 11, 64},
                 {13, 6, 256},  {2, 3, 9},     {1, 1, 2},     {12, 12, 256},
                 {31, 31, 256}, {17, 40, 200}, {33, 33, 256}, {7, 7, 3000}};
    static const int64_t sizes[][2] = {{1, 1},    {1, 40},    {3, 2},    {4, 127},
                                       {37, 128}, {6, 129},   {40, 300}, {65, 515},
                                       {300, 33}, {23, 1030}, {2000, 3}, {150, 900}};
    const int kind_count = sizeof kinds / sizeof *kinds;
    const int size_count = sizeof sizes / sizeof *sizes;
    for (int k = 0; k < kind_count; k++) {
        for (int s = 0; s < size_count; s += small ? 3 : 1) {
            const int64_t rows = sizes[s][0];
            const int64_t cols = sizes[s][1];
            const tw_type type = kinds[k].levels > 256 ? TW_U16 : TW_U8;
            void *data = levels_of(type, rows * cols, kinds[k].levels, (uint64_t)(k * 100 + s));
            for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP;
                 border <= TW_ENTROPY_BORDER_VALID; border++) {
                entropy_case c = {"levels",
                                  {data, rows, cols, cols, type},
                                  TW_ENTROPY_OPTIONS_INIT,
                                  (s + k) % 5,
                                  (s + border) % 4};
                c.opts.window_rows = kinds[k].rows;
                c.opts.window_cols = kinds[k].cols;
                c.opts.levels = kinds[k].levels;
                c.opts.border = border;
                c.opts.base = (k + border) % 3 == 0   ? TW_ENTROPY_BASE_2
                              : (k + border) % 3 == 1 ? TW_ENTROPY_BASE_E
                                                      : TW_ENTROPY_BASE_LEVELS;
                run_case(&c);
                c.opts.type = TW_F64;
                if (s % 3 == border % 3) {
                    run_case(&c);
                }
            }
            free(data);
        }
    }
}

/* Rows that begin at whole words, as the fastest way wants them. */
static void aligned_arrays(void)
{
    static const int32_t windows[] = {3, 5};
    for (int64_t cols = 252; cols <= 1288; cols += 28) {
        uint8_t *data = levels_of(TW_U8, 300 * cols, 16, (uint64_t)cols);
        for (int w = 0; w < 2; w++) {
            entropy_case c = {"aligned",
                              {data, 300, cols, cols, TW_U8},
                              TW_ENTROPY_OPTIONS_INIT,
                              cols % 8 == 0 ? 0 : 4,
                              0};
            c.opts.levels = 16;
            c.opts.window_rows = c.opts.window_cols = windows[w];
            run_case(&c);
            c.opts.border = TW_ENTROPY_BORDER_VALID;
            run_case(&c);
        }
        free(data);
    }
}

static void masks_ranges_and_types(void)
{
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_F32};
    static const double range[2] = {-0.25, 9.5};
    static const double edged[2] = {0, 10}; /* whole numbers lie on edges of 40 bins */
    static const double nothing = 1;
    const int64_t rows = 45;
    const int64_t cols = 133;
    uint8_t *mask = levels_of(TW_U8, rows * cols, 3, 77);
    tw_matrix mask_view = {mask, rows, cols, cols, TW_U8};
    for (int t = 0; t < 4; t++) {
        void *data = levels_of(types[t], rows * cols, 9, (uint64_t)t);
        for (int way = 0; way < 16; way++) {
            entropy_case c = {"values",
                              {data, rows, cols, cols, types[t]},
                              TW_ENTROPY_OPTIONS_INIT,
                              way % 3,
                              t % 3};
            c.opts.levels = way & 8 ? 16 : 40;
            c.opts.mask = way & 1 ? &mask_view : NULL;
            c.opts.range = way & 2 ? way & 1 ? edged : range : NULL;
            c.opts.no_data = way & 4 ? &nothing : NULL;
            c.opts.border = (tw_entropy_border)(way % 6);
            run_case(&c);
            c.opts.radius = 3;
            run_case(&c);
            c.opts.type = TW_F64;
            run_case(&c);
        }
        free(data);
    }
    free(mask);
}

/* Values on the edges of their bins, and NaN beside a value that does not count. */
static void edges_of_bins_and_nan(void)
{
    static const struct {
        double range[2];
        int32_t levels;
    } bins[] = {{{0, 49}, 49}, {{0, 100}, 100}, {{0, 0.7}, 7}, {{-3, 3}, 9}, {{0, 255}, 65535}};
    static const double nothing = 2;
    for (int k = 0; k < 5; k++) {
        const double width = (bins[k].range[1] - bins[k].range[0]) / bins[k].levels;
        float values[40 * 50];
        for (int i = 0; i < 40 * 50; i++) {
            const int bin = (int)twi_random_below(twi_random_at((uint64_t)k, (uint64_t)i),
                                                  (uint64_t)bins[k].levels);
            values[i] = (float)(bins[k].range[0] + bin * width);
            values[i] = (double)values[i] > bins[k].range[1] || i % 17 == 0 ? NAN : values[i];
        }
        entropy_case c = {"edges", {values, 40, 50, 50, TW_F32}, TW_ENTROPY_OPTIONS_INIT, 0, 0};
        c.opts.levels = bins[k].levels;
        c.opts.range = bins[k].range;
        c.opts.no_data = &nothing;
        c.opts.skip_nan = 1;
        run_case(&c);
    }
}

/* Tall and wide windows: what a row of them changes does not fit 32 bits. */
static void windows_of_long_rows(void)
{
    static const int32_t windows[][2] = {{4, 33}, {3, 300}, {2, 500}, {4, 256}, {1, 1024}};
    uint8_t *data = levels_of(TW_U8, 60 * 1100, 250, 31);
    uint8_t *same = host_block(60 * 1100);
    memset(same, 9, 60 * 1100);
    same[30 * 1100 + 500] = 8; /* one of a thousand is another: all sums are as large as can be */
    for (int w = 0; w < 5; w++) {
        for (int way = 0; way < 2; way++) {
            entropy_case c = {"long rows",
                              {way == 0 ? data : same, 60, 1100, 1100, TW_U8},
                              TW_ENTROPY_OPTIONS_INIT,
                              0,
                              0};
            c.opts.window_rows = windows[w][0];
            c.opts.window_cols = windows[w][1];
            c.opts.base = way == 0 ? TW_ENTROPY_BASE_LEVELS : TW_ENTROPY_BASE_E;
            run_case(&c);
        }
    }
    free(same);
    free(data);
}

static void shapes_and_many_levels(void)
{
    static const uint8_t shape[12] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1};
    static const int32_t levels[] = {2, 255, 256, 1000, 1700, 5000, 65535, 65536};
    tw_matrix footprint = {(void *)(uintptr_t)shape, 3, 4, 4, TW_U8};
    for (int k = 0; k < 8; k++) {
        uint16_t *data = levels_of(TW_U16, 70 * 90, levels[k], (uint64_t)k);
        entropy_case c = {"shapes", {data, 70, 90, 90, TW_U16}, TW_ENTROPY_OPTIONS_INIT, 1, 1};
        c.opts.levels = levels[k];
        c.opts.border = levels[k] == 65536 ? TW_ENTROPY_BORDER_WRAP : TW_ENTROPY_BORDER_CROP;
        run_case(&c);
        c.opts.radius = 6;
        run_case(&c);
        c.opts.footprint = &footprint;
        c.opts.anchor_row = 0;
        run_case(&c);
        c.opts.type = TW_F64;
        run_case(&c);
        free(data);
    }
}

/* ------------------------------------------------------------------------------ count patterns */

/* Every way to share the elements of a window among 16 levels: windows side by side. */
typedef struct patterns {
    int counts[16];
    uint8_t *data;
    int64_t rows, cols; /* of a window */
    int64_t stride;
    int64_t seen;
} patterns;

static void add_pattern(patterns *p, int parts)
{
    uint8_t *at = p->data + p->seen * p->cols;
    int64_t element = 0;
    for (int part = 0; part < parts; part++) {
        for (int i = 0; i < p->counts[part]; i++, element++) {
            /* spread over the window and over the levels */
            int64_t place = element * 7 % (p->rows * p->cols);
            at[place / p->cols * p->stride + place % p->cols] =
                (uint8_t)((part * 5 + p->seen) % 16);
        }
    }
    p->seen++;
}

static void partitions(patterns *p, int left, int largest, int part)
{
    if (left == 0) {
        add_pattern(p, part);
        return;
    }
    for (int count = left < largest ? left : largest; count > 0 && part < 16; count--) {
        p->counts[part] = count;
        partitions(p, left - count, count, part + 1);
    }
}

static void all_count_patterns_of_a_5x5_window_with_16_levels(void)
{
    patterns p = {.rows = 5, .cols = 5, .stride = 1891 * 5 + 1};
    p.data = host_block((size_t)(p.rows * p.stride));
    memset(p.data, 0, (size_t)(p.rows * p.stride));
    partitions(&p, 25, 25, 0);
    if (p.seen != 1891) {
        printf("FAILED: %lld patterns\n", (long long)p.seen);
        failed++;
    }
    static const tw_entropy_base bases[] = {TW_ENTROPY_BASE_E, TW_ENTROPY_BASE_2,
                                            TW_ENTROPY_BASE_10, TW_ENTROPY_BASE_LEVELS};
    for (int b = 0; b < 8; b++) {
        entropy_case c = {
            "patterns", {p.data, 5, p.stride, p.stride, TW_U8}, TW_ENTROPY_OPTIONS_INIT, 0, 0};
        c.opts.levels = 16;
        c.opts.base = bases[b % 4];
        c.opts.type = b < 4 ? TW_F32 : TW_F64;
        run_case(&c); /* windows that straddle two patterns are checked too */
        c.opts.border = TW_ENTROPY_BORDER_VALID;
        run_case(&c);
    }
    free(p.data);
}

/* ---------------------------------------------------------------------------------- what fails */

static void count(bool right, const char *what)
{
    passed += right;
    failed += !right;
    if (!right) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
    }
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void)
{
    uint8_t *data = levels_of(TW_U8, 300 * 200, 16, 3);
    float *got = host_block(300 * 200 * sizeof *got);
    tw_matrix in = {data, 300, 200, 200, TW_U8};
    tw_matrix out = {got, 300, 200, 200, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 16;
    opts.radius = 4;
    tw_device_release(ctx);
    const int64_t before = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t n = 1; status == TW_ERR_MEMORY && n < 100; n++) {
        twi_meter_fail_at(ctx->meter, n);
        status = tw_entropy(ctx, &out, &in, &opts);
        count(status == TW_OK || status == TW_ERR_MEMORY, "a failed allocation");
        tw_device_release(ctx);
        count(twi_meter_blocks(ctx->meter) == before, "blocks left over");
    }
    twi_meter_fail_at(ctx->meter, 0);
    count(status == TW_OK, "the last allocation");
    free(got);
    free(data);
}

static void refuse(tw_entropy_plan *plan, tw_matrix *out, const tw_matrix *in,
                   const tw_device_options *device, tw_status status, const char *what)
{
    count(tw_entropy_plan_apply_device(ctx, plan, out, in, device) == status, what);
}

static void calls_that_are_wrong_are_refused(void)
{
    static uint8_t data[100];
    static float got[100];
    void *block = NULL;
    must_run(cudaMalloc(&block, 4096), "memory");
    must_run(cudaMemset(block, 0, 4096), "memory");
    tw_matrix host_in = {data, 10, 10, 10, TW_U8};
    tw_matrix host_out = {got, 10, 10, 10, TW_F32};
    tw_matrix in = {block, 10, 10, 10, TW_U8};
    tw_matrix out = {(char *)block + 1024, 10, 10, 10, TW_F32};
    tw_matrix wide = {(char *)block + 1024, 10, 11, 11, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    const tw_shape shape = {10, 10, TW_U8};
    tw_entropy_plan *plan = NULL;
    must(tw_entropy_plan_create(ctx, &plan, &shape, &opts), "a plan");
    refuse(plan, &out, &host_in, &device, TW_ERR_ARGUMENT, "host input");
    refuse(plan, &host_out, &in, &device, TW_ERR_ARGUMENT, "host result");
    refuse(plan, &wide, &in, &device, TW_ERR_ARGUMENT, "another shape");
    refuse(plan, &out, &in, &device, TW_ERR_MEMORY, "no workspace");
    device.workspace = got;
    device.workspace_bytes = sizeof got;
    refuse(plan, &out, &in, &device, TW_ERR_ARGUMENT, "a workspace in host memory");
    tw_entropy_plan_destroy(plan);
    opts.levels = 1;
    count(tw_entropy_plan_create(ctx, &plan, &shape, &opts) == TW_ERR_ARGUMENT, "one level");
    opts.levels = 16;
    data[55] = 16;
    got[0] = 7;
    count(tw_entropy(ctx, &host_out, &host_in, &opts) == TW_ERR_RANGE && got[0] == 7,
          "a value that is no level");
    data[55] = 0;
    tw_cancel(ctx);
    count(tw_entropy(ctx, &host_out, &host_in, &opts) == TW_ERR_CANCELLED, "a cancelled call");
    tw_clear_cancel(ctx);
    count(tw_entropy(ctx, &host_out, &host_in, &opts) == TW_OK && got[0] == 0, "all is well again");
    must_run(cudaFree(block), "free");
}

static void limits_of_device_memory_are_kept(void)
{
    const int64_t side = 2000;
    uint16_t *data = levels_of(TW_U16, side * side, 60000, 9);
    entropy_case c = {"limited", {data, side, side, side, TW_U16}, TW_ENTROPY_OPTIONS_INIT, 0, 0};
    float *got = host_block((size_t)(side * side) * sizeof *got);
    tw_matrix out = {got, side, side, side, TW_F32};
    c.opts.levels = 60000;
    must(tw_set_device_memory(ctx, 100 << 20), "a limit");
    count(tw_entropy(ctx, &out, &c.in, &c.opts) == TW_ERR_MEMORY, "histograms over the limit");
    c.opts.levels = 200;
    for (int64_t i = 0; i < side * side; i++) {
        data[i] %= 200;
    }
    must(tw_set_device_memory(ctx, 20 << 20), "a limit");
    hosts = true;
    run_case(&c);
    must(tw_set_device_memory(ctx, 0), "no limit");
    free(got);
    free(data);
}

/* Wide and flat: cut across, with every border. */
static void flat_arrays_are_cut_across(void)
{
    const int64_t cols = 70001;
    uint8_t *data = levels_of(TW_U8, 3 * cols, 16, 5);
    for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP; border < TW_ENTROPY_BORDER_VALID;
         border++) {
        entropy_case c = {"flat", {data, 3, cols, cols, TW_U8}, TW_ENTROPY_OPTIONS_INIT, 3, 1};
        c.opts.levels = 16;
        c.opts.border = border;
        run_case(&c);
    }
    free(data);
}

/* A plan whose context ends before it, beside another context. */
static void a_plan_may_outlive_its_context(const tw_matrix *in)
{
    tw_context *const mine = ctx;
    const tw_shape shape = {in->rows, in->cols, in->type};
    const size_t bytes = (size_t)(in->rows * in->cols) * sizeof(float);
    float *want = host_block(bytes);
    float *got = host_block(bytes);
    tw_matrix expected = {want, in->rows, in->cols, in->cols, TW_F32};
    tw_matrix out = {got, in->rows, in->cols, in->cols, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    opts.levels = 16;
    if (tw_context_create(&ctx) != TW_OK) {
        exit(1);
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX), "a device");
    must(tw_entropy(ctx, &expected, in, &opts), "a call");
    must(tw_entropy_plan_create(ctx, &plan, &shape, &opts), "a plan");
    must(tw_entropy_plan_apply(ctx, plan, &out, in, NULL), "a plan");
    tw_context_destroy(ctx);
    ctx = mine;
    count(memcmp(got, want, bytes) == 0, "a plan beside what is kept");
    memset(got, POISON, bytes);
    must(tw_entropy_plan_apply(ctx, plan, &out, in, NULL), "a plan of a context that is gone");
    count(memcmp(got, want, bytes) == 0, "a plan that outlives its context");
    tw_entropy_plan_destroy(plan);
    free(got);
    free(want);
}

/* What one call leaves with the context serves the next, of another size, window and number of
 * levels. */
static void what_a_call_leaves_serves_the_next(void)
{
    static const int64_t sides[] = {900, 300, 901, 40, 1500, 900};
    const bool before = hosts;
    uint8_t *data = levels_of(TW_U8, 1500 * 1500, 16, 4);
    hosts = true;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const tw_matrix in = {data, sides[i], sides[i], sides[i], TW_U8};
        entropy_case c = {"one call after the other", in, TW_ENTROPY_OPTIONS_INIT, 0, 0};
        c.opts.levels = i % 2 == 0 ? 16 : 200;
        c.opts.window_rows = c.opts.window_cols = i % 3 == 0 ? 5 : 13;
        run_case(&c);
    }
    hosts = before;
    must(tw_set_device(ctx, TWI_GPU_PREFIX), "a device");
    count(tw_memory_used(ctx) > 1000000 && tw_memory_used(ctx) < (uint64_t)65 << 20,
          "pinned memory is kept and counted");
    tw_device_release(ctx);
    count(tw_memory_used(ctx) == 0, "and given back");
    const tw_matrix in = {data, 700, 1500, 1500, TW_U8};
    a_plan_may_outlive_its_context(&in);
    free(data);
}

/* With the driver running, "auto" counts no start. */
static void auto_takes_a_gpu_that_runs_for_large_arrays(void)
{
    static const int64_t sides[] = {16, 20000};
    must(tw_set_device(ctx, "auto"), "a device");
    for (int i = 0; i < 2; i++) {
        const tw_shape shape = {sides[i], sides[i], TW_U8};
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        tw_entropy_plan *plan = NULL;
        must(tw_entropy_plan_create(ctx, &plan, &shape, &opts), "a plan");
        const char *text = tw_entropy_plan_explain(plan);
        count(strstr(text, i == 0
                               ? "the CPU by estimate: the GPU's driver is running"
                               : "its driver was already running, so its start is not counted") !=
                  NULL,
              "the choice of auto");
        tw_entropy_plan_destroy(plan);
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX), "a device");
}

int main(int argc, char **argv)
{
    /* "small" keeps to what a memory checker can follow in a minute. */
    bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    if (tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK) {
        printf("%s\n", tw_last_error(ctx));
        return 2;
    }
    twi_gpu_list list;
    if (twi_gpu_select(ctx, &list) != TW_OK) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", tw_last_error(ctx));
        tw_context_destroy(ctx);
        return 77;
    }
    all_count_patterns_of_a_5x5_window_with_16_levels();
    hosts = !small;
    windows_levels_and_borders(small);
    masks_ranges_and_types();
    edges_of_bins_and_nan();
    windows_of_long_rows();
    shapes_and_many_levels();
    if (!small) {
        aligned_arrays();
        flat_arrays_are_cut_across();
        limits_of_device_memory_are_kept();
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX), "a device");
    calls_that_are_wrong_are_refused();
    what_a_call_leaves_serves_the_next();
    auto_takes_a_gpu_that_runs_for_large_arrays();
    every_failed_allocation_is_reported_and_leaves_nothing();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    tw_context_destroy(ctx);
    return failed == 0 ? 0 : 1;
}

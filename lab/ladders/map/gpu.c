/*
 * Ladder map-gpu: row E's task, ten passes of v += sqrt((odd column ? log v : cos v) + 1) in place
 * over a square array of floats that lies on the card; whole inputs from 10 to 265.
 *
 *   original   threads of a warp lie in one column (E1)
 *   coalesced  they lie in one row (E2)
 *   divided    a kernel for each parity, so that no warp computes both branches (E3)
 *   table      results looked up for whole inputs (E4): wrong from the second pass on
 *   vectors    two columns a load, so that the parity is known when compiling (E5)
 *   engine     the library, a pass at a time
 *   composed   the library, ten passes in registers
 *
 * `table` is checked against its authors' own ten values and, to the bit, against the same lookups
 * on the host, in a copy of its table, which is itself checked against double precision; the others
 * against the ten published values and against double precision.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"
#include "ladders/map/gpu_kernels.h"

#include <math.h>

#ifndef LAB_LISTED_ONLY
#include "base/memory.h"
#include "base/random.h"
#include "ladders/gpu_timing.h"

enum { PASSES = 10, PUBLISHED = 10, LEAST_INPUT = 10 };

static const float published_inputs[PUBLISHED] = {51, 45, 200, 142, 235, 118, 224, 184, 92, 154};
static const double published_outputs[PUBLISHED] = {53.4068, 67.3596, 204.203, 166.555, 235.619,
                                                    142.202, 229.336, 209.047, 97.3885, 178.709};
static const double table_outputs[PUBLISHED] = {53.2859, 65.2678, 204.144, 162.465, 235.431,
                                                138.432, 229.237, 209.516, 97.2736, 174.479};

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    float *input, *right, *output;
    float *on_card, *table;
    tw_map_plan *plans[2]; /* one pass; ten passes in registers */
    lab_clock clock;
} bench;

static const char expression[] = "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)";

static double one_pass(double v, bool odd)
{
    return v + sqrt((odd ? log(v) : cos(v)) + 1);
}

static double ten_passes(double v, bool odd)
{
    for (int pass = 0; pass < PASSES; pass++) {
        v = one_pass(v, odd);
    }
    return v;
}

static tw_status take_memory(bench *b)
{
    uint64_t cells = (uint64_t)b->n * (uint64_t)b->n;
    tw_status status = twi_alloc(b->ctx, &b->input, cells, 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->on_card, cells * 4), "allocating");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->table, 8 * LAB_MAP_INPUTS), "allocating");
    }
    return status;
}

static tw_status make_plans(bench *b)
{
    tw_shape shape = {b->n, b->n, TW_F32};
    tw_expr *expr = NULL;
    tw_status status = tw_expr_create(b->ctx, &expr, expression, NULL);
    for (int i = 0; status == TW_OK && i < 2; i++) {
        tw_map_options options = TW_MAP_OPTIONS_INIT;
        options.repeat = i == 0 ? 1 : PASSES;
        status = tw_map_plan_create(b->ctx, &b->plans[i], expr, &shape, 1, &options);
    }
    tw_expr_destroy(expr);
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    if (n % 4 != 0 || n > 32768) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: multiples of 4 up to 32768 are possible",
                       (long long)n);
    }
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    status = take_memory(b);
    if (status == TW_OK) {
        status = lab_clock_make(ctx, &b->clock);
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, lab_map_fill_table(b->table), "filling the table");
    }
    if (status == TW_OK) {
        status = make_plans(b);
    }
    if (status == TW_OK) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n * n; i++) {
            uint64_t random = twi_random_at(seed, (uint64_t)i);
            /* n is even: column i of a first row that is long enough has the same parity */
            b->input[i] = i < PUBLISHED ? published_inputs[i]
                                        : LEAST_INPUT + (float)twi_random_below(random, 256);
            b->right[i] = (float)ten_passes((double)b->input[i], i % n % 2 != 0);
        }
    }
    return status;
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        lab_clock_destroy(&b->clock);
        tw_map_plan_destroy(b->plans[1]);
        tw_map_plan_destroy(b->plans[0]);
        (void)cudaFree(b->table);
        (void)cudaFree(b->on_card);
        twi_free(b->output);
        twi_free(b->right);
        twi_free(b->input);
        twi_free(b);
    }
}

/* What lies on the card needs no poison: every run begins with the input in its place. */
static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

/* What the kernel of `table` makes of a value in ten passes. */
static float ten_lookups(const float *table, float v)
{
    for (int pass = 0; pass < PASSES; pass++) {
        long input = lrintf(v); /* to the nearest, as there */
        input = input < 0 ? 0 : input;
        v = table[input < LAB_MAP_INPUTS ? input : LAB_MAP_INPUTS - 1];
    }
    return v;
}

/* All values of `table`. Which input each element had is a whole number below LAB_MAP_INPUTS. */
static tw_status check_table(tw_context *ctx, const bench *b, const lab_rung *rung)
{
    float table[2][LAB_MAP_INPUTS], right[2][LAB_MAP_INPUTS];
    tw_status status =
        LAB_TRY(ctx, cudaMemcpy(table, b->table, sizeof table, cudaMemcpyDeviceToHost),
                "copying the table");
    for (int i = 0; status == TW_OK && i < 2 * LAB_MAP_INPUTS; i++) {
        int odd = i / LAB_MAP_INPUTS, input = i % LAB_MAP_INPUTS;
        if (input >= LEAST_INPUT &&
            !(fabs((double)table[odd][input] - one_pass(input, odd != 0)) <= 1e-3)) {
            status = tw_fail(ctx, TW_ERR_VERIFY, "rung %s is wrong: its table has %.9g for %d",
                             rung->name, (double)table[odd][input], input);
        }
        right[odd][input] = ten_lookups(table[odd], (float)input);
    }
    for (int64_t i = 0; status == TW_OK && i < b->n * b->n; i++) {
        float expected = right[i % b->n % 2][(int)b->input[i]];
        if (!(b->output[i] >= expected && b->output[i] <= expected)) {
            status = tw_fail(ctx, TW_ERR_VERIFY,
                             "rung %s is wrong: row %lld, column %lld is %.9g, and should be %.9g",
                             rung->name, (long long)(i / b->n), (long long)(i % b->n),
                             (double)b->output[i], (double)expected);
        }
    }
    return status;
}

/* Near cos v = -1 the expression loses digits, and ten passes carry them on: three decimals. */
static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    const double *expected = rung->a != 0 ? table_outputs : published_outputs;
    for (int64_t i = 0; i < PUBLISHED; i++) {
        if (!(fabs((double)b->output[i] - expected[i]) <= 1e-3)) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "rung %s is wrong: published value %lld is %.6g, and should be %.6g",
                           rung->name, (long long)i, (double)b->output[i], expected[i]);
        }
    }
    return rung->a != 0 ? check_table(ctx, b, rung)
                        : lab_near_floats(ctx, rung, b->output, b->right, b->n, 5e-3F);
}

static double work(int64_t n)
{
    return PASSES * (double)n * (double)n;
}

static double traffic(int64_t n)
{
    return PASSES * 8 * (double)n * (double)n;
}

/* Bring the input to the card, have the passes done, and bring the result back. */
static tw_status run_between_copies(bench *b, const lab_rung *rung, lab_time *time,
                                    tw_status (*passes)(bench *b, const lab_rung *rung))
{
    size_t bytes = (size_t)(b->n * b->n) * 4;
    tw_status status =
        LAB_TRY(b->ctx, cudaMemcpy(b->on_card, b->input, bytes, cudaMemcpyHostToDevice), "copying");
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        status = passes(b, rung);
    }
    if (status == TW_OK) {
        status = lab_clock_end(b->ctx, &b->clock, &time->total);
        time->compute = time->total;
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMemcpy(b->output, b->on_card, bytes, cudaMemcpyDeviceToHost),
                         "copying");
    }
    return status;
}

static tw_status kernel_passes(bench *b, const lab_rung *rung)
{
    const lab_map_recipe *recipe = rung->code;
    for (int pass = 0; pass < PASSES; pass++) {
        recipe->pass(b->on_card, (int)b->n, b->table);
    }
    return TW_OK;
}

static tw_status run_passes(void *given, const lab_rung *rung, lab_time *time)
{
    return run_between_copies(given, rung, time, kernel_passes);
}

/* b: the plan. */
static tw_status library_passes(bench *b, const lab_rung *rung)
{
    tw_matrix matrix = {b->on_card, b->n, b->n, b->n, TW_F32};
    tw_status status = TW_OK;
    for (int pass = 0; status == TW_OK && pass < (rung->b == 0 ? PASSES : 1); pass++) {
        status = tw_map_plan_apply_device(b->ctx, b->plans[rung->b], &matrix, &matrix, 1, NULL);
    }
    return status;
}

static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    return run_between_copies(given, rung, time, library_passes);
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const bench *b = given;
    const lab_map_recipe *recipe = rung->code;
    return lab_inspect(b->ctx, recipe->kernel, recipe->threads, 0, out);
}

static const void *kernel_of(const lab_rung *rung)
{
    const lab_map_recipe *recipe = rung->code;
    return recipe != NULL ? recipe->kernel : NULL;
}

#endif /* LAB_LISTED_ONLY */

#define IN_KERNELS "map/gpu_kernels.cu "
#define RUNG(title, from, of, functions, what)                                                   \
    {                                                                                            \
        .name = #title, .parent = from, .row = of, .idea = what, .source = IN_KERNELS functions, \
        .run = LAB_ON_GPU(run_passes), .code = LAB_CODE(&lab_map_##title),                       \
        .inspect = LAB_ON_GPU(inspect)                                                           \
    }

static const lab_rung rungs[] = {
    RUNG(original, NULL, "E1", "original pass_original",
         "1 x 512 threads: a warp's elements lie in 32 rows"),
    RUNG(coalesced, "original", "E2", "original pass_coalesced",
         "512 x 1 threads: a warp's elements lie side by side"),
    RUNG(divided, "coalesced", "E3", "divided pass_divided",
         "a kernel for each parity: no warp computes both branches"),
    {.name = "table",
     .parent = "coalesced",
     .row = "E4",
     .idea = "results looked up for whole inputs",
     .flaw = "right only for whole inputs, which they no longer are after the first pass",
     .against = "its author's own ten values within 1e-3, and the same lookups on the host, every "
                "element, to the bit",
     .source = IN_KERNELS "looked_up pass_table fill_table lab_map_fill_table",
     .run = LAB_ON_GPU(run_passes),
     .code = LAB_CODE(&lab_map_table),
     .a = 1,
     .inspect = LAB_ON_GPU(inspect)},
    RUNG(vectors, "coalesced", "E5", "vectors pass_vectors",
         "two columns per load: the parity is known when compiling"),
    {.name = "engine",
     .parent = "vectors",
     .idea = "16-byte accesses, functions of our own within 1 ulp: the library, ten passes",
     .run = LAB_ON_GPU(run_engine)},
    {.name = "composed",
     .parent = "engine",
     .idea = "ten passes in registers: one read, one write, the same bits",
     .run = LAB_ON_GPU(run_engine),
     .b = 1},
};

static const int64_t default_sizes[] = {512, 1024, 2048, 4096, 8192, 0};

/* The authors' figures are of one pass. */
static const lab_published published[] = {{"original", 2048, 11.2}, {"coalesced", 2048, 2.3},
                                          {"divided", 2048, 2.4},   {"table", 2048, 2.4},
                                          {"vectors", 2048, 1.2},   {NULL, 0, 0}};

const lab_ladder lab_map_gpu = {
    .name = "map-gpu",
    .title = "One expression, ten passes in place, on a GPU",
    .unit = "evaluations",
    .size = "elements per side",
    .against = "ten published values within 1e-3, and double precision, every element, within 5e-3",
    .gpu = true,
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "row E's author's card, ten times the figure of a pass",
    .open = LAB_ON_GPU(open_bench),
    .spoil = LAB_ON_GPU(spoil),
    .check = LAB_ON_GPU(check),
    .close = LAB_ON_GPU(close_bench),
    .kernel = LAB_ON_GPU(kernel_of),
    .work = LAB_ON_GPU(work),
    .traffic = LAB_ON_GPU(traffic),
    .ceiling = lab_card_copy_ceiling,
    .source = "map/gpu.c library_passes run_engine",
};

/*
 * Ladder map-cpu: row E's expression, x + sqrt((odd column ? log x : cos x) + 1), once over a
 * square array of floats, on a CPU.
 *
 *   branch    the C library's functions, a branch for each element
 *   parity    two loops, one for each parity: no branch in either
 *   threads   rows divided over threads
 *   engine    vector functions of our own within 1 ulp, only the branch taken: the library
 *   fast      the same within 3.5 ulp
 */
#include "answers.h"
#include "ladders.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>

static const char expression[] = "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)";

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    float *input, *output;
    tw_expr *expr;
    tw_map_plan *plans[2]; /* exact, fast */
    int threads;
} bench;

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        tw_map_plan_destroy(b->plans[1]);
        tw_map_plan_destroy(b->plans[0]);
        tw_expr_destroy(b->expr);
        twi_free(b->output);
        twi_free(b->input);
        twi_free(b);
    }
}

static tw_status make_plans(bench *b)
{
    tw_shape shape = {.rows = b->n, .cols = b->n, .type = TW_F32};
    tw_status status = tw_expr_create(b->ctx, &b->expr, expression, NULL);
    for (int fast = 0; status == TW_OK && fast < 2; fast++) {
        tw_map_options options = TW_MAP_OPTIONS_INIT;
        options.fast = fast;
        status = tw_map_plan_create(b->ctx, &b->plans[fast], b->expr, &shape, 1, &options);
    }
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    uint64_t cells = (uint64_t)n * (uint64_t)n;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->threads = twi_thread_count(ctx);
    status = twi_alloc(ctx, &b->input, cells, 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        for (uint64_t i = 0; i < cells; i++) {
            b->input[i] = 10 + (float)twi_random_below(twi_random_at(seed, i), 256);
        }
        status = tw_set_device(ctx, "cpu");
    }
    return status != TW_OK ? status : make_plans(b);
}

static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

/* Against double precision; near cos x = -1 the expression itself loses digits. */
static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    for (int64_t i = 0; i < b->n * b->n; i++) {
        double x = (double)b->input[i], right = x + sqrt((i % b->n % 2 ? log(x) : cos(x)) + 1);
        if (!(fabs((double)b->output[i] - right) <= 4e-4)) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "rung %s is wrong: element %lld, %lld is %.9g, and should be %.9g",
                           rung->name, (long long)(i / b->n), (long long)(i % b->n),
                           (double)b->output[i], right);
        }
    }
    return TW_OK;
}

static void evaluate_rows(const bench *b, int64_t first, int64_t end, bool divided)
{
    for (int64_t y = first; y < end; y++) {
        const float *in = b->input + y * b->n;
        float *out = b->output + y * b->n;
        if (divided) {
            for (int64_t x = 0; x < b->n; x += 2) {
                out[x] = in[x] + sqrtf(cosf(in[x]) + 1);
            }
            for (int64_t x = 1; x < b->n; x += 2) {
                out[x] = in[x] + sqrtf(logf(in[x]) + 1);
            }
        } else {
            for (int64_t x = 0; x < b->n; x++) {
                out[x] = in[x] + sqrtf((x % 2 ? logf(in[x]) : cosf(in[x])) + 1);
            }
        }
    }
}

/* a: 1 divides by parity; b: 1 uses all threads. */
static tw_status run_libm(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    double begun = twi_seconds();
    int threads = rung->b != 0 ? b->threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t y = 0; y < b->n; y++) {
        evaluate_rows(b, y, y + 1, rung->a != 0);
    }
    (void)threads;
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

/* a: the plan. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix in = {b->input, b->n, b->n, b->n, TW_F32}, out = in;
    out.data = b->output;
    double begun = twi_seconds();
    tw_status status = tw_map_plan_apply(b->ctx, b->plans[rung->a], &out, &in, 1, NULL);
    time->total = time->compute = twi_seconds() - begun;
    return status;
}

static const lab_rung rungs[] = {
    {.name = "branch",
     .idea = "the C library's functions, a branch for each element, one thread",
     .run = run_libm},
    {.name = "parity",
     .parent = "branch",
     .row = "E3",
     .idea = "two loops, one for each parity: no branch in either",
     .run = run_libm,
     .a = 1},
    {.name = "threads",
     .parent = "parity",
     .idea = "rows divided over threads",
     .run = run_libm,
     .a = 1,
     .b = 1},
    {.name = "engine",
     .parent = "threads",
     .idea = "vector functions of our own within 1 ulp, columns sorted by parity: the library",
     .run = run_engine},
    {.name = "fast",
     .parent = "engine",
     .idea = "functions within 3.5 ulp: shorter polynomials",
     .run = run_engine,
     .a = 1},
};

static const int64_t default_sizes[] = {512, 1024, 2048, 4096, 0};

const lab_ladder lab_map_cpu = {
    .name = "map-cpu",
    .title = "One expression over an array, on a CPU",
    .unit = "evaluations",
    .size = "elements a side",
    .against = "double precision, every element, within 4e-4",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .work = lab_elements,
    .traffic = lab_matrix_bytes,
    .ceiling = lab_matrix_copy_ceiling,
};

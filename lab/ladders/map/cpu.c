/*
 * Ladder map-cpu: row E's expression, x + sqrt((odd column ? log x : cos x) + 1), once over a
 * square array of floats, on a CPU.
 *
 *   branch    the C library's functions, a branch for each element
 *   parity    two loops, one for each parity: no branch in either
 *   threads   rows divided over threads
 *   engine    vector functions of our own within 1 ulp, only the branch taken: the library
 *   fast      the same within 3.5 ulp
 *
 * map-threads and map-threads-weak have the engine on 1 to 64 threads: the same array for all of
 * them, or n rows of n for each.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define AGAINST "double precision, every element, within 4e-4"

static const char expression[] = "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)";

typedef struct bench {
    tw_context *ctx;
    int64_t n;    /* columns */
    int64_t rows; /* n of them, but in weak scaling */
    uint64_t seed;
    float *input, *output;
    tw_expr *expr;
    tw_map_plan *plans[2]; /* exact, fast */
    int threads;
    struct bench *taller; /* the last rung's own array, for weak scaling */
} bench;

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        close_bench(b->taller);
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
    tw_shape shape = {.rows = b->rows, .cols = b->n, .type = TW_F32};
    tw_status status = tw_expr_create(b->ctx, &b->expr, expression, NULL);
    for (int fast = 0; status == TW_OK && fast < 2; fast++) {
        tw_map_options options = TW_MAP_OPTIONS_INIT;
        options.fast = fast;
        status = tw_map_plan_create(b->ctx, &b->plans[fast], b->expr, &shape, 1, &options);
    }
    return status;
}

static tw_status open_rows(tw_context *ctx, int64_t rows, int64_t n, uint64_t seed, bench **out)
{
    bench *b = NULL;
    uint64_t cells = (uint64_t)rows * (uint64_t)n;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->rows = rows;
    b->seed = seed;
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

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    tw_status status = open_rows(ctx, n, n, seed, &b);
    *out = b;
    return status;
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
    for (int64_t i = 0; i < b->rows * b->n; i++) {
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
        if (!twi_is_cancelled(b->ctx)) {
            evaluate_rows(b, y, y + 1, rung->a != 0);
        }
    }
    (void)threads;
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

/* a: the plan. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix in = {b->input, b->rows, b->n, b->n, TW_F32}, out = in;
    out.data = b->output;
    double begun = twi_seconds();
    tw_status status = tw_map_plan_apply(b->ctx, b->plans[rung->a], &out, &in, 1, NULL);
    time->total = time->compute = twi_seconds() - begun;
    return status;
}

static const lab_rung rungs[] = {
    {.name = "branch",
     .idea = "the C library's functions, a branch for each element, one thread",
     .source = "map/cpu.c evaluate_rows run_libm",
     .run = run_libm},
    {.name = "parity",
     .parent = "branch",
     .row = "E3",
     .idea = "two loops, one for each parity: no branch in either",
     .source = "map/cpu.c evaluate_rows run_libm",
     .run = run_libm,
     .a = 1},
    {.name = "threads",
     .parent = "parity",
     .idea = "rows divided over threads",
     .source = "map/cpu.c evaluate_rows run_libm",
     .run = run_libm,
     .a = 1,
     .b = 1},
    {.name = "engine",
     .parent = "threads",
     .idea = "vector functions of our own within 1 ulp, columns sorted by parity: the library",
     .source = "map/cpu.c run_engine",
     .run = run_engine},
    {.name = "fast",
     .parent = "engine",
     .idea = "functions within 3.5 ulp: shorter polynomials",
     .source = "map/cpu.c run_engine",
     .run = run_engine,
     .a = 1},
};

static const int64_t default_sizes[] = {512, 1024, 2048, 4096, 0};

const lab_ladder lab_map_cpu = {
    .name = "map-cpu",
    .title = "One expression over an array, on a CPU",
    .unit = "evaluations",
    .size = "elements per side",
    .against = AGAINST,
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

/* -------------------------------------------------------------------------------------- threads */

/* b: threads, which the library takes from the context. */
static tw_status run_threads(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const int32_t asked = b->ctx->threads;
    b->ctx->threads = rung->b;
    tw_status status = run_engine(b, rung, time);
    b->ctx->threads = asked;
    return status;
}

static tw_status run_weak(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_status status = TW_OK;
    if (b->taller == NULL || b->taller->rows != b->n * rung->b) {
        close_bench(b->taller);
        b->taller = NULL;
        status = open_rows(b->ctx, b->n * rung->b, b->n, b->seed, &b->taller);
        if (status == TW_OK) {
            memset(b->taller->output, 0xFF, (size_t)(b->taller->rows * b->n) * 4); /* NaN */
        }
    }
    return status != TW_OK ? status : run_threads(b->taller, rung, time);
}

static tw_status check_weak(tw_context *ctx, void *given, const lab_rung *rung)
{
    bench *b = given;
    return check(ctx, b->taller, rung);
}

#define THREADS(count, runs, what)                                           \
    {                                                                        \
        .name = "threads-" #count, .idea = what, .run = (runs), .b = (count) \
    }
#define STRONG(count) THREADS(count, run_threads, "rows dealt out to " #count " threads")
#define WEAK(count) THREADS(count, run_weak, #count " threads, " #count " times the rows")

static const lab_rung strong_rungs[] = {STRONG(1),  STRONG(2),  STRONG(4), STRONG(8),
                                        STRONG(16), STRONG(32), STRONG(64)};
static const lab_rung weak_rungs[] = {WEAK(1), WEAK(2), WEAK(4), WEAK(8), WEAK(16), WEAK(32)};

static const int64_t thread_sizes[] = {2048, 0};

#define SCALING                                                                      \
    .sizes = thread_sizes, .open = open_bench, .spoil = spoil, .close = close_bench, \
    .offers = lab_has_threads, .work = lab_elements, .traffic = lab_matrix_bytes,    \
    .against = AGAINST

const lab_ladder lab_map_threads = {
    .source = "map/cpu.c run_threads",
    .name = "map-threads",
    .title = "Strong scaling of a map over threads",
    .unit = "evaluations",
    .size = "elements per side",
    .rungs = strong_rungs,
    .count = LAB_COUNT(strong_rungs),
    .check = check,
    .ceiling = lab_matrix_copy_ceiling,
    SCALING,
};

const lab_ladder lab_map_threads_weak = {
    .source = "map/cpu.c run_weak",
    .name = "map-threads-weak",
    .title = "Weak scaling of a map: n x n elements for each thread",
    .unit = "evaluations per thread",
    .size = "elements per side for one thread",
    .rungs = weak_rungs,
    .count = LAB_COUNT(weak_rungs),
    .check = check_weak,
    .ceiling = lab_matrix_copy_ceiling_of_one,
    SCALING,
};

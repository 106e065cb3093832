/*
 * Ladder entropy-cpu: the entropy of the 5 x 5 window around each element of a square array of 16
 * levels, on a CPU; border windows hold what is inside.
 *
 *   logarithms      counts of 16 levels for each element, a logarithm for each count (row D2, v10)
 *   table           n log n from a table of 26 doubles (v11)
 *   mixed           a table of floats, sums in double (v12)
 *   integral        16 integral images, so that a count is three additions (v13)
 *   sliding         one histogram slid along the row: 10 elements change instead of 25
 *   engine          16 counters in one vector, a whole-number table: the library
 *
 * The rungs of the write-up are right to five decimals, the library's to the bit of the definition;
 * versions.c has their code. entropy-threads and entropy-threads-weak have the library on 1 to 64
 * threads: the same array for all of them, or n rows of n for each. windows.c shows the versions
 * over larger windows, and the library over windows and levels.
 */
#include "base/memory.h"
#include "ladders/answers.h"
#include "ladders/entropy/array.h"
#include "ladders/entropy/versions.h"
#include "ladders/ladders.h"

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    lab_entropy_array array; /* its right answer is from a table: logarithms take too long */
    int32_t *integrals;      /* of a lab_entropy_task */
    uint64_t seed;
} bench;

/* ---------------------------------------------------------------------------------------- bench */

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        twi_free(b->integrals);
        lab_entropy_array_free(&b->array);
        twi_free(b);
    }
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->seed = seed;
    return lab_entropy_array_make(&b->array, ctx, n, n, seed);
}

static void spoil(void *given)
{
    bench *b = given;
    lab_entropy_array_spoil(&b->array);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_entropy_array_check(ctx, &b->array, rung);
}

/* ---------------------------------------------------------------------------------------- rungs */

/* code: a lab_entropy_version. */
static tw_status run_version(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    lab_entropy_task task = {.ctx = b->ctx,
                             .n = b->n,
                             .window = 2 * LAB_ENTROPY_HALF + 1,
                             .input = b->array.input,
                             .output = b->array.output,
                             .integrals = b->integrals};
    tw_status status = lab_entropy_run(&task, rung->code, time);
    b->integrals = task.integrals;
    return status;
}

static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    (void)rung;
    tw_status status = lab_entropy_by_library(b->ctx, &b->array, &time->total);
    time->compute = time->total;
    return status;
}

static const lab_rung rungs[] = {
    {.name = "logarithms",
     .row = "D2",
     .idea = "v10: count 25 elements, take a logarithm for each level that occurs",
     .source = "entropy/versions.c count_window entropy_of logarithm_row",
     .run = run_version,
     .code = &lab_entropy_logarithms,
     .most = 2560},
    {.name = "table",
     .parent = "logarithms",
     .row = "D2",
     .idea = "v11: a count is at most 25, so n log n is a table of 26",
     .source = "entropy/versions.c count_window table_row",
     .run = run_version,
     .code = &lab_entropy_table},
    {.name = "mixed",
     .parent = "table",
     .row = "D2",
     .idea = "v12: floats in the table, sums in double",
     .source = "entropy/versions.c count_window finish count_row",
     .run = run_version,
     .code = &lab_entropy_counted},
    {.name = "integral",
     .parent = "mixed",
     .row = "D2",
     .idea = "v13: 16 integral images; less counting, and 64 bytes of them for each element",
     .source = "entropy/versions.c integrate finish subtract_row",
     .run = run_version,
     .code = &lab_entropy_integral,
     .most = 2560},
    {.name = "sliding",
     .parent = "mixed",
     .idea = "one histogram slid along the row: 10 elements change instead of 25 counted anew",
     .source = "entropy/versions.c add_column finish slide_row",
     .run = run_version,
     .code = &lab_entropy_sliding},
    {.name = "engine",
     .parent = "sliding",
     .idea = "16 counters in one vector, looked up at once in a table of whole numbers",
     .source = "entropy/array.c lab_entropy_by_library",
     .run = run_engine},
};

static const int64_t default_sizes[] = {400, 1280, 2560, 5120, 0};

static const lab_published published[] = {{"logarithms", 400, 9.27},
                                          {"table", 400, 2.00},
                                          {"mixed", 400, 1.71},
                                          {"integral", 400, 7.09},
                                          {"logarithms", 2560, 130.6},
                                          {"table", 2560, 25.0},
                                          {"mixed", 2560, 18.5},
                                          {"integral", 2560, 98.2},
                                          {"logarithms", 10240, 1888},
                                          {"table", 10240, 316},
                                          {"mixed", 10240, 259},
                                          {"integral", 10240, 1148},
                                          {NULL, 0, 0}};

const lab_ladder lab_entropy_cpu = {
    .name = "entropy-cpu",
    .title = "Entropy of 5 x 5 windows, 16 levels, on a CPU",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "28 cores of the server of row D's authors",
    .unit = "elements",
    .size = "elements per side",
    .against = LAB_AGAINST_ENTROPY,
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .work = lab_elements,
    .traffic = lab_image_bytes,
    .ceiling = lab_image_copy_ceiling,
};

/* -------------------------------------------------------------------------------------- threads */

enum { STRONG, WEAK };

/* a: STRONG or WEAK; b: threads, which the library takes from the context. */
static tw_status run_threads(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const int32_t asked = b->ctx->threads;
    const int64_t rows = rung->a == WEAK ? b->n * rung->b : b->n; /* n for each thread */
    tw_status status = lab_entropy_array_hold(&b->array, b->ctx, rows, b->n, b->seed);
    if (status == TW_OK) {
        b->ctx->threads = rung->b;
        status = run_engine(b, rung, time);
        b->ctx->threads = asked;
    }
    return status;
}

#define THREADS(count, how, what)                                                             \
    {                                                                                         \
        .name = "threads-" #count, .idea = what, .run = run_threads, .a = (how), .b = (count) \
    }
#define STRONG_RUNG(count) THREADS(count, STRONG, "bands of rows dealt out to " #count " threads")
#define WEAK_RUNG(count) THREADS(count, WEAK, #count " threads, " #count " times the rows")

static const lab_rung strong_rungs[] = {STRONG_RUNG(1), STRONG_RUNG(2),  STRONG_RUNG(4),
                                        STRONG_RUNG(8), STRONG_RUNG(16), STRONG_RUNG(32),
                                        STRONG_RUNG(64)};
static const lab_rung weak_rungs[] = {WEAK_RUNG(1), WEAK_RUNG(2),  WEAK_RUNG(4),
                                      WEAK_RUNG(8), WEAK_RUNG(16), WEAK_RUNG(32)};

static const int64_t thread_sizes[] = {2560, 0};

#define SCALING                                                                \
    .sizes = thread_sizes, .open = open_bench, .spoil = spoil, .check = check, \
    .close = close_bench, .offers = lab_has_threads, .work = lab_elements,     \
    .traffic = lab_image_bytes, .against = LAB_AGAINST_ENTROPY

const lab_ladder lab_entropy_threads = {
    .source = "entropy/cpu.c run_threads",
    .name = "entropy-threads",
    .title = "Strong scaling of entropy over threads",
    .unit = "elements",
    .size = "elements per side",
    .rungs = strong_rungs,
    .count = LAB_COUNT(strong_rungs),
    .ceiling = lab_image_copy_ceiling,
    SCALING,
};

const lab_ladder lab_entropy_threads_weak = {
    .source = "entropy/cpu.c run_threads",
    .name = "entropy-threads-weak",
    .title = "Weak scaling of entropy: n x n elements for each thread",
    .unit = "elements per thread",
    .size = "elements per side for one thread",
    .rungs = weak_rungs,
    .count = LAB_COUNT(weak_rungs),
    .ceiling = lab_image_copy_ceiling_of_one,
    SCALING,
};

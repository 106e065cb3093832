/*
 * Times of maps on arrays that already lie in GPU memory, beside a copy on the device of as many
 * bytes in the same run; and how long a kernel takes to be ready, compiled and from the cache. One
 * line of JSON a case on stdout, a table on stderr; an argument is the number of cases to run, 0
 * for the start alone. Built and run by bench/gpu_map.sh.
 */
#include "base/clock.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "map/gpu/gpu.h"
#include "map/language/specialise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 30
#define IN_A_ROW 20

static tw_context *ctx;

typedef struct bench_case {
    const char *text;
    tw_type in, type, compute;
    int64_t rows, cols, repeat;
    int32_t inputs; /* that it reads: of x a b */
    int64_t gap;    /* elements between rows */
} bench_case;

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "gpu_map: %s\n", tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what));
}

static void make_variants(const bench_case *c, twi_variants *out)
{
    static const char *const names[] = {"x", "a", "b"};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    twi_map_setting setting = {.compute = c->compute,
                               .type = c->type,
                               .rows = c->rows,
                               .cols = c->cols,
                               .repeat = c->repeat};
    tw_expr *expr = NULL;
    opts.inputs = names;
    opts.input_count = 3;
    memset(setting.depends, TWI_ON_ROW | TWI_ON_COL, sizeof setting.depends);
    must(tw_expr_create(ctx, &expr, c->text, &opts));
    must(twi_variants_make(ctx, out, expr, &setting));
    tw_expr_destroy(expr);
}

typedef struct timing {
    float best;   /* milliseconds of one launch */
    float in_row; /* of one among many */
} timing;

/* The map, or with gpu NULL a copy of `bytes`. */
static void launch(twi_map_gpu *gpu, const twi_map_job *job, char *to, char *from, size_t bytes)
{
    if (gpu != NULL) {
        must(twi_map_gpu_queue(ctx, gpu, 0, job, NULL, NULL));
    } else {
        must_run(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, NULL), "copying");
    }
}

static timing measure(twi_map_gpu *gpu, const twi_map_job *job, char *to, char *from, size_t bytes)
{
    cudaEvent_t begin;
    cudaEvent_t end;
    timing t = {1e9F, 0};
    must_run(cudaEventCreate(&begin), "an event");
    must_run(cudaEventCreate(&end), "an event");
    for (int i = 0; i <= REPEATS + 3; i++) {
        int count = i < REPEATS + 3 ? 1 : IN_A_ROW;
        float ms = 0;
        must_run(cudaEventRecord(begin, NULL), "an event");
        for (int k = 0; k < count; k++) {
            launch(gpu, job, to, from, bytes);
        }
        must_run(cudaEventRecord(end, NULL), "an event");
        must_run(cudaEventSynchronize(end), "computing");
        must_run(cudaEventElapsedTime(&ms, begin, end), "an event");
        if (i >= 3 && count == 1) {
            t.best = ms < t.best ? ms : t.best;
        }
        t.in_row = ms / (float)count;
    }
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    return t;
}

static void fill(char *device, const bench_case *c, int64_t step)
{
    size_t count = (size_t)(c->rows * step);
    size_t size = tw_type_size(c->in);
    char *host = malloc(count * size);
    for (size_t i = 0; i < count; i++) {
        uint32_t random = (uint32_t)(i * 2654435761U) >> 8;
        double value = 1 + random * (254.0 / 16777216);
        switch (c->in) {
        case TW_U8:
            ((uint8_t *)host)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)host)[i] = (uint16_t)(value * 250);
            break;
        case TW_F32:
            ((float *)host)[i] = (float)value;
            break;
        default:
            ((double *)host)[i] = value;
            break;
        }
    }
    must_run(cudaMemcpy(device, host, count * size, cudaMemcpyHostToDevice), "sending");
    free(host);
}

static void run_case(const bench_case *c)
{
    twi_variants variants;
    twi_map_gpu *gpu = NULL;
    char *memory[4] = {NULL, NULL, NULL, NULL};
    int64_t step = c->cols + c->gap;
    size_t elements = (size_t)(c->rows * c->cols);
    size_t in_bytes = tw_type_size(c->in);
    size_t out_bytes = tw_type_size(c->type);
    twi_map_job job = {.variants = &variants,
                       .input_count = 3,
                       .repeat = c->repeat,
                       .row_count = c->rows,
                       .cols = c->cols,
                       .out_stride = step};
    make_variants(c, &variants);
    for (int k = 0; k < 4; k++) {
        must_run(cudaMalloc((void **)&memory[k], (size_t)(c->rows * step) * 16), "memory");
        if (k > 0) {
            fill(memory[k], c, step);
            job.inputs[k - 1] = (twi_map_input){memory[k], c->in, step, 1};
        }
    }
    job.out = memory[0];
    must(twi_map_gpu_create(ctx, &gpu, &job));
    timing t = measure(gpu, &job, NULL, NULL, 0);
    double bytes = (double)elements * (double)(out_bytes + in_bytes * (size_t)c->inputs);
    timing copy = measure(NULL, NULL, memory[0], memory[1], (size_t)(bytes / 2));
    double share = copy.best / t.best;
    printf(
        "{\"map\": \"%s\", \"in\": \"%s\", \"out\": \"%s\", \"compute\": \"%s\", \"rows\": %lld, "
        "\"cols\": %lld, \"gap\": %lld, \"repeat\": %lld, \"us\": %.2f, \"us_in_a_row\": %.2f, "
        "\"bytes\": %.0f, \"copy_us\": %.2f, \"of_copy\": %.3f, \"copy_GB_s\": %.0f}\n",
        c->text, tw_type_name(c->in), tw_type_name(c->type), tw_type_name(c->compute),
        (long long)c->rows, (long long)c->cols, (long long)c->gap, (long long)c->repeat,
        1e3 * (double)t.best, 1e3 * (double)t.in_row, bytes, 1e3 * (double)copy.best, share,
        bytes / (double)copy.best / 1e6);
    fprintf(
        stderr,
        "%-48.48s %s-%s %5lldx%-5lld +%lld x%-3lld %8.1f us (%.1f in a row), %3.0f %% of copy\n",
        c->text, tw_type_name(c->in), tw_type_name(c->type), (long long)c->rows, (long long)c->cols,
        (long long)c->gap, (long long)c->repeat, 1e3 * (double)t.best, 1e3 * (double)t.in_row,
        100 * share);
    twi_map_gpu_destroy(gpu);
    for (int k = 0; k < 4; k++) {
        (void)cudaFree(memory[k]);
    }
    twi_variants_clear(&variants);
}

/* How long until the kernel can be launched, the device being ready. */
static void time_start(const bench_case *c)
{
    twi_variants variants;
    make_variants(c, &variants);
    twi_map_job job = {.variants = &variants,
                       .input_count = 3,
                       .repeat = c->repeat,
                       .row_count = c->rows,
                       .cols = c->cols};
    for (int k = 0; k < 3; k++) {
        job.inputs[k] = (twi_map_input){NULL, c->in, c->cols, 1};
    }
    twi_map_gpu *gpu = NULL;
    bool cached = false;
    double begin = twi_seconds();
    must(twi_map_gpu_create(ctx, &gpu, &job));
    must(twi_map_gpu_prepare(ctx, gpu, 0, &cached));
    double seconds = twi_seconds() - begin;
    printf("{\"start\": \"%s\", \"cached\": %s, \"seconds\": %.4f}\n", c->text,
           cached ? "true" : "false", seconds);
    fprintf(stderr, "ready %s in %.1f ms\n", cached ? "from the cache" : "compiled", 1e3 * seconds);
    twi_map_gpu_destroy(gpu);
    twi_variants_clear(&variants);
}

int main(int argc, char **argv)
{
    static const char example[] = "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)";
    static const bench_case cases[] = {
        {example, TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {example, TW_F32, TW_F32, TW_F32, 2048, 2048, 10, 1, 0},
        {example, TW_F32, TW_F32, TW_F32, 8191, 8191, 1, 1, 1},
        {example, TW_F32, TW_F32, TW_F32, 8191, 8191, 1, 1, 0},
        {example, TW_F64, TW_F64, TW_F64, 8192, 8192, 1, 1, 0},
        {"x*a+b", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 3, 0},
        {"x*a+b", TW_F64, TW_F64, TW_F64, 8192, 8192, 1, 3, 0},
        {"x*2+1", TW_F32, TW_F32, TW_F32, 8191, 8191, 1, 1, 0},
        {"x*a+b", TW_U8, TW_U8, TW_F32, 8192, 8192, 1, 3, 0},
        {"sqrt(x)", TW_U8, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {"col % 3 ? x : -x", TW_F32, TW_F32, TW_F32, 8192, 8190, 1, 1, 0},
        {"exp(x / 100)", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {"sin(x) * exp2(x / 50)", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {"tanh(x / 100)", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {"x ^ 1.5", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 1, 0},
        {"atan2(x, a)", TW_F32, TW_F32, TW_F32, 8192, 8192, 1, 2, 0},
    };
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX));
    must_run(cudaSetDevice(0), "the device");
    must_run(cudaFree(NULL), "the device");
    time_start(&cases[1]);
    const size_t most = sizeof cases / sizeof *cases;
    const size_t asked = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : most;
    for (size_t k = 0; k < most && k < asked; k++) {
        run_case(&cases[k]);
    }
    tw_context_destroy(ctx);
    return 0;
}

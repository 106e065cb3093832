/*
 * One call after the other on arrays in host memory, in a context whose GPU is running: entropy
 * and maps, small and large, on the GPU and on the CPU, from memory that is pinned and that is not.
 * What a call pays besides its work shows in the small ones, where the GPU begins to be faster in
 * the pairs. First the copies alone: the link, and all threads from pinned memory and to it. Each
 * result is compared with the CPU's before its time is printed; one line of JSON a case on stdout,
 * a table on stderr. Arguments: a label, "both" for the other device of each case and "auto". Built
 * and run by bench/gpu_calls.sh.
 */
#include "base/clock.h"
#include "base/context.h"
#include "gpu_timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 10240
#define REPEATS 15
#define PARITY "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)"

static const char *label = "";

/* Memory of the host, of each kind: bytes of arrays, and what results are compared with. */
typedef struct arena {
    void *in[2][3]; /* pageable, pinned */
    void *out[2];
    void *want;
} arena;

static void report(const char *what, const char *where, int64_t side, double *seconds, int count,
                   double first, int64_t wrong)
{
    qsort(seconds, (size_t)count, sizeof *seconds, by_time);
    printf("{\"label\": \"%s\", \"what\": \"%s\", \"where\": \"%s\", \"side\": %lld, "
           "\"median_ms\": %.4f, \"least_ms\": %.4f, \"first_ms\": %.3f, \"repeats\": %d, "
           "\"wrong\": %lld}\n",
           label, what, where, (long long)side, seconds[count / 2] * 1e3, seconds[0] * 1e3,
           first * 1e3, count, (long long)wrong);
    fflush(stdout);
    fprintf(stderr, "%-8s %-24s %-14s %6lld  %9.3f ms (least %.3f, first %.2f)%s\n", label, what,
            where, (long long)side, seconds[count / 2] * 1e3, seconds[0] * 1e3, first * 1e3,
            wrong == 0 ? "" : "  WRONG");
}

/* A map or, with expr NULL, entropy. */
typedef struct call {
    const char *name;
    tw_expr *expr;
    int32_t inputs;
    tw_type in;
    tw_map_options map;
    tw_entropy_options entropy;
} call;

static void run(const call *c, tw_matrix *out, const tw_matrix *in)
{
    must(c->expr != NULL ? tw_map(ctx, out, c->expr, in, c->inputs, &c->map)
                         : tw_entropy(ctx, out, in, &c->entropy));
}

/* Floats of maps may differ in their last bits between the devices. */
static int64_t compare(const call *c, const float *got, const float *want, int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        wrong += c->expr != NULL ? !(fabsf(got[i] - want[i]) <= 1e-5F * fabsf(want[i]) + 1e-5F)
                                 : got[i] != want[i];
    }
    return wrong;
}

static void time_call(const arena *a, const call *c, int64_t side, const char *device, int pinned)
{
    double seconds[REPEATS];
    double first = 0;
    char where[32];
    const int count = side > 4096 ? 9 : REPEATS;
    tw_matrix in[3];
    tw_matrix out = {a->out[pinned], side, side, side, TW_F32};
    for (int k = 0; k < 3; k++) {
        in[k] = (tw_matrix){a->in[pinned][k], side, side, side, c->in};
    }
    must(tw_set_device(ctx, device));
    for (int i = -3; i < count; i++) {
        memset(out.data, 0xA5, (size_t)(side * side) * sizeof(float));
        const double started = twi_seconds();
        run(c, &out, in);
        const double taken = twi_seconds() - started;
        first = i == -3 ? taken : first;
        seconds[i < 0 ? 0 : i] = taken;
    }
    snprintf(where, sizeof where, "%s%s", device, pinned ? ", pinned" : "");
    report(c->name, where, side, seconds, count, first, compare(c, out.data, a->want, side * side));
}

static void time_all(const arena *a, const call *c, const int64_t *sides, int count, bool both)
{
    for (int i = 0; i < count; i++) {
        const int64_t side = sides[i];
        tw_matrix in[3];
        tw_matrix want = {a->want, side, side, side, TW_F32};
        for (int k = 0; k < 3; k++) {
            in[k] = (tw_matrix){a->in[0][k], side, side, side, c->in};
        }
        must(tw_set_device(ctx, "cpu"));
        run(c, &want, in);
        time_call(a, c, side, TWI_GPU_PREFIX, 0);
        time_call(a, c, side, TWI_GPU_PREFIX, 1);
        if (both) {
            time_call(a, c, side, "cpu", 0);
            time_call(a, c, side, "auto", 0);
        }
    }
}

static void copy_by_threads(char *to, const char *from, int64_t bytes)
{
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < bytes; at += 65536) {
        memcpy(to + at, from + at, bytes - at < 65536 ? (size_t)(bytes - at) : 65536);
    }
}

/* 400 MB each way by the link, and in pieces of 8 MB between pinned and other memory. */
static void time_copies(const arena *a)
{
    const int64_t piece = 8 << 20;
    const size_t bytes = (size_t)50 * (8 << 20);
    void *device = NULL;
    double seconds[4][REPEATS];
    static const char *const names[] = {"400 MB up", "400 MB down", "400 MB out of pinned",
                                        "400 MB into pinned"};
    must_run(cudaMalloc(&device, bytes), "memory");
    for (int i = -1; i < 7; i++) {
        const int at = i < 0 ? 0 : i;
        double started = twi_seconds();
        must_run(cudaMemcpy(device, a->in[1][0], bytes, cudaMemcpyHostToDevice), "copying");
        seconds[0][at] = twi_seconds() - started;
        started = twi_seconds();
        must_run(cudaMemcpy(a->in[1][0], device, bytes, cudaMemcpyDeviceToHost), "copying");
        seconds[1][at] = twi_seconds() - started;
        started = twi_seconds();
        for (int64_t k = 0; k < 50; k++) {
            copy_by_threads((char *)a->out[0] + k * piece, (char *)a->in[1][k % 3], piece);
        }
        seconds[2][at] = twi_seconds() - started;
        started = twi_seconds();
        for (int64_t k = 0; k < 50; k++) {
            copy_by_threads((char *)a->in[1][k % 3], (char *)a->out[0] + k * piece, piece);
        }
        seconds[3][at] = twi_seconds() - started;
    }
    for (int k = 0; k < 4; k++) {
        report(names[k], "copy", 0, seconds[k], 7, seconds[k][0], 0);
    }
    must_run(cudaFree(device), "memory");
}

/* Levels below 16, for every case; of f32 the numbers from 10 to 265. */
static void fill(const arena *a, tw_type type)
{
    uint32_t seed = 7;
    for (size_t i = 0; i < (size_t)MOST * MOST; i++) {
        seed = seed * 1664525U + 1013904223U;
        for (int m = 0; m < 2; m++) {
            for (int k = 0; k < 3; k++) {
                if (type == TW_U8) {
                    ((uint8_t *)a->in[m][k])[i] = (uint8_t)(seed >> 28);
                } else {
                    ((float *)a->in[m][k])[i] = (float)(10 + (seed >> 24));
                }
            }
        }
    }
}

static void time_entropy(const arena *a, bool both)
{
    static const int64_t sides[] = {128, 256, 512, 1024, 2560, 5120, MOST};
    static const struct {
        const char *name;
        int32_t window, levels;
    } cases[] = {{"entropy 5 16", 5, 16}, {"entropy 9 256", 9, 256}, {"entropy 31 256", 31, 256}};
    fill(a, TW_U8);
    for (int k = 0; k < 3; k++) {
        call c = {.name = cases[k].name, .inputs = 1, .in = TW_U8};
        c.entropy = (tw_entropy_options)TW_ENTROPY_OPTIONS_INIT;
        c.entropy.window_rows = c.entropy.window_cols = cases[k].window;
        c.entropy.levels = cases[k].levels;
        time_all(a, &c, sides, 7, both);
    }
}

static void time_maps(const arena *a, bool both)
{
    static const int64_t sides[] = {256, 1024, 2048, 4096, 8192};
    static const struct {
        const char *name, *text;
        int64_t repeat;
        int32_t inputs;
    } cases[] = {{"map a*b+c", "a * b + c", 1, 3},
                 {"map parity", PARITY, 1, 1},
                 {"map parity x10", PARITY, 10, 1},
                 {"map parity x100", PARITY, 100, 1}};
    fill(a, TW_F32);
    for (int k = 0; k < 4; k++) {
        static const char *const one[] = {"x"};
        static const char *const three[] = {"a", "b", "c"};
        tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
        call c = {.name = cases[k].name, .inputs = cases[k].inputs, .in = TW_F32};
        opts.inputs = c.inputs == 1 ? one : three;
        opts.input_count = c.inputs;
        c.map = (tw_map_options)TW_MAP_OPTIONS_INIT;
        c.map.repeat = cases[k].repeat;
        must(tw_expr_create(ctx, &c.expr, cases[k].text, &opts));
        time_all(a, &c, sides, 5, both);
        tw_expr_destroy(c.expr);
    }
}

int main(int argc, char **argv)
{
    arena a = {0};
    const size_t bytes = (size_t)MOST * MOST * sizeof(float);
    const bool both = argc > 2 && strcmp(argv[2], "both") == 0;
    label = argc > 1 ? argv[1] : "";
    must(tw_context_create(&ctx));
    for (int k = 0; k < 3; k++) {
        a.in[0][k] = malloc(bytes);
        must_run(cudaMallocHost(&a.in[1][k], bytes), "memory");
    }
    a.out[0] = malloc(bytes);
    a.want = malloc(bytes);
    must_run(cudaMallocHost(&a.out[1], bytes), "memory");
    time_copies(&a);
    time_entropy(&a, both);
    time_maps(&a, both);
    tw_context_destroy(ctx);
    return 0;
}

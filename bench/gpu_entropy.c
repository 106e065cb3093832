/*
 * Times of entropy on a GPU: arrays that already lie in GPU memory, and host to host. Each result
 * is compared with the CPU engine, bit by bit, before its time is printed. One line of JSON a case
 * on stdout, a table on stderr. Built and run by bench/gpu_entropy.sh.
 */
#include "base/clock.h"
#include "base/context.h"
#include "gpu_timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 10240
#define REPEATS 15

/* Arrays of one image on both sides. */
typedef struct arena {
    tw_matrix in, out, want; /* host; in and out pinned */
    tw_matrix device_in, device_out;
} arena;

static void report(const char *what, const char *kind, int64_t side, const tw_entropy_options *opts,
                   int64_t wrong, double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, by_time);
    printf("{\"what\": \"%s\", \"image\": \"%s\", \"side\": %lld, \"window\": %d, \"radius\": %d, "
           "\"levels\": %d, "
           "\"median_ms\": %.4f, \"least_ms\": %.4f, \"most_ms\": %.4f, \"repeats\": %d, "
           "\"wrong\": %lld}\n",
           what, kind, (long long)side, opts->window_rows, opts->radius, opts->levels,
           seconds[count / 2] * 1e3, seconds[0] * 1e3, seconds[count - 1] * 1e3, count,
           (long long)wrong);
    fflush(stdout);
    fprintf(stderr,
            "%-28s %-8s %5lld %2dx%-2d %3d levels  %8.3f ms (least %.3f)  %.1f Gpx/s  wrong %lld\n",
            what, kind, (long long)side, opts->window_cols, opts->window_rows, opts->levels,
            seconds[count / 2] * 1e3, seconds[0] * 1e3,
            (double)side * (double)side / seconds[count / 2] * 1e-9, (long long)wrong);
}

static int64_t compare(const tw_matrix *got, const tw_matrix *want)
{
    int64_t wrong = 0;
    const uint32_t *a = got->data;
    const uint32_t *b = want->data;
    for (int64_t i = 0; i < got->rows * got->cols; i++) {
        wrong += a[i] != b[i];
    }
    return wrong;
}

static void time_resident(arena *a, const char *kind, const tw_entropy_options *opts)
{
    double seconds[REPEATS];
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    const tw_shape shape = {a->in.rows, a->in.cols, a->in.type};
    tw_entropy_plan *plan = NULL;
    cudaEvent_t begin, end;
    const size_t bytes = (size_t)(a->out.rows * a->out.cols) * sizeof(float);
    must_run(cudaEventCreate(&begin), "event");
    must_run(cudaEventCreate(&end), "event");
    must(tw_entropy_plan_create(ctx, &plan, &shape, opts));
    must(tw_entropy_plan_device_workspace(ctx, plan, &device.workspace_bytes, &a->device_out,
                                          &a->device_in));
    must_run(cudaMalloc(&device.workspace, device.workspace_bytes + 1), "workspace");
    must_run(cudaMemset(a->device_out.data, 0xA5, bytes), "poison");
    for (int i = -2; i < REPEATS; i++) {
        float ms;
        must_run(cudaEventRecord(begin, NULL), "event");
        must(tw_entropy_plan_apply_device(ctx, plan, &a->device_out, &a->device_in, &device));
        must_run(cudaEventRecord(end, NULL), "event");
        must_run(cudaEventSynchronize(end), "waiting");
        must_run(cudaEventElapsedTime(&ms, begin, end), "event");
        seconds[i < 0 ? 0 : i] = (double)ms * 1e-3;
    }
    must_run(cudaMemcpy(a->out.data, a->device_out.data, bytes, cudaMemcpyDeviceToHost), "copy");
    report("resident", kind, a->in.rows, opts, compare(&a->out, &a->want), seconds, REPEATS);
    tw_entropy_plan_destroy(plan);
    must_run(cudaFree(device.workspace), "free");
    must_run(cudaEventDestroy(begin), "event");
    must_run(cudaEventDestroy(end), "event");
}

static void time_host(arena *a, const char *what, const char *kind, const tw_entropy_options *opts,
                      tw_matrix *in, tw_matrix *out, const char *device)
{
    double seconds[REPEATS];
    must(tw_set_device(ctx, device));
    for (int i = -1; i < 7; i++) {
        memset(out->data, 0xA5, (size_t)(out->rows * out->cols) * sizeof(float));
        double started = twi_seconds();
        must(tw_entropy(ctx, out, in, opts));
        seconds[i < 0 ? 0 : i] = twi_seconds() - started;
    }
    report(what, kind, in->rows, opts, compare(out, &a->want), seconds, 7);
}

/* A square image of `side` on both sides. */
static void fill(arena *a, const char *kind, int64_t side, int32_t levels, tw_image **made)
{
    tw_image_options image = TW_IMAGE_OPTIONS_INIT;
    tw_matrix *all[] = {&a->in, &a->out, &a->want, &a->device_in, &a->device_out};
    image.levels = levels;
    image.kind = kind;
    image.rows = image.cols = side;
    for (int i = 0; i < 5; i++) {
        all[i]->rows = all[i]->cols = all[i]->stride = side;
    }
    must(tw_image_generate(ctx, made, &image));
    const size_t bytes = (size_t)(side * side);
    memcpy(a->in.data, tw_image_plane(*made, 0)->data, bytes);
    must_run(cudaMemcpy(a->device_in.data, a->in.data, bytes, cudaMemcpyHostToDevice), "copy");
}

/* A window of -r is a disk of radius r. */
static void bench_case(arena *a, const char *kind, int64_t side, int32_t window, int32_t levels,
                       bool host)
{
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_image *made = NULL;
    opts.levels = levels;
    opts.window_rows = opts.window_cols = window < 0 ? -2 * window + 1 : window;
    opts.radius = window < 0 ? -window : -1;
    fill(a, kind, side, levels, &made);
    must(tw_set_device(ctx, "cpu"));
    must(tw_entropy(ctx, &a->want, &a->in, &opts));
    time_resident(a, kind, &opts);
    if (host) {
        tw_matrix in = *tw_image_plane(made, 0);
        tw_matrix out = a->out;
        out.data = malloc((size_t)(side * side) * sizeof(float));
        if (out.data == NULL) {
            exit(1);
        }
        time_host(a, "host to host, pinned", kind, &opts, &a->in, &a->out, TWI_GPU_PREFIX);
        time_host(a, "host to host, pageable", kind, &opts, &in, &out, TWI_GPU_PREFIX);
        time_host(a, "CPU, pageable", kind, &opts, &in, &out, "cpu");
        time_host(a, "auto, pinned", kind, &opts, &a->in, &a->out, "auto");
        time_host(a, "auto, pageable", kind, &opts, &in, &out, "auto");
        free(out.data);
    }
    tw_image_destroy(made);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    arena a;
    void *block;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    const size_t count = (size_t)SIDE * SIDE;
    double started = twi_seconds();
    must_run(cudaMalloc(&block, count), "memory");
    fprintf(stderr, "first use of the GPU: %.3f s\n", twi_seconds() - started);
    a.device_in = (tw_matrix){block, SIDE, SIDE, SIDE, TW_U8};
    must_run(cudaMalloc(&block, count * sizeof(float)), "memory");
    a.device_out = (tw_matrix){block, SIDE, SIDE, SIDE, TW_F32};
    must_run(cudaMallocHost(&block, count), "memory");
    a.in = (tw_matrix){block, SIDE, SIDE, SIDE, TW_U8};
    must_run(cudaMallocHost(&block, count * sizeof(float)), "memory");
    a.out = (tw_matrix){block, SIDE, SIDE, SIDE, TW_F32};
    must_run(cudaMallocHost(&block, count * sizeof(float)), "memory");
    a.want = (tw_matrix){block, SIDE, SIDE, SIDE, TW_F32};
    if (strcmp(only, "resident") == 0) { /* for a profiler */
        bench_case(&a, "noise", SIDE, 5, 16, false);
        bench_case(&a, "natural", SIDE, 9, 256, false);
        bench_case(&a, "natural", SIDE, 31, 256, false);
        return 0;
    }
    bench_case(&a, "noise", SIDE, 5, 16, true);
    bench_case(&a, "natural", SIDE, 5, 16, false);
    bench_case(&a, "noise", SIDE, 9, 256, false);
    bench_case(&a, "natural", SIDE, 9, 256, true);
    bench_case(&a, "noise", SIDE, 31, 256, false);
    bench_case(&a, "natural", SIDE, 31, 256, true);
    bench_case(&a, "natural", SIDE, -5, 256, false);
    for (int64_t side = 512; side <= 4096; side *= 2) {
        bench_case(&a, "natural", side, 5, 16, true);
        bench_case(&a, "natural", side, 31, 256, true);
    }
    tw_context_destroy(ctx);
    return 0;
}

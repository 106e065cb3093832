/*
 * A matrix that already lies in GPU memory is solved there, on a stream of the caller's: the four
 * towns of the first example. Nothing is copied but what this program copies, and nothing waits but
 * the last line. Built where the library computes by CUDA; without a card it says so and
 * returns 77.
 *
 *     8-device
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <tilewright.h>

enum { TOWNS = 4, NONE = TW_APSP_INF_I32 };

static const int32_t roads[TOWNS][TOWNS] = {
    {0, 4, NONE, 20}, {4, 0, 3, NONE}, {NONE, 3, 0, 5}, {20, NONE, 5, 0}}; /* km */

/* What lies on the device. */
typedef struct things {
    int32_t *matrix;
    cudaStream_t stream;
    tw_device_options device;
} things;

static tw_status solve(tw_context *ctx, things *t)
{
    tw_matrix matrix = {t->matrix, TOWNS, TOWNS, TOWNS, TW_I32};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.symmetric = 1; /* roads lead both ways: half of the work */
    t->device.stream = t->stream;
    tw_status status = tw_apsp_device_workspace(ctx, &t->device.workspace_bytes, &matrix, &opts);
    if (status != TW_OK) {
        return status;
    }
    if (cudaMalloc(&t->device.workspace, t->device.workspace_bytes + 1) != cudaSuccess) {
        return TW_ERR_MEMORY;
    }
    return tw_apsp_device(ctx, &matrix, &opts, &t->device);
}

int main(void)
{
    things t = {.device = TW_DEVICE_OPTIONS_INIT};
    int32_t km[TOWNS][TOWNS];
    tw_context *ctx = NULL;
    int cards = 0;
    if (cudaGetDeviceCount(&cards) != cudaSuccess || cards == 0) {
        puts("skipped: there is no CUDA device");
        return 77;
    }
    int ok =
        tw_context_create(&ctx) == TW_OK && cudaStreamCreate(&t.stream) == cudaSuccess &&
        cudaMalloc((void **)&t.matrix, sizeof roads) == cudaSuccess &&
        cudaMemcpyAsync(t.matrix, roads, sizeof roads, cudaMemcpyHostToDevice, t.stream) ==
            cudaSuccess &&
        solve(ctx, &t) == TW_OK &&
        cudaMemcpyAsync(km, t.matrix, sizeof km, cudaMemcpyDeviceToHost, t.stream) == cudaSuccess &&
        cudaStreamSynchronize(t.stream) == cudaSuccess;
    if (ok) {
        printf("from town 0 to town 3: %d km\n", km[0][3]);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "no memory");
    }
    cudaFree(t.device.workspace);
    cudaFree(t.matrix);
    if (t.stream != NULL) {
        cudaStreamDestroy(t.stream);
    }
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

/* See host.h. */
#include "ladders/apsp/host.h"

#include "ladders/devices.h"

#include "apsp/gpu/gpu.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <string.h>

#define SOURCES 4

void lab_complete_graph(tw_context *ctx, int32_t *weights, int64_t n, uint64_t seed)
{
    const int threads = twi_thread_count(ctx);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            uint64_t random = twi_random_at(seed, (uint64_t)(i * n + j));
            weights[i * n + j] = i == j ? 0 : 1 + (int32_t)twi_random_below(random, 1000);
        }
    }
}

/* Distances from `source` by a search over the whole matrix: n steps of n. */
static void search(const int32_t *weights, int64_t n, int64_t source, int64_t *distance, char *done)
{
    for (int64_t v = 0; v < n; v++) {
        distance[v] = v == source ? 0 : TW_APSP_INF_I32;
        done[v] = 0;
    }
    for (int64_t step = 0; step < n; step++) {
        int64_t nearest = -1;
        for (int64_t v = 0; v < n; v++) {
            if (!done[v] && (nearest < 0 || distance[v] < distance[nearest])) {
                nearest = v;
            }
        }
        done[nearest] = 1;
        for (int64_t v = 0; v < n; v++) {
            int64_t sum = distance[nearest] + weights[nearest * n + v];
            distance[v] = sum < distance[v] ? sum : distance[v];
        }
    }
}

static bool row_is(const int32_t *row, const int64_t *distance, int64_t n)
{
    for (int64_t v = 0; v < n; v++) {
        if (row[v] != distance[v]) {
            return false;
        }
    }
    return true;
}

tw_status lab_check_closure(tw_context *ctx, const int32_t *weights, const int32_t *closure,
                            int64_t n)
{
    int64_t *distance = NULL;
    char *done = NULL;
    tw_status status = twi_alloc(ctx, &distance, (uint64_t)n, 8, "a row");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &done, (uint64_t)n, 1, "a row");
    }
    for (uint64_t i = 0; status == TW_OK && i < SOURCES; i++) {
        int64_t source = (int64_t)twi_random_below(twi_random_at(5, i), (uint64_t)n);
        search(weights, n, source, distance, done);
        if (!row_is(closure + source * n, distance, n)) {
            status =
                tw_fail(ctx, TW_ERR_VERIFY, "the library's row %lld is wrong", (long long)source);
        }
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
    }
    twi_free(done);
    twi_free(distance);
    return status;
}

void lab_apsp_host_close(lab_apsp_host *host)
{
    twi_free(host->output);
    twi_free(host->right);
    twi_free(host->input);
    *host = (lab_apsp_host){0};
}

tw_status lab_apsp_host_open(lab_apsp_host *out, tw_context *ctx, int64_t n, uint64_t seed)
{
    uint64_t cells = (uint64_t)n * (uint64_t)n;
    double seconds = 0;
    *out = (lab_apsp_host){.ctx = ctx, .n = n};
    tw_status status = twi_alloc(ctx, &out->input, cells, 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        lab_complete_graph(ctx, out->input, n, seed);
        status = lab_apsp_host_solve(out, 1, false, &seconds);
    }
    if (status == TW_OK) {
        memcpy(out->right, out->output, cells * 4);
        status = lab_check_closure(ctx, out->input, out->right, n);
    }
    return status;
}

tw_status lab_apsp_host_solve(lab_apsp_host *host, int32_t count, bool share, double *seconds)
{
    twi_gpu_list gpus = lab_devices(count);
    twi_gpu_host matrix = {.data = host->output, .n = host->n, .ld = host->n, .type = TW_I32};
    tw_type used = TW_AUTO;
    memcpy(host->output, host->input, (size_t)(host->n * host->n) * 4);
    double begun = twi_seconds();
    uint64_t limit = 0;
    tw_status status = twi_gpu_allowance(host->ctx, &gpus, &limit);
    if (status == TW_OK) {
        twi_gpu_way way = share || count > 1 ? TWI_GPU_SEVERAL : TWI_GPU_STREAMED;
        status = twi_gpu_close(host->ctx, &gpus, way, limit, &matrix, false, &used);
    }
    *seconds = twi_seconds() - begun;
    return status;
}

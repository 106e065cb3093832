/*
 * The ladder of two GPUs (lab/ladders/apsp/multi.c) on a runtime of host
 * memory that writes down who copies what and where the matrix lies that a kernel is given: that a
 * rung is the experiment its row describes shows in these, not in its answer. Every call is done
 * when it returns; the order of things between the GPUs is the ladder's own, by its threads'
 * barriers.
 */
#include "harness.h"

#include "ladders/apsp/gpu_kernels.h"
#include "ladders/apsp/host.h"
#include "ladders/gpu_timing.h"
#include "ladders/ladders.h"

#include <pthread.h>
#include <string.h>

enum { GPUS = 2, SIDE = LAB_MULTI_SIDE, MOST_BLOCKS = 16 };

/* Memory that the runtime has given out. */
typedef struct block {
    char *data;
    size_t bytes;
    bool pinned;
} block;

/* What a GPU was asked to do. */
typedef struct record {
    pthread_t thread;                               /* that did it */
    int launches, foreign;                          /* and what another thread launched */
    int panels, rests, pinned_panels, pinned_rests; /* by where their matrix lies */
    size_t input, pivots; /* bytes copied to it: from ordinary memory, from pinned memory */
    size_t sent;          /* bytes to the other GPU */
} record;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static block blocks[MOST_BLOCKS];
static record gpus[GPUS];
static _Thread_local int current;

/* twi_gpu_count and twi_gpu_check, by other names than the library's own have. */
int32_t two_cards(void)
{
    return GPUS;
}

tw_status no_error(tw_context *ctx, int error, const char *call)
{
    return error == 0 ? TW_OK : tw_fail(ctx, TW_ERR_DEVICE, "%s: %d", call, error);
}

static const block *block_of(const void *data)
{
    const char *at = data;
    for (int i = 0; i < MOST_BLOCKS; i++) {
        const block *b = &blocks[i];
        if (b->data != NULL && at >= b->data && at < b->data + b->bytes) {
            return b;
        }
    }
    return NULL;
}

static record *begin_launch(void)
{
    record *gpu = &gpus[current];
    pthread_mutex_lock(&guard);
    if (gpu->launches++ == 0) {
        gpu->thread = pthread_self();
    }
    gpu->foreign += !pthread_equal(gpu->thread, pthread_self());
    return gpu;
}

/* ---------------------------------------------------------------------------------- the runtime */

static cudaError_t take(void **out, size_t bytes, bool pinned)
{
    pthread_mutex_lock(&guard);
    int i = 0;
    while (blocks[i].data != NULL) {
        i++;
        assert_true(i < MOST_BLOCKS);
    }
    blocks[i] = (block){malloc(bytes), bytes, pinned};
    assert_non_null(blocks[i].data);
    memset(blocks[i].data, 0xA5, bytes);
    *out = blocks[i].data;
    pthread_mutex_unlock(&guard);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return take(out, bytes, false);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    assert_int_equal(flags, cudaHostAllocMapped | cudaHostAllocPortable);
    return take(out, bytes, true);
}

cudaError_t cudaFree(void *data)
{
    for (int i = 0; i < MOST_BLOCKS; i++) {
        if (data != NULL && blocks[i].data == data) {
            free(data);
            blocks[i] = (block){0};
        }
    }
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *data)
{
    return cudaFree(data);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    memset(to, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    const block *source = block_of(from);
    pthread_mutex_lock(&guard);
    for (size_t i = 0; i < height; i++) {
        memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    }
    record *gpu = &gpus[current];
    if (kind == cudaMemcpyHostToDevice && source != NULL && source->pinned) {
        gpu->pivots += width * height;
    } else if (kind == cudaMemcpyHostToDevice) {
        gpu->input += width * height;
    }
    pthread_mutex_unlock(&guard);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy2D(to, bytes, from, bytes, bytes, 1, kind);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    (void)stream;
    assert_int_not_equal(to_device, from_device);
    pthread_mutex_lock(&guard);
    memcpy(to, from, bytes);
    gpus[from_device].sent += bytes;
    pthread_mutex_unlock(&guard);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    (void)flags, (void)priority;
    *out = NULL;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    (void)flags;
    *out = NULL;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    return cudaSuccess;
}

/* ---------------------------------------------------------------------------------- the kernels */

/* Rows and columns from and to these, by the depths of tile k. */
static void relax(int *d, int ld, int k, const int rows[2], const int cols[2])
{
    for (int p = k * SIDE; p < (k + 1) * SIDE; p++) {
        for (int i = rows[0]; i < rows[1]; i++) {
            for (int j = cols[0]; j < cols[1]; j++) {
                int64_t sum = (int64_t)d[(size_t)i * (size_t)ld + (size_t)p] +
                              d[(size_t)p * (size_t)ld + (size_t)j];
                int *at = &d[(size_t)i * (size_t)ld + (size_t)j];
                *at = sum < *at ? (int)sum : *at;
            }
        }
    }
}

int lab_pad(int *d, int ld, int side, int n)
{
    for (int i = 0; i < side; i++) {
        for (int j = i < n ? n : 0; j < side; j++) {
            d[(size_t)i * (size_t)ld + (size_t)j] = TW_APSP_INF_I32;
        }
    }
    return 0;
}

int lab_multi_close(int *d, int ld, int k, void *stream)
{
    const int own[2] = {k * SIDE, (k + 1) * SIDE};
    (void)stream;
    (void)begin_launch();
    relax(d, ld, k, own, own);
    pthread_mutex_unlock(&guard);
    return 0;
}

int lab_multi_panels(int *d, int ld, int k, const lab_part_of_rows *part, void *stream)
{
    const int own[2] = {k * SIDE, (k + 1) * SIDE};
    const int rows[2] = {part->first * SIDE, part->end * SIDE};
    const int cols[2] = {part->row_first * SIDE, part->row_end * SIDE};
    const block *where = block_of(d);
    record *gpu = begin_launch();
    (void)stream;
    gpu->panels++;
    gpu->pinned_panels += where != NULL && where->pinned;
    relax(d, ld, k, rows, own);
    relax(d, ld, k, own, cols);
    pthread_mutex_unlock(&guard);
    return 0;
}

int lab_multi_rest(int *d, int ld, int k, const lab_part_of_rows *part, void *stream)
{
    const int above[2] = {part->first * SIDE, part->end * SIDE}, all[2] = {0, ld};
    const block *where = block_of(d);
    record *gpu = begin_launch();
    (void)stream;
    gpu->rests++;
    gpu->pinned_rests += where != NULL && where->pinned;
    relax(d, ld, k, above, all);
    pthread_mutex_unlock(&guard);
    return 0;
}

const void *lab_multi_kernel(void)
{
    return NULL;
}

/* ------------------------------------------------------------------------- the ladder's problem */

tw_status lab_apsp_host_open(lab_apsp_host *out, tw_context *ctx, int64_t n, uint64_t seed)
{
    size_t cells = (size_t)(n * n);
    *out = (lab_apsp_host){ctx, n, malloc(cells * 4), malloc(cells * 4), malloc(cells * 4)};
    for (size_t i = 0; i < cells; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        out->input[i] = i % (size_t)(n + 1) == 0 ? 0 : (int32_t)(1 + (seed >> 40) % 1000);
    }
    memcpy(out->right, out->input, cells * 4);
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                int32_t sum = out->right[i * n + k] + out->right[k * n + j];
                int32_t *at = &out->right[i * n + j];
                *at = sum < *at ? sum : *at;
            }
        }
    }
    return TW_OK;
}

void lab_apsp_host_close(lab_apsp_host *host)
{
    free(host->input);
    free(host->right);
    free(host->output);
}

tw_status lab_apsp_host_solve(lab_apsp_host *host, int32_t count, bool share, double *seconds)
{
    (void)count, (void)share, (void)seconds;
    return tw_fail(host->ctx, TW_ERR_UNSUPPORTED, "the library is not in this test");
}

/* -------------------------------------------------------------------------------------- the rungs
 */

/* The rung on n vertices; what it did is in gpus[]. Its answer must be right. */
static void climb(const char *name, int64_t n)
{
    const lab_ladder *ladder = &lab_apsp_multi;
    const lab_rung *rung = NULL;
    void *opened = NULL;
    lab_time time = {0};
    tw_context *ctx = open_context();
    for (int32_t i = 0; i < ladder->count; i++) {
        rung = strcmp(ladder->rungs[i].name, name) == 0 ? &ladder->rungs[i] : rung;
    }
    assert_non_null(rung);
    memset(gpus, 0, sizeof gpus);
    assert_ok(ctx, ladder->open(ctx, n, 3, &opened));
    ladder->spoil(opened);
    assert_ok(ctx, rung->run(opened, rung, &time));
    assert_ok(ctx, ladder->check(ctx, opened, rung));
    ladder->close(opened);
    for (int i = 0; i < MOST_BLOCKS; i++) {
        assert_null(blocks[i].data);
    }
    close_context(ctx);
}

static const int64_t sizes[] = {1, 63, 65, 128, 200};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int64_t tiles_of(int64_t n)
{
    return (n + SIDE - 1) / SIDE;
}

/* Rows of n that the first GPU has, of two. */
static int64_t first_half(int64_t n)
{
    int64_t rows = (tiles_of(n) + 1) / 2 * SIDE;
    return rows < n ? rows : n;
}

/* Rounds in which the other GPU owns the pivot rows, as bytes of rows. */
static size_t received(int64_t n, int gpu)
{
    int64_t first = (tiles_of(n) + 1) / 2, rounds = gpu == 0 ? tiles_of(n) - first : first;
    return (size_t)(rounds * SIDE * tiles_of(n) * SIDE * 4);
}

static void a_gpu_uploads_its_half_and_no_more(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        int64_t n = sizes[s], first = first_half(n);
        for (int peer = 0; peer < 2; peer++) {
            climb(peer ? "peer" : "staged", n);
            assert_int_equal(gpus[0].input, first * n * 4);
            assert_int_equal(gpus[1].input, (n - first) * n * 4);
            for (int g = 0; g < GPUS; g++) {
                assert_int_equal(gpus[g].pivots, peer ? 0 : received(n, g));
                assert_int_equal(gpus[g].sent, peer ? received(n, 1 - g) : 0);
                assert_int_equal(gpus[g].pinned_panels + gpus[g].pinned_rests, 0);
            }
        }
        climb("single", n);
        assert_int_equal(gpus[0].input, n * n * 4);
        assert_int_equal(gpus[0].pivots + gpus[1].pivots + gpus[1].input, 0);
        assert_int_equal(gpus[1].launches, 0);
    }
}

static void every_gpu_has_a_thread_of_its_own(void **state)
{
    (void)state;
    static const char *const names[] = {"staged", "peer", "zero-copy"};
    for (int i = 0; i < 3; i++) {
        climb(names[i], 200);
        assert_true(gpus[0].launches > 0 && gpus[1].launches > 0);
        assert_int_equal(gpus[0].foreign + gpus[1].foreign, 0);
        assert_false(pthread_equal(gpus[0].thread, gpus[1].thread));
    }
}

static void zero_copy_leaves_every_tile_of_both_phases_in_host_memory(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        int64_t n = sizes[s];
        climb("zero-copy", n);
        for (int g = 0; g < GPUS; g++) {
            assert_int_equal(gpus[g].panels, tiles_of(n));
            assert_int_equal(gpus[g].rests, tiles_of(n));
            assert_int_equal(gpus[g].pinned_panels, gpus[g].panels);
            assert_int_equal(gpus[g].pinned_rests, gpus[g].rests);
            assert_int_equal(gpus[g].input + gpus[g].pivots + gpus[g].sent, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_uploads_its_half_and_no_more),
        cmocka_unit_test(every_gpu_has_a_thread_of_its_own),
        cmocka_unit_test(zero_copy_leaves_every_tile_of_both_phases_in_host_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

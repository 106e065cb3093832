/*
 * Ladder apsp-multi: all-pairs shortest paths on two GPUs, from host memory to host memory, with
 * the kernels of row A2 (block-64 of apsp-gpu). Where there is one card it stands for both: the
 * copies and the order of things are the same.
 *
 *   single     one GPU and no partner: what two are compared with
 *   staged     a host thread for each GPU, which uploads its half of the rows and updates it; the
 *              first two phases are done on both; each round the pivot rows go GPU -> host, the
 *              threads meet at a barrier, and they go host -> other GPU (row A3)
 *   peer       the pivot rows go from GPU to GPU by a peer copy (row B3)
 *   zero-copy  nothing is copied to a GPU: the matrix lies in pinned host memory, where the second
 *              and the third phase read and write it (row B3)
 *   engine     each GPU holds its share alone; panels travel while the product goes on
 *   one        the same on one GPU, which holds all of it: in 32 bits as well, to compare with
 *
 * A GPU has memory for the whole matrix, and in it its own half and the pivot rows of the rounds so
 * far; of the pivot's column it makes only the part in its half. Before a round the owner of the
 * pivot rows has updated them to the end of the round before, so one piece of 64 rows travels a
 * round. The buffer for it in host memory exists twice: a thread overwrites one of them only after
 * a barrier that the other has reached with its copy done.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

#define GPUS 2
enum { STAGED, PEER, ZERO_COPY };

#ifndef LAB_LISTED_ONLY
#include "ladders/apsp/gpu_kernels.h"
#include "ladders/apsp/host.h"
#include "ladders/devices.h"
#include "ladders/gpu_timing.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>
#include <string.h>

#define SIDE LAB_MULTI_SIDE

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    lab_apsp_host host;
    int side; /* n padded to tiles */
    int tiles;
    int device[GPUS];
    int *matrix[GPUS];
    cudaStream_t stream[GPUS];
    cudaEvent_t done[GPUS][2]; /* what the other GPU waits for, by the parity of the round */
    int *pivot[2];             /* SIDE rows in pinned memory, by the parity of the round */
    int *shared;               /* the matrix in pinned memory; NULL until a rung wants it */
} bench;

static void close_bench(void *given)
{
    bench *b = given;
    if (b == NULL) {
        return;
    }
    for (int g = 0; g < GPUS; g++) {
        (void)cudaSetDevice(b->device[g]);
        (void)cudaFree(b->matrix[g]);
        for (int i = 0; i < 2; i++) {
            if (b->done[g][i] != NULL) {
                (void)cudaEventDestroy(b->done[g][i]);
            }
        }
        if (b->stream[g] != NULL) {
            (void)cudaStreamDestroy(b->stream[g]);
        }
    }
    (void)cudaSetDevice(b->device[0]);
    (void)cudaFreeHost(b->shared);
    (void)cudaFreeHost(b->pivot[1]);
    (void)cudaFreeHost(b->pivot[0]);
    lab_apsp_host_close(&b->host);
    twi_free(b);
}

/* Let two cards reach each other's memory. Where they cannot, the driver takes a peer copy over the
 * host, which is what `peer` then shows. */
static tw_status open_links(bench *b)
{
    tw_status status = TW_OK;
    for (int g = 0; status == TW_OK && g < GPUS && b->device[0] != b->device[1]; g++) {
        int from = b->device[g], to = b->device[1 - g], can = 0;
        status = LAB_TRY(b->ctx, cudaDeviceCanAccessPeer(&can, from, to), "asking for a link");
        if (status == TW_OK && !can) {
            twi_log(b->ctx, "device %d cannot reach the memory of %d: peer copies go over the host",
                    from, to);
        }
        if (status == TW_OK && can) {
            status = LAB_TRY(b->ctx, cudaSetDevice(from), "choosing the device");
        }
        if (status == TW_OK && can) {
            cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
            if (error == cudaErrorPeerAccessAlreadyEnabled) {
                (void)cudaGetLastError();
                error = cudaSuccess;
            }
            status = LAB_TRY(b->ctx, error, "opening a link to another device");
        }
    }
    return status;
}

static tw_status take_device(bench *b, int g)
{
    uint64_t side = (uint64_t)b->side;
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(b->device[g]), "choosing the device");
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->matrix[g], side * side * 4),
                         "allocating the matrix");
    }
    if (status == TW_OK) {
        status =
            LAB_TRY(b->ctx, cudaStreamCreateWithPriority(&b->stream[g], cudaStreamNonBlocking, 0),
                    "making a stream");
    }
    for (int i = 0; status == TW_OK && i < 2; i++) {
        status = LAB_TRY(b->ctx, cudaEventCreateWithFlags(&b->done[g][i], cudaEventDisableTiming),
                         "making an event");
    }
    return status;
}

/* Memory of the host that every GPU reaches. */
static tw_status pin(bench *b, int **out, uint64_t words)
{
    return LAB_TRY(
        b->ctx, cudaHostAlloc((void **)out, words * 4, cudaHostAllocMapped | cudaHostAllocPortable),
        "pinning host memory");
}

static tw_status take_memory(bench *b)
{
    tw_status status = TW_OK;
    for (int g = 0; status == TW_OK && g < GPUS; g++) {
        status = take_device(b, g);
    }
    for (int i = 0; status == TW_OK && i < 2; i++) {
        status = pin(b, &b->pivot[i], (uint64_t)b->side * SIDE);
    }
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    twi_gpu_list gpus = lab_devices(GPUS);
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->tiles = (int)((n + SIDE - 1) / SIDE);
    b->side = b->tiles * SIDE;
    for (int g = 0; g < GPUS; g++) {
        b->device[g] = gpus.index[g];
    }
    status = open_links(b);
    if (status == TW_OK) {
        status = take_memory(b);
    }
    return status != TW_OK ? status : lab_apsp_host_open(&b->host, ctx, n, seed);
}

/* What lies on the cards: rows that a rung does not upload must not be those of the rung before. */
static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->host.output, b->n, 4);
    for (int g = 0; g < GPUS; g++) {
        (void)cudaSetDevice(b->device[g]);
        (void)cudaMemset(b->matrix[g], 0xC3, (size_t)b->side * (size_t)b->side * 4);
    }
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->host.output, b->host.right, b->n);
}

/* --------------------------------------------------------------------------- a GPU and its thread
 */

/* What the threads of a run share. */
typedef struct pair {
    bench *b;
    int how, gpus;
    pthread_barrier_t barrier;
    double begun, uploaded, computed, done;
} pair;

/* One of them. A thread that has failed does no more, but still comes to every barrier. */
typedef struct driver {
    pair *both;
    pthread_t thread;
    bool started;
    int g;
    lab_part_of_rows part;
    int error;        /* the runtime's */
    const char *what; /* was being done */
} driver;

static bool went(driver *d, cudaError_t error, const char *what)
{
    if (d->error == 0 && error != cudaSuccess) {
        d->error = (int)error;
        d->what = what;
    }
    return d->error == 0;
}

static bool launched(driver *d, int error)
{
    return went(d, (cudaError_t)error, "launching a round");
}

static void meet(const driver *d)
{
    if (d->both->gpus > 1) {
        (void)pthread_barrier_wait(&d->both->barrier);
    }
}

/* The rows that this GPU uploads and downloads, of n. */
static void own_rows(const driver *d, int64_t *first, int64_t *count)
{
    int64_t n = d->both->b->n, end = (int64_t)d->part.end * SIDE;
    *first = (int64_t)d->part.first * SIDE;
    end = end < n ? end : n;
    *count = *first < end ? end - *first : 0;
}

static void upload(driver *d)
{
    bench *b = d->both->b;
    size_t row = (size_t)b->n * 4, wide = (size_t)b->side * 4;
    int64_t first, count;
    own_rows(d, &first, &count);
    if (d->both->how == ZERO_COPY) { /* where it stays */
        for (int64_t i = 0; i < count; i++) {
            memcpy(b->shared + (first + i) * b->side, b->host.input + (first + i) * b->n, row);
        }
        return;
    }
    (void)went(d, (cudaError_t)lab_pad(b->matrix[d->g], b->side, b->side, (int)b->n),
               "padding the matrix");
    if (d->error == 0 && count > 0) {
        (void)went(d,
                   cudaMemcpy2D(b->matrix[d->g] + first * b->side, wide,
                                b->host.input + first * b->n, row, row, (size_t)count,
                                cudaMemcpyHostToDevice),
                   "copying the input");
    }
    /* The rounds are on a stream that does not wait for this one. */
    (void)went(d, cudaStreamSynchronize(0), "copying the input");
}

static void download(driver *d)
{
    bench *b = d->both->b;
    size_t row = (size_t)b->n * 4, wide = (size_t)b->side * 4;
    int64_t first, count;
    own_rows(d, &first, &count);
    if (d->both->how == ZERO_COPY) {
        for (int64_t i = 0; i < count; i++) {
            memcpy(b->host.output + (first + i) * b->n, b->shared + (first + i) * b->side, row);
        }
    } else if (d->error == 0 && count > 0) {
        (void)went(d,
                   cudaMemcpy2D(b->host.output + first * b->n, row,
                                b->matrix[d->g] + first * b->side, wide, row, (size_t)count,
                                cudaMemcpyDeviceToHost),
                   "copying the result");
    }
}

/* ------------------------------------------------------------------------------- the pivot rows */

/* Over the host, whose threads meet in between. */
static void stage_pivot(driver *d, int k, bool owner)
{
    bench *b = d->both->b;
    size_t bytes = (size_t)SIDE * (size_t)b->side * 4;
    int *rows = b->matrix[d->g] + (size_t)k * SIDE * (size_t)b->side, *pinned = b->pivot[k % 2];
    cudaStream_t stream = b->stream[d->g];
    if (owner && d->error == 0) {
        (void)went(d, cudaMemcpyAsync(pinned, rows, bytes, cudaMemcpyDeviceToHost, stream),
                   "copying pivot rows to the host");
        (void)went(d, cudaStreamSynchronize(stream), "copying pivot rows to the host");
    }
    meet(d);
    if (!owner && d->error == 0) {
        (void)went(d, cudaMemcpyAsync(rows, pinned, bytes, cudaMemcpyHostToDevice, stream),
                   "copying pivot rows from the host");
        (void)went(d, cudaStreamSynchronize(stream), "copying pivot rows from the host");
    }
}

/* The other GPU waits for what is on this one's stream, once both threads have been here. */
static void leave_mark(driver *d, int k)
{
    bench *b = d->both->b;
    if (d->error == 0) {
        (void)went(d, cudaEventRecord(b->done[d->g][k % 2], b->stream[d->g]), "an event");
    }
}

static void await_other(driver *d, int k)
{
    bench *b = d->both->b;
    if (d->error == 0) {
        (void)went(d, cudaStreamWaitEvent(b->stream[d->g], b->done[1 - d->g][k % 2], 0),
                   "an event");
    }
}

/* From GPU to GPU. The rows lie beyond the other's half, where it writes nothing before. */
static void send_pivot(driver *d, int k, bool owner)
{
    bench *b = d->both->b;
    int other = 1 - d->g;
    size_t place = (size_t)k * SIDE * (size_t)b->side;
    if (owner && d->error == 0) {
        (void)went(d,
                   cudaMemcpyPeerAsync(b->matrix[other] + place, b->device[other],
                                       b->matrix[d->g] + place, b->device[d->g],
                                       (size_t)SIDE * (size_t)b->side * 4, b->stream[d->g]),
                   "a peer copy");
        leave_mark(d, k);
    }
    meet(d);
    if (!owner) {
        await_other(d, k);
    }
}

/* --------------------------------------------------------------------------------------- rounds */

/* Each GPU has its own memory, and does the first two phases for itself. */
static void round_apart(driver *d, int k, bool owner)
{
    bench *b = d->both->b;
    int *m = b->matrix[d->g];
    void *stream = b->stream[d->g];
    if (d->both->gpus > 1 && d->both->how == STAGED) {
        stage_pivot(d, k, owner);
    } else if (d->both->gpus > 1) {
        send_pivot(d, k, owner);
    }
    if (d->error == 0 && launched(d, lab_multi_close(m, b->side, k, stream)) &&
        launched(d, lab_multi_panels(m, b->side, k, &d->part, stream))) {
        (void)launched(d, lab_multi_rest(m, b->side, k, &d->part, stream));
    }
}

/* Both work on one matrix in host memory: the owner closes the pivot's tile, each makes the panels
 * in its half, and nobody begins the third phase before both are there. */
static void round_together(driver *d, int k, bool owner)
{
    bench *b = d->both->b;
    void *stream = b->stream[d->g];
    if (owner && d->error == 0 && launched(d, lab_multi_close(b->shared, b->side, k, stream))) {
        leave_mark(d, 0);
    }
    meet(d);
    if (!owner) {
        await_other(d, 0);
    }
    if (d->error == 0 && launched(d, lab_multi_panels(b->shared, b->side, k, &d->part, stream))) {
        leave_mark(d, 1);
    }
    meet(d);
    await_other(d, 1);
    if (d->error == 0) {
        (void)launched(d, lab_multi_rest(b->shared, b->side, k, &d->part, stream));
    }
    meet(d); /* the marks are free again */
}

static void *drive(void *given)
{
    driver *d = given;
    pair *both = d->both;
    bench *b = both->b;
    (void)went(d, cudaSetDevice(b->device[d->g]), "choosing the device");
    upload(d);
    meet(d);
    if (d->g == 0) {
        both->uploaded = twi_seconds();
    }
    for (int k = 0; k < b->tiles; k++) {
        bool owner = k >= d->part.first && k < d->part.end;
        (both->how == ZERO_COPY ? round_together : round_apart)(d, k, owner);
    }
    (void)went(d, cudaStreamSynchronize(b->stream[d->g]), "waiting for a device");
    meet(d);
    if (d->g == 0) {
        both->computed = twi_seconds();
    }
    download(d);
    return NULL;
}

/* The thread that calls is the first GPU's. */
static tw_status drive_all(pair *both)
{
    bench *b = both->b;
    int half = both->gpus > 1 ? (b->tiles + 1) / 2 : b->tiles;
    bool split = both->how == ZERO_COPY;
    driver drivers[GPUS] = {{.both = both}, {.both = both}};
    tw_status status = TW_OK;
    for (int g = 0; g < both->gpus; g++) {
        int first = g == 0 ? 0 : half, end = g == 0 ? half : b->tiles;
        drivers[g] = (driver){
            .both = both, .g = g, .part = {first, end, split ? first : 0, split ? end : b->tiles}};
    }
    both->begun = twi_seconds();
    if (both->gpus > 1) {
        drivers[1].started = pthread_create(&drivers[1].thread, NULL, drive, &drivers[1]) == 0;
        if (!drivers[1].started) {
            return tw_fail(b->ctx, TW_ERR_MEMORY, "no thread for the second GPU");
        }
    }
    (void)drive(&drivers[0]);
    if (drivers[1].started) {
        (void)pthread_join(drivers[1].thread, NULL);
    }
    both->done = twi_seconds();
    for (int g = 0; status == TW_OK && g < both->gpus; g++) {
        status = LAB_TRY(b->ctx, drivers[g].error, drivers[g].what);
    }
    return status;
}

/* The padding of the matrix in host memory, and the memory itself, before the clock runs. */
static tw_status prepare_shared(bench *b)
{
    uint64_t side = (uint64_t)b->side;
    tw_status status = b->shared == NULL ? pin(b, &b->shared, side * side) : TW_OK;
    for (uint64_t i = 0; status == TW_OK && i < side; i++) {
        for (uint64_t j = i < (uint64_t)b->n ? (uint64_t)b->n : 0; j < side; j++) {
            b->shared[i * side + j] = TW_APSP_INF_I32;
        }
    }
    return status;
}

/* a: how the pivot rows travel; b: GPUs. */
static tw_status run_halves(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    pair both = {.b = b, .how = rung->a, .gpus = rung->b};
    tw_status status = both.how == ZERO_COPY ? prepare_shared(b) : TW_OK;
    if (status != TW_OK) {
        return status;
    }
    if (pthread_barrier_init(&both.barrier, NULL, GPUS) != 0) {
        return tw_fail(b->ctx, TW_ERR_MEMORY, "no barrier for the threads of two GPUs");
    }
    status = drive_all(&both);
    (void)pthread_barrier_destroy(&both.barrier);
    time->upload = both.uploaded - both.begun;
    time->compute = both.computed - both.uploaded;
    time->download = both.done - both.computed;
    time->total = both.done - both.begun;
    return status;
}

/* a: GPUs. One alone holds a share as well; else the library would try 16 bits on it. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    return lab_apsp_host_solve(&b->host, rung->a, true, &time->total);
}

static const void *kernel_of(const lab_rung *rung)
{
    return rung->run == run_halves ? lab_multi_kernel() : NULL;
}

#endif /* LAB_LISTED_ONLY */

#define IN_HALVES "apsp/gpu_kernels.cu lab_multi_close lab_multi_panels lab_multi_rest"

static const lab_rung rungs[] = {
    {.name = "single",
     .row = "A2",
     .idea = "block-64 on one GPU: what two of them are compared with",
     .source = "apsp/multi.c upload round_apart drive " IN_HALVES,
     .most = 5000,
     .run = LAB_ON_GPU(run_halves),
     .a = STAGED,
     .b = 1},
    {.name = "staged",
     .parent = "single",
     .row = "A3",
     .idea = "a host thread and half of the rows each; pivot rows go over the host and a barrier",
     .source = "apsp/multi.c upload stage_pivot round_apart drive " IN_HALVES,
     .most = 5000,
     .run = LAB_ON_GPU(run_halves),
     .a = STAGED,
     .b = GPUS},
    {.name = "peer",
     .parent = "staged",
     .row = "B3",
     .idea = "pivot rows go from GPU to GPU; the host waits for no copy",
     .source = "apsp/multi.c upload send_pivot round_apart drive " IN_HALVES,
     .most = 5000,
     .run = LAB_ON_GPU(run_halves),
     .a = PEER,
     .b = GPUS},
    {.name = "zero-copy",
     .parent = "peer",
     .row = "B3",
     .idea = "every tile of phases 2 and 3 stays in pinned host memory; nothing is copied",
     .source = "apsp/multi.c upload round_together drive " IN_HALVES,
     .most = 5000,
     .run = LAB_ON_GPU(run_halves),
     .a = ZERO_COPY,
     .b = GPUS},
    {.name = "engine",
     .parent = "peer",
     .idea = "a share each and no more; panels travel while the product goes on: the library",
     .source = "apsp/multi.c run_engine",
     .most = 5000,
     .run = LAB_ON_GPU(run_engine),
     .a = GPUS},
    {.name = "one",
     .parent = "engine",
     .idea = "the same on one GPU, whose share is all of it, to compare with",
     .source = "apsp/multi.c run_engine",
     .most = 5000,
     .run = LAB_ON_GPU(run_engine),
     .a = 1},
};

static const int64_t default_sizes[] = {2000, 5000, 0};

/* The pairs of the weak scaling of rows A4 and B5: one GPU, and two with as much work each. Row B5
 * tells no times. */
static const lab_published published[] = {
    {"single", 11000, 0},     {"peer", 14000, 0},       {"single", 20000, 0}, {"peer", 25000, 0},
    {"single", 22973, 16400}, {"staged", 28979, 17500}, {NULL, 0, 0}};

const lab_ladder lab_apsp_multi = {
    .name = "apsp-multi",
    .title = "All-pairs shortest paths on two GPUs, host to host",
    .unit = "relaxations",
    .size = "vertices",
    .against = LAB_AGAINST_CLOSURE,
    .gpu = true,
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "one and two cards of the GTX 1080 class (row A4); row B5 gives no times",
    .open = LAB_ON_GPU(open_bench),
    .spoil = LAB_ON_GPU(spoil),
    .check = LAB_ON_GPU(check),
    .close = LAB_ON_GPU(close_bench),
    .kernel = LAB_ON_GPU(kernel_of),
    .work = lab_relaxations,
    .traffic = lab_matrix_bytes,
    .ceiling = lab_gpu_relaxation_ceiling,
};

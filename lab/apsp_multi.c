/*
 * Ladder apsp-multi: all-pairs shortest paths on two GPUs, from host memory to host memory. Where
 * there is one card it stands for both: the copies and the order of things are the same.
 *
 *   staged     each GPU holds the whole matrix and updates half of its rows; the first two phases
 *              are done on both; each round the pivot rows go GPU -> host -> other GPU (row A3)
 *   peer       the pivot rows go from GPU to GPU by a peer copy (row B3)
 *   zero-copy  the pivot rows lie in host memory, and the other GPU reads them there (row B3)
 *   engine     each GPU holds its share alone; panels travel while the product goes on
 *   one        the same on one GPU, which holds all of it: in 32 bits as well, to compare with
 *
 * The authors of row A3 drive each GPU by a host thread, and the threads meet at a barrier when the
 * pivot rows are in host memory. Here one thread drives both: it waits for the same copy and then
 * puts the round on either stream, without waiting for them, so that both compute at once as there;
 * what it adds is a launch after another's, some microseconds a round.
 *
 * Before a round the owner of the pivot rows has updated them to the end of the round before, so
 * one piece of 64 rows travels a round.
 */
#include "answers.h"
#include "apsp_gpu_kernels.h"
#include "apsp_host.h"
#include "devices.h"
#include "gpu_timing.h"
#include "ladders.h"

#include "base/clock.h"

#define GPUS 2
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
    cudaEvent_t moved[GPUS], behind[GPUS]; /* pivot rows are there; a round is done */
    int *pivot;                            /* SIDE rows, pinned and mapped */
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
        if (b->behind[g] != NULL) {
            (void)cudaEventDestroy(b->behind[g]);
        }
        if (b->moved[g] != NULL) {
            (void)cudaEventDestroy(b->moved[g]);
        }
        if (b->stream[g] != NULL) {
            (void)cudaStreamDestroy(b->stream[g]);
        }
    }
    (void)cudaSetDevice(b->device[0]);
    (void)cudaFreeHost(b->pivot);
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

static tw_status take_memory(bench *b)
{
    uint64_t side = (uint64_t)b->side;
    tw_status status = TW_OK;
    for (int g = 0; status == TW_OK && g < GPUS; g++) {
        status = LAB_TRY(b->ctx, cudaSetDevice(b->device[g]), "choosing the device");
        if (status == TW_OK) {
            status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->matrix[g], side * side * 4),
                             "allocating the matrix");
        }
        if (status == TW_OK) {
            status = LAB_TRY(b->ctx,
                             cudaStreamCreateWithPriority(&b->stream[g], cudaStreamNonBlocking, 0),
                             "making a stream");
        }
        if (status == TW_OK) {
            status = LAB_TRY(b->ctx, cudaEventCreateWithFlags(&b->moved[g], cudaEventDisableTiming),
                             "making an event");
        }
        if (status == TW_OK) {
            status =
                LAB_TRY(b->ctx, cudaEventCreateWithFlags(&b->behind[g], cudaEventDisableTiming),
                        "making an event");
        }
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx,
                         cudaHostAlloc((void **)&b->pivot, side * SIDE * 4,
                                       cudaHostAllocMapped | cudaHostAllocPortable),
                         "pinning host memory");
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

/* What lies on the cards needs no poison: every run begins with the input in its place. */
static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->host.output, b->n, 4);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->host.output, b->host.right, b->n);
}

/* ------------------------------------------------------------------------------- the pivot rows */

enum { STAGED, PEER, ZERO_COPY };

/* The rows of pivot k from their owner to the other GPU, after what is on its stream. */
static tw_status send_pivot(bench *b, int k, int owner, int how)
{
    int other = 1 - owner;
    size_t bytes = (size_t)SIDE * (size_t)b->side * 4;
    size_t place = (size_t)k * SIDE * (size_t)b->side;
    int *from = b->matrix[owner] + place, *to = b->matrix[other] + place;
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(b->device[other]), "choosing the device");
    if (status == TW_OK) { /* it still writes to these rows in the round before */
        status = LAB_TRY(b->ctx, cudaEventRecord(b->behind[other], b->stream[other]), "an event");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaSetDevice(b->device[owner]), "choosing the device");
    }
    if (status == TW_OK) {
        status =
            LAB_TRY(b->ctx, cudaStreamWaitEvent(b->stream[owner], b->behind[other], 0), "an event");
    }
    if (status == TW_OK && how == PEER) {
        status = LAB_TRY(b->ctx,
                         cudaMemcpyPeerAsync(to, b->device[other], from, b->device[owner], bytes,
                                             b->stream[owner]),
                         "a peer copy");
    } else if (status == TW_OK) {
        status = LAB_TRY(
            b->ctx,
            cudaMemcpyAsync(b->pivot, from, bytes, cudaMemcpyDeviceToHost, b->stream[owner]),
            "copying pivot rows to the host");
    }
    if (status == TW_OK && how == STAGED) { /* the barrier of the two host threads */
        status = LAB_TRY(b->ctx, cudaStreamSynchronize(b->stream[owner]), "waiting");
    } else if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaEventRecord(b->moved[owner], b->stream[owner]), "an event");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaSetDevice(b->device[other]), "choosing the device");
    }
    if (status == TW_OK && how != STAGED) {
        status =
            LAB_TRY(b->ctx, cudaStreamWaitEvent(b->stream[other], b->moved[owner], 0), "an event");
    }
    if (status == TW_OK && how == STAGED) {
        status = LAB_TRY(
            b->ctx, cudaMemcpyAsync(to, b->pivot, bytes, cudaMemcpyHostToDevice, b->stream[other]),
            "copying pivot rows from the host");
    } else if (status == TW_OK && how == ZERO_COPY) {
        status =
            LAB_TRY(b->ctx, lab_multi_fetch(to, b->pivot, (int64_t)(bytes / 4), b->stream[other]),
                    "reading pivot rows in host memory");
    }
    return status;
}

static tw_status move_matrix(bench *b, int g, bool up)
{
    size_t row = (size_t)b->n * 4, wide = (size_t)b->side * 4;
    int half = (b->tiles + 1) / 2 * SIDE;
    int64_t first = up || g == 0 ? 0 : half;
    int64_t end = up || g == 1 ? b->n : half;
    end = end < b->n ? end : b->n;
    int *card = b->matrix[g] + first * b->side;
    if (first >= end) {
        return TW_OK;
    }
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(b->device[g]), "choosing the device");
    if (status == TW_OK && up) {
        status = LAB_TRY(b->ctx, lab_pad(b->matrix[g], b->side, b->side, (int)b->n),
                         "padding the matrix");
    }
    if (status == TW_OK) {
        status = up ? LAB_TRY(b->ctx,
                              cudaMemcpy2D(card, wide, b->host.input, row, row, (size_t)b->n,
                                           cudaMemcpyHostToDevice),
                              "copying the input")
                    : LAB_TRY(b->ctx,
                              cudaMemcpy2D(b->host.output + first * b->n, row, card, wide, row,
                                           (size_t)(end - first), cudaMemcpyDeviceToHost),
                              "copying the result");
    }
    if (status == TW_OK && up) { /* the rounds are on streams that do not wait for this one */
        status = LAB_TRY(b->ctx, cudaStreamSynchronize(0), "copying the input");
    }
    return status;
}

static tw_status close_rounds(bench *b, int how)
{
    int half = (b->tiles + 1) / 2;
    tw_status status = TW_OK;
    for (int k = 0; status == TW_OK && k < b->tiles; k++) {
        status = send_pivot(b, k, k < half ? 0 : 1, how);
        for (int g = 0; status == TW_OK && g < GPUS; g++) {
            int first = g == 0 ? 0 : half, end = g == 0 ? half : b->tiles;
            status = LAB_TRY(b->ctx, cudaSetDevice(b->device[g]), "choosing the device");
            if (status == TW_OK && first < end) {
                status = LAB_TRY(
                    b->ctx, lab_multi_round(b->matrix[g], b->side, k, first, end, b->stream[g]),
                    "launching a round");
            }
        }
    }
    for (int g = 0; status == TW_OK && g < GPUS; g++) {
        status = LAB_TRY(b->ctx, cudaStreamSynchronize(b->stream[g]), "waiting for a device");
    }
    return status;
}

/* a: how the pivot rows travel. */
static tw_status run_halves(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    double begun = twi_seconds();
    tw_status status = TW_OK;
    for (int g = 0; status == TW_OK && g < GPUS; g++) {
        status = move_matrix(b, g, true);
    }
    double uploaded = twi_seconds();
    if (status == TW_OK) {
        status = close_rounds(b, rung->a);
    }
    double computed = twi_seconds();
    for (int g = 0; status == TW_OK && g < GPUS; g++) {
        status = move_matrix(b, g, false);
    }
    double done = twi_seconds();
    time->upload = uploaded - begun;
    time->compute = computed - uploaded;
    time->download = done - computed;
    time->total = done - begun;
    return status;
}

/* a: GPUs. One alone holds a share as well; else the library would try 16 bits on it. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    return lab_apsp_host_solve(&b->host, rung->a, true, &time->total);
}

static const lab_rung rungs[] = {
    {.name = "staged",
     .row = "A3",
     .idea = "half of the rows each; pivot rows go over the host, which waits",
     .run = run_halves,
     .a = STAGED},
    {.name = "peer",
     .parent = "staged",
     .row = "B3",
     .idea = "pivot rows go from GPU to GPU; nobody waits on the host",
     .run = run_halves,
     .a = PEER},
    {.name = "zero-copy",
     .parent = "staged",
     .row = "B3",
     .idea = "the other GPU reads the pivot rows in host memory",
     .run = run_halves,
     .a = ZERO_COPY},
    {.name = "engine",
     .parent = "peer",
     .idea = "a share each and no more; panels travel while the product goes on: the library",
     .run = run_engine,
     .a = GPUS},
    {.name = "one",
     .parent = "engine",
     .idea = "the same on one GPU, whose share is all of it, to compare with",
     .run = run_engine,
     .a = 1},
};

static const int64_t default_sizes[] = {2000, 5000, 0};

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
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .work = lab_relaxations,
    .traffic = lab_matrix_bytes,
    .ceiling = lab_gpu_relaxation_ceiling,
};

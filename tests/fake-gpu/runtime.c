/*
 * A GPU runtime without a GPU. A stream is a queue of jobs; nothing runs when it is put there. When
 * the host waits for something, streams are picked at random, and the job at the head of one runs
 * if what it waits for has been reached, until what the host waits for has been. So every order
 * that the events allow can happen, and a missing event shows as a wrong result for some seed.
 * Device memory comes filled with garbage. A launch or a record on a stream of another device than
 * the current one is refused, as a real runtime would.
 */
#include "runtime.h"

#include "base/random.h"
#include "tilewright.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STREAMS = 64, ARGUMENTS = 256 };

typedef enum job_kind { JOB_RUN, JOB_RECORD, JOB_WAIT } job_kind;

typedef struct job {
    job_kind kind;
    void (*run)(const void *arguments);
    char arguments[ARGUMENTS];
    cudaEvent_t event;
    int64_t version; /* of the event */
    struct job *next;
} job;

struct fake_stream {
    int device;
    job *first;
    job *last;
};

struct fake_event {
    int64_t recorded; /* versions that were asked for */
    int64_t reached;
};

typedef struct block {
    void *data;
    size_t bytes;
    int device;
    struct block *next;
} block;

static struct fake_stream *streams[MOST_STREAMS];
static int current;
static int64_t live, calls, fail_call, cancel_call;
static tw_context *cancelled;
static uint64_t seed, drawn;
static size_t held[FAKE_DEVICES], peak[FAKE_DEVICES], uploaded;
static block *blocks;

void fake_begin(uint64_t new_seed, int64_t fail_at)
{
    seed = new_seed;
    drawn = 0;
    calls = 0;
    fail_call = fail_at;
    cancel_call = 0;
    uploaded = 0;
    memset(peak, 0, sizeof peak);
}

int64_t fake_live(void)
{
    return live;
}

int64_t fake_live_without(tw_context *ctx)
{
    tw_device_release(ctx);
    return live;
}

size_t fake_peak(int device)
{
    return peak[device];
}

size_t fake_uploaded(void)
{
    return uploaded;
}

int fake_holds(const void *data)
{
    for (const block *b = blocks; b != NULL; b = b->next) {
        const char *begin = b->data;
        if ((const char *)data >= begin && (const char *)data < begin + b->bytes) {
            return 1;
        }
    }
    return 0;
}

void fake_cancel_at(tw_context *ctx, int64_t call)
{
    cancelled = ctx;
    cancel_call = calls + call;
}

static cudaError_t counted(cudaError_t otherwise)
{
    if (calls + 1 == cancel_call) {
        tw_cancel(cancelled);
    }
    return ++calls == fail_call ? otherwise : cudaSuccess;
}

/* -------------------------------------------------------------------------------------- streams */

/* Whether the head of the stream could run, and did. */
static int step(struct fake_stream *s)
{
    job *j = s->first;
    if (j == NULL || (j->kind == JOB_WAIT && j->event->reached < j->version)) {
        return 0;
    }
    s->first = j->next;
    s->last = s->first == NULL ? NULL : s->last;
    if (j->kind == JOB_RUN) {
        j->run(j->arguments);
    } else if (j->kind == JOB_RECORD) {
        j->event->reached = j->version;
    }
    free(j);
    return 1;
}

/* A stream to look at first: a new one each time for even seeds, and now and then for odd ones, so
 * that streams get far ahead of others. */
static int draw_stream(void)
{
    static int kept;
    uint64_t random = twi_random_at(seed, drawn++);
    int count = 0;
    while (count < MOST_STREAMS && streams[count] != NULL) {
        count++;
    }
    if (seed % 2 == 0 || random % 32 == 0) {
        kept = (int)twi_random_below(twi_random_at(1, random), (uint64_t)count + 1);
    }
    return kept;
}

/* One job of a stream drawn at random; 0 if none can run. */
static int step_any(void)
{
    int at = draw_stream();
    for (int i = 0; i < MOST_STREAMS; i++) {
        struct fake_stream *s = streams[(at + i) % MOST_STREAMS];
        if (s != NULL && step(s)) {
            return 1;
        }
    }
    return 0;
}

static cudaError_t enqueue(cudaStream_t s, job_kind kind, cudaEvent_t event)
{
    job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        abort();
    }
    j->kind = kind;
    j->event = event;
    if (kind == JOB_RECORD) {
        j->version = ++event->recorded;
    } else if (kind == JOB_WAIT) {
        j->version = event->recorded;
    }
    if (s->last != NULL) {
        s->last->next = j;
    } else {
        s->first = j;
    }
    s->last = j;
    return cudaSuccess;
}

int fake_launch(void (*run)(const void *arguments), const void *arguments, size_t bytes,
                void *stream)
{
    cudaStream_t s = stream;
    cudaError_t error = counted(cudaErrorLaunchFailure);
    if (error != cudaSuccess) {
        return (int)error;
    }
    if (s->device != current || bytes > ARGUMENTS) {
        return (int)cudaErrorInvalidResourceHandle;
    }
    (void)enqueue(s, JOB_RUN, NULL);
    s->last->run = run;
    memcpy(s->last->arguments, arguments, bytes);
    return 0;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    (void)flags;
    (void)priority;
    cudaError_t error = counted(cudaErrorMemoryAllocation);
    for (int i = 0; i < MOST_STREAMS && error == cudaSuccess; i++) {
        if (streams[i] == NULL) {
            streams[i] = calloc(1, sizeof **out);
            streams[i]->device = current;
            *out = streams[i];
            live++;
            return cudaSuccess;
        }
    }
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    for (int i = 0; i < MOST_STREAMS; i++) {
        if (streams[i] == stream) {
            streams[i] = NULL;
        }
    }
    while (stream->first != NULL) {
        job *j = stream->first;
        stream->first = j->next;
        free(j);
    }
    free(stream);
    live--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    while (stream->first != NULL) {
        if (!step_any()) {
            return cudaErrorLaunchFailure; /* everybody waits: a deadlock */
        }
    }
    return counted(cudaErrorLaunchFailure);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    cudaError_t error = counted(cudaErrorInvalidResourceHandle);
    return error == cudaSuccess ? enqueue(stream, JOB_WAIT, event) : error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    (void)flags;
    cudaError_t error = counted(cudaErrorMemoryAllocation);
    if (error == cudaSuccess) {
        *out = calloc(1, sizeof **out);
        live++;
    }
    return error;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

/* Both must have been reached. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    *ms = 1;
    return begin->reached < begin->recorded || end->reached < end->recorded
               ? cudaErrorInvalidResourceHandle
               : counted(cudaErrorLaunchFailure);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    live--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = counted(cudaErrorInvalidResourceHandle);
    if (error == cudaSuccess && stream->device != current) {
        error = cudaErrorInvalidResourceHandle;
    }
    return error == cudaSuccess ? enqueue(stream, JOB_RECORD, event) : error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    while (event->reached < event->recorded) {
        if (!step_any()) {
            return cudaErrorLaunchFailure;
        }
    }
    return counted(cudaErrorLaunchFailure);
}

/* The device gets on by one job between two questions. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (event->reached < event->recorded) {
        return step_any() ? cudaErrorNotReady : cudaErrorLaunchFailure;
    }
    return cudaSuccess;
}

/* --------------------------------------------------------------------------------------- memory */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    block *b = NULL;
    if (counted(cudaErrorMemoryAllocation) != cudaSuccess) {
        return cudaErrorMemoryAllocation;
    }
    b = calloc(1, sizeof *b);
    *b = (block){aligned_alloc(256, (bytes + 255) / 256 * 256), bytes, current, blocks};
    memset(b->data, 0x13, bytes);
    blocks = b;
    held[current] += bytes;
    peak[current] = held[current] > peak[current] ? held[current] : peak[current];
    live++;
    *out = b->data;
    return cudaSuccess;
}

cudaError_t cudaFree(void *data)
{
    for (block **at = &blocks; *at != NULL; at = &(*at)->next) {
        block *b = *at;
        if (b->data == data) {
            held[b->device] -= b->bytes;
            *at = b->next;
            free(b->data);
            free(b);
            live--;
            return cudaSuccess;
        }
    }
    return data == NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

typedef struct copy_arguments {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
} copy_arguments;

static void run_copy(const void *arguments)
{
    const copy_arguments *c = arguments;
    for (size_t i = 0; i < c->height; i++) {
        memcpy(c->to + i * c->to_pitch, c->from + i * c->from_pitch, c->width);
    }
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    copy_arguments c = {to, from, to_pitch, from_pitch, width, height};
    uploaded += kind == cudaMemcpyHostToDevice ? width * height : 0;
    return (cudaError_t)fake_launch(run_copy, &c, sizeof c, stream);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    (void)to_device;
    (void)from_device;
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

typedef struct set_arguments {
    void *to;
    int value;
    size_t bytes;
} set_arguments;

static void run_set(const void *arguments)
{
    const set_arguments *s = arguments;
    memset(s->to, s->value, s->bytes);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    set_arguments s = {to, value, bytes};
    return (cudaError_t)fake_launch(run_set, &s, sizeof s, stream);
}

/* Counted with the memory of a device that no test looks at. */
cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    int before = current;
    current = FAKE_DEVICES - 1;
    cudaError_t error = cudaMalloc(out, bytes);
    if (error == cudaSuccess) {
        memset(*out, 0, bytes); /* other garbage than a device's: what looks like an answer */
    }
    current = before;
    return error;
}

cudaError_t cudaFreeHost(void *data)
{
    return cudaFree(data);
}

cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned flags)
{
    (void)data;
    (void)bytes;
    (void)flags;
    cudaError_t error = counted(cudaErrorMemoryAllocation);
    live += error == cudaSuccess;
    return error;
}

cudaError_t cudaHostUnregister(void *data)
{
    (void)data;
    live--;
    return cudaSuccess;
}

/* -------------------------------------------------------------------------------------- devices */

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
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

const char *cudaGetErrorString(cudaError_t error)
{
    (void)error;
    return "as planned";
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != 3 && peer != 3; /* one that has no link */
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    return peer == 1 ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    *lowest = 0;
    *highest = -1;
    return cudaSuccess;
}

/*
 * A GPU for kernels of src/, on the runtime without one (../../runtime.c): a launch is a job on a
 * stream, and runs its blocks one after the other. Every thread of a block is a fiber, which runs
 * until it waits for others: for all of its block, or for its group of lanes. Threads go on in
 * order or the other way round, by turns. It finds wrong answers, threads that wait in vain, and
 * accesses that a sanitizer would; it tells no times. emulate.py makes its sources.
 */
#ifndef FAKE_EMULATED_COMPAT_H
#define FAKE_EMULATED_COMPAT_H

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

extern "C" {
#include "runtime.h"
}

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define TWI_BOUNDS(...)
#define TWI_COMPUTE 0
#define TWI_WAVE 32

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

static inline int4 make_int4(int x, int y, int z, int w)
{
    return int4{x, y, z, w};
}

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

static inline void store_once(int4 *to, int4 value)
{
    *to = value;
}

static inline uint32_t atomicOr(uint32_t *at, uint32_t bits)
{
    const uint32_t before = *at;
    *at |= bits;
    return before;
}

static inline void publish16(void *to, int4 value)
{
    *(int4 *)to = value;
}

static inline int4 read16(const void *from)
{
    return *(const int4 *)from;
}

template <class T> static inline T min(T a, T b)
{
    return a < b ? a : b;
}

template <class T> static inline T max(T a, T b)
{
    return a > b ? a : b;
}

template <class T> static inline T atomicAdd(T *at, T value)
{
    const T before = *at;
    *at += value;
    return before;
}

template <class T> static inline T atomicMin(T *at, T value)
{
    const T before = *at;
    *at = min(before, value);
    return before;
}

template <class T> static inline T atomicMax(T *at, T value)
{
    const T before = *at;
    *at = max(before, value);
    return before;
}

template <class to, class from> static inline to as_bits(from value)
{
    to bits;
    static_assert(sizeof bits == sizeof value, "");
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
#define __float_as_int as_bits<int, float>
#define __int_as_float as_bits<float, int>
#define __longlong_as_double as_bits<double, long long>

static inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

static dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { MOST_THREADS = 1024, STACK = 1 << 16 };

struct fiber {
    jmp_buf at;
    bool begun, done;
    uint32_t posted; /* to those that it waits for */
    long waited;     /* times that it has waited for its group, or its block */
    char stack[STACK];
};
static fiber *fibers;
static jmp_buf scheduler;
static ucontext_t first_context;
static unsigned now, fiber_count;
static void (*body)(const void *);
static const void *body_data;

static void give_up(const char *why)
{
    printf("block %u, %u: %s\n", blockIdx.x, blockIdx.y, why);
    exit(1);
}

static void yield_turn(void)
{
    if (_setjmp(fibers[now].at) == 0) {
        _longjmp(scheduler, 1);
    }
}

/* Until all of the `lanes` threads around this one have come as far. */
static void wait_for(unsigned lanes)
{
    const unsigned from = now / lanes * lanes;
    const long mine = ++fibers[now].waited;
    for (bool all = false; !all;) {
        all = true;
        for (unsigned i = from; i < from + lanes && i < fiber_count; i++) {
            if (fibers[i].done && fibers[i].waited < mine) {
                give_up("a thread waits for one that has ended");
            }
            all = all && fibers[i].waited >= mine;
        }
        if (!all) {
            yield_turn();
        }
    }
}

static inline void __syncthreads(void)
{
    wait_for(fiber_count);
    wait_for(fiber_count);
}

static inline uint32_t group_votes(bool yes, int lanes)
{
    const unsigned from = now / (unsigned)lanes * (unsigned)lanes;
    uint32_t votes = 0;
    fibers[now].posted = yes;
    wait_for((unsigned)lanes);
    for (int i = 0; i < lanes; i++) {
        votes |= fibers[from + (unsigned)i].posted << i;
    }
    wait_for((unsigned)lanes);
    return votes;
}

static inline uint32_t group_sum(uint32_t value, int lanes)
{
    const unsigned from = now / (unsigned)lanes * (unsigned)lanes;
    uint32_t sum = 0;
    fibers[now].posted = value;
    wait_for((unsigned)lanes);
    for (int i = 0; i < lanes; i++) {
        sum += fibers[from + (unsigned)i].posted;
    }
    wait_for((unsigned)lanes);
    return sum;
}

static inline uint32_t from_neighbour(uint32_t value)
{
    fibers[now].posted = value;
    wait_for(2);
    const uint32_t other = fibers[now ^ 1].posted;
    wait_for(2);
    return other;
}

/* A fiber serves one block after another. */
static void serve(void)
{
    for (;;) {
        body(body_data);
        fibers[now].done = true;
        yield_turn();
    }
}

static void resume(fiber *f)
{
    if (_setjmp(scheduler) != 0) {
        return;
    }
    if (f->begun) {
        _longjmp(f->at, 1);
    }
    f->begun = true;
    static ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, serve, 0);
    swapcontext(&first_context, &context);
}

static void run_block(unsigned count)
{
    unsigned left = count;
    fiber_count = count;
    for (unsigned t = 0; t < count; t++) {
        fibers[t].done = false;
        fibers[t].waited = 0;
    }
    for (long turn = 0; left > 0; turn++) {
        for (unsigned i = 0; i < count; i++) {
            now = (turn + blockIdx.x) % 2 == 0 ? i : count - 1 - i;
            if (!fibers[now].done) {
                threadIdx = dim3(now % blockDim.x, now / blockDim.x);
                resume(&fibers[now]);
                left -= fibers[now].done;
            }
        }
    }
}

static int launch_error;

static inline int take_launch_error(void)
{
    const int error = launch_error;
    launch_error = 0;
    return error;
}
#define cudaGetLastError take_launch_error

template <class call> struct emulated_job {
    call kernel;
    dim3 grid, threads;
    static void run(const void *data)
    {
        const emulated_job *job = (const emulated_job *)data;
        if (fibers == NULL) {
            fibers = (fiber *)calloc(MOST_THREADS, sizeof *fibers);
        }
        gridDim = job->grid;
        blockDim = job->threads;
        body_data = &job->kernel;
        body = [](const void *kernel) { (*(const call *)kernel)(); };
        for (unsigned b = 0; b < job->grid.x * job->grid.y; b++) {
            blockIdx = dim3(b % job->grid.x, b / job->grid.x);
            run_block(job->threads.x * job->threads.y);
        }
    }
};

template <class kernel, class... arguments>
static void emulate(kernel k, dim3 grid, dim3 threads, size_t, cudaStream_t stream,
                    arguments... with)
{
    auto call = [=] { k(with...); };
    emulated_job<decltype(call)> job = {call, grid, threads};
    if (threads.x * threads.y > MOST_THREADS) {
        give_up("a block is too large");
    }
    const int error = fake_launch(emulated_job<decltype(call)>::run, &job, sizeof job, stream);
    launch_error = launch_error != 0 ? launch_error : error;
}

#endif

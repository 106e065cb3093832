/*
 * A GPU for kernels of lab/ on machines without one: every thread of a block is a fiber of its own,
 * which runs until the next barrier. Shared memory is poisoned before each block, and what lies
 * beyond the bytes that the launch asked for must stay as it was. It is here to find wrong answers,
 * barriers that not all threads reach and accesses out of bounds, not to tell times; what warps do
 * together it does not know, so kernels must not rely on that.
 *
 * emulate.py turns launches into calls of emulate().
 */
#ifndef LAB_EMULATED_COMPAT_H
#define LAB_EMULATED_COMPAT_H

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define TWI_COMPUTE 0
#define TWI_BOUNDS(...)

typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess = 0, cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};

struct alignas(16) int4 {
    int x, y, z, w;
};

static inline int4 make_int4(int x, int y, int z, int w)
{
    return int4{x, y, z, w};
}

static inline int min(int a, int b)
{
    return a < b ? a : b;
}

static inline cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

template <class kernel> static inline cudaError_t cudaFuncSetAttribute(kernel *, int, int)
{
    return cudaSuccess;
}

enum {
    MOST_THREADS = 1024,
    STACK = 1 << 16,
    SHARED_WORDS = 1 << 16,
    BEYOND = 256, /* words after those asked for that are watched */
    POISON = -559038737
};

dim3 threadIdx, blockIdx, blockDim, gridDim;
int tiles[SHARED_WORDS + BEYOND];

struct fiber {
    jmp_buf at;
    bool begun, done;
    char stack[STACK];
};
static fiber *fibers;
static jmp_buf scheduler;
static ucontext_t first;
static unsigned now;
static void (*body)(const void *);
static const void *body_data;

static void give_up(const char *why)
{
    printf("block %u, %u: %s\n", blockIdx.x, blockIdx.y, why);
    exit(1);
}

/* Back to the scheduler; returns when the thread's turn comes again. */
static void yield_turn(void)
{
    if (_setjmp(fibers[now].at) == 0) {
        _longjmp(scheduler, 1);
    }
}

static inline void __syncthreads(void)
{
    yield_turn();
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

/* Contexts begin a fiber; jumps, which ask nothing of the system, go between them. */
static void resume(fiber *f)
{
    if (_setjmp(scheduler) != 0) {
        return;
    }
    if (f->begun) {
        _longjmp(f->at, 1);
    }
    f->begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, serve, 0);
    swapcontext(&first, &context);
}

/* All threads in turn, in order or the other way round, as far as the next barrier; until all are
 * done. */
static void run_block(unsigned count)
{
    unsigned left = count;
    for (unsigned t = 0; t < count; t++) {
        fibers[t].done = false;
    }
    for (long turn = 0; left > 0; turn++) {
        for (unsigned i = 0; i < count; i++) {
            now = (turn + blockIdx.x) % 2 == 0 ? i : count - 1 - i;
            threadIdx = dim3(now % blockDim.x, now / blockDim.x);
            resume(&fibers[now]);
            left -= fibers[now].done;
        }
        if (left > 0 && left < count) {
            give_up("some threads wait at a barrier, others have ended");
        }
    }
}

template <class kernel>
static void emulate(kernel call, dim3 grid, dim3 threads, size_t bytes = 0, cudaStream_t = NULL)
{
    unsigned count = threads.x * threads.y;
    if (fibers == NULL) {
        fibers = (fiber *)calloc(MOST_THREADS, sizeof *fibers);
    }
    gridDim = grid;
    blockDim = threads;
    body_data = &call;
    body = [](const void *data) { (*(const kernel *)data)(); };
    if (count > MOST_THREADS || bytes > SHARED_WORDS * 4) {
        give_up("a block is too large");
    }
    for (unsigned b = 0; b < grid.x * grid.y; b++) {
        blockIdx = dim3(b % grid.x, b / grid.x);
        for (size_t i = 0; i < bytes / 4 + BEYOND; i++) {
            tiles[i] = POISON;
        }
        run_block(count);
        for (size_t i = bytes / 4; i < bytes / 4 + BEYOND; i++) {
            if (tiles[i] != POISON) {
                give_up("it writes to shared memory that it has not asked for");
            }
        }
    }
}

#endif

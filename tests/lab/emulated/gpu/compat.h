/*
 * A GPU for kernels of lab/ on machines without one: every thread of a block is a fiber of its own,
 * which runs until the next barrier. Shared memory is poisoned before each block, and what lies
 * beyond the bytes that the launch asked for must stay as it was. It is here to find wrong answers,
 * barriers that not all threads reach and accesses out of bounds, not to tell times; what warps do
 * together it does not know, so kernels must not rely on that. Of every kernel it keeps with how
 * many threads, how much shared memory and how many barriers it was launched.
 *
 * emulate.py turns launches into calls of emulate().
 */
#ifndef LAB_EMULATED_COMPAT_H
#define LAB_EMULATED_COMPAT_H

#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __constant__
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

/* No function: what a call returns is stored without its being seen (trace.cpp). */
#define make_int4(...) \
    int4               \
    {                  \
        __VA_ARGS__    \
    }

struct alignas(8) float2 {
    float x, y;
};

/* An array of a thread to which nothing points is not instrumented (trace.cpp). */
static inline void point_at(const void *)
{
}

static inline int min(int a, int b)
{
    return a < b ? a : b;
}

static inline int max(int a, int b)
{
    return a > b ? a : b;
}

static inline int __float2int_rn(float v)
{
    return (int)lrintf(v);
}

/* Where a thread is; and what all of them have asked for: logarithms of numbers that the compiler
 * does not know, and elements of textures. */
static struct emulated_place {
    dim3 threadIdx, blockIdx, blockDim, gridDim;
    long logarithms, fetches;
} place;
#define threadIdx place.threadIdx
#define blockIdx place.blockIdx
#define blockDim place.blockDim
#define gridDim place.gridDim
#define logarithms place.logarithms
#define fetches place.fetches

static __attribute__((always_inline)) inline double counted_log(double v)
{
    if (!__builtin_constant_p(v)) {
        logarithms++;
    }
    return __builtin_log(v);
}
#define log counted_log

/* A texture is what it was made of: a line, or rows of `n`. */
typedef uintptr_t cudaTextureObject_t;
struct emulated_texture {
    const float *data;
    int n;
};

template <class type> static inline type tex1Dfetch(cudaTextureObject_t texture, int i)
{
    fetches++;
    return ((const emulated_texture *)texture)->data[i];
}

template <class type> static inline type tex2D(cudaTextureObject_t texture, int x, int y)
{
    const emulated_texture *t = (const emulated_texture *)texture;
    fetches++;
    return t->data[y * (size_t)t->n + x];
}

template <class type>
static inline int cudaMemcpyToSymbol(type &symbol, const void *from, size_t bytes)
{
    memcpy(&symbol, from, bytes);
    return 0;
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

int tiles[SHARED_WORDS + BEYOND];

/* Accesses of the emulator are none of a kernel's: counts.cpp, which has them counted. */
#define EMULATOR __attribute__((no_sanitize_thread))

struct fiber {
    jmp_buf at;
    bool begun, done;
    char stack[STACK];
};
/* Not static: what is counts as shared memory (trace.cpp). */
static fiber *const fibers = (fiber *)calloc(MOST_THREADS, sizeof *fibers);
static jmp_buf scheduler;
static ucontext_t first;
static unsigned now;
static void (*body)(const void *);
static const void *body_data;

static EMULATOR void give_up(const char *why)
{
    printf("block %u, %u: %s\n", blockIdx.x, blockIdx.y, why);
    exit(1);
}

/* Back to the scheduler; returns when the thread's turn comes again. */
static EMULATOR void yield_turn(void)
{
    if (_setjmp(fibers[now].at) == 0) {
        _longjmp(scheduler, 1);
    }
}

static EMULATOR inline void __syncthreads(void)
{
    yield_turn();
}

/* A fiber serves one block after another. */
static EMULATOR void serve(void)
{
    for (;;) {
        body(body_data);
        fibers[now].done = true;
        yield_turn();
    }
}

/* Contexts begin a fiber; jumps, which ask nothing of the system, go between them. */
static EMULATOR void resume(fiber *f)
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
 * done. Returns how many barriers there were. */
static EMULATOR long run_block(unsigned count)
{
    unsigned left = count;
    long barriers = -1;
    for (unsigned t = 0; t < count; t++) {
        fibers[t].done = false;
    }
    for (long turn = 0; left > 0; turn++, barriers++) {
        for (unsigned i = 0; i < count; i++) {
            now = (turn + blockIdx.x) % 2 == 0 ? i : count - 1 - i;
            threadIdx.x = now % blockDim.x;
            threadIdx.y = now / blockDim.x;
            resume(&fibers[now]);
            left -= fibers[now].done;
        }
        if (left > 0 && left < count) {
            give_up("some threads wait at a barrier, others have ended");
        }
    }
    return barriers;
}

/* How a kernel was launched, and the maximum number of barriers of a block. */
struct launch {
    const void *kernel;
    dim3 threads;
    size_t bytes;
    long barriers;
    dim3 blocks;
};
static std::vector<launch> launches;
static const void *running; /* the kernel; NULL between launches */
static const void
    *last_wanted; /* the kernel after which nothing is launched any more; NULL: none */

/* Thrown after the first launch of last_wanted. */
struct enough {
};

static void keep_launch(const launch &now)
{
    for (launch &old : launches) {
        if (old.kernel == now.kernel) {
            old.barriers = now.barriers > old.barriers ? now.barriers : old.barriers;
            old.threads = now.threads, old.bytes = now.bytes, old.blocks = now.blocks;
            return;
        }
    }
    launches.push_back(now);
}

/* NULL: it was not launched. */
static inline const launch *launch_of(const void *kernel)
{
    for (const launch &one : launches) {
        if (one.kernel == kernel) {
            return &one;
        }
    }
    return NULL;
}

template <class kernel>
static EMULATOR void emulate(const void *launched, kernel call, dim3 grid, dim3 threads,
                             size_t bytes = 0, cudaStream_t = NULL)
{
    unsigned count = threads.x * threads.y;
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
        running = launched;
        const long barriers = run_block(count);
        running = NULL;
        keep_launch(launch{launched, threads, bytes, barriers, grid});
        for (size_t i = bytes / 4; i < bytes / 4 + BEYOND; i++) {
            if (tiles[i] != POISON) {
                give_up("it writes to shared memory that it has not asked for");
            }
        }
    }
    if (launched == last_wanted) {
        throw enough();
    }
}

#endif

/*
 * The product of two panel tiles onto a tile in registers. Both operands stream through shared
 * memory, DEPTH rows of them ("a chunk") at a time, STAGES chunks deep.
 *
 * Where there is a copy engine one thread feeds it, and the warps drift apart by up to a chunk: a
 * chunk is waited for when it is used, and its place is filled again when every warp has left it.
 * Elsewhere all threads copy, and every chunk has a barrier; where copies cannot run in the
 * background the next chunk waits in registers.
 */
#ifndef TWI_APSP_GPU_KERNELS_PRODUCT_CUH
#define TWI_APSP_GPU_KERNELS_PRODUCT_CUH

#include "apsp/gpu/kernels/tile.cuh"

template <int count>
static __device__ __forceinline__ void take(word (&out)[count], const word *from, int step_words)
{
#pragma unroll
    for (int g = 0; g < count / GROUP; g++) {
        group v = *(const group *)(from + g * step_words);
#pragma unroll
        for (int e = 0; e < GROUP; e++) {
            out[g * GROUP + e] = v.at[e];
        }
    }
}

/* Two depths of the product, all operands in registers. */
static __device__ __forceinline__ void multiply_pair(word (&c)[ROWS][WORDS], const word (&a0)[ROWS],
                                                     const word (&b0)[WORDS],
                                                     const word (&a1)[ROWS],
                                                     const word (&b1)[WORDS], int one)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            if (is_fused(i * WORDS + j, i)) {
                c[i][j] = step::fused(step::fused(c[i][j], a0[i], b0[j]), a1[i], b1[j]);
            } else {
                c[i][j] = step::pair(c[i][j], a0[i], b0[j], a1[i], b1[j], one);
            }
        }
    }
}

/* c = min(c, a (x) b) for one chunk of each operand in shared memory. */
static __device__ __forceinline__ void multiply_chunk(word (&c)[ROWS][WORDS], const word *a,
                                                      const word *b, int one)
{
    a += thread_row(0);
    b += thread_word(0);
#pragma unroll UNROLL
    for (int k = 0; k < DEPTH; k += 2) {
        word a0[ROWS], a1[ROWS], b0[WORDS], b1[WORDS];
        take(a0, a + k * SIDE, ROW_SPAN);
        take(b0, b + k * WIDTH, WORD_SPAN);
        take(a1, a + (k + 1) * SIDE, ROW_SPAN);
        take(b1, b + (k + 1) * WIDTH, WORD_SPAN);
        multiply_pair(c, a0, b0, a1, b1, one);
    }
}

extern __shared__ __align__(128) unsigned char shared_bytes[];

static __device__ __forceinline__ word *stage_of(int chunk)
{
    return (word *)shared_bytes + chunk % STAGES * STAGE_WORDS;
}

/* The tiles of the two panels that a product multiplies. */
struct operands {
    const word *a;
    const word *b;
};

#if TWI_COPY_ENGINE

struct pipeline {
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

/* Threads that say so when a chunk has been read: one for each warp. `compute-sanitizer racecheck`
 * does not see that they speak for the others too; for its sake TWI_EVERY_ARRIVAL lets all speak.
 */
#if defined(TWI_EVERY_ARRIVAL)
enum { SPEAKERS = THREADS };
#else
enum { SPEAKERS = WARPS };
#endif

static __device__ __forceinline__ void feed(pipeline *pipe, const operands &in, int chunk)
{
    word *stage = stage_of(chunk);
    uint64_t *full = &pipe->full[chunk % STAGES];
    barrier_arrive_and_expect(full, STAGE_WORDS * sizeof(word));
    copy_block(stage, in.a + chunk * A_WORDS, A_WORDS * sizeof(word), full);
    copy_block(stage + A_WORDS, in.b + chunk * B_WORDS, B_WORDS * sizeof(word), full);
}

/* Start the copies, which then run while C is being read. */
static __device__ __forceinline__ void product_begin(pipeline *pipe, const operands &in,
                                                     int chunks = CHUNKS)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&pipe->full[s], 1);
            barrier_init(&pipe->empty[s], SPEAKERS);
        }
        barrier_init_done();
        for (int chunk = 0; chunk < min((int)STAGES, chunks); chunk++) {
            feed(pipe, in, chunk);
        }
    }
}

/* c = min(c, a (x) b), over `chunks` chunks. Warps that are not `busy`, whose part of c nobody
 * needs, leave it as it is. */
static __device__ __forceinline__ void product_run(word (&c)[ROWS][WORDS], pipeline *pipe,
                                                   const operands &in, int one, int chunks = CHUNKS,
                                                   bool busy = true)
{
    __syncthreads();
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        /* The place that every warp should have left by now: two chunks back. */
        int left = chunk - 2;
        if (threadIdx.x == 0 && left >= 0 && left + STAGES < chunks) {
            barrier_wait(&pipe->empty[left % STAGES], left / STAGES & 1);
            feed(pipe, in, left + STAGES);
        }
        barrier_wait(&pipe->full[chunk % STAGES], chunk / STAGES & 1);
        if (busy) {
            multiply_chunk(c, stage_of(chunk), stage_of(chunk) + A_WORDS, one);
        }
        sync_wave();
        if (threadIdx.x % (THREADS / SPEAKERS) == 0) {
            barrier_arrive(&pipe->empty[chunk % STAGES]);
        }
    }
}

#else

struct pipeline {
};

/* What a thread brings of a chunk: whole groups of A, then of B. */
enum { A_GROUPS = A_WORDS / (THREADS * GROUP), B_GROUPS = B_WORDS / (THREADS * GROUP) };

#if TWI_BACKGROUND_COPY

struct piece {
};

static __device__ __forceinline__ void fetch(piece &, const operands &in, int chunk)
{
    word *stage = stage_of(chunk) + threadIdx.x * GROUP;
#pragma unroll
    for (int g = 0; g < A_GROUPS; g++) {
        int at = g * THREADS * GROUP;
        copy16(stage + at, in.a + chunk * A_WORDS + threadIdx.x * GROUP + at);
    }
#pragma unroll
    for (int g = 0; g < B_GROUPS; g++) {
        int at = g * THREADS * GROUP;
        copy16(stage + A_WORDS + at, in.b + chunk * B_WORDS + threadIdx.x * GROUP + at);
    }
}

static __device__ __forceinline__ void put(const piece &, int)
{
}

#else

struct piece { /* in registers while the chunk before it is being multiplied */
    int4 a[A_GROUPS];
    int4 b[B_GROUPS];
};

static __device__ __forceinline__ void fetch(piece &p, const operands &in, int chunk)
{
#pragma unroll
    for (int g = 0; g < A_GROUPS; g++) {
        p.a[g] = *(const int4 *)(in.a + chunk * A_WORDS + (g * THREADS + threadIdx.x) * GROUP);
    }
#pragma unroll
    for (int g = 0; g < B_GROUPS; g++) {
        p.b[g] = *(const int4 *)(in.b + chunk * B_WORDS + (g * THREADS + threadIdx.x) * GROUP);
    }
}

static __device__ __forceinline__ void put(const piece &p, int chunk)
{
    word *stage = stage_of(chunk);
#pragma unroll
    for (int g = 0; g < A_GROUPS; g++) {
        *(int4 *)(stage + (g * THREADS + threadIdx.x) * GROUP) = p.a[g];
    }
#pragma unroll
    for (int g = 0; g < B_GROUPS; g++) {
        *(int4 *)(stage + A_WORDS + (g * THREADS + threadIdx.x) * GROUP) = p.b[g];
    }
}

#endif

static __device__ __forceinline__ void product_begin(pipeline *, const operands &in, int = CHUNKS)
{
    piece p;
    fetch(p, in, 0);
    put(p, 0);
}

static __device__ __forceinline__ void product_run(word (&c)[ROWS][WORDS], pipeline *,
                                                   const operands &in, int one, int chunks = CHUNKS,
                                                   bool busy = true)
{
    piece p;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        copy16_wait();
        __syncthreads(); /* chunk is there, and nobody reads the one before it any more */
        if (chunk + 1 < chunks) {
            fetch(p, in, chunk + 1);
        }
        if (busy) {
            multiply_chunk(c, stage_of(chunk), stage_of(chunk) + A_WORDS, one);
        }
        if (chunk + 1 < chunks) {
            put(p, chunk + 1);
        }
    }
}

#endif

#endif

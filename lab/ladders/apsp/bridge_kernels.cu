/*
 * The steps of ladder apsp-gpu between its own 8 x 8 results a thread and the library's engine: the
 * engine's kernels themselves (src/apsp/gpu/kernels/kernel.cu), compiled once more with pieces left
 * out. The build names the step as TWI_GPU_TYPE:
 *
 *   packed    panels packed by phase 2 in the order in which phase 3 reads them, a chunk at a time
 *   buffered  two chunks: the next one waits in registers while this one is multiplied
 *   async     the next one goes to shared memory in the background, not through registers
 *   bulk      the copy engine brings chunks, four deep, fed by one thread
 *
 * Every accumulator takes the fused step in all of them; the engine's own mix comes after. With
 * `packed` comes the closing of the pivot's tile in registers as a recipe of its own, which needs
 * nothing else of the engine.
 */
#include "apsp/gpu/kernels/step.cuh"

#include "ladders/apsp/gpu_kernels.h"

#define LAB_IS_packed 1
#define LAB_IS_buffered 2
#define LAB_IS_async 3
#define LAB_IS_bulk 4
#define LAB_STEP_(type) LAB_IS_##type
#define LAB_STEP(type) LAB_STEP_(type)

#if LAB_STEP(TWI_GPU_TYPE) < LAB_IS_bulk
#undef TWI_COPY_ENGINE
#define TWI_COPY_ENGINE 0
#endif
#if LAB_STEP(TWI_GPU_TYPE) < LAB_IS_async
#undef TWI_BACKGROUND_COPY
#define TWI_BACKGROUND_COPY 0
#endif

/* What the engine asks of a type, by its name. */
struct step_packed : step_i32 {
    enum { FUSED = 8 };
};
typedef step_packed step_buffered;
typedef step_packed step_async;
typedef step_packed step_bulk;
#define REGISTER_packed "+r"
#define REGISTER_buffered "+r"
#define REGISTER_async "+r"
#define REGISTER_bulk "+r"
#define TYPE_packed TW_I32
#define TYPE_buffered TW_I32
#define TYPE_async TW_I32
#define TYPE_bulk TW_I32
#define TOGETHER_packed 0
#define TOGETHER_buffered 0
#define TOGETHER_async 0
#define TOGETHER_bulk 0

#if LAB_STEP(TWI_GPU_TYPE) == LAB_IS_packed
/* The engine's product for two chunks is not called; this one waits for each. */
#define product_begin buffered_begin
#define product_run buffered_run
#include "apsp/gpu/kernels/product.cuh"
#undef product_begin
#undef product_run

static __device__ __forceinline__ void product_begin(pipeline *, const operands &, int)
{
}

static __device__ __forceinline__ void product_run(word (&c)[ROWS][WORDS], pipeline *,
                                                   const operands &in, int one, int chunks = CHUNKS,
                                                   bool busy = true)
{
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        piece p;
        __syncthreads(); /* nobody reads the chunk before it any more */
        fetch(p, in, chunk);
        put(p, 0);
        __syncthreads();
        if (busy) {
            multiply_chunk(c, stage_of(0), stage_of(0) + A_WORDS, one);
        }
    }
}
#endif

#include "apsp/gpu/kernels/kernel.cu"

#if LAB_STEP(TWI_GPU_TYPE) == LAB_IS_packed
/* The pivot's tile in the registers of one block, as the engine closes it. */
static __global__ void __launch_bounds__(THREADS) close_in_registers(int *d, int ld, int k, int one)
{
    __shared__ close_shared shared;
    word c[ROWS][WORDS];
    int *tile = d + k * SIDE * (size_t)ld + k * SIDE;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            c[i][j] = tile[thread_row(i) * (size_t)ld + thread_word(j)];
        }
    }
    close_registers(c, &shared, SIDE, one);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            tile[thread_row(i) * (size_t)ld + thread_word(j)] = c[i][j];
        }
    }
}

static void solve_wide_pivot(int *d, int ld, int n)
{
    for (int k = 0; k < n / SIDE; k++) {
        close_in_registers<<<1, THREADS>>>(d, ld, k, 1);
        lab_wide_products(d, ld, n, k);
    }
}
#endif

#ifndef __HIP_DEVICE_COMPILE__
extern "C" const lab_recipe JOIN(lab_, TWI_GPU_TYPE) = {
    SIDE,
    set_up,
    NULL,
    &JOIN3(twi_gpu_kernel_, TWI_GPU_TYPE, JOIN(_, TWI_GPU_SIDE)),
    (const void *)update_kernel,
    THREADS,
    SHARED_BYTES};
#if LAB_STEP(TWI_GPU_TYPE) == LAB_IS_packed
extern "C" const lab_recipe lab_wide_pivot = {
    SIDE, NULL, solve_wide_pivot, NULL, (const void *)close_in_registers, THREADS, 0};
#endif
#endif

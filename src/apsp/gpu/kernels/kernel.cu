/*
 * The kernels of the GPU closure, for one element type (TWI_GPU_TYPE: i32, f32, u16, f64) and one
 * tile side (TWI_GPU_SIDE); the build compiles this file once for each pair.
 *
 * One product (gpu/kernels/product.cuh) serves three kernels that differ in where C comes from and
 * goes:
 *
 *   update   C itself, in place
 *   head     the next pivot's rows and columns, from C to the raw panels (columns transposed)
 *   panels   the closed tile times the raw panels, to the packed panels and to C
 *
 * Two more close a tile (gpu/kernels/close.cuh), and one closes a whole small matrix
 * (gpu/kernels/together.cuh).
 */
#include "apsp/gpu/kernels/ahead.cuh"
#include "apsp/gpu/kernels/launch.cuh"
#include "apsp/gpu/kernels/together.cuh"

/* ------------------------------------------------------------------------------------ the kernels
 */

static __global__ void TWI_BOUNDS(THREADS, BLOCKS) update_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    const tile_place place = wide_tile(r, blockIdx.x);
    if (!concerns(r, place.down, place.across)) {
        return;
    }
    word c[ROWS][WORDS];
    updated_tile(c, r, place.down, place.across);
    store_tile(c, r, place.down * SIDE, place.across * SIDE);
}

static __global__ void TWI_BOUNDS(THREADS, BLOCKS) head_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    const ahead_tile t = ahead_tile_of(r, blockIdx.x);
    word c[ROWS][WORDS];
    if (r.pivot >= 0 && t.x != r.pivot && concerns(r, t.down, t.across)) {
        updated_tile(c, r, t.down, t.across);
    } else { /* the tile shared with the pivot was finished together with the pivot's panels */
        load_tile(c, r, t.down * SIDE, t.across * SIDE);
    }
    bool some = has_path(c);
    if (threadIdx.x == 0 && t.x != r.next) {
        (t.column ? r.next_col_nonempty : r.next_row_nonempty)[t.x] = some;
    }
    if (some) {
        store_raw(c, r, t);
    }
}

static __global__ void TWI_BOUNDS(THREADS, BLOCKS) panels_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    const ahead_tile t = ahead_tile_of(r, blockIdx.x + 1);
    if ((t.column ? r.next_col_nonempty : r.next_row_nonempty)[t.x] != 0) {
        form_panel(r, t);
    }
}

static __global__ void TWI_BOUNDS(THREADS, CLOSE_BLOCKS) close_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    __shared__ close_shared shared;
    word c[ROWS][WORDS];
    load_words(c, (const word *)r.raw_tile);
    close_registers(c, &shared, steps_of_next(r), r.one);
    store_closed(c, r);
    store_tile(c, r, r.next * SIDE, r.next * SIDE);
}

/* The matrix is one tile or less. */
static __global__ void TWI_BOUNDS(THREADS, 1) alone_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    __shared__ close_shared shared;
    word c[ROWS][WORDS];
    fill(c);
    merge_edge(c, r, 0, 0); /* whose rows need not be aligned */
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            element part[LANES];
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                bool diagonal = thread_row(i) == thread_word(j) * LANES + e;
                part[e] = diagonal ? (element)0 : step::clamp(step::lane(c[i][j], e));
            }
            c[i][j] = join_lanes(part);
        }
    }
    close_registers(c, &shared, r.n, r.one);
    store_edge(c, r, 0, 0);
}

/* ---------------------------------------------------------------------------------- the mirror */

enum { MIRROR = 32, MIRROR_ROWS = 8 };

static __global__ void mirror_kernel(const twi_gpu_round r)
{
    if (skipped(r) || blockIdx.x > blockIdx.y) {
        return;
    }
    __shared__ element square[MIRROR][MIRROR + 1];
    element *matrix = (element *)r.c;
    int64_t row = (int64_t)blockIdx.y * MIRROR;
    int64_t col = (int64_t)blockIdx.x * MIRROR;
    for (int y = threadIdx.y; y < MIRROR; y += MIRROR_ROWS) {
        if (row + y < r.n && col + threadIdx.x < r.n) {
            square[y][threadIdx.x] = matrix[(row + y) * r.ld + col + threadIdx.x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < MIRROR; y += MIRROR_ROWS) {
        /* The element (col + y, row + x) is the (row + x, col + y) of the lower triangle. */
        if (col + y < r.n && row + threadIdx.x < r.n && row + threadIdx.x > col + y) {
            matrix[(col + y) * r.ld + row + threadIdx.x] = square[threadIdx.x][y];
        }
    }
}

/* ---------------------------------------------------------------------------------- the probe */

/* The steps of a product on registers alone, `rounds` times two depths: the ceiling of every
 * product. The compiler is told that the operands change, so that it repeats every addition. */
static __global__ void TWI_BOUNDS(THREADS, BLOCKS) probe_kernel(word *out, int rounds, int one)
{
    word c[ROWS][WORDS], a[2][ROWS], b[2][WORDS];
    fill(c);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        a[0][i] = (word)(threadIdx.x + i);
        a[1][i] = (word)(threadIdx.x + 2 * i);
    }
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        b[0][j] = (word)(threadIdx.x + 3 * j);
        b[1][j] = (word)(threadIdx.x + 4 * j);
    }
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            asm volatile("" : OPAQUE(a[0][i]), OPAQUE(a[1][i]));
        }
        multiply_pair(c, a[0], b[0], a[1], b[1], one);
    }
    word least = c[0][0];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            least = step::least(least, c[i][j]);
        }
    }
    out[blockIdx.x * THREADS + threadIdx.x] = least;
}

/* ------------------------------------------------------------------------------------- launches */

static int set_up(void)
{
    int error = allow_shared_bytes(update_kernel);
    error = error != 0 ? error : allow_shared_bytes(head_kernel);
    error = error != 0 ? error : allow_shared_bytes(panels_kernel);
    return error;
}

static int update(const twi_gpu_round *r, void *stream)
{
    const unsigned blocks = wide_tiles(*r);
    if (blocks > 0) {
        update_kernel<<<blocks, THREADS, shared_bytes_of(update_kernel), (cudaStream_t)stream>>>(
            *r);
    }
    return (int)cudaGetLastError();
}

static int head(const twi_gpu_round *r, void *stream)
{
    head_kernel<<<ahead_tiles(*r), THREADS, shared_bytes_of(head_kernel), (cudaStream_t)stream>>>(
        *r);
    return (int)cudaGetLastError();
}

static int close_tile(const twi_gpu_round *r, void *stream)
{
    close_kernel<<<1, THREADS, 0, (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

static int panels(const twi_gpu_round *r, void *stream)
{
    const unsigned blocks = ahead_tiles(*r) - 1;
    if (blocks > 0) {
        panels_kernel<<<blocks, THREADS, shared_bytes_of(panels_kernel), (cudaStream_t)stream>>>(
            *r);
    }
    return (int)cudaGetLastError();
}

static int alone(const twi_gpu_round *r, void *stream)
{
    alone_kernel<<<1, THREADS, 0, (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

static int mirror(const twi_gpu_round *r, void *stream)
{
    unsigned squares = (unsigned)((r->n + MIRROR - 1) / MIRROR);
    mirror_kernel<<<dim3(squares, squares), dim3(MIRROR, MIRROR_ROWS), 0, (cudaStream_t)stream>>>(
        *r);
    return (int)cudaGetLastError();
}

static int probe(void *out, int32_t processors, int32_t rounds, double *relaxations, void *stream)
{
    unsigned blocks = (unsigned)processors * BLOCKS;
    probe_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>((word *)out, rounds, 1);
    *relaxations = 2.0 * rounds * blocks * THREADS * ROWS * WORDS * LANES;
    return (int)cudaGetLastError();
}

#if FINE
static int together(const twi_gpu_round *r, void *stream, int32_t *launched)
{
    const int error = twi_gpu_fine_2(r, stream, launched);
    return error != 0 || *launched ? error : twi_gpu_fine_4(r, stream, launched);
}
#elif TOGETHER
/* The fewer blocks on a processor, the more registers each has. The shared memory of AMD's holds
 * one.
 */
static const void *const together_kernels[] = {
#if defined(TWI_HIP)
    (const void *)together_kernel<1>,
#else
    (const void *)together_kernel<2>,
    (const void *)together_kernel<3>,
    (const void *)together_kernel<4>,
#endif
};
enum { TOGETHER_KERNELS = sizeof together_kernels / sizeof *together_kernels };

static int together(const twi_gpu_round *r, void *stream, int32_t *launched)
{
    twi_gpu_round copy = *r;
    void *arguments[] = {&copy};
    static int known[TOGETHER_KERNELS][DEVICES_KEPT];
    int tiles = r->tiles * r->tiles;
    int error = 0;
    *launched = 0;
    for (int i = 0; i < TOGETHER_KERNELS && error == 0 && !*launched; i++) {
        int most = 0;
        error = blocks_at_once(together_kernels[i], THREADS, known[i], &most);
        if (error != 0 || tiles > most) {
            continue;
        }
        error = (int)cudaMemsetAsync(
            r->next_row, 0, TWI_GPU_PUBLISHED(r->tiles, SIDE) * sizeof(word), (cudaStream_t)stream);
        if (error == 0) {
            error =
                (int)cudaLaunchCooperativeKernel(together_kernels[i], dim3((unsigned)tiles),
                                                 dim3(THREADS), arguments, 0, (cudaStream_t)stream);
            *launched = error == 0;
        }
    }
    if (error == (int)cudaErrorCooperativeLaunchTooLarge || error == (int)cudaErrorNotSupported) {
        (void)cudaGetLastError(); /* others may hold a part of the device: then by many launches */
        error = 0;
    }
    return error;
}
#else
#define together NULL
#endif
#if FINE
#define TOGETHER_SIDE TWI_GPU_FINE_SIDE
#else
#define TOGETHER_SIDE SIDE
#endif

#ifdef HAS_TABLE
extern "C" const twi_gpu_kernel JOIN3(twi_gpu_kernel_, TWI_GPU_TYPE, JOIN(_, TWI_GPU_SIDE)) = {
    THIS_TYPE,
    SIDE,
    (int32_t)sizeof(element),
    (int32_t)sizeof(word),
    "minplus_" TEXT(TWI_GPU_TYPE) "_gpu_" TEXT(TWI_GPU_SIDE),
    set_up,
    update,
    head,
    close_tile,
    panels,
    alone,
    mirror,
    together,
    TOGETHER_SIDE,
    probe,
};
#endif

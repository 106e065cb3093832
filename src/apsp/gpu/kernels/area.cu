/*
 * See gpu/kernels/area.h. For one element type (TWI_GPU_TYPE: i32, f32, u16, f64) and one tile side
 * (TWI_GPU_SIDE); the build compiles this file once for each pair. A thread block does one tile of
 * a product, a packing or a copy, or every gridDim-th row of a strip. All but the product are bound
 * by memory.
 */
#include "apsp/gpu/kernels/area.h"
#include "apsp/gpu/kernels/product.cuh"

enum { PASS_THREADS = 256, MOST_ROWS = 4096, SQUARE = 32, SQUARE_ROWS = PASS_THREADS / SQUARE };

static __device__ __forceinline__ element *tile_of(const twi_gpu_area &area, int down, int across)
{
    return (element *)area.data + down * area.down_step + across * area.across_step;
}

static __device__ __forceinline__ uint8_t *byte_of(const twi_gpu_area &area, int down, int across)
{
    return area.some + (down * area.down_step + across * area.across_step) / (SIDE * SIDE);
}

/* Number `at` of 0, 1, 2, ... without `count` of them from `first` on. */
static __device__ __forceinline__ int without(int at, int first, int count)
{
    return at >= first ? at + count : at;
}

/* Tiles before row `down` of an area with stairs. */
static __host__ __device__ __forceinline__ int tiles_above(const twi_gpu_product &p, int down)
{
    return down * p.stair + p.stairs * (down * (down - 1) / 2);
}

/* The tile of this thread block, row by row; false if it is one to be skipped. */
static __device__ __forceinline__ bool find_on_stairs(const twi_gpu_product &p, int *down,
                                                      int *across)
{
    int at = blockIdx.x;
    float slope = p.stair - 0.5f * p.stairs;
    int row = (int)((sqrtf(slope * slope + 2.0f * p.stairs * (float)at) - slope) / p.stairs);
    while (tiles_above(p, row + 1) <= at) {
        row++;
    }
    while (tiles_above(p, row) > at) {
        row--;
    }
    *down = row;
    *across = at - tiles_above(p, row);
    bool skip = (row >= p.skip_down && row < p.skip_down + p.skip_down_count) ||
                (*across >= p.skip_across && *across < p.skip_across + p.skip_across_count);
    return !skip;
}

/* The same of a rectangle, in bands that share panels in the cache, without those to be skipped. */
static __device__ __forceinline__ void find_in_bands(const twi_gpu_product &p, int *down,
                                                     int *across)
{
    int height = p.c.down - p.skip_down_count;
    int width = p.c.across - p.skip_across_count;
    int band = blockIdx.x / (BAND * width) * BAND;
    int tall = min((int)BAND, height - band);
    int within = blockIdx.x - band * width;
    *down = without(band + within % tall, p.skip_down, p.skip_down_count);
    *across = without(within / tall, p.skip_across, p.skip_across_count);
}

/* Make the compiler believe that the number is another one now, so that it computes addresses again
 * after the product instead of keeping them in registers that the product needs. */
static __device__ __forceinline__ void forget(int &value)
{
#if !defined(TWI_HIP)
    asm volatile("" : "+r"(value));
#else
    (void)value;
#endif
}

/* The bytes of the `depth` tiles that an operand has for row or column `at` of C. */
static __device__ __forceinline__ const uint8_t *bytes_of(const twi_gpu_packed &operand, int at,
                                                          int depth)
{
    return operand.some != NULL ? operand.some + at * depth : NULL;
}

/* The steps of the depth for which both operands have something, from the first to the last of
 * them; false if there are none. In a graph that falls apart those of a tile follow each other. */
static __device__ __forceinline__ bool find_depths(const twi_gpu_product &p, int down, int across,
                                                   int *first, int *end)
{
    const uint8_t *left = bytes_of(p.left, down, p.depth);
    const uint8_t *right = bytes_of(p.right, across, p.depth);
    *first = p.depth;
    *end = 0;
    for (int at = 0; at < p.depth; at++) {
        bool some = left == NULL || __ldg(left + at) != 0;
        if (some && (right == NULL || __ldg(right + at) != 0)) {
            *first = min(*first, at);
            *end = at + 1;
        }
    }
    return *end > 0;
}

template <bool stairs>
static __global__ void TWI_BOUNDS(THREADS, BLOCKS) product_kernel(const twi_gpu_product p, int one)
{
    int down = 0;
    int across = 0;
    if (!stairs) {
        find_in_bands(p, &down, &across);
    } else if (!find_on_stairs(p, &down, &across)) {
        return;
    }

    int first, end;
    if (!find_depths(p, down, across, &first, &end)) {
        return;
    }
    if (p.c.some != NULL && threadIdx.x == 0) {
        *byte_of(p.c, down, across) = 1;
    }

    __shared__ pipeline pipe;
    operands in = {(const word *)p.left.data + ((int64_t)down * p.depth + first) * (SIDE * SIDE),
                   (const word *)p.right.data +
                       ((int64_t)across * p.depth + first) * (SIDE * WIDTH)};
    word c[ROWS][WORDS];
    product_begin(&pipe, in);
    load_whole(c, tile_of(p.c, down, across), p.c.ld);
    product_run(c, &pipe, in, one, (end - first) * CHUNKS);
    forget(down);
    forget(across);
    store_whole(c, tile_of(p.c, down, across), p.c.ld);
}

/* The byte of a tile that all threads of a block have packed: whether any has `seen` a path. */
static __device__ __forceinline__ void tell(uint8_t *some, bool seen)
{
    bool any = __syncthreads_or(seen) != 0;
    if (threadIdx.x == 0) {
        *some = any;
    }
}

/* Blocks: across, down. */
static __global__ void __launch_bounds__(PASS_THREADS)
    pack_left_kernel(const twi_gpu_packed out, const twi_gpu_area in)
{
    __shared__ element square[SQUARE][SQUARE + 1];
    const element *tile = tile_of(in, blockIdx.y, blockIdx.x);
    int64_t at_tile = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
    word *packed = (word *)out.data + at_tile * (SIDE * SIDE);
    int x = threadIdx.x % SQUARE;
    bool seen = false;
    for (int at = 0; at < SIDE * SIDE / (SQUARE * SQUARE); at++) {
        int row = at / (SIDE / SQUARE) * SQUARE;
        int col = at % (SIDE / SQUARE) * SQUARE;
        for (int y = threadIdx.x / SQUARE; y < SQUARE; y += SQUARE_ROWS) {
            square[y][x] = tile[(row + y) * in.ld + col + x];
            seen |= square[y][x] != step::infinity();
        }
        __syncthreads();
        for (int y = threadIdx.x / SQUARE; y < SQUARE; y += SQUARE_ROWS) {
            packed[(col + y) * SIDE + row + x] = step::spread(square[x][y]);
        }
        __syncthreads();
    }
    if (out.some != NULL) {
        tell(out.some + at_tile, seen);
    }
}

/* Blocks: across, down of `in`. */
static __global__ void __launch_bounds__(PASS_THREADS)
    transpose_kernel(const twi_gpu_area out, const twi_gpu_area in)
{
    __shared__ element square[SQUARE][SQUARE + 1];
    const element *from = tile_of(in, blockIdx.y, blockIdx.x);
    element *to = tile_of(out, blockIdx.x, blockIdx.y);
    int x = threadIdx.x % SQUARE;
    bool seen = false;
    for (int at = 0; at < SIDE * SIDE / (SQUARE * SQUARE); at++) {
        int row = at / (SIDE / SQUARE) * SQUARE;
        int col = at % (SIDE / SQUARE) * SQUARE;
        for (int y = threadIdx.x / SQUARE; y < SQUARE; y += SQUARE_ROWS) {
            square[y][x] = from[(row + y) * in.ld + col + x];
            seen |= square[y][x] != step::infinity();
        }
        __syncthreads();
        for (int y = threadIdx.x / SQUARE; y < SQUARE; y += SQUARE_ROWS) {
            to[(col + y) * out.ld + row + x] = square[x][y];
        }
        __syncthreads();
    }
    if (out.some != NULL) {
        tell(byte_of(out, blockIdx.x, blockIdx.y), seen);
    }
}

static __global__ void __launch_bounds__(PASS_THREADS)
    spread_kernel(const twi_gpu_packed out, const twi_gpu_packed in, int64_t stride)
{
    word *to = (word *)out.data + (int64_t)blockIdx.x * (SIDE * SIDE);
    const element *from = (const element *)in.data + blockIdx.x * stride * (SIDE * SIDE);
    if (out.some != NULL && threadIdx.x == 0) {
        out.some[blockIdx.x] = in.some[blockIdx.x * stride];
    }
    for (int at = threadIdx.x; at < SIDE * SIDE; at += PASS_THREADS) {
        to[at] = step::spread(from[at]);
    }
}

enum { PIECE = 16 / sizeof(element), PIECES = SIDE / PIECE }; /* elements; of a tile's row */

static __device__ __forceinline__ bool piece_has_path(const int4 &piece)
{
    const element *part = (const element *)&piece;
    bool seen = false;
#pragma unroll
    for (int e = 0; e < PIECE; e++) {
        seen |= part[e] != step::infinity();
    }
    return seen;
}

static __global__ void __launch_bounds__(PASS_THREADS)
    copy_kernel(const twi_gpu_area out, const twi_gpu_area in)
{
    element *to = tile_of(out, blockIdx.y, blockIdx.x);
    const element *from = tile_of(in, blockIdx.y, blockIdx.x);
    bool seen = false;
    for (int at = threadIdx.x; at < SIDE * PIECES; at += PASS_THREADS) {
        int row = at / PIECES;
        int col = at % PIECES * PIECE;
        int4 piece = *(const int4 *)(from + row * in.ld + col);
        *(int4 *)(to + row * out.ld + col) = piece;
        seen |= piece_has_path(piece);
    }
    if (out.some != NULL) {
        tell(byte_of(out, blockIdx.y, blockIdx.x), seen);
    }
}

/* Blocks: across, down. One ends where it sees a path, or that another has seen one. */
static __global__ void __launch_bounds__(PASS_THREADS)
    look_kernel(uint8_t *some, const twi_gpu_area in, int each)
{
    volatile uint8_t *byte = some + blockIdx.x / each;
    const element *tile = tile_of(in, blockIdx.y, blockIdx.x);
    bool seen = *byte != 0;
    for (int at = 0; at < SIDE * PIECES && !__syncthreads_or(seen); at += PASS_THREADS) {
        int row = (at + threadIdx.x) / PIECES;
        int col = (at + threadIdx.x) % PIECES * PIECE;
        seen = piece_has_path(*(const int4 *)(tile + row * in.ld + col));
    }
    if (seen) {
        *byte = 1;
    }
}

/* ---------------------------------------------------------------------------------------- strips
 */

/* The caller's type, as bits where those are enough. */
template <class inside> struct outside_of {
    typedef inside type;
};
template <> struct outside_of<uint16_t> {
    typedef int32_t type;
};
typedef outside_of<element>::type outside;

static __device__ __forceinline__ element entered(outside value)
{
    if (sizeof(outside) == sizeof(element)) {
        return step::clamp((element)value);
    }
    return value < (outside)step::infinity() ? (element)value : step::infinity();
}

static __global__ void __launch_bounds__(PASS_THREADS)
    enter_kernel(const twi_gpu_strip s, int64_t down, int64_t across)
{
    for (int64_t y = blockIdx.x; y < down; y += gridDim.x) {
        const outside *from = (const outside *)s.outside + y * s.outside_ld;
        element *to = (element *)s.inside + y * s.inside_ld;
        for (int64_t x = threadIdx.x; x < across; x += PASS_THREADS) {
            element value = step::infinity();
            if (y < s.rows && x < s.cols) {
                value = s.first + y == x ? (element)0 : entered(from[x]);
            }
            to[x] = value;
        }
    }
}

static __global__ void __launch_bounds__(PASS_THREADS) leave_kernel(const twi_gpu_strip s)
{
    for (int64_t y = blockIdx.x; y < s.rows; y += gridDim.x) {
        const element *from = (const element *)s.inside + y * s.inside_ld;
        outside *to = (outside *)s.outside + y * s.outside_ld;
        for (int64_t x = threadIdx.x; x < s.cols; x += PASS_THREADS) {
            element value = from[x];
            if (LANES == 1 || value < step::infinity()) {
                to[x] = (outside)value;
            }
        }
    }
}

static __global__ void __launch_bounds__(PASS_THREADS)
    find_capped_kernel(int32_t *found, const twi_gpu_strip s)
{
    bool any = false;
    for (int64_t y = blockIdx.x; y < s.rows; y += gridDim.x) {
        const element *from = (const element *)s.inside + y * s.inside_ld;
        for (int64_t x = threadIdx.x; x < s.cols; x += PASS_THREADS) {
            any |= from[x] == step::infinity();
        }
    }
    if (any) {
        *found = 1;
    }
}

/* -------------------------------------------------------------------------------------- launches
 */

static int set_up(void)
{
    int error = allow_shared_bytes(product_kernel<false>);
    return error != 0 ? error : allow_shared_bytes(product_kernel<true>);
}

static int product(const twi_gpu_product *p, void *stream)
{
    int64_t rectangle =
        (int64_t)(p->c.down - p->skip_down_count) * (p->c.across - p->skip_across_count);
    unsigned blocks = (unsigned)(p->stairs > 0 ? tiles_above(*p, p->c.down) : rectangle);
    if (blocks > 0 && p->stairs > 0) {
        product_kernel<true>
            <<<blocks, THREADS, shared_bytes_of(product_kernel<true>), (cudaStream_t)stream>>>(*p,
                                                                                               1);
    } else if (blocks > 0) {
        product_kernel<false>
            <<<blocks, THREADS, shared_bytes_of(product_kernel<false>), (cudaStream_t)stream>>>(*p,
                                                                                                1);
    }
    return (int)cudaGetLastError();
}

static dim3 all_tiles(const twi_gpu_area *area)
{
    return dim3((unsigned)area->across, (unsigned)area->down);
}

static int pack_left(twi_gpu_packed out, const twi_gpu_area *in, void *stream)
{
    if (in->down > 0 && in->across > 0) {
        pack_left_kernel<<<all_tiles(in), PASS_THREADS, 0, (cudaStream_t)stream>>>(out, *in);
    }
    return (int)cudaGetLastError();
}

static int copy_area(const twi_gpu_area *out, const twi_gpu_area *in, void *stream)
{
    if (in->down > 0 && in->across > 0) {
        copy_kernel<<<all_tiles(in), PASS_THREADS, 0, (cudaStream_t)stream>>>(*out, *in);
    }
    return (int)cudaGetLastError();
}

static int transpose(const twi_gpu_area *out, const twi_gpu_area *in, void *stream)
{
    if (in->down > 0 && in->across > 0) {
        transpose_kernel<<<all_tiles(in), PASS_THREADS, 0, (cudaStream_t)stream>>>(*out, *in);
    }
    return (int)cudaGetLastError();
}

static int spread(twi_gpu_packed out, twi_gpu_packed in, int64_t tiles, int64_t stride,
                  void *stream)
{
    if (tiles > 0) {
        spread_kernel<<<(unsigned)tiles, PASS_THREADS, 0, (cudaStream_t)stream>>>(out, in, stride);
    }
    return (int)cudaGetLastError();
}

static int look(uint8_t *some, const twi_gpu_area *in, int32_t each, void *stream)
{
    if (in->down > 0 && in->across > 0) {
        look_kernel<<<all_tiles(in), PASS_THREADS, 0, (cudaStream_t)stream>>>(some, *in, each);
    }
    return (int)cudaGetLastError();
}

static unsigned row_blocks(int64_t rows)
{
    return (unsigned)(rows < MOST_ROWS ? rows : MOST_ROWS);
}

static int enter(const twi_gpu_strip *s, int64_t down, int64_t across, void *stream)
{
    if (down > 0) {
        enter_kernel<<<row_blocks(down), PASS_THREADS, 0, (cudaStream_t)stream>>>(*s, down, across);
    }
    return (int)cudaGetLastError();
}

static int leave(const twi_gpu_strip *s, void *stream)
{
    if (s->rows > 0) {
        leave_kernel<<<row_blocks(s->rows), PASS_THREADS, 0, (cudaStream_t)stream>>>(*s);
    }
    return (int)cudaGetLastError();
}

static int find_capped(int32_t *found, const twi_gpu_strip *s, void *stream)
{
    if (s->rows > 0) {
        find_capped_kernel<<<row_blocks(s->rows), PASS_THREADS, 0, (cudaStream_t)stream>>>(found,
                                                                                           *s);
    }
    return (int)cudaGetLastError();
}

#define OUTSIDE_i32 TW_I32
#define OUTSIDE_f32 TW_F32
#define OUTSIDE_u16 TW_I32
#define OUTSIDE_f64 TW_F64

#ifdef HAS_TABLE
extern "C" const twi_gpu_area_kernel JOIN3(twi_gpu_area_, TWI_GPU_TYPE, JOIN(_, TWI_GPU_SIDE)) = {
    THIS_TYPE,
    SIDE,
    (int32_t)sizeof(element),
    (int32_t)sizeof(word),
    JOIN(OUTSIDE_, TWI_GPU_TYPE),
    set_up,
    product,
    pack_left,
    copy_area,
    transpose,
    spread,
    look,
    enter,
    leave,
    find_capped,
};
#endif

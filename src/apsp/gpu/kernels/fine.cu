/*
 * A small matrix of whole numbers, closed in one launch as in together.cuh, by tiles of half the
 * side: the way from one pivot to the next, which bounds such a matrix, has an eighth of the
 * arithmetic, on twice as many pivots. Each thread block keeps one tile in its registers; what it
 * publishes tells by itself that it has arrived, where all blocks together have written zeros
 * first.
 *
 * The file is compiled with two rows to a thread (TWI_GPU_FINE_ROWS), where the way from pivot to
 * pivot counts, and with four, of which the processors hold more.
 */
#define TWI_GPU_TYPE i32
#include "apsp/gpu/kernels/launch.cuh"
#include "apsp/gpu/kernels/one_type.cuh"

#if !defined(TWI_HIP) /* where nobody has run it: tiles of together.cuh do */

#include <cooperative_groups.h>

enum {
    SIDE = TWI_GPU_FINE_SIDE,
    ROWS = TWI_GPU_FINE_ROWS, /* of a thread */
    WORDS = 4,
    ACROSS = SIDE / WORDS, /* threads */
    THREADS = SIDE / ROWS * ACROSS,
    WARP = 32,
    GROUP = 4,                                /* words that are read and written at once */
    GROUPS = SIDE * SIDE / (THREADS * GROUP), /* of a tile, for a thread */
    PITCH = SIDE + 4, /* of a left operand in shared memory, whose columns are written */
    COMPLEMENT = 0x7FFFFFFF,
};

struct close_shared {
    word row[2][2][SIDE]; /* by the pair's parity, and which of its two */
    word col[2][2][SIDE];
};

enum {
    ROW_READY = ROWS < 4, /* the more of them a processor is to hold, the less may lie ready */
};

struct fine_shared {
    word a[SIDE * PITCH];
    word b[SIDE * SIDE];
    union {
        word d[ROW_READY ? SIDE * SIDE : 1];
        close_shared close;
    };
};

typedef word tile_of_thread[ROWS][WORDS];

static __device__ __forceinline__ int first_row(void)
{
    return threadIdx.x / ACROSS * ROWS;
}

static __device__ __forceinline__ int first_word(void)
{
    return threadIdx.x % ACROSS * WORDS;
}

/* ------------------------------------------------------------------------------ between blocks */

template <int count> struct __align__(count * sizeof(word)) several
{
    word at[count];
};

static __device__ __forceinline__ void publish(word *to, const several<4> &v)
{
    publish16(to, make_int4(v.at[0], v.at[1], v.at[2], v.at[3]));
}

static __device__ __forceinline__ void publish(word *to, const several<2> &v)
{
#if TWI_COMPUTE > 0
    asm volatile("st.relaxed.gpu.global.v2.s32 [%0], {%1, %2};" ::"l"(to), "r"(v.at[0]),
                 "r"(v.at[1])
                 : "memory");
#endif
}

/* As a right operand: [k][j] = (k, j). */
static __device__ __forceinline__ void publish_words(const tile_of_thread &c, word *out)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        several<WORDS> v;
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            v.at[j] = c[i][j] ^ COMPLEMENT;
        }
        publish(out + (first_row() + i) * SIDE + first_word(), v);
    }
}

/* As a left operand: [k][i] = (i, k). */
static __device__ __forceinline__ void publish_transposed(const tile_of_thread &c, word *out)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        several<ROWS> v;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            v.at[i] = c[i][j] ^ COMPLEMENT;
        }
        publish(out + (first_word() + j) * SIDE + first_row(), v);
    }
}

/* Nothing has been published yet. */
static __device__ __forceinline__ void clear_all(const twi_gpu_round &r)
{
    const int pieces = (int)(TWI_GPU_PUBLISHED(r.tiles, SIDE) / GROUP);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < pieces; i += gridDim.x * THREADS) {
        publish16((word *)r.next_row + (int64_t)i * GROUP, make_int4(0, 0, 0, 0));
    }
}

static __device__ __forceinline__ bool is_there(int4 v)
{
    return v.x != 0 && v.y != 0 && v.z != 0 && v.w != 0;
}

static __device__ __forceinline__ bool has_begun(const word *tile)
{
    return *(const volatile int32_t *)tile != 0;
}

/* What of a tile was read, and what is still to come. */
template <int pitch>
static __device__ __forceinline__ void keep_tile(word *shared, int4 (&v)[GROUPS], const word *from)
{
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        while (!is_there(v[g])) {
            v[g] = read16(from + g * THREADS * GROUP);
        }
        const int at = (g * THREADS + threadIdx.x) * GROUP;
        *(int4 *)(shared + at / SIDE * pitch + at % SIDE) = make_int4(
            v[g].x ^ COMPLEMENT, v[g].y ^ COMPLEMENT, v[g].z ^ COMPLEMENT, v[g].w ^ COMPLEMENT);
    }
}

/* A tile that another block publishes. */
template <int pitch> static __device__ __forceinline__ void bring(word *shared, const word *from)
{
    int4 v[GROUPS];
    from += threadIdx.x * GROUP;
    if (threadIdx.x % WARP == 0) { /* one thread of a warp looks first */
        while (!has_begun(from)) {
        }
    }
    __syncwarp();
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        v[g] = read16(from + g * THREADS * GROUP);
    }
    keep_tile<pitch>(shared, v, from);
}

/* A left and a right operand, on their way at the same time. */
static __device__ __forceinline__ void bring_both(word *left, const word *from_left, word *right,
                                                  const word *from_right)
{
    int4 v[GROUPS];
    int4 w[GROUPS];
    from_left += threadIdx.x * GROUP;
    from_right += threadIdx.x * GROUP;
    if (threadIdx.x % WARP == 0) {
        while (!has_begun(from_left) || !has_begun(from_right)) {
        }
    }
    __syncwarp();
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        v[g] = read16(from_left + g * THREADS * GROUP);
        w[g] = read16(from_right + g * THREADS * GROUP);
    }
    keep_tile<PITCH>(left, v, from_left);
    keep_tile<SIDE>(right, w, from_right);
}

/* ------------------------------------------------------------------------------- shared memory */

static __device__ __forceinline__ void store_words(const tile_of_thread &c, word *shared)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        *(int4 *)(shared + (first_row() + i) * SIDE + first_word()) =
            make_int4(c[i][0], c[i][1], c[i][2], c[i][3]);
    }
}

static __device__ __forceinline__ void store_transposed(const tile_of_thread &c, word *shared)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        several<ROWS> v;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            v.at[i] = c[i][j];
        }
        *(several<ROWS> *)(shared + (first_word() + j) * PITCH + first_row()) = v;
    }
}

static __device__ __forceinline__ word stepped(word c, word a0, word b0, word a1, word b1, int at,
                                               int one)
{
    return at % 8 < step::FUSED ? step::fused(step::fused(c, a0, b0), a1, b1)
                                : step::pair(c, a0, b0, a1, b1, one);
}

/* c = min(c, a (x) b). `unroll` steps: as many as the registers allow. */
template <int unroll>
static __device__ __forceinline__ void multiply(tile_of_thread &c, const word *a, const word *b,
                                                int one)
{
    __syncthreads();
    a += first_row();
    b += first_word();
#pragma unroll(unroll / 2)
    for (int k = 0; k < SIDE; k += 2) {
        const several<ROWS> a0 = *(const several<ROWS> *)(a + k * PITCH);
        const several<ROWS> a1 = *(const several<ROWS> *)(a + (k + 1) * PITCH);
        const several<WORDS> b0 = *(const several<WORDS> *)(b + k * SIDE);
        const several<WORDS> b1 = *(const several<WORDS> *)(b + (k + 1) * SIDE);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                c[i][j] =
                    stepped(c[i][j], a0.at[i], b0.at[j], a1.at[i], b1.at[j], i * WORDS + j, one);
            }
        }
    }
}

/* ------------------------------------------------------------------------------ closing a tile */

/* Rows and columns k and k + 1, k = base + x, for the next pair of steps (close.cuh). */
template <int x>
static __device__ __forceinline__ void publish_pair(const tile_of_thread &c, close_shared *shared,
                                                    int k)
{
    const int buffer = k / 2 % 2;
#pragma unroll
    for (int e = 0; e < 2; e++) {
        if ((k + e) / ROWS == (int)threadIdx.x / ACROSS) {
#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                shared->row[buffer][e][first_word() + j] = c[(x + e) % ROWS][j];
            }
        }
    }
    if (k / WORDS == (int)threadIdx.x % ACROSS) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            shared->col[buffer][0][first_row() + i] = c[i][x % WORDS];
            shared->col[buffer][1][first_row() + i] = c[i][x % WORDS + 1];
        }
    }
}

template <int x>
static __device__ __forceinline__ void close_pair(tile_of_thread &c, close_shared *shared, int base,
                                                  int one)
{
    __syncthreads();
    const int k = base + x;
    const int buffer = k / 2 % 2;
    const word down = shared->col[buffer][0][k + 1];
    const word across = shared->col[buffer][1][k];
    const several<WORDS> row0 = *(const several<WORDS> *)&shared->row[buffer][0][first_word()];
    several<WORDS> row1 = *(const several<WORDS> *)&shared->row[buffer][1][first_word()];
    const several<ROWS> col0 = *(const several<ROWS> *)&shared->col[buffer][0][first_row()];
    several<ROWS> col1 = *(const several<ROWS> *)&shared->col[buffer][1][first_row()];
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        row1.at[j] = step::fused(row1.at[j], down, row0.at[j]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        col1.at[i] = step::fused(col1.at[i], col0.at[i], across);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            c[i][j] = stepped(c[i][j], col0.at[i], row0.at[j], col1.at[i], row1.at[j],
                              i * WORDS + j, one);
        }
    }
    publish_pair<(x + 2) % 4>(c, shared, k + 2);
}

/* The first `steps` steps, and up to three more, which find rows of infinity. */
static __device__ __forceinline__ void close_registers(tile_of_thread &c, close_shared *shared,
                                                       int steps, int one)
{
    publish_pair<0>(c, shared, 0);
#pragma unroll 1
    for (int base = 0; base < steps; base += 4) {
        close_pair<0>(c, shared, base, one);
        close_pair<2>(c, shared, base, one);
    }
}

/* ------------------------------------------------------------------------------------ the matrix
 */

static __device__ __forceinline__ void load_tile(tile_of_thread &c, const twi_gpu_round &r,
                                                 int down, int across)
{
    const word *matrix = (const word *)r.c;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            const int y = down * SIDE + first_row() + i;
            const int x = across * SIDE + first_word() + j;
            const word value = y < r.n && x < r.n ? matrix[y * r.ld + x] : step::infinity();
            c[i][j] = x == y ? 0 : step::clamp(value);
        }
    }
}

static __device__ __forceinline__ void store_tile(const tile_of_thread &c, const twi_gpu_round &r,
                                                  int down, int across)
{
    word *matrix = (word *)r.c;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            const int y = down * SIDE + first_row() + i;
            const int x = across * SIDE + first_word() + j;
            if (y < r.n && x < r.n) {
                matrix[y * r.ld + x] = c[i][j];
            }
        }
    }
}

/* With `blocks` of them on a processor. */
template <int blocks>
static __global__ void TWI_BOUNDS(THREADS, blocks) fine_kernel(const twi_gpu_round r)
{
    if (r.needed != NULL && *r.needed == 0) {
        return;
    }
    enum { UNROLL = blocks > 16 ? SIDE / 2 : SIDE }; /* where there are registers for it */
    clear_all(r);
    cooperative_groups::this_grid().sync();
    __shared__ __align__(16) fine_shared shared;
    const int64_t words = SIDE * SIDE;
    const int down = blockIdx.x / r.tiles;
    const int across = blockIdx.x % r.tiles;
    tile_of_thread c;
    load_tile(c, r, down, across);
    for (int pivot = 0; pivot < r.tiles; pivot++) {
        __syncthreads(); /* nobody reads shared memory of the round before any more */
        word *tile = (word *)r.tile + pivot * words;
        word *tile_t = (word *)r.tile_t + pivot * words;
        word *raw_row = (word *)r.raw_row + pivot * words;
        word *raw_col = (word *)r.raw_col + pivot * words;
        word *row = (word *)r.next_row + (int64_t)pivot * r.tiles * words;
        word *col = (word *)r.next_col + (int64_t)pivot * r.tiles * words;
        if (down == pivot && across == pivot) {
            close_registers(c, &shared.close, min((int)SIDE, r.n - pivot * SIDE), r.one);
            publish_words(c, tile);
            publish_transposed(c, tile_t);
        } else if (down == pivot + 1 && across == pivot + 1) {
            /* column (x) closed tile (x) row, where these are as they were before this pivot */
            bring<PITCH>(shared.a, raw_col);
            if (ROW_READY) {
                bring<SIDE>(shared.d, raw_row);
            }
            bring<SIDE>(shared.b, tile);
            tile_of_thread through;
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int j = 0; j < WORDS; j++) {
                    through[i][j] = step::infinity();
                }
            }
            multiply<UNROLL>(through, shared.a, shared.b, r.one);
            __syncthreads();
            store_transposed(through, shared.a);
            if (!ROW_READY) {
                bring<SIDE>(shared.b, raw_row);
            }
            multiply<UNROLL>(c, shared.a, ROW_READY ? shared.d : shared.b, r.one);
        } else if (down == pivot) {
            if (across == pivot + 1) {
                publish_words(c, raw_row);
            }
            store_words(c, shared.b); /* while the tile is still being closed */
            bring<PITCH>(shared.a, tile_t);
            multiply<UNROLL>(c, shared.a, shared.b, r.one);
            publish_words(c, row + across * words);
        } else if (across == pivot) {
            if (down == pivot + 1) {
                publish_transposed(c, raw_col);
            }
            store_transposed(c, shared.a);
            bring<SIDE>(shared.b, tile);
            multiply<UNROLL>(c, shared.a, shared.b, r.one);
            publish_transposed(c, col + down * words);
        } else {
            bring_both(shared.a, col + down * words, shared.b, row + across * words);
            multiply<UNROLL>(c, shared.a, shared.b, r.one);
        }
    }
    store_tile(c, r, down, across);
}

/* ------------------------------------------------------------------------------------- the launch
 */

/* The fewer blocks on a processor, the more registers each has. */
static const void *const fine_kernels[] = {
#if TWI_GPU_FINE_ROWS < 4
    (const void *)fine_kernel<8>,
#else
    (const void *)fine_kernel<16>,
    (const void *)fine_kernel<18>,
#endif
};
enum { FINE_KERNELS = sizeof fine_kernels / sizeof *fine_kernels };

extern "C" int JOIN(twi_gpu_fine_, TWI_GPU_FINE_ROWS)(const twi_gpu_round *r, void *stream,
                                                      int32_t *launched)
{
    twi_gpu_round copy = *r;
    void *arguments[] = {&copy};
    static int known[FINE_KERNELS][DEVICES_KEPT];
    const int tiles = r->tiles * r->tiles;
    int error = 0;
    *launched = 0;
    for (int i = 0; i < FINE_KERNELS && error == 0 && !*launched; i++) {
        int most = 0;
        error = blocks_at_once(fine_kernels[i], THREADS, known[i], &most);
        if (error != 0 || tiles > most) {
            continue;
        }
        error = (int)cudaLaunchCooperativeKernel(fine_kernels[i], dim3((unsigned)tiles),
                                                 dim3(THREADS), arguments, 0, (cudaStream_t)stream);
        *launched = error == 0;
    }
    if (error == (int)cudaErrorCooperativeLaunchTooLarge || error == (int)cudaErrorNotSupported) {
        (void)cudaGetLastError(); /* others may hold a part of the device */
        error = 0;
    }
    return error;
}

#endif

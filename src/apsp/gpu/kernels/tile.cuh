/*
 * A tile and the threads that work on it: the shape that each type and tile side takes, where a
 * thread stands, and how tiles come from and go to global memory.
 *
 * A thread block holds a tile in registers, ROWS x WORDS words per thread. A warp is WARP_ROWS x
 * WARP_COLS threads, as many as go in step; a thread's rows and words come in groups of 16 bytes,
 * so that neighbouring threads read neighbouring 16-byte pieces of shared and of global memory. The
 * 8 pieces of a warp's row are the 32 banks of shared memory once over, on every architecture.
 */
#ifndef TWI_APSP_GPU_KERNELS_TILE_CUH
#define TWI_APSP_GPU_KERNELS_TILE_CUH

#include "apsp/gpu/kernels/one_type.cuh"

#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

/* A value that an empty piece of assembly may change, for all the compiler knows. */
#if defined(__HIP_DEVICE_COMPILE__)
#define REGISTER "+v"
#elif defined(TWI_HIP)
#define REGISTER "+m"
#else
#define REGISTER_i32 "+r"
#define REGISTER_f32 "+r"
#define REGISTER_u16 "+r"
#define REGISTER_f64 "+d"
#define REGISTER JOIN(REGISTER_, TWI_GPU_TYPE)
#endif
#define OPAQUE(value) REGISTER(value)

/* What a thread holds of a product: chosen by type and tile side so that the register file holds
 * BLOCKS thread blocks of THREADS. */
template <int word_bytes, int side> struct shape;
template <> struct shape<4, 128> {
    enum { ROWS = 8, WORDS = 8, DEPTH = 16 };
};
#ifndef TWI_GPU_ROWS
#define TWI_GPU_ROWS 4 /* 8 read less of shared memory per step, by half of the threads */
#endif
template <> struct shape<4, 64> {
    enum { ROWS = TWI_GPU_ROWS, WORDS = 4, DEPTH = 16 };
};
template <> struct shape<8, 64> {
    enum { ROWS = 4, WORDS = 4, DEPTH = 16 };
};

/* Chunks of operands in shared memory: as many as the copy engine keeps busy, else two, so that two
 * blocks fit in the 64 KiB of AMD's processors and of compute capability 7.5. */
#define CHUNK_STAGES_MOST 4
#if defined(TWI_HIP) || (defined(__CUDA_ARCH__) && !TWI_COPY_ENGINE)
#define CHUNK_STAGES 2
#else
#define CHUNK_STAGES CHUNK_STAGES_MOST
#endif
#if defined(TWI_HIP)
#define CHUNK_UNROLL 2
#else
#define CHUNK_UNROLL 8
#endif

enum {
    SIDE = TWI_GPU_SIDE,
    LANES = step::LANES,
    WIDTH = SIDE / LANES, /* words across a tile */
    ROWS = shape<sizeof(word), SIDE>::ROWS,
    WORDS = shape<sizeof(word), SIDE>::WORDS,
    DEPTH = shape<sizeof(word), SIDE>::DEPTH,
    STAGES = CHUNK_STAGES,
    UNROLL = CHUNK_UNROLL, /* pairs of depths */
    WARP_COLS = 8,
    WARP_ROWS = TWI_WAVE / WARP_COLS,
    WARP = WARP_ROWS * WARP_COLS,
    WARPS_DOWN = SIDE / (WARP_ROWS * ROWS),
    WARPS_ACROSS = WIDTH / (WARP_COLS * WORDS),
    WARPS = WARPS_DOWN * WARPS_ACROSS,
    THREADS = WARPS * WARP,
    BLOCKS = 512 / THREADS, /* at a time on a processor: 128 registers per thread */
    CLOSE_BLOCKS = sizeof(word) > 4 ? 1 : 2, /* a tile is closed beside blocks of the product */
    GROUP = 16 / sizeof(word),
    ROW_SPAN = SIDE * GROUP / ROWS, /* from one group of a thread to the next */
    WORD_SPAN = WIDTH * GROUP / WORDS,
    A_WORDS = DEPTH * SIDE, /* of a chunk */
    B_WORDS = DEPTH * WIDTH,
    STAGE_WORDS = A_WORDS + B_WORDS,
    CHUNKS = SIDE / DEPTH,
    SHARED_BYTES = STAGES * STAGE_WORDS * sizeof(word),
    BAND = 16, /* tile rows that are worked on together, to share panels in the cache */
};

struct __align__(16) group
{
    word at[GROUP];
};

/* The dynamic shared memory of a product's kernel, which depends on what its code was made for. */
template <class kernel_type> static unsigned shared_bytes_of(kernel_type *kernel)
{
#if !defined(TWI_HIP)
    cudaFuncAttributes made;
    if (cudaFuncGetAttributes(&made, kernel) == cudaSuccess && made.ptxVersion < 90) {
        return SHARED_BYTES / CHUNK_STAGES_MOST * 2;
    }
#endif
    (void)kernel;
    return SHARED_BYTES;
}

/* Allow a kernel that much; to be called once for a device. */
template <class kernel_type> static int allow_shared_bytes(kernel_type *kernel)
{
#if defined(TWI_HIP)
    (void)kernel;
    return (int)hipSuccess;
#else
    return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)shared_bytes_of(kernel));
#endif
}

/* Which of a thread's accumulators take the fused form of the step: number `at`, in row i. */
static __host__ __device__ constexpr bool is_fused(int at, int i)
{
    return (at + step::SKEW * i) % 8 < step::FUSED;
}

static __device__ __forceinline__ bool skipped(const twi_gpu_round &r)
{
    return r.needed != NULL && *r.needed == 0;
}

/* --------------------------------------------------------------- where a thread stands in a tile
 */

static __device__ __forceinline__ int thread_y(void)
{
    return threadIdx.x / WARP / WARPS_ACROSS * WARP_ROWS + threadIdx.x % WARP / WARP_COLS;
}

static __device__ __forceinline__ int thread_x(void)
{
    return threadIdx.x / WARP % WARPS_ACROSS * WARP_COLS + threadIdx.x % WARP_COLS;
}

static __device__ __forceinline__ int thread_row(int i)
{
    return i / GROUP * ROW_SPAN + thread_y() * GROUP + i % GROUP;
}

static __device__ __forceinline__ int thread_word(int j)
{
    return j / GROUP * WORD_SPAN + thread_x() * GROUP + j % GROUP;
}

/* ------------------------------------------------------------------------ tiles in global memory
 */

static __device__ __forceinline__ void fill(word (&c)[ROWS][WORDS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            c[i][j] = step::spread(step::infinity());
        }
    }
}

/* Whether any word of the tile is not all infinite; for all threads of the block at once. */
static __device__ __forceinline__ bool has_path(const word (&c)[ROWS][WORDS])
{
    bool some = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            some |= c[i][j] != step::spread(step::infinity());
        }
    }
    return __syncthreads_or(some) != 0;
}

static __device__ __forceinline__ word join_lanes(const element *from)
{
    word w;
    element *part = (element *)&w;
#pragma unroll
    for (int e = 0; e < LANES; e++) {
        part[e] = from[e];
    }
    return w;
}

static __device__ __forceinline__ bool inside(const twi_gpu_round &r, int row, int col)
{
    return row + SIDE <= r.n && col + SIDE <= r.n;
}

/* c = a whole tile in global memory, rows of `ld` elements. */
static __device__ __forceinline__ void load_whole(word (&c)[ROWS][WORDS], const element *tile,
                                                  int64_t ld)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            const element *from = tile + thread_row(i) * ld + thread_word(g * GROUP) * LANES;
            int4 raw = load_once((const int4 *)from);
            group v = *(group *)&raw;
#pragma unroll
            for (int e = 0; e < GROUP; e++) {
                c[i][g * GROUP + e] = v.at[e];
            }
        }
    }
}

static __device__ __forceinline__ void store_whole(const word (&c)[ROWS][WORDS], element *tile,
                                                   int64_t ld)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        element *line = tile + thread_row(i) * ld;
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            group v;
#pragma unroll
            for (int e = 0; e < GROUP; e++) {
                v.at[e] = c[i][g * GROUP + e];
            }
            store_once((int4 *)(line + thread_word(g * GROUP) * LANES), *(int4 *)&v);
        }
    }
}

/* c = the tile at (row, col) of the matrix, which lies inside of it. */
static __device__ __forceinline__ void load_inside(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                   int row, int col)
{
    load_whole(c, (const element *)r.c + row * r.ld + col, r.ld);
}

/* c = min(c, the tile at (row, col)); what lies outside of the matrix counts as infinite. */
static __device__ __forceinline__ void merge_edge(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                  int row, int col)
{
    const element *matrix = (const element *)r.c;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int y = row + thread_row(i);
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            element part[LANES];
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int x = col + thread_word(j) * LANES + e;
                part[e] = y < r.n && x < r.n ? matrix[y * r.ld + x] : step::infinity();
            }
            c[i][j] = step::least(c[i][j], join_lanes(part));
        }
    }
}

static __device__ __forceinline__ void load_tile(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                 int row, int col)
{
    if (inside(r, row, col)) {
        load_inside(c, r, row, col);
    } else {
        fill(c);
        merge_edge(c, r, row, col);
    }
}

/* What lies inside of the matrix, element by element: wherever it lies in memory. */
static __device__ __forceinline__ void store_edge(const word (&c)[ROWS][WORDS],
                                                  const twi_gpu_round &r, int row, int col)
{
    element *matrix = (element *)r.c;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int y = row + thread_row(i);
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int x = col + thread_word(j) * LANES + e;
                if (y < r.n && x < r.n) {
                    matrix[y * r.ld + x] = step::lane(c[i][j], e);
                }
            }
        }
    }
}

static __device__ __forceinline__ void store_tile(const word (&c)[ROWS][WORDS],
                                                  const twi_gpu_round &r, int row, int col)
{
    if (inside(r, row, col)) {
        store_whole(c, (element *)r.c + row * r.ld + col, r.ld);
    } else {
        store_edge(c, r, row, col);
    }
}

/* out[x][y] = the tile's (y, x), rows of `pitch` elements; only y < most_y and x < most_x. */
static __device__ __forceinline__ void store_transposed(const word (&c)[ROWS][WORDS], element *out,
                                                        int64_t pitch, int most_y, int most_x)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
#pragma unroll
        for (int e = 0; e < LANES; e++) {
            int x = thread_word(j) * LANES + e;
#pragma unroll
            for (int g = 0; g < ROWS / GROUP; g++) {
                int y = thread_row(g * GROUP);
                struct __align__(GROUP * sizeof(element)) column
                {
                    element at[GROUP];
                }
                v;
#pragma unroll
                for (int i = 0; i < GROUP; i++) {
                    v.at[i] = step::lane(c[g * GROUP + i][j], e);
                }
                if (x < most_x && y + GROUP <= most_y) {
                    *(column *)(out + x * pitch + y) = v;
                } else if (x < most_x) {
#pragma unroll
                    for (int i = 0; i < GROUP; i++) {
                        if (y + i < most_y) {
                            out[x * pitch + y + i] = v.at[i];
                        }
                    }
                }
            }
        }
    }
}

/* A tile of a panel, as a right operand. */
static __device__ __forceinline__ void store_words(const word (&c)[ROWS][WORDS], word *out)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            group v;
#pragma unroll
            for (int e = 0; e < GROUP; e++) {
                v.at[e] = c[i][g * GROUP + e];
            }
            *(group *)(out + thread_row(i) * WIDTH + thread_word(g * GROUP)) = v;
        }
    }
}

static __device__ __forceinline__ void load_words(word (&c)[ROWS][WORDS], const word *in)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            group v = *(const group *)(in + thread_row(i) * WIDTH + thread_word(g * GROUP));
#pragma unroll
            for (int e = 0; e < GROUP; e++) {
                c[i][g * GROUP + e] = v.at[e];
            }
        }
    }
}

/* A group of words, all of whose elements become words of their own. */
static __device__ __forceinline__ void spread_group(word *out, const word *from)
{
    group v[LANES];
#pragma unroll
    for (int e = 0; e < GROUP * LANES; e++) {
        v[e / GROUP].at[e % GROUP] = step::spread(step::lane(from[e / LANES], e % LANES));
    }
#pragma unroll
    for (int g = 0; g < LANES; g++) {
        ((group *)out)[g] = v[g];
    }
}

/* The same as a left operand: [y][x], each element a word of its own. */
static __device__ __forceinline__ void store_spread(const word (&c)[ROWS][WORDS], word *out)
{
    out += thread_row(0) * SIDE + thread_word(0) * LANES;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            spread_group(out + (i / GROUP * ROW_SPAN + i % GROUP) * SIDE + g * WORD_SPAN * LANES,
                         c[i] + g * GROUP);
        }
    }
}

/* And transposed: [x][y]. */
static __device__ __forceinline__ void store_spread_transposed(const word (&c)[ROWS][WORDS],
                                                               word *out)
{
    out += thread_word(0) * LANES * SIDE + thread_row(0);
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
#pragma unroll
        for (int e = 0; e < LANES; e++) {
#pragma unroll
            for (int g = 0; g < ROWS / GROUP; g++) {
                group v;
#pragma unroll
                for (int i = 0; i < GROUP; i++) {
                    v.at[i] = step::spread(step::lane(c[g * GROUP + i][j], e));
                }
                *(group *)(out + ((j / GROUP * WORD_SPAN + j % GROUP) * LANES + e) * SIDE +
                           g * ROW_SPAN) = v;
            }
        }
    }
}

#endif

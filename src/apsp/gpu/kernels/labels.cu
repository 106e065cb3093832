/*
 * See gpu/kernels/labels.h. Threads of a group look at as many arcs at once, one each, vote which
 * of them come from a row that has changed, and then go through those together, DEEP rows on the
 * way at a time.
 */
#include "apsp/gpu/kernels/labels.h"

#include "apsp/gpu/kernels/one_type.cuh"
#include "gpu/compat.h"

enum {
    THREADS = TWI_LABELS_THREADS,
    BLOCKS = 5, /* of a processor, at a time */
    DEEP = 4,
    ITEMS = TWI_LABELS_ITEMS,
    BYTES = TWI_LABELS_PIECE_BYTES,
    WORDS = BYTES / (int)sizeof(word),
    PIECE = BYTES / (int)sizeof(element), /* columns of a thread */
    MOST_BLOCKS = 1 << 16
};

struct alignas(BYTES) piece {
    word at[WORDS];
};

/* Labels of others: each word is read and written whole, by nobody knows whom at the moment. */
static __device__ __forceinline__ piece load(const piece *from)
{
    piece p;
    if (sizeof(word) == sizeof(int)) {
        int4 v = read16(from);
        p = *(const piece *)&v;
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            p.at[i] = ((const volatile word *)from)[i];
        }
    }
    return p;
}

static __device__ __forceinline__ void store(piece *to, const piece &p)
{
    if (sizeof(word) == sizeof(int)) {
        publish16(to, *(const int4 *)&p);
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            ((volatile word *)to)[i] = p.at[i];
        }
    }
}

static __device__ __forceinline__ piece infinite_piece(void)
{
    piece p;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        p.at[i] = step::spread(step::infinity());
    }
    return p;
}

/* The thread's piece of a row of `rows`. */
static __device__ __forceinline__ piece *piece_of(const twi_labels &l, void *rows, int64_t row,
                                                  int32_t piece_at)
{
    return (piece *)((element *)rows + row * l.ld) + piece_at;
}

static __device__ __forceinline__ int32_t read_stamp(const int32_t *at)
{
    return *(const volatile int32_t *)at;
}

/* New labels of a vertex, whose old ones were `old`. */
template <int LANES>
static __device__ __forceinline__ void settle(const twi_labels &l, int32_t v, int32_t chunk,
                                              int32_t piece_at, const piece &old, const piece &now,
                                              int32_t pass)
{
    bool fell = false;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        fell |= now.at[i] != old.at[i];
    }
    if (fell) {
        store(piece_of(l, l.x, v, piece_at), now);
    }
    if (group_votes(fell, LANES) != 0 && threadIdx.x % LANES == 0) {
        *(volatile int32_t *)(l.stamp + chunk * l.n + v) = pass;
        if (read_stamp(l.changed + chunk) != pass) { /* stores to one address go one by one */
            *(volatile int32_t *)(l.changed + chunk) = pass;
        }
    }
}

/* The arcs of `votes`, counted from `first` on. */
static __device__ __forceinline__ void relax(const twi_labels &l, piece &now, uint32_t votes,
                                             int32_t first, int32_t piece_at)
{
    while (votes != 0) {
        bool on[DEEP];
        element weight[DEEP];
        piece from[DEEP];
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            on[i] = votes != 0;
            if (on[i]) {
                const int32_t a = first + __ffs((int)votes) - 1;
                votes &= votes - 1;
                from[i] = load(piece_of(l, l.x, l.origin[a], piece_at));
                weight[i] = ((const element *)l.weight)[a];
            }
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            if (on[i]) {
                const word w = step::spread(weight[i]);
#pragma unroll
                for (int k = 0; k < WORDS; k++) {
                    now.at[k] = step::fused(now.at[k], from[i].at[k], w);
                }
            }
        }
    }
}

/* One item, by a group. */
template <int LANES>
static __device__ __forceinline__ void take_item(const twi_labels &l, const twi_labels_item &item,
                                                 int32_t chunk, int32_t pass)
{
    const int lane = (int)threadIdx.x % LANES;
    const int32_t *stamp = l.stamp + chunk * l.n;
    const int32_t piece_at = chunk * LANES + lane;
    piece old = infinite_piece();
    piece now = old;
    bool begun = false;
    for (int32_t a = item.first; a < item.end; a += LANES) {
        const bool on = a + lane < item.end && read_stamp(stamp + l.origin[a + lane]) >= pass - 1;
        const uint32_t votes = group_votes(on, LANES);
        if (votes != 0 && !begun && item.part < 0) {
            old = load(piece_of(l, l.x, item.vertex, piece_at));
            now = old;
        }
        begun = begun || votes != 0;
        relax(l, now, votes, a, piece_at);
    }
    if (!begun) {
        return;
    }
    if (item.part < 0) {
        settle<LANES>(l, item.vertex, chunk, piece_at, old, now, pass);
        return;
    }
    *piece_of(l, l.parts, item.part, piece_at) = now;
    if (lane == 0) {
        l.part_stamp[(int64_t)item.part * l.chunks + chunk] = pass;
    }
}

template <int LANES>
static __global__ void TWI_BOUNDS(THREADS, BLOCKS) pass_kernel(const twi_labels l, int32_t pass)
{
    const int32_t chunk = (int32_t)blockIdx.y;
    if (read_stamp(l.changed + chunk) < pass - 1 || read_stamp(l.stop) != 0) {
        return;
    }
    const int64_t groups = THREADS / LANES;
    for (int64_t at = blockIdx.x * groups + threadIdx.x / LANES; at < l.item_count;
         at += gridDim.x * groups) {
        take_item<LANES>(l, l.items[at], chunk, pass);
    }
}

/* A group joins the parts of a hub. */
template <int LANES> static __global__ void join_kernel(const twi_labels l, int32_t pass)
{
    const int lane = (int)threadIdx.x % LANES;
    const int64_t at = blockIdx.x * (int64_t)(THREADS / LANES) + threadIdx.x / LANES;
    const int32_t chunk = (int32_t)blockIdx.y;
    if (at >= l.hub_count || read_stamp(l.changed + chunk) < pass - 1) {
        return;
    }
    const twi_labels_hub hub = l.hubs[at];
    const int32_t piece_at = chunk * LANES + lane;
    const piece old = load(piece_of(l, l.x, hub.vertex, piece_at));
    piece now = old;
    for (int32_t part = hub.first; part < hub.end; part++) {
        if (l.part_stamp[(int64_t)part * l.chunks + chunk] == pass) {
            const piece found = *piece_of(l, l.parts, part, piece_at);
#pragma unroll
            for (int i = 0; i < WORDS; i++) {
                now.at[i] = step::least(now.at[i], found.at[i]);
            }
        }
    }
    settle<LANES>(l, hub.vertex, chunk, piece_at, old, now, pass);
}

template <int LANES> static void start_pass(const twi_labels *l, int32_t pass, cudaStream_t stream)
{
    const int64_t groups = THREADS / LANES, taken = groups * ITEMS;
    const dim3 items((unsigned)((l->item_count + taken - 1) / taken), (unsigned)l->chunks);
    pass_kernel<LANES><<<items, THREADS, 0, stream>>>(*l, pass);
    if (l->hub_count > 0) {
        const dim3 hubs((unsigned)((l->hub_count + groups - 1) / groups), (unsigned)l->chunks);
        join_kernel<LANES><<<hubs, THREADS, 0, stream>>>(*l, pass);
    }
}

static int pass(const twi_labels *labels, int32_t first, int32_t count, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    for (int32_t p = first; p < first + count && labels->item_count > 0; p++) {
        if (labels->lanes == 32) {
            start_pass<32>(labels, p, s);
        } else if (labels->lanes == 16) {
            start_pass<16>(labels, p, s);
        } else {
            start_pass<8>(labels, p, s);
        }
    }
    return (int)cudaGetLastError();
}

static __global__ void clear_kernel(const twi_labels l)
{
    const int64_t pieces = l.n * l.ld / PIECE;
    const piece infinite = infinite_piece();
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < pieces;
         i += gridDim.x * (int64_t)THREADS) {
        ((piece *)l.x)[i] = infinite;
    }
}

static __global__ void source_kernel(const twi_labels l, const int32_t *list, int64_t first,
                                     int32_t count)
{
    const int64_t column = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (column < count) {
        const int64_t v = list != NULL ? list[first + column] : first + column;
        const int64_t chunk = column / (l.lanes * PIECE);
        ((element *)l.x)[v * l.ld + column] = 0;
        l.stamp[chunk * l.n + v] = 0;
    }
}

static int begin(const twi_labels *labels, const int32_t *list, int64_t first, int32_t count,
                 void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    const int64_t blocks = (labels->n * labels->ld / PIECE + THREADS - 1) / THREADS;
    const unsigned clearing = (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
    clear_kernel<<<clearing, THREADS, 0, s>>>(*labels);
    source_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, s>>>(*labels, list,
                                                                                  first, count);
    return (int)cudaGetLastError();
}

#ifdef HAS_TABLE
extern "C" const twi_gpu_labels_kernel JOIN(twi_gpu_labels_, TWI_GPU_TYPE) = {
    THIS_TYPE,
    (int32_t)sizeof(element),
    begin,
    pass,
};
#endif

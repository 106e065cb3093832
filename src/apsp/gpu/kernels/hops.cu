/*
 * See gpu/kernels/hops.h. The cost of a level is rows of neighbours read: 512 bytes each, from the
 * second cache or memory. Some of them are on the way at a time for every group.
 */
#include "apsp/gpu/kernels/hops.h"

#include "gpu/compat.h"

/* Four neighbours on the way and six blocks on a processor are faster than 8 and 4, or 16 and 2, by
 * a quarter and a half (H200, November 2026). */
enum {
    THREADS = 256,
    DEEP = 4,
    BLOCKS = 6,
    SLOTS = TWI_HOPS_SLOTS,
    SIDE = 64, /* of what is transposed at a time */
    MOST_BLOCKS = 65535
};

static __device__ __forceinline__ bool is_full(uint4 a)
{
    return (a.x & a.y & a.z & a.w) == 0xffffffffu;
}

static __device__ __forceinline__ bool is_empty(uint4 a)
{
    return (a.x | a.y | a.z | a.w) == 0;
}

static __device__ __forceinline__ uint4 joined(uint4 a, uint4 b)
{
    return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}

static __device__ __forceinline__ uint4 without(uint4 a, uint4 b)
{
    return make_uint4(a.x & ~b.x, a.y & ~b.y, a.z & ~b.z, a.w & ~b.w);
}

/* The bit of a place in its word. */
static __device__ __forceinline__ uint32_t bit_of(int32_t place)
{
    return 1u << (8 * (place % 4) + place % 32 / 4);
}

/* Row of slot `slot`, as pieces of 16 bytes. */
static __device__ __forceinline__ uint4 *slot_rows(const twi_hops &h, int32_t slot)
{
    return (uint4 *)h.levels + (size_t)slot * h.n * h.lanes;
}

/* ----------------------------------------------------------------------------------- beginning */

static __global__ void look_at_order(twi_hops h)
{
    const int lane = threadIdx.x % 32;
    for (int64_t i = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / 32; i < h.item_count;
         i += gridDim.x * (int64_t)(THREADS / 32)) {
        for (int32_t a = h.items[i].first + lane; a + 1 < h.items[i].end; a += 32) {
            if (h.targets[a] > h.targets[a + 1]) {
                *h.mixed = 1;
            }
        }
    }
}

/* The bits of places from `place` on that there are not, of 32. */
static __device__ __forceinline__ uint32_t missing_bits(int32_t place, int32_t count)
{
    uint32_t missing = 0;
    for (int32_t i = 0; i < 32 && place + 32 > count; i++) {
        missing |= place + i >= count ? bit_of(i) : 0;
    }
    return missing;
}

/* Bits of places that there are not count as seen. Rows of level 0 are cleared; where the places
 * are consecutive vertices, those alone that have a bit, which is set. */
static __global__ void begin_rows(twi_hops h, int64_t first, int32_t count, bool listed)
{
    const int shift = h.lanes == TWI_HOPS_LANES ? 5 : 3; /* lanes, as a power of two */
    for (int64_t q = blockIdx.x * (int64_t)THREADS + threadIdx.x; q < h.n << shift;
         q += gridDim.x * (int64_t)THREADS) {
        const int64_t v = q >> shift, own = v - first;
        const int32_t place = 128 * (int32_t)(q & (h.lanes - 1));
        const bool starts = !listed && own >= 0 && own < count;
        uint32_t seen[4], self[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const bool here = starts && own / 32 == place / 32 + i;
            self[i] = here ? bit_of((int32_t)own) : 0;
            seen[i] = self[i] | missing_bits(place + 32 * i, count);
        }
        ((uint4 *)h.seen)[q] = make_uint4(seen[0], seen[1], seen[2], seen[3]);
        if (listed || starts) {
            ((uint4 *)h.levels)[q] = make_uint4(self[0], self[1], self[2], self[3]);
        }
        if (place == 0) {
            h.active[v] = starts;
        }
        if (q == 0) {
            h.grown[0] = 1;
        }
    }
}

/* A vertex may be listed more than once. */
static __global__ void begin_listed(twi_hops h, const int32_t *list, int32_t count)
{
    const int32_t place = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (place < count) {
        const int64_t v = list[place];
        const size_t word = (size_t)v * 4 * h.lanes + place / 32;
        atomicOr(h.levels + word, bit_of(place));
        atomicOr(h.seen + word, bit_of(place));
        h.active[v] = 1;
    }
}

/* -------------------------------------------------------------------------------------- levels */

/* What a vertex has found, `found`, of which it has seen some: the rest is its row of slot `to`. */
template <int LANES>
static __device__ __forceinline__ void settle(const twi_hops &h, int32_t v, int lane, uint4 found,
                                              uint4 seen, int32_t to, int32_t level)
{
    const uint4 fresh = without(found, seen);
    const size_t at = (size_t)v * LANES + lane;
    if (group_votes(!is_empty(fresh), LANES) == 0) {
        return;
    }
    seen = joined(seen, fresh);
    slot_rows(h, to)[at] = fresh;
    if (!is_empty(fresh)) {
        ((uint4 *)h.seen)[at] = seen;
    }
    const bool full = group_votes(!is_full(seen), LANES) == 0;
    if (lane == 0) {
        h.active[(size_t)to * h.n + v] = 1;
        if (h.grown[level] == 0) { /* stores to one address go one by one: 4 ns each on an H200 */
            h.grown[level] = 1;
        }
        if (full) {
            h.done[v] = 1;
        }
    }
}

/* What a group has found for a hub, without what its vertex has seen, joined with what others have.
 */
template <int LANES>
static __device__ __forceinline__ void join_hub(const twi_hops &h, int32_t hub, int lane,
                                                uint4 fresh)
{
    uint32_t *set = h.hub_sets + ((size_t)hub * LANES + lane) * 4;
    const uint32_t words[4] = {fresh.x, fresh.y, fresh.z, fresh.w};
    for (int i = 0; i < 4; i++) {
        if (words[i] != 0) {
            atomicOr(set + i, words[i]);
        }
    }
}

/* Level 1 of searches from vertices first ... first + count - 1: the bits of those in the list of a
 * vertex, collected in shared memory. */
template <int LANES> static __global__ void pull_first(twi_hops h, int64_t first, int32_t count)
{
    __shared__ uint4 rows[THREADS];
    const int lane = threadIdx.x % LANES;
    const int64_t group = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;
    uint32_t *row = (uint32_t *)(rows + threadIdx.x / LANES * LANES);
    twi_hops_item item = {0, 0, 0, -1};
    rows[threadIdx.x] = make_uint4(0, 0, 0, 0);
    if (group < h.item_count) {
        item = h.items[group];
    }
    if (item.hub >= 0 && *h.mixed == 0 &&
        (h.targets[item.end - 1] < first || h.targets[item.first] >= first + count)) {
        item.end = item.first;
    }
    __syncthreads();
    for (int32_t a = item.first + lane; a < item.end; a += LANES) {
        const int64_t place = h.targets[a] - first;
        if (place >= 0 && place < count) {
            atomicOr(row + place / 32, bit_of((int32_t)place));
        }
    }
    __syncthreads();
    const uint4 found = rows[threadIdx.x];
    if (group >= h.item_count || (item.hub >= 0 && is_empty(found))) {
        return;
    }
    const uint4 seen = ((const uint4 *)h.seen)[(size_t)item.vertex * LANES + lane];
    if (item.hub < 0) {
        settle<LANES>(h, item.vertex, lane, found, seen, 1, 1);
    } else {
        join_hub<LANES>(h, item.hub, lane, without(found, seen));
    }
}

template <int LANES>
static __global__ void TWI_BOUNDS(THREADS, BLOCKS) pull(twi_hops h, int32_t from, int32_t level)
{
    const int lane = threadIdx.x % LANES;
    const int64_t group = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;
    const int32_t to = (from + 1) % SLOTS;
    if (h.grown[level - 1] == 0 || group >= h.item_count) {
        return;
    }
    const twi_hops_item item = h.items[group];
    if (h.done[item.vertex]) {
        return;
    }
    const uint4 *rows = slot_rows(h, from) + lane;
    const uint8_t *active = h.active + (size_t)from * h.n;
    uint4 seen = ((const uint4 *)h.seen)[(size_t)item.vertex * LANES + lane];
    uint4 found = make_uint4(0, 0, 0, 0);
    if (item.hub >= 0) { /* what other groups have found need not be found again */
        const int4 set = read16(h.hub_sets + ((size_t)item.hub * LANES + lane) * 4);
        seen = joined(
            seen, make_uint4((uint32_t)set.x, (uint32_t)set.y, (uint32_t)set.z, (uint32_t)set.w));
    }
    const int32_t end = is_full(seen) ? item.first : item.end;
    for (int32_t a = item.first; a < end; a += DEEP) {
        int32_t u[DEEP];
        bool on[DEEP];
        uint4 row[DEEP];
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            u[i] = a + i < end ? h.targets[a + i] : -1;
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            on[i] = u[i] >= 0 && active[u[i]] != 0;
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            row[i] = make_uint4(0, 0, 0, 0);
            if (on[i]) {
                row[i] = rows[(size_t)u[i] * LANES];
            }
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            found = joined(found, row[i]);
        }
        if (is_full(joined(found, seen))) {
            break;
        }
    }
    if (item.hub < 0) {
        settle<LANES>(h, item.vertex, lane, found, seen, to, level);
        return;
    }
    if (group_votes(!is_full(joined(found, seen)), LANES) == 0 && lane == 0) {
        h.done[item.vertex] = 1; /* to groups that have not begun */
    }
    join_hub<LANES>(h, item.hub, lane, without(found, seen));
}

/* What the groups of a hub have found together. */
template <int LANES> static __global__ void settle_hubs(twi_hops h, int32_t from, int32_t level)
{
    const int lane = threadIdx.x % LANES;
    const int64_t hub = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;
    if (h.grown[level - 1] == 0 || hub >= h.hub_count) {
        return;
    }
    const int32_t v = h.hubs[hub];
    uint4 *set = (uint4 *)h.hub_sets + (size_t)hub * LANES + lane;
    const uint4 found = *set;
    *set = make_uint4(0, 0, 0, 0);
    settle<LANES>(h, v, lane, found, ((const uint4 *)h.seen)[(size_t)v * LANES + lane],
                  (from + 1) % SLOTS, level);
}

/* ------------------------------------------------------------------------------------- results */

/* Four bytes or two halves, each at most 15: ones all over those that are not 0. */
static __device__ __forceinline__ uint32_t filled_bytes(uint32_t t)
{
    return (((t + 0x7f7f7f7fu) & 0x80808080u) >> 7) * 0xffu;
}

static __device__ __forceinline__ uint32_t filled_halves(uint32_t t)
{
    return (((t + 0x7fff7fffu) & 0x80008000u) >> 15) * 0xffffu;
}

template <class element> struct write_job {
    element *out;
    int64_t stride;
    int32_t count;
    int32_t origin;
    int32_t depth;
    int32_t base;
    bool aligned;
    bool last;
    int wide; /* threads of a row, as a power of two */
};

/* A piece of 16 bytes of the result at column `col` of its row: `part` of the last one may be all
 * that is there. */
template <class element>
static __device__ void put_piece(element *row, int32_t col, int32_t count, const uint32_t value[4],
                                 const uint32_t mask[4], bool first, bool aligned)
{
    const int each = 16 / (int)sizeof(element);
    if (!first && (mask[0] | mask[1] | mask[2] | mask[3]) == 0) {
        return;
    }
    if (aligned && col + each <= count) {
        int4 *at = (int4 *)(row + col);
        int4 old = {0, 0, 0, 0};
        if (!first) {
            old = *at;
        }
        store_once(at, make_int4((int)((uint32_t)old.x & ~mask[0]) | (int)value[0],
                                 (int)((uint32_t)old.y & ~mask[1]) | (int)value[1],
                                 (int)((uint32_t)old.z & ~mask[2]) | (int)value[2],
                                 (int)((uint32_t)old.w & ~mask[3]) | (int)value[3]));
        return;
    }
    for (int i = 0; i < each && col + i < count; i++) {
        const int in_word = 4 / (int)sizeof(element);
        const int shift = i % in_word * 8 * (int)sizeof(element);
        if (first || (element)(mask[i / in_word] >> shift) != 0) {
            row[col + i] = (element)(value[i / in_word] >> shift);
        }
    }
}

/* A thread makes 16 bytes of the result: 16 distances of one byte, half a word of bits, or 8 of two
 * bytes, a quarter. 2^wide threads take a row. */
template <class element>
static __device__ __forceinline__ void write_piece(const twi_hops &h, const write_job<element> &job,
                                                   int64_t v, int32_t piece)
{
    const int each = 16 / (int)sizeof(element), parts = 32 / each;
    const size_t words = 4 * (size_t)h.lanes;
    const int32_t depth = job.depth, base = job.base, origin = job.origin;
    const int32_t part = piece % parts;
    const size_t at = (size_t)v * words + piece / parts;
    uint32_t plane[4] = {0, 0, 0, 0};
    for (int32_t l = 1; l <= depth; l += 4) { /* four of them on the way */
        uint32_t bits[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t slot = (size_t)((origin + l + i) % SLOTS);
            const bool on = l + i <= depth && h.active[slot * h.n + v] != 0;
            bits[i] = on ? h.levels[slot * h.n * words + at] : 0;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int p = 0; p < 4; p++) {
                plane[p] |= (l + i) >> p & 1 ? bits[i] : 0;
            }
        }
    }
    const uint32_t missing = base == 0 ? ~h.seen[at] >> (part * each / 4) : 0;
    uint32_t value[4], mask[4];
    for (int r = 0; r < each / 4; r++) {
        uint32_t t = 0;
#pragma unroll
        for (int p = 0; p < 4; p++) {
            t |= (plane[p] >> (part * each / 4 + r) & 0x01010101u) << p;
        }
        const uint32_t far = missing >> r & 0x01010101u;
        if (sizeof(element) == 1) {
            mask[r] = filled_bytes(t);
            value[r] = ((t + (uint32_t)base * 0x01010101u) & mask[r]) | far * 0xffu;
        } else {
            const uint32_t low = (t & 0xff) | (t & 0xff00) << 8;
            const uint32_t high = (t >> 16 & 0xff) | (t >> 24) << 16;
            mask[2 * r % 4] = filled_halves(low);
            mask[(2 * r + 1) % 4] = filled_halves(high);
            value[2 * r % 4] = ((low + (uint32_t)base * 0x10001u) & mask[2 * r % 4]) |
                               ((far & 0xff) | (far & 0xff00) << 8) * 0xffffu;
            value[(2 * r + 1) % 4] = ((high + (uint32_t)base * 0x10001u) & mask[(2 * r + 1) % 4]) |
                                     ((far >> 16 & 0xff) | (far >> 24) << 16) * 0xffffu;
        }
    }
    put_piece(job.out + v * job.stride, piece * each, job.count, value, mask, base == 0,
              job.aligned);
}

template <class element> static __global__ void write_rows(twi_hops h, write_job<element> job)
{
    const int32_t pieces = (job.count + 31) / 32 * 2 * (int32_t)sizeof(element);
    const int width = 1 << job.wide, rows = THREADS >> job.wide;
    if (job.last && h.grown[job.depth] != 0) {
        return;
    }
    for (int64_t v = blockIdx.x * (int64_t)rows + (threadIdx.x >> job.wide); v < h.n;
         v += gridDim.x * (int64_t)rows) {
        for (int32_t piece = threadIdx.x & (width - 1); piece < pieces; piece += width) {
            write_piece(h, job, v, piece);
        }
    }
}

/* The first window into bytes, where rows begin at whole pieces of 16 bytes and there are multiples
 * of 64 places: a thread has a word of bits, so 32 distances. Threads beside each other trade
 * halves, so that what they store together fills sectors of 32 bytes. MOST: of depth; 3, 7 or 15.
 */
template <int MOST> static __global__ void write_bytes(twi_hops h, write_job<uint8_t> job)
{
    enum { PLANES = MOST == 3 ? 2 : MOST == 7 ? 3 : 4 };
    const int64_t v = (blockIdx.x * (int64_t)THREADS + threadIdx.x) >> job.wide;
    const int32_t word = threadIdx.x & ((1 << job.wide) - 1);
    const size_t words = 4 * (size_t)h.lanes, at = (size_t)v * words + word;
    if ((job.last && h.grown[job.depth] != 0) || v >= h.n || 32 * word >= job.count) {
        return;
    }
    uint32_t plane[PLANES] = {}, out[8], got[4];
    const uint32_t missing = ~h.seen[at];
#pragma unroll
    for (int l = 1; l <= MOST; l++) {
        const size_t slot = (size_t)((job.origin + l) % SLOTS);
        const bool on = l <= job.depth && h.active[slot * h.n + v] != 0;
        const uint32_t bits = on ? h.levels[slot * h.n * words + at] : 0;
#pragma unroll
        for (int p = 0; p < PLANES; p++) {
            plane[p] |= l >> p & 1 ? bits : 0;
        }
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        out[r] = 0;
#pragma unroll
        for (int p = 0; p < PLANES; p++) {
            out[r] |= (p >= r ? plane[p] << (p - r) : plane[p] >> (r - p)) & 0x01010101u << p;
        }
        if (missing != 0) {
            out[r] |= (missing >> r & 0x01010101u) * 0xffu;
        }
    }
    const bool odd = threadIdx.x % 2 == 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        got[i] = from_neighbour(odd ? out[i] : out[4 + i]);
    }
    uint8_t *to = job.out + v * job.stride + 32 * (word & ~1) + (odd ? 16 : 0);
    store_once((int4 *)to, odd ? make_int4((int)got[0], (int)got[1], (int)got[2], (int)got[3])
                               : make_int4((int)out[0], (int)out[1], (int)out[2], (int)out[3]));
    store_once((int4 *)(to + 32),
               odd ? make_int4((int)out[4], (int)out[5], (int)out[6], (int)out[7])
                   : make_int4((int)got[0], (int)got[1], (int)got[2], (int)got[3]));
}

template <int LANES>
static __global__ void fold_rows(twi_hops h, twi_hops_fold *folds, int32_t origin, int32_t depth,
                                 int32_t base, bool last)
{
    const int lane = threadIdx.x % LANES;
    const int64_t v = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;
    uint32_t reached = 0, sum = 0, most = 0;
    if (v >= h.n || (last && h.grown[depth] != 0)) {
        return;
    }
    for (int32_t l = 1; l <= depth; l++) {
        const int32_t slot = (origin + l) % SLOTS;
        if (h.active[(size_t)slot * h.n + v]) {
            const uint4 row = slot_rows(h, slot)[(size_t)v * LANES + lane];
            const uint32_t fresh =
                (uint32_t)(__popc(row.x) + __popc(row.y) + __popc(row.z) + __popc(row.w));
            reached += fresh;
            sum += fresh * (uint32_t)l;
            most = (uint32_t)l;
        }
    }
    reached = group_sum(reached, LANES);
    sum = group_sum(sum, LANES);
    if (lane == 0 && reached > 0) {
        folds[v].reached += reached;
        folds[v].sum += (int64_t)sum + (int64_t)reached * base;
        if (base + (int64_t)most > folds[v].most) {
            folds[v].most = base + (int64_t)most;
        }
    }
}

/* Tiles through shared memory. */
template <class element>
static __global__ void turn(element *to, int64_t to_stride, const element *from,
                            int64_t from_stride, int64_t n, int32_t count)
{
    __shared__ element tile[SIDE][SIDE + 4 / sizeof(element)];
    const int64_t tiles_across = (count + SIDE - 1) / SIDE;
    const int64_t tiles = (n + SIDE - 1) / SIDE * tiles_across;
    for (int64_t k = blockIdx.x; k < tiles; k += gridDim.x) {
        const int64_t i0 = k / tiles_across * SIDE, j0 = k % tiles_across * SIDE;
        for (int at = threadIdx.x; at < SIDE * SIDE; at += THREADS) {
            const int64_t i = i0 + at / SIDE, j = j0 + at % SIDE;
            if (i < n && j < count) {
                tile[at / SIDE][at % SIDE] = from[i * from_stride + j];
            }
        }
        __syncthreads();
        for (int at = threadIdx.x; at < SIDE * SIDE; at += THREADS) {
            const int64_t j = j0 + at / SIDE, i = i0 + at % SIDE;
            if (i < n && j < count) {
                to[j * to_stride + i] = tile[at % SIDE][at / SIDE];
            }
        }
        __syncthreads();
    }
}

/* ------------------------------------------------------------------------------------ launches */

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

static unsigned blocks_at_most(int64_t threads)
{
    const unsigned blocks = blocks_for(threads);
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

int twi_gpu_hops_open(const twi_hops *hops, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    if (hops->hub_count == 0) {
        return 0;
    }
    const size_t row = (size_t)twi_hops_row_bytes(hops->lanes);
    int error = (int)cudaMemsetAsync(hops->hub_sets, 0, (size_t)hops->hub_count * row, queue);
    error = error != 0 ? error : (int)cudaMemsetAsync(hops->mixed, 0, sizeof *hops->mixed, queue);
    if (error != 0) {
        return error;
    }
    look_at_order<<<blocks_at_most(hops->item_count * (int64_t)32), THREADS, 0, queue>>>(*hops);
    return (int)cudaGetLastError();
}

int twi_gpu_hops_begin(const twi_hops *hops, const twi_hops_batch *batch, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const size_t n = (size_t)hops->n;
    int error = (int)cudaMemsetAsync(hops->active, 0, SLOTS * n, queue);
    error = error != 0 ? error : (int)cudaMemsetAsync(hops->done, 0, n, queue);
    error = error != 0 ? error : (int)cudaMemsetAsync(hops->grown, 0, SLOTS * 4, queue);
    if (error != 0) {
        return error;
    }
    begin_rows<<<blocks_at_most(hops->n * hops->lanes), THREADS, 0, queue>>>(
        *hops, batch->first, batch->count, batch->list != nullptr);
    if (batch->list != nullptr) {
        begin_listed<<<blocks_for(batch->count), THREADS, 0, queue>>>(
            *hops, batch->list + batch->first, batch->count);
    }
    return (int)cudaGetLastError();
}

template <int LANES>
static int queue_levels(const twi_hops *hops, const twi_hops_batch *batch, int32_t origin,
                        int32_t level, int32_t count, cudaStream_t queue)
{
    const bool listed = batch == nullptr || batch->list != nullptr;
    for (int32_t l = level; l < level + count; l++) {
        const int32_t from = (origin + l - 1) % SLOTS;
        const unsigned blocks = blocks_for(hops->item_count * (int64_t)LANES);
        if (hops->item_count > 0 && l == 1 && !listed) {
            pull_first<LANES><<<blocks, THREADS, 0, queue>>>(*hops, batch->first, batch->count);
        } else if (hops->item_count > 0) {
            pull<LANES><<<blocks, THREADS, 0, queue>>>(*hops, from, l);
        }
        if (hops->hub_count > 0) {
            settle_hubs<LANES><<<blocks_for(hops->hub_count * (int64_t)LANES), THREADS, 0, queue>>>(
                *hops, from, l);
        }
    }
    return (int)cudaGetLastError();
}

int twi_gpu_hops_levels(const twi_hops *hops, const twi_hops_batch *batch, int32_t origin,
                        int32_t level, int32_t count, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    return hops->lanes == TWI_HOPS_LANES
               ? queue_levels<TWI_HOPS_LANES>(hops, batch, origin, level, count, queue)
               : queue_levels<TWI_HOPS_FEW_LANES>(hops, batch, origin, level, count, queue);
}

static __global__ void begin_window(int32_t *grown)
{
    if (threadIdx.x < SLOTS) {
        grown[threadIdx.x] = threadIdx.x == 0;
    }
}

int twi_gpu_hops_next(const twi_hops *hops, int32_t origin, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const size_t n = (size_t)hops->n;
    int error = (int)cudaMemsetAsync(hops->active, 0, (size_t)origin * n, queue);
    error = error != 0 ? error
                       : (int)cudaMemsetAsync(hops->active + (size_t)(origin + 1) * n, 0,
                                              (size_t)(SLOTS - 1 - origin) * n, queue);
    if (error != 0) {
        return error;
    }
    begin_window<<<1, THREADS, 0, queue>>>(hops->grown);
    return (int)cudaGetLastError();
}

template <class element>
static int queue_write(const twi_hops *hops, const twi_hops_out *out, int32_t origin, int32_t depth,
                       int32_t base, bool last, cudaStream_t queue)
{
    const bool aligned = (uintptr_t)out->data % 16 == 0 && out->stride * sizeof(element) % 16 == 0;
    const int32_t pieces = (out->count + 31) / 32 * 2 * (int32_t)sizeof(element);
    int wide = 1;
    while (wide < 8 && 1 << wide < pieces) {
        wide++;
    }
    const write_job<element> job = {
        (element *)out->data, out->stride, out->count, origin, depth, base, aligned, last, wide};
    write_rows<element><<<blocks_at_most(hops->n << wide), THREADS, 0, queue>>>(*hops, job);
    return (int)cudaGetLastError();
}

/* The quick way, where it is one. */
static int queue_bytes(const twi_hops *hops, const twi_hops_out *out, int32_t origin, int32_t depth,
                       bool last, cudaStream_t queue)
{
    int wide = 1;
    while (1 << wide < out->count / 32) {
        wide++;
    }
    const write_job<uint8_t> job = {
        (uint8_t *)out->data, out->stride, out->count, origin, depth, 0, true, last, wide};
    const unsigned blocks = blocks_for(hops->n << wide);
    if (depth <= 3) {
        write_bytes<3><<<blocks, THREADS, 0, queue>>>(*hops, job);
    } else if (depth <= 7) {
        write_bytes<7><<<blocks, THREADS, 0, queue>>>(*hops, job);
    } else {
        write_bytes<15><<<blocks, THREADS, 0, queue>>>(*hops, job);
    }
    return (int)cudaGetLastError();
}

int twi_gpu_hops_write(const twi_hops *hops, const twi_hops_out *out, int32_t origin, int32_t depth,
                       int32_t base, bool last, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const bool pieces = (uintptr_t)out->data % 16 == 0 && out->stride % 16 == 0;
    if (out->type == TW_U8 && base == 0 && pieces && out->count % 64 == 0) {
        return queue_bytes(hops, out, origin, depth, last, queue);
    }
    return out->type == TW_U8 ? queue_write<uint8_t>(hops, out, origin, depth, base, last, queue)
                              : queue_write<uint16_t>(hops, out, origin, depth, base, last, queue);
}

int twi_gpu_hops_fold(const twi_hops *hops, twi_hops_fold *folds, int32_t origin, int32_t depth,
                      int32_t base, bool last, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const unsigned blocks = blocks_for(hops->n * hops->lanes);
    if (hops->lanes == TWI_HOPS_LANES) {
        fold_rows<TWI_HOPS_LANES>
            <<<blocks, THREADS, 0, queue>>>(*hops, folds, origin, depth, base, last);
    } else {
        fold_rows<TWI_HOPS_FEW_LANES>
            <<<blocks, THREADS, 0, queue>>>(*hops, folds, origin, depth, base, last);
    }
    return (int)cudaGetLastError();
}

int twi_gpu_hops_turn(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n,
                      int32_t count, tw_type type, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const unsigned blocks = blocks_at_most(n * count / 16 + 1);
    if (type == TW_U8) {
        turn<<<blocks, THREADS, 0, queue>>>((uint8_t *)to, to_stride, (const uint8_t *)from,
                                            from_stride, n, count);
    } else {
        turn<<<blocks, THREADS, 0, queue>>>((uint16_t *)to, to_stride, (const uint16_t *)from,
                                            from_stride, n, count);
    }
    return (int)cudaGetLastError();
}

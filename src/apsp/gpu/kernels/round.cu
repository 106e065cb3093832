/*
 * A round in one launch, for one element type, tile side and number of rows per thread
 * (TWI_GPU_TYPE, TWI_GPU_SIDE, TWI_GPU_ROWS). The first block of the launch brings the next pivot's
 * tile up to date and closes it, the blocks after it bring the tiles of the next pivot's row and
 * column up to date and multiply them by the closed tile when it is there; all others update the
 * rest.
 *
 * A launch begins while the last blocks of the one before it run, so that no processor waits for
 * the end of a round. So every block waits for what it reads, by flags: for its own tile, which the
 * round before has updated, and for two tiles of panels. A flag is raised once; each launch has its
 * own, but for those of the matrix's tiles, which count rounds. Blocks start in the order of their
 * numbers, and a launch when every block of the one before it runs, so whoever waits waits for a
 * block that runs. The first block leaves last, when the launch before its own has ended: so when a
 * launch begins, all but the one before it have, and panels need three places and raw panels two.
 *
 * Tiles of 64 stay in registers from their update to their product with the closed tile, which lies
 * in shared memory with them and comes word by word, as in together.cuh. Tiles of 128 are too large
 * for that: they are written to the raw panel, and read again by blocks that start later.
 *
 * Sums are those of the rounds on two streams.
 *
 * Tried and slower on an H200, November 2026 (n = 2000, when a launch waited for the whole one
 * before it, 0.78 ms): four tiles of the rest per block, which halves the operands (0.97); blocks
 * that stay and take one tile after the other, operands on their way early, with the processor that
 * closes the tile kept clear (0.92).
 */
#include "apsp/gpu/kernels/ahead.cuh"
#include "apsp/gpu/kernels/together.cuh"

#if !defined(TWI_HIP) /* where nobody has seen the order in which blocks start */

#if TOGETHER
enum {
    KEEPS = 1,
    AT_ONCE = (int)ROWS == 4 ? 3 : 5, /* blocks on a processor; measured */
    ROUND_WORDS = 2 * SIDE * SIDE,    /* a left and a right operand */
    ROUND_BYTES = ROUND_WORDS * sizeof(word),
};
static_assert((int)SHARED_BYTES <= (int)ROUND_BYTES, "the product's chunks lie where operands do");
#else
enum { KEEPS = 0, AT_ONCE = BLOCKS };
#endif

/* What a flag of a panel's tile says once the tile is there. */
enum { ALL_INFINITE = 1, NONEMPTY = 2 };

/* ------------------------------------------------------------------------------------- flags */

/* Round p leaves p + 2 with every tile that it has written: all but the pivot's row and column,
 * which the round before it finished. What the last one to write this tile before this round left:
 * 0 if none did. */
static __device__ __forceinline__ int last_round(const twi_gpu_round &r, int down, int across)
{
    const int before = r.pivot - 1;
    if (before < 0) { /* round -1 made pivot 0 ready, and nothing else */
        return before == -1 && (down == 0 || across == 0);
    }
    return before + 2 - (down == before || across == before);
}

/* Wait until nobody writes the tile any more, and, if there is a pivot, for its panels' tiles. True
 * if these have anything for the tile. */
static __device__ __forceinline__ bool await_tile(const twi_gpu_round &r, int down, int across,
                                                  bool panels)
{
    __shared__ int32_t seen[3];
    if (threadIdx.x < (panels ? 3 : 1)) {
        const int32_t *flag = threadIdx.x == 0   ? r.rounds_done + down * r.tiles + across
                              : threadIdx.x == 1 ? r.col_ready + down
                                                 : r.row_ready + across;
        const int32_t least = threadIdx.x == 0 ? last_round(r, down, across) : 1;
        int32_t value;
        do {
            value = read_flag(flag);
        } while (value < least);
        seen[threadIdx.x] = value;
    }
    __syncthreads();
    order_copies();
    return panels && seen[1] == NONEMPTY && seen[2] == NONEMPTY;
}

/* All of the block have written what the flag is for, which the copy engine may read. */
static __device__ __forceinline__ void raise_together(int32_t *flag, int32_t value)
{
    order_copies();
    __syncthreads();
    if (threadIdx.x == 0) {
        raise_flag(flag, value);
    }
}

/* The calling block has finished the tile. */
static __device__ __forceinline__ void tile_done(const twi_gpu_round &r, int down, int across)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        raise_flag(r.rounds_done + down * r.tiles + across, r.pivot + 2);
    }
}

/* And a tile of the next pivot's panels with it. */
static __device__ __forceinline__ void panel_done(const twi_gpu_round &r, const ahead_tile &t,
                                                  bool some)
{
    raise_together((t.column ? r.next_col_ready : r.next_row_ready) + t.x,
                   some ? NONEMPTY : ALL_INFINITE);
    if (threadIdx.x == 0) {
        raise_flag(r.rounds_done + t.down * r.tiles + t.across, r.pivot + 2);
    }
}

/* -------------------------------------------------------------------------------- the next pivot
 */

/* c = the tile of the next pivot's row or column after this round. */
static __device__ __forceinline__ void take_ahead(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                  const ahead_tile &t)
{
    /* The tile shared with the pivot was finished together with the pivot's panels. */
    if (await_tile(r, t.down, t.across, r.pivot >= 0 && t.x != r.pivot)) {
        updated_tile(c, r, t.down, t.across);
    } else {
        load_tile(c, r, t.down * SIDE, t.across * SIDE);
    }
}

#if TOGETHER

static __device__ __forceinline__ void make_panel(const twi_gpu_round &, int)
{
}

static __device__ __forceinline__ void make_ahead(const twi_gpu_round &r, int at)
{
    __shared__ close_shared closing;
    const ahead_tile t = ahead_tile_of(r, at);
    const int64_t words = SIDE * SIDE;
    word *tile = (word *)r.tile + r.next * words;
    word *tile_t = (word *)r.tile_t + r.next * words;
    word *left = (word *)shared_bytes;
    word *right = left + words;

    word c[ROWS][WORDS];
    take_ahead(c, r, t);
    if (at == 0) {
        close_registers(c, &closing, steps_of_next(r), r.one);
        publish_words(c, tile);
        publish_transposed(c, tile_t);
        store_tile(c, r, t.down * SIDE, t.across * SIDE);
        tile_done(r, t.down, t.across);
        return;
    }
    if (!has_path(c)) { /* after which nobody reads the product's operands any more */
        panel_done(r, t, false);
        return;
    }
    if (t.column) {
        store_transposed(c, left, SIDE, SIDE, SIDE);
        bring(right, tile);
    } else {
        store_words(c, right);
        bring(left, tile_t);
    }
    multiply(c, left, right, r.one);
    if (t.column) {
        store_transposed(c, (element *)r.next_col + t.x * words, SIDE, SIDE, SIDE);
    } else {
        store_words(c, (word *)r.next_row + t.x * words);
    }
    store_tile(c, r, t.down * SIDE, t.across * SIDE);
    panel_done(r, t, true);
}

#else

static __device__ __forceinline__ void make_ahead(const twi_gpu_round &r, int at)
{
    __shared__ close_shared closing;
    const ahead_tile t = ahead_tile_of(r, at);
    word c[ROWS][WORDS];
    take_ahead(c, r, t);
    int32_t *ready = r.raw_ready + t.column * r.tiles + t.x;
    if (at > 0) {
        const bool some = has_path(c);
        if (some) {
            store_raw(c, r, t);
        }
        raise_together(ready, some ? NONEMPTY : ALL_INFINITE);
        return;
    }
    close_registers(c, &closing, steps_of_next(r), r.one);
    store_closed(c, r);
    raise_together(ready, NONEMPTY); /* first what others wait for */
    store_tile(c, r, t.down * SIDE, t.across * SIDE);
    tile_done(r, t.down, t.across);
}

static __device__ __forceinline__ void make_panel(const twi_gpu_round &r, int at)
{
    __shared__ int32_t found[2];
    const ahead_tile t = ahead_tile_of(r, at + 1);
    if (threadIdx.x < 2) { /* the closed tile; this one */
        const int32_t *flag = r.raw_ready + (threadIdx.x == 0 ? r.next : t.column * r.tiles + t.x);
        int32_t value;
        do {
            value = read_flag(flag);
        } while (value == 0);
        found[threadIdx.x] = value;
    }
    __syncthreads();
    order_copies();
    const bool some = found[1] == NONEMPTY;
    if (some) {
        form_panel(r, t);
    }
    panel_done(r, t, some);
}

#endif

/* --------------------------------------------------------------------------------- all of a round
 */

static __device__ __forceinline__ void update_rest(const twi_gpu_round &r, int at)
{
    const tile_place place = wide_tile(r, at);
    if (await_tile(r, place.down, place.across, true)) {
        word c[ROWS][WORDS];
        updated_tile(c, r, place.down, place.across);
        store_tile(c, r, place.down * SIDE, place.across * SIDE);
    }
    tile_done(r, place.down, place.across);
}

static __global__ void TWI_BOUNDS(THREADS, AT_ONCE) round_kernel(const twi_gpu_round r)
{
    if (r.pivot < 0) {
        await_launch_before();
    }
    if (skipped(r)) {
        return;
    }
    int at = blockIdx.x;
    const bool first = at == 0;
    if (!first) {
        allow_next_launch();
    }
    /* Heads, some of the rest while the tile is being closed, panels, all that is left. */
    const int heads = r.next >= 0 ? (int)ahead_tiles(r) : 0;
    const int panels = !KEEPS && heads > 0 ? heads - 1 : 0;
    if (at < heads) {
        make_ahead(r, at);
    } else if (at >= heads + r.between && at < heads + r.between + panels) {
        make_panel(r, at - heads - r.between);
    } else {
        at -= heads;
        update_rest(r, at < r.between ? at : at - panels);
    }
    if (first) {
        await_launch_before();
    }
}

/* ------------------------------------------------------------------------------------- launches */

#if TOGETHER
static unsigned bytes_of_round(void)
{
    return ROUND_BYTES;
}

static int set_up(void)
{
    return (int)cudaSuccess;
}
#else
static unsigned bytes_of_round(void)
{
    return shared_bytes_of(round_kernel);
}

static int set_up(void)
{
    return allow_shared_bytes(round_kernel);
}
#endif

/* How many of the rest begin before the panels, which wait for the tile that is being closed: as
 * many as keep all processors busy for two of their times. */
static int between_of(unsigned rest, int32_t *between)
{
    int device = 0;
    int processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    *between = (int32_t)min(rest, 2 * (unsigned)processors * AT_ONCE);
    return (int)error;
}

static int start(const twi_gpu_round *given, void *stream)
{
    twi_gpu_round r = *given;
    const unsigned heads = r.next >= 0 ? ahead_tiles(r) : 0;
    const unsigned rest = r.pivot >= 0 ? wide_tiles(r) : 0;
    const unsigned panels = !KEEPS && heads > 0 ? heads - 1 : 0;
    const dim3 blocks(heads + rest + panels);
    const int error = between_of(rest, &r.between);
    if (error != 0) {
        return error;
    }
#if CUDART_VERSION >= 11080
    cudaFuncAttributes made;
    if (cudaFuncGetAttributes(&made, round_kernel) == cudaSuccess && made.ptxVersion >= 90) {
        cudaLaunchAttribute early;
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t launch = {};
        launch.gridDim = blocks;
        launch.blockDim = dim3(THREADS);
        launch.dynamicSmemBytes = bytes_of_round();
        launch.stream = (cudaStream_t)stream;
        launch.attrs = &early;
        launch.numAttrs = 1;
        return (int)cudaLaunchKernelEx(&launch, round_kernel, r);
    }
#endif
    round_kernel<<<blocks, THREADS, bytes_of_round(), (cudaStream_t)stream>>>(r);
    return (int)cudaGetLastError();
}

#else
enum { KEEPS = TOGETHER };
#define set_up NULL
#define start NULL
#endif

#ifdef HAS_TABLE
extern "C" const twi_gpu_rounds JOIN3(JOIN3(twi_gpu_rounds_, TWI_GPU_TYPE, _), TWI_GPU_SIDE,
                                      JOIN(_, TWI_GPU_ROWS)) = {set_up, start, KEEPS};
#endif

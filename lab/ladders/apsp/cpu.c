/*
 * Ladder apsp-cpu: all-pairs shortest paths of a dense graph on a CPU, from three loops to the
 * library's engine. Weights are int32 from 0 to 1000, one pair in ten has no edge.
 *
 *   naive           three loops, one thread, a branch for each relaxation
 *   min             the branch becomes a minimum, and the compiler uses vectors
 *   pthreads        rows divided over threads, a barrier for each k (row A1)
 *   blocked         three phases over tiles that fit the cache, one thread
 *   blocked-openmp  tiles divided over threads (row B1 without its vectors)
 *   blocked-static  the same with tiles dealt out beforehand (row B1)
 *   blocked-simd    128-bit vectors by hand (row B1)
 *   blocked-padded  rows of a length that does not make cache sets collide
 *   wide-avx2, wide-avx512  the same with vectors of 256 and 512 bits, where there are some
 *   packed          operands packed, results in registers over the depth of a tile
 *   packed-u16      the same in 16 bits, with plain additions
 *   engine-i32      panels deeper than a tile, look-ahead: the library, in 32 bits
 *   engine-u16      the same in 16 bits, which is exact here: twice the lanes
 *
 * Each looks whether it is cancelled for every k, or for every tile.
 *
 * apsp-cpu-blocks sweeps the tile of blocked-openmp, apsp-threads and apsp-threads-weak the threads
 * of the engine.
 */
#include "ladders/answers.h"
#include "ladders/apsp/cpu_kernels.h"
#include "ladders/ladders.h"

#include "apsp/closure/cpu.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define NO_PATH TW_APSP_INF_I32
#define MOST_THREADS 256

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    int32_t *input;  /* n x n */
    int32_t *right;  /* n x n: the answer */
    int32_t *output; /* n x n */
    int32_t *space;  /* n rows of `wide` for the padded rungs */
    int64_t wide;
    uint64_t seed;
    struct bench *larger; /* the last rung's own problem, for weak scaling */
} bench;

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The reference: rows are independent within one k. */
static void solve_plainly(tw_context *ctx, int32_t *d, int64_t n, int threads)
{
    (void)threads;
    for (int64_t k = 0; k < n && !twi_is_cancelled(ctx); k++) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            int32_t through = d[i * n + k];
            for (int64_t j = 0; j < n; j++) {
                d[i * n + j] = least(d[i * n + j], through + d[k * n + j]);
            }
        }
    }
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        close_bench(b->larger);
        twi_free(b->space);
        twi_free(b->output);
        twi_free(b->right);
        twi_free(b->input);
        twi_free(b);
    }
}

static void fill(bench *b, uint64_t seed)
{
    int64_t n = b->n;
    for (int64_t i = 0; i < n * n; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        bool edge = random % 10 != 0;
        b->input[i] = edge ? (int32_t)twi_random_below(random, 1001) : NO_PATH;
    }
    for (int64_t i = 0; i < n; i++) {
        b->input[i * n + i] = 0;
    }
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    uint64_t cells = (uint64_t)n * (uint64_t)n;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->seed = seed;
    b->wide = (n + 63) / 64 * 64 + 16; /* an odd number of cache lines */
    status = twi_alloc(ctx, &b->input, cells, 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        uint64_t rows = ((uint64_t)n + 63) / 64 * 64;
        status = twi_alloc(ctx, &b->space, rows * (uint64_t)b->wide, 4, "the padded matrix");
    }
    if (status == TW_OK) {
        fill(b, seed);
        memcpy(b->right, b->input, cells * 4);
        solve_plainly(ctx, b->right, n, twi_thread_count(ctx));
        status = twi_check_cancel(ctx);
    }
    return status;
}

static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->output, b->right, b->n);
}

static tw_status ceiling(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){.of = "32-bit additions and minima in registers, by all threads"};
    tw_status status = tw_set_device(ctx, "cpu");
    return status != TW_OK ? status
                           : tw_minplus_ceiling(ctx, &out->rate, TW_I32, twi_thread_count(ctx));
}

/* Of one thread. */
static tw_status ceiling_one(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){.of = "32-bit additions and minima in registers, by one thread"};
    tw_status status = tw_set_device(ctx, "cpu");
    return status != TW_OK ? status : tw_minplus_ceiling(ctx, &out->rate, TW_I32, 1);
}

/* Times `solve` alone: the input is copied to its place before. */
static void begin(bench *b, double *begun)
{
    memcpy(b->output, b->input, (size_t)(b->n * b->n) * 4);
    *begun = twi_seconds();
}

/* ---------------------------------------------------------------------------------- three loops */

static tw_status run_naive(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    int64_t n = b->n;
    int32_t *d = b->output;
    double begun;
    (void)rung;
    begin(b, &begun);
    for (int64_t k = 0; k < n && !twi_is_cancelled(b->ctx); k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                if (d[i * n + k] + d[k * n + j] < d[i * n + j]) {
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
                }
            }
        }
    }
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

static tw_status run_min(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    double begun;
    (void)rung;
    begin(b, &begun);
    solve_plainly(b->ctx, b->output, b->n, 1);
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

/* What the threads share. The first one looks whether to stop and says so before the barrier of
 * step k in stop[k % 2]: it writes there again when all have passed the barrier of step k + 1. */
typedef struct team {
    tw_context *ctx;
    int32_t *d;
    int64_t n;
    pthread_mutex_t gate; /* held until all threads are there, or one is not */
    bool complete;
    pthread_barrier_t barrier;
    bool stop[2];
} team;

typedef struct band {
    team *team;
    int64_t first, end;
} band;

static void *relax_band(void *given)
{
    const band *rows = given;
    team *all = rows->team;
    int64_t n = all->n;
    for (int64_t k = 0; k < n && !(k > 0 && all->stop[(k - 1) % 2]); k++) {
        for (int64_t i = rows->first; i < rows->end; i++) {
            int32_t through = all->d[i * n + k];
            for (int64_t j = 0; i != k && j < n; j++) {
                all->d[i * n + j] = least(all->d[i * n + j], through + all->d[k * n + j]);
            }
        }
        if (rows->first == 0) {
            all->stop[k % 2] = twi_is_cancelled(all->ctx);
        }
        pthread_barrier_wait(&all->barrier);
    }
    return NULL;
}

/* A thread that was started: it begins when all are, and ends at once where one could not be. */
static void *serve_band(void *given)
{
    const band *rows = given;
    pthread_mutex_lock(&rows->team->gate);
    bool complete = rows->team->complete;
    pthread_mutex_unlock(&rows->team->gate);
    return complete ? relax_band(given) : NULL;
}

static tw_status run_pthreads(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    int count = twi_thread_count(b->ctx), started = 1;
    team all = {.ctx = b->ctx, .d = b->output, .n = b->n, .gate = PTHREAD_MUTEX_INITIALIZER};
    band bands[MOST_THREADS] = {{&all, 0, 0}};
    pthread_t threads[MOST_THREADS] = {0};
    double begun;
    (void)rung;
    count = count > MOST_THREADS ? MOST_THREADS : count;
    count = count > b->n ? (int)b->n : count; /* a row each, so that row 0 is the first thread's */
    begin(b, &begun);
    if (pthread_barrier_init(&all.barrier, NULL, (unsigned)count) != 0) {
        return tw_fail(b->ctx, TW_ERR_MEMORY, "no barrier for %d threads", count);
    }
    pthread_mutex_lock(&all.gate);
    for (int t = 0; t < count; t++) {
        bands[t] = (band){&all, b->n * t / count, b->n * (t + 1) / count};
    }
    while (started < count &&
           pthread_create(&threads[started], NULL, serve_band, &bands[started]) == 0) {
        started++;
    }
    all.complete = started == count;
    pthread_mutex_unlock(&all.gate);
    if (all.complete) {
        relax_band(&bands[0]);
    }
    for (int t = 1; t < started; t++) {
        pthread_join(threads[t], NULL);
    }
    pthread_barrier_destroy(&all.barrier);
    time->total = time->compute = twi_seconds() - begun;
    return all.complete ? TW_OK
                        : tw_fail(b->ctx, TW_ERR_MEMORY, "no thread %d of %d", started + 1, count);
}

/* -------------------------------------------------------------------------------------- blocked */

typedef struct tiles {
    int32_t *d;
    int64_t n, ld, block;
} tiles;

/* C = min(C, A (x) B) on tiles; A and B may be C itself. */
typedef void (*tile_update)(const tiles *t, int64_t ci, int64_t cj, int64_t k);

static int64_t tile_end(const tiles *t, int64_t tile)
{
    int64_t end = (tile + 1) * t->block;
    return end < t->n ? end : t->n;
}

static void update_plainly(const tiles *t, int64_t ci, int64_t cj, int64_t k)
{
    int64_t last = tile_end(t, cj), first = cj * t->block;
    for (int64_t p = k * t->block; p < tile_end(t, k); p++) {
        const int32_t *row = t->d + p * t->ld;
        for (int64_t i = ci * t->block; i < tile_end(t, ci); i++) {
            int32_t *c = t->d + i * t->ld;
            int32_t through = c[p];
            for (int64_t j = first; j < last; j++) {
                c[j] = least(c[j], through + row[j]);
            }
        }
    }
}

typedef int32_t vector __attribute__((vector_size(16), aligned(4), may_alias));

static void update_simd(const tiles *t, int64_t ci, int64_t cj, int64_t k)
{
    int64_t last = tile_end(t, cj), first = cj * t->block;
    for (int64_t p = k * t->block; p < tile_end(t, k); p++) {
        const int32_t *row = t->d + p * t->ld;
        for (int64_t i = ci * t->block; i < tile_end(t, ci); i++) {
            int32_t *c = t->d + i * t->ld;
            int32_t through = c[p];
            int64_t j = first;
            for (; j + 8 <= last; j += 8) { /* two vectors: their latencies overlap */
                vector sum0 = *(const vector *)(row + j) + through;
                vector sum1 = *(const vector *)(row + j + 4) + through;
                vector old0 = *(const vector *)(c + j), old1 = *(const vector *)(c + j + 4);
                vector less0 = sum0 < old0, less1 = sum1 < old1; /* all ones where true */
                *(vector *)(c + j) = (sum0 & less0) | (old0 & ~less0);
                *(vector *)(c + j + 4) = (sum1 & less1) | (old1 & ~less1);
            }
            for (; j < last; j++) {
                c[j] = least(c[j], through + row[j]);
            }
        }
    }
}

/* Stops between tiles if the caller cancels. */
static void solve_blocked(tw_context *ctx, const tiles *t, tile_update update, int threads)
{
    int64_t count = (t->n + t->block - 1) / t->block;
    (void)threads;
    for (int64_t k = 0; k < count && !twi_is_cancelled(ctx); k++) {
        update(t, k, k, k);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t other = 0; other < 2 * count; other++) {
            int64_t tile = other / 2;
            if (tile != k && !twi_is_cancelled(ctx)) {
                update(t, other % 2 == 0 ? k : tile, other % 2 == 0 ? tile : k, k);
            }
        }
#pragma omp parallel for collapse(2) num_threads(threads) schedule(dynamic, 4)
        for (int64_t i = 0; i < count; i++) {
            for (int64_t j = 0; j < count; j++) {
                if (i != k && j != k && !twi_is_cancelled(ctx)) {
                    update(t, i, j, k);
                }
            }
        }
    }
}

/* The same with a static schedule: which tiles a thread has is known before the round. */
static void solve_static(tw_context *ctx, const tiles *t, tile_update update, int threads)
{
    int64_t count = (t->n + t->block - 1) / t->block;
    (void)threads;
    for (int64_t k = 0; k < count && !twi_is_cancelled(ctx); k++) {
        update(t, k, k, k);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t other = 0; other < 2 * count; other++) {
            int64_t tile = other / 2;
            if (tile != k && !twi_is_cancelled(ctx)) {
                update(t, other % 2 == 0 ? k : tile, other % 2 == 0 ? tile : k, k);
            }
        }
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
        for (int64_t i = 0; i < count; i++) {
            for (int64_t j = 0; j < count; j++) {
                if (i != k && j != k && !twi_is_cancelled(ctx)) {
                    update(t, i, j, k);
                }
            }
        }
    }
}

/* a: the block; b: 0 one thread, 1 all. */
static tw_status run_blocked(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tiles t = {b->output, b->n, b->n, rung->a};
    double begun;
    begin(b, &begun);
    solve_blocked(b->ctx, &t, rung->code != NULL ? update_simd : update_plainly,
                  rung->b == 0 ? 1 : twi_thread_count(b->ctx));
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

static tw_status run_static(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tiles t = {b->output, b->n, b->n, rung->a};
    double begun;
    begin(b, &begun);
    solve_static(b->ctx, &t, update_plainly, twi_thread_count(b->ctx));
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

static tw_status run_padded(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tiles t = {b->space, b->n, b->wide, rung->a};
    for (int64_t i = 0; i < b->n; i++) {
        memcpy(b->space + i * b->wide, b->input + i * b->n, (size_t)b->n * 4);
    }
    double begun = twi_seconds();
    solve_blocked(b->ctx, &t, update_simd, twi_thread_count(b->ctx));
    time->total = time->compute = twi_seconds() - begun;
    for (int64_t i = 0; i < b->n; i++) {
        memcpy(b->output + i * b->n, b->space + i * b->wide, (size_t)b->n * 4);
    }
    return TW_OK;
}

/* --------------------------------------------------------------------------------------- engine */

/* The matrix into and out of the engine's working form; 16 bits are converted on the way. */
static void enter(const bench *b, const twi_work *w)
{
    int64_t n = b->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < w->ld; j++) {
            int32_t value = j < n ? b->input[i * n + j] : NO_PATH;
            if (w->kernel->type == TW_U16) {
                ((uint16_t *)w->data)[i * w->ld + j] =
                    (uint16_t)(value < TW_APSP_INF_U16 ? value : TW_APSP_INF_U16);
            } else {
                ((int32_t *)w->data)[i * w->ld + j] = value;
            }
        }
    }
}

static void leave(bench *b, const twi_work *w)
{
    int64_t n = b->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (w->kernel->type == TW_U16) {
                uint16_t value = ((const uint16_t *)w->data)[i * w->ld + j];
                b->output[i * n + j] = value == TW_APSP_INF_U16 ? NO_PATH : value;
            } else {
                b->output[i * n + j] = ((const int32_t *)w->data)[i * w->ld + j];
            }
        }
    }
}

/* a: the type; b: threads, 0 for all. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    twi_isa isa;
    tw_status status = twi_isa_resolve(b->ctx, &isa);
    if (status != TW_OK) {
        return status;
    }
    twi_work w = {.kernel = twi_minplus_kernel_find(isa, rung->a), .n = b->n};
    w.ld = twi_work_stride(w.kernel, b->n);
    status = twi_alloc(b->ctx, &w.data, twi_work_bytes(w.kernel, b->n), 1, "the working matrix");
    if (status != TW_OK) {
        return status;
    }
    enter(b, &w);
    double begun = twi_seconds();
    status = twi_cpu_closure(b->ctx, &w, twi_block_choose(w.kernel, b->n),
                             rung->b == 0 ? twi_thread_count(b->ctx) : rung->b, false);
    time->total = time->compute = twi_seconds() - begun;
    leave(b, &w);
    twi_free(w.data);
    return status;
}

/* --------------------------------------------------------------------------------------- bridge */

/* a: an instruction set, or TWI_ISA_NONE for the best; b: the type. Vectors alone for a set that is
 * named, packed operands for the best. */
static tw_status run_bridge(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    twi_isa isa = (twi_isa)rung->a;
    tw_status status = isa != TWI_ISA_NONE ? TW_OK : twi_isa_resolve(b->ctx, &isa);
    if (status == TW_OK) {
        status = lab_cpu_bridge_solve(b->ctx, b->output, b->input, b->n, isa,
                                      (lab_cpu_bridge_type)rung->b, rung->a == TWI_ISA_NONE,
                                      &time->total);
    }
    time->compute = time->total;
    return status;
}

/* A rung that names an instruction set needs a processor that has it. */
static bool has_isa(tw_context *ctx, const lab_rung *rung)
{
    (void)ctx;
    return rung->run != run_bridge || rung->a == TWI_ISA_NONE || twi_isa_usable((twi_isa)rung->a);
}

/* -------------------------------------------------------------------------------------- ladders */

static const int marker; /* a rung with code uses vectors by hand */

static const lab_rung rungs[] = {
    {.name = "naive",
     .idea = "three loops and a branch: the compiler cannot use vectors for a store it may skip",
     .source = "apsp/cpu.c run_naive",
     .run = run_naive,
     .most = 1000},
    {.name = "min",
     .parent = "naive",
     .idea = "a minimum instead of the branch: the store always happens, so vectors can do it",
     .source = "apsp/cpu.c solve_plainly run_min",
     .run = run_min,
     .most = 2000},
    {.name = "pthreads",
     .parent = "min",
     .row = "A1",
     .idea = "rows divided over threads, a barrier for each k; the matrix still streams n times",
     .source = "apsp/cpu.c relax_band run_pthreads",
     .run = run_pthreads,
     .most = 2000},
    {.name = "blocked",
     .parent = "min",
     .idea = "three phases over 64 x 64 tiles: each tile is used 64 times while it is in the cache",
     .source = "apsp/cpu.c update_plainly solve_blocked",
     .run = run_blocked,
     .a = 64,
     .most = 2000},
    {.name = "blocked-openmp",
     .parent = "blocked",
     .idea = "tiles of the second and third phase divided over threads",
     .source = "apsp/cpu.c update_plainly solve_blocked",
     .run = run_blocked,
     .a = 64,
     .b = 1},
    {.name = "blocked-static",
     .parent = "blocked-openmp",
     .row = "B1",
     .idea =
         "a static schedule: tiles are dealt out before a round, not taken as threads get to them",
     .source = "apsp/cpu.c update_plainly solve_static",
     .run = run_static,
     .a = 64},
    {.name = "blocked-simd",
     .parent = "blocked-openmp",
     .row = "B1",
     .idea = "128-bit vectors by hand, two at a time",
     .source = "apsp/cpu.c update_simd solve_blocked",
     .run = run_blocked,
     .a = 64,
     .b = 1,
     .code = &marker},
    {.name = "blocked-padded",
     .parent = "blocked-simd",
     .idea = "rows of an odd number of cache lines: columns of a tile no longer share cache sets",
     .source = "apsp/cpu.c update_simd solve_blocked run_padded",
     .run = run_padded,
     .a = 64},
    {.name = "wide-avx2",
     .parent = "blocked-padded",
     .idea = "vectors of 256 bits",
     .source = "apsp/cpu_kernels.c KERNELS",
     .run = run_bridge,
     .a = TWI_ISA_AVX2},
    {.name = "wide-avx512",
     .parent = "wide-avx2",
     .idea = "vectors of 512 bits",
     .source = "apsp/cpu_kernels.c KERNELS",
     .run = run_bridge,
     .a = TWI_ISA_AVX512},
    {.name = "packed",
     .parent = "blocked-padded",
     .idea = "the pivot's tiles packed once per round, results in registers over 64 depths",
     .source = "apsp/cpu_bridge.c pack_column pack_row do_panels do_rest close_all",
     .run = run_bridge},
    {.name = "packed-u16",
     .parent = "packed",
     .idea = "16 bits with plain additions: entries below 2^15 cannot wrap",
     .source = "apsp/cpu_bridge.c pack_column pack_row do_panels do_rest close_all",
     .run = run_bridge,
     .b = LAB_CPU_BRIDGE_U16},
    {.name = "engine-i32",
     .parent = "packed",
     .idea = "panels deeper than a tile, packed ahead and shared by all threads: the library",
     .source = "apsp/cpu.c run_engine",
     .run = run_engine,
     .a = TW_I32},
    {.name = "engine-u16",
     .parent = "engine-i32",
     .idea = "16 bits are exact for these weights: twice the lanes (conversion not counted)",
     .source = "apsp/cpu.c run_engine",
     .run = run_engine,
     .a = TW_U16},
};

static const int64_t default_sizes[] = {500, 1024, 2000, 0};

#define AGAINST "three plain loops, every distance"

#define BENCH                                                                              \
    .unit = "relaxations", .size = "vertices", .sizes = default_sizes, .open = open_bench, \
    .spoil = spoil, .check = check, .close = close_bench, .work = lab_relaxations,         \
    .traffic = lab_matrix_bytes, .ceiling = ceiling, .against = AGAINST

const lab_ladder lab_apsp_cpu = {
    .offers = has_isa,
    .name = "apsp-cpu",
    .title = "All-pairs shortest paths on a CPU",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    BENCH,
};

#define BLOCK(size)                                                                        \
    {                                                                                      \
        .name = "block-" #size, .idea = "tiles of " #size " x " #size, .run = run_blocked, \
        .a = (size), .b = 1                                                                \
    }

static const lab_rung block_rungs[] = {BLOCK(8),   BLOCK(16),  BLOCK(32), BLOCK(64),
                                       BLOCK(128), BLOCK(256), BLOCK(512)};

const lab_ladder lab_apsp_cpu_blocks = {
    .source = "apsp/cpu.c update_plainly solve_blocked",
    .name = "apsp-cpu-blocks",
    .title = "The tile of a blocked closure on a CPU",
    .rungs = block_rungs,
    .count = LAB_COUNT(block_rungs),
    BENCH,
};

#define THREADS(count)                                                               \
    {                                                                                \
        .name = "threads-" #count, .idea = #count " threads of the engine, 32 bits", \
        .run = run_engine, .a = TW_I32, .b = (count)                                 \
    }

static const lab_rung thread_rungs[] = {THREADS(1),  THREADS(2),  THREADS(4), THREADS(8),
                                        THREADS(16), THREADS(32), THREADS(64)};

const lab_ladder lab_apsp_threads = {
    .source = "apsp/cpu.c run_engine",
    .name = "apsp-threads",
    .title = "Strong scaling of the engine over threads",
    .rungs = thread_rungs,
    .count = LAB_COUNT(thread_rungs),
    .offers = lab_has_threads,
    BENCH,
};

/* ---------------------------------------------------------------------------------- weak scaling
 */

/* n^3 relaxations for each thread: t threads close a matrix of n t^(1/3). */
static tw_status run_weak(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    int64_t n = (int64_t)((double)b->n * cbrt(rung->b) + 0.5);
    if (b->larger == NULL || b->larger->n != n) {
        void *larger = NULL;
        close_bench(b->larger);
        b->larger = NULL;
        tw_status status = open_bench(b->ctx, n, b->seed, &larger);
        b->larger = larger;
        if (status != TW_OK) {
            return status;
        }
        spoil(b->larger);
    }
    return run_engine(b->larger, rung, time);
}

static tw_status check_weak(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return check(ctx, b->larger, rung);
}

#define WEAK(count)                                                                             \
    {                                                                                           \
        .name = "threads-" #count, .idea = #count " threads, " #count " times the relaxations", \
        .run = run_weak, .a = TW_I32, .b = (count)                                              \
    }

static const lab_rung weak_rungs[] = {WEAK(1), WEAK(2), WEAK(4), WEAK(8), WEAK(16), WEAK(32)};

const lab_ladder lab_apsp_threads_weak = {
    .source = "apsp/cpu.c run_weak",
    .name = "apsp-threads-weak",
    .title = "Weak scaling of the engine: n^3 relaxations for each thread",
    .unit = "relaxations per thread",
    .size = "vertices for one thread",
    .against = AGAINST,
    .rungs = weak_rungs,
    .count = LAB_COUNT(weak_rungs),
    .sizes = default_sizes,
    .open = open_bench,
    .spoil = spoil,
    .check = check_weak,
    .close = close_bench,
    .offers = lab_has_threads,
    .work = lab_relaxations,
    .traffic = lab_matrix_bytes,
    .ceiling = ceiling_one,
};

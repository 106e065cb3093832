/*
 * What a closure will cost. On the CPU: the rate of its micro-kernel here and now, and the share of
 * n^3 that symmetry and infinite rows leave to do. On a GPU: its processors times what one of them
 * does in a clock, with a part for each pivot that no size can hide, and the copies.
 */
#include "apsp/plan/estimate.h"

#include "apsp/closure/product.h"
#include "apsp/plan/filled.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define BURST_SECONDS 0.0003   /* a burst of the micro-kernel */
#define RATE_SECONDS 5.0       /* for which its rate is believed */
#define CLOSURE_EFFICIENCY 0.9 /* of the micro-kernel's rate, for large n */
#define SMALL 200.0            /* n at which half of that is reached: 75 % at 1000, 86 % at 4096 */
#define ROUND_SECONDS 60e-6    /* of a pivot, whatever its size: the team's start and end; */
#define PIVOT_SECONDS 3.3e-6   /*   and of its vertices, while other threads wait */
#define ENTRY_SECONDS 0.8e-9   /* of an entry: laid out, certified; or written; */
#define MIRROR_SECONDS 3.5e-9  /*   more of it in a symmetric graph (see below), */
#define ARC_SECONDS 3e-9       /*   and of an arc: put into the matrix (Xeon, November 2026) */
#define SPARSE_DEGREE 64       /* arcs per vertex, beyond which nobody looks for a band */
#define FILLED_DEGREE 8        /*   and beyond which a matrix is full almost at once */
#define GPU_CLOCK 1.5e9        /* of a device that does not tell */
#define GPU_ROUND 40e-6    /* seconds of a pivot that the update does not hide (H200, 2026-11) */
#define GPU_LAUNCH 0.003   /* seconds: memory, the first kernels */
#define LINK_PINNED 40e9   /* bytes per second to and from a GPU; 55 were seen */
#define LINK_UNPINNED 8e9  /* likewise, of memory that is not pinned (H200, 2026-11: 7 to 9) */
#define PINNING 13e9       /* bytes per second */
#define SWEEP_SHARE 0.38   /* of the closure's rate that a sweep's products reach (H200, 2026-11) */
#define SWEEP_LEVEL 40e-6  /* seconds of a level of a batch, whatever its size */
#define SWEEP_COLUMNS 8192 /* of a batch, about */
#define FRONT_SECONDS 2e-6 /* of a vertex: its part of a front, on one thread, */
#define HOST_SECONDS 0.15e-6 /*   and what one thread does for it before and after */

#define FRONT_SMALL 1200.0 /* vertices of a front that all threads close at half of that rate */

enum { DEPTH = 128, CALLS = 16 };

/* Relaxations of one thread in a second that it is running. */
static double burst_rate(const twi_minplus_kernel *kernel, char *memory)
{
    uint64_t a = twi_packed_a_bytes(kernel, kernel->mr, DEPTH);
    uint64_t b = twi_packed_b_bytes(kernel, kernel->nr, DEPTH);
    const double chunk = (double)CALLS * DEPTH * kernel->mr * kernel->nr;
    double work = -chunk; /* the first one finds nothing in its cache */
    double began = 0;
    double now = 0;
    do {
        for (int i = 0; i < CALLS; i++) {
            kernel->update(DEPTH, memory, memory + a, memory + a + b, kernel->nr, NULL);
        }
        now = twi_thread_seconds();
        began = work < 0 ? now : began;
        work += chunk;
    } while (now - began < BURST_SECONDS);
    return work / (now - began);
}

/* Rates that this process has measured, all plans for all: a machine that others use, too, is not
 * the same for ever, but a plan should not cost more than a small run. */
typedef struct known_rate {
    const twi_minplus_kernel *kernel;
    int threads;
    double rate;
    double when;
} known_rate;
static known_rate known[32];
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

/* The one of this kernel, or the oldest, which may make room. */
static known_rate *place_of(const twi_minplus_kernel *kernel, int threads)
{
    known_rate *oldest = known;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].kernel == kernel && known[i].threads == threads) {
            return &known[i];
        }
        oldest = known[i].when < oldest->when ? &known[i] : oldest;
    }
    return oldest;
}

/* Neither waits: a lock that was taken at a fork stays taken in the child. */
static bool recall(const twi_minplus_kernel *kernel, int threads, double *rate)
{
    if (pthread_mutex_trylock(&known_lock) != 0) {
        return false;
    }
    const known_rate *one = place_of(kernel, threads);
    const bool valid = one->kernel == kernel && one->threads == threads &&
                       twi_seconds() - one->when < RATE_SECONDS;
    *rate = valid ? one->rate : *rate;
    pthread_mutex_unlock(&known_lock);
    return valid;
}

static void remember(const twi_minplus_kernel *kernel, int threads, double rate)
{
    if (pthread_mutex_trylock(&known_lock) == 0) {
        *place_of(kernel, threads) = (known_rate){kernel, threads, rate, twi_seconds()};
        pthread_mutex_unlock(&known_lock);
    }
}

tw_status twi_kernel_rate(tw_context *ctx, const twi_minplus_kernel *kernel, int threads,
                          double *rate)
{
    if (recall(kernel, threads, rate)) {
        return TW_OK;
    }
    char *memory = NULL;
    uint64_t each = twi_packed_a_bytes(kernel, kernel->mr, DEPTH) +
                    twi_packed_b_bytes(kernel, kernel->nr, DEPTH) +
                    (uint64_t)kernel->mr * (uint64_t)kernel->nr * tw_type_size(kernel->type);
    each = (each + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    tw_status status = twi_alloc_zeroed(ctx, &memory, (uint64_t)threads, each, "a measurement");
    if (status != TW_OK) {
        return status;
    }
    double sum = 0;
#pragma omp parallel num_threads(twi_team(threads)) reduction(+ : sum)
    {
        char *mine = memory + (uint64_t)twi_thread_id() * each;
#pragma omp barrier
        sum += burst_rate(kernel, mine);
    }
    *rate = sum > 0 ? sum : 1e9;
    remember(kernel, threads, *rate);
    twi_free(memory);
    return TW_OK;
}

bool twi_seems_symmetric(const tw_graph *graph)
{
    enum { ARCS = 32 };
    for (uint64_t i = 0; i < ARCS && graph->arcs > 0; i++) {
        int64_t arc = (int64_t)twi_random_below(twi_random_at(1, i), (uint64_t)graph->arcs);
        int64_t from = 0;
        int64_t after = graph->n; /* from is the last vertex whose arcs begin at or before arc */
        while (after - from > 1) {
            int64_t middle = from + (after - from) / 2;
            if (graph->offsets[middle] <= arc) {
                from = middle;
            } else {
                after = middle;
            }
        }
        int32_t to = graph->targets[arc];
        bool found = false;
        for (int64_t b = graph->offsets[to]; b < graph->offsets[to + 1] && !found; b++) {
            found = graph->targets[b] == from &&
                    twi_graph_weight(graph, b) == twi_graph_weight(graph, arc);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* Symmetric graphs need the lower triangle and the tiles it cuts. */
static double symmetric_share(const tw_apsp_plan *plan)
{
    return plan->symmetric || twi_seems_symmetric(plan->graph) ? 0.53 : 1.0;
}

/* The share of n^3 that a closure has to do. Where arcs lead no farther than `band` in the
 * numbering, the rows and columns beyond what the pivots so far have joined are infinite and
 * skipped. */
double twi_closure_share(const tw_apsp_plan *plan, int32_t block)
{
    const tw_graph *graph = plan->graph;
    double n = (double)graph->n;
    double share = symmetric_share(plan);
    if (graph->n == 0 || graph->arcs > SPARSE_DEGREE * graph->n) {
        return share;
    }
    int64_t band = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t arc = graph->offsets[u]; arc < graph->offsets[u + 1]; arc++) {
            int64_t away = llabs(graph->targets[arc] - u);
            band = away > band ? away : band;
        }
    }
    double work = 0;
    for (int64_t begin = 0; begin < graph->n; begin += block) {
        double end = fmin((double)(begin + block), n);
        double reach = fmin(end + (double)band, n);
        work += (end - (double)begin) * reach * reach;
    }
    return share * work / (n * n * n);
}

tw_status twi_closure_filled(tw_context *ctx, const tw_apsp_plan *plan,
                             const twi_minplus_kernel *kernel, int32_t block, double *share)
{
    const tw_graph *graph = plan->graph;
    const double whole = symmetric_share(plan);
    double filled = 0;
    if (graph->arcs > FILLED_DEGREE * graph->n) {
        return TW_OK;
    }
    tw_status status = twi_filled_share(ctx, graph, whole < 1, kernel, block, &filled);
    *share = status == TW_OK ? whole * filled : *share;
    return status == TW_ERR_MEMORY ? TW_OK : status;
}

double twi_closure_rate(int64_t n, double kernel)
{
    return fmax(kernel * CLOSURE_EFFICIENCY * (double)n / ((double)n + SMALL), 1);
}

double twi_pivots_seconds(const tw_apsp_plan *plan)
{
    return (double)plan->graph->n * PIVOT_SECONDS * (1 - 1.0 / plan->threads);
}

/* Entries of a symmetric graph are compared, gathered into panels and mirrored. All of them are
 * packed, in whichever share they are, and that takes as long where the kernel is fast. */
double twi_closure_seconds(const tw_apsp_plan *plan, int32_t block, double share, double rate)
{
    const double n = (double)plan->graph->n;
    const bool symmetric = plan->symmetric || twi_seems_symmetric(plan->graph);
    const double entry = ENTRY_SECONDS + (symmetric ? MIRROR_SECONDS : 0);
    return share * n * n * n / rate + n / block * ROUND_SECONDS + twi_pivots_seconds(plan) +
           (n * n * entry + (double)plan->graph->arcs * ARC_SECONDS) / plan->threads;
}

/* Relaxations of one processor in one clock, of a large closure. Only compute capability 9.0 is
 * measured (H200, 2026-11; docs/gpu.md). No other row is: they follow from the issue rates of the
 * instructions that their step takes, the lower one where there is doubt. 10.3 and the cards of
 * 8.6, 8.9 and 12.x have few units for f64. */
typedef struct steps {
    int32_t compute; /* and later */
    double i32, u16, f32, f64;
} steps;

static const steps nvidia_steps[] = {
    {120, 30, 30, 58, 0.9},  {103, 50, 100, 58, 0.9}, {100, 50, 100, 58, 15},
    {90, 65, 128, 58, 18.5}, {86, 30, 30, 58, 0.9},   {80, 30, 30, 30, 15},
    {0, 30, 30, 30, 0.9},
};

/* 64 lanes; three instructions for two steps, or two for a pair of 16-bit ones. gfx90a and its like
 * have f64 at the full rate, gfx10 and later at a sixteenth. */
static const steps amd_steps[] = {
    {100, 30, 45, 30, 1.5},
    {90, 30, 45, 30, 15},
    {0, 20, 30, 20, 1.5},
};

double twi_gpu_rate(const twi_gpu_info *info, tw_type type)
{
    const steps *row = info->amd ? amd_steps : nvidia_steps;
    while (info->compute < row->compute) {
        row++;
    }
    double each = type == TW_U16   ? row->u16
                  : type == TW_I32 ? row->i32
                  : type == TW_F32 ? row->f32
                                   : row->f64;
    return each * info->processors * (info->clock > 0 ? info->clock : GPU_CLOCK);
}

tw_status twi_gpu_pace_find(tw_context *ctx, int32_t device, tw_type type, twi_gpu_pace *out)
{
    twi_gpu_info info;
    *out = (twi_gpu_pace){.round = GPU_ROUND, .link = LINK_PINNED, .slow_link = LINK_UNPINNED};
    tw_status status = twi_gpu_describe(ctx, device, &info);
    if (status == TW_OK) {
        const uint64_t most = twi_gpu_limit(ctx);
        out->rate = twi_gpu_rate(&info, type);
        out->memory = most > 0 && most < info.memory_free ? most : info.memory_free;
    }
    return status;
}

double twi_gpu_closure_seconds(const twi_gpu_info *info, const twi_gpu_job *job)
{
    double n = (double)job->n;
    return job->share * n * n * n / twi_gpu_rate(info, job->type) +
           ceil(n / TWI_GPU_PIVOT) * GPU_ROUND;
}

double twi_gpu_estimate(const twi_gpu_info *info, const twi_gpu_job *job)
{
    return GPU_LAUNCH + twi_gpu_closure_seconds(info, job) + job->pinned_bytes / LINK_PINNED +
           job->pin_bytes / PINNING;
}

double twi_gpu_sweep_estimate(const twi_gpu_info *info, const twi_gpu_sweep_job *job)
{
    double size = (double)tw_type_size(job->type);
    double swept = job->rows * (job->down + job->up);
    double batches = ceil(job->rows / SWEEP_COLUMNS);
    /* One front by all threads takes longer than many, each by one. */
    double alone = job->factor > 0 ? fmin(pow(job->front, 3) / job->factor, 1) : 0;
    double factor =
        job->factor / job->factor_rate * (1 + alone * FRONT_SMALL / fmax(job->front, 1)) +
        job->n * FRONT_SECONDS / job->threads + job->n * HOST_SECONDS;
    return GPU_LAUNCH + factor + 3 * job->down * size / LINK_PINNED +
           swept / (SWEEP_SHARE * twi_gpu_rate(info, job->type)) +
           batches * log2(job->n + 2) * SWEEP_LEVEL + job->result_bytes / LINK_PINNED;
}

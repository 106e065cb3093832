/*
 * Dijkstra from one source. Two queues:
 *
 * - Whole weights up to 65536: a circle of buckets, one a distance (Dial), found through a bitmap.
 *   A bucket is a chain of (place, next) in a pool that only grows during a search; an entry whose
 *   place has been reached by a shorter way is skipped when it comes out. The inner loop has no
 *   branch that depends on the data: an arc that improves nothing writes a pool entry that the next
 *   one overwrites. That took 0.25 s against 0.40 s with a branch (n = 4000, 20000 arcs, all
 *   sources, 2 threads of a Neoverse V1).
 * - All else: an indexed 4-ary heap, whose memory is n entries whatever the arcs.
 */
#include "apsp/search/dijkstra.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct chain {
    int32_t place;
    int32_t next; /* 0 ends */
} chain;

static bool uses_buckets(int64_t n, int64_t arcs, twi_net_kind kind, double max_weight)
{
    /* In a dense graph the pool would outgrow the graph's own arcs for no gain. */
    return kind == TWI_NET_I32 && max_weight < TWI_BUCKETS_MOST && arcs <= 64 * n &&
           arcs < INT32_MAX - 2;
}

/* A power of two above every weight, and at least one word of the bitmap. */
static int64_t bucket_count(double max_weight)
{
    int64_t count = 64;
    while ((double)count <= max_weight) {
        count *= 2;
    }
    return count;
}

uint64_t twi_dijkstra_space_memory(int64_t n, int64_t arcs, twi_net_kind kind, double max_weight)
{
    uint64_t bytes = (uint64_t)n * 8 + ((uint64_t)n + 1) * 16 + (uint64_t)n * 4;
    if (kind == TWI_NET_DUAL) {
        bytes += (uint64_t)n * 8;
    }
    if (uses_buckets(n, arcs, kind, max_weight)) {
        uint64_t buckets = (uint64_t)bucket_count(max_weight);
        bytes += ((uint64_t)arcs + 2) * sizeof(chain) + buckets * 4 + buckets / 8;
    }
    return bytes;
}

tw_status twi_dijkstra_space_create(tw_context *ctx, twi_dijkstra_space *space, const twi_net *net)
{
    const char *what = "the queues of the searches";
    uint64_t n = (uint64_t)net->n;
    tw_status status = TW_OK;
    memset(space, 0, sizeof *space);
    if ((status = twi_alloc(ctx, &space->distance, n, 8, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->heap, n + 1, 16, what)) != TW_OK ||
        (status = twi_alloc(ctx, &space->slot, n, sizeof *space->slot, what)) != TW_OK) {
        goto done;
    }
    if (net->kind == TWI_NET_DUAL) {
        status = twi_alloc(ctx, &space->value, n, sizeof(double), what);
        if (status != TW_OK) {
            goto done;
        }
    }
    if (uses_buckets(net->n, net->arcs, net->kind, net->max)) {
        uint64_t buckets = (uint64_t)bucket_count(net->max);
        if ((status = twi_alloc(ctx, &space->chain, (uint64_t)net->arcs + 2, sizeof(chain),
                                what)) != TW_OK ||
            (status = twi_alloc_zeroed(ctx, &space->bucket, buckets, sizeof *space->bucket,
                                       what)) != TW_OK ||
            (status = twi_alloc_zeroed(ctx, &space->filled, buckets / 64, sizeof *space->filled,
                                       what)) != TW_OK) {
            goto done;
        }
    }
done:
    if (status != TW_OK) {
        twi_dijkstra_space_clear(space);
    }
    return status;
}

void twi_dijkstra_space_clear(twi_dijkstra_space *space)
{
    twi_free(space->filled);
    twi_free(space->bucket);
    twi_free(space->chain);
    twi_free(space->value);
    twi_free(space->slot);
    twi_free(space->heap);
    twi_free(space->distance);
    memset(space, 0, sizeof *space);
}

#define KEY int32_t
#define ARC twi_arc_i32
#define ORDER(arc) (arc).weight
#define NAME(x) x##_i32
#define CAP TW_APSP_INF_I32
#define DUAL 0
#include "apsp/search/dijkstra_template.h"

#define KEY float
#define ARC twi_arc_f32
#define ORDER(arc) (arc).weight
#define NAME(x) x##_f32
#define CAP INFINITY
#define DUAL 0
#include "apsp/search/dijkstra_template.h"

#define KEY double
#define ARC twi_arc_f64
#define ORDER(arc) (arc).weight
#define NAME(x) x##_f64
#define CAP ((double)INFINITY)
#define DUAL 0
#include "apsp/search/dijkstra_template.h"

#define KEY double
#define ARC twi_arc_dual
#define ORDER(arc) (arc).order
#define NAME(x) x##_dual
#define CAP ((double)INFINITY)
#define DUAL 1
#include "apsp/search/dijkstra_template.h"

/* How far from bucket `at` the next filled one is, around the circle; -1: all are empty. */
static int64_t steps_to_filled(const uint64_t *filled, int64_t buckets, int64_t at)
{
    int64_t words = buckets / 64;
    uint64_t here = filled[at / 64] >> (at % 64);
    if (here != 0) {
        return __builtin_ctzll(here);
    }
    for (int64_t i = 1; i <= words; i++) {
        int64_t word = (at / 64 + i) & (words - 1);
        if (filled[word] != 0) {
            int64_t found = word * 64 + __builtin_ctzll(filled[word]);
            return (found - at) & (buckets - 1);
        }
    }
    return -1;
}

static int64_t search_buckets(const twi_dijkstra_job *job, twi_dijkstra_space *space)
{
    const twi_net *net = job->net;
    const twi_arc_i32 *arc = net->arc;
    int32_t *restrict distance = space->distance;
    int32_t *restrict bucket = space->bucket;
    uint64_t *restrict filled = space->filled;
    chain *restrict pool = space->chain;
    const int64_t buckets = bucket_count(net->max);
    const int32_t mask = (int32_t)(buckets - 1);
    const int32_t cutoff = job->cutoff < TW_APSP_INF_I32 ? (int32_t)job->cutoff : TW_APSP_INF_I32;
    for (int64_t i = 0; i < net->n; i++) {
        distance[i] = TW_APSP_INF_I32;
    }
    int64_t scanned = 0;
    int64_t left = TWI_DIJKSTRA_LOOK; /* arcs and entries until the next look at the flag */
    int32_t now = 0;
    int32_t top = 2;
    distance[job->source] = 0;
    pool[1] = (chain){job->source, 0};
    bucket[0] = 1;
    filled[0] = 1;
    for (;;) {
        int64_t steps = steps_to_filled(filled, buckets, now & mask);
        if (steps < 0) {
            break;
        }
        now += (int32_t)steps;
        int32_t at = now & mask;
        int32_t entry = bucket[at];
        bucket[at] = 0;
        filled[at / 64] &= ~((uint64_t)1 << (at % 64));
        while (entry != 0) {
            int32_t u = pool[entry].place;
            entry = pool[entry].next;
            if (--left < 0) {
                left = TWI_DIJKSTRA_LOOK;
                if (twi_is_cancelled(job->ctx)) { /* a search begins with empty buckets */
                    memset(bucket, 0, (size_t)buckets * sizeof *bucket);
                    memset(filled, 0, (size_t)buckets / 8);
                    return scanned;
                }
            }
            if (distance[u] != now || now > cutoff) {
                continue;
            }
            for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
                int32_t v = arc[a].target;
                int32_t sum = now + arc[a].weight;
                int32_t old = distance[v];
                int32_t to = sum & mask;
                bool less = sum < old;
                distance[v] = less ? sum : old;
                pool[top] = (chain){v, bucket[to]};
                bucket[to] = less ? top : bucket[to];
                filled[to / 64] |= (uint64_t)less << (to % 64);
                top += less;
            }
            scanned += net->offsets[u + 1] - net->offsets[u];
            left -= net->offsets[u + 1] - net->offsets[u];
        }
    }
    return scanned;
}

#define GIVE_ROW(type, from)                                            \
    for (int64_t v = 0; v < net->n; v++) {                              \
        if (v % TWI_DIJKSTRA_LOOK == 0 && twi_is_cancelled(job->ctx)) { \
            return true;                                                \
        }                                                               \
        ((type *)row)[v] = (from)[net->place[v]];                       \
    }

/* Sums of a dual net. One that overflowed downwards stays -inf, which delivery refuses. */
static void give_dual_row(const twi_net *net, const twi_dijkstra_space *space, double *row)
{
    const double *key = space->distance;
    const double *value = space->value;
    for (int64_t v = 0; v < net->n; v++) {
        int32_t place = net->place[v];
        row[v] = isinf(key[place]) ? (double)INFINITY : value[place];
    }
}

/* Does an arc lead from a distance below the cap to one at it? */
static bool hides(tw_context *ctx, const twi_net *net, const int32_t *distance)
{
    const twi_arc_i32 *arc = net->arc;
    int64_t left = 0;
    for (int64_t u = 0; u < net->n; u++) {
        if (twi_is_stopped(ctx, &left, net->offsets[u + 1] - net->offsets[u])) {
            break;
        }
        for (int64_t a = net->offsets[u]; distance[u] < TW_APSP_INF_I32 && a < net->offsets[u + 1];
             a++) {
            if (distance[arc[a].target] >= TW_APSP_INF_I32) {
                return true;
            }
        }
    }
    return false;
}

bool twi_dijkstra(const twi_dijkstra_job *job, twi_dijkstra_space *space, void *row,
                  int64_t *scanned)
{
    const twi_net *net = job->net;
    switch (net->kind) {
    case TWI_NET_I32:
        *scanned = space->chain != NULL ? search_buckets(job, space) : search_i32(job, space);
        /* A cutoff below the cap leaves nothing to hide: all that is at the cap is above it. */
        if (job->certify && job->cutoff >= TW_APSP_INF_I32 &&
            hides(job->ctx, net, space->distance)) {
            return false;
        }
        GIVE_ROW(int32_t, (const int32_t *)space->distance)
        break;
    case TWI_NET_F32:
        *scanned = search_f32(job, space);
        GIVE_ROW(float, (const float *)space->distance)
        break;
    case TWI_NET_F64:
        *scanned = search_f64(job, space);
        GIVE_ROW(double, (const double *)space->distance)
        break;
    case TWI_NET_DUAL:
        *scanned = search_dual(job, space);
        give_dual_row(net, space, row);
        break;
    }
    return true;
}

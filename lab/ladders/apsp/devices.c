/*
 * Ladders apsp-devices and apsp-devices-weak: the library's closure on 1 to 4 GPUs, host memory to
 * host memory, every rung by the path that deals the matrix out, so that they differ in nothing but
 * the number. Rows A4 and B5 have the weak scaling, on one and two cards.
 *
 *   devices-1 ... devices-4   strong scaling: the same matrix for all of them
 *                             weak scaling: n^3 relaxations for each, so d of them close a
 *                             matrix of n d^(1/3) vertices; on two, the authors' own partner for
 *                             each of their sizes, which is near that
 *
 * On a machine with fewer cards a card stands for several devices, which then share its processors:
 * what can be seen there is what dealing out costs, not a gain.
 */
#include "base/memory.h"
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

enum { STRONG, WEAK };

#ifndef LAB_LISTED_ONLY
#include "ladders/apsp/host.h"
#include "ladders/gpu_timing.h"

#include <math.h>

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    uint64_t seed;
    lab_apsp_host host;
} bench;

static tw_status hold(bench *b, int64_t n)
{
    if (b->host.n == n) {
        return TW_OK;
    }
    twi_progress(b->ctx, "making the inputs and the right answer", 0, 0, "");
    lab_apsp_host_close(&b->host);
    tw_status status = lab_apsp_host_open(&b->host, b->ctx, n, b->seed);
    if (status != TW_OK) {
        lab_apsp_host_close(&b->host);
    }
    return status;
}

/* The matrix is made by the rung: its size is the rung's own in weak scaling. */
static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status == TW_OK) {
        *b = (bench){.ctx = ctx, .n = n, .seed = seed};
        *out = b;
    }
    return status;
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        lab_apsp_host_close(&b->host);
        twi_free(b);
    }
}

static void spoil(void *given)
{
    bench *b = given;
    if (b->host.output != NULL) {
        lab_poison(b->host.output, b->host.n, 4);
    }
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->host.output, b->host.right, b->host.n);
}

/* The vertices that `count` devices close where one closes n. */
static int64_t weak_size(int64_t n, int32_t count)
{
    static const int64_t pairs[][2] = {{11000, 14000}, {20000, 25000}, {22973, 28979}};
    for (int i = 0; count == 2 && i < LAB_COUNT(pairs); i++) {
        if (pairs[i][0] == n) {
            return pairs[i][1];
        }
    }
    return (int64_t)((double)n * cbrt(count) + 0.5);
}

/* a: devices; b: STRONG or WEAK. */
static tw_status run_devices(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    int64_t n = rung->b == WEAK ? weak_size(b->n, rung->a) : b->n;
    tw_status status = hold(b, n);
    return status != TW_OK ? status : lab_apsp_host_solve(&b->host, rung->a, true, &time->total);
}

#endif /* LAB_LISTED_ONLY */

#define DEVICES(count, of, how, what)                                                       \
    {                                                                                       \
        .name = "devices-" #count, .row = of, .idea = what, .run = LAB_ON_GPU(run_devices), \
        .a = (count), .b = (how)                                                            \
    }
#define STRONG_RUNG(count)       \
    DEVICES(count, NULL, STRONG, \
            "rows of tiles dealt out to " #count ", row panels travel during the product")
#define WEAK_RUNG(count, of) \
    DEVICES(count, of, WEAK, #count " devices, " #count " times the relaxations")

static const lab_rung strong_rungs[] = {
    DEVICES(1, NULL, STRONG, "all rows on one device: what the others are compared with"),
    STRONG_RUNG(2), STRONG_RUNG(3), STRONG_RUNG(4)};

static const lab_rung weak_rungs[] = {
    DEVICES(1, "A4", WEAK, "one device: the time the others should match"), WEAK_RUNG(2, "A4"),
    WEAK_RUNG(3, NULL), WEAK_RUNG(4, NULL)};

static const int64_t default_sizes[] = {5000, 11000, 0};

/* Their time to compute, without copies; ours is from host memory to host memory. Row B5 has sizes
 * and no times that we know. */
static const lab_published published[] = {{"devices-1", 11000, 0},
                                          {"devices-1", 20000, 0},
                                          {"devices-1", 22973, 11200},
                                          {"devices-2", 22973, 12900},
                                          {NULL, 0, 0}};

#define BENCH                                                                                    \
    .gpu = true, .sizes = default_sizes, .open = LAB_ON_GPU(open_bench),                         \
    .spoil = LAB_ON_GPU(spoil), .check = LAB_ON_GPU(check), .close = LAB_ON_GPU(close_bench),    \
    .work = lab_relaxations, .traffic = lab_matrix_bytes, .ceiling = lab_gpu_relaxation_ceiling, \
    .against = LAB_AGAINST_CLOSURE, .source = "apsp/devices.c weak_size run_devices"

const lab_ladder lab_apsp_devices = {
    .name = "apsp-devices",
    .title = "Strong scaling of the library over GPUs (a card that stands for several: overhead)",
    .unit = "relaxations",
    .size = "vertices",
    .rungs = strong_rungs,
    .count = LAB_COUNT(strong_rungs),
    BENCH,
};

const lab_ladder lab_apsp_devices_weak = {
    .name = "apsp-devices-weak",
    .title = "Weak scaling over GPUs: n^3 relaxations for each (a card for several: overhead)",
    .unit = "relaxations per device",
    .size = "vertices for one device",
    .rungs = weak_rungs,
    .count = LAB_COUNT(weak_rungs),
    .published = published,
    .published_on = "one and two cards of the GTX 1080 class (row A4): their time to compute, ours "
                    "is host to host",
    BENCH,
};

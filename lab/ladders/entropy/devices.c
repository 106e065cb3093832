/*
 * Ladders entropy-devices and entropy-devices-weak: the library's entropy on 1 to 4 GPUs, host
 * memory to host memory.
 *
 *   devices-1 ... devices-4   strong scaling: the same n x n array for all of them
 *                             weak scaling: n rows of n for each
 *
 * On a machine with fewer cards a card stands for several devices, which share its link: what can
 * be seen there is what more pieces at a time cost or hide, not a gain.
 */
#include "base/memory.h"
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

enum { STRONG, WEAK };

#ifndef LAB_LISTED_ONLY
#include "ladders/devices.h"
#include "ladders/entropy/array.h"
#include "ladders/gpu_timing.h"

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    uint64_t seed;
    lab_entropy_array array;
} bench;

/* The array is made by the rung: its rows are the rung's own in weak scaling. */
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
        lab_entropy_array_free(&b->array);
        twi_free(b);
    }
}

static void spoil(void *given)
{
    bench *b = given;
    lab_entropy_array_spoil(&b->array);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_entropy_array_check(ctx, &b->array, rung);
}

/* a: devices; b: STRONG or WEAK. */
static tw_status run_devices(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const twi_gpu_list gpus = lab_devices(rung->a);
    char name[LAB_DEVICE_NAME];
    const int64_t rows = rung->b == WEAK ? b->n * rung->a : b->n;
    tw_status status = lab_entropy_array_hold(&b->array, b->ctx, rows, b->n, b->seed);
    if (status == TW_OK) {
        status = tw_set_device(b->ctx, lab_device_name(name, &gpus));
    }
    return status != TW_OK ? status : lab_entropy_by_library(b->ctx, &b->array, &time->total);
}

#endif /* LAB_LISTED_ONLY */

#define DEVICES(count, how, what)                                                              \
    {                                                                                          \
        .name = "devices-" #count, .idea = what, .run = LAB_ON_GPU(run_devices), .a = (count), \
        .b = (how)                                                                             \
    }
#define STRONG_RUNG(count) \
    DEVICES(count, STRONG, "pieces of the array dealt out to " #count " in turn")
#define WEAK_RUNG(count) DEVICES(count, WEAK, #count " devices, " #count " times the rows")

static const lab_rung strong_rungs[] = {
    DEVICES(1, STRONG, "all pieces on one device: what the others are compared with"),
    STRONG_RUNG(2), STRONG_RUNG(3), STRONG_RUNG(4)};

static const lab_rung weak_rungs[] = {
    DEVICES(1, WEAK, "one device: the time the others should match"), WEAK_RUNG(2), WEAK_RUNG(3),
    WEAK_RUNG(4)};

static const int64_t default_sizes[] = {2560, 10240, 0};

#define BENCH                                                                                 \
    .gpu = true, .sizes = default_sizes, .open = LAB_ON_GPU(open_bench),                      \
    .spoil = LAB_ON_GPU(spoil), .check = LAB_ON_GPU(check), .close = LAB_ON_GPU(close_bench), \
    .work = lab_elements, .traffic = lab_image_bytes, .ceiling = lab_link_ceiling,            \
    .against = LAB_AGAINST_ENTROPY

const lab_ladder lab_entropy_devices = {
    .source = "entropy/devices.c run_devices",
    .name = "entropy-devices",
    .title = "Strong scaling of entropy over GPUs (a card that stands for several: overhead)",
    .unit = "elements",
    .size = "elements per side",
    .rungs = strong_rungs,
    .count = LAB_COUNT(strong_rungs),
    BENCH,
};

const lab_ladder lab_entropy_devices_weak = {
    .source = "entropy/devices.c run_devices",
    .name = "entropy-devices-weak",
    .title = "Weak scaling of entropy: n x n elements for each GPU (a card for several: overhead)",
    .unit = "elements per device",
    .size = "elements per side for one device",
    .rungs = weak_rungs,
    .count = LAB_COUNT(weak_rungs),
    BENCH,
};

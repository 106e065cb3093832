/*
 * What the link between the host and a GPU carries: pinned memory, copied in one piece in each
 * direction, the median of a few. It bounds the ladders whose data come from the host and go back.
 * The directions are measured one after the other, and a ladder that uses both at once is given
 * both in full: what a full-duplex link could do, so a ceiling that nothing exceeds. Ladders whose
 * data stay on the card are bounded by a copy there.
 */
#include "ladders/answers.h"
#include "ladders/gpu_timing.h"

enum { BYTES = 1 << 28, COPIES = 5 };

/* The middle one of an odd number; puts them in order. */
static double median(double values[COPIES])
{
    for (int i = 1; i < COPIES; i++) {
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double other = values[k];
            values[k] = values[k - 1];
            values[k - 1] = other;
        }
    }
    return values[COPIES / 2];
}

static tw_status copy(tw_context *ctx, void *host, void *card, bool up)
{
    return LAB_TRY(ctx,
                   up ? cudaMemcpyAsync(card, host, BYTES, cudaMemcpyHostToDevice, 0)
                      : cudaMemcpyAsync(host, card, BYTES, cudaMemcpyDeviceToHost, 0),
                   "copying over the link");
}

/* The first copy is not counted. */
static tw_status time_copies(tw_context *ctx, lab_clock *clock, void *host, void *card, bool up,
                             double *rate)
{
    double seconds[COPIES];
    tw_status status = copy(ctx, host, card, up);
    for (int i = 0; status == TW_OK && i < COPIES; i++) {
        status = lab_clock_begin(ctx, clock);
        if (status == TW_OK) {
            status = copy(ctx, host, card, up);
        }
        if (status == TW_OK) {
            status = lab_clock_end(ctx, clock, &seconds[i]);
        }
    }
    *rate = status == TW_OK ? BYTES / median(seconds) : 0;
    return status;
}

/* Bytes per second to the first GPU and from it. */
static tw_status measure(tw_context *ctx, double *up, double *down)
{
    void *host = NULL, *card = NULL;
    lab_clock clock = {0};
    tw_status status = tw_set_device(ctx, TWI_GPU_PREFIX);
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaSetDevice(0), "choosing the first device");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaMallocHost(&host, BYTES), "allocating pinned memory");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaMalloc(&card, BYTES), "allocating");
    }
    if (status == TW_OK) {
        status = lab_clock_make(ctx, &clock);
    }
    if (status == TW_OK) {
        status = time_copies(ctx, &clock, host, card, true, up);
    }
    if (status == TW_OK) {
        status = time_copies(ctx, &clock, host, card, false, down);
    }
    lab_clock_destroy(&clock);
    (void)cudaFree(card);
    (void)cudaFreeHost(host);
    return status;
}

tw_status lab_link_ceiling(tw_context *ctx, lab_ceiling *out)
{
    double up = 0, down = 0;
    *out = (lab_ceiling){.of = "pinned copies over the link, a byte up and four down at once"};
    tw_status status = measure(ctx, &up, &down);
    out->rate = up < down / 4 ? up : down / 4;
    out->bytes = out->rate * lab_image_bytes(1);
    return status;
}

tw_status lab_download_ceiling(tw_context *ctx, lab_ceiling *out)
{
    double up = 0;
    *out = (lab_ceiling){.of = "a pinned copy of the matrix from the card"};
    tw_status status = measure(ctx, &up, &out->bytes);
    out->rate = out->bytes / 4;
    return status;
}

tw_status lab_card_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    char *from = NULL, *to = NULL;
    lab_clock clock = {0};
    double best = 0;
    tw_status status = tw_set_device(ctx, TWI_GPU_PREFIX);
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaMalloc((void **)&from, BYTES), "allocating");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaMalloc((void **)&to, BYTES), "allocating");
    }
    if (status == TW_OK) {
        status = lab_clock_make(ctx, &clock);
    }
    for (int round = 0; status == TW_OK && round < 5; round++) {
        double seconds = 0;
        status = lab_clock_begin(ctx, &clock);
        if (status == TW_OK) {
            status = LAB_TRY(ctx, cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, 0),
                             "copying");
        }
        if (status == TW_OK) {
            status = lab_clock_end(ctx, &clock, &seconds);
        }
        best = seconds > 0 && 2.0 * BYTES / seconds > best ? 2.0 * BYTES / seconds : best;
    }
    lab_clock_destroy(&clock);
    (void)cudaFree(to);
    (void)cudaFree(from);
    *out = (lab_ceiling){best / 8, best, "a copy on the card, each element read and written"};
    return status;
}

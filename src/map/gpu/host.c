/*
 * Maps on GPUs of arrays in host memory. Rows go through in bands: the inputs of a band are
 * gathered in pinned memory, sent, computed, fetched into pinned memory and put in their place, and
 * while one band is on its way the next is gathered. Each device has SLOTS bands under way on
 * streams of their own; bands go round the devices in turn. So neither the arrays nor a result need
 * fit on a card, and the cost is that of the link, which is less than the memory of a CPU gives: a
 * map that is computed once over host arrays is better left there.
 *
 * A map of many passes could take hours on one band: its passes look at a word of the slot's memory
 * now and then, which the host sets when the run is cancelled.
 *
 * A slot's memory, pinned and on the device alike: the rows of each input one after the other, that
 * word if there are passes, then the rows of the result, each on a multiple of 256 bytes. Rows
 * stand close where the kernel can take them as one long row, else on multiples of 16 elements.
 */
#include "base/memory.h"
#include "base/threads.h"
#include "gpu/compat.h"
#include "gpu/queue.h"
#include "gpu/startup.h"
#include "map/gpu/gpu.h"
#include "map/gpu/slots.h"
#include "map/gpu/source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SLOTS 3
#define BAND_BYTES (8 << 20)    /* of inputs and result together; at least a row */
#define LEAST_BYTES (512 << 10) /* of a small array's band */
#define ALIGNMENT 256
#define PITCH 16 /* elements */

/* An array as it lies in a slot. */
typedef struct slot_array {
    uint64_t offset;
    int64_t rows;  /* of a band: 1 if the rows are all the same */
    int64_t width; /* elements that a row has */
    int64_t pitch; /* elements from row to row; 0 if the rows are all the same */
    int64_t size;  /* bytes per element */
} slot_array;

typedef struct host_run {
    tw_context *ctx;
    twi_map_gpu *gpu;
    const twi_map_job *job;
    int64_t band; /* rows */
    slot_array inputs[TWI_MAP_INPUTS];
    slot_array out;
    uint64_t stop; /* offset of a word that ends passes once it is not 0 */
    uint64_t bytes;
    int32_t slot_count;
    twi_map_slot *slots;
} host_run;

/* ------------------------------------------------------------------------------------- layout */

static int64_t row_bytes(const twi_map_job *job)
{
    int64_t bytes = job->cols * (int64_t)tw_type_size(job->variants->type);
    for (int32_t k = 0; k < job->input_count; k++) {
        bytes += job->cols * (int64_t)tw_type_size(job->inputs[k].type);
    }
    return bytes;
}

static slot_array place(host_run *run, tw_type type, bool one_row, bool one_col)
{
    int64_t width = one_col ? 1 : run->job->cols;
    bool close = run->gpu->flat || one_col;
    slot_array array = {
        .offset = run->bytes,
        .rows = one_row ? 1 : run->band,
        .width = width,
        .pitch = close ? width : (width + PITCH - 1) / PITCH * PITCH,
        .size = (int64_t)tw_type_size(type),
    };
    uint64_t bytes = (uint64_t)(array.rows * array.pitch * array.size);
    run->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    array.pitch = one_row ? 0 : array.pitch;
    return array;
}

static void lay_out(host_run *run)
{
    const twi_map_job *job = run->job;
    const int64_t each = row_bytes(job) > 0 ? row_bytes(job) : 1;
    const int64_t share = job->row_count / (2 * SLOTS) + 1; /* so that every slot has work */
    const int64_t least = LEAST_BYTES / each + 1;
    int64_t rows = BAND_BYTES / each;
    rows = rows < share ? rows : share < least ? least : share;
    rows = rows < 1 ? 1 : rows;
    run->band = rows < job->row_count ? rows : job->row_count;
    for (int32_t k = 0; k < job->input_count; k++) {
        const twi_map_input *in = &job->inputs[k];
        run->inputs[k] = place(run, in->type, in->row_step == 0, in->col_step == 0);
    }
    run->stop = run->bytes;
    run->bytes += job->repeat > 1 ? ALIGNMENT : 0;
    run->out = place(run, job->variants->type, false, false);
}

/* -------------------------------------------------------------------------------------- slots */

static tw_status open_slot(host_run *run, twi_map_slot *slot, int32_t device)
{
    tw_context *ctx = run->ctx;
    char sentence[64];
    if (slot->bytes >= run->bytes && slot->device == device) {
        return TW_OK; /* of a run before this one */
    }
    twi_map_slot_close(slot);
    slot->device = device;
    snprintf(sentence, sizeof sentence, "a band of %lld rows", (long long)run->band);
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    if (status == TW_OK) {
        status = twi_gpu_take(ctx, &slot->pinned, TWI_PINNED, run->bytes, sentence);
    }
    if (status == TW_OK) {
        status = twi_gpu_take(ctx, &slot->memory, device, run->bytes, sentence);
    }
    if (status == TW_OK) {
        status = twi_gpu_take_stream(ctx, &slot->stream, device);
    }
    slot->bytes = status == TW_OK ? run->bytes : 0;
    return status;
}

/* As many slots as the bands can use, those of an earlier run first. They stay with the map, and
 * after it their memory with the context: pinning takes longer than sending. */
static tw_status open_slots(host_run *run, const twi_gpu_list *devices)
{
    twi_map_gpu *gpu = run->gpu;
    int64_t bands = (run->job->row_count + run->band - 1) / run->band;
    int64_t wanted = bands < SLOTS * devices->count ? bands : SLOTS * devices->count;
    tw_status status = TW_OK;
    if (gpu->slots == NULL) {
        status = twi_alloc_zeroed(run->ctx, &gpu->slots, SLOTS * TWI_GPU_MOST, sizeof *gpu->slots,
                                  "the bands of a map");
    }
    run->slots = gpu->slots;
    while (status == TW_OK && run->slot_count < wanted) {
        int32_t k = run->slot_count++;
        gpu->slot_count = gpu->slot_count > k + 1 ? gpu->slot_count : k + 1;
        status = open_slot(run, &run->slots[k], devices->index[k % devices->count]);
    }
    return status;
}

/* -------------------------------------------------------------------------------------- bands */

static void gather(const host_run *run, const twi_map_slot *slot)
{
    const twi_map_job *job = run->job;
    const int threads = twi_thread_count(run->ctx);
    for (int32_t k = 0; k < job->input_count; k++) {
        const slot_array *array = &run->inputs[k];
        const twi_map_input *in = &job->inputs[k];
        const int64_t rows = array->pitch == 0 ? 1 : slot->row_count;
        const char *from = (const char *)in->data +
                           (slot->first_row - job->input_row) * in->row_step * array->size;
        char *to = (char *)slot->pinned.data + array->offset;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
        for (int64_t r = 0; r < rows; r++) {
            memcpy(to + r * array->pitch * array->size, from + r * in->row_step * array->size,
                   (size_t)(array->width * array->size));
        }
    }
}

static void scatter(const host_run *run, const twi_map_slot *slot)
{
    const twi_map_job *job = run->job;
    const slot_array *array = &run->out;
    const int threads = twi_thread_count(run->ctx);
    const char *from = (const char *)slot->pinned.data + array->offset;
    char *to =
        (char *)job->out + (slot->first_row - job->first_row) * job->out_stride * array->size;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t r = 0; r < slot->row_count; r++) {
        memcpy(to + r * job->out_stride * array->size, from + r * array->pitch * array->size,
               (size_t)(array->width * array->size));
    }
}

/* The band of a slot as a job on the slot's device memory. */
static twi_map_job band_job(const host_run *run, const twi_map_slot *slot)
{
    twi_map_job job = *run->job;
    job.first_row = job.input_row = slot->first_row;
    job.row_count = slot->row_count;
    for (int32_t k = 0; k < job.input_count; k++) {
        const slot_array *array = &run->inputs[k];
        job.inputs[k].data = (char *)slot->memory.data + array->offset;
        job.inputs[k].row_step = array->pitch;
    }
    job.out = (char *)slot->memory.data + run->out.offset;
    job.out_stride = run->out.pitch;
    return job;
}

static tw_status send(host_run *run, twi_map_slot *slot)
{
    tw_context *ctx = run->ctx;
    twi_map_job job = band_job(run, slot);
    uint64_t out_bytes = (uint64_t)(slot->row_count * run->out.pitch * run->out.size);
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(slot->device), "selecting the device");
    if (job.repeat > 1) {
        *(int32_t *)(void *)((char *)slot->pinned.data + run->stop) = 0;
    }
    if (status == TW_OK && run->out.offset > 0) {
        status = twi_gpu_check(ctx,
                               (int)cudaMemcpyAsync(slot->memory.data, slot->pinned.data,
                                                    run->out.offset, cudaMemcpyHostToDevice,
                                                    slot->stream.stream),
                               "sending a band");
    }
    if (status == TW_OK) {
        const char *stop = (const char *)slot->memory.data + run->stop;
        status = twi_map_gpu_queue(ctx, run->gpu, slot->device, &job, job.repeat > 1 ? stop : NULL,
                                   slot->stream.stream);
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx,
                               (int)cudaMemcpyAsync((char *)slot->pinned.data + run->out.offset,
                                                    job.out, out_bytes, cudaMemcpyDeviceToHost,
                                                    slot->stream.stream),
                               "fetching a band");
    }
    return status;
}

/* Tell the passes of a slot's band to end. */
static void stop_passes(const host_run *run, const twi_map_slot *slot)
{
    twi_gpu_tell_to_stop((int32_t *)(void *)((char *)slot->memory.data + run->stop),
                         (int32_t *)(void *)((char *)slot->pinned.data + run->stop));
}

/* Wait for the stream of a slot. Where there are passes, look whether the run is cancelled. */
static tw_status await_band(host_run *run, const twi_map_slot *slot)
{
    bool stopped = run->job->repeat == 1;
    const struct timespec nap = {.tv_nsec = 100000};
    const cudaStream_t stream = slot->stream.stream;
    for (int64_t looks = 0; !stopped && cudaStreamQuery(stream) == cudaErrorNotReady; looks++) {
        if (twi_is_cancelled(run->ctx)) {
            stop_passes(run, slot);
            stopped = true;
        } else if (looks > 1000) {
            (void)nanosleep(&nap, NULL);
        }
    }
    const tw_status status =
        twi_gpu_check(run->ctx, (int)cudaStreamSynchronize(stream), "computing a band");
    return status == TW_OK ? twi_check_cancel(run->ctx) : status;
}

/* Wait for a slot's band, if it has one, and put the result in its place. */
static tw_status finish(host_run *run, twi_map_slot *slot)
{
    if (slot->row_count == 0) {
        return TW_OK;
    }
    tw_status status =
        twi_gpu_check(run->ctx, (int)cudaSetDevice(slot->device), "selecting the device");
    if (status == TW_OK) {
        status = await_band(run, slot);
    }
    if (status == TW_OK) {
        scatter(run, slot);
    }
    slot->row_count = 0;
    return status;
}

static tw_status run_bands(host_run *run)
{
    const twi_map_job *job = run->job;
    int64_t end = job->first_row + job->row_count;
    tw_status status = TW_OK;
    int64_t number = 0;
    const int64_t slots = run->slot_count > 0 ? run->slot_count : 1;
    for (int64_t row = job->first_row; row < end && status == TW_OK; row += run->band, number++) {
        twi_map_slot *slot = &run->slots[number % slots];
        status = finish(run, slot);
        if (status == TW_OK) {
            status = twi_check_cancel(run->ctx);
        }
        if (status == TW_OK) {
            slot->first_row = row;
            slot->row_count = end - row < run->band ? end - row : run->band;
            gather(run, slot);
            status = send(run, slot);
            twi_progress(run->ctx, "map", (double)row, (double)job->rows, "rows");
        }
    }
    for (int64_t k = 0; k < slots && status == TW_OK; k++, number++) {
        status = finish(run, &run->slots[number % slots]);
    }
    return status;
}

tw_status twi_map_gpu_run(tw_context *ctx, twi_map_gpu *gpu, const twi_gpu_list *devices,
                          const twi_map_job *job)
{
    host_run run = {.ctx = ctx, .gpu = gpu, .job = job};
    tw_status status = TW_OK;
    int before = 0;
    if (job->row_count == 0 || job->cols == 0) {
        return TW_OK;
    }
    bool entered = cudaGetDevice(&before) == cudaSuccess;
    (void)twi_gpu_await(ctx);
    for (int32_t d = 0; d < devices->count && status == TW_OK; d++) {
        status = twi_map_gpu_prepare(ctx, gpu, devices->index[d], NULL);
    }
    lay_out(&run);
    if (status == TW_OK) {
        status = open_slots(&run, devices);
    }
    if (status == TW_OK) {
        status = run_bands(&run);
    }
    if (status != TW_OK) {
        for (int32_t k = 0; k < run.slot_count && job->repeat > 1; k++) {
            if (run.slots[k].row_count > 0 && cudaSetDevice(run.slots[k].device) == cudaSuccess) {
                stop_passes(&run, &run.slots[k]);
            }
        }
        /* with whatever is still under way in them */
        twi_map_slots_free(&gpu->slots, &gpu->slot_count);
    }
    if (entered) {
        (void)cudaSetDevice(before);
    }
    return status;
}

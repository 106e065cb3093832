/*
 * The kernel of a map on the devices that use it: see gpu.h.
 *
 * A map without row and col whose arrays have no gaps between rows is launched as one long row: its
 * accesses are then aligned whatever the number of columns. Else blocks are as wide as a row needs,
 * up to TWI_MAP_BLOCK threads, and as high as fills them up.
 */
#include "map/gpu/gpu.h"

#include "base/memory.h"
#include "gpu/code_cache.h"
#include "gpu/compat.h"
#include "gpu/rtc.h"
#include "map/gpu/slots.h"
#include "map/gpu/source.h"

#include <string.h>

#define GRID_HIGHEST 65535

/* ------------------------------------------------------------------------------------- making */

bool twi_map_gpu_is_ready(tw_context *ctx)
{
    char before[sizeof ctx->error];
    char version[32];
    memcpy(before, ctx->error, sizeof before);
    bool ready = twi_gpu_count() > 0 && twi_rtc_version(ctx, version) == TW_OK;
    memcpy(ctx->error, before, sizeof before); /* a no is no failure */
    return ready;
}

static bool knows_places(const twi_program *program)
{
    for (int32_t i = 0; i < program->count; i++) {
        int code = program->ops[i].code;
        if (code == TWI_OP_ROW || code == TWI_OP_COL || code == TWI_OP_ROW_MOD ||
            code == TWI_OP_COL_MOD) {
            return true;
        }
    }
    return false;
}

tw_status twi_map_gpu_create(tw_context *ctx, twi_map_gpu **out, const twi_map_job *job)
{
    *out = NULL;
    twi_map_gpu *gpu = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &gpu, 1, sizeof *gpu, "the kernel of a map");
    if (status != TW_OK) {
        return status;
    }
    status = twi_map_source_make(ctx, &gpu->source, job);
    if (status != TW_OK) {
        twi_map_gpu_destroy(gpu);
        return status;
    }
    gpu->type = job->variants->type;
    gpu->col_period = job->variants->col_period;
    gpu->flat = job->variants->row_period == 1;
    for (int32_t p = 0; p < job->variants->program_count; p++) {
        gpu->flat = gpu->flat && !knows_places(&job->variants->programs[p]);
    }
    *out = gpu;
    return TW_OK;
}

void twi_map_gpu_destroy(twi_map_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    int before = 0;
    bool entered = gpu->kernel_count > 0 && cudaGetDevice(&before) == cudaSuccess;
    for (int32_t i = 0; i < gpu->kernel_count; i++) {
        twi_gpu_give_code(&gpu->kernels[i].kept);
    }
    twi_map_slots_free(&gpu->slots, &gpu->slot_count);
    if (entered) {
        (void)cudaSetDevice(before);
    }
    twi_map_source_clear(&gpu->source);
    twi_free(gpu);
}

const char *twi_map_gpu_text(const twi_map_gpu *gpu)
{
    return gpu->source.text;
}

bool twi_map_gpu_is_kept(const tw_context *ctx, const twi_map_gpu *gpu, int32_t device)
{
    return twi_gpu_keeps_code(ctx, device, gpu->source.text);
}

/* From the cache if the driver takes what is there, else from the compiler and into the cache. */
static tw_status load(tw_context *ctx, const twi_map_gpu *gpu, int32_t device, twi_rtc_kernel *out,
                      bool *cached)
{
    char architecture[32];
    twi_code_key key = {0};
    twi_rtc_code code = {0};
    *cached = false;
    tw_status status = twi_rtc_architecture(ctx, device, architecture);
    if (status == TW_OK) {
        status = twi_code_key_make(ctx, &key, gpu->source.whole, architecture);
    }
    if (status == TW_OK) {
        status = twi_code_cache_read(ctx, &code, &key);
    }
    if (status == TW_OK && code.data != NULL) {
        *cached = twi_rtc_load(ctx, out, &code, TWI_MAP_KERNEL) == TW_OK;
        twi_rtc_code_clear(&code);
    }
    if (status == TW_OK && !*cached) {
        status = twi_rtc_compile(ctx, &code, gpu->source.whole, architecture);
        if (status == TW_OK) {
            status = twi_rtc_load(ctx, out, &code, TWI_MAP_KERNEL);
        }
        if (status == TW_OK) {
            twi_code_cache_write(&key, &code);
        }
    }
    twi_rtc_code_clear(&code);
    twi_code_key_clear(&key);
    return status;
}

static void unload(void *module)
{
    twi_rtc_kernel kernel = {.module = module};
    twi_rtc_unload(&kernel);
}

/* The kernel on a device, which is made the current one. */
static tw_status find_kernel(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                             const twi_rtc_kernel **out, bool *cached)
{
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    if (status != TW_OK) {
        return status;
    }
    for (int32_t i = 0; i < gpu->kernel_count; i++) {
        if (gpu->kernels[i].device == device) {
            *out = &gpu->kernels[i].kernel;
            return TW_OK;
        }
    }
    if (gpu->kernel_count == TWI_GPU_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a map runs on at most %d devices", TWI_GPU_MOST);
    }
    twi_map_code *slot = &gpu->kernels[gpu->kernel_count];
    slot->device = device;
    status = twi_gpu_take_code(ctx, &slot->kept, device, gpu->source.text);
    *cached = slot->kept.module != NULL;
    if (status == TW_OK && !*cached) {
        status = load(ctx, gpu, device, &slot->kernel, cached);
        if (status == TW_OK) {
            status = twi_gpu_own_code(ctx, &slot->kept, device, gpu->source.text,
                                      slot->kernel.module, slot->kernel.function, unload);
        }
    }
    if (status == TW_OK) {
        slot->kernel = (twi_rtc_kernel){slot->kept.module, slot->kept.function};
        *out = &slot->kernel;
        gpu->kernel_count++;
    }
    return status;
}

tw_status twi_map_gpu_prepare(tw_context *ctx, twi_map_gpu *gpu, int32_t device, bool *cached)
{
    const twi_rtc_kernel *kernel = NULL;
    bool from_cache = false;
    tw_status status = find_kernel(ctx, gpu, device, &kernel, &from_cache);
    if (cached != NULL) {
        *cached = from_cache;
    }
    return status;
}

/* ---------------------------------------------------------------------------------- launching */

/* One array of a launch: where row 0 would begin, and its rows. */
typedef struct device_rows {
    uintptr_t at; /* address of row 0, column 0 */
    int64_t step; /* elements */
    int64_t size; /* bytes per element */
    bool single;  /* one element a row */
} device_rows;

static device_rows rows_of(const twi_map_gpu *gpu, const twi_map_job *job, int32_t k)
{
    if (k < 0) {
        int64_t size = (int64_t)tw_type_size(gpu->type);
        uintptr_t skipped = (uintptr_t)(job->first_row * job->out_stride * size);
        return (device_rows){(uintptr_t)job->out - skipped, job->out_stride, size, false};
    }
    const twi_map_input *in = &job->inputs[gpu->source.inputs[k]];
    int64_t size = (int64_t)tw_type_size(in->type);
    uintptr_t skipped = (uintptr_t)(job->input_row * in->row_step * size);
    return (device_rows){(uintptr_t)in->data - skipped, in->row_step, size, in->col_step == 0};
}

static bool can_be_one_row(const twi_map_gpu *gpu, const twi_map_job *job)
{
    if (!gpu->flat || job->cols % gpu->col_period != 0) {
        return false;
    }
    for (int32_t k = -1; k < gpu->source.input_count; k++) {
        device_rows rows = rows_of(gpu, job, k);
        bool constant = rows.single && rows.step == 0;
        if (!constant && (rows.single || rows.step != job->cols)) {
            return false;
        }
    }
    return true;
}

static bool is_aligned(const twi_map_gpu *gpu, const device_rows *rows, bool one_row)
{
    uintptr_t bytes = (uintptr_t)(gpu->source.piece * rows->size);
    return rows->single || (rows->at % bytes == 0 &&
                            (one_row || (uintptr_t)(rows->step * rows->size) % bytes == 0));
}

static void fill_arguments(const twi_map_gpu *gpu, const twi_map_job *job, const void *stop,
                           bool one_row, int64_t arguments[TWI_MAP_ARGUMENTS])
{
    bool aligned = true;
    for (int32_t k = -1; k < gpu->source.input_count; k++) {
        device_rows rows = rows_of(gpu, job, k);
        if (one_row) {
            rows.at += (uintptr_t)(job->first_row * rows.step * rows.size);
        }
        aligned = aligned && is_aligned(gpu, &rows, one_row);
        arguments[TWI_MAP_IN + 2 * k] = (int64_t)rows.at;
        arguments[TWI_MAP_IN + 2 * k + 1] = rows.step * rows.size;
    }
    arguments[TWI_MAP_FIRST_ROW] = one_row ? 0 : job->first_row;
    arguments[TWI_MAP_ROWS] = one_row ? 1 : job->row_count;
    arguments[TWI_MAP_COLS] = one_row ? job->row_count * job->cols : job->cols;
    arguments[TWI_MAP_REPEAT] = job->repeat;
    arguments[TWI_MAP_ALIGNED] = aligned;
    arguments[TWI_MAP_STOP] = (int64_t)(uintptr_t)stop;
}

tw_status twi_map_gpu_queue(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                            const twi_map_job *job, const void *stop, void *stream)
{
    const twi_rtc_kernel *kernel = NULL;
    int64_t arguments[TWI_MAP_ARGUMENTS];
    bool cached;
    if (job->row_count == 0 || job->cols == 0) {
        return TW_OK;
    }
    tw_status status = find_kernel(ctx, gpu, device, &kernel, &cached);
    if (status != TW_OK) {
        return status;
    }
    fill_arguments(gpu, job, stop, can_be_one_row(gpu, job), arguments);
    int64_t rows = arguments[TWI_MAP_ROWS];
    int64_t cols = arguments[TWI_MAP_COLS];
    int64_t each = (int64_t)gpu->source.group * gpu->source.groups;
    int64_t wide = 1;
    while (wide < TWI_MAP_BLOCK && wide * each < cols) {
        wide *= 2;
    }
    int64_t high = TWI_MAP_BLOCK / wide;
    int64_t across = (cols + wide * each - 1) / (wide * each);
    int64_t down = (rows + high - 1) / high;
    if (across > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%lld elements are more than one launch takes; give fewer rows at a time",
                       (long long)(rows * cols));
    }
    down = down < GRID_HIGHEST ? down : GRID_HIGHEST;
    const uint32_t grid[3] = {(uint32_t)across, (uint32_t)down, 1};
    const uint32_t block[3] = {(uint32_t)wide, (uint32_t)high, 1};
    return twi_rtc_launch(ctx, kernel, grid, block, arguments, stream);
}

tw_status twi_map_gpu_find(tw_context *ctx, const void *data, const char *what, int32_t *device)
{
    struct cudaPointerAttributes at;
    tw_status status = twi_gpu_check(ctx, (int)cudaPointerGetAttributes(&at, data), what);
    if (status != TW_OK) {
        return status;
    }
    if (!TWI_IS_DEVICE_MEMORY(at)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is not in GPU memory; tw_map_plan_apply takes arrays in host memory",
                       what);
    }
    *device = at.device;
    return TW_OK;
}

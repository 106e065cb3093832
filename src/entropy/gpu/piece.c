/*
 * One piece on one device: which kernels, what they need, and their launch.
 *
 * u8 values that are levels already are read as they lie. Everything else is turned into levels in
 * the workspace first: other types, ranges, borders that repeat elements (laid around, so that all
 * windows lie inside), and what the list wants, which marks elements that do not count.
 */
#include "entropy/gpu/gpu.h"

#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <string.h>

#define SIDE_MOST ((int64_t)1 << 30) /* rows or columns of a piece */
#define LEVEL_ALIGN 16               /* levels, of rows in the workspace */
#define RUN 3                        /* numbers of a run */

const char *twi_gpu_method_name(twi_gpu_method method)
{
    static const char *const names[] = {"gpu-pairs", "gpu-slide", "gpu-list"};
    return names[method];
}

tw_status twi_gpu_limits_get(tw_context *ctx, twi_gpu_limits *out, int32_t device)
{
    int processors = 0;
    int major = 0;
    int minor = 0;
    int shared = 0;
    int error = (int)cudaSetDevice(device);
    error = error != 0
                ? error
                : (int)cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    error = error != 0
                ? error
                : (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    error = error != 0
                ? error
                : (int)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    error =
        error != 0
            ? error
            : (int)cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *out =
        (twi_gpu_limits){.processors = processors, .compute = major * 10 + minor, .shared = shared};
    return twi_gpu_check(ctx, error, "asking for the limits of the device");
}

/* ------------------------------------------------------------------------------------ the window
 */

/* The window as runs of rows down its columns: column, first row, row after the last. `out` NULL:
 * only count them. */
static tw_status column_runs(tw_context *ctx, const twi_window *window, int32_t *out,
                             int64_t *count)
{
    uint8_t *belongs = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &belongs, (uint64_t)window->rows,
                                        (uint64_t)window->cols, "the window");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t i = 0; i < window->run_count; i++) {
        const twi_run *run = &window->runs[i];
        memset(belongs + (int64_t)run->row * window->cols + run->begin, 1,
               (size_t)(run->end - run->begin));
    }
    *count = 0;
    for (int32_t col = 0; col < window->cols; col++) {
        for (int32_t row = 0; row < window->rows; row++) {
            int32_t begin = row;
            while (row < window->rows && belongs[(int64_t)row * window->cols + col]) {
                row++;
            }
            if (row > begin && out != NULL) {
                memcpy(out + RUN * *count, (int32_t[RUN]){col, begin, row}, RUN * sizeof *out);
            }
            *count += row > begin;
        }
    }
    twi_free(belongs);
    return TW_OK;
}

/* ------------------------------------------------------------------------------------ the layout
 */

/* The levels as the kernels see them. */
static twi_gpu_field field_of(const twi_gpu_layout *layout, const twi_entropy_setup *setup,
                              const twi_gpu_piece *piece, const char *workspace)
{
    return (twi_gpu_field){
        .levels = layout->staged ? workspace + layout->levels : piece->in.data,
        .stride = layout->stride,
        .rows = (int32_t)layout->rows,
        .cols = (int32_t)layout->cols,
        .above = layout->around ? 0 : (int32_t)piece->above,
        .before = layout->around ? 0 : (int32_t)piece->before,
        .out = piece->out.data,
        .out_stride = piece->out.stride,
        .out_rows = (int32_t)piece->out.rows,
        .out_cols = (int32_t)piece->out.cols,
        .window_rows = setup->window.rows,
        .window_cols = setup->window.cols,
    };
}

/* Where the levels come from, if the method were this one. */
static void choose_levels(twi_gpu_layout *layout, const twi_entropy_setup *setup,
                          const twi_gpu_piece *piece, twi_gpu_method method, bool aligned)
{
    const bool list = method == TWI_GPU_LIST;
    layout->method = method;
    layout->around = list || (piece->border != TW_ENTROPY_BORDER_CROP &&
                              piece->border != TW_ENTROPY_BORDER_VALID);
    layout->staged =
        layout->around || piece->in.type != TW_U8 || setup->opts.range != NULL || aligned;
    layout->level_size = list ? 2 : 1;
    layout->rows = layout->around ? piece->out.rows + setup->window.rows - 1 : piece->in.rows;
    layout->cols = layout->around ? piece->out.cols + setup->window.cols - 1 : piece->in.cols;
    layout->stride = layout->staged ? (layout->cols + LEVEL_ALIGN - 1) / LEVEL_ALIGN * LEVEL_ALIGN
                                    : piece->in.stride;
}

/* Whether a kernel can take it as choose_levels has left it. */
static bool can(const twi_gpu_layout *layout, const twi_entropy_setup *setup,
                const twi_gpu_limits *limits, const twi_gpu_piece *piece)
{
    const tw_entropy_options *opts = &setup->opts;
    const twi_gpu_field field = field_of(layout, setup, piece, NULL);
    const bool plain = !twi_entropy_skips(opts) && setup->window.full && opts->type == TW_F32;
    switch (layout->method) {
    case TWI_GPU_PAIRS:
        return plain && opts->levels <= 16 && twi_gpu_pairs_can(limits, &field);
    case TWI_GPU_SLIDE:
        return plain && opts->levels <= 256 && twi_gpu_slide_can(limits, &field);
    default:
        return true;
    }
}

static void choose_method(twi_gpu_layout *layout, const twi_entropy_setup *setup,
                          const twi_gpu_limits *limits, const twi_gpu_piece *piece)
{
    choose_levels(layout, setup, piece, TWI_GPU_PAIRS, false);
    if (can(layout, setup, limits, piece)) {
        return;
    }
    choose_levels(layout, setup, piece, TWI_GPU_PAIRS, true); /* a copy is soon made */
    if (can(layout, setup, limits, piece)) {
        return;
    }
    choose_levels(layout, setup, piece, TWI_GPU_SLIDE, false);
    if (!can(layout, setup, limits, piece)) {
        choose_levels(layout, setup, piece, TWI_GPU_LIST, false);
    }
}

/* Bytes of an entry of the tables in device memory. */
static uint64_t entry_size(const twi_gpu_layout *layout, const twi_entropy_setup *setup)
{
    return layout->method == TWI_GPU_PAIRS ? 0
           : setup->opts.type == TW_F64    ? sizeof *setup->table.wide_sum
                                           : sizeof *setup->table.sum;
}

static twi_gpu_list_job list_of(const twi_gpu_layout *layout, const twi_entropy_setup *setup,
                                const twi_gpu_limits *limits, const twi_gpu_piece *piece,
                                char *workspace, uint64_t *histogram_bytes)
{
    const char *tables = workspace + layout->tables;
    twi_gpu_list_job job = {
        .field = field_of(layout, setup, piece, workspace),
        .runs = (const int32_t *)(workspace + layout->runs),
        .sums = tables,
        .steps = tables + ((uint64_t)setup->table.size + 1) * entry_size(layout, setup),
        .is_f64 = setup->opts.type == TW_F64,
        .histograms = (uint32_t *)(workspace + layout->histograms),
        .size = setup->window.size,
        .run_count = (int32_t)layout->run_count,
        .levels = setup->opts.levels,
        .unit = (double)((uint64_t)1 << setup->table.fraction),
    };
    *histogram_bytes = twi_gpu_list_plan(limits, &job);
    return job;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + TWI_GPU_ALIGN - 1) / TWI_GPU_ALIGN * TWI_GPU_ALIGN;
}

static uint64_t edge_bytes(const twi_entropy_setup *setup)
{
    return setup->edges != NULL ? ((uint64_t)setup->opts.levels + 1) * sizeof *setup->edges : 0;
}

tw_status twi_gpu_layout_make(tw_context *ctx, twi_gpu_layout *out, const twi_entropy_setup *setup,
                              const twi_gpu_limits *limits, const twi_gpu_piece *piece)
{
    uint64_t bytes = 0;
    *out = (twi_gpu_layout){0};
    if (piece->in.rows > SIDE_MOST || piece->in.cols > SIDE_MOST) {
        return tw_fail(
            ctx, TW_ERR_UNSUPPORTED,
            "an array of %lld x %lld in GPU memory: the maximum is %lld rows and columns",
            (long long)piece->in.rows, (long long)piece->in.cols, (long long)SIDE_MOST);
    }
    if (twi_entropy_is_wide(setup)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "%d levels leave no 16-bit value to mark ignored elements on a GPU; use the "
                       "CPU, one level less, or a border other than crop and no mask",
                       setup->opts.levels);
    }
    choose_method(out, setup, limits, piece);
    if (out->method == TWI_GPU_LIST) {
        tw_status status = column_runs(ctx, &setup->window, NULL, &out->run_count);
        if (status != TW_OK) {
            return status;
        }
        (void)list_of(out, setup, limits, piece, NULL, &out->histogram_bytes);
    }
    out->tables = 0;
    out->runs = round_up(2 * entry_size(out, setup) * ((uint64_t)setup->table.size + 1));
    out->edges = out->runs + round_up(RUN * sizeof(int32_t) * (uint64_t)out->run_count);
    out->levels = out->edges + round_up(edge_bytes(setup));
    if (out->staged &&
        (!twi_mul((uint64_t)out->rows, (uint64_t)out->stride, &bytes) ||
         !twi_mul(bytes, (uint64_t)out->level_size, &bytes) || bytes > (uint64_t)INT64_MAX / 2)) {
        return tw_fail(ctx, TW_ERR_MEMORY, "%lld x %lld levels cannot be addressed",
                       (long long)out->rows, (long long)out->stride);
    }
    out->histograms = out->levels + round_up(bytes);
    out->bytes = out->histograms + round_up(out->histogram_bytes);
    return TW_OK;
}

/* ---------------------------------------------------------------------------------------- launch
 */

/* Pageable memory has been read when this returns. */
static tw_status copy_up(tw_context *ctx, void *to, const void *from, uint64_t bytes,
                         const char *what, void *stream)
{
    return bytes == 0
               ? TW_OK
               : twi_gpu_check(
                     ctx, (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream),
                     what);
}

tw_status twi_gpu_upload_tables(tw_context *ctx, const twi_gpu_layout *layout,
                                const twi_entropy_setup *setup, void *workspace, void *stream)
{
    const uint64_t bytes = 2 * ((uint64_t)setup->table.size + 1) * entry_size(layout, setup);
    const void *tables = setup->opts.type == TW_F64 ? (const void *)setup->table.wide_sum
                                                    : setup->table.sum; /* the steps follow */
    int32_t *runs = NULL;
    int64_t run_count = 0;
    tw_status status = copy_up(ctx, (char *)workspace + layout->tables, tables, bytes,
                               "copying the logarithms", stream);
    if (status == TW_OK) {
        status = copy_up(ctx, (char *)workspace + layout->edges, setup->edges, edge_bytes(setup),
                         "copying the edges of the bins", stream);
    }
    if (status == TW_OK && layout->run_count > 0) {
        status =
            twi_alloc(ctx, &runs, (uint64_t)layout->run_count, RUN * sizeof *runs, "the window");
    }
    if (status == TW_OK && runs != NULL) {
        status = column_runs(ctx, &setup->window, runs, &run_count);
    }
    if (status == TW_OK && runs != NULL) {
        status = copy_up(ctx, (char *)workspace + layout->runs, runs,
                         (uint64_t)run_count * RUN * sizeof *runs, "copying the window", stream);
    }
    twi_free(runs);
    return status;
}

static tw_status stage(tw_context *ctx, const twi_gpu_layout *layout,
                       const twi_entropy_setup *setup, const twi_gpu_piece *piece, char *workspace,
                       void *stream)
{
    const tw_entropy_options *opts = &setup->opts;
    twi_gpu_values values = {
        .data = piece->in.data,
        .stride = piece->in.stride,
        .type = piece->in.type,
        .rows = (int32_t)piece->in.rows,
        .cols = (int32_t)piece->in.cols,
        .mask = piece->mask.data,
        .mask_stride = piece->mask.stride,
        .levels = opts->levels,
        .ranged = opts->range != NULL,
        .has_no_data = opts->no_data != NULL,
        .skip_nan = opts->skip_nan,
        .low = opts->range != NULL ? opts->range[0] : 0,
        .high = opts->range != NULL ? opts->range[1] : 0,
        .edges = (const double *)(workspace + layout->edges),
        .no_data = opts->no_data != NULL ? *opts->no_data : 0,
        .border = piece->border,
        .above = layout->around ? (int32_t)piece->above : 0,
        .before = layout->around ? (int32_t)piece->before : 0,
    };
    return twi_gpu_check(ctx,
                         twi_launch_levels(&values, workspace + layout->levels, layout->stride,
                                           layout->level_size, (int32_t)layout->rows,
                                           (int32_t)layout->cols, stream),
                         "starting to make levels");
}

static tw_status run_list(tw_context *ctx, const twi_gpu_layout *layout,
                          const twi_entropy_setup *setup, const twi_gpu_limits *limits,
                          const twi_gpu_piece *piece, char *workspace, void *stream)
{
    uint64_t bytes;
    twi_gpu_list_job job = list_of(layout, setup, limits, piece, workspace, &bytes);
    tw_status status = TW_OK;
    if (bytes > 0) {
        status = twi_gpu_check(
            ctx, (int)cudaMemsetAsync(workspace + layout->histograms, 0, bytes, stream),
            "clearing histograms");
    }
    return status == TW_OK
               ? twi_gpu_check(ctx, twi_launch_list(&job, stream), "starting the entropy kernel")
               : status;
}

tw_status twi_gpu_run_piece(tw_context *ctx, const twi_gpu_layout *layout,
                            const twi_entropy_setup *setup, const twi_gpu_limits *limits,
                            const twi_gpu_piece *piece, void *workspace, void *stream)
{
    const twi_gpu_field field = field_of(layout, setup, piece, workspace);
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    int error;
    tw_status status = TW_OK;
    if (layout->staged) {
        status = stage(ctx, layout, setup, piece, workspace, stream);
    }
    if (status != TW_OK) {
        return status;
    }
    if (layout->method == TWI_GPU_LIST) {
        return run_list(ctx, layout, setup, limits, piece, workspace, stream);
    }
    if (layout->method == TWI_GPU_PAIRS) {
        error = twi_launch_pairs(limits, &field, setup->table.sum, unit, stream);
    } else {
        error = twi_launch_slide(limits, &field,
                                 (const uint64_t *)((const char *)workspace + layout->tables), unit,
                                 stream);
    }
    return twi_gpu_check(ctx, error, "starting the entropy kernel");
}

/*
 * Arrays in host memory on one GPU or several. The result is cut into pieces: bands of rows, or, of
 * arrays that are wide and flat, rectangles. Each piece takes with it the elements around it that
 * its windows cover, so that pieces know nothing of each other and any device may take any of them.
 *
 * Every device has a few slots, each with a stream and room for one piece; pieces go to the slots
 * in turn. So one piece comes up, one is computed and one goes down at the same time, and what
 * bounds a large array is the link: 4 bytes per element go down, 1 comes up.
 *
 * Memory that is not pinned goes through pinned buffers of the slots, copied by all threads.
 * Borders that repeat elements are laid around a piece by copying: where rows or columns do not
 * follow each other, one copy for each stretch that does.
 */
#include "entropy/gpu/host.h"

#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"
#include "entropy/gpu/gpu.h"
#include "entropy/shared/levels.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/startup.h"
#include "gpu/store.h"

#include <string.h>

#define SLOTS_A_DEVICE 3
#define PIECE_BYTES ((int64_t)24 << 20) /* of results, from and to pinned memory */
#define STAGED_BYTES ((int64_t)8 << 20) /* through buffers, which take time to pin */
#define FLAT_WINDOWS 4                  /* pieces of fewer windows' rows than this are cut across */
#define LEAST_COLS 4096                 /* of a piece of a flat array */
#define SEGMENT ((int64_t)64 << 10)     /* bytes that a thread copies at once */
#define ELEMENT_BYTES 10 /* on a device besides the result: f32, mask, levels, and the halo */
#define PITCH 256        /* bytes: rows in device memory are multiples of it */

/* For the choice between the processors of a machine: seconds of one thread of many for an element,
 * or for one that enters or leaves a window; and of a GPU, seconds of a call, and for an element
 * that comes from and goes to memory that is not pinned, or that is. H200 and its host, two threads
 * on a core, November 2026 (bench/gpu_calls.sh). */
#define COUNTERS_SECONDS 5e-9
#define STACKS_SECONDS 20e-9
#define BINS_SECONDS 25e-9
#define LANES_SECONDS 0.7e-9
#define LIST_SECONDS 2e-9
#define CALL_SECONDS 0.0002
#define TRANSFER_SECONDS 0.11e-9
#define LINK_SECONDS 0.08e-9

/* Outputs y0 ... y1-1, x0 ... x1-1. */
typedef struct rectangle {
    int64_t y0, y1, x0, x1;
} rectangle;

#define BUFFERS 7 /* of a slot */

typedef struct slot {
    int32_t device;
    twi_gpu_limits limits;
    twi_gpu_stream queue;
    cudaStream_t stream;                              /* of the queue */
    twi_gpu_block in, mask, out, workspace;           /* on the device */
    twi_gpu_block staged_in, staged_mask, staged_out; /* pinned, for memory that is not */
    twi_gpu_method method;                            /* whose tables the workspace holds */
    bool tables;
    bool busy;
    rectangle area; /* of the piece that it works on */
    char *target;   /* where its result goes from staged_out; NULL: it went by itself */
    int64_t pitch;  /* bytes between rows there */
    int64_t line;   /* bytes of a row of the piece */
} slot;

struct twi_entropy_gpu {
    slot *slots;
    int32_t slot_count;
    twi_gpu_method method;
    bool ran;       /* before this call: its start did not count */
    int64_t pieces; /* so far */
    int64_t first;  /* row of the result that the present call begins with */
};

/* ---------------------------------------------------------------------------------------- memory
 */

/* TW_OK if the slot may hold so many bytes of device memory instead of those of `b`: its share of
 * what the context allows. */
static tw_status check_share(tw_context *ctx, const slot *s, const twi_gpu_block *b, uint64_t bytes)
{
    const uint64_t limit = ctx->device_memory_limit;
    const uint64_t others =
        s->in.bytes + s->mask.bytes + s->out.bytes + s->workspace.bytes - b->bytes;
    char need[32];
    char have[32];
    if (limit == 0 || others + bytes <= limit / SLOTS_A_DEVICE) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_MEMORY,
                   "this window and number of levels need %s of GPU memory, but %s may be used",
                   twi_bytes(need, (double)(others + bytes) * SLOTS_A_DEVICE),
                   twi_bytes(have, (double)limit));
}

/* At least so many bytes in one of the slot's buffers; what they held is lost. */
static tw_status reserve(tw_context *ctx, const slot *s, twi_gpu_block *b, uint64_t bytes,
                         bool pinned, const char *what)
{
    if (bytes <= b->bytes) {
        return TW_OK;
    }
    tw_status status = pinned ? TW_OK : check_share(ctx, s, b, bytes);
    if (status != TW_OK) {
        return status;
    }
    twi_gpu_give(b);
    return twi_gpu_take(ctx, b, pinned ? TWI_PINNED : s->device, bytes, what);
}

static bool is_pinned(const void *data)
{
    struct cudaPointerAttributes at;
    if (cudaPointerGetAttributes(&at, data) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return TWI_IS_PINNED_MEMORY(at);
}

/* rows x width bytes, on all threads. */
static void copy_block(tw_context *ctx, char *to, int64_t to_pitch, const char *from,
                       int64_t from_pitch, int64_t width, int64_t rows)
{
    const int64_t segments = (width + SEGMENT - 1) / SEGMENT;
    const int threads = rows * width < SEGMENT ? 1 : twi_thread_count(ctx);
    (void)threads;
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t i = 0; i < rows * segments; i++) {
        const int64_t row = i / segments;
        const int64_t begin = i % segments * SEGMENT;
        const int64_t count = width - begin < SEGMENT ? width - begin : SEGMENT;
        memcpy(to + row * to_pitch + begin, from + row * from_pitch + begin, (size_t)count);
    }
}

/* ------------------------------------------------------------------------------- what goes along
 */

/* Indices of the input along one axis that belong to a piece. */
typedef struct span {
    int64_t begin, count; /* before the border is applied; of those inside, if it is cropped */
    int64_t lack;         /* indices of the first window that lie before `begin` */
} span;

static span span_of(tw_entropy_border border, int64_t first, int64_t outputs, int64_t window,
                    int64_t border_width, int64_t size)
{
    span s = {first - border_width, outputs + window - 1, 0};
    if (border == TW_ENTROPY_BORDER_CROP) {
        int64_t end = s.begin + s.count < size ? s.begin + s.count : size;
        s.lack = s.begin < 0 ? -s.begin : 0;
        s.begin += s.lack;
        s.count = end - s.begin;
    }
    return s;
}

/* How many from `at` on follow each other in the input, of which element `held` comes first in
 * memory. */
static int64_t stretch(const span *s, int64_t at, int64_t size, int64_t held)
{
    const int64_t index = s->begin + at;
    if (index < 0 || index >= size) {
        return 1;
    }
    const int64_t end = index < held ? held : size;
    return s->count - at < end - index ? s->count - at : end - index;
}

/* Everything that brings one matrix to a slot. */
typedef struct upload {
    tw_context *ctx;
    const tw_matrix *from;
    int64_t held; /* the row that comes first in memory; after the last follows the first */
    tw_entropy_border border;
    span rows, cols;
    char *to; /* in device memory, or in the pinned buffer */
    int64_t pitch;
    bool staged;
    cudaStream_t stream;
} upload;

/* The rectangle at (y, x) of the piece, height x width elements that lie as they lie in the input.
 */
static tw_status bring(const upload *u, int64_t y, int64_t x, int64_t height, int64_t width)
{
    const int64_t size = (int64_t)tw_type_size(u->from->type);
    int64_t row = twi_border_place(u->border, u->rows.begin + y, u->from->rows) - u->held;
    row += row < 0 ? u->from->rows : 0;
    const int64_t col = twi_border_place(u->border, u->cols.begin + x, u->from->cols);
    const char *from = (const char *)twi_matrix_row(u->from, row) + col * size;
    char *to = u->to + y * u->pitch + x * size;
    if (u->staged) {
        copy_block(u->ctx, to, u->pitch, from, u->from->stride * size, width * size, height);
        return TW_OK;
    }
    return twi_gpu_check(u->ctx,
                         (int)cudaMemcpy2DAsync(to, (size_t)u->pitch, from,
                                                (size_t)(u->from->stride * size),
                                                (size_t)(width * size), (size_t)height,
                                                cudaMemcpyHostToDevice, u->stream),
                         "copying the array");
}

static tw_status bring_all(const upload *u)
{
    tw_status status = TW_OK;
    for (int64_t y = 0; y < u->rows.count && status == TW_OK;) {
        const int64_t height = stretch(&u->rows, y, u->from->rows, u->held);
        for (int64_t x = 0; x < u->cols.count && status == TW_OK;) {
            const int64_t width = stretch(&u->cols, x, u->from->cols, 0);
            status = bring(u, y, x, height, width);
            x += width;
        }
        y += height;
    }
    return status;
}

/* The part of `from` that a piece needs into `there` on the device; *view describes it. */
static tw_status send(tw_context *ctx, slot *s, const tw_matrix *from, int64_t held,
                      tw_entropy_border border, span rows, span cols, twi_gpu_block *there,
                      twi_gpu_block *staging, tw_matrix *view)
{
    const int64_t size = (int64_t)tw_type_size(from->type);
    const int64_t pitch = (cols.count * size + PITCH - 1) / PITCH * PITCH;
    const uint64_t bytes = (uint64_t)pitch * (uint64_t)rows.count;
    const bool staged = !is_pinned(from->data);
    tw_status status = reserve(ctx, s, there, bytes, false, "a piece of the array");
    if (status == TW_OK && staged) {
        status = reserve(ctx, s, staging, bytes, true, "a pinned piece of the array");
    }
    if (status != TW_OK) {
        return status;
    }
    *view = (tw_matrix){there->data, rows.count, cols.count, pitch / size, from->type};
    const upload u = {.ctx = ctx,
                      .from = from,
                      .held = held,
                      .border = border,
                      .rows = rows,
                      .cols = cols,
                      .to = staged ? staging->data : there->data,
                      .pitch = pitch,
                      .staged = staged,
                      .stream = s->stream};
    status = bring_all(&u);
    if (status == TW_OK && staged) {
        status = twi_gpu_check(ctx,
                               (int)cudaMemcpyAsync(there->data, staging->data, bytes,
                                                    cudaMemcpyHostToDevice, s->stream),
                               "copying the array");
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- pieces
 */

static tw_status compute(tw_context *ctx, const twi_entropy_setup *setup, slot *s,
                         const twi_gpu_piece *piece)
{
    twi_gpu_layout layout;
    tw_status status = twi_gpu_layout_make(ctx, &layout, setup, &s->limits, piece);
    if (status == TW_OK && (layout.bytes > s->workspace.bytes || layout.method != s->method)) {
        s->tables = false;
        status = reserve(ctx, s, &s->workspace, layout.bytes, false, "the workspace of a piece");
    }
    if (status == TW_OK && !s->tables) {
        status = twi_gpu_upload_tables(ctx, &layout, setup, s->workspace.data, s->stream);
        s->tables = status == TW_OK;
        s->method = layout.method;
    }
    return status == TW_OK ? twi_gpu_run_piece(ctx, &layout, setup, &s->limits, piece,
                                               s->workspace.data, s->stream)
                           : status;
}

/* Put everything that makes the outputs of `area` on the slot's stream. `out` is where (y0, x0)
 * goes, with `pitch` bytes between rows. */
static tw_status start(tw_context *ctx, const twi_entropy_setup *setup, slot *s, rectangle area,
                       char *out, int64_t pitch, bool staged)
{
    const tw_entropy_border border = setup->opts.border;
    const int64_t height = area.y1 - area.y0;
    const int64_t width = area.x1 - area.x0;
    const span rows =
        span_of(border, area.y0, height, setup->window.rows, setup->above, setup->in->rows);
    const span cols =
        span_of(border, area.x0, width, setup->window.cols, setup->before, setup->in->cols);
    const tw_type type = setup->shape.type;
    const int64_t line = width * (int64_t)tw_type_size(type);
    const uint64_t bytes = (uint64_t)(height * line);
    twi_gpu_piece piece = {.above = rows.lack,
                           .before = cols.lack,
                           .border =
                               border == TW_ENTROPY_BORDER_CROP ? border : TW_ENTROPY_BORDER_VALID};
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(s->device), "selecting the device");
    if (status == TW_OK) {
        status = send(ctx, s, setup->in, setup->held, border, rows, cols, &s->in, &s->staged_in,
                      &piece.in);
    }
    if (status == TW_OK && setup->opts.mask != NULL) {
        status = send(ctx, s, setup->opts.mask, 0, border, rows, cols, &s->mask, &s->staged_mask,
                      &piece.mask);
    }
    if (status == TW_OK) {
        status = reserve(ctx, s, &s->out, bytes, false, "a piece of the result");
    }
    if (status == TW_OK && staged) {
        status = reserve(ctx, s, &s->staged_out, bytes, true, "a pinned piece of the result");
    }
    if (status == TW_OK) {
        piece.out = (tw_matrix){s->out.data, height, width, width, type};
        status = compute(ctx, setup, s, &piece);
    }
    if (status != TW_OK) {
        return status;
    }
    s->busy = true;
    s->area = area;
    s->target = staged ? out : NULL;
    s->pitch = pitch;
    s->line = line;
    return twi_gpu_check(
        ctx,
        (int)(staged
                  ? cudaMemcpyAsync(s->staged_out.data, s->out.data, bytes, cudaMemcpyDeviceToHost,
                                    s->stream)
                  : cudaMemcpy2DAsync(out, (size_t)pitch, s->out.data, (size_t)line, (size_t)line,
                                      (size_t)height, cudaMemcpyDeviceToHost, s->stream)),
        "copying the result");
}

/* Wait for the slot's piece and hand it over. */
static tw_status finish(tw_context *ctx, slot *s)
{
    if (!s->busy) {
        return TW_OK;
    }
    s->busy = false;
    tw_status status =
        twi_gpu_check(ctx, (int)cudaStreamSynchronize(s->stream), "computing entropies");
    if (status == TW_OK && s->target != NULL) {
        copy_block(ctx, s->target, s->pitch, s->staged_out.data, s->line, s->line,
                   s->area.y1 - s->area.y0);
    }
    return status;
}

/* Height and width of the pieces of count rows. */
static void choose_size(const tw_context *ctx, const twi_entropy_setup *setup, int64_t count,
                        bool staged, int64_t *height, int64_t *width)
{
    const int64_t cols = setup->shape.cols;
    const int32_t slots = setup->gpu->slot_count;
    const int64_t size = (int64_t)tw_type_size(setup->shape.type);
    const int64_t limit =
        (int64_t)ctx->device_memory_limit / (ELEMENT_BYTES + size) / SLOTS_A_DEVICE;
    int64_t elements = (staged ? STAGED_BYTES : PIECE_BYTES) / size;
    elements = limit > 0 && limit < elements ? limit : elements;
    const int64_t share = count * cols / (2 * slots) + 1; /* so that every slot has work */
    elements = elements < share ? elements : share;
    *width = cols;
    *height = elements / cols;
    int64_t least = FLAT_WINDOWS * (int64_t)setup->window.rows;
    least = least < count ? least : count;
    if (*height < least) {
        *height = least;
        *width = elements / least;
        const int64_t narrow = FLAT_WINDOWS * (int64_t)setup->window.cols;
        *width = *width > narrow ? *width : narrow;
        *width = *width > LEAST_COLS ? *width : LEAST_COLS;
        *width = *width < cols ? *width : cols;
    }
}

/* `count` rows in pieces of `height` rows, cut across into pieces of `width`. */
static tw_status run_pieces(tw_context *ctx, const twi_entropy_setup *setup, int64_t count,
                            int64_t height, int64_t width, char *out, int64_t stride)
{
    twi_entropy_gpu *gpu = setup->gpu;
    const int64_t size = (int64_t)tw_type_size(setup->shape.type);
    const int64_t cols = setup->shape.cols;
    const bool staged = !is_pinned(out);
    tw_status status = TW_OK;
    for (int64_t y = 0; y < count && status == TW_OK; y += height) {
        const int64_t y1 = y + height < count ? y + height : count;
        for (int64_t x = 0; x < cols && status == TW_OK; x += width, gpu->pieces++) {
            const int64_t x1 = x + width < cols ? x + width : cols;
            slot *s = &gpu->slots[gpu->pieces % gpu->slot_count];
            status = finish(ctx, s);
            if (status == TW_OK) {
                status = twi_check_cancel(ctx);
            }
            if (status == TW_OK) {
                const rectangle area = {gpu->first + y, gpu->first + y1, x, x1};
                status = start(ctx, setup, s, area, out + (y * stride + x) * size, stride * size,
                               staged);
            }
        }
        twi_progress(ctx, "entropy", (double)(gpu->first + y), (double)setup->shape.rows, "rows");
    }
    return status;
}

tw_status twi_entropy_gpu_rows(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                               int64_t count, void *out, int64_t stride)
{
    twi_entropy_gpu *gpu = setup->gpu;
    int64_t height, width;
    if (count == 0 || setup->shape.cols == 0) {
        return twi_check_cancel(ctx);
    }
    gpu->first = first;
    choose_size(ctx, setup, count, !is_pinned(out), &height, &width);
    tw_status status = run_pieces(ctx, setup, count, height, width, out, stride);
    for (int32_t i = 0; i < gpu->slot_count; i++) { /* in the order they were started */
        tw_status ended = finish(ctx, &gpu->slots[(gpu->pieces + i) % gpu->slot_count]);
        status = status == TW_OK ? ended : status;
    }
    return status;
}

/* --------------------------------------------------------------------------------------- devices
 */

static tw_status open_slot(tw_context *ctx, slot *s, int32_t device)
{
    s->device = device;
    tw_status status = twi_gpu_limits_get(ctx, &s->limits, device);
    if (status == TW_OK) {
        status = twi_gpu_take_stream(ctx, &s->queue, device);
    }
    s->stream = s->queue.stream;
    return status;
}

static void close_slot(slot *s)
{
    twi_gpu_block *all[BUFFERS] = {&s->in,        &s->mask,        &s->out,       &s->workspace,
                                   &s->staged_in, &s->staged_mask, &s->staged_out};
    (void)cudaSetDevice(s->device);
    twi_gpu_give_stream(&s->queue);
    for (int i = 0; i < BUFFERS; i++) {
        twi_gpu_give(all[i]);
    }
}

void twi_entropy_gpu_close(twi_entropy_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    for (int32_t i = 0; i < gpu->slot_count; i++) {
        close_slot(&gpu->slots[i]);
    }
    twi_free(gpu->slots);
    twi_free(gpu);
}

const char *twi_entropy_gpu_method(const twi_entropy_gpu *gpu)
{
    return twi_gpu_method_name(gpu->method);
}

const char *twi_entropy_gpu_choice(const tw_context *ctx, const twi_entropy_gpu *gpu)
{
    if (gpu != NULL) {
        return gpu->ran ? "the GPU by estimate; its driver was already running, so its start is "
                          "not counted"
                        : "the GPU by estimate, with the start of its driver";
    }
    return twi_gpu_is_running(ctx)
               ? "the CPU by estimate: the GPU's driver is running, but copying there and back "
                 "would take longer"
               : "the CPU by estimate: the driver of a GPU would have to start first";
}

const char *twi_entropy_gpu_reason(const twi_entropy_gpu *gpu)
{
    switch (gpu->method) {
    case TWI_GPU_PAIRS:
        return "at most 16 levels in a full window of 3 or 5 rows and fewer than 32 elements, all "
               "of which count: the matrix units count pairs of levels";
    case TWI_GPU_SLIDE:
        return "at most 256 levels in a full window of up to 1024 elements, all of which count: "
               "each thread has a histogram in shared memory";
    default:
        return "a window that is not full or large, many levels, elements that do not count, or a "
               "device without the instructions or the shared memory: elements enter and leave by "
               "a list";
    }
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

/* The method that pieces of this call will have: nothing in it depends on how large they are. */
static tw_status foresee(tw_context *ctx, const twi_entropy_setup *setup, twi_entropy_gpu *gpu)
{
    const int64_t most = TWI_WINDOW_SIDE + PITCH; /* rows and columns that are looked at */
    const tw_entropy_border border = setup->opts.border;
    const int64_t outputs = at_most(setup->shape.rows, PITCH);
    const twi_gpu_piece piece = {
        .in = {NULL, at_most(setup->in->rows, most), at_most(setup->in->cols, most),
               most / PITCH * PITCH, setup->in->type},
        .out = {NULL, outputs, at_most(setup->shape.cols, PITCH), PITCH, setup->shape.type},
        .above = setup->above,
        .before = setup->before,
        .border = border == TW_ENTROPY_BORDER_CROP ? border : TW_ENTROPY_BORDER_VALID};
    twi_gpu_layout layout;
    if (outputs == 0 || setup->shape.cols == 0) {
        return TW_OK;
    }
    tw_status status = twi_gpu_layout_make(ctx, &layout, setup, &gpu->slots[0].limits, &piece);
    gpu->method = layout.method;
    return status;
}

/* Seconds that the CPU would take, about. */
static double cpu_seconds(tw_context *ctx, const twi_entropy_setup *setup)
{
    const double elements = (double)setup->shape.rows * (double)setup->shape.cols;
    const double changes = 2.0 * (double)setup->window.run_count; /* of a window that moves */
    const double each = setup->method == TWI_ENTROPY_COUNTERS ? COUNTERS_SECONDS
                        : setup->method == TWI_ENTROPY_STACKS ? STACKS_SECONDS
                        : setup->method == TWI_ENTROPY_BINS   ? BINS_SECONDS
                        : setup->method == TWI_ENTROPY_LANES  ? changes * LANES_SECONDS
                                                              : changes * LIST_SECONDS;
    return elements * each / twi_thread_count(ctx);
}

/* What a call on a GPU takes, which is bringing up and down. Where the result will go is not known
 * yet; a caller who pins one array is taken to pin both. Buffers are made once for a context and do
 * not count. */
static double gpu_seconds(const twi_entropy_setup *setup, bool pinned)
{
    const double elements = (double)setup->shape.rows * (double)setup->shape.cols;
    return CALL_SECONDS + elements * (pinned ? LINK_SECONDS : TRANSFER_SECONDS);
}

/* With "auto": whether a GPU is worth it. One that does not run yet costs its start, and the look
 * itself is most of that. */
static bool is_worth(tw_context *ctx, const twi_entropy_setup *setup)
{
    char why[128], time[TWI_DURATION];
    const char *short_of_it;
    const double cpu = cpu_seconds(ctx, setup);
    const bool runs = twi_gpu_is_running(ctx);
    const bool pinned = runs && is_pinned(setup->in->data);
    const double start = runs ? 0 : twi_gpu_worth_a_look(ctx, &short_of_it);
    if (strcmp(ctx->device, "auto") != 0 || twi_entropy_is_wide(setup) ||
        cpu < start + gpu_seconds(setup, pinned)) {
        return false;
    }
    if (!twi_gpu_present(why, sizeof why)) {
        twi_log(ctx, "entropy on the CPU, about %s: no GPU, %s", twi_duration(time, cpu), why);
        return false;
    }
    return true;
}

tw_status twi_entropy_gpu_open(tw_context *ctx, twi_entropy_setup *setup)
{
    twi_gpu_list list;
    twi_entropy_gpu *gpu = NULL;
    tw_status status = twi_gpu_select(ctx, &list);
    if (status == TW_OK && list.count == 0 && is_worth(ctx, setup)) {
        list.count = 1;
    }
    if (status != TW_OK || list.count == 0) {
        return status;
    }
    const bool ran = twi_gpu_is_running(ctx);
    (void)twi_gpu_await(ctx);
    status = twi_alloc_zeroed(ctx, &gpu, 1, sizeof *gpu, "the devices");
    if (status == TW_OK) {
        gpu->ran = ran;
        status = twi_alloc_zeroed(ctx, &gpu->slots, (uint64_t)list.count * SLOTS_A_DEVICE,
                                  sizeof *gpu->slots, "the devices");
    }
    for (int32_t i = 0; i < list.count * SLOTS_A_DEVICE && status == TW_OK; i++) {
        status = open_slot(ctx, &gpu->slots[i], list.index[i % list.count]);
        gpu->slot_count = i + 1;
    }
    if (status == TW_OK) {
        status = foresee(ctx, setup, gpu);
    }
    if (status != TW_OK) {
        twi_entropy_gpu_close(gpu);
        return status;
    }
    setup->gpu = gpu;
    return TW_OK;
}

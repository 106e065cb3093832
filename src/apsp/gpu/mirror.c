/*
 * The upper triangle of a matrix in host memory from its lower one, through a GPU: from the square
 * on the diagonal down, the columns of a strip come up as a slab, the square is mirrored, the slab
 * is transposed, and goes back as the rows of the strip from the diagonal on. Two slabs are on
 * their way at a time, so that the link is busy in both directions.
 */
#include "apsp/gpu/mirror.h"
#include "apsp/gpu/kernels/area.h"
#include "gpu/queue.h"

#define STRIP_ROWS 512
#define BUFFERS 2

typedef struct mirror_run {
    tw_context *ctx;
    const twi_gpu_host *host;
    const twi_gpu_kernel *kernel;
    const twi_gpu_area_kernel *area;
    int64_t tiles; /* a side of the matrix */
    int64_t strip; /* tiles */
    char *memory;  /* BUFFERS slabs, then as many strips */
    cudaStream_t in, out;
    cudaEvent_t ready[BUFFERS];
    cudaEvent_t free[BUFFERS];
} mirror_run;

static size_t buffer_bytes(const mirror_run *self)
{
    int64_t side = self->area->side;
    return (size_t)(self->strip * side) * (size_t)(self->tiles * side) *
           (size_t)self->area->element;
}

static tw_status open_run(mirror_run *self, uint64_t limit)
{
    size_t most = STRIP_ROWS / (size_t)self->area->side;
    most = most < (size_t)self->tiles ? most : (size_t)self->tiles;
    self->strip = 1;
    size_t fit = limit / (2 * BUFFERS * buffer_bytes(self));
    self->strip = (int64_t)(fit > most ? most : fit > 1 ? fit : 1);
    tw_status status = twi_gpu_check(
        self->ctx, (int)cudaMalloc((void **)&self->memory, 2 * BUFFERS * buffer_bytes(self)),
        "allocating memory to mirror the matrix");
    if (status == TW_OK) {
        status = twi_gpu_open_stream(self->ctx, &self->in, true);
    }
    if (status == TW_OK) {
        status = twi_gpu_open_stream(self->ctx, &self->out, true);
    }
    for (int i = 0; i < BUFFERS && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, &self->ready[i]);
        if (status == TW_OK) {
            status = twi_gpu_open_event(self->ctx, &self->free[i]);
        }
    }
    return status;
}

static void close_run(mirror_run *self)
{
    twi_gpu_close_stream(self->in);
    twi_gpu_close_stream(self->out);
    for (int i = 0; i < BUFFERS; i++) {
        twi_gpu_close_event(self->ready[i]);
        twi_gpu_close_event(self->free[i]);
    }
    (void)cudaFree(self->memory);
}

/* The strip from tile `first` on, with buffers number `which`. */
static tw_status mirror_strip(mirror_run *self, int64_t first, int which)
{
    const twi_gpu_host *host = self->host;
    int64_t side = self->area->side;
    int64_t height = self->tiles - first < self->strip ? self->tiles - first : self->strip;
    int64_t below = self->tiles - first;
    int64_t row = first * side;
    int64_t rows = host->n - row < height * side ? host->n - row : height * side;
    size_t size = (size_t)self->area->element;
    char *at = (char *)host->data + (size_t)(row * host->ld + row) * size;
    twi_gpu_area slab = {.data = self->memory + (size_t)which * buffer_bytes(self),
                         .ld = height * side,
                         .down_step = side * height * side,
                         .across_step = side,
                         .down = (int32_t)below,
                         .across = (int32_t)height};
    twi_gpu_area strip = {.data = self->memory + (size_t)(BUFFERS + which) * buffer_bytes(self),
                          .ld = below * side,
                          .down_step = side * below * side,
                          .across_step = side,
                          .down = (int32_t)height,
                          .across = (int32_t)below};
    twi_gpu_round square = {.c = slab.data, .ld = slab.ld, .n = (int32_t)rows};
    twi_gpu_rows_copy up = {at,
                            (size_t)host->ld * size,
                            slab.data,
                            (size_t)slab.ld * size,
                            (size_t)rows * size,
                            (size_t)(host->n - row)};
    twi_gpu_rows_copy back = {at,
                              (size_t)host->ld * size,
                              strip.data,
                              (size_t)strip.ld * size,
                              (size_t)(host->n - row) * size,
                              (size_t)rows};
    tw_status status = twi_gpu_copy_rows(self->ctx, &up, true, self->in);
    if (status == TW_OK) {
        status = twi_gpu_check(self->ctx, self->kernel->mirror(&square, self->in),
                               "starting to mirror a square");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(self->ctx, self->area->transpose(&strip, &slab, self->in),
                               "starting to transpose a slab");
    }
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, self->ready[which], self->in);
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->out, self->ready[which]);
    }
    if (status == TW_OK) {
        status = twi_gpu_copy_rows(self->ctx, &back, false, self->out);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->free[which], self->out) : status;
}

tw_status twi_gpu_mirror_host(tw_context *ctx, const twi_gpu_host *host, uint64_t limit)
{
    const twi_gpu_kernel *kernel = twi_gpu_kernel_find(host->type, 0);
    mirror_run self = {
        .ctx = ctx,
        .host = host,
        .kernel = kernel,
        .area = twi_gpu_area_kernel_find(kernel->type, kernel->side),
        .tiles = (host->n + kernel->side - 1) / kernel->side,
    };
    tw_status status = open_run(&self, limit);
    int which = 0;
    for (int64_t first = 0; first < self.tiles && status == TW_OK; first += self.strip) {
        status =
            twi_gpu_check(ctx, (int)cudaEventSynchronize(self.free[which]), "mirroring the matrix");
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
        if (status == TW_OK) {
            status = mirror_strip(&self, first, which);
        }
        which = (which + 1) % BUFFERS;
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaStreamSynchronize(self.out), "mirroring the matrix");
    }
    close_run(&self);
    return status;
}

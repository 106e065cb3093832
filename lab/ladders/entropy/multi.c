/*
 * Ladder entropy-multi: the entropy of the 5 x 5 window around each element of a square array of 16
 * levels, from host memory to host memory by several GPUs (row D3): up to four cards, and where
 * there is one it stands for two. Every rung but the engine runs the kernel of version 7.
 *
 *   one            the whole array on one device, to compare with; elements go up as floats
 *   v14            a band of rows for each device, two rows of the neighbours' with it, and a host
 *                  thread for each; small arrays go to the CPU; floats, too
 *   one-bytes      from one: a byte per element, as in the rungs below
 *   v14-bytes      from v14
 *   columns        bands of columns
 *   pinned         the host's memory pinned, so that the copies of all devices go on at once
 *   together       rows in a common list, from which the devices take some, and so does the CPU
 *   engine         the library: pieces in turn for the devices, one coming up while one is
 *                  computed and one goes down
 *   engine-pinned  the same from and to pinned memory: the link is the limit
 *
 * entropy-multi-flat has as many elements in 8 rows: what bands of rows carry of their neighbours
 * is then half of what they own, or more; of bands of columns it is next to nothing.
 *
 * Host threads that drive devices report no errors themselves, since a context belongs to one
 * thread: each keeps its first error, and whoever started them tells it.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

typedef struct recipe {
    bool alone;     /* one device */
    bool columns;   /* bands of columns instead of rows */
    bool small_cpu; /* small arrays go to the CPU */
    bool pinned;
    bool floats; /* elements go up as floats, as the authors' do */
} recipe;

#ifndef LAB_LISTED_ONLY
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "gpu/pinned.h"
#include "ladders/devices.h"
#include "ladders/entropy/array.h"
#include "ladders/entropy/bands.h"
#include "ladders/gpu_timing.h"

#define HALF LAB_ENTROPY_HALF
#define MOST_DEVICES 4
#define SMALL 163840  /* elements, of version 14: below, the CPU is faster than a copy */
#define FLAT_ROWS 8   /* of the flat array */
#define PORTIONS 64   /* of the list, for a device that takes one; a quarter for the CPU */
#define LARGEST 32768 /* elements per side */

typedef struct device {
    int32_t index;
    cudaStream_t stream;
    void *in, *out; /* on the card */
    uint64_t in_bytes, out_bytes;
} device;

typedef struct bench {
    tw_context *ctx;
    lab_entropy_array array;
    float *floats; /* array.input as floats; NULL until a rung wants it */
    twi_gpu_list gpus;
    device devices[MOST_DEVICES];
} bench;

/* ---------------------------------------------------------------------------------------- bench */

static tw_status open_device(bench *b, device *d, int32_t index)
{
    d->index = index;
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(index), "choosing the device");
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking),
                         "making a stream");
    }
    return status;
}

static void close_device(device *d)
{
    (void)cudaSetDevice(d->index);
    if (d->stream != NULL) {
        (void)cudaStreamDestroy(d->stream);
    }
    (void)cudaFree(d->out);
    (void)cudaFree(d->in);
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        for (int32_t g = b->gpus.count - 1; g >= 0; g--) {
            close_device(&b->devices[g]);
        }
        (void)cudaSetDevice(0);
        twi_free(b->floats);
        lab_entropy_array_free(&b->array);
        twi_free(b);
    }
}

static tw_status open_shape(tw_context *ctx, int64_t rows, int64_t cols, uint64_t seed, void **out)
{
    bench *b = NULL;
    int32_t cards = twi_gpu_count(), most = cards < MOST_DEVICES ? cards : MOST_DEVICES;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->gpus = lab_devices(most > 2 ? most : 2);
    for (int32_t g = 0; status == TW_OK && g < b->gpus.count; g++) {
        status = open_device(b, &b->devices[g], b->gpus.index[g]);
    }
    return status != TW_OK ? status : lab_entropy_array_make(&b->array, ctx, rows, cols, seed);
}

static tw_status check_side(tw_context *ctx, int64_t n)
{
    return n <= LARGEST ? TW_OK
                        : tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: the maximum is %d", (long long)n,
                                  LARGEST);
}

static tw_status open_square(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    tw_status status = check_side(ctx, n);
    return status != TW_OK ? status : open_shape(ctx, n, n, seed, out);
}

static tw_status open_flat(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    tw_status status = check_side(ctx, n);
    int64_t cols = (n * n + FLAT_ROWS - 1) / FLAT_ROWS;
    return status != TW_OK ? status : open_shape(ctx, FLAT_ROWS, cols, seed, out);
}

/* What a kernel leaves out must not be right from the rung before. The streams do not wait for the
 * default one, so the host does. */
static tw_status poison(bench *b, const device *d)
{
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(d->index), "choosing the device");
    if (status == TW_OK && d->out != NULL) {
        status = LAB_TRY(b->ctx, cudaMemset(d->out, 0xFF, d->out_bytes), "poisoning the result");
    }
    return status != TW_OK ? status : LAB_TRY(b->ctx, cudaDeviceSynchronize(), "poisoning");
}

static void spoil(void *given)
{
    bench *b = given;
    lab_entropy_array_spoil(&b->array);
    for (int32_t g = 0; g < b->gpus.count; g++) {
        (void)poison(b, &b->devices[g]); /* a device that fails here fails the rung as well */
    }
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_entropy_array_check(ctx, &b->array, rung);
}

static const void *kernel_of(const lab_rung *rung)
{
    const recipe *how = rung->code;
    return rung->inspect != NULL ? lab_entropy_piece_kernel(how != NULL && how->floats) : NULL;
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const bench *b = given;
    return lab_inspect(b->ctx, kernel_of(rung), LAB_ENTROPY_PIECE_THREADS, 0, out);
}

/* ------------------------------------------------------------------ a host thread for a device */

typedef struct worker {
    bench *b;
    device *on;
    lab_entropy_piece piece; /* its band; without a list */
    lab_rest *rest;          /* NULL: there is none */
    int64_t portion;         /* rows of the list at once */
    pthread_t thread;
    bool started;
    int error; /* the runtime's, of the first call that failed; 0: none did */
    const char *doing;
} worker;

static bool went(worker *w, int error, const char *doing)
{
    if (error != 0 && w->error == 0) {
        w->error = error;
        w->doing = doing;
    }
    return w->error == 0;
}

/* Bytes of an element that goes up. */
static size_t element_of(const lab_entropy_piece *piece)
{
    return piece->floats != NULL ? sizeof(float) : 1;
}

/* The piece up, computed, and down. Whatever happens, nothing is on the stream after it. */
static bool carry(worker *w, const lab_entropy_piece *host)
{
    const device *d = w->on;
    const void *from = host->floats != NULL ? (const void *)host->floats : host->in;
    size_t line = (size_t)host->cols * sizeof(float), element = element_of(host);
    size_t in_line = (size_t)host->in_cols * element;
    lab_entropy_piece there = *host;
    there.in = d->in;
    there.floats = host->floats != NULL ? d->in : NULL;
    there.in_stride = host->in_cols;
    there.out = d->out;
    there.out_stride = host->cols;
    int error =
        (int)cudaMemcpy2DAsync(d->in, in_line, from, (size_t)host->in_stride * element, in_line,
                               (size_t)host->in_rows, cudaMemcpyHostToDevice, d->stream);
    if (went(w, error, "copying the input") &&
        went(w, lab_entropy_launch(&there, d->stream), "launching the kernel")) {
        error = (int)cudaMemcpy2DAsync(host->out, (size_t)host->out_stride * sizeof(float), d->out,
                                       line, line, (size_t)host->rows, cudaMemcpyDeviceToHost,
                                       d->stream);
        (void)went(w, error, "copying the result");
    }
    return went(w, (int)cudaStreamSynchronize(d->stream), "computing entropies");
}

static lab_entropy_piece rows_of(const lab_entropy_array *a, int64_t first, int64_t end)
{
    return lab_entropy_piece_of(a, lab_band_around(first, end, a->rows, HALF),
                                lab_band_of(a->cols, HALF, 1, 0));
}

static void *serve(void *given)
{
    worker *w = given;
    int64_t first, end;
    bool well = went(w, (int)cudaSetDevice(w->on->index), "choosing the device");
    if (w->rest == NULL) {
        if (well && w->piece.rows > 0 && w->piece.cols > 0) {
            (void)carry(w, &w->piece);
        }
        return NULL;
    }
    while (well && !twi_is_cancelled(w->b->ctx) &&
           lab_take_first(w->rest, w->portion, &first, &end)) {
        const lab_entropy_piece piece = rows_of(&w->b->array, first, end);
        well = carry(w, &piece);
    }
    return NULL;
}

/* Room for the largest piece that the worker will carry. */
static tw_status reserve(bench *b, device *d, const lab_entropy_piece *largest)
{
    uint64_t in =
        (uint64_t)largest->in_rows * (uint64_t)largest->in_cols * (uint64_t)element_of(largest);
    uint64_t out = (uint64_t)largest->rows * (uint64_t)largest->cols * sizeof(float);
    tw_status status = LAB_TRY(b->ctx, cudaSetDevice(d->index), "choosing the device");
    if (status == TW_OK && in > d->in_bytes) {
        (void)cudaFree(d->in);
        d->in = NULL;
        d->in_bytes = 0;
        status = LAB_TRY(b->ctx, cudaMalloc(&d->in, in), "allocating a piece of the array");
        d->in_bytes = status == TW_OK ? in : 0;
    }
    if (status == TW_OK && out > d->out_bytes) {
        (void)cudaFree(d->out);
        d->out = NULL;
        d->out_bytes = 0;
        status = LAB_TRY(b->ctx, cudaMalloc(&d->out, out), "allocating a piece of the result");
        d->out_bytes = status == TW_OK ? out : 0;
        status = status != TW_OK ? status : poison(b, d);
    }
    return status;
}

static tw_status start(bench *b, worker *workers, int32_t count)
{
    tw_status status = TW_OK;
    for (int32_t g = 0; status == TW_OK && g < count; g++) {
        workers[g].started = pthread_create(&workers[g].thread, NULL, serve, &workers[g]) == 0;
        if (!workers[g].started) {
            status = tw_fail(b->ctx, TW_ERR_MEMORY, "no thread for device %d of %d", (int)g + 1,
                             (int)count);
        }
    }
    return status;
}

/* Wait for all, and tell the first error. */
static tw_status join(bench *b, worker *workers, int32_t count, tw_status status)
{
    for (int32_t g = 0; g < count; g++) {
        if (workers[g].started) {
            (void)pthread_join(workers[g].thread, NULL);
        }
        if (status == TW_OK && workers[g].error != 0) {
            (void)cudaSetDevice(workers[g].on->index); /* the sentence names it */
            status = LAB_TRY(b->ctx, workers[g].error, workers[g].doing);
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- rungs */

/* Both arrays or, with a sentence, a failure: times of memory that is not pinned are not the
 * rung's. Either way unpin undoes it. */
static tw_status pin(bench *b, const lab_rung *rung, bool pinned[2])
{
    uint64_t cells = (uint64_t)b->array.rows * (uint64_t)b->array.cols;
    pinned[0] = twi_gpu_pin(b->ctx, b->array.input, cells);
    pinned[1] = twi_gpu_pin(b->ctx, b->array.output, cells * sizeof(float));
    return pinned[0] && pinned[1]
               ? TW_OK
               : tw_fail(b->ctx, TW_ERR_MEMORY,
                         "cannot pin %lld MB of memory; raise 'ulimit -l', or leave out "
                         "rung %s",
                         (long long)(5 * cells >> 20), rung->name);
}

static void unpin(bench *b, const bool pinned[2])
{
    if (pinned[1]) {
        twi_gpu_unpin(b->array.output);
    }
    if (pinned[0]) {
        twi_gpu_unpin(b->array.input);
    }
}

/* The elements as floats, made once. */
static tw_status make_floats(bench *b)
{
    const uint64_t cells = (uint64_t)b->array.rows * (uint64_t)b->array.cols;
    if (b->floats != NULL) {
        return TW_OK;
    }
    tw_status status = twi_alloc(b->ctx, &b->floats, cells, sizeof(float), "the input as floats");
    for (uint64_t i = 0; status == TW_OK && i < cells; i++) {
        b->floats[i] = b->array.input[i];
    }
    return status;
}

/* A band for each device. */
static tw_status run_bands(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const recipe *how = rung->code;
    const lab_entropy_array *a = &b->array;
    int32_t count = how->alone ? 1 : b->gpus.count;
    worker workers[MOST_DEVICES] = {{0}};
    bool pinned[2] = {false, false};
    tw_status status = how->floats ? make_floats(b) : TW_OK;
    double begun = twi_seconds();
    if (status == TW_OK && how->small_cpu && a->rows * a->cols < SMALL) {
        lab_entropy_piece whole = rows_of(a, 0, a->rows);
        whole.floats = how->floats ? b->floats : NULL;
        lab_entropy_solve(b->ctx, &whole, twi_thread_count(b->ctx));
        time->total = twi_seconds() - begun;
        return TW_OK;
    }
    for (int32_t g = 0; status == TW_OK && g < count; g++) {
        const lab_band rows =
            lab_band_of(a->rows, HALF, how->columns ? 1 : count, how->columns ? 0 : g);
        const lab_band cols =
            lab_band_of(a->cols, HALF, how->columns ? count : 1, how->columns ? g : 0);
        workers[g] =
            (worker){.b = b, .on = &b->devices[g], .piece = lab_entropy_piece_of(a, rows, cols)};
        if (how->floats) {
            workers[g].piece.floats = b->floats + (workers[g].piece.in - a->input);
        }
        status = reserve(b, &b->devices[g], &workers[g].piece);
    }
    if (status == TW_OK && how->pinned) {
        status = pin(b, rung, pinned);
    }
    begun = twi_seconds();
    if (status == TW_OK) {
        status = join(b, workers, count, start(b, workers, count));
    }
    time->total = twi_seconds() - begun;
    unpin(b, pinned);
    return status;
}

/* The devices take rows from the beginning, the CPU from the end, until they meet. */
static tw_status run_together(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_entropy_array *a = &b->array;
    int64_t portion = (a->rows + PORTIONS - 1) / PORTIONS, share = (portion + 3) / 4;
    int64_t first, end;
    int threads = twi_thread_count(b->ctx);
    worker workers[MOST_DEVICES] = {{0}};
    lab_rest rest = {PTHREAD_MUTEX_INITIALIZER, 0, a->rows};
    tw_status status = TW_OK;
    (void)rung;
    for (int32_t g = 0; status == TW_OK && g < b->gpus.count; g++) {
        lab_entropy_piece largest = rows_of(a, 0, portion);
        largest.in_rows = (int32_t)(portion + 2 * HALF); /* more than there are of few rows */
        workers[g] = (worker){.b = b, .on = &b->devices[g], .rest = &rest, .portion = portion};
        status = reserve(b, &b->devices[g], &largest);
    }
    double begun = twi_seconds();
    if (status == TW_OK) {
        status = start(b, workers, b->gpus.count);
        while (status == TW_OK && !twi_is_cancelled(b->ctx) &&
               lab_take_last(&rest, share, &first, &end)) {
            const lab_entropy_piece piece = rows_of(a, first, end);
            lab_entropy_solve(b->ctx, &piece, threads);
        }
        status = join(b, workers, b->gpus.count, status);
    }
    time->total = twi_seconds() - begun;
    (void)pthread_mutex_destroy(&rest.lock);
    return status;
}

static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const recipe *how = rung->code;
    char name[LAB_DEVICE_NAME];
    bool pinned[2] = {false, false};
    tw_status status = tw_set_device(b->ctx, lab_device_name(name, &b->gpus));
    if (status == TW_OK && how->pinned) {
        status = pin(b, rung, pinned);
    }
    if (status == TW_OK) {
        status = lab_entropy_by_library(b->ctx, &b->array, &time->total);
    }
    unpin(b, pinned);
    return status;
}

#endif /* LAB_LISTED_ONLY */

static const recipe alone_floats = {.alone = true, .floats = true};
static const recipe by_rows_floats = {.small_cpu = true, .floats = true};
static const recipe alone = {.alone = true};
static const recipe by_rows = {.small_cpu = true};
static const recipe by_columns = {.columns = true};
static const recipe by_rows_pinned = {.pinned = true};
static const recipe by_library = {0};
static const recipe by_library_pinned = {.pinned = true};

#define IN_PIECE "entropy/multi_kernels.cu solve_piece"
#define IN_BANDS "entropy/multi.c carry serve run_bands " IN_PIECE
#define BAND_RUNG(title, from, of, what, how)                                                 \
    {                                                                                         \
        .name = title, .parent = from, .row = of, .idea = what, .run = LAB_ON_GPU(run_bands), \
        .source = IN_BANDS, .code = &(how), .inspect = LAB_ON_GPU(inspect)                    \
    }
#define ENGINE_RUNG(title, from, what, how)                                         \
    {                                                                               \
        .name = title, .parent = from, .idea = what, .run = LAB_ON_GPU(run_engine), \
        .code = &(how), .source = "entropy/multi.c run_engine"                      \
    }

static const lab_rung rungs[] = {
    BAND_RUNG("one", NULL, "D1", "version 7 on one device, to compare with; floats go up",
              alone_floats),
    BAND_RUNG("v14", "one", "D3",
              "a band of rows for each device, two more on either side; a host thread for each",
              by_rows_floats),
    BAND_RUNG("one-bytes", "one", NULL, "a byte per element goes up: a quarter", alone),
    BAND_RUNG("v14-bytes", "v14", NULL, "a byte per element goes up: a quarter", by_rows),
    BAND_RUNG("columns", "v14-bytes", "D3",
              "bands of columns: square arrays copy shorter rows for it", by_columns),
    BAND_RUNG("pinned", "v14-bytes", "D3",
              "the host's memory pinned: the copies of all devices go on at once", by_rows_pinned),
    {.name = "together",
     .parent = "v14-bytes",
     .row = "D3",
     .idea = "rows in a common list: devices take from the beginning, the CPU from the end",
     .source = "entropy/multi.c carry serve run_together " IN_PIECE,
     .run = LAB_ON_GPU(run_together),
     .inspect = LAB_ON_GPU(inspect)},
    ENGINE_RUNG("engine", "v14-bytes",
                "pieces in turn, one up, one computed, one down at a time: the library",
                by_library),
    ENGINE_RUNG("engine-pinned", "engine", "from and to pinned memory: the link is the limit",
                by_library_pinned),
};

static const lab_rung flat_rungs[] = {
    BAND_RUNG("one-bytes", NULL, "D1", "version 7 on one device, to compare with; bytes go up",
              alone),
    BAND_RUNG("v14-bytes", "one-bytes", "D3",
              "bands of rows: of 8, the neighbours' are half of a band or more", by_rows),
    BAND_RUNG("columns", "v14-bytes", "D3", "bands of columns: two columns more on either side",
              by_columns),
    ENGINE_RUNG("engine", "columns", "flat arrays are cut into rectangles: the library",
                by_library),
};

static const int64_t default_sizes[] = {400, 2560, 10240, 0};

static const lab_published published[] = {
    {"one", 400, 2.55},  {"v14", 400, 1.64},  {"one", 2560, 15.3}, {"v14", 2560, 10.5},
    {"one", 10240, 298}, {"v14", 10240, 140}, {NULL, 0, 0}};

#define BENCH                                                                                 \
    .unit = "elements", .gpu = true, .sizes = default_sizes, .spoil = LAB_ON_GPU(spoil),      \
    .check = LAB_ON_GPU(check), .close = LAB_ON_GPU(close_bench), .work = lab_elements,       \
    .kernel = LAB_ON_GPU(kernel_of), .traffic = lab_image_bytes, .ceiling = lab_link_ceiling, \
    .against = LAB_AGAINST_ENTROPY

const lab_ladder lab_entropy_multi = {
    .source = IN_BANDS,
    .name = "entropy-multi",
    .title = "Entropy of 5 x 5 windows, 16 levels, host to host by 2 to 4 GPUs (one stands for 2)",
    .size = "elements per side",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .published = published,
    .published_on = "one V100 and four of them (row D), whose authors upload floats",
    .open = LAB_ON_GPU(open_square),
    BENCH,
};

const lab_ladder lab_entropy_multi_flat = {
    .source = IN_BANDS,
    .name = "entropy-multi-flat",
    .title = "The same of arrays of 8 rows and as many elements, by 2 to 4 GPUs (one stands for 2)",
    .size = "(n^2 elements)",
    .rungs = flat_rungs,
    .count = LAB_COUNT(flat_rungs),
    .open = LAB_ON_GPU(open_flat),
    BENCH,
};

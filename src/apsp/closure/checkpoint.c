/* See checkpoint.h. Rows go through a buffer of each thread, some at a time, where their checksums
 * are taken: a row of a small matrix is too little for a call. */
#include "apsp/closure/checkpoint.h"

#include "base/background.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "io/mapped.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER ((int64_t)1 << 20) /* bytes of a thread, at least */
#define ROUNDS_WAITED 4           /* for pages of the file, before it is written all the same */
#define FORMS 3                   /* that a matrix can be kept in: its own, 16 bits, one found */

struct twi_checkpoint {
    tw_context *ctx;
    twi_generations files;
    double every;
    double last; /* when the one before was written, or the run began */
    int64_t n;
    int threads;
    char *buffers; /* of all threads */
    int64_t buffer;
    uint64_t *sums; /* of the rows */
    twi_state found;
    int fd; /* of what was found; -1: nothing */

    const twi_work *work;
    struct {
        const twi_minplus_kernel *kernel;
        uint64_t mark; /* of the matrix in the beginning */
    } forms[FORMS];
    int form_count;
    const twi_minplus_kernel *form; /* of the one that is due next */
    twi_state state;
    int64_t resumed; /* vertices that had been pivots in what was gone on from */

    twi_background *writer; /* that brings it to the disk, while it goes on */
    twi_temporary file;
    char name[PATH_MAX + TWI_TEMPORARY_NAME];
    bool prepared;      /* there is a file for the next one; */
    twi_mapped *mapped; /*   its pages, or NULL: it is written by calls */
    int rounds;         /* that they have been waited for */
    int error;          /* of the writer, once it has ended */
    atomic_bool written;
    bool pending;
    int64_t count;  /* of those kept */
    double seconds; /* that the run paused for them */
};

static int64_t buffer_bytes(int64_t n)
{
    const int64_t row = n * (int64_t)sizeof(double);
    return row > BUFFER ? row : BUFFER;
}

uint64_t twi_checkpoint_memory(int64_t n, int threads)
{
    return sizeof(twi_checkpoint) + (uint64_t)threads * (uint64_t)buffer_bytes(n) +
           (uint64_t)n * sizeof(uint64_t);
}

/* ------------------------------------------------------------------------- whose state it may be
 */

const twi_minplus_kernel *twi_state_kernel(const tw_apsp_plan *plan, const twi_state *state)
{
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, state->type);
    const twi_minplus_kernel *plain = twi_minplus_kernel_plain(plan->isa, state->type);
    if (plain != NULL && state->cap == plain->infinity) {
        kernel = plain;
    }
    const bool is_float = state->type == TW_F32 || state->type == TW_F64;
    const bool pivots = !is_float || plan->any_pivots || plan->gpus.count > 0 ||
                        state->block == twi_block_round(kernel, state->n, state->block);
    return pivots && state->cap == kernel->infinity ? kernel : NULL;
}

tw_status twi_state_check(tw_context *ctx, const tw_apsp_plan *plan, const twi_state *state)
{
    const tw_type asked = plan->options.work_type;
    const bool is_float = state->type == TW_F32 || state->type == TW_F64;
    const twi_minplus_kernel *kernel = twi_state_kernel(plan, state);
    if (state->type != plan->work_type &&
        (asked != TW_AUTO || !plan->graph->integral || state->type == TW_F32)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "checkpoint '%.600s' was computed in %s, but this run uses %s; name "
                       "another file",
                       plan->options.checkpoint, tw_type_name(state->type),
                       tw_type_name(plan->work_type));
    }
    /* Integers are the same with any pivots. */
    if (kernel == NULL ||
        (is_float && plan->options.block > 0 && plan->gpus.count == 0 &&
         twi_block_round(kernel, state->n, plan->options.block) != state->block)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "checkpoint '%.600s' was computed with pivots of %lld vertices, which this "
                       "run cannot use; name another file",
                       plan->options.checkpoint, (long long)state->block);
    }
    return TW_OK;
}

/* ---------------------------------------------------------------------------------------- mark */

#define MARK_ROW(T, BITS)                                            \
    {                                                                \
        const T *at = row;                                           \
        const T cap = (T)kernel->infinity;                           \
        for (int64_t c = 0; c < cols; c++) {                         \
            if (at[c] < cap && i != j + c) {                         \
                BITS entry = 0;                                      \
                memcpy(&entry, &at[c], sizeof entry);                \
                sum += twi_mark_of(i, j + c, entry);                 \
                sum += both_ways ? twi_mark_of(j + c, i, entry) : 0; \
            }                                                        \
        }                                                            \
    }

uint64_t twi_mark_row(const twi_minplus_kernel *kernel, const void *row, int64_t i, int64_t j,
                      int64_t cols, bool both_ways)
{
    uint64_t sum = 0;
    switch (kernel->type) {
    case TW_U8:
        MARK_ROW(uint8_t, uint8_t)
        break;
    case TW_U16:
        MARK_ROW(uint16_t, uint16_t)
        break;
    case TW_I32:
        MARK_ROW(int32_t, uint32_t)
        break;
    case TW_F32:
        MARK_ROW(float, uint32_t)
        break;
    default:
        MARK_ROW(double, uint64_t)
        break;
    }
    return sum;
}

static char *row_of(const twi_work *work, int64_t i)
{
    return (char *)work->data + i * work->ld * (int64_t)tw_type_size(work->kernel->type);
}

/* ---------------------------------------------------------------------------- a narrower type */

static bool is_own(const twi_checkpoint *self, const twi_minplus_kernel *kernel)
{
    return kernel->type == self->work->kernel->type;
}

static char *buffer_here(const twi_checkpoint *self)
{
    return self->buffers + (int64_t)twi_thread_id() * self->buffer;
}

static void narrow_row(const twi_minplus_kernel *kernel, void *to, const int32_t *from,
                       int64_t cols)
{
    const int32_t cap = (int32_t)kernel->infinity;
    uint8_t *bytes = to;
    uint16_t *pairs = to;
    for (int64_t c = 0; c < cols && kernel->type == TW_U8; c++) {
        bytes[c] = (uint8_t)(from[c] < cap ? from[c] : cap);
    }
    for (int64_t c = 0; c < cols && kernel->type == TW_U16; c++) {
        pairs[c] = (uint16_t)(from[c] < cap ? from[c] : cap);
    }
}

static void widen_row(const twi_minplus_kernel *kernel, int32_t *to, const void *from, int64_t cols)
{
    const int32_t cap = (int32_t)kernel->infinity;
    const uint8_t *bytes = from;
    const uint16_t *pairs = from;
    for (int64_t c = 0; c < cols; c++) {
        const int32_t entry = kernel->type == TW_U8 ? bytes[c] : pairs[c];
        to[c] = entry < cap ? entry : to[c];
    }
}

/* `cols` entries of row i in the form of `kernel`: where they are, or in this thread's buffer. */
static const char *row_in(const twi_checkpoint *self, const twi_minplus_kernel *kernel, int64_t i,
                          int64_t cols, char *buffer)
{
    char *row = row_of(self->work, i);
    if (is_own(self, kernel)) {
        return row;
    }
    narrow_row(kernel, buffer, (const int32_t *)(const void *)row, cols);
    return buffer;
}

static uint64_t mark(const twi_checkpoint *self, const twi_minplus_kernel *kernel)
{
    const int64_t n = self->n;
    uint64_t sum = 0;
#pragma omp parallel for num_threads(twi_team(self->threads)) schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        if (!twi_is_cancelled(self->ctx)) {
            sum +=
                twi_mark_row(kernel, row_in(self, kernel, i, n, buffer_here(self)), i, 0, n, false);
        }
    }
    return sum;
}

/* ------------------------------------------------------------------------------------- reading */

/* Rows from the file, each into its place, or into a buffer that forgets them where `kernel`, that
 * of the state, is NULL. Returns whether all have their checksums; *bad is one that has not. */
static bool read_rows(twi_checkpoint *self, const twi_state *state,
                      const twi_minplus_kernel *kernel, int64_t *bad)
{
    atomic_llong wrong = -1;
    if (twi_read_at(self->fd, self->sums, 8 * state->n, twi_state_sum_at(0)) != 0) {
        *bad = 0;
        return false;
    }
#pragma omp parallel for num_threads(twi_team(self->threads)) schedule(dynamic, 16)
    for (int64_t i = 0; i < state->n; i++) {
        const bool there = kernel != NULL && is_own(self, kernel);
        char *to = there ? row_of(self->work, i) : buffer_here(self);
        const int64_t bytes = twi_state_row_bytes(state, i);
        if (twi_is_cancelled(self->ctx) || atomic_load(&wrong) >= 0) {
            continue;
        }
        if (twi_read_at(self->fd, to, bytes, twi_state_row_at(state, i)) != 0 ||
            twi_state_sum(i, to, bytes) != self->sums[i]) {
            atomic_store(&wrong, i);
        } else if (kernel != NULL && !there) {
            widen_row(kernel, (int32_t *)(void *)row_of(self->work, i), to,
                      bytes / (int64_t)tw_type_size(kernel->type));
        }
    }
    *bad = atomic_load(&wrong);
    return *bad < 0;
}

/* Generation `which`, as far as its rows. */
static twi_state_verdict look(twi_checkpoint *self, int which, char why[TWI_STATE_WHY])
{
    twi_state_verdict verdict =
        twi_generation_open(&self->files, which, &self->found, &self->fd, why);
    int64_t bad = -1;
    if (verdict == TWI_STATE_GOOD && self->found.n == self->n &&
        !read_rows(self, &self->found, NULL, &bad)) {
        (void)snprintf(why, TWI_STATE_WHY, "row %lld is damaged", (long long)bad);
        close(self->fd);
        self->fd = -1;
        verdict = TWI_STATE_DAMAGED;
    }
    return verdict;
}

static tw_status find(tw_context *ctx, twi_checkpoint *self)
{
    char newest[TWI_STATE_WHY] = "", older[TWI_STATE_WHY] = "";
    const twi_state_verdict first = look(self, 0, newest);
    if (first == TWI_STATE_VERSION) {
        return twi_generation_refuse(ctx, &self->files, 0, first, newest);
    }
    if (first != TWI_STATE_GOOD) {
        const twi_state_verdict second = look(self, 1, older);
        if (second == TWI_STATE_GOOD && first != TWI_STATE_ABSENT) {
            twi_log(ctx, "'%.600s': %s; going back to '%.600s'", self->files.file[0], newest,
                    self->files.file[1]);
            self->files.keep_older = true;
        } else if (second != TWI_STATE_GOOD && first != TWI_STATE_ABSENT) {
            return twi_generation_refuse(ctx, &self->files, 0, first, newest);
        } else if (second != TWI_STATE_GOOD && second != TWI_STATE_ABSENT) {
            return twi_generation_refuse(ctx, &self->files, 1, second, older);
        }
    }
    if (self->fd >= 0 && self->found.n != self->n) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "checkpoint '%.600s' is of a graph with %lld vert%s, but this one has %lld; "
                       "name another file",
                       self->files.file[0], (long long)self->found.n,
                       self->found.n == 1 ? "ex" : "ices", (long long)self->n);
    }
    return twi_check_cancel(ctx);
}

tw_status twi_checkpoint_open(tw_context *ctx, twi_checkpoint **out, const char *path, double every,
                              int64_t n, int threads)
{
    twi_checkpoint *self = NULL;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "the checkpoint");
    if (status != TW_OK) {
        return status;
    }
    self->ctx = ctx;
    self->every = every;
    self->n = n;
    self->threads = threads;
    self->buffer = buffer_bytes(n);
    self->fd = -1;
    self->file.fd = -1;
    status = twi_generations_name(ctx, &self->files, path);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &self->buffers, (uint64_t)threads, (uint64_t)self->buffer,
                           "the checkpoint");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &self->sums, (uint64_t)n, sizeof *self->sums, "the checkpoint");
    }
    if (status == TW_OK) {
        status = twi_generations_hold(ctx, &self->files);
    }
    if (status == TW_OK) {
        status = find(ctx, self);
    }
    if (status != TW_OK) {
        twi_checkpoint_close(ctx, self, false);
        return status;
    }
    *out = self;
    return TW_OK;
}

const twi_state *twi_checkpoint_found(const twi_checkpoint *self)
{
    return self != NULL && self->fd >= 0 ? &self->found : NULL;
}

/* The file for the next one is not needed after all. */
static void give_up(twi_checkpoint *self)
{
    twi_mapped_close(self->mapped);
    self->mapped = NULL;
    if (self->prepared) {
        twi_temporary_discard(&self->file, self->name);
    }
    self->prepared = false;
}

void twi_checkpoint_offer(twi_checkpoint *self, const twi_minplus_kernel *kernel)
{
    for (int i = 0; i < self->form_count; i++) {
        if (self->forms[i].kernel->type == kernel->type &&
            self->forms[i].kernel->infinity == kernel->infinity) {
            return;
        }
    }
    self->forms[self->form_count].kernel = kernel;
    self->forms[self->form_count++].mark = mark(self, kernel);
}

void twi_checkpoint_form(twi_checkpoint *self, tw_type type, double cap)
{
    if (self == NULL) {
        return;
    }
    give_up(self); /* it was for another type */
    for (int i = 0; i < self->form_count; i++) {
        const twi_minplus_kernel *kernel = self->forms[i].kernel;
        if (kernel->type == type && kernel->infinity == cap) {
            self->form = kernel;
            self->state.type = type;
            self->state.cap = cap;
            self->state.mark = self->forms[i].mark;
        }
    }
}

tw_status twi_checkpoint_pivots(twi_checkpoint *self, tw_context *ctx, int64_t block)
{
    if (self == NULL) {
        return TW_OK;
    }
    const bool is_float = self->state.type == TW_F32 || self->state.type == TW_F64;
    if (is_float && self->resumed > 0 && self->found.block != block) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "checkpoint '%.600s' was computed with pivots of %lld vertices, but this run uses "
            "%lld; resume with the same device and memory limit, or name another file",
            self->files.file[0], (long long)self->found.block, (long long)block);
    }
    self->state.block = block;
    return TW_OK;
}

void twi_checkpoint_begin(twi_checkpoint *self, const twi_work *work, int32_t block, bool symmetric)
{
    const twi_minplus_kernel *kernel = work->kernel;
    self->work = work;
    self->form_count = 0;
    self->resumed = 0;
    self->state = (twi_state){.n = work->n, .lower = symmetric, .block = block};
    twi_checkpoint_offer(self, kernel);
    twi_checkpoint_form(self, kernel->type, kernel->infinity);
    self->last = twi_seconds();
}

tw_status twi_checkpoint_resume(twi_checkpoint *self, tw_context *ctx,
                                const twi_minplus_kernel *kernel)
{
    const twi_state found = self->found;
    int64_t bad = -1;
    twi_checkpoint_offer(self, kernel);
    twi_checkpoint_form(self, kernel->type, kernel->infinity);
    const tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK) { /* the mark may be that of a part */
        return status;
    }
    if (self->state.mark != found.mark) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "checkpoint '%.600s' is of another graph; name another file",
                       self->files.file[0]);
    }
    if (!read_rows(self, &found, kernel, &bad)) {
        return tw_fail(ctx, TW_ERR_IO,
                       "checkpoint '%.600s' changed while it was being read (row %lld)",
                       self->files.file[0], (long long)bad);
    }
    close(self->fd);
    self->fd = -1;
    self->resumed = found.done;
    twi_log(ctx, "resuming from checkpoint '%.600s': %lld of %lld vertices are done, in %s",
            self->files.file[0], (long long)found.done, (long long)found.n,
            tw_type_name(found.type));
    return twi_check_cancel(ctx);
}

/* ------------------------------------------------------------------------------------- writing */

/* What the background does: to the disk, and under its name. */
static void bring_to_disk(void *self_)
{
    twi_checkpoint *self = self_;
    self->error = twi_generation_publish(&self->files, &self->file, self->name);
    atomic_store_explicit(&self->written, true, memory_order_release);
}

static void tell_failure(twi_checkpoint *self, int error)
{
    twi_log(self->ctx, "cannot write checkpoint '%.600s' (%s); continuing without it",
            self->files.file[0], strerror(error));
}

/* The one before has reached the disk; wait until it has. */
static void settle(twi_checkpoint *self)
{
    if (!self->pending) {
        return;
    }
    twi_background_join(self->writer);
    self->writer = NULL;
    self->pending = false;
    if (self->error != 0) {
        tell_failure(self, self->error);
    } else {
        self->count++;
    }
}

/* The file of the next one. A large one is mapped, and its pages are found beside the rounds: to
 * find them takes most of the time of a write, and one thread at a time can. */
static void prepare(twi_checkpoint *self)
{
    const double began = twi_seconds();
    bool reserves = false;
    settle(self);
    const int error =
        twi_generation_make(&self->files, &self->state, &self->file, self->name, false);
    if (error != 0) {
        tell_failure(self, error);
        self->last = twi_seconds();
        return;
    }
    const uint64_t bytes = (uint64_t)twi_state_row_at(&self->state, self->n);
    self->mapped = self->every > 0 && twi_mapped_suits(self->ctx, self->file.fd, bytes, &reserves)
                       ? twi_mapped_open(self->ctx, self->file.fd, bytes)
                       : NULL;
    self->prepared = true;
    self->rounds = 0;
    self->seconds += twi_seconds() - began;
}

/* Rows first ... first+count-1, through a thread's buffer. 0 or an errno. */
static int write_rows(twi_checkpoint *self, char *buffer, int64_t first, int64_t count)
{
    int64_t used = 0;
    int error = 0;
    for (int64_t i = first; i < first + count && self->mapped != NULL && error == 0; i++) {
        const int64_t bytes = twi_state_row_bytes(&self->state, i);
        const char *row =
            row_in(self, self->form, i, bytes / (int64_t)tw_type_size(self->state.type), buffer);
        self->sums[i] = twi_state_sum(i, row, bytes);
        error = twi_mapped_put(self->mapped, row, (uint64_t)bytes,
                               (uint64_t)twi_state_row_at(&self->state, i));
    }
    if (self->mapped != NULL) {
        return error;
    }
    for (int64_t i = first; i < first + count; i++) {
        const int64_t bytes = twi_state_row_bytes(&self->state, i);
        char *at = buffer + used;
        const char *row =
            row_in(self, self->form, i, bytes / (int64_t)tw_type_size(self->state.type), at);
        if (row != at) {
            memcpy(at, row, (size_t)bytes);
        }
        self->sums[i] = twi_state_sum(i, at, bytes);
        used += bytes;
    }
    return twi_write_at(self->file.fd, buffer, used, twi_state_row_at(&self->state, first));
}

static int write_all(twi_checkpoint *self)
{
    const int64_t row = self->n * (int64_t)tw_type_size(self->state.type);
    const int64_t most = self->buffer / row, tasks = (self->n + most - 1) / most;
    char header[TWI_CHECKPOINT_HEADER];
    atomic_int error = 0;
#pragma omp parallel for num_threads(twi_team(self->threads)) schedule(dynamic, 1)
    for (int64_t task = 0; task < tasks; task++) {
        if (atomic_load_explicit(&error, memory_order_relaxed) == 0) {
            const int64_t first = task * most;
            const int64_t count = self->n - first < most ? self->n - first : most;
            const int failed = twi_is_cancelled(self->ctx)
                                   ? ECANCELED
                                   : write_rows(self, buffer_here(self), first, count);
            if (failed != 0) {
                atomic_store_explicit(&error, failed, memory_order_relaxed);
            }
        }
    }
    int failed = atomic_load(&error);
    twi_mapped_close(self->mapped);
    self->mapped = NULL;
    if (failed == 0) {
        failed = twi_write_at(self->file.fd, self->sums, 8 * self->n, twi_state_sum_at(0));
    }
    if (failed == 0) {
        twi_state_write(header, &self->state);
        failed = twi_write_at(self->file.fd, header, sizeof header, 0);
    }
    return failed;
}

static bool is_due(void *self_)
{
    twi_checkpoint *self = self_;
    if (self->every > 0 && self->pending &&
        !atomic_load_explicit(&self->written, memory_order_acquire)) {
        return false; /* a disk that is slower than that gets fewer */
    }
    if (twi_seconds() - self->last < self->every) {
        return false;
    }
    if (!self->prepared) {
        prepare(self);
        return self->prepared && self->mapped == NULL;
    }
    return self->mapped == NULL || twi_mapped_ready(self->mapped) ||
           ++self->rounds >= ROUNDS_WAITED;
}

static tw_status keep(void *self_, int64_t done)
{
    twi_checkpoint *self = self_;
    const double began = twi_seconds();
    self->state.done = done;
    const int error = write_all(self);
    if (error != 0) {
        give_up(self);
    }
    self->prepared = false;
    if (error == 0) {
        atomic_store(&self->written, false);
        self->pending = true;
        self->writer = twi_background_start(bring_to_disk, self);
        if (self->writer == NULL) {
            bring_to_disk(self);
        }
    } else if (error != ECANCELED || !twi_is_cancelled(self->ctx)) {
        tell_failure(self, error);
    }
    self->last = twi_seconds();
    self->seconds += self->last - began;
    return twi_check_cancel(self->ctx);
}

bool twi_checkpoint_is_due(twi_checkpoint *self)
{
    return self != NULL && is_due(self);
}

tw_status twi_checkpoint_keep(twi_checkpoint *self, int64_t done)
{
    return keep(self, done);
}

twi_keeper twi_checkpoint_keeper(twi_checkpoint *self)
{
    return (twi_keeper){self, is_due, keep};
}

void twi_checkpoint_close(tw_context *ctx, twi_checkpoint *self, bool finished)
{
    char bytes[32], time[TWI_DURATION];
    if (self == NULL) {
        return;
    }
    give_up(self);
    settle(self);
    if (self->fd >= 0) {
        close(self->fd);
    }
    if (self->count > 0) {
        twi_log(ctx, "%lld checkpoint%s of %s written; the run paused for %s",
                (long long)self->count, self->count == 1 ? "" : "s",
                twi_bytes(bytes, (double)twi_state_row_at(&self->state, self->n)),
                twi_duration(time, self->seconds));
    }
    if (finished) {
        twi_generations_remove(&self->files);
    }
    twi_generations_release(&self->files);
    twi_free(self->sums);
    twi_free(self->buffers);
    twi_free(self);
}

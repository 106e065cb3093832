/* See checkpoint.h. Rows pass through the ranks in bands (bands.h), one row of tiles of each row of
 * the grid at a time. */
#include "mpi/closure/checkpoint.h"

#include "apsp/closure/checkpoint.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/memory.h"
#include "mpi/closure/bands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a rank tells of the checkpoint that is on its way. */
enum { DUE, WAY };
enum { NOTHING, ON_DISK, WAITING, FAILED };

struct twi_mpi_checkpoint {
    tw_context *ctx;
    const twi_world *world;
    const tw_apsp_plan *plan;
    const twi_share *share;
    twi_generations files;
    double last;
    twi_state found;
    bool has_found;
    bool due;
    int found_fd;    /* of what was found; -1: nothing */
    twi_state state; /* of the next one */

    twi_bands bands;
    uint64_t *sums; /* of the rows of a band */
    char *aside;    /* this rank's rows of all bands, until they are on the disk; NULL: no room */

    twi_temporary file; /* rank 0's */
    char name[PATH_MAX + TWI_TEMPORARY_NAME];
    int fd; /* -1: none */
    twi_background *writer;
    int error; /* of the writer, once it has ended */
    atomic_bool written;
    bool pending;       /* one is on its way to the disk */
    int64_t serial;     /* of the one that is or was the last */
    int64_t serials[2]; /* when a question was asked */
    int64_t count;
    double seconds;
};

static double every(const twi_mpi_checkpoint *self)
{
    return self->plan->options.checkpoint_every;
}

/* --------------------------------------------------------------------------------- generations */

typedef struct looked {
    int32_t verdict;
    char why[TWI_STATE_WHY];
    twi_state state;
} looked;

/* Rows first ... first+count-1, each into a buffer of a row, against their checksums: the first
 * that is damaged, or -1. */
static int64_t find_damage(int fd, const twi_state *state, int64_t first, int64_t count, char *row)
{
    for (int64_t i = first; i < first + count; i++) {
        uint64_t sum = 0;
        const int64_t bytes = twi_state_row_bytes(state, i);
        if (twi_read_at(fd, &sum, sizeof sum, twi_state_sum_at(i)) != 0 ||
            twi_read_at(fd, row, bytes, twi_state_row_at(state, i)) != 0 ||
            twi_state_sum(i, row, bytes) != sum) {
            return i;
        }
    }
    return -1;
}

/* The file that rank 0 has seen, and no other that has taken its name since; -1 with an errno. */
static int open_same(const char *path, const twi_state *state)
{
    char wanted[TWI_CHECKPOINT_HEADER], header[TWI_CHECKPOINT_HEADER];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    twi_state_write(wanted, state);
    int error = twi_read_at(fd, header, sizeof header, 0);
    error = error == 0 && memcmp(header, wanted, sizeof header) != 0 ? ESTALE : error;
    if (error != 0) {
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Every rank looks at its part of the rows. */
static tw_status check_rows(twi_mpi_checkpoint *self, int which, looked *found)
{
    const twi_world *world = self->world;
    const int64_t n = found->state.n;
    const int64_t first = n * world->rank / world->size, end = n * (world->rank + 1) / world->size;
    int64_t bad = INT64_MAX;
    char *row = NULL;
    const int fd = open_same(self->files.file[which], &found->state);
    tw_status status =
        fd >= 0 ? twi_alloc(self->ctx, &row, (uint64_t)n, sizeof(double), "a row of a checkpoint")
                : tw_fail(self->ctx, TW_ERR_IO, "rank %d cannot read checkpoint '%.600s': %s",
                          world->rank, self->files.file[which], strerror(errno));
    status = twi_world_agree(self->ctx, world, status);
    if (status == TW_OK) {
        const int64_t damaged = find_damage(fd, &found->state, first, end - first, row);
        bad = damaged >= 0 ? damaged : INT64_MAX;
        status = twi_mpi_check(
            self->ctx, MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT64_T, MPI_MIN, world->comm),
            "check the checkpoint");
    }
    if (status == TW_OK && bad != INT64_MAX) {
        found->verdict = TWI_STATE_DAMAGED;
        (void)snprintf(found->why, sizeof found->why, "row %lld is damaged", (long long)bad);
    }
    twi_free(row);
    if (status == TW_OK && found->verdict == TWI_STATE_GOOD) {
        self->found_fd = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    return status;
}

static tw_status look(twi_mpi_checkpoint *self, int which, looked *out)
{
    *out = (looked){0};
    if (self->world->rank == 0) {
        int fd = -1;
        out->verdict =
            (int32_t)twi_generation_open(&self->files, which, &out->state, &fd, out->why);
        if (fd >= 0) {
            close(fd);
        }
    }
    tw_status status =
        twi_mpi_check(self->ctx, MPI_Bcast(out, (int)sizeof *out, MPI_BYTE, 0, self->world->comm),
                      "look for a checkpoint");
    return status == TW_OK && out->verdict == TWI_STATE_GOOD && out->state.n == self->plan->graph->n
               ? check_rows(self, which, out)
               : status;
}

static void tell(const twi_mpi_checkpoint *self, const char *what, const char *why)
{
    if (self->world->rank == 0) {
        twi_log(self->ctx, "'%.600s': %s; %s", self->files.file[0], why, what);
    }
}

static tw_status find(twi_mpi_checkpoint *self)
{
    tw_context *ctx = self->ctx;
    looked newest, older = {.verdict = TWI_STATE_ABSENT};
    tw_status status = look(self, 0, &newest);
    const looked *found = &newest;
    if (status == TW_OK && newest.verdict == TWI_STATE_VERSION) {
        return twi_generation_refuse(ctx, &self->files, 0, TWI_STATE_VERSION, newest.why);
    }
    if (status == TW_OK && newest.verdict != TWI_STATE_GOOD) {
        status = look(self, 1, &older);
        found = &older;
    }
    if (status != TW_OK) {
        return status;
    }
    if (found->verdict != TWI_STATE_GOOD) {
        return newest.verdict != TWI_STATE_ABSENT
                   ? twi_generation_refuse(ctx, &self->files, 0, (twi_state_verdict)newest.verdict,
                                           newest.why)
               : older.verdict != TWI_STATE_ABSENT
                   ? twi_generation_refuse(ctx, &self->files, 1, (twi_state_verdict)older.verdict,
                                           older.why)
                   : TW_OK;
    }
    if (found == &older && newest.verdict != TWI_STATE_ABSENT) {
        tell(self, "going back to the one before", newest.why);
        self->files.keep_older = true;
    }
    if (found->state.n != self->plan->graph->n) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "checkpoint '%.600s' is of a graph with %lld vert%s, but this one has %lld; "
                       "name another file",
                       self->files.file[0], (long long)found->state.n,
                       found->state.n == 1 ? "ex" : "ices", (long long)self->plan->graph->n);
    }
    self->found = found->state;
    self->has_found = true;
    return twi_state_check(ctx, self->plan, &self->found);
}

tw_status twi_mpi_checkpoint_open(tw_context *ctx, twi_mpi_checkpoint **out, const twi_world *world,
                                  const tw_apsp_plan *plan)
{
    twi_mpi_checkpoint *self = NULL;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "the checkpoint");
    if (status == TW_OK) {
        self->ctx = ctx;
        self->world = world;
        self->plan = plan;
        self->fd = self->file.fd = self->found_fd = self->files.lock = -1;
        self->bands.element = MPI_DATATYPE_NULL;
        status = twi_generations_name(ctx, &self->files, plan->options.checkpoint);
    }
    if (status == TW_OK && world->rank == 0) {
        status = twi_generations_hold(ctx, &self->files);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = find(self);
    }
    if (status != TW_OK) {
        twi_mpi_checkpoint_close(self, false, true);
        return status;
    }
    *out = self;
    return TW_OK;
}

const twi_state *twi_mpi_checkpoint_found(const twi_mpi_checkpoint *self)
{
    return self != NULL && self->has_found ? &self->found : NULL;
}

/* ------------------------------------------------------------------------------------- reading */

/* This rank's part of row i of tiles. 0 or an errno. */
static int read_part(twi_mpi_checkpoint *self, int64_t i)
{
    const int fd = self->found_fd;
    const int64_t n = self->state.n, size = self->share->size;
    int64_t first, count;
    twi_band_rows(self->share->grid, i, &first, &count);
    int error = twi_read_at(fd, self->sums, 8 * count, twi_state_sum_at(first));
    for (int64_t row = 0; row < count && error == 0; row++) {
        char *at = self->bands.rows + row * n * size;
        const int64_t bytes = twi_state_row_bytes(&self->found, first + row);
        error = twi_read_at(fd, at, bytes, twi_state_row_at(&self->found, first + row));
        if (error == 0 && twi_state_sum(first + row, at, bytes) != self->sums[row]) {
            error = EIO;
        }
    }
    return error;
}

/* Of a tile on the diagonal the half below it has come: the other is the same. */
static void mirror_diagonal(const twi_mpi_checkpoint *self, int64_t i)
{
    const twi_share *share = self->share;
    const twi_grid *grid = share->grid;
    const int64_t own = i / grid->rows, ld = share->rows[own].ld, size = share->size;
    if (i % grid->cols != grid->col) {
        return;
    }
    char *tile = twi_share_tile(share, own, i / grid->cols);
    for (int64_t r = 0; r < twi_tile_size(grid, i); r++) {
        for (int64_t c = 0; c < r; c++) {
            memcpy(tile + (c * ld + r) * size, tile + (r * ld + c) * size, (size_t)size);
        }
    }
}

static tw_status read_all(twi_mpi_checkpoint *self)
{
    const twi_grid *grid = self->share->grid;
    int error = 0;
    tw_status status = TW_OK;
    for (int64_t t = 0; t * grid->rows < grid->tiles && status == TW_OK; t++) {
        const int64_t i = twi_band_tile(grid, t);
        if (i < 0) {
            continue; /* and so for all of this row of the grid */
        }
        error = error == 0 ? read_part(self, i) : error;
        status = twi_bands_scatter(self->ctx, &self->bands, i);
        if (self->state.lower) {
            mirror_diagonal(self, i);
        }
    }
    close(self->found_fd);
    self->found_fd = -1;
    if (status == TW_OK && error != 0) {
        status = tw_fail(self->ctx, TW_ERR_IO, "rank %d cannot read checkpoint '%.600s': %s",
                         self->world->rank, self->files.file[0], strerror(error));
    }
    return twi_world_agree(self->ctx, self->world, status);
}

/* Over all ranks. */
static tw_status mark(twi_mpi_checkpoint *self, uint64_t *out)
{
    const twi_share *share = self->share;
    const twi_grid *grid = share->grid;
    uint64_t sum = 0;
    for (int64_t own = 0; own < share->row_count; own++) {
        const int64_t i = twi_row_tile(grid, own), ld = share->rows[own].ld;
        for (int64_t at = 0; at < share->rows[own].tiles; at++) {
            const int64_t j = twi_col_tile(grid, at);
            const char *tile = twi_share_tile(share, own, at);
            for (int64_t row = 0; row < twi_tile_size(grid, i); row++) {
                sum += twi_mark_row(share->kernel, tile + row * ld * share->size,
                                    i * grid->block + row, j * grid->block, twi_tile_size(grid, j),
                                    share->symmetric && i != j);
            }
        }
    }
    *out = sum;
    return twi_mpi_check(
        self->ctx, MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_UINT64_T, MPI_SUM, self->world->comm),
        "compare the checkpoint");
}

static void give_back(twi_mpi_checkpoint *self)
{
    twi_bands_close(&self->bands);
    twi_free(self->aside);
    twi_free(self->sums);
    self->aside = NULL;
    self->sums = NULL;
}

tw_status twi_mpi_checkpoint_begin(twi_mpi_checkpoint *self, const twi_share *share,
                                   twi_pattern *pattern, int64_t *done)
{
    const twi_grid *grid = share->grid;
    *done = 0;
    self->share = share;
    self->state = (twi_state){.n = grid->n,
                              .type = share->kernel->type,
                              .lower = share->symmetric,
                              .cap = share->kernel->infinity,
                              .block = grid->block};
    give_back(self);
    tw_status status = twi_bands_open(self->ctx, &self->bands, share);
    if (status == TW_OK) {
        status = twi_alloc(self->ctx, &self->sums, (uint64_t)twi_band_most(grid),
                           sizeof *self->sums, "rows of a checkpoint");
    }
    status = twi_world_agree(self->ctx, self->world, status);
    if (status == TW_OK) {
        status = mark(self, &self->state.mark);
    }
    if (status == TW_OK && self->has_found) {
        self->has_found = false;
        if (self->state.mark != self->found.mark) {
            return tw_fail(self->ctx, TW_ERR_ARGUMENT,
                           "checkpoint '%.600s' is of another graph; name another file",
                           self->files.file[0]);
        }
        status = read_all(self);
        *done = self->found.done;
        for (int64_t k = 0; k * grid->block < *done && status == TW_OK; k++) {
            twi_pattern_advance(pattern, k);
        }
        if (status == TW_OK && self->world->rank == 0) {
            twi_log(self->ctx,
                    "resuming from checkpoint '%.600s': %lld of %lld vertices are done, in %s",
                    self->files.file[0], (long long)*done, (long long)grid->n,
                    tw_type_name(self->found.type));
        }
    }
    self->last = twi_seconds();
    return status;
}

/* ------------------------------------------------------------------------------------- writing */

/* Bytes of this rank's rows of band i, one after the other as in the file. */
static int64_t part_bytes(const twi_mpi_checkpoint *self, int64_t i)
{
    int64_t first, count;
    twi_band_rows(self->share->grid, i, &first, &count);
    return twi_state_row_at(&self->state, first + count) - twi_state_row_at(&self->state, first);
}

/* This rank's rows of band i, which lie like that, into the file. 0 or an errno. */
static int write_part(twi_mpi_checkpoint *self, int64_t i, const char *rows)
{
    int64_t first, count, used = 0;
    twi_band_rows(self->share->grid, i, &first, &count);
    for (int64_t row = 0; row < count; row++) {
        const int64_t bytes = twi_state_row_bytes(&self->state, first + row);
        self->sums[row] = twi_state_sum(first + row, rows + used, bytes);
        used += bytes;
    }
    const int error = twi_write_at(self->fd, rows, used, twi_state_row_at(&self->state, first));
    return error == 0 ? twi_write_at(self->fd, self->sums, 8 * count, twi_state_sum_at(first))
                      : error;
}

/* On a thread of its own, beside the rounds: what lies aside into the file, and all to the disk. */
static void write_aside(void *self_)
{
    twi_mpi_checkpoint *self = self_;
    const twi_grid *grid = self->share->grid;
    const char *rows = self->aside;
    int error = 0;
    for (int64_t t = 0; rows != NULL && t * grid->rows < grid->tiles && error == 0; t++) {
        const int64_t i = twi_band_tile(grid, t);
        if (i >= 0) {
            error = write_part(self, i, rows);
            rows += part_bytes(self, i);
        }
    }
    if (error == 0 && fsync(self->fd) != 0) {
        error = errno;
    }
    self->error = error;
    atomic_store_explicit(&self->written, true, memory_order_release);
}

static void tell_failure(const twi_mpi_checkpoint *self, const char *why)
{
    if (self->world->rank == 0) {
        twi_log(self->ctx, "cannot write checkpoint '%.600s' (%s); continuing without it",
                self->files.file[0], why);
    }
}

/* Nothing is on its way any more. `good`: everything is on the disk, and it gets its name. */
static void conclude(twi_mpi_checkpoint *self, bool good)
{
    twi_background_join(self->writer);
    self->writer = NULL;
    self->pending = false;
    if (self->world->rank != 0) {
        if (self->fd >= 0) {
            close(self->fd);
        }
    } else if (good) {
        const int error = twi_generation_publish(&self->files, &self->file, self->name);
        if (error != 0) {
            tell_failure(self, strerror(error));
        } else {
            self->count++;
        }
    } else {
        twi_temporary_discard(&self->file, self->name);
    }
    self->fd = -1;
}

/* Wait for what is on its way. */
static tw_status settle(twi_mpi_checkpoint *self)
{
    if (!self->pending) {
        return TW_OK;
    }
    twi_background_join(self->writer);
    self->writer = NULL;
    int worst = self->error;
    tw_status status = twi_mpi_check(
        self->ctx, MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, self->world->comm),
        "end a checkpoint");
    conclude(self, status == TW_OK && worst == 0);
    if (status == TW_OK && worst != 0) {
        tell_failure(self, strerror(worst));
    }
    return status;
}

tw_status twi_mpi_checkpoint_settle(twi_mpi_checkpoint *self)
{
    if (self == NULL) {
        return TW_OK;
    }
    tw_status status = settle(self);
    give_back(self);
    return status;
}

void twi_mpi_checkpoint_tell(twi_mpi_checkpoint *self, int slot, int told[TWI_TELLS])
{
    told[DUE] =
        self->world->rank == 0 && !self->pending && twi_seconds() - self->last >= every(self);
    told[WAY] = !self->pending                                                ? NOTHING
                : !atomic_load_explicit(&self->written, memory_order_acquire) ? WAITING
                : self->error != 0                                            ? FAILED
                                                                              : ON_DISK;
    self->serials[slot] = self->serial;
}

void twi_mpi_checkpoint_hear(twi_mpi_checkpoint *self, int slot, const int told[TWI_TELLS])
{
    if (self->serials[slot] != self->serial) {
        return; /* of the one before */
    }
    if (self->pending && (told[WAY] == ON_DISK || told[WAY] == FAILED)) {
        conclude(self, told[WAY] == ON_DISK);
        if (told[WAY] == FAILED) {
            tell_failure(self, "a rank could not write its part");
        }
    }
    self->due = self->due || told[DUE] != 0;
}

bool twi_mpi_checkpoint_due(const twi_mpi_checkpoint *self)
{
    return self->due || every(self) <= 0;
}

/* Rows of n elements, as they have been gathered, without what lies between them. */
static void compact(const twi_mpi_checkpoint *self, int64_t i, char *out)
{
    const int64_t n = self->state.n, size = self->share->size;
    int64_t first, count;
    twi_band_rows(self->share->grid, i, &first, &count);
    for (int64_t row = 0; row < count; row++) { /* out may be where they lie */
        const int64_t bytes = twi_state_row_bytes(&self->state, first + row);
        memmove(out, self->bands.rows + row * n * size, (size_t)bytes);
        out += bytes;
    }
}

/* Room for this rank's rows, if it may have it. */
static void make_room(twi_mpi_checkpoint *self)
{
    const twi_grid *grid = self->share->grid;
    int64_t bytes = 0;
    for (int64_t t = 0; t * grid->rows < grid->tiles; t++) {
        const int64_t i = twi_band_tile(grid, t);
        bytes += i >= 0 ? part_bytes(self, i) : 0;
    }
    if (self->aside == NULL && twi_alloc(self->ctx, &self->aside, (uint64_t)bytes, 1,
                                         "a checkpoint on its way") != TW_OK) {
        self->aside = NULL; /* the ranks then wait until it is written */
    }
}

/* Everybody's rows, aside or into the file at once; *error is this rank's. */
static tw_status gather_all(twi_mpi_checkpoint *self, int *error)
{
    const twi_grid *grid = self->share->grid;
    tw_status status = TW_OK;
    make_room(self);
    char *aside = self->aside;
    for (int64_t t = 0; t * grid->rows < grid->tiles && status == TW_OK; t++) {
        const int64_t i = twi_band_tile(grid, t);
        if (i < 0) {
            continue;
        }
        status = twi_bands_gather(self->ctx, &self->bands, i);
        if (status == TW_OK && aside != NULL) {
            compact(self, i, aside);
            aside += part_bytes(self, i);
        } else if (status == TW_OK && *error == 0) {
            compact(self, i, self->bands.rows);
            *error = write_part(self, i, self->bands.rows);
        }
    }
    return status;
}

/* Rank 0 makes the file with its header, the others open it. 0 or an errno of this rank. */
static tw_status make(twi_mpi_checkpoint *self, int *error)
{
    const twi_world *world = self->world;
    char header[TWI_CHECKPOINT_HEADER];
    *error = 0;
    if (world->rank == 0) {
        *error = twi_generation_make(&self->files, &self->state, &self->file, self->name, true);
        self->fd = *error == 0 ? self->file.fd : -1;
        if (*error == 0) {
            twi_state_write(header, &self->state);
            *error = twi_write_at(self->fd, header, sizeof header, 0);
        }
    }
    tw_status status = twi_mpi_check(
        self->ctx, MPI_Bcast(self->name, (int)sizeof self->name, MPI_BYTE, 0, world->comm),
        "begin a checkpoint");
    if (status == TW_OK) {
        status = twi_mpi_check(self->ctx, MPI_Bcast(error, 1, MPI_INT, 0, world->comm),
                               "begin a checkpoint");
    }
    if (status == TW_OK && *error == 0 && world->rank != 0) {
        self->fd = open(self->name, O_WRONLY | O_CLOEXEC);
        *error = self->fd >= 0 ? 0 : errno;
    }
    return status;
}

/* A rank that was cancelled has left out what it had to do in the rounds since, and the others find
 * that out later. */
static tw_status is_complete(twi_mpi_checkpoint *self, bool *complete)
{
    int left_out = twi_is_cancelled(self->ctx);
    tw_status status = twi_mpi_check(
        self->ctx, MPI_Allreduce(MPI_IN_PLACE, &left_out, 1, MPI_INT, MPI_MAX, self->world->comm),
        "begin a checkpoint");
    *complete = left_out == 0;
    return status;
}

tw_status twi_mpi_checkpoint_keep(twi_mpi_checkpoint *self, int64_t done)
{
    const double began = twi_seconds();
    bool complete = false;
    int error = 0;
    tw_status status = is_complete(self, &complete);
    if (status != TW_OK || !complete) {
        return status;
    }
    status = settle(self);
    self->state.done = done;
    self->serial++;
    self->due = false;
    if (status == TW_OK) {
        status = make(self, &error);
    }
    if (status == TW_OK) {
        status = gather_all(self, &error);
    }
    int worst = error;
    if (status == TW_OK) {
        status = twi_mpi_check(
            self->ctx, MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, self->world->comm),
            "end a checkpoint");
    }
    if (status != TW_OK || worst != 0) {
        conclude(self, false);
        if (status == TW_OK) {
            tell_failure(self, strerror(worst));
        }
    } else {
        self->pending = true;
        self->error = 0;
        atomic_store(&self->written, false);
        self->writer = twi_background_start(write_aside, self);
        if (self->writer == NULL) {
            write_aside(self);
        }
    }
    self->last = twi_seconds();
    self->seconds += self->last - began;
    return status;
}

void twi_mpi_checkpoint_close(twi_mpi_checkpoint *self, bool finished, bool broken)
{
    char bytes[32], time[TWI_DURATION];
    if (self == NULL) {
        return;
    }
    if (!broken) {
        (void)settle(self); /* what can fail is told in the log */
    } else if (self->pending) {
        conclude(self, false);
    }
    if (self->count > 0) {
        twi_log(self->ctx, "%lld checkpoint%s of %s written; the run paused for %s",
                (long long)self->count, self->count == 1 ? "" : "s",
                twi_bytes(bytes, (double)twi_state_row_at(&self->state, self->state.n)),
                twi_duration(time, self->seconds));
    }
    if (finished && self->world->rank == 0) {
        twi_generations_remove(&self->files);
    }
    twi_generations_release(&self->files); /* rank 0's */
    if (self->found_fd >= 0) {
        close(self->found_fd);
    }
    give_back(self);
    twi_free(self);
}

/*
 * Input files: see input.h. A page of the cache is copied at some 10 GB/s and core, and threads
 * share the pieces, so that a copy costs less than the page faults of a mapping did.
 */
#include "io/input.h"

#include "base/memory.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ ((uint64_t)1 << 20)  /* buffer of a stream, doubled as needed */
#define STANDARD_INPUT "standard input" /* in place of a name */
#define PIECE ((uint64_t)4 << 20)       /* bytes a thread reads in one call */

#undef twi_input_failed
tw_status twi_input_failed(tw_context *ctx, const char *name, int error)
{
    if (error == ECANCELED && twi_check_cancel(ctx) != TW_OK) { /* file systems say it, too */
        return TW_ERR_CANCELLED;
    }
    const char *quote = strcmp(name, STANDARD_INPUT) == 0 ? "" : "'";
    return tw_fail(ctx, TW_ERR_IO, "cannot read %s%.500s%s: %s", quote, name, quote,
                   error == TWI_INPUT_CUT ? "it was cut short while it was being read"
                                          : strerror(error));
}

/* Everything until the end of a stream. */
static tw_status read_stream(tw_context *ctx, twi_input *in, int fd)
{
    char what[560];
    uint64_t room = FIRST_READ;
    snprintf(what, sizeof what, "reading %.500s", in->name);
    tw_status status = twi_alloc(ctx, &in->memory, room, 1, what);
    while (status == TW_OK) {
        ssize_t got = read(fd, (char *)in->memory + in->size, (size_t)(room - in->size));
        if (got == 0) {
            in->bytes = in->memory;
            return TW_OK;
        }
        if (got < 0 && errno != EINTR) {
            return twi_input_failed(ctx, in->name, errno);
        }
        in->size += got > 0 ? (uint64_t)got : 0;
        twi_progress(ctx, "read", (double)in->size, 0, "bytes");
        status = twi_check_cancel(ctx);
        if (status == TW_OK && in->size == room) {
            status = twi_memory_check(ctx, 2 * room, what);
            if (status == TW_OK) {
                status = twi_grow(ctx, &in->memory, room, 2 * room, 1, what);
            }
            room *= 2;
        }
    }
    return status;
}

/* 0, an errno, or TWI_INPUT_CUT. Worker-safe. */
static int read_at(int fd, char *out, uint64_t count, uint64_t at)
{
    while (count > 0) {
        size_t most = count < PIECE ? (size_t)count : (size_t)PIECE;
        ssize_t got = pread(fd, out, most, (off_t)at);
        if (got == 0) {
            return TWI_INPUT_CUT;
        }
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got > 0) {
            out += got;
            at += (uint64_t)got;
            count -= (uint64_t)got;
        }
    }
    return 0;
}

/* The same by all threads, with an eye on the cancel flag. */
static int read_in_parallel(tw_context *ctx, int fd, char *out, uint64_t count, uint64_t at)
{
    const int64_t pieces = (int64_t)((count + PIECE - 1) / PIECE);
    atomic_int error = 0;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(dynamic, 1) if (pieces > 1)
    for (int64_t i = 0; i < pieces; i++) {
        if (atomic_load_explicit(&error, memory_order_relaxed) == 0) {
            uint64_t from = (uint64_t)i * PIECE;
            uint64_t most = count - from < PIECE ? count - from : PIECE;
            int failed =
                twi_is_cancelled(ctx) ? ECANCELED : read_at(fd, out + from, most, at + from);
            if (failed != 0) {
                atomic_store_explicit(&error, failed, memory_order_relaxed);
            }
        }
    }
    return error;
}

/* The first `count` bytes of a regular file, of which `held` are in memory already. */
static tw_status load(tw_context *ctx, twi_input *in, uint64_t count, uint64_t held)
{
    char what[560];
    void *memory = NULL;
    snprintf(what, sizeof what, "reading %.500s", in->name);
    tw_status status = count > TWI_INPUT_HEAD ? twi_memory_check(ctx, count, what) : TW_OK;
    if (status == TW_OK) {
        status = twi_alloc(ctx, &memory, count, 1, what);
    }
    if (status != TW_OK) {
        return status;
    }
    memcpy(memory, in->bytes, (size_t)held); /* the header that was looked at stays the one used */
    int error = read_in_parallel(ctx, in->fd, (char *)memory + held, count - held, held);
    if (error != 0) {
        twi_free(memory);
        return twi_input_failed(ctx, in->name, error);
    }
    twi_free(in->memory);
    in->memory = memory;
    in->bytes = memory;
    in->absent = in->size - count;
    return TW_OK;
}

/* The head of a regular file. */
static tw_status open_file(tw_context *ctx, twi_input *in, int fd, uint64_t size)
{
    in->fd = fd;
    in->size = in->absent = size;
    return load(ctx, in, size < TWI_INPUT_HEAD ? size : TWI_INPUT_HEAD, 0);
}

/* ------------------------------------------------------------------------------------- pipes */

typedef struct pipe_flow {
    twi_flow flow;
    const char *name;
    int fd;
    bool standard; /* input, which stays open */
    uint64_t got;
} pipe_flow;

static tw_status read_pipe(tw_context *ctx, twi_flow *flow, char *out, uint64_t room, uint64_t *got)
{
    pipe_flow *from = (pipe_flow *)flow;
    tw_status status = TW_OK;
    ssize_t count = -1;
    while (count < 0 && status == TW_OK) {
        count = read(from->fd, out, room < PIECE ? (size_t)room : (size_t)PIECE);
        if (count < 0 && errno != EINTR) {
            return twi_input_failed(ctx, from->name, errno);
        }
        status = twi_check_cancel(ctx);
    }
    *got = count > 0 ? (uint64_t)count : 0;
    from->got += *got;
    twi_progress(ctx, "read", (double)from->got, 0, "bytes");
    return status;
}

static void close_pipe(twi_flow *flow)
{
    pipe_flow *from = (pipe_flow *)flow;
    if (!from->standard) {
        close(from->fd);
    }
    twi_free(from);
}

static tw_status open_pipe(tw_context *ctx, twi_input *in, int fd, bool standard)
{
    pipe_flow *from = NULL;
    tw_status status = twi_alloc(ctx, &from, 1, sizeof *from, "a pipe");
    if (status != TW_OK) {
        if (!standard) {
            close(fd);
        }
        return status;
    }
    *from = (pipe_flow){{read_pipe, close_pipe}, in->name, fd, standard, 0};
    in->flow = &from->flow;
    in->once = true;
    return twi_input_widen(ctx, in, TWI_INPUT_HEAD);
}

/* ----------------------------------------------------------------------------------- opening */

static tw_status open_input(tw_context *ctx, twi_input *out, const char *path, bool flows)
{
    bool standard = strcmp(path, "-") == 0;
    *out = (twi_input){.name = standard ? STANDARD_INPUT : path, .bytes = ""};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat found;
    tw_status status = TW_OK;
    if (fd < 0 || fstat(fd, &found) != 0) {
        status = twi_input_failed(ctx, out->name, errno);
    } else if (S_ISDIR(found.st_mode)) {
        status = twi_input_failed(ctx, out->name, EISDIR);
    } else if (S_ISREG(found.st_mode) && found.st_size > 0 && !standard) {
        status = open_file(ctx, out, fd, (uint64_t)found.st_size);
    } else if (flows) {
        status = open_pipe(ctx, out, fd, standard);
        fd = -1; /* the flow's */
    } else {
        status = read_stream(ctx, out, fd);
    }
    if (status != TW_OK) {
        out->absent = 0; /* the file is closed here */
        twi_input_close(out);
    }
    if (fd >= 0 && !standard && out->absent == 0) {
        close(fd);
    }
    return status;
}

tw_status twi_input_open_head(tw_context *ctx, twi_input *out, const char *path)
{
    return open_input(ctx, out, path, false);
}

tw_status twi_input_open_flow(tw_context *ctx, twi_input *out, const char *path)
{
    return open_input(ctx, out, path, true);
}

/* `count` bytes of a flow, or all it has. */
static tw_status widen_flow(tw_context *ctx, twi_input *in, uint64_t count)
{
    char what[560];
    void *wider = NULL;
    uint64_t got = 1;
    snprintf(what, sizeof what, "the first lines of %.500s", in->name);
    tw_status status = twi_alloc(ctx, &wider, count, 1, what);
    if (status != TW_OK) {
        return status;
    }
    memcpy(wider, in->bytes, (size_t)in->size);
    twi_free(in->memory);
    in->memory = wider;
    in->bytes = wider;
    while (in->size < count && got > 0 && status == TW_OK) {
        status = in->flow->read(ctx, in->flow, (char *)wider + in->size, count - in->size, &got);
        in->size += status == TW_OK ? got : 0;
    }
    if (status == TW_OK && got == 0) {
        in->flow->close(in->flow);
        in->flow = NULL;
    }
    return status;
}

tw_status twi_input_widen(tw_context *ctx, twi_input *input, uint64_t count)
{
    const uint64_t held = twi_input_held(input);
    if (count <= held || twi_input_is_held(input)) {
        return TW_OK;
    }
    if (input->flow != NULL) {
        return widen_flow(ctx, input, count);
    }
    if (count >= input->size) {
        return twi_input_load(ctx, input);
    }
    return load(ctx, input, count, held);
}

tw_status twi_input_load(tw_context *ctx, twi_input *input)
{
    if (input->absent == 0) {
        return TW_OK;
    }
    tw_status status = load(ctx, input, input->size, twi_input_held(input));
    if (status == TW_OK) {
        close(input->fd);
    }
    return status;
}

void twi_input_close(twi_input *input)
{
    if (input->absent > 0) {
        close(input->fd);
    }
    if (input->flow != NULL) {
        input->flow->close(input->flow);
    }
    twi_free(input->memory);
    *input = (twi_input){.name = "", .bytes = ""};
}

int twi_input_try(const twi_input *input, uint64_t at, void *out, uint64_t count)
{
    const uint64_t held = twi_input_held(input);
    uint64_t here = at >= held ? 0 : count < held - at ? count : held - at;
    memcpy(out, input->bytes + (here > 0 ? at : 0), (size_t)here);
    return read_at(input->fd, (char *)out + here, count - here, at + here);
}

tw_status twi_input_fetch(tw_context *ctx, const twi_input *input, uint64_t at, void *out,
                          uint64_t count)
{
    int error = input->absent > 0 && count > PIECE
                    ? read_in_parallel(ctx, input->fd, out, count, at)
                    : twi_input_try(input, at, out, count);
    return error == 0 ? TW_OK : twi_input_failed(ctx, input->name, error);
}

/* What is being unpacked: see unpacked.h. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_ROOM ((uint64_t)1 << 20)
#define SHARE 4                     /* of the memory that is left, the part that room may take */
#define STEP ((uint64_t)8 << 20)    /* bytes unpacked between two looks at the cancel flag */
#define PIECE ((uint64_t)1 << 18)   /* of an input that is not in memory */
#define AT_ONCE ((uint64_t)1 << 30) /* of one that is: zlib counts in 32 bits */

tw_status twi_unpacked_piece(twi_unpacked *out, const char **bytes, uint64_t *count)
{
    const twi_input *input = out->input;
    const uint64_t left = input->size - out->given;
    const uint64_t most = input->absent > 0 ? PIECE : AT_ONCE;
    tw_status status = TW_OK;
    *count = left < most ? left : most;
    *bytes = input->bytes + out->given;
    if (input->absent > 0) {
        if (out->piece == NULL) {
            status = twi_alloc(out->ctx, &out->piece, PIECE, 1, "a piece of a packed file");
        }
        if (status == TW_OK) {
            status = twi_input_fetch(out->ctx, input, out->given, out->piece, *count);
        }
        *bytes = out->piece;
    }
    out->given += *count;
    return status;
}

/* ----------------------------------------------------------------------------- what comes out */

static tw_status file_failed(const twi_unpacked *out, int error)
{
    return tw_fail(out->ctx, TW_ERR_IO,
                   "cannot unpack %.500s into a temporary file: %s; TMPDIR names a folder for it",
                   out->input->name, strerror(error));
}

/* A file without a name. */
static int open_file(void)
{
    static const char *const folders[] = {NULL, "/var/tmp", "/tmp"};
    int fd = -1;
    for (size_t f = 0; f < sizeof folders / sizeof *folders && fd < 0; f++) {
        char name[4096];
        const char *folder = folders[f] != NULL ? folders[f] : getenv("TMPDIR");
        if (folder == NULL || folder[0] == '\0') {
            continue;
        }
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && snprintf(name, sizeof name, "%s/.tilewright-XXXXXX", folder) <
                          (int)sizeof name) { /* a file system that has no such files */
            fd = mkostemp(name, O_CLOEXEC);
            if (fd >= 0) {
                (void)unlink(name);
            }
        }
        if (fd < 0 && folders[f] == NULL) {
            break; /* who names a folder means it */
        }
    }
    return fd;
}

static tw_status flush(twi_unpacked *out)
{
    for (uint64_t done = 0; done < out->size;) {
        const ssize_t put = write(out->fd, out->bytes + done, (size_t)(out->size - done));
        if (put < 0 && errno != EINTR) {
            return file_failed(out, errno);
        }
        done += put > 0 ? (uint64_t)put : 0;
        const tw_status status = twi_check_cancel(out->ctx);
        if (status != TW_OK) {
            return status;
        }
    }
    out->written += out->size;
    out->size = 0;
    return TW_OK;
}

/* From memory into a file. What will not fit in memory in the end is not written first. */
static tw_status spill(twi_unpacked *out)
{
    const uint64_t limit = tw_memory_limit(out->ctx);
    if (out->whole && out->written + out->size >= limit) {
        char shown[32];
        return tw_fail(out->ctx, TW_ERR_MEMORY,
                       "%.500s does not fit in memory: unpacked it takes more than the %s that may "
                       "be used",
                       out->input->name, twi_bytes(shown, (double)limit));
    }
    const bool first = out->fd < 0;
    if (first) {
        out->fd = open_file();
    }
    if (out->fd < 0) {
        return file_failed(out, errno);
    }
    tw_status status = flush(out);
    if (status == TW_OK && first && out->room > FIRST_ROOM) {
        twi_free(out->bytes);
        out->bytes = NULL;
        out->room = 0;
        status = twi_alloc(out->ctx, &out->bytes, FIRST_ROOM, 1, "unpacking");
        out->room = status == TW_OK ? FIRST_ROOM : 0;
    }
    return status;
}

/* Room in memory, while a wider block, half of which may stay empty, is a part of what is left. */
static tw_status widen(twi_unpacked *out)
{
    const uint64_t wider = out->room > 0 ? 2 * out->room : FIRST_ROOM;
    if (out->fd >= 0 || (out->room > 0 && wider > twi_memory_left(out->ctx) / SHARE)) {
        return spill(out);
    }
    tw_status status = twi_grow(out->ctx, &out->bytes, out->size, wider, 1, "unpacking");
    out->room = status == TW_OK ? wider : out->room;
    return status;
}

tw_status twi_unpacked_room(twi_unpacked *out, uint64_t unused, uint64_t *room)
{
    twi_progress(out->ctx, "unpack", (double)(out->given - unused), (double)out->input->size,
                 "bytes");
    tw_status status = twi_check_cancel(out->ctx);
    if (status == TW_OK && out->size == out->room) {
        status = widen(out);
    }
    *room = out->room - out->size < STEP ? out->room - out->size : STEP;
    return status;
}

/* The head of what is in the file; the rest is fetched from there. */
static tw_status give_file(twi_unpacked *out, twi_input *input)
{
    tw_status status = flush(out);
    const uint64_t size = out->written;
    const uint64_t head = size < TWI_INPUT_HEAD ? size : TWI_INPUT_HEAD;
    if (status != TW_OK) {
        return status;
    }
    twi_input file = {.name = input->name, .bytes = out->bytes, .size = size, .fd = out->fd};
    file.absent = size;
    status = twi_input_fetch(out->ctx, &file, 0, out->bytes, head); /* out->room is larger */
    if (status == TW_OK) {
        file.absent = size - head;
        file.memory = out->bytes;
        if (file.absent == 0) {
            close(out->fd);
        }
        out->bytes = NULL;
        out->fd = -1;
        twi_input_close(input);
        *input = file;
    }
    return status;
}

tw_status twi_unpacked_give(twi_unpacked *out, twi_input *input)
{
    if (out->fd >= 0) {
        return give_file(out, input);
    }
    const char *name = input->name;
    twi_input_close(input);
    *input = (twi_input){.name = name,
                         .bytes = out->bytes != NULL ? out->bytes : "",
                         .size = out->size,
                         .memory = out->bytes};
    out->bytes = NULL;
    return TW_OK;
}

void twi_unpacked_clear(twi_unpacked *out)
{
    if (out->fd >= 0) {
        close(out->fd);
    }
    twi_free(out->bytes);
    twi_free(out->piece);
}

/* ------------------------------------------------------------------------------- the sentences */

tw_status twi_packed_damaged(const twi_unpacked *out, const char *kind, uint64_t unused)
{
    return tw_fail(out->ctx, TW_ERR_FORMAT, "%.500s: damaged %s data near byte %llu",
                   out->input->name, kind, (unsigned long long)(out->given - unused));
}

tw_status twi_packed_cut(const twi_unpacked *out, const char *kind)
{
    return tw_fail(out->ctx, TW_ERR_FORMAT,
                   "%.500s: the %s data end too early: the file is incomplete", out->input->name,
                   kind);
}

tw_status twi_packed_no_memory(const twi_unpacked *out)
{
    return tw_fail(out->ctx, TW_ERR_MEMORY, "no memory to unpack %.500s", out->input->name);
}

/* All that a flow brings: see gathered.h. */
#include "io/gathered.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_ROOM ((uint64_t)1 << 20)
#define FAR 16                   /* times the memory */
#define SHARE 4                  /* of the memory that is left, the part that room may take */
#define LIMITED_SHARE 32         /* the same under a limit: little beside what a refusal names */
#define STEP ((uint64_t)8 << 20) /* bytes read between two looks at the cancel flag */

typedef struct gathered {
    tw_context *ctx;
    const char *name;
    bool whole;       /* what comes will have to be in memory as a whole */
    char *bytes;      /* what came last */
    uint64_t size;    /* of that */
    uint64_t room;    /* for it */
    int fd;           /* where what came before is; -1: nothing did */
    uint64_t written; /* bytes of that */
} gathered;

static tw_status file_failed(const gathered *g, int error)
{
    return tw_fail(g->ctx, TW_ERR_IO,
                   "cannot keep %.500s in a temporary file: %s; set TMPDIR to another folder",
                   g->name, strerror(error));
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

static tw_status flush(gathered *g)
{
    for (uint64_t done = 0; done < g->size;) {
        const ssize_t put = write(g->fd, g->bytes + done, (size_t)(g->size - done));
        if (put < 0 && errno != EINTR) {
            return file_failed(g, errno);
        }
        done += put > 0 ? (uint64_t)put : 0;
        const tw_status status = twi_check_cancel(g->ctx);
        if (status != TW_OK) {
            return status;
        }
    }
    g->written += g->size;
    g->size = 0;
    return TW_OK;
}

/* From memory into a file. What could not be in memory as a whole by far is not written: nobody
 * knows how much more of it there is. */
static tw_status spill(gathered *g)
{
    const uint64_t room = twi_memory_room(g->ctx) + g->room;
    if (g->whole && (g->written + g->size) / FAR >= room) {
        char shown[32];
        return tw_fail(g->ctx, TW_ERR_MEMORY,
                       "%.500s does not fit in memory: it takes more than %d times the %s that may "
                       "be used; raise --memory",
                       g->name, FAR, twi_bytes(shown, (double)tw_memory_limit(g->ctx)));
    }
    const bool first = g->fd < 0;
    if (first) {
        g->fd = open_file();
    }
    if (g->fd < 0) {
        return file_failed(g, errno);
    }
    tw_status status = flush(g);
    if (status == TW_OK && first && g->room > FIRST_ROOM) {
        twi_free(g->bytes);
        g->bytes = NULL;
        g->room = 0;
        status = twi_alloc(g->ctx, &g->bytes, FIRST_ROOM, 1, "a temporary file");
        g->room = status == TW_OK ? FIRST_ROOM : 0;
    }
    return status;
}

/* Room in memory, while a wider block, half of which may stay empty, is a part of what is left. */
static tw_status widen(gathered *g)
{
    const uint64_t wider = g->room > 0 ? 2 * g->room : FIRST_ROOM;
    const uint64_t share = g->ctx->memory_limit > 0 ? LIMITED_SHARE : SHARE;
    if (g->fd >= 0 || (g->room > 0 && wider > twi_memory_left(g->ctx) / share)) {
        return spill(g);
    }
    char what[560];
    snprintf(what, sizeof what, "reading %.500s", g->name);
    tw_status status = twi_grow(g->ctx, &g->bytes, g->size, wider, 1, what);
    g->room = status == TW_OK ? wider : g->room;
    return status;
}

/* What is in memory of the input, and then what its flow brings. */
static tw_status gather(gathered *g, const twi_input *input)
{
    tw_status status = TW_OK;
    uint64_t got = 1;
    for (uint64_t taken = 0; got > 0 && status == TW_OK;) {
        status = twi_check_cancel(g->ctx);
        if (status == TW_OK && g->size == g->room) {
            status = widen(g);
        }
        if (status != TW_OK) {
            return status;
        }
        const uint64_t room = g->room - g->size < STEP ? g->room - g->size : STEP;
        if (taken < input->size) {
            got = input->size - taken < room ? input->size - taken : room;
            memcpy(g->bytes + g->size, input->bytes + taken, (size_t)got);
            taken += got;
        } else {
            status = input->flow->read(g->ctx, input->flow, g->bytes + g->size, room, &got);
        }
        g->size += status == TW_OK ? got : 0;
    }
    return status;
}

/* The head of what is in the file; the rest is fetched from there. */
static tw_status give_file(gathered *g, twi_input *input)
{
    tw_status status = flush(g);
    const uint64_t size = g->written;
    const uint64_t head = size < TWI_INPUT_HEAD ? size : TWI_INPUT_HEAD;
    if (status != TW_OK) {
        return status;
    }
    twi_input file = {.name = input->name, .bytes = g->bytes, .size = size, .fd = g->fd};
    file.piece = input->piece;
    file.absent = size;
    status = twi_input_fetch(g->ctx, &file, 0, g->bytes, head); /* g->room is larger */
    if (status == TW_OK) {
        file.absent = size - head;
        file.memory = g->bytes;
        if (file.absent == 0) {
            close(g->fd);
        }
        g->bytes = NULL;
        g->fd = -1;
        twi_input_close(input);
        *input = file;
    }
    return status;
}

static tw_status give(gathered *g, twi_input *input)
{
    if (g->fd >= 0) {
        return give_file(g, input);
    }
    const twi_input memory = {.name = input->name,
                              .bytes = g->bytes != NULL ? g->bytes : "",
                              .size = g->size,
                              .memory = g->bytes,
                              .piece = input->piece};
    twi_input_close(input);
    *input = memory;
    g->bytes = NULL;
    return TW_OK;
}

tw_status twi_input_gather(tw_context *ctx, twi_input *input, bool whole)
{
    tw_status status = TW_OK;
    if (input->flow != NULL) {
        gathered g = {.ctx = ctx, .name = input->name, .whole = whole, .fd = -1};
        status = gather(&g, input);
        if (status == TW_OK) {
            status = give(&g, input);
        }
        if (g.fd >= 0) {
            close(g.fd);
        }
        twi_free(g.bytes);
    }
    return status;
}

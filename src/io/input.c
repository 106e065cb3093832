/* Input files as bytes: see input.h. */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ ((uint64_t)1 << 20) /* buffer of a stream, doubled as needed */

static tw_status input_failed(tw_context *ctx, const char *name, int error)
{
    return tw_fail(ctx, TW_ERR_IO, "cannot read %.500s: %s", name, strerror(error));
}

static tw_status read_stream(tw_context *ctx, twi_input *in, int fd)
{
    uint64_t room = FIRST_READ;
    tw_status status = twi_alloc(ctx, &in->memory, room, 1, "the contents of the file");
    while (status == TW_OK) {
        ssize_t got = read(fd, (char *)in->memory + in->size, (size_t)(room - in->size));
        if (got == 0) {
            in->bytes = in->memory;
            return TW_OK;
        }
        if (got < 0 && errno != EINTR) {
            return input_failed(ctx, in->name, errno);
        }
        in->size += got > 0 ? (uint64_t)got : 0;
        twi_progress(ctx, "read", (double)in->size, 0, "bytes");
        status = twi_check_cancel(ctx);
        if (status == TW_OK && in->size == room) {
            status = twi_memory_check(ctx, 2 * room, "the contents of the file");
            if (status == TW_OK) {
                status = twi_grow(ctx, &in->memory, room, 2 * room, 1, "the contents of the file");
            }
            room *= 2;
        }
    }
    return status;
}

tw_status twi_input_open(tw_context *ctx, twi_input *out, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    *out = (twi_input){.name = standard ? "standard input" : path, .bytes = ""};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat found;
    tw_status status = TW_OK;
    if (fd < 0 || fstat(fd, &found) != 0) {
        status = input_failed(ctx, out->name, errno);
    } else if (S_ISDIR(found.st_mode)) {
        status = input_failed(ctx, out->name, EISDIR);
    } else {
        void *mapped = MAP_FAILED;
        if (S_ISREG(found.st_mode) && found.st_size > 0 && !standard) {
            mapped = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        }
        if (mapped != MAP_FAILED) {
            out->mapped = mapped;
            out->bytes = mapped;
            out->size = (uint64_t)found.st_size;
        } else {
            status = read_stream(ctx, out, fd);
        }
    }
    if (fd >= 0 && !standard) {
        close(fd);
    }
    if (status != TW_OK) {
        twi_input_close(out);
    }
    return status;
}

void twi_input_close(twi_input *input)
{
    if (input->mapped != NULL) {
        munmap(input->mapped, (size_t)input->size);
    }
    twi_free(input->memory);
    *input = (twi_input){.name = "", .bytes = ""};
}

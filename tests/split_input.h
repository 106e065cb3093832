/* Bytes as inputs that are not in memory as a whole: all but the head in a file, or in a flow that
 * brings a few at a time. */
#ifndef TW_TESTS_SPLIT_INPUT_H
#define TW_TESTS_SPLIT_INPUT_H

#include "io/input.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Some tells the first bytes that readers look at; more is in memory of any file. */
enum { SPLIT_HEAD = 64 };

typedef struct split_flow {
    twi_flow flow;
    const char *bytes;
    uint64_t size;
    uint64_t at;
    uint64_t step; /* bytes at a time */
} split_flow;

static tw_status split_flow_read(tw_context *ctx, twi_flow *flow, char *out, uint64_t room,
                                 uint64_t *got)
{
    split_flow *from = (split_flow *)flow;
    (void)ctx;
    *got = from->size - from->at;
    *got = *got < room ? *got : room;
    *got = *got < from->step ? *got : from->step;
    memcpy(out, from->bytes + from->at, (size_t)*got);
    from->at += *got;
    return TW_OK;
}

static void split_flow_close(twi_flow *flow)
{
    flow->read = NULL; /* the test's own; nobody may read on */
}

static inline uint64_t split_head(uint64_t size)
{
    return size < SPLIT_HEAD ? size : SPLIT_HEAD;
}

/* `flow` and `bytes` must live as long as the input. */
static inline twi_input input_of_flow(split_flow *flow, const void *bytes, uint64_t size,
                                      uint64_t step, const char *name)
{
    const uint64_t head = split_head(size);
    *flow = (split_flow){{split_flow_read, split_flow_close}, bytes, size, head, step};
    return (twi_input){
        .name = name, .bytes = bytes, .size = head, .flow = &flow->flow, .piece = step};
}

/* Closes its file itself. Without a head for the file to be behind, it is one in memory. */
static inline twi_input input_of_file(const void *bytes, uint64_t size, uint64_t piece,
                                      const char *name)
{
    twi_input input = {.name = name, .bytes = bytes, .size = size, .piece = piece};
    const uint64_t head = split_head(size);
    const int fd = head < size ? memfd_create("split", MFD_CLOEXEC) : -1;
    if (fd >= 0 && write(fd, bytes, (size_t)size) == (ssize_t)size) {
        input.fd = fd;
        input.absent = size - head;
    } else if (fd >= 0) {
        close(fd);
    }
    return input;
}

#endif

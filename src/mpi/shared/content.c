/* See content.h. Words of 8 bytes are mixed with their place and added up, so that any division of
 * the file among ranks gives the same sum. */
#include "mpi/shared/content.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define WORD 8
#define AT_ONCE ((uint64_t)1 << 20) /* bytes in memory */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A number for which file it is, wherever it is seen from; another if it cannot be told. */
static uint64_t identify(const twi_world *world, const twi_input *input)
{
    struct stat about;
    if (fstat(input->fd, &about) != 0) {
        return mix((uint64_t)world->rank + 1);
    }
    const uint64_t changed =
        (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec;
    return mix(mix((uint64_t)about.st_ino) ^ changed);
}

/* The sum of the words from byte `at` to `end`; the last may be part of one. */
static tw_status add_up(tw_context *ctx, const twi_input *input, uint64_t at, uint64_t end,
                        uint64_t *sum)
{
    char *bytes = NULL;
    tw_status status = twi_alloc(ctx, &bytes, AT_ONCE, 1, "the comparison of the graph's copies");
    *sum = 0;
    for (; at < end && status == TW_OK; at += AT_ONCE) {
        const uint64_t some = end - at < AT_ONCE ? end - at : AT_ONCE;
        status = twi_check_cancel(ctx);
        if (status == TW_OK) {
            status = twi_input_fetch(ctx, input, at, bytes, some);
        }
        for (uint64_t i = 0; i < some && status == TW_OK; i += WORD) {
            uint64_t word = 0;
            memcpy(&word, bytes + i, some - i < WORD ? some - i : WORD);
            *sum += mix(word ^ mix(at + i + 1));
        }
    }
    twi_free(bytes);
    return status;
}

/* Those with the same identity divide their file among them. */
static tw_status add_up_copies(tw_context *ctx, const twi_world *world, const twi_input *input,
                               uint64_t identity, uint64_t *sum)
{
    MPI_Comm alike = MPI_COMM_NULL;
    int rank = 0, size = 1;
    const char *what = "compare the graph's copies";
    tw_status status = twi_mpi_check(
        ctx, MPI_Comm_split(world->comm, (int)(identity >> 33), world->rank, &alike), what);
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Comm_rank(alike, &rank);
    (void)MPI_Comm_size(alike, &size);
    const uint64_t words = (input->size + WORD - 1) / WORD;
    const uint64_t first = words * (uint64_t)rank / (uint64_t)size * WORD;
    const uint64_t end = words * (uint64_t)(rank + 1) / (uint64_t)size * WORD;
    status = add_up(ctx, input, first, end < input->size ? end : input->size, sum);
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_UINT64_T, MPI_SUM, alike), what);
    }
    (void)MPI_Comm_free(&alike);
    return status;
}

tw_status twi_content_same(tw_context *ctx, const twi_world *world, const twi_input *input)
{
    if (input->absent == 0) {
        return TW_OK;
    }
    const uint64_t identity = identify(world, input);
    uint64_t ends[2] = {identity, ~identity}, sum = 0;
    char text[64];
    tw_status status =
        twi_mpi_check(ctx, MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, world->comm),
                      "compare the graph's copies");
    if (status != TW_OK || ends[0] == ~ends[1]) {
        return status;
    }
    status = add_up_copies(ctx, world, input, identity, &sum);
    (void)snprintf(text, sizeof text, "%llu bytes (%016llx)", (unsigned long long)input->size,
                   (unsigned long long)sum);
    const twi_told told[] = {{"a graph of", text}};
    return status == TW_OK ? twi_world_same(ctx, world, told, 1) : status;
}

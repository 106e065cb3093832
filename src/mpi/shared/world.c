/* See world.h. */
#include "mpi/shared/world.h"

#include "tilewright-mpi.h"

#include "base/threads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

tw_status twi_mpi_check(tw_context *ctx, int error, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (error == MPI_SUCCESS) {
        return TW_OK;
    }
    (void)MPI_Error_string(error, text, &length);
    return tw_fail(ctx, TW_ERR_IO, "MPI cannot %s: %.300s", what, text);
}

tw_status twi_world_open(tw_context *ctx, twi_world *out, MPI_Comm comm)
{
    int begun = 0, ended = 0, between = 0;
    *out = (twi_world){.comm = MPI_COMM_NULL};
    (void)MPI_Initialized(&begun);
    (void)MPI_Finalized(&ended);
    if (!begun || ended) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       begun ? "MPI has been finalised already"
                             : "MPI is not initialised: call MPI_Init_thread first");
    }
    if (comm == MPI_COMM_NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL");
    }
    (void)MPI_Comm_test_inter(comm, &between);
    if (between) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "the communicator is an intercommunicator; merge its two groups first");
    }
    tw_status status = twi_mpi_check(ctx, MPI_Comm_dup(comm, &out->comm), "copy the communicator");
    if (status == TW_OK) {
        (void)MPI_Comm_set_errhandler(out->comm, MPI_ERRORS_RETURN);
        (void)MPI_Comm_rank(out->comm, &out->rank);
        (void)MPI_Comm_size(out->comm, &out->size);
    }
    return status;
}

void twi_world_close(twi_world *world)
{
    if (world->comm != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&world->comm);
    }
}

typedef struct verdict {
    int32_t status;
    char sentence[sizeof((tw_context *)0)->error];
} verdict;

#undef twi_world_agree
tw_status twi_world_agree(tw_context *ctx, const twi_world *world, tw_status status)
{
    int mine = status == TW_OK ? world->size : world->rank;
    int first = mine;
    tw_status sent = twi_mpi_check(
        ctx, MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world->comm), "agree on a status");
    if (sent != TW_OK || first == world->size) {
        return sent;
    }
    verdict said = {.status = status};
    if (world->rank == first) {
        (void)snprintf(said.sentence, sizeof said.sentence, "%s", tw_last_error(ctx));
    }
    sent = twi_mpi_check(ctx, MPI_Bcast(&said, sizeof said, MPI_BYTE, first, world->comm),
                         "tell what failed");
    if (sent == TW_OK) {
        tw_set_error(ctx, said.sentence);
    }
    return sent == TW_OK ? (tw_status)said.status : sent;
}

tw_status tw_mpi_agree(tw_context *ctx, MPI_Comm comm, tw_status status)
{
    twi_world world;
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const tw_status before = status;
    char sentence[sizeof ctx->error];
    (void)snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    status = twi_world_open(ctx, &world, comm);
    if (status == TW_OK) {
        tw_set_error(ctx, sentence);
        status = twi_world_agree(ctx, &world, before);
        twi_world_close(&world);
    }
    return status;
}

#define HEARD 1000 /* characters that another rank can be shown */
#define SHOWN 100  /* of them in a sentence */
#define BEFORE 30  /* what differs */

/* What rank 0 was told. */
typedef struct heard {
    uint64_t hash; /* of all of it */
    int32_t given;
    char text[HEARD];
} heard;

static heard hear(const char *text)
{
    heard out;
    memset(&out, 0, sizeof out);
    out.hash = 0xcbf29ce484222325u;
    out.given = text != NULL;
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        out.hash = (out.hash ^ (unsigned char)*at) * 0x100000001b3u;
    }
    if (text != NULL) {
        (void)snprintf(out.text, sizeof out.text, "%s", text);
    }
    return out;
}

/* A blank and the text; of one that is too long for a sentence, what begins shortly before `at`. */
static const char *show(char out[SHOWN + 8], const char *text, size_t at)
{
    size_t from = strlen(text) < SHOWN || at < BEFORE ? 0 : at - BEFORE;
    while (from > 0 && ((unsigned char)text[from] & 0xc0) == 0x80) { /* within a character */
        from++;
    }
    (void)snprintf(out, SHOWN + 8, "%s%s%.*s", text[0] != '\0' ? " " : "", from > 0 ? "..." : "",
                   SHOWN, text + from);
    return out;
}

static tw_status tell_difference(tw_context *ctx, const twi_world *world, const twi_told *told,
                                 const heard *first)
{
    char mine[SHOWN + 8], theirs[SHOWN + 8];
    const char *text = told->text != NULL ? told->text : "";
    size_t at = 0;
    while (text[at] != '\0' && text[at] == first->text[at]) {
        at++;
    }
    show(mine, text, at);
    show(theirs, first->text, at);
    if (told->text != NULL && first->given) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "rank %d was given %s%s and rank 0%s; give all ranks the same", world->rank,
                       told->name, mine, theirs);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "rank %d was given %s%s and rank %d was not; give all ranks the same",
                   first->given ? 0 : world->rank, told->name, first->given ? theirs : mine,
                   first->given ? world->rank : 0);
}

tw_status twi_world_same(tw_context *ctx, const twi_world *world, const twi_told *told, int count)
{
    tw_status status = TW_OK;
    for (int i = 0; i < count; i++) { /* in one agreement at the end */
        const heard mine = hear(told[i].text);
        heard first = mine;
        tw_status sent =
            twi_mpi_check(ctx, MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, world->comm),
                          "compare the options");
        if (sent != TW_OK) {
            return sent;
        }
        if (status == TW_OK && (first.given != mine.given || first.hash != mine.hash)) {
            status = tell_difference(ctx, world, &told[i], &first);
        }
    }
    return twi_world_agree(ctx, world, status);
}

/* The ranks of this machine: how many there are, and which this is. */
static tw_status find_machine(tw_context *ctx, const twi_world *world, int *ranks, int *local)
{
    MPI_Comm here = MPI_COMM_NULL;
    tw_status status = twi_mpi_check(
        ctx, MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
        "find the ranks of a machine");
    if (status == TW_OK) {
        (void)MPI_Comm_size(here, ranks);
        (void)MPI_Comm_rank(here, local);
        (void)MPI_Comm_free(&here);
    }
    return status;
}

tw_status twi_world_local(tw_context *ctx, const twi_world *world, int *out)
{
    int ranks = 1;
    return find_machine(ctx, world, &ranks, out);
}

tw_status twi_world_alike(tw_context *ctx, const twi_world *world, int number, int *out)
{
    MPI_Comm here = MPI_COMM_NULL, alike = MPI_COMM_NULL;
    tw_status status = twi_mpi_check(
        ctx, MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
        "find the ranks of a machine");
    if (status == TW_OK) {
        status =
            twi_mpi_check(ctx, MPI_Comm_split(here, number, 0, &alike), "find ranks that share");
        (void)MPI_Comm_free(&here);
    }
    if (status == TW_OK) {
        (void)MPI_Comm_size(alike, out);
        (void)MPI_Comm_free(&alike);
    }
    return status;
}

/* Processors for each of the ranks of this machine, where nobody has bound them to some. */
static tw_status processors_each(tw_context *ctx, const twi_world *world, int *out)
{
    int ranks = 1, local = 0;
    const int own = twi_processor_count();
    tw_status status = find_machine(ctx, world, &ranks, &local);
    if (status != TW_OK) {
        return status;
    }
    const bool bound = own < (int)sysconf(_SC_NPROCESSORS_ONLN);
    *out = bound ? own : own / ranks > 1 ? own / ranks : 1;
    return TW_OK;
}

tw_status twi_world_threads(tw_context *ctx, const twi_world *world, int *out)
{
    int level = MPI_THREAD_SINGLE, main_thread = 0, each = 1;
    (void)MPI_Query_thread(&level);
    (void)MPI_Is_thread_main(&main_thread);
    tw_status status = processors_each(ctx, world, &each);
    if (status != TW_OK) {
        return status;
    }
    if (!main_thread && level < MPI_THREAD_SERIALIZED) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "this thread is not the one that initialised MPI, which then needs "
                       "MPI_THREAD_SERIALIZED");
    }
    if (level < MPI_THREAD_FUNNELED) {
        *out = 1;
        if (twi_threads_wanted(ctx) > 1) {
            twi_log(ctx,
                    "MPI was initialised for one thread (MPI_THREAD_SINGLE); computing on one");
        }
        return TW_OK;
    }
    *out = ctx->threads > 0 ? twi_thread_count(ctx) : twi_team(each);
    return TW_OK;
}

/* See replica.h. Every rank tells its arcs to all others, one rank after another, in pieces; the
 * first of each machine puts them where they belong. That is little beside the searches, each of
 * which looks at all of them. */
#include "mpi/search/replica.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define VERTICES_AT_ONCE (1 << 16)
#define ARCS_AT_ONCE (1 << 16)

typedef struct told_arc {
    int32_t from;
    int32_t to;
    double weight; /* exact for every type */
} told_arc;

/* Where the arrays lie in the shared memory. */
typedef struct arrays {
    uint64_t offsets, targets, weights, bytes;
} arrays;

static uint64_t whole_lines(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

static arrays lay_out(const tw_mpi_graph *graph)
{
    const uint64_t n = (uint64_t)graph->whole.n, arcs = (uint64_t)graph->arcs;
    arrays at = {.offsets = sizeof(twi_shared_head)};
    at.targets = at.offsets + whole_lines((n + 1) * sizeof(int64_t));
    at.weights = at.targets + whole_lines(arcs * sizeof(int32_t));
    at.bytes = at.weights + whole_lines(arcs * tw_type_size(graph->whole.weight_type));
    return at;
}

uint64_t twi_replica_bytes(const tw_mpi_graph *graph)
{
    return lay_out(graph).bytes;
}

/*
 * MPI shares memory by a file, of Open MPI and MPICH in /dev/shm unless they are told another
 * folder. If that has no room, Open MPI 4.1 fails on the first rank while the others wait for it,
 * and MPICH goes on until the memory is touched. Where there is no such folder, nothing is known.
 */
static tw_status check_room(tw_context *ctx, const twi_replica *out, uint64_t bytes)
{
    const char *told = getenv("OMPI_MCA_osc_sm_backing_directory");
    const bool named = told != NULL && told[0] != '\0';
    const char *folder = named ? told : "/dev/shm";
    struct statvfs disk;
    char needed[32], there[32];
    if (out->node_rank != 0 || out->node_size == 1) {
        return TW_OK;
    }
    if (named && access(folder, W_OK) != 0) {
        return tw_fail(ctx, TW_ERR_IO,
                       "the ranks of a machine share the graph in %.200s: %s; "
                       "OMPI_MCA_osc_sm_backing_directory names it",
                       folder, strerror(errno));
    }
    if (statvfs(folder, &disk) != 0) {
        return TW_OK;
    }
    const double needs = (double)bytes * 1.06 + 65536; /* Open MPI wants 5 % to spare */
    const double free = (double)disk.f_bavail * (double)disk.f_frsize;
    return needs <= free ? TW_OK
                         : tw_fail(ctx, TW_ERR_IO,
                                   "the ranks of a machine share the graph in %.200s, where %s is "
                                   "free; it needs %s: enlarge it (Docker: --shm-size)",
                                   folder, twi_bytes(there, free), twi_bytes(needed, needs));
}

/* Memory for all of it, and the graph that lies there. */
static tw_status share_memory(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph)
{
    const twi_world *world = &graph->world;
    const arrays at = lay_out(graph);
    char *memory = NULL;
    MPI_Aint size = 0;
    int unit = 1;
    tw_status status = twi_mpi_check(
        ctx, MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &out->node),
        "find the ranks of a machine");
    if (status != TW_OK) {
        return twi_world_agree(ctx, world, status);
    }
    (void)MPI_Comm_set_errhandler(out->node, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(out->node, &out->node_rank);
    (void)MPI_Comm_size(out->node, &out->node_size);
    status = twi_count(ctx, &out->counted, at.bytes / (uint64_t)out->node_size, "the whole graph");
    if (status == TW_OK) {
        status = check_room(ctx, out, at.bytes);
    }
    status = twi_world_agree(ctx, world, status);
    if (status != TW_OK) {
        return status;
    }
    status = twi_mpi_check(ctx,
                           MPI_Win_allocate_shared(out->node_rank == 0 ? (MPI_Aint)at.bytes : 0, 1,
                                                   MPI_INFO_NULL, out->node, &memory, &out->window),
                           "share the graph among the ranks of a machine");
    status = twi_world_agree(ctx, world, status);
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Win_shared_query(out->window, 0, &size, &unit, &memory);
    out->head = (twi_shared_head *)(void *)memory;
    out->graph = graph->whole;
    out->graph.arcs = graph->arcs;
    out->graph.offsets = (int64_t *)(void *)(memory + at.offsets);
    out->graph.targets = (int32_t *)(void *)(memory + at.targets);
    out->graph.weights = memory + at.weights;
    return TW_OK;
}

/* Offsets of the whole graph; all ranks call, the first of a machine writes. `room` has
 * VERTICES_AT_ONCE numbers. */
static tw_status sum_degrees(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph,
                             int64_t *room)
{
    const tw_graph *part = &graph->whole;
    tw_status status = TW_OK;
    int64_t sum = 0;
    for (int64_t v = 0; v < part->n && status == TW_OK; v += VERTICES_AT_ONCE) {
        const int64_t count = part->n - v < VERTICES_AT_ONCE ? part->n - v : VERTICES_AT_ONCE;
        for (int64_t i = 0; i < count; i++) {
            room[i] = part->offsets[v + i + 1] - part->offsets[v + i];
        }
        status = twi_mpi_check(
            ctx,
            MPI_Allreduce(MPI_IN_PLACE, room, (int)count, MPI_INT64_T, MPI_SUM, graph->world.comm),
            "count the arcs");
        for (int64_t i = 0; i < count && out->node_rank == 0; i++) {
            out->graph.offsets[v + i] = sum;
            sum += room[i];
        }
    }
    if (out->node_rank == 0) {
        out->graph.offsets[part->n] = sum;
    }
    return status;
}

static void put(const tw_graph *graph, int64_t at, const told_arc *arc)
{
    graph->targets[at] = arc->to;
    switch (graph->weight_type) {
    case TW_I32:
        ((int32_t *)graph->weights)[at] = (int32_t)arc->weight;
        break;
    case TW_F32:
        ((float *)graph->weights)[at] = (float)arc->weight;
        break;
    default:
        ((double *)graph->weights)[at] = arc->weight;
        break;
    }
}

/* One rank's arcs to where the cursors of their vertices stand. */
static tw_status tell_part(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph, int rank,
                           told_arc *room, int64_t *cursor)
{
    const twi_world *world = &graph->world;
    const tw_graph *part = &graph->whole;
    int64_t arcs = part->arcs, u = 0;
    tw_status status = twi_mpi_check(ctx, MPI_Bcast(&arcs, 1, MPI_INT64_T, rank, world->comm),
                                     "tell the ranks the graph");
    for (int64_t a = 0; a < arcs && status == TW_OK; a += ARCS_AT_ONCE) {
        const int64_t count = arcs - a < ARCS_AT_ONCE ? arcs - a : ARCS_AT_ONCE;
        for (int64_t i = 0; i < count && world->rank == rank; i++) {
            while (a + i >= part->offsets[u + 1]) {
                u++;
            }
            room[i] = (told_arc){(int32_t)u, part->targets[a + i], twi_graph_weight(part, a + i)};
        }
        status = twi_mpi_check(
            ctx, MPI_Bcast(room, (int)(count * (int64_t)sizeof *room), MPI_BYTE, rank, world->comm),
            "tell the ranks the graph");
        for (int64_t i = 0; i < count && cursor != NULL && status == TW_OK; i++) {
            put(&out->graph, cursor[room[i].from]++, &room[i]);
        }
    }
    return status;
}

static tw_status fill(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph)
{
    const twi_world *world = &graph->world;
    const bool writes = out->node_rank == 0;
    const uint64_t n = (uint64_t)graph->whole.n;
    told_arc *room = NULL;
    int64_t *cursor = NULL, *degrees = NULL;
    tw_status status = twi_alloc(ctx, &room, ARCS_AT_ONCE, sizeof *room, "arcs between ranks");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &degrees, VERTICES_AT_ONCE, sizeof *degrees, "arcs between ranks");
    }
    if (status == TW_OK && writes) {
        status = twi_alloc(ctx, &cursor, n, sizeof *cursor, "the places of arcs");
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = sum_degrees(ctx, out, graph, degrees);
    }
    if (status == TW_OK && writes) {
        atomic_init(&out->head->dealt, 0);
        memcpy(cursor, out->graph.offsets, n * sizeof *cursor);
    }
    for (int rank = 0; rank < world->size && status == TW_OK; rank++) {
        status = tell_part(ctx, out, graph, rank, room, cursor);
        if (status == TW_OK) {
            status = twi_world_agree(ctx, world, twi_check_cancel(ctx));
        }
    }
    twi_free(cursor);
    twi_free(degrees);
    twi_free(room);
    return status;
}

tw_status twi_replica_open(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph)
{
    *out = (twi_replica){.node = MPI_COMM_NULL, .window = MPI_WIN_NULL};
    tw_status status = share_memory(ctx, out, graph);
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Win_fence(0, out->window);
    status = fill(ctx, out, graph);
    (void)MPI_Win_fence(0, out->window); /* what the first rank wrote is there for the others */
    return status;
}

void twi_replica_close(twi_replica *replica)
{
    if (replica->window != MPI_WIN_NULL) {
        (void)MPI_Win_free(&replica->window);
    }
    twi_uncount(&replica->counted);
    if (replica->node != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&replica->node);
    }
}

/* See deal.h. */
#include "mpi/search/deal.h"

#include "base/memory.h"

#define CHUNKS_A_RANK 16
#define TAG_FAILED 2

/* The node's j-th chunk, of all chunks. */
static int64_t chunk_of(const twi_deal *deal, int64_t j)
{
    return j / deal->peer_count * deal->world->size + deal->peers[j % deal->peer_count];
}

static bool somebody_failed(twi_deal *deal)
{
    int there = 1;
    while (deal->world->size > 1 && there != 0) {
        MPI_Status from;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, deal->world->comm, &there, &from) !=
                MPI_SUCCESS ||
            there == 0) {
            break;
        }
        (void)MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, TAG_FAILED, deal->world->comm,
                       MPI_STATUS_IGNORE);
        deal->failures++;
    }
    return deal->failures > 0;
}

static int64_t next_rows(void *self, int64_t first, int64_t most)
{
    twi_deal *deal = self;
    if (somebody_failed(deal)) {
        return 0;
    }
    if (first == deal->dealt) {
        const int64_t begin = chunk_of(deal, atomic_fetch_add(&deal->head->dealt, 1)) * deal->chunk;
        for (int64_t row = begin; row < begin + deal->chunk && row < deal->rows; row++) {
            deal->sources[deal->dealt] = twi_plan_source(deal->asked, row);
            deal->places[deal->dealt++] = row;
        }
    }
    const int64_t left = deal->dealt - first;
    return left < most ? left : most;
}

static int64_t choose_chunk(int64_t rows, int ranks, int64_t least)
{
    const int64_t fair = (rows + ranks - 1) / ranks, usual = rows / ranks / CHUNKS_A_RANK;
    const int64_t chunk = usual > least ? usual : least < fair ? least : fair;
    return chunk > 1 ? chunk : 1;
}

tw_status twi_deal_open(tw_context *ctx, twi_deal *out, const twi_replica *replica,
                        const twi_world *world, const tw_apsp_plan *asked, int64_t least)
{
    const int64_t rows = twi_plan_rows(asked);
    *out = (twi_deal){.asked = asked,
                      .world = world,
                      .head = replica->head,
                      .peer_count = replica->node_size,
                      .rows = rows,
                      .chunk = choose_chunk(rows, world->size, least)};
    out->dealer = (twi_dealer){next_rows, out};
    tw_status status = TW_OK;
    const char *what = "the rows of this rank";
    if ((status = twi_alloc(ctx, &out->sources, (uint64_t)rows, sizeof *out->sources, what)) ==
            TW_OK &&
        (status = twi_alloc(ctx, &out->places, (uint64_t)rows, sizeof *out->places, what)) ==
            TW_OK &&
        (status = twi_alloc(ctx, &out->peers, (uint64_t)replica->node_size, sizeof *out->peers,
                            what)) == TW_OK) {
        status = twi_alloc(ctx, &out->news, (uint64_t)world->size, sizeof(MPI_Request),
                           "news of a failure");
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allgather(&world->rank, 1, MPI_INT, out->peers, 1, MPI_INT, replica->node),
            "deal out rows");
    }
    if (status == TW_OK) { /* ranks may have different numbers of threads */
        status = twi_mpi_check(ctx, MPI_Bcast(&out->chunk, 1, MPI_INT64_T, 0, world->comm),
                               "deal out rows");
    }
    return status;
}

tw_status twi_deal_finish(tw_context *ctx, twi_deal *deal, tw_status status)
{
    const twi_world *world = deal->world;
    int failed = status != TW_OK, all = 0;
    for (int rank = 0; rank < world->size; rank++) {
        deal->news[rank] = MPI_REQUEST_NULL;
        if (failed != 0 && rank != world->rank) {
            (void)MPI_Isend(NULL, 0, MPI_BYTE, rank, TAG_FAILED, world->comm, &deal->news[rank]);
        }
    }
    const tw_status sent = twi_mpi_check(
        ctx, MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, world->comm), "finish the rows");
    for (; sent == TW_OK && deal->failures < all - failed; deal->failures++) {
        (void)MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILED, world->comm,
                       MPI_STATUS_IGNORE);
    }
    for (int rank = 0; rank < world->size; rank++) { /* gcc takes MPICH's "ignore all" for memory */
        (void)MPI_Wait(&deal->news[rank], MPI_STATUS_IGNORE);
    }
    return twi_world_agree(ctx, world, status);
}

void twi_deal_close(twi_deal *deal)
{
    twi_free(deal->news);
    twi_free(deal->peers);
    twi_free(deal->places);
    twi_free(deal->sources);
}

/* See search.h. Rows leave through the delivery of one process. Its sink writes them where they
 * belong in the file, without the other ranks; what was drawn for it is compared with a search of
 * this rank's own; a summary keeps the numbers of each row until all ranks are done. */
#include "mpi/search/search.h"

#include "apsp/plan/candidate.h"
#include "apsp/search/search.h"
#include "apsp/sweep/sweep.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/sink.h"
#include "mpi/shared/parts.h"

#define SWEPT_AT_ONCE 128 /* rows of a chunk, at least: columns of a batch, about */

/* The sink. */
typedef struct keeper {
    const tw_apsp_plan *plan;
    const twi_mpi_rows_out *to;
    const twi_deal *deal;
    twi_textbook search; /* of the verifier */
    void *search_memory;
    double seconds_verify;
} keeper;

static tw_status keep_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    keeper *k = self;
    (void)shape;
    if (k->to->verifier == NULL) {
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &k->search_memory, twi_textbook_bytes(k->plan->graph), 1,
                                 "the search of the verifier");
    if (status == TW_OK) {
        twi_textbook_place(&k->search, k->plan->graph, k->search_memory, ctx);
    }
    return status;
}

static tw_status verify_row(keeper *k, tw_context *ctx, int64_t place, const void *data)
{
    const tw_graph *graph = k->plan->graph;
    const int32_t source = twi_plan_source(k->plan, place);
    const double began = twi_seconds();
    if (graph->min_weight < 0) {
        (void)twi_textbook_bellman_ford(graph, source, &k->search); /* the plan found no cycle */
    } else {
        twi_textbook_dijkstra(graph, source, &k->search);
    }
    tw_status status = twi_check_cancel(ctx); /* it ends the search, too */
    if (status == TW_OK) {
        status = twi_mpi_verifier_compare(ctx, k->to->verifier, place, source, &k->search, data);
    }
    k->seconds_verify += twi_seconds() - began;
    return status;
}

/* Rows to their places in a file, those at once that lie together here and there. */
static tw_status write_rows(tw_context *ctx, twi_mpi_file *file, const int64_t *places,
                            int64_t count, const void *data, int64_t stride)
{
    const int64_t step = stride * (int64_t)tw_type_size(file->shape.type);
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK;) {
        int64_t run = 1;
        while (stride == file->shape.cols && i + run < count &&
               places[i + run] == places[i] + run) {
            run++;
        }
        status = twi_mpi_file_write_alone(ctx, file, places[i], run, (const char *)data + i * step);
        i += run;
    }
    return status;
}

static tw_status keep_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    keeper *k = self;
    const int64_t *places = k->deal->places + first;
    const int64_t step = stride * (int64_t)tw_type_size(k->plan->type);
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK && k->to->verifier != NULL; i++) {
        if (twi_mpi_verifier_wants(k->to->verifier, places[i])) {
            status = verify_row(k, ctx, places[i], (const char *)data + i * step);
        }
    }
    return status == TW_OK && k->to->file != NULL
               ? write_rows(ctx, k->to->file, places, count, data, stride)
               : status;
}

static tw_status keep_predecessors(void *self, tw_context *ctx, int64_t first, int64_t count,
                                   const void *data, int64_t stride)
{
    const keeper *k = self;
    return write_rows(ctx, k->to->predecessors, k->deal->places + first, count, data, stride);
}

static tw_status keep_nothing(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)ctx;
    (void)shape;
    return TW_OK;
}

static tw_status run_method(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_mpi_searched *seen)
{
    if (plan->method != TW_APSP_METHOD_SWEEP) {
        seen->work_type = plan->work_type;
        seen->attempts = 1;
        return twi_search_run(ctx, plan, delivery, &seen->relaxations);
    }
    twi_sweep_outcome out = {0};
    tw_status status = twi_sweep_run(ctx, plan, delivery, &out);
    seen->work_type = out.work_type;
    seen->attempts = out.attempts;
    seen->relaxations = out.relaxations;
    return status;
}

/* This rank's rows; any status, of this rank alone. */
static tw_status make_rows(tw_context *ctx, const tw_apsp_plan *plan, twi_deal *deal,
                           const twi_mpi_rows_out *to, twi_mpi_searched *seen)
{
    tw_apsp_plan mine = *plan;
    keeper k = {.plan = plan, .to = to, .deal = deal};
    tw_sink sinks[1 + TWI_COLLECTORS];
    tw_sink before = {.size = sizeof before,
                      .self = &k,
                      .begin = keep_nothing,
                      .rows = keep_predecessors,
                      .end = twi_sink_ended,
                      .abort = twi_sink_aborted};
    int32_t count = 0;
    twi_delivery *delivery = NULL;
    const double began = twi_seconds();
    mine.options.sources = deal->sources;
    mine.options.source_count = deal->rows;
    mine.dealer = &deal->dealer;
    if (to->file != NULL || to->verifier != NULL) {
        sinks[count++] = (tw_sink){.size = sizeof *sinks,
                                   .self = &k,
                                   .begin = keep_begin,
                                   .rows = keep_rows,
                                   .end = twi_sink_ended,
                                   .abort = twi_sink_aborted};
    }
    twi_mpi_collect(&to->collectors, deal->places, plan, sinks, &count);
    const twi_rows_known known = twi_known_rows(&mine, mine.method, mine.work_type);
    tw_status status = twi_delivery_begin(ctx, &delivery, &mine, &known, sinks, count,
                                          to->predecessors != NULL ? &before : NULL);
    if (status == TW_OK) {
        status = run_method(ctx, &mine, delivery, seen);
    }
    if (delivery != NULL) { /* there are more rows than these: it does not end here */
        seen->seconds_output = twi_delivery_seconds(delivery) - k.seconds_verify;
        twi_delivery_destroy(ctx, delivery);
    }
    seen->seconds_verify = k.seconds_verify;
    seen->seconds_compute = twi_seconds() - began - seen->seconds_output - seen->seconds_verify;
    twi_free(k.search_memory);
    return status;
}

/* Of all ranks. The working type is the widest that one of them needed. */
static tw_status sum_up(tw_context *ctx, const twi_world *world, const twi_mpi_rows_out *to,
                        twi_mpi_searched *seen)
{
    int64_t verified = twi_mpi_verifier_count(to->verifier);
    int64_t attempts = seen->attempts;
    struct {
        double bytes;
        int type;
    } widest = {(double)tw_type_size(seen->work_type), (int)seen->work_type};
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, &verified, 1, MPI_INT64_T, MPI_SUM, world->comm), "count");
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &attempts, 1, MPI_INT64_T, MPI_MAX, world->comm),
            "count");
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx,
            MPI_Allreduce(MPI_IN_PLACE, &seen->relaxations, 1, MPI_DOUBLE, MPI_SUM, world->comm),
            "count");
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &widest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world->comm),
            "count");
    }
    seen->verified = verified;
    seen->attempts = (int32_t)attempts;
    seen->work_type = (tw_type)widest.type;
    return status;
}

tw_status twi_mpi_search(tw_context *ctx, const twi_world *world, const twi_replica *replica,
                         const tw_apsp_plan *plan, const twi_mpi_rows_out *to,
                         twi_mpi_searched *seen)
{
    twi_deal deal;
    const int64_t least = plan->method == TW_APSP_METHOD_SWEEP
                              ? SWEPT_AT_ONCE
                              : twi_searcher_batch(plan->method) * (int64_t)plan->threads;
    *seen = (twi_mpi_searched){.work_type = plan->work_type};
    tw_status status = twi_deal_open(ctx, &deal, replica, world, plan, least);
    if (status == TW_OK) {
        status = make_rows(ctx, plan, &deal, to, seen);
        const double began = twi_seconds();
        status = twi_deal_finish(ctx, &deal, status);
        seen->seconds_wait = twi_seconds() - began;
    }
    const double began = twi_seconds();
    status = twi_mpi_collected(ctx, world, &to->collectors, status);
    seen->seconds_output += twi_seconds() - began;
    twi_deal_close(&deal);
    return status == TW_OK ? sum_up(ctx, world, to, seen) : status;
}

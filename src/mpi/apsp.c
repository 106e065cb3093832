/*
 * All pairs over ranks: the entry. It checks that all ranks were asked the same and decides between
 * a closure and a search (choose_method). For a closure it plans (block, first working type), and
 * tries working types as a run on one machine does, every decision being made of what all ranks
 * know. Searches have a plan of rank 0's (plan.h).
 */
#include "tilewright-mpi.h"

#include "apsp/closure/checkpoint.h"
#include "apsp/closure/closure.h"
#include "apsp/closure/cpu.h"
#include "apsp/closure/scatter.h"
#include "apsp/gpu/rank.h"
#include "apsp/plan/candidate.h"
#include "apsp/plan/check.h"
#include "apsp/shared/attempt.h"
#include "apsp/shared/options.h"
#include "base/clock.h"
#include "base/given.h"
#include "base/memory.h"
#include "mpi/closure/certificate.h"
#include "mpi/closure/gpu.h"
#include "mpi/closure/rows.h"
#include "mpi/closure/staging.h"
#include "mpi/plan/estimate.h"
#include "mpi/plan/plan.h"
#include "mpi/search/search.h"
#include "mpi/shared/alike.h"
#include "mpi/shared/relax.h"

#include <math.h>

typedef struct mpi_run {
    tw_context *ctx;
    const tw_mpi_graph *graph;
    const tw_mpi_apsp_output *output;
    tw_apsp_plan plan;
    twi_grid grid;
    twi_machine machine; /* of a closure on CPUs */
    twi_share share;
    twi_pattern pattern;
    twi_mpi_file *file, *predecessors;
    twi_mpi_seen seen;
    int32_t gpu;                    /* of this rank; -1: it computes on the CPU */
    bool direct;                    /* MPI reads its memory */
    bool all_bits;                  /* 15 of 16, or 7 of 8, have not been enough */
    int64_t filled;                 /* tiles that were not empty in the end */
    twi_mpi_checkpoint *checkpoint; /* NULL: none is kept */
    int64_t done;                   /* vertices, when the attempt was opened */
    double seconds_compute, seconds_output, seconds_verify;
    int64_t verified;
    twi_replica replica;    /* of searches, and for predecessors */
    tw_apsp_plan *searches; /* theirs; NULL: a closure */
    twi_mpi_searched searched;
    double seconds_plan;
} mpi_run;

/* Arcs of all pairs from which on a closure needs no second thought, and vertices likewise: to
 * bring all arcs to all machines would take as much memory as the matrix. */
#define DENSE (1.0 / 16)
#define FEW 1024

/* ----------------------------------------------------------------------------------- checks */

/* What GPUs do not have. */
static tw_status check_gpu(const mpi_run *run)
{
    const tw_apsp_options *o = &run->plan.options;
    if (o->method != TW_APSP_METHOD_AUTO && o->method != TW_APSP_METHOD_CLOSURE) {
        return tw_fail(run->ctx, TW_ERR_UNSUPPORTED,
                       "method %s over MPI computes on the CPU, but the device is %s; use method "
                       "closure, or the device 'cpu'",
                       tw_apsp_method_name(o->method), run->ctx->device);
    }
    if (o->work_type == TW_U8) {
        return tw_fail(
            run->ctx, TW_ERR_UNSUPPORTED,
            "working type u8 is not supported on a GPU; use u16 (15 bits of it), i32, f32 or f64");
    }
    if (o->block > 0) {
        return tw_fail(run->ctx, TW_ERR_UNSUPPORTED,
                       "block %d: tiles on a GPU have sizes of their own; use 0", (int)o->block);
    }
    return TW_OK;
}

/* What one rank can find wrong by itself. */
static tw_status check_alone(mpi_run *run)
{
    tw_context *ctx = run->ctx;
    const tw_graph *graph = run->plan.graph;
    const tw_apsp_options *o = &run->plan.options;
    tw_status status = twi_plan_check(ctx, graph, o);
    if (status != TW_OK) {
        return status;
    }
    if (o->method == TW_APSP_METHOD_REFERENCE) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "method %s is not available over MPI, only on one machine",
                       tw_apsp_method_name(o->method));
    }
    run->plan.type = twi_plan_result_type(graph, o);
    if (run->gpu >= 0) {
        status = check_gpu(run);
    }
    if (status == TW_OK && run->output->path != NULL) {
        status = twi_mpi_file_check(ctx, run->output->path, run->output->format);
    }
    if (status == TW_OK && run->output->predecessors != NULL) {
        status = twi_plan_check_predecessors(ctx, &run->plan);
    }
    if (status == TW_OK && run->output->predecessors != NULL) {
        status = twi_mpi_file_check(ctx, run->output->predecessors, NULL);
    }
    if (status == TW_OK && run->output->verify < -1) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "verify is %lld; use a number of rows, 0 for all, "
                         "or -1 for none",
                         (long long)run->output->verify);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- plan */

/* As plan.c: how far a search gets tells the narrowest type worth trying. */
static tw_status choose_type(mpi_run *run)
{
    const tw_graph *graph = run->plan.graph;
    twi_reached *reached = NULL;
    double farthest = graph->min_weight; /* no path is shorter than any arc */
    run->plan.reach = (double)INFINITY;
    run->plan.work_type = run->plan.options.work_type;
    if (run->plan.work_type == TW_AUTO && !graph->integral) {
        run->plan.work_type = twi_plan_float_type(&run->plan);
    }
    if (graph->n == 0) {
        run->plan.work_type = run->plan.work_type == TW_AUTO ? TW_I32 : run->plan.work_type;
    }
    if (run->plan.work_type != TW_AUTO) {
        return TW_OK;
    }
    tw_status status = twi_alloc(run->ctx, &reached, 2 * (uint64_t)graph->n, sizeof *reached,
                                 "a search for the plan");
    status = twi_world_agree(run->ctx, &run->graph->world, status);
    int64_t count = 0; /* of vertices reached: one that reaches no other tells nothing */
    for (int i = 0; i < 4 && count <= 1 && status == TW_OK; i++) {
        const int32_t source = (int32_t)((graph->n / 2 + i * (graph->n / 4)) % graph->n);
        count = 0;
        status = twi_relax(run->ctx, run->graph, source, reached, reached + graph->n);
        for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
            farthest = isinf(reached[v].distance) ? farthest : fmax(farthest, reached[v].distance);
            count += isinf(reached[v].distance) ? 0 : 1;
        }
    }
    twi_free(reached);
    run->plan.reach = farthest * TWI_FARTHER;
    run->plan.work_type = run->plan.reach < TW_APSP_INF_U8    ? TW_U8
                          : run->plan.reach < TW_APSP_INF_U16 ? TW_U16
                          : farthest < TW_APSP_INF_I32        ? TW_I32
                                                              : TW_F64;
    if (run->gpu >= 0 && run->plan.reach < TW_APSP_INF_U16) { /* which have 15 bits, or 32 */
        run->plan.work_type =
            run->plan.reach < twi_minplus_kernel_of_15_bits(run->plan.isa)->infinity ? TW_U16
                                                                                     : TW_I32;
    }
    return status;
}

/* A block that the kernels of all types work with that may be tried. Floats have the block, and so
 * the bits, of a run on one machine; of integers any block gives the same. */
static int64_t choose_block(const mpi_run *run)
{
    const tw_apsp_plan *plan = &run->plan;
    const int64_t n = plan->graph->n;
    const twi_state *found = twi_mpi_checkpoint_found(run->checkpoint);
    if (found != NULL && (found->type == TW_F32 || found->type == TW_F64)) {
        return found->block;
    }
    if (run->gpu >= 0) {
        return twi_gpu_rank_side(found != NULL ? found->type : plan->work_type, n);
    }
    const bool floats = found == NULL && (plan->work_type == TW_F32 || plan->work_type == TW_F64);
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(
        plan->isa, plan->graph->integral && !floats ? TW_U8 : plan->work_type);
    return plan->options.block > 0 ? twi_block_round(kernel, n, plan->options.block)
                                   : twi_block_choose(kernel, n);
}

/* What only searches look for. */
static bool closure_cannot(const mpi_run *run)
{
    const tw_graph *graph = run->plan.graph;
    const bool narrow = run->plan.options.work_type == TW_F32;
    return graph->min_weight < 0 || (!twi_graph_is_exact(graph) &&
                                     twi_plan_may_overflow(&run->plan, narrow ? TW_F32 : TW_F64));
}

static tw_status refuse_closure(mpi_run *run)
{
    const tw_graph *graph = run->plan.graph;
    return graph->min_weight < 0
               ? tw_fail(run->ctx, TW_ERR_UNSUPPORTED,
                         "a closure over MPI does not support negative weights (%.17g); use method "
                         "dijkstra",
                         graph->min_weight)
               : tw_fail(run->ctx, TW_ERR_UNSUPPORTED,
                         "weights up to %.17g may add up to infinity, which a closure over MPI "
                         "does not check for; scale them down, or use method dijkstra",
                         graph->max_weight);
}

/* A plan for searches in run->searches, or none there: a closure. */
static tw_status choose_method(mpi_run *run, int threads)
{
    const double n = (double)run->plan.graph->n;
    tw_apsp_options options = run->plan.options;
    const bool automatic = options.method == TW_APSP_METHOD_AUTO;
    const bool cannot = closure_cannot(run);
    if (options.method == TW_APSP_METHOD_CLOSURE || options.checkpoint != NULL || run->gpu >= 0) {
        return cannot ? refuse_closure(run) : TW_OK;
    }
    if (automatic && !cannot && n > FEW && (double)run->graph->arcs >= DENSE * n * n &&
        2 * (double)twi_plan_rows(&run->plan) > n) {
        return TW_OK;
    }
    const double began = twi_seconds();
    const twi_world *world = &run->graph->world;
    const tw_graph *whole = &run->replica.graph;
    options.method = automatic && cannot ? TW_APSP_METHOD_DIJKSTRA : options.method;
    options.summary_only = 0; /* a sweep of rows that are dealt out makes them */
    tw_status status = twi_replica_open(run->ctx, &run->replica, run->graph);
    if (status == TW_OK) {
        status = twi_mpi_plan_create(run->ctx, &run->searches, world, whole, &options, threads);
    }
    if (status == TW_ERR_MEMORY && automatic && !cannot) {
        status = TW_OK; /* more than one process can do: a closure divides it among all */
    }
    if (run->searches != NULL && run->searches->method == TW_APSP_METHOD_CLOSURE) {
        tw_apsp_plan_destroy(run->searches);
        run->searches = NULL;
    }
    if (run->searches == NULL) {
        twi_replica_close(&run->replica);
        run->replica = (twi_replica){.node = MPI_COMM_NULL, .window = MPI_WIN_NULL};
    }
    run->seconds_plan = twi_seconds() - began;
    return status;
}

/* A state that GPUs can go on from has a type of theirs and, of floats, their tiles. */
static tw_status check_found(const mpi_run *run)
{
    const twi_state *found = twi_mpi_checkpoint_found(run->checkpoint);
    if (run->gpu < 0 || found == NULL) {
        return TW_OK;
    }
    const twi_minplus_kernel *kernel = twi_state_kernel(&run->plan, found);
    const int32_t side = twi_gpu_rank_side(found->type, run->plan.graph->n);
    const bool is_float = found->type == TW_F32 || found->type == TW_F64;
    const bool has_type =
        is_float || found->type == TW_I32 || kernel == twi_minplus_kernel_of_15_bits(run->plan.isa);
    return has_type && (found->block == side || !is_float)
               ? TW_OK
               : tw_fail(run->ctx, TW_ERR_UNSUPPORTED,
                         "checkpoint '%.500s' is of a closure on CPUs, in %s with tiles of %lld, "
                         "from which a GPU cannot resume; use the device 'cpu'",
                         run->plan.options.checkpoint, tw_type_name(found->type),
                         (long long)found->block);
}

static tw_status make_plan(mpi_run *run)
{
    tw_context *ctx = run->ctx;
    tw_apsp_plan *plan = &run->plan;
    int threads = 1, local = 0;
    tw_status status = twi_world_local(ctx, &run->graph->world, &local);
    if (status == TW_OK) {
        status = twi_world_threads(ctx, &run->graph->world, &threads);
    }
    if (status == TW_OK) {
        status = twi_gpu_rank_device(ctx, local, &run->gpu);
    }
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &plan->isa);
    }
    if (status == TW_OK) {
        status = check_alone(run);
    }
    status = twi_world_agree(ctx, &run->graph->world, status);
    if (status == TW_OK) {
        status = twi_alike_run(ctx, &run->graph->world, &plan->options, run->output, plan->isa,
                               run->gpu >= 0);
    }
    if (status == TW_OK && run->gpu >= 0) {
        status = twi_mpi_staging_choose(ctx, &run->graph->world, &run->direct);
    }
    if (status == TW_OK) {
        plan->threads = threads;
        status = choose_method(run, threads);
    }
    if (status == TW_OK && run->searches == NULL) {
        plan->method = TW_APSP_METHOD_CLOSURE;
        plan->symmetric = plan->graph->undirected;
        plan->any_pivots = run->gpu >= 0; /* check_found */
        status = choose_type(run);
    }
    if (status == TW_OK && run->searches == NULL && plan->options.checkpoint != NULL) {
        status = twi_mpi_checkpoint_open(ctx, &run->checkpoint, &run->graph->world, plan);
        if (status == TW_OK) {
            status = check_found(run);
        }
    }
    if (status == TW_OK && run->searches == NULL) {
        status =
            twi_grid_open(ctx, &run->grid, &run->graph->world, plan->graph->n, choose_block(run));
    }
    if (status == TW_OK && run->searches == NULL && run->gpu < 0) {
        status = twi_machine_open(ctx, &run->machine, &run->graph->world);
    }
    return status;
}

/* ----------------------------------------------------------------------------------- attempts */

static const twi_minplus_kernel *kernel_for(const mpi_run *run, tw_type type)
{
    const twi_state *found = twi_mpi_checkpoint_found(run->checkpoint);
    if (found != NULL) {
        return twi_state_kernel(&run->plan, found);
    }
    if (run->gpu >= 0 && type == TW_U16) {
        return twi_minplus_kernel_of_15_bits(run->plan.isa);
    }
    return run->all_bits ? twi_minplus_kernel_find(run->plan.isa, type)
                         : twi_closure_kernel(&run->plan, type);
}

/* GPUs have tiles of another size for some types. */
static tw_status choose_grid(mpi_run *run, tw_type type)
{
    const twi_world *world = &run->graph->world;
    const int64_t n = run->plan.graph->n;
    const int64_t side = run->gpu >= 0 ? twi_gpu_rank_side(type, n) : run->grid.block;
    if (side == run->grid.block) {
        return TW_OK;
    }
    twi_grid_close(&run->grid);
    return twi_grid_open(run->ctx, &run->grid, world, n, side);
}

static twi_mpi_collectors collectors_of(const mpi_run *run)
{
    const tw_mpi_apsp_output *out = run->output;
    return (twi_mpi_collectors){out->summary, {out->nearest, out->farthest}};
}

/* Where the result goes, and what compares some of it. *out is to be cleared in any case. */
static tw_status open_output(const mpi_run *run, twi_mpi_out *out)
{
    *out = (twi_mpi_out){.file = run->file,
                         .predecessors = run->predecessors,
                         .graph = &run->replica.graph,
                         .collectors = collectors_of(run)};
    return run->output->verify >= 0
               ? twi_mpi_verifier_create(run->ctx, &out->verifier, run->graph, &run->plan,
                                         twi_plan_rows(&run->plan), run->output->verify,
                                         run->output->seed)
               : TW_OK;
}

/* Memory for the result, which is only taken when the matrix is closed. */
static tw_status check_output(const mpi_run *run)
{
    twi_mpi_out out;
    tw_status status = open_output(run, &out);
    if (status == TW_OK) {
        status = twi_mpi_deliver_check(run->ctx, &run->share, &run->plan, &out);
    }
    twi_mpi_verifier_destroy(out.verifier);
    return status;
}

/* Memory for the shares of all ranks, before any of them takes its own. */
static tw_status check_machine(const mpi_run *run, const twi_minplus_kernel *kernel, bool symmetric)
{
    const twi_grid *grid = &run->grid;
    const double entries = (double)grid->n * (double)grid->n / (symmetric ? 2 : 1);
    const double bytes = entries / (grid->rows * grid->cols) * (double)tw_type_size(kernel->type);
    return twi_world_agree(
        run->ctx, &run->graph->world,
        twi_machine_check(run->ctx, &run->machine, bytes, "the distance matrix"));
}

static tw_status open_attempt(void *run_, tw_type type)
{
    mpi_run *run = run_;
    tw_context *ctx = run->ctx;
    const twi_world *world = &run->graph->world;
    const twi_state *found = twi_mpi_checkpoint_found(run->checkpoint);
    const twi_minplus_kernel *kernel = kernel_for(run, type);
    const bool symmetric = found != NULL ? found->lower : run->plan.symmetric;
    tw_status status = twi_mpi_checkpoint_settle(run->checkpoint);
    twi_share_clear(&run->share);
    twi_pattern_clear(&run->pattern);
    if (status == TW_OK) {
        status = choose_grid(run, type);
    }
    if (status != TW_OK) {
        return status;
    }
    status = check_machine(run, kernel, symmetric);
    if (status != TW_OK) {
        return status;
    }
    status = twi_share_create(ctx, &run->share, &run->grid, kernel, symmetric, run->gpu >= 0,
                              &run->machine, run->plan.threads);
    if (status == TW_OK) {
        status = twi_pattern_create(ctx, &run->pattern, run->grid.tiles);
    }
    if (status == TW_OK) {
        status = check_output(run);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_share_scatter(ctx, &run->share, &run->pattern, run->graph, run->plan.threads);
    }
    run->done = 0;
    return status == TW_OK && run->checkpoint != NULL
               ? twi_mpi_checkpoint_begin(run->checkpoint, &run->share, &run->pattern, &run->done)
               : status;
}

static tw_status close_matrix(void *run_)
{
    mpi_run *run = run_;
    tw_status status =
        run->gpu >= 0 ? twi_mpi_closure_gpu(run->ctx, &run->share, &run->pattern, run->gpu,
                                            run->direct, run->done, run->checkpoint, &run->seen)
                      : twi_mpi_closure(run->ctx, &run->share, &run->pattern, run->plan.threads,
                                        run->done, run->checkpoint, &run->seen);
    run->filled = twi_pattern_count(&run->pattern);
    return status;
}

static tw_status certify(void *run_, bool *exact)
{
    mpi_run *run = run_;
    const tw_type type = run->share.kernel->type;
    *exact = type == TW_F32 || type == TW_F64 ||
             !twi_plan_may_reach(&run->plan, run->share.kernel->infinity);
    return *exact ? TW_OK
                  : twi_mpi_certify(run->ctx, &run->share, run->graph, run->plan.threads, exact);
}

static bool has_more_bits(void *run_)
{
    mpi_run *run = run_;
    const twi_minplus_kernel *kernel = run->share.kernel;
    run->all_bits = run->gpu < 0 && twi_kernel_is_plain(kernel);
    return run->all_bits;
}

static tw_status deliver(void *run_)
{
    mpi_run *run = run_;
    tw_status status = twi_mpi_checkpoint_settle(run->checkpoint);
    if (status != TW_OK) {
        return status;
    }
    const double began = twi_seconds();
    twi_mpi_out out;
    status = twi_world_agree(run->ctx, &run->graph->world, open_output(run, &out));
    if (status == TW_OK) {
        status = twi_mpi_deliver(run->ctx, &run->share, &run->plan, &out);
    }
    run->verified = twi_mpi_verifier_count(out.verifier);
    run->seconds_verify = out.seconds_verify;
    run->seconds_output = twi_seconds() - began - out.seconds_verify;
    twi_mpi_verifier_destroy(out.verifier);
    return status;
}

/* -------------------------------------------------------------------------------------- entry */

static tw_status fill_report(mpi_run *run, tw_mpi_apsp_report *report, tw_type used,
                             int32_t attempts, double seconds)
{
    const double n = (double)run->grid.n, tiles = (double)run->grid.tiles;
    uint64_t peak = tw_memory_peak(run->ctx);
    tw_status status = twi_mpi_check(
        run->ctx,
        MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_UINT64_T, MPI_MAX, run->graph->world.comm),
        "compare");
    *report = (tw_mpi_apsp_report){
        .size = sizeof *report,
        .ranks = run->graph->world.size,
        .grid_rows = run->grid.rows,
        .grid_cols = run->grid.cols,
        .block = (int32_t)run->grid.block,
        .work_type = used,
        .type = run->plan.type,
        .attempts = attempts,
        .threads = run->plan.threads,
        .symmetric = run->share.symmetric,
        .tiles_skipped =
            tiles > 0 ? (int32_t)(100 * (1 - (double)run->filled / (tiles * tiles))) : 0,
        .relaxations = n * n * (n - (double)run->done),
        .seconds_compute = seconds - run->seconds_output - run->seconds_verify,
        .seconds_wait = run->seen.seconds_wait,
        .seconds_output = run->seconds_output,
        .seconds_verify = run->seconds_verify,
        .memory_peak = peak,
        .bytes_broadcast = run->seen.bytes,
        .verified_rows = run->verified,
        .seconds_plan = run->seconds_plan,
        .method = run->plan.method,
        .seconds_device = run->seen.seconds_device,
        .helped = run->seen.helped,
    };
    return status;
}

/* ------------------------------------------------------------------------------------- searches */

static tw_status search(mpi_run *run)
{
    tw_context *ctx = run->ctx;
    const tw_apsp_plan *plan = run->searches;
    twi_mpi_rows_out to = {
        .file = run->file, .predecessors = run->predecessors, .collectors = collectors_of(run)};
    tw_status status = TW_OK;
    if (run->output->verify >= 0) {
        status = twi_mpi_verifier_create(ctx, &to.verifier, run->graph, plan, twi_plan_rows(plan),
                                         run->output->verify, run->output->seed);
        status = twi_world_agree(ctx, &run->graph->world, status);
    }
    if (status == TW_OK) {
        status = twi_mpi_search(ctx, &run->graph->world, &run->replica, plan, &to, &run->searched);
    }
    twi_mpi_verifier_destroy(to.verifier);
    return status;
}

static tw_status report_search(mpi_run *run, tw_mpi_apsp_report *report)
{
    const twi_mpi_searched *seen = &run->searched;
    const twi_world *world = &run->graph->world;
    uint64_t peak = tw_memory_peak(run->ctx);
    int32_t machines = run->replica.node_rank == 0;
    tw_status status = twi_mpi_check(
        run->ctx, MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_UINT64_T, MPI_MAX, world->comm),
        "compare");
    if (status == TW_OK) {
        status = twi_mpi_check(
            run->ctx, MPI_Allreduce(MPI_IN_PLACE, &machines, 1, MPI_INT32_T, MPI_SUM, world->comm),
            "compare");
    }
    *report = (tw_mpi_apsp_report){
        .size = sizeof *report,
        .ranks = world->size,
        .work_type = seen->work_type,
        .type = run->searches->type,
        .attempts = seen->attempts,
        .threads = run->searches->threads,
        .relaxations = seen->relaxations,
        .seconds_compute = seen->seconds_compute + seen->seconds_wait,
        .seconds_wait = seen->seconds_wait,
        .seconds_output = seen->seconds_output,
        .seconds_verify = seen->seconds_verify,
        .memory_peak = peak,
        .verified_rows = seen->verified,
        .seconds_plan = run->seconds_plan,
        .method = run->searches->method,
        .machines = machines,
    };
    return status;
}

static void forget(mpi_run *run)
{
    twi_machine_close(&run->machine);
    twi_grid_close(&run->grid);
    tw_apsp_plan_destroy(run->searches);
    twi_replica_close(&run->replica);
}

/* The files, and what predecessors need: the whole graph, which of a closure no rank has yet. */
static tw_status prepare(mpi_run *run)
{
    const tw_mpi_apsp_output *out = run->output;
    const twi_world *world = &run->graph->world;
    const int64_t rows = twi_plan_rows(&run->plan), cols = twi_plan_cols(&run->plan);
    const twi_mpi_wish distances = {
        out->path, out->format, out->sink, {rows, cols, run->plan.type}};
    const twi_mpi_wish before = {
        out->predecessors, NULL, out->predecessor_sink, {rows, cols, TW_I32}};
    tw_status status = TW_OK;
    if (out->predecessors != NULL && run->searches != NULL) {
        status = twi_plan_check_predecessors(run->ctx, run->searches);
    } else if (out->predecessors != NULL) {
        status = twi_replica_open(run->ctx, &run->replica, run->graph);
    }
    if (status == TW_OK) {
        status = twi_mpi_file_open(run->ctx, &run->file, world, &distances);
    }
    return status == TW_OK ? twi_mpi_file_open(run->ctx, &run->predecessors, world, &before)
                           : status;
}

static tw_status run_all(mpi_run *run, tw_mpi_apsp_report *report)
{
    static const twi_engine engine = {"closing", open_attempt, close_matrix,
                                      certify,   deliver,      has_more_bits};
    tw_context *ctx = run->ctx;
    tw_status status = make_plan(run);
    const double began = twi_seconds();
    int32_t attempts = 0;
    tw_type used = TW_AUTO;
    if (status == TW_OK) {
        status = prepare(run);
    }
    if (status == TW_OK && run->searches != NULL) {
        status = search(run);
    } else if (status == TW_OK) {
        const twi_state *found = twi_mpi_checkpoint_found(run->checkpoint);
        status = twi_attempt(ctx, &engine, run, found != NULL ? found->type : run->plan.work_type,
                             run->plan.options.work_type, &used, &attempts);
    }
    if (status == TW_OK) {
        status = twi_mpi_file_commit(ctx, run->file);
    }
    if (status == TW_OK) {
        status = twi_mpi_file_commit(ctx, run->predecessors);
    }
    if (status == TW_OK) {
        status = run->searches != NULL
                     ? report_search(run, report)
                     : fill_report(run, report, used, attempts, twi_seconds() - began);
    }
    twi_mpi_file_discard(run->predecessors);
    twi_mpi_file_discard(run->file);
    twi_mpi_checkpoint_close(run->checkpoint, status == TW_OK, status == TW_ERR_IO);
    twi_pattern_clear(&run->pattern);
    twi_share_clear(&run->share);
    forget(run);
    return status;
}

/* The arguments of both entries into the run. The same status everywhere. */
static tw_status take_arguments(mpi_run *run, const tw_apsp_options *opts,
                                const tw_mpi_apsp_output *given, tw_mpi_apsp_output *ours)
{
    run->plan.options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    tw_status status = twi_take_options(run->ctx, &run->plan.options, opts);
    if (status == TW_OK) {
        status = TWI_TAKE(run->ctx, tw_mpi_apsp_output, ours, given);
    }
    run->output = ours;
    run->plan.options.predecessors = ours->predecessors != NULL;
    run->plan.graph = &run->graph->whole;
    run->plan.given = twi_graph_memory(&run->graph->whole);
    return status;
}

tw_status tw_mpi_apsp(tw_context *ctx, const tw_mpi_graph *graph, const tw_apsp_options *opts,
                      const tw_mpi_apsp_output *output, tw_mpi_apsp_report *report)
{
    tw_mpi_apsp_output ours = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_apsp_report seen = TW_MPI_APSP_REPORT_INIT;
    mpi_run run = {.ctx = ctx,
                   .graph = graph,
                   .machine = {.comm = MPI_COMM_NULL, .size = 1},
                   .replica = {.node = MPI_COMM_NULL, .window = MPI_WIN_NULL}};
    tw_status status = TWI_REQUIRE(ctx, {"graph", graph});
    if (status != TW_OK) { /* without a graph there is nobody to agree with */
        return status;
    }
    status = take_arguments(&run, opts, output, &ours);
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_mpi_apsp_report, report);
    }
    status = twi_world_agree(ctx, &graph->world, status);
    if (status == TW_OK) {
        status = run_all(&run, &seen);
    }
    if (status == TW_OK) {
        TWI_GIVE(tw_mpi_apsp_report, report, &seen);
    }
    return status;
}

tw_status tw_mpi_apsp_explain(tw_context *ctx, const tw_mpi_graph *graph,
                              const tw_apsp_options *opts, const tw_mpi_apsp_output *output,
                              tw_mpi_forecast *out)
{
    tw_mpi_apsp_output ours = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_forecast seen = TW_MPI_FORECAST_INIT;
    mpi_run run = {.ctx = ctx,
                   .graph = graph,
                   .machine = {.comm = MPI_COMM_NULL, .size = 1},
                   .replica = {.node = MPI_COMM_NULL, .window = MPI_WIN_NULL}};
    tw_status status = TWI_REQUIRE(ctx, {"graph", graph});
    if (status != TW_OK) {
        return status;
    }
    status = take_arguments(&run, opts, output, &ours);
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_mpi_forecast, out);
    }
    status = twi_world_agree(ctx, &graph->world, status);
    const bool keeps = run.plan.options.checkpoint != NULL;
    if (status == TW_OK && keeps) { /* it is not looked at */
        run.plan.options.method = TW_APSP_METHOD_CLOSURE;
        run.plan.options.checkpoint = NULL;
    }
    const double began = twi_seconds();
    if (status == TW_OK) {
        status = make_plan(&run);
    }
    seen.seconds_plan = twi_seconds() - began;
    seen.ranks = graph->world.size;
    seen.threads = run.plan.threads;
    seen.type = run.plan.type;
    const twi_mpi_goal goal = {&ours,   run.plan.threads, keeps,
                               run.gpu, run.direct,       run.machine.help};
    if (status == TW_OK && run.searches != NULL) {
        status = twi_estimate_search(ctx, &seen, &graph->world, run.searches, &run.replica, &goal);
    } else if (status == TW_OK) {
        status = twi_estimate_closure(ctx, &seen, graph, &run.plan, &run.grid,
                                      kernel_for(&run, run.plan.work_type), &goal);
    }
    forget(&run);
    if (status == TW_OK) {
        TWI_GIVE(tw_mpi_forecast, out, &seen);
    }
    return status;
}

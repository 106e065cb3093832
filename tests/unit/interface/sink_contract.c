/*
 * The contract of sinks, as include/tilewright.h states it, held against everything that drives
 * them: each function of each sink fails in turn, or cancels, and every call is recorded and judged
 * by rules written down here, which share nothing with the driver.
 */
#include "unit/small_graphs.h"

#include "apsp/shared/deliver.h"

enum { SINKS = 3, NEVER = -1, ROOM = 10 << 20 };

/* One sink's recorder. What it is to spoil, and what it has seen. */
typedef enum function { NO_FUNCTION, BEGIN, ROWS, END } function;
typedef enum phase { FRESH, REFUSED, OPEN, FAILED, ENDED, ABORTED } phase;

typedef struct recorder {
    struct trial *trial;
    int index;
    phase phase;
    tw_shape shape;
    int64_t next;
    int calls; /* of rows */
} recorder;

/* One run of one driver. */
typedef struct trial {
    recorder sinks[SINKS];
    int count;
    int who; /* the sink that fails or cancels */
    function where;
    int call; /* of rows that does so, from 0 */
    bool cancels;
    bool silent; /* gives no reason */
    bool over;   /* something has failed: only abort may come */
    int ended;
    const char *broken; /* the first rule that was */
} trial;

static void demand(trial *t, bool holds, const char *rule)
{
    if (!holds && t->broken == NULL) {
        t->broken = rule;
    }
}

/* What the function returns, if it is the one to be spoilt. */
static tw_status act(recorder *r, tw_context *ctx, function now)
{
    trial *t = r->trial;
    bool chosen = t->who == r->index && t->where == now && (now != ROWS || t->call == r->calls);
    if (!chosen) {
        return TW_OK;
    }
    if (t->cancels) {
        tw_cancel(ctx);
        return TW_OK;
    }
    t->over = true;
    return t->silent ? TW_ERR_IO : tw_fail(ctx, TW_ERR_IO, "spoilt by sink %d of them", r->index);
}

static tw_status record_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    recorder *r = self;
    trial *t = r->trial;
    demand(t, r->phase == FRESH, "begin comes once");
    demand(t, !t->over, "nothing but abort after a failure");
    for (int i = 0; i < t->count; i++) {
        demand(t, i < r->index ? t->sinks[i].phase == OPEN : t->sinks[i].phase == FRESH,
               "begin comes in the order of the sinks");
        demand(t, t->sinks[i].next == 0, "every sink begins before the first rows");
    }
    r->shape = *shape;
    tw_status status = act(r, ctx, BEGIN);
    r->phase = status == TW_OK ? OPEN : REFUSED;
    return status;
}

static tw_status record_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                             const void *data, int64_t stride)
{
    recorder *r = self;
    trial *t = r->trial;
    demand(t, r->phase == OPEN, "rows come between begin and end");
    demand(t, !t->over, "nothing but abort after a failure");
    demand(t, t->ended == 0, "no rows after an end");
    demand(t, first == r->next && count > 0 && count <= r->shape.rows - first,
           "rows come in order, none twice");
    demand(t, data != NULL && stride >= r->shape.cols, "rows lie in memory");
    for (int i = 0; i < t->count; i++) {
        demand(t, t->sinks[i].phase == OPEN, "every sink is open while rows come");
    }
    r->next += count;
    tw_status status = act(r, ctx, ROWS);
    r->calls++;
    r->phase = status == TW_OK ? r->phase : FAILED;
    return status;
}

static tw_status record_end(void *self, tw_context *ctx)
{
    recorder *r = self;
    trial *t = r->trial;
    demand(t, r->phase == OPEN, "end comes once, and before abort");
    demand(t, !t->over, "nothing but abort after a failure");
    demand(t, t->ended == r->index, "ends come in the order of the sinks");
    for (int i = 0; i < t->count; i++) {
        demand(t, t->sinks[i].next == t->sinks[i].shape.rows, "end comes after all rows");
    }
    tw_status status = act(r, ctx, END);
    r->phase = status == TW_OK ? ENDED : FAILED;
    t->ended++;
    return status;
}

static void record_abort(void *self, tw_context *ctx)
{
    recorder *r = self;
    demand(r->trial, r->phase == OPEN || r->phase == FAILED,
           "abort comes once, to sinks that have begun and not ended");
    r->phase = ABORTED;
    r->trial->over = true;
    (void)tw_fail(ctx, TW_ERR_IO, "a sentence of abort");
}

/* ------------------------------------------------------------------------------------ the drivers
 */

typedef struct inputs {
    tw_graph *small;  /* for engines whose time is cubic */
    tw_graph *large;  /* its rows fill more than one block; few arcs, so that it is fast */
    tw_matrix matrix; /* f32 */
    tw_source source; /* its rows */
    tw_entropy_plan *entropy;
    tw_map_plan *map;
    tw_graph *no_graph; /* the same without rows */
    tw_matrix no_matrix;
    tw_source no_source;
    tw_entropy_plan *no_entropy;
    tw_map_plan *no_map;
} inputs;

/* `sinks` has one more for predecessors where the driver takes them. */
typedef tw_status (*run_fn)(tw_context *ctx, const inputs *in, tw_sink *sinks);

static tw_status run_apsp(tw_context *ctx, const tw_graph *graph, tw_apsp_method method,
                          tw_type type, tw_sink *sinks, tw_sink *predecessors)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    opts.method = method;
    opts.type = type;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, &opts);
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, sinks, 2, predecessors, NULL);
    }
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_status closure_as_it_is(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->small, TW_APSP_METHOD_CLOSURE, TW_I32, sinks, NULL);
}

static tw_status closure_converted(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->small, TW_APSP_METHOD_CLOSURE, TW_F64, sinks, &sinks[2]);
}

static tw_status dijkstra(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->large, TW_APSP_METHOD_DIJKSTRA, TW_I32, sinks, NULL);
}

static tw_status sweep(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->large, TW_APSP_METHOD_SWEEP, TW_I32, sinks, NULL);
}

static tw_status dijkstra_with_predecessors(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->large, TW_APSP_METHOD_DIJKSTRA, TW_I32, sinks, &sinks[2]);
}

static tw_status bfs(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->large, TW_APSP_METHOD_BFS, TW_F32, sinks, &sinks[2]);
}

static tw_status by_reference(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->small, TW_APSP_METHOD_REFERENCE, TW_I32, sinks, &sinks[2]);
}

/* Rows that are finished when they come, as from a GPU, in two parts. */
static tw_status finished_rows(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    tw_apsp_plan *plan = NULL;
    twi_delivery *delivery = NULL;
    int32_t *rows = NULL;
    tw_status status = tw_apsp_plan_create(ctx, &plan, in->small, NULL);
    if (status == TW_OK) {
        const int64_t n = plan->graph->n;
        rows = calloc((size_t)(n * n), sizeof *rows);
        status = twi_delivery_begin(ctx, &delivery, plan, NULL, sinks, 2, NULL);
        if (status == TW_OK) {
            status = twi_delivery_finished_rows(ctx, delivery, 0, n / 2, rows);
        }
        if (status == TW_OK) {
            status = twi_delivery_finished_rows(ctx, delivery, n / 2, n - n / 2, rows);
        }
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    twi_delivery_destroy(ctx, delivery);
    tw_apsp_plan_destroy(plan);
    free(rows);
    return status;
}

/* Little memory makes small blocks. */
static void allow(tw_context *ctx, uint64_t bytes)
{
    assert_ok(ctx, tw_set_memory(ctx, bytes > 0 ? tw_memory_used(ctx) + bytes : 0));
}

static tw_status entropy_run(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    allow(ctx, ROOM);
    tw_status status = tw_entropy_plan_run(ctx, in->entropy, &in->matrix, sinks, 2, NULL);
    allow(ctx, 0);
    return status;
}

static tw_status entropy_stream(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    allow(ctx, ROOM);
    tw_status status = tw_entropy_plan_stream(ctx, in->entropy, &in->source, sinks, 2, NULL);
    allow(ctx, 0);
    return status;
}

static tw_status map_run(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    allow(ctx, ROOM);
    tw_status status = tw_map_plan_run(ctx, in->map, &in->matrix, 1, sinks, 2, NULL);
    allow(ctx, 0);
    return status;
}

static tw_status map_stream(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    allow(ctx, ROOM);
    tw_status status = tw_map_plan_stream(ctx, in->map, NULL, &in->source, 1, sinks, 2, NULL);
    allow(ctx, 0);
    return status;
}

static tw_status feed(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_feed(ctx, &in->matrix, sinks, 2);
}

static tw_status feed_source(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_feed_source(ctx, &in->source, sinks, 2);
}

/* The second sink stands behind one that scales. */
static tw_status feed_scaled(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    tw_sink both[2] = {sinks[0], TW_SINK_INIT};
    tw_status status = tw_sink_scaled(ctx, &both[1], &sinks[1], TW_U8, 8);
    if (status == TW_OK) {
        status = tw_feed(ctx, &in->matrix, both, 2);
    }
    tw_sink_destroy(&both[1]);
    return status;
}

/* Every vertex twice, so that rows fill more than one block; with counts, which a run that fails
 * leaves as they were. */
static tw_status run_reach(tw_context *ctx, const tw_graph *graph, tw_reach_layout layout,
                           tw_sink *sinks)
{
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    tw_reach_plan *plan = NULL;
    assert_ok(ctx, tw_graph_describe(graph, &info));
    const int64_t rows = 2 * info.vertices;
    int64_t *counts = calloc((size_t)rows + 1, sizeof *counts);
    int32_t *sources = calloc((size_t)rows + 1, sizeof *sources);
    assert_true(counts != NULL && sources != NULL);
    for (int64_t i = 0; i < rows; i++) {
        sources[i] = (int32_t)(i / 2);
    }
    opts.layout = layout;
    opts.sources = sources;
    opts.source_count = rows;
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
    tw_status status = tw_reach_plan_run(ctx, plan, sinks, 2, counts, NULL);
    for (int64_t i = 0; i < rows; i++) { /* a vertex reaches itself */
        assert_int_equal(counts[i] > 0, status == TW_OK);
    }
    tw_reach_plan_destroy(plan);
    free(sources);
    free(counts);
    return status;
}

static tw_status reach_bytes(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_reach(ctx, in->large, TW_REACH_BYTES, sinks);
}

static tw_status reach_bits(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_reach(ctx, in->small, TW_REACH_BITS, sinks);
}

static tw_status no_reach(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_reach(ctx, in->no_graph, TW_REACH_BYTES, sinks);
}

static tw_status no_apsp(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return run_apsp(ctx, in->no_graph, TW_APSP_METHOD_AUTO, TW_I32, sinks, &sinks[2]);
}

static tw_status no_entropy_run(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_entropy_plan_run(ctx, in->no_entropy, &in->no_matrix, sinks, 2, NULL);
}

static tw_status no_entropy_stream(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_entropy_plan_stream(ctx, in->no_entropy, &in->no_source, sinks, 2, NULL);
}

static tw_status no_map_run(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_map_plan_run(ctx, in->no_map, &in->no_matrix, 1, sinks, 2, NULL);
}

static tw_status no_map_stream(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_map_plan_stream(ctx, in->no_map, NULL, &in->no_source, 1, sinks, 2, NULL);
}

static tw_status no_feed(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_feed(ctx, &in->no_matrix, sinks, 2);
}

static tw_status no_feed_source(tw_context *ctx, const inputs *in, tw_sink *sinks)
{
    return tw_feed_source(ctx, &in->no_source, sinks, 2);
}

static const struct {
    const char *name;
    run_fn run;
    int sinks;
    bool in_blocks; /* more than one call of rows is to be seen */
} drivers[] = {
    {"closure, rows as they are", closure_as_it_is, 2, false},
    {"closure, rows converted, predecessors", closure_converted, 3, false},
    {"dijkstra", dijkstra, 2, true},
    {"sweep", sweep, 2, true},
    {"dijkstra, predecessors", dijkstra_with_predecessors, 3, true},
    {"bfs, predecessors", bfs, 3, true},
    {"reference, predecessors", by_reference, 3, false},
    {"finished rows", finished_rows, 2, true},
    {"reachability, bytes", reach_bytes, 2, true},
    {"reachability, bits", reach_bits, 2, false},
    {"entropy", entropy_run, 2, true},
    {"entropy of a source", entropy_stream, 2, true},
    {"map", map_run, 2, true},
    {"map of a source", map_stream, 2, true},
    {"feed", feed, 2, true},
    {"feed from a source", feed_source, 2, true},
    {"feed through a sink that scales", feed_scaled, 2, true},
    {"apsp of no vertices, predecessors", no_apsp, 3, false},
    {"reachability of no vertices", no_reach, 2, false},
    {"entropy of no rows", no_entropy_run, 2, false},
    {"entropy of a source of no rows", no_entropy_stream, 2, false},
    {"map of no rows", no_map_run, 2, false},
    {"map of a source of no rows", no_map_stream, 2, false},
    {"feed of no rows", no_feed, 2, false},
    {"feed from a source of no rows", no_feed_source, 2, false},
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

/* -------------------------------------------------------------------------------------- the trials
 */

static tw_status source_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                             int64_t stride)
{
    const tw_matrix *m = self;
    (void)ctx;
    for (int64_t i = 0; i < count; i++) {
        memcpy((float *)data + i * stride, (const float *)m->data + (first + i) * m->stride,
               (size_t)m->cols * sizeof(float));
    }
    return TW_OK;
}

static tw_graph *equal_weights(tw_context *ctx, int64_t vertices, double degree)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    opts.vertices = vertices;
    opts.degree = degree;
    opts.min_weight = 2;
    opts.max_weight = 2;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
    return graph;
}

/* The matrix is a little larger than a block of tw_feed and than ROOM. */
static void open_inputs(tw_context *ctx, inputs *in)
{
    const int64_t rows = 33;
    const int64_t cols = 65536;
    tw_expr *expr = NULL;
    assert_ok(ctx, tw_set_threads(ctx, 2));
    in->small = equal_weights(ctx, 90, 3);
    in->large = equal_weights(ctx, 1500, 0.1);
    in->matrix =
        (tw_matrix){calloc((size_t)(rows * cols), sizeof(float)), rows, cols, cols, TW_F32};
    assert_non_null(in->matrix.data);
    const tw_shape shape = {rows, cols, TW_F32};
    in->source = (tw_source){
        .size = sizeof(tw_source), .self = &in->matrix, .shape = shape, .rows = source_rows};
    assert_ok(ctx, tw_expr_create(ctx, &expr, "x + 1", NULL));
    assert_ok(ctx, tw_entropy_plan_create(ctx, &in->entropy, &shape, NULL));
    assert_ok(ctx, tw_map_plan_create(ctx, &in->map, expr, &shape, 1, NULL));
    const tw_shape no_shape = {0, cols, TW_F32};
    const tw_edges no_edges = TW_EDGES_INIT;
    assert_ok(ctx, tw_graph_from_edges(ctx, &in->no_graph, 0, &no_edges, 0));
    in->no_matrix = in->matrix;
    in->no_matrix.rows = 0;
    in->no_source = in->source;
    in->no_source.shape = no_shape;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &in->no_entropy, &no_shape, NULL));
    assert_ok(ctx, tw_map_plan_create(ctx, &in->no_map, expr, &no_shape, 1, NULL));
    tw_expr_destroy(expr);
}

static void close_inputs(inputs *in)
{
    tw_map_plan_destroy(in->no_map);
    tw_entropy_plan_destroy(in->no_entropy);
    tw_graph_destroy(in->no_graph);
    tw_map_plan_destroy(in->map);
    tw_entropy_plan_destroy(in->entropy);
    free(in->matrix.data);
    tw_graph_destroy(in->large);
    tw_graph_destroy(in->small);
}

static tw_status run_trial(tw_context *ctx, const inputs *in, int driver, trial *t)
{
    tw_sink sinks[SINKS];
    t->count = drivers[driver].sinks;
    for (int i = 0; i < t->count; i++) {
        t->sinks[i] = (recorder){.trial = t, .index = i};
        sinks[i] = (tw_sink){.size = sizeof(tw_sink),
                             .self = &t->sinks[i],
                             .begin = record_begin,
                             .rows = record_rows,
                             .end = record_end,
                             .abort = record_abort};
    }
    (void)tw_fail(ctx, TW_OK, "an older sentence");
    return drivers[driver].run(ctx, in, sinks);
}

static void judge(tw_context *ctx, int driver, trial *t, tw_status status, tw_status wanted)
{
    static const char *const functions[] = {"nothing", "begin", "rows", "end"};
    for (int i = 0; i < t->count; i++) {
        const recorder *r = &t->sinks[i];
        if (status == TW_OK) {
            demand(t, r->phase == ENDED, "after a run that succeeded every sink has ended");
        } else {
            demand(t, r->phase != OPEN && r->phase != FAILED,
                   "after a run that failed no sink is open");
        }
    }
    demand(t, status == wanted, "the status is that of the failure");
    if (wanted != TW_OK) {
        char words[32] = "stopped on request";
        if (!t->cancels) {
            snprintf(words, sizeof words, "%s sink %d ", t->silent ? "of" : "spoilt by", t->who);
        }
        demand(t, strstr(tw_last_error(ctx), words) != NULL, "the sentence is that of the failure");
    }
    if (t->broken != NULL) {
        fail_msg("%s, %s %d of sink %d %s: broken: %s (%s: %s)", drivers[driver].name,
                 functions[t->where], t->call, t->who, t->cancels ? "cancels" : "fails", t->broken,
                 tw_status_name(status), tw_last_error(ctx));
    }
}

static void without_a_failure_every_sink_begins_takes_all_rows_and_ends(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    inputs in;
    open_inputs(ctx, &in);
    for (int d = 0; d < DRIVERS; d++) {
        trial t = {.who = NEVER};
        judge(ctx, d, &t, run_trial(ctx, &in, d, &t), TW_OK);
        if (drivers[d].in_blocks && t.sinks[0].calls < 2) {
            fail_msg("%s: %d calls of rows prove nothing of blocks", drivers[d].name,
                     t.sinks[0].calls);
        }
    }
    close_inputs(&in);
    close_context(ctx);
}

/* Calls `check` with each function of each sink, the first and the last of its rows. */
static void spoil_each(void (*check)(tw_context *, const inputs *, int driver, const trial *))
{
    tw_context *ctx = open_context();
    inputs in;
    open_inputs(ctx, &in);
    for (int d = 0; d < DRIVERS; d++) {
        trial whole = {.who = NEVER};
        judge(ctx, d, &whole, run_trial(ctx, &in, d, &whole), TW_OK);
        for (int who = 0; who < drivers[d].sinks; who++) {
            for (function where = BEGIN; where <= END; where++) {
                const int last = where == ROWS ? whole.sinks[who].calls - 1 : 0;
                for (int call = 0; call <= last; call += last > 0 ? last : 1) {
                    const bool late = (d + who + (int)where) % 2 != 0;
                    if (small_sizes_only() && last > 0 && late != (call > 0)) {
                        continue;
                    }
                    check(ctx, &in, d, &(trial){.who = who, .where = where, .call = call});
                }
            }
        }
    }
    close_inputs(&in);
    close_context(ctx);
}

static void check_failure(tw_context *ctx, const inputs *in, int driver, const trial *plan)
{
    for (int silent = 0; silent < 2; silent++) {
        if (small_sizes_only() && silent != (driver + plan->who + (int)plan->where) % 2) {
            continue;
        }
        trial t = *plan;
        t.silent = silent;
        judge(ctx, driver, &t, run_trial(ctx, in, driver, &t), TW_ERR_IO);
    }
}

static void a_failure_of_any_sink_aborts_those_that_are_open_and_calls_nothing_else(void **state)
{
    (void)state;
    spoil_each(check_failure);
}

/* When the ends have begun, the result is complete, and they all come. */
static void check_cancel(tw_context *ctx, const inputs *in, int driver, const trial *plan)
{
    trial t = *plan;
    t.cancels = true;
    judge(ctx, driver, &t, run_trial(ctx, in, driver, &t),
          t.where == END ? TW_OK : TW_ERR_CANCELLED);
    tw_clear_cancel(ctx);
}

static void cancelling_before_the_first_end_aborts_every_sink(void **state)
{
    (void)state;
    spoil_each(check_cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_failure_every_sink_begins_takes_all_rows_and_ends),
        cmocka_unit_test(a_failure_of_any_sink_aborts_those_that_are_open_and_calls_nothing_else),
        cmocka_unit_test(cancelling_before_the_first_end_aborts_every_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

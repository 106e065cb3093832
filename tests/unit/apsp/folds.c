/*
 * Folds: a summary that gets sums and maxima of rows instead of the rows says the same, to the last
 * bit, as one that has seen every row of the reference's matrix; on graphs of every shape, for
 * every type, number of threads and choice of sources. And folds stand for rows only where nobody
 * misses those.
 */
#include "unit/shapes.h"

#include "apsp/shared/deliver.h"
#include "apsp/sweep/tree.h"

static tw_apsp_summary *new_summary(tw_context *ctx, int32_t bins, const int32_t *sources)
{
    tw_apsp_summary *summary = NULL;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, bins, sources, NULL));
    return summary;
}

static tw_sink sink_of(tw_apsp_summary *summary)
{
    tw_sink sink = TW_SINK_INIT;
    assert_int_equal(tw_apsp_summary_sink(summary, &sink), TW_OK);
    return sink;
}

/* A summary that has seen the rows of a matrix, of the sources only. */
static tw_apsp_summary *summary_of_rows(tw_context *ctx, const tw_matrix *m, const int32_t *sources,
                                        int64_t count)
{
    tw_apsp_summary *summary = new_summary(ctx, 0, sources);
    tw_sink sink = sink_of(summary);
    const tw_shape shape = {sources != NULL ? count : m->rows, m->cols, m->type};
    assert_ok(ctx, sink.begin(sink.self, ctx, &shape));
    for (int64_t i = 0; i < shape.rows; i++) {
        int64_t row = sources != NULL ? sources[i] : i;
        const char *data = (const char *)m->data + row * m->cols * (int64_t)tw_type_size(m->type);
        assert_ok(ctx, sink.rows(sink.self, ctx, i, 1, data, m->cols));
    }
    assert_ok(ctx, sink.end(sink.self, ctx));
    return summary;
}

static void assert_alike(const tw_apsp_summary *got, const tw_apsp_summary *want, const char *name)
{
    tw_apsp_summary_info g = TW_APSP_SUMMARY_INFO_INIT;
    tw_apsp_summary_info w = TW_APSP_SUMMARY_INFO_INIT;
    assert_int_equal(tw_apsp_summary_describe(got, &g), TW_OK);
    assert_int_equal(tw_apsp_summary_describe(want, &w), TW_OK);
    const size_t bytes = (size_t)w.rows * sizeof(double);
    const bool alike = g.rows == w.rows && g.cols == w.cols && g.type == w.type &&
                       g.reachable == w.reachable && g.unreachable == w.unreachable &&
                       g.minimum == w.minimum && g.mean == w.mean && g.diameter == w.diameter &&
                       g.diameter_from == w.diameter_from && g.diameter_to == w.diameter_to &&
                       g.radius == w.radius && g.center == w.center;
    if (!alike ||
        memcmp(tw_apsp_summary_eccentricity(got), tw_apsp_summary_eccentricity(want), bytes) != 0 ||
        memcmp(tw_apsp_summary_closeness(got), tw_apsp_summary_closeness(want), bytes) != 0) {
        fail_msg("%s, %lld vertices: mean %.17g, not %.17g; diameter %g (%lld -> %lld), not %g "
                 "(%lld -> %lld); reachable %lld, not %lld; seed %llu",
                 name, (long long)w.cols, g.mean, w.mean, g.diameter, (long long)g.diameter_from,
                 (long long)g.diameter_to, w.diameter, (long long)w.diameter_from,
                 (long long)w.diameter_to, (long long)g.reachable, (long long)w.reachable,
                 (unsigned long long)SEED);
    }
}

typedef struct asked {
    tw_type type;
    const int32_t *sources;
    int64_t count;
    double cutoff;
} asked;

static tw_apsp_plan *plan_of(tw_context *ctx, const tw_graph *graph, const asked *what)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    options.method = TW_APSP_METHOD_SWEEP;
    options.type = what->type;
    options.sources = what->sources;
    options.source_count = what->count;
    if (what->cutoff > 0) {
        options.cutoff = what->cutoff;
    }
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    return plan;
}

static bool is_folded(tw_context *ctx, const tw_apsp_plan *plan, tw_sink *sinks, int32_t count,
                      tw_sink *predecessors)
{
    twi_delivery *delivery = NULL;
    assert_ok(ctx, twi_delivery_begin(ctx, &delivery, plan, NULL, sinks, count, predecessors));
    bool folded = twi_delivery_is_folded(delivery);
    twi_delivery_destroy(ctx, delivery);
    return folded;
}

/* The sweep's folds against the reference's rows. */
static void check_folds(tw_context *ctx, const tw_graph *graph, const asked *what, const char *name)
{
    tw_matrix all = true_distances(ctx, graph, what->type);
    tw_apsp_summary *want = summary_of_rows(ctx, &all, what->sources, what->count);
    tw_apsp_summary *got = new_summary(ctx, 0, what->sources);
    tw_apsp_plan *plan = plan_of(ctx, graph, what);
    tw_sink sink = sink_of(got);
    assert_true(is_folded(ctx, plan, &sink, 1, NULL));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
    assert_alike(got, want, name);
    tw_apsp_plan_destroy(plan);
    tw_apsp_summary_destroy(got);
    tw_apsp_summary_destroy(want);
    free(all.data);
}

static void every_shape_is_summed_up_as_by_its_rows(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 3, 16, 31, 32, 33, 64, 65, 130, 300, 515};
    const uint64_t most[] = {100, 1, 0, 5000, 40000}; /* ties, zeros, 8, 16 and more bits */
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const bool large = sizes[i] > 65;
            if (large && (small_sizes_only() || (shape == 4 && sizes[i] > 130))) {
                continue;
            }
            for (size_t w = 0; w < 5; w += small_sizes_only() ? 2 : 1) {
                tw_context *ctx = open_context();
                assert_ok(ctx, tw_set_threads(ctx, 1 + (int)((i + w) % 3)));
                tw_graph *graph =
                    shape_graph(ctx, shape, sizes[i], most[w], TW_I32, (i + w) % 2 == 1);
                check_folds(ctx, graph, &(asked){.type = TW_I32}, shapes[shape].name);
                tw_graph_destroy(graph);
                close_context(ctx);
            }
        }
    }
}

static void whole_numbers_in_floats_are_summed_up_as_well(void **state)
{
    (void)state;
    const tw_type types[] = {TW_F32, TW_F64};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int t = 0; t < 2; t++) {
            tw_context *ctx = open_context();
            tw_graph *graph = shape_graph(ctx, shape, 70, 90, types[t], t == 1);
            check_folds(ctx, graph, &(asked){.type = types[t]}, shapes[shape].name);
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

static void chosen_sources_keep_their_rows(void **state)
{
    (void)state;
    enum { N = 200 };
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 8, N, 50, TW_I32, false); /* components */
    for (int64_t count = 0; count <= 700; count = count * 2 + 1) {
        int32_t sources[700];
        for (int64_t i = 0; i < count; i++) { /* some twice, in no order */
            sources[i] = (int32_t)(twi_random_at(SEED, (uint64_t)i) % N);
        }
        check_folds(ctx, graph, &(asked){.type = TW_I32, .sources = sources, .count = count},
                    "chosen sources");
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Each type refuted by distances that it cannot hold, and the last of them rows again. */
static void distances_that_do_not_fit_widen_the_type(void **state)
{
    (void)state;
    const struct {
        uint64_t least;
        tw_type result, work;
    } cases[] = {{1, TW_I32, TW_U8},
                 {1000, TW_I32, TW_U16},
                 {2500, TW_I32, TW_U16},
                 {40000, TW_I32, TW_I32},
                 {900000000, TW_F64, TW_F64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int kind = 0; kind < 4; kind++) {
            const bool narrow = kind % 2 == 1;
            tw_context *ctx = open_context();
            edges e = {.n = 64, .most = 3, .least = cases[i].least};
            path(&e);
            if (narrow) { /* the plan's search begins at 32 and sees next to nothing */
                e.count = 0;
                for (int64_t v = 1; v < 30; v++) {
                    join(&e, v - 1, v);
                }
                join(&e, 32, 33);
            }
            tw_graph *graph = build(ctx, &e, TW_I32, kind > 1);
            tw_matrix all = true_distances(ctx, graph, cases[i].result);
            tw_apsp_summary *want = summary_of_rows(ctx, &all, NULL, 0);
            tw_apsp_summary *got = new_summary(ctx, 0, NULL);
            tw_apsp_plan *plan = plan_of(ctx, graph, &(asked){.type = cases[i].result});
            tw_apsp_report report = TW_APSP_REPORT_INIT;
            tw_sink sink = sink_of(got);
            assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
            assert_alike(got, want, "weights of many sizes");
            if (!narrow && i != 2) {
                assert_int_equal(report.work_type, cases[i].work);
            }
            tw_apsp_plan_destroy(plan);
            tw_apsp_summary_destroy(got);
            tw_apsp_summary_destroy(want);
            free(all.data);
            tw_graph_destroy(graph);
            clear(&e);
            close_context(ctx);
        }
    }
}

/* The same sentence as for rows, with the pair. */
static void a_distance_beyond_the_result_is_refused_with_its_pair(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 0, 80, 0, TW_I32, false);
    edges e = {.n = 80, .most = 0, .least = 7};
    path(&e);
    tw_graph_destroy(graph);
    graph = build(ctx, &e, TW_I32, false);
    char sentence[512];
    for (int folded = 0; folded < 2; folded++) {
        tw_apsp_summary *summary = new_summary(ctx, folded ? 0 : 8, NULL);
        tw_apsp_plan *plan = plan_of(ctx, graph, &(asked){.type = TW_U8});
        tw_sink sink = sink_of(summary);
        assert_int_equal(is_folded(ctx, plan, &sink, 1, NULL), folded);
        assert_fails(ctx, TW_ERR_RANGE, "u16", tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
        if (folded) {
            assert_string_equal(tw_last_error(ctx), sentence);
        }
        (void)snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
        tw_apsp_plan_destroy(plan);
        tw_apsp_summary_destroy(summary);
    }
    tw_graph_destroy(graph);
    clear(&e);
    close_context(ctx);
}

static void folds_stand_for_rows_only_where_nobody_misses_those(void **state)
{
    (void)state;
    enum { N = 40 };
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 5, N, 50, TW_I32, false);
    tw_graph *negative = small_graph(ctx, 6, N, SEED);
    tw_graph *real = small_graph(ctx, 5, N, SEED);
    const int32_t some[3] = {4, 2, 4};
    const int32_t same[3] = {4, 2, 4};
    const int32_t other[3] = {4, 2, 5};
    int32_t d[N * N];
    tw_matrix matrix = {d, N, N, N, TW_I32};
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    tw_apsp_summary *plain = new_summary(ctx, 0, NULL);
    tw_apsp_summary *counting = new_summary(ctx, 4, NULL);
    tw_apsp_summary *chosen = new_summary(ctx, 0, same);
    tw_apsp_summary *strange = new_summary(ctx, 0, other);
    const asked all = {.type = TW_I32};
    const asked three = {.type = TW_I32, .sources = some, .count = 3};
    const struct {
        const char *why;
        const tw_graph *graph;
        asked what;
        tw_apsp_summary *first, *second; /* sinks */
        bool matrix, predecessors, folded;
    } cases[] = {
        {"a summary", graph, all, plain, NULL, false, false, true},
        {"two summaries", graph, all, plain, plain, false, false, true},
        {"a histogram", graph, all, counting, NULL, false, false, false},
        {"a histogram beside", graph, all, plain, counting, false, false, false},
        {"a matrix beside", graph, all, plain, NULL, true, false, false},
        {"predecessors", graph, all, plain, NULL, false, true, false},
        {"no sink", graph, all, NULL, NULL, false, false, false},
        {"a cutoff", graph, {.type = TW_I32, .cutoff = 9}, plain, NULL, false, false, false},
        {"negative weights", negative, all, plain, NULL, false, false, false},
        {"fractions", real, {.type = TW_F64}, plain, NULL, false, false, false},
        {"sources", graph, three, chosen, NULL, false, false, true},
        {"sources that differ", graph, three, strange, NULL, false, false, false},
        {"sources unknown", graph, three, plain, NULL, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_sink into = TW_SINK_INIT;
        tw_apsp_plan *plan = plan_of(ctx, cases[i].graph, &cases[i].what);
        int32_t count = 0;
        assert_ok(ctx, tw_sink_to_matrix(ctx, &into, &matrix));
        if (cases[i].first != NULL) {
            sinks[count++] = sink_of(cases[i].first);
        }
        if (cases[i].second != NULL) {
            sinks[count++] = sink_of(cases[i].second);
        }
        if (cases[i].matrix) {
            sinks[count++] = into;
        }
        bool folded = is_folded(ctx, plan, sinks, count, cases[i].predecessors ? &into : NULL);
        if (folded != cases[i].folded) {
            fail_msg("%s: folded is %d", cases[i].why, folded);
        }
        tw_sink_destroy(&into);
        tw_apsp_plan_destroy(plan);
    }
    tw_apsp_summary_destroy(strange);
    tw_apsp_summary_destroy(chosen);
    tw_apsp_summary_destroy(counting);
    tw_apsp_summary_destroy(plain);
    tw_graph_destroy(real);
    tw_graph_destroy(negative);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* What was said of a run is for its plan alone. */
static void a_plan_for_summaries_serves_other_sinks_too(void **state)
{
    (void)state;
    enum { N = 300 };
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 5, N, 900, TW_I32, true);
    tw_matrix want = true_distances(ctx, graph, TW_I32);
    tw_matrix got = {calloc(N * N, sizeof(int32_t)), N, N, N, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    options.method = TW_APSP_METHOD_SWEEP;
    options.summary_only = 1;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
    assert_memory_equal(got.data, want.data, N * N * sizeof(int32_t));
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    free(got.data);
    free(want.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Columns and rows, but no matrix and no block of rows: a fraction of what a histogram needs. */
static void a_folded_run_holds_no_rows(void **state)
{
    (void)state;
    uint64_t peak[2];
    for (int folded = 0; folded < 2; folded++) {
        tw_context *ctx = open_context();
        assert_ok(ctx, tw_set_threads(ctx, 1));
        tw_graph *graph = shape_graph(ctx, 5, 3600, 9, TW_I32, true);
        tw_apsp_summary *summary = new_summary(ctx, folded ? 0 : 4, NULL);
        tw_apsp_plan *plan = plan_of(ctx, graph, &(asked){.type = TW_I32});
        tw_apsp_report report = TW_APSP_REPORT_INIT;
        tw_sink sink = sink_of(summary);
        assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
        peak[folded] = report.memory_peak;
        tw_apsp_plan_destroy(plan);
        tw_apsp_summary_destroy(summary);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
    assert_true(peak[1] + (4 << 20) < peak[0]);
}

/* Arcs that a breadth-first search of 512 sources looks at, folded: a path of 600 vertices, and
 * others without arcs. */
static double arcs_scanned(int64_t n)
{
    enum { PATH = 600, SOURCES = 512 };
    int32_t ends[2][PATH - 1], weights[PATH - 1], sources[SOURCES];
    for (int32_t i = 0; i < PATH - 1; i++) {
        ends[0][i] = i;
        ends[1][i] = i + 1;
        weights[i] = 1;
    }
    for (int32_t i = 0; i < SOURCES; i++) {
        sources[i] = i;
    }
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    const tw_edges list = {sizeof list, PATH - 1, ends[0], ends[1], weights, TW_I32, TW_I32};
    assert_ok(ctx, tw_set_threads(ctx, 1));
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &list, 0));
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_BFS;
    options.summary_only = 1;
    options.sources = sources;
    options.source_count = SOURCES;
    tw_apsp_summary *summary = new_summary(ctx, 0, sources);
    tw_sink sink = sink_of(summary);
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    tw_apsp_plan_destroy(plan);
    tw_apsp_summary_destroy(summary);
    tw_graph_destroy(graph);
    close_context(ctx);
    return report.relaxations;
}

static void batches_without_rows_are_as_wide_where_there_are_many_vertices(void **state)
{
    (void)state;
    assert_true(arcs_scanned(200000) == arcs_scanned(1000));
}

static void hand_over(tw_context *ctx, const tw_graph *graph, int64_t first, const twi_fold *fold,
                      tw_status want, const char *sentence)
{
    tw_apsp_plan *plan = plan_of(ctx, graph, &(asked){.type = TW_I32});
    tw_apsp_summary *summary = new_summary(ctx, 0, NULL);
    tw_sink sink = sink_of(summary);
    twi_delivery *delivery = NULL;
    assert_ok(ctx, twi_delivery_begin(ctx, &delivery, plan, NULL, &sink, 1, NULL));
    assert_fails(ctx, want, sentence, twi_delivery_folds(ctx, delivery, first, 1, fold));
    twi_delivery_destroy(ctx, delivery);
    tw_apsp_summary_destroy(summary);
    tw_apsp_plan_destroy(plan);
}

static void folds_out_of_turn_or_untrue_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    edges e = {.n = 5, .most = 0, .least = 3};
    path(&e);
    tw_graph *graph = build(ctx, &e, TW_I32, false);
    hand_over(ctx, graph, 1, &(twi_fold){4, 21, 9, 4}, TW_ERR_INTERNAL, "expected row 0");
    hand_over(ctx, graph, 0, &(twi_fold){4, 30, 13, -1}, TW_ERR_INTERNAL, "at 12 by a search");
    tw_graph_destroy(graph);
    clear(&e);
    close_context(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    tw_graph *graph = shape_graph(ctx, 6, 400, 200, TW_I32, false);
    int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t at = 1;
    for (; status != TW_OK; at++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_apsp_plan *plan = NULL;
        tw_apsp_summary *summary = NULL;
        options.method = TW_APSP_METHOD_SWEEP;
        twi_meter_fail_at(ctx->meter, at);
        status = tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL);
        if (status == TW_OK) {
            status = tw_apsp_plan_create(ctx, &plan, graph, &options);
        }
        if (status == TW_OK) {
            tw_sink sink = sink_of(summary);
            status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
        }
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        tw_apsp_plan_destroy(plan);
        tw_apsp_summary_destroy(summary);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    assert_true(at > 40);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void cancel_at(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)done;
    (void)total;
    (void)unit;
    if (strcmp(stage, "sweep") == 0) {
        tw_cancel(user);
    }
}

static void cancelling_leaves_nothing_in_the_summary(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 1)); /* which tells of its last batch, at least */
    tw_graph *graph = shape_graph(ctx, 5, 1600, 9, TW_I32, false);
    tw_apsp_summary *summary = new_summary(ctx, 0, NULL);
    tw_apsp_plan *plan = plan_of(ctx, graph, &(asked){.type = TW_I32});
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    tw_sink sink = sink_of(summary);
    tw_set_progress(ctx, cancel_at, ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "", tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
    assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
    assert_true(info.rows == 0 && tw_apsp_summary_eccentricity(summary) == NULL);
    tw_apsp_plan_destroy(plan);
    tw_apsp_summary_destroy(summary);
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_summed_up_as_by_its_rows),
        cmocka_unit_test(whole_numbers_in_floats_are_summed_up_as_well),
        cmocka_unit_test(chosen_sources_keep_their_rows),
        cmocka_unit_test(batches_without_rows_are_as_wide_where_there_are_many_vertices),
        cmocka_unit_test(distances_that_do_not_fit_widen_the_type),
        cmocka_unit_test(a_distance_beyond_the_result_is_refused_with_its_pair),
        cmocka_unit_test(folds_stand_for_rows_only_where_nobody_misses_those),
        cmocka_unit_test(a_plan_for_summaries_serves_other_sinks_too),
        cmocka_unit_test(a_folded_run_holds_no_rows),
        cmocka_unit_test(folds_out_of_turn_or_untrue_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(cancelling_leaves_nothing_in_the_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

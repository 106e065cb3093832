/* The verifier: right matrices pass, and a single wrong entry is found and named. */
#include "unit/small_graphs.h"

#include "apsp/shared/distance.h"
#include "base/matrix.h"

/* Verify a matrix as it stands; the status is that of the result. */
static tw_status verify(tw_context *ctx, const tw_graph *graph, const tw_apsp_options *opts,
                        const tw_matrix *m, int64_t samples, int64_t *rows)
{
    tw_apsp_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, graph, opts, samples, 42));
    assert_int_equal(tw_apsp_verifier_sink(verifier, &sink), TW_OK);
    tw_status status = tw_feed(ctx, m, &sink, 1);
    if (status == TW_OK) {
        status = tw_apsp_verifier_result(ctx, verifier, rows);
    }
    tw_sink_destroy(&sink);
    tw_apsp_verifier_destroy(verifier);
    return status;
}

static tw_type natural_type(const tw_graph *graph)
{
    return graph->integral ? TW_I32 : graph->weight_type;
}

static void right_matrices_of_every_kind_pass(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 5, 45};
    const tw_type types[] = {TW_AUTO, TW_F32, TW_F64};
    for (int threads = 1; threads <= 3; threads += 2) {
        tw_context *ctx = open_context();
        assert_ok(ctx, tw_set_threads(ctx, threads));
        for (int kind = 0; kind < SMALL_KINDS; kind++) {
            for (int s = 0; s < 5; s++) {
                tw_graph *graph = small_graph(ctx, kind, sizes[s], 3);
                for (int t = 0; t < 3; t++) {
                    tw_type type = types[t] == TW_AUTO ? natural_type(graph) : types[t];
                    tw_matrix m = true_distances(ctx, graph, type);
                    int64_t rows = -1;
                    assert_ok(ctx, verify(ctx, graph, NULL, &m, 0, &rows));
                    assert_int_equal(rows, sizes[s]);
                    assert_ok(ctx, verify(ctx, graph, NULL, &m, 7, &rows));
                    assert_int_equal(rows, sizes[s] < 7 ? sizes[s] : 7);
                    free(m.data);
                }
                tw_graph_destroy(graph);
            }
        }
        close_context(ctx);
    }
}

static void one_wrong_entry_anywhere_is_named(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t n = 23;
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        tw_graph *graph = small_graph(ctx, kind, n, 4);
        tw_type type = natural_type(graph);
        for (int64_t at = 0; at < n * n; at += 7) {
            for (int change = 0; change < 3; change++) {
                tw_matrix m = true_distances(ctx, graph, type);
                double old = twi_distance(m.data, type, at);
                double value = change == 0 ? old + 1 : change == 1 ? old - 1 : (double)INFINITY;
                char words[64];
                if (isinf(old)) {
                    value = 12345;
                }
                if (type == TW_I32) {
                    ((int32_t *)m.data)[at] = isinf(value) ? TW_APSP_INF_I32 : (int32_t)value;
                } else if (type == TW_F32) {
                    ((float *)m.data)[at] = (float)value;
                } else {
                    ((double *)m.data)[at] = value;
                }
                snprintf(words, sizeof words, "from %d to %d (row %d, column %d)", (int)(at / n),
                         (int)(at % n), (int)(at / n), (int)(at % n));
                assert_fails(ctx, TW_ERR_VERIFY, words, verify(ctx, graph, NULL, &m, 0, NULL));
                free(m.data);
            }
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void the_first_of_several_wrong_entries_is_named_for_any_team(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        tw_context *ctx = open_context();
        assert_ok(ctx, tw_set_threads(ctx, threads));
        tw_graph *graph = small_graph(ctx, 1, 30, 4);
        tw_matrix m = true_distances(ctx, graph, TW_I32);
        int32_t *d = m.data;
        d[11 * 30 + 4] += 1;
        d[11 * 30 + 3] += 1;
        d[29 * 30 + 0] += 1;
        assert_fails(ctx, TW_ERR_VERIFY, "row 11, column 3", verify(ctx, graph, NULL, &m, 0, NULL));
        free(m.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* Rows that are not drawn still have invariants. The one row drawn by seed 42 is not row 1. */
static void invariants_hold_in_rows_that_are_not_drawn(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}, {1, 2, 4.5}, {1, 0, 2}, {2, 3, 1}, {3, 4, 1}, {4, 5, 1}};
    static const struct {
        int64_t column;
        double value;
        const char *words;
    } wrongs[] = {
        {1, 1, "should be 0, as from every vertex to itself"},
        {2, (double)NAN, "is not a number"},
        {3, -2, "cannot be negative"},
        {2, 6, "is more than the weight of an arc there (4.5)"},
        {0, (double)INFINITY, "is more than the weight of an arc there (2)"},
    };
    tw_graph *graph = graph_of(ctx, 6, 6, arcs, TW_F64);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        tw_matrix m = true_distances(ctx, graph, TW_F64);
        double *row = twi_matrix_row(&m, 1);
        row[4] = 1e9; /* wrong, but only a search could tell */
        assert_ok(ctx, verify(ctx, graph, NULL, &m, 1, NULL));
        row[wrongs[i].column] = wrongs[i].value;
        assert_fails(ctx, TW_ERR_VERIFY, wrongs[i].words, verify(ctx, graph, NULL, &m, 1, NULL));
        free(m.data);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void floats_may_differ_by_rounding_and_no_more(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = small_graph(ctx, 5, 20, 8);
    tw_matrix m = true_distances(ctx, graph, TW_F64);
    double *d = m.data;
    for (int64_t i = 0; i < 400; i++) {
        d[i] = nextafter(d[i], 0);
    }
    assert_ok(ctx, verify(ctx, graph, NULL, &m, 0, NULL));
    d[5] *= 1 + 1e-11;
    assert_fails(ctx, TW_ERR_VERIFY, "row 0, column 5", verify(ctx, graph, NULL, &m, 0, NULL));
    free(m.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void parts_and_cutoffs_are_respected(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t sources[3] = {7, 2, 7};
    const int32_t targets[4] = {2, 19, 2, 0};
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        tw_graph *graph = small_graph(ctx, kind, 20, 6);
        tw_matrix full = true_distances(ctx, graph, TW_F64);
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        double part[12];
        tw_matrix m = {part, 3, 4, 4, TW_F64};
        opts.sources = sources;
        opts.source_count = 3;
        opts.targets = targets;
        opts.target_count = 4;
        opts.cutoff = 30;
        opts.type = TW_F64;
        for (int i = 0; i < 12; i++) {
            double value = ((double *)full.data)[sources[i / 4] * 20 + targets[i % 4]];
            part[i] = value > 30 ? (double)INFINITY : value;
        }
        assert_ok(ctx, verify(ctx, graph, &opts, &m, 0, NULL));
        for (int i = 0; i < 12; i++) {
            double kept = part[i];
            char words[32];
            part[i] = isinf(kept) ? 29 : (double)INFINITY;
            snprintf(words, sizeof words, "row %d, column %d", i / 4, i % 4);
            assert_fails(ctx, TW_ERR_VERIFY, words, verify(ctx, graph, &opts, &m, 0, NULL));
            part[i] = kept;
        }
        free(full.data);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}};
    const double cycle[][3] = {{0, 1, 3}, {1, 0, -4}};
    tw_graph *graph = graph_of(ctx, 2, 1, arcs, TW_I32);
    tw_graph *negative = graph_of(ctx, 2, 2, cycle, TW_I32);
    tw_apsp_verifier *verifier = NULL;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    int32_t data[9] = {0};
    tw_matrix m = {data, 3, 3, 3, TW_I32};
    const int32_t list[1] = {2};
    assert_fails(ctx, TW_ERR_ARGUMENT, "samples is -1",
                 tw_apsp_verifier_create(ctx, &verifier, graph, NULL, -1, 0));
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -1",
                 tw_apsp_verifier_create(ctx, &verifier, negative, NULL, 0, 0));
    opts.sources = list;
    opts.source_count = 1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "source number 0 is 2",
                 tw_apsp_verifier_create(ctx, &verifier, graph, &opts, 0, 0));
    opts.sources = NULL;
    opts.targets = list;
    opts.target_count = 1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "target number 0 is 2",
                 tw_apsp_verifier_create(ctx, &verifier, graph, &opts, 0, 0));
    assert_null(verifier);
    opts.targets = NULL;
    assert_fails(ctx, TW_ERR_VERIFY, "must be 2 x 2", verify(ctx, graph, &opts, &m, 0, NULL));
    m = (tw_matrix){data, 2, 2, 2, TW_I32};
    opts.type = TW_F32;
    assert_fails(ctx, TW_ERR_VERIFY, "the matrix has type i32; expected f32",
                 verify(ctx, graph, &opts, &m, 0, NULL));
    assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, graph, NULL, 0, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "not seen a whole matrix",
                 tw_apsp_verifier_result(ctx, verifier, NULL));
    tw_apsp_verifier_destroy(verifier);
    tw_apsp_verifier_destroy(NULL);
    tw_graph_destroy(graph);
    tw_graph_destroy(negative);
    close_context(ctx);
}

static void a_cancelled_verification_says_so(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = small_graph(ctx, 0, 10, 6);
    tw_matrix m = true_distances(ctx, graph, TW_I32);
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", verify(ctx, graph, NULL, &m, 0, NULL));
    free(m.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void no_memory_at_any_point_is_reported(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = small_graph(ctx, 6, 10, 6);
    const int32_t targets[2] = {1, 2};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_matrix full = true_distances(ctx, graph, TW_I32);
    tw_matrix m = {(int32_t *)full.data + 1, 10, 2, 10, TW_I32};
    tw_status status = TW_ERR_MEMORY;
    opts.targets = targets;
    opts.target_count = 2;
    for (int64_t k = 1; status != TW_OK; k++) {
        tw_apsp_verifier *verifier = NULL;
        tw_sink sink = TW_SINK_INIT;
        twi_meter_fail_at(ctx->meter, k);
        status = tw_apsp_verifier_create(ctx, &verifier, graph, &opts, 3, 1);
        if (status == TW_OK) {
            assert_int_equal(tw_apsp_verifier_sink(verifier, &sink), TW_OK);
            status = tw_feed(ctx, &m, &sink, 1);
        }
        if (status == TW_OK) {
            assert_ok(ctx, tw_apsp_verifier_result(ctx, verifier, NULL));
        }
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        tw_apsp_verifier_destroy(verifier);
    }
    twi_meter_fail_at(ctx->meter, 0);
    free(full.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_matrices_of_every_kind_pass),
        cmocka_unit_test(one_wrong_entry_anywhere_is_named),
        cmocka_unit_test(the_first_of_several_wrong_entries_is_named_for_any_team),
        cmocka_unit_test(invariants_hold_in_rows_that_are_not_drawn),
        cmocka_unit_test(floats_may_differ_by_rounding_and_no_more),
        cmocka_unit_test(parts_and_cutoffs_are_respected),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(a_cancelled_verification_says_so),
        cmocka_unit_test(no_memory_at_any_point_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

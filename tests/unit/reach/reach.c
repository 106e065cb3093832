/*
 * Reachability against a plain breadth-first search from every vertex: graphs of every shape, sizes
 * around the edges of words, squares and blocks; components, counts, layouts, parts, hostile
 * arguments, memory that runs out and runs that are cancelled.
 */
#include "harness.h"

#include "bits/tally.h"
#include "bits/transpose.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

static uint64_t state = 0x5eed0f15;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static tw_graph *graph_from(tw_context *ctx, int64_t n, const int32_t *from, const int32_t *to,
                            int64_t count, uint32_t flags)
{
    tw_graph *graph = NULL;
    tw_edges edges = TW_EDGES_INIT;
    edges.count = count;
    edges.source = from;
    edges.target = to;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, flags));
    return graph;
}

enum { SHAPES = 9 };

/* 0: random, about one arc a vertex; 1: random, many; 2: acyclic under a hidden order, sparse;
 * 3: the same, dense; 4: a path; 5: a ring; 6: undirected; 7: no arcs; 8: rings in a row, with
 * parallel arcs and loops */
static tw_graph *shaped(tw_context *ctx, int shape, int64_t n)
{
    const int64_t most = n * 40 + 16;
    int32_t *from = malloc((size_t)most * sizeof *from);
    int32_t *to = malloc((size_t)most * sizeof *to);
    int32_t *order = malloc((size_t)(n + 1) * sizeof *order);
    int64_t count = 0;
    for (int64_t v = 0; v < n; v++) {
        int64_t k = (int64_t)(draw() % (uint64_t)(v + 1));
        order[v] = order[k];
        order[k] = (int32_t)v;
    }
    const int64_t arcs = n < 2 ? 0 : shape == 1 ? 4 * n : shape == 3 ? 36 * n : n + n / 8;
    for (int64_t i = 0; i < arcs && shape <= 3; i++) {
        int64_t a = (int64_t)(draw() % (uint64_t)n), b = (int64_t)(draw() % (uint64_t)n);
        if (shape >= 2 && a > b) {
            int64_t swap = a;
            a = b;
            b = swap;
        }
        if (a != b || shape < 2) {
            from[count] = order[a];
            to[count++] = order[b];
        }
    }
    for (int64_t v = 0; v + 1 < n && (shape == 4 || shape == 5); v++) {
        from[count] = order[v];
        to[count++] = order[v + 1];
    }
    if (shape == 5 && n > 0) {
        from[count] = order[n - 1];
        to[count++] = order[0];
    }
    for (int64_t i = 0; i < n / 2 && shape == 6; i++) {
        from[count] = (int32_t)(draw() % (uint64_t)n);
        to[count++] = (int32_t)(draw() % (uint64_t)n);
    }
    for (int64_t v = 0; v < n && shape == 8; v++) {
        const int64_t first = v / 7 * 7, last = first + 7 < n ? first + 7 : n;
        for (int twice = 0; twice < 2; twice++) {
            from[count] = order[v];
            to[count++] = order[v + 1 < last ? v + 1 : first];
        }
        from[count] = order[v];
        to[count++] = order[v];
        if (v % 7 == 3 && v + 7 < n && v % 21 != 3) {
            from[count] = order[v];
            to[count++] = order[v + 7];
        }
    }
    tw_graph *graph = graph_from(ctx, n, from, to, count, shape == 6 ? TW_GRAPH_UNDIRECTED : 0);
    free(order);
    free(to);
    free(from);
    return graph;
}

/* What `source` reaches, as bytes; returns how many. */
static int64_t plain_search(const tw_graph *graph, int32_t source, uint8_t *reached, int32_t *queue)
{
    int64_t head = 0, tail = 0;
    memset(reached, 0, (size_t)graph->n);
    reached[source] = 1;
    queue[tail++] = source;
    while (head < tail) {
        const int32_t u = queue[head++];
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int32_t v = graph->targets[a];
            if (!reached[v]) {
                reached[v] = 1;
                queue[tail++] = v;
            }
        }
    }
    return tail;
}

/* The whole matrix of graph->n rows; counts of each row; returns the pairs. */
static int64_t plain_closure(const tw_graph *graph, uint8_t *matrix, int64_t *counts)
{
    int32_t *queue = malloc((size_t)(graph->n + 1) * sizeof *queue);
    int64_t pairs = 0;
    for (int64_t s = 0; s < graph->n; s++) {
        counts[s] = plain_search(graph, (int32_t)s, matrix + s * graph->n, queue);
        pairs += counts[s];
    }
    free(queue);
    return pairs;
}

static void run_into(tw_context *ctx, tw_reach_plan *plan, tw_matrix *out, int64_t *counts,
                     tw_reach_report *report)
{
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, out));
    assert_ok(ctx, tw_reach_plan_run(ctx, plan, &sink, 1, counts, report));
    tw_sink_destroy(&sink);
}

static void expect_components(const tw_reach_plan *plan, const uint8_t *want, int64_t n)
{
    const int32_t *of = tw_reach_plan_components(plan);
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
    assert_int_equal(tw_reach_plan_describe(plan, &info), TW_OK);
    tw_reach_plan_condensation(plan, &offsets, &targets);
    for (int64_t a = 0; a < n; a++) {
        assert_in_range((uint64_t)of[a], 0, (uint64_t)(info.components - 1));
        for (int64_t b = 0; b < n; b++) {
            assert_int_equal(of[a] == of[b], want[a * n + b] && want[b * n + a]);
            assert_true(!want[a * n + b] || of[a] <= of[b]);
        }
    }
    assert_int_equal(offsets[info.components], info.arcs);
    for (int64_t c = 0; c < info.components; c++) {
        for (int64_t i = offsets[c]; i < offsets[c + 1]; i++) {
            assert_true(targets[i] > c && targets[i] < info.components);
            assert_true(i == offsets[c] || targets[i] > targets[i - 1]);
        }
    }
}

/* Bytes, bits and counts of one graph. */
static void expect_closure(tw_context *ctx, const tw_graph *graph, const char *what)
{
    const int64_t n = graph->n, packed = (n + 7) / 8;
    uint8_t *want = malloc((size_t)(n * n + 1));
    uint8_t *got = malloc((size_t)(n * n + 1));
    int64_t *want_counts = malloc((size_t)(n + 1) * sizeof *want_counts);
    int64_t *counts = malloc((size_t)(n + 1) * sizeof *counts);
    const int64_t pairs = plain_closure(graph, want, want_counts);
    for (int layout = TW_REACH_BYTES; layout <= TW_REACH_BITS; layout++) {
        tw_reach_options opts = TW_REACH_OPTIONS_INIT;
        tw_reach_report report = TW_REACH_REPORT_INIT;
        tw_reach_plan *plan = NULL;
        const int64_t cols = layout == TW_REACH_BITS ? packed : n;
        tw_matrix out = {got, n, cols, cols, TW_U8};
        opts.layout = layout;
        assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
        expect_components(plan, want, n);
        memset(got, 0xa5, (size_t)(n * n + 1));
        memset(counts, 0xa5, (size_t)(n + 1) * sizeof *counts);
        run_into(ctx, plan, &out, counts, &report);
        for (int64_t at = 0; at < n * n; at++) {
            const int64_t i = at / n, j = at % n;
            const int bit = layout == TW_REACH_BITS ? (got[i * cols + j / 8] >> (j % 8)) & 1
                                                    : got[i * cols + j];
            if (bit != want[at]) {
                fail_msg("%s, n=%lld: (%lld, %lld) is %d", what, (long long)n, (long long)i,
                         (long long)j, bit);
            }
        }
        for (int64_t i = 0; i < n && layout == TW_REACH_BITS && n % 8 != 0; i++) {
            assert_int_equal(got[i * cols + cols - 1] >> (n % 8), 0);
        }
        assert_int_equal(report.pairs, pairs);
        assert_memory_equal(counts, want_counts, (size_t)n * sizeof *counts);
        memset(counts, 0xa5, (size_t)(n + 1) * sizeof *counts);
        report.pairs = -1;
        assert_ok(ctx, tw_reach_plan_run(ctx, plan, NULL, 0, counts, &report));
        assert_int_equal(report.pairs, pairs);
        assert_memory_equal(counts, want_counts, (size_t)n * sizeof *counts);
        memset(got, 0xa5, (size_t)(n * n + 1)); /* again: the plan has dropped arcs by now */
        run_into(ctx, plan, &out, NULL, &report);
        assert_int_equal(report.pairs, pairs);
        tw_reach_plan_destroy(plan);
    }
    free(counts);
    free(want_counts);
    free(got);
    free(want);
}

static void every_shape_is_closed_as_plain_searches_close_it(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 300, 511, 512, 513};
    tw_context *ctx = open_context();
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_ok(ctx, tw_set_threads(ctx, threads));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int shape = 0; shape < SHAPES; shape++) {
                if (emulated_sizes_only() && threads > 1 && (i + (size_t)shape) % 3 != 0) {
                    continue;
                }
                char what[64];
                snprintf(what, sizeof what, "shape %d, %d threads", shape, threads);
                tw_graph *graph = shaped(ctx, shape, sizes[i]);
                expect_closure(ctx, graph, what);
                tw_graph_destroy(graph);
            }
        }
    }
    close_context(ctx);
}

static void more_components_than_a_block_are_closed(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1023, 1024, 1025, 2100, 3500};
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (size_t i = 0; i < (small_sizes_only() ? 3 : 5); i++) {
        for (int shape = 2; shape < SHAPES; shape += i < 3 ? 1 : 3) {
            if (emulated_sizes_only() && ((int)i + shape) % 3 != 0) {
                continue;
            }
            tw_graph *graph = shaped(ctx, shape, sizes[i]);
            expect_closure(ctx, graph, "blocks");
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void a_path_of_half_a_million_vertices_needs_no_deep_stack(void **unused)
{
    (void)unused;
    const int64_t n = 500000;
    int32_t *from = malloc((size_t)n * sizeof *from), *to = malloc((size_t)n * sizeof *to);
    tw_context *ctx = open_context();
    for (int64_t v = 0; v < n; v++) {
        from[v] = (int32_t)v;
        to[v] = (int32_t)((v + 1) % n);
    }
    tw_graph *graph = graph_from(ctx, n, from, to, n - 1, 0);
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    const int32_t sources[] = {499999, 0, 123456};
    int64_t counts[3] = {-1, -1, -1};
    tw_reach_plan *plan = NULL;
    opts.sources = sources;
    opts.source_count = 3;
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
    assert_ok(ctx, tw_reach_plan_run(ctx, plan, NULL, 0, counts, NULL));
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], n);
    assert_int_equal(counts[2], n - 123456);
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    graph = graph_from(ctx, n, from, to, n, 0); /* closed to a ring: one component, all ones */
    tw_reach_report report = TW_REACH_REPORT_INIT;
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, NULL));
    assert_ok(ctx, tw_reach_plan_run(ctx, plan, NULL, 0, NULL, &report));
    assert_int_equal(report.pairs, n * n);
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(to);
    free(from);
}

static void rows_are_those_of_the_sources_in_their_order(void **unused)
{
    (void)unused;
    enum { N = 700, K = 1600 };
    tw_context *ctx = open_context();
    tw_graph *graph = shaped(ctx, 2, N);
    int32_t sources[K], queue[N];
    uint8_t want[N], *got = malloc(K * N);
    int64_t counts[K], again[K];
    for (int i = 0; i < K; i++) {
        sources[i] = (int32_t)(draw() % N); /* some more than once, some never */
    }
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_reach_plan *plan = NULL;
    tw_matrix out = {got, K, N, N, TW_U8};
    opts.sources = sources;
    opts.source_count = K;
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
    memset(got, 0xa5, K * N);
    run_into(ctx, plan, &out, counts, NULL);
    assert_ok(ctx, tw_reach_plan_run(ctx, plan, NULL, 0, again, NULL));
    for (int i = 0; i < K; i++) {
        assert_int_equal(counts[i], plain_search(graph, sources[i], want, queue));
        assert_memory_equal(got + i * N, want, N);
    }
    assert_memory_equal(counts, again, sizeof counts);
    tw_reach_plan_destroy(plan);
    opts.source_count = 0;
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
    out.rows = 0;
    run_into(ctx, plan, &out, NULL, NULL);
    assert_ok(ctx, tw_reach_plan_run(ctx, plan, NULL, 0, NULL, NULL));
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    free(got);
    close_context(ctx);
}

static void one_call_fills_the_callers_matrix(void **unused)
{
    (void)unused;
    tw_context *ctx = open_context();
    const int32_t from[] = {0, 1, 3}, to[] = {1, 2, 0};
    tw_graph *graph = graph_from(ctx, 4, from, to, 3, 0);
    uint8_t got[4 * 6];
    tw_matrix out = {got, 4, 4, 6, TW_U8};
    static const uint8_t want[] = {1, 1, 1, 0, 9, 9, 0, 1, 1, 0, 9, 9,
                                   0, 0, 1, 0, 9, 9, 1, 1, 1, 1, 9, 9};
    memset(got, 9, sizeof got);
    assert_ok(ctx, tw_reach(ctx, &out, graph, NULL));
    assert_memory_equal(got, want, sizeof got);
    out.type = TW_I32;
    assert_int_equal(tw_reach(ctx, &out, graph, NULL), TW_ERR_ARGUMENT);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void what_makes_no_sense_is_refused(void **unused)
{
    (void)unused;
    tw_context *ctx = open_context();
    tw_graph *graph = shaped(ctx, 4, 5);
    tw_reach_plan *plan = (void *)ctx;
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    const int32_t sources[] = {1, 5, -1};
    assert_fails(ctx, TW_ERR_ARGUMENT, "graph", tw_reach_plan_create(ctx, &plan, NULL, NULL));
    assert_null(plan);
    opts.layout = 7;
    assert_fails(ctx, TW_ERR_ARGUMENT, "layout 7", tw_reach_plan_create(ctx, &plan, graph, &opts));
    opts = (tw_reach_options)TW_REACH_OPTIONS_INIT;
    opts.reserved = 1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "reserved", tw_reach_plan_create(ctx, &plan, graph, &opts));
    opts = (tw_reach_options)TW_REACH_OPTIONS_INIT;
    opts.source_count = 3;
    assert_fails(ctx, TW_ERR_ARGUMENT, "no sources",
                 tw_reach_plan_create(ctx, &plan, graph, &opts));
    opts.sources = sources;
    assert_fails(ctx, TW_ERR_ARGUMENT, "source 1 is vertex 5",
                 tw_reach_plan_create(ctx, &plan, graph, &opts));
    opts.source_count = -1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "source_count is -1",
                 tw_reach_plan_create(ctx, &plan, graph, &opts));
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "sink_count is 1",
                 tw_reach_plan_run(ctx, plan, NULL, 1, NULL, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "plan", tw_reach_plan_run(ctx, NULL, NULL, 0, NULL, NULL));
    assert_int_equal(tw_reach_plan_describe(NULL, NULL), TW_ERR_ARGUMENT);
    assert_null(tw_reach_plan_components(NULL));
    tw_reach_plan_condensation(NULL, NULL, NULL);
    tw_reach_plan_destroy(plan);
    tw_reach_plan_destroy(NULL);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void memory_that_runs_out_is_said_and_leaks_nothing(void **unused)
{
    (void)unused;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (int dense = 0; dense < 2; dense++) {
        tw_graph *graph = shaped(ctx, dense ? 3 : 0, 150);
        uint8_t *got = malloc(150 * 150);
        tw_matrix out = {got, 150, 150, 150, TW_U8};
        int64_t counts[150];
        int failures = 0;
        for (int64_t k = 1;; k++) {
            tw_reach_plan *plan = NULL;
            const int64_t before = twi_meter_blocks(ctx->meter);
            twi_meter_fail_at(ctx->meter, k);
            tw_status status = tw_reach_plan_create(ctx, &plan, graph, NULL);
            if (status == TW_OK) {
                status = tw_reach_plan_run(ctx, plan, NULL, 0, counts, NULL);
            }
            tw_reach_plan_destroy(plan);
            if (status == TW_OK) {
                status = tw_reach(ctx, &out, graph, NULL);
            }
            twi_meter_fail_at(ctx->meter, 0);
            assert_int_equal(twi_meter_blocks(ctx->meter), before);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            failures++;
        }
        assert_true(failures > 20);
        free(got);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void a_limit_of_memory_is_kept_or_refused(void **unused)
{
    (void)unused;
    tw_context *ctx = open_context();
    tw_graph *graph = shaped(ctx, 2, 4000);
    tw_reach_plan *plan = NULL;
    tw_reach_report report = TW_REACH_REPORT_INIT;
    uint8_t *got = malloc(4000 * 500);
    tw_matrix out = {got, 4000, 500, 500, TW_U8};
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
    tw_sink sink = TW_SINK_INIT;
    opts.layout = TW_REACH_BITS;
    assert_ok(ctx, tw_set_threads(ctx, 4));
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, &opts));
    assert_ok(ctx, tw_reach_plan_describe(plan, &info));
    run_into(ctx, plan, &out, NULL, &report);
    assert_true(report.memory_peak <= info.memory + tw_memory_used(ctx));
    const uint64_t each = info.memory / (uint64_t)report.threads;
    if (report.threads > 1) { /* else there is no fewer */
        const uint64_t once = tw_memory_used(ctx) + info.memory * 2 / 3;
        assert_ok(ctx, tw_set_memory(ctx, once)); /* for one thread, not for four */
        run_into(ctx, plan, &out, NULL, &report);
        assert_true(report.memory_peak <= once);
    }
    uint8_t *again = malloc(4000 * 500);
    memcpy(again, got, 4000 * 500);
    for (int part = 3; part <= 12; part *= 2) { /* blocks of fewer and fewer sources */
        const uint64_t less = tw_memory_used(ctx) + each / (uint64_t)part;
        assert_ok(ctx, tw_set_memory(ctx, less));
        memset(got, 0xa5, 4000 * 500);
        run_into(ctx, plan, &out, NULL, &report);
        assert_true(report.memory_peak <= less);
        assert_memory_equal(got, again, 4000 * 500);
    }
    free(again);
    assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + 4096));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &out));
    assert_int_equal(tw_reach_plan_run(ctx, plan, &sink, 1, NULL, NULL), TW_ERR_MEMORY);
    tw_sink_destroy(&sink);
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    free(got);
    close_context(ctx);
}

typedef struct stopper {
    tw_context *ctx;
    int calls;
} stopper;

static void stop_at_once(void *user, const char *stage, double done, double total, const char *unit)
{
    stopper *s = user;
    (void)stage, (void)unit;
    assert_true(done <= total);
    s->calls++;
    tw_cancel(s->ctx);
}

static void a_run_reports_progress_and_can_be_cancelled(void **unused)
{
    (void)unused;
    tw_context *ctx = open_context();
    tw_graph *graph = shaped(ctx, 2, 3000);
    tw_reach_plan *plan = NULL;
    stopper s = {ctx, 0};
    uint8_t *got = malloc(3000 * 3000);
    tw_matrix out = {got, 3000, 3000, 3000, TW_U8};
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_set_threads(ctx, 1));
    tw_set_progress(ctx, stop_at_once, &s);
    assert_int_equal(tw_reach_plan_create(ctx, &plan, graph, NULL), TW_ERR_CANCELLED);
    assert_true(s.calls > 0);
    tw_clear_cancel(ctx);
    tw_set_progress(ctx, NULL, NULL);
    assert_ok(ctx, tw_reach_plan_create(ctx, &plan, graph, NULL));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &out));
    tw_cancel(ctx);
    assert_int_equal(tw_reach_plan_run(ctx, plan, NULL, 0, NULL, NULL), TW_ERR_CANCELLED);
    assert_int_equal(tw_reach_plan_run(ctx, plan, &sink, 1, NULL, NULL), TW_ERR_CANCELLED);
    tw_clear_cancel(ctx);
    s.calls = 0;
    tw_set_progress(ctx, stop_at_once, &s);
    assert_int_equal(tw_reach_plan_run(ctx, plan, &sink, 1, NULL, NULL), TW_ERR_CANCELLED);
    assert_true(s.calls > 0);
    tw_sink_destroy(&sink);
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    free(got);
    close_context(ctx);
}

static void squares_of_bits_are_mirrored(void **unused)
{
    (void)unused;
    uint64_t square[TWI_BITS_SIDE], before[TWI_BITS_SIDE];
    for (int i = 0; i < TWI_BITS_SIDE; i++) {
        before[i] = square[i] = draw();
    }
    twi_bits_transpose(square);
    for (int i = 0; i < TWI_BITS_SIDE; i++) {
        for (int j = 0; j < TWI_BITS_SIDE; j++) {
            assert_int_equal((square[i] >> j) & 1, (before[j] >> i) & 1);
        }
    }
}

static void tallies_are_sums_of_weights(void **unused)
{
    (void)unused;
    twi_tally *tally = malloc(sizeof *tally);
    int64_t want[64 * TWI_TALLY_WORDS] = {0};
    memset(tally, 0xa5, sizeof *tally);
    twi_tally_clear(tally);
    for (int round = 0; round < 300; round++) {
        uint64_t row[TWI_TALLY_WORDS];
        const uint64_t weight = round % 3 == 0 ? draw() % 1000000 : 1;
        for (int i = 0; i < TWI_TALLY_WORDS; i++) {
            row[i] = draw() | (i == 0);
            for (int k = 0; k < 64; k++) {
                want[64 * i + k] += (row[i] >> k) & 1 ? (int64_t)weight : 0;
            }
        }
        twi_tally_add(tally, row, weight);
    }
    for (int i = 0; i < 64 * TWI_TALLY_WORDS; i++) {
        assert_int_equal(twi_tally_sum(tally, i), want[i]);
    }
    free(tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_of_bits_are_mirrored),
        cmocka_unit_test(tallies_are_sums_of_weights),
        cmocka_unit_test(every_shape_is_closed_as_plain_searches_close_it),
        cmocka_unit_test(more_components_than_a_block_are_closed),
        cmocka_unit_test(a_path_of_half_a_million_vertices_needs_no_deep_stack),
        cmocka_unit_test(rows_are_those_of_the_sources_in_their_order),
        cmocka_unit_test(one_call_fills_the_callers_matrix),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(memory_that_runs_out_is_said_and_leaks_nothing),
        cmocka_unit_test(a_limit_of_memory_is_kept_or_refused),
        cmocka_unit_test(a_run_reports_progress_and_can_be_cancelled),
    };
    print_message("seed %llx\n", (unsigned long long)state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

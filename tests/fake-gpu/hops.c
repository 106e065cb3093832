/*
 * Hop distances on a GPU, without one: the engine (src/apsp/gpu/hops.c) on a runtime that runs what
 * is queued in any order the events allow, and its kernels thread by thread
 * (emulated/gpu/compat.h), with pieces of lists and buffers so small that there are many of them.
 * Against a plain search from each vertex.
 */
#include "runtime.h"

#include "apsp/gpu/hops.h"
#include "apsp/gpu/kernels/hops.h"
#include "base/random.h"
#include "graph/graph.h"

#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { FAR = TW_APSP_INF_I32, LITTLE = 200 /* bytes that no plan counts */ };

typedef struct problem {
    tw_graph *graph;
    int64_t n;
    int32_t *expected;
} problem;

static void search(const tw_graph *graph, int32_t source, int32_t *row, int32_t *queue)
{
    int64_t head = 0, tail = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        row[v] = FAR;
    }
    row[source] = 0;
    queue[tail++] = source;
    while (head < tail) {
        const int32_t u = queue[head++];
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (row[graph->targets[a]] == FAR) {
                row[graph->targets[a]] = row[u] + 1;
                queue[tail++] = graph->targets[a];
            }
        }
    }
}

enum { SPARSE, DENSE, PATH, STAR, ISLANDS, KINDS };

static problem make_problem(tw_context *ctx, int kind, int64_t n, uint64_t seed, bool undirected)
{
    problem p = {.n = n, .expected = malloc((size_t)(n * n + 1) * sizeof(int32_t))};
    const int64_t most = kind == DENSE ? n * n / 4 : 3 * n;
    int32_t *source = malloc((size_t)(most + 1) * sizeof *source);
    int32_t *target = malloc((size_t)(most + 1) * sizeof *target);
    int32_t *queue = malloc((size_t)(n + 1) * sizeof *queue);
    int64_t count = 0;
    for (int64_t i = 0; i < most && n > 1; i++) {
        const uint64_t random = twi_random_at(seed, (uint64_t)i);
        int64_t u = (int64_t)twi_random_below(random, (uint64_t)n);
        int64_t v = (int64_t)twi_random_below(twi_random_at(random, 1), (uint64_t)n);
        if (kind == PATH && i < n - 1) {
            u = i * 7 % n;
            v = (i + 1) * 7 % n;
        } else if (kind == PATH) {
            break;
        } else if (kind == STAR) {
            u = i % 2 == 0 ? 3 % n : i / 2 % n;
            v = i % 2 == 0 ? i / 2 % n : 5 % n;
        } else if (kind == ISLANDS) {
            v = u / 9 * 9 + v % 9 < n ? u / 9 * 9 + v % 9 : u;
        } else if (kind == SPARSE && i > n + n / 3) {
            break;
        }
        source[count] = (int32_t)u;
        target[count++] = (int32_t)v;
    }
    tw_edges edges = TW_EDGES_INIT;
    edges.count = count;
    edges.source = source;
    edges.target = target;
    assert_ok(ctx,
              tw_graph_from_edges(ctx, &p.graph, n, &edges, undirected ? TW_GRAPH_UNDIRECTED : 0));
    for (int64_t s = 0; s < n; s++) {
        search(p.graph, (int32_t)s, p.expected + s * n, queue);
    }
    free(queue);
    free(target);
    free(source);
    return p;
}

static void clear_problem(problem *p)
{
    tw_graph_destroy(p->graph);
    free(p->expected);
}

static tw_apsp_plan plan_of(const problem *p)
{
    static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;
    return (tw_apsp_plan){
        .graph = p->graph,
        .options = defaults,
        .method = TW_APSP_METHOD_BFS,
        .type = TW_I32,
        .work_type = TW_U8,
        .gpus = {.count = 1, .index = {1}},
        .gpu_allowed = UINT64_MAX,
        .threads = 1,
        .symmetric = p->graph->undirected,
    };
}

static tw_status run(tw_context *ctx, const tw_apsp_plan *plan, tw_matrix *out,
                     twi_gpu_outcome *outcome)
{
    twi_delivery *delivery = NULL;
    tw_sink sink = TW_SINK_INIT;
    double arcs = 0;
    tw_status status = tw_sink_to_matrix(ctx, &sink, out);
    if (status == TW_OK) {
        status = twi_delivery_begin(ctx, &delivery, plan, NULL, &sink, 1, NULL);
    }
    if (status == TW_OK) {
        status = twi_gpu_hops_run(ctx, plan, delivery, outcome, &arcs);
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    twi_delivery_destroy(ctx, delivery);
    tw_sink_destroy(&sink);
    return status;
}

static void assert_rows(const problem *p, const tw_apsp_plan *plan, const int32_t *got)
{
    const int64_t cols = twi_plan_cols(plan);
    for (int64_t i = 0; i < twi_plan_rows(plan); i++) {
        for (int64_t j = 0; j < cols; j++) {
            int32_t want = p->expected[twi_plan_source(plan, i) * p->n + twi_plan_target(plan, j)];
            want = plan->options.cutoff >= 0 && want > plan->options.cutoff ? FAR : want;
            if (got[i * cols + j] != want) {
                fail_msg("n=%lld: row %lld, column %lld: %d, not %d", (long long)p->n, (long long)i,
                         (long long)j, got[i * cols + j], want);
            }
        }
    }
}

/* Runs a plan into poisoned rows, and compares. */
static void expect_rows(tw_context *ctx, const problem *p, const tw_apsp_plan *plan, uint64_t seed,
                        tw_type used)
{
    const int64_t rows = twi_plan_rows(plan), cols = twi_plan_cols(plan);
    int32_t *got = malloc((size_t)(rows * cols + 1) * sizeof *got);
    tw_matrix out = {got, rows, cols, cols, TW_I32};
    twi_gpu_outcome outcome;
    memset(got, 0xA5, (size_t)(rows * cols) * sizeof *got);
    fake_begin(seed, 0);
    assert_ok(ctx, run(ctx, plan, &out, &outcome));
    assert_rows(p, plan, got);
    assert_int_equal(outcome.used, used);
    assert_true(fake_peak(1) <= twi_gpu_hops_bytes(plan));
    assert_int_equal(fake_live_without(ctx), 0);
    free(got);
}

static void rows_are_those_of_plain_searches(void **state)
{
    tw_context *ctx = *state;
    static const int64_t sizes[] = {0, 1, 2, 33, 64, 65};
    for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int undirected = 0; undirected < 2; undirected++) {
                problem p = make_problem(ctx, kind, sizes[i], i + 10, undirected);
                tw_apsp_plan plan = plan_of(&p);
                expect_rows(ctx, &p, &plan, i, TW_U8);
                clear_problem(&p);
            }
        }
    }
}

static void deep_graphs_go_on_in_windows_and_in_two_bytes(void **state)
{
    tw_context *ctx = *state;
    static const int64_t sizes[] = {15, 16, 17, 18, 32, 255, 257};
    for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        problem p = make_problem(ctx, PATH, sizes[i], 1, i % 2 == 1);
        tw_apsp_plan plan = plan_of(&p);
        const bool fits = sizes[i] % 7 == 0 || sizes[i] - 1 < TW_APSP_INF_U8;
        expect_rows(ctx, &p, &plan, i, fits ? TW_U8 : TW_U16);
        clear_problem(&p);
    }
}

static void more_sources_than_a_batch_are_searched_in_several(void **state)
{
    tw_context *ctx = *state;
    enum { N = 60, ROWS = 4300 };
    problem p = make_problem(ctx, SPARSE, N, 4, false);
    tw_apsp_plan plan = plan_of(&p);
    int32_t *sources = malloc(ROWS * sizeof *sources);
    static const int32_t targets[] = {7, 0, 7};
    for (int i = 0; i < ROWS; i++) {
        sources[i] = i * 13 % 50; /* many times, and some never */
    }
    plan.options.sources = sources;
    plan.options.source_count = ROWS; /* of rows that are long */
    plan.options.targets = targets;
    plan.options.target_count = 3;
    expect_rows(ctx, &p, &plan, 1, TW_U8);
    plan.gpu_allowed = 1000; /* no room: short ones */
    plan.options.cutoff = 3;
    fake_begin(1, 0);
    expect_rows(ctx, &p, &plan, 2, TW_U8);
    plan.options.source_count = 5;
    expect_rows(ctx, &p, &plan, 3, TW_U8);
    free(sources);
    clear_problem(&p);
}

static void a_summary_is_folded_on_the_device(void **state)
{
    tw_context *ctx = *state;
    for (int kind = 0; kind < KINDS; kind++) {
        const int64_t n = kind == PATH ? 34 : 70;
        problem p = make_problem(ctx, kind, n, 8, kind == SPARSE);
        tw_apsp_plan plan = plan_of(&p);
        tw_apsp_summary *summary = NULL;
        tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
        tw_sink sink = TW_SINK_INIT;
        twi_delivery *delivery = NULL;
        twi_gpu_outcome outcome;
        double arcs = 0, sum = 0;
        int64_t reachable = 0, diameter = 0;
        for (int64_t i = 0; i < n * n; i++) {
            const bool counts = p.expected[i] != FAR && i / n != i % n;
            reachable += counts;
            sum += counts ? p.expected[i] : 0;
            diameter = counts && p.expected[i] > diameter ? p.expected[i] : diameter;
        }
        assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
        assert_ok(ctx, tw_apsp_summary_sink(summary, &sink));
        fake_begin(3, 0);
        assert_ok(ctx, twi_delivery_begin(ctx, &delivery, &plan, NULL, &sink, 1, NULL));
        assert_true(twi_delivery_is_folded(delivery));
        plan.options.summary_only = kind % 2; /* as announced, or found out by the run */
        twi_meter_restart_peak(ctx->meter);
        const uint64_t before = twi_meter_live(ctx->meter);
        assert_ok(ctx, twi_gpu_hops_run(ctx, &plan, delivery, &outcome, &arcs));
        const uint64_t held = twi_meter_peak(ctx->meter) - before;
        assert_true(held <= twi_gpu_hops_memory(&plan) + LITTLE);
        assert_true(kind % 2 == 0 || 2 * held >= twi_gpu_hops_memory(&plan));
        assert_ok(ctx, twi_delivery_end(ctx, delivery));
        twi_delivery_destroy(ctx, delivery);
        assert_int_equal(fake_live_without(ctx), 0);
        assert_true(fake_peak(1) + (kind % 2 == 0 ? (size_t)n * 1024 : 0) <= /* no slab */
                    twi_gpu_hops_bytes(&plan));
        assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
        assert_int_equal(info.reachable, reachable);
        assert_true(info.diameter == (double)diameter);
        assert_true(reachable == 0 || info.mean == sum / (double)reachable);
        for (int64_t v = 0; v < n; v++) {
            int32_t most = 0;
            for (int64_t t = 0; t < n; t++) {
                const int32_t d = p.expected[v * n + t];
                most = d != FAR && d > most ? d : most;
            }
            assert_true(tw_apsp_summary_eccentricity(summary)[v] == most);
        }
        tw_sink_destroy(&sink);
        tw_apsp_summary_destroy(summary);
        clear_problem(&p);
    }
}

/* Sums of them would not be whole numbers that the device counts in. */
static void a_summary_of_weights_beyond_i32_is_made_of_rows(void **state)
{
    tw_context *ctx = *state;
    enum { N = 5 };
    int32_t source[N], target[N];
    double weight[N];
    tw_edges edges = TW_EDGES_INIT;
    problem p = {.n = N};
    for (int v = 0; v < N; v++) {
        source[v] = v;
        target[v] = (v + 1) % N;
        weight[v] = 4e18;
    }
    edges.count = N;
    edges.source = source;
    edges.target = target;
    edges.weight = weight;
    edges.weight_type = TW_F64;
    assert_ok(ctx, tw_graph_from_edges(ctx, &p.graph, N, &edges, 0));
    tw_apsp_plan plan = plan_of(&p);
    tw_apsp_summary *summary = NULL;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    tw_sink sink = TW_SINK_INIT;
    twi_delivery *delivery = NULL;
    twi_gpu_outcome outcome;
    double arcs = 0;
    plan.type = TW_F64;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
    assert_ok(ctx, tw_apsp_summary_sink(summary, &sink));
    fake_begin(3, 0);
    assert_ok(ctx, twi_delivery_begin(ctx, &delivery, &plan, NULL, &sink, 1, NULL));
    assert_ok(ctx, twi_gpu_hops_run(ctx, &plan, delivery, &outcome, &arcs));
    assert_ok(ctx, twi_delivery_end(ctx, delivery));
    twi_delivery_destroy(ctx, delivery);
    assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
    assert_int_equal(info.reachable, N * (N - 1));
    assert_true(info.diameter == (N - 1) * 4e18);
    assert_true(info.mean == 1e19);
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    tw_graph_destroy(p.graph);
}

static void a_matrix_on_the_device_is_filled_where_it_lies(void **state)
{
    tw_context *ctx = *state;
    static const struct {
        int kind;
        int64_t n, stride, shift;
        tw_type type;
    } cases[] = {
        {SPARSE, 50, 50, 0, TW_U8},  {SPARSE, 70, 80, 0, TW_U8}, {DENSE, 64, 64, 0, TW_U8},
        {SPARSE, 70, 77, 3, TW_U8},  {STAR, 80, 80, 0, TW_U8},   {PATH, 40, 48, 0, TW_U8},
        {SPARSE, 50, 50, 0, TW_U16}, {PATH, 66, 72, 0, TW_U16},  {PATH, 66, 67, 2, TW_U16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem p = make_problem(ctx, cases[i].kind, cases[i].n, 3 + i, i % 3 == 2);
        const int64_t n = p.n, stride = cases[i].stride;
        const size_t size = tw_type_size(cases[i].type), bytes = (size_t)(n * stride) * size;
        char *data = NULL;
        double seconds = -1;
        fake_begin(i, 0);
        assert_int_equal(cudaSetDevice(1), 0);
        assert_int_equal(cudaMalloc((void **)&data, bytes + 64), 0);
        memset(data, 0xA5, bytes + 64);
        tw_matrix out = {data + (size_t)cases[i].shift * size, n, n, stride, cases[i].type};
        assert_ok(ctx, twi_gpu_hops_matrix(ctx, 1, p.graph, &out, &seconds));
        assert_true(seconds >= 0);
        for (int64_t at = 0; at < n * stride; at++) {
            const int64_t v = at / stride, t = at % stride;
            const char *element = (const char *)out.data + (size_t)at * size;
            uint16_t got = size == 1 ? *(const uint8_t *)element : *(const uint16_t *)element;
            const int infinite = size == 1 ? TW_APSP_INF_U8 : TW_APSP_INF_U16;
            int want = size == 1 ? 0xA5 : 0xA5A5; /* what lies between rows stays */
            if (t < n) {
                want = p.expected[v * n + t] == FAR ? infinite : p.expected[v * n + t];
            }
            if (got != want) {
                fail_msg("case %zu: (%lld, %lld) is %d, not %d", i, (long long)v, (long long)t, got,
                         want);
            }
        }
        assert_int_equal(cudaFree(data), 0);
        assert_int_equal(fake_live_without(ctx), 0);
        clear_problem(&p);
    }
}

/* Short rows of bits, so that there are several batches: a path behind a graph of few hops, which
 * the batch before it does not tell of. Lists are in ascending order or mixed. */
static void search_star_and_path(tw_context *ctx, bool mixed)
{
    enum { N = 2 * 128 * TWI_HOPS_FEW_LANES + 70, TAIL = 30 };
    int32_t *source = malloc(2 * N * sizeof *source), *target = malloc(2 * N * sizeof *target);
    int64_t count = 0;
    for (int i = 1; i < N; i++) {
        const int v = mixed ? 1 + i * 1000 % (N - 1) : i;
        source[count] = v;
        target[count++] = v < N - TAIL ? 0 : v - 1; /* a star, and a path that leads to it */
    }
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    edges.count = count;
    edges.source = source;
    edges.target = target;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, TW_GRAPH_UNDIRECTED));
    uint8_t *data = NULL;
    double seconds = 0;
    fake_begin(1, 0);
    assert_int_equal(cudaSetDevice(1), 0);
    assert_int_equal(cudaMalloc((void **)&data, (size_t)N * N), 0);
    tw_matrix out = {data, N, N, N, TW_U8};
    assert_ok(ctx, twi_gpu_hops_matrix(ctx, 1, graph, &out, &seconds));
    for (int64_t v = 0; v < N; v += v < 40 || v > N - 60 ? 1 : 97) {
        for (int64_t t = 0; t < N; t++) {
            const int64_t low = v < t ? v : t, high = v < t ? t : v;
            const int64_t last = N - TAIL - 1; /* of the star; the path begins there */
            int64_t want = low == high ? 0 : low == 0 ? 1 : 2;
            if (high > last) {
                want = low > last ? high - low : high - last + (low == last ? 0 : low == 0 ? 1 : 2);
            }
            if (data[v * N + t] != want) {
                fail_msg("(%lld, %lld) is %d, not %lld", (long long)v, (long long)t,
                         data[v * N + t], (long long)want);
            }
        }
    }
    assert_int_equal(cudaFree(data), 0);
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(graph);
    free(target);
    free(source);
}

static void batches_that_go_deeper_than_the_one_before_are_searched_again(void **state)
{
    if (2 * 128 * TWI_HOPS_FEW_LANES < TWI_HOPS_FEW_SEARCHES) { /* else there is but one batch */
        search_star_and_path(*state, false);
        search_star_and_path(*state, true);
    }
}

static void a_distance_that_a_byte_cannot_hold_is_refused(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, PATH, 257, 1, false);
    uint8_t *data = NULL;
    double seconds = 0;
    fake_begin(1, 0);
    assert_int_equal(cudaSetDevice(1), 0);
    assert_int_equal(cudaMalloc((void **)&data, 257 * 257), 0);
    tw_matrix out = {data, 257, 257, 257, TW_U8};
    assert_fails(ctx, TW_ERR_RANGE, "254 hops, the maximum of type u8; use u16",
                 twi_gpu_hops_matrix(ctx, 1, p.graph, &out, &seconds));
    assert_int_equal(cudaFree(data), 0);
    assert_int_equal(fake_live_without(ctx), 0);
    clear_problem(&p);
}

static tw_status run_folded(tw_context *ctx, const tw_apsp_plan *plan)
{
    twi_delivery *delivery = NULL;
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    twi_gpu_outcome outcome;
    double arcs = 0;
    tw_status status = tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL);
    if (status == TW_OK) {
        status = tw_apsp_summary_sink(summary, &sink);
    }
    if (status == TW_OK) {
        status = twi_delivery_begin(ctx, &delivery, plan, NULL, &sink, 1, NULL);
    }
    if (status == TW_OK) {
        assert_true(twi_delivery_is_folded(delivery));
        status = twi_gpu_hops_run(ctx, plan, delivery, &outcome, &arcs);
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    twi_delivery_destroy(ctx, delivery);
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    return status;
}

static void failing_calls_of_a_summary_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, STAR, 19, 5, false);
    tw_apsp_plan plan = plan_of(&p);
    const int64_t before = twi_meter_blocks(ctx->meter);
    for (int memory = 0; memory < 2; memory++) {
        tw_status status = TW_ERR_DEVICE;
        for (int64_t call = 1; status != TW_OK; call++) {
            fake_begin(7, memory ? 0 : call);
            twi_meter_fail_at(ctx->meter, memory ? call : 0);
            status = run_folded(ctx, &plan);
            twi_meter_fail_at(ctx->meter, 0);
            assert_true(status == TW_OK || status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
            assert_true(status != TW_OK || call > (memory ? 5 : 15));
            assert_int_equal(fake_live_without(ctx), 0);
            assert_int_equal(twi_meter_blocks(ctx->meter), before);
        }
    }
    clear_problem(&p);
}

static void failing_calls_are_told_and_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, STAR, 19, 5, false);
    tw_apsp_plan plan = plan_of(&p);
    const int64_t before = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_DEVICE;
    for (int64_t call = 1; status != TW_OK; call++) {
        int32_t got[19 * 19];
        tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
        twi_gpu_outcome outcome;
        fake_begin(7, call);
        status = run(ctx, &plan, &out, &outcome);
        if (status != TW_OK) {
            assert_true(status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
            assert_non_null(strstr(tw_last_error(ctx), "as planned"));
        } else {
            assert_rows(&p, &plan, got);
            assert_true(call > 30); /* there were that many to fail */
        }
        assert_int_equal(fake_live_without(ctx), 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), before);
    }
    for (int64_t block = 1, failures = 0;; block++) {
        int32_t got[19 * 19];
        tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
        twi_gpu_outcome outcome;
        fake_begin(7, 0);
        twi_meter_fail_at(ctx->meter, block);
        status = run(ctx, &plan, &out, &outcome);
        twi_meter_fail_at(ctx->meter, 0);
        assert_int_equal(fake_live_without(ctx), 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), before);
        if (status == TW_OK) {
            assert_true(failures > 3);
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        failures++;
    }
    clear_problem(&p);
}

static void a_cancelled_run_ends_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, SPARSE, 40, 5, false);
    tw_apsp_plan plan = plan_of(&p);
    int32_t got[40 * 40];
    tw_matrix out = {got, 40, 40, 40, TW_I32};
    twi_gpu_outcome outcome;
    fake_begin(7, 0);
    tw_cancel(ctx);
    assert_int_equal(run(ctx, &plan, &out, &outcome), TW_ERR_CANCELLED);
    tw_clear_cancel(ctx);
    assert_int_equal(fake_live_without(ctx), 0);
    clear_problem(&p);
}

static int open_one(void **state)
{
    tw_context *ctx = open_context();
    *state = ctx;
    return tw_set_threads(ctx, 1);
}

static int close_one(void **state)
{
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_plain_searches),
        cmocka_unit_test(deep_graphs_go_on_in_windows_and_in_two_bytes),
        cmocka_unit_test(more_sources_than_a_batch_are_searched_in_several),
        cmocka_unit_test(a_summary_is_folded_on_the_device),
        cmocka_unit_test(a_summary_of_weights_beyond_i32_is_made_of_rows),
        cmocka_unit_test(a_matrix_on_the_device_is_filled_where_it_lies),
        cmocka_unit_test(batches_that_go_deeper_than_the_one_before_are_searched_again),
        cmocka_unit_test(a_distance_that_a_byte_cannot_hold_is_refused),
        cmocka_unit_test(failing_calls_are_told_and_leave_nothing),
        cmocka_unit_test(failing_calls_of_a_summary_leave_nothing),
        cmocka_unit_test(a_cancelled_run_ends_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}

/*
 * Reachability on a GPU, without one: the engine (src/reach/gpu/gpu.c) on a runtime that runs what
 * is queued in any order the events allow, its kernels thread by thread (emulated/gpu/compat.h),
 * with buffers of a few rows. Against a plain search from each vertex.
 */
#include "runtime.h"

#include "base/random.h"
#include "graph/graph.h"
#include "reach/gpu/gpu.h"

#include "harness.h"

#include <string.h>

typedef struct problem {
    tw_graph *graph;
    int64_t n;
    twi_condensation condensation;
    uint8_t *expected;
    int64_t *counts;
} problem;

/* Arcs from lower to higher numbers of a hidden order, and, by `back` in ten, the other way. */
static problem make_problem(tw_context *ctx, int64_t n, double degree, uint64_t back, uint64_t seed)
{
    problem p = {.n = n,
                 .expected = calloc((size_t)(n * n + 1), 1),
                 .counts = calloc((size_t)n + 1, sizeof(int64_t))};
    const int64_t most = n > 1 ? (int64_t)((double)n * degree) : 0;
    int32_t *source = malloc((size_t)(most + 1) * sizeof *source);
    int32_t *target = malloc((size_t)(most + 1) * sizeof *target);
    int32_t *queue = malloc((size_t)(n + 1) * sizeof *queue);
    for (int64_t i = 0; i < most; i++) {
        const uint64_t random = twi_random_at(seed, (uint64_t)i);
        int64_t u = (int64_t)twi_random_below(random, (uint64_t)n);
        int64_t v = (int64_t)twi_random_below(twi_random_at(random, 1), (uint64_t)n);
        const bool turn = twi_random_below(twi_random_at(random, 2), 10) < back;
        source[i] = (int32_t)((turn ? (u > v ? u : v) : (u < v ? u : v)) * 7 % n);
        target[i] = (int32_t)((turn ? (u > v ? v : u) : (u < v ? v : u)) * 7 % n);
    }
    tw_edges edges = TW_EDGES_INIT;
    edges.count = most;
    edges.source = source;
    edges.target = target;
    assert_ok(ctx, tw_graph_from_edges(ctx, &p.graph, n, &edges, 0));
    assert_ok(ctx, twi_condense(ctx, &p.condensation, p.graph));
    for (int64_t s = 0; s < n; s++) {
        uint8_t *row = p.expected + s * n;
        int64_t head = 0, tail = 0;
        row[s] = 1;
        queue[tail++] = (int32_t)s;
        while (head < tail) {
            const int32_t u = queue[head++];
            for (int64_t a = p.graph->offsets[u]; a < p.graph->offsets[u + 1]; a++) {
                if (!row[p.graph->targets[a]]) {
                    row[p.graph->targets[a]] = 1;
                    queue[tail++] = p.graph->targets[a];
                }
            }
        }
        p.counts[s] = tail;
    }
    free(queue);
    free(target);
    free(source);
    return p;
}

static void clear_problem(problem *p)
{
    twi_condensation_clear(&p->condensation);
    tw_graph_destroy(p->graph);
    free(p->counts);
    free(p->expected);
}

/* Into a matrix of bytes or bits. */
static tw_status run(tw_context *ctx, const problem *p, twi_reach_rows *rows, uint8_t *got)
{
    const int64_t cols = twi_reach_row_bytes(p->n, rows->packed);
    const tw_shape shape = {rows->count, cols, TW_U8};
    tw_matrix out = {got, rows->count, cols, cols, TW_U8};
    tw_sink sink = TW_SINK_INIT;
    twi_sinks sinks = {0};
    double seconds = -1;
    tw_status status = tw_sink_to_matrix(ctx, &sink, &out);
    if (status == TW_OK) {
        status = twi_sinks_begin(ctx, &sinks, &sink, 1, &shape);
    }
    if (status == TW_OK) {
        status = twi_reach_gpu_run(ctx, 1, &p->condensation, rows, &sinks, &seconds);
    }
    status = twi_sinks_finish(ctx, &sinks, status);
    tw_sink_destroy(&sink);
    return status;
}

static void expect_closure(tw_context *ctx, const problem *p, const int32_t *sources, int64_t count,
                           bool packed, uint64_t seed)
{
    int64_t *counts = malloc((size_t)(count + 1) * sizeof *counts);
    uint8_t *got = malloc((size_t)(count * p->n + 1));
    twi_reach_rows rows = {.sources = sources, .count = count, .packed = packed, .counts = counts};
    const int64_t cols = twi_reach_row_bytes(p->n, packed);
    double seconds = -1;
    int64_t pairs = 0;
    memset(got, 0xA5, (size_t)(count * p->n + 1));
    fake_begin(seed, 0);
    assert_ok(ctx, run(ctx, p, &rows, got));
    assert_int_equal(fake_live_without(ctx), 0);
    assert_true(fake_peak(1) <= twi_reach_gpu_bytes(&p->condensation, &rows));
    for (int64_t i = 0; i < count; i++) {
        const int64_t s = sources != NULL ? sources[i] : i;
        pairs += p->counts[s];
        assert_int_equal(counts[i], p->counts[s]);
        for (int64_t v = 0; v < p->n; v++) {
            const uint8_t *row = got + i * cols;
            assert_int_equal(packed ? (row[v / 8] >> (v % 8)) & 1 : row[v],
                             p->expected[s * p->n + v]);
        }
    }
    assert_int_equal(rows.pairs, pairs);
    memset(counts, 0xA5, (size_t)count * sizeof *counts);
    fake_begin(seed, 0);
    assert_ok(ctx, twi_reach_gpu_run(ctx, 1, &p->condensation, &rows, NULL, &seconds));
    assert_int_equal(fake_live_without(ctx), 0);
    assert_int_equal(rows.pairs, pairs);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(counts[i], p->counts[sources != NULL ? sources[i] : i]);
    }
    free(got);
    free(counts);
}

static void rows_and_counts_are_those_of_plain_searches(void **state)
{
    tw_context *ctx = *state;
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 200};
    for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint64_t kind = 0; kind < 4; kind++) {
            problem p = make_problem(ctx, sizes[i], kind == 3 ? 12 : 1.5, kind % 2, i + kind);
            expect_closure(ctx, &p, NULL, p.n, kind > 1, i);
            clear_problem(&p);
        }
    }
}

static void sources_are_rows_in_their_order(void **state)
{
    tw_context *ctx = *state;
    static const int32_t sources[] = {5, 0, 5, 39, 1, 2, 3};
    problem p = make_problem(ctx, 40, 1.3, 1, 4);
    expect_closure(ctx, &p, sources, 7, false, 1);
    expect_closure(ctx, &p, sources, 0, false, 1);
    clear_problem(&p);
}

static void failing_calls_are_told_and_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 20, 1.5, 1, 5);
    const int64_t before = twi_meter_blocks(ctx->meter);
    for (int memory = 0; memory < 2; memory++) {
        tw_status status = TW_ERR_DEVICE;
        for (int64_t call = 1; status != TW_OK; call++) {
            uint8_t got[20 * 20];
            twi_reach_rows rows = {.count = 20};
            fake_begin(7, memory ? 0 : call);
            twi_meter_fail_at(ctx->meter, memory ? call : 0);
            status = run(ctx, &p, &rows, got);
            twi_meter_fail_at(ctx->meter, 0);
            assert_true(status == TW_OK || status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
            assert_true(status != TW_OK || call > (memory ? 3 : 20));
            assert_true(status != TW_OK || memcmp(got, p.expected, sizeof got) == 0);
            assert_int_equal(fake_live_without(ctx), 0);
            assert_int_equal(twi_meter_blocks(ctx->meter), before);
        }
    }
    clear_problem(&p);
}

static void a_device_without_room_is_told(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 100, 1.5, 0, 5);
    const twi_reach_rows rows = {.count = 100};
    fake_begin(1, 0);
    fake_free_bytes[1] = twi_reach_gpu_bytes(&p.condensation, &rows) * 32 / 31 + 64;
    assert_ok(ctx, twi_reach_gpu_check(ctx, 1, &p.condensation, &rows));
    fake_free_bytes[1] = twi_reach_gpu_bytes(&p.condensation, &rows);
    assert_fails(ctx, TW_ERR_MEMORY, "100 components of 100 vertices need",
                 twi_reach_gpu_check(ctx, 1, &p.condensation, &rows));
    clear_problem(&p);
}

static void a_cancelled_run_ends_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 30, 1.5, 0, 5);
    twi_reach_rows rows = {.count = 30};
    double seconds = 0;
    fake_begin(7, 0);
    tw_cancel(ctx);
    assert_int_equal(twi_reach_gpu_run(ctx, 1, &p.condensation, &rows, NULL, &seconds),
                     TW_ERR_CANCELLED);
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
        cmocka_unit_test(rows_and_counts_are_those_of_plain_searches),
        cmocka_unit_test(sources_are_rows_in_their_order),
        cmocka_unit_test(failing_calls_are_told_and_leave_nothing),
        cmocka_unit_test(a_device_without_room_is_told),
        cmocka_unit_test(a_cancelled_run_ends_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}

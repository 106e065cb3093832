/*
 * Every type of weights, by every method and working type, into every type of result: what comes
 * out is what the result's type says, whatever the run was worked in. Distances are compared with a
 * Bellman-Ford of this file in f64, in which weights of every type are exact; a result is refused
 * exactly where some distance that was asked for does not fit it. The verifier must agree with each
 * result, the predecessors must be its tree, and the path must be found in it.
 */
#include "harness.h"

#include "apsp/shared/distance.h"
#include "apsp/shared/relevant.h"
#include "base/matrix.h"
#include "base/random.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 11u
enum { MOST = 17, LISTED = 5 };

/* What the weights are like; a row is tried in each of the types it fits. */
typedef struct kind {
    const char *name;
    double unit;  /* a weight is a multiple of it, */
    double least; /* least ... most times */
    double most;
    bool i32, f32, f64;
} kind;

static const kind kinds[] = {
    {"whole", 1, 0, 40, true, true, true},
    {"equal", 1, 3, 3, true, true, true},
    {"equal tenths", 0.1, 1, 1, false, true, true},
    {"large whole", 1, 1 << 22, (1 << 23) + 1, true, true, true},
    {"larger whole", 1, 1 << 29, (1 << 30) + 1, true, true, true},
    {"beyond i32", 1, 1, 3e9, false, true, true},
    {"halves", 0.5, 0, 9, false, true, true},
    {"tenths", 0.1, 1, 70, false, true, true},
    {"near the top of f32", 1e37, 1, 20, false, true, true},
    {"near the top of f64", 1e306, 1, 100, false, false, true},
    {"near the bottom of f32", 1e-45, 1, 9, false, true, true},
    {"below f32", 1e-60, 1, 9, false, false, true},
    {"negative whole", 1, -30, 40, true, true, true},
    {"negative tenths", 0.1, -30, 40, false, true, true},
};

typedef struct problem {
    const kind *kind;
    tw_graph *graph;
    int64_t n;
    double want[MOST * MOST]; /* +inf: no path; HUGE on the way is +inf, too: see `reached` */
    bool reached[MOST * MOST];
    int32_t sources[LISTED];
    int32_t targets[LISTED];
} problem;

static const tw_type results[] = {TW_U8, TW_U16, TW_I32, TW_F32, TW_F64};

static void bellman_ford(problem *p, int64_t s)
{
    double *d = p->want + s * p->n;
    bool *reached = p->reached + s * p->n;
    for (int64_t v = 0; v < p->n; v++) {
        d[v] = v == s ? 0 : (double)INFINITY;
        reached[v] = v == s;
    }
    for (int64_t round = 0; round < p->n; round++) {
        for (int64_t u = 0; u < p->n; u++) {
            for (int64_t a = p->graph->offsets[u]; a < p->graph->offsets[u + 1]; a++) {
                int32_t v = p->graph->targets[a];
                d[v] = fmin(d[v], d[u] + twi_graph_weight(p->graph, a));
                reached[v] |= reached[u];
            }
        }
    }
}

/* Negative weights come as potentials taken on, so that no cycle is negative. */
static double draw_weight(const kind *k, uint64_t random, int64_t u, int64_t v)
{
    double steps = floor((k->most - fmax(k->least, 0) + 1) * twi_random_unit(random));
    double weight = fmax(k->least, 0) + steps;
    if (k->least < 0) {
        weight += (double)(u * 7 % 31) - (double)(v * 7 % 31);
    }
    return weight * k->unit;
}

static problem *make_problem(tw_context *ctx, const kind *k, int64_t n, tw_type type, double degree,
                             uint64_t seed)
{
    static int32_t source[MOST * MOST], target[MOST * MOST], whole[MOST * MOST];
    static float single[MOST * MOST];
    static double real[MOST * MOST];
    problem *p = calloc(1, sizeof *p);
    int64_t count = 0;
    assert_non_null(p);
    for (int64_t i = 0; i < n * n; i++) {
        if (i / n != i % n &&
            twi_random_unit(twi_random_at(seed, (uint64_t)i)) * (double)n < degree) {
            double weight = draw_weight(k, twi_random_at(seed + 1, (uint64_t)i), i / n, i % n);
            source[count] = (int32_t)(i / n);
            target[count] = (int32_t)(i % n);
            whole[count] = (int32_t)fmin(weight, INT32_MAX);
            single[count] = (float)weight;
            real[count++] = weight;
        }
    }
    const void *weights = type == TW_I32   ? (const void *)whole
                          : type == TW_F32 ? (const void *)single
                                           : (const void *)real;
    tw_edges edges = {sizeof edges, count, source, target, weights, type, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &p->graph, n, &edges, 0));
    p->kind = k;
    p->n = n;
    for (int64_t s = 0; s < n; s++) {
        bellman_ford(p, s);
    }
    for (int i = 0; i < LISTED; i++) {
        p->sources[i] = (int32_t)(i * 5 % n);
        p->targets[i] = (int32_t)((i * 3 + 1) % n);
    }
    return p;
}

/* Is there a pair among those asked for that `type` does not hold? */
static bool holds(const problem *p, tw_type type, int64_t at, double cutoff)
{
    double d = p->want[at];
    bool whole = p->graph->whole && p->graph->weight_type != TW_F32;
    if (!p->reached[at] || (cutoff >= 0 && d > cutoff)) {
        return true;
    }
    if (isinf(d)) {
        return false;
    }
    if (type == TW_F64) {
        return true;
    }
    if (type == TW_F32) {
        float f = (float)d;
        return !isinf(f) && (f != 0 || d == 0) && (!whole || (double)f == d);
    }
    double low = type == TW_I32 ? INT32_MIN : 0;
    return d == floor(d) && d >= low && d < tw_apsp_infinity(type);
}

/* May rounding of the sums decide whether the type holds it? Then either answer will do. */
static bool doubtful(const problem *p, tw_type type, int64_t at)
{
    double d = p->want[at];
    bool real = type == TW_F32 || type == TW_F64;
    return !p->graph->integral && !isinf(d) &&
           (real ? fabs(d) > FLT_MAX * (1 - 1e-5) && fabs(d) < FLT_MAX * (1 + 1e-5)
                 : fabs(d - round(d)) < 1e-9 * fmax(1, fabs(d)));
}

static void assert_entry(const problem *p, tw_type type, double got, int64_t at, double cutoff,
                         const char *name)
{
    double want = p->want[at];
    double unit = type == TW_F32 ? 0x1p-24 : 0x1p-53;
    bool exact = p->graph->integral && (type != TW_F32 || p->graph->weight_type != TW_F32);
    double scale = p->kind->least < 0 ? 40 * (double)p->n * p->kind->unit : fabs(want);
    double slack = exact ? 0 : 2 * (double)p->n * unit * scale + (type == TW_F32 ? 0x1p-149 : 0);
    if (cutoff >= 0 && want > cutoff) {
        want = INFINITY;
    }
    bool near_cutoff = cutoff >= 0 && !isinf(p->want[at]) && fabs(p->want[at] - cutoff) <= slack;
    if (got != want && !(fabs(got - want) <= slack) && !near_cutoff) {
        fail_msg("%s: %lld -> %lld is %.17g, not %.17g (seed %u)", name, (long long)(at / p->n),
                 (long long)(at % p->n), got, want, SEED);
    }
}

/* The path to every vertex that has one, by the predecessors, adds up. */
static void assert_tree(const problem *p, int64_t source, const int32_t *previous, const char *name)
{
    for (int64_t v = 0; v < p->n; v++) {
        int64_t at = v;
        int64_t steps = 0;
        bool some = p->reached[source * p->n + v] && v != source;
        if (some != (previous[v] != TW_APSP_NO_VERTEX)) {
            fail_msg("%s: the predecessor of %lld from %lld is %d", name, (long long)v,
                     (long long)source, previous[v]);
        }
        while (some && at != source && steps <= p->n) {
            at = previous[at];
            steps++;
        }
        assert_true(steps <= p->n);
    }
}

typedef struct run {
    tw_apsp_method method;
    tw_type work;
    tw_type type;
    bool parts;
    double cutoff;
} run;

static void check_path(tw_context *ctx, const problem *p, const tw_matrix *d, const char *name)
{
    tw_apsp_path *path = NULL;
    tw_apsp_path_info info = TW_APSP_PATH_INFO_INIT;
    int64_t at = p->n - 1; /* 0 -> n - 1 */
    tw_status status = tw_apsp_path_create(ctx, &path, p->graph, d, 0, (int32_t)(p->n - 1));
    status = status == TW_OK ? tw_apsp_path_describe(path, &info) : status;
    if (status != TW_OK || (info.count > 0) != p->reached[at]) {
        fail_msg("%s: path: %s", name, tw_last_error(ctx));
    }
    tw_apsp_path_destroy(path);
}

static void check_run(tw_context *ctx, const problem *p, const run *r)
{
    static double room[MOST * MOST];
    static int32_t previous[MOST * MOST];
    char name[160];
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = r->method;
    options.work_type = r->work;
    options.type = r->type;
    options.cutoff = r->cutoff;
    options.sources = r->parts ? p->sources : NULL;
    options.source_count = LISTED;
    options.targets = r->parts ? p->targets : NULL;
    options.target_count = LISTED;
    int64_t side = r->parts ? LISTED : p->n;
    bool fits = true;
    bool unsure = false;
    snprintf(name, sizeof name, "%s in %s, n = %lld, by %s in %s to %s%s, cutoff %g", p->kind->name,
             tw_type_name(p->graph->weight_type), (long long)p->n, tw_apsp_method_name(r->method),
             tw_type_name(r->work), tw_type_name(r->type), r->parts ? ", in parts" : "", r->cutoff);
    for (int64_t i = 0; i < side * side; i++) {
        int64_t s = r->parts ? p->sources[i / side] : i / side;
        int64_t t = r->parts ? p->targets[i % side] : i % side;
        fits &= holds(p, r->type, s * p->n + t, r->cutoff);
        unsure |= doubtful(p, r->type, s * p->n + t);
    }
    memset(room, 0xA5, sizeof room);
    tw_matrix out = {room, side, side, side, r->type};
    tw_matrix tree = {previous, p->n, p->n, p->n, TW_I32};
    bool trees = !r->parts && r->cutoff < 0;
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    tw_sink tree_sink = TW_SINK_INIT;
    tw_apsp_plan *plan = NULL;
    tw_apsp_verifier *verifier = NULL;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[0], &out));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &tree_sink, &tree));
    assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, p->graph, &options, 0, 1));
    assert_int_equal(tw_apsp_verifier_sink(verifier, &sinks[1]), TW_OK);
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, p->graph, &options));
    tw_status status = tw_apsp_plan_run(ctx, plan, sinks, 2, trees ? &tree_sink : NULL, NULL);
    if (unsure ? status != TW_OK && status != TW_ERR_RANGE
               : status != (fits ? TW_OK : TW_ERR_RANGE)) {
        fail_msg("%s: %s %s (seed %u)", name, tw_status_name(status), tw_last_error(ctx), SEED);
    }
    if (status == TW_ERR_RANGE && strstr(tw_last_error(ctx), "->") == NULL) {
        fail_msg("%s: no pair is named: %s", name, tw_last_error(ctx));
    }
    if (status == TW_OK) {
        tw_status verdict = tw_apsp_verifier_result(ctx, verifier, NULL);
        if (verdict != TW_OK) {
            fail_msg("%s: the verifier says %s", name, tw_last_error(ctx));
        }
        for (int64_t i = 0; i < side * side; i++) {
            int64_t s = r->parts ? p->sources[i / side] : i / side;
            int64_t t = r->parts ? p->targets[i % side] : i % side;
            assert_entry(p, r->type, twi_distance(room, r->type, i), s * p->n + t, r->cutoff, name);
        }
        for (int64_t s = 0; trees && s < p->n; s++) {
            assert_tree(p, s, previous + s * p->n, name);
        }
        if (trees) {
            check_path(ctx, p, &out, name);
        }
    }
    tw_apsp_plan_destroy(plan);
    tw_apsp_verifier_destroy(verifier);
    tw_sink_destroy(&tree_sink);
    tw_sink_destroy(&sinks[0]);
}

static bool work_is_possible(const problem *p, tw_type work, tw_type type)
{
    if (work == TW_F32) {
        return p->graph->weight_type == TW_F32 && p->graph->min_weight >= 0 && type == TW_F32;
    }
    return work == TW_AUTO || work == TW_F64 || p->graph->integral;
}

static void check_problem(tw_context *ctx, const problem *p)
{
    static const tw_apsp_method methods[] = {TW_APSP_METHOD_AUTO, TW_APSP_METHOD_CLOSURE,
                                             TW_APSP_METHOD_DIJKSTRA, TW_APSP_METHOD_BFS,
                                             TW_APSP_METHOD_REFERENCE};
    static const tw_type works[] = {TW_AUTO, TW_I32, TW_F32, TW_F64};
    double middle = fmin(p->want[p->n > 1 ? 1 : 0], DBL_MAX / 2);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
            for (size_t t = 0; t < sizeof results / sizeof *results; t++) {
                run r = {methods[m], works[w], results[t], false, -1};
                bool idle = works[w] != TW_AUTO && methods[m] != TW_APSP_METHOD_CLOSURE;
                bool no_levels = methods[m] == TW_APSP_METHOD_BFS && !p->graph->equal;
                /* i32 and f32 that somebody insists on may be too little. */
                bool short_of = (works[w] == TW_I32 && p->kind->most > 1e6) ||
                                (works[w] == TW_F32 && p->kind->unit > 1e30);
                if (idle || no_levels || short_of || !work_is_possible(p, works[w], results[t])) {
                    continue;
                }
                check_run(ctx, p, &r);
                if (works[w] != TW_AUTO || methods[m] == TW_APSP_METHOD_AUTO) {
                    continue; /* delivery does the rest, whatever the working type */
                }
                r.parts = true;
                check_run(ctx, p, &r);
                r.parts = false;
                r.cutoff = middle > 0 ? middle : p->kind->unit * 5;
                check_run(ctx, p, &r);
            }
        }
    }
}

static void the_type_of_the_result_decides(void **state)
{
    (void)state;
    static const tw_type weights[] = {TW_I32, TW_F32, TW_F64};
    static const int64_t sizes[] = {MOST, 4};
    const int sizes_tried = getenv("TW_TEST_SMALL") != NULL ? 1 : 2;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 1)); /* thousands of tiny runs: teams are tested elsewhere */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const bool has[] = {kinds[k].i32, kinds[k].f32, kinds[k].f64};
        for (int w = 0; w < 3; w++) {
            for (int z = 0; z < sizes_tried && has[w]; z++) {
                problem *p =
                    make_problem(ctx, &kinds[k], sizes[z], weights[w], 2.5, SEED + (uint64_t)z);
                check_problem(ctx, p);
                tw_graph_destroy(p->graph);
                free(p);
            }
        }
    }
    close_context(ctx);
}

/* As 0.1 + 0.7 and 3e9 + 1 in f32 are in f64. */
static void sums_of_f32_weights_are_not_rounded_to_f32(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 1};
    const int32_t target[] = {1, 2};
    const float weights[2][2] = {{0.1f, 0.7f}, {3e9f, 1}};
    static const tw_apsp_method methods[] = {TW_APSP_METHOD_AUTO, TW_APSP_METHOD_CLOSURE,
                                             TW_APSP_METHOD_DIJKSTRA, TW_APSP_METHOD_REFERENCE};
    for (int i = 0; i < 8; i++) {
        tw_edges edges = {sizeof edges, 2, source, target, weights[i / 4], TW_F32, TW_I32};
        tw_graph *graph = NULL;
        double d[9];
        tw_matrix out = {d, 3, 3, 3, TW_F64};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[i % 4];
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 3, &edges, 0));
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
        assert_true(d[2] == (double)weights[i / 4][0] + (double)weights[i / 4][1]);
        options.work_type = TW_F32;
        assert_fails(ctx, TW_ERR_ARGUMENT, "working type f32", tw_apsp(ctx, &out, graph, &options));
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* A dense graph whose sums overflow for half of the pairs, as a matrix that calls them "no path".
 */
static void the_verifier_knows_an_overflow_from_no_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 1, 2};
    const int32_t target[] = {1, 2, 3};
    const double weight[] = {1e308, 1e308, 1};
    const double d[16] = {0,        1e308,    INFINITY, INFINITY, INFINITY, 0,
                          1e308,    1e308,    INFINITY, INFINITY, 0,        1,
                          INFINITY, INFINITY, INFINITY, 0};
    tw_edges edges = {sizeof edges, 3, source, target, weight, TW_F64, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 4, &edges, 0));
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    const tw_shape shape = {4, 4, TW_F64};
    for (int cut = 0; cut < 2; cut++) {
        tw_apsp_verifier *verifier = NULL;
        tw_sink sink = TW_SINK_INIT;
        options.cutoff = cut ? 1.5e308 : -1;
        assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, graph, &options, 0, 1));
        assert_int_equal(tw_apsp_verifier_sink(verifier, &sink), TW_OK);
        assert_ok(ctx, sink.begin(sink.self, ctx, &shape));
        assert_ok(ctx, sink.rows(sink.self, ctx, 0, 4, d, 4));
        assert_ok(ctx, sink.end(sink.self, ctx));
        if (cut) { /* what is longer is not there, and that is right */
            assert_ok(ctx, tw_apsp_verifier_result(ctx, verifier, NULL));
        } else {
            assert_fails(ctx, TW_ERR_VERIFY, "from 0 to 2",
                         tw_apsp_verifier_result(ctx, verifier, NULL));
        }
        tw_apsp_verifier_destroy(verifier);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Graphs are made from it (csr.c); nothing else takes it, nor its neighbour f16, for another. */
static void nothing_is_computed_in_i64_or_written_of_it(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int64_t data[4] = {0, 1, 2, 3};
    float result[4];
    tw_matrix matrix = {data, 2, 2, 2, TW_I64};
    tw_matrix out = {result, 2, 2, 2, TW_F32};
    const tw_shape shape = {2, 2, TW_I64};
    tw_sink sink = TW_SINK_INIT;
    tw_expr *expr = NULL;
    tw_graph *graph = NULL;
    tw_image *image = NULL;
    tw_map_plan *map = NULL;
    tw_apsp_plan *plan = NULL;
    tw_matrix_file *file = NULL;
    tw_apsp_options apsp = TW_APSP_OPTIONS_INIT;
    tw_map_options maps = TW_MAP_OPTIONS_INIT;
    tw_graph_generate_options generate = TW_GRAPH_GENERATE_OPTIONS_INIT;
    assert_ok(ctx, tw_expr_create(ctx, &expr, "x", NULL));
    assert_ok(ctx, tw_image_create(ctx, &image));
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &generate));
    assert_fails(ctx, TW_ERR_ARGUMENT, "only for building graphs", tw_feed(ctx, &matrix, NULL, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "only for building graphs",
                 tw_sink_to_matrix(ctx, &sink, &matrix));
    assert_fails(ctx, TW_ERR_ARGUMENT, "only for building graphs",
                 tw_entropy(ctx, &out, &matrix, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "only for building graphs",
                 tw_minplus(ctx, &matrix, &matrix, &matrix));
    assert_fails(ctx, TW_ERR_ARGUMENT, "not an array of u8, u16, i16, i32, f32 or f64",
                 tw_map_plan_create(ctx, &map, expr, &shape, 1, NULL));
    maps.type = TW_I64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "result type i64 is not supported",
                 tw_map_plan_create(ctx, &map, expr, &(tw_shape){2, 2, TW_F32}, 1, &maps));
    maps.type = TW_AUTO;
    maps.compute = TW_I64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "cannot compute in i64",
                 tw_map_plan_create(ctx, &map, expr, &(tw_shape){2, 2, TW_F32}, 1, &maps));
    apsp.type = TW_I64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "distance type i64 is not supported",
                 tw_apsp_plan_create(ctx, &plan, graph, &apsp));
    apsp.type = TW_AUTO;
    apsp.work_type = TW_I64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "i64", tw_apsp_plan_create(ctx, &plan, graph, &apsp));
    generate.weight_type = TW_I64;
    assert_int_equal(tw_graph_generate(ctx, &(tw_graph *){NULL}, &generate), TW_ERR_ARGUMENT);
    assert_fails(ctx, TW_ERR_ARGUMENT, "of i64", tw_image_add(ctx, image, 2, 2, TW_I64));
    assert_fails(ctx, TW_ERR_ARGUMENT, "a known type",
                 tw_matrix_file_create(ctx, &file, "none.raw", NULL, TW_I64));
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, "none.npy", NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "of i64 cannot be written",
                 sink.begin(sink.self, ctx, &shape));
    tw_sink_destroy(&sink);
    tw_image_destroy(image);
    tw_graph_destroy(graph);
    tw_expr_destroy(expr);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_computed_in_i64_or_written_of_it),
        cmocka_unit_test(the_type_of_the_result_decides),
        cmocka_unit_test(sums_of_f32_weights_are_not_rounded_to_f32),
        cmocka_unit_test(the_verifier_knows_an_overflow_from_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

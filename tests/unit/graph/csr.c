/*
 * Graphs from compressed rows, and from integers of 64 bits: the same graph as from an edge list,
 * the same distances as a triple loop over the caller's own arrays, and every way of being wrong.
 */
#include "harness.h"

#include "base/random.h"
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_VALUES TW_AUTO

static const tw_type index_types[] = {TW_I32, TW_I64};
static const tw_type value_types[] = {TW_I32, TW_I64, TW_F32, TW_F64, NO_VALUES};
enum { VALUE_TYPES = 5 };

/* Rows as a user has them, in the widest types, and in those that are asked for. */
typedef struct rows {
    int64_t n;
    int64_t arcs;
    int64_t *offsets;
    int64_t *targets;
    double *values;
    tw_csr csr;
} rows;

/* `count` numbers as elements of `type`; the caller frees them. */
static void *as_type(const double *from, int64_t count, tw_type type)
{
    char *out = malloc((size_t)count * 8 + 1);
    for (int64_t i = 0; i < count; i++) {
        const int32_t whole = (int32_t)(isfinite(from[i]) ? from[i] : 0);
        const int64_t wide = (int64_t)(isfinite(from[i]) ? from[i] : 0);
        const float single = (float)from[i];
        const void *at = type == TW_I32   ? (const void *)&whole
                         : type == TW_I64 ? (const void *)&wide
                         : type == TW_F32 ? (const void *)&single
                                          : (const void *)&from[i];
        memcpy(out + (size_t)i * tw_type_size(type), at, tw_type_size(type));
    }
    return out;
}

static void *index_as_type(const int64_t *from, int64_t count, tw_type type)
{
    double *numbers = malloc((size_t)count * sizeof *numbers + 1);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = (double)from[i];
    }
    void *out = as_type(numbers, count, type);
    free(numbers);
    return out;
}

/* Small whole weights, zeros and parallel arcs among them; self loops if asked for. */
static rows make_rows(int64_t n, uint64_t seed, bool loops, bool infinite, tw_type offset_type,
                      tw_type target_type, tw_type value_type)
{
    rows r = {.n = n};
    const int64_t most = 4 * n;
    r.offsets = calloc((size_t)n + 1, sizeof *r.offsets);
    r.targets = malloc((size_t)most * sizeof *r.targets + 1);
    r.values = malloc((size_t)most * sizeof *r.values + 1);
    for (int64_t u = 0; u < n; u++) {
        for (uint64_t k = 0; k < twi_random_at(seed, (uint64_t)u) % 4; k++) {
            const uint64_t random = twi_random_at(seed + 1, (uint64_t)r.arcs);
            int64_t target = (int64_t)(random % (uint64_t)n);
            target = loops && random % 5 == 0 ? u : target;
            if (target == u && !loops) {
                continue;
            }
            r.targets[r.arcs] = target;
            r.values[r.arcs] = (double)(random / 7 % 20);
            if (infinite && random % 11 == 0) {
                r.values[r.arcs] = (double)INFINITY;
            }
            r.arcs++;
        }
        r.offsets[u + 1] = r.arcs;
    }
    const tw_csr defaults = TW_CSR_INIT;
    r.csr = defaults;
    r.csr.vertices = n;
    r.csr.offset_type = offset_type;
    r.csr.offsets = index_as_type(r.offsets, n + 1, offset_type);
    r.csr.target_type = target_type;
    r.csr.targets = index_as_type(r.targets, r.arcs, target_type);
    r.csr.value_type = value_type;
    if (value_type != NO_VALUES) {
        r.csr.values = as_type(r.values, r.arcs, value_type);
    }
    return r;
}

static void free_rows(rows *r)
{
    free((void *)r->csr.offsets);
    free((void *)r->csr.targets);
    free((void *)r->csr.values);
    free(r->offsets);
    free(r->targets);
    free(r->values);
}

/* The same arcs as a list of edges. */
static tw_graph *from_edges(tw_context *ctx, const rows *r, uint32_t flags)
{
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    int32_t *source = malloc((size_t)r->arcs * sizeof *source + 1);
    for (int64_t u = 0; u < r->n; u++) {
        for (int64_t a = r->offsets[u]; a < r->offsets[u + 1]; a++) {
            source[a] = (int32_t)u;
        }
    }
    edges.count = r->arcs;
    edges.source = source;
    void *target = index_as_type(r->targets, r->arcs, TW_I32);
    edges.target = target;
    edges.weight_type = r->csr.value_type == TW_I64 ? TW_I32 : r->csr.value_type;
    void *weight =
        edges.weight_type == NO_VALUES ? NULL : as_type(r->values, r->arcs, edges.weight_type);
    edges.weight = weight;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, r->n, &edges, flags));
    free(weight);
    free(target);
    free(source);
    return graph;
}

static void assert_same_graph(const tw_graph *a, const tw_graph *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->arcs, b->arcs);
    assert_int_equal(a->weight_type, b->weight_type);
    assert_int_equal(a->undirected, b->undirected);
    assert_int_equal(a->equal, b->equal);
    assert_int_equal(a->integral, b->integral);
    assert_true(a->min_weight == b->min_weight && a->max_weight == b->max_weight);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->n + 1) * sizeof *a->offsets);
    if (a->arcs > 0) {
        assert_memory_equal(a->targets, b->targets, (size_t)a->arcs * sizeof *a->targets);
        assert_memory_equal(a->weights, b->weights, (size_t)a->arcs * tw_type_size(a->weight_type));
    }
}

/* Every form of the arrays, for each of which `check` is called. */
typedef void (*check_fn)(tw_context *ctx, const rows *r, uint32_t flags, const char *name);
static void for_each_form(tw_context *ctx, int64_t n, check_fn check)
{
    char name[96];
    for (int form = 0; form < 2 * 2 * VALUE_TYPES * 2 * 2 * 2; form++) {
        const tw_type offset = index_types[form % 2];
        const tw_type target = index_types[form / 2 % 2];
        const tw_type value = value_types[form / 4 % VALUE_TYPES];
        const int rest = form / 4 / VALUE_TYPES;
        const bool loops = rest % 2 == 1;
        const bool real = value == TW_F32 || value == TW_F64;
        rows r =
            make_rows(n, (uint64_t)(17 * n + rest), loops, loops && real, offset, target, value);
        r.csr.borrow = rest / 2 % 2;
        const uint32_t flags = rest / 4 % 2 == 1 ? TW_GRAPH_UNDIRECTED : 0;
        snprintf(name, sizeof name, "n %lld, %s %s %s, loops %d, borrow %d, flags %u", (long long)n,
                 tw_type_name(offset), tw_type_name(target), tw_type_name(value), loops,
                 r.csr.borrow, (unsigned)flags);
        check(ctx, &r, flags, name);
        free_rows(&r);
    }
}

static void compare_with_edges(tw_context *ctx, const rows *r, uint32_t flags, const char *name)
{
    tw_graph *graph = NULL;
    (void)name;
    tw_graph *expected = from_edges(ctx, r, flags);
    assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &r->csr, flags));
    assert_same_graph(graph, expected);
    tw_graph_destroy(graph);
    tw_graph_destroy(expected);
}

static void every_form_gives_the_graph_of_the_same_edges(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 4097};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for_each_form(ctx, sizes[s], compare_with_edges);
    }
    close_context(ctx);
}

/* Floyd and Warshall over the caller's arrays, which knows nothing of graphs. */
static double *distances_of(const rows *r, bool both)
{
    const int64_t n = r->n;
    double *d = malloc((size_t)(n * n) * sizeof *d + 1);
    for (int64_t i = 0; i < n * n; i++) {
        d[i] = i % (n + 1) == 0 ? 0 : (double)INFINITY;
    }
    for (int64_t u = 0; u < n; u++) {
        for (int64_t a = r->offsets[u]; a < r->offsets[u + 1]; a++) {
            const int64_t v = r->targets[a];
            const double weight = r->csr.values != NULL ? r->values[a] : 1;
            d[u * n + v] = fmin(d[u * n + v], weight);
            d[v * n + u] = both ? fmin(d[v * n + u], weight) : d[v * n + u];
        }
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                d[i * n + j] = fmin(d[i * n + j], d[i * n + k] + d[k * n + j]);
            }
        }
    }
    return d;
}

static void compare_with_textbook(tw_context *ctx, const rows *r, uint32_t flags, const char *name)
{
    static const tw_apsp_method methods[] = {TW_APSP_METHOD_CLOSURE, TW_APSP_METHOD_DIJKSTRA};
    const int64_t n = r->n;
    double *expected = distances_of(r, flags != 0);
    double *got = malloc((size_t)(n * n) * sizeof *got + 1);
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &r->csr, flags));
    for (int m = 0; m < 2; m++) {
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_matrix out = {got, n, n, n, TW_F64};
        opts.method = methods[m];
        for (int64_t i = 0; i < n * n; i++) {
            got[i] = -77;
        }
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &opts));
        for (int64_t i = 0; i < n * n; i++) {
            if (got[i] != expected[i]) {
                fail_msg("%s, %s: %lld -> %lld is %g, not %g", name,
                         tw_apsp_method_name(methods[m]), (long long)(i / n), (long long)(i % n),
                         got[i], expected[i]);
            }
        }
    }
    tw_graph_destroy(graph);
    free(got);
    free(expected);
}

static void every_form_has_the_distances_of_the_textbook(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {1, 2, 5, 33};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for_each_form(ctx, sizes[s], compare_with_textbook);
    }
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------ borrowing */

static void borrowed_arrays_serve_where_they_lie(void **state)
{
    (void)state;
    const tw_type types[] = {TW_I32, TW_F32, TW_F64};
    for (int t = 0; t < 3; t++) {
        tw_context *ctx = open_context();
        rows r = make_rows(300, 5, false, false, TW_I32, TW_I32, types[t]);
        tw_graph *graph = NULL;
        const int32_t *targets = NULL;
        const void *weights = NULL;
        r.csr.borrow = 1;
        assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &r.csr, 0));
        tw_graph_rows(graph, NULL, &targets, &weights);
        assert_ptr_equal(targets, r.csr.targets);
        assert_ptr_equal(weights, r.csr.values);
        assert_true(tw_memory_used(ctx) < 300 * 8 + 1000);
        assert_true(twi_graph_memory(graph) < 300 * 8 + 1000);
        tw_graph_destroy(graph);
        r.csr.borrow = 0;
        assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &r.csr, 0));
        tw_graph_rows(graph, NULL, &targets, &weights);
        assert_ptr_not_equal(targets, r.csr.targets);
        assert_ptr_not_equal(weights, r.csr.values);
        tw_graph_destroy(graph);
        free_rows(&r);
        close_context(ctx);
    }
}

/* A graph counts the arrays that are its own: targets of 64 bits are narrowed into one, and so are
 * values, while the other may be borrowed. */
static void each_borrowed_array_counts_by_itself(void **state)
{
    (void)state;
    const int64_t offsets[] = {0, 2, 3};
    const int32_t targets[] = {1, 1, 0};
    const int64_t wide_targets[] = {1, 1, 0};
    const double values[] = {3, 4, 5};
    const int64_t wide_values[] = {3, (int64_t)1 << 40, 5}; /* kept in f64 */
    for (int own = 0; own < 4; own++) {
        tw_context *ctx = open_context();
        tw_graph *graph = NULL;
        const bool own_targets = own & 1;
        const bool own_values = own & 2;
        tw_csr csr = {.size = sizeof csr, .vertices = 2, .offsets = offsets, .borrow = 1};
        csr.offset_type = TW_I64;
        csr.targets = own_targets ? (const void *)wide_targets : targets;
        csr.target_type = own_targets ? TW_I64 : TW_I32;
        csr.values = own_values ? (const void *)wide_values : values;
        csr.value_type = own_values ? TW_I64 : TW_F64;
        assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, 0));
        assert_int_equal(graph->weight_type, TW_F64);
        assert_int_equal(twi_graph_memory(graph), sizeof *graph + 3 * sizeof(int64_t) +
                                                      (own_targets ? 3 * sizeof(int32_t) : 0) +
                                                      (own_values ? 3 * sizeof(double) : 0));
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* What the graph must not see is taken out of a copy. */
static void arrays_that_cannot_serve_are_copied_though_borrowed(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t offsets[] = {0, 2, 3};
    const int32_t targets[] = {1, 0, 0};
    const float values[] = {3, 4, 5};
    const float infinite[] = {3, INFINITY, 5};
    _Alignas(8) char shifted[sizeof values + 1];
    memcpy(shifted + 1, values, sizeof values);
    const struct {
        const void *values;
        uint32_t flags;
        int64_t arcs;
    } cases[] = {
        {values, 0, 2},                   /* 0 -> 0 is a self loop */
        {infinite, 0, 2},                 /* and no edge at all */
        {values, TW_GRAPH_UNDIRECTED, 4}, /* rows of their own */
        {shifted + 1, 0, 2},              /* not aligned */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tw_csr csr = TW_CSR_INIT;
        tw_graph *graph = NULL;
        csr.vertices = 2;
        csr.offsets = offsets;
        csr.targets = targets;
        csr.values = cases[k].values;
        csr.value_type = TW_F32;
        csr.borrow = 1;
        assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, cases[k].flags));
        assert_int_equal(graph->arcs, cases[k].arcs);
        assert_ptr_not_equal(graph->targets, targets);
        assert_ptr_not_equal(graph->weights, cases[k].values);
        assert_true(twi_graph_weight(graph, 0) == 3);
        tw_graph_destroy(graph);
    }
    /* Aligned or not is a matter of each array, and so are weights of 1. */
    const int32_t plain[] = {1, 1, 0};
    tw_csr csr = {sizeof csr, 2, offsets, TW_I64, plain, TW_I32, shifted + 1, TW_F32, 1};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, 0));
    assert_ptr_equal(graph->targets, plain);
    assert_ptr_not_equal(graph->weights, shifted + 1);
    assert_true(twi_graph_weight(graph, 2) == 5);
    tw_graph_destroy(graph);
    _Alignas(8) char moved[sizeof plain + 1];
    memcpy(moved + 1, plain, sizeof plain);
    csr.targets = moved + 1;
    csr.values = values;
    assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, 0));
    assert_ptr_not_equal(graph->targets, moved + 1);
    assert_ptr_equal(graph->weights, values);
    tw_graph_destroy(graph);
    csr.targets = plain;
    csr.values = NULL;
    assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, 0));
    assert_ptr_equal(graph->targets, plain);
    assert_true(twi_graph_weight(graph, 2) == 1 && graph->equal);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_negative_self_loop_stays_and_is_a_cycle(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t offsets[] = {0, 1, 2};
    const int32_t targets[] = {1, 1};
    const int64_t values[] = {2, -1};
    int32_t out[4];
    for (int borrow = 0; borrow < 2; borrow++) {
        tw_csr csr = {sizeof csr, 2, offsets, TW_I32, targets, TW_I32, values, TW_I64, borrow};
        tw_graph *graph = NULL;
        tw_matrix matrix = {out, 2, 2, 2, TW_I32};
        assert_ok(ctx, tw_graph_from_csr(ctx, &graph, &csr, 0));
        assert_int_equal(graph->arcs, 2);
        assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "1 -> 1", tw_apsp(ctx, &matrix, graph, NULL));
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* --------------------------------------------------------------------------- 64 bits into fewer */

static void whole_weights_of_64_bits_become_i32_or_f64_or_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t edge = (int64_t)1 << 53;
    const struct {
        int64_t low, high;
        tw_type type; /* TW_AUTO: refused */
    } cases[] = {
        {0, 5, TW_I32},
        {INT32_MIN, INT32_MAX, TW_I32},
        {0, (int64_t)INT32_MAX + 1, TW_F64},
        {(int64_t)INT32_MIN - 1, 0, TW_F64},
        {-edge, edge, TW_F64},
        {0, edge + 1, TW_AUTO},
        {-edge - 1, 0, TW_AUTO},
        {INT64_MIN, INT64_MAX, TW_AUTO},
    };
    const int64_t offsets[] = {0, 1, 2};
    const int64_t source[] = {0, 1};
    const int64_t target[] = {1, 0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t values[] = {cases[k].low, cases[k].high};
        const tw_csr csr = {sizeof csr, 2, offsets, TW_I64, target, TW_I64, values, TW_I64, 0};
        const tw_edges edges = {sizeof edges, 2, source, target, values, TW_I64, TW_I64};
        for (int way = 0; way < 2; way++) {
            tw_graph *graph = NULL;
            tw_status status = way == 0 ? tw_graph_from_csr(ctx, &graph, &csr, 0)
                                        : tw_graph_from_edges(ctx, &graph, 2, &edges, 0);
            if (cases[k].type == TW_AUTO) {
                assert_int_equal(status, TW_ERR_RANGE);
                assert_null(graph);
                assert_non_null(strstr(tw_last_error(ctx), "is beyond 2^53"));
                const char *place = cases[k].low < -edge ? way == 0 ? "row 0, element 0" : "edge 0"
                                    : way == 0           ? "row 1, element 0"
                                                         : "edge 1";
                assert_non_null(strstr(tw_last_error(ctx), place));
                continue;
            }
            assert_ok(ctx, status);
            assert_int_equal(graph->weight_type, cases[k].type);
            assert_true(twi_graph_weight(graph, 0) == (double)cases[k].low);
            assert_true(twi_graph_weight(graph, 1) == (double)cases[k].high);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void edges_of_64_bits_make_the_graph_of_32(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int64_t n = 0; n < 200000; n = n * 9 + 1) {
        for (int form = 0; form < VALUE_TYPES * 2; form++) {
            rows r = make_rows(n, 3, true, false, TW_I64, TW_I64, value_types[form % VALUE_TYPES]);
            tw_graph *wide = NULL;
            const uint32_t flags = form >= VALUE_TYPES ? TW_GRAPH_UNDIRECTED : 0;
            tw_graph *expected = from_edges(ctx, &r, flags);
            int64_t *source = malloc((size_t)r.arcs * sizeof *source + 1);
            for (int64_t u = 0; u < n; u++) {
                for (int64_t a = r.offsets[u]; a < r.offsets[u + 1]; a++) {
                    source[a] = u;
                }
            }
            const tw_edges edges = {sizeof edges, r.arcs,           source, r.targets,
                                    r.csr.values, r.csr.value_type, TW_I64};
            assert_ok(ctx, tw_graph_from_edges(ctx, &wide, n, &edges, flags));
            assert_same_graph(wide, expected);
            tw_graph_destroy(wide);
            tw_graph_destroy(expected);
            free(source);
            free_rows(&r);
        }
    }
    close_context(ctx);
}

/* --------------------------------------------------------------------------------- what is wrong
 */

static void wrong_rows_are_refused_with_their_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t wide[] = {((int64_t)1 << 32) + 1, 0, 1};
    const double nan[] = {1, (double)NAN, 1};
    const double minus[] = {1, 1, -(double)INFINITY};
    const struct {
        tw_csr csr;
        uint32_t flags;
        const char *words;
    } wrong[] = {
        {{0, 2, (int64_t[]){0, 0, 0}, TW_I64, NULL, TW_I32, NULL, TW_I32, 0}, 2, "flags 0x2"},
        {{0, -1, NULL, TW_I64, NULL, TW_I32, NULL, TW_I32, 0}, 0, "-1 vertices"},
        {{0, (int64_t)1 << 31, NULL, TW_I64, NULL, TW_I32, NULL, TW_I32, 0},
         0,
         "vertices: expected"},
        {{0, 2, NULL, TW_I64, NULL, TW_I32, NULL, TW_I32, 0}, 0, "without offsets"},
        {{0, 2, (int64_t[]){1, 1, 1}, TW_I64, NULL, TW_I32, NULL, TW_I32, 0},
         0,
         "first offset is 1"},
        {{0, 0, (int64_t[]){3}, TW_I64, NULL, TW_I32, NULL, TW_I32, 0}, 0, "first offset is 3"},
        {{0, 2, (int64_t[]){0, 2, 1}, TW_I64, wide, TW_I32, NULL, TW_I32, 0},
         0,
         "offset 2 is 1 after 2: offsets must not decrease"},
        {{0, 2, (int32_t[]){0, -1, 1}, TW_I32, wide, TW_I32, NULL, TW_I32, 0},
         0,
         "offset 1 is -1 after 0"},
        {{0, 1, (int64_t[]){0, INT64_MAX}, TW_I64, wide, TW_I32, NULL, TW_I32, 0},
         0,
         "can address"},
        {{0, 2, (int64_t[]){0, 1, 1}, TW_I64, NULL, TW_I32, NULL, TW_I32, 0},
         0,
         "1 arc without targets"},
        {{0, 2, (int64_t[]){0, 1, 3}, TW_I64, wide, TW_I64, NULL, TW_I32, 0},
         0,
         "row 0, element 0: vertex 4294967297 is outside 0 ... 1"},
        {{0, 2, (int64_t[]){0, 1, 3}, TW_I64, (int32_t[]){1, 0, 2}, TW_I32, NULL, TW_I32, 0},
         0,
         "row 1, element 1: vertex 2 is outside 0 ... 1; the graph has 2 vertices"},
        {{0, 2, (int32_t[]){0, 0, 1}, TW_I32, (int32_t[]){-1}, TW_I32, NULL, TW_I32, 1},
         0,
         "row 1, element 0: vertex -1"},
        {{0, 2, (int32_t[]){0, 0, 1}, TW_I32, (int32_t[]){-1}, TW_I32, NULL, TW_I32, 0},
         TW_GRAPH_UNDIRECTED,
         "row 1, element 0: vertex -1"},
        {{0, 2, (int64_t[]){0, 1, 3}, TW_I64, (int32_t[]){1, 0, 0}, TW_I32, nan, TW_F64, 0},
         0,
         "row 1, element 0: the weight of the arc to 0 is NaN"},
        {{0, 2, (int64_t[]){0, 1, 3}, TW_I64, (int32_t[]){1, 0, 0}, TW_I32, minus, TW_F64, 1},
         0,
         "row 1, element 1: the weight of the arc to 0 is -inf"},
        {{0, 2, (int64_t[]){0, 0, 0}, TW_F64, NULL, TW_I32, NULL, TW_I32, 0},
         0,
         "offsets of type f64"},
        {{0, 2, (int64_t[]){0, 0, 0}, TW_I64, NULL, TW_U16, NULL, TW_I32, 0},
         0,
         "targets of type u16"},
        {{0, 2, (int64_t[]){0, 0, 0}, TW_I64, NULL, TW_I32, nan, TW_I16, 0},
         0,
         "values of type i16 are not supported; use i32, i64, f32 or f64"},
        {{0, 2, (int64_t[]){0, 0, 0}, TW_I64, NULL, TW_I32, NULL, TW_I32, 2}, 0, "borrow is 2"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tw_csr csr = wrong[k].csr;
        tw_graph *graph = (tw_graph *)&csr;
        csr.size = sizeof csr;
        assert_fails(ctx, TW_ERR_ARGUMENT, wrong[k].words,
                     tw_graph_from_csr(ctx, &graph, &csr, wrong[k].flags));
        assert_null(graph);
    }
    tw_graph *graph = NULL;
    tw_csr csr = {0};
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_CSR_INIT", tw_graph_from_csr(ctx, &graph, &csr, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "csr is NULL", tw_graph_from_csr(ctx, &graph, NULL, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "out is NULL", tw_graph_from_csr(ctx, NULL, &csr, 0));
    const int64_t ends[] = {0, 5};
    tw_edges edges = {sizeof edges, 2, ends, ends, NULL, TW_I32, TW_I64};
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 1: vertex 5 is outside 0 ... 4",
                 tw_graph_from_edges(ctx, &graph, 5, &edges, 0));
    edges.index_type = TW_F32;
    assert_fails(ctx, TW_ERR_ARGUMENT, "vertices of type f32",
                 tw_graph_from_edges(ctx, &graph, 5, &edges, 0));
    close_context(ctx);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    for (int form = 0; form < 2 * VALUE_TYPES * 2 * 2; form++) {
        rows r = make_rows(40, 9, form / 2 / VALUE_TYPES % 2 == 1, false, TW_I32,
                           index_types[form % 2], value_types[form / 2 % VALUE_TYPES]);
        const uint32_t flags = form / 4 / VALUE_TYPES == 1 ? TW_GRAPH_UNDIRECTED : 0;
        tw_status status = TW_ERR_MEMORY;
        for (int64_t k = 1; status != TW_OK; k++) {
            tw_context *ctx = open_context();
            tw_graph *graph = NULL;
            assert_ok(ctx, tw_set_threads(ctx, 1));
            twi_meter_fail_at(ctx->meter, k);
            status = tw_graph_from_csr(ctx, &graph, &r.csr, flags);
            assert_true(status == TW_OK || (status == TW_ERR_MEMORY && graph == NULL));
            tw_graph_destroy(graph);
            close_context(ctx);
        }
        free_rows(&r);
    }
}

static void a_cancelled_build_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int form = 0; form < 4; form++) {
        rows r = make_rows(500, 9, false, false, TW_I32, index_types[form % 2], TW_I64);
        tw_graph *graph = NULL;
        tw_cancel(ctx);
        assert_fails(ctx, TW_ERR_CANCELLED, "on request",
                     tw_graph_from_csr(ctx, &graph, &r.csr, form / 2 * TW_GRAPH_UNDIRECTED));
        assert_null(graph);
        tw_clear_cancel(ctx);
        free_rows(&r);
    }
    close_context(ctx);
}

static void any_thread_count_gives_the_same_graph(void **state)
{
    (void)state;
    for (int loops = 0; loops < 2; loops++) {
        rows r = make_rows(100003, 21, loops, false, TW_I32, TW_I64, TW_I64);
        tw_graph *graphs[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++) {
            tw_context *ctx = open_context();
            assert_ok(ctx, tw_set_threads(ctx, k == 0 ? 1 : 7));
            assert_ok(ctx, tw_graph_from_csr(ctx, &graphs[k], &r.csr, 0));
            tw_context_destroy(ctx);
        }
        assert_same_graph(graphs[0], graphs[1]);
        tw_graph_destroy(graphs[0]);
        tw_graph_destroy(graphs[1]);
        free_rows(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_the_graph_of_the_same_edges),
        cmocka_unit_test(every_form_has_the_distances_of_the_textbook),
        cmocka_unit_test(borrowed_arrays_serve_where_they_lie),
        cmocka_unit_test(each_borrowed_array_counts_by_itself),
        cmocka_unit_test(arrays_that_cannot_serve_are_copied_though_borrowed),
        cmocka_unit_test(a_negative_self_loop_stays_and_is_a_cycle),
        cmocka_unit_test(whole_weights_of_64_bits_become_i32_or_f64_or_are_refused),
        cmocka_unit_test(edges_of_64_bits_make_the_graph_of_32),
        cmocka_unit_test(wrong_rows_are_refused_with_their_place),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(a_cancelled_build_stops),
        cmocka_unit_test(any_thread_count_gives_the_same_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The rounds of the GPU closures over several devices and out of core, on a runtime without a GPU
 * that runs what is queued in any order the events allow (runtime.c): the result must be right for
 * every order, every call that fails must give its sentence and leave nothing behind, and the
 * memory must be what was announced.
 */
#include "runtime.h"

#include "apsp/gpu/gpu.h"
#include "base/random.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define SEED 20261115

typedef struct problem {
    int64_t n;
    int64_t ld;
    bool symmetric;
    int32_t *matrix;
    int32_t *expected;
} problem;

/* Which pairs may have an edge: in all but the first there are tiles without a path. */
typedef enum shape {
    WHOLE,
    PARTS,   /* of vertices that follow each other */
    WOVEN,   /* of every third four of them: gaps between the tiles of a part */
    BAND,    /* vertices near each other; everything is reached in the end */
    FORWARD, /* and only with larger numbers; both ways if symmetric */
    FEW,     /* most vertices have none */
    FOLDED,  /* one path, from one end of the numbers to the other and back */
    FAR,     /* for the first four vertices all others are too far for 16 bits, if not symmetric */
    NONE,
    SHAPES,
} shape;

static bool may_join(shape form, int64_t n, int64_t i, int64_t j)
{
    switch (form) {
    case PARTS:
        return i / 9 == j / 9;
    case WOVEN:
        return i / 4 % 3 == j / 4 % 3;
    case BAND:
        return i - j <= 3 && j - i <= 3;
    case FORWARD:
        return i < j && j - i <= 6;
    case FEW:
        return i < n / 4 && j > n - n / 4;
    case FOLDED:
        return (i + j) % n <= 1;
    case NONE:
        return false;
    default:
        return true;
    }
}

static problem make_shaped(shape form, int64_t n, uint64_t seed, double density, int32_t heaviest,
                           bool symmetric)
{
    problem p = {n, n + 3, symmetric, NULL, NULL};
    size_t count = (size_t)(n * p.ld) + 1;
    p.matrix = malloc(count * sizeof *p.matrix);
    p.expected = malloc(count * sizeof *p.expected);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p.ld; j++) {
            int64_t a = symmetric && i < j ? j : i;
            int64_t b = symmetric && i < j ? i : j;
            uint64_t random = twi_random_at(seed, (uint64_t)(a * p.ld + b));
            int32_t weight =
                (int32_t)twi_random_below(twi_random_at(3, random), (uint64_t)heaviest);
            weight +=
                form == FAR && i < 4 && j >= 4 && !symmetric ? 1000 * (1 + (int32_t)j % 5) : 0;
            bool edge = (form == FOLDED || twi_random_unit(random) < density) &&
                        (may_join(form, n, i, j) || (symmetric && may_join(form, n, j, i)));
            p.matrix[i * p.ld + j] = j >= n ? -77 : i == j ? 0 : edge ? weight : TW_APSP_INF_I32;
            p.expected[i * p.ld + j] = p.matrix[i * p.ld + j];
        }
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                int32_t sum = p.expected[i * p.ld + k] + p.expected[k * p.ld + j];
                int32_t *at = &p.expected[i * p.ld + j];
                *at = sum < *at ? sum : *at;
            }
        }
    }
    return p;
}

static problem make_problem(int64_t n, uint64_t seed, double density, int32_t heaviest,
                            bool symmetric)
{
    return make_shaped(WHOLE, n, seed, density, heaviest, symmetric);
}

static void free_problem(problem *p)
{
    free(p->expected);
    free(p->matrix);
}

static void assert_closed(const problem *p)
{
    for (int64_t i = 0; i < p->n * p->ld; i++) {
        if (p->matrix[i] != p->expected[i]) {
            print_message("n %lld: (%lld, %lld) is %d, not %d\n", (long long)p->n,
                          (long long)(i / p->ld), (long long)(i % p->ld), p->matrix[i],
                          p->expected[i]);
        }
        assert_int_equal(p->matrix[i], p->expected[i]);
    }
    assert_int_equal(fake_live(), 0);
}

static twi_gpu_host host_of(const problem *p)
{
    return (twi_gpu_host){
        .data = p->matrix, .n = p->n, .ld = p->ld, .type = TW_I32, .symmetric = p->symmetric};
}

/* The graph that the matrix is of. */
static tw_graph *graph_of(tw_context *ctx, const problem *p)
{
    size_t most = (size_t)(p->n * p->n) + 1;
    int32_t *arcs = malloc(3 * most * sizeof *arcs);
    tw_edges edges = {sizeof edges, 0, arcs, arcs + most, arcs + 2 * most, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            if (i != j && p->matrix[i * p->ld + j] < TW_APSP_INF_I32) {
                arcs[edges.count] = (int32_t)i;
                arcs[most + (size_t)edges.count] = (int32_t)j;
                arcs[2 * most + (size_t)edges.count++] = p->matrix[i * p->ld + j];
            }
        }
    }
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, p->n, &edges, 0));
    free(arcs);
    return graph;
}

/* The type that must have been enough: with the graph, pairs without a path are known for it. */
static tw_type enough(const problem *p, bool narrow, bool graph)
{
    tw_type type = narrow ? TW_U16 : TW_I32;
    for (int64_t i = 0; i < p->n * p->ld; i++) {
        int32_t far = i % p->ld < p->n ? p->expected[i] : 0;
        if (far >= TWI_GPU_INF_U16 && !(graph && far == TW_APSP_INF_I32)) {
            type = TW_I32;
        }
    }
    return type;
}

static twi_gpu_list devices_of(int32_t count, uint64_t seed)
{
    twi_gpu_list list = {.count = count};
    for (int32_t i = 0; i < count; i++) { /* some of them twice */
        list.index[i] = (int32_t)twi_random_below(twi_random_at(seed, (uint64_t)i), FAKE_DEVICES);
    }
    return list;
}

/* A problem of up to `most` vertices; every kind comes with every form of the rest. */
static problem draw_problem(shape form, uint64_t seed, int64_t most)
{
    int64_t n = 1 + (int64_t)twi_random_below(twi_random_at(SEED, seed), (uint64_t)most);
    return make_shaped(form, n, seed, seed % 3 == 0 ? 0.1 : 0.6, seed % 2 == 0 ? 60 : 2000,
                       seed % 4 < 2);
}

static tw_status deal_out(tw_context *ctx, const twi_gpu_list *list, const twi_gpu_host *host,
                          bool narrow, tw_type *used)
{
    return twi_gpu_close(ctx, list, TWI_GPU_SEVERAL, UINT64_MAX, host, narrow, used);
}

static tw_status stream(tw_context *ctx, int32_t device, const twi_gpu_host *host, bool narrow,
                        uint64_t limit, tw_type *used)
{
    twi_gpu_list one = {1, {device}};
    return twi_gpu_close(ctx, &one, TWI_GPU_STREAMED, limit, host, narrow, used);
}

static void close_with_several(tw_context *ctx, shape form, uint64_t seed)
{
    problem p = draw_problem(form, seed, 40);
    twi_gpu_host host = host_of(&p);
    twi_gpu_list list = devices_of(1 + (int32_t)(seed % 6), seed);
    tw_type used = TW_AUTO;
    fake_begin(seed, 0);
    host.graph = seed % 3 != 1 ? graph_of(ctx, &p) : NULL;
    assert_int_equal(deal_out(ctx, &list, &host, seed % 5 < 3, &used), TW_OK);
    assert_closed(&p);
    assert_int_equal(used, enough(&p, seed % 5 < 3, host.graph != NULL));
    tw_graph_destroy((tw_graph *)host.graph);
    free_problem(&p);
}

static void close_in_strips(tw_context *ctx, shape form, uint64_t seed)
{
    problem p = draw_problem(form, seed, 60);
    twi_gpu_host host = host_of(&p);
    uint64_t least = 0;
    uint64_t bytes = 0;
    tw_type used = TW_AUTO;
    assert_false(twi_gpu_stream_fits(TW_I32, p.n, true, 0, &least));
    uint64_t limit = least + least * (seed % 7) / 3;
    assert_true(twi_gpu_stream_fits(TW_I32, p.n, true, limit, &bytes));
    assert_true(bytes <= limit);
    fake_begin(seed, 0);
    host.graph = seed % 3 != 1 ? graph_of(ctx, &p) : NULL;
    assert_int_equal(stream(ctx, 1, &host, seed % 5 < 3, limit, &used), TW_OK);
    assert_closed(&p);
    assert_int_equal(used, enough(&p, seed % 5 < 3, host.graph != NULL));
    tw_graph_destroy((tw_graph *)host.graph);
    assert_true(fake_peak(1) <= bytes);
    free_problem(&p);
}

static void several_devices_agree_with_the_definition_in_any_order(void **state)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        close_with_several(*state, WHOLE, seed);
    }
}

static void streams_agree_with_the_definition_in_any_order(void **state)
{
    for (uint64_t seed = 0; seed < 600; seed++) {
        close_in_strips(*state, WHOLE, seed);
    }
}

static void graphs_that_fall_apart_agree_with_it_too(void **state)
{
    for (int form = PARTS; form < SHAPES; form++) {
        for (uint64_t seed = 0; seed < 120; seed++) {
            close_with_several(*state, (shape)form, seed);
            close_in_strips(*state, (shape)form, seed);
        }
    }
}

/* Pairs of tiles that are multiplied to close a graph of 96 vertices, 24 tiles per side. */
static int64_t steps_of(tw_context *ctx, shape form, bool symmetric, bool several)
{
    problem p = make_shaped(form, 96, SEED, 1.0, 100, symmetric);
    twi_gpu_host host = host_of(&p);
    twi_gpu_list list = {2, {0, 1}};
    tw_type used = TW_AUTO;
    uint64_t least = 0;
    (void)twi_gpu_stream_fits(TW_I32, p.n, false, 0, &least);
    fake_begin(SEED, 0);
    fake_steps = 0;
    assert_int_equal(several ? deal_out(ctx, &list, &host, false, &used)
                             : stream(ctx, 0, &host, false, 2 * least, &used),
                     TW_OK);
    assert_closed(&p);
    free_problem(&p);
    return fake_steps;
}

static void strips_stay_on_the_host_in_rounds_without_paths_for_them(void **state)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        (void)steps_of(*state, WHOLE, symmetric == 1, false);
        size_t whole = fake_uploaded();
        (void)steps_of(*state, PARTS, symmetric == 1, false);
        assert_true(fake_uploaded() < whole * 2 / 3);
    }
}

/* A tile has paths to at most 4 of the 24 tiles of a row in PARTS, and to 8 in WOVEN. */
static void tiles_without_paths_are_left_out(void **state)
{
    for (int way = 0; way < 4; way++) {
        bool symmetric = way % 2 == 1;
        bool several = way / 2 == 1;
        int64_t whole = steps_of(*state, WHOLE, symmetric, several);
        assert_true(whole > 24 * 23 * 23 / (symmetric ? 2 : 1));
        assert_true(steps_of(*state, PARTS, symmetric, several) < whole / 16);
        assert_true(steps_of(*state, WOVEN, symmetric, several) < whole / 8);
        assert_int_equal(steps_of(*state, NONE, symmetric, several), 0);
    }
}

static void the_type_that_was_enough_is_told(void **state)
{
    tw_context *ctx = *state;
    for (int heavy = 0; heavy < 2; heavy++) {
        for (int several = 0; several < 2; several++) {
            problem p = make_problem(30, 5, 1.0, heavy ? 20000 : 100, false);
            twi_gpu_host host = host_of(&p);
            twi_gpu_list list = devices_of(2, 1);
            tw_type used = TW_AUTO;
            fake_begin(9, 0);
            assert_int_equal(several ? deal_out(ctx, &list, &host, true, &used)
                                     : stream(ctx, 0, &host, true, (uint64_t)1 << 20, &used),
                             TW_OK);
            assert_int_equal(used, heavy ? TW_I32 : TW_U16);
            assert_closed(&p);
            free_problem(&p);
        }
    }
}

static void each_of_two_devices_holds_half_and_panels(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(160, 5, 0.5, 100, false);
    twi_gpu_host host = host_of(&p);
    twi_gpu_list list = {2, {0, 2}};
    tw_type used = TW_AUTO;
    uint64_t bytes = twi_gpu_several_bytes(&list, TW_I32, p.n, false);
    fake_begin(9, 0);
    assert_int_equal(deal_out(ctx, &list, &host, false, &used), TW_OK);
    assert_closed(&p);
    assert_true(fake_peak(0) <= bytes && fake_peak(2) <= bytes);
    assert_true(bytes < 160 * 160 * 4 * 7 / 10);
    free_problem(&p);
}

/* Fail call after call until none is left to fail. The first pins the host's memory, and is not
 * missed. */
static void fail_every_call(tw_context *ctx, bool several)
{
    tw_status status = TW_ERR_DEVICE;
    for (int64_t call = 1; call <= 2 || status != TW_OK; call++) {
        problem p = make_problem(11, 5, 0.5, 20000, true);
        twi_gpu_host host = host_of(&p);
        twi_gpu_list list = {3, {0, 1, 0}};
        tw_type used = TW_AUTO;
        uint64_t least = 0;
        (void)twi_gpu_stream_fits(TW_I32, p.n, true, 0, &least);
        fake_begin(7, call);
        status = several ? deal_out(ctx, &list, &host, true, &used)
                         : stream(ctx, 2, &host, true, least, &used);
        if (status == TW_OK) {
            assert_closed(&p);
        } else {
            assert_true(status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
            assert_non_null(strstr(tw_last_error(ctx), "cuda:"));
            assert_non_null(strstr(tw_last_error(ctx), "as planned"));
        }
        assert_int_equal(fake_live(), 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        free_problem(&p);
    }
}

static void failing_calls_are_told_and_leave_nothing(void **state)
{
    fail_every_call(*state, true);
    fail_every_call(*state, false);
}

static void failing_allocations_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(11, 5, 0.5, 100, false);
    twi_gpu_host host = host_of(&p);
    tw_type used = TW_AUTO;
    fake_begin(7, 0);
    twi_meter_fail_at(ctx->meter, 1);
    assert_int_equal(stream(ctx, 0, &host, false, 1 << 20, &used), TW_ERR_MEMORY);
    twi_meter_fail_at(ctx->meter, 0);
    assert_int_equal(fake_live(), 0);
    free_problem(&p);
}

static void too_little_memory_is_refused_with_numbers(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(40, 5, 0.5, 100, false);
    twi_gpu_host host = host_of(&p);
    tw_type used = TW_AUTO;
    fake_begin(7, 0);
    assert_int_equal(stream(ctx, 0, &host, true, 1000, &used), TW_ERR_MEMORY);
    assert_non_null(strstr(tw_last_error(ctx), "1.0 kB may be used"));
    assert_int_equal(fake_live(), 0);
    free_problem(&p);
}

#define MIB ((uint64_t)1 << 20)
#define RESERVED (256 * MIB) /* of what is free, for the driver */

static void set_free(uint64_t bytes)
{
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake_free_bytes[i] = bytes;
    }
}

static void one_device_streams_what_it_cannot_hold(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_list one = {1, {2}};
    twi_gpu_fit fit;
    assert_ok(ctx, twi_gpu_find_way(ctx, &one, 4 * MIB, TW_I32, 1100, true, &fit));
    assert_int_equal(fit.way, TWI_GPU_STREAMED);
    assert_true(fit.bytes <= 4 * MIB && fit.passes > 1);
    assert_fails(ctx, TW_ERR_MEMORY, "0 B may be used",
                 twi_gpu_find_way(ctx, &one, 0, TW_I32, 1100, true, &fit));
}

static void limits_of_the_context_hold_on_devices_too(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_list one = {1, {0}};
    uint64_t bytes = 0;
    set_free(RESERVED + 9 * MIB);
    assert_ok(ctx, twi_gpu_allowance(ctx, &one, &bytes));
    assert_int_equal(bytes, 9 * MIB);
    assert_ok(ctx, tw_set_memory(ctx, 5 * MIB));
    assert_ok(ctx, twi_gpu_allowance(ctx, &one, &bytes));
    assert_int_equal(bytes, 5 * MIB);
    assert_ok(ctx, tw_set_device_memory(ctx, 7 * MIB));
    assert_ok(ctx, twi_gpu_allowance(ctx, &one, &bytes));
    assert_int_equal(bytes, 7 * MIB);
}

static void shares_on_one_gpu_share_its_memory(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_list list = {3, {1, 0, 1}};
    uint64_t bytes = 0;
    twi_gpu_fit fit;
    set_free(RESERVED + 8 * MIB);
    assert_ok(ctx, twi_gpu_allowance(ctx, &list, &bytes));
    assert_int_equal(bytes, 4 * MIB);
    assert_ok(ctx, twi_gpu_find_way(ctx, &list, bytes, TW_I32, 1500, false, &fit));
    assert_int_equal(fit.way, TWI_GPU_SEVERAL);
    assert_true(fit.bytes <= 4 * MIB);
    assert_fails(ctx, TW_ERR_MEMORY, "name more GPUs, or just one to stream",
                 twi_gpu_find_way(ctx, &list, bytes, TW_I32, 3000, false, &fit));
}

/* 16 bits first, and then, where they were not enough, the matrix's own type: both are counted, of
 * which the caller has counted one. */
static void attempts_after_the_first_are_counted(void **state)
{
    tw_context *ctx = *state;
    for (int way = 0; way < 4; way++) {
        const bool wide = way % 2 != 0;
        problem p = make_problem(100, 5, 0.5, wide ? 400000 : 100, false);
        twi_gpu_host host = host_of(&p);
        int32_t attempts = 1;
        tw_type used = TW_AUTO;
        host.attempts = &attempts;
        twi_gpu_list list = {2, {0, 0}};
        uint64_t bytes = 0;
        set_free(MIB);
        fake_begin(5, 0);
        (void)twi_gpu_stream_fits(TW_I32, p.n, true, 0, &bytes);
        assert_ok(ctx, way < 2 ? deal_out(ctx, &list, &host, true, &used)
                               : stream(ctx, 0, &host, true, 2 * bytes, &used));
        assert_int_equal(used, wide ? TW_I32 : TW_U16);
        assert_int_equal(attempts, wide ? 2 : 1);
        assert_closed(&p);
        free_problem(&p);
    }
}

static void the_way_that_was_found_is_taken_in_its_limit(void **state)
{
    tw_context *ctx = *state;
    for (int32_t count = 1; count <= 2; count++) {
        problem p = make_problem(100, 5, 0.5, 100, count == 2);
        twi_gpu_host host = host_of(&p);
        twi_gpu_list list = {count, {0, 0}};
        tw_type used = TW_AUTO;
        twi_gpu_fit fit;
        const uint64_t limit = count == 1 ? 39000 : MIB;
        set_free(0); /* which is the plan's concern, and nobody's any more */
        assert_ok(ctx, twi_gpu_find_way(ctx, &list, limit, TW_I32, p.n, true, &fit));
        fake_begin(5, 0);
        assert_ok(ctx, twi_gpu_close(ctx, &list, fit.way, limit, &host, true, &used));
        assert_int_equal(used, TW_U16);
        assert_closed(&p);
        assert_true(fake_peak(0) <= (size_t)count * fit.bytes && fit.bytes <= limit);
        free_problem(&p);
    }
}

static void cancel_at_once(void *user, const char *stage, double done, double total,
                           const char *unit)
{
    (void)stage;
    (void)done;
    (void)total;
    (void)unit;
    tw_cancel(user);
}

static void a_cancelled_closure_leaves_nothing(void **state)
{
    (void)state;
    for (int several = 0; several < 2; several++) {
        tw_context *ctx = open_context();
        problem p = make_problem(50, 5, 0.5, 100, false);
        twi_gpu_host host = host_of(&p);
        twi_gpu_list list = {3, {0, 1, 2}};
        tw_type used = TW_AUTO;
        uint64_t least = 0;
        (void)twi_gpu_stream_fits(TW_I32, p.n, true, 0, &least);
        fake_begin(7, 0);
        tw_set_progress(ctx, cancel_at_once, ctx);
        assert_int_equal(several ? deal_out(ctx, &list, &host, true, &used)
                                 : stream(ctx, 0, &host, true, least, &used),
                         TW_ERR_CANCELLED);
        assert_int_equal(fake_live(), 0);
        free_problem(&p);
        close_context(ctx);
    }
}

static int set_up(void **state)
{
    *state = open_context();
    return 0;
}

static int tear_down(void **state)
{
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(several_devices_agree_with_the_definition_in_any_order,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_agree_with_the_definition_in_any_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(graphs_that_fall_apart_agree_with_it_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(tiles_without_paths_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strips_stay_on_the_host_in_rounds_without_paths_for_them,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_type_that_was_enough_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_of_two_devices_holds_half_and_panels, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failing_calls_are_told_and_leave_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failing_allocations_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_little_memory_is_refused_with_numbers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_device_streams_what_it_cannot_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_of_the_context_hold_on_devices_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(shares_on_one_gpu_share_its_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(attempts_after_the_first_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_way_that_was_found_is_taken_in_its_limit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_closure_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

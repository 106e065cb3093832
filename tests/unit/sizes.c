/*
 * Every struct of the header, as callers compiled with an older or a newer one have it: shorter,
 * with memory of theirs behind it that nobody may read or write, and longer. The last test reads
 * the header, so that no struct is forgotten.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define POISON 0xff
#define MORE 24 /* bytes by which a newer caller's struct is longer */

/* The same on every 64-bit machine: aarch64 and x86-64 have one layout. */
#define ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
ASSERT_SIZE(tw_matrix, 40);
ASSERT_SIZE(tw_edges, 48);
ASSERT_SIZE(tw_csr, 64);
ASSERT_SIZE(tw_graph_info, 64);
ASSERT_SIZE(tw_read_options, 56);
ASSERT_SIZE(tw_generate_options, 96);
ASSERT_SIZE(tw_shape, 24);
ASSERT_SIZE(tw_sink, 56);
ASSERT_SIZE(tw_source, 64);
ASSERT_SIZE(tw_device_options, 32);
ASSERT_SIZE(tw_apsp_options, 72);
ASSERT_SIZE(tw_apsp_plan_info, 56);
ASSERT_SIZE(tw_apsp_report, 152);
ASSERT_SIZE(tw_apsp_path_info, 32);
ASSERT_SIZE(tw_apsp_summary_info, 104);
ASSERT_SIZE(tw_image_info, 24);
ASSERT_SIZE(tw_image_options, 48);
ASSERT_SIZE(tw_entropy_options, 96);
ASSERT_SIZE(tw_entropy_report, 104);
ASSERT_SIZE(tw_entropy_plan_info, 96);
ASSERT_SIZE(tw_constant, 16);
ASSERT_SIZE(tw_expr_options, 48);
ASSERT_SIZE(tw_expr_info, 32);
ASSERT_SIZE(tw_map_options, 40);
ASSERT_SIZE(tw_map_plan_info, 72);
ASSERT_SIZE(tw_map_report, 56);
ASSERT_SIZE(tw_machine, 88);
ASSERT_SIZE(tw_gpu, 128);
ASSERT_SIZE(tw_gpu_link, 24);
ASSERT_SIZE(tw_selftest_counts, 32);

static const int32_t ends[] = {0, 1};
static tw_graph *graph;
static tw_expr *expr;
static uint8_t elements[64];
static float floats[64];
static const tw_matrix image = {elements, 8, 8, 8, TW_U8};
static tw_matrix result = {floats, 8, 8, 8, TW_F32};
static const tw_shape shape = {8, 8, TW_U8};

/* ------------------------------------------------------------- one call for each struct */

static tw_status take_read(tw_context *ctx, void *given)
{
    tw_graph *read = NULL;
    tw_status status = tw_graph_read(ctx, &read, TW_TEST_DATA "/good/small.gr", given);
    tw_graph_destroy(read);
    return status;
}

static tw_status take_generate(tw_context *ctx, void *given)
{
    tw_graph *made = NULL;
    tw_status status = tw_graph_generate(ctx, &made, given);
    tw_graph_destroy(made);
    return status;
}

static tw_status take_apsp(tw_context *ctx, void *given)
{
    tw_apsp_plan *plan = NULL;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, given);
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_status take_verifier(tw_context *ctx, void *given)
{
    tw_apsp_verifier *verifier = NULL;
    tw_status status = tw_apsp_verifier_create(ctx, &verifier, graph, given, 0, 1);
    tw_apsp_verifier_destroy(verifier);
    return status;
}

static tw_status take_image(tw_context *ctx, void *given)
{
    tw_image *made = NULL;
    tw_status status = tw_image_generate(ctx, &made, given);
    tw_image_destroy(made);
    return status;
}

static tw_status take_entropy(tw_context *ctx, void *given)
{
    tw_entropy_plan *plan = NULL;
    tw_status status = tw_entropy_plan_create(ctx, &plan, &shape, given);
    tw_entropy_plan_destroy(plan);
    return status;
}

static tw_status take_expr(tw_context *ctx, void *given)
{
    tw_expr *made = NULL;
    tw_status status = tw_expr_create(ctx, &made, "x + 1", given);
    tw_expr_destroy(made);
    return status;
}

static tw_status take_map(tw_context *ctx, void *given)
{
    tw_map_plan *plan = NULL;
    tw_status status = tw_map_plan_create(ctx, &plan, expr, &shape, 1, given);
    tw_map_plan_destroy(plan);
    return status;
}

static tw_status give_graph(tw_context *ctx, void *out)
{
    (void)ctx;
    return tw_graph_describe(graph, out);
}

static tw_status give_apsp_plan(tw_context *ctx, void *out)
{
    tw_apsp_plan *plan = NULL;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, NULL);
    status = status == TW_OK ? tw_apsp_plan_describe(plan, out) : status;
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_status give_apsp_report(tw_context *ctx, void *out)
{
    tw_apsp_plan *plan = NULL;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, NULL);
    status = status == TW_OK ? tw_apsp_plan_run(ctx, plan, NULL, 0, NULL, out) : status;
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_status give_path(tw_context *ctx, void *out)
{
    tw_apsp_path *path = NULL;
    tw_status status = tw_apsp_path_create(ctx, &path, graph, NULL, 0, 1);
    status = status == TW_OK ? tw_apsp_path_describe(path, out) : status;
    tw_apsp_path_destroy(path);
    return status;
}

static tw_status give_summary(tw_context *ctx, void *out)
{
    tw_apsp_summary *summary = NULL;
    tw_status status = tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL);
    status = status == TW_OK ? tw_apsp_summary_describe(summary, out) : status;
    tw_apsp_summary_destroy(summary);
    return status;
}

static tw_status give_image_info(tw_context *ctx, void *out)
{
    tw_source source = TW_SOURCE_INIT;
    tw_status status = tw_image_source(ctx, &source, TW_TEST_DATA "/good/small.pgm", NULL, 0, out);
    tw_source_destroy(&source);
    return status;
}

static tw_status give_entropy_plan(tw_context *ctx, void *out)
{
    tw_entropy_plan *plan = NULL;
    tw_status status = tw_entropy_plan_create(ctx, &plan, &shape, NULL);
    status = status == TW_OK ? tw_entropy_plan_describe(plan, out) : status;
    tw_entropy_plan_destroy(plan);
    return status;
}

static tw_status give_entropy_report(tw_context *ctx, void *out)
{
    tw_entropy_plan *plan = NULL;
    tw_status status = tw_entropy_plan_create(ctx, &plan, &shape, NULL);
    status = status == TW_OK ? tw_entropy_plan_apply(ctx, plan, &result, &image, out) : status;
    tw_entropy_plan_destroy(plan);
    return status;
}

static tw_status give_expr(tw_context *ctx, void *out)
{
    (void)ctx;
    return tw_expr_describe(expr, out);
}

static tw_status give_map_plan(tw_context *ctx, void *out)
{
    tw_map_plan *plan = NULL;
    tw_status status = tw_map_plan_create(ctx, &plan, expr, &shape, 1, NULL);
    status = status == TW_OK ? tw_map_plan_describe(plan, out) : status;
    tw_map_plan_destroy(plan);
    return status;
}

static tw_status give_map_report(tw_context *ctx, void *out)
{
    tw_map_plan *plan = NULL;
    tw_status status = tw_map_plan_create(ctx, &plan, expr, &shape, 1, NULL);
    status = status == TW_OK ? tw_map_plan_apply(ctx, plan, &result, &image, 1, out) : status;
    tw_map_plan_destroy(plan);
    return status;
}

static tw_status give_machine(tw_context *ctx, void *out)
{
    return tw_machine_describe(ctx, out);
}

static tw_status give_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_matrix(ctx, out, &result);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_source(tw_context *ctx, void *out)
{
    tw_status status = tw_image_source(ctx, out, TW_TEST_DATA "/good/small.pgm", NULL, 0, NULL);
    tw_source_destroy(out);
    return status;
}

static tw_status take_edges(tw_context *ctx, void *given)
{
    tw_graph *made = NULL;
    tw_status status = tw_graph_from_edges(ctx, &made, 1, given, 0);
    tw_graph_destroy(made);
    return status;
}

static tw_status take_csr(tw_context *ctx, void *given)
{
    tw_graph *made = NULL;
    tw_status status = tw_graph_from_csr(ctx, &made, given, 0);
    tw_graph_destroy(made);
    return status;
}

static tw_status take_device(tw_context *ctx, void *given)
{
    int32_t data[4] = {0, 1, 1, 0};
    tw_matrix matrix = {data, 2, 2, 2, TW_I32};
    return tw_apsp_device(ctx, &matrix, NULL, given);
}

static tw_status give_gpu(tw_context *ctx, void *out)
{
    return tw_gpu_describe(ctx, out, 0);
}

static tw_status give_link(tw_context *ctx, void *out)
{
    return tw_gpu_link_describe(ctx, out, 0, 1);
}

/* The first case is the last. */
static void cancel(void *user, const char *name, int32_t passed, const char *detail)
{
    (void)name, (void)passed, (void)detail;
    tw_cancel(user);
}

static tw_status give_counts(tw_context *ctx, void *out)
{
    tw_status status = tw_selftest(ctx, out, "map", 1, cancel, ctx);
    tw_clear_cancel(ctx);
    return status == TW_ERR_CANCELLED ? TW_OK : status;
}

/* ------------------------------------------------------------------------------------- the table
 */

typedef struct kind {
    const char *type;
    size_t bytes;
    const void *defaults; /* options; NULL: a struct that is filled */
    bool whole;           /* of no use unless it is there as a whole */
    tw_status (*call)(tw_context *ctx, void *caller);
} kind;

#define TAKEN(type, init, call)                             \
    {                                                       \
#type, sizeof(type), &(const type)init, false, call \
    }
#define GIVEN(type, call)                      \
    {                                          \
#type, sizeof(type), NULL, false, call \
    }
#define FILLED(type, call)                    \
    {                                         \
#type, sizeof(type), NULL, true, call \
    }

static const kind kinds[] = {
    TAKEN(tw_edges, TW_EDGES_INIT, take_edges),
    TAKEN(tw_csr, TW_CSR_INIT, take_csr),
    TAKEN(tw_read_options, TW_READ_OPTIONS_INIT, take_read),
    TAKEN(tw_generate_options, TW_GENERATE_OPTIONS_INIT, take_generate),
    TAKEN(tw_device_options, TW_DEVICE_OPTIONS_INIT, take_device),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_apsp),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_verifier),
    TAKEN(tw_image_options, TW_IMAGE_OPTIONS_INIT, take_image),
    TAKEN(tw_entropy_options, TW_ENTROPY_OPTIONS_INIT, take_entropy),
    TAKEN(tw_expr_options, TW_EXPR_OPTIONS_INIT, take_expr),
    TAKEN(tw_map_options, TW_MAP_OPTIONS_INIT, take_map),
    GIVEN(tw_graph_info, give_graph),
    GIVEN(tw_apsp_plan_info, give_apsp_plan),
    GIVEN(tw_apsp_report, give_apsp_report),
    GIVEN(tw_apsp_path_info, give_path),
    GIVEN(tw_apsp_summary_info, give_summary),
    GIVEN(tw_image_info, give_image_info),
    GIVEN(tw_entropy_plan_info, give_entropy_plan),
    GIVEN(tw_entropy_report, give_entropy_report),
    GIVEN(tw_expr_info, give_expr),
    GIVEN(tw_map_plan_info, give_map_plan),
    GIVEN(tw_map_report, give_map_report),
    GIVEN(tw_machine, give_machine),
    GIVEN(tw_gpu, give_gpu),
    GIVEN(tw_gpu_link, give_link),
    GIVEN(tw_selftest_counts, give_counts),
    FILLED(tw_sink, give_sink),
    FILLED(tw_source, give_source),
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ------------------------------------------------------------------------------------- the tests
 */

typedef struct caller {
    _Alignas(16) unsigned char bytes[512];
} caller;

static void make_caller(caller *c, const kind *k, size_t size)
{
    memset(c->bytes, POISON, sizeof c->bytes);
    if (k->defaults != NULL) {
        memcpy(c->bytes, k->defaults, size < k->bytes ? size : k->bytes);
    }
    if (size > k->bytes) {
        memset(c->bytes + k->bytes, 0, size - k->bytes);
    }
    memcpy(c->bytes, &size, sizeof size);
}

static void assert_poisoned(const caller *c, size_t from)
{
    for (size_t i = from; i < sizeof c->bytes; i++) {
        assert_int_equal(c->bytes[i], POISON);
    }
}

/* Eight bytes at a time: all that a version of it can end at. */
static void a_shorter_struct_is_enough(void **state)
{
    tw_context *ctx = *state;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t size = sizeof(size_t); size <= kinds[k].bytes; size += 8) {
            caller c;
            size_t kept;
            make_caller(&c, &kinds[k], size);
            tw_status status = kinds[k].call(ctx, c.bytes);
            bool refused = kinds[k].whole && size < kinds[k].bytes;
            if ((status == TW_ERR_ARGUMENT) != refused) {
                fail_msg("%s of %zu bytes: %s: %s", kinds[k].type, size, tw_status_name(status),
                         tw_last_error(ctx));
            }
            memcpy(&kept, c.bytes, sizeof kept);
            assert_int_equal(kept, size);
            assert_poisoned(&c, size);
        }
    }
}

/* Not even if what it cuts off would be filled by the default: the rest is foreign memory. */
static void a_size_that_cuts_a_member_is_refused(void **state)
{
    tw_context *ctx = *state;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t size = sizeof(size_t); size <= kinds[k].bytes + MORE; size++) {
            caller c;
            make_caller(&c, &kinds[k], size);
            if (size % 8 != 0 && kinds[k].call(ctx, c.bytes) != TW_ERR_ARGUMENT) {
                fail_msg("%s of %zu bytes was taken", kinds[k].type, size);
            }
            assert_poisoned(&c, size > kinds[k].bytes ? size : kinds[k].bytes);
        }
    }
}

static void a_longer_struct_is_taken_if_the_rest_asks_for_nothing(void **state)
{
    tw_context *ctx = *state;
    for (size_t k = 0; k < KINDS; k++) {
        caller c;
        const size_t size = kinds[k].bytes + MORE;
        make_caller(&c, &kinds[k], size);
        assert_int_not_equal(kinds[k].call(ctx, c.bytes), TW_ERR_ARGUMENT);
        for (size_t i = kinds[k].bytes; i < size; i++) {
            assert_int_equal(c.bytes[i], 0);
        }
        assert_poisoned(&c, size);
        make_caller(&c, &kinds[k], size);
        c.bytes[size - 1] = 1;
        tw_status status = kinds[k].call(ctx, c.bytes);
        assert_int_equal(status == TW_ERR_ARGUMENT, kinds[k].defaults != NULL);
        assert_int_equal(c.bytes[size - 1], 1);
    }
}

static void a_size_that_was_not_set_is_refused(void **state)
{
    tw_context *ctx = *state;
    for (size_t k = 0; k < KINDS; k++) {
        caller c;
        const size_t none = 0;
        make_caller(&c, &kinds[k], sizeof(size_t));
        memcpy(c.bytes, &none, sizeof none);
        assert_int_equal(kinds[k].call(ctx, c.bytes), TW_ERR_ARGUMENT);
        assert_poisoned(&c, sizeof none);
    }
}

static bool is_known(const char *type)
{
    static const char *const plain[] = {"tw_matrix", "tw_shape", "tw_constant"}; /* never grow */
    bool known = false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        known = known || strcmp(type, plain[i]) == 0;
    }
    for (size_t k = 0; k < KINDS; k++) {
        known = known || strcmp(type, kinds[k].type) == 0;
    }
    return known;
}

static void no_struct_of_the_header_is_missing(void **state)
{
    (void)state;
    char line[256], type[64], brace[2];
    int found = 0;
    FILE *header = fopen(TW_TEST_DATA "/../../include/tilewright.h", "re");
    assert_non_null(header);
    while (fgets(line, sizeof line, header) != NULL) {
        if (sscanf(line, "typedef struct %63s %1[{]", type, brace) == 2) {
            found++;
            if (!is_known(type)) {
                fail_msg("%s is not in the table of this test", type);
            }
        }
    }
    assert_int_equal(fclose(header), 0);
    assert_true(found >= (int)KINDS);
}

static int open_all(void **state)
{
    tw_context *ctx = open_context();
    tw_edges edges = TW_EDGES_INIT;
    edges.count = 1;
    edges.source = &ends[0];
    edges.target = &ends[1];
    *state = ctx;
    return tw_graph_from_edges(ctx, &graph, 2, &edges, 0) == TW_OK &&
                   tw_expr_create(ctx, &expr, "x + 1", NULL) == TW_OK
               ? 0
               : -1;
}

static int close_all(void **state)
{
    tw_expr_destroy(expr);
    tw_graph_destroy(graph);
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_struct_is_enough),
        cmocka_unit_test(a_size_that_cuts_a_member_is_refused),
        cmocka_unit_test(a_longer_struct_is_taken_if_the_rest_asks_for_nothing),
        cmocka_unit_test(a_size_that_was_not_set_is_refused),
        cmocka_unit_test(no_struct_of_the_header_is_missing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

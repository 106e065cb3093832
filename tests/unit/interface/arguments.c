/*
 * Calls that are wrong in themselves. Every function of the public header is called with each
 * pointer NULL in turn (the last test reads the header: none is forgotten), and with numbers, views
 * and names that no caller should give: one that can fail says TW_ERR_ARGUMENT with a sentence, the
 * others answer with nothing. Optional pointers are the ones the header calls so.
 */
#include "unit/scratch_folder.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#define N 3

typedef struct things {
    tw_context *ctx;
    tw_graph *graph;
    tw_apsp_plan *plan;
    tw_apsp_summary *summary;
    tw_apsp_verifier *verifier;
    tw_image *image;
    tw_entropy_plan *entropy_plan;
    tw_expr *expr;
    tw_map_plan *map_plan;
    tw_map_verifier *map_verifier;
} things;

static int32_t a_data[N * N], b_data[N * N], c_data[N * N];
static uint8_t in_data[N * N];
static float out_data[N * N], x_data[N * N];
static tw_matrix a = {a_data, N, N, N, TW_I32};
static tw_matrix b = {b_data, N, N, N, TW_I32};
static tw_matrix c = {c_data, N, N, N, TW_I32};
static tw_matrix in = {in_data, N, N, N, TW_U8};
static tw_matrix out = {out_data, N, N, N, TW_F32};
static tw_matrix x = {x_data, N, N, N, TW_F32};

static void check(tw_context *ctx, tw_status got, tw_status wanted, const char *call)
{
    if (got != wanted) {
        fail_msg("%s: got %s, wanted %s (%s)", call, tw_status_name(got), tw_status_name(wanted),
                 tw_last_error(ctx));
    }
    if (tw_last_error(ctx)[0] == '\0') {
        fail_msg("%s: no sentence", call);
    }
}

#define REFUSED_AS(status, call)                \
    do {                                        \
        tw_status got_;                         \
        (void)tw_fail(t->ctx, TW_OK, "%s", ""); \
        got_ = (call);                          \
        check(t->ctx, got_, (status), #call);   \
    } while (0)
#define REFUSED(call) REFUSED_AS(TW_ERR_ARGUMENT, call)
/* Without a context there is nowhere to put a sentence. */
#define REFUSED_SILENTLY(call) assert_int_equal((call), TW_ERR_ARGUMENT)

static tw_status take_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)ctx;
    (void)shape;
    return TW_OK;
}

static tw_status take_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    (void)self;
    (void)ctx;
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    return TW_OK;
}

static tw_status take_end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

static void take_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

static tw_status give_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    (void)self;
    (void)ctx;
    (void)first;
    for (int64_t i = 0; i < count; i++) {
        memset((uint8_t *)data + i * stride, 0, N);
    }
    return TW_OK;
}

static const tw_sink taker = {sizeof taker, NULL,       take_begin, take_rows,
                              take_end,     take_abort, NULL};
static const tw_source giver = {sizeof giver, NULL, {N, N, TW_U8}, 0, give_rows, NULL};

static int make_things(void **state)
{
    static things t;
    static const int32_t from[] = {0, 1}, to[] = {1, 2};
    tw_edges edges = {sizeof edges, 2, from, to, NULL, TW_I32, TW_I32};
    tw_shape shape = {N, N, TW_F32};
    tw_shape bytes = {N, N, TW_U8};
    *state = &t;
    return make_scratch(state) != 0 || (*state = &t) == NULL ||
           tw_context_create(&t.ctx) != TW_OK ||
           tw_graph_from_edges(t.ctx, &t.graph, N, &edges, 0) != TW_OK ||
           tw_apsp_plan_create(t.ctx, &t.plan, t.graph, NULL) != TW_OK ||
           tw_apsp_summary_create(t.ctx, &t.summary, 0, NULL, NULL) != TW_OK ||
           tw_apsp_verifier_create(t.ctx, &t.verifier, t.graph, NULL, 0, 1) != TW_OK ||
           tw_image_create(t.ctx, &t.image) != TW_OK ||
           tw_image_add(t.ctx, t.image, N, N, TW_U8) != TW_OK ||
           tw_entropy_plan_create(t.ctx, &t.entropy_plan, &bytes, NULL) != TW_OK ||
           tw_expr_create(t.ctx, &t.expr, "x + 1", NULL) != TW_OK ||
           tw_map_plan_create(t.ctx, &t.map_plan, t.expr, &shape, 1, NULL) != TW_OK ||
           tw_map_verifier_create(t.ctx, &t.map_verifier, t.expr, &x, 1, NULL, 0, 1) != TW_OK;
}

static int destroy_things(void **state)
{
    things *t = *state;
    tw_map_verifier_destroy(t->map_verifier);
    tw_map_plan_destroy(t->map_plan);
    tw_expr_destroy(t->expr);
    tw_entropy_plan_destroy(t->entropy_plan);
    tw_image_destroy(t->image);
    tw_apsp_verifier_destroy(t->verifier);
    tw_apsp_summary_destroy(t->summary);
    tw_apsp_plan_destroy(t->plan);
    tw_graph_destroy(t->graph);
    close_context(t->ctx);
    return remove_scratch(state);
}

static void of_the_context(void **state)
{
    things *t = *state;
    REFUSED_SILENTLY(tw_context_create(NULL));
    REFUSED_SILENTLY(tw_set_threads(NULL, 1));
    REFUSED_SILENTLY(tw_set_memory(NULL, 1));
    REFUSED_SILENTLY(tw_set_memory_floor(NULL, 1));
    REFUSED_SILENTLY(tw_set_graph_use(NULL, NULL, NULL));
    REFUSED_SILENTLY(tw_set_device_memory(NULL, 1));
    REFUSED_SILENTLY(tw_set_compression(NULL, 1));
    REFUSED(tw_set_compression(t->ctx, 10));
    REFUSED(tw_set_compression(t->ctx, -2));
    assert_ok(t->ctx, tw_set_compression(t->ctx, -1));
    REFUSED_SILENTLY(tw_set_isa(NULL, "scalar"));
    REFUSED_SILENTLY(tw_set_device(NULL, "cpu"));
    assert_int_equal(tw_fail(NULL, TW_ERR_IO, "%d", 1), TW_ERR_IO);
    tw_set_error(NULL, "a sentence");
    tw_set_error(t->ctx, "a sentence");
    tw_set_error(t->ctx, NULL);
    assert_string_equal(tw_last_error(t->ctx), "");
    assert_non_null(tw_version());
    assert_non_null(tw_features());
    REFUSED(tw_set_threads(t->ctx, -1));
    REFUSED(tw_set_threads(t->ctx, INT32_MAX));
    REFUSED(tw_set_device(t->ctx, NULL));
    assert_non_null(tw_last_error(NULL));
    assert_int_equal(tw_threads(NULL), 0);
    assert_int_equal(tw_memory_limit(NULL), 0);
    REFUSED_SILENTLY(tw_memory_check(NULL, 1, "a table"));
    REFUSED(tw_memory_check(t->ctx, 1, NULL));
    assert_int_equal(tw_memory_used(NULL), 0);
    assert_int_equal(tw_memory_peak(NULL), 0);
    assert_int_equal(tw_apsp_negative_cycle(NULL, NULL), 0);
    assert_int_equal(tw_apsp_negative_cycle(t->ctx, NULL), 0);
    tw_context_destroy(NULL);
    tw_device_start(NULL);
    tw_device_release(NULL);
    tw_set_progress(NULL, NULL, NULL);
    tw_set_log(NULL, NULL, NULL);
    tw_cancel(NULL);
    tw_clear_cancel(NULL);
}

static void of_names(void **state)
{
    tw_type type;
    tw_apsp_method method;
    tw_entropy_border border;
    (void)state;
    REFUSED_SILENTLY(tw_type_parse(NULL, "u8"));
    REFUSED_SILENTLY(tw_type_parse(&type, NULL));
    REFUSED_SILENTLY(tw_apsp_method_parse(NULL, "auto"));
    REFUSED_SILENTLY(tw_apsp_method_parse(&method, NULL));
    REFUSED_SILENTLY(tw_entropy_border_parse(NULL, "crop"));
    REFUSED_SILENTLY(tw_entropy_border_parse(&border, NULL));
    for (int32_t odd = -2; odd < 200; odd += 101) {
        assert_non_null(tw_status_name(odd));
        assert_non_null(tw_type_name(odd));
        assert_non_null(tw_apsp_method_name(odd));
        assert_non_null(tw_entropy_border_name(odd));
        assert_int_equal(tw_type_size(odd), 0);
        (void)tw_apsp_infinity(odd);
    }
}

static void of_graphs(void **state)
{
    things *t = *state;
    static const int32_t from[] = {0, 1}, to[] = {1, 2};
    const tw_edges edges = {sizeof edges, 2, from, to, NULL, TW_I32, TW_I32};
    tw_edges wrong;
    tw_graph *graph = NULL;
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    REFUSED_SILENTLY(tw_graph_from_edges(NULL, &graph, N, &edges, 0));
    REFUSED(tw_graph_from_edges(t->ctx, NULL, N, &edges, 0));
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, NULL, 0));
    REFUSED(tw_graph_from_edges(t->ctx, &graph, -1, &edges, 0));
    REFUSED(tw_graph_from_edges(t->ctx, &graph, INT64_MAX, &edges, 0));
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, &edges, 0x80));
    wrong = edges;
    wrong.count = -1;
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, &wrong, 0));
    wrong = edges;
    wrong.source = NULL;
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, &wrong, 0));
    wrong = edges;
    wrong.target = NULL;
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, &wrong, 0));
    wrong = edges;
    wrong.weight = from;
    wrong.weight_type = 77;
    REFUSED(tw_graph_from_edges(t->ctx, &graph, N, &wrong, 0));
    static const int64_t offsets_of[N + 1] = {0, 1, 2, 2};
    tw_csr csr = TW_CSR_INIT;
    csr.vertices = N;
    csr.offsets = offsets_of;
    csr.targets = to;
    REFUSED_SILENTLY(tw_graph_from_csr(NULL, &graph, &csr, 0));
    REFUSED(tw_graph_from_csr(t->ctx, NULL, &csr, 0));
    REFUSED(tw_graph_from_csr(t->ctx, &graph, NULL, 0));
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0x80));
    csr.targets = NULL;
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0));
    csr.targets = to;
    csr.offsets = NULL;
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0));
    csr.offsets = offsets_of;
    csr.vertices = -1;
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0));
    csr.vertices = N;
    csr.target_type = 77;
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0));
    csr = (tw_csr)TW_CSR_INIT;
    csr.size = 0;
    REFUSED(tw_graph_from_csr(t->ctx, &graph, &csr, 0));
    REFUSED_SILENTLY(tw_graph_from_matrix(NULL, &graph, &a, NULL, 0));
    REFUSED(tw_graph_from_matrix(t->ctx, NULL, &a, NULL, 0));
    REFUSED(tw_graph_from_matrix(t->ctx, &graph, NULL, NULL, 0));
    REFUSED(tw_graph_from_matrix(t->ctx, &graph, &a, NULL, 0x80));
    tw_matrix oblong = a;
    oblong.rows = 2;
    REFUSED(tw_graph_from_matrix(t->ctx, &graph, &oblong, NULL, 0));
    REFUSED_SILENTLY(tw_graph_read(NULL, &graph, "x", NULL));
    REFUSED(tw_graph_read(t->ctx, NULL, "x", NULL));
    REFUSED(tw_graph_read(t->ctx, &graph, NULL, NULL));
    REFUSED_SILENTLY(tw_file_write(NULL, "x", "?", 1));
    REFUSED(tw_file_write(t->ctx, NULL, "?", 1));
    REFUSED(tw_file_write(t->ctx, in_scratch("x"), NULL, 1));
    REFUSED_SILENTLY(tw_graph_write(NULL, t->graph, "x", NULL));
    REFUSED(tw_graph_write(t->ctx, NULL, in_scratch("x.gr"), NULL));
    REFUSED(tw_graph_write(t->ctx, t->graph, NULL, NULL));
    tw_graph_generate_options generate = TW_GRAPH_GENERATE_OPTIONS_INIT;
    REFUSED_SILENTLY(tw_graph_generate(NULL, &graph, &generate));
    REFUSED(tw_graph_generate(t->ctx, NULL, &generate));
    generate.kind = NULL;
    REFUSED(tw_graph_generate(t->ctx, &graph, &generate));
    generate.kind = "sparse";
    generate.vertices = -1;
    REFUSED(tw_graph_generate(t->ctx, &graph, &generate));
    assert_null(graph);
    info.vertices = 7;
    REFUSED_SILENTLY(tw_graph_describe(NULL, &info));
    assert_int_equal(info.vertices, 7);
    REFUSED_SILENTLY(tw_graph_describe(t->graph, NULL));
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    const void *weights = NULL;
    tw_graph_rows(NULL, &offsets, &targets, &weights);
    tw_graph_rows(t->graph, NULL, NULL, NULL);
    assert_null(offsets);
    assert_null(tw_graph_label(NULL, 0));
    assert_null(tw_graph_label(t->graph, -1));
    assert_int_equal(tw_graph_find(NULL, "a"), -1);
    assert_int_equal(tw_graph_find(t->graph, NULL), -1);
    tw_graph_destroy(NULL);
}

static void of_sinks_and_sources(void **state)
{
    things *t = *state;
    tw_sink sink = taker;
    tw_sink made = TW_SINK_INIT;
    tw_source source = TW_SOURCE_INIT;
    tw_shape shape = {N, N, TW_I32};
    tw_matrix_file *file = NULL;
    REFUSED_SILENTLY(tw_sink_to_matrix(NULL, &made, &a));
    REFUSED(tw_sink_to_matrix(t->ctx, NULL, &a));
    REFUSED(tw_sink_to_matrix(t->ctx, &made, NULL));
    REFUSED_SILENTLY(tw_sink_to_file(NULL, &made, "x", NULL));
    REFUSED(tw_sink_to_file(t->ctx, NULL, "x", NULL));
    REFUSED(tw_sink_to_file(t->ctx, &made, NULL, NULL));
    REFUSED_SILENTLY(tw_sink_scaled(NULL, &made, &sink, TW_U8, 1));
    REFUSED(tw_sink_scaled(t->ctx, NULL, &sink, TW_U8, 1));
    REFUSED(tw_sink_scaled(t->ctx, &made, NULL, TW_U8, 1));
    REFUSED(tw_sink_scaled(t->ctx, &made, &sink, 99, 1));
    REFUSED(tw_sink_scaled(t->ctx, &made, &sink, TW_U8, (double)NAN));
    REFUSED_SILENTLY(tw_sink_to_table(NULL, &made, "x.csv", NULL, NULL, NULL, 0));
    REFUSED(tw_sink_to_table(t->ctx, NULL, "x.csv", NULL, NULL, NULL, 0));
    REFUSED(tw_sink_to_table(t->ctx, &made, NULL, NULL, NULL, NULL, 0));
    REFUSED_SILENTLY(tw_sink_to_pairs(NULL, &made, "x.csv", NULL, NULL, NULL));
    REFUSED(tw_sink_to_pairs(t->ctx, NULL, "x.csv", NULL, NULL, NULL));
    REFUSED(tw_sink_to_pairs(t->ctx, &made, NULL, NULL, NULL, NULL));
    REFUSED(tw_sink_to_pairs(t->ctx, &made, "x.npy", NULL, NULL, NULL));
    REFUSED_SILENTLY(tw_sink_to_preview(NULL, &made, "x.ppm", 1));
    REFUSED(tw_sink_to_preview(t->ctx, NULL, "x.ppm", 1));
    REFUSED(tw_sink_to_preview(t->ctx, &made, NULL, 1));
    REFUSED(tw_sink_to_preview(t->ctx, &made, "x.ppm", (double)NAN));
    REFUSED_SILENTLY(tw_sink_to_image(NULL, &made, t->image));
    REFUSED(tw_sink_to_image(t->ctx, NULL, t->image));
    REFUSED(tw_sink_to_image(t->ctx, &made, NULL));
    REFUSED_SILENTLY(tw_sink_to_image_file(NULL, &made, "x.pgm", NULL));
    REFUSED(tw_sink_to_image_file(t->ctx, NULL, "x.pgm", NULL));
    REFUSED(tw_sink_to_image_file(t->ctx, &made, NULL, NULL));
    tw_image_file_options image_file = TW_IMAGE_FILE_OPTIONS_INIT;
    REFUSED_SILENTLY(tw_sink_to_image_planes(NULL, &made, "x.tif", &image_file));
    REFUSED(tw_sink_to_image_planes(t->ctx, NULL, "x.tif", &image_file));
    REFUSED(tw_sink_to_image_planes(t->ctx, &made, NULL, &image_file));
    image_file.planes = 0;
    REFUSED(tw_sink_to_image_planes(t->ctx, &made, "x.tif", &image_file));
    image_file.planes = 2;
    REFUSED_AS(TW_ERR_UNSUPPORTED, tw_sink_to_image_planes(t->ctx, &made, "x.jpg", &image_file));
    assert_int_equal(tw_sink_memory(NULL, &shape), 0);
    assert_int_equal(tw_sink_memory(&sink, NULL), 0);
    assert_int_equal(tw_sink_memory(&sink, &shape), 0); /* nothing is known of a caller's own */
    tw_sink_expect(NULL, &sink, &shape);
    tw_sink_expect(t->ctx, NULL, &shape);
    tw_sink_expect(t->ctx, &sink, NULL);
    tw_sink_destroy(NULL);
    tw_source_destroy(NULL);
    REFUSED_SILENTLY(tw_feed(NULL, &a, &sink, 1));
    REFUSED(tw_feed(t->ctx, NULL, &sink, 1));
    REFUSED(tw_feed(t->ctx, &a, NULL, 1));
    REFUSED(tw_feed(t->ctx, &a, &sink, -1));
    REFUSED_SILENTLY(tw_feed_source(NULL, &giver, &sink, 1));
    REFUSED(tw_feed_source(t->ctx, NULL, &sink, 1));
    REFUSED(tw_feed_source(t->ctx, &giver, NULL, 1));
    REFUSED(tw_feed_source(t->ctx, &giver, &sink, -1));
    source = giver;
    source.rows = NULL;
    REFUSED(tw_feed_source(t->ctx, &source, &sink, 1));
    source = giver;
    source.shape.cols = -1;
    REFUSED(tw_feed_source(t->ctx, &source, &sink, 1));
    REFUSED_SILENTLY(tw_matrix_source(NULL, &source, "x", NULL, TW_I32));
    REFUSED(tw_matrix_source(t->ctx, NULL, "x", NULL, TW_I32));
    REFUSED(tw_matrix_source(t->ctx, &source, NULL, NULL, TW_I32));
    assert_null(tw_matrix_source_names(NULL, 0));
    assert_null(tw_matrix_source_names(&giver, 1)); /* nothing is known of a caller's own */
    REFUSED_SILENTLY(tw_matrix_file_create(NULL, &file, "x", NULL, TW_I32));
    REFUSED(tw_matrix_file_create(t->ctx, NULL, "x", NULL, TW_I32));
    REFUSED(tw_matrix_file_create(t->ctx, &file, NULL, NULL, TW_I32));
    REFUSED_SILENTLY(tw_image_source(NULL, &source, "x", NULL, 0, NULL));
    REFUSED(tw_image_source(t->ctx, NULL, "x", NULL, 0, NULL));
    REFUSED(tw_image_source(t->ctx, &source, NULL, NULL, 0, NULL));
    assert_null(tw_matrix_file_view(NULL));
    tw_matrix_file_destroy(NULL);
}

/* A sink without one of its functions, by the number of the function. */
static tw_sink lacking(int which)
{
    tw_sink sink = taker;
    sink.begin = which == 0 ? NULL : sink.begin;
    sink.rows = which == 1 ? NULL : sink.rows;
    sink.end = which == 2 ? NULL : sink.end;
    sink.abort = which == 3 ? NULL : sink.abort;
    return sink;
}

static void of_sinks_that_lack_a_function(void **state)
{
    things *t = *state;
    for (int i = 0; i < 4; i++) {
        tw_sink sinks[2] = {taker, lacking(i)};
        REFUSED(tw_feed(t->ctx, &a, sinks, 2));
        REFUSED(tw_feed_source(t->ctx, &giver, sinks, 2));
        REFUSED(tw_apsp_plan_run(t->ctx, t->plan, sinks, 2, NULL, NULL));
        REFUSED(tw_apsp_plan_run(t->ctx, t->plan, sinks, 1, &sinks[1], NULL));
        REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, &in, sinks, 2, NULL));
        REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &giver, sinks, 2, NULL));
        REFUSED(tw_map_plan_run(t->ctx, t->map_plan, &x, 1, sinks, 2, NULL));
        REFUSED(tw_map_plan_stream(t->ctx, t->map_plan, &x, NULL, 1, sinks, 2, NULL));
        tw_sink made = TW_SINK_INIT;
        REFUSED(tw_sink_scaled(t->ctx, &made, &sinks[1], TW_U8, 1));
    }
}

static void of_shortest_paths(void **state)
{
    things *t = *state;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = taker;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    uint64_t bytes = 0;
    REFUSED_SILENTLY(tw_apsp_least_memory(NULL, &bytes, 10, 20, TW_I32, NULL));
    REFUSED(tw_apsp_least_memory(t->ctx, NULL, 10, 20, TW_I32, NULL));
    REFUSED(tw_apsp_least_memory(t->ctx, &bytes, -1, 20, TW_I32, NULL));
    assert_ok(t->ctx, tw_apsp_least_memory(t->ctx, &bytes, 10, 20, TW_I32, NULL));
    assert_true(bytes > 0);
    REFUSED_SILENTLY(tw_apsp_plan_create(NULL, &plan, t->graph, NULL));
    REFUSED(tw_apsp_plan_create(t->ctx, NULL, t->graph, NULL));
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, NULL, NULL));
    opts.method = 99;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.type = 99;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.work_type = -5;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.block = -1;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    static const int32_t one[] = {0};
    opts.sources = one;
    opts.source_count = -1;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.targets = one;
    opts.target_count = -1;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.cutoff = (double)NAN;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.size = 0;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    opts.symmetric = 1;
    REFUSED(tw_apsp_plan_create(t->ctx, &plan, t->graph, &opts));
    REFUSED_SILENTLY(tw_apsp_plan_run(NULL, t->plan, &sink, 1, NULL, NULL));
    REFUSED(tw_apsp_plan_run(t->ctx, NULL, &sink, 1, NULL, NULL));
    REFUSED(tw_apsp_plan_run(t->ctx, t->plan, NULL, 1, NULL, NULL));
    REFUSED(tw_apsp_plan_run(t->ctx, t->plan, &sink, -1, NULL, NULL));
    REFUSED_SILENTLY(tw_apsp(NULL, &a, t->graph, NULL));
    REFUSED(tw_apsp(t->ctx, NULL, t->graph, NULL));
    REFUSED(tw_apsp(t->ctx, &a, NULL, NULL));
    static const tw_type others[] = {-3, TW_F16 + 100, TW_F64};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) { /* than the matrix's own */
        tw_apsp_options other = TW_APSP_OPTIONS_INIT;
        other.type = others[i];
        REFUSED(tw_apsp(t->ctx, &a, t->graph, &other));
    }
    REFUSED_SILENTLY(tw_minplus(NULL, &c, &a, &b));
    REFUSED(tw_minplus(t->ctx, NULL, &a, &b));
    REFUSED(tw_minplus(t->ctx, &c, NULL, &b));
    REFUSED(tw_minplus(t->ctx, &c, &a, NULL));
    double rate;
    REFUSED_SILENTLY(tw_minplus_ceiling(NULL, &rate, TW_I32, 1));
    REFUSED(tw_minplus_ceiling(t->ctx, NULL, TW_I32, 1));
    REFUSED(tw_minplus_ceiling(t->ctx, &rate, 99, 1));
    REFUSED(tw_minplus_ceiling(t->ctx, &rate, TW_I32, -1));
    REFUSED(tw_minplus_ceiling(t->ctx, &rate, TW_I32, INT32_MAX));
    REFUSED_SILENTLY(tw_copy_rate(NULL, &rate, 1));
    REFUSED(tw_copy_rate(t->ctx, NULL, 1));
    REFUSED(tw_copy_rate(t->ctx, &rate, -1));
    REFUSED(tw_copy_rate(t->ctx, &rate, INT32_MAX));
    assert_non_null(tw_apsp_plan_explain(NULL));
    tw_apsp_plan_info info = TW_APSP_PLAN_INFO_INIT;
    REFUSED_SILENTLY(tw_apsp_plan_describe(NULL, &info));
    REFUSED_SILENTLY(tw_apsp_plan_describe(t->plan, NULL));
    info.size = 0;
    REFUSED_SILENTLY(tw_apsp_plan_describe(t->plan, &info));
    tw_apsp_plan_destroy(NULL);
}

static void of_routes_summaries_and_checks(void **state)
{
    things *t = *state;
    tw_apsp_path *path = NULL;
    tw_apsp_summary *summary = NULL;
    tw_apsp_verifier *verifier = NULL;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    tw_sink sink = taker;
    REFUSED_SILENTLY(tw_apsp_path_create(NULL, &path, t->graph, NULL, 0, 1));
    REFUSED(tw_apsp_path_create(t->ctx, NULL, t->graph, NULL, 0, 1));
    REFUSED(tw_apsp_path_create(t->ctx, &path, NULL, NULL, 0, 1));
    REFUSED(tw_apsp_path_create(t->ctx, &path, t->graph, NULL, -1, 1));
    REFUSED(tw_apsp_path_create(t->ctx, &path, t->graph, NULL, 0, N));
    tw_apsp_path_info route = TW_APSP_PATH_INFO_INIT;
    REFUSED_SILENTLY(tw_apsp_path_describe(NULL, &route));
    assert_ok(t->ctx, tw_apsp_path_create(t->ctx, &path, t->graph, NULL, 0, 1));
    REFUSED_SILENTLY(tw_apsp_path_describe(path, NULL));
    route.size = 0;
    REFUSED_SILENTLY(tw_apsp_path_describe(path, &route));
    tw_apsp_path_destroy(path);
    tw_apsp_path_destroy(NULL);
    REFUSED_SILENTLY(tw_apsp_summary_create(NULL, &summary, 0, NULL, NULL));
    REFUSED(tw_apsp_summary_create(t->ctx, NULL, 0, NULL, NULL));
    REFUSED(tw_apsp_summary_set_closeness(t->ctx, NULL, TW_APSP_CLOSENESS_IGRAPH));
    REFUSED_SILENTLY(tw_apsp_summary_set_closeness(NULL, NULL, TW_APSP_CLOSENESS_IGRAPH));
    REFUSED(tw_apsp_summary_set_closeness(t->ctx, t->summary, (tw_apsp_closeness)9));
    REFUSED(tw_apsp_summary_create(t->ctx, &summary, -1, NULL, NULL));
    REFUSED(tw_apsp_summary_create(t->ctx, &summary, INT32_MAX, NULL, NULL));
    REFUSED_SILENTLY(tw_apsp_summary_sink(NULL, &sink));
    assert_null(sink.begin); /* so that no run takes it */
    REFUSED_SILENTLY(tw_apsp_summary_sink(t->summary, NULL));
    info.rows = 7;
    REFUSED_SILENTLY(tw_apsp_summary_describe(NULL, &info));
    assert_int_equal(info.rows, 7);
    REFUSED_SILENTLY(tw_apsp_summary_describe(t->summary, NULL));
    assert_null(tw_apsp_summary_eccentricity(NULL));
    assert_null(tw_apsp_summary_closeness(NULL));
    assert_null(tw_apsp_summary_sum(NULL));
    assert_null(tw_apsp_summary_reached(NULL));
    assert_null(tw_apsp_summary_harmonic(NULL));
    REFUSED(tw_apsp_summary_set_harmonic(t->ctx, NULL, 1));
    REFUSED_SILENTLY(tw_apsp_summary_set_harmonic(NULL, NULL, 1));
    assert_int_equal(tw_apsp_summary_histogram(NULL, NULL, NULL), 0);
    (void)tw_apsp_summary_histogram(t->summary, NULL, NULL);
    tw_apsp_summary_destroy(NULL);
    REFUSED_SILENTLY(tw_apsp_verifier_create(NULL, &verifier, t->graph, NULL, 0, 1));
    REFUSED(tw_apsp_verifier_create(t->ctx, NULL, t->graph, NULL, 0, 1));
    REFUSED(tw_apsp_verifier_create(t->ctx, &verifier, NULL, NULL, 0, 1));
    REFUSED(tw_apsp_verifier_create(t->ctx, &verifier, t->graph, NULL, -1, 1));
    REFUSED_SILENTLY(tw_apsp_verifier_result(NULL, t->verifier, NULL));
    REFUSED(tw_apsp_verifier_result(t->ctx, NULL, NULL));
    sink = taker;
    REFUSED_SILENTLY(tw_apsp_verifier_sink(NULL, &sink));
    assert_null(sink.begin);
    REFUSED_SILENTLY(tw_apsp_verifier_sink(t->verifier, NULL));
    tw_apsp_verifier_destroy(NULL);
}

static void of_orders(void **state)
{
    things *t = *state;
    tw_apsp_order *order = NULL;
    REFUSED_SILENTLY(tw_apsp_order_create(NULL, &order, t->graph));
    REFUSED(tw_apsp_order_create(t->ctx, NULL, t->graph));
    REFUSED(tw_apsp_order_create(t->ctx, &order, NULL));
    assert_null(order);
    tw_apsp_order_destroy(NULL);
}

static void of_nearest_vertices(void **state)
{
    things *t = *state;
    tw_apsp_nearest *nearest = NULL;
    tw_apsp_nearest_options opts = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_nearest_info info = TW_APSP_NEAREST_INFO_INIT;
    tw_sink sink = taker;
    REFUSED_SILENTLY(tw_apsp_nearest_create(NULL, &nearest, NULL));
    REFUSED(tw_apsp_nearest_create(t->ctx, NULL, NULL));
    opts.count = 0;
    REFUSED(tw_apsp_nearest_create(t->ctx, &nearest, &opts));
    opts.count = -1;
    REFUSED(tw_apsp_nearest_create(t->ctx, &nearest, &opts));
    opts.size = 0;
    REFUSED(tw_apsp_nearest_create(t->ctx, &nearest, &opts));
    assert_null(nearest);
    assert_ok(t->ctx, tw_apsp_nearest_create(t->ctx, &nearest, NULL));
    REFUSED_SILENTLY(tw_apsp_nearest_sink(nearest, NULL));
    REFUSED_SILENTLY(tw_apsp_nearest_sink(NULL, &sink));
    assert_null(sink.begin);
    info.rows = 7;
    REFUSED_SILENTLY(tw_apsp_nearest_describe(NULL, &info));
    assert_int_equal(info.rows, 7);
    REFUSED_SILENTLY(tw_apsp_nearest_describe(nearest, NULL));
    info.size = 0;
    REFUSED_SILENTLY(tw_apsp_nearest_describe(nearest, &info));
    assert_null(tw_apsp_nearest_vertices(NULL));
    assert_null(tw_apsp_nearest_vertices(nearest)); /* no matrix has passed */
    assert_null(tw_apsp_nearest_distances(NULL));
    assert_null(tw_apsp_nearest_distances(nearest));
    REFUSED_SILENTLY(tw_apsp_nearest_write(NULL, nearest, NULL, in_scratch("n.csv")));
    REFUSED(tw_apsp_nearest_write(t->ctx, NULL, NULL, in_scratch("n.csv")));
    REFUSED(tw_apsp_nearest_write(t->ctx, nearest, NULL, NULL));
    REFUSED(tw_apsp_nearest_write(t->ctx, nearest, NULL, in_scratch("n.csv")));
    REFUSED_SILENTLY(tw_vertices_write(NULL, "n.csv", NULL, NULL, 1, NULL, NULL, TW_AUTO));
    REFUSED(tw_vertices_write(t->ctx, NULL, NULL, NULL, 1, NULL, NULL, TW_AUTO));
    REFUSED(tw_vertices_write(t->ctx, in_scratch("n"), NULL, NULL, -1, NULL, NULL, TW_AUTO));
    REFUSED(tw_vertices_write(t->ctx, in_scratch("n.csv"), NULL, NULL, 1, NULL, "?", TW_I32));
    REFUSED(tw_vertices_write(t->ctx, in_scratch("n.npy"), NULL, NULL, 1, "x", "?", TW_I32));
    REFUSED(tw_vertices_write(t->ctx, in_scratch("n.csv"), NULL, NULL, 1, "x", "?", TW_F32));
    REFUSED(tw_vertices_write(t->ctx, in_scratch("n.csv"), t->graph, &(int32_t){-1}, 1, NULL, NULL,
                              TW_AUTO));
    tw_apsp_nearest_destroy(nearest);
    tw_apsp_nearest_destroy(NULL);
}

static void of_reachability(void **state)
{
    things *t = *state;
    static const int32_t outside[] = {N};
    tw_reach_plan *plan = NULL;
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
    tw_reach_report report = TW_REACH_REPORT_INIT;
    tw_sink sink = taker;
    tw_matrix bytes = in;
    uint64_t needed = 0;
    REFUSED_SILENTLY(tw_reach_least_memory(NULL, &needed, 10, 20, NULL));
    REFUSED(tw_reach_least_memory(t->ctx, NULL, 10, 20, NULL));
    REFUSED(tw_reach_least_memory(t->ctx, &needed, -1, 20, NULL));
    assert_ok(t->ctx, tw_reach_least_memory(t->ctx, &needed, 10, 20, NULL));
    assert_true(needed > 0);
    REFUSED_SILENTLY(tw_reach_plan_create(NULL, &plan, t->graph, NULL));
    REFUSED(tw_reach_plan_create(t->ctx, NULL, t->graph, NULL));
    REFUSED(tw_reach_plan_create(t->ctx, &plan, NULL, NULL));
    opts.layout = 99;
    REFUSED(tw_reach_plan_create(t->ctx, &plan, t->graph, &opts));
    opts = (tw_reach_options)TW_REACH_OPTIONS_INIT;
    opts.sources = outside;
    opts.source_count = 1;
    REFUSED(tw_reach_plan_create(t->ctx, &plan, t->graph, &opts));
    opts.source_count = -1;
    REFUSED(tw_reach_plan_create(t->ctx, &plan, t->graph, &opts));
    opts.size = 0;
    REFUSED(tw_reach_plan_create(t->ctx, &plan, t->graph, &opts));
    assert_null(plan);
    REFUSED_SILENTLY(tw_reach(NULL, &bytes, t->graph, NULL));
    REFUSED(tw_reach(t->ctx, NULL, t->graph, NULL));
    REFUSED(tw_reach(t->ctx, &bytes, NULL, NULL));
    REFUSED(tw_reach(t->ctx, &a, t->graph, NULL)); /* not of u8 */
    assert_ok(t->ctx, tw_reach_plan_create(t->ctx, &plan, t->graph, NULL));
    info.vertices = 7;
    REFUSED_SILENTLY(tw_reach_plan_describe(NULL, &info));
    assert_int_equal(info.vertices, 7);
    REFUSED_SILENTLY(tw_reach_plan_describe(plan, NULL));
    info.size = 0;
    REFUSED_SILENTLY(tw_reach_plan_describe(plan, &info));
    REFUSED_SILENTLY(tw_reach_plan_run(NULL, plan, &sink, 1, NULL, NULL));
    REFUSED(tw_reach_plan_run(t->ctx, NULL, &sink, 1, NULL, NULL));
    REFUSED(tw_reach_plan_run(t->ctx, plan, NULL, 1, NULL, NULL));
    REFUSED(tw_reach_plan_run(t->ctx, plan, &sink, -1, NULL, NULL));
    report.size = 0;
    REFUSED(tw_reach_plan_run(t->ctx, plan, &sink, 1, NULL, &report));
    for (int i = 0; i < 4; i++) {
        tw_sink without = lacking(i);
        REFUSED(tw_reach_plan_run(t->ctx, plan, &without, 1, NULL, NULL));
    }
    assert_null(tw_reach_plan_components(NULL));
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    tw_reach_plan_condensation(NULL, &offsets, &targets);
    assert_null(offsets);
    tw_reach_plan_condensation(plan, NULL, NULL);
    tw_reach_plan_destroy(plan);
    tw_reach_plan_destroy(NULL);
}

static void of_images(void **state)
{
    things *t = *state;
    tw_image *image = NULL;
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    REFUSED_SILENTLY(tw_image_create(NULL, &image));
    REFUSED(tw_image_create(t->ctx, NULL));
    REFUSED_SILENTLY(tw_image_add(NULL, t->image, 1, 1, TW_U8));
    REFUSED(tw_image_add(t->ctx, NULL, 1, 1, TW_U8));
    REFUSED(tw_image_add(t->ctx, t->image, -1, 1, TW_U8));
    REFUSED(tw_image_add(t->ctx, t->image, 1, -1, TW_U8));
    REFUSED(tw_image_add(t->ctx, t->image, 1, 1, 99));
    REFUSED_AS(TW_ERR_MEMORY, tw_image_add(t->ctx, t->image, INT64_MAX, INT64_MAX, TW_F64));
    REFUSED_SILENTLY(tw_image_read_some(NULL, &image, "x", NULL, 0, 1));
    REFUSED(tw_image_read_some(t->ctx, NULL, "x", NULL, 0, 1));
    REFUSED(tw_image_read_some(t->ctx, &image, NULL, NULL, 0, 1));
    REFUSED(tw_image_read_some(t->ctx, &image, "-", NULL, 0, 1));
    REFUSED(tw_image_read_some(t->ctx, &image, "x", NULL, -1, 1));
    REFUSED_SILENTLY(tw_image_read(NULL, &image, "x", NULL));
    REFUSED(tw_image_read(t->ctx, NULL, "x", NULL));
    REFUSED(tw_image_read(t->ctx, &image, NULL, NULL));
    REFUSED_SILENTLY(tw_image_write(NULL, t->image, "x.pgm", NULL));
    REFUSED(tw_image_write(t->ctx, NULL, in_scratch("x.pgm"), NULL));
    REFUSED(tw_image_write(t->ctx, t->image, NULL, NULL));
    REFUSED_SILENTLY(tw_image_generate(NULL, &image, &opts));
    REFUSED(tw_image_generate(t->ctx, NULL, &opts));
    opts.kind = NULL;
    REFUSED(tw_image_generate(t->ctx, &image, &opts));
    opts.kind = "noise";
    opts.rows = -1;
    REFUSED(tw_image_generate(t->ctx, &image, &opts));
    assert_null(image);
    tw_image_tags *tags = NULL;
    REFUSED_SILENTLY(tw_image_tags_read(NULL, &tags, "x.tif", NULL));
    REFUSED(tw_image_tags_read(t->ctx, NULL, "x.tif", NULL));
    REFUSED(tw_image_tags_read(t->ctx, &tags, NULL, NULL));
    REFUSED(tw_image_tags_read(t->ctx, &tags, "-", NULL));
    assert_int_equal(tw_image_tags_describe(NULL, NULL), TW_ERR_ARGUMENT);
    assert_null(tw_image_tags_of(NULL));
    assert_null(tw_image_tags_of(t->image));
    assert_null(tw_image_tags_name(NULL, 0));
    tw_image_tags_destroy(NULL);
    assert_int_equal(tw_image_planes(NULL), 0);
    assert_null(tw_image_plane(NULL, 0));
    assert_null(tw_image_plane(t->image, -1));
    assert_null(tw_image_plane(t->image, 1));
    tw_image_destroy(NULL);
}

static void of_entropy(void **state)
{
    things *t = *state;
    tw_shape shape = {N, N, TW_U8};
    tw_sink sink = taker;
    tw_source source = giver;
    tw_entropy_plan *plan = NULL;
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    double rate;
    REFUSED_SILENTLY(tw_entropy(NULL, &out, &in, NULL));
    REFUSED(tw_entropy(t->ctx, NULL, &in, NULL));
    REFUSED(tw_entropy(t->ctx, &out, NULL, NULL));
    REFUSED_SILENTLY(tw_entropy_plan_create(NULL, &plan, &shape, NULL));
    REFUSED(tw_entropy_plan_create(t->ctx, NULL, &shape, NULL));
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, NULL, NULL));
    REFUSED_SILENTLY(tw_entropy_plan_describe(NULL, &info));
    REFUSED_SILENTLY(tw_entropy_plan_describe(t->entropy_plan, NULL));
    info.size = 0;
    REFUSED_SILENTLY(tw_entropy_plan_describe(t->entropy_plan, &info));
    assert_non_null(tw_entropy_plan_explain(NULL));
    REFUSED_SILENTLY(tw_entropy_plan_rate(NULL, t->entropy_plan, &rate));
    REFUSED(tw_entropy_plan_rate(t->ctx, NULL, &rate));
    REFUSED(tw_entropy_plan_rate(t->ctx, t->entropy_plan, NULL));
    tw_entropy_report report = TW_ENTROPY_REPORT_INIT;
    REFUSED_SILENTLY(tw_entropy_plan_apply(NULL, t->entropy_plan, &out, &in, NULL));
    REFUSED(tw_entropy_plan_apply(t->ctx, NULL, &out, &in, NULL));
    REFUSED(tw_entropy_plan_apply(t->ctx, t->entropy_plan, NULL, &in, NULL));
    REFUSED(tw_entropy_plan_apply(t->ctx, t->entropy_plan, &out, NULL, NULL));
    report.size = 0;
    REFUSED(tw_entropy_plan_apply(t->ctx, t->entropy_plan, &out, &in, &report));
    REFUSED_SILENTLY(tw_entropy_plan_run(NULL, t->entropy_plan, &in, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_run(t->ctx, NULL, &in, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, NULL, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, &in, NULL, 1, NULL));
    REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, &in, &sink, -1, NULL));
    REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, &in, &sink, 1, &report));
    REFUSED_SILENTLY(tw_entropy_plan_stream(NULL, t->entropy_plan, &source, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_stream(t->ctx, NULL, &source, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, NULL, &sink, 1, NULL));
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &source, NULL, 1, NULL));
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &source, &sink, -1, NULL));
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &source, &sink, 1, &report));
    source.rows = NULL;
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &source, &sink, 1, NULL));
    source = giver;
    source.shape.rows = -1;
    REFUSED(tw_entropy_plan_stream(t->ctx, t->entropy_plan, &source, &sink, 1, NULL));
    tw_entropy_plan_destroy(NULL);
}

/* A plan is refused when it is made, not when it is run. */
static void refuse_entropy_options(things *t, tw_entropy_options opts)
{
    const tw_shape shape = {N, N, TW_U8};
    tw_entropy_plan *plan = t->entropy_plan;
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, &shape, &opts));
    assert_null(plan);
    opts.type = TW_F32;
    REFUSED(tw_entropy(t->ctx, &out, &in, &opts));
}

static void of_options_of_entropy(void **state)
{
    things *t = *state;
    static const double backwards[] = {1, 0};
    const tw_entropy_options plain = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_options opts = plain;
    opts.border = 99;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.base = 99;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.levels = -1;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.window_rows = -1;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.range = backwards;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.size = 0;
    refuse_entropy_options(t, opts);
    opts = plain;
    tw_matrix mask = {in_data, N, N - 1, N, TW_U8};
    opts.mask = &mask;
    refuse_entropy_options(t, opts);
    mask = (tw_matrix){a_data, N, N, N, TW_I32};
    refuse_entropy_options(t, opts);
    opts.mask = NULL;
    opts.footprint = &mask;
    refuse_entropy_options(t, opts);
    opts = plain;
    opts.type = TW_I32;
    tw_entropy_plan *plan = NULL;
    tw_shape shape = {N, N, TW_U8};
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, &shape, &opts));
    shape.type = TW_F64;
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, &shape, NULL));
    shape = (tw_shape){-1, N, TW_U8};
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, &shape, NULL));
    shape = (tw_shape){INT64_MAX, INT64_MAX, TW_U8};
    REFUSED(tw_entropy_plan_create(t->ctx, &plan, &shape, NULL));
}

static void of_maps(void **state)
{
    things *t = *state;
    tw_expr *expr = NULL;
    tw_map_plan *plan = NULL;
    tw_map_verifier *verifier = NULL;
    tw_shape shape = {N, N, TW_F32};
    tw_sink sink = taker;
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_expr_options names = TW_EXPR_OPTIONS_INIT;
    REFUSED_SILENTLY(tw_expr_create(NULL, &expr, "x", NULL));
    REFUSED(tw_expr_create(t->ctx, NULL, "x", NULL));
    REFUSED(tw_expr_create(t->ctx, &expr, NULL, NULL));
    static const char *const no_name[] = {NULL};
    names.inputs = no_name;
    names.input_count = -1;
    REFUSED(tw_expr_create(t->ctx, &expr, "x", &names));
    names.input_count = 1;
    REFUSED(tw_expr_create(t->ctx, &expr, "x", &names));
    names = (tw_expr_options)TW_EXPR_OPTIONS_INIT;
    names.constant_count = 1;
    REFUSED(tw_expr_create(t->ctx, &expr, "x", &names));
    static const tw_constant nameless[] = {{NULL, 1}};
    names.constants = nameless;
    REFUSED(tw_expr_create(t->ctx, &expr, "x", &names));
    names.constant_count = -1;
    REFUSED(tw_expr_create(t->ctx, &expr, "x", &names));
    tw_expr_info described = {.size = sizeof described, .inputs = 7};
    REFUSED_SILENTLY(tw_expr_describe(NULL, &described));
    assert_int_equal(described.inputs, 7);
    REFUSED_SILENTLY(tw_expr_describe(t->expr, NULL));
    tw_expr_destroy(NULL);
    REFUSED_SILENTLY(tw_map_plan_create(NULL, &plan, t->expr, &shape, 1, NULL));
    REFUSED(tw_map_plan_create(t->ctx, NULL, t->expr, &shape, 1, NULL));
    REFUSED(tw_map_plan_create(t->ctx, &plan, NULL, &shape, 1, NULL));
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, NULL, 1, NULL));
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, &shape, -1, NULL));
    opts.compute = 99;
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, &shape, 1, &opts));
    opts = (tw_map_options)TW_MAP_OPTIONS_INIT;
    opts.type = -3;
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, &shape, 1, &opts));
    opts = (tw_map_options)TW_MAP_OPTIONS_INIT;
    opts.repeat = 0;
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, &shape, 1, &opts));
    shape.rows = -1;
    REFUSED(tw_map_plan_create(t->ctx, &plan, t->expr, &shape, 1, NULL));
    REFUSED_SILENTLY(tw_map_plan_apply(NULL, t->map_plan, &out, &x, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, NULL, &out, &x, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, NULL, &x, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, &out, NULL, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, &out, &x, -1, NULL));
    REFUSED_SILENTLY(tw_map_plan_run(NULL, t->map_plan, &x, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_run(t->ctx, NULL, &x, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_run(t->ctx, t->map_plan, NULL, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_run(t->ctx, t->map_plan, &x, 1, NULL, 1, NULL));
    REFUSED(tw_map_plan_run(t->ctx, t->map_plan, &x, 1, &sink, -1, NULL));
    tw_source source = TW_SOURCE_INIT;
    REFUSED_SILENTLY(tw_map_plan_stream(NULL, t->map_plan, &x, &source, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_stream(t->ctx, NULL, &x, &source, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_stream(t->ctx, t->map_plan, NULL, &source, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_stream(t->ctx, t->map_plan, NULL, NULL, 1, &sink, 1, NULL));
    REFUSED(tw_map_plan_stream(t->ctx, t->map_plan, &x, &source, 1, NULL, 1, NULL));
    REFUSED(tw_map_plan_stream(t->ctx, t->map_plan, &x, &source, -1, &sink, 1, NULL));
    REFUSED_SILENTLY(tw_map_plan_block(NULL, t->map_plan, NULL, NULL, NULL));
    REFUSED(tw_map_plan_block(t->ctx, NULL, NULL, NULL, NULL));
    REFUSED_SILENTLY(tw_map_verifier_stream(NULL, &verifier, t->expr, &x, &source, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_stream(t->ctx, NULL, t->expr, &x, &source, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_stream(t->ctx, &verifier, NULL, &x, &source, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_stream(t->ctx, &verifier, t->expr, NULL, &source, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_stream(t->ctx, &verifier, t->expr, NULL, NULL, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_stream(t->ctx, &verifier, t->expr, &x, &source, -1, NULL, 0, 1));
    REFUSED_SILENTLY(tw_map(NULL, &out, t->expr, &x, 1, NULL));
    REFUSED(tw_map(t->ctx, NULL, t->expr, &x, 1, NULL));
    REFUSED(tw_map(t->ctx, &out, NULL, &x, 1, NULL));
    REFUSED(tw_map(t->ctx, &out, t->expr, NULL, 1, NULL));
    REFUSED(tw_map(t->ctx, &out, t->expr, &x, -1, NULL));
    REFUSED_SILENTLY(tw_map_verifier_create(NULL, &verifier, t->expr, &x, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_create(t->ctx, NULL, t->expr, &x, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_create(t->ctx, &verifier, NULL, &x, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_create(t->ctx, &verifier, t->expr, NULL, 1, NULL, 0, 1));
    REFUSED(tw_map_verifier_create(t->ctx, &verifier, t->expr, &x, 1, NULL, -1, 1));
    REFUSED_SILENTLY(tw_map_verifier_result(NULL, t->map_verifier, NULL));
    REFUSED(tw_map_verifier_result(t->ctx, NULL, NULL));
    REFUSED_SILENTLY(tw_map_verifier_sink(NULL, &sink));
    assert_null(sink.begin);
    REFUSED_SILENTLY(tw_map_verifier_sink(t->map_verifier, NULL));
    tw_map_verifier_destroy(NULL);
    tw_map_plan_info info = {.size = sizeof info, .row_period = 7};
    REFUSED_SILENTLY(tw_map_plan_describe(NULL, &info));
    assert_int_equal(info.row_period, 7);
    REFUSED_SILENTLY(tw_map_plan_describe(t->map_plan, NULL));
    assert_non_null(tw_map_plan_explain(NULL));
    tw_map_plan_destroy(NULL);
}

static void of_the_machine(void **state)
{
    things *t = *state;
    tw_machine machine = TW_MACHINE_INIT;
    tw_gpu gpu = TW_GPU_INIT;
    tw_gpu_link link = TW_GPU_LINK_INIT;
    REFUSED_SILENTLY(tw_machine_describe(NULL, &machine));
    REFUSED(tw_machine_describe(t->ctx, NULL));
    REFUSED_SILENTLY(tw_gpu_describe(NULL, &gpu, 0));
    REFUSED(tw_gpu_describe(t->ctx, NULL, 0));
    REFUSED_SILENTLY(tw_gpu_link_describe(NULL, &link, 0, 1));
    REFUSED(tw_gpu_link_describe(t->ctx, NULL, 0, 1));
    tw_selftest_counts counts = TW_SELFTEST_COUNTS_INIT;
    REFUSED_SILENTLY(tw_selftest(NULL, &counts, "apsp", 1, NULL, NULL));
    REFUSED(tw_selftest(t->ctx, NULL, "apsp", 1, NULL, NULL));
    REFUSED(tw_selftest(t->ctx, &counts, "nonsense", 1, NULL, NULL));
}

/* What a call for a matrix in GPU memory cannot heed is refused, also where there is no GPU. */
static void refuse_device_options(things *t, tw_apsp_options opts)
{
    uint64_t bytes = 7;
    REFUSED(tw_apsp_device(t->ctx, &a, &opts, NULL));
    REFUSED(tw_apsp_device_workspace(t->ctx, &bytes, &a, &opts));
    assert_int_equal(bytes, 7);
}

static void of_options_of_devices(void **state)
{
    static const int32_t list[] = {0};
    const tw_apsp_options plain = TW_APSP_OPTIONS_INIT;
    tw_apsp_options opts = plain;
    opts.method = TW_APSP_METHOD_DIJKSTRA;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.type = TW_F64;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.block = 64;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.sources = list;
    opts.source_count = 1;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.targets = list;
    opts.target_count = 1;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.cutoff = 0;
    refuse_device_options(*state, opts);
    opts.cutoff = (double)NAN;
    refuse_device_options(*state, opts);
    opts = plain;
    opts.size = 0;
    refuse_device_options(*state, opts);
    things *t = *state;
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    device.size = 1;
    REFUSED(tw_apsp_device(t->ctx, &a, NULL, &device));
    REFUSED(tw_map_plan_apply_device(t->ctx, t->map_plan, &out, &x, 1, &device));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, t->entropy_plan, &out, &in, &device));
}

static void of_devices(void **state)
{
    things *t = *state;
    uint64_t bytes;
    REFUSED_SILENTLY(tw_apsp_device(NULL, &a, NULL, NULL));
    REFUSED(tw_apsp_device(t->ctx, NULL, NULL, NULL));
    REFUSED_SILENTLY(tw_apsp_device_workspace(NULL, &bytes, &a, NULL));
    REFUSED(tw_apsp_device_workspace(t->ctx, NULL, &a, NULL));
    REFUSED(tw_apsp_device_workspace(t->ctx, &bytes, NULL, NULL));
    tw_entropy_plan *plan = t->entropy_plan;
    REFUSED_SILENTLY(tw_entropy_plan_apply_device(NULL, plan, &out, &in, NULL));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, NULL, &out, &in, NULL));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, plan, NULL, &in, NULL));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, plan, &out, NULL, NULL));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, plan, &out, &a, NULL));
    REFUSED(tw_entropy_plan_apply_device(t->ctx, plan, &a, &in, NULL));
    REFUSED_SILENTLY(tw_entropy_plan_device_workspace(NULL, plan, &bytes, &out, &in));
    REFUSED(tw_entropy_plan_device_workspace(t->ctx, NULL, &bytes, &out, &in));
    REFUSED(tw_entropy_plan_device_workspace(t->ctx, plan, NULL, &out, &in));
    REFUSED(tw_entropy_plan_device_workspace(t->ctx, plan, &bytes, NULL, &in));
    REFUSED(tw_entropy_plan_device_workspace(t->ctx, plan, &bytes, &out, NULL));
    REFUSED_SILENTLY(tw_map_plan_apply_device(NULL, t->map_plan, &out, &x, 1, NULL));
    REFUSED(tw_map_plan_apply_device(t->ctx, NULL, &out, &x, 1, NULL));
    REFUSED(tw_map_plan_apply_device(t->ctx, t->map_plan, NULL, &x, 1, NULL));
    REFUSED(tw_map_plan_apply_device(t->ctx, t->map_plan, &out, NULL, 1, NULL));
}

/* Every function that takes a view is given this one in place of a good one of its type. */
static void refuse_view(things *t, tw_matrix (*spoil)(const tw_matrix *good))
{
    tw_graph *graph = NULL;
    tw_sink made = TW_SINK_INIT;
    tw_sink sink = taker;
    tw_apsp_path *path = NULL;
    tw_map_verifier *verifier = NULL;
    tw_matrix sa = spoil(&a), sb = spoil(&b), sc = spoil(&c);
    tw_matrix sin_ = spoil(&in), sout = spoil(&out), sx = spoil(&x);
    REFUSED(tw_graph_from_matrix(t->ctx, &graph, &sa, NULL, 0));
    REFUSED(tw_sink_to_matrix(t->ctx, &made, &sa));
    REFUSED(tw_feed(t->ctx, &sa, &sink, 1));
    REFUSED(tw_apsp(t->ctx, &sa, t->graph, NULL));
    REFUSED(tw_minplus(t->ctx, &sc, &a, &b));
    REFUSED(tw_minplus(t->ctx, &c, &sa, &b));
    REFUSED(tw_minplus(t->ctx, &c, &a, &sb));
    REFUSED(tw_apsp_path_create(t->ctx, &path, t->graph, &sa, 0, 1));
    REFUSED(tw_entropy(t->ctx, &sout, &in, NULL));
    REFUSED(tw_entropy_plan_apply(t->ctx, t->entropy_plan, &sout, &in, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, &sout, &x, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, &out, &sx, 1, NULL));
    REFUSED(tw_map_plan_run(t->ctx, t->map_plan, &sx, 1, &sink, 1, NULL));
    REFUSED(tw_map(t->ctx, &sout, t->expr, &x, 1, NULL));
    REFUSED(tw_map(t->ctx, &out, t->expr, &sx, 1, NULL));
    REFUSED(tw_map_verifier_create(t->ctx, &verifier, t->expr, &sx, 1, NULL, 0, 1));
    if (sin_.stride < sin_.cols || sin_.data == NULL || sin_.rows < 0) { /* bytes are aligned */
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        REFUSED(tw_reach(t->ctx, &sin_, t->graph, NULL));
        REFUSED(tw_entropy(t->ctx, &out, &sin_, NULL));
        REFUSED(tw_entropy_plan_apply(t->ctx, t->entropy_plan, &out, &sin_, NULL));
        REFUSED(tw_entropy_plan_run(t->ctx, t->entropy_plan, &sin_, &sink, 1, NULL));
        opts.mask = &sin_;
        REFUSED(tw_entropy(t->ctx, &out, &in, &opts));
        opts.mask = NULL;
        opts.footprint = &sin_;
        REFUSED(tw_entropy(t->ctx, &out, &in, &opts));
    }
}

static tw_matrix without_data(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.data = NULL;
    return m;
}

static tw_matrix of_negative_rows(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.rows = -1;
    return m;
}

static tw_matrix of_short_stride(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.stride = m.cols - 1;
    return m;
}

static tw_matrix of_huge_stride(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.stride = INT64_MAX;
    return m;
}

static tw_matrix of_no_type(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.type = 99;
    return m;
}

/* Its last row would end beyond the array, but nothing is read before it is refused. */
static tw_matrix of_odd_address(const tw_matrix *good)
{
    tw_matrix m = *good;
    m.data = (char *)m.data + 1;
    return m;
}

static void of_views(void **state)
{
    refuse_view(*state, without_data);
    refuse_view(*state, of_negative_rows);
    refuse_view(*state, of_short_stride);
    refuse_view(*state, of_huge_stride);
    refuse_view(*state, of_no_type);
    refuse_view(*state, of_odd_address);
}

/* Views of one array that share elements, and views that only lie between each other's rows. */
static void of_outputs_that_overlap_an_input(void **state)
{
    things *t = *state;
    static int32_t shared[4 * N * N];
    static float floats[4 * N * N];
    tw_matrix whole = {shared, N, N, 2 * N, TW_I32};
    tw_matrix beside = {shared + N, N, N, 2 * N, TW_I32};
    tw_matrix across = {shared + 1, N, N, 2 * N, TW_I32};
    tw_matrix below = {shared + 2 * N, N, N, 2 * N, TW_I32};
    REFUSED(tw_minplus(t->ctx, &whole, &whole, &b));
    REFUSED(tw_minplus(t->ctx, &whole, &a, &whole));
    REFUSED(tw_minplus(t->ctx, &whole, &across, &b));
    REFUSED(tw_minplus(t->ctx, &whole, &b, &below));
    assert_ok(t->ctx, tw_minplus(t->ctx, &whole, &beside, &b));
    assert_ok(t->ctx, tw_minplus(t->ctx, &whole, &a, &a));
    tw_matrix image = {floats, N, N, N, TW_F32};
    tw_matrix inside = {(uint8_t *)floats + 5, N, N, N, TW_U8};
    tw_matrix mask = {floats, N, N, N, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    REFUSED(tw_entropy(t->ctx, &image, &image, NULL));
    REFUSED(tw_entropy(t->ctx, &image, &inside, NULL));
    opts.mask = &mask;
    REFUSED(tw_entropy(t->ctx, &image, &in, &opts));
    assert_ok(t->ctx, tw_entropy(t->ctx, &image, &in, NULL));
    tw_matrix shifted = {floats + 1, N, N, N, TW_F32};
    REFUSED(tw_map(t->ctx, &image, t->expr, &shifted, 1, NULL));
    REFUSED(tw_map_plan_apply(t->ctx, t->map_plan, &image, &shifted, 1, NULL));
    assert_ok(t->ctx, tw_map(t->ctx, &image, t->expr, &image, 1, NULL));
}

/* Whether this file calls a function: its name and "(" behind what is no part of a name. */
static bool is_called(const char *name)
{
    char line[512], call[80];
    bool found = false;
    FILE *self = fopen(TW_TEST_DATA "/../unit/interface/arguments.c", "re");
    assert_non_null(self);
    snprintf(call, sizeof call, "%s(", name);
    while (!found && fgets(line, sizeof line, self) != NULL) {
        const char *at = strstr(line, call);
        found = at != NULL && at > line && strchr(" ()!", at[-1]) != NULL;
    }
    assert_int_equal(fclose(self), 0);
    return found;
}

/* A declaration begins with TW_API, and its name is on that line. */
static void no_function_of_the_header_is_missing(void **state)
{
    (void)state;
    char line[256], name[64];
    int found = 0;
    FILE *header = fopen(TW_TEST_DATA "/../../include/tilewright.h", "re");
    assert_non_null(header);
    while (fgets(line, sizeof line, header) != NULL) {
        if (strncmp(line, "TW_API ", 7) != 0) {
            continue;
        }
        const char *at = strchr(line, '(');
        while (at != NULL && at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) {
            at--;
        }
        if (at == NULL || sscanf(at, "%63[a-z0-9_]", name) != 1) {
            fail_msg("no name of a function on its first line: %s", line);
            return;
        }
        found++;
        if (!is_called(name)) {
            fail_msg("%s is not called by this test", name);
        }
    }
    assert_int_equal(fclose(header), 0);
    assert_true(found >= 140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_context),
        cmocka_unit_test(of_names),
        cmocka_unit_test(of_graphs),
        cmocka_unit_test(of_sinks_and_sources),
        cmocka_unit_test(of_sinks_that_lack_a_function),
        cmocka_unit_test(of_shortest_paths),
        cmocka_unit_test(of_routes_summaries_and_checks),
        cmocka_unit_test(of_orders),
        cmocka_unit_test(of_nearest_vertices),
        cmocka_unit_test(of_reachability),
        cmocka_unit_test(of_images),
        cmocka_unit_test(of_entropy),
        cmocka_unit_test(of_options_of_entropy),
        cmocka_unit_test(of_maps),
        cmocka_unit_test(of_the_machine),
        cmocka_unit_test(of_options_of_devices),
        cmocka_unit_test(of_devices),
        cmocka_unit_test(of_views),
        cmocka_unit_test(of_outputs_that_overlap_an_input),
        cmocka_unit_test(no_function_of_the_header_is_missing),
    };
    return cmocka_run_group_tests_name("refused", tests, make_things, destroy_things);
}

/*
 * Every struct of the header, as callers compiled with an older or a newer one have it: shorter,
 * with memory of theirs behind it that nobody may read or write, and longer; at every function that
 * takes or fills one, since each looks at it by itself. Two tests read the header itself: no struct
 * of it is forgotten here, and no function of it lets a status be dropped unseen.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define POISON 0xff
#define MORE 24 /* bytes by which a newer caller's struct is longer */

/* The same on every 64-bit machine: aarch64 and x86-64 have one layout. */
#define ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
ASSERT_SIZE(tw_matrix, 40);
ASSERT_SIZE(tw_shape, 24);
ASSERT_SIZE(tw_constant, 16);

/* What can grow ends with its last member: in padding behind it, which nobody has set, a member of
 * a later version would have no place. */
#define ASSERT_END(type, bytes, last) \
    ASSERT_SIZE(type, bytes);         \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == (bytes), #type "." #last)
ASSERT_END(tw_edges, 48, index_type);
ASSERT_END(tw_csr, 64, borrow);
ASSERT_END(tw_graph_info, 72, first);
ASSERT_END(tw_graph_read_options, 64, to);
ASSERT_END(tw_graph_generate_options, 88, max_weight);
ASSERT_END(tw_sink, 56, destroy);
ASSERT_END(tw_source, 64, destroy);
ASSERT_END(tw_device_options, 32, workspace_bytes);
ASSERT_END(tw_apsp_options, 112, beside);
ASSERT_END(tw_apsp_plan_info, 72, reserved);
ASSERT_END(tw_apsp_report, 152, fallback);
ASSERT_END(tw_apsp_path_info, 32, distance);
ASSERT_END(tw_apsp_summary_info, 104, minimum);
ASSERT_END(tw_apsp_nearest_options, 32, targets);
ASSERT_END(tw_apsp_nearest_info, 40, reserved);
ASSERT_END(tw_reach_options, 32, reserved);
ASSERT_END(tw_reach_plan_info, 80, device);
ASSERT_END(tw_reach_report, 64, seconds_device);
ASSERT_END(tw_image_info, 24, bytes);
ASSERT_END(tw_image_options, 48, seed);
ASSERT_END(tw_image_tags_info, 64, zero_is_white);
ASSERT_END(tw_image_file_options, 112, reserved);
ASSERT_END(tw_entropy_options, 96, type);
ASSERT_END(tw_entropy_report, 104, block);
ASSERT_END(tw_entropy_plan_info, 96, largest);
ASSERT_END(tw_expr_options, 48, column);
ASSERT_END(tw_expr_info, 32, reserved);
ASSERT_END(tw_map_options, 40, no_data);
ASSERT_END(tw_map_plan_info, 72, operations);
ASSERT_END(tw_map_report, 64, became_no_data);
ASSERT_END(tw_machine, 88, gpu_runtime);
ASSERT_END(tw_gpu, 128, memory_available);
ASSERT_END(tw_gpu_link, 24, reserved);
ASSERT_END(tw_selftest_counts, 32, skipped);

static const int32_t ends[] = {0, 1};
static tw_graph *graph;
static tw_expr *expr;
static _Alignas(8) uint8_t elements[64];
static float floats[64];
static const tw_matrix image = {elements, 8, 8, 8, TW_U8};
static tw_matrix result = {floats, 8, 8, 8, TW_F32};
static const tw_shape shape = {8, 8, TW_U8};
static tw_matrix pairs = {elements, 2, 2, 2, TW_I32};
static tw_apsp_plan *apsp_plan;
static tw_reach_plan *reach_plan;
static tw_entropy_plan *entropy_plan;
static tw_map_plan *map_plan;

/* ------------------------------------------------------------------- a sink and a source to give
 */

static tw_status sink_begin(void *self, tw_context *ctx, const tw_shape *result_shape)
{
    (void)ctx, (void)result_shape;
    *(int64_t *)self = 0;
    return TW_OK;
}

static tw_status sink_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    (void)ctx, (void)first, (void)data, (void)stride;
    *(int64_t *)self += count;
    return TW_OK;
}

static tw_status sink_end(void *self, tw_context *ctx)
{
    (void)self, (void)ctx;
    return TW_OK;
}

static void sink_abort(void *self, tw_context *ctx)
{
    (void)self, (void)ctx;
}

static int64_t rows_seen[2];
static const tw_sink counter = {sizeof(tw_sink), &rows_seen[0], sink_begin, sink_rows,
                                sink_end,        sink_abort,    NULL};

/* Every element is what *self says. */
static tw_status source_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                             int64_t stride)
{
    (void)ctx, (void)first;
    for (int64_t i = 0; i < count; i++) {
        memset((uint8_t *)data + i * stride, *(const uint8_t *)self, 8);
    }
    return TW_OK;
}

static uint8_t levels[2] = {3, 5};
static const tw_source constant = {sizeof(tw_source), &levels[0], {8, 8, TW_U8}, 0,
                                   source_rows,       NULL};

/* ------------------------------------------------------------ one call for each that takes one */

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

static tw_status take_image_file(tw_context *ctx, void *given)
{
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_sink_to_image_planes(ctx, &sink, "never-begun.tif", given);
    tw_sink_destroy(&sink);
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

static tw_status take_nearest(tw_context *ctx, void *given)
{
    tw_apsp_nearest *nearest = NULL;
    tw_status status = tw_apsp_nearest_create(ctx, &nearest, given);
    tw_apsp_nearest_destroy(nearest);
    return status;
}

static tw_status give_nearest(tw_context *ctx, void *out)
{
    tw_apsp_nearest *nearest = NULL;
    tw_status status = tw_apsp_nearest_create(ctx, &nearest, NULL);
    status = status == TW_OK ? tw_apsp_nearest_describe(nearest, out) : status;
    tw_apsp_nearest_destroy(nearest);
    return status;
}

static tw_status give_nearest_sink(tw_context *ctx, void *out)
{
    tw_apsp_nearest *nearest = NULL;
    tw_status status = tw_apsp_nearest_create(ctx, &nearest, NULL);
    status = status == TW_OK ? tw_apsp_nearest_sink(nearest, out) : status;
    tw_sink_destroy(out);
    tw_apsp_nearest_destroy(nearest);
    return status;
}

static tw_status give_image_info(tw_context *ctx, void *out)
{
    tw_source source = TW_SOURCE_INIT;
    tw_status status = tw_image_source(ctx, &source, TW_TEST_DATA "/good/small.pgm", NULL, 0, out);
    tw_source_destroy(&source);
    return status;
}

static tw_status give_image_tags(tw_context *ctx, void *out)
{
    tw_image_tags *tags = NULL;
    tw_status status = tw_image_tags_read(ctx, &tags, TW_TEST_DATA "/good/small.pgm", NULL);
    status = status == TW_OK ? tw_image_tags_describe(tags, out) : status;
    tw_image_tags_destroy(tags);
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

/* With a GPU, options are checked before the call notices that arrays are not in its memory, or
 * that the plan was created for the CPU. */
static tw_status unless_refused_later(tw_context *ctx, tw_status status)
{
    const char *told = tw_last_error(ctx);
    const bool later =
        strstr(told, "not in GPU memory") != NULL || strstr(told, "for the CPU") != NULL;
    return status == TW_ERR_ARGUMENT && later ? TW_OK : status;
}

static tw_status take_device(tw_context *ctx, void *given)
{
    int32_t data[4] = {0, 1, 1, 0};
    tw_matrix matrix = {data, 2, 2, 2, TW_I32};
    return unless_refused_later(ctx, tw_apsp_device(ctx, &matrix, NULL, given));
}

static tw_status give_gpu(tw_context *ctx, void *out)
{
    return tw_gpu_describe(ctx, out, 0);
}

static tw_status give_link(tw_context *ctx, void *out)
{
    return tw_gpu_link_describe(ctx, out, 0, 1);
}

static tw_status take_apsp_now(tw_context *ctx, void *given)
{
    return tw_apsp(ctx, &pairs, graph, given);
}

static tw_status take_apsp_device(tw_context *ctx, void *given)
{
    return unless_refused_later(ctx, tw_apsp_device(ctx, &pairs, given, NULL));
}

static tw_status take_apsp_workspace(tw_context *ctx, void *given)
{
    uint64_t bytes = 0;
    return unless_refused_later(ctx, tw_apsp_device_workspace(ctx, &bytes, &pairs, given));
}

static tw_status take_entropy_now(tw_context *ctx, void *given)
{
    return tw_entropy(ctx, &result, &image, given);
}

static tw_status take_map_now(tw_context *ctx, void *given)
{
    return tw_map(ctx, &result, expr, &image, 1, given);
}

static tw_status take_map_verifier(tw_context *ctx, void *given)
{
    tw_map_verifier *verifier = NULL;
    tw_status status = tw_map_verifier_create(ctx, &verifier, expr, &image, 1, given, 0, 1);
    tw_map_verifier_destroy(verifier);
    return status;
}

static tw_status take_map_verifier_stream(tw_context *ctx, void *given)
{
    tw_map_verifier *verifier = NULL;
    tw_status status =
        tw_map_verifier_stream(ctx, &verifier, expr, NULL, &constant, 1, given, 0, 1);
    tw_map_verifier_destroy(verifier);
    return status;
}

static tw_status take_entropy_device(tw_context *ctx, void *given)
{
    return unless_refused_later(
        ctx, tw_entropy_plan_apply_device(ctx, entropy_plan, &result, &image, given));
}

static tw_status take_map_device(tw_context *ctx, void *given)
{
    return unless_refused_later(ctx,
                                tw_map_plan_apply_device(ctx, map_plan, &result, &image, 1, given));
}

static tw_status give_entropy_run(tw_context *ctx, void *out)
{
    return tw_entropy_plan_run(ctx, entropy_plan, &image, NULL, 0, out);
}

static tw_status give_entropy_stream(tw_context *ctx, void *out)
{
    return tw_entropy_plan_stream(ctx, entropy_plan, &constant, NULL, 0, out);
}

static tw_status give_map_run(tw_context *ctx, void *out)
{
    return tw_map_plan_run(ctx, map_plan, &image, 1, NULL, 0, out);
}

static tw_status give_map_stream(tw_context *ctx, void *out)
{
    return tw_map_plan_stream(ctx, map_plan, NULL, &constant, 1, NULL, 0, out);
}

/* Sinks that are filled. */
static tw_status give_file_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_file(ctx, out, "never-begun.npy", NULL);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_scaled_sink(tw_context *ctx, void *out)
{
    tw_sink inner = counter;
    tw_status status = tw_sink_scaled(ctx, out, &inner, TW_U8, 1);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_preview_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_preview(ctx, out, "never-begun.ppm", 1);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_pairs_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_pairs(ctx, out, "never-begun.csv", NULL, NULL, NULL);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_table_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_table(ctx, out, "never-begun.csv", NULL, NULL, NULL, 0);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_summary_sink(tw_context *ctx, void *out)
{
    tw_apsp_summary *summary = NULL;
    tw_status status = tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL);
    status = status == TW_OK ? tw_apsp_summary_sink(summary, out) : status;
    tw_sink_destroy(out);
    tw_apsp_summary_destroy(summary);
    return status;
}

static tw_status give_verifier_sink(tw_context *ctx, void *out)
{
    tw_apsp_verifier *verifier = NULL;
    tw_status status = tw_apsp_verifier_create(ctx, &verifier, graph, NULL, 0, 1);
    status = status == TW_OK ? tw_apsp_verifier_sink(verifier, out) : status;
    tw_sink_destroy(out);
    tw_apsp_verifier_destroy(verifier);
    return status;
}

static tw_status give_map_verifier_sink(tw_context *ctx, void *out)
{
    tw_map_verifier *verifier = NULL;
    tw_status status = tw_map_verifier_create(ctx, &verifier, expr, &image, 1, NULL, 0, 1);
    status = status == TW_OK ? tw_map_verifier_sink(verifier, out) : status;
    tw_sink_destroy(out);
    tw_map_verifier_destroy(verifier);
    return status;
}

static tw_status give_image_sink(tw_context *ctx, void *out)
{
    tw_image *made = NULL;
    tw_status status = tw_image_create(ctx, &made);
    status = status == TW_OK ? tw_sink_to_image(ctx, out, made) : status;
    tw_sink_destroy(out);
    tw_image_destroy(made);
    return status;
}

static tw_status give_image_file_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_image_file(ctx, out, "never-begun.pgm", NULL);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_image_planes_sink(tw_context *ctx, void *out)
{
    tw_status status = tw_sink_to_image_planes(ctx, out, "never-begun.tif", NULL);
    tw_sink_destroy(out);
    return status;
}

static tw_status give_matrix_source(tw_context *ctx, void *out)
{
    tw_status status = tw_matrix_source(ctx, out, TW_TEST_DATA "/good/small.npy", NULL, TW_AUTO);
    tw_source_destroy(out);
    return status;
}

/* Sinks that are driven. */
typedef tw_status (*drive_fn)(tw_context *ctx, tw_sink *sinks, int32_t count);

static tw_status drive_feed(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_feed(ctx, &image, sinks, count);
}

static tw_status drive_feed_source(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_feed_source(ctx, &constant, sinks, count);
}

static tw_status drive_apsp(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_apsp_plan_run(ctx, apsp_plan, sinks, count, NULL, NULL);
}

static tw_status drive_entropy_run(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_entropy_plan_run(ctx, entropy_plan, &image, sinks, count, NULL);
}

static tw_status drive_entropy_stream(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_entropy_plan_stream(ctx, entropy_plan, &constant, sinks, count, NULL);
}

static tw_status drive_map_run(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_map_plan_run(ctx, map_plan, &image, 1, sinks, count, NULL);
}

static tw_status drive_map_stream(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_map_plan_stream(ctx, map_plan, NULL, &constant, 1, sinks, count, NULL);
}

static tw_status drive_reach(tw_context *ctx, tw_sink *sinks, int32_t count)
{
    return tw_reach_plan_run(ctx, reach_plan, sinks, count, NULL, NULL);
}

static const drive_fn drivers[] = {drive_feed,           drive_feed_source, drive_apsp,
                                   drive_entropy_run,    drive_map_run,     drive_map_stream,
                                   drive_entropy_stream, drive_reach};

static tw_status take_sink(tw_context *ctx, void *given)
{
    tw_status worst = TW_OK;
    for (size_t d = 0; d < sizeof drivers / sizeof *drivers; d++) {
        const tw_status status = drivers[d](ctx, given, 1);
        if (d > 0 && (status == TW_OK) != (worst == TW_OK)) {
            fail_msg("driver %zu: %s, and the ones before %s", d, tw_status_name(status),
                     tw_status_name(worst));
        }
        worst = status != TW_OK ? status : worst;
    }
    return worst;
}

static tw_status take_predecessors(tw_context *ctx, void *given)
{
    return tw_apsp_plan_run(ctx, apsp_plan, NULL, 0, given, NULL);
}

static tw_status take_inner_sink(tw_context *ctx, void *given)
{
    tw_sink out = TW_SINK_INIT;
    tw_status status = tw_sink_scaled(ctx, &out, given, TW_U8, 1);
    tw_sink_destroy(&out);
    return status;
}

/* Sources that are read. */
static tw_status take_fed_source(tw_context *ctx, void *given)
{
    return tw_feed_source(ctx, given, NULL, 0);
}

static tw_status take_entropy_source(tw_context *ctx, void *given)
{
    return tw_entropy_plan_stream(ctx, entropy_plan, given, NULL, 0, NULL);
}

static tw_status take_map_source(tw_context *ctx, void *given)
{
    return tw_map_plan_stream(ctx, map_plan, NULL, given, 1, NULL, 0, NULL);
}

static tw_status take_block_source(tw_context *ctx, void *given)
{
    return tw_map_plan_block(ctx, map_plan, given, NULL, NULL);
}

static tw_status take_verified_source(tw_context *ctx, void *given)
{
    tw_map_verifier *verifier = NULL;
    tw_status status = tw_map_verifier_stream(ctx, &verifier, expr, NULL, given, 1, NULL, 0, 1);
    tw_map_verifier_destroy(verifier);
    return status;
}

static tw_status take_reach(tw_context *ctx, void *given)
{
    tw_reach_plan *plan = NULL;
    tw_status status = tw_reach_plan_create(ctx, &plan, graph, given);
    tw_reach_plan_destroy(plan);
    return status;
}

static tw_status take_reach_now(tw_context *ctx, void *given)
{
    static uint8_t reached[64];
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    tw_status status = tw_graph_describe(graph, &info);
    tw_matrix out = {reached, info.vertices, info.vertices, info.vertices, TW_U8};
    return status == TW_OK ? tw_reach(ctx, &out, graph, given) : status;
}

static tw_status give_reach_plan(tw_context *ctx, void *out)
{
    tw_reach_plan *plan = NULL;
    tw_status status = tw_reach_plan_create(ctx, &plan, graph, NULL);
    if (status == TW_OK) {
        status = tw_reach_plan_describe(plan, out);
    }
    tw_reach_plan_destroy(plan);
    return status;
}

static tw_status give_reach_report(tw_context *ctx, void *out)
{
    tw_reach_plan *plan = NULL;
    tw_status status = tw_reach_plan_create(ctx, &plan, graph, NULL);
    if (status == TW_OK) {
        status = tw_reach_plan_run(ctx, plan, NULL, 0, NULL, out);
    }
    tw_reach_plan_destroy(plan);
    return status;
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
#define DRIVEN(type, value, call)                 \
    {                                             \
#type, sizeof(type), &(value), true, call \
    }
#define FILLED(type, call)                    \
    {                                         \
#type, sizeof(type), NULL, true, call \
    }

static const kind kinds[] = {
    TAKEN(tw_edges, TW_EDGES_INIT, take_edges),
    TAKEN(tw_csr, TW_CSR_INIT, take_csr),
    TAKEN(tw_graph_read_options, TW_GRAPH_READ_OPTIONS_INIT, take_read),
    TAKEN(tw_graph_generate_options, TW_GRAPH_GENERATE_OPTIONS_INIT, take_generate),
    TAKEN(tw_device_options, TW_DEVICE_OPTIONS_INIT, take_device),
    TAKEN(tw_device_options, TW_DEVICE_OPTIONS_INIT, take_entropy_device),
    TAKEN(tw_device_options, TW_DEVICE_OPTIONS_INIT, take_map_device),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_apsp),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_verifier),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_apsp_now),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_apsp_device),
    TAKEN(tw_apsp_options, TW_APSP_OPTIONS_INIT, take_apsp_workspace),
    TAKEN(tw_apsp_nearest_options, TW_APSP_NEAREST_OPTIONS_INIT, take_nearest),
    TAKEN(tw_reach_options, TW_REACH_OPTIONS_INIT, take_reach),
    TAKEN(tw_reach_options, TW_REACH_OPTIONS_INIT, take_reach_now),
    TAKEN(tw_image_options, TW_IMAGE_OPTIONS_INIT, take_image),
    TAKEN(tw_image_file_options, TW_IMAGE_FILE_OPTIONS_INIT, take_image_file),
    TAKEN(tw_entropy_options, TW_ENTROPY_OPTIONS_INIT, take_entropy),
    TAKEN(tw_entropy_options, TW_ENTROPY_OPTIONS_INIT, take_entropy_now),
    TAKEN(tw_expr_options, TW_EXPR_OPTIONS_INIT, take_expr),
    TAKEN(tw_map_options, TW_MAP_OPTIONS_INIT, take_map),
    TAKEN(tw_map_options, TW_MAP_OPTIONS_INIT, take_map_now),
    TAKEN(tw_map_options, TW_MAP_OPTIONS_INIT, take_map_verifier),
    TAKEN(tw_map_options, TW_MAP_OPTIONS_INIT, take_map_verifier_stream),
    GIVEN(tw_graph_info, give_graph),
    GIVEN(tw_apsp_plan_info, give_apsp_plan),
    GIVEN(tw_apsp_report, give_apsp_report),
    GIVEN(tw_apsp_path_info, give_path),
    GIVEN(tw_apsp_summary_info, give_summary),
    GIVEN(tw_apsp_nearest_info, give_nearest),
    GIVEN(tw_reach_plan_info, give_reach_plan),
    GIVEN(tw_reach_report, give_reach_report),
    GIVEN(tw_image_info, give_image_info),
    GIVEN(tw_image_tags_info, give_image_tags),
    GIVEN(tw_entropy_plan_info, give_entropy_plan),
    GIVEN(tw_entropy_report, give_entropy_report),
    GIVEN(tw_entropy_report, give_entropy_run),
    GIVEN(tw_entropy_report, give_entropy_stream),
    GIVEN(tw_expr_info, give_expr),
    GIVEN(tw_map_plan_info, give_map_plan),
    GIVEN(tw_map_report, give_map_report),
    GIVEN(tw_map_report, give_map_run),
    GIVEN(tw_map_report, give_map_stream),
    GIVEN(tw_machine, give_machine),
    GIVEN(tw_gpu, give_gpu),
    GIVEN(tw_gpu_link, give_link),
    GIVEN(tw_selftest_counts, give_counts),
    FILLED(tw_sink, give_sink),
    FILLED(tw_sink, give_file_sink),
    FILLED(tw_sink, give_scaled_sink),
    FILLED(tw_sink, give_preview_sink),
    FILLED(tw_sink, give_pairs_sink),
    FILLED(tw_sink, give_table_sink),
    FILLED(tw_sink, give_summary_sink),
    FILLED(tw_sink, give_nearest_sink),
    FILLED(tw_sink, give_verifier_sink),
    FILLED(tw_sink, give_map_verifier_sink),
    FILLED(tw_sink, give_image_sink),
    FILLED(tw_sink, give_image_file_sink),
    FILLED(tw_sink, give_image_planes_sink),
    FILLED(tw_source, give_source),
    FILLED(tw_source, give_matrix_source),
    DRIVEN(tw_sink, counter, take_sink),
    DRIVEN(tw_sink, counter, take_predecessors),
    DRIVEN(tw_sink, counter, take_inner_sink),
    DRIVEN(tw_source, constant, take_fed_source),
    DRIVEN(tw_source, constant, take_entropy_source),
    DRIVEN(tw_source, constant, take_map_source),
    DRIVEN(tw_source, constant, take_block_source),
    DRIVEN(tw_source, constant, take_verified_source),
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
            if (emulated_sizes_only() && size < kinds[k].bytes && (size / 8 + k) % 3 != 0) {
                continue;
            }
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

/* Two of a newer header, as far apart as they say. */
static void *lay_two(unsigned char bytes[256], const void *first, size_t known, void *second_self)
{
    const size_t size = known + MORE;
    memset(bytes, 0, 256);
    for (size_t i = 0; i < 2; i++) {
        memcpy(bytes + i * size, first, known);
        memcpy(bytes + i * size, &size, sizeof size);
    }
    memcpy(bytes + size + offsetof(tw_sink, self), &second_self, sizeof second_self);
    return bytes;
}
_Static_assert(offsetof(tw_sink, self) == offsetof(tw_source, self), "for lay_two");

static void elements_of_an_array_lie_as_far_apart_as_they_are_long(void **state)
{
    tw_context *ctx = *state;
    _Alignas(16) unsigned char bytes[256];
    tw_sink *sinks = lay_two(bytes, &counter, sizeof counter, &rows_seen[1]);
    for (size_t d = 0; d < sizeof drivers / sizeof *drivers; d++) {
        rows_seen[0] = rows_seen[1] = -1;
        assert_ok(ctx, drivers[d](ctx, sinks, 2));
        assert_true(rows_seen[0] == rows_seen[1] && rows_seen[0] >= 2);
    }
    const char *const names[] = {"x", "y"};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *sum = NULL;
    tw_map_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    opts.inputs = names;
    opts.input_count = 2;
    const tw_shape shapes[] = {shape, shape};
    assert_ok(ctx, tw_expr_create(ctx, &sum, "x - 2 * y", &opts));
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, sum, shapes, 2, NULL));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &result));
    const tw_source *sources = lay_two(bytes, &constant, sizeof constant, &levels[1]);
    assert_ok(ctx, tw_map_plan_stream(ctx, plan, NULL, sources, 2, &sink, 1, NULL));
    for (int i = 0; i < 64; i++) {
        assert_true(floats[i] == 3 - 2 * 5);
    }
    tw_sink_destroy(&sink);
    tw_map_plan_destroy(plan);
    tw_expr_destroy(sum);
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

/* Each macro above has to be used for it. */
static bool is_asserted(const char *type)
{
    char line[256], found[64];
    bool asserted = false;
    FILE *self = fopen(TW_TEST_DATA "/../unit/interface/sizes.c", "re");
    assert_non_null(self);
    while (fgets(line, sizeof line, self) != NULL) {
        asserted = asserted || (sscanf(line, "ASSERT_SIZE(%63[a-z0-9_],", found) == 1 &&
                                strcmp(found, type) == 0);
        asserted = asserted || (sscanf(line, "ASSERT_END(%63[a-z0-9_],", found) == 1 &&
                                strcmp(found, type) == 0);
    }
    assert_int_equal(fclose(self), 0);
    return asserted;
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
            if (!is_known(type) || !is_asserted(type)) {
                fail_msg("%s is not in the tables of this test", type);
            }
        }
    }
    assert_int_equal(fclose(header), 0);
    assert_true(found >= 30);
}

/* A status that is dropped is a failure that nobody hears of, so the compiler warns of it; but for
 * tw_fail, whose status is the caller's own. Read line by line: a declaration begins with TW_API.
 */
static void the_compiler_warns_of_every_dropped_status(void **state)
{
    (void)state;
    char line[256];
    int found = 0;
    FILE *header = fopen(TW_TEST_DATA "/../../include/tilewright.h", "re");
    assert_non_null(header);
    while (fgets(line, sizeof line, header) != NULL) {
        const char *at = strstr(line, "tw_status tw_");
        if (at == NULL) {
            continue;
        }
        found++;
        if (strncmp(line, "TW_API TW_CHECKED tw_status tw_", 31) != 0 &&
            strncmp(line, "TW_API tw_status tw_fail(", 25) != 0) {
            fail_msg("not TW_CHECKED: %s", line);
        }
    }
    assert_int_equal(fclose(header), 0);
    assert_true(found >= 70);
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
                   tw_expr_create(ctx, &expr, "x + 1", NULL) == TW_OK &&
                   tw_apsp_plan_create(ctx, &apsp_plan, graph, NULL) == TW_OK &&
                   tw_reach_plan_create(ctx, &reach_plan, graph, NULL) == TW_OK &&
                   tw_entropy_plan_create(ctx, &entropy_plan, &shape, NULL) == TW_OK &&
                   tw_map_plan_create(ctx, &map_plan, expr, &shape, 1, NULL) == TW_OK
               ? 0
               : -1;
}

static int close_all(void **state)
{
    tw_map_plan_destroy(map_plan);
    tw_entropy_plan_destroy(entropy_plan);
    tw_reach_plan_destroy(reach_plan);
    tw_apsp_plan_destroy(apsp_plan);
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
        cmocka_unit_test(elements_of_an_array_lie_as_far_apart_as_they_are_long),
        cmocka_unit_test(a_size_that_was_not_set_is_refused),
        cmocka_unit_test(no_struct_of_the_header_is_missing),
        cmocka_unit_test(the_compiler_warns_of_every_dropped_status),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

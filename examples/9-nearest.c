/*
 * Answers without a matrix: the three nearest crossings of every crossing of a town, and its
 * centre, by one run. The two collectors take the rows as they come; no distance is kept that is
 * not asked for.
 *
 *     9-nearest
 */
#include <stdio.h>
#include <tilewright.h>

static tw_status answer(tw_context *ctx, const tw_graph *town, tw_apsp_nearest *nearest,
                        tw_apsp_summary *summary)
{
    tw_sink sinks[] = {TW_SINK_INIT, TW_SINK_INIT};
    tw_apsp_plan *plan = NULL;
    tw_status status = tw_apsp_nearest_sink(nearest, &sinks[0]);
    if (status == TW_OK) {
        status = tw_apsp_summary_sink(summary, &sinks[1]);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, &plan, town, NULL);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, sinks, 2, NULL, NULL);
    }
    tw_apsp_plan_destroy(plan);
    return status;
}

int main(void)
{
    tw_graph_generate_options streets = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_apsp_nearest_options three = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_summary_info about = TW_APSP_SUMMARY_INFO_INIT;
    tw_context *ctx = NULL;
    tw_graph *town = NULL;
    tw_apsp_nearest *nearest = NULL;
    tw_apsp_summary *summary = NULL;
    streets.kind = "grid";
    streets.rows = 20;
    streets.cols = 30;
    streets.density = 1;
    three.count = 3;
    int ok = tw_context_create(&ctx) == TW_OK && tw_graph_generate(ctx, &town, &streets) == TW_OK &&
             tw_apsp_nearest_create(ctx, &nearest, &three) == TW_OK &&
             tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL) == TW_OK &&
             answer(ctx, town, nearest, summary) == TW_OK &&
             tw_apsp_summary_describe(summary, &about) == TW_OK;
    if (ok) {
        const int32_t *near = tw_apsp_nearest_vertices(nearest) + 3 * about.center;
        const double *far = tw_apsp_nearest_distances(nearest) + 3 * about.center;
        printf("the centre is crossing %lld; nearest are %d, %d and %d, the last at %g\n",
               (long long)about.center, near[0], near[1], near[2], far[2]);
    } else {
        fprintf(stderr, "%s\n", tw_last_error(ctx));
    }
    tw_apsp_summary_destroy(summary);
    tw_apsp_nearest_destroy(nearest);
    tw_graph_destroy(town);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

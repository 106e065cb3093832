/*
 * All distances of a graph into a file, with a summary and a check on the way: the rows pass
 * through three sinks at once, and no second matrix is ever in memory.
 *
 *     3-stream-to-file distances.npy
 */
#include <stdio.h>
#include <tilewright.h>

static tw_status solve(tw_context *ctx, const tw_graph *graph, const char *path,
                       tw_apsp_summary *summary, tw_apsp_verifier *verifier)
{
    tw_sink sinks[3] = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT};
    tw_apsp_plan *plan = NULL;
    tw_status status = tw_sink_to_file(ctx, &sinks[0], path, NULL);
    if (status == TW_OK) {
        status = tw_apsp_summary_sink(summary, &sinks[1]);
    }
    if (status == TW_OK) {
        status = tw_apsp_verifier_sink(verifier, &sinks[2]);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, &plan, graph, NULL);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, sinks, 3, NULL, NULL);
    }
    if (status == TW_OK) {
        status = tw_apsp_verifier_result(ctx, verifier, NULL);
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sinks[0]);
    return status;
}

int main(int argc, char **argv)
{
    tw_graph_generate_options roads = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_apsp_summary *summary = NULL;
    tw_apsp_verifier *verifier = NULL;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    roads.kind = "grid";
    roads.vertices = 900;
    roads.density = 1;

    int ok = argc == 2 && tw_context_create(&ctx) == TW_OK &&
             tw_graph_generate(ctx, &graph, &roads) == TW_OK &&
             tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL) == TW_OK &&
             tw_apsp_verifier_create(ctx, &verifier, graph, NULL, 10, 1) == TW_OK &&
             solve(ctx, graph, argv[1], summary, verifier) == TW_OK &&
             tw_apsp_summary_describe(summary, &info) == TW_OK;
    if (ok) {
        printf("%lld pairs, the farthest %g apart, %g on average: in %s\n",
               (long long)info.reachable, info.diameter, info.mean, argv[1]);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "usage: 3-stream-to-file FILE");
    }
    tw_apsp_verifier_destroy(verifier);
    tw_apsp_summary_destroy(summary);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

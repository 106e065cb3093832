/*
 * Who depends on whom: of packages that need each other, how many each one needs in the end, and
 * which of them need one another in a circle. Counts take no matrix.
 *
 *     10-reach
 */
#include <stdio.h>
#include <tilewright.h>

enum { PACKAGES = 6 };
static const char *const names[PACKAGES] = {"app", "gui", "fonts", "net", "tls", "libc"};

/* app needs gui and net, gui and fonts need each other, net needs tls, all of them libc. */
static const int32_t needs[][2] = {{0, 1}, {0, 3}, {1, 2}, {2, 1}, {3, 4}, {2, 5}, {4, 5}};
enum { NEEDS = sizeof needs / sizeof *needs };

int main(void)
{
    int32_t from[NEEDS], to[NEEDS];
    int64_t counts[PACKAGES];
    tw_edges edges = TW_EDGES_INIT;
    tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_reach_plan *plan = NULL;
    for (int i = 0; i < NEEDS; i++) {
        from[i] = needs[i][0];
        to[i] = needs[i][1];
    }
    edges.count = NEEDS;
    edges.source = from;
    edges.target = to;
    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_graph_from_edges(ctx, &graph, PACKAGES, &edges, 0) == TW_OK &&
             tw_reach_plan_create(ctx, &plan, graph, NULL) == TW_OK &&
             tw_reach_plan_describe(plan, &info) == TW_OK &&
             tw_reach_plan_run(ctx, plan, NULL, 0, counts, NULL) == TW_OK;
    for (int i = 0; ok && i < PACKAGES; i++) {
        printf("%s needs %lld, ", names[i], (long long)counts[i] - 1); /* itself is counted */
    }
    if (ok) {
        printf("and %lld of them form a circle\n", (long long)info.largest);
    } else {
        fprintf(stderr, "%s\n", tw_last_error(ctx));
    }
    tw_reach_plan_destroy(plan);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

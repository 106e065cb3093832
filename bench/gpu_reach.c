/*
 * gpu_reach [MOST]: reachability of random acyclic graphs (nothing to condense) of up to MOST
 * vertices (65536) on GPU 0, arcs leading up in a hidden order. Counts are compared with those of
 * the CPU, for every vertex, and with plain searches from 64 of them, before times are told: the
 * closure alone by the device's clock, the shortest of five; a whole run with counts; and the same
 * on the CPU. JSON on standard output; exit 1 if a count is wrong.
 */
#include <tilewright.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, TIMES = 5 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static tw_graph *acyclic(tw_context *ctx, int64_t n, int64_t arcs)
{
    int32_t *order = malloc((size_t)n * sizeof *order);
    int32_t *from = malloc((size_t)arcs * sizeof *from);
    int32_t *to = malloc((size_t)arcs * sizeof *to);
    tw_graph *graph = NULL;
    tw_edges edges = TW_EDGES_INIT;
    state = 88172645463325252u;
    for (int64_t v = 0; v < n; v++) {
        const uint64_t k = draw((uint64_t)v + 1);
        order[v] = order[k];
        order[k] = (int32_t)v;
    }
    for (int64_t i = 0; i < arcs; i++) {
        const uint64_t a = draw((uint64_t)n), b = draw((uint64_t)n);
        from[i] = order[a < b ? a : b];
        to[i] = order[a < b ? b : a];
    }
    edges.count = arcs;
    edges.source = from;
    edges.target = to;
    if (tw_graph_from_edges(ctx, &graph, n, &edges, 0) != TW_OK) {
        fprintf(stderr, "%s\n", tw_last_error(ctx));
    }
    free(to);
    free(from);
    free(order);
    return graph;
}

static int64_t searched(const tw_graph *graph, int64_t n, int32_t source, uint8_t *seen,
                        int32_t *queue)
{
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    const void *weights = NULL;
    int64_t head = 0, tail = 0;
    tw_graph_rows(graph, &offsets, &targets, &weights);
    memset(seen, 0, (size_t)n);
    seen[source] = 1;
    queue[tail++] = source;
    while (head < tail) {
        const int32_t u = queue[head++];
        for (int64_t a = offsets[u]; a < offsets[u + 1]; a++) {
            if (!seen[targets[a]]) {
                seen[targets[a]] = 1;
                queue[tail++] = targets[a];
            }
        }
    }
    return tail;
}

/* Counts on a device; the best times of some runs. */
static tw_status count_on(tw_context *ctx, const char *device, const tw_graph *graph, int times,
                          int64_t *counts, tw_reach_report *best)
{
    tw_reach_plan *plan = NULL;
    tw_status status = tw_set_device(ctx, device);
    if (status == TW_OK) {
        status = tw_reach_plan_create(ctx, &plan, graph, NULL);
    }
    for (int i = 0; i < times && status == TW_OK; i++) {
        tw_reach_report report = TW_REACH_REPORT_INIT;
        status = tw_reach_plan_run(ctx, plan, NULL, 0, counts, &report);
        if (i == 0 || report.seconds_device < best->seconds_device) {
            best->seconds_device = report.seconds_device;
        }
        if (i == 0 || report.seconds_compute < best->seconds_compute) {
            best->seconds_compute = report.seconds_compute;
            best->pairs = report.pairs;
        }
    }
    tw_reach_plan_destroy(plan);
    return status;
}

static int run_case(tw_context *ctx, int64_t n, int64_t degree, int first)
{
    tw_graph *graph = acyclic(ctx, n, n * degree);
    int64_t *gpu = malloc((size_t)n * sizeof *gpu), *cpu = malloc((size_t)n * sizeof *cpu);
    uint8_t *seen = malloc((size_t)n);
    int32_t *queue = malloc((size_t)n * sizeof *queue);
    tw_reach_report on_gpu = TW_REACH_REPORT_INIT, on_cpu = TW_REACH_REPORT_INIT;
    int64_t wrong = 0;
    tw_status status = graph != NULL ? TW_OK : TW_ERR_MEMORY;
    if (status == TW_OK) {
        status = count_on(ctx, "cuda", graph, TIMES, gpu, &on_gpu);
    }
    if (status == TW_OK) {
        status = count_on(ctx, "cpu", graph, 1, cpu, &on_cpu);
    }
    for (int64_t v = 0; v < n && status == TW_OK; v++) {
        wrong += gpu[v] != cpu[v];
    }
    for (int k = 0; k < SAMPLES && status == TW_OK; k++) {
        const int32_t v = (int32_t)((uint64_t)k * 2654435761u % (uint64_t)n);
        wrong += searched(graph, n, v, seen, queue) != gpu[v];
    }
    if (status != TW_OK) {
        fprintf(stderr, "n=%lld: %s\n", (long long)n, tw_last_error(ctx));
        wrong = -1;
    }
    printf("%s\n  {\"vertices\": %lld, \"arcs\": %lld, \"pairs\": %lld, \"device_ms\": %.3f, "
           "\"run_ms\": %.3f, \"cpu_ms\": %.1f, \"threads\": %d, \"counts_wrong\": %lld}",
           first ? "" : ",", (long long)n, (long long)(n * degree), (long long)on_gpu.pairs,
           on_gpu.seconds_device * 1e3, on_gpu.seconds_compute * 1e3, on_cpu.seconds_compute * 1e3,
           (int)tw_threads(ctx), (long long)wrong);
    fflush(stdout);
    free(queue);
    free(seen);
    free(cpu);
    free(gpu);
    tw_graph_destroy(graph);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    static const int64_t cases[][2] = {{1000, 3},  {32768, 3},  {32768, 16}, {65536, 3},
                                       {65536, 8}, {65536, 16}, {65536, 64}, {65536, 256}};
    const int64_t most = argc > 1 ? atoll(argv[1]) : 65536;
    tw_context *ctx = NULL;
    int bad = 0, first = 1;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    printf("[");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i][0] <= most) {
            bad |= run_case(ctx, cases[i][0], cases[i][1], first);
            first = 0;
        }
    }
    printf("\n]\n");
    tw_context_destroy(ctx);
    return bad;
}

/*
 * Any bytes given to a graph reader end in a sound graph or in a sentence, never in a crash, a
 * leak or memory beyond the limit. TW_FUZZ_FORMAT names the reader, "" lets the content decide, and
 * without it all of them are tried.
 */
#include "graph/graph.h"
#include "io/graph/format.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((uint64_t)32 << 20)

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

static void check_graph(const tw_graph *graph)
{
    insist(graph->offsets[0] == 0 && graph->offsets[graph->n] == graph->arcs);
    for (int64_t u = 0; u < graph->n; u++) {
        insist(graph->offsets[u] <= graph->offsets[u + 1]);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double weight = twi_graph_weight(graph, a);
            insist(graph->targets[a] >= 0 && graph->targets[a] < graph->n);
            insist(isfinite(weight));
            insist(weight >= graph->min_weight && weight <= graph->max_weight);
            insist(weight < 0 || graph->targets[a] != u);
        }
        const char *label = tw_graph_label(graph, u);
        insist(label == NULL || tw_graph_find(graph, label) == u);
    }
}

static void read_once(const uint8_t *data, size_t size, const tw_graph_read_options *opts)
{
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    tw_status status = twi_graph_read_memory(ctx, &graph, data, size, "input", opts);
    if (status == TW_OK) {
        check_graph(graph);
    } else {
        insist(graph == NULL && tw_last_error(ctx)[0] != '\0' && status != TW_ERR_INTERNAL);
        insist(tw_memory_used(ctx) == 0);
    }
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
}

#ifdef TW_FUZZ_FORMAT
static const char *const formats[] = {TW_FUZZ_FORMAT};
#else
static const char *const formats[] = {"", "triples", "gr", "mtx", "edges", "metis", "npy", "npz"};
#endif

static void read_twice(const uint8_t *data, size_t size, const char *format)
{
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.format = format[0] != '\0' ? format : NULL;
    read_once(data, size, &opts);
    /* Once more, with options that depend on the bytes alone. */
    static const char *const weights[] = {NULL, NULL, "3", "4", "cost"};
    static const double mark = 0;
    uint64_t random = size;
    for (size_t i = 0; i < size; i++) {
        random = twi_random_at(random, data[i]);
    }
    opts.directed = (int32_t)(random % 3) - 1;
    opts.unweighted = random >> 8 & 1;
    opts.ids = random >> 9 & 1;
    opts.weight = weights[(random >> 16) % 5];
    opts.no_edge = (random >> 24 & 1) != 0 ? &mark : NULL;
    read_once(data, size, &opts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        read_twice(data, size, formats[i]);
    }
    return 0;
}

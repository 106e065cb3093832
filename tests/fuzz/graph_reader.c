/*
 * Any bytes given to a graph reader end in a sound graph or in a sentence, never in a crash, a
 * leak or memory beyond the limit, and in the same one whether they are in memory, in a file, or
 * come a few at a time. TW_FUZZ_FORMAT names the reader, "" lets the content decide, and
 * without it all of them are tried.
 */
#include "graph/graph.h"
#include "io/graph/format.h"
#include "io/packed/packed.h"

#include "base/random.h"
#include "split_input.h"

#include <math.h>
#include <stdio.h>
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

typedef enum way { IN_MEMORY, IN_A_FILE, IN_A_FLOW, WAYS } way;

typedef struct outcome {
    tw_status status;
    uint64_t graph; /* a number made of all of it */
    char sentence[512];
} outcome;

static uint64_t mix_graph(const tw_graph *graph)
{
    uint64_t mixed = twi_random_at((uint64_t)graph->n, (uint64_t)graph->arcs);
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const double weight = twi_graph_weight(graph, a);
            uint64_t bits;
            memcpy(&bits, &weight, sizeof bits);
            mixed = twi_random_at(mixed ^ bits, (uint64_t)u << 32 | (uint64_t)graph->targets[a]);
        }
        const char *label = tw_graph_label(graph, u);
        for (; label != NULL && *label != '\0'; label++) {
            mixed = twi_random_at(mixed, (unsigned char)*label);
        }
    }
    return mixed;
}

static outcome read_once(const uint8_t *data, size_t size, const tw_graph_read_options *opts,
                         way by, uint64_t piece)
{
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    outcome out = {0};
    split_flow flow;
    twi_input input = {.name = "input", .bytes = (const char *)data, .size = size};
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    if (by == IN_A_FILE) {
        input = input_of_file(data, size, piece, "input");
    } else if (by == IN_A_FLOW) {
        input = input_of_flow(&flow, data, size, piece, "input");
    }
    out.status = twi_graph_read_input(ctx, &graph, &input, opts);
    twi_input_close(&input);
    if (out.status == TW_OK) {
        check_graph(graph);
        out.graph = mix_graph(graph);
    } else {
        insist(graph == NULL && tw_last_error(ctx)[0] != '\0' && out.status != TW_ERR_INTERNAL);
        insist(tw_memory_used(ctx) == 0);
        (void)snprintf(out.sentence, sizeof out.sentence, "%s", tw_last_error(ctx));
        char *near = strstr(out.sentence, " near byte ");
        if (near != NULL) { /* how near depends on the pieces that are unpacked */
            *near = '\0';
        }
    }
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return out;
}

/* Triples are known by their size, and a flow has none before its end. */
static bool size_decides(const uint8_t *data, size_t size, const tw_graph_read_options *opts)
{
    const twi_input input = {.name = "", .bytes = (const char *)data, .size = size};
    return opts->format == NULL && twi_triples_recognised(&input);
}

/* A list whose late lines have names is read again, which a flow and what is unpacked cannot be, if
 * there is more of it than the head. */
static bool may_begin_again(const uint8_t *data, size_t size, way by, const outcome *a,
                            const outcome *b)
{
    static const char words[] = "vertex names need --ids";
    const twi_input input = {.name = "", .bytes = (const char *)data, .size = size};
    return (by == IN_A_FLOW || twi_packed_recognised(&input)) &&
           (strstr(a->sentence, words) != NULL || strstr(b->sentence, words) != NULL);
}

/* Matrices and triples may be looked at before all of them is unpacked, or after it: where both
 * they and their packing are at fault, either is told. Of text it is the first. */
static bool may_be_either(const uint8_t *data, size_t size, const tw_graph_read_options *opts,
                          const outcome *a, const outcome *b)
{
    static const char *const binary[] = {"npy", "npz", "triples"};
    const twi_input input = {.name = "", .bytes = (const char *)data, .size = size};
    bool text = opts->format != NULL;
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        text = text && strcmp(opts->format, binary[i]) != 0;
    }
    return !text && twi_packed_recognised(&input) && a->status != TW_OK && b->status != TW_OK;
}

static void read_all_ways(const uint8_t *data, size_t size, const tw_graph_read_options *opts,
                          uint64_t piece)
{
    const outcome whole = read_once(data, size, opts, IN_MEMORY, 0);
    for (way by = IN_A_FILE; by < WAYS; by++) {
        const outcome split = read_once(data, size, opts, by, piece);
        if (whole.status != TW_ERR_MEMORY && split.status != TW_ERR_MEMORY &&
            !(by == IN_A_FLOW && size_decides(data, size, opts)) &&
            !may_begin_again(data, size, by, &whole, &split) &&
            !may_be_either(data, size, opts, &whole, &split)) {
            const bool same = split.status == whole.status && split.graph == whole.graph &&
                              strcmp(split.sentence, whole.sentence) == 0;
            if (!same) {
                (void)fprintf(stderr, "%s in pieces of %llu: '%s', in memory '%s'\n",
                              by == IN_A_FLOW ? "a flow" : "a file", (unsigned long long)piece,
                              split.sentence, whole.sentence);
            }
            insist(same);
        }
    }
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
    /* Once more, with options that depend on the bytes alone. */
    static const char *const weights[] = {NULL, NULL, "3", "4", "cost"};
    static const double mark = 0;
    uint64_t random = size;
    for (size_t i = 0; i < size; i++) {
        random = twi_random_at(random, data[i]);
    }
    read_all_ways(data, size, &opts, 1 + (random >> 32) % 100);
    opts.directed = (int32_t)(random % 3) - 1;
    opts.unweighted = random >> 8 & 1;
    opts.ids = random >> 9 & 1;
    opts.weight = weights[(random >> 16) % 5];
    opts.no_edge = (random >> 24 & 1) != 0 ? &mark : NULL;
    read_all_ways(data, size, &opts, 1 + (random >> 40) % 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        read_twice(data, size, formats[i]);
    }
    return 0;
}

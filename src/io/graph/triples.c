/*
 * Edge triples: int32 V, E, then E times int32 source, target, weight, all little-endian, vertices
 * from 0. The builder reads the triples where they lie in the mapped file: nothing is parsed and
 * nothing copied before the scatter.
 */
#include "base/memory.h"
#include "graph/build.h"
#include "io/graph/format.h"

#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files are little-endian and read where they lie");

enum { HEADER = 8, TRIPLE = 12 };

static int32_t load_i32(const char *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

bool twi_triples_recognised(const twi_input *input)
{
    if (input->size < HEADER || input->flow != NULL) { /* whose size nobody knows */
        return false;
    }
    int64_t vertices = load_i32(input->bytes);
    int64_t edges = load_i32(input->bytes + 4);
    return vertices >= 0 && edges >= 0 && input->size == HEADER + (uint64_t)edges * TRIPLE &&
           (vertices > 0 || edges == 0);
}

static void name_triple(char *text, size_t size, const void *self, int64_t index)
{
    const twi_input *input = self;
    snprintf(text, size, "%.400s: edge %lld, at byte %lld", input->name, (long long)index,
             HEADER + (long long)index * TRIPLE);
}

static tw_status check_header(tw_context *ctx, const twi_input *input)
{
    if (input->size < HEADER) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: a triples file begins with 8 bytes for V and E, but this one ends "
                       "at byte %llu",
                       input->name, (unsigned long long)input->size);
    }
    long long vertices = load_i32(input->bytes);
    long long edges = load_i32(input->bytes + 4);
    if (vertices < 0 || edges < 0) {
        return tw_fail(ctx, TW_ERR_FORMAT, "%.500s: byte %d: %lld %s: counts cannot be negative",
                       input->name, vertices < 0 ? 0 : 4, vertices < 0 ? vertices : edges,
                       vertices < 0 ? "vertices" : "edges");
    }
    uint64_t expected = HEADER + (uint64_t)edges * TRIPLE;
    if (input->size != expected) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: with V = %lld and E = %lld the file must end at byte %llu, but it "
                       "%s byte %llu",
                       input->name, vertices, edges, (unsigned long long)expected,
                       input->size < expected ? "is cut short at" : "goes on to",
                       (unsigned long long)input->size);
    }
    return TW_OK;
}

/* A header that cannot be is left to the reader. */
tw_status twi_triples_check(tw_context *ctx, const twi_input *input,
                            const tw_graph_read_options *opts)
{
    if (twi_input_held(input) < HEADER || load_i32(input->bytes) < 0 ||
        load_i32(input->bytes + 4) < 0) {
        return TW_OK;
    }
    const int64_t edges = load_i32(input->bytes + 4);
    const twi_edge_source source = {.vertices = load_i32(input->bytes),
                                    .weight_type = TW_I32,
                                    .both = twi_read_both(opts, false),
                                    .held = HEADER + (uint64_t)edges * TRIPLE};
    const uint64_t load = twi_input_is_held(input) ? 0 : input->size;
    if (input->size != source.held ||
        load + twi_graph_building(ctx, &source, edges) <= twi_memory_room(ctx)) {
        return TW_OK;
    }
    return twi_graph_refuse(ctx, input->name, source.vertices, edges,
                            load + twi_graph_needs(ctx, &source, edges), TWI_GUESS_NONE);
}

tw_status twi_triples_read(tw_context *ctx, tw_graph **out, twi_input *input,
                           const tw_graph_read_options *opts)
{
    tw_status status = check_header(ctx, input);
    if (status != TW_OK) {
        return status;
    }
    twi_edge_part part = {
        .count = load_i32(input->bytes + 4),
        .source = input->bytes + HEADER,
        .target = input->bytes + HEADER + 4,
        .weight = opts->unweighted ? NULL : input->bytes + HEADER + 8,
        .source_step = TRIPLE,
        .target_step = TRIPLE,
        .weight_step = TRIPLE,
    };
    twi_edge_source source = {
        .vertices = load_i32(input->bytes),
        .parts = &part,
        .part_count = 1,
        .weight_type = TW_I32,
        .both = twi_read_both(opts, false),
        .undirected = twi_read_undirected(opts, false),
        .held = input->size,
        .name = input->name,
        .place = name_triple,
        .place_self = input,
    };
    return twi_graph_build(ctx, out, &source);
}

tw_status twi_triples_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)extension;
    if (graph->arcs > INT32_MAX || !graph->integral) {
        return tw_fail(printer->ctx, TW_ERR_RANGE,
                       "triples hold %s in 32 bits, and this graph has %s; choose another format",
                       graph->integral ? "the number of arcs" : "whole weights",
                       graph->integral ? "more arcs" : "others");
    }
    int32_t header[2] = {(int32_t)graph->n, (int32_t)graph->arcs};
    twi_print_bytes(printer, header, sizeof header);
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t triple[3] = {(int32_t)u, graph->targets[a],
                                 (int32_t)twi_graph_weight(graph, a)};
            twi_print_bytes(printer, triple, sizeof triple);
        }
        printer->done = (double)graph->offsets[u + 1];
    }
    return printer->status;
}

/*
 * gpu_hops [MOST]: hop distances of all pairs into a matrix of bytes (two bytes for the grid) in
 * the memory of GPU 0, for graphs of up to MOST vertices (65536). Rows are compared with plain
 * searches on the host, 64 of each, before a time is told: the shortest of five, by the device's
 * clock, the graph being there. JSON on standard output; exit 1 if a row is wrong.
 */
#include "apsp/gpu/hops.h"
#include "graph/graph.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, TIMES = 5 };

typedef struct graph_case {
    const char *kind;
    int64_t n;
    double degree;
    tw_type type;
} graph_case;

static void search(const tw_graph *graph, int32_t source, int32_t *row, int32_t *queue)
{
    int64_t head = 0, tail = 0;
    memset(row, 0xff, (size_t)graph->n * sizeof *row);
    row[source] = 0;
    queue[tail++] = source;
    while (head < tail) {
        const int32_t u = queue[head++];
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (row[graph->targets[a]] < 0) {
                row[graph->targets[a]] = row[u] + 1;
                queue[tail++] = graph->targets[a];
            }
        }
    }
}

/* Rows that differ from plain searches. */
static int wrong_rows(const tw_graph *graph, const tw_matrix *matrix)
{
    const size_t size = tw_type_size(matrix->type), bytes = (size_t)graph->n * size;
    int32_t *want = malloc((size_t)graph->n * sizeof *want);
    int32_t *queue = malloc((size_t)graph->n * sizeof *queue);
    char *got = malloc(bytes);
    int wrong = 0;
    for (int k = 0; k < ROWS; k++) {
        const int64_t row = (int64_t)((uint64_t)k * 2654435761u % (uint64_t)graph->n);
        const char *from = (const char *)matrix->data + (size_t)(row * matrix->stride) * size;
        bool same = cudaMemcpy(got, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
        search(graph, (int32_t)row, want, queue);
        for (int64_t v = 0; v < graph->n && same; v++) {
            const int32_t is = size == 1 ? ((uint8_t *)got)[v] : ((uint16_t *)got)[v];
            same =
                want[v] < 0 ? is == (size == 1 ? TW_APSP_INF_U8 : TW_APSP_INF_U16) : is == want[v];
        }
        wrong += !same;
    }
    free(got);
    free(queue);
    free(want);
    return wrong;
}

static int run_case(tw_context *ctx, const graph_case *c, bool first)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    char *data = NULL;
    double best = 1e30;
    int wrong = -1;
    opts.kind = c->kind;
    opts.vertices = c->n;
    opts.degree = c->degree;
    opts.density = strcmp(c->kind, "dense") == 0 ? c->degree / (double)c->n : 1;
    opts.min_weight = opts.max_weight = 1;
    tw_status status = tw_graph_generate(ctx, &graph, &opts);
    const int64_t n = c->n, size = (int64_t)tw_type_size(c->type);
    if (status == TW_OK && cudaMalloc((void **)&data, (size_t)(n * n * size)) != cudaSuccess) {
        status = tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for the matrix");
    }
    tw_matrix matrix = {data, n, n, n, c->type};
    if (status == TW_OK && cudaMemset(data, 0xa5, (size_t)(n * n * size)) != cudaSuccess) {
        status = tw_fail(ctx, TW_ERR_DEVICE, "no matrix");
    }
    for (int i = 0; i < TIMES && status == TW_OK; i++) {
        double seconds = 0;
        status = twi_gpu_hops_matrix(ctx, 0, graph, &matrix, &seconds);
        best = seconds < best ? seconds : best;
    }
    if (status == TW_OK) {
        wrong = wrong_rows(graph, &matrix);
    } else {
        fprintf(stderr, "%s, n=%lld: %s\n", c->kind, (long long)n, tw_last_error(ctx));
    }
    printf("%s\n  {\"graph\": \"%s\", \"vertices\": %lld, \"arcs\": %lld, \"type\": \"%s\", "
           "\"ms\": %.3f, "
           "\"pairs_per_second\": %.4g, \"rows_checked\": %d, \"rows_wrong\": %d}",
           first ? "" : ",", c->kind, (long long)n, (long long)(graph != NULL ? graph->arcs : 0),
           tw_type_name(c->type), best * 1e3, (double)n * (double)n / best, ROWS, wrong);
    fflush(stdout);
    (void)cudaFree(data);
    tw_graph_destroy(graph);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    static const graph_case cases[] = {
        {"sparse", 1000, 4, TW_U8},    {"sparse", 4099, 16, TW_U8},
        {"sparse", 32768, 8, TW_U8},   {"sparse", 32768, 16, TW_U8},
        {"sparse", 32768, 64, TW_U8},  {"sparse", 32768, 220, TW_U8},
        {"sparse", 65536, 16, TW_U8},  {"preferential", 65536, 8, TW_U8},
        {"rmat", 65536, 16, TW_U8},    {"grid", 16384, 4, TW_U16},
        {"grid", 65536, 4, TW_U16},    {"dense", 8192, 819, TW_U8},
        {"dense", 8192, 4096, TW_U8},  {"dense", 16384, 1638, TW_U8},
        {"dense", 32768, 655, TW_U8},  {"dense", 32768, 1638, TW_U8},
        {"dense", 32768, 3277, TW_U8}, {"dense", 32768, 9830, TW_U8},
    };
    const int64_t most = argc > 1 ? atoll(argv[1]) : 65536;
    tw_context *ctx = NULL;
    int bad = 0;
    bool first = true;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    printf("[");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].n <= most) {
            bad |= run_case(ctx, &cases[i], first);
            first = false;
        }
    }
    printf("\n]\n");
    tw_context_destroy(ctx);
    return bad;
}

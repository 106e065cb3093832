/*
 * A peer to be measured against: one breadth-first search per source with a queue over compressed
 * rows, sources shared among threads by OpenMP.
 *
 * plain_bfs IN OUT reads edge triples, whose weights must all be equal, and writes the raw distance
 * matrix. The times of the three parts go to standard error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { INFINITE = 1073741823 };

struct graph {
    int32_t n;
    int32_t arcs;
    int32_t weight;
    int32_t *offsets; /* n + 1 */
    int32_t *targets;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_graph(const char *path, struct graph *graph)
{
    int32_t head[2] = {0, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(head, sizeof head, 1, file) != 1 || head[0] < 0 || head[1] < 0) {
        return 1;
    }
    size_t n = (size_t)head[0];
    size_t arcs = (size_t)head[1];
    int32_t(*edge)[3] = malloc(arcs * sizeof *edge + 1);
    graph->n = head[0];
    graph->arcs = head[1];
    graph->weight = 1;
    graph->offsets = calloc(n + 2, sizeof *graph->offsets);
    graph->targets = malloc(arcs * sizeof *graph->targets + 1);
    if (edge == NULL || graph->offsets == NULL || graph->targets == NULL ||
        fread(edge, sizeof *edge, arcs, file) != arcs) {
        return 1;
    }
    fclose(file);
    for (size_t e = 0; e < arcs; e++) {
        graph->weight = edge[e][2];
        if (edge[e][2] != edge[0][2]) {
            return 1;
        }
        graph->offsets[edge[e][0] + 2]++;
    }
    for (size_t v = 0; v < n; v++) {
        graph->offsets[v + 2] += graph->offsets[v + 1];
    }
    for (size_t e = 0; e < arcs; e++) { /* offsets end one place early, where they belong */
        graph->targets[graph->offsets[edge[e][0] + 1]++] = edge[e][1];
    }
    free(edge);
    return 0;
}

static void search(const struct graph *graph, int32_t source, int32_t *row, int32_t *queue)
{
    int32_t head = 0;
    int32_t tail = 1;
    for (int32_t v = 0; v < graph->n; v++) {
        row[v] = INFINITE;
    }
    row[source] = 0;
    queue[0] = source;
    while (head < tail) {
        int32_t u = queue[head++];
        int32_t level = row[u] + graph->weight;
        for (int32_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            if (row[v] == INFINITE) {
                row[v] = level;
                queue[tail++] = v;
            }
        }
    }
}

static int search_all(const struct graph *graph, int32_t *matrix)
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        int32_t *queue = malloc(((size_t)graph->n + 1) * sizeof *queue);
        failed = queue == NULL;
#pragma omp for schedule(dynamic, 16)
        for (int32_t s = 0; s < graph->n; s++) {
            if (queue != NULL) {
                search(graph, s, matrix + (size_t)s * (size_t)graph->n, queue);
            }
        }
        free(queue);
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: plain_bfs TRIPLES RAW\n");
        return 2;
    }
    struct graph graph;
    double begun = now();
    if (read_graph(argv[1], &graph) != 0) {
        fprintf(stderr, "plain_bfs: cannot read %s as triples of equal weights\n", argv[1]);
        return 2;
    }
    size_t entries = (size_t)graph.n * (size_t)graph.n;
    int32_t *matrix = malloc(entries * sizeof *matrix + 1);
    if (matrix == NULL) {
        fprintf(stderr, "plain_bfs: not enough memory for the matrix\n");
        return 2;
    }
    double read = now();
    int failed = search_all(&graph, matrix);
    double computed = now();
    FILE *file = fopen(argv[2], "wb");
    failed |= file == NULL || fwrite(matrix, sizeof *matrix, entries, file) != entries;
    failed |= file == NULL || fclose(file) != 0;
    fprintf(stderr, "{\"read\": %.4f, \"compute\": %.4f, \"write\": %.4f}\n", read - begun,
            computed - read, now() - computed);
    free(matrix);
    free(graph.targets);
    free(graph.offsets);
    return failed;
}

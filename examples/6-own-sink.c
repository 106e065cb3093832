/*
 * A sink of one's own: for each vertex the nearest other one, picked from the rows of distances as
 * they pass, so that the matrix of all pairs is never in memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tilewright.h>

typedef struct nearest {
    int64_t rows, cols;
    int32_t *vertex; /* the nearest of each row; -1: none can be reached */
} nearest;

/* Once, before the rows: what is coming. A sink that refuses says why and keeps nothing. */
static tw_status begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    nearest *n = self;
    if (shape->type != TW_I32) {
        tw_set_error(ctx, "the nearest vertices are picked from distances of i32");
        return TW_ERR_ARGUMENT;
    }
    n->rows = shape->rows;
    n->cols = shape->cols;
    n->vertex = malloc((size_t)shape->rows * sizeof *n->vertex);
    return n->vertex != NULL ? TW_OK
                             : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for the nearest");
}

/* Blocks of rows, in order; the rows of a block lie `stride` elements apart. */
static tw_status rows(void *self, tw_context *ctx, int64_t first, int64_t count, const void *data,
                      int64_t stride)
{
    nearest *n = self;
    (void)ctx;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *row = (const int32_t *)data + i * stride;
        int32_t least = TW_APSP_INF_I32;
        n->vertex[first + i] = -1;
        for (int64_t j = 0; j < n->cols; j++) {
            if (j != first + i && row[j] < least) {
                least = row[j];
                n->vertex[first + i] = (int32_t)j;
            }
        }
    }
    return TW_OK;
}

/* All rows have come: the result stands. */
static tw_status end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

/* Something failed, here or elsewhere: nothing may remain. */
static void abandon(void *self, tw_context *ctx)
{
    nearest *n = self;
    (void)ctx;
    free(n->vertex);
    n->vertex = NULL;
}

int main(void)
{
    tw_graph_generate_options roads = TW_GRAPH_GENERATE_OPTIONS_INIT;
    nearest found = {0, 0, NULL};
    tw_sink sink = {sizeof sink, &found, begin, rows, end, abandon, NULL};
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    roads.kind = "grid";
    roads.vertices = 400;
    roads.density = 1;

    int ok = tw_context_create(&ctx) == TW_OK && tw_graph_generate(ctx, &graph, &roads) == TW_OK &&
             tw_apsp_plan_create(ctx, &plan, graph, NULL) == TW_OK &&
             tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL) == TW_OK;
    if (ok) {
        int64_t mutual = 0;
        for (int64_t v = 0; v < found.rows; v++) {
            int32_t other = found.vertex[v];
            mutual += other >= 0 && found.vertex[other] == v;
        }
        printf("%lld of %lld crossings are each other's nearest\n", (long long)mutual,
               (long long)found.rows);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "out of memory");
    }
    free(found.vertex);
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

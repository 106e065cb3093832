/*
 * A graph from compressed rows, as SciPy's csr_matrix has them (indptr, indices, data), used where
 * they lie: the arcs of row u are offsets[u] ... offsets[u + 1] - 1. And another from the same rows
 * with NumPy's own integers as weights, which are checked and kept in 32 bits, or f64 where they
 * are larger.
 */
#include <stdio.h>
#include <tilewright.h>

int main(void)
{
    static const int64_t offsets[] = {0, 2, 3, 4, 4};
    static const int32_t targets[] = {1, 3, 2, 3};
    static const double hours[] = {0.5, 4, 1.25, 1};
    static const int64_t metres[] = {30000, 5000000000, 75000, 60000};
    double time[4][4];
    double length[4][4];
    tw_csr rows = TW_CSR_INIT;
    tw_matrix out = {time, 4, 4, 4, TW_F64};
    tw_context *ctx = NULL;
    tw_matrix lengths = {length, 4, 4, 4, TW_F64};
    tw_graph *graph = NULL;
    tw_graph *roads = NULL;
    rows.vertices = 4;
    rows.offsets = offsets;
    rows.offset_type = TW_I64;
    rows.targets = targets;
    rows.target_type = TW_I32;
    rows.values = hours;
    rows.value_type = TW_F64;
    rows.borrow = 1; /* targets and hours stay until the graph is destroyed */

    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_graph_from_csr(ctx, &graph, &rows, 0) == TW_OK &&
             tw_apsp(ctx, &out, graph, NULL) == TW_OK;
    rows.values = metres;
    rows.value_type = TW_I64;
    ok = ok && tw_graph_from_csr(ctx, &roads, &rows, 0) == TW_OK &&
         tw_apsp(ctx, &lengths, roads, NULL) == TW_OK;
    if (ok) {
        printf("from 0 to 3 in %g hours, or %.0f metres\n", time[0][3], length[0][3]);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "out of memory");
    }
    tw_graph_destroy(roads);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

/* See pull.h. */
#include "apsp/closure/pull.h"

#define DEGREE 8    /* arcs per vertex at most: with twice as many a tile is closed as fast, */
#define VERTICES 33 /*   and so are fewer vertices, whatever their arcs (Neoverse N1, 2026-11) */

bool twi_pull_pays(const tw_graph *graph, const twi_work *work)
{
    return work->kernel->pull != NULL && graph->n >= VERTICES && graph->n <= TWI_PULL_VERTICES &&
           graph->arcs <= DEGREE * graph->n;
}

/* Those neighbours of u that have changed since `last`. */
static int64_t changed_since(const tw_graph *graph, int64_t u, const int32_t *changed, int32_t last,
                             int32_t *list)
{
    int64_t count = 0;
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        const int32_t v = graph->targets[a];
        if (changed[v] > last && v != u) {
            list[count++] = v;
        }
    }
    return count;
}

void twi_pull(const tw_graph *graph, const twi_work *work)
{
    const twi_minplus_kernel *kernel = work->kernel;
    const int64_t n = graph->n;
    const int64_t cols = (n + kernel->nr - 1) / kernel->nr * kernel->nr;
    int32_t changed[TWI_PULL_VERTICES]; /* when each row last did, */
    int32_t pulled[TWI_PULL_VERTICES];  /*   and when it last looked */
    int32_t list[DEGREE * TWI_PULL_VERTICES];
    int32_t now = 1;
    for (int64_t u = 0; u < n; u++) {
        changed[u] = 1;
        pulled[u] = 0;
    }
    bool any = n > 1;
    for (bool up = true; any; up = !up) {
        any = false;
        for (int64_t i = 0; i < n; i++) {
            const int64_t u = up ? i : n - 1 - i;
            const int64_t count = changed_since(graph, u, changed, pulled[u], list);
            pulled[u] = now;
            if (count > 0 && kernel->pull(work->data, work->ld, cols, u, list, count)) {
                changed[u] = ++now;
                any = true;
            }
        }
    }
}

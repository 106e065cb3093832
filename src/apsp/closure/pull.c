/* See pull.h. */
#include "apsp/closure/pull.h"

#define DEGREE 8    /* arcs per vertex at most: with twice as many a tile is closed as fast, */
#define VERTICES 33 /*   and so are fewer vertices, whatever their arcs (Neoverse N1, 2026-11) */

bool twi_pull_pays(const tw_graph *graph, const twi_work *work)
{
    return work->kernel->pull != NULL && graph->n >= VERTICES && graph->n <= TWI_PULL_VERTICES &&
           graph->arcs <= DEGREE * graph->n;
}

static bool is_float(const twi_work *work)
{
    return work->kernel->type == TW_F32 || work->kernel->type == TW_F64;
}

bool twi_pull_may(const tw_apsp_plan *plan, const twi_work *work, bool symmetric)
{
    return !is_float(work) ||
           (plan->options.method == TW_APSP_METHOD_AUTO && !symmetric && plan->potential == NULL);
}

/* Where a row pulls from, and what it adds. */
typedef struct neighbours {
    int32_t list[DEGREE * TWI_PULL_VERTICES];
    union {
        float f32[DEGREE * TWI_PULL_VERTICES];
        double f64[DEGREE * TWI_PULL_VERTICES];
    } head;
} neighbours;

/* Those of u that have changed since `last`. */
#define FIND_CHANGED(PUT)                                                 \
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) { \
        const int32_t v = graph->targets[a];                              \
        if (changed[v] > last && v != u) {                                \
            PUT;                                                          \
            found->list[count++] = v;                                     \
        }                                                                 \
    }
static int64_t find_changed(neighbours *found, const tw_graph *graph, int64_t u,
                            const int32_t *changed, int32_t last, tw_type type)
{
    int64_t count = 0;
    if (type == TW_F32) {
        FIND_CHANGED(found->head.f32[count] = (float)twi_graph_weight(graph, a))
    } else if (type == TW_F64) {
        FIND_CHANGED(found->head.f64[count] = twi_graph_weight(graph, a))
    } else {
        FIND_CHANGED((void)0)
    }
    return count;
}
#undef FIND_CHANGED

void twi_pull(const tw_graph *graph, const twi_work *work)
{
    const twi_minplus_kernel *kernel = work->kernel;
    const int64_t n = graph->n;
    const int64_t cols = (n + kernel->nr - 1) / kernel->nr * kernel->nr;
    int32_t changed[TWI_PULL_VERTICES]; /* when each row last did, */
    int32_t pulled[TWI_PULL_VERTICES];  /*   and when it last looked */
    neighbours from;
    const void *heads = is_float(work) ? &from.head : NULL;
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
            const int64_t count = find_changed(&from, graph, u, changed, pulled[u], kernel->type);
            pulled[u] = now;
            if (count > 0 && kernel->pull(work->data, work->ld, cols, u, from.list, heads, count)) {
                changed[u] = ++now;
                any = true;
            }
        }
    }
}

/* From arcs to a working matrix: see scatter.h. Row u of the matrix takes the arcs of u, so rows go
 * to threads without any sharing. */
#include "apsp/closure/scatter.h"

#include "base/threads.h"

#include <math.h>

/* Times as far as expected, to be sure of 7 bits: with the plan's own doubt twice what one search
 * saw, and no two vertices of an undirected component are farther apart. */
#define DOUBT_OF_7_BITS 1.6

#define SQUARE 64 /* side of the blocks in which the matrix is compared with its transpose */

/* A weight as an entry. The sum makes -0 a 0, as that of twi_plan_arc_weight does. Floats have no
 * cap, and where all weights are below it vectors can copy them without the comparison. */
#define PLAIN(T, INFTY, weight) (all_below || (weight) < (INFTY) ? (T)((weight) + 0) : (T)(INFTY))

/* A row with an arc to every other vertex, in their order, which vectors copy. */
#define COPY_ROW(T, INFTY, W)                                                    \
    {                                                                            \
        const W *restrict plain = (const W *)graph->weights + graph->offsets[u]; \
        T *restrict row = (T *)work->data + u * work->ld;                        \
        for (int64_t j = 0; j < u; j++) {                                        \
            row[j] = PLAIN(T, INFTY, plain[j]);                                  \
        }                                                                        \
        row[u] = 0;                                                              \
        for (int64_t j = u + 1; j < work->n; j++) {                              \
            row[j] = PLAIN(T, INFTY, plain[j - 1]);                              \
        }                                                                        \
        for (int64_t j = work->n; j < work->ld; j++) {                           \
            row[j] = (T)(INFTY);                                                 \
        }                                                                        \
    }

/* Arc by arc. Where targets rise no arc has a parallel, and nothing is read back. */
#define SCATTER_ROW(T, INFTY, W)                                            \
    {                                                                       \
        const W *plain = graph->weights;                                    \
        T *row = (T *)work->data + u * work->ld;                            \
        int64_t arc = graph->offsets[u];                                    \
        for (int64_t j = 0; j < work->ld; j++) {                            \
            row[j] = (T)(INFTY);                                            \
        }                                                                   \
        for (; rises && arc < end; arc++) {                                 \
            row[targets[arc]] = PLAIN(T, INFTY, plain[arc]);                \
        }                                                                   \
        row[u] = row[u] < (T)0 ? row[u] : (T)0; /* a loop may be below 0 */ \
        for (; arc < end; arc++) {                                          \
            const int32_t v = targets[arc];                                 \
            const double weight = twi_plan_arc_weight(plan, u, v, arc);     \
            const T entry = PLAIN(T, (double)(INFTY), weight);              \
            row[v] = entry < row[v] ? entry : row[v];                       \
        }                                                                   \
    }

#define FILL_FROM(T, INFTY, W)   \
    if (is_complete) {           \
        COPY_ROW(T, INFTY, W)    \
    } else {                     \
        SCATTER_ROW(T, INFTY, W) \
    }

#define FILL_ROW(T, INFTY)                     \
    if (graph->weight_type == TW_I32) {        \
        FILL_FROM(T, INFTY, int32_t)           \
    } else if (graph->weight_type == TW_F32) { \
        FILL_FROM(T, (double)(INFTY), float)   \
    } else {                                   \
        FILL_FROM(T, (double)(INFTY), double)  \
    }

/* An arc to every other vertex, in their order? */
static bool has_all_arcs(const tw_graph *graph, int64_t u)
{
    const int32_t *targets = graph->targets + graph->offsets[u];
    const int32_t before = (int32_t)u, count = (int32_t)graph->n - 1;
    int32_t differ = 0;
    if (graph->offsets[u + 1] - graph->offsets[u] != count) {
        return false;
    }
    for (int32_t i = 0; i < before; i++) {
        differ |= targets[i] ^ i;
    }
    for (int32_t i = before; i < count; i++) {
        differ |= targets[i] ^ (i + 1);
    }
    return differ == 0;
}

/* Targets in their order, each once? */
static bool targets_rise(const tw_graph *graph, int64_t u)
{
    int32_t differ = 0; /* an "or" of all becomes vectors */
    for (int64_t arc = graph->offsets[u] + 1; arc < graph->offsets[u + 1]; arc++) {
        differ |= graph->targets[arc - 1] >= graph->targets[arc];
    }
    return differ == 0;
}

/* NEON adds bytes as fast with saturation as without: 7 bits could only fail there. */
bool twi_may_be_plain(twi_isa isa, tw_type type)
{
    return type == TW_U16 || (type == TW_U8 && (isa == TWI_ISA_AVX2 || isa == TWI_ISA_AVX512));
}

const twi_minplus_kernel *twi_closure_kernel(const tw_apsp_plan *plan, tw_type type)
{
    const twi_minplus_kernel *plain = twi_minplus_kernel_plain(plan->isa, type);
    const double reach = plan->reach * (type == TW_U8 ? DOUBT_OF_7_BITS : 1);
    return twi_may_be_plain(plan->isa, type) && reach < plain->infinity
               ? plain
               : twi_minplus_kernel_find(plan->isa, type);
}

static void scatter_row(const tw_apsp_plan *plan, const twi_work *work, int64_t u)
{
    const tw_graph *graph = plan->graph;
    const double infinity = work->kernel->infinity;
    const uint8_t cap_u8 = work->kernel->type == TW_U8 ? (uint8_t)infinity : 0;
    const uint16_t cap_u16 = work->kernel->type == TW_U16 ? (uint16_t)infinity : 0;
    const bool is_plain = plan->potential == NULL;
    const bool is_complete = is_plain && has_all_arcs(graph, u);
    const bool rises = is_plain && !is_complete && targets_rise(graph, u);
    const bool is_float = work->kernel->type == TW_F32 || work->kernel->type == TW_F64;
    const bool all_below = is_float || (is_plain && graph->max_weight < infinity);
    const int32_t *targets = graph->targets;
    const int64_t end = graph->offsets[u + 1];
    switch (work->kernel->type) {
    case TW_U8:
        FILL_ROW(uint8_t, cap_u8)
        break;
    case TW_U16:
        FILL_ROW(uint16_t, cap_u16)
        break;
    case TW_I32:
        FILL_ROW(int32_t, TW_APSP_INF_I32)
        break;
    case TW_F32:
        FILL_ROW(float, INFINITY)
        break;
    default:
        FILL_ROW(double, (double)INFINITY)
        break;
    }
}

void twi_scatter(tw_context *ctx, const tw_apsp_plan *plan, const twi_work *work)
{
    const int threads = twi_threads_for(ctx, work->n * work->n);
    if (threads == 1) { /* a region of one thread costs as much as a small matrix */
        for (int64_t u = 0; u < work->n && !twi_is_cancelled(ctx); u++) {
            scatter_row(plan, work, u);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int64_t u = 0; u < work->n; u++) {
        if (!twi_is_cancelled(ctx)) {
            scatter_row(plan, work, u);
        }
    }
}

#define NAME_IN_ROW(T, INFTY)                                  \
    {                                                          \
        T *row = (T *)work->data + i * work->ld;               \
        T most = 0; /* a maximum becomes vectors */            \
        for (int64_t j = 0; j < work->n; j++) {                \
            most = row[j] > most ? row[j] : most;              \
        }                                                      \
        for (int64_t j = 0; most >= cap && j < work->n; j++) { \
            row[j] = row[j] < cap ? row[j] : (INFTY);          \
        }                                                      \
    }

static void name_in_row(const twi_work *work, int64_t i)
{
    const uint16_t cap = (uint16_t)work->kernel->infinity;
    if (work->kernel->type == TW_U8) {
        NAME_IN_ROW(uint8_t, TW_APSP_INF_U8)
    } else {
        NAME_IN_ROW(uint16_t, TW_APSP_INF_U16)
    }
}

void twi_name_infinity(tw_context *ctx, const twi_work *work)
{
    const int threads = twi_threads_for(ctx, work->n * work->n);
    if (!twi_kernel_is_plain(work->kernel)) {
        return;
    }
    if (threads == 1) {
        for (int64_t i = 0; i < work->n && !twi_is_cancelled(ctx); i++) {
            name_in_row(work, i);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < work->n; i++) {
        if (!twi_is_cancelled(ctx)) {
            name_in_row(work, i);
        }
    }
}

#define COMPARE_SQUARE(T)                                 \
    {                                                     \
        const T *m = work->data;                          \
        for (int64_t i = i0; i < i1; i++) {               \
            const int64_t last = i < j1 ? i : j1;         \
            for (int64_t j = j0; j < last; j++) {         \
                differ |= m[i * ld + j] != m[j * ld + i]; \
            }                                             \
            if (differ) {                                 \
                return true;                              \
            }                                             \
        }                                                 \
    }

/* Bit patterns decide: no entry is NaN or -0. */
static bool square_differs(const twi_work *work, int64_t i0, int64_t j0)
{
    int64_t ld = work->ld;
    int64_t i1 = i0 + SQUARE < work->n ? i0 + SQUARE : work->n;
    int64_t j1 = j0 + SQUARE < work->n ? j0 + SQUARE : work->n;
    bool differ = false;
    switch (tw_type_size(work->kernel->type)) {
    case 1:
        COMPARE_SQUARE(uint8_t)
        break;
    case 2:
        COMPARE_SQUARE(uint16_t)
        break;
    case 4:
        COMPARE_SQUARE(uint32_t)
        break;
    default:
        COMPARE_SQUARE(uint64_t)
        break;
    }
    return differ;
}

bool twi_is_symmetric(tw_context *ctx, const twi_work *work)
{
    atomic_bool differ = false;
    if (work->n <= SQUARE) {
        return work->n == 0 || !square_differs(work, 0, 0);
    }
#pragma omp parallel for num_threads(twi_threads_for(ctx, work->n * work->n)) schedule(dynamic)
    for (int64_t i = 0; i < work->n; i += SQUARE) {
        if (twi_is_cancelled(ctx)) {
            atomic_store_explicit(&differ, true, memory_order_relaxed);
        }
        for (int64_t j = 0; j <= i && !atomic_load_explicit(&differ, memory_order_relaxed);
             j += SQUARE) {
            if (square_differs(work, i, j)) {
                atomic_store_explicit(&differ, true, memory_order_relaxed);
            }
        }
    }
    return !atomic_load(&differ);
}

/*
 * The factor: see factor.h. The front of a block is a small matrix over S and A(S). It takes the
 * arcs between vertices of S and between S and A(S), and what the children have left over A of
 * theirs, which is all within S and A(S). Closing it with the pivots of S makes everything that
 * starts or ends in S final; the rest, A(S) by A(S), goes to the parent.
 *
 * Blocks of one height have no child among themselves, so a height's fronts are closed by all
 * threads at once, one each; a front that is large is closed by all of them together. Which thread
 * it was and when makes no difference to the values.
 *
 * A front is closed as the dense closure closes a matrix, by pivot blocks: the tile, its rows, then
 * the product of what lies beside with those rows; a small one by the triple loop.
 */
#include "apsp/sweep/factor.h"

#include "apsp/closure/product.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define PLAIN_MOST 48  /* rows of a front that the triple loop closes */
#define PIVOTS 64      /* of a larger one at once */
#define TEAM_LEAST 512 /* rows of a front that all threads close together */

typedef struct front_arc {
    int32_t from;
    int32_t to;
    double weight;
} front_arc;

/* What one thread closes fronts with. */
typedef struct space {
    char *front;
    int32_t *local; /* of each vertex: its row in the current front */
    twi_panel a;
    twi_panel b;
} space;

typedef struct maker {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    const twi_tree *tree;
    twi_factor *factor;              /* NULL: the keeper has it */
    const twi_factor_keeper *keeper; /* or NULL */
    const twi_minplus_kernel *kernel;
    int64_t size; /* of an element */
    int threads;
    front_arc *arcs; /* by block */
    int64_t *arc_first;
    char **rest;    /* of each block: what it leaves to its parent, |A| x |A| */
    int32_t *child; /* lists of children */
    int32_t *next;
    int32_t *by_height;
    int32_t *height_first;
    space *spaces;
    atomic_bool failed; /* a thread had no memory */
} maker;

/* ------------------------------------------------------------------------------- sizes and places
 */

static int64_t packed(const twi_minplus_kernel *kernel, int64_t rows, int64_t depth)
{
    return (int64_t)(twi_packed_a_bytes(kernel, rows, depth) / tw_type_size(kernel->type));
}

static int64_t block_elements(const twi_minplus_kernel *kernel, int64_t size, int64_t high)
{
    return packed(kernel, size, high) + packed(kernel, high, size) + packed(kernel, size, size);
}

static twi_operand operand(const twi_factor *factor, int64_t at, int64_t depth)
{
    return (twi_operand){factor->data + at * (int64_t)tw_type_size(factor->kernel->type),
                         packed(factor->kernel, factor->kernel->mr, depth)};
}

twi_operand twi_factor_down(const twi_factor *factor, const twi_tree *tree, int32_t b)
{
    return operand(factor, factor->offset[b], twi_tree_high(tree, b));
}

twi_operand twi_factor_up(const twi_factor *factor, const twi_tree *tree, int32_t b)
{
    int64_t size = twi_tree_size(tree, b);
    int64_t at = factor->offset[b] + packed(factor->kernel, size, twi_tree_high(tree, b));
    return operand(factor, at, size);
}

twi_operand twi_factor_own(const twi_factor *factor, const twi_tree *tree, int32_t b)
{
    int64_t size = twi_tree_size(tree, b);
    return operand(factor, factor->offset[b + 1] - packed(factor->kernel, size, size), size);
}

static int64_t front_stride(const twi_minplus_kernel *kernel, int64_t rows)
{
    return (rows + kernel->nr - 1) / kernel->nr * kernel->nr;
}

static uint64_t front_bytes(const twi_minplus_kernel *kernel, int64_t rows)
{
    return (uint64_t)rows * (uint64_t)front_stride(kernel, rows) * tw_type_size(kernel->type);
}

/* Rows of the largest front that a thread closes alone; the first one's space is for any. */
static int64_t alone_most(const twi_tree *tree)
{
    return tree->front_most < TEAM_LEAST ? tree->front_most : TEAM_LEAST - 1;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* Bytes of one thread's space. */
static uint64_t space_bytes(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t rows)
{
    int64_t stride = front_stride(kernel, rows);
    return rounded(front_bytes(kernel, rows)) + rounded((uint64_t)tree->n * sizeof(int32_t)) +
           rounded(twi_packed_a_bytes(kernel, TWI_ROWS_AT_ONCE, PIVOTS)) +
           rounded(TWI_ROWS_AT_ONCE * sizeof(twi_range)) +
           rounded(twi_packed_b_bytes(kernel, stride, PIVOTS)) +
           rounded((uint64_t)(stride / kernel->nr + 1) * sizeof(twi_range));
}

int64_t twi_factor_tasks(const twi_tree *tree, int threads)
{
    return tree->front_most >= TEAM_LEAST ? threads : tree->blocks;
}

uint64_t twi_factor_memory(const twi_tree *tree, const twi_minplus_kernel *kernel)
{
    uint64_t elements = 0;
    for (int32_t b = 0; b < tree->blocks; b++) {
        elements +=
            (uint64_t)block_elements(kernel, twi_tree_size(tree, b), twi_tree_high(tree, b));
    }
    return elements * tw_type_size(kernel->type) + ((uint64_t)tree->blocks + 1) * sizeof(int64_t) +
           sizeof(twi_factor);
}

uint64_t twi_factor_scratch(const tw_apsp_plan *plan, const twi_tree *tree,
                            const twi_minplus_kernel *kernel, int threads)
{
    uint64_t blocks = (uint64_t)tree->blocks;
    return (uint64_t)plan->graph->arcs * sizeof(front_arc) + blocks * (sizeof(int64_t) + 28) +
           (uint64_t)(threads - 1) * space_bytes(tree, kernel, alone_most(tree)) +
           space_bytes(tree, kernel, tree->front_most) +
           (uint64_t)tree->rest_most * tw_type_size(kernel->type);
}

/* ---------------------------------------------------------------------------------- one front */

/* What depends on the type: clear rows of a front (infinite but for the diagonal), lower one entry
 * to a weight, and lower those of a child, whose row i is local[high[i]] here, in rows first ...
 * last-1.
 */
typedef struct front_ops {
    void (*clear)(void *front, int64_t stride, int64_t first, int64_t last);
    void (*lower)(void *front, int64_t at, double weight);
    void (*merge)(void *front, int64_t stride, const void *rest, int64_t count, const int32_t *high,
                  const int32_t *local, int64_t first, int64_t last);
} front_ops;

#define DEFINE_FRONT(NAME, T, INFTY)                                                       \
    static void clear_##NAME(void *front, int64_t stride, int64_t first, int64_t last)     \
    {                                                                                      \
        for (int64_t i = first * stride; i < last * stride; i++) {                         \
            ((T *)front)[i] = (INFTY);                                                     \
        }                                                                                  \
        for (int64_t i = first; i < last; i++) {                                           \
            ((T *)front)[i * stride + i] = 0;                                              \
        }                                                                                  \
    }                                                                                      \
    static void lower_##NAME(void *front, int64_t at, double weight)                       \
    {                                                                                      \
        T entry = weight < (double)(INFTY) ? (T)weight : (INFTY);                          \
        T *place = (T *)front + at;                                                        \
        *place = entry < *place ? entry : *place;                                          \
    }                                                                                      \
    static void merge_##NAME(void *front, int64_t stride, const void *rest, int64_t count, \
                             const int32_t *high, const int32_t *local, int64_t first,     \
                             int64_t last)                                                 \
    {                                                                                      \
        const T *from = rest;                                                              \
        for (int64_t i = 0; i < count; i++, from += count) {                               \
            const int32_t at = local[high[i]];                                             \
            const int64_t width = at >= first && at < last ? count : 0;                    \
            T *row = (T *)front + at * stride;                                             \
            for (int64_t j = 0; j < width; j++) {                                          \
                T *place = row + local[high[j]];                                           \
                *place = from[j] < *place ? from[j] : *place;                              \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    static const front_ops ops_##NAME = {clear_##NAME, lower_##NAME, merge_##NAME};
DEFINE_FRONT(u8, uint8_t, TW_APSP_INF_U8)
DEFINE_FRONT(u16, uint16_t, TW_APSP_INF_U16)
DEFINE_FRONT(u7, uint8_t, INT8_MAX)
DEFINE_FRONT(u15, uint16_t, INT16_MAX)
DEFINE_FRONT(i32, int32_t, TW_APSP_INF_I32)
DEFINE_FRONT(f32, float, INFINITY)
DEFINE_FRONT(f64, double, (double)INFINITY)

static const front_ops *ops_of(const twi_minplus_kernel *kernel)
{
    switch (kernel->type) {
    case TW_U8:
        return twi_kernel_is_plain(kernel) ? &ops_u7 : &ops_u8;
    case TW_U16:
        return twi_kernel_is_plain(kernel) ? &ops_u15 : &ops_u16;
    case TW_I32:
        return &ops_i32;
    case TW_F32:
        return &ops_f32;
    default:
        return &ops_f64;
    }
}

/* Rows [row, row + TWI_ROWS_AT_ONCE) of a front against the packed pivot rows, but for the pivots
 * themselves. */
static void update_chunk(const maker *m, space *own, const twi_panel *pivot_rows, char *front,
                         int64_t rows, int64_t row, int64_t pivot, int64_t width)
{
    const int64_t stride = front_stride(m->kernel, rows);
    int64_t end = row + TWI_ROWS_AT_ONCE < rows ? row + TWI_ROWS_AT_ONCE : rows;
    for (int64_t from = row; from < end;) {
        int64_t to = from < pivot && pivot < end ? pivot : end;
        if (from >= pivot && from < pivot + width) {
            from = pivot + width;
            continue;
        }
        char *c = front + from * stride * m->size;
        if (twi_pack_a(m->kernel, &own->a, to - from, width, c + pivot * m->size, stride, 1)) {
            twi_product(m->kernel, &own->a, to - from, pivot_rows, 0, stride, c, stride,
                        TWI_NO_DIAGONAL);
        }
        from = to;
    }
}

/* Close with the pivots [pivot, pivot + width): their tile, their rows, and all other rows. */
static void close_pivots(const maker *m, space *own, char *front, int64_t rows, int64_t pivot,
                         int64_t width)
{
    const twi_minplus_kernel *kernel = m->kernel;
    const int64_t stride = front_stride(kernel, rows);
    char *pivot_row = front + pivot * stride * m->size;
    kernel->close(pivot_row + pivot * m->size, stride, width, width, width);
    twi_pack_b(kernel, &own->b, 0, stride, width, pivot_row, stride);
    (void)twi_pack_a(kernel, &own->a, width, width, pivot_row + pivot * m->size, stride, 1);
    twi_product(kernel, &own->a, width, &own->b, 0, stride, pivot_row, stride, TWI_NO_DIAGONAL);
    twi_pack_b(kernel, &own->b, 0, stride, width, pivot_row, stride);
    for (int64_t row = 0; row < rows; row += TWI_ROWS_AT_ONCE) {
        update_chunk(m, own, &own->b, front, rows, row, pivot, width);
    }
}

/* The same by all threads, which share the pivots' rows by columns. */
static void close_pivots_together(const maker *m, space *own, char *front, int64_t rows,
                                  int64_t pivot, int64_t width)
{
    const twi_minplus_kernel *kernel = m->kernel;
    const int64_t stride = front_stride(kernel, rows);
    const int64_t strips = (stride / kernel->nr + m->threads - 1) / m->threads;
    const int64_t piece = strips * kernel->nr;
    char *pivot_row = front + pivot * stride * m->size;
    kernel->close(pivot_row + pivot * m->size, stride, width, width, width);
    (void)twi_pack_a(kernel, &own->a, width, width, pivot_row + pivot * m->size, stride, 1);
#pragma omp parallel num_threads(twi_team(m->threads))
    for (int phase = 0; phase < 4; phase++) { /* each ends when all have done their part */
        if (phase < 3) {
#pragma omp for schedule(static)
            for (int64_t from = 0; from < stride; from += piece) {
                const int64_t cols = stride - from < piece ? stride - from : piece;
                char *c = pivot_row + from * m->size;
                if (phase == 1) {
                    twi_product(kernel, &own->a, width, &own->b, from, cols, c, stride,
                                TWI_NO_DIAGONAL);
                } else {
                    twi_pack_b(kernel, &own->b, from, cols, width, c, stride);
                }
            }
        } else {
#pragma omp for schedule(dynamic)
            for (int64_t row = 0; row < rows; row += TWI_ROWS_AT_ONCE) {
                if (!twi_is_cancelled(m->ctx)) {
                    update_chunk(m, &m->spaces[twi_thread_id()], &own->b, front, rows, row, pivot,
                                 width);
                }
            }
        }
    }
}

static void close_front(const maker *m, space *own, int64_t rows, int64_t pivots, bool team)
{
    if (rows <= PLAIN_MOST) {
        const int64_t stride = front_stride(m->kernel, rows);
        m->kernel->close(own->front, stride, rows, stride, pivots);
        return;
    }
    for (int64_t pivot = 0; pivot < pivots && !twi_is_cancelled(m->ctx); pivot += PIVOTS) {
        int64_t width = pivots - pivot < PIVOTS ? pivots - pivot : PIVOTS;
        (team ? close_pivots_together : close_pivots)(m, own, own->front, rows, pivot, width);
    }
}

/* Some rows of the front of a block as its children leave them. */
static void fill_rows(const maker *m, const space *own, int32_t b, int64_t stride, int64_t first,
                      int64_t last)
{
    ops_of(m->kernel)->clear(own->front, stride, first, last);
    for (int32_t c = m->child[b]; c >= 0; c = m->next[c]) {
        ops_of(m->kernel)->merge(own->front, stride, m->rest[c], twi_tree_high(m->tree, c),
                                 m->tree->high + m->tree->high_first[c], own->local, first, last);
    }
}

/* What the children leave, and arcs. */
static void fill_front(const maker *m, space *own, int32_t b, bool team)
{
    const twi_tree *tree = m->tree;
    const front_ops *ops = ops_of(m->kernel);
    int64_t size = twi_tree_size(tree, b);
    int64_t rows = size + twi_tree_high(tree, b);
    int64_t stride = front_stride(m->kernel, rows);
    int64_t left = 0;
    for (int64_t i = 0; i < size; i++) {
        own->local[tree->vertex[tree->first[b] + i]] = (int32_t)i;
    }
    for (int64_t i = size; i < rows; i++) {
        own->local[tree->high[tree->high_first[b] + i - size]] = (int32_t)i;
    }
    if (team) {
#pragma omp parallel for num_threads(twi_team(m->threads)) schedule(dynamic)
        for (int64_t row = 0; row < rows; row += TWI_ROWS_AT_ONCE) {
            if (!twi_is_cancelled(m->ctx)) {
                fill_rows(m, own, b, stride, row,
                          row + TWI_ROWS_AT_ONCE < rows ? row + TWI_ROWS_AT_ONCE : rows);
            }
        }
    } else {
        fill_rows(m, own, b, stride, 0, rows);
    }
    for (int64_t a = m->arc_first[b]; a < m->arc_first[b + 1]; a++) {
        if (twi_is_stopped(m->ctx, &left, 1)) {
            break;
        }
        ops->lower(own->front, own->local[m->arcs[a].from] * stride + own->local[m->arcs[a].to],
                   m->arcs[a].weight);
    }
    for (int32_t c = m->child[b]; c >= 0; c = m->next[c]) {
        twi_free(m->rest[c]);
        m->rest[c] = NULL;
    }
}

/* Keep what lies in S or beside it. */
static void pack_front(const maker *m, const space *own, int32_t b, bool team)
{
    const twi_minplus_kernel *kernel = m->kernel;
    const twi_tree *tree = m->tree;
    int64_t size = twi_tree_size(tree, b);
    int64_t high = twi_tree_high(tree, b);
    int64_t stride = front_stride(kernel, size + high);
    const struct {
        twi_operand to;
        int64_t rows, depth;
        const char *from;
    } parts[] = {
        {twi_factor_down(m->factor, tree, b), size, high, own->front + size * stride * m->size},
        {twi_factor_up(m->factor, tree, b), high, size, own->front + size * m->size},
        {twi_factor_own(m->factor, tree, b), size, size, own->front},
    };
    /* Rows of an operand are columns of the front: element (i, p) is the arc p -> i. */
    for (int part = 0; part < 3; part++) {
        const int64_t step = parts[part].to.step * m->size;
        (void)team; /* unused without OpenMP */
#pragma omp parallel for num_threads(twi_team(m->threads)) schedule(static) if (team)
        for (int64_t i = 0; i < parts[part].rows; i += kernel->mr) {
            int64_t rows = parts[part].rows - i < kernel->mr ? parts[part].rows - i : kernel->mr;
            if (twi_is_cancelled(m->ctx)) {
                continue;
            }
            (void)kernel->pack_a((char *)parts[part].to.data + i / kernel->mr * step, rows,
                                 parts[part].depth, parts[part].from + i * m->size, 1, stride);
        }
    }
}

/* Keep that, and pass on the rest. False without memory for it. */
static bool keep_front(const maker *m, const space *own, int32_t b, bool team)
{
    int64_t size = twi_tree_size(m->tree, b);
    int64_t high = twi_tree_high(m->tree, b);
    int64_t stride = front_stride(m->kernel, size + high);
    if (m->keeper != NULL) {
        m->keeper->keep(m->keeper->self, b, own->front, stride);
    } else {
        pack_front(m, own, b, team);
    }
    if (high == 0) {
        return true;
    }
    char *rest = twi_try_alloc(m->ctx, (uint64_t)high * (uint64_t)high, (uint64_t)m->size);
    for (int64_t i = 0; i < high && rest != NULL && !twi_is_cancelled(m->ctx); i++) {
        memcpy(rest + i * high * m->size, own->front + ((size + i) * stride + size) * m->size,
               (size_t)(high * m->size));
    }
    m->rest[b] = rest;
    return rest != NULL;
}

static void make_block(maker *m, space *own, int32_t b, bool team)
{
    int64_t size = twi_tree_size(m->tree, b);
    fill_front(m, own, b, team);
    close_front(m, own, size + twi_tree_high(m->tree, b), size, team);
    if (!keep_front(m, own, b, team)) {
        atomic_store(&m->failed, true);
    }
}

/* ----------------------------------------------------------------------------- all of them */

static bool is_for_team(const maker *m, int32_t b)
{
    return twi_tree_size(m->tree, b) + twi_tree_high(m->tree, b) >= TEAM_LEAST;
}

static bool stopped(maker *m)
{
    return atomic_load_explicit(&m->failed, memory_order_relaxed) || twi_is_cancelled(m->ctx);
}

/* All blocks of a height: each by one thread, then the large ones by all. */
static void make_height(maker *m, int32_t begin, int32_t end)
{
    int threads = end - begin > 1 ? m->threads : 1;
    (void)threads; /* unused without OpenMP */
#pragma omp parallel num_threads(twi_team(threads))
    {
        space *own = &m->spaces[twi_thread_id()];
#pragma omp for schedule(dynamic, 4)
        for (int32_t i = begin; i < end; i++) {
            if (!is_for_team(m, m->by_height[i]) && !stopped(m)) {
                make_block(m, own, m->by_height[i], false);
            }
        }
    }
    for (int32_t i = begin; i < end; i++) {
        if (is_for_team(m, m->by_height[i]) && !stopped(m)) {
            make_block(m, &m->spaces[0], m->by_height[i], true);
        }
    }
}

static int32_t first_block(const int32_t *block, int32_t u, int32_t v)
{
    return block[u] < block[v] ? block[u] : block[v];
}

/* Arcs by the block that goes first of their two ends; those of a block in any order, since of
 * parallel ones the lightest counts. */
static tw_status sort_arcs(maker *m)
{
    const tw_graph *graph = m->plan->graph;
    const int32_t *block = m->tree->block;
    for (int pass = 0; pass < 2 && !twi_is_cancelled(m->ctx); pass++) {
        int64_t left = 0;
#pragma omp parallel for num_threads(twi_team(m->threads)) firstprivate(left) schedule(static)
        for (int32_t u = 0; u < (int32_t)graph->n; u++) {
            if (twi_is_stopped(m->ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
                left = 0; /* from now on at each of them */
                continue;
            }
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1];) {
                const int32_t b = first_block(block, u, graph->targets[a]);
                int64_t end = a + 1; /* arcs of one block at a time: threads meet less often */
                while (end < graph->offsets[u + 1] &&
                       first_block(block, u, graph->targets[end]) == b) {
                    end++;
                }
                int64_t at =
                    __atomic_fetch_add(&m->arc_first[b + (pass == 0)], end - a, __ATOMIC_RELAXED);
                for (; a < end; a++) {
                    const int32_t v = graph->targets[a];
                    if (pass == 1) {
                        m->arcs[at++] = (front_arc){u, v, twi_plan_arc_weight(m->plan, u, v, a)};
                    }
                }
            }
        }
        if (pass == 0) {
            for (int32_t b = 0; b < m->tree->blocks; b++) {
                m->arc_first[b + 1] += m->arc_first[b];
            }
        }
    }
    memmove(m->arc_first + 1, m->arc_first, (size_t)m->tree->blocks * sizeof *m->arc_first);
    m->arc_first[0] = 0;
    return twi_check_cancel(m->ctx);
}

static void sort_blocks(maker *m)
{
    const twi_tree *tree = m->tree;
    for (int32_t b = 0; b < tree->blocks; b++) {
        m->child[b] = -1;
        m->height_first[tree->height[b] + 1]++;
    }
    for (int32_t h = 0; h < tree->heights; h++) {
        m->height_first[h + 1] += m->height_first[h];
    }
    for (int32_t b = 0; b < tree->blocks; b++) {
        m->by_height[m->height_first[tree->height[b]]++] = b;
        if (tree->parent[b] >= 0) {
            m->next[b] = m->child[tree->parent[b]];
            m->child[tree->parent[b]] = b;
        }
    }
    memmove(m->height_first + 1, m->height_first, (size_t)tree->heights * sizeof(int32_t));
    m->height_first[0] = 0;
}

/* One thread's space out of a block. */
static char *place_space(const maker *m, space *own, int64_t rows, char *memory)
{
    const twi_minplus_kernel *kernel = m->kernel;
    int64_t stride = front_stride(kernel, rows);
    own->front = memory;
    memory += rounded(front_bytes(kernel, rows));
    own->local = (int32_t *)(void *)memory;
    memory += rounded((uint64_t)m->tree->n * sizeof(int32_t));
    own->a.data = memory;
    memory += rounded(twi_packed_a_bytes(kernel, TWI_ROWS_AT_ONCE, PIVOTS));
    own->a.ranges = (twi_range *)(void *)memory;
    memory += rounded(TWI_ROWS_AT_ONCE * sizeof(twi_range));
    own->b.data = memory;
    memory += rounded(twi_packed_b_bytes(kernel, stride, PIVOTS));
    own->b.ranges = (twi_range *)(void *)memory;
    return memory + rounded((uint64_t)(stride / kernel->nr + 1) * sizeof(twi_range));
}

static tw_status allocate_factor(maker *m, twi_factor *factor)
{
    const twi_tree *tree = m->tree;
    const char *what = "the factor";
    factor->kernel = m->kernel;
    tw_status status = twi_alloc(m->ctx, &factor->offset, (uint64_t)tree->blocks + 1,
                                 sizeof *factor->offset, what);
    if (status != TW_OK) {
        return status;
    }
    factor->offset[0] = 0;
    for (int32_t b = 0; b < tree->blocks; b++) {
        factor->offset[b + 1] =
            factor->offset[b] +
            block_elements(m->kernel, twi_tree_size(tree, b), twi_tree_high(tree, b));
    }
    return twi_alloc(m->ctx, &factor->data, (uint64_t)factor->offset[tree->blocks],
                     (uint64_t)m->size, what);
}

static tw_status allocate_maker(maker *m, char **memory)
{
    const twi_tree *tree = m->tree;
    const char *what = "the fronts";
    uint64_t blocks = (uint64_t)tree->blocks;
    uint64_t first = space_bytes(tree, m->kernel, tree->front_most);
    uint64_t each = space_bytes(tree, m->kernel, alone_most(tree));
    tw_status status = TW_OK;
    if ((status = twi_alloc_zeroed(m->ctx, &m->arc_first, blocks + 1, sizeof *m->arc_first,
                                   what)) != TW_OK ||
        (status = twi_alloc(m->ctx, &m->arcs, (uint64_t)m->plan->graph->arcs, sizeof *m->arcs,
                            what)) != TW_OK ||
        (status = twi_alloc_zeroed(m->ctx, &m->rest, blocks, sizeof *m->rest, what)) != TW_OK ||
        (status = twi_alloc(m->ctx, &m->child, blocks, sizeof *m->child, what)) != TW_OK ||
        (status = twi_alloc(m->ctx, &m->next, blocks, sizeof *m->next, what)) != TW_OK ||
        (status = twi_alloc(m->ctx, &m->by_height, blocks, sizeof *m->by_height, what)) != TW_OK ||
        (status = twi_alloc_zeroed(m->ctx, &m->height_first, (uint64_t)tree->heights + 1,
                                   sizeof *m->height_first, what)) != TW_OK ||
        (status = twi_alloc(m->ctx, &m->spaces, (uint64_t)m->threads, sizeof *m->spaces, what)) !=
            TW_OK ||
        (status = twi_alloc(m->ctx, memory, first + (uint64_t)(m->threads - 1) * each, 1, what)) !=
            TW_OK) {
        return status;
    }
    char *next = *memory;
    for (int t = 0; t < m->threads; t++) {
        next = place_space(m, &m->spaces[t], t == 0 ? tree->front_most : alone_most(tree), next);
    }
    return TW_OK;
}

static tw_status make_all(maker *m)
{
    tw_status status = sort_arcs(m);
    if (status == TW_OK) {
        sort_blocks(m);
    }
    for (int32_t h = 0; h < m->tree->heights && status == TW_OK; h++) {
        make_height(m, m->height_first[h], m->height_first[h + 1]);
        status = twi_check_cancel(m->ctx);
        if (status == TW_OK && atomic_load(&m->failed)) {
            status = tw_fail(
                m->ctx, TW_ERR_MEMORY,
                "not enough memory for the fronts of the elimination; use another method, or "
                "raise the limit");
        }
        twi_progress(m->ctx, "factor", h + 1, m->tree->heights, "heights");
    }
    return status;
}

static tw_status make_factor(maker *m)
{
    char *memory = NULL;
    atomic_init(&m->failed, false);
    tw_status status = allocate_maker(m, &memory);
    if (status == TW_OK) {
        status = make_all(m);
    }
    for (int32_t b = 0; m->rest != NULL && b < m->tree->blocks; b++) {
        twi_free(m->rest[b]);
    }
    twi_free(memory);
    twi_free(m->spaces);
    twi_free(m->height_first);
    twi_free(m->by_height);
    twi_free(m->next);
    twi_free(m->child);
    twi_free(m->rest);
    twi_free(m->arcs);
    twi_free(m->arc_first);
    return status;
}

tw_status twi_factor_create(tw_context *ctx, twi_factor **out, const tw_apsp_plan *plan,
                            const twi_tree *tree, const twi_minplus_kernel *kernel, int threads)
{
    maker m = {.ctx = ctx,
               .plan = plan,
               .tree = tree,
               .kernel = kernel,
               .size = (int64_t)tw_type_size(kernel->type),
               .threads = threads};
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &m.factor, 1, sizeof *m.factor, "the factor");
    if (status == TW_OK) {
        status = allocate_factor(&m, m.factor);
    }
    if (status == TW_OK) {
        status = make_factor(&m);
    }
    if (status == TW_OK) {
        *out = m.factor;
    } else {
        twi_factor_destroy(m.factor);
    }
    return status;
}

tw_status twi_factor_keep(tw_context *ctx, const twi_factor_keeper *keeper,
                          const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel, int threads)
{
    maker m = {.ctx = ctx,
               .plan = plan,
               .tree = tree,
               .keeper = keeper,
               .kernel = kernel,
               .size = (int64_t)tw_type_size(kernel->type),
               .threads = threads};
    return make_factor(&m);
}

void twi_factor_destroy(twi_factor *factor)
{
    if (factor == NULL) {
        return;
    }
    twi_free(factor->data);
    twi_free(factor->offset);
    twi_free(factor);
}

/* A batch of columns: see batch.h. */
#include "apsp/sweep/batch.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES 512                    /* of a row, at most, */
#define STACK_BYTES ((int64_t)512 << 10) /*   and of a stack, unless a row is one strip */
#define BATCHES 3                        /* a thread, at least, where strips are narrow enough */
#define SUMS_AT_ONCE ((int64_t)1 << 25)  /* of a product between looks at the cancel flag */
#define COLUMNS_A_STEP 16                /* that are copied or compared: twi_is_stopped */

/* Of a block on the way down. */
enum {
    DEAD = 1, /* of a component without a source */
    HOLES = 2 /* it, or one above it, has entries without a path */
};

/* ----------------------------------------------------------------------------------- sizes */

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

int64_t twi_batch_width(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t sources,
                        int threads)
{
    int64_t strip = kernel->nr * (int64_t)tw_type_size(kernel->type);
    int64_t row = tree->depth > 0 ? STACK_BYTES / tree->depth : ROW_BYTES;
    int64_t strips = (row < ROW_BYTES ? row : ROW_BYTES) / strip;
    int64_t batches = (int64_t)BATCHES * threads;
    int64_t needed = (sources + batches * kernel->nr - 1) / (batches * kernel->nr);
    strips = strips < needed ? strips : needed;
    strips = strips < 64 ? strips : 64; /* a mask has bits for */
    return (strips > 1 ? strips : 1) * kernel->nr;
}

/* An odd number of cache lines, so that the rows which a strip reads spread over all sets of the
 * cache: with 512 bytes they would share an eighth of the first level's. */
int64_t twi_batch_step(const twi_minplus_kernel *kernel, int64_t width)
{
    int64_t line = TWI_CACHE_LINE / (int64_t)tw_type_size(kernel->type);
    int64_t lines = (width + line - 1) / line;
    return (lines + 1 - lines % 2) * line;
}

/* ------------------------------------------------------------------------------- the course */

static void fill_infinite(char *out, const twi_minplus_kernel *kernel, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        switch (kernel->type) {
        case TW_U8:
            ((uint8_t *)out)[i] = (uint8_t)kernel->infinity;
            break;
        case TW_U16:
            ((uint16_t *)out)[i] = (uint16_t)kernel->infinity;
            break;
        case TW_I32:
            ((int32_t *)out)[i] = (int32_t)kernel->infinity;
            break;
        case TW_F32:
            ((float *)out)[i] = (float)kernel->infinity;
            break;
        default:
            ((double *)out)[i] = kernel->infinity;
            break;
        }
    }
}

/* The row of a vertex in a stack. */
static int32_t stack_row(const twi_tree *tree, int32_t v)
{
    int32_t b = tree->block[v];
    return tree->above[b] + tree->place[v] - tree->first[b];
}

/* Both ends of an arc lie on the way from the lower one's block to the root: when that block is
 * done, their rows are in the stack. */
static tw_status list_arcs(twi_course *c)
{
    const tw_graph *graph = c->plan->graph;
    const twi_tree *tree = c->tree;
    int64_t left = 0;
    memset(c->arc_first, 0, ((size_t)tree->blocks + 1) * sizeof *c->arc_first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t u = 0; u < graph->n; u++) {
            if (twi_is_stopped(c->ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
                return twi_check_cancel(c->ctx);
            }
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                int32_t v = graph->targets[a];
                int32_t b = tree->block[u] < tree->block[v] ? tree->block[u] : tree->block[v];
                if (pass == 0) {
                    c->arc_first[b + 1]++;
                } else {
                    int64_t at = c->arc_first[b]++;
                    c->arcs[2 * at] = stack_row(tree, u);
                    c->arcs[2 * at + 1] = stack_row(tree, v);
                }
            }
        }
        for (int32_t b = 0; b < tree->blocks && pass == 0; b++) {
            c->arc_first[b + 1] += c->arc_first[b];
        }
    }
    for (int32_t b = tree->blocks; b > 0; b--) {
        c->arc_first[b] = c->arc_first[b - 1];
    }
    c->arc_first[0] = 0;
    return TW_OK;
}

tw_status twi_course_create(tw_context *ctx, twi_course *out, const tw_apsp_plan *plan,
                            const twi_factor *factor, int64_t width, bool certify, bool half)
{
    const char *what = "the columns of the sweep";
    const twi_tree *tree = plan->tree;
    const uint64_t high = (uint64_t)tree->high_first[tree->blocks];
    const uint64_t blocks = (uint64_t)tree->blocks;
    tw_status status = TW_OK;
    *out = (twi_course){.ctx = ctx,
                        .plan = plan,
                        .tree = tree,
                        .factor = factor,
                        .kernel = factor->kernel,
                        .size = (int64_t)tw_type_size(factor->kernel->type),
                        .width = width,
                        .step = twi_batch_step(factor->kernel, width),
                        .certify = certify,
                        .half = half};
    if ((status = twi_alloc(ctx, &out->high_at, high, sizeof *out->high_at, what)) != TW_OK ||
        (status = twi_alloc(ctx, &out->line, (uint64_t)tree->size_most, sizeof *out->line, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &out->infinite, (uint64_t)width, (uint64_t)out->size, what)) !=
            TW_OK) {
        return status;
    }
    if (half && (status = twi_alloc(ctx, &out->root, blocks, sizeof *out->root, what)) != TW_OK) {
        return status;
    }
    if (certify && !half &&
        ((status = twi_alloc(ctx, &out->arc_first, blocks + 1, sizeof *out->arc_first, what)) !=
             TW_OK ||
         (status = twi_alloc(ctx, &out->arcs, (uint64_t)plan->graph->arcs, 2 * sizeof *out->arcs,
                             what)) != TW_OK)) {
        return status;
    }
    int64_t left = 0;
    for (uint64_t i = 0; i < high && !twi_is_stopped(ctx, &left, 1); i++) {
        out->high_at[i] = stack_row(tree, tree->high[i]) * out->step;
    }
    for (int64_t i = 0; i < tree->size_most; i++) {
        out->line[i] = i * out->step;
    }
    fill_infinite(out->infinite, out->kernel, width);
    for (int32_t b = tree->blocks - 1; half && b >= 0; b--) {
        out->root[b] = tree->parent[b] < 0 ? b : out->root[tree->parent[b]];
    }
    return certify && !half ? list_arcs(out) : twi_check_cancel(ctx);
}

void twi_course_clear(twi_course *course)
{
    twi_free(course->arcs);
    twi_free(course->arc_first);
    twi_free(course->root);
    twi_free(course->infinite);
    twi_free(course->line);
    twi_free(course->high_at);
}

uint64_t twi_course_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                           const twi_minplus_kernel *kernel, int64_t width, bool certify)
{
    uint64_t arcs = certify ? ((uint64_t)tree->blocks + 1) * sizeof(int64_t) +
                                  (uint64_t)plan->graph->arcs * 2 * sizeof(int32_t)
                            : 0;
    return (uint64_t)(tree->high_first[tree->blocks] + tree->size_most) * sizeof(int64_t) +
           (uint64_t)width * tw_type_size(kernel->type) + arcs;
}

/* ---------------------------------------------------------------------------- one batch's memory
 */

/* Bytes of its parts, in turn. */
typedef struct parts {
    uint64_t stack, strips, at, mask, touched, state, pick, to, root;
} parts;

static parts batch_parts(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t width)
{
    uint64_t row = (uint64_t)twi_batch_step(kernel, width) * tw_type_size(kernel->type);
    uint64_t front = (uint64_t)tree->front_most;
    uint64_t blocks = (uint64_t)tree->blocks;
    return (parts){rounded((uint64_t)tree->depth * row),
                   rounded((uint64_t)tree->size_most * row),
                   rounded(blocks * sizeof(int64_t)),
                   rounded(blocks * sizeof(uint64_t)),
                   rounded(blocks * sizeof(int32_t)),
                   rounded(blocks),
                   rounded((uint64_t)tree->size_most * sizeof(int32_t)),
                   rounded(front * sizeof(int64_t)),
                   rounded((uint64_t)width * sizeof(int32_t))};
}

uint64_t twi_batch_memory(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t width)
{
    parts p = batch_parts(tree, kernel, width);
    return p.stack + p.strips + p.at + p.mask + p.touched + p.state + p.pick + p.to + p.root;
}

void twi_batch_place(twi_batch *out, const twi_course *course, char *memory)
{
    parts p = batch_parts(course->tree, course->kernel, course->width);
    *out = (twi_batch){.course = course, .stack = memory};
    out->strips = (memory += p.stack);
    out->at = (int64_t *)(void *)(memory += p.strips);
    out->mask = (uint64_t *)(void *)(memory += p.at);
    out->touched = (int32_t *)(void *)(memory += p.mask);
    out->state = (uint8_t *)(memory += p.touched);
    out->pick = (int32_t *)(void *)(memory += p.state);
    out->to = (int64_t *)(void *)(memory += p.pick);
    out->root = (int32_t *)(void *)(memory += p.to);
    memset(out->mask, 0, (size_t)course->tree->blocks * sizeof *out->mask);
}

int64_t twi_batch_rows(const twi_tree *tree, const twi_ticket *tickets, int64_t count,
                       int32_t *seen, int32_t stamp)
{
    int64_t rows = 0;
    for (int64_t j = 0; j < count; j++) {
        int32_t b = tree->block[tree->vertex[tickets[j].place]];
        for (; b >= 0 && seen[b] != stamp; b = tree->parent[b]) {
            seen[b] = stamp;
            rows += twi_tree_size(tree, b);
        }
    }
    return rows;
}

/* Those of a range have their blocks, and what is above the last of these; each of others may have
 * a way of its own. */
int64_t twi_batch_rows_most(const tw_apsp_plan *plan, const twi_tree *tree, int64_t width)
{
    const bool range = plan->options.sources == NULL;
    const double most = range ? (double)(width + tree->size_most + tree->depth)
                              : (double)width * (double)tree->depth;
    return most < (double)tree->n ? (int64_t)most : tree->n;
}

/* --------------------------------------------------------------------------------------- up */

/* Where the row of a vertex of a touched block begins in `start`, in elements. */
static int64_t start_at(const twi_batch *w, int32_t v)
{
    const twi_tree *tree = w->course->tree;
    int32_t b = tree->block[v];
    int64_t row = w->by_vertex ? v : w->at[b] + tree->place[v] - tree->first[b];
    return row * w->course->step;
}

static char *start_row(const twi_batch *w, int32_t v)
{
    return w->start + start_at(w, v) * w->course->size;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Mark the blocks above each source, clear them, and put the zeros down. */
static void begin(twi_batch *w, const twi_ticket *tickets, int64_t count, int64_t cols)
{
    const twi_course *c = w->course;
    const twi_tree *tree = c->tree;
    int64_t rows = 0, left = 0;
    w->touches = 0;
    for (int64_t j = 0; j < count; j++) {
        uint64_t bit = (uint64_t)1 << (j / c->kernel->nr);
        int32_t b = tree->block[tree->vertex[tickets[j].place]];
        for (; b >= 0 && (w->mask[b] & bit) == 0; b = tree->parent[b]) {
            if (w->mask[b] == 0) {
                w->touched[w->touches++] = b;
            }
            w->mask[b] |= bit;
        }
    }
    qsort(w->touched, (size_t)w->touches, sizeof *w->touched, ascending);
    for (int32_t i = 0; i < w->touches; i++) {
        int32_t b = w->touched[i];
        w->at[b] = rows;
        rows += twi_tree_size(tree, b);
        if (twi_is_stopped(c->ctx, &left, twi_tree_size(tree, b) * (cols / COLUMNS_A_STEP + 1))) {
            return;
        }
        for (int32_t p = tree->first[b]; p < tree->first[b + 1]; p++) {
            memcpy(start_row(w, tree->vertex[p]), c->infinite, (size_t)(cols * c->size));
        }
    }
    for (int64_t j = 0; j < cols; j++) {
        const twi_ticket *t = &tickets[j < count ? j : count - 1];
        memset(start_row(w, tree->vertex[t->place]) + j * c->size, 0, (size_t)c->size);
        if (c->half) {
            w->root[j] = c->root[tree->block[tree->vertex[t->place]]];
        }
    }
    w->end = c->half ? tickets[count - 1].place + 1 : INT32_MAX;
}

/* The product, unless cancelled: some rows at a time, for that of a large block takes long. */
static void update_rows(const twi_course *c, const twi_rows_product *whole)
{
    const twi_minplus_kernel *kernel = c->kernel;
    const int64_t row = whole->depth * whole->strips * kernel->nr + 1;
    const int64_t rows = (SUMS_AT_ONCE / row / kernel->mr + 1) * kernel->mr;
    twi_rows_product part = *whole;
    for (int64_t i = 0; i < whole->rows && !twi_is_cancelled(c->ctx); i += rows) {
        part.rows = whole->rows - i < rows ? whole->rows - i : rows;
        part.a = (const char *)whole->a + i / kernel->mr * whole->a_step * c->size;
        part.to = whole->to + i;
        kernel->update_rows(&part);
    }
}

/* Some strips, one beside the other, of one block: what they have goes to A(S), then to S itself.
 * They go together, because the operands of a large block are more than a cache holds. */
static void carry_up(twi_batch *w, int32_t b, int64_t strip, int64_t strips)
{
    const twi_course *c = w->course;
    const twi_tree *tree = c->tree;
    const int32_t *vertex = tree->vertex + tree->first[b];
    const int32_t *above = tree->high + tree->high_first[b];
    const int64_t strip_bytes = c->kernel->nr * c->size;
    const size_t bytes = (size_t)(strips * strip_bytes);
    int64_t size = twi_tree_size(tree, b);
    int64_t high = twi_tree_high(tree, b);
    twi_rows_product p = {
        .strips = strips, .b = w->strips, .from = c->line, .c = w->start + strip * strip_bytes};
    for (int32_t i = 0; i < size; i++) {
        const char *row = start_row(w, vertex[i]) + strip * strip_bytes;
        if (memcmp(row, c->infinite, bytes) != 0) {
            memcpy(w->strips + c->line[p.depth] * c->size, row, bytes);
            w->pick[p.depth++] = i;
        }
    }
    p.pick = p.depth < size ? w->pick : NULL;
    p.to = w->to;
    w->steps += (double)(p.depth * (size + high) * strips * c->kernel->nr);
    if (high > 0) {
        twi_operand up = twi_factor_up(c->factor, tree, b);
        for (int64_t i = 0; i < high; i++) {
            w->to[i] = start_at(w, above[i]);
        }
        p.rows = high;
        p.a = up.data;
        p.a_step = up.step;
        update_rows(c, &p);
    }
    if (size > 1) {
        twi_operand own = twi_factor_own(c->factor, tree, b);
        for (int64_t i = 0; i < size; i++) {
            w->to[i] = start_at(w, vertex[i]);
        }
        p.rows = size;
        p.a = own.data;
        p.a_step = own.step;
        update_rows(c, &p);
    }
}

static void go_up(twi_batch *w)
{
    for (int32_t i = 0; i < w->touches && !twi_is_cancelled(w->course->ctx); i++) {
        int32_t b = w->touched[i];
        for (uint64_t mask = w->mask[b]; mask != 0;) {
            int strip = __builtin_ctzll(mask);
            uint64_t from_there = ~(mask >> strip);
            int strips = from_there != 0 ? __builtin_ctzll(from_there) : 64;
            carry_up(w, b, strip, strips);
            mask = strip + strips < 64 ? mask >> (strip + strips) << (strip + strips) : 0;
        }
    }
}

/* ------------------------------------------------------------------------------------- down */

/* Without a branch, and in numbers of the type itself: so it goes in vectors. */
#define LEFT_OUT(T)                                                    \
    {                                                                  \
        const T *from = (const T *)w->stack + c->arcs[2 * a] * step;   \
        const T *to = (const T *)w->stack + c->arcs[2 * a + 1] * step; \
        const T cap = (T)c->kernel->infinity;                          \
        T found = 0;                                                   \
        for (int64_t j = 0; j < cols; j++) {                           \
            const T reached = (T)(from[j] < cap);                      \
            const T missing = (T)(to[j] >= cap);                       \
            found = (T)(found | (T)(reached & missing));               \
        }                                                              \
        left_out = found != 0;                                         \
    }

/* The certificate (closure/certificate.h) for the arcs of a block: none leads from below the cap to
 * the cap. */
static bool is_exact(const twi_batch *w, int32_t b, int64_t cols)
{
    const twi_course *c = w->course;
    const int64_t step = c->step;
    bool left_out = false;
    int64_t left = 0;
    for (int64_t a = c->arc_first[b]; a < c->arc_first[b + 1] && !left_out; a++) {
        if (twi_is_stopped(c->ctx, &left, cols / COLUMNS_A_STEP)) {
            break;
        }
        switch (c->kernel->type) {
        case TW_U8:
            LEFT_OUT(uint8_t)
            break;
        case TW_U16:
            LEFT_OUT(uint16_t)
            break;
        default:
            LEFT_OUT(int32_t)
            break;
        }
    }
    return !left_out;
}

#define CUT_OFF(T)                                               \
    {                                                            \
        const T *row = (const T *)(const void *)x + i * c->step; \
        const T cap = (T)c->kernel->infinity;                    \
        for (int64_t j = 0; j < cols; j++) {                     \
            cut_off |= row[j] >= cap && w->root[j] == root;      \
        }                                                        \
    }

/* The same in a symmetric graph, where what is in one component has a path. */
static bool is_reached(const twi_batch *w, int32_t b, int64_t cols, const char *x)
{
    const twi_course *c = w->course;
    const int32_t root = c->root[b];
    bool cut_off = false;
    for (int64_t i = 0; i < twi_tree_size(c->tree, b); i++) {
        switch (c->kernel->type) {
        case TW_U8:
            CUT_OFF(uint8_t)
            break;
        case TW_U16:
            CUT_OFF(uint16_t)
            break;
        default:
            CUT_OFF(int32_t)
            break;
        }
    }
    return !cut_off;
}

/* The rows of a block in the stack, from those above it and what it has from the way up. */
static char *descend(twi_batch *w, int32_t b, int64_t cols)
{
    const twi_course *c = w->course;
    const twi_tree *tree = c->tree;
    const int64_t size = twi_tree_size(tree, b);
    const int64_t high = twi_tree_high(tree, b);
    char *x = w->stack + tree->above[b] * c->step * c->size;
    for (int64_t i = 0; w->mask[b] != 0 && i < size; i++) {
        memcpy(x + c->line[i] * c->size, start_row(w, tree->vertex[tree->first[b] + i]),
               (size_t)(cols * c->size));
    }
    w->steps += (double)(size * high * cols);
    if (high > 0) {
        twi_operand down = twi_factor_down(c->factor, tree, b);
        update_rows(c, &(twi_rows_product){
                           .rows = size,
                           .depth = high,
                           .strips = cols / c->kernel->nr,
                           .a = down.data,
                           .a_step = down.step,
                           .b = w->stack,
                           .from = c->high_at + tree->high_first[b],
                           .c = x,
                           .to = c->line,
                           .fresh = w->mask[b] == 0,
                       });
    }
    return x;
}

static void go_down(twi_batch *w, int64_t cols, twi_block_seen seen, void *self)
{
    const twi_course *c = w->course;
    const twi_tree *tree = c->tree;
    for (int32_t b = tree->blocks - 1; b >= 0 && !w->refuted && !twi_is_cancelled(c->ctx); b--) {
        const bool root = tree->parent[b] < 0;
        const uint8_t above = root ? DEAD : w->state[tree->parent[b]];
        w->state[b] = w->mask[b] == 0 ? above & DEAD : 0;
        if (w->mask[b] == 0 && tree->first[b] >= w->end) {
            continue;
        }
        if (w->state[b] == DEAD) {
            (void)seen(self, b, cols, NULL);
        } else {
            const char *x = descend(w, b, cols);
            if (twi_is_cancelled(c->ctx)) {
                return;
            }
            if (seen(self, b, cols, x) || (above & HOLES) != 0) {
                w->state[b] |= HOLES;
                w->refuted =
                    c->certify && !(c->half ? is_reached(w, b, cols, x) : is_exact(w, b, cols));
            }
        }
    }
}

void twi_batch_run(twi_batch *batch, const twi_ticket *tickets, int64_t count, twi_block_seen seen,
                   void *self)
{
    const twi_course *c = batch->course;
    int64_t cols = (count + c->kernel->nr - 1) / c->kernel->nr * c->kernel->nr;
    begin(batch, tickets, count, cols);
    go_up(batch);
    if (!twi_is_cancelled(c->ctx)) {
        go_down(batch, cols, seen, self);
    }
    for (int32_t i = 0; i < batch->touches; i++) {
        batch->mask[batch->touched[i]] = 0;
    }
}

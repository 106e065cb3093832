/* See slabs.h. The tiles of a product are tall ones, and a low one for eight rows or fewer that are
 * left over. */
#include "apsp/gpu/slabs.h"

#include "apsp/gpu/kernels/kernels.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define DEEP 64
#define TEAM_LEAST (1 << 18) /* elements of a slab that all threads fill */

/* ------------------------------------------------------------------------------------- shapes */

/* Whether the rows that are left over take a low tile. Not if it is deep: there are few of those,
 * and a launch of their own would take as long as that of all tall ones. */
static bool has_low_tile(int64_t rows, int64_t depth)
{
    int64_t left = rows % TWI_SWEEP_TALL;
    return left > 0 && left <= TWI_SWEEP_LOW && (rows < TWI_SWEEP_TALL || depth < DEEP);
}

static int64_t tall_tiles(int64_t rows, int64_t depth)
{
    return rows / TWI_SWEEP_TALL + (rows % TWI_SWEEP_TALL > 0 && !has_low_tile(rows, depth));
}

/* Rows and depths of a block's product. A block of one vertex has nothing to tell itself. */
static int64_t rows_of(const twi_tree *tree, int32_t b, int way)
{
    int64_t size = twi_tree_size(tree, b);
    return way == TWI_DOWN ? size : twi_tree_high(tree, b) + (size > 1 ? size : 0);
}

static int64_t depth_of(const twi_tree *tree, int32_t b, int way)
{
    return way == TWI_DOWN ? twi_tree_high(tree, b) : twi_tree_size(tree, b);
}

static int64_t even(int64_t depth)
{
    return depth + depth % 2;
}

static int64_t elements_of(const twi_tree *tree, int32_t b, int way)
{
    int64_t rows = rows_of(tree, b, way);
    int64_t depth = depth_of(tree, b, way);
    return (tall_tiles(rows, depth) * TWI_SWEEP_TALL + has_low_tile(rows, depth) * TWI_SWEEP_LOW) *
           even(depth);
}

static int64_t tiles_of(const twi_tree *tree, int32_t b, int way, int form)
{
    int64_t rows = rows_of(tree, b, way);
    int64_t depth = depth_of(tree, b, way);
    return form == TWI_TALL ? tall_tiles(rows, depth) : has_low_tile(rows, depth);
}

/* Levels on each way are no more than heights: a way from a root to a leaf is no longer. */
static uint64_t shape_bytes(const twi_tree *tree, int64_t tasks)
{
    uint64_t blocks = (uint64_t)tree->blocks;
    uint64_t levels = (uint64_t)tree->heights + 1;
    return (uint64_t)tasks * sizeof(twi_sweep_task) +
           blocks * (TWI_WAYS * sizeof(int64_t) + 3 * sizeof(int32_t)) +
           (uint64_t)tree->n * sizeof(int32_t) +
           (uint64_t)(tree->high_first[tree->blocks] + tree->n) * sizeof(int32_t) +
           levels * (TWI_WAYS * TWI_FORMS + 2) * sizeof(int64_t);
}

twi_slabs_size twi_slabs_measure(const twi_tree *tree)
{
    twi_slabs_size size = {0, 0, 0};
    for (int32_t b = 0; b < tree->blocks; b++) {
        for (int way = 0; way < TWI_WAYS; way++) {
            size.elements += elements_of(tree, b, way);
            size.tasks += tiles_of(tree, b, way, TWI_TALL) + tiles_of(tree, b, way, TWI_LOW);
        }
    }
    size.memory = shape_bytes(tree, size.tasks);
    return size;
}

/* -------------------------------------------------------------------------------------- tasks */

static tw_status allocate(tw_context *ctx, twi_slabs *s, int64_t tasks)
{
    const char *what = "the products of the sweep";
    const twi_tree *tree = s->tree;
    uint64_t blocks = (uint64_t)tree->blocks;
    uint64_t levels = (uint64_t)tree->heights + 1;
    tw_status status = TW_OK;
    s->indices = tree->high_first[tree->blocks] + tree->n;
    for (int way = 0; way < TWI_WAYS && status == TW_OK; way++) {
        status = twi_alloc(ctx, &s->at[way], blocks, sizeof(int64_t), what);
        for (int form = 0; form < TWI_FORMS && status == TW_OK; form++) {
            status =
                twi_alloc_zeroed(ctx, &s->task_first[way][form], levels, sizeof(int64_t), what);
        }
    }
    if (status != TW_OK ||
        (status = twi_alloc(ctx, &s->index, (uint64_t)s->indices, sizeof(int32_t), what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &s->task, (uint64_t)tasks, sizeof *s->task, what)) != TW_OK ||
        (status = twi_alloc(ctx, &s->by_height, blocks, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &s->height_first, levels, sizeof(int64_t), what)) !=
            TW_OK ||
        (status = twi_alloc_zeroed(ctx, &s->height_rows, levels, sizeof(int64_t), what)) != TW_OK ||
        (status = twi_alloc(ctx, &s->block, (uint64_t)tree->n, sizeof(int32_t), what)) != TW_OK) {
        return status;
    }
    return twi_alloc(ctx, &s->below, blocks, sizeof(int32_t), what);
}

static void place_blocks(twi_slabs *s)
{
    const twi_tree *tree = s->tree;
    for (int32_t b = 0; b < tree->blocks; b++) {
        int64_t high = twi_tree_high(tree, b);
        int32_t *index = s->index + tree->high_first[b] + tree->first[b];
        for (int64_t i = 0; i < high; i++) {
            index[i] = tree->place[tree->high[tree->high_first[b] + i]];
        }
        for (int32_t p = tree->first[b]; p < tree->first[b + 1]; p++) {
            index[high + p - tree->first[b]] = p;
            s->block[p] = b;
        }
        for (int way = 0; way < TWI_WAYS; way++) {
            s->at[way][b] = s->elements;
            s->elements += elements_of(tree, b, way);
        }
        s->below[b] = tree->first[b];
    }
    /* Descendants stand right before a block, so that the first child's are the first. */
    for (int32_t b = 0; b < tree->blocks; b++) {
        int32_t parent = tree->parent[b];
        if (parent >= 0 && s->below[b] < s->below[parent]) {
            s->below[parent] = s->below[b];
        }
    }
}

static void sort_by_height(twi_slabs *s)
{
    const twi_tree *tree = s->tree;
    for (int32_t b = 0; b < tree->blocks; b++) {
        int32_t h = tree->height[b];
        int64_t size = twi_tree_size(tree, b);
        s->height_first[h + 1]++;
        s->height_rows[h] = size > s->height_rows[h] ? size : s->height_rows[h];
    }
    for (int32_t h = 0; h < tree->heights; h++) {
        s->height_first[h + 1] += s->height_first[h];
    }
    for (int32_t b = 0; b < tree->blocks; b++) {
        s->by_height[s->height_first[tree->height[b]]++] = b;
    }
    memmove(s->height_first + 1, s->height_first, (size_t)tree->heights * sizeof(int64_t));
    s->height_first[0] = 0;
}

/* The tasks of one block's product in one form, from *to on. */
static void add_tasks(const twi_slabs *s, int32_t b, int way, int form, twi_sweep_task **to)
{
    const twi_tree *tree = s->tree;
    int64_t rows = rows_of(tree, b, way);
    int64_t depth = depth_of(tree, b, way);
    int64_t row = form == TWI_TALL ? 0 : tall_tiles(rows, depth) * TWI_SWEEP_TALL;
    int32_t index = (int32_t)(tree->high_first[b] + tree->first[b]);
    int32_t height = form == TWI_TALL ? TWI_SWEEP_TALL : TWI_SWEEP_LOW;
    for (int64_t i = 0; i < tiles_of(tree, b, way, form); i++, row += height) {
        *(*to)++ = (twi_sweep_task){
            .arcs = s->at[way][b] + row * even(depth),
            .out = (int32_t)(index + row + (way == TWI_DOWN ? twi_tree_high(tree, b) : 0)),
            .rows = (int32_t)(rows - row < height ? rows - row : height),
            .from = index,
            .depth = (int32_t)depth,
            .block = b,
        };
    }
}

/* All tasks, level by level; `level` of each block. */
static void make_tasks(twi_slabs *s, const int32_t *level, int way, twi_sweep_task **to)
{
    const twi_tree *tree = s->tree;
    for (int form = 0; form < TWI_FORMS; form++) {
        int64_t *first = s->task_first[way][form];
        for (int32_t b = 0; b < tree->blocks; b++) {
            first[level[b] + 1] += tiles_of(tree, b, way, form);
        }
        first[0] = *to - s->task;
        for (int32_t l = 0; l < s->levels[way]; l++) {
            first[l + 1] += first[l];
        }
        for (int32_t b = 0; b < tree->blocks; b++) {
            twi_sweep_task *at = s->task + first[level[b]];
            add_tasks(s, b, way, form, &at);
            first[level[b]] = at - s->task;
        }
        int64_t begin = *to - s->task;
        *to = s->task + first[s->levels[way]];
        memmove(first + 1, first, (size_t)s->levels[way] * sizeof *first);
        first[0] = begin;
    }
}

tw_status twi_slabs_create(tw_context *ctx, twi_slabs *out, const twi_tree *tree)
{
    int32_t *depth = NULL;
    *out = (twi_slabs){.tree = tree, .tasks = twi_slabs_measure(tree).tasks};
    tw_status status = allocate(ctx, out, out->tasks);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &depth, (uint64_t)tree->blocks, sizeof *depth,
                           "the products of the sweep");
    }
    if (status == TW_OK && out->indices > INT32_MAX) {
        status =
            tw_fail(ctx, TW_ERR_UNSUPPORTED,
                    "%lld rows of fronts are too many for a sweep on a GPU; use the device 'cpu'",
                    (long long)out->indices);
    }
    if (status == TW_OK) {
        twi_sweep_task *to = out->task;
        place_blocks(out);
        sort_by_height(out);
        for (int32_t b = tree->blocks - 1; b >= 0; b--) {
            depth[b] = tree->parent[b] < 0 ? 0 : depth[tree->parent[b]] + 1;
            out->levels[TWI_DOWN] =
                depth[b] >= out->levels[TWI_DOWN] ? depth[b] + 1 : out->levels[TWI_DOWN];
        }
        out->levels[TWI_UP] = tree->heights;
        make_tasks(out, depth, TWI_DOWN, &to);
        make_tasks(out, tree->height, TWI_UP, &to);
    }
    twi_free(depth);
    return status;
}

void twi_slabs_clear(twi_slabs *slabs)
{
    twi_free(slabs->below);
    twi_free(slabs->block);
    twi_free(slabs->height_rows);
    twi_free(slabs->height_first);
    twi_free(slabs->by_height);
    twi_free(slabs->task);
    twi_free(slabs->index);
    for (int way = 0; way < TWI_WAYS; way++) {
        for (int form = 0; form < TWI_FORMS; form++) {
            twi_free(slabs->task_first[way][form]);
        }
        twi_free(slabs->at[way]);
    }
    *slabs = (twi_slabs){0};
}

/* -------------------------------------------------------------------------------------- elements
 */

/* One depth of one tile: `rows` elements from number `first` on of those of a row of the front, of
 * which `here` begin at front + gap and the others at front. */
#define DEFINE_FILL(NAME, T, INFTY, CLAMP)                                                       \
    static void copy_##NAME(T *to, const T *from, int64_t count)                                 \
    {                                                                                            \
        for (int64_t i = 0; i < count; i++) {                                                    \
            T value = from[i];                                                                   \
            to[i] = CLAMP;                                                                       \
        }                                                                                        \
    }                                                                                            \
    static void fill_##NAME(T *to, const T *front, int64_t first, int64_t rows, int64_t height,  \
                            int64_t here, int64_t gap)                                           \
    {                                                                                            \
        int64_t some = here - first < rows ? here - first : rows;                                \
        some = some > 0 ? some : 0;                                                              \
        copy_##NAME(to, front + gap + first, some);                                              \
        copy_##NAME(to + some, front + first + some - here, rows - some);                        \
        for (int64_t i = rows; i < height; i++) {                                                \
            to[i] = (INFTY);                                                                     \
        }                                                                                        \
    }                                                                                            \
    static void fill_tile_##NAME(const twi_slabs_filler *f, int32_t b, int way, const T *front,  \
                                 int64_t stride, int64_t row)                                    \
    {                                                                                            \
        const twi_tree *tree = f->slabs->tree;                                                   \
        const int64_t rows = rows_of(tree, b, way), depth = depth_of(tree, b, way);              \
        const int64_t here = way == TWI_DOWN ? 0 : twi_tree_high(tree, b);                       \
        const int64_t size = twi_tree_size(tree, b), left = rows - row;                          \
        const int64_t height =                                                                   \
            left < TWI_SWEEP_TALL && has_low_tile(rows, depth) ? TWI_SWEEP_LOW : TWI_SWEEP_TALL; \
        T *to = (T *)(void *)f->data + f->slabs->at[way][b] + row * even(depth);                 \
        for (int64_t k = 0; k < even(depth); k++, to += height) {                                \
            int64_t source = way == TWI_DOWN ? size + k : k;                                     \
            fill_##NAME(to, front + source * stride, row,                                        \
                        k >= depth      ? 0                                                      \
                        : left < height ? left                                                   \
                                        : height,                                                \
                        height, here, size);                                                     \
        }                                                                                        \
    }
#define AS_IT_IS value
#define IN_15_BITS (uint16_t)(value < TWI_GPU_INF_U16 ? value : TWI_GPU_INF_U16)
DEFINE_FILL(u16, uint16_t, TWI_GPU_INF_U16, IN_15_BITS)
DEFINE_FILL(i32, int32_t, TW_APSP_INF_I32, AS_IT_IS)
DEFINE_FILL(f32, float, INFINITY, AS_IT_IS)
DEFINE_FILL(f64, double, (double)INFINITY, AS_IT_IS)

static void fill_tile(const twi_slabs_filler *f, int32_t b, int way, const void *front,
                      int64_t stride, int64_t row)
{
    switch (f->type) {
    case TW_U16:
        fill_tile_u16(f, b, way, front, stride, row);
        break;
    case TW_I32:
        fill_tile_i32(f, b, way, front, stride, row);
        break;
    case TW_F32:
        fill_tile_f32(f, b, way, front, stride, row);
        break;
    default:
        fill_tile_f64(f, b, way, front, stride, row);
        break;
    }
}

/* A large block is the only one at its time, and the threads share its tiles: TEAM_LEAST here is
 * more than what has others beside it there (factor.c). */
void twi_slabs_keep(void *filler, int32_t b, const void *front, int64_t stride)
{
    const twi_slabs_filler *f = filler;
    for (int way = 0; way < TWI_WAYS && !twi_is_cancelled(f->ctx); way++) {
        const int64_t rows = rows_of(f->slabs->tree, b, way);
        if (rows * depth_of(f->slabs->tree, b, way) < TEAM_LEAST) {
            for (int64_t row = 0; row < rows; row += TWI_SWEEP_TALL) {
                fill_tile(f, b, way, front, stride, row);
            }
            continue;
        }
#pragma omp parallel for num_threads(twi_team(f->threads)) schedule(dynamic)
        for (int64_t row = 0; row < rows; row += TWI_SWEEP_TALL) {
            if (!twi_is_cancelled(f->ctx)) {
                fill_tile(f, b, way, front, stride, row);
            }
        }
    }
}

/* The kernels of kernels/sweep.h in plain C, put on the streams of runtime.c, over tiles of 4
 * columns. Tasks go in the opposite of their order: none may depend on another one of its launch.
 */
#include "runtime.h"

#include "apsp/gpu/kernels/kernels.h"
#include "apsp/gpu/kernels/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { TILE = 4, TILES = 2 };

typedef struct pass {
    twi_gpu_batch batch;
    const twi_sweep_task *tasks;
    const int32_t *blocks;
    int64_t count, rows;
    int32_t height;
    int64_t spans;
    twi_gpu_folds folds;
    twi_gpu_sweep_arcs arcs;
} pass;

#define DEFINE_KERNELS(NAME, TYPE, T, INFTY)                                                       \
    static T *at_##NAME(const pass *p, void *rows, int64_t row, int64_t column)                    \
    {                                                                                              \
        return (T *)rows + row * p->batch.ld + column;                                             \
    }                                                                                              \
    static bool has_##NAME(const pass *p, int32_t block, int64_t column)                           \
    {                                                                                              \
        const twi_sweep_range range = p->batch.range[block];                                       \
        return column >= range.begin && column < range.end;                                        \
    }                                                                                              \
    static void run_begin_##NAME(const void *arguments)                                            \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t row = 0; row < p->batch.n; row++) {                                           \
            for (int64_t j = 0; j < p->batch.columns; j++) {                                       \
                if (has_##NAME(p, p->batch.block[row], j)) {                                       \
                    *at_##NAME(p, p->batch.x, row, j) = (INFTY);                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int64_t j = 0; j < p->batch.count; j++) {                                             \
            *at_##NAME(p, p->batch.x, p->batch.source[j], j) = 0;                                  \
        }                                                                                          \
    }                                                                                              \
    static int begin_##NAME(const twi_gpu_batch *batch, void *stream)                              \
    {                                                                                              \
        pass p = {.batch = *batch};                                                                \
        return fake_launch(run_begin_##NAME, &p, sizeof p, stream);                                \
    }                                                                                              \
    static void run_take_##NAME(const void *arguments)                                             \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t i = 0; i < p->count; i++) {                                                   \
            int32_t b = p->blocks[i];                                                              \
            int32_t first = p->batch.first[b];                                                     \
            for (int64_t row = 0; row < p->rows && first + row < p->batch.first[b + 1]; row++) {   \
                for (int64_t j = 0; j < p->batch.columns; j++) {                                   \
                    if (has_##NAME(p, b, j)) {                                                     \
                        *at_##NAME(p, p->batch.pool, row, j) =                                     \
                            *at_##NAME(p, p->batch.x, first + row, j);                             \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static int take_##NAME(const twi_gpu_batch *batch, const int32_t *blocks, int64_t count,       \
                           int64_t rows, void *stream)                                             \
    {                                                                                              \
        pass p = {.batch = *batch, .blocks = blocks, .count = count, .rows = rows};                \
        return fake_launch(run_take_##NAME, &p, sizeof p, stream);                                 \
    }                                                                                              \
    static void run_task_##NAME(const pass *p, const twi_sweep_task *t, bool up)                   \
    {                                                                                              \
        const T *slab = (const T *)p->batch.arcs + t->arcs;                                        \
        int64_t begin = up ? p->batch.range[t->block].begin / TILE * TILE : 0;                     \
        int64_t end = up ? begin + p->spans * TILE * TILES : p->batch.columns;                     \
        for (int32_t i = 0; i < t->rows; i++) {                                                    \
            int32_t out = p->batch.index[t->out + i];                                              \
            for (int64_t j = begin; j < end && j < p->batch.columns; j++) {                        \
                bool inside = has_##NAME(p, t->block, j);                                          \
                T value = inside ? *at_##NAME(p, p->batch.x, out, j) : (INFTY);                    \
                for (int32_t k = 0; k < t->depth && (inside || !up); k++) {                        \
                    T x = up ? *at_##NAME(p, p->batch.pool, k, j)                                  \
                             : *at_##NAME(p, p->batch.x, p->batch.index[t->from + k], j);          \
                    T sum = (T)(slab[k * p->height + i] + x);                                      \
                    value = sum < value ? sum : value;                                             \
                }                                                                                  \
                if (inside || !up) {                                                               \
                    *at_##NAME(p, p->batch.x, out, j) = value;                                     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void run_up_##NAME(const void *arguments)                                               \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t i = p->count - 1; i >= 0; i--) {                                              \
            run_task_##NAME(p, &p->tasks[i], true);                                                \
        }                                                                                          \
    }                                                                                              \
    static int up_##NAME(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count,   \
                         int32_t height, int64_t spans, void *stream)                              \
    {                                                                                              \
        pass p = {                                                                                 \
            .batch = *batch, .tasks = tasks, .count = count, .height = height, .spans = spans};    \
        return fake_launch(run_up_##NAME, &p, sizeof p, stream);                                   \
    }                                                                                              \
    static void run_down_##NAME(const void *arguments)                                             \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t i = p->count - 1; i >= 0; i--) {                                              \
            run_task_##NAME(p, &p->tasks[i], false);                                               \
        }                                                                                          \
    }                                                                                              \
    static int down_##NAME(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count, \
                           int32_t height, void *stream)                                           \
    {                                                                                              \
        pass p = {.batch = *batch, .tasks = tasks, .count = count, .height = height};              \
        return fake_launch(run_down_##NAME, &p, sizeof p, stream);                                 \
    }

#define DEFINE_FOLDS(NAME, T, INFTY)                                                               \
    static void run_fold_##NAME(const void *arguments)                                             \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t j = 0; j < p->batch.count; j++) {                                             \
            for (int64_t row = 0; row < p->batch.n; row++) {                                       \
                T value = *at_##NAME(p, p->batch.x, row, j);                                       \
                if (value >= (INFTY)) {                                                            \
                    *p->folds.capped = 1;                                                          \
                } else {                                                                           \
                    p->folds.sum[j] += (uint64_t)value;                                            \
                    p->folds.reached[j]++;                                                         \
                    p->folds.most[j] = value > p->folds.most[j] ? value : p->folds.most[j];        \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static int fold_##NAME(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream)   \
    {                                                                                              \
        pass p = {.batch = *batch, .folds = *folds};                                               \
        return fake_launch(run_fold_##NAME, &p, sizeof p, stream);                                 \
    }                                                                                              \
    static void run_widest_##NAME(const void *arguments)                                           \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t j = 0; j < p->batch.count; j++) {                                             \
            uint64_t key =                                                                         \
                (uint64_t)(p->folds.most[j] + 1) << 32 | (uint32_t) ~(uint32_t)p->batch.row[j];    \
            if (p->folds.reached[j] > 1 && key > *p->folds.widest) {                               \
                *p->folds.widest = key;                                                            \
            }                                                                                      \
        }                                                                                          \
        uint64_t key = *p->folds.widest;                                                           \
        for (int64_t row = 0; row < p->batch.n && key != 0; row++) {                               \
            int32_t column = p->folds.column[(uint32_t) ~(uint32_t)key];                           \
            if (*at_##NAME(p, p->batch.x, row, column) == (T)((key >> 32) - 1) &&                  \
                row != p->batch.source[column] && p->batch.vertex[row] < *p->folds.farthest) {     \
                *p->folds.farthest = p->batch.vertex[row];                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static int widest_##NAME(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream) \
    {                                                                                              \
        pass p = {.batch = *batch, .folds = *folds};                                               \
        return fake_launch(run_widest_##NAME, &p, sizeof p, stream);                               \
    }                                                                                              \
    static void run_certify_##NAME(const void *arguments)                                          \
    {                                                                                              \
        const pass *p = arguments;                                                                 \
        for (int64_t u = 0; u < p->batch.n && *p->folds.capped != 0; u++) {                        \
            for (int64_t a = p->arcs.offsets[u]; a < p->arcs.offsets[u + 1]; a++) {                \
                int32_t from = p->arcs.place[u];                                                   \
                int32_t to = p->arcs.place[p->arcs.targets[a]];                                    \
                for (int64_t j = 0; j < p->batch.columns; j++) {                                   \
                    if (*at_##NAME(p, p->batch.x, from, j) < (INFTY) &&                            \
                        *at_##NAME(p, p->batch.x, to, j) >= (INFTY)) {                             \
                        *p->folds.refuted = 1;                                                     \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static int certify_##NAME(const twi_gpu_batch *batch, const twi_gpu_folds *folds,              \
                              const twi_gpu_sweep_arcs *arcs, void *stream)                        \
    {                                                                                              \
        pass p = {.batch = *batch, .folds = *folds, .arcs = *arcs};                                \
        return fake_launch(run_certify_##NAME, &p, sizeof p, stream);                              \
    }

DEFINE_KERNELS(u16, TW_U16, uint16_t, TWI_GPU_INF_U16)
DEFINE_FOLDS(u16, uint16_t, TWI_GPU_INF_U16)
DEFINE_KERNELS(i32, TW_I32, int32_t, TW_APSP_INF_I32)
DEFINE_FOLDS(i32, int32_t, TW_APSP_INF_I32)
DEFINE_KERNELS(f32, TW_F32, float, INFINITY)
DEFINE_KERNELS(f64, TW_F64, double, (double)INFINITY)

const twi_gpu_sweep_kernel *twi_gpu_sweep_kernel_find(tw_type type)
{
    static const twi_gpu_sweep_kernel kernels[] = {
        {TW_U16, 2, TILE, TILES, begin_u16, take_u16, up_u16, down_u16, fold_u16, widest_u16,
         certify_u16},
        {TW_I32, 4, TILE, TILES, begin_i32, take_i32, up_i32, down_i32, fold_i32, widest_i32,
         certify_i32},
        {TW_F32, 4, TILE, TILES, begin_f32, take_f32, up_f32, down_f32, NULL, NULL, NULL},
        {TW_F64, 8, TILE, TILES, begin_f64, take_f64, up_f64, down_f64, NULL, NULL, NULL},
    };
    for (int i = 0; i < 4; i++) {
        if (kernels[i].type == type) {
            return &kernels[i];
        }
    }
    return NULL;
}

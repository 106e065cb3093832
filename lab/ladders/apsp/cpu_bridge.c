/*
 * See cpu_kernels.h. Three phases over whole tiles: the matrix is padded with "no path", and
 * its rows to an odd number of cache lines. With packed operands, each round packs the pivot's row
 * and column of tiles once, and every other tile is a product of two packed ones.
 */
#include "ladders/apsp/cpu_kernels.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"

enum { BLOCK = LAB_CPU_BRIDGE_BLOCK, ROWS = LAB_CPU_BRIDGE_ROWS, LINE = 64 };

typedef struct closure {
    tw_context *ctx;
    const lab_cpu_bridge_kernel *kernel;
    lab_cpu_bridge_type type;
    int64_t n, tiles, ld; /* vertices; tiles a side; elements from row to row */
    int32_t size;         /* bytes of an element */
    char *d;
    char *columns, *rows; /* packed: of the pivot, a tile after the other; NULL: not packed */
    int threads;
} closure;

static const lab_cpu_bridge_kernel *kernel_of(twi_isa isa, lab_cpu_bridge_type type)
{
    switch (isa) {
#ifdef TWI_HAVE_NEON
    case TWI_ISA_NEON:
        return &lab_cpu_bridge_neon[type];
#endif
#ifdef TWI_HAVE_AVX2
    case TWI_ISA_AVX2:
        return &lab_cpu_bridge_avx2[type];
#endif
#ifdef TWI_HAVE_AVX512
    case TWI_ISA_AVX512:
        return &lab_cpu_bridge_avx512[type];
#endif
    default:
        return &lab_cpu_bridge_scalar[type];
    }
}

static char *tile(const closure *s, int64_t i, int64_t j)
{
    return s->d + (i * BLOCK * s->ld + j * BLOCK) * s->size;
}

static int32_t get(const closure *s, const char *from, int64_t at)
{
    return s->type == LAB_CPU_BRIDGE_U16 ? ((const uint16_t *)from)[at]
                                         : ((const int32_t *)from)[at];
}

static void put(const closure *s, char *to, int64_t at, int32_t value)
{
    if (s->type == LAB_CPU_BRIDGE_U16) {
        ((uint16_t *)to)[at] =
            (uint16_t)(value < LAB_CPU_BRIDGE_NO_PATH_U16 ? value : LAB_CPU_BRIDGE_NO_PATH_U16);
    } else {
        ((int32_t *)to)[at] = value;
    }
}

static void import(const closure *s, const int32_t *in)
{
    for (int64_t i = 0; i < s->tiles * BLOCK; i++) {
        for (int64_t j = 0; j < s->tiles * BLOCK; j++) {
            put(s, s->d, i * s->ld + j, i < s->n && j < s->n ? in[i * s->n + j] : TW_APSP_INF_I32);
        }
    }
}

static void export(const closure *s, int32_t *out)
{
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            int32_t value = get(s, s->d, i * s->ld + j);
            bool none = s->type == LAB_CPU_BRIDGE_U16 && value == LAB_CPU_BRIDGE_NO_PATH_U16;
            out[i * s->n + j] = none ? TW_APSP_INF_I32 : value;
        }
    }
}

/* A column tile: strips of ROWS rows, depth by depth. */
static void pack_column(const closure *s, int64_t i, int64_t k)
{
    const char *from = tile(s, i, k);
    char *to = s->columns + i * BLOCK * BLOCK * s->size;
    for (int64_t row = 0; row < BLOCK; row++) {
        for (int64_t p = 0; p < BLOCK; p++) {
            put(s, to, row / ROWS * ROWS * BLOCK + p * ROWS + row % ROWS,
                get(s, from, row * s->ld + p));
        }
    }
}

/* A row tile: strips of as many columns as the registers hold, depth by depth. */
static void pack_row(const closure *s, int64_t k, int64_t j)
{
    const char *from = tile(s, k, j);
    char *to = s->rows + j * BLOCK * BLOCK * s->size;
    const int64_t wide = s->kernel->columns;
    for (int64_t p = 0; p < BLOCK; p++) {
        for (int64_t col = 0; col < BLOCK; col++) {
            put(s, to, col / wide * wide * BLOCK + p * wide + col % wide,
                get(s, from, p * s->ld + col));
        }
    }
}

/* Tile (i, k) and tile (k, i), closed with the pivot and, if asked for, packed. */
static void do_panels(const closure *s, int64_t i, int64_t k)
{
    char *pivot = tile(s, k, k);
    s->kernel->update(tile(s, i, k), tile(s, i, k), pivot, s->ld);
    s->kernel->update(tile(s, k, i), pivot, tile(s, k, i), s->ld);
    if (s->columns != NULL) {
        pack_column(s, i, k);
        pack_row(s, k, i);
    }
}

static void do_rest(const closure *s, int64_t i, int64_t j, int64_t k)
{
    const int64_t bytes = (int64_t)BLOCK * BLOCK * s->size;
    if (s->columns != NULL) {
        s->kernel->product(tile(s, i, j), s->ld, s->columns + i * bytes, s->rows + j * bytes);
    } else {
        s->kernel->update(tile(s, i, j), tile(s, i, k), tile(s, k, j), s->ld);
    }
}

static void close_all(const closure *s)
{
    for (int64_t k = 0; k < s->tiles && !twi_is_cancelled(s->ctx); k++) {
        s->kernel->update(tile(s, k, k), tile(s, k, k), tile(s, k, k), s->ld);
#pragma omp parallel num_threads(twi_team(s->threads))
        {
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < s->tiles; i++) {
                if (i != k && !twi_is_cancelled(s->ctx)) {
                    do_panels(s, i, k);
                }
            }
#pragma omp for collapse(2) schedule(dynamic, 4)
            for (int64_t i = 0; i < s->tiles; i++) {
                for (int64_t j = 0; j < s->tiles; j++) {
                    if (i != k && j != k && !twi_is_cancelled(s->ctx)) {
                        do_rest(s, i, j, k);
                    }
                }
            }
        }
    }
}

tw_status lab_cpu_bridge_solve(tw_context *ctx, int32_t *out, const int32_t *in, int64_t n,
                               twi_isa isa, lab_cpu_bridge_type type, bool packed, double *seconds)
{
    closure s = {.ctx = ctx,
                 .kernel = kernel_of(isa, type),
                 .type = type,
                 .n = n,
                 .tiles = (n + BLOCK - 1) / BLOCK,
                 .size = type == LAB_CPU_BRIDGE_U16 ? 2 : 4,
                 .threads = twi_thread_count(ctx)};
    const int64_t side = s.tiles * BLOCK, line = LINE / s.size;
    s.ld = side + ((side / line) % 2 == 0 ? line : 0);
    tw_status status = twi_alloc(ctx, &s.d, (uint64_t)(side * s.ld), (uint64_t)s.size, "a matrix");
    if (status == TW_OK && packed) {
        status = twi_alloc(ctx, &s.columns, (uint64_t)(side * BLOCK), (uint64_t)s.size, "a panel");
    }
    if (status == TW_OK && packed) {
        status = twi_alloc(ctx, &s.rows, (uint64_t)(side * BLOCK), (uint64_t)s.size, "a panel");
    }
    if (status == TW_OK) {
        import(&s, in);
        double begun = twi_seconds();
        close_all(&s);
        *seconds = twi_seconds() - begun;
        export(&s, out);
    }
    twi_free(s.rows);
    twi_free(s.columns);
    twi_free(s.d);
    return status;
}

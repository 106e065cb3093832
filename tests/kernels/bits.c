/*
 * Results in floats have the bits that docs/methods.md states: whatever the instruction set, the
 * shape of its tiles, the number of threads, and whether half of a symmetric matrix is closed or
 * all of it. Closures are compared with plain loops that follow the rule, and not only those of the
 * kernels this machine has: the tile shapes of all instruction sets are worked by plain loops, too.
 * Whole runs are compared over instruction sets, threads, methods and blocks. Checksums compare the
 * architectures with each other.
 *
 * A program of its own, without cmocka, so that it can be built for another architecture and run
 * under an emulator (where TW_TEST_SMALL leaves out most sizes). Usage: test_bits [SEED]
 */
#include "apsp/closure/cpu.h"
#include "base/context.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261115u
#define INNER 64 /* pivots within a tile that is being closed */

static uint64_t seed = SEED;
static bool small; /* under an emulator: the sizes and blocks that differed once */
static int passed;
static int failed;

static void must(tw_context *ctx, tw_status status)
{
    if (status != TW_OK) {
        printf("FAILED: %s\n", tw_last_error(ctx));
        exit(1);
    }
}

static void *must_have(size_t bytes)
{
    void *block = malloc(bytes + 1);
    if (block == NULL) {
        printf("FAILED: no memory\n");
        exit(1);
    }
    memset(block, 0xA5, bytes + 1);
    return block;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------------------------ the rule */

/*
 * Kernels with the tile of another instruction set: mr = 4 rows and shape_nr columns, elements of
 * the left operand shape_copies times over. And the rule, on a matrix without padding: pivots of
 * `block`; a pivot's tile is closed with pivots of INNER, and those one vertex at a time.
 */
static int32_t shape_nr;
static int32_t shape_copies;
enum { SHAPE_MR = 4 };

#define DEFINE(T, S)                                                                             \
    static void shape_update_##S(int64_t depth, const void *a_, const void *b_, void *c_,        \
                                 int64_t ldc, const twi_ahead *ahead)                            \
    {                                                                                            \
        const T *a = a_;                                                                         \
        const T *b = b_;                                                                         \
        (void)ahead;                                                                             \
        for (int64_t p = 0; p < depth; p++) {                                                    \
            for (int64_t i = 0; i < SHAPE_MR; i++) {                                             \
                T head = a[(p * SHAPE_MR + i) * shape_copies];                                   \
                T *c = (T *)c_ + i * ldc;                                                        \
                for (int64_t j = 0; j < shape_nr; j++) {                                         \
                    T sum = head + b[p * shape_nr + j];                                          \
                    c[j] = sum < c[j] ? sum : c[j];                                              \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
    static twi_range shape_pack_a_##S(void *out_, int64_t rows, int64_t depth, const void *src_, \
                                      int64_t row_step, int64_t depth_step)                      \
    {                                                                                            \
        T *out = out_;                                                                           \
        for (int64_t p = 0; p < depth + depth % 2; p++) {                                        \
            for (int64_t i = 0; i < SHAPE_MR; i++) {                                             \
                bool inside = i < rows && p < depth;                                             \
                for (int32_t k = 0; k < shape_copies; k++) {                                     \
                    *out++ =                                                                     \
                        inside ? ((const T *)src_)[i * row_step + p * depth_step] : (T)INFINITY; \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        return (twi_range){0, (int32_t)(depth + depth % 2)};                                     \
    }                                                                                            \
    static twi_range shape_pack_b_##S(void *out_, int64_t cols, int64_t depth, const void *src_, \
                                      int64_t ld)                                                \
    {                                                                                            \
        T *out = out_;                                                                           \
        for (int64_t p = 0; p < depth + depth % 2; p++) {                                        \
            for (int64_t j = 0; j < shape_nr; j++) {                                             \
                *out++ = j < cols && p < depth ? ((const T *)src_)[p * ld + j] : (T)INFINITY;    \
            }                                                                                    \
        }                                                                                        \
        return (twi_range){0, (int32_t)(depth + depth % 2)};                                     \
    }                                                                                            \
    /* out[i][j] = min over p of in[i][p] + tile[p][j], for rows i of one column panel. */       \
    static void rule_columns_##S(T *c, int64_t ld, int64_t n, int64_t at, int64_t width)         \
    {                                                                                            \
        T *old = must_have((size_t)width * sizeof(T));                                           \
        for (int64_t i = 0; i < n; i++) {                                                        \
            memcpy(old, c + i * ld + at, (size_t)width * sizeof(T));                             \
            for (int64_t p = 0; p < width && (i < at || i >= at + width); p++) {                 \
                for (int64_t j = at; j < at + width; j++) {                                      \
                    T sum = old[p] + c[(at + p) * ld + j];                                       \
                    c[i * ld + j] = sum < c[i * ld + j] ? sum : c[i * ld + j];                   \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        free(old);                                                                               \
    }                                                                                            \
    static void rule_rows_##S(T *c, int64_t ld, int64_t n, int64_t at, int64_t width)            \
    {                                                                                            \
        T *old = must_have((size_t)(width * n) * sizeof(T));                                     \
        for (int64_t p = 0; p < width; p++) {                                                    \
            memcpy(old + p * n, c + (at + p) * ld, (size_t)n * sizeof(T));                       \
        }                                                                                        \
        for (int64_t i = at; i < at + width; i++) {                                              \
            for (int64_t j = 0; j < n; j++) {                                                    \
                for (int64_t p = 0; p < width && (j < at || j >= at + width); p++) {             \
                    T sum = c[i * ld + at + p] + old[p * n + j];                                 \
                    c[i * ld + j] = sum < c[i * ld + j] ? sum : c[i * ld + j];                   \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        free(old);                                                                               \
    }                                                                                            \
    static void rule_##S(T *c, int64_t ld, int64_t n, int64_t block)                             \
    {                                                                                            \
        for (int64_t at = 0; at < n; at += block) {                                              \
            int64_t width = least(block, n - at);                                                \
            if (block > 1) {                                                                     \
                rule_##S(c + at * ld + at, ld, width, block > INNER ? INNER : 1);                \
                rule_rows_##S(c, ld, n, at, width);                                              \
                rule_columns_##S(c, ld, n, at, width);                                           \
            }                                                                                    \
            for (int64_t i = 0; i < n; i++) {                                                    \
                for (int64_t p = at; p < at + width && (i < at || i >= at + width); p++) {       \
                    T head = c[i * ld + p];                                                      \
                    for (int64_t j = 0; j < n; j++) {                                            \
                        T sum = head + c[p * ld + j];                                            \
                        bool beside = j < at || j >= at + width;                                 \
                        c[i * ld + j] = beside && sum < c[i * ld + j] ? sum : c[i * ld + j];     \
                    }                                                                            \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }

DEFINE(float, f32)
DEFINE(double, f64)

/* ------------------------------------------------------------------------------------ closures */

typedef struct closure_case {
    tw_type type;
    int64_t n;
    int64_t block;
    double density;
    bool undirected;
} closure_case;

/* Fractions of 24 or 53 bits at any exponent: nearly every sum is rounded. */
static double weight_of(const closure_case *c, int64_t i, int64_t j)
{
    int64_t a = c->undirected && i < j ? j : i;
    int64_t b = c->undirected && i < j ? i : j;
    uint64_t random = twi_random_at(seed + (uint64_t)c->n, (uint64_t)(a * c->n + b));
    double value = twi_random_unit(twi_random_at(seed, random)) / 3;
    bool edge = i != j && twi_random_unit(random) < c->density;
    return i == j ? 0 : edge ? (c->type == TW_F32 ? (double)(float)value : value) : INFINITY;
}

static void *make_matrix(const closure_case *c, int64_t ld)
{
    void *data = must_have((size_t)(c->n * ld) * tw_type_size(c->type));
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < ld; j++) {
            double weight = j < c->n ? weight_of(c, i, j) : INFINITY;
            if (c->type == TW_F32) {
                ((float *)data)[i * ld + j] = (float)weight;
            } else {
                ((double *)data)[i * ld + j] = weight;
            }
        }
    }
    return data;
}

static void *follow_rule(const closure_case *c)
{
    void *data = make_matrix(c, c->n);
    if (c->type == TW_F32) {
        rule_f32(data, c->n, c->n, c->block);
    } else {
        rule_f64(data, c->n, c->n, c->block);
    }
    return data;
}

static uint64_t checksum(const void *data, size_t bytes)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
    }
    return hash;
}

static void check_closure(tw_context *ctx, const closure_case *c, const void *want,
                          const twi_minplus_kernel *kernel, int threads, bool symmetric)
{
    twi_work work = {kernel, NULL, c->n, twi_work_stride(kernel, c->n)};
    size_t size = tw_type_size(c->type);
    int32_t block = twi_block_round(kernel, c->n, c->block);
    int64_t wrong = 0;
    work.data = make_matrix(c, work.ld);
    must(ctx, twi_cpu_closure(ctx, &work, block, threads, symmetric));
    for (int64_t i = 0; i < c->n * c->n; i++) {
        const char *got = (char *)work.data + (size_t)(i / c->n * work.ld + i % c->n) * size;
        wrong += memcmp(got, (const char *)want + (size_t)i * size, size) != 0;
    }
    passed += wrong == 0;
    failed += wrong != 0;
    if (wrong != 0) {
        printf("FAILED %s, tile %d x %d: n %lld, block %lld, density %g, %d threads, %s: %lld "
               "entries have other bits than the rule's, seed %llu\n",
               kernel->name, kernel->mr, kernel->nr, (long long)c->n, (long long)c->block,
               c->density, threads, symmetric ? "one half" : "both halves", (long long)wrong,
               (unsigned long long)seed);
    }
    free(work.data);
}

/* One case by every kernel there is, and by the tiles of those there are not. */
static void check_kernels(tw_context *ctx, const closure_case *c)
{
    static const int32_t widths[] = {4, 8, 16, 32, 64}; /* scalar ... AVX-512 in f32 */
    static const int teams[] = {1, 2, 5};
    void *want = follow_rule(c);
    int turn = (int)(c->n % 3);
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        for (int half = 0; half <= c->undirected && twi_isa_usable(isa); half++) {
            check_closure(ctx, c, want, twi_minplus_kernel_find(isa, c->type), teams[turn++ % 3],
                          half == 1);
        }
    }
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        if (c->type == TW_F64 && widths[w] == 64) {
            break; /* 32 of those fill the vectors of AVX-512 */
        }
        twi_minplus_kernel kernel = *twi_minplus_kernel_find(TWI_ISA_SCALAR, c->type);
        bool narrow = c->type == TW_F32;
        kernel.name = "plain loops";
        kernel.mr = SHAPE_MR;
        kernel.nr = shape_nr = widths[w];
        kernel.a_lanes = shape_copies = w % 2 == 0 ? 1 : widths[w] / 4;
        kernel.update = narrow ? shape_update_f32 : shape_update_f64;
        kernel.pack_a = narrow ? shape_pack_a_f32 : shape_pack_a_f64;
        kernel.pack_b = narrow ? shape_pack_b_f32 : shape_pack_b_f64;
        for (int half = 0; half <= c->undirected; half++) {
            check_closure(ctx, c, want, &kernel, teams[turn++ % 3], half == 1);
        }
    }
    free(want);
}

static void check_closures(tw_context *ctx)
{
    static const int64_t sizes[] = {160, 200, 65, 1, 63, 64, 129, 257};
    static const tw_type types[] = {TW_F32, TW_F64};
    for (size_t s = 0; s < (small ? 2 : sizeof sizes / sizeof *sizes); s++) {
        for (int64_t block = small ? 128 : 64; block <= (small ? 128 : 192); block += 64) {
            for (int way = 0; way < 4; way += small ? 3 : 1) {
                closure_case c = {types[way % 2], sizes[s], block, way == 3 ? 0.05 : 0.3, way >= 2};
                check_kernels(ctx, &c);
            }
        }
    }
}

/* ----------------------------------------------------------------------------------- whole runs */

/* Weights of a run: fractions, some of them 0 or -0, all the same, or some below zero without a
 * negative cycle. */
typedef enum weights { FRACTIONS, ZEROS, EQUAL, NEGATIVE } weights;

static tw_graph *make_graph(tw_context *ctx, const closure_case *c, weights which)
{
    double no_edge = INFINITY;
    tw_graph *graph = NULL;
    void *data = make_matrix(c, c->n);
    for (int64_t i = 0; i < c->n * c->n; i++) {
        double *wide = &((double *)data)[i];
        float *narrow = &((float *)data)[i];
        double weight = c->type == TW_F32 ? (double)*narrow : *wide;
        if (which == ZEROS && !isinf(weight) && i % 3 != 0) {
            weight = i % 3 == 1 ? -0.0 : 0;
        } else if (which == EQUAL && !isinf(weight)) {
            weight = 0.1;
        } else if (which == NEGATIVE) { /* of any cycle, the heights add up to nothing */
            weight += ((double)(i / c->n * 7 % 11) - (double)(i % c->n * 7 % 11)) / 16;
        }
        if (c->type == TW_F32) {
            *narrow = (float)weight;
        } else {
            *wide = weight;
        }
    }
    tw_matrix matrix = {data, c->n, c->n, c->n, c->type};
    must(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, &no_edge,
                                   c->undirected ? TW_GRAPH_UNDIRECTED : 0));
    free(data);
    return graph;
}

/* The bits of one method and block must be those of the scalar kernels on one thread. Returns their
 * checksum. */
static uint64_t check_runs(tw_context *ctx, const closure_case *c, const tw_graph *graph,
                           tw_apsp_method method)
{
    size_t bytes = (size_t)(c->n * c->n) * tw_type_size(c->type);
    void *first = must_have(bytes);
    void *other = must_have(bytes);
    tw_matrix out = {first, c->n, c->n, c->n, c->type};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = method;
    options.block = (int32_t)c->block;
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        for (int threads = 1; threads <= (small ? 2 : 4) && twi_isa_usable(isa); threads++) {
            must(ctx, tw_set_isa(ctx, twi_isa_name(isa)));
            must(ctx, tw_set_threads(ctx, threads));
            must(ctx, tw_apsp(ctx, &out, graph, &options));
            bool same = memcmp(first, out.data, bytes) == 0;
            passed += same;
            failed += !same;
            if (!same) {
                printf("FAILED %s, %s, %d threads: n %lld, block %lld, %s, %s: other bits, "
                       "seed %llu\n",
                       tw_apsp_method_name(method), twi_isa_name(isa), threads, (long long)c->n,
                       (long long)c->block, tw_type_name(c->type),
                       c->undirected ? "undirected" : "directed", (unsigned long long)seed);
            }
            out.data = other;
        }
    }
    uint64_t sum = checksum(first, bytes);
    free(other);
    free(first);
    return sum;
}

static void check_methods(tw_context *ctx)
{
    for (int way = 0; way < (small ? 1 : 4); way++) {
        closure_case c = {way % 2 == 0 ? TW_F32 : TW_F64, 160 + 7 * way, 0, 0.1, way >= 2};
        for (weights which = FRACTIONS; which <= NEGATIVE; which++) {
            if (which == NEGATIVE && c.undirected) {
                continue; /* a negative edge, there and back, is a cycle */
            }
            tw_graph *graph = make_graph(ctx, &c, which);
            for (c.block = 0; c.block <= 128; c.block += 64) {
                (void)check_runs(ctx, &c, graph, TW_APSP_METHOD_CLOSURE);
            }
            c.block = 0;
            (void)check_runs(ctx, &c, graph, TW_APSP_METHOD_DIJKSTRA);
            if (which == EQUAL) {
                (void)check_runs(ctx, &c, graph, TW_APSP_METHOD_BFS);
            }
            tw_graph_destroy(graph);
        }
    }
}

/* What every architecture must find, with the seed of this file. */
static void check_checksums(tw_context *ctx)
{
    static const struct {
        tw_type type;
        tw_apsp_method method;
        uint64_t sum;
    } known[] = {
        {TW_F32, TW_APSP_METHOD_CLOSURE, 0x129446AF812D031Eu},
        {TW_F32, TW_APSP_METHOD_DIJKSTRA, 0xE4B7344EF23767CFu},
        {TW_F64, TW_APSP_METHOD_CLOSURE, 0x03EA5C707F8E93B7u},
        {TW_F64, TW_APSP_METHOD_DIJKSTRA, 0xD296433A4375D806u},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known && seed == SEED; i++) {
        closure_case c = {known[i].type, 200, 128, 0.3, false};
        tw_graph *graph = make_graph(ctx, &c, FRACTIONS);
        uint64_t sum = check_runs(ctx, &c, graph, known[i].method);
        passed += sum == known[i].sum;
        failed += sum != known[i].sum;
        if (sum != known[i].sum) {
            printf("FAILED %s, %s: the checksum is 0x%016llXu, not 0x%016llXu\n",
                   tw_apsp_method_name(known[i].method), tw_type_name(known[i].type),
                   (unsigned long long)sum, (unsigned long long)known[i].sum);
        }
        tw_graph_destroy(graph);
    }
}

int main(int argc, char **argv)
{
    tw_context *ctx = NULL;
    small = getenv("TW_TEST_SMALL") != NULL;
    if (argc > 1) {
        seed = strtoull(argv[1], NULL, 10);
    }
    if (tw_context_create(&ctx) != TW_OK) {
        printf("FAILED: no context\n");
        return 1;
    }
    check_closures(ctx);
    check_methods(ctx);
    check_checksums(ctx);
    tw_context_destroy(ctx);
    printf("bits: %d passed, %d failed, seed %llu\n", passed, failed, (unsigned long long)seed);
    return failed != 0;
}

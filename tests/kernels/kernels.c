/*
 * Every micro-kernel of an instruction set against plain loops, and the blocked closure over it
 * against plain Floyd-Warshall. A program of its own, without cmocka, so that it can be built where
 * there is none. Prints a closing line of counts; exit 1 if anything differs, 77 if this processor
 * (or its emulator) does not have the instruction set. Usage: test_kernels ISA [SEED]
 */
#include "apsp/closure/cpu.h"
#include "apsp/closure/product.h"
#include "base/context.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 20261115;
static uint64_t drawn;
static double no_path; /* of the current kernel */
static int passed;
static int failed;

static void check(int good, const char *kernel, const char *what, long long size)
{
    passed += good;
    failed += !good;
    if (!good) {
        printf("FAILED %s: %s, size %lld, seed %llu\n", kernel, what, size,
               (unsigned long long)seed);
    }
}

static uint64_t draw(uint64_t bound)
{
    return twi_random_below(twi_random_at(seed, drawn++), bound);
}

/* Elements as doubles, whatever the type: exact for all of them. */
static double get(const void *p, tw_type type, int64_t i)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)p)[i];
    case TW_U16:
        return ((const uint16_t *)p)[i];
    case TW_I32:
        return ((const int32_t *)p)[i];
    case TW_F32:
        return ((const float *)p)[i];
    default:
        return ((const double *)p)[i];
    }
}

static void put(void *p, tw_type type, int64_t i, double value)
{
    switch (type) {
    case TW_U8:
        ((uint8_t *)p)[i] = (uint8_t)value;
        break;
    case TW_U16:
        ((uint16_t *)p)[i] = (uint16_t)value;
        break;
    case TW_I32:
        ((int32_t *)p)[i] = (int32_t)value;
        break;
    case TW_F32:
        ((float *)p)[i] = (float)value;
        break;
    default:
        ((double *)p)[i] = value;
        break;
    }
}

/* Values here are whole numbers or no path, so the plain loops run on integers, for floats too. */
static const int64_t NO_PATH = INT64_C(1) << 60; /* in floats; integers have a cap of their own */

static int64_t whole(double value)
{
    return isinf(value) ? NO_PATH : (int64_t)value;
}

static int64_t *whole_of(const void *p, tw_type type, int64_t rows, int64_t cols, int64_t ld)
{
    int64_t *out = malloc((size_t)(rows * cols + 1) * sizeof *out);
    for (int64_t i = 0; i < rows * cols; i++) {
        out[i] = whole(get(p, type, i / cols * ld + i % cols));
    }
    return out;
}

static int same(const void *p, tw_type type, int64_t rows, int64_t cols, int64_t ld,
                const int64_t *want)
{
    for (int64_t i = 0; i < rows * cols; i++) {
        double wanted = want[i] == NO_PATH ? INFINITY : (double)want[i];
        if (get(p, type, i / cols * ld + i % cols) != wanted) {
            return 0;
        }
    }
    return 1;
}

/* c[j] = min(c[j], a + b[j], the type's cap), for all j. */
static void relax(int64_t *c, int64_t a, const int64_t *b, int64_t n, int64_t cap)
{
    for (int64_t j = 0; j < n; j++) {
        int64_t sum = a + b[j] < cap ? a + b[j] : cap;
        c[j] = sum < c[j] ? sum : c[j];
    }
}

/* A value worth testing: small, anywhere below the cap, right at it, or no path. */
static double value(tw_type type)
{
    double cap = type == TW_F32 || type == TW_F64 ? 1 << 20 : no_path;
    switch (draw(8)) {
    case 0:
        return no_path;
    case 1:
        return cap - 1;
    case 2:
        return 0;
    case 3:
        return (double)draw((uint64_t)cap);
    default:
        return (double)draw(100);
    }
}

static void *matrix(tw_type type, int64_t count)
{
    void *block = aligned_alloc(64, ((size_t)count * tw_type_size(type) + 127) / 64 * 64);
    if (block == NULL) {
        puts("not enough memory for the test");
        exit(2);
    }
    return block;
}

static void fill(void *p, tw_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        put(p, type, i, value(type));
    }
}

/* C = min(C, A (x) B) through packing and micro-kernels, with a border around C that must stay. */
static void check_product(const twi_minplus_kernel *kernel, int64_t m, int64_t k, int64_t n)
{
    tw_type type = kernel->type;
    int64_t ldc = n + 5;
    char *a = matrix(type, m * k + 1);
    char *b = matrix(type, k * n + 1);
    char *c = matrix(type, (m + 1) * ldc);
    twi_panel pa = {matrix(TW_U8, (int64_t)twi_packed_a_bytes(kernel, m, k) + 1),
                    matrix(TW_F64, m + 1), 0};
    twi_panel pb = {matrix(TW_U8, (int64_t)twi_packed_b_bytes(kernel, n, k) + 1),
                    matrix(TW_F64, n + 1), 0};
    fill(a, type, m * k);
    fill(b, type, k * n);
    fill(c, type, (m + 1) * ldc);
    int64_t *left = whole_of(a, type, m, k, k);
    int64_t *right = whole_of(b, type, k, n, n);
    int64_t *want = whole_of(c, type, m + 1, ldc, ldc);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t p = 0; p < k; p++) {
            relax(want + i * ldc, left[i * k + p], right + p * n, n, whole(no_path));
        }
    }
    (void)twi_pack_a(kernel, &pa, m, k, a, k, 1);
    twi_pack_b(kernel, &pb, 0, n, k, b, n);
    twi_product(kernel, &pa, m, &pb, 0, n, c, ldc, TWI_NO_DIAGONAL);
    check(same(c, type, m + 1, ldc, ldc, want), kernel->name, "product",
          m * 1000000 + k * 1000 + n);
    /* Once more: nothing changes, even where all strips but the first lie above the diagonal. */
    twi_product(kernel, &pa, m, &pb, 0, n, c, ldc, 0);
    check(same(c, type, m + 1, ldc, ldc, want), kernel->name, "product below the diagonal",
          m * 1000000 + k * 1000 + n);
    free(a);
    free(b);
    free(c);
    free(left);
    free(right);
    free(want);
    free(pa.data);
    free(pa.ranges);
    free(pb.data);
    free(pb.ranges);
}

/* A transposed left operand packs to the same bytes as its transpose, and `transpose` is one. */
static void check_transpose(const twi_minplus_kernel *kernel, int64_t m, int64_t k)
{
    tw_type type = kernel->type;
    size_t packed = (size_t)twi_packed_a_bytes(kernel, m, k);
    char *a = matrix(type, m * k + 1);
    char *t = matrix(type, m * k + 1);
    char *direct = matrix(TW_U8, (int64_t)packed + 1);
    char *turned = matrix(TW_U8, (int64_t)packed + 1);
    twi_panel panel = {direct, matrix(TW_F64, m + 1), 0};
    fill(a, type, m * k);
    kernel->transpose(t, m, a, k, m, k);
    int good = 1;
    for (int64_t i = 0; i < m * k; i++) {
        good &= get(a, type, i) == get(t, type, i % k * m + i / k);
    }
    bool finite = twi_pack_a(kernel, &panel, m, k, a, k, 1);
    panel.data = turned;
    good &= twi_pack_a(kernel, &panel, m, k, t, 1, m) == finite;
    good &= memcmp(direct, turned, packed) == 0;
    check(good, kernel->name, "transpose", m * 1000 + k);
    free(a);
    free(t);
    free(direct);
    free(turned);
    free(panel.ranges);
}

/* Rows of one matrix from rows of another, anywhere and in any order, some depths left out, and a
 * matrix around them that must stay. */
static void check_rows(const twi_minplus_kernel *kernel, int64_t rows, int64_t depth, bool picked,
                       bool fresh)
{
    enum { STRIPS = 2 };
    tw_type type = kernel->type;
    const int64_t cap = whole(no_path);
    const int64_t n = STRIPS * kernel->nr;
    const int64_t steps = picked ? (depth + 1) / 2 : depth;
    char *a = matrix(type, rows * depth + 1);
    char *b = matrix(type, (depth + 3) * (n + 3));
    char *c = matrix(type, (2 * rows + 3) * (n + 5));
    int32_t pick[200];
    int64_t from[200];
    int64_t to[200];
    twi_panel panel = {matrix(TW_U8, (int64_t)twi_packed_a_bytes(kernel, rows, depth) + 1),
                       matrix(TW_F64, rows + 1), 0};
    fill(a, type, rows * depth);
    fill(b, type, (depth + 3) * (n + 3));
    fill(c, type, (2 * rows + 3) * (n + 5));
    int64_t *left = whole_of(a, type, rows, depth, depth);
    int64_t *right = whole_of(b, type, depth + 3, n, n + 3);
    int64_t *want = whole_of(c, type, 2 * rows + 3, n + 5, n + 5);
    for (int64_t p = 0; p < steps; p++) {
        pick[p] = (int32_t)(picked ? depth - 1 - 2 * p : p);
        from[p] = (p * 7 + 1) % (depth + 3) * (n + 3);
    }
    for (int64_t i = 0; i < rows; i++) {
        to[i] = 2 * (rows - i) * (n + 5);
        for (int64_t j = 0; j < n && fresh; j++) {
            want[to[i] + j] = cap;
        }
        for (int64_t p = 0; p < steps; p++) {
            relax(want + to[i], left[i * depth + pick[p]], right + from[p] / (n + 3) * n, n, cap);
        }
    }
    (void)twi_pack_a(kernel, &panel, rows, depth, a, depth, 1);
    kernel->update_rows(&(twi_rows_product){
        .rows = rows,
        .depth = steps,
        .strips = STRIPS,
        .a = panel.data,
        .a_step = (int64_t)(twi_packed_a_bytes(kernel, kernel->mr, depth) / tw_type_size(type)),
        .pick = picked ? pick : NULL,
        .b = b,

        .from = from,
        .c = c,

        .to = to,
        .fresh = fresh,
    });
    check(same(c, type, 2 * rows + 3, n + 5, n + 5, want), kernel->name, "product of rows",
          rows * 1000 + depth);
    free(a);
    free(b);
    free(c);
    free(left);
    free(right);
    free(want);
    free(panel.data);
    free(panel.ranges);
}

/* What is known of columns after the rows of two blocks, with holes and without; wider rows than
 * the columns, whose rest must not count. */
static void check_fold(const twi_minplus_kernel *kernel, int64_t rows, int64_t strips, bool holes)
{
    tw_type type = kernel->type;
    const int64_t cap = whole(kernel->infinity);
    const int64_t n = strips * kernel->nr;
    const int64_t step = n + 3;
    char *x = matrix(type, rows * step + 1);
    int64_t *sum = calloc((size_t)n, sizeof *sum);
    twi_columns known = {aligned_alloc(64, (size_t)(n * 2 * 8 + 64) / 64 * 64), matrix(type, n),
                         calloc((size_t)n, sizeof *known.missing)};
    bool good = true;
    memset(known.sum, 0, (size_t)n * 2 * tw_type_size(type));
    for (int64_t j = 0; j < n; j++) {
        put(known.most, type, j, 0);
    }
    for (int64_t i = 0; i < rows * step; i++) {
        bool hole = (holes && draw(5) == 0) || i % step >= n;
        put(x, type, i, hole ? (double)cap : (double)draw((uint64_t)cap));
    }
    int64_t first = rows / 3;
    bool any = first > 0 && kernel->fold(&known, first, n, x, step);
    any = kernel->fold(&known, rows - first, n, x + first * step * (int64_t)tw_type_size(type),
                       step) ||
          any;
    kernel->spread(sum, n, known.sum);
    bool want_any = false;
    for (int64_t i = 0; i < rows; i++) { /* across, one column less */
        int64_t total = 5;
        int32_t most = 1;
        uint32_t missing = 2;
        int64_t want[3] = {5, 2, 1};
        for (int64_t j = 0; j + 1 < n; j++) {
            int64_t value = whole(get(x, type, i * step + j));
            want[0] += value < cap ? value : 0;
            want[1] += value == cap;
            want[2] = value < cap && value > want[2] ? value : want[2];
        }
        kernel->fold_across(&(twi_across){&total, &most, &missing}, 1, n - 1,
                            x + i * step * (int64_t)tw_type_size(type), step);
        good = good && total == want[0] && missing == want[1] && most == want[2];
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t want[3] = {0, 0, 0};
        for (int64_t i = 0; i < rows; i++) {
            int64_t value = whole(get(x, type, i * step + j));
            want[0] += value;
            want[1] += value == cap;
            want[2] = value < cap && value > want[2] ? value : want[2];
        }
        want_any = want_any || want[1] > 0;
        good = good && sum[j] == want[0] && known.missing[j] == want[1] &&
               whole(get(known.most, type, j)) == want[2];
    }
    check(good && any == want_any, kernel->name, "fold", rows * 1000 + strips);
    free(known.missing);
    free(known.most);
    free(known.sum);
    free(sum);
    free(x);
}

/* A row pulls from some others, from none and from one twice; floats bring what they add. */
static void check_pull(const twi_minplus_kernel *kernel, int64_t strips, int64_t count)
{
    const int64_t cols = strips * kernel->nr, u = cols / 2;
    const tw_type type = kernel->type;
    char *c = matrix(type, cols * (cols + 3));
    int32_t list[9];
    fill(c, type, cols * (cols + 3));
    put(c, type, u * (cols + 3) + u, 0);
    int64_t *want = whole_of(c, type, cols, cols, cols + 3);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = (i % 7 * 5 + 1) % cols;
        list[i] = (int32_t)(at == u ? (at + 1) % cols : at);
    }
    const bool brings = kernel->fold == NULL;
    char *heads = matrix(type, 9);
    int64_t head[9];
    for (int64_t i = 0; i < count && brings; i++) {
        put(heads, type, i, value(type));
        head[i] = whole(get(heads, type, i));
    }
    bool lowered = false;
    for (int64_t j = 0; j < cols; j += kernel->nr) {
        int64_t *row = want + u * cols;
        for (int64_t i = 0; i < count && !brings; i++) {
            head[i] = row[list[i]];
        }
        for (int64_t k = j; k < j + kernel->nr; k++) {
            const int64_t before = row[k];
            for (int64_t i = 0; i < count; i++) {
                relax(row + k, head[i], want + list[i] * cols + k, 1, whole(no_path));
            }
            lowered = lowered || row[k] != before;
        }
    }
    const bool changed = kernel->pull(c, cols + 3, cols, u, list, brings ? heads : NULL, count);
    int64_t *got = whole_of(c, type, cols, cols, cols + 3);
    check(changed == lowered && memcmp(got, want, (size_t)(cols * cols) * sizeof *got) == 0,
          kernel->name, "pull", strips * 100 + count);
    check(!kernel->pull(c, cols + 3, cols, u, list, brings ? heads : NULL, 0), kernel->name,
          "pull from none", strips);
    free(heads);
    free(got);
    free(want);
    free(c);
}

/* Floyd-Warshall with the first few pivots. What stands behind a row stays as it is: anything, or
 * "infinity", which may be computed too. */
static void check_pivots(const twi_minplus_kernel *kernel, int64_t size, int64_t pivots,
                         bool padded)
{
    const tw_type type = kernel->type;
    const int64_t ld = size + 67;
    char *c = matrix(type, size * ld);
    fill(c, type, size * ld);
    for (int64_t i = 0; i < size; i++) {
        put(c, type, i * ld + i, 0);
        for (int64_t j = size; j < ld && padded; j++) {
            put(c, type, i * ld + j, no_path);
        }
    }
    int64_t *want = whole_of(c, type, size, ld, ld);
    for (int64_t k = 0; k < pivots; k++) {
        for (int64_t i = 0; i < size; i++) {
            relax(want + i * ld, want[i * ld + k], want + k * ld, size, whole(no_path));
        }
    }
    kernel->close(c, ld, size, padded ? ld : size, pivots);
    check(same(c, type, size, ld, ld, want), kernel->name, padded ? "padded pivots" : "pivots",
          size);
    free(want);
    free(c);
}

enum { DENSE, SPARSE, SYMMETRIC, DISCONNECTED, SHAPES, HALF_EMPTY };
static const char *const shape_names[SHAPES] = {
    "closure of a dense matrix", "closure of a sparse matrix", "closure of a symmetric matrix",
    "closure of two components"};

static void fill_graph(void *p, tw_type type, int64_t n, int64_t ld, int shape)
{
    double cap = no_path;
    uint64_t weights = type == TW_U8 ? 40 : 1000;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < ld; j++) {
            double entry = (double)draw(weights);
            if (j >= n || (shape == SPARSE && draw((uint64_t)n) >= 3) ||
                (shape == HALF_EMPTY && draw((uint64_t)n) >= 4) ||
                (shape == DISCONNECTED && (i < n / 2) != (j < n / 2))) {
                entry = cap;
            }
            put(p, type, i * ld + j, i == j ? 0 : entry);
        }
    }
    if (shape == SYMMETRIC || shape == HALF_EMPTY) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++) {
                put(p, type, j * ld + i, get(p, type, i * ld + j));
            }
        }
    }
}

/* Half of a symmetric tile has every bit of the whole: of floats that are rounded, too. What stands
 * behind the padding stays. */
static void check_half(const twi_minplus_kernel *kernel, int64_t n, int shape)
{
    const tw_type type = kernel->type;
    const bool rounds = kernel->fold == NULL;
    const size_t bytes = tw_type_size(type);
    const int64_t cols = (n + kernel->nr - 1) / kernel->nr * kernel->nr, ld = cols + 3;
    char *half = matrix(type, n * ld + 1);
    char *all = matrix(type, n * ld + 1);
    fill_graph(half, type, n, ld, shape);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < ld; j++) {
            const double entry = get(half, type, i * ld + j);
            put(half, type, i * ld + j, j >= cols ? 3 : rounds && j < n ? entry / 7 : entry);
        }
    }
    memcpy(all, half, (size_t)(n * ld) * bytes);
    kernel->close(all, ld, n, cols, n);
    kernel->close_half(half, ld, n);
    check(memcmp(half, all, (size_t)(n * ld) * bytes) == 0, kernel->name, "half of a tile", n);
    free(all);
    free(half);
}

static void check_closure(tw_context *ctx, const twi_minplus_kernel *kernel, int64_t n, int shape,
                          int threads, int block)
{
    tw_type type = kernel->type;
    int64_t ld = twi_work_stride(kernel, n);
    twi_work work = {kernel, matrix(type, n * ld + 1), n, ld};
    fill_graph(work.data, type, n, ld, shape);
    int64_t *want = whole_of(work.data, type, n, n, ld);
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            relax(want + i * n, want[i * n + k], want + k * n, n, whole(no_path));
        }
    }
    int32_t rounded = twi_block_round(kernel, n, block);
    tw_status status = twi_cpu_closure(ctx, &work, rounded, threads, shape == SYMMETRIC);
    check(status == TW_OK && same(work.data, type, n, n, ld, want), kernel->name,
          shape_names[shape], n);
    free(want);
    free(work.data);
}

static void check_kernel(tw_context *ctx, const twi_minplus_kernel *kernel)
{
    const int64_t nr = kernel->nr;
    const int64_t widths[] = {1, nr - 1, nr, nr + 1, 2 * nr + 3};
    const int64_t heights[] = {1, 3, 4, 5, 37};
    const int64_t depths[] = {1, 2, 3, 64, 65};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            for (size_t k = 0; k < 5; k++) {
                check_product(kernel, heights[i], depths[j], widths[k] > 0 ? widths[k] : 1);
            }
            check_transpose(kernel, heights[i], depths[j]);
            check_rows(kernel, heights[i], depths[j], i % 2 == 0, j % 2 == 0);
            check_rows(kernel, heights[i], depths[j], i % 2 == 1, j % 2 == 0);
            check_pivots(kernel, heights[i] + depths[j], depths[j], i % 2 == 0);
            check_pivots(kernel, heights[i] + depths[j], depths[j], i % 2 == 1);
        }
    }
    check_pivots(kernel, 139, 139, false); /* pivots among the later rows */
    check_pivots(kernel, 139, 139, true);
    check_rows(kernel, 2, 3, false, true);
    for (int64_t rows = 1; kernel->fold != NULL && rows <= kernel->fold_most && rows < 300;
         rows += rows < 9 ? 1 : 62) {
        check_fold(kernel, rows, 1 + rows % 3, rows % 2 == 0);
        check_fold(kernel, rows, 1200 / kernel->nr, rows % 2 != 0);
    }
    for (int64_t i = 0; i < 24; i++) {
        check_pull(kernel, 1 + i % 3, i % 8 + 1);
    }
    for (int64_t size = 0; size <= TWI_CLOSE_HALF; size++) {
        check_half(kernel, size, SYMMETRIC);
        check_half(kernel, size, HALF_EMPTY);
    }
    check((kernel->fold != NULL) == (kernel->type != TW_F32 && kernel->type != TW_F64),
          kernel->name, "fold is there", 0);
    check(twi_packed_a_bytes(kernel, 0, 8) == 0, kernel->name, "empty panel", 0);
    const int64_t sizes[] = {0, 1, 2, 31, 63, 64, 65, 127, 128, 129, 200, 257};
    size_t count = sizeof sizes / sizeof *sizes;
    count -= getenv("TW_TEST_SMALL") != NULL ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            check_closure(ctx, kernel, sizes[i], shape, 1 + (int)(i % 3), i % 2 == 0 ? 64 : 128);
        }
    }
}

static twi_isa isa_of_name(const char *name)
{
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        if (strcmp(name, twi_isa_name(isa)) == 0) {
            return isa;
        }
    }
    return TWI_ISA_NONE;
}

int main(int argc, char **argv)
{
    const tw_type types[] = {TW_U8, TW_U16, TW_I32, TW_F32, TW_F64};
    tw_context *ctx = NULL;
    twi_isa isa = argc > 1 ? isa_of_name(argv[1]) : TWI_ISA_NONE;

    if (isa == TWI_ISA_NONE) {
        (void)fprintf(stderr, "usage: test_kernels ISA [SEED]\n");
        return 2;
    }
    if (!twi_isa_usable(isa)) {
        printf("skipped: no %s here: other tests that go through the instruction sets (entropy, "
               "map_functions, map_cpu, the selftest) leave it out too\n",
               argv[1]);
        return 77;
    }
    if (argc > 2) {
        seed = strtoull(argv[2], NULL, 10);
    }
    if (tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    enum { TYPES = sizeof types / sizeof *types };
    for (size_t i = 0; i < TYPES + 2; i++) { /* u8 and u16 have plain sums, too */
        const twi_minplus_kernel *kernel = i < TYPES
                                               ? twi_minplus_kernel_find(isa, types[i])
                                               : twi_minplus_kernel_plain(isa, types[i - TYPES]);
        int before = passed;
        no_path = kernel->infinity;
        check_kernel(ctx, kernel);
        printf("%s_%dx%d: %d checks\n", kernel->name, kernel->mr, kernel->nr, passed - before);
    }
    tw_context_destroy(ctx);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

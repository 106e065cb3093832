/* Every rung of row D1 against the definition, and held to its row: the threads of its block, and
 * whether it computes logarithms or has them from the compiler. The one version that its authors
 * call wrong must be so, and no other. And the kernel of row D3, which is that of version 7, for
 * the pieces of an array. */
#include "kernels.cpp"

#undef HALF
#undef LEVELS
#undef MOST
#include "pieces.cpp"

#include "rungs.h"

#include <utility>

#define CODE(...) (const void *)(__VA_ARGS__)
#define D1(rung, version, barriers)                                            \
    {                                                                          \
        "entropy-gpu", rung, CODE(version<1024>), 32, 32, 0, barriers, NULL, 0 \
    }
#define THREADS_OF(version, threads)                                                              \
    {                                                                                             \
        "entropy-gpu-threads", #version "-" #threads, CODE(version<threads>), 32, (threads) / 32, \
            0, 0, NULL, 0                                                                         \
    }
#define HELD_TO_64(threads)                                                                        \
    {                                                                                              \
        "entropy-gpu-threads", "v7-" #threads "-held", CODE(v7_held<threads>), 32, (threads) / 32, \
            0, 0, NULL, 0                                                                          \
    }

static const expected said[] = {
    D1("v0", v0, 0),
    D1("v1", v1, 0),
    D1("v2", v2, 1),
    D1("v3", v3, 0),
    D1("v4", v4, 0),
    D1("v5", v5, 0),
    D1("v6", v6, 0),
    D1("v7", v7, 0),
    D1("v7-shared", v7_shared, 1),
    D1("v7-constant", v7_constant, 0),
    D1("v7-texture", v7_texture, 0),
    D1("v7-float", v7_float, 0),
    D1("v8", v8, 0),
    D1("v9", v9, 1),
    D1("bytes", bytes, 0),
    {"entropy-gpu", "engine", NULL, 0, 0, 0, 0, NULL, 0},
    THREADS_OF(v0, 128),
    THREADS_OF(v0, 256),
    THREADS_OF(v0, 512),
    THREADS_OF(v0, 1024),
    THREADS_OF(v1, 128),
    THREADS_OF(v1, 256),
    THREADS_OF(v1, 512),
    THREADS_OF(v1, 1024),
    THREADS_OF(v7, 128),
    THREADS_OF(v7, 256),
    THREADS_OF(v7, 512),
    THREADS_OF(v7, 1024),
    HELD_TO_64(128),
    HELD_TO_64(256),
};

static uint64_t state;

static double entropy_at(const std::vector<float> &in, int n, int y, int x)
{
    double counts[LEVELS] = {0}, total = 0, sum = 0;
    for (int i = 0; i < n * n; i++) {
        if (abs(i / n - y) <= HALF && abs(i % n - x) <= HALF) {
            counts[(int)in[(size_t)i]]++;
            total++;
        }
    }
    for (double count : counts) {
        sum -= count > 0 ? count / total * __builtin_log(count / total) : 0;
    }
    return sum;
}

/* Logarithms that a kernel may compute: of all levels that occur, of the table's block, or none. */
static bool asks_as_said(const char *rung, int n)
{
    bool own = strncmp(rung, "v0", 2) == 0, of_block = strcmp(rung, "v2") == 0;
    long blocks = (long)((n + SIDE - 1) / SIDE) * ((n + SIDE - 1) / SIDE);
    if (own ? logarithms < 2L * n * n : logarithms != (of_block ? MOST * blocks : 0)) {
        printf("%s, n = %d: %ld logarithms computed\n", rung, n, logarithms);
        return false;
    }
    return true;
}

/* What a version's answers are off by, at all sizes. */
struct errors {
    double worst;
    long decimals; /* windows whose fourth decimal is another than the definition's */
};

static void compare(errors *e, float is, double right)
{
    const double off = fabs((double)is - right);
    e->worst = off > e->worst ? off : e->worst;
    e->decimals += lround((double)is * 1e4) != lround(right * 1e4);
}

/* Results are floats below 4, and entries of a table may be: half of the last bit of either, and
 * of the one by which the others are subtracted, is 1.2e-7. Sums of floats are off by more. */
static const double ROUNDED = 3 * 1.2e-7;

static bool is_wrong_as_said(const char *rung, const errors &e)
{
    const bool said = strcmp(rung, "v7-float") == 0, is = e.worst > ROUNDED;
    if (said != is || (said && e.decimals == 0)) {
        printf("%s: off by up to %.2g, %ld windows have another fourth decimal: %s\n", rung,
               e.worst, e.decimals,
               said ? "its authors found sums of floats wrong from there on"
                    : "more than the rounding of its table and of its result");
        return false;
    }
    return true;
}

static bool solve(const char *rung, const void *code, int n, errors *off)
{
    const lab_entropy_recipe *recipe = (const lab_entropy_recipe *)code;
    std::vector<float> in((size_t)n * n), out((size_t)n * n, -1.0F);
    std::vector<uint8_t> small((size_t)n * n);
    double table[MOST + 1];
    float floats[MOST + 1];
    for (size_t i = 0; i < in.size(); i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        in[i] = small[i] = (uint8_t)(state >> 33) % LEVELS;
    }
    for (int i = 0; i <= MOST; i++) {
        floats[i] = (float)(table[i] = i == 0 ? 0 : __builtin_log((double)i));
    }
    const emulated_texture levels = {in.data(), n}, line = {floats, MOST + 1};
    const lab_entropy_card card = {in.data(), small.data(),     out.data(),         table,
                                   floats,    (uintptr_t)&line, (uintptr_t)&levels, n};
    lab_entropy_constants(table, floats);
    logarithms = 0;
    recipe->solve(&card);
    bool right = asks_as_said(rung, n);
    for (int i = 0; i < n * n; i++) {
        double expected = entropy_at(in, n, i / n, i % n);
        if (!(fabs((double)out[(size_t)i] - expected) <= 5e-6)) {
            printf("%s, n = %d: row %d, column %d is %g, not %g\n", rung, n, i / n, i % n,
                   (double)out[(size_t)i], expected);
            return false;
        }
        compare(off, out[(size_t)i], expected);
    }
    return right;
}

static bool run_rung(const char *rung, const void *code)
{
    bool right = true;
    errors off = {};
    for (int n : {1, 5, 28, 33, 61}) {
        right = solve(rung, code, n, &off) && right;
    }
    if (strcmp(rung, "v7-float") == 0) { /* one window of 400 has another decimal */
        right = solve(rung, code, 150, &off) && right;
    }
    return is_wrong_as_said(rung, off) && right;
}

/* Outputs first ... end-1 of rows or columns, with the elements around them. */
static lab_entropy_piece piece_of(const uint8_t *in, float *out, int n, int first, int end,
                                  bool columns)
{
    const int from = max(first - HALF, 0), to = min(end + HALF, n), step = columns ? 1 : n;
    lab_entropy_piece piece = {in + from * step, n, to - from,    n, out + first * step, n,
                               end - first,      n, first - from, 0};
    if (columns) {
        std::swap(piece.in_rows, piece.in_cols);
        std::swap(piece.rows, piece.cols);
        std::swap(piece.above, piece.before);
    }
    return piece;
}

static bool solve_pieces(int n, bool columns, bool floats)
{
    std::vector<float> in((size_t)n * n), out((size_t)n * n, -1.0F);
    std::vector<uint8_t> small((size_t)n * n);
    for (size_t i = 0; i < in.size(); i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        in[i] = small[i] = (uint8_t)(state >> 33) % LEVELS;
    }
    launches.clear();
    logarithms = 0;
    for (int part = 0; part < 3; part++) {
        lab_entropy_piece piece =
            piece_of(small.data(), out.data(), n, n * part / 3, n * (part + 1) / 3, columns);
        piece.floats = floats ? in.data() + (piece.in - small.data()) : NULL;
        piece.in = floats ? NULL : piece.in;
        if (lab_entropy_launch(&piece, NULL) != 0) {
            return false;
        }
    }
    const expected row = {"entropy-multi",
                          floats ? "v14" : "v14-bytes",
                          lab_entropy_piece_kernel(floats),
                          32,
                          32,
                          0,
                          0,
                          NULL,
                          0};
    if (!ran_as_said(row) || logarithms != 0) {
        printf("the kernel of entropy-multi is not version 7: %ld logarithms computed\n",
               logarithms);
        return false;
    }
    for (int i = 0; i < n * n; i++) {
        double right = entropy_at(in, n, i / n, i % n);
        if (!(fabs((double)out[(size_t)i] - right) <= ROUNDED)) {
            printf("pieces of %s, n = %d: row %d, column %d is %g, not %g\n",
                   columns ? "columns" : "rows", n, i / n, i % n, (double)out[(size_t)i], right);
            return false;
        }
    }
    return true;
}

int main(int, char **words)
{
    bool right = true;
    state = strtoull(words[1], NULL, 10);
    for (int n : {3, 7, 37, 100}) {
        for (bool floats : {false, true}) {
            right = solve_pieces(n, false, floats) && solve_pieces(n, true, floats) && right;
        }
    }
    for (const char *ladder : {"entropy-gpu", "entropy-gpu-threads"}) {
        right = climb(ladder, said, sizeof said / sizeof *said, run_rung) && right;
    }
    puts(right ? "every version is right" : "some versions are wrong");
    return right ? 0 : 1;
}

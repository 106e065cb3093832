/* What the kernels of rows D1 and D3 access. Memory that the card calls constant is static here,
 * and counts as shared. */
#include "kernels.cpp"

#undef HALF
#undef LEVELS
#undef MOST
#include "pieces.cpp"

#include "elements.h"

enum { N = 61 };
static const double ELEMENTS = (double)N * N;
static const double WINDOWS = (5.0 * N - 6) * (5.0 * N - 6); /* elements of all windows */
static const double LOOKUPS = (LEVELS + 1) * ELEMENTS;       /* of the levels, and of all */
static const double ENTRIES = MOST + 1;

static double blocks_of(int threads)
{
    const int high = threads / SIDE;
    return (double)((N + SIDE - 1) / SIDE) * ((N + high - 1) / high);
}

struct version {
    const char *rung;
    const lab_entropy_recipe *recipe;
    accesses said; /* besides the results, which each writes once */
};

/* The window read element by element. */
#define WINDOW(v, threads)                             \
    {                                                  \
#v "-" #threads, &lab_entropy_##v##_##threads, \
        {                                              \
            0, 0, 4 * WINDOWS, 0, 0                    \
        }                                              \
    }
#define TABLE(v, loads, stores, reads)                                        \
    {                                                                         \
#v, &lab_entropy_##v##_1024,                                          \
        {                                                                     \
            (loads) * LOOKUPS, (stores)*ENTRIES *blocks_of(1024), reads, 0, 0 \
        }                                                                     \
    }

static std::vector<version> versions()
{
    /* v9: tiles of 32 x 32 elements, 28 apart; what lies outside is not read. */
    double side = 0, tiles_of_9 = (N + INNER - 1) / INNER;
    for (int first = -2; first < N - 2; first += INNER) {
        side += min(first + SIDE, N) - max(first, 0);
    }
    return {WINDOW(v0, 128),
            WINDOW(v0, 1024),
            WINDOW(v1, 128),
            WINDOW(v1, 1024),
            TABLE(v2, 8, 8, 4 * WINDOWS),
            TABLE(v3, 8, 0, 4 * WINDOWS),
            TABLE(v4, 0, 0, 4 * WINDOWS + 8 * LOOKUPS),
            TABLE(v5, 0, 0, 4 * WINDOWS + 4 * LOOKUPS),
            WINDOW(v6, 1024),
            WINDOW(v7, 128),
            WINDOW(v7, 256),
            WINDOW(v7, 512),
            WINDOW(v7, 1024),
            WINDOW(v7_held, 128),
            WINDOW(v7_held, 256),
            TABLE(v7_shared, 4, 4, 4 * WINDOWS + 4 * ENTRIES * blocks_of(1024)),
            TABLE(v7_constant, 4, 0, 4 * WINDOWS),
            TABLE(v7_texture, 0, 0, 4 * WINDOWS + 4 * LOOKUPS),
            WINDOW(v7_float, 1024),
            WINDOW(v8, 1024),
            {"v9",
             &lab_entropy_v9_1024,
             {25 * ELEMENTS, tiles_of_9 * tiles_of_9 * SIDE * SIDE, 4 * side * side, 0, 0}},
            {"bytes", &lab_entropy_bytes_1024, {0, 0, WINDOWS, 0, 0}}};
}

int main()
{
    std::vector<float> in((size_t)N * N, 3), out((size_t)N * N), floats(MOST + 1, 1);
    std::vector<uint8_t> small((size_t)N * N, 3);
    std::vector<double> table(MOST + 1, 1);
    const emulated_texture levels = {in.data(), N}, line = {floats.data(), MOST + 1};
    const lab_entropy_card card = {
        in.data(),     small.data(),     out.data(),         table.data(),
        floats.data(), (uintptr_t)&line, (uintptr_t)&levels, N};
    const std::initializer_list<array> arrays = {{in.data(), in.size() * 4},
                                                 {small.data(), small.size()},
                                                 {out.data(), out.size() * 4},
                                                 {table.data(), table.size() * 8},
                                                 {floats.data(), floats.size() * 4}};
    bool right = true;
    for (version &v : versions()) {
        v.said.writes = 4 * ELEMENTS;
        const accesses is = accesses_of(v.recipe->kernel, arrays, [&] { v.recipe->solve(&card); });
        right = is_as_said(v.rung, is, v.said) && right;
    }
    for (bool as_floats : {false, true}) { /* row D3, of one piece */
        lab_entropy_piece piece = {small.data(), N, N, N, out.data(), N, N, N, 0, 0, NULL};
        piece.floats = as_floats ? in.data() : NULL;
        const accesses is = accesses_of(lab_entropy_piece_kernel(as_floats), arrays,
                                        [&] { (void)lab_entropy_launch(&piece, NULL); });
        right = is_as_said(as_floats ? "v14" : "v14-bytes", is,
                           {0, 0, (as_floats ? 4 : 1) * WINDOWS, 4 * ELEMENTS, 0}) &&
                right;
    }
    puts(right ? "every version accesses what its row says"
               : "some versions access something else");
    return right ? 0 : 1;
}

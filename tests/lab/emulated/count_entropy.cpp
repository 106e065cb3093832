/* What the kernels of rows D1 and D3 access. Memory that the card calls constant is static here,
 * and counts as shared. Every element is of one level, so that one logarithm is taken by version 0.
 */
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
    /* Bytes of a counter and of a table's entry that are the thread's own; of a table as a texture
     * the thread has its handle. 0: none. */
    int counter, table;
};

/* Rows D1's tables and counters. */
enum { WORDS = sizeof(int), BYTES = sizeof(int8_t), NONE = 0 };
enum { DOUBLES = sizeof(double), FLOATS = sizeof(float), HANDLE = sizeof(cudaTextureObject_t) };

/* The window read element by element. */
#define WINDOW(v, threads, counter, table)                                                        \
    {                                                                                             \
#v "-" #threads, &lab_entropy_##v##_##threads, {0, 0, 4 * WINDOWS, 0, 0 }, counter, table \
    }
#define TABLE(v, loads, stores, reads, counter, table)                                         \
    {                                                                                          \
#v, &lab_entropy_##v##_1024,                                                           \
            {(loads)*LOOKUPS, (stores)*ENTRIES *blocks_of(1024), reads, 0, 0 }, counter, table \
    }

static std::vector<version> versions()
{
    /* v9: tiles of 32 x 32 elements, 28 apart; what lies outside is not read. */
    double side = 0, tiles_of_9 = (N + INNER - 1) / INNER;
    for (int first = -2; first < N - 2; first += INNER) {
        side += min(first + SIDE, N) - max(first, 0);
    }
    return {WINDOW(v0, 128, WORDS, NONE),
            WINDOW(v0, 256, WORDS, NONE),
            WINDOW(v0, 512, WORDS, NONE),
            WINDOW(v0, 1024, WORDS, NONE),
            WINDOW(v1, 128, WORDS, DOUBLES),
            WINDOW(v1, 256, WORDS, DOUBLES),
            WINDOW(v1, 512, WORDS, DOUBLES),
            WINDOW(v1, 1024, WORDS, DOUBLES),
            TABLE(v2, 8, 8, 4 * WINDOWS, WORDS, NONE),
            TABLE(v3, 8, 0, 4 * WINDOWS, WORDS, NONE),
            TABLE(v4, 0, 0, 4 * WINDOWS + 8 * LOOKUPS, WORDS, NONE),
            TABLE(v5, 0, 0, 4 * WINDOWS + 4 * LOOKUPS, WORDS, HANDLE),
            WINDOW(v6, 1024, BYTES, DOUBLES),
            WINDOW(v7, 128, BYTES, FLOATS),
            WINDOW(v7, 256, BYTES, FLOATS),
            WINDOW(v7, 512, BYTES, FLOATS),
            WINDOW(v7, 1024, BYTES, FLOATS),
            WINDOW(v7_held, 128, BYTES, FLOATS),
            WINDOW(v7_held, 256, BYTES, FLOATS),
            TABLE(v7_shared, 4, 4, 4 * WINDOWS + 4 * ENTRIES * blocks_of(1024), BYTES, NONE),
            TABLE(v7_constant, 4, 0, 4 * WINDOWS, BYTES, NONE),
            TABLE(v7_texture, 0, 0, 4 * WINDOWS + 4 * LOOKUPS, BYTES, HANDLE),
            WINDOW(v7_float, 1024, BYTES, FLOATS),
            WINDOW(v8, 1024, BYTES, FLOATS),
            {"v9",
             &lab_entropy_v9_1024,
             {25 * ELEMENTS, tiles_of_9 * tiles_of_9 * SIDE * SIDE, 4 * side * side, 0, 0},
             BYTES,
             FLOATS},
            {"bytes", &lab_entropy_bytes_1024, {0, 0, WINDOWS, 0, 0}, BYTES, FLOATS}};
}

/* The widths of what a version accesses: of elements, of the table, and of its counters, which are
 * cleared, each changed for an element of the window, and read twice for a level's product. Version
 * 0 asks first whether a level occurs; version 9 has a counter more, and counts what lies outside.
 */
static void say_widths(version *v, int element)
{
    const bool first = strncmp(v->rung, "v0", 2) == 0, ninth = strcmp(v->rung, "v9") == 0;
    const bool in_global = strcmp(v->rung, "v4") == 0;
    const double changed = ninth ? MOST * ELEMENTS : WINDOWS;
    const double products = first ? LEVELS + 2 : 2 * LEVELS + ninth;
    const double table = in_global ? 8 * LOOKUPS : 0;
    add(v->said.reads_of, element, (v->said.reads - table) / element);
    add(v->said.reads_of, 8, table / 8);
    add(v->said.writes_of, 4, ELEMENTS);
    add(v->said.own_loads_of, v->counter, changed + products * ELEMENTS);
    add(v->said.own_stores_of, v->counter, changed + (LEVELS + ninth) * ELEMENTS);
    if (v->table != NONE) {
        add(v->said.own_loads_of, v->table, LOOKUPS);
    }
}

static bool is_right(version *v, const accesses &is, int element)
{
    v->said.writes = 4 * ELEMENTS;
    say_widths(v, element);
    return is_as_said(v->rung, is, v->said) && has_widths(v->rung, is, v->said, v->counter);
}

/* Elements of a texture: the input's in version 8, the table's in versions 5 and 7-texture. What a
 * texture was made of is not to be read beside it. */
static bool fetches_as_said(const char *rung)
{
    const double said = strcmp(rung, "v8-1024") == 0                                 ? WINDOWS
                        : strcmp(rung, "v5") == 0 || strcmp(rung, "v7_texture") == 0 ? LOOKUPS
                                                                                     : 0;
    if ((double)fetches != said) {
        printf("%s: elements of a texture: %ld, not %.0f\n", rung, fetches, said);
    }
    return (double)fetches == said;
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
        fetches = 0;
        const accesses is = accesses_of(v.recipe->kernel, arrays, [&] { v.recipe->solve(&card); });
        right = is_right(&v, is, strcmp(v.rung, "bytes") == 0 ? 1 : 4) && right;
        right = fetches_as_said(v.rung) && right;
    }
    for (bool as_floats : {false, true}) { /* row D3, of one piece */
        lab_entropy_piece piece = {small.data(), N, N, N, out.data(), N, N, N, 0, 0, NULL};
        piece.floats = as_floats ? in.data() : NULL;
        const accesses is = accesses_of(lab_entropy_piece_kernel(as_floats), arrays,
                                        [&] { (void)lab_entropy_launch(&piece, NULL); });
        const int element = as_floats ? 4 : 1;
        version seventh = {
            as_floats ? "v14" : "v14-bytes", NULL, {0, 0, element * WINDOWS, 0, 0}, BYTES, FLOATS};
        right = is_right(&seventh, is, element) && right;
    }
    puts(right ? "every version accesses what its row says"
               : "some versions access something else");
    return right ? 0 : 1;
}

/*
 * What the kernels of apsp-gpu access for a relaxation, from the addresses that their threads
 * access where no tool reads their machine code: shared and global loads and stores, each as the
 * source has it, so that this program is compiled without optimisation. Beside what each row says:
 * a loop that relaxes in shared memory, reads an operand from global memory or reads it again for
 * every sum is found here, and so is one of another width. What a compiler shares between sums is
 * not: tools/gpu-accesses has that.
 *
 * A round on a matrix of two tiles a side is enough, and weights of 1 so that no sum is shorter: a
 * branch that stores what is shorter does not. trace.cpp has the counts.
 */
#include "kernels.cpp"

#include "trace.h"

/* Words for a relaxation; `values` are the different words of shared memory that a thread loads. */
struct words {
    double loads, stores, reads, writes, values;
};

struct expected {
    const char *recipe;
    const lab_recipe *code;
    int b;                      /* side of a tile */
    const void *third, *second; /* the kernels of the phases; NULL: none */
    int owned;                  /* tiles a side that a block of the third phase has */
    words product, panels;
};

/* ---------------------------------------------------------------------------- what the rows say */

#define CODE(...) (const void *)(__VA_ARGS__)
static const double OF_32 = 1.0 / 32; /* of an access for each element of a tile of 32 */

/* Row C2, the second stage: two tiles held, the target relaxed there. */
static const words BRANCHES = {3 + OF_32, 2 * OF_32, 2 * OF_32, OF_32, 2 + OF_32};
static const words MERGED = {3 + OF_32, 1 + 2 * OF_32, 2 * OF_32, OF_32, 2 + OF_32};

/* The third: `loads` and `stores` in the loop; of three tiles held the target is one, and its
 * element is read there once more. */
static words stage3(double loads, double stores, int held)
{
    const double target = held == 3 ? OF_32 : 0;
    return {loads + target, stores + held * OF_32, 3 * OF_32, OF_32, 2 + target};
}

/* Row C3: a block owns T x T tiles, and a value read serves T sums. In the first round nothing of
 * the pivot's row and column, of 2 T tiles each, is written. */
static words owned(int t)
{
    const double written = (2 * t - 1) * (2 * t - 1) / (4.0 * t * t);
    return {2, 2 * OF_32 / t, 2 * OF_32 / t + OF_32, written * OF_32, 2.0 / t};
}

/* Rows A2 and A4: each of the tiles filled once, the target taken and written back once, `tiles` of
 * a block relaxed. An operand is read for every sum; the compiler shares those of a thread's
 * elements. */
static words three_tiles(int b, int side, int filled, int relaxed)
{
    const double each = b / side, edge = 1.0 / b;
    return {2 + 2 * edge, (filled + relaxed) * edge / relaxed, filled * edge / relaxed, edge,
            2 / each + edge};
}

/* Rows B2, B4 and B5: a word for every row and for every column of a thread's elements, from shared
 * memory or from global memory, and the target in registers. */
static words product_of(int b, int x, int y, int f)
{
    const int part = (f & SHARED) || b < 64 ? b : 64;
    const double rows = part / y, cols = part / x, edge = 1.0 / b;
    const double operands = (rows + cols) / (rows * cols);
    return (f & SHARED) ? words{operands, 2 * edge, 3 * edge, edge, operands}
                        : words{0, 0, operands + edge, edge, 0};
}

/* Ours: 8 x 8 results, 8 rows and 8 columns for a depth. Chunks of depths come to the same place.
 */
static words wide_product_of(void)
{
    const double edge = 1.0 / WIDE;
    return {0.25, 2 * edge, 3 * edge, edge, 0.25 * DEPTHS / WIDE};
}

#define STAGES_OF(name, second, third, own, of_panels, of_product)                      \
    {                                                                                   \
#name, &lab_##name, SIDE, CODE(third), CODE(second), own, of_product, of_panels \
    }
#define THREE_OF(name, b, x, at_once)                                               \
    {                                                                               \
#name, &lab_##name, b, CODE(three_tiles_rest <b, x, x, at_once>),           \
            CODE(three_tiles_pairs <b, x, x, at_once>), 1, three_tiles(b, x, 3, 1), \
            three_tiles(b, x, 3, 2)                                                 \
    }
#define PRODUCT_OF(name, b, x, y, f)                                                  \
    {                                                                                 \
#name, &lab_##name, b, CODE(rest <b, x, y, f>), CODE(panels <b, x, y, f>), 1, \
            product_of(b, x, y, f), product_of(b, x, y, f)                            \
    }
#define SHAPE_OF(b, x, y) PRODUCT_OF(shape_##b##_##x##_##y, b, x, y, STRAIGHT | UNROLLED)

static const expected said[] = {
    {"naive", &lab_naive, SIDE, CODE(relax_all), NULL, 1, {0, 0, 3, 0, 0}, {}},
    STAGES_OF(first, stage2_branches, stage3_first, 1, BRANCHES, stage3(3, 0, 3)),
    STAGES_OF(merged, stage2, stage3_merged, 1, MERGED, stage3(3, 1, 3)),
    STAGES_OF(merged_unrolled, stage2_unrolled, stage3_unrolled, 1, MERGED, stage3(3, 1, 3)),
    STAGES_OF(no_barrier, stage2_unrolled, stage3_no_barrier, 1, MERGED, stage3(3, 1, 3)),
    STAGES_OF(in_register, stage2_unrolled, stage3_register, 1, MERGED, stage3(2, 0, 3)),
    STAGES_OF(two_tiles, stage2_unrolled, stage3_two_tiles, 1, MERGED, stage3(2, 0, 2)),
    STAGES_OF(hoisted, stage2_unrolled, stage3_hoisted, 1, MERGED, stage3(2, 0, 2)),
    STAGES_OF(known_side, stage2_unrolled, stage3_known, 1, MERGED, stage3(2, 0, 2)),
    STAGES_OF(tiles_1, stage2_unrolled, stage3_tiles<1>, 1, MERGED, owned(1)),
    STAGES_OF(tiles_2, stage2_unrolled, stage3_tiles<2>, 2, MERGED, owned(2)),
    STAGES_OF(tiles_4, stage2_unrolled, stage3_tiles<4>, 4, MERGED, owned(4)),
    STAGES_OF(tiles_6, stage2_unrolled, stage3_tiles<6>, 6, MERGED, owned(6)),
    THREE_OF(large_rolled, 64, 32, 0),
    THREE_OF(large, 64, 32, 32),
    {"large_apart", &lab_large_apart, 64, CODE(three_tiles_rest<64, 32, 32, 32>),
     CODE(three_tiles_apart<64, 32, 32, 32>), 1, three_tiles(64, 32, 3, 1),
     three_tiles(64, 32, 2, 1)},
    THREE_OF(three_8, 8, 8, 32),
    THREE_OF(three_16, 16, 16, 32),
    THREE_OF(three_32, 32, 32, 32),
    PRODUCT_OF(walk, 32, 16, 16, WALKS | CHECKED),
    PRODUCT_OF(grid, 32, 16, 16, CHECKED),
    PRODUCT_OF(padded, 32, 16, 16, 0),
    PRODUCT_OF(coalesced, 32, 16, 16, COALESCED),
    PRODUCT_OF(conflicts, 32, 16, 16, STRAIGHT | CONFLICTS),
    PRODUCT_OF(straight, 32, 16, 16, STRAIGHT),
    PRODUCT_OF(block_64, 64, 16, 16, STRAIGHT),
    PRODUCT_OF(threads_32, 64, 32, 32, STRAIGHT),
    PRODUCT_OF(coarse, 64, 32, 8, STRAIGHT),
    PRODUCT_OF(unrolled, 64, 32, 8, STRAIGHT | UNROLLED),
    PRODUCT_OF(block_78, 78, 39, 13, STRAIGHT | UNROLLED),
    PRODUCT_OF(fused, 64, 16, 16, STRAIGHT | UNROLLED | FUSED),
    PRODUCT_OF(global_16, 16, 16, 16, COALESCED),
    PRODUCT_OF(global_64, 64, 16, 16, COALESCED),
    PRODUCT_OF(global_128, 128, 16, 16, COALESCED),
    PRODUCT_OF(global_256, 256, 16, 16, COALESCED),
    {"wide", &lab_wide, WIDE, CODE(wide_rest), CODE(wide_panels), 1, wide_product_of(),
     wide_product_of()},
    SHAPE_OF(16, 16, 16),
    SHAPE_OF(32, 32, 32),
    SHAPE_OF(32, 8, 32),
    SHAPE_OF(32, 16, 16),
    SHAPE_OF(48, 16, 16),
    SHAPE_OF(64, 32, 32),
    SHAPE_OF(64, 64, 16),
    SHAPE_OF(64, 16, 16),
    SHAPE_OF(78, 39, 13),
    SHAPE_OF(80, 16, 40),
    SHAPE_OF(90, 45, 15),
    SHAPE_OF(128, 32, 32),
    SHAPE_OF(128, 16, 16),
};

/* ---------------------------------------------------------------------------------------- counts
 */

static bool is_near(double is, double said)
{
    return fabs(is - said) <= 1e-9 * (1 + said);
}

static bool as_said(const expected &e, const char *phase, const words &is, const words &said)
{
    const struct {
        const char *what;
        double is, said;
    } all[] = {{"shared loads", is.loads, said.loads},
               {"shared stores", is.stores, said.stores},
               {"global loads", is.reads, said.reads},
               {"global stores", is.writes, said.writes},
               {"different shared words", is.values, said.values}};
    bool right = true;
    for (const auto &each : all) {
        if (!is_near(each.is, each.said)) {
            printf("%s, phase %s: %s for a relaxation: %.4f, not %.4f\n", e.recipe, phase,
                   each.what, each.is, each.said);
            right = false;
        }
    }
    return right;
}

/* `once`: relaxations of the threads whose different words are known, those of one block. */
static words per_relaxation(const accesses &a, double relaxations, double once)
{
    return {a.loads / 4 / relaxations, a.stores / 4 / relaxations, a.reads / 4 / relaxations,
            a.writes / 4 / relaxations, a.values / 4 / once};
}

/* A word is read at a time, from shared and from global memory; *wide* has four. (What it writes
 * is a vector made of words, which are stored one by one without optimisation.) */
static bool has_width(const expected &e, const char *phase, const accesses &is)
{
    const int width = e.code == &lab_wide ? 16 : 4;
    bool right = true;
    for (int i = 0; i < LAB_WIDTHS; i++) {
        const double other = is.loads_of[i] + is.reads_of[i];
        if (1 << i != width && other > 0) {
            printf("%s, phase %s: reads of %d bytes for a relaxation: %.0f, not all of %d\n",
                   e.recipe, phase, 1 << i, other, width);
            right = false;
        }
    }
    return right;
}

/* The first round of a matrix of two blocks of tiles a side. */
static bool count_round(const expected &e)
{
    const int count = 2 * e.owned, side = count * e.b;
    std::vector<int> d((size_t)side * side, 1);
    accesses found[2];
    for (int i = 0; i < side; i++) {
        d[(size_t)i * side + i] = 0;
    }
    last_wanted = e.third;
    count_begin(
        {&running, &now, &place, sizeof place, {d.data()}, {d.size() * 4}, {e.third, e.second}});
    try {
        e.code->solve(d.data(), side, side);
        printf("%s: it runs another kernel than its row has\n", e.recipe);
        return false;
    } catch (const enough &) {
    }
    count_end(found);
    last_wanted = NULL;
    const double tile = (double)e.b * e.b * e.b;
    if (!has_width(e, "3", found[0]) || !has_width(e, "2", found[1])) {
        return false;
    }
    if (e.second == NULL) { /* a relaxation of every element */
        return as_said(e, "1", per_relaxation(found[0], (double)side * side, 1e300), e.product);
    }
    const bool own = e.third == CODE(stage3_tiles<1>) || e.owned > 1;
    const double done = own ? count * count * tile : tile, lanes = 32.0 / e.code->threads;
    const double of_block = e.owned * e.owned * tile * lanes;
    bool right = as_said(e, "3", per_relaxation(found[0], done, of_block), e.product);
    words second = per_relaxation(found[1], 2 * (count - 1) * tile, 1);
    second.values = e.panels.values; /* two tiles in turn, or two blocks: not told apart */
    return as_said(e, "2", second, e.panels) && right;
}

static bool has_entry(const char *recipe)
{
    for (const expected &e : said) {
        if (strcmp(e.recipe, recipe) == 0) {
            return true;
        }
    }
    printf("%s: nothing is said of what it accesses\n", recipe);
    return false;
}

static const struct {
    const char *name;
    const lab_recipe *recipe;
} all[] = {
#include "recipes.inc"
};

int main()
{
    bool right = true;
    for (const auto &each : all) {
        right = has_entry(each.name) && right;
    }
    for (const expected &e : said) {
        right = count_round(e) && right;
    }
    puts(right ? "every kernel accesses what its row says" : "some kernels access something else");
    return right ? 0 : 1;
}

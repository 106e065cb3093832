/* Every recipe of apsp-gpu on a graph with edges that are missing, closed and compared; and every
 * rung of its ladders held to its row. */
#include "kernels.cpp"

#include "rungs.h"

struct named {
    const char *name;
    const lab_recipe *recipe;
};
static const named all[] = {
#include "recipes.inc"
};

static uint64_t state;

static int draw(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (uint64_t)most);
}

/* Rows of ld, beyond n poison. */
static std::vector<int> graph(int n, int side, int ld)
{
    std::vector<int> d((size_t)side * ld, POISON);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            d[(size_t)i * ld + j] = i == j ? 0 : draw(3) == 0 ? TW_APSP_INF_I32 : 1 + draw(1000);
        }
    }
    return d;
}

static std::vector<int> close_plainly(std::vector<int> d, int n, int ld)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                int64_t sum = (int64_t)d[(size_t)i * ld + k] + d[(size_t)k * ld + j];
                int &at = d[(size_t)i * ld + j];
                at = sum < at ? (int)sum : at;
            }
        }
    }
    return d;
}

static bool is_right(const char *name, const std::vector<int> &got, const std::vector<int> &right,
                     int n, int ld)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            size_t at = (size_t)i * ld + j;
            if (got[at] != right[at]) {
                printf("%s, n = %d: row %d, column %d is %d, not %d\n", name, n, i, j, got[at],
                       right[at]);
                return false;
            }
        }
    }
    return true;
}

/* `extra`: words of a row that belong to nobody. */
static bool solve(const named &one, int n, int extra)
{
    const lab_recipe *r = one.recipe;
    int side = (n + r->block - 1) / r->block * r->block, ld = side + extra;
    std::vector<int> d = graph(n, side, ld), right = close_plainly(d, n, ld);
    if (r->prepare != NULL && r->prepare() != 0) {
        printf("%s cannot be prepared\n", one.name);
        return false;
    }
    if (side > n) {
        lab_pad(d.data(), ld, side, n);
    }
    r->solve(d.data(), ld, side);
    for (int i = 0; i < side; i++) {
        for (int j = side; j < ld; j++) {
            if (d[(size_t)i * ld + j] != POISON) {
                printf("%s, n = %d: writes beside row %d\n", one.name, n, i);
                return false;
            }
        }
    }
    return is_right(one.name, d, right, n, ld);
}

/* Two GPUs, with rows that are not theirs poisoned: the pivot's come before each round. */
static bool solve_in_halves(int n)
{
    const int b = LAB_MULTI_SIDE, count = (n + b - 1) / b, side = count * b, half = (count + 1) / 2;
    std::vector<int> d = graph(n, side, side), right = close_plainly(d, n, side), gpu[2];
    lab_pad(d.data(), side, side, n);
    for (int g = 0; g < 2; g++) {
        gpu[g].assign(d.size(), POISON);
        size_t first = (size_t)(g == 0 ? 0 : half) * b * side;
        size_t end = (size_t)(g == 0 ? half : count) * b * side;
        std::copy(d.begin() + first, d.begin() + end, gpu[g].begin() + first);
    }
    for (int k = 0; k < count; k++) {
        int owner = k < half ? 0 : 1;
        size_t at = (size_t)k * b * side;
        memcpy(&gpu[1 - owner][at], &gpu[owner][at], (size_t)b * side * 4);
        for (int g = 0; g < 2; g++) {
            lab_part_of_rows part = {g == 0 ? 0 : half, g == 0 ? half : count, 0, count};
            lab_multi_close(gpu[g].data(), side, k, NULL);
            lab_multi_panels(gpu[g].data(), side, k, &part, NULL);
            lab_multi_rest(gpu[g].data(), side, k, &part, NULL);
        }
    }
    size_t first = (size_t)half * b * side;
    std::copy(gpu[1].begin() + first, gpu[1].end(), gpu[0].begin() + first);
    return is_right("two GPUs", gpu[0], right, n, side);
}

/* One matrix that both reach: each makes its part of both panels. */
static bool solve_in_one_memory(int n)
{
    const int b = LAB_MULTI_SIDE, count = (n + b - 1) / b, side = count * b, half = (count + 1) / 2;
    std::vector<int> d = graph(n, side, side), right = close_plainly(d, n, side);
    lab_pad(d.data(), side, side, n);
    const lab_part_of_rows part[2] = {{0, half, 0, half}, {half, count, half, count}};
    for (int k = 0; k < count; k++) {
        lab_multi_close(d.data(), side, k, NULL);
        for (int g = 0; g < 2; g++) {
            lab_multi_panels(d.data(), side, k, &part[g], NULL);
        }
        for (int g = 0; g < 2; g++) {
            lab_multi_rest(d.data(), side, k, &part[g], NULL);
        }
    }
    return is_right("one memory", d, right, n, side);
}

/* At the sizes of row C's table, and where its choice changes. */
static bool choose()
{
    const struct {
        int n;
        const lab_recipe *recipe;
    } sizes[] = {{1, &lab_tiles_1},    {100, &lab_tiles_1},  {999, &lab_tiles_1},
                 {1000, &lab_tiles_2}, {2499, &lab_tiles_2}, {2500, &lab_tiles_4},
                 {4999, &lab_tiles_4}, {5000, &lab_tiles_6}, {7500, &lab_tiles_6},
                 {10000, &lab_tiles_6}};
    bool right = true;
    for (const auto &size : sizes) {
        if (lab_tiles_for(size.n) != size.recipe) {
            printf("chosen, n = %d: not the kernel that row C has there\n", size.n);
            right = false;
        }
    }
    return right;
}

/* A third stage on its own, told that tiles have `b` a side. */
static std::vector<int> third_stage(stage *third, int held, int owned, std::vector<int> d, int side,
                                    int b)
{
    const int count = side / SIDE, wide = (count + owned - 1) / owned;
    int *at = d.data();
    emulate((const void *)third, [=] { third(at, side, b, 0); }, dim3(wide, wide), dim3(SIDE, SIDE),
            held * TILE_BYTES(SIDE));
    return d;
}

/* From known-side on the side of a tile is the compiler's: what a launch says it is must not
 * matter. Before, it is a launch's. */
static bool sides_are_known()
{
    const struct {
        const char *rung;
        stage *third;
        int held, owned;
        bool known;
    } rungs[] = {
        {"no-barrier", stage3_no_barrier, 3, 1, false}, {"registers", stage3_register, 3, 1, false},
        {"two-tiles", stage3_two_tiles, 2, 1, false},   {"hoisted", stage3_hoisted, 2, 1, false},
        {"known-side", stage3_known, 2, 1, true},       {"tiles-1", stage3_tiles<1>, 0, 1, true},
        {"tiles-2", stage3_tiles<2>, 0, 2, true},       {"tiles-4", stage3_tiles<4>, 0, 4, true},
        {"tiles-6", stage3_tiles<6>, 0, 6, true}};
    const int side = 3 * SIDE;
    const std::vector<int> d = graph(side, side, side);
    bool right = true;
    for (const auto &each : rungs) {
        const auto by_launch = third_stage(each.third, each.held, each.owned, d, side, SIDE);
        const bool same = third_stage(each.third, each.held, each.owned, d, side, 0) == by_launch;
        if (same != each.known || by_launch == d) {
            printf("%s: its tiles' side is %s\n", each.rung,
                   same ? "the compiler's, not a launch's" : "a launch's, not the compiler's");
            right = false;
        }
    }
    return right;
}

/* ---------------------------------------------------------------------------------------- rungs */

/* Of the library's kernels, which are not in this program. */
extern "C" {
extern const lab_recipe lab_wide_pivot = {}, lab_packed = {}, lab_buffered = {}, lab_async = {},
                        lab_bulk = {};
}

#define CODE(...) (const void *)(__VA_ARGS__)
#define STAGE(rung, second, third, held, barriers)                                               \
    {                                                                                            \
        "apsp-gpu", rung, CODE(third), 32, 32, (held)*TILE_BYTES(32), barriers, CODE(second), 32 \
    }
/* Three tiles, filled before the one barrier; a second in phase 2, before it writes. */
#define THREE_TILES(ladder, rung, second, b, x, at_once)                                    \
    {                                                                                       \
        ladder, rung, CODE(three_tiles_rest<b, x, x, at_once>), x, x, 3 * TILE_BYTES(b), 1, \
            CODE(second<b, x, x, at_once>), 2                                               \
    }
/* Operands in shared memory: two tiles and one barrier, in phase 2 as well. */
#define TWO_TILES(ladder, rung, b, x, y, f)                               \
    {                                                                     \
        ladder, rung, CODE(rest<b, x, y, f>), x, y, 2 * TILE_BYTES(b), 1, \
            CODE(panels<b, x, y, f>), 1                                   \
    }
/* In global memory: phase 2 waits before it writes, and after each part of a tile of several. */
#define IN_GLOBAL(ladder, rung, b, f, waits)                                                    \
    {                                                                                           \
        ladder, rung, CODE(rest<b, 16, 16, f>), 16, 16, 0, 0, CODE(panels<b, 16, 16, f>), waits \
    }
#define SHAPE_OF(b, x, y) \
    TWO_TILES("apsp-gpu-shapes", #b "-" #x "x" #y, b, x, y, STRAIGHT | UNROLLED)
#define WAVE_OF(b, x, y) TWO_TILES("apsp-hip", #b "-" #x "x" #y, b, x, y, STRAIGHT | UNROLLED)
#define NOT_HERE(rung)                              \
    {                                               \
        "apsp-gpu", rung, NULL, 0, 0, 0, 0, NULL, 0 \
    }

static const expected said[] = {
    {"apsp-gpu", "naive", CODE(relax_all), 16, 16, 0, 0, NULL, 0},
    STAGE("stages", stage2_branches, stage3_first, 3, 32),
    STAGE("merged-branches", stage2, stage3_merged, 3, 32),
    STAGE("merged-unrolled", stage2_unrolled, stage3_unrolled, 3, 32),
    STAGE("no-barrier", stage2_unrolled, stage3_no_barrier, 3, 1),
    STAGE("registers", stage2_unrolled, stage3_register, 3, 1),
    STAGE("two-tiles", stage2_unrolled, stage3_two_tiles, 2, 1),
    STAGE("hoisted", stage2_unrolled, stage3_hoisted, 2, 1),
    STAGE("known-side", stage2_unrolled, stage3_known, 2, 1),
    STAGE("tiles-1", stage2_unrolled, stage3_tiles<1>, 0, 1),
    STAGE("tiles-2", stage2_unrolled, stage3_tiles<2>, 0, 1),
    STAGE("tiles-4", stage2_unrolled, stage3_tiles<4>, 0, 1),
    STAGE("tiles-6", stage2_unrolled, stage3_tiles<6>, 0, 1),
    NOT_HERE("chosen"), /* choose() has it */
    THREE_TILES("apsp-gpu", "rolled-64", three_tiles_pairs, 64, 32, 0),
    THREE_TILES("apsp-gpu", "block-64", three_tiles_pairs, 64, 32, 32),
    THREE_TILES("apsp-gpu", "apart", three_tiles_apart, 64, 32, 32),
    THREE_TILES("apsp-gpu", "pitched", three_tiles_pairs, 64, 32, 32),
    IN_GLOBAL("apsp-gpu", "grid-1d", 32, WALKS | CHECKED, 1),
    IN_GLOBAL("apsp-gpu", "grid", 32, CHECKED, 1),
    IN_GLOBAL("apsp-gpu", "padded", 32, 0, 1),
    IN_GLOBAL("apsp-gpu", "coalesced", 32, COALESCED, 1),
    TWO_TILES("apsp-gpu", "conflicts", 32, 16, 16, STRAIGHT | CONFLICTS),
    TWO_TILES("apsp-gpu", "no-conflicts", 32, 16, 16, STRAIGHT),
    TWO_TILES("apsp-gpu", "larger-block", 64, 16, 16, STRAIGHT),
    TWO_TILES("apsp-gpu", "more-threads", 64, 32, 32, STRAIGHT),
    TWO_TILES("apsp-gpu", "coarse", 64, 32, 8, STRAIGHT),
    TWO_TILES("apsp-gpu", "unrolled", 64, 32, 8, STRAIGHT | UNROLLED),
    TWO_TILES("apsp-gpu", "block-78", 78, 39, 13, STRAIGHT | UNROLLED),
    TWO_TILES("apsp-gpu", "square-threads", 64, 16, 16, STRAIGHT | UNROLLED),
    TWO_TILES("apsp-gpu", "fused", 64, 16, 16, STRAIGHT | UNROLLED | FUSED),
    {"apsp-gpu", "eight-by-eight", CODE(wide_rest), 16, 16, 0, 2 * WIDE / DEPTHS, CODE(wide_panels),
     2 * WIDE / DEPTHS},
    NOT_HERE("pivot-registers"),
    NOT_HERE("packed"),
    NOT_HERE("double-buffered"),
    NOT_HERE("async-copies"),
    NOT_HERE("bulk-copies"),
    NOT_HERE("mixed-step"),
    NOT_HERE("engine"),
    NOT_HERE("engine-16"),
    THREE_TILES("apsp-gpu-blocks", "block-8", three_tiles_pairs, 8, 8, 32),
    THREE_TILES("apsp-gpu-blocks", "block-16", three_tiles_pairs, 16, 16, 32),
    THREE_TILES("apsp-gpu-blocks", "block-32", three_tiles_pairs, 32, 32, 32),
    THREE_TILES("apsp-gpu-blocks", "block-64", three_tiles_pairs, 64, 32, 32),
    IN_GLOBAL("apsp-gpu-global", "global-16", 16, COALESCED, 1),
    IN_GLOBAL("apsp-gpu-global", "global-32", 32, COALESCED, 1),
    IN_GLOBAL("apsp-gpu-global", "global-64", 64, COALESCED, 1),
    IN_GLOBAL("apsp-gpu-global", "global-128", 128, COALESCED, 4 * 2),
    IN_GLOBAL("apsp-gpu-global", "global-256", 256, COALESCED, 16 * 2),
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
    WAVE_OF(16, 16, 16),
    WAVE_OF(32, 32, 32),
    WAVE_OF(32, 8, 32),
    WAVE_OF(48, 16, 16),
    WAVE_OF(64, 64, 16),
    WAVE_OF(80, 16, 40),
    WAVE_OF(90, 45, 15),
    WAVE_OF(64, 32, 8),
};

/* Two tiles a side: every phase has a block. */
static bool run_rung(const char *, const void *code)
{
    const lab_recipe *r = (const lab_recipe *)code;
    int side = 2 * (r->block == 1 ? 32 : r->block);
    std::vector<int> d = graph(side, side, side);
    r->solve(d.data(), side, side);
    const launch *main = launch_of(r->kernel);
    if (main == NULL || main->threads.x * main->threads.y != (unsigned)r->threads ||
        main->bytes != (size_t)r->shared) {
        puts("a recipe tells of another kernel than it launches");
        return false;
    }
    return true;
}

/* What a GPU of two runs is row A2's, too. */
static bool halves_are_as_said()
{
    const expected halves = {"apsp-multi",       "staged", CODE(half_rest),   32, 32,
                             3 * TILE_BYTES(64), 1,        CODE(half_panels), 2};
    launches.clear();
    return solve_in_halves(130) && ran_as_said(halves);
}

static bool climb_all()
{
    bool right = halves_are_as_said();
    for (const char *ladder :
         {"apsp-gpu", "apsp-gpu-blocks", "apsp-gpu-shapes", "apsp-gpu-global", "apsp-hip"}) {
        right = climb(ladder, said, sizeof said / sizeof *said, run_rung) && right;
    }
    return right;
}

int main(int, char **words)
{
    bool right = choose();
    state = strtoull(words[1], NULL, 10);
    right = sides_are_known() && right;
    right = climb_all() && right;
    for (const named &one : all) {
        const int b = one.recipe->block == 1 ? 32 : one.recipe->block;
        const int sizes[] = {1,     b - 1,         b,
                             b + 1, b + b / 4 + 3, 2 * b + 1 < 200 ? 2 * b + 1 : b + 7};
        for (int n : sizes) {
            right = solve(one, n, 0) && right;
            if (strcmp(one.name, "large") == 0) { /* which has a rung with a pitch */
                right = solve(one, n, 32) && right;
            }
        }
    }
    for (int n : {1, 63, 64, 65, 130, 200}) {
        right = solve_in_halves(n) && solve_in_one_memory(n) && right;
    }
    puts(right ? "every kernel is right" : "some kernels are wrong");
    return right ? 0 : 1;
}

/* Every recipe of apsp-gpu on a graph with edges that are missing, closed and compared. */
#include "kernels.cpp"

#include <cstring>
#include <vector>

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

int main(int, char **words)
{
    bool right = choose();
    state = strtoull(words[1], NULL, 10);
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

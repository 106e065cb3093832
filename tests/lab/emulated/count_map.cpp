/* What the kernels of row E access in one pass. */
#include "kernels.cpp"

#include "elements.h"

enum { N = 516 };

int main()
{
    const double all = 4.0 * N * N;
    const struct {
        const char *rung;
        const lab_map_recipe *recipe;
        accesses said;
    } rungs[] = {{"original", &lab_map_original, {0, 0, all, all, 0}},
                 {"coalesced", &lab_map_coalesced, {0, 0, all, all, 0}},
                 {"divided", &lab_map_divided, {0, 0, all / 2, all / 2, 0}}, /* one of its two */
                 {"table", &lab_map_table, {0, 0, 2 * all, all, 0}},
                 {"vectors", &lab_map_vectors, {0, 0, all, all, 0}}};
    std::vector<float> v((size_t)N * N, 20), table(2 * LAB_MAP_INPUTS, 1);
    bool right = true;
    for (const auto &each : rungs) {
        const accesses is = accesses_of(
            each.recipe->kernel, {{v.data(), v.size() * 4}, {table.data(), table.size() * 4}},
            [&] { each.recipe->pass(v.data(), N, table.data()); });
        right = is_as_said(each.rung, is, each.said) && right;
    }
    puts(right ? "every pass accesses what its row says" : "some passes access something else");
    return right ? 0 : 1;
}

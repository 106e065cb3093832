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
        int width; /* bytes of an access: two floats of row E5's */
    } rungs[] = {{"original", &lab_map_original, {0, 0, all, all, 0}, 4},
                 {"coalesced", &lab_map_coalesced, {0, 0, all, all, 0}, 4},
                 {"divided", &lab_map_divided, {0, 0, all / 2, all / 2, 0}, 4}, /* one of its two */
                 {"table", &lab_map_table, {0, 0, 2 * all, all, 0}, 4},
                 {"vectors", &lab_map_vectors, {0, 0, all, all, 0}, 8}};
    std::vector<float> v((size_t)N * N, 20), table(2 * LAB_MAP_INPUTS, 1);
    bool right = true;
    for (const auto &each : rungs) {
        accesses said = each.said;
        add(said.reads_of, each.width, said.reads / each.width);
        add(said.writes_of, each.width, said.writes / each.width);
        accesses is = accesses_of(each.recipe->kernel,
                                  {{v.data(), v.size() * 4}, {table.data(), table.size() * 4}},
                                  [&] { each.recipe->pass(v.data(), N, table.data()); });
        for (int i = 0; i < LAB_WIDTHS; i++) { /* of one element, which no row says anything of */
            is.own_loads_of[i] = 0;
        }
        right = is_as_said(each.rung, is, said) && has_widths(each.rung, is, said, 0) && right;
    }
    puts(right ? "every pass accesses what its row says" : "some passes access something else");
    return right ? 0 : 1;
}

/* Every rung of row E, one pass against the definition, and held to its row: which way its threads
 * lie, and how many elements each has. */
#include "kernels.cpp"

#include "rungs.h"

#define E(rung, kernel, x, y)                                        \
    {                                                                \
        "map-gpu", rung, (const void *)(kernel), x, y, 0, 0, NULL, 0 \
    }

static const expected said[] = {
    E("original", original, 1, 512),  E("coalesced", original, 512, 1),
    E("divided", divided<0>, 512, 1), E("table", looked_up, 512, 1),
    E("vectors", vectors, 256, 1),    E("engine", NULL, 0, 0),
    E("composed", NULL, 0, 0),
};

/* Elements of a thread where it has several: of row E5's four, by two loads of two. */
static const struct {
    const char *rung;
    int elements;
} several[] = {
    {"vectors", 4},
};

/* The kernel of one parity has half of them. */
static bool has_elements(const char *rung, const void *kernel, int n)
{
    const launch *made = launch_of(kernel);
    const double elements = (double)n * n / (strcmp(rung, "divided") == 0 ? 2 : 1);
    double said = 1, threads = 0;
    for (const auto &each : several) {
        said = strcmp(rung, each.rung) == 0 ? each.elements : said;
    }
    if (made != NULL) {
        threads = (double)made->blocks.x * made->blocks.y * made->threads.x * made->threads.y;
    }
    if (elements != said * threads) {
        printf("%s: elements for each thread: %g, not %g\n", rung, elements / threads, said);
    }
    return elements == said * threads;
}

static bool run_rung(const char *rung, const void *code)
{
    const lab_map_recipe *recipe = (const lab_map_recipe *)code;
    float table[2 * LAB_MAP_INPUTS];
    bool right = lab_map_fill_table(table) == 0;
    launches.clear();
    for (int n : {4, 512, 516, 1024}) {
        std::vector<float> v((size_t)n * n);
        for (size_t i = 0; i < v.size(); i++) {
            v[i] = (float)(10 + i % 256);
        }
        recipe->pass(v.data(), n, table);
        for (size_t i = 0; i < v.size(); i++) {
            double from = (double)(10 + i % 256);
            double expected = from + sqrt((i % 2 ? __builtin_log(from) : cos(from)) + 1);
            if (!(fabs((double)v[i] - expected) <= 1e-4)) {
                printf("%s, n = %d: element %zu is %g, not %g\n", rung, n, i, (double)v[i],
                       expected);
                return false;
            }
        }
    }
    return has_elements(rung, recipe->kernel, 1024) && right;
}

int main()
{
    bool right = climb("map-gpu", said, sizeof said / sizeof *said, run_rung);
    puts(right ? "every pass is right" : "some passes are wrong");
    return right ? 0 : 1;
}

/*
 * How often lanes of a warp must take turns at the 32 banks of shared memory, from the addresses
 * that the kernels' threads access: conflicts and no-conflicts of apsp-gpu are the same kernel but
 * for that. The compiler puts a call before every access of an instrumented file, as it does for
 * ThreadSanitizer; trace.cpp has them.
 */
#include "kernels.cpp"

#include "trace.h"

/* Turns of a load from shared memory in the third phase, on average, in the first warp of a block.
 */
static double turns_of(const lab_recipe &recipe)
{
    const int side = 2 * recipe.block;
    std::vector<int> d((size_t)side * side, 1);
    trace_begin({tiles, sizeof tiles, &now, &running, recipe.kernel});
    recipe.solve(d.data(), side, side);
    return trace_end();
}

int main()
{
    double with = turns_of(lab_conflicts), without = turns_of(lab_straight);
    printf("turns a load: conflicts %.2f, no-conflicts %.2f\n", with, without);
    /* 16 x 16 threads: 16 words of a column of the right operand in one bank, or 16 side by side;
     * two rows of the left one side by side, or in one bank. */
    if (!(with > 6 && without < 3)) {
        puts("a rung has other conflicts than its row says");
        return 1;
    }
    return 0;
}

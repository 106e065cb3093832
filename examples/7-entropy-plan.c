/*
 * Local entropy of a sequence of images by one plan: window, tables and method are settled once,
 * and each frame costs its run alone. Here a textured square wanders over a smooth ground.
 *
 *     7-entropy-plan
 */
#include <stdio.h>
#include <tilewright.h>

enum { SIDE = 200, SQUARE = 50, FRAMES = 4 };

static uint8_t frame[SIDE][SIDE];
static float entropy[SIDE][SIDE];

static void draw(int at)
{
    uint32_t random = 1;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            random = random * 1664525 + 1013904223;
            int textured = y >= at && y < at + SQUARE && x >= at && x < at + SQUARE;
            frame[y][x] = textured ? (uint8_t)(random >> 28) : 7;
        }
    }
}

/* Rows in which something is going on. */
static int count_rows(double threshold)
{
    int count = 0;
    for (int y = 0; y < SIDE; y++) {
        int x = 0;
        while (x < SIDE && (double)entropy[y][x] <= threshold) {
            x++;
        }
        count += x < SIDE;
    }
    return count;
}

int main(void)
{
    const tw_shape shape = {SIDE, SIDE, TW_U8};
    const tw_matrix in = {frame, SIDE, SIDE, SIDE, TW_U8};
    tw_matrix out = {entropy, SIDE, SIDE, SIDE, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    tw_entropy_plan *plan = NULL;
    tw_context *ctx = NULL;
    opts.levels = 16;
    opts.base = TW_ENTROPY_BASE_LEVELS; /* from 0 to 1 */

    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_entropy_plan_create(ctx, &plan, &shape, &opts) == TW_OK &&
             tw_entropy_plan_describe(plan, &info) == TW_OK;
    for (int i = 0; i < FRAMES && ok; i++) {
        draw(i * 40);
        ok = tw_entropy_plan_apply(ctx, plan, &out, &in, NULL) == TW_OK;
        if (ok) {
            printf("%sframe %d: %d rows", i > 0 ? ", " : "", i, count_rows(info.largest / 2));
        }
    }
    if (ok) {
        printf("\n");
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "no memory");
    }
    tw_entropy_plan_destroy(plan);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

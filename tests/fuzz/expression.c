/*
 * Any bytes given as an expression end in a sentence with a column inside the text, or in a tree
 * that compiles to programs, runs, and lies within the bounds of interval arithmetic.
 */
#include "map/map.h"
#include "map/reference.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((uint64_t)64 << 20)
#define ROWS 3
#define COLS 5

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

/* The first byte chooses types and repetitions. */
static void run(tw_context *ctx, const tw_expr *expr, uint8_t choice)
{
    static const tw_type types[] = {TW_U8, TW_I16, TW_F32, TW_F64};
    float x[ROWS * COLS];
    uint8_t a[COLS];
    double out[ROWS * COLS];
    tw_matrix inputs[2] = {{x, ROWS, COLS, COLS, TW_F32}, {a, 1, COLS, COLS, TW_U8}};
    tw_shape shapes[2] = {{ROWS, COLS, TW_F32}, {1, COLS, TW_U8}};
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_map_plan *plan = NULL;
    tw_map_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    double mark = 9;
    for (int i = 0; i < ROWS * COLS; i++) {
        x[i] = (float)(i * 37 % 29) * 0.75F - 5;
        a[i % COLS] = (uint8_t)(i * 3);
    }
    opts.type = types[choice & 3];
    opts.repeat = 1 + (choice >> 2 & 1);
    opts.no_data = choice >> 3 & 1 ? &mark : NULL;
    if (twi_map_plan_make(ctx, &plan, expr, shapes, 2, &opts, TWI_MAP_REFERENCE) == TW_OK) {
        tw_matrix result = {out, ROWS, COLS, COLS, opts.type};
        insist(tw_map_plan_explain(plan)[0] != '\0');
        insist(tw_map_plan_apply(ctx, plan, &result, inputs, 2, NULL) == TW_OK);
        insist(tw_map_verifier_create(ctx, &verifier, expr, inputs, 2, &opts, 0, 1) == TW_OK);
        insist(tw_map_verifier_sink(verifier, &sink) == TW_OK);
        insist(tw_feed(ctx, &result, &sink, 1) == TW_OK);
        insist(tw_map_verifier_result(ctx, verifier, NULL) == TW_OK);
        tw_map_verifier_destroy(verifier);
    } else {
        insist(tw_last_error(ctx)[0] != '\0');
    }
    tw_map_plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"x", "a"};
    static const tw_constant k = {"k", 2.5};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_context *ctx = NULL;
    tw_expr *expr = NULL;
    int64_t column = -1;
    char *text = malloc(size + 1);
    insist(text != NULL && tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    memcpy(text, data, size);
    text[size] = '\0';
    opts.inputs = names;
    opts.input_count = 2;
    opts.constants = &k;
    opts.constant_count = 1;
    opts.column = &column;
    if (tw_expr_create(ctx, &expr, text, &opts) == TW_OK) {
        run(ctx, expr, size > 0 ? data[0] : 0);
    } else {
        insist(tw_last_error(ctx)[0] != '\0');
        insist(column >= 0 && column <= (int64_t)strlen(text) + 1);
    }
    tw_expr_destroy(expr);
    insist(tw_memory_used(ctx) == 0);
    tw_context_destroy(ctx);
    free(text);
    return 0;
}

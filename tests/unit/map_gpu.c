/*
 * The kernels that maps generate: every operation and function in both compute types, every type in
 * and out, broadcasts, residues and repetition must compile. The run-time compiler needs no GPU; a
 * machine without it skips these, and says so.
 */
#include "harness.h"

#include "gpu/code_cache.h"
#include "gpu/rtc.h"
#include "map/compile.h"
#include "map/gpu.h"
#include "map/gpu_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURE "sm_90"

static bool have_compiler(tw_context *ctx)
{
    char version[32];
    if (twi_rtc_version(ctx, version) == TW_OK) {
        return true;
    }
    print_message("skipped: %s\n", tw_last_error(ctx));
    return false;
}

/* A map of up to six inputs u8 u16 i16 i32 f32 f64, named a b c d x y. */
typedef struct sample {
    const char *text;
    tw_type compute, type;
    int64_t repeat;
    uint32_t one_row, one_col; /* bit k: input k is broadcast in that direction */
    int64_t cols;
} sample;

static twi_map_job open_sample(tw_context *ctx, const sample *s, twi_variants *variants)
{
    static const char *const names[] = {"a", "b", "c", "d", "x", "y"};
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    twi_map_setting setting = {.compute = s->compute,
                               .type = s->type,
                               .rows = 100,
                               .cols = s->cols,
                               .repeat = s->repeat,
                               .x_input = 4};
    twi_map_job job = {.variants = variants,
                       .input_count = 6,
                       .x_input = 4,
                       .repeat = s->repeat,
                       .row_count = 100,
                       .cols = s->cols};
    tw_expr *expr = NULL;
    opts.inputs = names;
    opts.input_count = 6;
    for (int k = 0; k < 6; k++) {
        bool down = (s->one_row >> k & 1) == 0;
        bool across = (s->one_col >> k & 1) == 0;
        setting.depends[k] = (uint8_t)((down ? TWI_ON_ROW : 0) | (across ? TWI_ON_COL : 0));
        job.inputs[k] = (twi_map_input){NULL, types[k], down ? s->cols : 0, across};
    }
    assert_ok(ctx, tw_expr_create(ctx, &expr, s->text, &opts));
    assert_ok(ctx, twi_variants_make(ctx, variants, expr, &setting));
    tw_expr_destroy(expr);
    return job;
}

static void compile_sample(tw_context *ctx, const sample *s)
{
    twi_variants variants;
    twi_map_source source;
    twi_rtc_code code;
    twi_map_job job = open_sample(ctx, s, &variants);
    assert_ok(ctx, twi_map_source_make(ctx, &source, &job));
    if (getenv("TW_SHOW") != NULL) {
        print_message("%s\n", source.text);
    }
    assert_ok(ctx, twi_rtc_compile(ctx, &code, source.whole, ARCHITECTURE));
    assert_true(code.bytes > 0);
    if (getenv("TW_SHOW") != NULL) {
        FILE *f = fopen(getenv("TW_SHOW"), "wb");
        fwrite(code.data, 1, code.bytes, f);
        fclose(f);
    }
    twi_rtc_code_clear(&code);
    twi_map_source_clear(&source);
    twi_variants_clear(&variants);
}

static void the_example_compiles(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    if (have_compiler(ctx)) {
        sample s = {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_F32, TW_F32, 10, 0, 0, 64};
        compile_sample(ctx, &s);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_compiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The kernels that maps generate: every operation and function in both compute types, every type in
 * and out, broadcasts, residues and repetition must compile. The run-time compiler needs no GPU; a
 * machine without it skips these, and says so.
 */
#include "unit/scratch_folder.h"

#include "gpu/code_cache.h"
#include "gpu/rtc.h"
#include "map/gpu/gpu.h"
#include "map/gpu/source.h"
#include "map/language/specialise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TWI_HIP
#define ARCHITECTURE "gfx90a"
#define OTHER_ARCHITECTURE "gfx1030"
#else
#define ARCHITECTURE "sm_90"
#define OTHER_ARCHITECTURE "sm_80"
#endif

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
    tw_status status = twi_rtc_compile(ctx, &code, source.whole, ARCHITECTURE);
    if (status != TW_OK) {
        print_message("%s\n", source.text);
    }
    assert_ok(ctx, status);
    assert_true(code.bytes > 0);
    twi_rtc_code_clear(&code);
    twi_map_source_clear(&source);
    twi_variants_clear(&variants);
}

/* Every operation and function, every input, in one expression of sums. */
static const char everything[] =
    "abs(x) + sqrt(x) + cbrt(x) + exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log10(x) + "
    "log1p(x) + sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + sinh(x) + cosh(x) + "
    "tanh(x) + asinh(x) + acosh(x) + atanh(x) + copysign(x, y) + nextafter(y, x) + floor(x) + "
    "ceil(x) + round(x) + rint(x) + trunc(x) + min(x, y) + max(x, 2.5) + "
    "fmod(x, y) + x ^ 1.7 + 3 ^ y + pow(x, y) + atan2(x, y) + hypot(x, 3) + (x < y) + (a <= b) + "
    "(c == d) + (x != y) + (x && y || !a) + (x > y ? x : -y) + a / b - c * d + row + col % 1000 + "
    "row % 77 + where(isnan(x), 1e300, isinf(y)) + clamp(x, -1, 1) + x % 3 + sign(y)";

static void every_operation_compiles_for_every_type(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    for (int k = 0; k < 12 && have_compiler(ctx); k++) {
        bool own = types[k / 2] == (k % 2 == 0 ? TW_F32 : TW_F64);
        sample s = {own ? everything : "a + b - c * d / x + (y < 1)",
                    k % 2 == 0 ? TW_F32 : TW_F64,
                    types[k / 2],
                    1,
                    0,
                    0,
                    64};
        compile_sample(ctx, &s);
    }
    close_context(ctx);
}

static void residues_repetition_and_broadcasts_compile(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_F32, TW_F32, 10, 0, 0, 64},
        {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_F64, TW_F32, 1, 0, 0, 64},
        {"col % 3 ? x : a", TW_F32, TW_U8, 1, 0, 0, 64},
        {"col % 16 ? x : a", TW_F32, TW_F64, 3, 0, 0, 64},
        {"(row + col) % 5 ? x : y", TW_F32, TW_F32, 2, 0, 0, 64},
        {"row % 2 && col % 7 ? x : row", TW_F64, TW_I16, 2, 0, 0, 64},
        {"a + b + c + d + x + y", TW_F64, TW_F64, 2, 0x15, 0x2a, 64},
        {"a + b + c + d + x + y", TW_F32, TW_I32, 2, 0x3f, 0x3f, 64},
        {"pow(a, x) + pow(y, b)", TW_F32, TW_F32, 1, 0x3, 0x3, 64},
        {"col + row", TW_F64, TW_F64, 1, 0, 0, (int64_t)1 << 40},
        {"7", TW_F32, TW_U8, 1, 0, 0, 64},
        {"1 / 0 - x", TW_F32, TW_F32, (int64_t)1 << 40, 0, 0, 64},
    };
    tw_context *ctx = open_context();
    for (size_t k = 0; k < sizeof samples / sizeof *samples && have_compiler(ctx); k++) {
        compile_sample(ctx, &samples[k]);
    }
    close_context(ctx);
}

static void registers_limit_what_a_thread_takes(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    sample small = {"x", TW_F32, TW_F32, 1, 0, 0, 64};
    sample bytes = {"a", TW_F32, TW_U8, 1, 0, 0, 64};
    sample third = {"col % 3 ? a : 1", TW_F32, TW_U8, 1, 0, 0, 64};
    struct {
        const sample *sample;
        int32_t piece, group, groups;
    } expected[] = {{&small, 4, 4, 2}, {&bytes, 16, 16, 1}, {&third, 8, 24, 1}};
    for (int k = 0; k < 3; k++) {
        twi_variants variants;
        twi_map_source source;
        twi_map_job job = open_sample(ctx, expected[k].sample, &variants);
        assert_ok(ctx, twi_map_source_make(ctx, &source, &job));
        assert_int_equal(source.piece, expected[k].piece);
        assert_int_equal(source.group, expected[k].group);
        assert_int_equal(source.groups, expected[k].groups);
        twi_map_source_clear(&source);
        twi_variants_clear(&variants);
    }
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------ the cache */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_cache_believes_only_whole_files_of_the_same_key(void **state)
{
    (void)state;
    char text[] = "machine code";
    tw_context *ctx = open_context();
    twi_code_key key;
    twi_code_key other;
    twi_rtc_code code = {text, sizeof text};
    twi_rtc_code read;
    if (!have_compiler(ctx)) {
        close_context(ctx);
        return;
    }
    assert_int_equal(setenv("XDG_CACHE_HOME", scratch, 1), 0);
    assert_ok(ctx, twi_code_key_make(ctx, &key, "a source", ARCHITECTURE));
    assert_ok(ctx, twi_code_key_make(ctx, &other, "a source", OTHER_ARCHITECTURE));
    assert_string_not_equal(key.path, other.path);
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
    assert_null(read.data);
    twi_code_cache_write(&key, &code);
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
    assert_int_equal(read.bytes, sizeof text);
    assert_memory_equal(read.data, text, sizeof text);
    twi_rtc_code_clear(&read);

    /* The file of one key in the place of another. */
    assert_int_equal(rename(key.path, other.path), 0);
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &other));
    assert_null(read.data);
    /* Every byte of a file counts: none may change, none may be missing. */
    twi_code_cache_write(&key, &code);
    FILE *file = fopen(key.path, "rb");
    char whole[512];
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    assert_in_range(size, 50, 500);
    for (size_t k = 0; k < 2 * size; k++) {
        file = fopen(key.path, "wb");
        whole[k / 2] ^= 0x20;
        fwrite(whole, 1, k % 2 == 0 ? size : k / 2, file);
        whole[k / 2] ^= 0x20;
        fclose(file);
        assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
        assert_null(read.data);
    }
    write_file(key.path, "something else");
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
    assert_null(read.data);
    twi_code_cache_write(&key, &code);
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
    assert_non_null(read.data);
    twi_rtc_code_clear(&read);
    assert_int_equal(unlink(key.path), 0);
    assert_int_equal(unlink(other.path), 0);
    assert_int_equal(rmdir(in_scratch("tilewright")), 0); /* no half-written file is left */
    twi_code_key_clear(&key);
    twi_code_key_clear(&other);

    /* Without a folder there is no cache, and nothing fails. */
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/no/such", 1), 0);
    assert_ok(ctx, twi_code_key_make(ctx, &key, "a source", ARCHITECTURE));
    assert_null(key.path);
    twi_code_cache_write(&key, &code);
    assert_ok(ctx, twi_code_cache_read(ctx, &read, &key));
    assert_null(read.data);
    twi_code_key_clear(&key);
    close_context(ctx);
}

static void a_failed_allocation_leaves_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    sample s = {everything, TW_F32, TW_F32, 2, 0, 0, 64};
    twi_variants variants;
    twi_map_job job = open_sample(ctx, &s, &variants);
    int64_t before = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t n = 1; status != TW_OK; n++) {
        twi_map_gpu *gpu = NULL;
        twi_meter_fail_at(ctx->meter, n);
        status = twi_map_gpu_create(ctx, &gpu, &job);
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            assert_non_null(strstr(twi_map_gpu_text(gpu), TWI_MAP_KERNEL));
        } else {
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_null(gpu);
            assert_int_equal(twi_meter_blocks(ctx->meter), before);
        }
        twi_map_gpu_destroy(gpu);
    }
    twi_variants_clear(&variants);
    close_context(ctx);
}

static void a_missing_compiler_is_named(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    char version[32];
    assert_int_equal(setenv("TW_RTC", "/no/such/library.so", 1), 0);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "install", twi_rtc_version(ctx, version));
    assert_non_null(strstr(tw_last_error(ctx), "/no/such/library.so"));
    assert_int_equal(unsetenv("TW_RTC"), 0);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_compiler_is_named), /* first, before one is found */
        cmocka_unit_test(every_operation_compiles_for_every_type),
        cmocka_unit_test(residues_repetition_and_broadcasts_compile),
        cmocka_unit_test(registers_limit_what_a_thread_takes),
        cmocka_unit_test_setup_teardown(the_cache_believes_only_whole_files_of_the_same_key,
                                        make_scratch, remove_scratch),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Maps of inputs that are not in memory: the same bits as of whole arrays, whatever the bands. */
#include "unit/scratch_folder.h"

#include "base/matrix.h"
#include "base/random.h"
#include "map/map.h"

enum { INPUTS = 5, WIDE = 4001, MOST = 200 * WIDE };

/* A source over a matrix that insists on its rows being asked for once and in order. */
typedef struct rows_of {
    tw_matrix matrix;
    bool again; /* it does not */
    int64_t next;
    int64_t calls;
    int64_t fail_at; /* the call that fails; 0: none */
} rows_of;

static tw_status give_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    rows_of *rows = self;
    const size_t size = tw_type_size(rows->matrix.type);
    assert_true(first >= 0 && count > 0 && first + count <= rows->matrix.rows);
    assert_true(rows->again || first == rows->next);
    if (++rows->calls == rows->fail_at) {
        return tw_fail(ctx, TW_ERR_IO, "the disk is gone");
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)data + (size_t)(i * stride) * size, twi_matrix_row(&rows->matrix, first + i),
               (size_t)rows->matrix.cols * size);
    }
    rows->next = first + count;
    return TW_OK;
}

static tw_source source_of(rows_of *rows)
{
    const tw_matrix *matrix = &rows->matrix;
    return (tw_source){.size = sizeof(tw_source),
                       .self = rows,
                       .shape = {matrix->rows, matrix->cols, matrix->type},
                       .in_order = !rows->again,
                       .rows = give_rows};
}

/* Inputs x (f32), b (u8), i (i16), one row r (f64) and one column c (u16). */
typedef struct arrays {
    tw_matrix in[INPUTS];
    tw_shape shapes[INPUTS];
} arrays;

static const char *const names[INPUTS] = {"x", "b", "i", "r", "c"};

static void fill(arrays *a, int64_t rows, int64_t cols)
{
    static float x[MOST];
    static uint8_t b[MOST];
    static int16_t i[MOST];
    static double r[MOST];
    static uint16_t c[MOST];
    assert_true(rows * cols <= MOST && rows <= MOST && cols <= MOST);
    static bool filled;
    for (size_t k = 0; k < MOST && !filled; k++) {
        x[k] = (float)(twi_random_unit(twi_random_at(1, k)) * 200 - 20);
        b[k] = (uint8_t)twi_random_at(2, k);
        i[k] = (int16_t)twi_random_at(3, k);
        r[k] = twi_random_unit(twi_random_at(4, k));
        c[k] = (uint16_t)twi_random_at(5, k);
    }
    filled = true;
    *a = (arrays){.in = {{x, rows, cols, cols, TW_F32},
                         {b, rows, cols, cols, TW_U8},
                         {i, rows, cols, cols, TW_I16},
                         {r, 1, cols, cols, TW_F64},
                         {c, rows, 1, 1, TW_U16}}};
    for (int k = 0; k < INPUTS; k++) {
        a->shapes[k] = (tw_shape){a->in[k].rows, a->in[k].cols, a->in[k].type};
    }
}

static tw_expr *parse(tw_context *ctx, const char *text)
{
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *expr = NULL;
    opts.inputs = names;
    opts.input_count = INPUTS;
    assert_ok(ctx, tw_expr_create(ctx, &expr, text, &opts));
    return expr;
}

/* A run with the inputs of the bits of `streamed` from sources, under a limit of memory, against
 * the whole arrays. Returns the rows of a block. */
static int64_t compare(tw_context *ctx, const arrays *a, const tw_expr *expr,
                       const tw_map_options *opts, twi_map_method method, uint32_t streamed,
                       uint64_t memory)
{
    tw_map_plan *plan = NULL;
    tw_map_verifier *verifier = NULL;
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    rows_of rows[INPUTS] = {0};
    rows_of again[INPUTS] = {0};
    tw_source sources[INPUTS] = {TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    tw_source checked[INPUTS] = {TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    tw_matrix inputs[INPUTS] = {0};
    int64_t block = 0;
    uint64_t bytes = 0;
    assert_ok(ctx, twi_map_plan_make(ctx, &plan, expr, a->shapes, INPUTS, opts, method));
    const tw_shape *shape = &plan->shape;
    const size_t size = (size_t)(shape->rows * shape->cols) * tw_type_size(shape->type) + 1;
    char *want = malloc(size);
    char *got = malloc(size);
    assert_true(want != NULL && got != NULL);
    memset(want, 0xAA, size);
    memset(got, 0x55, size);
    tw_matrix whole = {want, shape->rows, shape->cols, shape->cols, shape->type};
    tw_matrix target = {got, shape->rows, shape->cols, shape->cols, shape->type};
    assert_ok(ctx, tw_map_plan_apply(ctx, plan, &whole, a->in, INPUTS, NULL));
    for (int k = 0; k < INPUTS; k++) {
        rows[k].matrix = again[k].matrix = a->in[k];
        again[k].again = true;
        if ((streamed >> k & 1) != 0) {
            sources[k] = source_of(&rows[k]);
            checked[k] = source_of(&again[k]);
        } else {
            inputs[k] = a->in[k];
        }
    }
    assert_ok(ctx,
              tw_map_verifier_stream(ctx, &verifier, expr, inputs, checked, INPUTS, opts, 50, 7));
    assert_int_equal(tw_map_verifier_sink(verifier, &sinks[0]), TW_OK);
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[1], &target));
    assert_ok(ctx, tw_set_memory(ctx, memory > 0 ? tw_memory_used(ctx) + memory : 0));
    assert_ok(ctx, tw_map_plan_block(ctx, plan, sources, &block, &bytes));
    twi_meter_restart_peak(ctx->meter);
    assert_ok(ctx, tw_map_plan_stream(ctx, plan, inputs, sources, INPUTS, sinks, 2, NULL));
    assert_true(memory == 0 || bytes <= memory);
    assert_true(memory == 0 || twi_meter_peak(ctx->meter) <= tw_memory_limit(ctx));
    assert_ok(ctx, tw_set_memory(ctx, 0));
    assert_ok(ctx, tw_map_verifier_result(ctx, verifier, NULL));
    assert_memory_equal(got, want, size - 1);
    for (int k = 0; k < INPUTS; k++) {
        const bool read = (streamed >> k & 1) != 0 && shape->rows > 0;
        assert_int_equal(rows[k].next, read ? rows[k].matrix.rows : 0);
    }
    tw_sink_destroy(&sinks[1]);
    tw_map_verifier_destroy(verifier);
    tw_map_plan_destroy(plan);
    free(got);
    free(want);
    return block;
}

static const char *const expressions[] = {
    "x + 1",
    "x * rows + row * 10 - col / cols",
    "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
    "row % 3 == 1 ? x + r : col % 5 ? b - c : i * x",
    "(row * 7 + col) % 11 + b",
    "r * 2 + c",
    "x * i + b * r - c",
    "row % 64 + rows",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static void bands_give_the_same_bits(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{0, 3},  {3, 0},   {1, 1},    {1, 67},  {2, 5},
                                       {67, 1}, {211, 1}, {200, 64}, {211, 67}};
    static const uint32_t streamed[] = {31, 1, 5, 24, 30};
    tw_context *ctx = open_context();
    arrays a;
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        fill(&a, sizes[s][0], sizes[s][1]);
        for (int e = 0; e < EXPRESSIONS; e++) {
            tw_expr *expr = parse(ctx, expressions[e]);
            const int each = emulated_sizes_only() ? 5 : 1;
            for (int k = ((int)s + e) % each; k < 5; k += each) {
                tw_map_options opts = TW_MAP_OPTIONS_INIT;
                opts.repeat = 1 + k % 2 * 2;
                opts.compute = k < 3 ? TW_F32 : TW_F64;
                opts.type = k == 2 ? TW_U8 : TW_AUTO;
                compare(ctx, &a, expr, &opts, TWI_MAP_AUTO, streamed[k], 0);
                compare(ctx, &a, expr, &opts, TWI_MAP_DIRECT, streamed[k], 2 << 20);
                compare(ctx, &a, expr, &opts, TWI_MAP_REFERENCE, streamed[k], 1 << 20);
            }
            tw_expr_destroy(expr);
        }
    }
    close_context(ctx);
}

static void little_memory_makes_many_bands_and_is_kept_to(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 200, WIDE);
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (int e = 0; e < EXPRESSIONS; e += emulated_sizes_only() ? 3 : 1) {
        tw_expr *expr = parse(ctx, expressions[e]);
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        opts.compute = e % 2 == 0 ? TW_F32 : TW_F64;
        for (opts.repeat = 1; opts.repeat < 4; opts.repeat += 2) {
            int64_t few = compare(ctx, &a, expr, &opts, TWI_MAP_DIRECT, 31, 2 << 20);
            int64_t more = compare(ctx, &a, expr, &opts, TWI_MAP_DIRECT, 25, 4 << 20);
            assert_true(few >= 1 && few < more && more < 100);
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

static void bands_of_a_row_are_possible(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 200, 64);
    assert_ok(ctx, tw_set_threads(ctx, 1));
    for (int e = 0; e < EXPRESSIONS; e++) {
        tw_expr *expr = parse(ctx, expressions[e]);
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        opts.repeat = 2;
        opts.compute = TW_F32;
        assert_int_equal(compare(ctx, &a, expr, &opts, TWI_MAP_REFERENCE, 31, 2500), 1);
        assert_int_equal(compare(ctx, &a, expr, &opts, TWI_MAP_DIRECT, 31, 8 << 20), 200);
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

static void tables_look_up_bands(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 211, 67);
    assert_ok(ctx, tw_set_threads(ctx, 2));
    static const char *const texts[] = {"255 - b", "row % 3 ? sqrt(b) : 7 - b"};
    for (int e = 0; e < 2; e++) {
        tw_expr *expr = parse(ctx, texts[e]);
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        opts.type = e == 0 ? TW_U8 : TW_F32;
        int64_t block = compare(ctx, &a, expr, &opts, TWI_MAP_TABLE, 31, 20000);
        assert_true(block < 30);
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

/* -------------------------------------------------------------------------------------- failures
 */

static void too_little_for_a_row_is_refused_with_numbers(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 200, 64);
    tw_expr *expr = parse(ctx, "x + c");
    tw_map_plan *plan = NULL;
    rows_of rows = {.matrix = a.in[0]};
    tw_source sources[INPUTS] = {source_of(&rows), TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, a.shapes, INPUTS, NULL));
    assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + 100));
    assert_fails(ctx, TW_ERR_MEMORY, "a block of rows needs",
                 tw_map_plan_stream(ctx, plan, a.in, sources, INPUTS, NULL, 0, NULL));
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void a_source_that_fails_ends_the_run(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 200, 64);
    tw_expr *expr = parse(ctx, "x + c");
    tw_map_plan *plan = NULL;
    assert_ok(ctx, twi_map_plan_make(ctx, &plan, expr, a.shapes, INPUTS, NULL, TWI_MAP_REFERENCE));
    for (int64_t call = 1; call < 4; call++) {
        tw_sink sink = TW_SINK_INIT;
        rows_of rows = {.matrix = a.in[0], .fail_at = call};
        tw_source sources[INPUTS] = {source_of(&rows), TW_SOURCE_INIT, TW_SOURCE_INIT,
                                     TW_SOURCE_INIT, TW_SOURCE_INIT};
        assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch("out.npy"), NULL));
        assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + 100000));
        assert_fails(ctx, TW_ERR_IO, "the disk is gone",
                     tw_map_plan_stream(ctx, plan, a.in, sources, INPUTS, &sink, 1, NULL));
        assert_ok(ctx, tw_set_memory(ctx, 0));
        tw_sink_destroy(&sink);
        assert_int_equal(scratch_count(), 0);
    }
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void a_wrong_band_is_found_by_the_verifier(void **state)
{
    (void)state;
    static float other[200 * 64];
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 200, 64);
    tw_expr *expr = parse(ctx, "x + c");
    tw_map_plan *plan = NULL;
    tw_map_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    memcpy(other, a.in[0].data, sizeof other);
    other[137 * 64 + 11] += 1;
    rows_of rows = {.matrix = {other, 200, 64, 64, TW_F32}};
    rows_of right = {.matrix = a.in[0], .again = true};
    tw_source sources[INPUTS] = {source_of(&rows), TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    tw_source checked[INPUTS] = {source_of(&right), TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, a.shapes, INPUTS, NULL));
    assert_ok(ctx, tw_map_verifier_stream(ctx, &verifier, expr, a.in, checked, INPUTS, NULL, 0, 1));
    assert_int_equal(tw_map_verifier_sink(verifier, &sink), TW_OK);
    assert_ok(ctx, tw_map_plan_stream(ctx, plan, a.in, sources, INPUTS, &sink, 1, NULL));
    assert_fails(ctx, TW_ERR_VERIFY, "row 137, column 11",
                 tw_map_verifier_result(ctx, verifier, NULL));
    tw_map_verifier_destroy(verifier);
    right.again = false;
    checked[0] = source_of(&right);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "can be read once only",
                 tw_map_verifier_stream(ctx, &verifier, expr, a.in, checked, INPUTS, NULL, 0, 1));
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void wrong_inputs_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 20, 6);
    tw_expr *expr = parse(ctx, "x + c");
    tw_map_plan *plan = NULL;
    rows_of rows = {.matrix = a.in[0]};
    tw_source sources[INPUTS] = {source_of(&rows), TW_SOURCE_INIT, TW_SOURCE_INIT, TW_SOURCE_INIT,
                                 TW_SOURCE_INIT};
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, a.shapes, INPUTS, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "inputs is NULL",
                 tw_map_plan_stream(ctx, plan, NULL, sources, INPUTS, NULL, 0, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "the plan takes 5 inputs, got 4",
                 tw_map_plan_stream(ctx, plan, a.in, sources, 4, NULL, 0, NULL));
    sources[0].shape.rows++;
    assert_fails(ctx, TW_ERR_ARGUMENT,
                 "input 1 is 21 x 6 of type f32, but this plan was created for 20 x 6 of type f32",
                 tw_map_plan_stream(ctx, plan, a.in, sources, INPUTS, NULL, 0, NULL));
    tw_map_plan_destroy(plan);
    for (int k = 0; k < INPUTS; k++) {
        a.shapes[k] = (tw_shape){(int64_t)1 << 60, (int64_t)1 << 61, TW_F64};
        sources[k] = (tw_source){
            .size = sizeof(tw_source), .self = &rows, .shape = a.shapes[k], .rows = give_rows};
    }
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, a.shapes, INPUTS, NULL));
    assert_fails(ctx, TW_ERR_RANGE, "more than 2^48 rows or columns",
                 tw_map_plan_stream(ctx, plan, NULL, sources, INPUTS, NULL, 0, NULL));
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void a_failed_allocation_of_a_stream_leaves_nothing_behind(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    arrays a;
    fill(&a, 30, 20);
    tw_expr *expr = parse(ctx, "x + c");
    const int64_t kept = twi_meter_blocks(ctx->meter);
    for (int64_t n = 1;; n++) {
        tw_map_plan *plan = NULL;
        tw_map_verifier *verifier = NULL;
        tw_sink sink = TW_SINK_INIT;
        rows_of rows = {.matrix = a.in[0], .again = true};
        tw_source sources[INPUTS] = {source_of(&rows), TW_SOURCE_INIT, TW_SOURCE_INIT,
                                     TW_SOURCE_INIT, TW_SOURCE_INIT};
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_map_plan_create(ctx, &plan, expr, a.shapes, INPUTS, NULL);
        if (status == TW_OK) {
            status =
                tw_map_verifier_stream(ctx, &verifier, expr, a.in, sources, INPUTS, NULL, 0, 1);
        }
        if (status == TW_OK) {
            assert_int_equal(tw_map_verifier_sink(verifier, &sink), TW_OK);
            status = tw_map_plan_stream(ctx, plan, a.in, sources, INPUTS, &sink, 1, NULL);
        }
        twi_meter_fail_at(ctx->meter, 0);
        tw_map_verifier_destroy(verifier);
        tw_map_plan_destroy(plan);
        assert_int_equal(twi_meter_blocks(ctx->meter), kept);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

/* Cut after the first band was read, as another process could do it. */
typedef struct cutter {
    const char *path;
} cutter;

static tw_status cut_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)ctx;
    (void)shape;
    return TW_OK;
}

static tw_status cut_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                          const void *data, int64_t stride)
{
    (void)ctx;
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    return truncate(((cutter *)self)->path, 1000) == 0 ? TW_OK : TW_ERR_INTERNAL;
}

static tw_status cut_end(void *self, tw_context *ctx)
{
    (void)self;
    return tw_fail(ctx, TW_ERR_INTERNAL, "a cut file was read to its end");
}

static void cut_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

static void a_file_cut_between_bands_is_a_sentence(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_source source = TW_SOURCE_INIT;
    tw_sink sink = TW_SINK_INIT;
    tw_expr *expr = NULL;
    tw_map_plan *plan = NULL;
    arrays a;
    fill(&a, 200, 64);
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch("a.npy"), NULL));
    assert_ok(ctx, tw_feed(ctx, &a.in[0], &sink, 1));
    tw_sink_destroy(&sink);
    cutter cut = {in_scratch("a.npy")};
    assert_ok(ctx, tw_image_source(ctx, &source, cut.path, NULL, 0, NULL));
    assert_ok(ctx, tw_expr_create(ctx, &expr, "x + row", NULL));
    assert_ok(ctx, twi_map_plan_make(ctx, &plan, expr, a.shapes, 1, NULL, TWI_MAP_REFERENCE));
    assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + 20000));
    sink = (tw_sink){sizeof(tw_sink), &cut, cut_begin, cut_rows, cut_end, cut_abort, NULL};
    assert_fails(ctx, TW_ERR_IO, "cut short while it was being read",
                 tw_map_plan_stream(ctx, plan, NULL, &source, 1, &sink, 1, NULL));
    assert_int_equal(unlink(cut.path), 0);
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    tw_source_destroy(&source);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_give_the_same_bits),
        cmocka_unit_test(little_memory_makes_many_bands_and_is_kept_to),
        cmocka_unit_test(bands_of_a_row_are_possible),
        cmocka_unit_test(tables_look_up_bands),
        cmocka_unit_test(too_little_for_a_row_is_refused_with_numbers),
        cmocka_unit_test(a_source_that_fails_ends_the_run),
        cmocka_unit_test(a_wrong_band_is_found_by_the_verifier),
        cmocka_unit_test(wrong_inputs_are_refused),
        cmocka_unit_test(a_failed_allocation_of_a_stream_leaves_nothing_behind),
        cmocka_unit_test(a_file_cut_between_bands_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

/* Local entropy of images that are not in memory: the same bits as of a whole image. */
#include "unit/scratch_folder.h"

#include "base/matrix.h"
#include "base/random.h"
#include "entropy/plan/blocks.h"

#include <math.h>

/* A source over a matrix that insists on the order it was told. */
typedef struct rows_of {
    const tw_matrix *matrix;
    bool in_order;
    int64_t next;
    int64_t read; /* rows, counted again when read again */
} rows_of;

static tw_status give_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    rows_of *rows = self;
    const size_t size = tw_type_size(rows->matrix->type);
    (void)ctx;
    assert_true(first >= 0 && count > 0 && first + count <= rows->matrix->rows);
    assert_true(!rows->in_order || first == rows->next);
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)data + (size_t)(i * stride) * size, twi_matrix_row(rows->matrix, first + i),
               (size_t)rows->matrix->cols * size);
    }
    rows->next = first + count;
    rows->read += count;
    return TW_OK;
}

static tw_source source_of(rows_of *rows)
{
    const tw_matrix *matrix = rows->matrix;
    return (tw_source){.size = sizeof(tw_source),
                       .self = rows,
                       .shape = {matrix->rows, matrix->cols, matrix->type},
                       .in_order = rows->in_order,
                       .rows = give_rows};
}

/* The stream under a limit of memory against the whole image. Returns the rows of a block. */
static int64_t compare(tw_context *ctx, const tw_matrix *in, const tw_entropy_options *opts,
                       bool in_order, uint64_t memory)
{
    const tw_shape given = {in->rows, in->cols, in->type};
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    tw_entropy_plan *plan = NULL;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &given, opts));
    assert_ok(ctx, tw_entropy_plan_describe(plan, &info));
    const tw_shape shape = info.shape;
    const size_t bytes = (size_t)(shape.rows * shape.cols) * sizeof(float) + 1;
    float *want = malloc(bytes);
    float *got = malloc(bytes);
    assert_true(want != NULL && got != NULL);
    memset(want, 0xAA, bytes);
    memset(got, 0x55, bytes);
    tw_matrix whole = {want, shape.rows, shape.cols, shape.cols, TW_F32};
    tw_matrix target = {got, shape.rows, shape.cols, shape.cols, TW_F32};
    assert_ok(ctx, tw_entropy(ctx, &whole, in, opts));
    rows_of rows = {.matrix = in, .in_order = in_order};
    tw_source source = source_of(&rows);
    tw_entropy_report report = TW_ENTROPY_REPORT_INIT;
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &target));
    assert_ok(ctx, tw_set_memory(ctx, memory));
    assert_ok(ctx, tw_entropy_plan_stream(ctx, plan, &source, &sink, 1, &report));
    assert_ok(ctx, tw_set_memory(ctx, 0));
    tw_entropy_plan_destroy(plan);
    tw_sink_destroy(&sink);
    assert_memory_equal(got, want, bytes - 1);
    if (opts->border != TW_ENTROPY_BORDER_WRAP) {
        assert_true(rows.read <= in->rows);
    }
    free(got);
    free(want);
    return report.block;
}

static void bands_give_the_same_bits_with_every_border(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {2, 5}, {7, 9}, {40, 33}, {203, 21}, {1000, 3}};
    static const int32_t windows[][2] = {{1, 1}, {5, 5}, {4, 6}, {9, 9}, {30, 3}};
    static uint8_t data[203 * 33];
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(twi_random_at(5, i) % 16);
    }
    for (size_t s = 0; s < 6; s++) {
        for (size_t w = 0; w < 5; w++) {
            for (tw_entropy_border border = 0; border <= TW_ENTROPY_BORDER_VALID; border++) {
                tw_matrix in = {data, sizes[s][0], sizes[s][1], sizes[s][1], TW_U8};
                tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
                opts.levels = 16;
                opts.window_rows = windows[w][0];
                opts.window_cols = windows[w][1];
                opts.border = border;
                opts.verify = 20;
                int64_t block = compare(ctx, &in, &opts, border != TW_ENTROPY_BORDER_WRAP,
                                        700 * (uint64_t)1000);
                assert_true(block <= in.rows);
            }
        }
    }
    close_context(ctx);
}

static void little_memory_makes_small_bands(void **state)
{
    (void)state;
    enum { ROWS = 300, COLS = 2000 };
    static uint16_t data[ROWS * COLS];
    tw_context *ctx = open_context();
    tw_matrix in = {data, ROWS, COLS, COLS, TW_U16};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    assert_ok(ctx, tw_set_threads(ctx, 1));
    for (size_t i = 0; i < ROWS * COLS; i++) {
        data[i] = (uint16_t)(twi_random_at(6, i) % 300);
    }
    opts.levels = 300;
    for (tw_entropy_border border = 0; border <= TW_ENTROPY_BORDER_VALID; border++) {
        opts.border = border;
        int64_t few = compare(ctx, &in, &opts, border != TW_ENTROPY_BORDER_WRAP, 1 << 20);
        int64_t more = compare(ctx, &in, &opts, border != TW_ENTROPY_BORDER_WRAP, 3 << 20);
        assert_true(few >= 8 && few < more && more < ROWS);
    }
    close_context(ctx);
}

static void masks_footprints_and_ranges_stream_too(void **state)
{
    (void)state;
    enum { ROWS = 90, COLS = 40 };
    static float data[ROWS * COLS];
    static uint8_t mask[ROWS * COLS];
    static const uint8_t cross[12] = {0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0};
    const double range[2] = {-1, 1};
    tw_context *ctx = open_context();
    tw_matrix in = {data, ROWS, COLS, COLS, TW_F32};
    tw_matrix mask_view = {mask, ROWS, COLS, COLS, TW_U8};
    tw_matrix footprint = {(void *)cross, 4, 3, 3, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    for (size_t i = 0; i < ROWS * COLS; i++) {
        data[i] = (float)(twi_random_unit(twi_random_at(7, i)) * 2 - 1);
        mask[i] = twi_random_at(8, i) % 5 != 0;
        data[i] = mask[i] ? data[i] : 17;
    }
    opts.levels = 30;
    opts.range = range;
    opts.mask = &mask_view;
    opts.footprint = &footprint;
    for (tw_entropy_border border = 0; border <= TW_ENTROPY_BORDER_VALID; border++) {
        for (int32_t anchor = 0; anchor < 4; anchor++) {
            opts.border = border;
            opts.anchor_row = anchor;
            compare(ctx, &in, &opts, border != TW_ENTROPY_BORDER_WRAP, 300 * (uint64_t)1000);
        }
    }
    close_context(ctx);
}

/* As a caller would that streams but once. */
static tw_status stream_once(tw_context *ctx, const tw_source *source,
                             const tw_entropy_options *opts, uint64_t memory)
{
    tw_entropy_plan *plan = NULL;
    tw_status status = tw_entropy_plan_create(ctx, &plan, &source->shape, opts);
    if (status == TW_OK) {
        assert_int_equal(tw_set_memory(ctx, memory), TW_OK);
        status = tw_entropy_plan_stream(ctx, plan, source, NULL, 0, NULL);
        assert_int_equal(tw_set_memory(ctx, 0), TW_OK);
    }
    tw_entropy_plan_destroy(plan);
    return status;
}

static void what_cannot_be_streamed_says_so(void **state)
{
    (void)state;
    static uint8_t data[10000];
    tw_context *ctx = open_context();
    tw_matrix in = {data, 100, 100, 100, TW_U8};
    rows_of rows = {.matrix = &in, .in_order = true};
    tw_source source = source_of(&rows);
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.border = TW_ENTROPY_BORDER_WRAP;
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "wrapped borders need the last rows first",
                 stream_once(ctx, &source, &opts, 0));
    opts.border = TW_ENTROPY_BORDER_CROP;
    assert_fails(ctx, TW_ERR_MEMORY, "", stream_once(ctx, &source, &opts, 9000));
    data[9950] = 200;
    opts.levels = 100;
    assert_fails(ctx, TW_ERR_RANGE, "row 99, column 50 is 200",
                 stream_once(ctx, &source, &opts, 0));
    close_context(ctx);
}

static void a_failed_allocation_of_a_stream_leaves_nothing_behind(void **state)
{
    (void)state;
    static uint8_t data[900];
    tw_context *ctx = open_context();
    tw_matrix in = {data, 30, 30, 30, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.verify = 3;
    for (int64_t n = 1;; n++) {
        rows_of rows = {.matrix = &in};
        tw_source source = source_of(&rows);
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = stream_once(ctx, &source, &opts, 0);
        twi_meter_fail_at(ctx->meter, 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    close_context(ctx);
}

/* Rows of a file, one plane, in pieces, against the whole image. */
static void compare_file(tw_context *ctx, const char *path, int64_t piece)
{
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_read(ctx, &image, path, NULL));
    const int64_t planes = tw_image_planes(image);
    for (int64_t k = 0; k < planes; k++) {
        const tw_matrix *plane = tw_image_plane(image, k);
        tw_image_info info = TW_IMAGE_INFO_INIT;
        tw_source source = TW_SOURCE_INIT;
        assert_ok(ctx, tw_image_source(ctx, &source, path, NULL, k, &info));
        assert_int_equal(info.planes, planes);
        assert_true(source.shape.rows == plane->rows && source.shape.cols == plane->cols);
        assert_int_equal(source.shape.type, plane->type);
        const size_t row = (size_t)plane->cols * tw_type_size(plane->type);
        char *rows = malloc((size_t)piece * row + 1);
        for (int64_t first = 0; first < plane->rows; first += piece) {
            int64_t count = plane->rows - first < piece ? plane->rows - first : piece;
            memset(rows, 0xAA, (size_t)piece * row);
            assert_ok(ctx, source.rows(source.self, ctx, first, count, rows, plane->cols));
            assert_memory_equal(rows, twi_matrix_row(plane, first), (size_t)count * row);
        }
        free(rows);
        tw_source_destroy(&source);
    }
    tw_source source = TW_SOURCE_INIT;
    assert_fails(ctx, TW_ERR_ARGUMENT, "has no plane",
                 tw_image_source(ctx, &source, path, NULL, planes, NULL));
    tw_image_destroy(image);
}

static void every_format_gives_its_rows_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int64_t planes;
        tw_type type;
    } cases[] = {{"a.npy", 1, TW_U8},     {"a.npy", 3, TW_U16}, {"a.npy", 2, TW_F32},
                 {"a.pgm", 1, TW_U8},     {"a.pgm", 1, TW_U16}, {"a.ppm", 3, TW_U8},
                 {"a.ppm", 3, TW_U16},    {"a.pfm", 1, TW_F32}, {"a.pfm", 3, TW_F32},
                 {"a.records", 3, TW_U8}, {"a.png", 1, TW_U8},  {"a.png", 4, TW_U16},
                 {"a.tif", 1, TW_U8},     {"a.tif", 3, TW_F32}};
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tw_image *image = NULL;
        if ((!TW_TEST_PNG && strcmp(cases[c].file, "a.png") == 0) ||
            (!TW_TEST_TIFF && strcmp(cases[c].file, "a.tif") == 0)) {
            continue;
        }
        assert_ok(ctx, tw_image_create(ctx, &image));
        for (int64_t k = 0; k < cases[c].planes; k++) {
            assert_ok(ctx, tw_image_add(ctx, image, 17, 11, cases[c].type));
            uint8_t *bytes = tw_image_plane(image, k)->data;
            for (size_t i = 0; i < 17 * 11 * tw_type_size(cases[c].type); i++) {
                bytes[i] = (uint8_t)(i * 5 + (size_t)k * 77);
            }
        }
        assert_ok(ctx, tw_image_write(ctx, image, in_scratch(cases[c].file), NULL));
        tw_image_destroy(image);
        compare_file(ctx, in_scratch(cases[c].file), 1);
        compare_file(ctx, in_scratch(cases[c].file), 5);
        compare_file(ctx, in_scratch(cases[c].file), 17);
        assert_int_equal(unlink(in_scratch(cases[c].file)), 0);
    }
    for (int64_t piece = 1; TW_TEST_TIFF && piece < 40; piece += 9) {
        compare_file(ctx, TW_TEST_DATA "/good/tiled.tif", piece);
        compare_file(ctx, TW_TEST_DATA "/good/separate.tif", piece);
        compare_file(ctx, TW_TEST_DATA "/good/pages.tif", piece);
    }
    close_context(ctx);
}

static void files_that_must_be_read_whole_say_so(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_source source = TW_SOURCE_INIT;
    put_file("t.pgm", "P2 1 1 9 1", 10);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "is text",
                 tw_image_source(ctx, &source, in_scratch("t.pgm"), NULL, 0, NULL));
    assert_int_equal(unlink(in_scratch("t.pgm")), 0);
    assert_fails(ctx, TW_ERR_ARGUMENT, "a file with a name",
                 tw_image_source(ctx, &source, "-", NULL, 0, NULL));
    if (TW_TEST_PNG) {
        assert_fails(
            ctx, TW_ERR_UNSUPPORTED, "is interlaced",
            tw_image_source(ctx, &source, TW_TEST_DATA "/good/interlaced.png", NULL, 0, NULL));
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_give_the_same_bits_with_every_border),
        cmocka_unit_test(little_memory_makes_small_bands),
        cmocka_unit_test(masks_footprints_and_ranges_stream_too),
        cmocka_unit_test(what_cannot_be_streamed_says_so),
        cmocka_unit_test(a_failed_allocation_of_a_stream_leaves_nothing_behind),
        cmocka_unit_test(every_format_gives_its_rows_one_by_one),
        cmocka_unit_test(files_that_must_be_read_whole_say_so),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

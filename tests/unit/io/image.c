/* Images: planes, generators, and the formats they are read from and written to. */
#include "unit/scratch_folder.h"

#include <math.h>

static void planes_are_zero_and_owned_by_the_image(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_create(ctx, &image));
    for (int64_t k = 0; k < 5; k++) {
        assert_ok(ctx, tw_image_add(ctx, image, k, 3, TW_F32));
    }
    assert_int_equal(tw_image_planes(image), 5);
    assert_null(tw_image_plane(image, 5));
    assert_null(tw_image_plane(image, -1));
    const tw_matrix *plane = tw_image_plane(image, 4);
    assert_int_equal(plane->rows, 4);
    for (int i = 0; i < 12; i++) {
        assert_true(((const float *)plane->data)[i] == 0);
    }
    assert_fails(ctx, TW_ERR_ARGUMENT, "is not possible", tw_image_add(ctx, image, -1, 3, TW_U8));
    assert_fails(ctx, TW_ERR_MEMORY, "cannot be addressed",
                 tw_image_add(ctx, image, INT64_MAX, INT64_MAX, TW_U8));
    tw_image_destroy(image);
    tw_image_destroy(NULL);
    close_context(ctx);
}

static void generated_images_stay_within_their_levels(void **state)
{
    (void)state;
    static const char *const kinds[] = {"noise", "gradient", "checker", "natural"};
    static const int32_t levels[] = {2, 16, 256, 257, 65536};
    tw_context *ctx = open_context();
    for (size_t k = 0; k < 4; k++) {
        for (size_t l = 0; l < 5; l++) {
            tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
            tw_image *image = NULL;
            opts.kind = kinds[k];
            opts.levels = levels[l];
            opts.rows = 150;
            opts.cols = 130;
            assert_ok(ctx, tw_image_generate(ctx, &image, &opts));
            const tw_matrix *plane = tw_image_plane(image, 0);
            assert_int_equal(plane->type, levels[l] <= 256 ? TW_U8 : TW_U16);
            uint32_t least = UINT32_MAX;
            uint32_t most = 0;
            for (int64_t i = 0; i < plane->rows * plane->cols; i++) {
                uint32_t value = plane->type == TW_U8 ? ((const uint8_t *)plane->data)[i]
                                                      : ((const uint16_t *)plane->data)[i];
                least = value < least ? value : least;
                most = value > most ? value : most;
            }
            assert_true(most < (uint32_t)levels[l] && least < most);
            tw_image_destroy(image);
        }
    }
    close_context(ctx);
}

/* An image of some planes of one type, filled with every byte there is. */
static tw_image *make_image(tw_context *ctx, int64_t planes, int64_t rows, int64_t cols,
                            tw_type type)
{
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_create(ctx, &image));
    for (int64_t k = 0; k < planes; k++) {
        assert_ok(ctx, tw_image_add(ctx, image, rows, cols, type));
        uint8_t *bytes = tw_image_plane(image, k)->data;
        for (int64_t i = 0; i < rows * cols * (int64_t)tw_type_size(type); i++) {
            bytes[i] = (uint8_t)(i * 7 + k * 31);
        }
    }
    return image;
}

static void note_end(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)stage;
    (void)unit;
    *(bool *)user |= done == total && total == 1100;
}

static void generating_reports_its_progress(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    tw_image *image = NULL;
    bool ended = false;
    opts.rows = 1100; /* more than one block */
    opts.cols = 1000;
    tw_set_progress(ctx, note_end, &ended);
    assert_ok(ctx, tw_image_generate(ctx, &image, &opts));
    assert_true(ended);
    tw_image_destroy(image);
    close_context(ctx);
}

static void every_format_reads_back_what_it_wrote(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int64_t planes;
        tw_type type;
    } cases[] = {{"a.npy", 1, TW_U8},  {"a.npy", 5, TW_U16},    {"a.npy", 1, TW_I16},
                 {"a.npy", 1, TW_F32}, {"a.pgm", 1, TW_U8},     {"a.pgm", 1, TW_U16},
                 {"a.ppm", 3, TW_U8},  {"a.ppm", 3, TW_U16},    {"a.pfm", 1, TW_F32},
                 {"a.pfm", 3, TW_F32}, {"a.records", 1, TW_U8}, {"a.records", 4, TW_U8},
                 {"a.png", 1, TW_U8},  {"a.png", 1, TW_U16},    {"a.png", 2, TW_U8},
                 {"a.png", 3, TW_U16}, {"a.png", 4, TW_U8},     {"a.png", 4, TW_U16},
                 {"a.tif", 1, TW_U8},  {"a.tif", 3, TW_U16},    {"a.tif", 2, TW_I16},
                 {"a.tif", 1, TW_F32}, {"a.tif", 7, TW_F64},    {"a.tif", 1, TW_I32}};
    static const int64_t sizes[][2] = {{0, 0}, {1, 1}, {5, 7}, {3, 0}};
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t s = 0; s < 4; s++) {
            bool png = strcmp(cases[c].file, "a.png") == 0;
            bool tiff = strcmp(cases[c].file, "a.tif") == 0;
            if ((png && !TW_TEST_PNG) || (tiff && !TW_TEST_TIFF) ||
                ((png || tiff) && sizes[s][1] == 0)) {
                continue; /* they have no empty images */
            }
            tw_image *image =
                make_image(ctx, cases[c].planes, sizes[s][0], sizes[s][1], cases[c].type);
            tw_image *again = NULL;
            assert_ok(ctx, tw_image_write(ctx, image, in_scratch(cases[c].file), NULL));
            assert_ok(ctx, tw_image_read(ctx, &again, in_scratch(cases[c].file), NULL));
            assert_int_equal(tw_image_planes(again), cases[c].planes);
            for (int64_t k = 0; k < cases[c].planes; k++) {
                const tw_matrix *want = tw_image_plane(image, k);
                const tw_matrix *got = tw_image_plane(again, k);
                assert_true(got->rows == want->rows && got->cols == want->cols);
                assert_int_equal(got->type, want->type);
                size_t bytes = (size_t)(want->rows * want->cols) * tw_type_size(want->type);
                assert_memory_equal(got->data, want->data, bytes);
            }
            tw_image_destroy(again);
            tw_image_destroy(image);
            assert_int_equal(unlink(in_scratch(cases[c].file)), 0);
        }
    }
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void five_decimals_are_those_of_printf(void **state)
{
    (void)state;
    static const float values[] = {0,        0.5f,      1.000005f, 3.2188758f, 0.000005f, 0.000015f,
                                   9.99999f, 9.999996f, 123456.7f, 1e20f,      -1.5f,     NAN};
    enum { COUNT = sizeof values / sizeof *values };
    tw_context *ctx = open_context();
    tw_image *image = make_image(ctx, 1, 1, COUNT, TW_F32);
    memcpy(tw_image_plane(image, 0)->data, values, sizeof values);
    char want[1024];
    int used = snprintf(want, sizeof want, "%d,1,", (int)COUNT);
    for (int i = 0; i < COUNT; i++) {
        used += snprintf(want + used, sizeof want - (size_t)used, "%.5f,", (double)values[i]);
    }
    want[used++] = '\n';
    assert_ok(ctx, tw_image_write(ctx, image, in_scratch("a"), "records"));
    assert_file("a", want, (size_t)used);
    tw_image_destroy(image);
    close_context(ctx);
}

static void what_a_format_cannot_hold_is_refused_before_a_file_is_there(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *two = make_image(ctx, 2, 2, 2, TW_U8);
    tw_image *floats = make_image(ctx, 1, 2, 2, TW_F32);
    assert_fails(ctx, TW_ERR_ARGUMENT, "one plane or three, not 2",
                 tw_image_write(ctx, two, in_scratch("a.ppm"), NULL));
    tw_image *unlike = make_image(ctx, 1, 2, 2, TW_U8);
    assert_ok(ctx, tw_image_add(ctx, unlike, 2, 3, TW_U8));
    assert_fails(ctx, TW_ERR_ARGUMENT, "must have the same size and type",
                 tw_image_write(ctx, unlike, in_scratch("a.npy"), NULL));
    tw_image_destroy(unlike);
    assert_fails(ctx, TW_ERR_ARGUMENT, "elements of f32",
                 tw_image_write(ctx, floats, in_scratch("a.pgm"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "has no known image extension",
                 tw_image_write(ctx, floats, in_scratch("a.xyz"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown image format 'gif'",
                 tw_image_write(ctx, floats, in_scratch("a"), "gif"));
    assert_int_equal(scratch_count(), 0);
    tw_image_destroy(floats);
    tw_image_destroy(two);
    close_context(ctx);
}

static void mangled_files_end_in_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        const char *bytes;
        size_t count;
        const char *words;
    } cases[] = {
        {"pnm", "P5", 2, "byte 0: not a PGM or PPM header"},
        {"pnm", "P7 1 1 1 ", 9, "byte 0: not a PGM or PPM header"},
        {"pnm", "P5 x", 4, "byte 3: expected a width and a height"},
        {"pnm", "P5 1 99999999999 1 a", 20, "a width and a height"},
        {"pnm", "P5 1 1 0 a", 10, "expected a maximum value from 1 to 65535"},
        {"pnm", "P5 1 1 65536 a", 14, "expected a maximum value from 1 to 65535"},
        {"pnm", "P5 1 1 255", 10, "does not end with a blank"},
        {"pnm", "P5 1 1 255#", 11, "does not end with a blank"},
        {"pnm", "P5 2 1 255 a", 12, "says 2 x 1 elements, but 1 byte follows it"},
        {"pnm", "P5 1 1 255 ab", 13, "says 1 x 1 elements, but 2 bytes follow"},
        {"pnm", "P2 2 1 9 1", 10, "expected a value from 0 to the maximum"},
        {"pnm", "P2 2 1 9 1 10", 13, "expected a value from 0 to the maximum"},
        {"pnm", "P2 1 1 9 1 1", 12, "more values than the header says"},
        {"pnm", "P2 9999 9999 9 1", 16, "shorter than the values"},
        {"pfm", "Pf 1 1 0 abcd", 13, "expected a nonzero scale"},
        {"pfm", "Pf 1 1 z abcd", 13, "expected a nonzero scale"},
        {"pfm", "Pf 1 1 -1 abc", 13, "says 1 x 1 elements, but 3 bytes follow"},
        {"records", "\1\0\0", 3, "ends within the header of the record at byte 0"},
        {"records", "\1\0\0\0\377\377\377\377", 8, "says 1 x -1 elements"},
        {"records", "\1\0\0\0\1\0\0\0a\1", 10, "header of the record at byte 9"},
        {"records", "\377\377\377\177\377\377\377\177a", 9, "says 2147483647 x 2147483647"},
        {"npy", "\x93NUMPY", 6, "does not begin with an npy header"},
        {NULL, "", 0, "is not an image"},
    };
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_image *image = (tw_image *)&cases;
        put_file("m", cases[i].bytes, cases[i].count);
        assert_fails(ctx, TW_ERR_FORMAT, cases[i].words,
                     tw_image_read(ctx, &image, in_scratch("m"), cases[i].format));
        assert_null(image);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    assert_int_equal(unlink(in_scratch("m")), 0);
    close_context(ctx);
}

#if TW_TEST_TIFF
static void tiff_elements_are_those_of_the_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/tiled.tif", NULL));
    assert_int_equal(tw_image_planes(image), 3); /* deflated tiles of 16 x 16, big-endian */
    for (int i = 0; i < 20 * 37; i++) {
        assert_int_equal(((const uint16_t *)tw_image_plane(image, 0)->data)[i], i);
        assert_int_equal(((const uint16_t *)tw_image_plane(image, 1)->data)[i], 3 * i);
        assert_int_equal(((const uint16_t *)tw_image_plane(image, 2)->data)[i],
                         65535 - i / 37 - i % 37);
    }
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/separate.tif", NULL));
    assert_int_equal(tw_image_planes(image), 2); /* channels one after the other, in strips */
    for (int i = 0; i < 20 * 37; i++) {
        int y = i / 37, x = i % 37;
        assert_int_equal(((const int16_t *)tw_image_plane(image, 0)->data)[i], y * 40 + x - 300);
        assert_int_equal(((const int16_t *)tw_image_plane(image, 1)->data)[i], x * 9 - y);
    }
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/pages.tif", NULL));
    assert_int_equal(tw_image_planes(image), 2); /* of different sizes and types */
    assert_true(tw_image_plane(image, 0)->rows == 3 && tw_image_plane(image, 0)->cols == 4);
    assert_true(((const float *)tw_image_plane(image, 0)->data)[11] == 3.25f);
    assert_true(tw_image_plane(image, 1)->rows == 5 && tw_image_plane(image, 1)->type == TW_U8);
    assert_int_equal(((const uint8_t *)tw_image_plane(image, 1)->data)[9], 4);
    tw_image_destroy(image);
    close_context(ctx);
}

static void mangled_tiff_files_end_in_a_sentence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cut.tif", "page 0: a line cannot be decoded"},
        {"cut-pages.tif", "page 0: not a TIFF file"},
        {"huge.tif", "page 0 says 2000000000 x 2000000000 elements, which 162 bytes cannot hold"},
        {"huge-packed.tif", "page 0 says 2000000 x 2000000 elements, which 162 bytes cannot hold"},
        {"loop.tif", "page 0: "},
        {"no-rows.tif", "page 0: "},
        {"strange-bits.tif", "page 0 has 20-bit unsigned integers"}};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512];
        tw_image *image = NULL;
        snprintf(path, sizeof path, TW_TEST_DATA "/mangled-images/%s", cases[i][0]);
        assert_fails(ctx, TW_ERR_FORMAT, cases[i][1], tw_image_read(ctx, &image, path, NULL));
        assert_null(image);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}
#else
static void tiff_without_its_library_says_what_to_install(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "libtiff-dev",
                 tw_image_read(ctx, &image, TW_TEST_DATA "/good/tiled.tif", NULL));
    close_context(ctx);
}
#endif

#if TW_TEST_PNG
static void png_elements_are_those_of_the_file(void **state)
{
    (void)state;
    static const uint8_t grey[6] = {1, 2, 3, 15, 0, 7};
    static const uint8_t red[3] = {10, 70, 40};
    static const uint8_t blue[3] = {30, 90, 60};
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/grey4.png", NULL));
    assert_int_equal(tw_image_planes(image), 1);
    assert_memory_equal(tw_image_plane(image, 0)->data, grey, 6);
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/palette.png", NULL));
    assert_int_equal(tw_image_planes(image), 3);
    assert_memory_equal(tw_image_plane(image, 0)->data, red, 3);
    assert_memory_equal(tw_image_plane(image, 2)->data, blue, 3);
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/grey16-alpha.png", NULL));
    assert_int_equal(tw_image_planes(image), 2);
    const uint16_t *values = tw_image_plane(image, 0)->data;
    assert_true(tw_image_plane(image, 0)->type == TW_U16 && values[0] == 0x0102);
    assert_int_equal(values[1], 0x1234);
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, TW_TEST_DATA "/good/interlaced.png", NULL));
    for (int i = 0; i < 25; i++) {
        uint8_t value = (uint8_t)(i / 5 * 10 + i % 5);
        assert_int_equal(((const uint8_t *)tw_image_plane(image, 0)->data)[i], value);
        assert_int_equal(((const uint8_t *)tw_image_plane(image, 1)->data)[i], 100 + value);
        assert_int_equal(((const uint8_t *)tw_image_plane(image, 2)->data)[i], 200 - value);
    }
    tw_image_destroy(image);
    close_context(ctx);
}

static void mangled_png_files_end_in_a_sentence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cut.png", "byte 55: the file ends before the image does"},
        {"cut-header.png", "byte 20: the file ends before the image does"},
        {"huge.png", "2000000000 x 2000000000 elements, which 68 bytes of PNG cannot hold"},
        {"wrong-sum.png", "byte 55: "},
        {"short-data.png", "byte 51: "},
        {"no-width.png", "byte 33: "},
        {"strange-depth.png", "byte 33: "}};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512];
        tw_image *image = NULL;
        snprintf(path, sizeof path, TW_TEST_DATA "/mangled-images/%s", cases[i][0]);
        assert_fails(ctx, TW_ERR_FORMAT, cases[i][1], tw_image_read(ctx, &image, path, NULL));
        assert_null(image);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}

#else
static void png_without_its_library_says_what_to_install(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "libpng-dev",
                 tw_image_read(ctx, &image, TW_TEST_DATA "/good/grey4.png", NULL));
    image = make_image(ctx, 1, 2, 2, TW_U8);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "libpng-dev",
                 tw_image_write(ctx, image, in_scratch("a.png"), NULL));
    tw_image_destroy(image);
    close_context(ctx);
}

#endif

/* The rows of a row-major f32 array through `sink`, in blocks of some rows. */
static void push(tw_context *ctx, tw_sink *sink, const float *data, int64_t rows, int64_t cols)
{
    tw_matrix matrix = {(void *)data, rows, cols, cols, TW_F32};
    assert_ok(ctx, tw_feed(ctx, &matrix, sink, 1));
}

static void scaled_rows_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    static const float values[8] = {0, 1, 2, 0.5f, -1, 3, NAN, 0.0117f};
    static const uint8_t bytes[8] = {0, 128, 255, 64, 0, 255, 0, 1};
    static const uint16_t words[8] = {0, 32768, 65535, 16384, 0, 65535, 0, 383};
    tw_context *ctx = open_context();
    uint8_t got8[8];
    uint16_t got16[8];
    tw_matrix target8 = {got8, 2, 4, 4, TW_U8};
    tw_matrix target16 = {got16, 2, 4, 4, TW_U16};
    tw_sink inner = TW_SINK_INIT, sink = TW_SINK_INIT;
    memset(got8, 0xAA, sizeof got8);
    memset(got16, 0xAA, sizeof got16);
    assert_ok(ctx, tw_sink_to_matrix(ctx, &inner, &target8));
    assert_ok(ctx, tw_sink_scaled(ctx, &sink, &inner, TW_U8, 2));
    push(ctx, &sink, values, 2, 4);
    assert_memory_equal(got8, bytes, sizeof bytes);
    tw_sink_destroy(&sink);
    tw_sink_destroy(&inner);
    assert_ok(ctx, tw_sink_to_matrix(ctx, &inner, &target16));
    assert_ok(ctx, tw_sink_scaled(ctx, &sink, &inner, TW_U16, 2));
    push(ctx, &sink, values, 2, 4);
    assert_memory_equal(got16, words, sizeof words);
    tw_sink_destroy(&sink);
    assert_fails(ctx, TW_ERR_ARGUMENT, "not to f64", tw_sink_scaled(ctx, &sink, &inner, TW_F64, 2));
    assert_fails(ctx, TW_ERR_ARGUMENT, "above 0", tw_sink_scaled(ctx, &sink, &inner, TW_U8, 0));
    tw_sink_destroy(&inner);
    close_context(ctx);
}

static void half_precision_is_the_nearest_there_is(void **state)
{
    (void)state;
    static const struct {
        float value;
        uint16_t half;
    } cases[] = {{0, 0},
                 {1, 0x3C00},
                 {-2, 0xC000},
                 {0.33325195f, 0x3555},
                 {65504, 0x7BFF},
                 {65519, 0x7BFF},
                 {65520, 0x7C00},
                 {INFINITY, 0x7C00},
                 {NAN, 0x7E00},
                 {0x1p-24f, 1},
                 {0x1p-25f, 0},
                 {0x1.8p-24f, 2},
                 {0x1p-14f, 0x400},
                 {0x1.ff8p-15f, 0x3FF},
                 {1.00048828125f, 0x3C00},
                 {1.00146484375f, 0x3C02}};
    enum { COUNT = sizeof cases / sizeof *cases };
    float values[COUNT];
    unsigned char file[128 + 2 * COUNT];
    tw_context *ctx = open_context();
    tw_sink inner = TW_SINK_INIT, sink = TW_SINK_INIT;
    for (int i = 0; i < COUNT; i++) {
        values[i] = cases[i].value;
    }
    assert_ok(ctx, tw_sink_to_file(ctx, &inner, in_scratch("h.raw"), NULL));
    assert_ok(ctx, tw_sink_scaled(ctx, &sink, &inner, TW_F16, 0));
    push(ctx, &sink, values, 1, COUNT);
    for (int i = 0; i < COUNT; i++) {
        memcpy(file + 2 * i, &cases[i].half, 2);
    }
    assert_file("h.raw", file, sizeof(uint16_t) * COUNT);
    tw_sink_destroy(&sink);
    tw_sink_destroy(&inner);
    assert_ok(ctx, tw_sink_to_file(ctx, &inner, in_scratch("h.csv"), NULL));
    assert_ok(ctx, tw_sink_scaled(ctx, &sink, &inner, TW_F16, 0));
    tw_matrix matrix = {values, 1, COUNT, COUNT, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "csv has no f16", tw_feed(ctx, &matrix, &sink, 1));
    tw_sink_destroy(&sink);
    tw_sink_destroy(&inner);
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void a_preview_averages_squares_and_grows_lighter(void **state)
{
    (void)state;
    enum { ROWS = 3, COLS = 2050 };
    static float values[ROWS * COLS];
    tw_context *ctx = open_context();
    tw_sink sink = TW_SINK_INIT;
    tw_image *image = NULL;
    for (int i = 0; i < ROWS * COLS; i++) {
        values[i] = i % COLS < 3 ? NAN : (float)(i % COLS) / COLS;
    }
    assert_ok(ctx, tw_sink_to_preview(ctx, &sink, in_scratch("p.ppm"), 1));
    push(ctx, &sink, values, ROWS, COLS);
    tw_sink_destroy(&sink);
    assert_ok(ctx, tw_image_read(ctx, &image, in_scratch("p.ppm"), NULL));
    const tw_matrix *red = tw_image_plane(image, 0);
    const tw_matrix *green = tw_image_plane(image, 1);
    const tw_matrix *blue = tw_image_plane(image, 2);
    assert_true(red->rows == 1 && red->cols == 684); /* squares of 3 */
    assert_int_equal(((const uint8_t *)red->data)[0], 128);
    double before = -1;
    for (int64_t i = 1; i < red->cols; i++) {
        double light = 0.2126 * pow(((const uint8_t *)red->data)[i] / 255.0, 2.2) +
                       0.7152 * pow(((const uint8_t *)green->data)[i] / 255.0, 2.2) +
                       0.0722 * pow(((const uint8_t *)blue->data)[i] / 255.0, 2.2);
        assert_true(light > before - 0.004);
        before = light;
    }
    assert_true(before > 0.75);
    tw_image_destroy(image);
    assert_int_equal(unlink(in_scratch("p.ppm")), 0);
    tw_matrix matrix = {values, ROWS, COLS, COLS, TW_F32};
    assert_ok(ctx, tw_sink_to_preview(ctx, &sink, in_scratch("p.ppm"), 1));
    for (int64_t n = 1;; n++) {
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_feed(ctx, &matrix, &sink, 1);
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        assert_int_equal(scratch_count(), 0);
    }
    tw_sink_destroy(&sink);
    assert_int_equal(unlink(in_scratch("p.ppm")), 0);
    assert_ok(ctx, tw_sink_to_preview(ctx, &sink, in_scratch("p.xyz"), 1));
    assert_fails(ctx, TW_ERR_ARGUMENT, "has no known image extension",
                 tw_feed(ctx, &matrix, &sink, 1));
    tw_sink_destroy(&sink);
    assert_fails(ctx, TW_ERR_ARGUMENT, "above 0",
                 tw_sink_to_preview(ctx, &sink, in_scratch("p.ppm"), 0));
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

/* A file that the sink of rows wrote, against the one of the whole image. */
static void rows_and_whole_images_make_the_same_file(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        tw_type type;
    } cases[] = {{"pnm", TW_U8},  {"pnm", TW_U16},  {"records", TW_U8}, {"records", TW_F32},
                 {"tiff", TW_U8}, {"tiff", TW_I16}, {"tiff", TW_F32},   {"png", TW_U8},
                 {"png", TW_U16}, {"pfm", TW_F32},  {"npy", TW_I16},    {"npy", TW_F32}};
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (!TW_TEST_PNG && strcmp(cases[c].format, "png") == 0) {
            continue;
        }
        static char bytes[8192];
        tw_image *image = make_image(ctx, 1, 17, 13, cases[c].type);
        tw_sink sink = TW_SINK_INIT;
        if (cases[c].type == TW_F32) {
            for (int i = 0; i < 17 * 13; i++) {
                ((float *)tw_image_plane(image, 0)->data)[i] = (float)i / 7;
            }
        }
        assert_ok(ctx, tw_image_write(ctx, image, in_scratch("whole"), cases[c].format));
        FILE *file = fopen(in_scratch("whole"), "rb");
        assert_non_null(file);
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_int_equal(unlink(in_scratch("whole")), 0);
        assert_ok(ctx, tw_sink_to_image_file(ctx, &sink, in_scratch("rows"), cases[c].format));
        assert_ok(ctx, tw_feed(ctx, tw_image_plane(image, 0), &sink, 1));
        assert_file("rows", bytes, count);
        for (int64_t n = 1;; n++) { /* and nothing remains when memory fails */
            twi_meter_fail_at(ctx->meter, n);
            tw_status status = tw_feed(ctx, tw_image_plane(image, 0), &sink, 1);
            twi_meter_fail_at(ctx->meter, 0);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_int_equal(scratch_count(), 0);
        }
        assert_int_equal(unlink(in_scratch("rows")), 0);
        tw_sink_destroy(&sink);
        tw_image_destroy(image);
    }
    close_context(ctx);
}

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    static const char *const files[] = {"a.npy", "a.ppm", "a.pfm", "a.records", "a.png", "a.tif"};
    tw_context *ctx = open_context();
    for (size_t f = 0; f < 6; f++) {
        if ((f == 4 && !TW_TEST_PNG) || (f == 5 && !TW_TEST_TIFF)) {
            continue;
        }
        tw_image *image = make_image(ctx, f == 0 ? 1 : 3, 4, 5, f == 2 ? TW_F32 : TW_U8);
        assert_ok(ctx, tw_image_write(ctx, image, in_scratch(files[f]), NULL));
        tw_image_destroy(image);
        for (int64_t n = 1;; n++) {
            twi_meter_fail_at(ctx->meter, n);
            tw_status status = tw_image_read(ctx, &image, in_scratch(files[f]), NULL);
            twi_meter_fail_at(ctx->meter, 0);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        }
        assert_int_equal(unlink(in_scratch(files[f])), 0);
        for (int64_t n = 1;; n++) {
            twi_meter_fail_at(ctx->meter, n);
            tw_status status = tw_image_write(ctx, image, in_scratch(files[f]), NULL);
            twi_meter_fail_at(ctx->meter, 0);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_int_equal(scratch_count(), 0);
        }
        assert_int_equal(unlink(in_scratch(files[f])), 0);
        tw_image_destroy(image);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_zero_and_owned_by_the_image),
        cmocka_unit_test(generated_images_stay_within_their_levels),
        cmocka_unit_test(generating_reports_its_progress),
        cmocka_unit_test(every_format_reads_back_what_it_wrote),
        cmocka_unit_test(five_decimals_are_those_of_printf),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused_before_a_file_is_there),
        cmocka_unit_test(mangled_files_end_in_a_sentence),
#if TW_TEST_TIFF
        cmocka_unit_test(tiff_elements_are_those_of_the_file),
        cmocka_unit_test(mangled_tiff_files_end_in_a_sentence),
#else
        cmocka_unit_test(tiff_without_its_library_says_what_to_install),
#endif
#if TW_TEST_PNG
        cmocka_unit_test(png_elements_are_those_of_the_file),
        cmocka_unit_test(mangled_png_files_end_in_a_sentence),
#else
        cmocka_unit_test(png_without_its_library_says_what_to_install),
#endif
        cmocka_unit_test(scaled_rows_are_rounded_to_the_nearest),
        cmocka_unit_test(half_precision_is_the_nearest_there_is),
        cmocka_unit_test(a_preview_averages_squares_and_grows_lighter),
        cmocka_unit_test(rows_and_whole_images_make_the_same_file),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

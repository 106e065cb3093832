/* Images: planes, generators, and the formats they are read from and written to. */
#include "scratch_folder.h"

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
    assert_fails(ctx, TW_ERR_ARGUMENT, "cannot be", tw_image_add(ctx, image, -1, 3, TW_U8));
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

static void every_format_reads_back_what_it_wrote(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int64_t planes;
        tw_type type;
    } cases[] = {{"a.npy", 1, TW_U8},  {"a.npy", 1, TW_U16},    {"a.npy", 1, TW_I16},
                 {"a.npy", 1, TW_F32}, {"a.pgm", 1, TW_U8},     {"a.pgm", 1, TW_U16},
                 {"a.ppm", 3, TW_U8},  {"a.ppm", 3, TW_U16},    {"a.pfm", 1, TW_F32},
                 {"a.pfm", 3, TW_F32}, {"a.records", 1, TW_U8}, {"a.records", 4, TW_U8}};
    static const int64_t sizes[][2] = {{0, 0}, {1, 1}, {5, 7}, {3, 0}};
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t s = 0; s < 4; s++) {
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
    assert_fails(ctx, TW_ERR_ARGUMENT, "holds one plane, not 2",
                 tw_image_write(ctx, two, in_scratch("a.npy"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "elements of f32",
                 tw_image_write(ctx, floats, in_scratch("a.pgm"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "tells no image format",
                 tw_image_write(ctx, floats, in_scratch("a.xyz"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "no image format 'gif'",
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
        {"pnm", "P5 x", 4, "byte 3: a width and a height"},
        {"pnm", "P5 1 99999999999 1 a", 20, "a width and a height"},
        {"pnm", "P5 1 1 0 a", 10, "a largest value from 1 to 65535"},
        {"pnm", "P5 1 1 65536 a", 14, "a largest value from 1 to 65535"},
        {"pnm", "P5 1 1 255", 10, "does not end with a blank"},
        {"pnm", "P5 1 1 255#", 11, "does not end with a blank"},
        {"pnm", "P5 2 1 255 a", 12, "says 2 x 1 elements, but 1 bytes follow"},
        {"pnm", "P5 1 1 255 ab", 13, "says 1 x 1 elements, but 2 bytes follow"},
        {"pnm", "P2 2 1 9 1", 10, "a value from 0 to the largest"},
        {"pnm", "P2 2 1 9 1 10", 13, "a value from 0 to the largest"},
        {"pnm", "P2 1 1 9 1 1", 12, "more values than the header says"},
        {"pnm", "P2 9999 9999 9 1", 16, "shorter than the values"},
        {"pfm", "Pf 1 1 0 abcd", 13, "a scale that is not 0"},
        {"pfm", "Pf 1 1 z abcd", 13, "a scale that is not 0"},
        {"pfm", "Pf 1 1 -1 abc", 13, "says 1 x 1 elements, but 3 bytes follow"},
        {"records", "\1\0\0", 3, "too few for the head of a record"},
        {"records", "\1\0\0\0\377\377\377\377", 8, "says 1 x -1 elements"},
        {"records", "\1\0\0\0\1\0\0\0a\1", 10, "1 bytes at byte 9 are too few"},
        {"records", "\377\377\377\177\377\377\377\177a", 9, "says 2147483647 x 2147483647"},
        {"npy", "\x93NUMPY", 6, "no npy header"},
        {NULL, "", 0, "is no image"},
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

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    static const char *const files[] = {"a.npy", "a.ppm", "a.pfm", "a.records"};
    tw_context *ctx = open_context();
    for (size_t f = 0; f < 4; f++) {
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
        cmocka_unit_test(every_format_reads_back_what_it_wrote),
        cmocka_unit_test(five_decimals_are_those_of_printf),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused_before_a_file_is_there),
        cmocka_unit_test(mangled_files_end_in_a_sentence),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

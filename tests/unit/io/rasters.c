/* What image files say besides their elements, and the writers that compress: TIFF of several
 * planes, its codecs, and PNG in bands. */
#include "unit/scratch_folder.h"

#include "image/tags.h"
#include "io/image/metadata.h"
#include "io/image/tiff_codec.h"
#include "io/image/tiff_tags.h"

#include <math.h>

#define GOOD TW_TEST_DATA "/good/"
#define MANGLED TW_TEST_DATA "/mangled-images/"

static void a_geotiff_says_where_it_lies_in_either_byte_order(void **state)
{
    (void)state;
    static const char *const files[] = {GOOD "geo.tif", GOOD "geo-big-endian.tif"};
    tw_context *ctx = open_context();
    tw_image_tags *tags[2] = {NULL, NULL};
    for (int f = 0; f < 2; f++) {
        tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
        assert_ok(ctx, tw_image_tags_read(ctx, &tags[f], files[f], NULL));
        assert_int_equal(tw_image_tags_describe(tags[f], &info), TW_OK);
        assert_int_equal(info.planes, 2);
        assert_int_equal(info.bands, 2);
        assert_int_equal(info.alpha, -1);
        assert_true(info.has_no_data && info.no_data == -9999 && !info.colours);
        assert_string_equal(tw_image_tags_name(tags[f], 0), "red & hot");
        assert_string_equal(tw_image_tags_name(tags[f], 1), "nir");
        assert_null(tw_image_tags_name(tags[f], 2));
        assert_null(tw_image_tags_name(tags[f], -1));
        const twi_tag *scale = twi_tags_find(tags[f], 33550);
        assert_true(scale != NULL && scale->count == 3);
        double numbers[3];
        memcpy(numbers, scale->data, sizeof numbers);
        assert_true(numbers[0] == 0.25 && numbers[1] == 0.5);
    }
    const twi_tag *keys = twi_tags_find(tags[0], 34735), *other = twi_tags_find(tags[1], 34735);
    assert_int_equal(keys->bytes, other->bytes);
    assert_memory_equal(keys->data, other->data, keys->bytes);
    tw_image_tags_destroy(tags[0]);
    tw_image_tags_destroy(tags[1]);
    close_context(ctx);
}

static void damaged_tags_are_as_if_they_were_not_there(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image_tags *tags = NULL;
    tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
    assert_ok(ctx, tw_image_tags_read(ctx, &tags, MANGLED "geo-tags.tif", NULL));
    assert_int_equal(tw_image_tags_describe(tags, &info), TW_OK);
    assert_int_equal(info.planes, 2);
    assert_false(info.has_no_data);
    assert_null(twi_tags_find(tags, 42112)); /* outside the file */
    assert_null(twi_tags_find(tags, 34735)); /* more than the file has */
    assert_non_null(twi_tags_find(tags, 33922));
    assert_null(tw_image_tags_name(tags, 0));
    tw_image_tags_destroy(tags);
    assert_ok(ctx, tw_image_tags_read(ctx, &tags, GOOD "small.npy", NULL));
    assert_int_equal(tw_image_tags_describe(tags, &info), TW_OK);
    assert_int_equal(info.planes, 0);
    tw_image_tags_destroy(tags);
    assert_int_equal(tw_image_tags_describe(NULL, &info), TW_OK);
    assert_int_equal(info.bands, 1);
    close_context(ctx);
}

static void metadata_of_a_result_is_what_is_true_of_it(void **state)
{
    (void)state;
    static const char text[] =
        "<GDALMetadata>\n  <Item name=\"note\">a &lt; b</Item>\n"
        "  <Item name=\"STATISTICS_MEAN\" sample=\"1\">3</Item>\n"
        "  <Item name=\"OFFSET\" sample=\"1\" role=\"offset\">3</Item>\n"
        "  <Item name=\"DESCRIPTION\" sample=\"12\" role=\"description\">far</Item>\n"
        "  <Item name=\"DESCRIPTION\" sample=\"1\" role=\"description\">near &amp; &quot;x</Item>\n"
        "  <Item name=\"cut\"";
    tw_context *ctx = open_context();
    tw_image_tags tags = {.info = TW_IMAGE_TAGS_INFO_INIT, .count = 1};
    char *kept = NULL;
    tags.list[0] = (twi_tag){42112, 2, sizeof text, sizeof text, (unsigned char *)text};
    const twi_metadata_bands some = {.first = 1, .count = 5, .without = -1},
                             none = {.first = -1, .count = 5, .without = -1};
    assert_ok(ctx, twi_metadata_kept(ctx, &kept, &tags, &some));
    assert_string_equal(kept, "<GDALMetadata>\n  <Item name=\"note\">a &lt; b</Item>\n"
                              "  <Item name=\"DESCRIPTION\" sample=\"0\" role=\"description\">near "
                              "&amp; &quot;x</Item>\n</GDALMetadata>\n");
    twi_free(kept);
    assert_ok(ctx, twi_metadata_kept(ctx, &kept, &tags, &none));
    assert_string_equal(kept,
                        "<GDALMetadata>\n  <Item name=\"note\">a &lt; b</Item>\n</GDALMetadata>\n");
    twi_free(kept);
    const twi_metadata_bands others = {.first = 0, .count = 12, .without = 0};
    assert_ok(ctx, twi_metadata_kept(ctx, &kept, &tags, &others));
    assert_non_null(strstr(kept, "sample=\"0\" role=\"description\">near"));
    assert_non_null(strstr(kept, "sample=\"11\" role=\"description\">far"));
    twi_free(kept);
    const twi_metadata_bands same = {.first = 1, .count = 5, .without = -1, .unchanged = true};
    assert_ok(ctx, twi_metadata_kept(ctx, &kept, &tags, &same));
    assert_non_null(strstr(kept, "sample=\"0\" role=\"offset\">3"));
    assert_null(strstr(kept, "STATISTICS"));
    twi_free(kept);
    tags.info.bands = 2;
    assert_ok(ctx, twi_metadata_names(ctx, &tags));
    assert_string_equal(tw_image_tags_name(&tags, 1), "near & \"x");
    assert_null(tw_image_tags_name(&tags, 0));
    twi_free(tags.names[1]);
    twi_free(tags.names);
    close_context(ctx);
}

/* Numbers with runs and without, the same each time. */
static void fill(tw_matrix *m, uint32_t seed)
{
    const size_t bytes = (size_t)(m->rows * m->cols) * tw_type_size(m->type);
    uint32_t x = seed * 2654435761U + 1;
    for (size_t i = 0; i < bytes; i++) {
        x = x * 1664525U + 1013904223U;
        const bool run = (i / 997) % 3 == 0;
        ((unsigned char *)m->data)[i] = (unsigned char)(run ? i / 50 : x >> 24);
    }
    if (m->type == TW_F32 || m->type == TW_F64) { /* no NaN */
        for (int64_t i = 0; i < m->rows * m->cols; i++) {
            if (m->type == TW_F32) {
                ((float *)m->data)[i] = (float)(x = x * 1664525U + 1013904223U);
            } else {
                ((double *)m->data)[i] = (double)(x = x * 1664525U + 1013904223U) / 7;
            }
        }
    }
}
/* Written plane by plane, whatever waits in memory or in a file, the same as the whole image; and
 * nothing remains when memory fails. */
static void planes_one_by_one_and_whole_images_make_the_same_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int planes;
        tw_type type;
    } cases[] = {{"a.npy", 3, TW_F32}, {"a.ppm", 3, TW_U8},     {"a.ppm", 3, TW_U16},
                 {"a.pfm", 3, TW_F32}, {"a.pfm", 1, TW_F32},    {"a.png", 2, TW_U16},
                 {"a.png", 4, TW_U8},  {"a.records", 3, TW_U8}, {"a.records", 2, TW_F32}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (!TW_TEST_PNG && strcmp(cases[c].name, "a.png") == 0) {
            continue;
        }
        tw_context *ctx = open_context();
        tw_image *image = NULL;
        tw_sink sink = TW_SINK_INIT;
        tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
        static char bytes[8000000];
        assert_ok(ctx, tw_image_create(ctx, &image));
        for (int k = 0; k < cases[c].planes; k++) {
            assert_ok(ctx, tw_image_add(ctx, image, 401, 397, cases[c].type));
            fill((tw_matrix *)tw_image_plane(image, k), (uint32_t)c * 10 + (uint32_t)k);
        }
        assert_ok(ctx, tw_image_write(ctx, image, in_scratch(cases[c].name), NULL));
        FILE *file = fopen(in_scratch(cases[c].name), "rb");
        const size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_true(count < sizeof bytes);
        assert_int_equal(unlink(in_scratch(cases[c].name)), 0);
        opts.planes = cases[c].planes;
        for (int limited = 0; limited < 2; limited++) {
            if (limited) { /* planes that wait are more than a quarter of what is left */
                const uint64_t one = (uint64_t)(401 * 397) * tw_type_size(cases[c].type);
                const bool png = strcmp(cases[c].name, "a.png") == 0;
                const uint64_t more = png ? 1250000 : 2 * one;
                assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + more));
            }
            for (int64_t n = 1;; n++) {
                twi_meter_fail_at(ctx->meter, n);
                tw_status status =
                    tw_sink_to_image_planes(ctx, &sink, in_scratch(cases[c].name), &opts);
                for (int k = 0; k < cases[c].planes && status == TW_OK; k++) {
                    assert_int_equal(scratch_count(), 0);
                    status = tw_feed(ctx, tw_image_plane(image, k), &sink, 1);
                }
                twi_meter_fail_at(ctx->meter, 0);
                tw_sink_destroy(&sink);
                if (status == TW_OK) {
                    break;
                }
                assert_int_equal(status, TW_ERR_MEMORY);
                assert_int_equal(scratch_count(), 0);
            }
            assert_file(cases[c].name, bytes, count);
        }
        tw_image_destroy(image);
        close_context(ctx);
    }
}

#if TW_TEST_TIFF
/* Whatever is written is read again, by libtiff; strips and tiles of one row more and less. */
static void planes_come_back_from_every_kind_of_tiff(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    static const int64_t sizes[][2] = {{1, 1},     {15, 17},    {16, 16},
                                       {33, 1000}, {265, 1000}, {3, 40000}};
    tw_context *ctx = open_context();
    for (int c = 0; c < 2 * 4 * 3; c++) {
        tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
        opts.codec = c % 4;
        opts.predictor = c / 4 % 2 && opts.codec != TW_TIFF_NONE;
        opts.tile = c / 8 == 1 ? 16 : c / 8 == 2 ? 64 : 0;
        opts.big = c % 5 == 0;
        opts.planes = 3;
        opts.bands = c % 3 == 0 ? 1 : 0;
        if (twi_tiff_codec_check(ctx, opts.codec) != TW_OK ||
            (small_sizes_only() && (c / 4 + c / 8 + c) % 2 != 0)) {
            continue;
        }
        for (size_t t = (size_t)c % 3; t < 6; t += 3) {
            const int64_t *size = sizes[(t + (size_t)c) % 6];
            if (emulated_sizes_only() && size[0] == 265 && c != 0) {
                continue;
            }
            tw_image *back = NULL;
            tw_sink sink = TW_SINK_INIT;
            tw_matrix planes[3];
            assert_ok(ctx, tw_set_threads(ctx, 1 + c % 3));
            assert_ok(ctx, tw_sink_to_image_planes(ctx, &sink, in_scratch("a.tif"), &opts));
            for (int k = 0; k < 3; k++) {
                planes[k] = (tw_matrix){malloc((size_t)(size[0] * size[1]) * 8), size[0], size[1],
                                        size[1], types[t]};
                fill(&planes[k], (uint32_t)(c * 100 + k));
                assert_int_equal(scratch_count(), 0);
                assert_ok(ctx, tw_feed(ctx, &planes[k], &sink, 1));
            }
            tw_sink_destroy(&sink);
            assert_ok(ctx, tw_image_read(ctx, &back, in_scratch("a.tif"), NULL));
            assert_int_equal(tw_image_planes(back), 3);
            tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
            assert_ok(ctx, tw_image_tags_describe(tw_image_tags_of(back), &info));
            assert_int_equal(info.bands, c % 3 == 0 ? 1 : 3);
            for (int k = 0; k < 3; k++) {
                const tw_matrix *got = tw_image_plane(back, k);
                assert_int_equal(got->type, types[t]);
                assert_memory_equal(got->data, planes[k].data,
                                    (size_t)(size[0] * size[1]) * tw_type_size(types[t]));
                free(planes[k].data);
            }
            tw_image_destroy(back);
            assert_int_equal(unlink(in_scratch("a.tif")), 0);
        }
    }
    close_context(ctx);
}

static void tags_go_into_the_file_that_is_written(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image_tags *tags = NULL, *again = NULL;
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    tw_sink sink = TW_SINK_INIT;
    float values[6] = {1, 2, 3, 4, 5, 6};
    double nan = (double)NAN;
    tw_matrix plane = {values, 2, 3, 3, TW_F32};
    assert_ok(ctx, tw_image_tags_read(ctx, &tags, GOOD "geo-big-endian.tif", NULL));
    opts.tags = tags;
    opts.first_plane = 1;
    opts.no_data = &nan;
    for (int big = 0; big < 2; big++) {
        tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
        opts.big = big;
        assert_ok(ctx, tw_sink_to_image_planes(ctx, &sink, in_scratch("a.tif"), &opts));
        assert_ok(ctx, tw_feed(ctx, &plane, &sink, 1));
        tw_sink_destroy(&sink);
        assert_ok(ctx, tw_image_tags_read(ctx, &again, in_scratch("a.tif"), NULL));
        assert_ok(ctx, tw_image_tags_describe(again, &info));
        assert_true(info.has_no_data && isnan(info.no_data) && info.bands == 1);
        assert_string_equal(tw_image_tags_name(again, 0), "nir");
        for (int32_t i = 0; i < tags->count; i++) {
            const twi_tag *one = &tags->list[i], *two = twi_tags_find(again, one->tag);
            assert_non_null(two);
            if (one->tag != 42112 && one->tag != 42113) {
                assert_true(two->type == one->type && two->count == one->count);
                assert_memory_equal(one->data, two->data, one->bytes);
            }
        }
        tw_image_tags_destroy(again);
        assert_int_equal(unlink(in_scratch("a.tif")), 0);
    }
    tw_image_tags_destroy(tags);
    close_context(ctx);
}
#endif

/* Feed the planes of u8 that good/places.tif has, one page each. */
static tw_status feed_pages(tw_context *ctx, const tw_image_tags *tags, int64_t place_plane)
{
    static uint8_t values[12];
    const tw_matrix plane = {values, 3, 4, 4, TW_U8};
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    tw_sink sink = TW_SINK_INIT;
    opts.planes = 3;
    opts.bands = 1;
    opts.tags = tags;
    opts.first_plane = 0;
    opts.first_col = 2;
    opts.place_plane = place_plane;
    opts.unchanged = 1;
    tw_status status = tw_sink_to_image_planes(ctx, &sink, in_scratch("a.tif"), &opts);
    for (int k = 0; k < 3 && status == TW_OK; k++) {
        status = tw_feed(ctx, &plane, &sink, 1);
    }
    tw_sink_destroy(&sink);
    return status;
}

/* The tags of what feed_pages wrote. */
static tw_image_tags *pages_again(tw_context *ctx, const tw_image_tags *tags, int64_t place_plane)
{
    tw_image_tags *again = NULL;
    assert_ok(ctx, feed_pages(ctx, tags, place_plane));
    assert_ok(ctx, tw_image_tags_read(ctx, &again, in_scratch("a.tif"), NULL));
    assert_int_equal(unlink(in_scratch("a.tif")), 0);
    return again;
}

static void pages_lie_and_look_each_as_it_did(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image_tags *tags = NULL;
    const int64_t before = twi_meter_blocks(ctx->meter);
    for (int64_t n = 1; tags == NULL; n++) {
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_image_tags_read(ctx, &tags, GOOD "places.tif", NULL);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_true(status == TW_OK || twi_meter_blocks(ctx->meter) == before);
    }
    assert_true(tags->info.colour_table && !tags->info.zero_is_white && tags->info.has_place);
    assert_int_equal(tags->info.planes, 3);
    assert_int_equal(tags->page_count, 1); /* the last is as the first */
    assert_true(tags->pages[0].elsewhere && tags->pages[0].first == 1 && tags->pages[0].end == 2);

    tw_image_tags *again = pages_again(ctx, tags, -1);
    const twi_page_tags *page = twi_tags_page(again, 1);
    double point[6];
    assert_int_equal(again->page_count, 1);
    assert_true(page != NULL && page->light == 0 && again->light == 3);
    memcpy(point, twi_tags_find_among(page->list, page->count, 33922)->data, sizeof point);
    assert_true(point[0] == -2 && point[3] == 250 && point[4] == 500);
    const twi_tag *table = twi_tiff_table(again, 2);
    assert_true(table != NULL && table->count == 768 && twi_tiff_table(again, 1) == NULL);
    for (size_t k = 0; k < 3; k++) { /* the colours of 4 bits, and black behind them */
        assert_memory_equal(table->data + 512 * k, twi_tiff_table(tags, 0)->data + 32 * k, 32);
        assert_int_equal(table->data[512 * k + 32], 0);
    }
    tw_image_tags_destroy(again);

    again = pages_again(ctx, tags, 1); /* all lie where the second does */
    assert_int_equal(again->page_count, 0);
    memcpy(point, twi_tags_find(again, 33922)->data, sizeof point);
    assert_true(point[3] == 250 && again->light == 0 && !again->info.colour_table);
    tw_image_tags_destroy(again);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t n = 1; status != TW_OK; n++) {
        twi_meter_fail_at(ctx->meter, n);
        status = feed_pages(ctx, tags, -1);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(scratch_count(), status == TW_OK);
    }
    assert_int_equal(unlink(in_scratch("a.tif")), 0);
    tw_image_tags_destroy(tags);
    close_context(ctx);
}

static void a_tiff_that_fails_leaves_nothing_behind(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static float values[64 * 48];
    tw_matrix plane = {values, 64, 48, 48, TW_F32}, other = {values, 64, 40, 40, TW_F32};
    tw_image_tags *tags = NULL;
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_image_tags_read(ctx, &tags, GOOD "geo.tif", NULL));
    opts.tags = tags;
    opts.planes = 2;
    for (int codec = TW_TIFF_NONE; codec <= TW_TIFF_ZSTD; codec++) {
        opts.codec = codec;
        opts.tile = codec % 2 ? 16 : 0;
        if (twi_tiff_codec_check(ctx, codec) != TW_OK) {
            continue;
        }
        for (int64_t n = 1;; n++) {
            twi_meter_fail_at(ctx->meter, n);
            tw_status status = tw_sink_to_image_planes(ctx, &sink, in_scratch("a.tif"), &opts);
            status = status == TW_OK ? tw_feed(ctx, &plane, &sink, 1) : status;
            status = status == TW_OK ? tw_feed(ctx, &plane, &sink, 1) : status;
            twi_meter_fail_at(ctx->meter, 0);
            tw_sink_destroy(&sink);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_int_equal(scratch_count(), 0);
        }
        assert_int_equal(unlink(in_scratch("a.tif")), 0);
        assert_ok(ctx, tw_sink_to_image_planes(ctx, &sink, in_scratch("a.tif"), &opts));
        assert_ok(ctx, tw_feed(ctx, &plane, &sink, 1));
        assert_fails(ctx, TW_ERR_ARGUMENT, "must have the same size and type",
                     tw_feed(ctx, &other, &sink, 1));
        assert_int_equal(scratch_count(), 0);
        assert_ok(ctx, tw_feed(ctx, &other, &sink, 1)); /* it begins again */
        tw_sink_destroy(&sink);                         /* and ends before it is whole */
        assert_int_equal(scratch_count(), 0);
    }
    for (int64_t n = 1;; n++) {
        tw_image_tags *made = NULL;
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_image_tags_read(ctx, &made, GOOD "geo.tif", NULL);
        twi_meter_fail_at(ctx->meter, 0);
        tw_image_tags_destroy(made);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    tw_image_tags_destroy(tags);
    assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    close_context(ctx);
}

#if TW_TEST_PNG
/* Bands of 128 kB: of one row less, as many, one more, and rows longer than a band. */
static void pngs_come_back_and_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},      {130, 1000}, {131, 1000}, {132, 1000},
                                       {262, 1000}, {263, 1000}, {2, 140000}, {700, 7}};
    tw_context *ctx = open_context();
    for (int c = 0; c < 4 * 8; c++) {
        if (small_sizes_only() && (c / 8 + c) % 4 != 0) { /* every size once, each channel twice */
            continue;
        }
        const int64_t *size = sizes[c % 8];
        const int channels = c / 8 + 1;
        const tw_type type = c % 3 == 1 ? TW_U16 : TW_U8;
        tw_image *image = NULL, *back = NULL;
        size_t first = 0;
        char *bytes = NULL;
        assert_ok(ctx, tw_image_create(ctx, &image));
        for (int k = 0; k < channels; k++) {
            assert_ok(ctx, tw_image_add(ctx, image, size[0], size[1], type));
            fill((tw_matrix *)tw_image_plane(image, k), (uint32_t)(c * 10 + k));
        }
        assert_ok(ctx, tw_set_compression(ctx, c % 4 == 3 ? 0 : c % 4 == 2 ? 9 : -1));
        for (int threads = 1; threads <= 3; threads += emulated_sizes_only() ? 2 : 1) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            assert_ok(ctx, tw_image_write(ctx, image, in_scratch("a.png"), NULL));
            if (threads == 1) {
                struct stat about;
                assert_int_equal(stat(in_scratch("a.png"), &about), 0);
                first = (size_t)about.st_size;
                bytes = malloc(first);
                FILE *file = fopen(in_scratch("a.png"), "rb");
                assert_int_equal(fread(bytes, 1, first, file), first);
                fclose(file);
                assert_ok(ctx, tw_image_read(ctx, &back, in_scratch("a.png"), NULL));
                assert_int_equal(unlink(in_scratch("a.png")), 0);
            } else {
                assert_file("a.png", bytes, first);
            }
        }
        free(bytes);
        for (int k = 0; k < channels; k++) {
            assert_memory_equal(tw_image_plane(back, k)->data, tw_image_plane(image, k)->data,
                                (size_t)(size[0] * size[1]) * tw_type_size(type));
        }
        tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
        assert_ok(ctx, tw_image_tags_describe(tw_image_tags_of(back), &info));
        assert_int_equal(info.alpha, channels % 2 == 0 ? channels - 1 : -1);
        tw_image_destroy(back);
        tw_image_destroy(image);
    }
    close_context(ctx);
}
#endif

#if TW_TEST_JPEG
static void photographs_are_one_plane_or_three(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    assert_ok(ctx, tw_image_read(ctx, &image, GOOD "grey.jpg", NULL));
    assert_int_equal(tw_image_planes(image), 1);
    const tw_matrix *plane = tw_image_plane(image, 0);
    assert_true(plane->rows == 2 && plane->cols == 4 && plane->type == TW_U8);
    assert_true(abs((int)((const uint8_t *)plane->data)[1] - 200) < 12);
    assert_true(abs((int)((const uint8_t *)plane->data)[4] - 50) < 12);
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read(ctx, &image, GOOD "colours-progressive.jpg", NULL));
    assert_int_equal(tw_image_planes(image), 3);
    tw_image_destroy(image);
    for (int64_t n = 1;; n++) {
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_image_read(ctx, &image, GOOD "colours-progressive.jpg", NULL);
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    tw_image_destroy(image);
    assert_fails(ctx, TW_ERR_FORMAT, "byte 286: the file ends before the image does",
                 tw_image_read(ctx, &image, MANGLED "cut.jpg", NULL));
    assert_fails(ctx, TW_ERR_FORMAT, "4 channels",
                 tw_image_read(ctx, &image, MANGLED "cmyk.jpg", NULL));
    assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    close_context(ctx);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_geotiff_says_where_it_lies_in_either_byte_order),
        cmocka_unit_test(damaged_tags_are_as_if_they_were_not_there),
        cmocka_unit_test(metadata_of_a_result_is_what_is_true_of_it),
        cmocka_unit_test(planes_one_by_one_and_whole_images_make_the_same_file),
#if TW_TEST_TIFF
        cmocka_unit_test(planes_come_back_from_every_kind_of_tiff),
        cmocka_unit_test(tags_go_into_the_file_that_is_written),
#endif
        cmocka_unit_test(pages_lie_and_look_each_as_it_did),
        cmocka_unit_test(a_tiff_that_fails_leaves_nothing_behind),
#if TW_TEST_PNG
        cmocka_unit_test(pngs_come_back_and_do_not_depend_on_threads),
#endif
#if TW_TEST_JPEG
        cmocka_unit_test(photographs_are_one_plane_or_three),
#endif
    };
    return cmocka_run_group_tests_name("rasters", tests, make_scratch, remove_scratch);
}

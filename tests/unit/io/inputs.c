/*
 * Files that somebody else cuts or rewrites while they are in use: a sentence, never a signal, and
 * what was checked is what is used. Each test does to the file between two steps what another
 * process could do there.
 */
#include "unit/scratch_folder.h"

#include "graph/graph.h"
#include "io/graph/format.h"
#include "io/image/format.h"
#include "io/matrix/format.h"

#include <errno.h>
#include <fcntl.h>

enum { SIDE = 300 };

static void cut(const char *name, off_t bytes)
{
    assert_int_equal(truncate(in_scratch(name), bytes), 0);
}

/* The same size, all bytes 0xFF from `from` on. */
static void rewrite(const char *name, long from)
{
    FILE *file = fopen(in_scratch(name), "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fseek(file, from, SEEK_SET);
    for (long i = from; i < size; i++) {
        fputc(0xFF, file);
    }
    assert_int_equal(fclose(file), 0);
}

/* An image of noise in a file of this name, levels fewer than its type has. */
static tw_image *write_image(tw_context *ctx, const char *name, int32_t levels)
{
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    tw_image *image = NULL;
    opts.kind = "noise";
    opts.rows = opts.cols = SIDE;
    opts.levels = levels;
    assert_ok(ctx, tw_image_generate(ctx, &image, &opts));
    assert_ok(ctx, tw_image_write(ctx, image, in_scratch(name), NULL));
    return image;
}

static const char *const names[] = {
    "a.npy", "a.pgm", "a.records",
#if TW_TEST_PNG
    "a.png",
#endif
#if TW_TEST_TIFF
    "a.tif",
#endif
};
enum { NAMES = sizeof names / sizeof *names };

static void an_image_cut_after_it_was_opened_is_a_sentence(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint16_t rows[SIDE * SIDE];
    for (int f = 0; f < NAMES; f++) {
        /* Twice: levels of 16 bits make rows of PGM that are copied one by one. */
        for (int32_t levels = 200; levels < 2000; levels += 1000) {
            if (levels > 256 && strstr(names[f], "records") != NULL) {
                continue;
            }
            tw_source source = TW_SOURCE_INIT;
            tw_image_destroy(write_image(ctx, names[f], levels));
            assert_ok(ctx, tw_image_source(ctx, &source, in_scratch(names[f]), NULL, 0, NULL));
            cut(names[f], 1000);
            assert_fails(ctx, TW_ERR_IO, "cut short while it was being read",
                         source.rows(source.self, ctx, 0, SIDE, rows, SIDE));
            tw_source_destroy(&source);
            assert_int_equal(unlink(in_scratch(names[f])), 0);
        }
    }
    close_context(ctx);
}

static void a_matrix_cut_after_it_was_opened_is_a_sentence(void **state)
{
    (void)state;
    static const char *const files[] = {"m.npy", "m.raw"};
    tw_context *ctx = open_context();
    static int32_t data[SIDE * SIDE];
    tw_matrix m = {data, SIDE, SIDE, SIDE, TW_I32};
    for (int f = 0; f < 2; f++) {
        tw_sink sink = TW_SINK_INIT;
        tw_source source = TW_SOURCE_INIT;
        tw_apsp_summary *summary = NULL;
        assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch(files[f]), NULL));
        assert_ok(ctx, tw_feed(ctx, &m, &sink, 1));
        tw_sink_destroy(&sink);
        assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch(files[f]), NULL, TW_I32));
        assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
        cut(files[f], 1000);
        assert_int_equal(tw_apsp_summary_sink(summary, &sink), TW_OK);
        assert_fails(ctx, TW_ERR_IO, "cut short while it was being read",
                     tw_feed_source(ctx, &source, &sink, 1));
        tw_sink_destroy(&sink);
        tw_apsp_summary_destroy(summary);
        tw_source_destroy(&source);
        assert_int_equal(unlink(in_scratch(files[f])), 0);
    }
    close_context(ctx);
}

static void an_image_cut_or_rewritten_after_it_was_read_is_what_it_was(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int f = 0; f < NAMES; f++) {
        for (int cutting = 0; cutting < 2; cutting++) {
            tw_image *image = NULL;
            tw_image *made = write_image(ctx, names[f], 200);
            assert_ok(ctx, tw_image_read(ctx, &image, in_scratch(names[f]), NULL));
            if (cutting) {
                cut(names[f], 0);
            } else {
                rewrite(names[f], 0);
            }
            assert_memory_equal(tw_image_plane(image, 0)->data, tw_image_plane(made, 0)->data,
                                SIDE * SIDE);
            tw_image_destroy(image);
            tw_image_destroy(made);
            assert_int_equal(unlink(in_scratch(names[f])), 0);
        }
    }
    close_context(ctx);
}

static void rows_are_checked_as_they_were_copied(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static char text[15 + 400 * 400] = "P5 400 400 255\n";
    static uint8_t rows[400 * 400];
    memcpy(text + 11, "200", 3);
    put_file("a.pgm", text, sizeof text);
    tw_source source = TW_SOURCE_INIT;
    assert_ok(ctx, tw_image_source(ctx, &source, in_scratch("a.pgm"), NULL, 0, NULL));
    rewrite("a.pgm", 15);
    assert_fails(ctx, TW_ERR_FORMAT, "is 255, above 200",
                 source.rows(source.self, ctx, 399, 1, rows, 400));
    tw_source_destroy(&source);
    assert_int_equal(unlink(in_scratch("a.pgm")), 0);
    close_context(ctx);
}

static void a_matrix_rewritten_after_it_was_opened_is_what_it_was(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static int32_t data[SIDE * SIDE];
    tw_matrix_file *file = NULL;
    for (int i = 0; i < SIDE * SIDE; i++) {
        data[i] = i;
    }
    put_file("m.raw", data, sizeof data);
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("m.raw"), NULL, TW_I32));
    rewrite("m.raw", 0);
    cut("m.raw", 10);
    assert_memory_equal(tw_matrix_file_view(file)->data, data, sizeof data);
    tw_matrix_file_destroy(file);
    assert_int_equal(unlink(in_scratch("m.raw")), 0);
    close_context(ctx);
}

/* The builder passes twice over the edges of a file: the second time it believes them. */
static void a_graph_rewritten_before_it_is_built_is_what_was_opened(void **state)
{
    (void)state;
    enum { EDGES = 20000, VERTICES = 100 };
    static const char *const files[] = {"g.bin", "g.npy"};
    tw_context *ctx = open_context();
    static int32_t triples[2 + 3 * EDGES] = {VERTICES, EDGES};
    for (int32_t i = 0; i < EDGES; i++) {
        int32_t *triple = triples + 2 + 3 * i;
        triple[0] = i % VERTICES;
        triple[1] = (i + 1) % VERTICES;
        triple[2] = i + 1;
    }
    put_file("g.bin", triples, sizeof triples);
    tw_graph *first = NULL;
    assert_ok(ctx, tw_graph_read(ctx, &first, in_scratch("g.bin"), NULL));
    assert_ok(ctx, tw_graph_write(ctx, first, in_scratch("g.npy"), NULL));
    tw_graph_destroy(first);
    for (int f = 0; f < 2; f++) {
        tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
        twi_input input;
        tw_graph *graph = NULL;
        assert_ok(ctx, twi_input_open_head(ctx, &input, in_scratch(files[f])));
        assert_ok(ctx, twi_input_load(ctx, &input));
        rewrite(files[f], 200);
        assert_ok(ctx, f == 0 ? twi_triples_read(ctx, &graph, &input, &opts)
                              : twi_npy_read(ctx, &graph, &input, &opts));
        assert_int_equal(graph->arcs, f == 0 ? EDGES : VERTICES);
        for (int64_t a = 0; a < graph->arcs; a++) {
            assert_in_range(graph->targets[a], 0, VERTICES - 1);
        }
        tw_graph_destroy(graph);
        twi_input_close(&input);
        assert_int_equal(unlink(in_scratch(files[f])), 0);
    }
    close_context(ctx);
}

static void a_head_and_what_is_fetched_are_the_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static unsigned char bytes[(9 << 20) + 7]; /* more than one piece for each thread */
    static unsigned char got[sizeof bytes];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    }
    put_file("big", bytes, sizeof bytes);
    const uint64_t places[][2] = {{0, 0},
                                  {0, 10},
                                  {0, sizeof bytes},
                                  {TWI_INPUT_HEAD - 3, 6},
                                  {TWI_INPUT_HEAD, 5},
                                  {TWI_INPUT_HEAD - 1, (8 << 20)},
                                  {sizeof bytes - 1, 1},
                                  {sizeof bytes, 0}};
    twi_input input;
    assert_ok(ctx, twi_input_open_head(ctx, &input, in_scratch("big")));
    assert_int_equal(input.size, sizeof bytes);
    assert_int_equal(twi_input_held(&input), TWI_INPUT_HEAD);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memset(got, 0xA5, sizeof got);
        assert_ok(ctx, twi_input_fetch(ctx, &input, places[i][0], got, places[i][1]));
        assert_memory_equal(got, bytes + places[i][0], places[i][1]);
    }
    assert_ok(ctx, twi_input_load(ctx, &input));
    assert_int_equal(input.absent, 0);
    assert_memory_equal(input.bytes, bytes, sizeof bytes);
    twi_input_close(&input);
    assert_int_equal(unlink(in_scratch("big")), 0);
    close_context(ctx);
}

static void a_file_beyond_the_memory_is_refused_or_read_by_rows(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint8_t data[2000 * 2000];
    static uint8_t row[2000];
    tw_matrix_file *file = NULL;
    tw_source source = TW_SOURCE_INIT;
    data[2000 * 1999 + 5] = 77;
    put_file("m.raw", data, sizeof data);
    assert_ok(ctx, tw_set_memory(ctx, 1000000));
    assert_fails(ctx, TW_ERR_MEMORY, "needs 4.0 MB of memory",
                 tw_matrix_file_create(ctx, &file, in_scratch("m.raw"), NULL, TW_U8));
    assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch("m.raw"), NULL, TW_U8));
    assert_ok(ctx, source.rows(source.self, ctx, 1999, 1, row, 2000));
    assert_int_equal(row[5], 77);
    tw_source_destroy(&source);
    assert_int_equal(unlink(in_scratch("m.raw")), 0);
    close_context(ctx);
}

#if TW_TEST_TIFF
/* Calls that read, of this process so far; -1 where the system does not count them. */
static long long read_calls(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    char line[128];
    long long calls = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        calls = strncmp(line, "syscr:", 6) == 0 ? strtoll(line + 6, NULL, 10) : calls;
    }
    if (file != NULL) {
        fclose(file);
    }
    return calls;
}

/* A page that is looked for from the first one costs as many reads as there are before it. */
static void a_tiff_of_many_pages_costs_a_few_reads_for_each(void **state)
{
    (void)state;
    enum { PAGES = 3000, READS_MOST = 100 };
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    tw_source source = TW_SOURCE_INIT;
    tw_image_info info = TW_IMAGE_INFO_INIT;
    uint8_t element = 0;
    assert_ok(ctx, tw_image_create(ctx, &image));
    for (int64_t k = 0; k < PAGES; k++) {
        assert_ok(ctx, tw_image_add(ctx, image, 1, 1, TW_U8));
        *(uint8_t *)tw_image_plane(image, k)->data = (uint8_t)(k % 251);
    }
    assert_ok(ctx, tw_image_write(ctx, image, in_scratch("p.tif"), NULL));
    tw_image_destroy(image);
    long long before = read_calls();
    assert_ok(ctx, tw_image_read(ctx, &image, in_scratch("p.tif"), NULL));
    long long whole = read_calls();
    assert_ok(ctx, tw_image_source(ctx, &source, in_scratch("p.tif"), NULL, 1234, &info));
    long long one = read_calls();
    assert_int_equal(tw_image_planes(image), PAGES);
    assert_int_equal(info.planes, PAGES);
    for (int64_t k = 0; k < PAGES; k++) {
        assert_int_equal(*(const uint8_t *)tw_image_plane(image, k)->data, k % 251);
    }
    assert_ok(ctx, source.rows(source.self, ctx, 0, 1, &element, 1));
    assert_int_equal(element, 1234 % 251);
    if (before >= 0) {
        assert_in_range(whole - before, 1, PAGES * READS_MOST);
        assert_in_range(one - whole, 1, PAGES * READS_MOST);
    }
    tw_source_destroy(&source);
    tw_image_destroy(image);
    assert_int_equal(unlink(in_scratch("p.tif")), 0);
    close_context(ctx);
}
/* A TIFF with its channels side by side, a strip for each line: element (i, j) of channel k is
 * 7 i + 3 j + 40 k. */
enum { LINES = 256, WIDE = 64, CHANNELS = 6 };

static void write_interleaved(const char *name)
{
    enum { TAGS = 10, DIRECTORY = 8, BITS = DIRECTORY + 2 + TAGS * 12 + 4 };
    const uint32_t line = WIDE * CHANNELS, places = BITS + 2 * CHANNELS, sizes = places + 4 * LINES;
    const uint32_t start = sizes + 4 * LINES;
    const uint32_t tags[TAGS][4] = {
        {256, 4, 1, WIDE},      {257, 4, 1, LINES},      {258, 3, CHANNELS, BITS}, {259, 3, 1, 1},
        {262, 3, 1, 1},         {273, 4, LINES, places}, {277, 3, 1, CHANNELS},    {278, 4, 1, 1},
        {279, 4, LINES, sizes}, {284, 3, 1, 1}};
    static unsigned char file[1 << 17] = {'I', 'I', 42, 0, DIRECTORY, 0, 0, 0, TAGS, 0};
    for (int t = 0; t < TAGS; t++) {
        unsigned char *entry = file + DIRECTORY + 2 + 12 * t;
        for (int b = 0; b < 12; b++) { /* a tag and its type have two bytes, the rest four */
            const int word = b < 2 ? 0 : b < 4 ? 1 : b < 8 ? 2 : 3;
            entry[b] = (unsigned char)(tags[t][word] >> 8 * (b < 4 ? b % 2 : b % 4));
        }
    }
    for (int k = 0; k < CHANNELS; k++) {
        file[BITS + 2 * k] = 8;
    }
    for (uint32_t i = 0; i < LINES; i++) {
        for (int b = 0; b < 4; b++) {
            file[places + 4 * i + (uint32_t)b] = (unsigned char)((start + i * line) >> 8 * b);
            file[sizes + 4 * i + (uint32_t)b] = (unsigned char)(line >> 8 * b);
        }
        for (uint32_t at = 0; at < line; at++) {
            file[start + i * line + at] =
                (unsigned char)(7 * i + 3 * (at / CHANNELS) + 40 * (at % CHANNELS));
        }
    }
    put_file(name, file, start + LINES * line);
}

static void check_planes(const tw_image *image, int64_t first, int64_t count)
{
    assert_int_equal(tw_image_planes(image), count);
    for (int64_t k = 0; k < count; k++) {
        const tw_matrix *plane = tw_image_plane(image, k);
        assert_int_equal(plane->rows, LINES);
        assert_int_equal(plane->cols, WIDE);
        for (int64_t at = 0; at < LINES * WIDE; at++) {
            const int64_t expected = 7 * (at / WIDE) + 3 * (at % WIDE) + 40 * (first + k);
            assert_int_equal(((const uint8_t *)plane->data)[at], (uint8_t)expected);
        }
    }
}

static void channels_side_by_side_are_decoded_once(void **state)
{
    (void)state;
    const uint64_t each = (uint64_t)LINES * WIDE;
    tw_context *ctx = open_context();
    tw_image *image = NULL;
    tw_source source = TW_SOURCE_INIT;
    uint8_t rows[LINES * WIDE];
    const char *path = in_scratch("i.tif");
    write_interleaved("i.tif");
    const long long before = read_calls();
    assert_ok(ctx, tw_image_source(ctx, &source, path, NULL, 2, NULL));
    assert_ok(ctx, source.rows(source.self, ctx, 0, LINES, rows, WIDE));
    const long long one = read_calls();
    assert_ok(ctx, tw_image_read_some(ctx, &image, path, NULL, 0, UINT64_MAX));
    const long long all = read_calls();
    check_planes(image, 0, CHANNELS);
    if (before >= 0) { /* as often as for one of them; /proc itself is read in a few */
        assert_in_range(one - before, LINES / 2, 3 * LINES);
        assert_in_range(all - one, LINES / 2, one - before + 8);
    }
    tw_image_destroy(image);
    assert_ok(ctx, tw_image_read_some(ctx, &image, path, NULL, 1, 3 * each + 1));
    check_planes(image, 1, 3);
    tw_image_destroy(image);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "plane 1 is decoded alone",
                 tw_image_read_some(ctx, &image, path, NULL, 1, 2 * each - 1));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "plane 5 is decoded alone",
                 tw_image_read_some(ctx, &image, path, NULL, 5, UINT64_MAX));
    assert_fails(ctx, TW_ERR_ARGUMENT, "plane 6",
                 tw_image_read_some(ctx, &image, path, NULL, 6, UINT64_MAX));
    assert_null(image);
    put_file("a.pgm", "P5 2 1 255\nab", 13);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "plane 0 is decoded alone",
                 tw_image_read_some(ctx, &image, in_scratch("a.pgm"), NULL, 0, UINT64_MAX));
    tw_source_destroy(&source);
    assert_int_equal(unlink(in_scratch("a.pgm")), 0);
    assert_int_equal(unlink(in_scratch("i.tif")), 0);
    close_context(ctx);
}
#endif

/* See a_write_that_the_system_cancelled_is_an_error in output.c. */
static void a_read_that_the_system_cancelled_is_an_error(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_fails(ctx, TW_ERR_IO, "cannot read 'a.tif'", twi_input_failed(ctx, "a.tif", ECANCELED));
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", twi_input_failed(ctx, "a.tif", ECANCELED));
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_cut_after_it_was_opened_is_a_sentence),
        cmocka_unit_test(a_matrix_cut_after_it_was_opened_is_a_sentence),
        cmocka_unit_test(an_image_cut_or_rewritten_after_it_was_read_is_what_it_was),
        cmocka_unit_test(rows_are_checked_as_they_were_copied),
        cmocka_unit_test(a_matrix_rewritten_after_it_was_opened_is_what_it_was),
        cmocka_unit_test(a_graph_rewritten_before_it_is_built_is_what_was_opened),
        cmocka_unit_test(a_head_and_what_is_fetched_are_the_file),
        cmocka_unit_test(a_read_that_the_system_cancelled_is_an_error),
        cmocka_unit_test(a_file_beyond_the_memory_is_refused_or_read_by_rows),
#if TW_TEST_TIFF
        cmocka_unit_test(a_tiff_of_many_pages_costs_a_few_reads_for_each),
        cmocka_unit_test(channels_side_by_side_are_decoded_once),
#endif
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

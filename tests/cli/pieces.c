/* Parts of the command that are hard to reach from its command line. */
#include "harness.h"

#include "base/clock.h"
#include "cli/graph/room.h"
#include "cli/shared/checked.h"
#include "frame/job.h"
#include "frame/options.h"
#include "frame/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_about cli_program = {.name = "pieces"};

static void sizes_take_decimal_and_binary_letters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {
        {"0", 0},           {"1000", 1000},       {"8G", 8000000000}, {"8GB", 8000000000},
        {"8g", 8000000000}, {"512Mi", 536870912}, {"1.5KiB", 1536},   {"2T", 2000000000000},
        {"1e6", 1000000}};
    static const char *const wrong[] = {"",   "G",    "-1", "8Q", "8GG",
                                        "8i", "1e30", "0x", " 8", "nan"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint64_t bytes = 77;
        assert_true(cli_read_size(right[i].text, &bytes));
        assert_int_equal(bytes, right[i].bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t bytes = 77;
        assert_false(cli_read_size(wrong[i], &bytes));
        assert_int_equal(bytes, 77);
    }
}

static void counts_are_digits_and_nothing_else(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "+1", "-1", "1.5", "1x", " 1", "9223372036854775808"};
    int64_t count = 77;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(cli_read_count(wrong[i], &count));
        assert_int_equal(count, 77);
    }
    assert_true(cli_read_count("9223372036854775807", &count));
    assert_true(count == INT64_MAX);
}

static void a_slip_finds_its_word_and_nonsense_finds_none(void **state)
{
    (void)state;
    static const char *const names[] = {"threads", "targets", "json", "apsp"};
    assert_string_equal(cli_nearest("thread", names, 4), "threads");
    assert_string_equal(cli_nearest("taregts", names, 4), "targets");
    assert_string_equal(cli_nearest("thr", names, 4), "threads");
    assert_string_equal(cli_nearest("asps", names, 4), "apsp");
    assert_null(cli_nearest("xyzzy", names, 4));
    assert_null(cli_nearest("j", names, 4));
    assert_null(cli_nearest("a-word-much-longer-than-any-name-of-ours", names, 4));
}

static void numbers_are_shown_for_people(void **state)
{
    (void)state;
    char out[CLI_SHOWN];
    assert_string_equal(cli_show_bytes(out, 0), "0 B");
    assert_string_equal(cli_show_bytes(out, 999), "999 B");
    assert_string_equal(cli_show_bytes(out, 1500), "1.50 kB");
    assert_string_equal(cli_show_bytes(out, 25.2e9), "25.2 GB");
    assert_string_equal(cli_show_scaled(out, 123.4e9), "123 G");
    assert_string_equal(cli_show_seconds(out, 0.0000005), "0.5 us");
    assert_string_equal(cli_show_seconds(out, 0.0421), "42.1 ms");
    assert_string_equal(cli_show_seconds(out, 3.14159), "3.14 s");
    assert_string_equal(cli_show_seconds(out, 150), "2 min 30 s");
    assert_string_equal(cli_show_value(out, 1073741822), "1073741822");
    assert_string_equal(cli_show_value(out, 0.1), "0.1");
}

/* Feed a matrix to the verifier of a two-vertex graph and, behind its gate, to a file. */
static tw_status feed_gated(tw_context *ctx, int32_t distance, const char *path)
{
    const int32_t source = 0, target = 1, weight = 5;
    const tw_edges edges = {sizeof edges, 1, &source, &target, &weight, TW_I32, TW_I32};
    int32_t data[4] = {0, distance, TW_APSP_INF_I32, 0};
    tw_matrix matrix = {data, 2, 2, 2, TW_I32};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = NULL;
    tw_apsp_verifier *verifier = NULL;
    cli_timed timed = {.inner = TW_SINK_INIT};
    cli_gated gated = {.inner = TW_SINK_INIT};
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, graph, &opts, 0, 1));
    assert_int_equal(tw_apsp_verifier_sink(verifier, &timed.inner), TW_OK);
    cli_timed_sink(&timed, &sinks[0]);
    assert_ok(ctx, tw_sink_to_file(ctx, &gated.inner, path, "raw"));
    gated.verifier = verifier;
    cli_gated_sink(&gated, &sinks[1]);
    tw_status status = tw_feed(ctx, &matrix, sinks, 2);
    assert_true(timed.seconds > 0);
    tw_sink_destroy(&gated.inner);
    tw_sink_destroy(&timed.inner);
    tw_apsp_verifier_destroy(verifier);
    tw_graph_destroy(graph);
    return status;
}

/* The library and the commands write times in their own words; they are to be the same. */
static void times_are_written_one_way(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *shown;
    } cases[] = {{0, "0 us"},
                 {1.5e-6, "1.5 us"},
                 {0.0009996, "1 ms"},
                 {0.41, "410 ms"},
                 {0.9996, "1 s"},
                 {12.34, "12.3 s"},
                 {119.4, "119 s"},
                 {119.6, "2 min 00 s"},
                 {125, "2 min 05 s"},
                 {3599.7, "60 min 00 s"},
                 {7199.4, "119 min 59 s"},
                 {7199.9, "2.00 h"},
                 {1e4, "2.78 h"},
                 {35000, "9.72 h"},
                 {1e5, "27.8 h"},
                 {1e7, "2778 h"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ours[CLI_SHOWN], theirs[TWI_DURATION];
        assert_string_equal(cli_show_seconds(ours, cases[i].seconds), cases[i].shown);
        assert_string_equal(twi_duration(theirs, cases[i].seconds), cases[i].shown);
    }
}

static void a_file_appears_only_if_the_verifier_is_content(void **state)
{
    (void)state;
    char folder[] = "/tmp/tilewright-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    tw_context *ctx = open_context();
    assert_int_equal(feed_gated(ctx, 6, path), TW_ERR_VERIFY);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(folder), 0); /* nothing under another name either */
    close_context(ctx);
    snprintf(folder, sizeof folder, "/tmp/tilewright-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    ctx = open_context();
    assert_int_equal(feed_gated(ctx, 5, path), TW_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    close_context(ctx);
}

/* Shapes that no disk has room for, so that the sentence says what they take at least. */
static void text_is_counted_at_the_least_that_it_can_take(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        tw_type type;
        bool gaps;
        const char *takes;
    } cases[] = {{"o.npy", TW_I32, false, " entries take 400 TB, but "},
                 {"o.npy", TW_I32, true, " entries take 400 TB, but "},
                 {"o.csv", TW_I32, false, " entries take at least 200 TB, but "},
                 {"o.csv", TW_F64, false, " entries take at least 200 TB, but "},
                 {"o.csv", TW_I32, true, " entries take at least 100 TB, but "}};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_file file = {"OUT", cases[i].path};
        const tw_shape shape = {10000000, 10000000, cases[i].type};
        assert_fails(ctx, TW_ERR_IO, cases[i].takes,
                     cli_check_room(ctx, &file, NULL, &shape, cases[i].gaps, "less"));
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_take_decimal_and_binary_letters),
        cmocka_unit_test(counts_are_digits_and_nothing_else),
        cmocka_unit_test(a_slip_finds_its_word_and_nonsense_finds_none),
        cmocka_unit_test(numbers_are_shown_for_people),
        cmocka_unit_test(times_are_written_one_way),
        cmocka_unit_test(a_file_appears_only_if_the_verifier_is_content),
        cmocka_unit_test(text_is_counted_at_the_least_that_it_can_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

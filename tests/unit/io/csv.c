/* Matrices in csv files that are read through a buffer: numbers and lines across its end, rows in
 * any order, places of errors, files that change, and memory that is short. */
#include "unit/scratch_folder.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/matrix/format.h"

#include <math.h>

#define BUFFER 65536 /* of csv_read.c */

/* A text that grows, and the numbers in it as printf and strtod see them. */
typedef struct text {
    char *bytes;
    size_t used;
} text;

static text new_text(size_t room)
{
    text out = {malloc(room), 0};
    assert_non_null(out.bytes);
    return out;
}

static twi_input input_of(const text *t)
{
    return (twi_input){.name = "t.csv", .bytes = t->bytes, .size = t->used};
}

/* Numbers of one to twenty characters; every seventh is "inf", and fractions if asked for. */
static double add_number(text *t, uint64_t seed, int64_t at, bool fractions)
{
    const uint64_t random = twi_random_at(seed, (uint64_t)at);
    const int digits = 1 + (int)(random % 9);
    uint64_t limit = 1;
    for (int i = 0; i < digits; i++) {
        limit *= 10;
    }
    double value = (double)(random / 16 % limit);
    char shown[64];
    if (random % 7 == 0) {
        strcpy(shown, "inf");
        value = (double)INFINITY;
    } else if (fractions && random % 3 == 0) {
        snprintf(shown, sizeof shown, "%.17g", value / 7);
        value = strtod(shown, NULL);
    } else {
        snprintf(shown, sizeof shown, "%.0f", value);
    }
    memcpy(t->bytes + t->used, shown, strlen(shown));
    t->used += strlen(shown);
    return value;
}

static double number_of(const void *row, tw_type type, int64_t col)
{
    if (type == TW_I32) {
        const int32_t value = ((const int32_t *)row)[col];
        return value == TW_APSP_INF_I32 ? (double)INFINITY : value;
    }
    return ((const double *)row)[col];
}

static void assert_row(const double *wanted, const void *row, const tw_shape *shape)
{
    for (int64_t j = 0; j < shape->cols; j++) {
        assert_true(wanted[j] == number_of(row, shape->type, j));
    }
}

/* Rows of the file in blocks, forwards and backwards, are those wanted, and so is the matrix. */
static void check_text(const text *t, const double *wanted, int64_t rows, int64_t cols)
{
    tw_context *ctx = open_context();
    const twi_input input = input_of(t);
    const int64_t stride = cols + 3;
    tw_matrix whole = {0};
    twi_csv *csv = NULL;
    assert_ok(ctx, twi_csv_parse(ctx, &whole, &input, "t.csv", TW_AUTO));
    assert_ok(ctx, twi_csv_open(ctx, &csv, &input, "t.csv", TW_AUTO));
    const tw_shape shape = twi_csv_shape(csv);
    const size_t size = tw_type_size(shape.type);
    assert_true(shape.rows == rows && shape.cols == cols);
    assert_true(whole.rows == rows && whole.cols == cols && whole.type == shape.type);
    char *block = malloc((size_t)(3 * stride) * size);
    assert_non_null(block);
    for (int64_t pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < rows; k += 3) {
            const int64_t first = pass == 0 ? k : rows - 1 - k;
            const int64_t count = rows - first < 3 ? rows - first : 3;
            memset(block, 0x5A, (size_t)(3 * stride) * size);
            assert_ok(ctx, twi_csv_rows(ctx, csv, first, count, block, stride));
            for (int64_t i = 0; i < count; i++) {
                assert_row(wanted + (first + i) * cols, block + (size_t)(i * stride) * size,
                           &shape);
                assert_row(wanted + (first + i) * cols,
                           (const char *)whole.data + (size_t)((first + i) * cols) * size, &shape);
            }
        }
    }
    free(block);
    twi_csv_close(csv);
    twi_free(whole.data);
    close_context(ctx);
}

static void numbers_may_cross_the_end_of_the_buffer(void **state)
{
    (void)state;
    const int64_t rows = 2500, cols = 13;
    double *wanted = malloc((size_t)(rows * cols) * sizeof *wanted);
    assert_non_null(wanted);
    for (int shift = 0; shift < 24; shift += emulated_sizes_only() ? 7
                                             : small_sizes_only()  ? 3
                                                                   : 1) {
        text t = new_text((size_t)(rows * cols) * 24 + 8000);
        memset(t.bytes, ' ', (size_t)shift);
        t.used = (size_t)shift;
        for (int64_t i = 0; i < rows * cols; i++) {
            wanted[i] = add_number(&t, 1, i, shift % 2 == 0);
            const bool last = i % cols == cols - 1;
            t.used += (size_t)sprintf(t.bytes + t.used, "%s",
                                      !last         ? i % 5 == 0 ? " ,\t" : ","
                                      : shift == 3  ? "\r\n"
                                      : i % 11 == 0 ? "\n \n"
                                                    : "\n");
        }
        assert_true(t.used > 2 * (size_t)BUFFER);
        check_text(&t, wanted, rows, cols);
        free(t.bytes);
    }
    free(wanted);
}

static void a_line_may_be_longer_than_the_buffer(void **state)
{
    (void)state;
    const int64_t rows = 4, cols = 40000;
    double *wanted = malloc((size_t)(rows * cols) * sizeof *wanted);
    text t = new_text((size_t)(rows * cols) * 24);
    assert_non_null(wanted);
    for (int64_t i = 0; i < rows * cols; i++) {
        wanted[i] = add_number(&t, 2, i, false);
        t.bytes[t.used++] = i % cols == cols - 1 ? '\n' : ',';
    }
    t.used--; /* the last line needs no end */
    check_text(&t, wanted, rows, cols);
    free(t.bytes);
    free(wanted);
}

/* So many lines that not each of them has a place noted. */
static void rows_beyond_those_noted_are_found(void **state)
{
    (void)state;
    const int64_t rows = 9001;
    double *wanted = malloc((size_t)rows * sizeof *wanted);
    text t = new_text((size_t)rows * 24);
    assert_non_null(wanted);
    for (int64_t i = 0; i < rows; i++) {
        wanted[i] = add_number(&t, 3, i, true);
        t.bytes[t.used++] = '\n';
    }
    check_text(&t, wanted, rows, 1);
    free(t.bytes);
    free(wanted);
}

/* A number of the longest length at every place about the end of the buffer. */
static void a_long_number_is_read_wherever_it_lies(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t before = BUFFER - 4100; before <= BUFFER; before += 59) {
        for (size_t length = 4095; length <= 4096; length++) {
            text t = new_text(before + length + 8);
            memset(t.bytes, '\n', before);
            memset(t.bytes + before, '0', length);
            t.bytes[before + length - 1] = '7';
            t.used = before + length;
            const twi_input input = input_of(&t);
            tw_matrix m = {0};
            if (length == 4095) {
                assert_ok(ctx, twi_csv_parse(ctx, &m, &input, "t.csv", TW_AUTO));
                assert_int_equal(((const int32_t *)m.data)[0], 7);
            } else {
                char place[80];
                snprintf(place, sizeof place, "line %zu, column 1: expected a number", before + 1);
                assert_fails(ctx, TW_ERR_FORMAT, place,
                             twi_csv_parse(ctx, &m, &input, "t.csv", TW_AUTO));
            }
            twi_free(m.data);
            free(t.bytes);
        }
    }
    close_context(ctx);
}

static text square_text(int64_t n, const char *entry)
{
    text t = new_text((size_t)(n * n) * (strlen(entry) + 1));
    for (int64_t i = 0; i < n * n; i++) {
        memcpy(t.bytes + t.used, entry, strlen(entry));
        t.used += strlen(entry);
        t.bytes[t.used++] = i % n == n - 1 ? '\n' : ',';
    }
    return t;
}

static void an_error_far_into_the_file_has_its_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    text t = square_text(500, "1234");
    t.bytes[5 * (500 * 300 + 77)] = 'x';
    const twi_input input = input_of(&t);
    tw_matrix m = {0};
    twi_csv *csv = NULL;
    const char *place = "line 301, column 386: expected a number or inf";
    assert_fails(ctx, TW_ERR_FORMAT, place, twi_csv_parse(ctx, &m, &input, "t.csv", TW_AUTO));
    assert_fails(ctx, TW_ERR_FORMAT, place, twi_csv_open(ctx, &csv, &input, "t.csv", TW_AUTO));
    assert_null(m.data);
    assert_null(csv);
    free(t.bytes);
    close_context(ctx);
}

static void a_source_has_the_names_of_a_table(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_source source = TW_SOURCE_INIT;
    const char table[] = "\xEF\xBB\xBF,a, \"b, c\" \r\n\na ,0,1\r\n\"d \"\"\",2,0";
    put_file("m.csv", table, sizeof table - 1);
    assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch("m.csv"), NULL, TW_AUTO));
    assert_string_equal(tw_matrix_source_names(&source, 0), "a\n\"d \"\"\"\n");
    assert_string_equal(tw_matrix_source_names(&source, 1), "a\n\"b, c\"\n");
    tw_source_destroy(&source);
    put_file("m.csv", "0,1\n2,0\n", 8);
    assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch("m.csv"), NULL, TW_AUTO));
    assert_null(tw_matrix_source_names(&source, 0));
    assert_null(tw_matrix_source_names(&source, 1));
    tw_source_destroy(&source);
    unlink(in_scratch("m.csv"));
    close_context(ctx);
}

/* 3.6 MB of numbers, or 14 as f64, in a context of one. */
static void a_source_needs_no_room_for_the_matrix(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t n = 900;
    text t = square_text(n, "81.5");
    put_file("m.csv", t.bytes, t.used);
    tw_source source = TW_SOURCE_INIT;
    tw_matrix_file *file = NULL;
    double *row = malloc((size_t)n * sizeof *row);
    assert_non_null(row);
    assert_ok(ctx, tw_set_memory(ctx, 1000000));
    assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch("m.csv"), NULL, TW_AUTO));
    assert_true(source.shape.rows == n && source.shape.type == TW_F64 && source.in_order == 0);
    assert_ok(ctx, source.rows(source.self, ctx, n - 1, 1, row, n));
    assert_true(row[n - 1] == 81.5);
    assert_true(tw_memory_used(ctx) < 300000);
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch("again.csv"), NULL));
    assert_ok(ctx, tw_feed_source(ctx, &source, &sink, 1));
    tw_sink_destroy(&sink);
    tw_source_destroy(&source);
    char *again = malloc(t.used);
    FILE *written = fopen(in_scratch("again.csv"), "re");
    assert_true(again != NULL && written != NULL);
    assert_int_equal(fread(again, 1, t.used, written), t.used);
    assert_memory_equal(again, t.bytes, t.used);
    assert_int_equal(fclose(written), 0);
    free(again);
    assert_fails(ctx, TW_ERR_MEMORY, "the matrix of a csv file",
                 tw_matrix_file_create(ctx, &file, in_scratch("m.csv"), NULL, TW_AUTO));
    unlink(in_scratch("m.csv"));
    unlink(in_scratch("again.csv"));
    free(row);
    free(t.bytes);
    close_context(ctx);
}

static void a_file_that_changes_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t n = 300;
    int32_t row[300];
    static const struct {
        const char *what;
        const char *words;
    } kinds[] = {
        {"cut", "cut short"}, {"wider", "changed while"}, {"letters", "expected a number"}};
    assert_ok(ctx, tw_set_memory(ctx, 300000));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        text t = square_text(n, "12");
        put_file("m.csv", t.bytes, t.used);
        tw_source source = TW_SOURCE_INIT;
        assert_ok(ctx, tw_matrix_source(ctx, &source, in_scratch("m.csv"), NULL, TW_AUTO));
        assert_int_equal(source.shape.type, TW_I32);
        FILE *file = fopen(in_scratch("m.csv"), "r+e");
        assert_non_null(file);
        if (k == 0) {
            assert_int_equal(ftruncate(fileno(file), 3 * n * 200), 0);
        } else {
            assert_int_equal(fseek(file, 3 * (n * 250 + 5), SEEK_SET), 0);
            assert_true(fputs(k == 1 ? ".5" : "ab", file) >= 0);
        }
        assert_int_equal(fclose(file), 0);
        assert_ok(ctx, source.rows(source.self, ctx, 1, 1, row, n));
        tw_status status = TW_OK;
        for (int64_t i = 2; i < n && status == TW_OK; i++) {
            status = source.rows(source.self, ctx, i, 1, row, n);
        }
        assert_true(status != TW_OK);
        assert_non_null(strstr(tw_last_error(ctx), kinds[k].words));
        assert_ok(ctx, source.rows(source.self, ctx, 0, 1, row, n)); /* what is there stays */
        assert_int_equal(row[n - 1], 12);
        tw_source_destroy(&source);
        free(t.bytes);
    }
    unlink(in_scratch("m.csv"));
    close_context(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const text t = square_text(40, "1.5");
    const twi_input input = input_of(&t);
    const int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t at = 1;
    for (; status != TW_OK; at++) {
        tw_matrix m = {0};
        twi_csv *csv = NULL;
        twi_meter_fail_at(ctx->meter, at);
        status = twi_csv_parse(ctx, &m, &input, "t.csv", TW_AUTO);
        if (status == TW_OK) {
            status = twi_csv_open(ctx, &csv, &input, "t.csv", TW_AUTO);
        }
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        twi_csv_close(csv);
        twi_free(m.data);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    assert_true(at > 5);
    free(t.bytes);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_may_cross_the_end_of_the_buffer),
        cmocka_unit_test(a_line_may_be_longer_than_the_buffer),
        cmocka_unit_test(rows_beyond_those_noted_are_found),
        cmocka_unit_test(a_long_number_is_read_wherever_it_lies),
        cmocka_unit_test(an_error_far_into_the_file_has_its_place),
        cmocka_unit_test_setup_teardown(a_source_has_the_names_of_a_table, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(a_source_needs_no_room_for_the_matrix, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(a_file_that_changes_is_refused, make_scratch,
                                        remove_scratch),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

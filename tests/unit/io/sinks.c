/* Sinks and matrix files: what goes in comes back, and nothing half-written stays. */
#include "unit/scratch_folder.h"

#include "base/random.h"
#include "io/matrix/format.h"

#include <locale.h>
#include <math.h>

static const tw_type all_types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
#define ALL_TYPES ((int)(sizeof all_types / sizeof *all_types))

/* A matrix of random small values with some infinities, in rows `pad` elements apart. */
static tw_matrix random_matrix(int64_t rows, int64_t cols, int64_t pad, tw_type type, uint64_t seed)
{
    const int64_t stride = cols + pad;
    tw_matrix m = {NULL, rows, cols, stride, type};
    m.data = malloc((size_t)(rows * stride) * tw_type_size(type) + 1);
    for (int64_t i = 0; i < rows * stride; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        double value = random % 5 == 0 ? tw_apsp_infinity(type) : (double)(random % 200);
        if (type == TW_F32 || type == TW_F64) {
            value /= random % 3 == 0 ? 1 : 7;
        }
        switch (type) {
        case TW_U8:
            ((uint8_t *)m.data)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)m.data)[i] = (uint16_t)value;
            break;
        case TW_I16:
            ((int16_t *)m.data)[i] = (int16_t)value;
            break;
        case TW_I32:
            ((int32_t *)m.data)[i] = (int32_t)value;
            break;
        case TW_F32:
            ((float *)m.data)[i] = (float)value;
            break;
        default:
            ((double *)m.data)[i] = value;
        }
    }
    return m;
}

static double value_at(const tw_matrix *m, int64_t i, int64_t j)
{
    const int64_t at = i * m->stride + j;
    switch (m->type) {
    case TW_U8:
        return ((const uint8_t *)m->data)[at];
    case TW_U16:
        return ((const uint16_t *)m->data)[at];
    case TW_I16:
        return ((const int16_t *)m->data)[at];
    case TW_I32:
        return ((const int32_t *)m->data)[at];
    case TW_F32:
        return ((const float *)m->data)[at];
    default:
        return ((const double *)m->data)[at];
    }
}

static bool is_infinite(const tw_matrix *m, double value)
{
    return value >= tw_apsp_infinity(m->type);
}

/* Same shape and values; "no path" compares as such whatever the types. */
static void assert_same(const tw_matrix *a, const tw_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t j = 0; j < a->cols; j++) {
            double x = value_at(a, i, j);
            double y = value_at(b, i, j);
            bool same = is_infinite(a, x) ? is_infinite(b, y) : x == y;
            if (!same) {
                fail_msg("(%lld, %lld): %.17g and %.17g", (long long)i, (long long)j, x, y);
            }
        }
    }
}

static void feed_file(tw_context *ctx, const tw_matrix *m, const char *name, const char *format)
{
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch(name), format));
    assert_ok(ctx, tw_feed(ctx, m, &sink, 1));
    tw_sink_destroy(&sink);
}

static void a_matrix_sink_copies_rows_at_any_stride(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {0, 1, 2, 33, 700};
    for (int t = 0; t < ALL_TYPES; t++) {
        for (int s = 0; s < 5; s++) {
            tw_sink sink = TW_SINK_INIT;
            tw_matrix from = random_matrix(sizes[s], sizes[s], 3, all_types[t], 1);
            tw_matrix to = random_matrix(sizes[s], sizes[s], 1, all_types[t], 2);
            assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &to));
            assert_ok(ctx, tw_feed(ctx, &from, &sink, 1));
            assert_same(&from, &to);
            tw_sink_destroy(&sink);
            free(from.data);
            free(to.data);
        }
    }
    close_context(ctx);
}

static void a_matrix_of_another_shape_or_type_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t a[6] = {0};
    int32_t b[6] = {0};
    tw_sink sink = TW_SINK_INIT;
    tw_matrix from = {a, 2, 3, 3, TW_I32};
    tw_matrix to = {b, 3, 2, 2, TW_I32};
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &to));
    assert_fails(ctx, TW_ERR_ARGUMENT, "2 x 3 of i32 and the matrix for it 3 x 2 of i32",
                 tw_feed(ctx, &from, &sink, 1));
    to = (tw_matrix){b, 2, 3, 3, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "of f32", tw_feed(ctx, &from, &sink, 1));
    tw_sink_destroy(&sink);
    to.stride = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "stride", tw_sink_to_matrix(ctx, &sink, &to));
    to = (tw_matrix){NULL, 2, 3, 3, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "NULL", tw_sink_to_matrix(ctx, &sink, &to));
    to = (tw_matrix){b, INT64_MAX, INT64_MAX, INT64_MAX, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "address", tw_sink_to_matrix(ctx, &sink, &to));
    to = (tw_matrix){b, 2, 3, 3, TW_AUTO};
    assert_fails(ctx, TW_ERR_ARGUMENT, "type", tw_sink_to_matrix(ctx, &sink, &to));
    assert_fails(ctx, TW_ERR_ARGUMENT, "NULL", tw_sink_to_matrix(ctx, &sink, NULL));
    tw_sink_destroy(&sink);
    tw_sink_destroy(NULL);
    close_context(ctx);
}

static void rows_out_of_turn_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t data[4] = {0};
    tw_matrix to = {data, 2, 2, 2, TW_I32};
    tw_shape shape = {2, 2, TW_I32};
    for (int kind = 0; kind < 2; kind++) {
        tw_sink s = TW_SINK_INIT;
        if (kind == 0) {
            assert_ok(ctx, tw_sink_to_matrix(ctx, &s, &to));
        } else {
            assert_ok(ctx, tw_sink_to_file(ctx, &s, in_scratch("a"), NULL));
        }
        assert_ok(ctx, s.begin(s.self, ctx, &shape));
        assert_fails(ctx, TW_ERR_INTERNAL, "row 0 of 2", s.rows(s.self, ctx, 1, 1, data, 2));
        assert_fails(ctx, TW_ERR_INTERNAL, "row 0 of 2", s.rows(s.self, ctx, 0, 3, data, 2));
        assert_fails(ctx, TW_ERR_INTERNAL, "after row 0 of 2", s.end(s.self, ctx));
        s.abort(s.self, ctx);
        tw_sink_destroy(&s);
    }
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void every_format_gives_back_what_it_was_given(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 7, 65, 300};
    const char *const names[] = {"m.raw", "m.npy", "m.csv"};
    for (int threads = 1; threads <= 3; threads += 2) {
        tw_context *ctx = open_context();
        assert_ok(ctx, tw_set_threads(ctx, threads));
        for (int t = 0; t < ALL_TYPES; t++) {
            for (int s = 0; s < 6; s++) {
                tw_matrix m = random_matrix(sizes[s], sizes[s], s % 2, all_types[t], 3);
                for (int f = 0; f < 3; f++) {
                    tw_matrix_file *file = NULL;
                    feed_file(ctx, &m, names[f], NULL);
                    assert_ok(
                        ctx, tw_matrix_file_create(ctx, &file, in_scratch(names[f]), NULL, m.type));
                    const tw_matrix *view = tw_matrix_file_view(file);
                    bool whole = m.type != TW_F32 && m.type != TW_F64; /* csv: as i32 */
                    assert_int_equal(view->type, f == 2 && whole ? TW_I32 : m.type);
                    assert_same(&m, view);
                    tw_matrix_file_destroy(file);
                    unlink(in_scratch(names[f]));
                }
                free(m.data);
            }
        }
        close_context(ctx);
    }
}

static void raw_is_the_elements_and_npy_the_documented_header(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t data[6] = {0, 5, TW_APSP_INF_I32, -3, 0, 7};
    tw_matrix m = {data, 2, 3, 3, TW_I32};
    char npy[192 + sizeof data]; /* 64 blanks more than the header needs: ours */
    memset(npy, ' ', 192);
    memcpy(npy, "\x93NUMPY\x01\x00\xb6\x00", 10);
    const char dictionary[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
    memcpy(npy + 10, dictionary, sizeof dictionary - 1);
    npy[191] = '\n';
    memcpy(npy + 192, data, sizeof data);
    feed_file(ctx, &m, "plain", NULL);
    assert_file("plain", data, sizeof data);
    feed_file(ctx, &m, "odd.out", NULL);
    assert_file("odd.out", data, sizeof data);
    tw_sink sink = TW_SINK_INIT;
    assert_fails(ctx, TW_ERR_ARGUMENT, ".name is not a known matrix format",
                 tw_sink_to_file(ctx, &sink, in_scratch("odd.name"), NULL));
    feed_file(ctx, &m, "plain", "npy");
    assert_file("plain", npy, sizeof npy);
    close_context(ctx);
}

static void csv_has_whole_numbers_inf_and_the_shortest_decimals(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t whole[6] = {0, -5, TW_APSP_INF_I32, INT32_MIN, 10, 1073741822};
    tw_matrix m = {whole, 2, 3, 3, TW_I32};
    const char *text = "0,-5,inf\n-2147483648,10,1073741822\n";
    feed_file(ctx, &m, "a.csv", NULL);
    assert_file("a.csv", text, strlen(text));
    double reals[] = {0.1,           2.5, 1e300, 1.0 / 3, (double)INFINITY,
                      123456789.125, 7,   -0.25, 5e-324,  0.30000000000000004,
                      1e15,          1e-5};
    m = (tw_matrix){reals, 3, 4, 4, TW_F64};
    text = "0.1,2.5,1e+300,0.3333333333333333\ninf,123456789.125,7,-0.25\n"
           "5e-324,0.30000000000000004,1000000000000000,0.00001\n";
    feed_file(ctx, &m, "a.csv", NULL);
    assert_file("a.csv", text, strlen(text));
    float singles[] = {0.1F, 16777216.0F, 3.4028235e38F, 1.0F / 3};
    m = (tw_matrix){singles, 2, 2, 2, TW_F32};
    text = "0.1,16777216\n3.4028235e+38,0.33333334\n";
    feed_file(ctx, &m, "a.csv", NULL);
    assert_file("a.csv", text, strlen(text));
    close_context(ctx);
}

/* Any bit pattern but NaN, and values of every scale. */
static double any_double(uint64_t i)
{
    uint64_t bits = twi_random_at(11, i);
    double value;
    switch (i % 3) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isnan(value) ? 1 : value;
    case 1:
        return (double)(bits % 1000000) / 1000;
    default:
        return twi_random_unit(bits) * 1000;
    }
}

static void every_number_reads_back_as_itself(void **state)
{
    (void)state;
    char text[64];
    for (uint64_t i = 0; i < 200000; i++) {
        double value = any_double(i);
        size_t length = twi_csv_format_row(text, &value, 1, TW_F64);
        assert_true(length <= twi_csv_width(TW_F64) && text[length - 1] == '\n');
        text[length - 1] = '\0';
        if (strtod(text, NULL) != value) {
            fail_msg("%.17g became %s", value, text);
        }
        float single = (float)value;
        length = twi_csv_format_row(text, &single, 1, TW_F32);
        assert_true(length <= twi_csv_width(TW_F32));
        text[length - 1] = '\0';
        if (strtof(text, NULL) != single) {
            fail_msg("float %.9g became %s", (double)single, text);
        }
    }
}

static void the_program_s_locale_changes_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *old = setlocale(LC_NUMERIC, NULL);
    const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *chosen = NULL;
    for (int i = 0; i < 4 && chosen == NULL; i++) {
        chosen = setlocale(LC_NUMERIC, commas[i]);
    }
    double reals[2] = {1.0 / 3, 1.5e300};
    tw_matrix m = {reals, 1, 2, 2, TW_F64};
    tw_matrix_file *file = NULL;
    feed_file(ctx, &m, "a.csv", NULL);
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("a.csv"), NULL, TW_AUTO));
    assert_same(&m, tw_matrix_file_view(file));
    tw_matrix_file_destroy(file);
    const char *text = "0.3333333333333333,1.5e+300\n";
    assert_file("a.csv", text, strlen(text));
    setlocale(LC_NUMERIC, old);
    close_context(ctx);
}

static void a_csv_file_is_read_with_blanks_and_either_line_end(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix_file *file = NULL;
    const char *text = "\n 0 , 5,inf\r\n\n7,-2,  Infinity";
    put_file("a.csv", text, strlen(text));
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("a.csv"), NULL, TW_AUTO));
    int32_t expected[6] = {0, 5, TW_APSP_INF_I32, 7, -2, TW_APSP_INF_I32};
    tw_matrix m = {expected, 2, 3, 3, TW_I32};
    assert_int_equal(tw_matrix_file_view(file)->type, TW_I32);
    assert_same(&m, tw_matrix_file_view(file));
    tw_matrix_file_destroy(file);
    text = "0,2000000000\n1e3,1\n"; /* too large for a distance of i32 */
    put_file("a.csv", text, strlen(text));
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("a.csv"), NULL, TW_AUTO));
    double wide[4] = {0, 2e9, 1000, 1};
    m = (tw_matrix){wide, 2, 2, 2, TW_F64};
    assert_int_equal(tw_matrix_file_view(file)->type, TW_F64);
    assert_same(&m, tw_matrix_file_view(file));
    tw_matrix_file_destroy(file);
    text = "0,1e39\n";
    put_file("a.csv", text, strlen(text));
    assert_fails(ctx, TW_ERR_FORMAT, "line 1, column 7: the number is too large for f32",
                 tw_matrix_file_create(ctx, &file, in_scratch("a.csv"), NULL, TW_F32));
    unlink(in_scratch("a.csv"));
    close_context(ctx);
}

static void integers_of_eight_bytes_are_read_as_f64(void **state)
{
    (void)state;
    static const struct {
        char kind;
        uint64_t given;
        double wanted;
    } numbers[] = {{'i', 7, 7},
                   {'i', (uint64_t)-7, -7},
                   {'i', TW_APSP_INF_I32, INFINITY},
                   {'i', INT64_MAX, INFINITY},
                   {'i', (uint64_t)1 << 53, 0x1p53},
                   {'i', (uint64_t)0 - ((uint64_t)1 << 53), -0x1p53},
                   {'u', 7, 7},
                   {'u', TW_APSP_INF_I32, INFINITY},
                   {'u', UINT64_MAX, INFINITY},
                   {'i', ((uint64_t)1 << 53) + 1, NAN}, /* refused */
                   {'i', (uint64_t)INT64_MIN, NAN},
                   {'u', INT64_MAX, NAN}};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char bytes[80];
        tw_matrix_file *file = NULL;
        tw_source source = TW_SOURCE_INIT;
        double row = 99;
        snprintf(
            bytes, sizeof bytes,
            "\x93NUMPY\x01%c\x3c%c{'descr': '<%c8', 'fortran_order': False, 'shape': (1, 1), } ", 0,
            0, numbers[i].kind);
        memcpy(bytes + 70, &numbers[i].given, 8);
        put_file("a.npy", bytes, 78);
        tw_status status = tw_matrix_file_create(ctx, &file, in_scratch("a.npy"), NULL, TW_AUTO);
        assert_int_equal(status, isnan(numbers[i].wanted) ? TW_ERR_RANGE : TW_OK);
        if (status == TW_OK) {
            const tw_matrix *view = tw_matrix_file_view(file);
            assert_int_equal(view->type, TW_F64);
            assert_true(*(const double *)view->data == numbers[i].wanted);
        }
        tw_matrix_file_destroy(file);
        assert_int_equal(tw_matrix_source(ctx, &source, in_scratch("a.npy"), NULL, TW_AUTO), TW_OK);
        assert_int_equal(source.shape.type, TW_F64);
        assert_int_equal(source.rows(source.self, ctx, 0, 1, &row, 1), status);
        assert_true(status != TW_OK || row == numbers[i].wanted);
        tw_source_destroy(&source);
    }
    unlink(in_scratch("a.npy"));
    close_context(ctx);
}

static void a_malformed_file_is_refused_with_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *bytes;
        size_t count; /* 0: as long as the text */
        const char *words;
    } bad[] = {
        {"a.csv", "0,1\n2,x\n", 0, "line 2, column 3"},
        {"a.csv", "0,1\n2\n", 0, "line 2, column 2: fewer columns"},
        {"a.csv", "0,1\n2", 0, "line 2, column 2: fewer columns"},
        {"a.csv", "0,1\n2,3,4\n", 0, "line 2, column 4: more columns"},
        {"a.csv", "0,,1\n", 0, "line 1, column 3"},
        {"a.csv", "0,nan\n1,2\n", 0, "line 1, column 3"},
        {"a.csv", "0,0x10\n1,2\n", 0, "line 1, column 3"},
        {"a.csv", "0,0X1p3\n1,2\n", 0, "line 1, column 3"},
        {"a.csv", "1,,,,,,,,,\n1\n2\n3\n4\n5\n", 0, "too few"},
        {"a.raw", "12345", 0, "5 bytes, which is not a square matrix of i32: 1 x 1 would be 4"},
        {"a.npy", "", 0, "does not begin with an npy header"},
        {"a.npy", "hello", 0, "does not begin with an npy header"},
        {"a.npy", "\x93NUMPY\x01\x00\xff\xff{", 11, "does not begin with an npy header"},
        {"a.npy", "\x93NUMPY\x09\x00\x02\x00{}", 12, "does not begin with an npy header"},
        {"a.npy", "\x93NUMPY\x01\x00\x02\x00{}", 12, "malformed npy header at byte 12"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x3c\x00"
         "{'descr': '>i4', 'fortran_order': False, 'shape': (1, 1), } ",
         70, "big-endian"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x3c\x00"
         "{'descr': '<i1', 'fortran_order': False, 'shape': (0, 0), } ",
         70, "type 'i1'"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x3c\x00"
         "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), } ",
         70, "says 2 x 2 of '<i4', but 0 bytes follow it"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x3c\x00"
         "{'descr': '<i4', 'fortran_order': True , 'shape': (2, 2), } ",
         70, "column order"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x3c\x00"
         "{'descr': '<i4', 'fortran_order': False, 'shape': (2,),   } ",
         70, "1 dimension;"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x58\x00"
         "{'descr': '<i4', 'fortran_order': False, 'shape': "
         "(4294967296, 4294967296),           }",
         98, "says 4294967296 x 4294967296"},
        {"a.npy",
         "\x93NUMPY\x01\x00\x58\x00"
         "{'descr': '<i4', 'fortran_order': False, 'shape': "
         "(99999999999999999999, 1),          }",
         98, "malformed npy header"},
    };
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tw_matrix_file *file = NULL;
        put_file(bad[i].name, bad[i].bytes, bad[i].count > 0 ? bad[i].count : strlen(bad[i].bytes));
        assert_fails(ctx, TW_ERR_FORMAT, bad[i].words,
                     tw_matrix_file_create(ctx, &file, in_scratch(bad[i].name), NULL, TW_AUTO));
        assert_null(file);
        unlink(in_scratch(bad[i].name));
    }
    close_context(ctx);
}

static void an_npy_header_of_odd_length_is_still_read(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix_file *file = NULL;
    char bytes[12 + 61 + 4] = "\x93NUMPY\x02\x00\x3d\x00\x00\x00"
                              "{\"shape\": (1, 1), 'fortran_order':False,'descr':'<i4'}     \n";
    memset(bytes + 12 + strlen(bytes + 12), ' ', 61 - strlen(bytes + 12));
    const int32_t value = 42;
    memcpy(bytes + 73, &value, 4);
    put_file("noext", bytes, sizeof bytes);
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("noext"), NULL, TW_AUTO));
    assert_int_equal(((const int32_t *)tw_matrix_file_view(file)->data)[0], 42);
    tw_matrix_file_destroy(file);
    unlink(in_scratch("noext"));
    close_context(ctx);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix_file *file = NULL;
    tw_sink sink = TW_SINK_INIT;
    assert_fails(ctx, TW_ERR_IO, "No such file",
                 tw_matrix_file_create(ctx, &file, in_scratch("none"), NULL, TW_AUTO));
    assert_fails(ctx, TW_ERR_IO, "Is a directory",
                 tw_matrix_file_create(ctx, &file, scratch, NULL, TW_AUTO));
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown matrix format",
                 tw_matrix_file_create(ctx, &file, in_scratch("none"), "xls", TW_AUTO));
    assert_fails(ctx, TW_ERR_ARGUMENT, "needs a name",
                 tw_matrix_file_create(ctx, &file, NULL, NULL, TW_AUTO));
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown matrix format",
                 tw_sink_to_file(ctx, &sink, in_scratch("a"), "xls"));
    assert_fails(ctx, TW_ERR_ARGUMENT, "needs a name", tw_sink_to_file(ctx, &sink, "", NULL));
    assert_null(sink.self);
    tw_matrix_file_destroy(NULL);
    close_context(ctx);
}

/* A sink that fails or cancels at a chosen call. */
typedef struct saboteur {
    tw_context *ctx;
    char when; /* 'b'egin, 'r'ows, 'e'nd, 'c'ancel in rows */
    int aborted;
} saboteur;

static tw_status sabotage(saboteur *s, char now)
{
    return s->when == now ? tw_fail(s->ctx, TW_ERR_IO, "sabotage at %c", now) : TW_OK;
}

static tw_status saboteur_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)ctx;
    (void)shape;
    return sabotage(self, 'b');
}

static tw_status saboteur_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                               const void *data, int64_t stride)
{
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    if (((saboteur *)self)->when == 'c') {
        tw_cancel(ctx);
    }
    return sabotage(self, 'r');
}

static tw_status saboteur_end(void *self, tw_context *ctx)
{
    (void)ctx;
    return sabotage(self, 'e');
}

static void saboteur_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    ((saboteur *)self)->aborted++;
}

static void a_failed_or_cancelled_feed_leaves_the_old_file(void **state)
{
    (void)state;
    tw_matrix m = random_matrix(3000, 1000, 0, TW_I32, 5); /* more than one block */
    const char moments[] = "brec";
    for (int i = 0; moments[i] != '\0'; i++) {
        tw_context *ctx = open_context();
        saboteur s = {ctx, moments[i], 0};
        tw_sink sinks[2] = {{sizeof(tw_sink), &s, saboteur_begin, saboteur_rows, saboteur_end,
                             saboteur_abort, NULL},
                            TW_SINK_INIT};
        put_file("a", "old", 3);
        assert_ok(ctx, tw_sink_to_file(ctx, &sinks[1], in_scratch("a"), NULL));
        tw_status status = tw_feed(ctx, &m, sinks, 2);
        assert_int_equal(status, moments[i] == 'c' ? TW_ERR_CANCELLED : TW_ERR_IO);
        assert_int_equal(s.aborted, moments[i] == 'b' ? 0 : 1);
        assert_int_equal(scratch_count(), 1);
        assert_file("a", "old", 3);
        tw_sink_destroy(&sinks[0]);
        tw_sink_destroy(&sinks[1]);
        close_context(ctx);
    }
    free(m.data);
}

static void a_full_disk_is_reported_by_every_format(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(20, 20, 1, TW_I32, 6);
    const char *const formats[] = {"raw", "npy", "csv"};
    for (int f = 0; f < 3; f++) {
        tw_sink sink = TW_SINK_INIT;
        assert_ok(ctx, tw_sink_to_file(ctx, &sink, "/dev/full", formats[f]));
        assert_fails(ctx, TW_ERR_IO, "No space left", tw_feed(ctx, &m, &sink, 1));
        tw_sink_destroy(&sink);
    }
    free(m.data);
    close_context(ctx);
}

static void no_memory_at_any_point_leaves_no_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(9, 9, 1, TW_F64, 7);
    const char *const names[] = {"m.raw", "m.npy", "m.csv"};
    for (int f = 0; f < 3; f++) {
        tw_status status = TW_ERR_MEMORY;
        for (int64_t k = 1; status != TW_OK; k++) {
            tw_sink sink = TW_SINK_INIT;
            twi_meter_fail_at(ctx->meter, k);
            status = tw_sink_to_file(ctx, &sink, in_scratch(names[f]), NULL);
            if (status == TW_OK) {
                status = tw_feed(ctx, &m, &sink, 1);
            }
            tw_sink_destroy(&sink);
            assert_true(status == TW_OK || status == TW_ERR_MEMORY);
            assert_int_equal(scratch_count(), status == TW_OK ? 1 : 0);
        }
        status = TW_ERR_MEMORY;
        for (int64_t k = 1; status != TW_OK; k++) {
            tw_matrix_file *file = NULL;
            twi_meter_fail_at(ctx->meter, k);
            status = tw_matrix_file_create(ctx, &file, in_scratch(names[f]), NULL, TW_F64);
            assert_true(status == TW_OK || status == TW_ERR_MEMORY);
            tw_matrix_file_destroy(file);
        }
        twi_meter_fail_at(ctx->meter, 0);
        unlink(in_scratch(names[f]));
    }
    free(m.data);
    close_context(ctx);
}

static char *contents(const char *name, size_t *bytes)
{
    struct stat found;
    assert_int_equal(stat(in_scratch(name), &found), 0);
    char *data = malloc((size_t)found.st_size + 1);
    FILE *file = fopen(in_scratch(name), "rb");
    assert_non_null(file);
    *bytes = fread(data, 1, (size_t)found.st_size + 1, file);
    fclose(file);
    return data;
}

/* What is short is to show before the work whose rows come here. */
static void a_file_that_was_begun_needs_no_more_memory(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(70, 90, 5, TW_F64, 8);
    const tw_shape shape = {m.rows, m.cols, m.type};
    const char *const formats[] = {"raw", "npy", "csv"};
    for (int f = 0; f < 3; f++) {
        tw_sink sink = TW_SINK_INIT;
        size_t bytes = 0;
        feed_file(ctx, &m, "plenty", formats[f]);
        char *data = contents("plenty", &bytes);
        assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch("scarce"), formats[f]));
        assert_ok(ctx, sink.begin(sink.self, ctx, &shape));
        assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx)));
        assert_ok(ctx, sink.rows(sink.self, ctx, 0, 30, m.data, m.stride));
        assert_ok(ctx,
                  sink.rows(sink.self, ctx, 30, 40, (double *)m.data + 30 * m.stride, m.stride));
        assert_ok(ctx, sink.end(sink.self, ctx));
        assert_ok(ctx, tw_set_memory(ctx, 0));
        tw_sink_destroy(&sink);
        assert_file("scarce", data, bytes);
        assert_file("plenty", data, bytes);
        free(data);
    }
    free(m.data);
    close_context(ctx);
}

static void a_sink_that_scales_keeps_nothing_of_a_run_that_did_not_begin(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    float row[1000] = {0};
    uint8_t byte = 0;
    tw_matrix rows = {row, 10, 100, 100, TW_F32};
    tw_matrix other = {&byte, 1, 1, 1, TW_U8}; /* whose begin fails */
    tw_sink inner = TW_SINK_INIT;
    tw_sink scaled = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &inner, &other));
    assert_ok(ctx, tw_sink_scaled(ctx, &scaled, &inner, TW_U8, 1));
    const uint64_t before = tw_memory_used(ctx);
    assert_int_equal(tw_feed(ctx, &rows, &scaled, 1), TW_ERR_ARGUMENT);
    assert_int_equal(tw_memory_used(ctx), before);
    tw_sink_destroy(&scaled);
    tw_sink_destroy(&inner);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_sink_copies_rows_at_any_stride),
        cmocka_unit_test(a_matrix_of_another_shape_or_type_is_refused),
        cmocka_unit_test(rows_out_of_turn_are_refused),
        cmocka_unit_test(every_format_gives_back_what_it_was_given),
        cmocka_unit_test(raw_is_the_elements_and_npy_the_documented_header),
        cmocka_unit_test(csv_has_whole_numbers_inf_and_the_shortest_decimals),
        cmocka_unit_test(every_number_reads_back_as_itself),
        cmocka_unit_test(the_program_s_locale_changes_nothing),
        cmocka_unit_test(a_csv_file_is_read_with_blanks_and_either_line_end),
        cmocka_unit_test(integers_of_eight_bytes_are_read_as_f64),
        cmocka_unit_test(a_malformed_file_is_refused_with_the_place),
        cmocka_unit_test(an_npy_header_of_odd_length_is_still_read),
        cmocka_unit_test(what_cannot_be_opened_is_named),
        cmocka_unit_test(a_failed_or_cancelled_feed_leaves_the_old_file),
        cmocka_unit_test(a_full_disk_is_reported_by_every_format),
        cmocka_unit_test(no_memory_at_any_point_leaves_no_file),
        cmocka_unit_test(a_file_that_was_begun_needs_no_more_memory),
        cmocka_unit_test(a_sink_that_scales_keeps_nothing_of_a_run_that_did_not_begin),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

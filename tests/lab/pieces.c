/* How arrays are divided over devices that know nothing of each other: each piece is computed here
 * from a copy of its own elements and into an output of its own, as a card does it. And the
 * versions on a CPU, for every window. */
#include "harness.h"

#include "ladders/entropy/array.h"
#include "ladders/entropy/versions.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

#define HALF LAB_ENTROPY_HALF

static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 64};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_PARTS = 6 };

static void bands_cover_a_line_once_and_carry_what_their_windows_need(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        for (int32_t count = 1; count <= MOST_PARTS; count++) {
            int64_t next = 0;
            for (int32_t g = 0; g < count; g++) {
                lab_band band = lab_band_of(sizes[s], HALF, count, g);
                assert_int_equal(band.first, next);
                next = band.end;
                if (band.first == band.end) {
                    assert_int_equal(band.from, band.to);
                    continue;
                }
                assert_true(band.end > band.first);
                assert_int_equal(band.from, band.first < HALF ? 0 : band.first - HALF);
                assert_int_equal(band.to, band.end + HALF > sizes[s] ? sizes[s] : band.end + HALF);
            }
            assert_int_equal(next, sizes[s]);
        }
    }
}

static void a_long_line_is_divided_evenly(void **state)
{
    (void)state;
    for (int32_t g = 0; g < 7; g++) {
        lab_band band = lab_band_of(134217728, HALF, 7, g);
        int64_t outputs = band.end - band.first;
        assert_true(outputs == 134217728 / 7 || outputs == 134217728 / 7 + 1);
    }
}

/* What a device does with a piece: elements in memory of just their size, outputs likewise. */
static void carry(tw_context *ctx, const lab_entropy_piece *host)
{
    uint8_t *in = NULL;
    float *out = NULL;
    size_t width = (size_t)host->in_cols, line = (size_t)host->cols * sizeof *out;
    if (host->rows == 0 || host->cols == 0) {
        return;
    }
    assert_ok(ctx, twi_alloc(ctx, &in, (uint64_t)host->in_rows, width, "elements"));
    assert_ok(ctx, twi_alloc(ctx, &out, (uint64_t)host->rows, line, "outputs"));
    for (int32_t y = 0; y < host->in_rows; y++) {
        memcpy(in + (size_t)y * width, host->in + y * host->in_stride, width);
    }
    lab_entropy_piece there = *host;
    there.in = in;
    there.in_stride = host->in_cols;
    there.out = out;
    there.out_stride = host->cols;
    lab_entropy_solve(ctx, &there, 1);
    for (int32_t y = 0; y < host->rows; y++) {
        memcpy(host->out + y * host->out_stride, out + (size_t)y * (size_t)host->cols, line);
    }
    twi_free(out);
    twi_free(in);
}

static void must_be_right(const lab_entropy_array *array)
{
    assert_memory_equal(array->output, array->right,
                        (size_t)(array->rows * array->cols) * sizeof *array->right);
}

static void divide(tw_context *ctx, lab_entropy_array *array, int32_t down, int32_t across)
{
    lab_entropy_array_spoil(array);
    for (int32_t i = 0; i < down; i++) {
        for (int32_t j = 0; j < across; j++) {
            lab_entropy_piece piece =
                lab_entropy_piece_of(array, lab_band_of(array->rows, HALF, down, i),
                                     lab_band_of(array->cols, HALF, across, j));
            carry(ctx, &piece);
        }
    }
    must_be_right(array);
}

static void pieces_make_the_bits_of_the_whole(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int r = 0; r < SIZES; r++) {
        for (int c = 0; c < SIZES; c++) {
            lab_entropy_array array;
            assert_ok(ctx, lab_entropy_array_make(&array, ctx, sizes[r], sizes[c], 3));
            for (int32_t count = 1; count <= MOST_PARTS; count++) {
                divide(ctx, &array, count, 1);
                divide(ctx, &array, 1, count);
            }
            divide(ctx, &array, 2, 3);
            lab_entropy_array_free(&array);
        }
    }
    close_context(ctx);
}

static void rows_taken_from_both_ends_meet_without_a_gap(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    lab_entropy_array array;
    lab_rest rest = {PTHREAD_MUTEX_INITIALIZER, 0, 31};
    int64_t first, end;
    bool more = true;
    assert_ok(ctx, lab_entropy_array_make(&array, ctx, 31, 9, 4));
    lab_entropy_array_spoil(&array);
    const lab_band cols = lab_band_of(array.cols, HALF, 1, 0);
    for (int turn = 0; more; turn++) {
        more = turn % 3 == 0 ? lab_take_last(&rest, 1, &first, &end)
                             : lab_take_first(&rest, 4, &first, &end);
        lab_entropy_piece piece =
            lab_entropy_piece_of(&array, lab_band_around(first, end, array.rows, HALF), cols);
        carry(ctx, &piece);
    }
    must_be_right(&array);
    assert_false(lab_take_last(&rest, 1, &first, &end));
    assert_false(lab_take_first(&rest, 1, &first, &end));
    lab_entropy_array_free(&array);
    close_context(ctx);
}

typedef struct taker {
    lab_rest *rest;
    int8_t *taken; /* times, of each row */
    bool from_the_end;
} taker;

static void *take_all(void *given)
{
    const taker *t = given;
    int64_t first, end;
    while (t->from_the_end ? lab_take_last(t->rest, 2, &first, &end)
                           : lab_take_first(t->rest, 5, &first, &end)) {
        for (int64_t i = first; i < end; i++) {
            t->taken[i]++;
        }
    }
    return NULL;
}

static void threads_take_every_row_once(void **state)
{
    (void)state;
    enum { ROWS = 10007, THREADS = 4 };
    static int8_t taken[ROWS];
    lab_rest rest = {PTHREAD_MUTEX_INITIALIZER, 0, ROWS};
    pthread_t threads[THREADS];
    taker takers[THREADS];
    memset(taken, 0, sizeof taken);
    for (int t = 0; t < THREADS; t++) {
        takers[t] = (taker){&rest, taken, t == 0};
        assert_int_equal(pthread_create(&threads[t], NULL, take_all, &takers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    }
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(taken[i], 1);
    }
}

static void failing_memory_is_told_and_given_back(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    lab_entropy_array array;
    tw_status status = TW_ERR_MEMORY;
    for (int64_t k = 1; status != TW_OK; k++) {
        twi_meter_fail_at(ctx->meter, k);
        status = lab_entropy_array_make(&array, ctx, 7, 5, 1);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        lab_entropy_array_free(&array);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}

static void a_wrong_output_is_named(void **state)
{
    (void)state;
    const lab_rung rung = {.name = "v14"};
    tw_context *ctx = open_context();
    lab_entropy_array array;
    assert_ok(ctx, lab_entropy_array_make(&array, ctx, 4, 9, 2));
    divide(ctx, &array, 2, 1);
    assert_ok(ctx, lab_entropy_array_check(ctx, &array, &rung));
    array.output[2 * 9 + 7] += 1e-3F;
    assert_fails(ctx, TW_ERR_VERIFY, "rung v14 is wrong: row 2, column 7",
                 lab_entropy_array_check(ctx, &array, &rung));
    lab_entropy_array_spoil(&array);
    assert_fails(ctx, TW_ERR_VERIFY, "row 0, column 0 is",
                 lab_entropy_array_check(ctx, &array, &rung));
    lab_entropy_array_free(&array);
    close_context(ctx);
}

/* By the definition: every element of the array asks itself whether it is in the window. */
static double entropy_at(const lab_entropy_task *task, int64_t y, int64_t x)
{
    double counts[LAB_ENTROPY_LEVELS] = {0}, total = 0, sum = 0;
    const int64_t before = task->window / 2, after = task->window - 1 - before;
    for (int64_t i = 0; i < task->n * task->n; i++) {
        const int64_t down = i / task->n - y, right = i % task->n - x;
        const bool inside = down >= -before && down <= after && right >= -before && right <= after;
        counts[task->input[i]] += inside;
        total += inside;
    }
    for (int level = 0; level < LAB_ENTROPY_LEVELS; level++) {
        sum -= counts[level] > 0 ? counts[level] / total * log(counts[level] / total) : 0;
    }
    return sum;
}

static void every_version_is_right_for_every_window(void **state)
{
    (void)state;
    enum { SIDE = 34 };
    const lab_entropy_version *const versions[] = {&lab_entropy_logarithms, &lab_entropy_table,
                                                   &lab_entropy_counted,    &lab_entropy_integral,
                                                   &lab_entropy_sliding,    NULL};
    const int64_t sides[] = {1, 2, 5, SIDE};
    const uint64_t seed = 12;
    uint8_t input[SIDE * SIDE];
    float output[SIDE * SIDE];
    double right[SIDE * SIDE];
    tw_context *ctx = open_context();
    for (int i = 0; i < SIDE * SIDE; i++) {
        input[i] = (uint8_t)(twi_random_at(seed, (uint64_t)i) % LAB_ENTROPY_LEVELS);
    }
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        lab_entropy_task task = {.ctx = ctx, .n = sides[s], .input = input, .output = output};
        for (task.window = 1; task.window <= LAB_ENTROPY_LARGEST; task.window++) {
            for (int64_t i = 0; i < task.n * task.n; i++) {
                right[i] = entropy_at(&task, i / task.n, i % task.n);
            }
            for (int v = 0; versions[v] != NULL; v++) {
                lab_time time;
                memset(output, 0xFF, sizeof output); /* NaN */
                assert_ok(ctx, lab_entropy_run(&task, versions[v], &time));
                for (int64_t i = 0; i < task.n * task.n; i++) {
                    assert_true(fabs((double)output[i] - right[i]) <= 2e-6);
                }
            }
        }
        twi_free(task.integrals);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_cover_a_line_once_and_carry_what_their_windows_need),
        cmocka_unit_test(a_long_line_is_divided_evenly),
        cmocka_unit_test(pieces_make_the_bits_of_the_whole),
        cmocka_unit_test(rows_taken_from_both_ends_meet_without_a_gap),
        cmocka_unit_test(threads_take_every_row_once),
        cmocka_unit_test(failing_memory_is_told_and_given_back),
        cmocka_unit_test(a_wrong_output_is_named),
        cmocka_unit_test(every_version_is_right_for_every_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Summaries: against counting by hand, for every type, cut into blocks in every way. */
#include "unit/elements.h"

#include "apsp/shared/distance.h"
#include "base/matrix.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random values in [low, high], a quarter without a path, 0 on the diagonal. */
static tw_matrix random_matrix(int64_t rows, int64_t cols, tw_type type, double low, double high)
{
    tw_matrix m = {malloc((size_t)(rows * (cols + 2) + 1) * 8), rows, cols, cols + 2, type};
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            uint64_t random = twi_random_at(21, (uint64_t)(i * cols + j));
            double value = low + twi_random_unit(random) * (high - low);
            value = type == TW_F32 || type == TW_F64 ? value : floor(value);
            put(&m, i, j, i == j ? 0 : random % 4 == 0 ? tw_apsp_infinity(type) : value);
        }
    }
    return m;
}

/* Feed rows in blocks of the given height. */
static void feed(tw_context *ctx, tw_apsp_summary *summary, const tw_matrix *m, int64_t block)
{
    tw_sink s = TW_SINK_INIT;
    tw_shape shape = {m->rows, m->cols, m->type};
    assert_int_equal(tw_apsp_summary_sink(summary, &s), TW_OK);
    assert_ok(ctx, s.begin(s.self, ctx, &shape));
    for (int64_t i = 0; i < m->rows; i += block) {
        int64_t count = m->rows - i < block ? m->rows - i : block;
        assert_ok(ctx, s.rows(s.self, ctx, i, count, twi_matrix_row(m, i), m->stride));
    }
    assert_ok(ctx, s.end(s.self, ctx));
}

/* Count what the histogram must say for its own edges. */
static void assert_histogram(const tw_apsp_summary *summary, const tw_matrix *m,
                             const int32_t *sources, const int32_t *targets, int64_t reachable)
{
    const double *edges = NULL;
    const int64_t *counts = NULL;
    int64_t total = 0;
    int32_t bins = tw_apsp_summary_histogram(summary, &edges, &counts);
    for (int32_t b = 0; b < bins; b++) {
        int64_t expected = 0;
        assert_true(edges[b] < edges[b + 1] || bins == 1);
        for (int64_t i = 0; i < m->rows; i++) {
            for (int64_t j = 0; j < m->cols; j++) {
                double value = twi_distance(twi_matrix_row(m, i), m->type, j);
                bool own = (sources != NULL ? sources[i] : i) == (targets != NULL ? targets[j] : j);
                bool below = value < edges[b + 1] || (b + 1 == bins && value == edges[b + 1]);
                expected += !own && value >= edges[b] && below ? 1 : 0;
            }
        }
        assert_int_equal(counts[b], expected);
        total += counts[b];
    }
    assert_int_equal(total, reachable);
}

/* Everything again, by the book. */
static void assert_summary(const tw_apsp_summary *summary, const tw_matrix *m,
                           const int32_t *sources, const int32_t *targets)
{
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    double most = -(double)INFINITY;
    double least = (double)INFINITY;
    double radius = (double)INFINITY;
    double sum = 0;
    int64_t reachable = 0;
    int64_t unreachable = 0;
    assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
    for (int64_t i = 0; i < m->rows; i++) {
        double row_most = -(double)INFINITY;
        double row_sum = 0;
        double inverse = 0;
        int64_t reached = 0;
        int64_t others = 0;
        for (int64_t j = 0; j < m->cols; j++) {
            double value = twi_distance(twi_matrix_row(m, i), m->type, j);
            if ((sources != NULL ? sources[i] : i) == (targets != NULL ? targets[j] : j)) {
                continue;
            }
            others++;
            if (!isinf(value)) {
                reached++;
                row_sum += value;
                inverse += value != 0 ? 1 / value : 0;
                row_most = fmax(row_most, value);
                least = fmin(least, value);
            }
        }
        reachable += reached;
        unreachable += others - reached;
        sum += row_sum;
        most = fmax(most, row_most);
        radius = reached > 0 ? fmin(radius, row_most) : radius;
        assert_true(tw_apsp_summary_eccentricity(summary)[i] == (reached > 0 ? row_most : 0));
        double of_row = tw_apsp_summary_sum(summary)[i];
        assert_true(of_row == row_sum || fabs(of_row - row_sum) <= 1e-12 * fabs(row_sum));
        assert_int_equal(tw_apsp_summary_reached(summary)[i], reached);
        double harmonic = tw_apsp_summary_harmonic(summary)[i];
        assert_true(harmonic == inverse || fabs(harmonic - inverse) <= 1e-9 * (1 + fabs(inverse)));
        double close =
            row_sum > 0 ? (double)reached / row_sum * ((double)reached / (double)others) : 0;
        double given = tw_apsp_summary_closeness(summary)[i];
        assert_true(given == close || fabs(given - close) <= 1e-12 * fabs(close));
    }
    assert_int_equal(info.reachable, reachable);
    assert_int_equal(info.unreachable, unreachable);
    if (reachable > 0) {
        assert_true(info.diameter == most && info.minimum == least && info.radius == radius);
        assert_true(fabs(info.mean - sum / (double)reachable) <= 1e-9 * (1 + fabs(info.mean)));
        assert_true(twi_element(twi_matrix_row(m, info.diameter_from), m->type, info.diameter_to) ==
                    most);
        assert_true(tw_apsp_summary_eccentricity(summary)[info.center] == radius);
    } else {
        assert_true(info.diameter == 0 && info.radius == 0 && info.mean == 0 && info.minimum == 0);
        assert_true(info.diameter_from == -1 && info.diameter_to == -1 && info.center == -1);
    }
    assert_histogram(summary, m, sources, targets, reachable);
}

static const struct {
    tw_type type;
    double low, high;
} ranges[] = {
    {TW_U8, 0, 200},   {TW_U16, 0, 65000}, {TW_I16, 0, 30},    {TW_I16, -300, 300},
    {TW_I32, 0, 9},    {TW_I32, 0, 70000}, {TW_I32, 0, 1e9},   {TW_I32, -2000000, 5},
    {TW_I32, -50, -3}, {TW_F32, 0, 1},     {TW_F32, 0, 1e30},  {TW_F64, 0, 1e-300},
    {TW_F64, 0, 1000}, {TW_F64, -1, 1e6},  {TW_F64, 0, 1e300}, {TW_F64, 0, 1e-320},
    {TW_F64, 0, 0},    {TW_I32, 0, 0},
};
#define RANGES ((int)(sizeof ranges / sizeof *ranges))

static void every_type_and_range_is_summed_up_right(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {0, 1, 2, 3, 50};
    const int32_t bins[] = {0, 1, 7, 100};
    for (int r = 0; r < RANGES; r++) {
        for (int s = 0; s < 5; s++) {
            tw_matrix m =
                random_matrix(sizes[s], sizes[s], ranges[r].type, ranges[r].low, ranges[r].high);
            for (int b = 0; b < 4; b++) {
                tw_apsp_summary *summary = NULL;
                if (emulated_sizes_only() && b != (r + s) % 4) {
                    continue;
                }
                assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, bins[b], NULL, NULL));
                assert_ok(ctx, tw_apsp_summary_set_harmonic(ctx, summary, 1));
                feed(ctx, summary, &m, 7);
                if (bins[b] > 0) {
                    assert_summary(summary, &m, NULL, NULL);
                }
                tw_apsp_summary_destroy(summary);
            }
            free(m.data);
        }
    }
    close_context(ctx);
}

static void threads_and_blocks_do_not_change_a_bit(void **state)
{
    (void)state;
    for (int r = 0; r < RANGES; r++) {
        tw_matrix m = random_matrix(61, 61, ranges[r].type, ranges[r].low, ranges[r].high);
        tw_apsp_summary_info first = TW_APSP_SUMMARY_INFO_INIT;
        double first_edges[21];
        int64_t first_counts[20];
        int32_t first_bins = -1;
        for (int way = 0; way < 6; way++) {
            tw_context *ctx = open_context();
            tw_apsp_summary *summary = NULL;
            tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
            const double *edges = NULL;
            const int64_t *counts = NULL;
            assert_ok(ctx, tw_set_threads(ctx, 1 + way % 3));
            assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 20, NULL, NULL));
            feed(ctx, summary, &m, way < 3 ? 1 : 30);
            memset(&info, 0, sizeof info);
            info.size = sizeof info;
            assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
            int32_t bins = tw_apsp_summary_histogram(summary, &edges, &counts);
            if (way == 0) {
                first = info;
                first_bins = bins;
                memcpy(first_edges, edges, (size_t)(bins + 1) * sizeof *edges);
                memcpy(first_counts, counts, (size_t)bins * sizeof *counts);
            }
            assert_true(info.mean == first.mean && info.diameter_to == first.diameter_to &&
                        info.center == first.center);
            assert_int_equal(bins, first_bins);
            assert_memory_equal(edges, first_edges, (size_t)(bins + 1) * sizeof *edges);
            assert_memory_equal(counts, first_counts, (size_t)bins * sizeof *counts);
            tw_apsp_summary_destroy(summary);
            close_context(ctx);
        }
        free(m.data);
    }
}

static void few_whole_values_have_a_bin_each(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t data[9] = {0, 2, 3, 1, 0, 2, TW_APSP_INF_I32, 2, 0};
    tw_matrix m = {data, 3, 3, 3, TW_I32};
    tw_apsp_summary *summary = NULL;
    const double *edges = NULL;
    const int64_t *counts = NULL;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 10, NULL, NULL));
    feed(ctx, summary, &m, 3);
    assert_int_equal(tw_apsp_summary_histogram(summary, &edges, &counts), 4);
    assert_memory_equal(edges, ((double[]){0, 1, 2, 3, 4}), 5 * sizeof(double));
    assert_memory_equal(counts, ((int64_t[]){0, 1, 3, 1}), 4 * sizeof(int64_t));
    tw_apsp_summary_destroy(summary);
    close_context(ctx);
}

static void closeness_is_scaled_as_asked(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double none = (double)INFINITY;
    double data[9] = {0, 2, none, 1, 0, 3, none, none, 0};
    tw_matrix m = {data, 3, 3, 3, TW_F64};
    tw_apsp_summary *summary = NULL;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
    feed(ctx, summary, &m, 2);
    assert_memory_equal(tw_apsp_summary_closeness(summary), ((double[]){0.25, 0.5, 0}),
                        3 * sizeof(double));
    assert_ok(ctx, tw_apsp_summary_set_closeness(ctx, summary, TW_APSP_CLOSENESS_IGRAPH));
    feed(ctx, summary, &m, 2);
    assert_memory_equal(tw_apsp_summary_closeness(summary), ((double[]){0.5, 0.5}),
                        2 * sizeof(double));
    assert_true(isnan(tw_apsp_summary_closeness(summary)[2]));
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown closeness 7",
                 tw_apsp_summary_set_closeness(ctx, summary, 7));
    tw_apsp_summary_destroy(summary);
    close_context(ctx);
}

static void equal_widths_end_at_the_diameter_for_whole_numbers(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t data[4] = {0, 1000, 600, 0};
    tw_matrix m = {data, 2, 2, 2, TW_I32};
    tw_apsp_summary *summary = NULL;
    const double *edges = NULL;
    const int64_t *counts = NULL;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 5, NULL, NULL));
    feed(ctx, summary, &m, 1);
    assert_int_equal(tw_apsp_summary_histogram(summary, &edges, &counts), 5);
    assert_memory_equal(edges, ((double[]){0, 200, 400, 600, 800, 1000}), 6 * sizeof(double));
    assert_memory_equal(counts, ((int64_t[]){0, 0, 0, 1, 1}), 5 * sizeof(int64_t));
    tw_apsp_summary_destroy(summary);
    close_context(ctx);
}

static void the_own_vertex_is_skipped_wherever_it_stands(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t sources[4] = {5, 0, 2, 5};
    const int32_t targets[6] = {5, 5, 1, 2, 9, 0};
    for (int way = 0; way < 4; way++) {
        const int32_t *s = way & 1 ? sources : NULL;
        const int32_t *t = way & 2 ? targets : NULL;
        tw_matrix m = random_matrix(4, 6, TW_I32, 1, 40);
        tw_apsp_summary *summary = NULL;
        assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 8, s, t));
        assert_ok(ctx, tw_apsp_summary_set_harmonic(ctx, summary, 1));
        feed(ctx, summary, &m, 3);
        assert_summary(summary, &m, s, t);
        tw_apsp_summary_destroy(summary);
        free(m.data);
    }
    close_context(ctx);
}

static void not_a_number_counts_as_no_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    double data[4] = {0, (double)NAN, -(double)INFINITY, 0};
    tw_matrix m = {data, 2, 2, 2, TW_F64};
    tw_apsp_summary *summary = NULL;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 8, NULL, NULL));
    feed(ctx, summary, &m, 2);
    assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
    assert_int_equal(info.unreachable, 2);
    tw_apsp_summary_destroy(summary);
    close_context(ctx);
}

static void a_summary_starts_afresh_and_forgets_when_aborted(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(20, 20, TW_I32, 0, 100);
    tw_apsp_summary *summary = NULL;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    tw_sink sink = TW_SINK_INIT;
    assert_fails(ctx, TW_ERR_ARGUMENT, "-1 bins",
                 tw_apsp_summary_create(ctx, &summary, -1, NULL, NULL));
    assert_null(summary);
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 8, NULL, NULL));
    assert_ok(ctx, tw_apsp_summary_set_harmonic(ctx, summary, 1));
    feed(ctx, summary, &m, 4);
    assert_int_equal(tw_apsp_summary_sink(summary, &sink), TW_OK);
    assert_ok(ctx, tw_feed(ctx, &m, &sink, 1));
    assert_summary(summary, &m, NULL, NULL);
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", tw_feed(ctx, &m, &sink, 1));
    tw_clear_cancel(ctx);
    assert_int_equal(tw_apsp_summary_describe(summary, &info), TW_OK);
    assert_int_equal(info.reachable, 0);
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    tw_apsp_summary_destroy(NULL);
    free(m.data);
    close_context(ctx);
}

static void no_memory_at_any_point_is_reported(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(5, 5, TW_I32, 0, 100);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t k = 1; status != TW_OK; k++) {
        tw_apsp_summary *summary = NULL;
        tw_sink sink = TW_SINK_INIT;
        twi_meter_fail_at(ctx->meter, k);
        status = tw_apsp_summary_create(ctx, &summary, 8, NULL, NULL);
        if (status == TW_OK) {
            assert_int_equal(tw_apsp_summary_sink(summary, &sink), TW_OK);
            status = tw_feed(ctx, &m, &sink, 1);
        }
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        tw_apsp_summary_destroy(summary);
    }
    twi_meter_fail_at(ctx->meter, 0);
    free(m.data);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_range_is_summed_up_right),
        cmocka_unit_test(threads_and_blocks_do_not_change_a_bit),
        cmocka_unit_test(few_whole_values_have_a_bin_each),
        cmocka_unit_test(closeness_is_scaled_as_asked),
        cmocka_unit_test(equal_widths_end_at_the_diameter_for_whole_numbers),
        cmocka_unit_test(the_own_vertex_is_skipped_wherever_it_stands),
        cmocka_unit_test(not_a_number_counts_as_no_path),
        cmocka_unit_test(a_summary_starts_afresh_and_forgets_when_aborted),
        cmocka_unit_test(no_memory_at_any_point_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

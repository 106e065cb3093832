/*
 * A check of a finished map that shares nothing with the evaluators but the parsed tree: elements
 * are recomputed by interval arithmetic (interval.h) and must lie inside. It is a sink, so rows are
 * checked as they pass. Of inputs that are not in memory it reads the rows that it needs by itself,
 * so that what the evaluator was given is checked, too.
 *
 * What the compiler may do in one way or another is accepted in both: a remainder of an index is
 * exact in whole numbers or computed in the compute type.
 */
#include "map/gpu/source.h"
#include "map/interval.h"
#include "map/language/scalar.h"
#include "map/language/tree.h"
#include "map/map.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sink.h"
#include "base/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tw_map_verifier {
    const tw_expr *expr;
    tw_map_plan *plan;                /* for its setting and shapes */
    tw_matrix inputs[TWI_MAP_INPUTS]; /* of one from a source: the current row */
    tw_source sources[TWI_MAP_INPUTS];
    void *rows;      /* of the sources */
    int64_t row;     /* of the result, that they are behind; -1: none yet */
    int64_t *places; /* elements to be checked, rising; NULL: all */
    int64_t place_count;
    int64_t next;
    int64_t checked;
    twi_interval *values; /* of the nodes */
    int64_t *whole;       /* the value of an index; -1: the node is none */
    tw_status status;
    char error[256];
};

/* ---------------------------------------------------------------------------------- an element */

/* row, col and whole numbers under + and *, in whole numbers; -1 for any other node. */
static int64_t whole_value(const tw_map_verifier *v, const twi_operation *node, int64_t row,
                           int64_t col)
{
    int64_t result = -1;
    switch (node->code) {
    case TWI_OP_ROW:
        return row;
    case TWI_OP_COL:
        return col;
    case TWI_OP_CONST:
        return node->number >= 0 && node->number < 0x1p31 && node->number == floor(node->number)
                   ? (int64_t)node->number
                   : -1;
    case TWI_OP_ADD:
    case TWI_OP_MUL: {
        int64_t a = v->whole[node->args[0]], b = v->whole[node->args[1]];
        bool wrapped = node->code == TWI_OP_ADD ? __builtin_add_overflow(a, b, &result)
                                                : __builtin_mul_overflow(a, b, &result);
        return a < 0 || b < 0 || wrapped ? -1 : result;
    }
    default:
        return -1;
    }
}

static twi_interval leaf(const tw_map_verifier *v, const twi_operation *node, int64_t row,
                         int64_t col, const twi_interval *x)
{
    const twi_map_setting *s = &v->plan->setting;
    double value;
    switch (node->code) {
    case TWI_OP_INPUT: {
        const tw_matrix *in = &v->inputs[node->index];
        if (x != NULL && node->index == s->x_input) {
            return *x;
        }
        const bool first = in->rows == 1 || v->sources[node->index].rows != NULL;
        value = twi_element(twi_matrix_row(in, first ? 0 : row), in->type, in->cols == 1 ? 0 : col);
        break;
    }
    case TWI_OP_ROW:
        value = (double)row;
        break;
    case TWI_OP_COL:
        value = (double)col;
        break;
    case TWI_TREE_ROWS:
        value = (double)s->rows;
        break;
    case TWI_TREE_COLS:
        value = (double)s->cols;
        break;
    default:
        value = node->number;
        break;
    }
    return twi_interval_point(twi_scalar_round(value, s->compute));
}

/* Whether the place has no data, as a truth value, from the inputs that occur. */
static twi_interval missing_of(const tw_map_verifier *v)
{
    const twi_map_setting *s = &v->plan->setting;
    const twi_tree *tree = &v->expr->tree;
    const double mark = twi_scalar_round(s->no_data, s->compute);
    twi_interval missing = twi_interval_point(0);
    for (int32_t i = 0; i < tree->count && s->has_no_data; i++) {
        const twi_interval value = v->values[i];
        if (tree->nodes[i].code != TWI_OP_INPUT) {
            continue;
        }
        twi_interval args[3] = {value, isnan(mark) ? value : twi_interval_point(mark)};
        twi_interval here =
            isnan(mark) ? (twi_interval){value.nan && !(value.lo <= value.hi), value.nan, false}
                        : twi_interval_apply(TWI_OP_EQ, s->compute, 0, args);
        twi_interval pair[3] = {missing, here};
        missing = twi_interval_apply(TWI_OP_OR, s->compute, 0, pair);
    }
    return missing;
}

/* The result of a pass as it is stored and loaded again. */
static twi_interval stored(const tw_map_verifier *v, twi_interval r)
{
    const twi_map_setting *s = &v->plan->setting;
    const double mark = twi_scalar_round(s->no_data, s->compute);
    bool whole = s->type != TW_F32 && s->type != TW_F64;
    twi_interval args[3] = {missing_of(v), twi_interval_point(mark), r};
    if (s->has_no_data) {
        r = twi_interval_apply(TWI_OP_SELECT, s->compute, 0, args);
    }
    if (whole && r.nan) {
        bool only = !(r.lo <= r.hi);
        twi_interval instead = twi_interval_point(s->has_no_data ? mark : 0);
        r.nan = false;
        r = only ? instead : twi_interval_join(r, instead);
    }
    if (r.lo <= r.hi) {
        r.lo = twi_scalar_round(twi_scalar_stored(r.lo, s->type), s->compute);
        r.hi = twi_scalar_round(twi_scalar_stored(r.hi, s->type), s->compute);
    }
    return r;
}

static double bound_of(const tw_map_verifier *v, int code)
{
    const tw_type compute = v->plan->setting.compute;
    double bound = twi_op_ulp((twi_op)code, compute, v->plan->fast);
    return v->plan->devices.count > 0 ? fmax(bound, twi_map_gpu_ulp((twi_op)code, compute)) : bound;
}

static twi_interval one_pass(tw_map_verifier *v, int64_t row, int64_t col, const twi_interval *x)
{
    const twi_map_setting *s = &v->plan->setting;
    const twi_tree *tree = &v->expr->tree;
    for (int32_t i = 0; i < tree->count; i++) {
        const twi_operation *node = &tree->nodes[i];
        const int arity = node->code < TWI_OP_COUNT ? twi_op_arity((twi_op)node->code) : 0;
        twi_interval args[3] = {{0, 0, false}, {0, 0, false}, {0, 0, false}};
        for (int a = 0; a < arity; a++) {
            args[a] = v->values[node->args[a]];
        }
        v->whole[i] = whole_value(v, node, row, col);
        v->values[i] =
            arity == 0 ? leaf(v, node, row, col, x)
                       : twi_interval_apply(node->code, s->compute, bound_of(v, node->code), args);
        if (node->code == TWI_OP_MOD && v->whole[node->args[0]] >= 0 &&
            v->whole[node->args[1]] >= 1) {
            int64_t rest = v->whole[node->args[0]] % v->whole[node->args[1]];
            v->values[i] = twi_interval_join(
                v->values[i], twi_interval_point(twi_scalar_round((double)rest, s->compute)));
        }
    }
    return stored(v, v->values[v->expr->root]);
}

static bool check(tw_map_verifier *v, int64_t row, int64_t col, double got)
{
    twi_interval x = twi_interval_point(0);
    for (int64_t pass = 0; pass < v->plan->setting.repeat; pass++) {
        x = one_pass(v, row, col, pass > 0 ? &x : NULL);
    }
    v->checked++;
    const double loaded = twi_scalar_round(got, v->plan->setting.compute);
    if (isnan(got) ? x.nan : loaded >= x.lo && loaded <= x.hi) {
        return true;
    }
    snprintf(v->error, sizeof v->error,
             "the element in row %lld, column %lld is %.9g, but must lie between %.9g and %.9g%s",
             (long long)row, (long long)col, got, x.lo, x.hi, x.nan ? ", or be NaN" : "");
    return false;
}

/* -------------------------------------------------------------------------------------- the sink
 */

static tw_status begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_map_verifier *v = self;
    const tw_shape *wanted = &v->plan->shape;
    if (shape->rows != wanted->rows || shape->cols != wanted->cols || shape->type != wanted->type) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "the verifier was created for %lld x %lld of type %s, not %lld x %lld of type %s",
            (long long)wanted->rows, (long long)wanted->cols, tw_type_name(wanted->type),
            (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type));
    }
    v->next = v->checked = 0;
    v->row = -1;
    v->status = TW_OK;
    return TW_OK;
}

/* Read the rows of the sources behind a row of the result. */
static tw_status hold(tw_map_verifier *v, tw_context *ctx, int64_t row)
{
    tw_status status = twi_check_cancel(ctx);
    for (int32_t i = 0; i < v->plan->input_count && status == TW_OK && row != v->row; i++) {
        const tw_source *source = &v->sources[i]; /* copies of the caller's */
        const tw_matrix *in = &v->inputs[i];
        const bool once = in->rows == 1;
        if (source->rows != NULL && !(once && v->row >= 0)) {
            status = source->rows(source->self, ctx, once ? 0 : row, 1, in->data, in->stride);
        }
    }
    v->row = row;
    return status;
}

static tw_status take_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    tw_map_verifier *v = self;
    const tw_type type = v->plan->shape.type;
    const int64_t cols = v->plan->shape.cols;
    while (v->next < v->place_count && v->status == TW_OK) {
        int64_t place = v->places != NULL ? v->places[v->next] : v->next;
        int64_t row = place / cols, col = place % cols;
        if (row >= first + count) {
            break;
        }
        const void *at =
            (const char *)data + (size_t)(row - first) * (size_t)stride * tw_type_size(type);
        tw_status status = hold(v, ctx, row);
        if (status != TW_OK) {
            return status;
        }
        if (!check(v, row, col, twi_element(at, type, col))) {
            v->status = TW_ERR_VERIFY;
        }
        v->next++;
    }
    return TW_OK;
}

static void abort_check(void *self, tw_context *ctx)
{
    (void)ctx;
    ((tw_map_verifier *)self)->next = 0;
}

tw_status tw_map_verifier_sink(tw_map_verifier *verifier, tw_sink *out)
{
    const tw_status status = twi_sink_clear(NULL, out);
    if (status != TW_OK || out == NULL || verifier == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), verifier, begin, take_rows, twi_sink_ended,
                                 abort_check, NULL});
    return TW_OK;
}

/* --------------------------------------------------------------------------------------- making */

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static tw_status choose_places(tw_context *ctx, tw_map_verifier *v, int64_t samples, uint64_t seed)
{
    const int64_t elements = v->plan->shape.rows * v->plan->shape.cols;
    if (samples <= 0 || samples >= elements) {
        v->place_count = elements;
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &v->places, (uint64_t)samples, sizeof *v->places,
                                 "the elements to be checked");
    for (int64_t i = 0; i < samples && status == TW_OK; i++) {
        v->places[i] =
            (int64_t)twi_random_below(twi_random_at(seed, (uint64_t)i), (uint64_t)elements);
    }
    if (status == TW_OK) {
        qsort(v->places, (size_t)samples, sizeof *v->places, by_place);
        v->place_count = samples;
    }
    return status;
}

/* Memory for a row of each source. */
static tw_status open_rows(tw_context *ctx, tw_map_verifier *v)
{
    const int32_t count = v->plan->input_count;
    uint64_t cols = 0;
    for (int32_t i = 0; i < count; i++) {
        cols += v->sources[i].rows != NULL ? (uint64_t)v->inputs[i].cols : 0;
    }
    tw_status status = twi_alloc(ctx, &v->rows, cols, sizeof(double), "rows of the inputs");
    char *at = v->rows;
    for (int32_t i = 0; i < count && status == TW_OK; i++) {
        if (v->sources[i].rows != NULL) {
            v->inputs[i].data = at;
            at += (size_t)v->inputs[i].cols * sizeof(double);
        }
    }
    return status;
}

/* Note the inputs, in memory or from sources, and their shapes. */
static tw_status take_inputs(tw_context *ctx, tw_map_verifier *v, const tw_matrix *inputs,
                             const tw_source *sources, int32_t input_count, tw_shape *shapes)
{
    tw_status status = twi_sources_check(ctx, sources, input_count);
    for (int32_t i = 0; i < input_count && status == TW_OK; i++) {
        v->sources[i] = twi_source_at(sources, i);
        if (v->sources[i].rows != NULL) {
            shapes[i] = v->sources[i].shape;
            v->inputs[i] =
                (tw_matrix){NULL, shapes[i].rows, shapes[i].cols, shapes[i].cols, shapes[i].type};
            if (v->sources[i].in_order) {
                status =
                    tw_fail(ctx, TW_ERR_UNSUPPORTED,
                            "input %d can be read once only: to verify, read it as a whole", i + 1);
            }
            continue;
        }
        status = TWI_REQUIRE(ctx, {"inputs", inputs});
        if (status == TW_OK) {
            status = twi_matrix_check(ctx, &inputs[i], "an input");
        }
        if (status == TW_OK) {
            shapes[i] = (tw_shape){inputs[i].rows, inputs[i].cols, inputs[i].type};
            v->inputs[i] = inputs[i];
        }
    }
    return status;
}

static tw_status fill(tw_context *ctx, tw_map_verifier *v, const tw_matrix *inputs,
                      const tw_source *sources, int32_t input_count, const tw_map_options *opts)
{
    tw_shape shapes[TWI_MAP_INPUTS];
    const uint64_t nodes = (uint64_t)v->expr->tree.count;
    tw_status status = take_inputs(ctx, v, inputs, sources, input_count, shapes);
    if (status == TW_OK) {
        status =
            twi_map_plan_make(ctx, &v->plan, v->expr, shapes, input_count, opts, TWI_MAP_DIRECT);
    }
    if (status == TW_OK) {
        status = twi_map_check_inputs(ctx, v->plan, inputs, sources, input_count);
    }
    if (status == TW_OK) {
        status = open_rows(ctx, v);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &v->values, nodes, sizeof *v->values, "a verifier");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &v->whole, nodes, sizeof *v->whole, "a verifier");
    }
    return status;
}

tw_status tw_map_verifier_stream(tw_context *ctx, tw_map_verifier **out, const tw_expr *expr,
                                 const tw_matrix *inputs, const tw_source *sources,
                                 int32_t input_count, const tw_map_options *opts, int64_t samples,
                                 uint64_t seed)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"expr", expr});
    if (missing != TW_OK) {
        return missing;
    }
    if (samples < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "samples is %lld; use a number of elements, or 0 for all",
                       (long long)samples);
    }
    tw_map_verifier *v = NULL;
    if (input_count < 0 || input_count > TWI_MAP_INPUTS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d inputs; the maximum is %d", input_count,
                       TWI_MAP_INPUTS);
    }
    tw_status status = twi_alloc_zeroed(ctx, &v, 1, sizeof *v, "a verifier");
    if (status != TW_OK) {
        return status;
    }
    v->expr = expr;
    status = fill(ctx, v, inputs, sources, input_count, opts);
    if (status == TW_OK) {
        status = choose_places(ctx, v, samples, seed);
    }
    if (status != TW_OK) {
        tw_map_verifier_destroy(v);
        return status;
    }
    *out = v;
    return TW_OK;
}

tw_status tw_map_verifier_create(tw_context *ctx, tw_map_verifier **out, const tw_expr *expr,
                                 const tw_matrix *inputs, int32_t input_count,
                                 const tw_map_options *opts, int64_t samples, uint64_t seed)
{
    return tw_map_verifier_stream(ctx, out, expr, inputs, NULL, input_count, opts, samples, seed);
}

tw_status tw_map_verifier_result(tw_context *ctx, const tw_map_verifier *verifier, int64_t *checked)
{
    tw_status missing = TWI_REQUIRE(ctx, {"verifier", verifier});
    if (missing != TW_OK) {
        return missing;
    }
    if (checked != NULL) {
        *checked = verifier->checked;
    }
    return verifier->status == TW_OK
               ? TW_OK
               : tw_fail(ctx, verifier->status, "the result is wrong: %s", verifier->error);
}

void tw_map_verifier_destroy(tw_map_verifier *verifier)
{
    if (verifier != NULL) {
        tw_map_plan_destroy(verifier->plan);
        twi_free(verifier->rows);
        twi_free(verifier->whole);
        twi_free(verifier->values);
        twi_free(verifier->places);
        twi_free(verifier);
    }
}

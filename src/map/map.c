/*
 * The entry of the map wing: options and shapes are checked, types are completed, the programs are
 * made, a method is chosen, and rows go into the caller's matrix (through sinks: stream.c).
 *
 * Methods: a kernel where the context's device is a GPU; on the CPU a table where the result is a
 * function of one input of 8 or 16 bits (and of residues of row and col) and looking it up is
 * cheaper than computing it; else the evaluator.
 */
#include "map/map.h"

#include "base/clock.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/source.h"
#include "base/threads.h"
#include "base/type.h"
#include "map/cpu/cpu.h"
#include "map/language/scalar.h"
#include "map/language/specialise.h"
#include "map/plan/explain.h"
#include "map/plan/gpu.h"
#include "map/reference.h"
#include "map/table.h"

#include <math.h>
#include <string.h>

#define TABLE_USES 4        /* look-ups an entry must serve to be worth computing */
#define TABLE_COST_LARGE 20 /* additions that a look-up in a table of 65536 entries may cost */
#define MOST_SIDE                                                                   \
    ((int64_t)1 << 48) /* rows or columns of a source, so that no product overflows \
                        */
#define MOST_REPEAT ((int64_t)1 << 40)

/* --------------------------------------------------------------------------------------- checks */

static bool is_wide(tw_type type)
{
    return type == TW_I32 || type == TW_F64;
}

static tw_status check_options(tw_context *ctx, const tw_map_options *o)
{
    if (o->compute != TW_AUTO && o->compute != TW_F32 && o->compute != TW_F64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "cannot compute in %s; use f32 or f64",
                       tw_type_name(o->compute));
    }
    if (o->type != TW_AUTO && !twi_type_is_element(o->type)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "result type %s is not supported; use u8, u16, i16, i32, f32 or f64",
                       tw_type_name(o->type));
    }
    if (o->repeat < 1 || o->repeat > MOST_REPEAT) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "repeat is %lld; use 1 to 2^40", (long long)o->repeat);
    }
    return TW_OK;
}

/* One size of all inputs, those of 1 left aside. */
static tw_status common_size(tw_context *ctx, const tw_shape *inputs, int32_t count, bool rows,
                             int64_t *out)
{
    int32_t first = -1;
    *out = 1;
    for (int32_t i = 0; i < count; i++) {
        int64_t size = rows ? inputs[i].rows : inputs[i].cols;
        if (size < 0 || !twi_type_is_element(inputs[i].type)) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "input %d is not an array of u8, u16, i16, i32, f32 or f64", i + 1);
        }
        if (size == 1) {
            continue;
        }
        if (first >= 0 && size != *out) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "input %d has %lld %s, input %d has %lld: they must be equal, or 1",
                           first + 1, (long long)*out, rows ? "rows" : "columns", i + 1,
                           (long long)size);
        }
        first = first < 0 ? i : first;
        *out = size;
    }
    return TW_OK;
}

static tw_status check_shapes(tw_context *ctx, tw_map_plan *plan, const tw_expr *expr,
                              const tw_shape *inputs, int32_t count)
{
    if (count != expr->input_count || count < 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the expression has %d input%s; got %d%s",
                       expr->input_count, expr->input_count == 1 ? "" : "s", count,
                       count < 1 ? ": at least one is needed, for the shape" : "");
    }
    memcpy(plan->inputs, inputs, (size_t)count * sizeof *inputs);
    plan->input_count = count;
    tw_status status = common_size(ctx, inputs, count, true, &plan->shape.rows);
    if (status == TW_OK) {
        status = common_size(ctx, inputs, count, false, &plan->shape.cols);
    }
    return status;
}

static tw_status check_no_data(tw_context *ctx, const twi_map_setting *s)
{
    bool whole = s->type != TW_F32 && s->type != TW_F64;
    if (s->has_no_data && whole &&
        (isnan(s->no_data) || twi_scalar_stored(s->no_data, s->type) != s->no_data)) {
        return tw_fail(ctx, TW_ERR_RANGE, "the no-data value %.15g does not fit the result type %s",
                       s->no_data, tw_type_name(s->type));
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------------- the plan */

static int32_t find_x(const tw_expr *expr)
{
    for (int32_t i = 0; i < expr->input_count; i++) {
        if (strcmp(twi_expr_input_name(expr, i), "x") == 0) {
            return i;
        }
    }
    return 0;
}

static void complete(tw_map_plan *plan, const tw_expr *expr, const tw_map_options *o)
{
    twi_map_setting *s = &plan->setting;
    bool wide = o->type != TW_AUTO && is_wide(o->type);
    for (int32_t i = 0; i < plan->input_count; i++) {
        const tw_shape *in = &plan->inputs[i];
        wide = wide || is_wide(in->type);
        s->depends[i] =
            (uint8_t)((in->rows != 1 ? TWI_ON_ROW : 0) | (in->cols != 1 ? TWI_ON_COL : 0));
    }
    s->compute = o->compute != TW_AUTO ? o->compute : wide ? TW_F64 : TW_F32;
    s->type = o->type != TW_AUTO ? o->type : s->compute;
    s->rows = plan->shape.rows;
    s->cols = plan->shape.cols;
    s->repeat = o->repeat;
    s->x_input = find_x(expr);
    s->has_no_data = o->no_data != NULL;
    s->no_data = o->no_data != NULL ? *o->no_data : 0;
    plan->shape.type = s->type;
    plan->fast = o->fast != 0;
}

/* Whether a table is cheaper than computing. */
static bool table_pays(const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    const int32_t input = twi_map_table_input(plan);
    if (input < 0) {
        return false;
    }
    const bool small = plan->inputs[input].type == TW_U8;
    const double entries = small ? 256 : 65536;
    double cost = 0;
    for (int32_t i = 0; i < v->program_count; i++) {
        cost = v->programs[i].cost > cost ? v->programs[i].cost : cost;
    }
    return (double)plan->shape.rows * (double)plan->shape.cols >=
               TABLE_USES * entries * v->program_count &&
           (small || cost * (double)plan->setting.repeat > TABLE_COST_LARGE);
}

/* The kernel of a plan: made from the shapes alone, compiled when a device first runs it. */
static tw_status make_kernel(tw_context *ctx, tw_map_plan *plan)
{
    tw_matrix inputs[TWI_MAP_INPUTS];
    for (int32_t i = 0; i < plan->input_count; i++) {
        const tw_shape *in = &plan->inputs[i];
        inputs[i] = (tw_matrix){NULL, in->rows, in->cols, in->cols, in->type};
    }
    const twi_map_job job =
        twi_map_job_of(plan, 0, plan->shape.rows, inputs, NULL, plan->shape.cols);
    return twi_map_gpu_create(ctx, &plan->gpu, &job);
}

/* With "auto": number 0, where that pays. */
static tw_status choose_automatically(tw_context *ctx, tw_map_plan *plan)
{
    const twi_map_gpu_estimate estimate = twi_map_gpu_weigh(ctx, plan);
    plan->gpu_ran = estimate.runs;
    if (!estimate.pays) {
        return TW_OK;
    }
    tw_status status = make_kernel(ctx, plan);
    if (status == TW_OK && !estimate.pays_compiler && !twi_map_gpu_is_kept(ctx, plan->gpu, 0)) {
        twi_map_gpu_destroy(plan->gpu);
        plan->gpu = NULL;
        return TW_OK;
    }
    plan->devices.count = 1;
    return status;
}

static tw_status choose_method(tw_context *ctx, tw_map_plan *plan, twi_map_method method)
{
    tw_status status = twi_gpu_select(ctx, &plan->devices);
    if (status != TW_OK) {
        return status;
    }
    if (plan->devices.count == 0 && method == TWI_MAP_AUTO) {
        status = choose_automatically(ctx, plan);
    }
    plan->method = method != TWI_MAP_AUTO    ? method
                   : plan->devices.count > 0 ? TWI_MAP_GPU
                   : table_pays(plan)        ? TWI_MAP_TABLE
                                             : TWI_MAP_DIRECT;
    if (status != TW_OK) {
        return status;
    }
    if (plan->method == TWI_MAP_GPU) {
        return plan->gpu != NULL ? TW_OK : make_kernel(ctx, plan);
    }
    if (plan->method != TWI_MAP_TABLE) {
        return TW_OK;
    }
    if (twi_map_table_input(plan) < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a table needs an expression of one input of u8 or u16 alone");
    }
    return twi_map_table_make(ctx, plan);
}

tw_status twi_map_plan_make(tw_context *ctx, tw_map_plan **out, const tw_expr *expr,
                            const tw_shape *inputs, int32_t input_count,
                            const tw_map_options *given, twi_map_method method)
{
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_map_plan *plan = NULL;
    *out = NULL;
    tw_status status = TWI_TAKE(ctx, tw_map_options, &opts, given);
    if (status == TW_OK) {
        status = check_options(ctx, &opts);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "a plan");
    }
    if (status != TW_OK) {
        return status;
    }
    status = check_shapes(ctx, plan, expr, inputs, input_count);
    if (status == TW_OK) {
        complete(plan, expr, &opts);
        status = check_no_data(ctx, &plan->setting);
    }
    if (status == TW_OK) {
        status = twi_variants_make(ctx, &plan->variants, expr, &plan->setting);
    }
    if (status == TW_OK) {
        status = choose_method(ctx, plan, method);
    }
    if (status == TW_OK) {
        status = twi_map_explain(ctx, plan, expr);
    }
    if (status != TW_OK) {
        tw_map_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return TW_OK;
}

tw_status tw_map_plan_create(tw_context *ctx, tw_map_plan **out, const tw_expr *expr,
                             const tw_shape *inputs, int32_t input_count,
                             const tw_map_options *opts)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"expr", expr},
                                    {"inputs", input_count > 0 ? (const void *)inputs : out});
    if (missing != TW_OK) {
        return missing;
    }
    return twi_map_plan_make(ctx, out, expr, inputs, input_count, opts, TWI_MAP_AUTO);
}

void tw_map_plan_destroy(tw_map_plan *plan)
{
    if (plan != NULL) {
        twi_map_gpu_destroy(plan->gpu);
        twi_variants_clear(&plan->variants);
        twi_free(plan->table.data);
        twi_free(plan->explanation);
        twi_free(plan);
    }
}

const char *tw_map_plan_explain(const tw_map_plan *plan)
{
    return plan != NULL ? plan->explanation : "";
}

tw_status tw_map_plan_describe(const tw_map_plan *plan, tw_map_plan_info *out)
{
    if (plan == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const tw_map_plan_info info = {
        .size = sizeof info,
        .shape = plan->shape,
        .compute = plan->setting.compute,
        .method = twi_map_method_name(plan->method),
        .row_period = plan->variants.row_period,
        .col_period = plan->variants.col_period,
        .bytes = twi_map_bytes(plan),
        .operations = twi_map_operations(plan),
    };
    return TWI_DESCRIBE(NULL, tw_map_plan_info, out, &info);
}

/* --------------------------------------------------------------------------------------- a run */

/* Whether an input is of the shape that the plan was made for. */
static tw_status check_input(tw_context *ctx, const tw_map_plan *plan, int32_t i,
                             const tw_shape *shape)
{
    const tw_shape *planned = &plan->inputs[i];
    if (shape->rows != planned->rows || shape->cols != planned->cols ||
        shape->type != planned->type) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "input %d is %lld x %lld of type %s, but this plan was created for %lld x "
                       "%lld of type %s",
                       i + 1, (long long)shape->rows, (long long)shape->cols,
                       tw_type_name(shape->type), (long long)planned->rows,
                       (long long)planned->cols, tw_type_name(planned->type));
    }
    return TW_OK;
}

tw_status twi_map_check_inputs(tw_context *ctx, const tw_map_plan *plan, const tw_matrix *inputs,
                               const tw_source *sources, int32_t count)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan});
    if (status == TW_OK && count != plan->input_count) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the plan takes %d input%s, got %d",
                         plan->input_count, plan->input_count == 1 ? "" : "s", count);
    }
    if (status == TW_OK) {
        status = twi_sources_check(ctx, sources, count);
    }
    for (int32_t i = 0; i < count && status == TW_OK; i++) {
        const tw_source source = twi_source_at(sources, i);
        if (source.rows != NULL) {
            status = check_input(ctx, plan, i, &source.shape);
            if (status == TW_OK &&
                (source.shape.rows > MOST_SIDE || source.shape.cols > MOST_SIDE)) {
                status = tw_fail(ctx, TW_ERR_RANGE, "input %d has more than 2^48 rows or columns",
                                 i + 1);
            }
            continue;
        }
        status = TWI_REQUIRE(ctx, {"inputs", inputs});
        if (status == TW_OK) {
            status = twi_matrix_check(ctx, &inputs[i], "an input");
        }
        if (status == TW_OK) {
            const tw_shape shape = {inputs[i].rows, inputs[i].cols, inputs[i].type};
            status = check_input(ctx, plan, i, &shape);
        }
    }
    return status;
}

/* The bytes from the first element to the last. */
static void span_of(const tw_matrix *m, uintptr_t *begin, uintptr_t *end)
{
    const size_t size = tw_type_size(m->type);
    *begin = *end = (uintptr_t)m->data;
    if (m->rows > 0 && m->cols > 0) {
        *end += ((size_t)(m->rows - 1) * (size_t)m->stride + (size_t)m->cols) * size;
    }
}

static tw_status check_result(tw_context *ctx, const tw_map_plan *plan, const tw_matrix *out,
                              const tw_matrix *inputs)
{
    const tw_shape *shape = &plan->shape;
    tw_status status = twi_matrix_check(ctx, out, "the result");
    if (status == TW_OK &&
        (out->rows != shape->rows || out->cols != shape->cols || out->type != shape->type)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the result must be %lld x %lld of type %s, but is %lld x %lld of type %s",
                         (long long)out->rows, (long long)out->cols, tw_type_name(out->type),
                         (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type));
    }
    for (int32_t i = 0; i < plan->input_count && status == TW_OK; i++) {
        const tw_matrix *in = &inputs[i];
        uintptr_t begin, end, out_begin, out_end;
        span_of(in, &begin, &end);
        span_of(out, &out_begin, &out_end);
        bool apart = end <= out_begin || out_end <= begin;
        bool same = in->data == out->data && in->rows == out->rows && in->cols == out->cols &&
                    in->type == out->type && (in->stride == out->stride || in->rows == 1);
        if (!apart && !same) {
            status = tw_fail(
                ctx, TW_ERR_ARGUMENT,
                "the result partly overlaps input %d; use the same array or separate memory",
                i + 1);
        }
    }
    return status;
}

tw_status twi_map_check(tw_context *ctx, const tw_map_plan *plan, const tw_matrix *out,
                        const tw_matrix *inputs, int32_t input_count)
{
    tw_status status = twi_map_check_inputs(ctx, plan, inputs, NULL, input_count);
    return status == TW_OK ? check_result(ctx, plan, out, inputs) : status;
}

twi_map_job twi_map_job_of(const tw_map_plan *plan, int64_t first, int64_t count,
                           const tw_matrix *inputs, void *out, int64_t stride)
{
    twi_map_job job = {.variants = &plan->variants,
                       .input_count = plan->input_count,
                       .x_input = plan->setting.x_input,
                       .repeat = plan->setting.repeat,
                       .fast = plan->fast,
                       .first_row = first,
                       .row_count = count,
                       .rows = plan->shape.rows,
                       .cols = plan->shape.cols,
                       .out = out,
                       .out_stride = stride};
    for (int32_t i = 0; i < plan->input_count; i++) {
        job.inputs[i] = (twi_map_input){inputs[i].data, inputs[i].type,
                                        inputs[i].rows != 1 ? inputs[i].stride : 0,
                                        inputs[i].cols != 1 ? 1 : 0};
    }
    return job;
}

tw_status twi_map_run(tw_context *ctx, const tw_map_plan *plan, const twi_map_job *job)
{
    if (job->row_count == 0 || job->cols == 0) {
        return twi_check_cancel(ctx);
    }
    switch (plan->method) {
    case TWI_MAP_TABLE:
        return twi_map_table_run(ctx, plan, job);
    case TWI_MAP_GPU:
        return twi_map_gpu_run(ctx, plan->gpu, &plan->devices, job);
    case TWI_MAP_REFERENCE:
        return twi_map_reference_run(ctx, job);
    default:
        return twi_map_cpu_run(ctx, job);
    }
}

void twi_map_give_report(tw_context *ctx, const tw_map_plan *plan, tw_map_report *out,
                         tw_map_report *seen)
{
    twi_isa isa = TWI_ISA_SCALAR;
    if (out == NULL) {
        return;
    }
    seen->method = twi_map_method_name(plan->method);
    seen->threads = twi_thread_count(ctx);
    bool cpu = plan->method != TWI_MAP_GPU && twi_isa_resolve(ctx, &isa) == TW_OK;
    seen->isa = cpu ? twi_isa_name(isa) : "";
    TWI_GIVE(tw_map_report, out, seen);
}

tw_status tw_map_plan_apply(tw_context *ctx, tw_map_plan *plan, tw_matrix *out,
                            const tw_matrix *inputs, int32_t input_count, tw_map_report *report)
{
    tw_map_report seen = TW_MAP_REPORT_INIT;
    double started = twi_seconds();
    tw_status status = twi_map_check(ctx, plan, out, inputs, input_count);
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_map_report, report);
    }
    if (status == TW_OK) {
        const twi_map_job job =
            twi_map_job_of(plan, 0, plan->shape.rows, inputs, out->data, out->stride);
        status = twi_map_run(ctx, plan, &job);
    }
    if (status == TW_OK) {
        seen.seconds_compute = twi_seconds() - started;
        twi_map_give_report(ctx, plan, report, &seen);
    }
    return status;
}

tw_status tw_map(tw_context *ctx, tw_matrix *out, const tw_expr *expr, const tw_matrix *inputs,
                 int32_t input_count, const tw_map_options *opts)
{
    tw_status missing =
        TWI_REQUIRE(ctx, {"expr", expr}, {"inputs", input_count > 0 ? (const void *)inputs : expr});
    if (missing != TW_OK) {
        return missing;
    }
    tw_shape shapes[TWI_MAP_INPUTS];
    tw_map_plan *plan = NULL;
    if (input_count < 0 || input_count > TWI_MAP_INPUTS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d inputs; the maximum is %d", input_count,
                       TWI_MAP_INPUTS);
    }
    for (int32_t i = 0; i < input_count; i++) {
        shapes[i] = (tw_shape){inputs[i].rows, inputs[i].cols, inputs[i].type};
    }
    tw_status status = tw_map_plan_create(ctx, &plan, expr, shapes, input_count, opts);
    if (status == TW_OK) {
        status = tw_map_plan_apply(ctx, plan, out, inputs, input_count, NULL);
    }
    tw_map_plan_destroy(plan);
    return status;
}

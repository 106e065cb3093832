/*
 * The wing's part of tw_selftest: expressions that use every operation, on every instruction set
 * and by every method that can take them, into poisoned memory, checked element by element in
 * interval arithmetic. Sizes lie around the edges of vectors and blocks.
 */
#include "map/selftest.h"

#include "base/memory.h"
#include "base/random.h"
#include "map/language/scalar.h"
#include "map/map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POISON 0xA5
#define MOST ((int64_t)1 << 13) /* elements of an array */

static const struct {
    int64_t rows, cols;
} sizes[] = {{1, 1}, {3, 5}, {2, 17}, {5, 64}, {7, 131}, {3, 1030}};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static const struct {
    const char *text;
    tw_type in, out;
    int64_t repeat;
    int32_t fast;
} cases[] = {
    {"x * a + 1 - x / a", TW_F32, TW_F32, 1, 0},
    {"x * a + 1 - x / a", TW_F64, TW_F64, 1, 0},
    {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_F32, TW_F32, 10, 0},
    {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_F32, TW_F32, 10, 1},
    {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", TW_U8, TW_U8, 10, 0},
    {"exp(sin(x)) + tan(x) * exp2(cos(a)) + expm1(-abs(a))", TW_F32, TW_F32, 1, 0},
    {"exp(sin(x)) + tan(x) * exp2(cos(a)) + expm1(-abs(a))", TW_F64, TW_F64, 1, 0},
    {"log2(abs(x)) + log10(abs(a) + 1) + log1p(abs(x))", TW_F32, TW_F32, 1, 0},
    {"log2(abs(x)) + log10(abs(a) + 1) + log1p(abs(x))", TW_F64, TW_F64, 1, 0},
    {"asin(clamp(x, -1, 1)) + acos(sin(a)) + atan(x) + atan2(x, a)", TW_F32, TW_F32, 1, 0},
    {"asin(clamp(x, -1, 1)) + acos(sin(a)) + atan(x) + atan2(x, a)", TW_F64, TW_F64, 1, 0},
    {"sinh(min(x, 50)) + cosh(a / 10) + tanh(x) + cbrt(a)", TW_F32, TW_F32, 1, 0},
    {"sinh(min(x, 50)) + cosh(a / 10) + tanh(x) + cbrt(a)", TW_F64, TW_F64, 1, 0},
    {"pow(abs(x), a / 100) + hypot(x, a) + x ^ 3 - a ^ -2", TW_F32, TW_F32, 1, 0},
    {"pow(abs(x), a / 100) + hypot(x, a) + x ^ 3 - a ^ -2", TW_F64, TW_F64, 1, 0},
    {"floor(x) - ceil(a) + round(x) * rint(a) + trunc(x) % 7", TW_I16, TW_I32, 2, 0},
    {"x > a && x != 3 || !(a <= 2) ? max(x, a) : min(x, -a)", TW_I32, TW_I16, 3, 0},
    {"(row + 2 * col) % 3 == 1 ? x * 3 : a + row - col", TW_U16, TW_U8, 2, 0},
    {"row % 4 == col % 4 ? 255 - x : sign(x - 100) * x / 2", TW_U8, TW_U8, 7, 0},
    {"sqrt(x) * 200 + row % 2", TW_U16, TW_U16, 1, 0},
};
#define CASES ((int)(sizeof cases / sizeof *cases))

typedef struct bench {
    tw_matrix inputs[2];
    tw_matrix out;
} bench;

/* Values of both signs and many sizes, and the special ones. */
static void fill(tw_matrix *m, uint64_t seed)
{
    for (int64_t i = 0; i < m->rows * m->cols; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        double value = ldexp(twi_random_unit(random) * 2 - 1, (int)(random % 24) - 8);
        double whole =
            twi_scalar_stored(value, m->type == TW_F32 || m->type == TW_F64 ? TW_F64 : m->type);
        switch (m->type) {
        case TW_U8:
            ((uint8_t *)m->data)[i] = (uint8_t)random;
            break;
        case TW_U16:
            ((uint16_t *)m->data)[i] = (uint16_t)random;
            break;
        case TW_I16:
            ((int16_t *)m->data)[i] = (int16_t)whole;
            break;
        case TW_I32:
            ((int32_t *)m->data)[i] = (int32_t)whole;
            break;
        case TW_F32:
            ((float *)m->data)[i] = random % 97 == 0 ? (float)NAN : (float)value;
            break;
        default:
            ((double *)m->data)[i] = random % 97 == 0 ? (double)INFINITY : value;
            break;
        }
    }
}

/* Compute by one method and check all elements. */
static tw_status run_way(tw_context *ctx, const bench *b, const tw_expr *expr,
                         const tw_map_options *opts, twi_map_method method)
{
    tw_shape shapes[2];
    tw_map_plan *plan = NULL;
    tw_map_verifier *verifier = NULL;
    tw_matrix out = b->out;
    tw_sink sink = TW_SINK_INIT;
    for (int i = 0; i < 2; i++) {
        shapes[i] = (tw_shape){b->inputs[i].rows, b->inputs[i].cols, b->inputs[i].type};
    }
    memset(out.data, POISON, (size_t)MOST * sizeof(double));
    tw_status status = twi_map_plan_make(ctx, &plan, expr, shapes, 2, opts, method);
    if (status == TW_OK) {
        status = tw_map_plan_apply(ctx, plan, &out, b->inputs, 2, NULL);
    }
    if (status == TW_OK) {
        status = tw_map_verifier_create(ctx, &verifier, expr, b->inputs, 2, opts, 200, 1);
    }
    if (status == TW_OK) {
        status = tw_map_verifier_sink(verifier, &sink);
    }
    if (status == TW_OK) {
        status = tw_feed(ctx, &out, &sink, 1);
    }
    if (status == TW_OK) {
        status = tw_map_verifier_result(ctx, verifier, NULL);
    }
    tw_map_verifier_destroy(verifier);
    tw_map_plan_destroy(plan);
    return status;
}

static void tell_way(const twi_tester *t, const bench *b, const tw_expr *expr,
                     const tw_map_options *opts, twi_map_method method, int c, int s, uint64_t seed)
{
    char name[200];
    bool gpu = method == TWI_MAP_GPU;
    snprintf(name, sizeof name, "map %s %s '%s' x%lld %s->%s%s %lldx%lld seed=%llu",
             twi_map_method_name(method), gpu ? t->ctx->device : twi_isa_name(t->ctx->isa),
             cases[c].text, (long long)cases[c].repeat, tw_type_name(cases[c].in),
             tw_type_name(cases[c].out), cases[c].fast ? " fast" : "", (long long)sizes[s].rows,
             (long long)sizes[s].cols, (unsigned long long)seed);
    tw_status outcome = run_way(t->ctx, b, expr, opts, method);
    twi_tell(t, name, outcome == TW_OK, outcome == TW_OK ? "" : tw_last_error(t->ctx));
}

static bool can(const tw_expr_info *info, int c, int s, twi_map_method method)
{
    bool small = cases[c].in == TW_U8 || cases[c].in == TW_U16;
    bool wide = sizes[s].rows > 1 && sizes[s].cols > 1; /* else the input is repeated */
    return method == TWI_MAP_DIRECT || (small && wide && info->inputs_used == 1);
}

static tw_status run_case(const twi_tester *t, bench *b, int c, int s, uint64_t seed)
{
    static const char *const names[] = {"x", "a"};
    tw_expr_options expr_options = TW_EXPR_OPTIONS_INIT;
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_expr_info info = TW_EXPR_INFO_INIT;
    tw_expr *expr = NULL;
    expr_options.inputs = names;
    expr_options.input_count = 2;
    opts.type = cases[c].out;
    opts.repeat = cases[c].repeat;
    opts.fast = cases[c].fast;
    for (int i = 0; i < 2; i++) {
        tw_matrix *in = &b->inputs[i];
        in->rows = sizes[s].rows;
        in->cols = in->stride = sizes[s].cols;
        in->type = cases[c].in;
        fill(in, seed + (uint64_t)i * 1000003);
    }
    b->out = (tw_matrix){b->out.data, sizes[s].rows, sizes[s].cols, sizes[s].cols, cases[c].out};
    tw_status status = tw_expr_create(t->ctx, &expr, cases[c].text, &expr_options);
    twi_gpu_list gpus = {0};
    if (status == TW_OK) {
        status = tw_expr_describe(expr, &info);
    }
    if (status == TW_OK) {
        status = twi_gpu_select(t->ctx, &gpus);
    }
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT && status == TW_OK; isa++) {
        for (twi_map_method m = TWI_MAP_DIRECT; m <= TWI_MAP_TABLE; m++) {
            if (twi_isa_usable(isa) && can(&info, c, s, m)) {
                t->ctx->isa = isa;
                tell_way(t, b, expr, &opts, m, c, s, seed);
            }
        }
    }
    if (status == TW_OK && gpus.count > 0) {
        tell_way(t, b, expr, &opts, TWI_MAP_GPU, c, s, seed);
    }
    tw_expr_destroy(expr);
    return status == TW_OK ? twi_check_cancel(t->ctx) : status;
}

tw_status twi_map_selftest(const twi_tester *t, uint64_t seed)
{
    bench b = {0};
    double *room = NULL;
    tw_status status =
        twi_alloc(t->ctx, &room, 3 * (uint64_t)MOST, sizeof *room, "the arrays of a test");
    if (status == TW_OK) {
        b.inputs[0].data = room;
        b.inputs[1].data = room + MOST;
        b.out.data = room + 2 * MOST;
    }
    for (int c = 0; c < CASES && status == TW_OK; c++) {
        for (int s = 0; s < SIZES && status == TW_OK; s++) {
            status = run_case(t, &b, c, s, seed + (uint64_t)(c * SIZES + s));
            twi_progress(t->ctx, "testing", c * SIZES + s + 1, CASES * SIZES, "maps");
        }
    }
    twi_free(room);
    return status;
}

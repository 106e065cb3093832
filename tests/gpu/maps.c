/*
 * Maps on a GPU against the naive evaluator: every function within its bound, and everything that
 * must be exact bit by bit: arithmetic, all types in and out, residues of rows and columns,
 * broadcasts, repetition, any size, stride and alignment, host arrays in bands over several
 * devices, and the cache of compiled code. What lies between rows is poisoned and must stay so.
 * Without a GPU or a run-time compiler everything is skipped, with the reason.
 *
 * No cmocka: the program is also built and run on machines that have a GPU and little else.
 */
#include "base/random.h"
#include "gpu/code_cache.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "kernels/ulp.h"
#include "map/gpu/gpu.h"
#include "map/gpu/source.h"
#include "map/language/scalar.h"
#include "map/language/specialise.h"
#include "map/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POISON 0xAB
#define INPUTS 6
#define VALUES 4096

static tw_context *ctx;
static int passed, failed;
static const tw_type types[INPUTS] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what), what);
}

static void tell(bool good, const char *what)
{
    passed += good;
    failed += !good;
    if (!good) {
        printf("FAILED %s\n", what);
    }
}

/* ------------------------------------------------------------------------------------ one map */

/* Inputs a b c d x y of u8 u16 i16 i32 f32 f64. */
typedef struct map_case {
    const char *text;
    tw_type compute, type;
    int64_t rows, cols;
    int64_t gap;    /* elements between rows */
    int64_t offset; /* elements from an aligned address */
    int64_t repeat;
    uint32_t one_row, one_col; /* bit k: input k is broadcast in that direction */
    bool in_place;             /* the result goes over x */
} map_case;

typedef struct map_array {
    tw_type type;
    int64_t rows, cols, step;
    size_t bytes;
    char *host;
    char *device;
    size_t skip; /* bytes to the first element */
} map_array;

static map_array make_array(const map_case *c, tw_type type, int64_t rows, int64_t cols)
{
    size_t size = tw_type_size(type);
    map_array a = {.type = type, .rows = rows, .cols = cols, .step = cols + c->gap};
    a.skip = (size_t)c->offset * size;
    a.bytes = a.skip + (size_t)(rows * a.step + 16) * size;
    a.host = malloc(a.bytes);
    memset(a.host, POISON, a.bytes);
    must_run(cudaMalloc((void **)&a.device, a.bytes), "memory");
    return a;
}

static void free_array(map_array *a)
{
    free(a->host);
    (void)cudaFree(a->device);
}

static void put(void *at, tw_type type, double value)
{
    switch (type) {
    case TW_U8:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case TW_U16:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case TW_I16:
        *(int16_t *)at = (int16_t)value;
        break;
    case TW_I32:
        *(int32_t *)at = (int32_t)value;
        break;
    case TW_F32:
        *(float *)at = (float)value;
        break;
    default:
        *(double *)at = value;
        break;
    }
}

static double sample_of(tw_type type, uint64_t random)
{
    static const double wide[] = {
        [TW_U8] = 256, [TW_U16] = 65536, [TW_I16] = 65536, [TW_I32] = 4294967296.0};
    if (type == TW_F32 || type == TW_F64) {
        return random % 31 == 0 ? 0 : (twi_random_unit(random) - 0.25) * 1000;
    }
    double value = floor(twi_random_unit(random) * wide[type]);
    return type == TW_U8 || type == TW_U16 ? value : value - wide[type] / 2;
}

static void fill(map_array *a, uint64_t seed)
{
    size_t size = tw_type_size(a->type);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t j = 0; j < a->cols; j++) {
            uint64_t random = twi_random_at(seed, (uint64_t)(i * a->cols + j));
            put(a->host + a->skip + (size_t)(i * a->step + j) * size, a->type,
                sample_of(a->type, random));
        }
    }
}

static void send(const map_array *a)
{
    must_run(cudaMemcpy(a->device, a->host, a->bytes, cudaMemcpyHostToDevice), "sending");
}

typedef struct prepared {
    twi_variants variants;
    twi_map_job job; /* on host arrays */
    map_array in[INPUTS];
    map_array out;
} prepared;

static void prepare(prepared *p, const map_case *c)
{
    static const char *const names[] = {"a", "b", "c", "d", "x", "y"};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    twi_map_setting setting = {.compute = c->compute,
                               .type = c->type,
                               .rows = c->rows,
                               .cols = c->cols,
                               .repeat = c->repeat,
                               .x_input = 4};
    tw_expr *expr = NULL;
    *p = (prepared){.job = {.input_count = INPUTS,
                            .x_input = 4,
                            .repeat = c->repeat,
                            .row_count = c->rows,
                            .cols = c->cols}};
    p->job.variants = &p->variants;
    opts.inputs = names;
    opts.input_count = INPUTS;
    for (int k = 0; k < INPUTS; k++) {
        bool down = (c->one_row >> k & 1) == 0;
        bool across = (c->one_col >> k & 1) == 0;
        setting.depends[k] = (uint8_t)((down ? TWI_ON_ROW : 0) | (across ? TWI_ON_COL : 0));
        p->in[k] = make_array(c, types[k], down ? c->rows : 1, across ? c->cols : 1);
        fill(&p->in[k], 77 + (uint64_t)k);
        send(&p->in[k]);
        p->job.inputs[k] = (twi_map_input){p->in[k].host + p->in[k].skip, types[k],
                                           down ? p->in[k].step : 0, across};
    }
    p->out = c->in_place ? p->in[4] : make_array(c, c->type, c->rows, c->cols);
    p->job.out = p->out.host + p->out.skip;
    p->job.out_stride = p->out.step;
    send(&p->out);
    must(tw_expr_create(ctx, &expr, c->text, &opts), c->text);
    must(twi_variants_make(ctx, &p->variants, expr, &setting), c->text);
    tw_expr_destroy(expr);
}

static void release(prepared *p, const map_case *c)
{
    for (int k = 0; k < INPUTS; k++) {
        free_array(&p->in[k]);
    }
    if (!c->in_place) {
        free_array(&p->out);
    }
    twi_variants_clear(&p->variants);
}

/* The same job on the arrays in device memory. */
static twi_map_job on_device(const prepared *p)
{
    twi_map_job job = p->job;
    for (int k = 0; k < INPUTS; k++) {
        job.inputs[k].data = p->in[k].device + p->in[k].skip;
    }
    job.out = p->out.device + p->out.skip;
    return job;
}

/* Whether two results are the same to the bit, NaN being NaN, gaps included. */
static bool same_result(const char *a, const char *b, size_t bytes, tw_type type, int64_t *at)
{
    size_t size = tw_type_size(type);
    for (size_t i = 0; i < bytes; i += size) {
        *at = (int64_t)(i / size);
        if (memcmp(a + i, b + i, size) == 0) {
            continue;
        }
        bool nan =
            (type == TW_F32 && isnan(*(const float *)(a + i)) && isnan(*(const float *)(b + i))) ||
            (type == TW_F64 && isnan(*(const double *)(a + i)) && isnan(*(const double *)(b + i)));
        if (!nan) {
            return false;
        }
    }
    return true;
}

static void check_case(const map_case *c)
{
    char what[256];
    prepared p;
    twi_map_gpu *gpu = NULL;
    int64_t at = 0;
    prepare(&p, c);
    char *got = malloc(p.out.bytes);
    twi_map_job job = on_device(&p);
    must(twi_map_gpu_create(ctx, &gpu, &job), c->text);
    must(twi_map_gpu_queue(ctx, gpu, 0, &job, NULL, NULL), c->text);
    must_run(cudaMemcpy(got, p.out.device, p.out.bytes, cudaMemcpyDeviceToHost), c->text);
    twi_map_gpu_destroy(gpu);
    must(twi_map_reference_run(ctx, &p.job), c->text);
    bool good = same_result(got, p.out.host, p.out.bytes, c->type, &at);
    snprintf(what, sizeof what,
             "%s: %lld x %lld, %s to %s, gap %lld, offset %lld, %lld times%s: element %lld",
             c->text, (long long)c->rows, (long long)c->cols, tw_type_name(c->compute),
             tw_type_name(c->type), (long long)c->gap, (long long)c->offset, (long long)c->repeat,
             c->in_place ? ", in place" : "", (long long)at);
    tell(good, what);
    free(got);
    release(&p, c);
}

/* ---------------------------------------------------------------------------------- functions */

static double random_argument(uint64_t random, tw_type compute)
{
    static const double special[] = {
        0.0,    -0.0,  1.0,    -1.0, 0.5,      -0.5,      2.0,    10.0,      100.0,
        -100.0, 1e-30, -1e-30, 1e10, -1e10,    8191.9,    8192.0, 1.5707963, 3.1415927,
        1e-40,  1e-45, -1e-45, 3e38, INFINITY, -INFINITY, NAN,    1.17e-38,  0.7071,
        88.7,   -87.3, 709.7,  -745, 1e300,    -1e300,    1e-310, 127.5,     -149};
    const size_t count = sizeof special / sizeof *special;
    if (random % 8 == 0) {
        double value = special[random / 8 % count];
        return compute == TW_F32 ? (double)(float)value : value;
    }
    double value = (twi_random_unit(random) - 0.5) * 2;
    switch (random / 8 % 5) {
    case 0:
        value *= 4;
        break;
    case 1:
        value *= 100;
        break;
    case 2:
        value *= 20000;
        break;
    case 3:
        value = ldexp(value, (int)(random / 64 % 240) - 120);
        break;
    default:
        break;
    }
    return compute == TW_F32 ? (double)(float)value : value;
}

/* The distance from `got` to the C library's value, less what that may be off (scalar.c). The
 * numbers before infinity count as a unit from it. */
static double ulps(double got, twi_op op, double a, double b, tw_type compute)
{
    const ulp_truth truth = ulp_library(op, a, b, compute);
    const double nearest = twi_scalar_round(truth.hi, compute);
    const double largest = compute == TW_F32 ? (double)FLT_MAX : DBL_MAX;
    if ((isinf(nearest) && fabs(got) == largest) || (isinf(got) && fabs(nearest) == largest)) {
        return 1;
    }
    const bool exact = twi_op_ulp(op, compute, false) <= 0.5;
    const double unit = compute == TW_F32 ? 0x1p-29 : 1;
    const double error = exact ? 0 : twi_scalar_function_error(op, a, truth.hi) * unit;
    return fmax(0, ulp_error(got, truth, compute) - error);
}

/* The same number as the CPU's, to the bit. */
static bool is_cpu_value(double got, twi_op op, double a, tw_type compute)
{
    const twi_map_kernel *kernel = twi_map_kernel_find(TWI_ISA_SCALAR);
    double in[TWI_MAP_GRAIN], out[TWI_MAP_GRAIN];
    const void *const args[3] = {in, in, in};
    const int64_t step[3] = {0, 0, 0};
    for (int i = 0; i < TWI_MAP_GRAIN; i++) {
        put((char *)in + (size_t)i * tw_type_size(compute), compute, a);
    }
    (compute == TW_F32 ? kernel->f32 : kernel->f64)->operation[op](out, args, step, TWI_MAP_GRAIN);
    float narrow = 0;
    memcpy(&narrow, out, sizeof narrow);
    const double want = compute == TW_F32 ? (double)narrow : out[0];
    return (isnan(got) && isnan(want)) || (got == want && !signbit(got) == !signbit(want));
}

/* One function on VALUES arguments: a program of its own, since the expression language would fold
 * and simplify. */
static void check_function(twi_op op, tw_type compute)
{
    size_t size = tw_type_size(compute);
    int arity = twi_op_arity(op);
    twi_operation ops[3] = {
        {.code = TWI_OP_INPUT, .depends = 3, .args = {-1, -1, -1}},
        {.code = TWI_OP_INPUT, .depends = 3, .args = {-1, -1, -1}},
        {.code = (uint8_t)op, .depends = 3, .args = {0, arity > 1 ? 1 : -1, -1}}};
    ops[0].index = 0;
    ops[1].index = 1;
    twi_program program = {.compute = compute,
                           .count = 3,
                           .still_end = 3,
                           .result = 2,
                           .places = 2,
                           .inputs = 3,
                           .ops = ops};
    twi_variants variants = {.compute = compute,
                             .type = compute,
                             .row_period = 1,
                             .col_period = 1,
                             .program_count = 1,
                             .programs = &program};
    char *host = malloc(3 * VALUES * size);
    char *device = NULL;
    must_run(cudaMalloc((void **)&device, 3 * VALUES * size), "memory");
    for (int64_t i = 0; i < 2 * VALUES; i++) {
        put(host + (size_t)i * size, compute,
            random_argument(twi_random_at(op, (uint64_t)i), compute));
    }
    must_run(cudaMemcpy(device, host, 2 * VALUES * size, cudaMemcpyHostToDevice), "sending");
    twi_map_job job = {.variants = &variants,
                       .input_count = 2,
                       .x_input = -1,
                       .repeat = 1,
                       .row_count = 1,
                       .cols = VALUES,
                       .out = device + 2 * VALUES * size,
                       .out_stride = VALUES};
    job.inputs[0] = (twi_map_input){device, compute, VALUES, 1};
    job.inputs[1] = (twi_map_input){device + VALUES * size, compute, VALUES, 1};
    twi_map_gpu *gpu = NULL;
    must(twi_map_gpu_create(ctx, &gpu, &job), twi_op_name(op));
    must(twi_map_gpu_queue(ctx, gpu, 0, &job, NULL, NULL), twi_op_name(op));
    must_run(cudaMemcpy(host, device, 3 * VALUES * size, cudaMemcpyDeviceToHost), "fetching");
    twi_map_gpu_destroy(gpu);
    double worst = 0;
    double worst_a = 0;
    double worst_b = 0;
    double worst_y = 0;
    for (int64_t i = 0; i < VALUES; i++) {
        const char *at = host + (size_t)i * size;
        double v[3];
        for (int k = 0; k < 3; k++, at += VALUES * size) {
            v[k] = compute == TW_F32 ? (double)*(const float *)at : *(const double *)at;
        }
        double d = ulps(v[2], op, v[0], v[1], compute);
        if (op >= TWI_OP_CUBE && !is_cpu_value(v[2], op, v[0], compute)) {
            d = INFINITY;
        }
        if (!(d <= worst)) {
            worst = d;
            worst_a = v[0];
            worst_b = v[1];
            worst_y = v[2];
        }
    }
    char what[256];
    double bound = fmax(0.5, twi_map_gpu_ulp(op, compute));
    snprintf(what, sizeof what, "%s in %s: %.3f ulp of %.1f at (%.9g, %.9g) -> %.9g",
             twi_op_name(op), tw_type_name(compute), worst, bound, worst_a, worst_b, worst_y);
    tell(worst <= bound, what);
    free(host);
    (void)cudaFree(device);
}

/* -------------------------------------------------------------------------------------- groups */

static void check_functions(void)
{
#define TWI_FUNCTION(ID, name, arguments, f32, f64, fast) \
    check_function(TWI_OP_##ID, TW_F32);                  \
    check_function(TWI_OP_##ID, TW_F64);
#include "map/functions/functions.def"
#undef TWI_FUNCTION
    for (twi_op op = TWI_OP_CUBE; op < TWI_OP_COUNT; op++) {
        check_function(op, TW_F32);
        check_function(op, TW_F64);
    }
}

static void check_types(void)
{
    for (int out = 0; out < INPUTS; out++) {
        for (int wide = 0; wide < 2; wide++) {
            map_case c = {"a * 2 - b / 3 + c + d * 1e-3 + x * y",
                          wide ? TW_F64 : TW_F32,
                          types[out],
                          5,
                          61,
                          3,
                          0,
                          1,
                          0,
                          0,
                          false};
            check_case(&c);
            c.text = "x > 0 && !(y < a) || b == c ? floor(x) : -round(y) % 7";
            check_case(&c);
            c.text = "min(x, y) + (isnan(sqrt(x)) ? 1 : max(a, b)) * abs(c)";
            check_case(&c);
        }
    }
}

static void check_sizes(void)
{
    static const int64_t cols[] = {0,  1,  2,  3,  4,  5,   7,   8,   9,    15,   16,   17,
                                   31, 33, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049, 4099};
    for (size_t k = 0; k < sizeof cols / sizeof *cols; k++) {
        for (int64_t shift = 0; shift < 4; shift++) {
            map_case c = {"x * 2 + 1", TW_F32, TW_F32, 3, cols[k], shift, shift, 1, 0, 0, false};
            check_case(&c);
            c.text = "x + (col % 2 ? a : y) * row + col";
            check_case(&c);
            c = (map_case){"a + 1", TW_F32, TW_U8, 3, cols[k], shift, shift, 1, 0, 0, false};
            check_case(&c);
            c = (map_case){"x * 3", TW_F32, TW_F32, 3, cols[k], shift, shift, 2, 0, 0, true};
            check_case(&c);
        }
    }
    map_case tall = {"x + row", TW_F32, TW_F32, 70000, 3, 0, 0, 1, 0, 0, false};
    check_case(&tall);
}

static void check_residues(void)
{
    static const char *const texts[] = {
        "col % 2 ? x : -x",
        "col % 3 == 1 ? x : y",
        "col % 4 < 2 ? x + a : x - a",
        "row % 2 ? x : y",
        "(row + col) % 2 ? x : a",
        "row % 3 == 0 && col % 5 == 2 ? x : col % 5",
        "col % 16 == 15 ? x : row % 7",
        "col % 100 + row % 1000 * x",
        "x * (col % 7) + (row % 5 ? y : b)",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        map_case c = {texts[k], TW_F32, TW_F32, 17, 1003, 5, 0, 1, 0, 0, false};
        check_case(&c);
        c.repeat = 3;
        check_case(&c);
        c.compute = TW_F64;
        c.type = TW_I16;
        check_case(&c);
        c.gap = 0;
        c.cols = 960;
        check_case(&c);
    }
}

static void check_broadcasts(void)
{
    for (uint32_t one_row = 0; one_row < 64; one_row += 21) {
        for (uint32_t one_col = 0; one_col < 64; one_col += 27) {
            map_case c = {"a + b * 2 + c - d * 1e-6 + x * y",
                          TW_F64,
                          TW_F64,
                          9,
                          301,
                          2,
                          1,
                          1,
                          one_row,
                          one_col,
                          false};
            check_case(&c);
            c.repeat = 2;
            check_case(&c);
        }
    }
}

/* Repetition in registers against so many launches, for the functions too. */
static void check_passes(int64_t passes)
{
    map_case c = {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
                  TW_F32,
                  TW_F32,
                  64,
                  1000,
                  0,
                  0,
                  passes,
                  0,
                  0,
                  true};
    prepared p;
    twi_map_gpu *gpu = NULL;
    int64_t at = 0;
    prepare(&p, &c);
    char *together = malloc(p.out.bytes);
    char *apart = malloc(p.out.bytes);
    twi_map_job job = on_device(&p);
    must(twi_map_gpu_create(ctx, &gpu, &job), c.text);
    must(twi_map_gpu_queue(ctx, gpu, 0, &job, NULL, NULL), c.text);
    must_run(cudaMemcpy(together, p.out.device, p.out.bytes, cudaMemcpyDeviceToHost), c.text);
    twi_map_gpu_destroy(gpu);
    release(&p, &c);
    c.repeat = 1;
    prepare(&p, &c);
    job = on_device(&p);
    must(twi_map_gpu_create(ctx, &gpu, &job), c.text);
    for (int64_t pass = 0; pass < passes; pass++) {
        must(twi_map_gpu_queue(ctx, gpu, 0, &job, NULL, NULL), c.text);
    }
    must_run(cudaMemcpy(apart, p.out.device, p.out.bytes, cudaMemcpyDeviceToHost), c.text);
    twi_map_gpu_destroy(gpu);
    tell(same_result(together, apart, p.out.bytes, TW_F32, &at), "all passes at once");
    release(&p, &c);
    free(apart);
    free(together);
}

/* The kernel asks after every 256 whether to go on. */
static void check_repetition(void)
{
    static const int64_t passes[] = {10, 255, 256, 257, 512, 600};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        check_passes(passes[i]);
    }
}

static void cancel(void *own, const char *stage, double done, double total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    tw_cancel(own);
}

/* A map whose passes would take years, cancelled once it has begun: with one band under way and
 * with one in every slot, on a device and on two. */
static void check_cancel(void)
{
    static const int64_t sides[] = {16, 3000};
    static const char *const devices[] = {TWI_GPU_PREFIX ":0", TWI_GPU_PREFIX ":0,0"};
    for (int k = 0; k < 4; k++) {
        const int64_t side = sides[k / 2];
        tw_context *own = NULL;
        tw_expr *expr = NULL;
        tw_map_options options = TW_MAP_OPTIONS_INIT;
        char *from = calloc((size_t)(side * side), sizeof(float));
        char *to = calloc((size_t)(side * side), sizeof(float));
        tw_matrix in = {from, side, side, side, TW_F32};
        tw_matrix out = {to, side, side, side, TW_F32};
        options.repeat = 100000000000;
        must(tw_context_create(&own), "a context");
        tw_set_progress(own, cancel, own);
        tell(from != NULL && to != NULL && tw_set_device(own, devices[k % 2]) == TW_OK &&
                 tw_expr_create(own, &expr, "sin(x) + 1", NULL) == TW_OK &&
                 tw_map(own, &out, expr, &in, 1, &options) == TW_ERR_CANCELLED,
             "endless passes are cancelled");
        tw_clear_cancel(own);
        tw_set_progress(own, NULL, NULL);
        options.repeat = 1;
        tell(tw_map(own, &out, expr, &in, 1, &options) == TW_OK && *(float *)(void *)to == 1,
             "and what follows is computed");
        tw_expr_destroy(expr);
        tw_context_destroy(own);
        free(to);
        free(from);
    }
}

static void check_host(void)
{
    static const struct {
        int64_t rows, cols, gap;
    } shapes[] = {{1, 1, 0}, {3, 1000, 1}, {1500, 1001, 0}, {200, 8000, 3}, {100000, 7, 0}};
    const twi_gpu_list lists[] = {{1, {0}}, {2, {0, 0}}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (int l = 0; l < 2; l++) {
            map_case c = {"x * 2 + (col % 2 ? a : row)",
                          TW_F32,
                          TW_F32,
                          shapes[k].rows,
                          shapes[k].cols,
                          shapes[k].gap,
                          0,
                          1,
                          1,
                          0,
                          k % 2 == 1};
            prepared p;
            twi_map_gpu *gpu = NULL;
            int64_t at = 0;
            c.text = k == 2 ? "x * 2 + 1" : c.text;
            prepare(&p, &c);
            char *got = malloc(p.out.bytes);
            memcpy(got, p.out.host, p.out.bytes);
            twi_map_job job = p.job;
            job.out = got + p.out.skip;
            if (c.in_place) {
                job.inputs[4].data = job.out;
            }
            must(twi_map_gpu_create(ctx, &gpu, &job), c.text);
            must(twi_map_gpu_run(ctx, gpu, &lists[l], &job), c.text);
            twi_map_gpu_destroy(gpu);
            must(twi_map_reference_run(ctx, &p.job), c.text);
            tell(same_result(got, p.out.host, p.out.bytes, TW_F32, &at), "host arrays in bands");
            free(got);
            release(&p, &c);
        }
    }
}

/* --------------------------------------------------------------------------------------- cache */

/* Damage the file of a source: cut it, change its middle, or write something else. */
static void damage(const char *path, int how)
{
    FILE *file = fopen(path, how == 2 ? "wb" : "r+b");
    if (file == NULL) {
        tell(false, "the cache has a file");
        return;
    }
    (void)fseek(file, 0, SEEK_END);
    long size = ftell(file);
    if (how == 0) {
        tell(ftruncate(fileno(file), size / 2) == 0, "cutting a file");
    } else if (how == 1) {
        (void)fseek(file, size - 100, SEEK_SET);
        fputs("damaged", file);
    } else {
        fputs("not ours", file);
    }
    fclose(file);
}

static bool load_once(const prepared *p)
{
    twi_map_gpu *gpu = NULL;
    bool cached = false;
    twi_map_job job = on_device(p);
    must(twi_map_gpu_create(ctx, &gpu, &job), "the cache");
    must(twi_map_gpu_prepare(ctx, gpu, 0, &cached), "the cache");
    twi_map_gpu_destroy(gpu);
    tw_device_release(ctx); /* which keeps it, too */
    return cached;
}

/* A kernel of one map serves the next that has its text, and goes with the context's release. */
static void check_kept(void)
{
    map_case c = {"x * 54321", TW_F32, TW_F32, 2, 8, 0, 0, 1, 0, 0, false};
    prepared p;
    prepare(&p, &c);
    twi_map_job job = on_device(&p);
    void *modules[3];
    const uint64_t before = tw_memory_used(ctx);
    for (int i = 0; i < 3; i++) {
        twi_map_gpu *gpu = NULL;
        must(twi_map_gpu_create(ctx, &gpu, &job), "what is kept");
        must(twi_map_gpu_prepare(ctx, gpu, 0, NULL), "what is kept");
        modules[i] = gpu->kernels[0].kernel.module;
        twi_map_gpu_destroy(gpu);
        if (i == 1) {
            tell(tw_memory_used(ctx) > before, "a kernel is kept");
            tw_device_release(ctx);
            tell(tw_memory_used(ctx) == before, "nothing is left after a release");
        }
    }
    tell(modules[1] == modules[0], "the second map has the kernel of the first");
    release(&p, &c);
}

static void check_cache(void)
{
    map_case c = {"x * 12345", TW_F32, TW_F32, 2, 8, 0, 0, 1, 0, 0, false};
    prepared p;
    twi_map_source source;
    twi_code_key key;
    char architecture[32];
    prepare(&p, &c);
    must(twi_map_source_make(ctx, &source, &p.job), "the cache");
    must(twi_rtc_architecture(ctx, 0, architecture), "the cache");
    must(twi_code_key_make(ctx, &key, source.whole, architecture), "the cache");
    tell(!load_once(&p), "the first time it is compiled");
    tell(load_once(&p), "the second time it comes from the cache");
    for (int how = 0; how < 3; how++) {
        damage(key.path, how);
        tell(!load_once(&p), "a damaged file is not used");
        tell(load_once(&p), "and is replaced");
    }
    twi_code_key_clear(&key);
    twi_map_source_clear(&source);
    release(&p, &c);
}

int main(void)
{
    char version[32];
    char folder[] = "/tmp/tilewright-map-XXXXXX";
    twi_gpu_list list;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK || twi_gpu_select(ctx, &list) != TW_OK ||
        twi_rtc_version(ctx, version) != TW_OK) {
        printf("skipped: %s\n", tw_last_error(ctx));
        return 77;
    }
    if (mkdtemp(folder) == NULL || setenv("XDG_CACHE_HOME", folder, 1) != 0) {
        return 1;
    }
    check_functions();
    check_types();
    check_sizes();
    check_residues();
    check_broadcasts();
    check_repetition();
    check_cancel();
    check_host();
    check_cache();
    check_kept();
    printf("maps on a GPU: %d cases passed, %d failed\n", passed, failed);
    tw_context_destroy(ctx);
    return failed > 0;
}

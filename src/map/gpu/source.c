/*
 * The text of a map's kernel: see gpu/source.h. Values are arrays of lanes, v7[N], or of one lane
 * where the program says that they do not change along the row. An operation is one line; nothing
 * is left to do for it but to spell it, since the program has no rule of its own.
 */
#include "map/gpu/source.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LANES_F32 8   /* elements a thread computes, if registers allow */
#define LANES_F64 4   /* the same */
#define GROUP_MOST 32 /* elements of a group */
#define REGISTERS 160 /* for values of a program, of the 255 that a thread may have */
#define PASSES 256    /* between two looks at whether to go on */

/* ------------------------------------------------------------------------------------- text */

typedef struct writer {
    tw_context *ctx;
    char *text;
    uint64_t length, room;
    tw_status status;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (w->status == TW_OK && w->length + (uint64_t)more + 1 > w->room) {
        uint64_t room = 2 * (w->length + (uint64_t)more) + 4096;
        w->status = twi_grow(w->ctx, &w->text, w->length, room, 1, "the text of a kernel");
        w->room = w->status == TW_OK ? room : w->room;
    }
    if (w->status == TW_OK) {
        va_start(arguments, format);
        vsnprintf(w->text + w->length, w->room - w->length, format, arguments);
        va_end(arguments);
        w->length += (uint64_t)more;
    }
}

static const char *c_type(tw_type type)
{
    switch (type) {
    case TW_U8:
        return "unsigned char";
    case TW_U16:
        return "unsigned short";
    case TW_I16:
        return "short";
    case TW_I32:
        return "int";
    case TW_F32:
        return "float";
    default:
        return "double";
    }
}

/* A number as a literal of the compute type that reads back as itself. */
static void put_number(writer *w, double number, tw_type compute)
{
    bool single = compute == TW_F32;
    if (isnan(number)) {
        put(w,
            single ? "__int_as_float(0x7fc00000)" : "__longlong_as_double(0x7ff8000000000000ll)");
    } else if (isinf(number)) {
        put(w,
            single ? "%s__int_as_float(0x7f800000)"
                   : "%s__longlong_as_double(0x7ff0000000000000ll)",
            number < 0 ? "-" : "");
    } else {
        char digits[40];
        snprintf(digits, sizeof digits, single ? "%.9g" : "%.17g", number);
        put(w, "%s%s%s", digits, strpbrk(digits, ".e") == NULL ? ".0" : "", single ? "f" : "");
    }
}

/* ------------------------------------------------------------------------------- operations */

/* A program being written. */
typedef struct body {
    writer *w;
    const twi_map_job *job;
    const twi_program *program;
    const char *indent;
    bool looping; /* x is the value of the pass before */
} body;

static bool is_single(const body *b, int32_t value)
{
    return value < b->program->row_end;
}

/* Operand k of an operation, for one lane. */
static void put_operand(const body *b, const twi_operation *op, int k)
{
    const twi_operation *from = &b->program->ops[op->args[k]];
    if (from->code == TWI_OP_CONST) {
        put_number(b->w, from->number, b->program->compute);
    } else {
        put(b->w, "v%d[%s]", op->args[k], is_single(b, op->args[k]) ? "0" : "i");
    }
}

/* Operand k of a function, which takes all lanes. */
static void put_lanes(const body *b, const twi_operation *op, int k)
{
    const twi_operation *from = &b->program->ops[op->args[k]];
    if (from->code == TWI_OP_CONST) {
        put(b->w, "{");
        put_number(b->w, from->number, b->program->compute);
        put(b->w, "}");
    } else {
        put(b->w, "v%d", op->args[k]);
    }
}

static const char *infix(int code)
{
    switch (code) {
    case TWI_OP_ADD:
        return "+";
    case TWI_OP_SUB:
        return "-";
    case TWI_OP_MUL:
        return "*";
    case TWI_OP_DIV:
        return "/";
    case TWI_OP_LT:
        return "<";
    case TWI_OP_LE:
        return "<=";
    case TWI_OP_EQ:
        return "==";
    case TWI_OP_NE:
        return "!=";
    case TWI_OP_AND:
        return "&";
    case TWI_OP_OR:
        return "|";
    default:
        return NULL;
    }
}

static void put_stored(const body *b, const twi_operation *op)
{
    static const double low[] = {
        [TW_U8] = 0, [TW_U16] = 0, [TW_I16] = -32768, [TW_I32] = -2147483648.0};
    static const double high[] = {
        [TW_U8] = 255, [TW_U16] = 65535, [TW_I16] = 32767, [TW_I32] = 2147483647.0};
    if (op->type == TW_F32 || op->type == TW_F64) {
        put(b->w, "(number)(%s)", c_type(op->type));
        put_operand(b, op, 0);
        return;
    }
    put(b->w, "tw_whole(");
    put_operand(b, op, 0);
    put(b->w, ", (number)%.1f, (number)%.1f)", low[op->type], high[op->type]);
}

static void put_input(const body *b, const twi_operation *op)
{
    bool is_x = b->looping && op->index == b->job->x_input;
    if (is_x) {
        put(b->w, "x[i]");
    } else if (b->job->inputs[op->index].col_step == 0) {
        put(b->w, "in%d[0]", (int)op->index);
    } else {
        put(b->w, "in%d[FIRST + i * STEP]", (int)op->index);
    }
}

static void put_column(const body *b)
{
    put(b->w, "(col + (FIRST + i * STEP) / E * spread + (FIRST + i * STEP) %% E)");
}

/* The value of an operation that is no function, for one lane. */
static void put_value(const body *b, const twi_operation *op)
{
    writer *w = b->w;
    switch (op->code) {
    case TWI_OP_INPUT:
        put_input(b, op);
        break;
    case TWI_OP_ROW:
        put(w, "(number)row");
        break;
    case TWI_OP_ROW_MOD:
        put(w, "(number)(row %% %lldu)", (long long)op->period);
        break;
    case TWI_OP_COL:
        put(w, "(number)");
        put_column(b);
        break;
    case TWI_OP_COL_MOD:
        put(w, "(number)(");
        put_column(b);
        put(w, " %% %lldu)", (long long)op->period);
        break;
    case TWI_OP_NEG:
    case TWI_OP_NOT:
        put(w, op->code == TWI_OP_NEG ? "-" : "!");
        put_operand(b, op, 0);
        break;
    case TWI_OP_NUMBER:
        put(w, "(number)");
        put_operand(b, op, 0);
        break;
    case TWI_OP_SELECT:
        put_operand(b, op, 0);
        put(w, " ? ");
        put_operand(b, op, 1);
        put(w, " : ");
        put_operand(b, op, 2);
        break;
    case TWI_OP_STORED:
        put_stored(b, op);
        break;
    default:
        put_operand(b, op, 0);
        put(w, " %s ", infix(op->code));
        put_operand(b, op, 1);
        break;
    }
}

static bool is_function(const twi_operation *op)
{
    return op->code > TWI_OP_STORED;
}

static void put_operation(const body *b, int32_t value)
{
    const twi_operation *op = &b->program->ops[value];
    writer *w = b->w;
    bool single = is_single(b, value);
    if (op->code == TWI_OP_CONST) {
        return; /* stands where it is used */
    }
    put(w, "%s%s v%d[%s];", b->indent, op->mask ? "bool" : "number", value, single ? "1" : "N");
    if (is_function(op)) {
        put(w, " tw_%s(v%d, ", twi_op_name(op->code), value);
        put_lanes(b, op, 0);
        if (twi_op_arity(op->code) == 2) {
            put(w, ", ");
            put_lanes(b, op, 1);
        }
        put(w, ");\n");
        return;
    }
    put(w, single ? " v%d[0] = " : " TW_LANES v%d[i] = ", value);
    put_value(b, op);
    put(w, ";\n");
}

/* ---------------------------------------------------------------------------------- programs */

static void put_inputs(writer *w, const twi_map_source *source, const char *before)
{
    for (int32_t k = 0; k < source->input_count; k++) {
        put(w, "%sin%d", before, source->inputs[k]);
    }
}

static void put_result(const body *b)
{
    twi_operation whole = {.args = {b->program->result, -1, -1}};
    put_operand(b, &whole, 0);
}

static void put_program(writer *w, const twi_map_source *source, const twi_map_job *job,
                        int32_t number)
{
    const twi_program *program = &job->variants->programs[number];
    body b = {w, job, program, "    ", false};
    put(w, "template <int FIRST, int STEP, int N");
    put_inputs(w, source, ", class I");
    put(w, ">\nTW_DEVICE void program_%d(number (&y)[E * W]", number);
    for (int32_t k = 0; k < source->input_count; k++) {
        put(w, ", const Iin%d &in%d", source->inputs[k], source->inputs[k]);
    }
    put(w, ", place row, place col, place spread, count repeat, "
           "const volatile int *stop)\n{\n");
    for (int32_t i = 0; i < program->still_end; i++) {
        put_operation(&b, i);
    }
    if (program->result < program->still_end || job->repeat == 1) {
        for (int32_t i = program->still_end; i < program->count; i++) {
            put_operation(&b, i);
        }
        put(w, "    TW_LANES y[FIRST + i * STEP] = ");
        put_result(&b);
        put(w, ";\n}\n\n");
        return;
    }
    twi_operation x = {.code = TWI_OP_INPUT, .index = job->x_input};
    put(w, "    number x[N]; TW_LANES x[i] = ");
    put_input(&b, &x);
    /* As many passes as nobody waits for; then the question whether to go on. */
    put(w,
        ";\n    for (count pass = 0, end = 0; end < repeat;) {\n"
        "        if (repeat > %d && stop != 0 && *stop != 0) break;\n"
        "        end = repeat - pass < %d ? repeat : pass + %d;\n"
        "        for (; pass < end; pass++) {\n",
        PASSES, PASSES, PASSES);
    b.looping = true;
    b.indent = "            ";
    for (int32_t i = program->still_end; i < program->count; i++) {
        put_operation(&b, i);
    }
    put(w, "            TW_LANES x[i] = ");
    put_result(&b);
    put(w, ";\n        }\n    }\n    TW_LANES y[FIRST + i * STEP] = x[i];\n}\n\n");
}

/* ------------------------------------------------------------------------------------ kernel */

static int32_t least_common_multiple(int32_t a, int32_t b)
{
    int32_t x = a;
    int32_t y = b;
    while (y != 0) {
        int32_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static void choose_shape(twi_map_source *source, const twi_map_job *job)
{
    const twi_variants *variants = job->variants;
    size_t largest = 1;
    int32_t values = 1;
    for (int32_t k = 0; k < source->input_count; k++) {
        const twi_map_input *in = &job->inputs[source->inputs[k]];
        size_t size = tw_type_size(in->type);
        largest = in->col_step != 0 && size > largest ? size : largest;
    }
    const size_t out_size = tw_type_size(variants->type);
    largest = out_size > largest ? out_size : largest;
    for (int32_t p = 0; p < variants->program_count; p++) {
        int32_t places = variants->programs[p].places;
        values = places > values ? places : values;
    }
    values += source->input_count;
    int32_t lane = variants->compute == TW_F64 ? 2 : 1;
    int32_t lanes = variants->compute == TW_F64 ? LANES_F64 : LANES_F32;
    source->piece = (int32_t)(16 / largest);
    source->group = least_common_multiple(source->piece, variants->col_period);
    while (source->piece > 1 &&
           (source->group > GROUP_MOST || (int64_t)source->group * values * lane > REGISTERS)) {
        source->piece /= 2;
        source->group = least_common_multiple(source->piece, variants->col_period);
    }
    source->groups = source->group > 0 && lanes > source->group ? lanes / source->group : 1;
    while (source->groups > 1 &&
           (int64_t)source->groups * source->group * values * lane > REGISTERS) {
        source->groups--;
    }
}

static void put_arguments(writer *w, const twi_map_source *source)
{
    put(w, "struct arguments {\n"
           "    long long first_row, rows, cols, repeat, aligned;\n"
           "    const volatile int *stop;\n"
           "    char *out;\n"
           "    long long out_step;\n");
    for (int32_t k = 0; k < source->input_count; k++) {
        put(w, "    const char *in%d;\n    long long in%d_step;\n", source->inputs[k],
            source->inputs[k]);
    }
    put(w, "};\n\n");
}

static void put_loads(writer *w, const twi_map_source *source, const twi_map_job *job, bool whole)
{
    for (int32_t k = 0; k < source->input_count; k++) {
        int32_t input = source->inputs[k];
        const char *type = c_type(job->inputs[input].type);
        if (job->inputs[input].col_step == 0) {
            continue;
        }
        put(w,
            "            tw_load%s(in%d, (const %s *)(a.in%d + row * a.in%d_step) + col, "
            "spread%s);\n",
            whole ? "<E, U, W>" : "_some<E, W>", input, type, input, input, whole ? "" : ", left");
    }
}

static void put_call(writer *w, const twi_map_source *source, int32_t program, int32_t first,
                     int32_t step)
{
    int32_t lanes = source->group * source->groups / step;
    put(w, "            program_%d<%d, %d, %d>(y", program, first, step, lanes);
    put_inputs(w, source, ", ");
    put(w, ", (place)row, (place)col, (place)spread, (count)a.repeat, a.stop);\n");
}

/* The programs of one row residue: one for all columns, or one for each residue. */
static void put_row(writer *w, const twi_map_source *source, const twi_variants *variants,
                    int32_t row)
{
    int32_t period = variants->col_period;
    const int32_t *index = variants->index + row * period;
    bool same = true;
    for (int32_t c = 1; c < period; c++) {
        same = same && index[c] == index[0];
    }
    for (int32_t c = 0; c < (same ? 1 : period); c++) {
        put_call(w, source, index[c], c, same ? 1 : period);
    }
}

static bool is_first_of_kind(const twi_variants *variants, int32_t row, int32_t like)
{
    size_t bytes = (size_t)variants->col_period * sizeof *variants->index;
    return memcmp(variants->index + row * variants->col_period,
                  variants->index + like * variants->col_period, bytes) == 0;
}

/* Rows of equal programs share a case. */
static void put_rows(writer *w, const twi_map_source *source, const twi_variants *variants)
{
    int32_t period = variants->row_period;
    bool one = true;
    for (int32_t r = 1; r < period; r++) {
        one = one && is_first_of_kind(variants, r, 0);
    }
    if (one) {
        put(w, "        {\n");
        put_row(w, source, variants, 0);
        put(w, "        }\n");
        return;
    }
    put(w, "        switch ((unsigned)((place)row %% %du)) {\n", period);
    for (int32_t r = 0; r < period; r++) {
        bool seen = false;
        for (int32_t before = 0; before < r; before++) {
            seen = seen || is_first_of_kind(variants, before, r);
        }
        if (seen) {
            continue;
        }
        for (int32_t other = r; other < period; other++) {
            if (is_first_of_kind(variants, other, r)) {
                put(w, "        case %d:\n", other);
            }
        }
        put_row(w, source, variants, r);
        put(w, "            break;\n");
    }
    put(w, "        }\n");
}

static void put_kernel(writer *w, const twi_map_source *source, const twi_map_job *job)
{
    const char *type = c_type(job->variants->type);
    put(w, "extern \"C\" __global__ void __launch_bounds__(%d) %s(const arguments a)\n{\n",
        TWI_MAP_BLOCK, TWI_MAP_KERNEL);
    put(w, "    const long long spread = (long long)blockDim.x * E;\n"
           "    const long long col = blockIdx.x * spread * W + (long long)threadIdx.x * E;\n"
           "    const long long left = a.cols - col;\n"
           "    if (left <= 0) {\n"
           "        return;\n"
           "    }\n"
           "    const bool whole = a.aligned && (W - 1) * spread + E <= left;\n"
           "    long long row = a.first_row + (long long)blockIdx.y * blockDim.y + threadIdx.y;\n"
           "    for (; row < a.first_row + a.rows; row += (long long)gridDim.y * blockDim.y) {\n"
           "        number y[E * W];\n");
    for (int32_t k = 0; k < source->input_count; k++) {
        int32_t input = source->inputs[k];
        if (job->inputs[input].col_step != 0) {
            put(w, "        number in%d[E * W];\n", input);
        } else {
            put(w,
                "        const number in%d[1] = {(number)*(const %s *)(a.in%d + row * "
                "a.in%d_step)};\n",
                input, c_type(job->inputs[input].type), input, input);
        }
    }
    put(w, "        if (whole) {\n");
    put_loads(w, source, job, true);
    put(w, "        } else {\n");
    put_loads(w, source, job, false);
    put(w, "        }\n");
    put_rows(w, source, job->variants);
    put(w, "        %s *out = (%s *)(a.out + row * a.out_step) + col;\n", type, type);
    put(w, "        if (whole) {\n"
           "            tw_store<E, U, W>(out, y, spread);\n"
           "        } else {\n"
           "            tw_store_some<E, W>(out, y, spread, left);\n"
           "        }\n"
           "    }\n"
           "}\n");
}

/* ------------------------------------------------------------------------------------- whole */

/* Rows and columns are counted in 32 bits where they can be: a division by a period is then a
 * multiplication. */
static const char *place_type(const twi_map_job *job)
{
    bool small = job->cols <= INT32_MAX && job->first_row + job->row_count <= INT32_MAX;
    return small ? "unsigned" : "unsigned long long";
}

static void find_inputs(twi_map_source *source, const twi_map_job *job)
{
    uint32_t used = 0;
    for (int32_t p = 0; p < job->variants->program_count; p++) {
        used |= job->variants->programs[p].inputs;
    }
    for (int32_t k = 0; k < job->input_count; k++) {
        if ((used >> k & 1) != 0) {
            source->inputs[source->input_count++] = k;
        }
    }
}

tw_status twi_map_source_make(tw_context *ctx, twi_map_source *out, const twi_map_job *job)
{
    writer w = {.ctx = ctx};
    *out = (twi_map_source){0};
    find_inputs(out, job);
    choose_shape(out, job);
    put(&w, "typedef %s number;\ntypedef %s place;\ntypedef %s count;\n",
        c_type(job->variants->compute), place_type(job),
        job->repeat <= INT32_MAX ? "unsigned" : "unsigned long long");
    put(&w,
        "enum { E = %d, U = %d, W = %d }; /* elements a group and a piece, groups a thread */\n",
        out->group, out->piece, out->groups);
    put_arguments(&w, out);
    for (int32_t p = 0; p < job->variants->program_count; p++) {
        put_program(&w, out, job, p);
    }
    put_kernel(&w, out, job);
    out->text = w.text;
    tw_status status = w.status;
    if (status == TW_OK) {
        w = (writer){.ctx = ctx};
        put(&w, "%s\n%s", twi_map_gpu_functions, out->text);
        out->whole = w.text;
        status = w.status;
    }
    if (status != TW_OK) {
        twi_map_source_clear(out);
    }
    return status;
}

void twi_map_source_clear(twi_map_source *source)
{
    twi_free(source->whole);
    twi_free(source->text);
    *source = (twi_map_source){0};
}

/*
 * What a plan says of itself: types, method, the programs as listings, and what an element costs.
 * A value in a listing is v0, v1, ...; each line says how often it is computed and, where it is not
 * exact, its bound.
 */
#include "map/plan/explain.h"

#include "base/memory.h"
#include "map/language/tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_LISTED 4    /* programs */
#define MOST_LINES 200   /* of a program */
#define TEXT_BYTES 65536 /* besides the text of a kernel */

typedef struct text {
    char *at;
    size_t left;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(t->at, t->left, format, list);
    va_end(list);
    size_t taken = length < 0 ? 0 : (size_t)length < t->left ? (size_t)length : t->left - 1;
    t->at += taken;
    t->left -= taken;
}

static void put_value(text *t, const twi_operation *op, const tw_expr *expr)
{
    static const char *const signs[] = {
        [TWI_OP_ADD] = "+",  [TWI_OP_SUB] = "-", [TWI_OP_MUL] = "*", [TWI_OP_DIV] = "/",
        [TWI_OP_LT] = "<",   [TWI_OP_LE] = "<=", [TWI_OP_EQ] = "==", [TWI_OP_NE] = "!=",
        [TWI_OP_AND] = "&&", [TWI_OP_OR] = "||"};
    const int32_t *args = op->args;
    switch (op->code) {
    case TWI_OP_CONST:
        put(t, "%.9g", op->number);
        break;
    case TWI_OP_INPUT:
        put(t, "%s", twi_expr_input_name(expr, (int32_t)op->index));
        break;
    case TWI_OP_ROW:
    case TWI_OP_COL:
        put(t, "%s", twi_op_name((twi_op)op->code));
        break;
    case TWI_OP_ROW_MOD:
    case TWI_OP_COL_MOD:
        put(t, "%s %% %lld", op->code == TWI_OP_ROW_MOD ? "row" : "col", (long long)op->period);
        break;
    case TWI_OP_NEG:
        put(t, "-v%d", args[0]);
        break;
    case TWI_OP_NOT:
        put(t, "!v%d", args[0]);
        break;
    case TWI_OP_SELECT:
        put(t, "v%d ? v%d : v%d", args[0], args[1], args[2]);
        break;
    case TWI_OP_STORED:
        put(t, "as %s(v%d)", tw_type_name(op->type), args[0]);
        break;
    default:
        if (op->code >= TWI_OP_ADD && op->code <= TWI_OP_OR) {
            put(t, "v%d %s v%d", args[0], signs[op->code], args[1]);
        } else if (args[1] >= 0) {
            put(t, "%s(v%d, v%d)", twi_op_name((twi_op)op->code), args[0], args[1]);
        } else {
            put(t, "%s(v%d)", twi_op_name((twi_op)op->code), args[0]);
        }
        break;
    }
}

static const char *how_often(const twi_program *p, int32_t i)
{
    return i < p->uniform_end ? "once"
           : i < p->row_end   ? "per row"
           : i < p->col_end   ? "per column"
           : i < p->still_end ? "per element"
                              : "per pass";
}

static void put_program(text *t, const tw_map_plan *plan, const twi_program *p, const tw_expr *expr)
{
    for (int32_t i = 0; i < p->count && i < MOST_LINES; i++) {
        const twi_operation *op = &p->ops[i];
        const double bound = twi_op_ulp((twi_op)op->code, plan->setting.compute, plan->fast);
        const char *begin = t->at;
        put(t, "    v%d = ", i);
        put_value(t, op, expr);
        put(t, "%*s%s", (int)(t->at - begin < 40 ? 40 - (t->at - begin) : 1), "", how_often(p, i));
        if (bound > 0) {
            put(t, ", %.3g ulp", bound);
        }
        put(t, "%s\n", i == p->result ? ", the result" : "");
    }
    if (p->count > MOST_LINES) {
        put(t, "    and %d more\n", p->count - MOST_LINES);
    }
}

/* "row % 2 = 1, col % 2 = 0; ...": the residues that a program serves. */
static void put_residues(text *t, const twi_variants *v, int32_t program)
{
    const int32_t count = v->row_period * v->col_period;
    int32_t shown = 0;
    for (int32_t i = 0; i < count && shown < 8; i++) {
        if (v->index[i] != program) {
            continue;
        }
        put(t, "%s", shown++ > 0 ? "; " : "");
        if (v->row_period > 1) {
            put(t, "row %% %d = %d%s", v->row_period, i / v->col_period,
                v->col_period > 1 ? ", " : "");
        }
        if (v->col_period > 1) {
            put(t, "col %% %d = %d", v->col_period, i % v->col_period);
        }
    }
}

static void put_method(text *t, const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    const int32_t residues = v->row_period * v->col_period;
    if (plan->method == TWI_MAP_TABLE) {
        put(t, "method      table: %d of %lld entries, looked up by element\n", v->program_count,
            (long long)plan->table.entries);
    } else {
        put(t, "method      %s\n", twi_map_method_name(plan->method));
    }
    if (residues == 1) {
        put(t, "specialised no: one program for all elements\n");
    } else {
        put(t, "specialised by residue: %d row%s x %d column%s, %d different program%s\n",
            v->row_period, v->row_period == 1 ? "" : "s", v->col_period,
            v->col_period == 1 ? "" : "s", v->program_count, v->program_count == 1 ? "" : "s");
    }
}

static void put_costs(text *t, const tw_map_plan *plan)
{
    const double elements = (double)plan->shape.rows * (double)plan->shape.cols;
    const double bytes = twi_map_bytes(plan);
    char total[32];
    const double operations = twi_map_operations(plan);
    put(t, "per element %.3g bytes read and written, %.4g operation%s", bytes, operations,
        operations == 1 ? "" : "s");
    if (plan->setting.repeat > 1) {
        put(t, " in %lld passes, all in registers", (long long)plan->setting.repeat);
    }
    put(t, "\nminimum     %s read and written once\n", twi_bytes(total, bytes * elements));
}

static void put_all(text *t, const tw_map_plan *plan, const tw_expr *expr, bool automatic)
{
    const twi_variants *v = &plan->variants;
    put(t, "expression  %.2000s\n", expr->text);
    put(t, "result      %lld x %lld of %s, computed in %s%s\n", (long long)plan->shape.rows,
        (long long)plan->shape.cols, tw_type_name(plan->shape.type),
        tw_type_name(plan->setting.compute), plan->fast ? ", fast functions" : "");
    put_method(t, plan);
    put_costs(t, plan);
    if (plan->gpu != NULL) {
        const twi_map_source *source = &plan->gpu->source;
        put(t,
            "device      GPU: %d elements per thread, %d per access; functions within 1 ulp in "
            "f32, 2 in f64%s\nkernel\n%s",
            source->group * source->groups, source->piece,
            !automatic      ? ""
            : plan->gpu_ran ? "; its driver was already running, so its start is not counted"
                            : "; with the start of its driver faster than the CPU",
            twi_map_gpu_text(plan->gpu));
        return;
    }
    if (automatic && twi_gpu_prefix()[0] != '\0') {
        put(t,
            "device      CPU: %scopying these arrays to a GPU and back would cost more than "
            "it saves\n",
            plan->gpu_ran ? "a GPU's driver is already running, so its start is not counted, but "
                          : "");
    }
    for (int32_t i = 0; i < v->program_count && i < MOST_LISTED; i++) {
        put(t, "program");
        if (v->program_count > 1) {
            put(t, " %d of %d, for ", i + 1, v->program_count);
            put_residues(t, v, i);
        }
        put(t, "\n");
        put_program(t, plan, &v->programs[i], expr);
    }
}

tw_status twi_map_explain(tw_context *ctx, tw_map_plan *plan, const tw_expr *expr)
{
    char *room = NULL;
    const size_t bytes = TEXT_BYTES + (plan->gpu != NULL ? strlen(twi_map_gpu_text(plan->gpu)) : 0);
    tw_status status = twi_alloc(ctx, &room, bytes, 1, "an explanation");
    if (status != TW_OK) {
        return status;
    }
    text t = {room, bytes};
    put_all(&t, plan, expr, strcmp(ctx->device, "auto") == 0);
    status = twi_alloc(ctx, &plan->explanation, strlen(room) + 1, 1, "an explanation");
    if (status == TW_OK) {
        memcpy(plan->explanation, room, strlen(room) + 1);
    }
    twi_free(room);
    return status;
}

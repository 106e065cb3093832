/*
 * The naive evaluator: for each element every operation of the generic program in double precision,
 * correctly rounded to the compute type (scalar.c), pass by pass. No specialisation, no blocks, no
 * threads. It costs about a tenth of a microsecond an operation.
 */
#include "map/reference.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "map/language/scalar.h"

static void store(void *out, tw_type type, int64_t at, double value)
{
    value = twi_scalar_stored(value, type);
    switch (type) {
    case TW_U8:
        ((uint8_t *)out)[at] = (uint8_t)value;
        break;
    case TW_U16:
        ((uint16_t *)out)[at] = (uint16_t)value;
        break;
    case TW_I16:
        ((int16_t *)out)[at] = (int16_t)value;
        break;
    case TW_I32:
        ((int32_t *)out)[at] = (int32_t)value;
        break;
    case TW_F32:
        ((float *)out)[at] = (float)value;
        break;
    default:
        ((double *)out)[at] = value;
        break;
    }
}

/* One pass at one element. x is NULL in the first. */
static double evaluate(const twi_map_job *job, int64_t row, int64_t col, const double *x,
                       double *values)
{
    const twi_program *p = &job->variants->generic;
    for (int32_t i = 0; i < p->count; i++) {
        const twi_operation *op = &p->ops[i];
        double args[3] = {0, 0, 0};
        for (int a = 0; a < twi_op_arity((twi_op)op->code); a++) {
            args[a] = values[op->args[a]];
        }
        switch (op->code) {
        case TWI_OP_CONST:
            values[i] = op->number;
            break;
        case TWI_OP_INPUT: {
            const twi_map_input *in = &job->inputs[op->index];
            values[i] = x != NULL && op->index == job->x_input
                            ? *x
                            : twi_scalar_round(twi_element(in->data, in->type,
                                                           (row - job->input_row) * in->row_step +
                                                               col * in->col_step),
                                               p->compute);
            break;
        }
        case TWI_OP_ROW:
        case TWI_OP_COL:
            values[i] = twi_scalar_round((double)(op->code == TWI_OP_ROW ? row : col), p->compute);
            break;
        case TWI_OP_ROW_MOD:
        case TWI_OP_COL_MOD:
            values[i] = (double)((op->code == TWI_OP_ROW_MOD ? row : col) % op->period);
            break;
        default:
            values[i] = twi_scalar(op->code, op->type, p->compute, args);
            break;
        }
    }
    return values[p->result];
}

tw_status twi_map_reference_run(tw_context *ctx, const twi_map_job *job)
{
    const twi_program *p = &job->variants->generic;
    const tw_type type = job->variants->type;
    double *values = NULL;
    tw_status status =
        twi_alloc(ctx, &values, (uint64_t)p->count, sizeof *values, "the values of a map");
    for (int64_t r = 0; r < job->row_count && status == TW_OK; r++) {
        char *out = (char *)job->out + (size_t)r * (size_t)job->out_stride * tw_type_size(type);
        status = twi_check_cancel(ctx);
        for (int64_t c = 0; c < job->cols && status == TW_OK; c++) {
            double x = 0;
            for (int64_t pass = 0; pass < job->repeat; pass++) {
                x = evaluate(job, job->first_row + r, c, pass > 0 ? &x : NULL, values);
            }
            store(out, type, c, x);
        }
    }
    twi_free(values);
    return status;
}

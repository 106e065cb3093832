/* What is known of each opcode by itself: arguments, name, bound. */
#include "map/program/program.h"

typedef struct description {
    const char *name;
    uint8_t arity;
    float f32, f64, fast; /* ulp */
} description;

static const description operations[TWI_OP_COUNT] = {
    [TWI_OP_CONST] = {"const", 0, 0, 0, 0},
    [TWI_OP_INPUT] = {"input", 0, 0, 0, 0},
    [TWI_OP_ROW] = {"row", 0, 0, 0, 0},
    [TWI_OP_COL] = {"col", 0, 0, 0, 0},
    [TWI_OP_ROW_MOD] = {"row_mod", 0, 0, 0, 0},
    [TWI_OP_COL_MOD] = {"col_mod", 0, 0, 0, 0},
    [TWI_OP_NEG] = {"neg", 1, 0, 0, 0},
    [TWI_OP_ADD] = {"add", 2, 0.5F, 0.5F, 0.5F},
    [TWI_OP_SUB] = {"sub", 2, 0.5F, 0.5F, 0.5F},
    [TWI_OP_MUL] = {"mul", 2, 0.5F, 0.5F, 0.5F},
    [TWI_OP_DIV] = {"div", 2, 0.5F, 0.5F, 0.5F},
    [TWI_OP_LT] = {"lt", 2, 0, 0, 0},
    [TWI_OP_LE] = {"le", 2, 0, 0, 0},
    [TWI_OP_EQ] = {"eq", 2, 0, 0, 0},
    [TWI_OP_NE] = {"ne", 2, 0, 0, 0},
    [TWI_OP_AND] = {"and", 2, 0, 0, 0},
    [TWI_OP_OR] = {"or", 2, 0, 0, 0},
    [TWI_OP_NOT] = {"not", 1, 0, 0, 0},
    [TWI_OP_NUMBER] = {"number", 1, 0, 0, 0},
    [TWI_OP_SELECT] = {"select", 3, 0, 0, 0},
    [TWI_OP_STORED] = {"stored", 1, 0, 0, 0},
#define TWI_FUNCTION(ID, name, arguments, f32, f64, fast) \
    [TWI_OP_##ID] = {#name, arguments, (float)(f32), (float)(f64), (float)(fast)},
#include "map/functions/functions.def"
#undef TWI_FUNCTION
    [TWI_OP_CUBE] = {"cube", 1, 1, 1, 1},
    [TWI_OP_FOURTH] = {"fourth", 1, 1, 1, 1},
    [TWI_OP_INVERSE_SQUARE] = {"inverse_square", 1, 1, 1, 1},
};

int twi_op_arity(twi_op op)
{
    return operations[op].arity;
}

const char *twi_op_name(twi_op op)
{
    return operations[op].name;
}

double twi_op_ulp(twi_op op, tw_type compute, bool fast)
{
    const description *d = &operations[op];
    return (double)(compute == TW_F64 ? d->f64 : fast ? d->fast : d->f32);
}

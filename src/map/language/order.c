/*
 * A tree put in order as a program: nodes that the result does not need are left out, the rest is
 * sorted by what it depends on (program.h), and values get places by a scan over their lives. All
 * of it is linear in the number of nodes.
 */
#include "map/language/order.h"

#include "base/memory.h"

#include <string.h>

/* Of one element in a vector evaluator, in additions; from the instruction counts of the usual
 * polynomials. They only weigh one specialisation against another. */
double twi_op_cost(int code)
{
    switch (code) {
    case TWI_OP_CONST:
        return 0;
    case TWI_OP_DIV:
    case TWI_OP_SQRT:
        return 4;
    case TWI_OP_MOD:
        return 20;
    case TWI_OP_EXP:
    case TWI_OP_EXP2:
    case TWI_OP_LOG:
    case TWI_OP_LOG2:
    case TWI_OP_LOG10:
    case TWI_OP_ATAN:
        return 14;
    case TWI_OP_SIN:
    case TWI_OP_COS:
    case TWI_OP_ASIN:
    case TWI_OP_ACOS:
    case TWI_OP_LOG1P:
    case TWI_OP_EXPM1:
    case TWI_OP_CBRT:
        return 18;
    case TWI_OP_TAN:
    case TWI_OP_SINH:
    case TWI_OP_COSH:
    case TWI_OP_TANH:
    case TWI_OP_ATAN2:
        return 24;
    case TWI_OP_ASINH:
    case TWI_OP_ACOSH:
    case TWI_OP_ATANH:
        return 30;
    case TWI_OP_NEXTAFTER:
        return 8;
    case TWI_OP_POW:
        return 45;
    case TWI_OP_HYPOT:
        return 12;
    case TWI_OP_CUBE:
    case TWI_OP_FOURTH:
        return 5;
    case TWI_OP_INVERSE_SQUARE:
        return 10;
    case TWI_OP_STORED:
    case TWI_OP_ROW_MOD:
    case TWI_OP_COL_MOD:
        return 3;
    default:
        return 1;
    }
}

/* What a value depends on, by its operation and its operands. */
static uint8_t depends_on(const twi_operation *node, const uint8_t *depends,
                          const twi_map_setting *setting)
{
    uint8_t on = 0;
    switch (node->code) {
    case TWI_OP_ROW:
    case TWI_OP_ROW_MOD:
        return TWI_ON_ROW;
    case TWI_OP_COL:
    case TWI_OP_COL_MOD:
        return TWI_ON_COL;
    case TWI_OP_INPUT:
        return setting->repeat > 1 && node->index == setting->x_input
                   ? TWI_ON_ROW | TWI_ON_COL | TWI_ON_X
                   : setting->depends[node->index];
    default:
        for (int i = 0; i < twi_op_arity((twi_op)node->code); i++) {
            on |= depends[node->args[i]];
        }
        return on;
    }
}

/* The section of a program: uniform, row, column, still, pass. */
static int section_of(uint8_t depends)
{
    return depends & TWI_ON_X ? 4 : depends & (TWI_ON_ROW | TWI_ON_COL);
}

static void mark_live(const twi_tree *tree, int32_t root, uint8_t *live)
{
    memset(live, 0, (size_t)tree->count);
    live[root] = 1;
    for (int32_t i = root; i >= 0; i--) {
        const twi_operation *node = &tree->nodes[i];
        for (int a = 0; live[i] && a < twi_op_arity((twi_op)node->code); a++) {
            live[node->args[a]] = 1;
        }
    }
}

/* Copy live nodes section by section; number[] maps old to new. */
static void sort_nodes(twi_program *p, const twi_tree *tree, int32_t root, const uint8_t *live,
                       const uint8_t *depends, int32_t *number)
{
    int32_t *ends[] = {&p->uniform_end, &p->row_end, &p->col_end, &p->still_end, &p->count};
    p->count = 0;
    for (int section = 0; section < 5; section++) {
        for (int32_t i = 0; i <= root; i++) {
            if (!live[i] || section_of(depends[i]) != section) {
                continue;
            }
            twi_operation *op = &p->ops[p->count];
            *op = tree->nodes[i];
            op->depends = depends[i];
            op->place = -1;
            for (int a = 0; a < 3; a++) {
                op->args[a] = a < twi_op_arity((twi_op)op->code) ? number[op->args[a]] : -1;
            }
            if (op->code == TWI_OP_INPUT) {
                p->inputs |= (uint32_t)1 << op->index;
            }
            number[i] = p->count++;
        }
        *ends[section] = p->count;
    }
    p->result = number[root];
}

/* The last operation that uses each value; the count for those that must stay to the end. */
static void find_last_uses(const twi_program *p, int32_t *last)
{
    bool passes = p->still_end < p->count;
    for (int32_t i = 0; i < p->count; i++) {
        last[i] = i;
        for (int a = 0; a < twi_op_arity((twi_op)p->ops[i].code); a++) {
            int32_t arg = p->ops[i].args[a];
            bool kept = passes && i >= p->still_end && arg < p->still_end;
            last[arg] = kept || last[arg] == p->count ? p->count : i;
        }
    }
    last[p->result] = p->count;
}

static void assign_places(twi_program *p, const int32_t *last, uint8_t *taken)
{
    memset(taken, 0, (size_t)p->count);
    for (int32_t i = p->col_end; i < p->count; i++) {
        twi_operation *op = &p->ops[i];
        for (int a = 0; a < twi_op_arity((twi_op)op->code); a++) {
            const twi_operation *arg = &p->ops[op->args[a]];
            if (arg->place >= 0 && last[op->args[a]] == i) {
                taken[arg->place] = 0;
            }
        }
        int32_t place = 0;
        while (taken[place]) {
            place++;
        }
        taken[place] = 1;
        op->place = place;
        p->places = place + 1 > p->places ? place + 1 : p->places;
    }
}

static double cost_of(const twi_program *p)
{
    double cost = 0;
    for (int32_t i = 0; i < p->count; i++) {
        cost += (i < p->row_end ? 0 : i < p->col_end ? 0.05 : 1) * twi_op_cost(p->ops[i].code);
    }
    return cost;
}

tw_status twi_program_make(tw_context *ctx, twi_program *out, const twi_tree *tree, int32_t root,
                           const twi_map_setting *setting)
{
    const uint64_t count = (uint64_t)tree->count;
    uint8_t *flags = NULL; /* live, then depends */
    int32_t *numbers = NULL;
    *out = (twi_program){.compute = setting->compute};
    tw_status status = twi_alloc_zeroed(ctx, &flags, 2 * count, 1, "a program");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &numbers, count, sizeof *numbers, "a program");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->ops, count, sizeof *out->ops, "a program");
    }
    if (status == TW_OK) {
        uint8_t *depends = flags + count;
        mark_live(tree, root, flags);
        for (int32_t i = 0; i <= root; i++) {
            depends[i] = flags[i] ? depends_on(&tree->nodes[i], depends, setting) : 0;
        }
        sort_nodes(out, tree, root, flags, depends, numbers);
        find_last_uses(out, numbers);
        assign_places(out, numbers, flags);
        out->cost = cost_of(out);
    }
    twi_free(numbers);
    twi_free(flags);
    if (status != TW_OK) {
        twi_program_clear(out);
    }
    return status;
}

void twi_program_clear(twi_program *program)
{
    twi_free(program->ops);
    *program = (twi_program){0};
}

bool twi_program_same(const twi_program *a, const twi_program *b)
{
    if (a->count != b->count || a->result != b->result) {
        return false;
    }
    for (int32_t i = 0; i < a->count; i++) {
        const twi_operation *x = &a->ops[i], *y = &b->ops[i];
        if (x->code != y->code || x->type != y->type || x->period != y->period ||
            memcmp(x->args, y->args, sizeof x->args) != 0) {
            return false;
        }
    }
    return true;
}

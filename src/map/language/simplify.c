/*
 * One node of a new tree, made of simplified operands: constants are folded in the compute type,
 * and identities are applied that change no bit of any result (x - 0 is x, x + 0 is not: -0 + 0).
 * The one exception is stated in the header: small whole powers become operations of their own,
 * which have the bound of pow and not its bits.
 */
#include "map/language/simplify.h"

#include "base/memory.h"
#include "map/cpu/kernels.h"
#include "map/language/scalar.h"

#include <math.h>

#define MOST_MODULUS ((double)((int64_t)1 << 31))

static const twi_operation *node_of(const twi_simplifier *s, int32_t node)
{
    return &s->out->nodes[node];
}

static bool is_constant(const twi_simplifier *s, int32_t node)
{
    return node_of(s, node)->code == TWI_OP_CONST;
}

static bool is_number(const twi_simplifier *s, int32_t node, double value)
{
    const twi_operation *n = node_of(s, node);
    return n->code == TWI_OP_CONST && n->number == value && signbit(n->number) == signbit(value);
}

/* ------------------------------------------------------------------------- row % k and col % k */

int twi_index_uses(const twi_tree *tree, int32_t node)
{
    return tree->nodes[node].depends == 0 ? -1 : tree->nodes[node].depends & ~TWI_ON_X;
}

/* `depends` of a node under construction: 0 if it is no index, else what it uses and TWI_ON_X. */
static uint8_t index_bits(const twi_tree *tree, const twi_operation *node)
{
    switch (node->code) {
    case TWI_OP_ROW:
        return TWI_ON_X | TWI_ON_ROW;
    case TWI_OP_COL:
        return TWI_ON_X | TWI_ON_COL;
    case TWI_OP_CONST:
        return !node->mask && node->number >= 0 && node->number < MOST_MODULUS &&
                       node->number == floor(node->number)
                   ? TWI_ON_X
                   : 0;
    case TWI_OP_ADD:
    case TWI_OP_MUL: {
        uint8_t a = tree->nodes[node->args[0]].depends, b = tree->nodes[node->args[1]].depends;
        return a != 0 && b != 0 ? a | b : 0;
    }
    default:
        return 0;
    }
}

static int32_t number(twi_simplifier *s, double value)
{
    int32_t node = twi_tree_number(s->out, value);
    if (node >= 0) {
        s->out->nodes[node].depends = index_bits(s->out, &s->out->nodes[node]);
    }
    return node;
}

tw_status twi_index_modulo(const twi_tree *tree, int32_t node, int64_t row, int64_t col, int64_t k,
                           int64_t *out)
{
    int64_t *value = NULL;
    tw_status status = twi_alloc(tree->ctx, &value, (uint64_t)node + 1, sizeof *value, "an index");
    if (status != TW_OK) {
        return status;
    }
    for (int32_t i = 0; i <= node; i++) {
        const twi_operation *n = &tree->nodes[i];
        if (n->depends == 0) {
            continue;
        }
        int64_t v = n->code == TWI_OP_ROW     ? row
                    : n->code == TWI_OP_COL   ? col
                    : n->code == TWI_OP_CONST ? (int64_t)n->number
                    : n->code == TWI_OP_ADD
                        ? value[n->args[0]] + value[n->args[1]]
                        : value[n->args[0]] * value[n->args[1]]; /* both below k <= 2^31 */
        value[i] = v % k;
    }
    *out = value[node];
    twi_free(value);
    return TW_OK;
}

/* The remainder of an index by a constant: a number if the residues are known, an operation in
 * whole numbers for row and col themselves; -2 if it is neither. */
static int32_t remainder_of_index(twi_simplifier *s, int32_t index, int32_t modulus)
{
    const twi_operation *m = node_of(s, modulus);
    int uses = twi_index_uses(s->out, index);
    if (m->code != TWI_OP_CONST || !(m->number >= 1 && m->number <= MOST_MODULUS) ||
        m->number != floor(m->number) || uses <= 0) {
        return -2;
    }
    const int64_t k = (int64_t)m->number;
    bool row_known = k == 1 || (s->row_period > 0 && s->row_period % k == 0);
    bool col_known = k == 1 || (s->col_period > 0 && s->col_period % k == 0);
    if ((row_known || !(uses & TWI_ON_ROW)) && (col_known || !(uses & TWI_ON_COL))) {
        int64_t value = 0;
        tw_status status =
            twi_index_modulo(s->out, index, s->row_residue, s->col_residue, k, &value);
        if (status != TW_OK) {
            s->out->status = status;
            return -1;
        }
        return number(s, (double)value);
    }
    const int code = node_of(s, index)->code;
    if (code != TWI_OP_ROW && code != TWI_OP_COL) {
        return -2;
    }
    twi_operation node = {.code = code == TWI_OP_ROW ? TWI_OP_ROW_MOD : TWI_OP_COL_MOD,
                          .args = {-1, -1, -1},
                          .period = k};
    return twi_tree_add(s->out, &node);
}

static int32_t known_residue(twi_simplifier *s, const twi_operation *node)
{
    bool row = node->code == TWI_OP_ROW_MOD;
    int64_t period = row ? s->row_period : s->col_period;
    int64_t residue = row ? s->row_residue : s->col_residue;
    if (period > 0 && period % node->period == 0) {
        return number(s, (double)(residue % node->period));
    }
    return twi_tree_add(s->out, node);
}

/* ---------------------------------------------------------------------------------- identities */

static int32_t call(twi_simplifier *s, int code, int32_t a, int32_t b)
{
    twi_operation node = {
        .code = (uint8_t)code, .mask = twi_op_gives_mask(code), .args = {a, b, -1}, .number = 0};
    return twi_simplify(s, &node);
}

/* Whole powers that need no logarithm; -2 for any other. */
static int32_t power(twi_simplifier *s, int32_t x, int32_t exponent)
{
    const double n = is_constant(s, exponent) ? node_of(s, exponent)->number : (double)NAN;
    if (n == 0 || n == 1) {
        return n == 0 ? number(s, 1) : x;
    }
    if (n == 2 || n == -1) {
        return n == 2 ? call(s, TWI_OP_MUL, x, x) : call(s, TWI_OP_DIV, number(s, 1), x);
    }
    return n == 3    ? call(s, TWI_OP_CUBE, x, -1)
           : n == 4  ? call(s, TWI_OP_FOURTH, x, -1)
           : n == -2 ? call(s, TWI_OP_INVERSE_SQUARE, x, -1)
                     : -2;
}

/* x / c is x * (1/c) where 1/c is exact and normal: c is a power of two. */
static int32_t divide(twi_simplifier *s, int32_t a, int32_t b)
{
    int exponent;
    const double c = is_constant(s, b) ? node_of(s, b)->number : 0;
    if (c == 1) {
        return a;
    }
    if (c != 0 && isfinite(c) && fabs(frexp(c, &exponent)) == 0.5 && exponent > -100 &&
        exponent < 100) {
        return call(s, TWI_OP_MUL, a, number(s, 1 / c));
    }
    return -2;
}

static int32_t select_of(twi_simplifier *s, const twi_operation *node)
{
    if (is_constant(s, node->args[0])) {
        return node->args[node_of(s, node->args[0])->number != 0 ? 1 : 2];
    }
    if (node->args[1] == node->args[2]) {
        return node->args[1];
    }
    if (node_of(s, node->args[0])->code == TWI_OP_NOT) {
        twi_operation turned = *node;
        turned.args[0] = node_of(s, node->args[0])->args[0];
        turned.args[1] = node->args[2];
        turned.args[2] = node->args[1];
        return twi_tree_add(s->out, &turned);
    }
    return -2;
}

/* && and || with a constant, or with the same on both sides. */
static int32_t logic(twi_simplifier *s, int code, int32_t a, int32_t b)
{
    for (int turn = 0; turn < 2; turn++) {
        int32_t one = turn == 0 ? a : b, other = turn == 0 ? b : a;
        if (is_constant(s, one)) {
            bool truth = node_of(s, one)->number != 0;
            return truth == (code == TWI_OP_AND) ? other : one;
        }
    }
    return a == b ? a : -2;
}

static int32_t identity(twi_simplifier *s, const twi_operation *node)
{
    const int32_t a = node->args[0], b = node->args[1];
    switch (node->code) {
    case TWI_OP_NEG:
    case TWI_OP_NOT:
        return node_of(s, a)->code == node->code ? node_of(s, a)->args[0] : -2;
    case TWI_OP_ABS:
        return node_of(s, a)->code == TWI_OP_ABS   ? a
               : node_of(s, a)->code == TWI_OP_NEG ? call(s, TWI_OP_ABS, node_of(s, a)->args[0], -1)
                                                   : -2;
    case TWI_OP_ADD:
        return is_number(s, b, -0.0) ? a : is_number(s, a, -0.0) ? b : -2;
    case TWI_OP_SUB:
        return is_number(s, b, 0.0) ? a : -2;
    case TWI_OP_MUL:
        return is_number(s, b, 1.0) ? a : is_number(s, a, 1.0) ? b : -2;
    case TWI_OP_DIV:
        return divide(s, a, b);
    case TWI_OP_MOD:
        return remainder_of_index(s, a, b);
    case TWI_OP_AND:
    case TWI_OP_OR:
        return logic(s, node->code, a, b);
    case TWI_OP_NE: /* a truth value as a number, taken as a truth value again */
        return is_number(s, b, 0.0) && node_of(s, a)->code == TWI_OP_NUMBER ? node_of(s, a)->args[0]
                                                                            : -2;
    case TWI_OP_SELECT:
        return select_of(s, node);
    default:
        return -2;
    }
}

/* ------------------------------------------------------------------------------------- one node */

static bool foldable(const twi_simplifier *s, const twi_operation *node, double args[3])
{
    int arity = twi_op_arity((twi_op)node->code);
    for (int i = 0; i < arity; i++) {
        if (!is_constant(s, node->args[i])) {
            return false;
        }
        args[i] = node_of(s, node->args[i])->number;
    }
    return arity > 0;
}

/* A function by the kernel that computes it of elements: sin(2) has the bits of sin(x) where x is
 * 2, on every machine and with any C library. */
static double by_kernel(int code, tw_type compute, const double args[3])
{
    const twi_map_kernel *kernel = twi_map_kernel_find(TWI_ISA_SCALAR);
    const int64_t step[3] = {0, 0, 0};
    float f32[4][TWI_MAP_GRAIN];
    double f64[4][TWI_MAP_GRAIN];
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < TWI_MAP_GRAIN; i++) {
            f32[a][i] = (float)args[a];
            f64[a][i] = args[a];
        }
    }
    if (compute == TW_F32) {
        kernel->f32->operation[code](f32[3], (const void *const[3]){f32[0], f32[1], f32[2]}, step,
                                     TWI_MAP_GRAIN);
        return (double)f32[3][0];
    }
    kernel->f64->operation[code](f64[3], (const void *const[3]){f64[0], f64[1], f64[2]}, step,
                                 TWI_MAP_GRAIN);
    return f64[3][0];
}

static double fold(const twi_operation *node, tw_type compute, const double args[3])
{
    bool inexact = twi_op_ulp((twi_op)node->code, compute, false) > 0.5;
    return inexact ? by_kernel(node->code, compute, args)
                   : twi_scalar(node->code, node->type, compute, args);
}

static bool commutes(int code)
{
    return code == TWI_OP_ADD || code == TWI_OP_MUL || code == TWI_OP_EQ || code == TWI_OP_NE ||
           code == TWI_OP_AND || code == TWI_OP_OR;
}

int32_t twi_simplify(twi_simplifier *s, const twi_operation *given)
{
    twi_operation node = *given;
    double args[3] = {0, 0, 0};
    node.depends = 0;
    for (int i = 0; i < twi_op_arity(node.code < TWI_OP_COUNT ? (twi_op)node.code : TWI_OP_CONST);
         i++) {
        if (node.args[i] < 0) {
            return -1;
        }
    }
    switch (node.code) {
    case TWI_OP_CONST:
        return node.mask ? twi_tree_add(s->out, &node)
                         : number(s, twi_scalar_round(node.number, s->compute));
    case TWI_TREE_ROWS:
    case TWI_TREE_COLS:
        return number(s, twi_scalar_round((double)(node.code == TWI_TREE_ROWS ? s->rows : s->cols),
                                          s->compute));
    case TWI_OP_ROW_MOD:
    case TWI_OP_COL_MOD:
        return known_residue(s, &node);
    default:
        break;
    }
    /* Before folding: 3^4 has the bits of x^4 where x is 3. */
    int32_t simple = node.code == TWI_OP_POW ? power(s, node.args[0], node.args[1]) : -2;
    if (simple != -2) {
        return simple;
    }
    if (foldable(s, &node, args)) {
        double value = fold(&node, s->compute, args);
        return twi_op_gives_mask(node.code) ? twi_tree_truth(s->out, value != 0) : number(s, value);
    }
    if (commutes(node.code) && is_constant(s, node.args[0])) { /* constants to the right */
        int32_t first = node.args[0];
        node.args[0] = node.args[1];
        node.args[1] = first;
    } else if (commutes(node.code) && !is_constant(s, node.args[1]) &&
               node.args[0] > node.args[1]) { /* a + b and b + a are one */
        int32_t first = node.args[0];
        node.args[0] = node.args[1];
        node.args[1] = first;
    }
    simple = twi_op_arity((twi_op)node.code) > 0 ? identity(s, &node) : -2;
    if (simple != -2) {
        return simple;
    }
    int32_t before = s->out->count;
    int32_t made = twi_tree_add(s->out, &node);
    if (made == before) {
        s->out->nodes[made].depends = index_bits(s->out, &node);
    }
    return made;
}

tw_status twi_simplify_all(twi_simplifier *s, const twi_tree *from, int32_t *map)
{
    for (int32_t i = 0; i < from->count && s->out->status == TW_OK; i++) {
        twi_operation node = from->nodes[i];
        for (int a = 0; a < 3; a++) {
            node.args[a] = node.args[a] < 0 ? -1 : map[node.args[a]];
        }
        map[i] = twi_simplify(s, &node);
    }
    return s->out->status;
}

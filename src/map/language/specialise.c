/*
 * Specialisation. The generic tree is made first: types, shape, no-data and the store are written
 * out and everything is simplified. Its remainders of row and col by small constants have common
 * periods; for each residue the tree is simplified once more, with the remainder known, and what
 * differs becomes a program of its own.
 *
 * Rows cost nothing to specialise: an evaluator works on one row at a time. Columns cost a
 * rearrangement of every block, so they are specialised only if the programs become cheaper by
 * more than that.
 */
#include "map/language/specialise.h"

#include "base/memory.h"
#include "map/language/order.h"
#include "map/language/scalar.h"
#include "map/language/simplify.h"

#include <math.h>
#include <string.h>

#define REARRANGING 1.5 /* additions, for each array read or written and element */
#define MOST_WORK 65536 /* nodes to be simplified for all residues together */

typedef struct specialiser {
    tw_context *ctx;
    const twi_map_setting *setting;
    twi_tree tree; /* the generic one */
    int32_t root;
    int32_t *map; /* room for the numbers of its nodes, or of the expression's */
} specialiser;

/* ----------------------------------------------------------------------------- the generic tree */

/* `value` but for the places without data, where it is the mark. NaN is no data in integers. */
static int32_t mark_no_data(twi_simplifier *s, const specialiser *sp, int32_t value,
                            uint32_t inputs)
{
    const twi_map_setting *setting = sp->setting;
    const double mark = twi_scalar_round(setting->no_data, setting->compute);
    bool whole = setting->type != TW_F32 && setting->type != TW_F64;
    int32_t missing = -1;
    if (!setting->has_no_data) {
        return value;
    }
    twi_operation node = {.args = {-1, -1, -1}, .number = 0};
    for (int32_t k = whole ? -1 : 0; k < TWI_MAP_INPUTS; k++) {
        if (k >= 0 && (inputs >> k & 1) == 0) {
            continue;
        }
        int32_t v = k < 0 ? value : twi_tree_input(s->out, k);
        bool compare_nan = k < 0 || isnan(mark);
        node.code = compare_nan ? TWI_OP_NE : TWI_OP_EQ;
        node.mask = 1;
        node.args[0] = v;
        node.args[1] = compare_nan ? v : twi_tree_number(s->out, mark);
        int32_t here = v < 0 ? -1 : twi_simplify(s, &node);
        node.code = TWI_OP_OR;
        node.args[0] = missing;
        node.args[1] = here;
        missing = missing < 0 ? here : twi_simplify(s, &node);
    }
    if (missing < 0) {
        return value;
    }
    twi_operation select = {.code = TWI_OP_SELECT,
                            .args = {missing, twi_tree_number(s->out, mark), value},
                            .number = 0};
    return select.args[1] < 0 ? -1 : twi_simplify(s, &select);
}

static tw_status make_generic(specialiser *sp, const tw_expr *expr)
{
    const twi_map_setting *setting = sp->setting;
    twi_simplifier s = {.out = &sp->tree,
                        .compute = setting->compute,
                        .rows = setting->rows,
                        .cols = setting->cols};
    uint32_t inputs = 0;
    for (int32_t i = 0; i < expr->tree.count; i++) {
        const twi_operation *node = &expr->tree.nodes[i];
        inputs |= node->code == TWI_OP_INPUT ? (uint32_t)1 << node->index : 0;
    }
    tw_status status = twi_simplify_all(&s, &expr->tree, sp->map);
    if (status != TW_OK) {
        return status;
    }
    sp->root = mark_no_data(&s, sp, sp->map[expr->root], inputs);
    if (setting->type != setting->compute && setting->type != TW_F64 && sp->root >= 0) {
        twi_operation stored = {.code = TWI_OP_STORED,
                                .type = (uint8_t)setting->type,
                                .args = {sp->root, -1, -1},
                                .number = 0};
        sp->root = twi_simplify(&s, &stored);
    }
    return sp->tree.status;
}

/* -------------------------------------------------------------------------------------- periods */

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y != 0) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* The modulus of a node that is a remainder of row or col (`uses` of either), else 0. */
static int64_t modulus_of(const twi_tree *tree, const twi_operation *node, int *uses)
{
    if (node->code == TWI_OP_ROW_MOD || node->code == TWI_OP_COL_MOD) {
        *uses = node->code == TWI_OP_ROW_MOD ? TWI_ON_ROW : TWI_ON_COL;
        return node->period;
    }
    if (node->code == TWI_OP_MOD && tree->nodes[node->args[1]].code == TWI_OP_CONST) {
        double k = tree->nodes[node->args[1]].number;
        *uses = twi_index_uses(tree, node->args[0]);
        if (*uses > 0 && k >= 1 && k <= TWI_MAP_ROW_PERIOD && k == floor(k)) {
            return (int64_t)k;
        }
    }
    return 0;
}

/* Common periods of the remainders, the smallest first, as far as the limits allow. */
static void find_periods(const specialiser *sp, int64_t *row_period, int64_t *col_period)
{
    *row_period = *col_period = 1;
    for (int64_t k = 2; k <= TWI_MAP_ROW_PERIOD; k++) {
        for (int32_t i = 0; i < sp->tree.count; i++) {
            int uses = 0;
            if (modulus_of(&sp->tree, &sp->tree.nodes[i], &uses) != k) {
                continue;
            }
            int64_t row = uses & TWI_ON_ROW ? common_multiple(*row_period, k) : *row_period;
            int64_t col = uses & TWI_ON_COL ? common_multiple(*col_period, k) : *col_period;
            if (row <= TWI_MAP_ROW_PERIOD && col <= TWI_MAP_COL_PERIOD &&
                row * col <= TWI_MAP_VARIANTS && row * col * sp->tree.count <= MOST_WORK) {
                *row_period = row;
                *col_period = col;
            }
        }
    }
}

/* ------------------------------------------------------------------------------------- programs */

/* The program of one residue, into *out. */
static tw_status make_variant(const specialiser *sp, twi_program *out, int64_t row_period,
                              int64_t row, int64_t col_period, int64_t col)
{
    twi_tree tree;
    twi_simplifier s = {.out = &tree,
                        .compute = sp->setting->compute,
                        .rows = sp->setting->rows,
                        .cols = sp->setting->cols,
                        .row_period = row_period,
                        .row_residue = row,
                        .col_period = col_period,
                        .col_residue = col};
    twi_tree_init(&tree, sp->ctx, TWI_MAP_OPERATIONS);
    tw_status status = twi_simplify_all(&s, &sp->tree, sp->map);
    if (status == TW_OK) {
        status = twi_program_make(sp->ctx, out, &tree, sp->map[sp->root], sp->setting);
    }
    twi_tree_clear(&tree);
    return status;
}

static int32_t find_program(const twi_variants *v, const twi_program *program)
{
    for (int32_t i = 0; i < v->program_count; i++) {
        if (twi_program_same(&v->programs[i], program)) {
            return i;
        }
    }
    return -1;
}

/* All residues of the given periods. */
static tw_status make_all(const specialiser *sp, twi_variants *v, int64_t row_period,
                          int64_t col_period)
{
    const int64_t count = row_period * col_period;
    tw_status status = twi_alloc_zeroed(sp->ctx, &v->programs, (uint64_t)count, sizeof *v->programs,
                                        "the programs of a map");
    v->row_period = (int32_t)row_period;
    v->col_period = (int32_t)col_period;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        twi_program program;
        status = make_variant(sp, &program, row_period, i / col_period, col_period, i % col_period);
        if (status != TW_OK) {
            break;
        }
        v->index[i] = find_program(v, &program);
        if (v->index[i] < 0) {
            v->index[i] = v->program_count;
            v->programs[v->program_count++] = program;
        } else {
            twi_program_clear(&program);
        }
    }
    return status;
}

static void clear_programs(twi_variants *v)
{
    for (int32_t i = 0; i < v->program_count; i++) {
        twi_program_clear(&v->programs[i]);
    }
    twi_free(v->programs);
    v->programs = NULL;
    v->program_count = 0;
}

/* Additions per element, on average over the residues. */
static double average_cost(const twi_variants *v)
{
    const int32_t count = v->row_period * v->col_period;
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        const twi_program *p = &v->programs[v->index[i]];
        int arrays = 1 + __builtin_popcount(p->inputs);
        sum += p->cost + (v->col_period > 1 ? REARRANGING * arrays : 0);
    }
    return sum / count;
}

/* Halve, third, ... a period while residues that then coincide have the same program. */
static void shorten(twi_variants *v, bool rows)
{
    const int32_t row_period = v->row_period, col_period = v->col_period;
    const int32_t period = rows ? row_period : col_period;
    for (int32_t shorter = 1; shorter < period; shorter++) {
        bool enough = period % shorter == 0;
        for (int32_t i = 0; i < row_period * col_period && enough; i++) {
            int32_t r = i / col_period, c = i % col_period;
            int32_t other = rows ? r % shorter * col_period + c : r * col_period + c % shorter;
            enough = v->index[i] == v->index[other];
        }
        if (!enough) {
            continue;
        }
        int32_t kept = 0;
        for (int32_t i = 0; i < row_period * col_period; i++) {
            if ((rows ? i / col_period : i % col_period) < shorter) {
                v->index[kept++] = v->index[i];
            }
        }
        *(rows ? &v->row_period : &v->col_period) = shorter;
        return;
    }
}

static tw_status choose(const specialiser *sp, twi_variants *out)
{
    int64_t row_period, col_period;
    twi_variants rows_only = {.row_period = 1};
    find_periods(sp, &row_period, &col_period);
    tw_status status = make_all(sp, out, row_period, col_period);
    if (status == TW_OK && col_period > 1) {
        status = make_all(sp, &rows_only, row_period, 1);
    }
    if (status == TW_OK) {
        shorten(out, true);
        shorten(out, false);
    }
    if (status == TW_OK && out->col_period > 1 && average_cost(&rows_only) <= average_cost(out)) {
        twi_program *programs = out->programs;
        int32_t count = out->program_count;
        out->programs = rows_only.programs;
        out->program_count = rows_only.program_count;
        out->row_period = rows_only.row_period;
        out->col_period = 1;
        memcpy(out->index, rows_only.index, sizeof out->index);
        rows_only.programs = programs;
        rows_only.program_count = count;
        shorten(out, true);
    }
    clear_programs(&rows_only);
    return status;
}

tw_status twi_variants_make(tw_context *ctx, twi_variants *out, const tw_expr *expr,
                            const twi_map_setting *setting)
{
    specialiser sp = {.ctx = ctx, .setting = setting};
    int32_t room = expr->tree.count > TWI_MAP_OPERATIONS ? expr->tree.count : TWI_MAP_OPERATIONS;
    *out = (twi_variants){.compute = setting->compute, .type = setting->type};
    twi_tree_init(&sp.tree, ctx, TWI_MAP_OPERATIONS);
    tw_status status = twi_alloc(ctx, &sp.map, (uint64_t)room, sizeof *sp.map, "a program");
    if (status == TW_OK) {
        status = make_generic(&sp, expr);
    }
    if (status == TW_OK) {
        status = twi_program_make(ctx, &out->generic, &sp.tree, sp.root, setting);
    }
    if (status == TW_OK) {
        status = choose(&sp, out);
    }
    twi_free(sp.map);
    twi_tree_clear(&sp.tree);
    if (status != TW_OK) {
        twi_variants_clear(out);
    }
    return status;
}

void twi_variants_clear(twi_variants *variants)
{
    clear_programs(variants);
    twi_program_clear(&variants->generic);
}

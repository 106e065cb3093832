/*
 * From text to tree. The parser keeps two stacks on the heap, operands and operators that wait for
 * their right side, and reduces by precedence; it never recurses, so a text can be as deep as it
 * likes and is refused at a stated depth, not by a crash. Time and memory are linear in the text.
 */
#include "base/given.h"
#include "base/memory.h"
#include "map/language/names.h"
#include "map/language/tokens.h"

#include <string.h>

#define MOST_DEPTH 10000
#define MOST_NODES 65536
#define MOST_CONSTANTS 1024

static const struct {
    const char *sign;
    int precedence;
    int code;
} binaries[] = {
    [TWI_OR] = {"||", 2, TWI_OP_OR},     [TWI_AND] = {"&&", 3, TWI_OP_AND},
    [TWI_EQ] = {"==", 4, TWI_OP_EQ},     [TWI_NE] = {"!=", 4, TWI_OP_NE},
    [TWI_LT] = {"<", 5, TWI_OP_LT},      [TWI_LE] = {"<=", 5, TWI_OP_LE},
    [TWI_GT] = {">", 5, TWI_OP_LT},      [TWI_GE] = {">=", 5, TWI_OP_LE},
    [TWI_ADD] = {"+", 6, TWI_OP_ADD},    [TWI_SUB] = {"-", 6, TWI_OP_SUB},
    [TWI_MUL] = {"*", 7, TWI_OP_MUL},    [TWI_DIV] = {"/", 7, TWI_OP_DIV},
    [TWI_MOD] = {"%", 7, TWI_OP_MOD},    [TWI_POW] = {"^", 9, TWI_OP_POW},
    [TWI_NEG] = {"-", 8, TWI_OP_NEG},    [TWI_PLUS] = {"+", 8, TWI_OP_COUNT},
    [TWI_NOT] = {"!", 8, TWI_OP_NOT},    [TWI_COLON] = {":", 1, TWI_OP_SELECT},
    [TWI_QUESTION] = {"?", 0, 0},        [TWI_PAREN] = {"(", 0, 0},
    [TWI_FUNCTION] = {"function", 0, 0},
};

typedef struct operand {
    int32_t node;
    bool comparison; /* one without parentheses around it */
} operand;

typedef struct waiting {
    twi_sign kind;
    int32_t arguments; /* FUNCTION: complete ones */
    const twi_function *function;
    const char *at;
} waiting;

typedef struct parser {
    tw_context *ctx;
    const tw_expr_options *opts;
    twi_tree *tree;
    twi_scanner scan;
    operand *operands;
    int64_t operand_count, operand_capacity;
    waiting *operators;
    int64_t operator_count, operator_capacity;
} parser;

/* --------------------------------------------------------------------------------------- stacks */

static tw_status push_operand(parser *p, int32_t node, bool comparison)
{
    if (p->tree->status != TW_OK) {
        return p->tree->status;
    }
    if (p->operand_count == p->operand_capacity) {
        int64_t capacity = p->operand_capacity > 0 ? p->operand_capacity * 2 : 64;
        tw_status status =
            twi_grow(p->ctx, &p->operands, (uint64_t)p->operand_count * sizeof *p->operands,
                     (uint64_t)capacity, sizeof *p->operands, "the parser");
        if (status != TW_OK) {
            return status;
        }
        p->operand_capacity = capacity;
    }
    p->operands[p->operand_count++] = (operand){node, comparison};
    return TW_OK;
}

static tw_status push_operator(parser *p, twi_sign kind, const twi_function *function)
{
    if (p->operator_count == MOST_DEPTH) {
        return twi_complain(&p->scan, p->scan.token.begin, "nested deeper than %d", MOST_DEPTH);
    }
    if (p->operator_count == p->operator_capacity) {
        int64_t capacity = p->operator_capacity > 0 ? p->operator_capacity * 2 : 64;
        tw_status status =
            twi_grow(p->ctx, &p->operators, (uint64_t)p->operator_count * sizeof *p->operators,
                     (uint64_t)capacity, sizeof *p->operators, "the parser");
        if (status != TW_OK) {
            return status;
        }
        p->operator_capacity = capacity;
    }
    p->operators[p->operator_count++] = (waiting){kind, 0, function, p->scan.token.begin};
    return TW_OK;
}

static waiting *top(parser *p)
{
    return p->operator_count > 0 ? &p->operators[p->operator_count - 1] : NULL;
}

/* ------------------------------------------------------------------------------------ reductions
 */

static int32_t build_binary(twi_tree *t, twi_sign kind, int32_t a, int32_t b)
{
    int code = binaries[kind].code;
    if (kind == TWI_OR || kind == TWI_AND) {
        return twi_tree_call(t, code, twi_tree_as_mask(t, a), twi_tree_as_mask(t, b), -1);
    }
    a = twi_tree_as_number(t, a);
    b = twi_tree_as_number(t, b);
    return kind == TWI_GT || kind == TWI_GE ? twi_tree_call(t, code, b, a, -1)
                                            : twi_tree_call(t, code, a, b, -1);
}

/* Apply the operator on top of the stack to the operands it has been waiting for. */
static tw_status reduce(parser *p)
{
    const waiting w = p->operators[--p->operator_count];
    twi_tree *t = p->tree;
    operand *last = &p->operands[p->operand_count - 1];
    int32_t node;
    bool comparison = w.kind >= TWI_EQ && w.kind <= TWI_GE;
    if (w.kind == TWI_NEG || w.kind == TWI_NOT || w.kind == TWI_PLUS) {
        node = w.kind == TWI_NOT
                   ? twi_tree_call(t, TWI_OP_NOT, twi_tree_as_mask(t, last->node), -1, -1)
               : w.kind == TWI_NEG
                   ? twi_tree_call(t, TWI_OP_NEG, twi_tree_as_number(t, last->node), -1, -1)
                   : twi_tree_as_number(t, last->node);
        p->operand_count -= 1;
    } else if (w.kind == TWI_COLON) {
        node =
            twi_tree_call(t, TWI_OP_SELECT, twi_tree_as_mask(t, last[-2].node),
                          twi_tree_as_number(t, last[-1].node), twi_tree_as_number(t, last->node));
        p->operand_count -= 3;
    } else {
        if (comparison && last[-1].comparison && w.kind >= TWI_LT) {
            return twi_complain(&p->scan, w.at,
                                "a < b < c would compare the truth of a < b with c: write a < b && "
                                "b < c, or put parentheses");
        }
        node = build_binary(t, w.kind, last[-1].node, last->node);
        p->operand_count -= 2;
    }
    return push_operand(p, node, comparison);
}

/* Reduce what binds at least as tightly as `precedence` (more tightly, for operators that group
 * from the right). Open brackets and ? have precedence 0 and stop it. */
static tw_status reduce_to(parser *p, int precedence, bool from_right)
{
    tw_status status = TW_OK;
    while (status == TW_OK && top(p) != NULL) {
        int other = binaries[top(p)->kind].precedence;
        if (other == 0 || other < precedence || (other == precedence && from_right)) {
            break;
        }
        status = reduce(p);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- operands */

static tw_status unknown_name(parser *p, bool function)
{
    const char *names[TWI_MAP_INPUTS + MOST_CONSTANTS];
    const char *begin = p->scan.token.begin;
    const size_t length = (size_t)(p->scan.token.end - begin);
    const int shown_length = length < 60 ? (int)length : 60;
    int32_t count = 0;
    for (int32_t i = 0; i < p->opts->input_count; i++) {
        names[count++] = p->opts->inputs[i];
    }
    for (int32_t i = 0; i < p->opts->constant_count; i++) {
        names[count++] = p->opts->constants[i].name;
    }
    const char *kind = function ? "function" : "input or constant";
    const char *nearest = twi_name_nearest(begin, length, names, count, function);
    if (nearest != NULL) {
        return twi_complain(&p->scan, begin, "unknown %s '%.*s': did you mean '%s'?", kind,
                            shown_length, begin, nearest);
    }
    if (function) {
        return twi_complain(&p->scan, begin, "unknown function '%.*s'", shown_length, begin);
    }
    return twi_complain(&p->scan, begin,
                        "unknown name '%.*s'; give it as an input, %.*s=FILE, or as a constant, "
                        "--set %.*s=VALUE",
                        shown_length, begin, shown_length, begin, shown_length, begin);
}

static tw_status read_function(parser *p)
{
    const char *begin = p->scan.token.begin;
    const twi_function *function = twi_function_find(begin, (size_t)(p->scan.token.end - begin));
    if (function == NULL) {
        return unknown_name(p, true);
    }
    tw_status status = push_operator(p, TWI_FUNCTION, function);
    if (status == TW_OK) {
        status = twi_scan_next(&p->scan); /* the parenthesis */
    }
    return status;
}

static tw_status read_name(parser *p)
{
    const char *begin = p->scan.token.begin;
    const size_t length = (size_t)(p->scan.token.end - begin);
    int32_t node = -1;
    for (int32_t i = 0; i < p->opts->input_count; i++) {
        if (strlen(p->opts->inputs[i]) == length &&
            memcmp(begin, p->opts->inputs[i], length) == 0) {
            return push_operand(p, twi_tree_input(p->tree, i), false);
        }
    }
    for (int32_t i = 0; i < p->opts->constant_count; i++) {
        const tw_constant *constant = &p->opts->constants[i];
        if (strlen(constant->name) == length && memcmp(begin, constant->name, length) == 0) {
            return push_operand(p, twi_tree_number(p->tree, constant->value), false);
        }
    }
    if (twi_reserved_build(p->tree, begin, length, &node)) {
        return push_operand(p, node, false);
    }
    if (twi_function_find(begin, length) != NULL) {
        return twi_complain(&p->scan, p->scan.token.end, "expected '(' after the function '%.*s'",
                            (int)length, begin);
    }
    return unknown_name(p, false);
}

/* A token where an operand must begin. *complete: the operand is there. */
static tw_status read_operand(parser *p, bool *complete)
{
    *complete = false;
    switch (p->scan.token.kind) {
    case TWI_TOKEN_NUMBER:
        *complete = true;
        return push_operand(p, twi_tree_number(p->tree, p->scan.token.number), false);
    case TWI_TOKEN_NAME:
        if (p->scan.token.end[strspn(p->scan.token.end, " \t\r\n")] == '(') {
            return read_function(p);
        }
        *complete = true;
        return read_name(p);
    case TWI_TOKEN_OPEN:
        return push_operator(p, TWI_PAREN, NULL);
    case TWI_TOKEN_NOT:
        return push_operator(p, TWI_NOT, NULL);
    case TWI_TOKEN_BINARY:
        if (p->scan.token.sign == TWI_SUB || p->scan.token.sign == TWI_ADD) {
            return push_operator(p, p->scan.token.sign == TWI_SUB ? TWI_NEG : TWI_PLUS, NULL);
        }
        break;
    case TWI_TOKEN_CLOSE:
        if (top(p) != NULL && top(p)->kind == TWI_FUNCTION && top(p)->arguments == 0) {
            return twi_complain(&p->scan, p->scan.token.begin, "'%s' needs %s",
                                top(p)->function->name,
                                top(p)->function->least == 1 ? "an argument" : "arguments");
        }
        break;
    default:
        break;
    }
    return twi_complain_expected(&p->scan, "a number, a name, a sign or '('");
}

/* ----------------------------------------------------------------------- what follows an operand
 */

static tw_status close_function(parser *p)
{
    const waiting w = *top(p);
    const twi_function *f = w.function;
    int32_t args[3] = {-1, -1, -1};
    int32_t count = w.arguments + 1;
    if (count < f->least || count > f->most) {
        return twi_complain(&p->scan, w.at, "'%s' takes %s%d argument%s; got %d", f->name,
                            f->most == INT32_MAX ? "at least " : "", f->least,
                            f->least == 1 ? "" : "s", count);
    }
    operand *first = &p->operands[p->operand_count - count];
    int32_t node;
    if (count <= 3) {
        for (int32_t i = 0; i < count; i++) {
            args[i] = first[i].node;
        }
        node = twi_function_build(p->tree, f, args, count);
    } else { /* min and max of many: two at a time */
        node = first[0].node;
        for (int32_t i = 1; i < count; i++) {
            args[0] = node;
            args[1] = first[i].node;
            node = twi_function_build(p->tree, f, args, 2);
        }
    }
    p->operand_count -= count;
    p->operator_count--;
    return push_operand(p, node, false);
}

static tw_status read_close(parser *p)
{
    tw_status status = reduce_to(p, 1, false);
    waiting *open = top(p);
    if (status != TW_OK) {
        return status;
    }
    if (open == NULL) {
        return twi_complain(&p->scan, p->scan.token.begin, "this ')' closes nothing");
    }
    if (open->kind == TWI_QUESTION) {
        return twi_complain_expected(&p->scan, "':' and the other case of '?'");
    }
    if (open->kind == TWI_FUNCTION) {
        return close_function(p);
    }
    p->operator_count--;
    p->operands[p->operand_count - 1].comparison = false;
    return TW_OK;
}

static tw_status read_comma(parser *p)
{
    tw_status status = reduce_to(p, 1, false);
    waiting *open = top(p);
    if (status != TW_OK) {
        return status;
    }
    if (open != NULL && open->kind == TWI_QUESTION) {
        return twi_complain_expected(&p->scan, "':' and the other case of '?'");
    }
    if (open == NULL || open->kind != TWI_FUNCTION) {
        return twi_complain(&p->scan, p->scan.token.begin,
                            "a ',' belongs between the arguments of a function");
    }
    if (open->arguments + 1 >= open->function->most) {
        return twi_complain(&p->scan, p->scan.token.begin, "'%s' takes %d argument%s: expected ')'",
                            open->function->name, open->function->most,
                            open->function->most == 1 ? "" : "s");
    }
    open->arguments++;
    return TW_OK;
}

static tw_status read_colon(parser *p)
{
    tw_status status = reduce_to(p, 1, false);
    if (status != TW_OK) {
        return status;
    }
    if (top(p) == NULL || top(p)->kind != TWI_QUESTION) {
        return twi_complain(&p->scan, p->scan.token.begin, "this ':' has no '?' before it");
    }
    top(p)->kind = TWI_COLON;
    return TW_OK;
}

static tw_status read_operator(parser *p)
{
    twi_sign kind = p->scan.token.sign;
    tw_status status = reduce_to(p, binaries[kind].precedence, kind == TWI_POW);
    return status == TW_OK ? push_operator(p, kind, NULL) : status;
}

static tw_status read_end(parser *p)
{
    tw_status status = reduce_to(p, 1, false);
    if (status != TW_OK || top(p) == NULL) {
        return status;
    }
    const waiting *open = top(p);
    if (open->kind == TWI_QUESTION) {
        return twi_complain_expected(&p->scan, "':' and the other case of '?'");
    }
    return twi_complain(&p->scan, p->scan.token.begin, "expected ')' for the '%s' in column %lld",
                        open->kind == TWI_FUNCTION ? open->function->name : "(",
                        (long long)twi_scan_column(&p->scan, open->at));
}

/* A token after a complete operand. *again: an operand must follow. */
static tw_status read_after(parser *p, bool *again)
{
    tw_status status;
    *again = true;
    switch (p->scan.token.kind) {
    case TWI_TOKEN_BINARY:
        return read_operator(p);
    case TWI_TOKEN_QUESTION:
        status = reduce_to(p, 1, true);
        return status == TW_OK ? push_operator(p, TWI_QUESTION, NULL) : status;
    case TWI_TOKEN_COLON:
        return read_colon(p);
    case TWI_TOKEN_COMMA:
        return read_comma(p);
    case TWI_TOKEN_CLOSE:
        *again = false;
        return read_close(p);
    case TWI_TOKEN_OPEN:
    case TWI_TOKEN_NAME:
    case TWI_TOKEN_NUMBER:
        return twi_complain_expected(&p->scan, "an operator (a product is written with *)");
    default:
        return twi_complain_expected(&p->scan, "an operator");
    }
}

static tw_status parse(parser *p, int32_t *root)
{
    bool wanted = true; /* an operand */
    tw_status status = twi_scan_next(&p->scan);
    if (status == TW_OK && p->scan.token.kind == TWI_TOKEN_END) {
        return twi_complain(&p->scan, p->scan.token.begin, "the expression is empty");
    }
    while (status == TW_OK && (wanted || p->scan.token.kind != TWI_TOKEN_END)) {
        bool flag = false;
        if (wanted) {
            status = read_operand(p, &flag);
            wanted = !flag;
        } else {
            status = read_after(p, &flag);
            wanted = flag;
        }
        if (status == TW_OK) {
            status = twi_scan_next(&p->scan);
        }
    }
    if (status == TW_OK) {
        status = read_end(p);
    }
    if (status == TW_OK) {
        *root = twi_tree_as_number(p->tree, p->operands[0].node);
        status = p->tree->status;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- entries */

static tw_status check_name(tw_context *ctx, const char *name, const char *what)
{
    int32_t node;
    twi_tree none = {.status = TW_ERR_ARGUMENT}; /* nothing is to be built */
    if (name == NULL || !twi_name_valid(name)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "'%.80s' cannot name %s; use at most %d letters, digits and _, not starting "
                       "with a digit",
                       name != NULL ? name : "", what, TWI_NAME_LENGTH);
    }
    if (twi_reserved_build(&none, name, strlen(name), &node) ||
        twi_function_find(name, strlen(name)) != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "'%s' cannot name %s: it has a meaning of its own in expressions", name,
                       what);
    }
    return TW_OK;
}

static tw_status check_names(tw_context *ctx, const tw_expr_options *o)
{
    tw_status status = TW_OK;
    if (o->input_count < 0 || o->input_count > TWI_MAP_INPUTS || o->constant_count < 0 ||
        o->constant_count > MOST_CONSTANTS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d inputs and %d constants; the maximum is %d and %d",
                       o->input_count, o->constant_count, TWI_MAP_INPUTS, MOST_CONSTANTS);
    }
    if (o->constants == NULL && o->constant_count > 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "constant_count is %d, and constants is NULL",
                       o->constant_count);
    }
    for (int32_t i = 0; i < o->input_count + o->constant_count && status == TW_OK; i++) {
        bool input = i < o->input_count;
        const char *name = input ? o->inputs[i] : o->constants[i - o->input_count].name;
        status = check_name(ctx, name, input ? "an input" : "a constant");
        for (int32_t k = 0; k < i && status == TW_OK; k++) {
            const char *other =
                k < o->input_count ? o->inputs[k] : o->constants[k - o->input_count].name;
            if (strcmp(name, other) == 0) {
                status = tw_fail(ctx, TW_ERR_ARGUMENT, "the name '%s' is given twice", name);
            }
        }
        if (status == TW_OK && !input && strcmp(name, "x") == 0) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "'x' is the input, not a constant");
        }
    }
    return status;
}

static tw_status copy_texts(tw_context *ctx, tw_expr *expr, const char *text,
                            const tw_expr_options *o)
{
    uint64_t bytes = 0;
    for (int32_t i = 0; i < o->input_count; i++) {
        bytes += strlen(o->inputs[i]) + 1;
    }
    tw_status status = twi_alloc(ctx, &expr->names, bytes, 1, "the names of an expression");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &expr->text, strlen(text) + 1, 1, "the text of an expression");
    }
    if (status != TW_OK) {
        return status;
    }
    char *at = expr->names;
    for (int32_t i = 0; i < o->input_count; i++) {
        at = stpcpy(at, o->inputs[i]) + 1;
    }
    memcpy(expr->text, text, strlen(text) + 1);
    expr->input_count = o->input_count;
    return TW_OK;
}

const char *twi_expr_input_name(const tw_expr *expr, int32_t input)
{
    const char *name = expr->names;
    for (int32_t i = 0; i < input; i++) {
        name += strlen(name) + 1;
    }
    return name;
}

tw_status tw_expr_create(tw_context *ctx, tw_expr **out, const char *text,
                         const tw_expr_options *given)
{
    twi_clear_handle(out);
    static const char *const only_x[] = {"x"};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    parser p = {.ctx = ctx, .opts = &opts};
    tw_expr *expr = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"out", out});
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_expr_options, &opts, given);
    }
    if (status != TW_OK) {
        return status;
    }
    if (opts.inputs == NULL) {
        opts.inputs = only_x;
        opts.input_count = 1;
    }
    if (opts.column != NULL) {
        *opts.column = 0;
    }
    if (text == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "there is no expression");
    }
    status = check_names(ctx, &opts);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &expr, 1, sizeof *expr, "an expression");
    }
    if (status != TW_OK) {
        return status;
    }
    twi_tree_init(&expr->tree, ctx, MOST_NODES);
    p.tree = &expr->tree;
    twi_scan_begin(&p.scan, ctx, text, opts.column);
    status = copy_texts(ctx, expr, text, &opts);
    if (status == TW_OK) {
        status = parse(&p, &expr->root);
    }
    twi_free(p.operators);
    twi_free(p.operands);
    if (status != TW_OK) {
        tw_expr_destroy(expr);
        return status;
    }
    expr->tree.ctx = NULL; /* it may outlive the context, and does not grow any more */
    *out = expr;
    return TW_OK;
}

void tw_expr_destroy(tw_expr *expr)
{
    if (expr != NULL) {
        twi_tree_clear(&expr->tree);
        twi_free(expr->names);
        twi_free(expr->text);
        twi_free(expr);
    }
}

tw_status tw_expr_describe(const tw_expr *expr, tw_expr_info *out)
{
    tw_expr_info info = TW_EXPR_INFO_INIT;
    if (expr == NULL) {
        return TW_ERR_ARGUMENT;
    }
    info.inputs = expr->input_count;
    for (int32_t i = 0; i < expr->tree.count; i++) {
        const twi_operation *node = &expr->tree.nodes[i];
        info.inputs_used |= node->code == TWI_OP_INPUT ? (uint32_t)1 << node->index : 0;
        info.uses_row |= node->code == TWI_OP_ROW;
        info.uses_col |= node->code == TWI_OP_COL;
        info.operations += node->args[0] >= 0;
    }
    return TWI_DESCRIBE(NULL, tw_expr_info, out, &info);
}

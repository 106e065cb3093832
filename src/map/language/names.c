/*
 * The words of the language. A function is one opcode or a form: a small arrangement of opcodes,
 * so that evaluators need not know it.
 */
#include "map/language/names.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { FORM_SIGN = 1000, FORM_ISNAN, FORM_ISINF, FORM_ISFINITE, FORM_CLAMP, FORM_WHERE };

static const twi_function functions[] = {
#define TWI_FUNCTION(ID, name, arguments, f32, f64, fast) \
    {#name, arguments,                                    \
     TWI_OP_##ID == TWI_OP_MIN || TWI_OP_##ID == TWI_OP_MAX ? INT32_MAX : arguments, TWI_OP_##ID},
#include "map/functions/functions.def"
#undef TWI_FUNCTION
    {"sign", 1, 1, FORM_SIGN},         {"isnan", 1, 1, FORM_ISNAN}, {"isinf", 1, 1, FORM_ISINF},
    {"isfinite", 1, 1, FORM_ISFINITE}, {"clamp", 3, 3, FORM_CLAMP}, {"where", 3, 3, FORM_WHERE},
};
#define FUNCTIONS ((int)(sizeof functions / sizeof *functions))

static const char *const reserved[] = {"row", "col", "rows", "cols", "pi", "e", "inf", "nan"};
#define RESERVED ((int)(sizeof reserved / sizeof *reserved))

static bool is_word(const char *name, const char *word, size_t length)
{
    return strncmp(name, word, length) == 0 && name[length] == '\0';
}

const twi_function *twi_function_find(const char *name, size_t length)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (is_word(functions[i].name, name, length)) {
            return &functions[i];
        }
    }
    return NULL;
}

bool twi_reserved_build(twi_tree *tree, const char *name, size_t length, int32_t *node)
{
    static const double numbers[] = {3.14159265358979323846, 2.71828182845904523536,
                                     (double)INFINITY, (double)NAN};
    static const int codes[] = {TWI_OP_ROW, TWI_OP_COL, TWI_TREE_ROWS, TWI_TREE_COLS};
    for (int i = 0; i < RESERVED; i++) {
        if (is_word(reserved[i], name, length)) {
            *node = i < 4 ? twi_tree_leaf(tree, codes[i]) : twi_tree_number(tree, numbers[i - 4]);
            return true;
        }
    }
    return false;
}

bool twi_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && name[length] == '\0' && length <= TWI_NAME_LENGTH &&
           !(name[0] >= '0' && name[0] <= '9');
}

/* ----------------------------------------------------------------------------------- the forms */

static int32_t sign_of(twi_tree *tree, int32_t v)
{
    int32_t zero = twi_tree_number(tree, 0);
    int32_t below = twi_tree_call(tree, TWI_OP_SELECT, twi_tree_call(tree, TWI_OP_LT, v, zero, -1),
                                  twi_tree_number(tree, -1), v);
    return twi_tree_call(tree, TWI_OP_SELECT, twi_tree_call(tree, TWI_OP_LT, zero, v, -1),
                         twi_tree_number(tree, 1), below);
}

/* |v| against inf: equal for isinf, below for isfinite, and NaN is neither. */
static int32_t against_infinity(twi_tree *tree, int code, int32_t v)
{
    int32_t size = twi_tree_call(tree, TWI_OP_ABS, v, -1, -1);
    return twi_tree_call(tree, code, size, twi_tree_number(tree, (double)INFINITY), -1);
}

int32_t twi_function_build(twi_tree *tree, const twi_function *function, const int32_t *args,
                           int32_t count)
{
    if (function->code == FORM_WHERE) {
        return twi_tree_call(tree, TWI_OP_SELECT, twi_tree_as_mask(tree, args[0]),
                             twi_tree_as_number(tree, args[1]), twi_tree_as_number(tree, args[2]));
    }
    int32_t first = twi_tree_as_number(tree, args[0]);
    int32_t second = count > 1 ? twi_tree_as_number(tree, args[1]) : -1;
    int32_t node;
    switch (function->code) {
    case FORM_SIGN:
        return sign_of(tree, first);
    case FORM_ISNAN:
        return twi_tree_call(tree, TWI_OP_NE, first, first, -1);
    case FORM_ISINF:
        return against_infinity(tree, TWI_OP_EQ, first);
    case FORM_ISFINITE:
        return against_infinity(tree, TWI_OP_LT, first);
    case FORM_CLAMP:
        node = twi_tree_call(tree, TWI_OP_MAX, first, second, -1);
        return twi_tree_call(tree, TWI_OP_MIN, node, twi_tree_as_number(tree, args[2]), -1);
    default:
        node = twi_tree_call(tree, function->code, first, second, -1);
        for (int32_t i = 2; i < count; i++) { /* min and max of more than two */
            node = twi_tree_call(tree, function->code, node, twi_tree_as_number(tree, args[i]), -1);
        }
        return node;
    }
}

/* -------------------------------------------------------------------------------------- advice */

#define LONGEST 24 /* words beyond it get no advice */

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete or replace to make one word of the other; capitals are the same. */
static int edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int replaced =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            row[j] = least_of(least_of(row[j], row[j - 1]) + 1, replaced);
        }
    }
    return row[b_length];
}

typedef struct advice {
    const char *word;
    size_t length;
    const char *nearest;
    int least; /* edits of the nearest; exclusive */
} advice;

static void consider(advice *a, const char *name)
{
    size_t length = strlen(name);
    if (length > LONGEST) {
        return;
    }
    int distance = edits(a->word, a->length, name, length);
    if (distance < a->least && (size_t)distance < length) {
        a->least = distance;
        a->nearest = name;
    }
}

const char *twi_name_nearest(const char *word, size_t length, const char *const *more,
                             int32_t more_count, bool function)
{
    advice a = {word, length, NULL, length < 4 ? 2 : 3};
    if (length > LONGEST) {
        return NULL;
    }
    for (int i = 0; i < FUNCTIONS && function; i++) {
        consider(&a, functions[i].name);
    }
    for (int32_t i = 0; i < more_count && !function; i++) {
        consider(&a, more[i]);
    }
    for (int i = 0; i < RESERVED && !function; i++) {
        consider(&a, reserved[i]);
    }
    for (int i = 0; i < FUNCTIONS && !function && a.nearest == NULL; i++) {
        consider(&a, functions[i].name);
    }
    return a.nearest;
}

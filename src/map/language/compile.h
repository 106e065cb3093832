/*
 * From tree to program: what an expression means for arrays of given shapes and types.
 *
 *   scalar.c      one operation on numbers in the compute type: folding and reference
 *   simplify.c    a node made of simplified operands: constants folded, identities applied
 *   specialise.c  the periods of row % k and col % k, and a tree for each residue
 *   program.c     a tree put in order: what is live, what it depends on, where values live
 */
#ifndef TWI_MAP_LANGUAGE_COMPILE_H
#define TWI_MAP_LANGUAGE_COMPILE_H

#include "map/language/tree.h"

/* What the plan knows besides the expression. */
typedef struct twi_map_setting {
    tw_type compute;
    tw_type type; /* of the result */
    int64_t rows, cols;
    int64_t repeat;
    int32_t x_input;                 /* -1: none */
    uint8_t depends[TWI_MAP_INPUTS]; /* TWI_ON_ROW, TWI_ON_COL: where an input changes */
    bool has_no_data;
    double no_data;
} twi_map_setting;

TW_CHECKED tw_status twi_variants_make(tw_context *ctx, twi_variants *out, const tw_expr *expr,
                                       const twi_map_setting *setting);
void twi_variants_clear(twi_variants *variants);

/* One operation on numbers of a compute type, rounded to it; masks are 0 and 1. */
double twi_scalar(int code, tw_type type, tw_type compute, const double args[3]);
/* A function of functions.def as the C library has it in double, and the bound on the error of such
 * a value, in units in its last place; a is the first argument. */
double twi_scalar_function(int code, double a, double b);
double twi_scalar_function_error(int code, double a, double value);
/* A value as it is after a store as `type` and a load; exact types pass. */
double twi_scalar_stored(double value, tw_type type);
static inline double twi_scalar_round(double value, tw_type compute)
{
    return compute == TW_F32 ? (double)(float)value : value;
}

/*
 * A tree under construction from another. `known` says which residues are: row % row_period is
 * row_residue in everything that is added, unless row_period is 0.
 */
typedef struct twi_simplifier {
    twi_tree *out;
    tw_type compute;
    int64_t rows, cols;
    int64_t row_period, row_residue;
    int64_t col_period, col_residue;
} twi_simplifier;

/* The node in s->out for a given one, whose operands are numbers of s->out already. */
int32_t twi_simplify(twi_simplifier *s, const twi_operation *given);
/* All nodes of `from`, in order; map[i] becomes the number of node i. */
TW_CHECKED tw_status twi_simplify_all(twi_simplifier *s, const twi_tree *from, int32_t *map);

/* Of a node `a` of a tree, if it is made of row, col and whole numbers with + and * alone: which
 * of TWI_ON_ROW and TWI_ON_COL it uses; else -1. And its value modulo k. */
int twi_index_uses(const twi_tree *tree, int32_t node);
TW_CHECKED tw_status twi_index_modulo(const twi_tree *tree, int32_t node, int64_t row, int64_t col,
                                      int64_t k, int64_t *out);

/* Put what `root` needs of a tree in order. */
TW_CHECKED tw_status twi_program_make(tw_context *ctx, twi_program *out, const twi_tree *tree,
                                      int32_t root, const twi_map_setting *setting);
void twi_program_clear(twi_program *program);
bool twi_program_same(const twi_program *a, const twi_program *b);
/* What an operation costs, in additions. */
double twi_op_cost(int code);

#endif

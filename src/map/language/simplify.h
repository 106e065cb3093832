/* A node made of simplified operands: constants folded, identities applied. */
#ifndef TWI_MAP_LANGUAGE_SIMPLIFY_H
#define TWI_MAP_LANGUAGE_SIMPLIFY_H

#include "map/language/tree.h"

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

#endif

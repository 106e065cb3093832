/*
 * Expressions as nodes that know their operands: an array in which every node comes after its
 * operands, and in which equal nodes are one. The parser makes such a tree of the text, the
 * compiler makes another of that one, so nothing that walks an expression ever recurses.
 *
 * Nodes are operations of program.h (`depends` and `place` are not used here), and two more that
 * become constants when the shape is known.
 */
#ifndef TWI_MAP_LANGUAGE_TREE_H
#define TWI_MAP_LANGUAGE_TREE_H

#include "map/program/program.h"

enum { TWI_TREE_ROWS = TWI_OP_COUNT, TWI_TREE_COLS };

typedef struct twi_tree {
    tw_context *ctx;
    tw_status status; /* of the first addition that failed; later ones do nothing */
    int32_t most;     /* nodes allowed */
    int32_t count, capacity;
    twi_operation *nodes;
    int32_t *slots; /* hash table of node numbers + 1; 0: free */
    int32_t slot_count;
} twi_tree;

/* Nothing is allocated before the first node. More than `most` nodes are TW_ERR_ARGUMENT. */
void twi_tree_init(twi_tree *tree, tw_context *ctx, int32_t most);
void twi_tree_clear(twi_tree *tree);

/* The number of the node that is equal to *node, made if there is none; -1 after a failure, or if
 * an operand is -1. */
int32_t twi_tree_add(twi_tree *tree, const twi_operation *node);

/* A node by its parts. */
int32_t twi_tree_number(twi_tree *tree, double value);
int32_t twi_tree_truth(twi_tree *tree, bool value);
int32_t twi_tree_input(twi_tree *tree, int64_t index);
int32_t twi_tree_leaf(twi_tree *tree, int code);
int32_t twi_tree_call(twi_tree *tree, int code, int32_t a, int32_t b, int32_t c);

/* The same value as a mask (a number is true unless it is 0) or as a number (1 or 0). */
int32_t twi_tree_as_mask(twi_tree *tree, int32_t node);
int32_t twi_tree_as_number(twi_tree *tree, int32_t node);

static inline bool twi_op_gives_mask(int code)
{
    return code >= TWI_OP_LT && code <= TWI_OP_NOT;
}

/* A parsed expression. */
struct tw_expr {
    twi_tree tree;
    int32_t root; /* a number */
    int32_t input_count;
    char *names; /* of the inputs, one after the other with their zeros */
    char *text;
};

const char *twi_expr_input_name(const tw_expr *expr, int32_t input);

#endif

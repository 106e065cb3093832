/*
 * Nodes and the table that finds equal ones: open addressing over their hashes, twice as large as
 * the nodes. An addition costs a hash and, mostly, one comparison.
 */
#include "map/language/tree.h"

#include "base/memory.h"

#include <string.h>

#define FIRST_CAPACITY 64

void twi_tree_init(twi_tree *tree, tw_context *ctx, int32_t most)
{
    *tree = (twi_tree){.ctx = ctx, .most = most};
}

void twi_tree_clear(twi_tree *tree)
{
    twi_free(tree->slots);
    twi_free(tree->nodes);
    *tree = (twi_tree){0};
}

/* Every bit of a node that says what it is; numbers by their bits, so that -0 is not 0. */
static uint64_t hash_of(const twi_operation *node)
{
    uint64_t parts[4] = {
        (uint64_t)node->code | (uint64_t)node->mask << 8 | (uint64_t)node->type << 16,
        (uint64_t)(uint32_t)node->args[0] | (uint64_t)(uint32_t)node->args[1] << 32,
        (uint64_t)(uint32_t)node->args[2], (uint64_t)node->period};
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ parts[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same(const twi_operation *a, const twi_operation *b)
{
    return a->code == b->code && a->mask == b->mask && a->type == b->type &&
           a->period == b->period && memcmp(a->args, b->args, sizeof a->args) == 0;
}

static void enter(twi_tree *tree, int32_t node)
{
    uint32_t mask = (uint32_t)tree->slot_count - 1;
    uint32_t at = (uint32_t)hash_of(&tree->nodes[node]) & mask;
    while (tree->slots[at] != 0) {
        at = (at + 1) & mask;
    }
    tree->slots[at] = node + 1;
}

static tw_status grow(twi_tree *tree)
{
    int32_t *slots = NULL;
    int32_t capacity = tree->capacity > 0 ? tree->capacity * 2 : FIRST_CAPACITY;
    tw_status status =
        twi_grow(tree->ctx, &tree->nodes, (uint64_t)tree->count * sizeof *tree->nodes,
                 (uint64_t)capacity, sizeof *tree->nodes, "the expression");
    if (status == TW_OK) {
        status = twi_alloc_zeroed(tree->ctx, &slots, (uint64_t)capacity * 2, sizeof *slots,
                                  "the expression");
    }
    if (status != TW_OK) {
        return status;
    }
    twi_free(tree->slots);
    tree->slots = slots;
    tree->slot_count = capacity * 2;
    tree->capacity = capacity;
    for (int32_t i = 0; i < tree->count; i++) {
        enter(tree, i);
    }
    return TW_OK;
}

static int32_t find(const twi_tree *tree, const twi_operation *node)
{
    if (tree->slot_count == 0) {
        return -1;
    }
    uint32_t mask = (uint32_t)tree->slot_count - 1;
    for (uint32_t at = (uint32_t)hash_of(node) & mask; tree->slots[at] != 0; at = (at + 1) & mask) {
        if (same(&tree->nodes[tree->slots[at] - 1], node)) {
            return tree->slots[at] - 1;
        }
    }
    return -1;
}

int32_t twi_tree_add(twi_tree *tree, const twi_operation *node)
{
    int arity = node->code < TWI_OP_COUNT ? twi_op_arity((twi_op)node->code) : 0;
    for (int i = 0; i < arity; i++) {
        if (node->args[i] < 0) {
            return -1;
        }
    }
    int32_t found = find(tree, node);
    if (found >= 0 || tree->status != TW_OK) {
        return tree->status == TW_OK ? found : -1;
    }
    if (tree->count == tree->most) {
        tree->status = tw_fail(tree->ctx, TW_ERR_ARGUMENT,
                               "the expression has more than %d different operations: compute a "
                               "part of it first",
                               tree->most);
        return -1;
    }
    if (tree->count == tree->capacity) {
        tree->status = grow(tree);
        if (tree->status != TW_OK) {
            return -1;
        }
    }
    tree->nodes[tree->count] = *node;
    enter(tree, tree->count);
    return tree->count++;
}

/* ---------------------------------------------------------------------------------- by parts */

int32_t twi_tree_number(twi_tree *tree, double value)
{
    twi_operation node = {.code = TWI_OP_CONST, .args = {-1, -1, -1}, .number = value};
    return twi_tree_add(tree, &node);
}

int32_t twi_tree_truth(twi_tree *tree, bool value)
{
    twi_operation node = {.code = TWI_OP_CONST, .mask = 1, .args = {-1, -1, -1}, .number = value};
    return twi_tree_add(tree, &node);
}

int32_t twi_tree_input(twi_tree *tree, int64_t index)
{
    twi_operation node = {.code = TWI_OP_INPUT, .args = {-1, -1, -1}, .index = index};
    return twi_tree_add(tree, &node);
}

int32_t twi_tree_leaf(twi_tree *tree, int code)
{
    twi_operation node = {.code = (uint8_t)code, .args = {-1, -1, -1}, .number = 0};
    return twi_tree_add(tree, &node);
}

int32_t twi_tree_call(twi_tree *tree, int code, int32_t a, int32_t b, int32_t c)
{
    twi_operation node = {
        .code = (uint8_t)code, .mask = twi_op_gives_mask(code), .args = {a, b, c}, .number = 0};
    return twi_tree_add(tree, &node);
}

int32_t twi_tree_as_mask(twi_tree *tree, int32_t node)
{
    if (node < 0 || tree->nodes[node].mask) {
        return node;
    }
    if (tree->nodes[node].code == TWI_OP_NUMBER) {
        return tree->nodes[node].args[0];
    }
    return twi_tree_call(tree, TWI_OP_NE, node, twi_tree_number(tree, 0), -1);
}

int32_t twi_tree_as_number(twi_tree *tree, int32_t node)
{
    if (node < 0 || !tree->nodes[node].mask) {
        return node;
    }
    return twi_tree_call(tree, TWI_OP_NUMBER, node, -1, -1);
}

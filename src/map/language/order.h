/* A tree put in order: what is live, what it depends on, where values live. */
#ifndef TWI_MAP_LANGUAGE_ORDER_H
#define TWI_MAP_LANGUAGE_ORDER_H

#include "map/language/setting.h"
#include "map/language/tree.h"

/* Put what `root` needs of a tree in order. */
TW_CHECKED tw_status twi_program_make(tw_context *ctx, twi_program *out, const twi_tree *tree,
                                      int32_t root, const twi_map_setting *setting);
void twi_program_clear(twi_program *program);
bool twi_program_same(const twi_program *a, const twi_program *b);
/* What an operation costs, in additions. */
double twi_op_cost(int code);

#endif

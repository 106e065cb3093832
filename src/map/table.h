/* Results looked up instead of computed: the tables of a plan. */
#ifndef TWI_MAP_TABLE_H
#define TWI_MAP_TABLE_H

#include "map/plan/plan.h"

/* Whether the programs are functions of one input of 8 or 16 bits alone, which is as large as the
 * result; -1, or that input. */
int32_t twi_map_table_input(const tw_map_plan *plan);
/* Build the tables of a plan with the evaluator, composed for its repetitions. */
TW_CHECKED tw_status twi_map_table_make(tw_context *ctx, tw_map_plan *plan);
TW_CHECKED tw_status twi_map_table_run(tw_context *ctx, const tw_map_plan *plan,
                                       const twi_map_job *job);

#endif

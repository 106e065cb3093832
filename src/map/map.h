/*
 * The inside of the map wing: what a plan is made of.
 *
 *   variants   the programs (program.h)
 *   table      results looked up instead of computed, for inputs of 8 and 16 bits
 */
#ifndef TWI_MAP_MAP_H
#define TWI_MAP_MAP_H

#include "map/gpu/gpu.h"
#include "map/language/compile.h"

typedef enum twi_map_method {
    TWI_MAP_AUTO,
    TWI_MAP_DIRECT,
    TWI_MAP_TABLE,
    TWI_MAP_GPU,      /* where the context's device is one */
    TWI_MAP_REFERENCE /* for tests */
} twi_map_method;

/* The result for every value of an input of u8 or u16: one table for each program. */
typedef struct twi_map_table {
    int32_t input;   /* the one that is looked up */
    int64_t entries; /* 256 or 65536; 0: there is no table */
    size_t size;     /* bytes of an entry */
    char *data;      /* program by program */
} twi_map_table;

struct tw_map_plan {
    twi_map_method method;
    twi_map_setting setting;
    twi_variants variants;
    twi_map_table table;
    twi_gpu_list devices; /* none: the CPU */
    twi_map_gpu *gpu;
    tw_shape shape; /* of the result */
    tw_shape inputs[TWI_MAP_INPUTS];
    int32_t input_count;
    bool fast;
    char *explanation;
};

/* As tw_map_plan_create, with a method forced (AUTO: chosen). One that cannot do it is
 * TW_ERR_ARGUMENT. */
TW_CHECKED tw_status twi_map_plan_make(tw_context *ctx, tw_map_plan **out, const tw_expr *expr,
                                       const tw_shape *inputs, int32_t input_count,
                                       const tw_map_options *opts, twi_map_method method);
const char *twi_map_method_name(twi_map_method method);

/* What all runs check of their inputs: input i is sources[i] if that has rows, else inputs[i].
 * `sources` may be NULL. */
TW_CHECKED tw_status twi_map_check_inputs(tw_context *ctx, const tw_map_plan *plan,
                                          const tw_matrix *inputs, const tw_source *sources,
                                          int32_t count);

/* What tw_map_plan_apply checks of its arrays, and the job that they make. */
TW_CHECKED tw_status twi_map_check(tw_context *ctx, const tw_map_plan *plan, const tw_matrix *out,
                                   const tw_matrix *inputs, int32_t input_count);
twi_map_job twi_map_job_of(const tw_map_plan *plan, int64_t first, int64_t count,
                           const tw_matrix *inputs, void *out, int64_t stride);

/* A job of the plan by its method; the inputs are checked. */
TW_CHECKED tw_status twi_map_run(tw_context *ctx, const tw_map_plan *plan, const twi_map_job *job);

/* Complete what was seen of a run, and copy it as far as the caller's struct goes. */
void twi_map_give_report(tw_context *ctx, const tw_map_plan *plan, tw_map_report *out,
                         tw_map_report *seen);

/* Whether a GPU would be so much faster than the CPU that it is taken though "auto" is asked for.
 */
bool twi_map_gpu_pays(tw_context *ctx, const tw_map_plan *plan);

/* Whether the programs are functions of one input of 8 or 16 bits alone, which is as large as the
 * result; -1, or that input. */
int32_t twi_map_table_input(const tw_map_plan *plan);
/* Build the tables of a plan with the evaluator, composed for its repetitions. */
TW_CHECKED tw_status twi_map_table_make(tw_context *ctx, tw_map_plan *plan);
TW_CHECKED tw_status twi_map_table_run(tw_context *ctx, const tw_map_plan *plan,
                                       const twi_map_job *job);

/* The text of tw_map_plan_explain, into plan->explanation. */
TW_CHECKED tw_status twi_map_explain(tw_context *ctx, tw_map_plan *plan, const tw_expr *expr);

/* Bytes read and written an element, broadcast inputs not counted. */
double twi_map_bytes(const tw_map_plan *plan);
/* Operations an element, all repetitions, averaged over the residues. */
double twi_map_operations(const tw_map_plan *plan);

#endif

/* What is known of a plan: see plan.h. */
#include "map/plan/plan.h"

const char *twi_map_method_name(twi_map_method method)
{
    static const char *const names[] = {"auto", "direct", "table", "gpu", "reference"};
    return names[method];
}

double twi_map_bytes(const tw_map_plan *plan)
{
    double bytes = (double)tw_type_size(plan->shape.type);
    for (int32_t i = 0; i < plan->input_count; i++) {
        bool whole = plan->setting.depends[i] == (TWI_ON_ROW | TWI_ON_COL);
        bool used = (plan->variants.generic.inputs >> i & 1) != 0;
        bytes += whole && used ? (double)tw_type_size(plan->inputs[i].type) : 0;
    }
    return bytes;
}

/* Those that are computed for every element. */
double twi_map_operations(const tw_map_plan *plan)
{
    const twi_variants *v = &plan->variants;
    const int32_t residues = v->row_period * v->col_period;
    double sum = 0;
    for (int32_t i = 0; i < residues; i++) {
        const twi_program *p = &v->programs[v->index[i]];
        for (int32_t k = p->col_end; k < p->count; k++) {
            double times = k >= p->still_end ? (double)plan->setting.repeat : 1;
            sum += p->ops[k].code == TWI_OP_INPUT ? 0 : times;
        }
    }
    return sum / residues;
}

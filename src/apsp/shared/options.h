/* What every function that takes tw_apsp_options looks at first. */
#ifndef TWI_APSP_SHARED_OPTIONS_H
#define TWI_APSP_SHARED_OPTIONS_H

#include "base/given.h"
#include "base/type.h"

#define TWI_BESIDE_MOST ((uint64_t)1 << 60) /* to which a plan can add its own */

/* The caller's options over the defaults. */
TW_CHECKED static inline tw_status twi_take_options(tw_context *ctx, tw_apsp_options *ours,
                                                    const tw_apsp_options *given)
{
    const tw_status status = TWI_TAKE(ctx, tw_apsp_options, ours, given);
    if (status == TW_OK && ours->summary_only != 0 && ours->summary_only != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_apsp_options.summary_only is %d; use 0 or 1",
                       (int)ours->summary_only);
    }
    if (status == TW_OK && ours->order_cache != 0 && ours->order_cache != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_apsp_options.order_cache is %d; use 0 or 1",
                       (int)ours->order_cache);
    }
    if (status == TW_OK && ours->predecessors != 0 && ours->predecessors != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_apsp_options.predecessors is %d; use 0 or 1",
                       (int)ours->predecessors);
    }
    if (status == TW_OK && !(ours->checkpoint_every >= 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.checkpoint_every is %g; use seconds, or 0 for as often as "
                       "can be",
                       ours->checkpoint_every);
    }
    if (status == TW_OK && ours->beside > TWI_BESIDE_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.beside is %llu; no machine has that many bytes",
                       (unsigned long long)ours->beside);
    }
    return status;
}

/* TW_ERR_ARGUMENT unless distances can be of that type. */
TW_CHECKED static inline tw_status twi_check_result_type(tw_context *ctx, tw_type type)
{
    if (type == TW_I16 || (type != TW_AUTO && !twi_type_is_element(type))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "distance type %s is not supported; use u8, u16, i32, f32 or f64",
                       tw_type_name(type));
    }
    return TW_OK;
}

#endif

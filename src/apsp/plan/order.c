/*
 * Orders of elimination as objects of their own. Which way of making one is worth its time depends
 * on how fast a sweep of all sources would go here, as in a plan: the rate of the products is
 * measured for the narrowest type that distances usually fit.
 */
#include "apsp/plan/estimate.h"
#include "apsp/plan/refusal.h"
#include "apsp/plan/sweep.h"
#include "apsp/sweep/known_order.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"

tw_status tw_apsp_order_create(tw_context *ctx, tw_apsp_order **out, const tw_graph *graph)
{
    twi_isa isa;
    double rate = 0;
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &isa);
    }
    if (status == TW_OK) {
        status =
            twi_kernel_rate(ctx, twi_minplus_kernel_of_15_bits(isa), twi_thread_count(ctx), &rate);
    }
    if (status == TW_OK) {
        status = twi_order_object(ctx, out, graph, TWI_SWEEP_EFFICIENCY * rate);
    }
    return status == TW_ERR_MEMORY ? twi_refuse_order(ctx, graph, twi_thread_count(ctx), "")
                                   : status;
}

void tw_apsp_order_destroy(tw_apsp_order *order)
{
    if (order != NULL) {
        twi_tree_destroy(order->tree);
        twi_order_clear(&order->order);
        twi_free(order);
    }
}

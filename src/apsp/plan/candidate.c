/* Candidates: see candidate.h. */
#include "apsp/plan/candidate.h"

#include "apsp/closure/certificate.h"
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/cpu.h"
#include "apsp/search/search.h"
#include "apsp/shared/deliver.h"
#include "apsp/sweep/sweep.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

#define REFERENCE_RATE 0.5e9 /* relaxations per second of the triple loop: a guess is enough */

void twi_rule_out(twi_candidate *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->possible = false;
    vsnprintf(c->why_not, sizeof c->why_not, format, args);
    va_end(args);
}

void twi_rule_out_slower(twi_candidate *c, double seconds, const char *format, ...)
{
    char why[sizeof c->why_not - TWI_DURATION - 16], time[TWI_DURATION];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    twi_rule_out(c, "would take %s or more: %s", twi_duration(time, seconds), why);
}

void twi_rule_out_if_too_large(tw_context *ctx, twi_candidate *c)
{
    char need[32];
    char have[32];
    if (!c->possible) {
        return;
    }
    const uint64_t left = twi_memory_room(ctx);
    if (c->memory > left) {
        twi_rule_out(c, "needs %s of memory; %s is available", twi_bytes(need, (double)c->memory),
                     twi_bytes(have, (double)left));
    }
}

void twi_rule_out_unequal(twi_candidate *c, const tw_graph *graph)
{
    if (graph->min_weight != graph->max_weight) {
        twi_rule_out(c, "the weights are not all equal");
    } else {
        twi_rule_out(c, "all weights are %g; it needs equal weights above 0", graph->max_weight);
    }
}

bool twi_is_wanted(const tw_apsp_plan *plan, const twi_candidate *c)
{
    return plan->options.method == TW_APSP_METHOD_AUTO ? c->method != TW_APSP_METHOD_REFERENCE
                                                       : c->method == plan->options.method;
}

bool twi_will_fold(const tw_apsp_plan *plan)
{
    return twi_delivery_will_fold(plan) && plan->graph->integral;
}

/* Searches of whole weights begin in i32, and may end in f64; levels have a scale. */
static tw_type type_of_searches(const tw_apsp_plan *plan, tw_apsp_method method)
{
    const tw_type widest = twi_search_type(plan);
    return method == TW_APSP_METHOD_BFS || (plan->graph->integral && widest != TW_I32) ? TW_AUTO
                                                                                       : widest;
}

twi_rows_known twi_known_rows(const tw_apsp_plan *plan, tw_apsp_method method, tw_type work)
{
    const bool listed = plan->options.sources != NULL;
    switch (method) {
    case TW_APSP_METHOD_DIJKSTRA:
    case TW_APSP_METHOD_BFS:
        return (twi_rows_known){.type = type_of_searches(plan, method),
                                .folds = method == TW_APSP_METHOD_BFS && plan->graph->integral};
    case TW_APSP_METHOD_SWEEP:
        return (twi_rows_known){.folds = plan->dealer == NULL && twi_sweep_folds(plan, work)};
    case TW_APSP_METHOD_CLOSURE: /* whole weights may need a wider type in the end */
        return (twi_rows_known){.type = plan->graph->integral ? TW_AUTO : work,
                                .at_once = listed ? 1 : 0};
    case TW_APSP_METHOD_REFERENCE:
        return (twi_rows_known){.type = TW_F64, .at_once = 1};
    default:
        return (twi_rows_known){0};
    }
}

uint64_t twi_rows_planned(const tw_apsp_plan *plan, tw_apsp_method method, tw_type work)
{
    const twi_rows_known known = twi_known_rows(plan, method, work);
    return twi_delivery_planned(plan, &known);
}

uint64_t twi_searches_planned(const tw_apsp_plan *plan, tw_apsp_method method)
{
    return twi_search_memory(plan, method) + twi_rows_planned(plan, method, TW_AUTO);
}

bool twi_matrix_memory(const tw_apsp_plan *plan, tw_type type, uint64_t *out)
{
    uint64_t n = (uint64_t)plan->graph->n;
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, type);
    uint64_t row = (uint64_t)twi_work_stride(kernel, plan->graph->n) * tw_type_size(type);
    if (twi_mul(row, n, out) && *out <= (uint64_t)INT64_MAX / 4) {
        return true;
    }
    *out = UINT64_MAX;
    return false;
}

int32_t twi_closure_block(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel)
{
    int64_t n = plan->graph->n;
    return plan->options.block > 0 ? twi_block_round(kernel, n, plan->options.block)
                                   : twi_block_choose(kernel, n);
}

bool twi_closure_memory(const tw_apsp_plan *plan, tw_type type, bool symmetric, uint64_t *out)
{
    int64_t n = plan->graph->n;
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, type);
    if (!twi_matrix_memory(plan, type, out)) {
        return false;
    }
    bool whole = type != TW_F32 && type != TW_F64;
    uint64_t panels = twi_cpu_closure_memory(kernel, n, twi_closure_block(plan, kernel),
                                             plan->threads, symmetric);
    uint64_t bits = whole ? twi_certificate_memory(n, plan->threads) : 0;
    *out += (panels > bits ? panels : bits) + twi_rows_planned(plan, TW_APSP_METHOD_CLOSURE, type);
    *out += plan->options.checkpoint != NULL ? twi_checkpoint_memory(n, plan->threads) : 0;
    return true;
}

void twi_consider_reference(const tw_apsp_plan *plan, twi_candidate *c)
{
    double n = (double)plan->graph->n;
    double bytes = n * n * sizeof(double);
    c->seconds = n * n * n / REFERENCE_RATE;
    if (bytes > (double)(INT64_MAX / 4)) {
        c->memory = UINT64_MAX;
        twi_rule_out(c, "%.0f x %.0f entries are more than this machine can address", n, n);
        return;
    }
    c->memory = (uint64_t)bytes + twi_rows_planned(plan, TW_APSP_METHOD_REFERENCE, TW_F64);
    c->possible = true;
    snprintf(c->basis, sizeof c->basis, "the plain triple loop on one thread");
}

/* See team.h. Every engine takes plan->threads; so a plan that names fewer is a run with fewer. */
#include "apsp/plan/team.h"

#include "apsp/closure/cpu.h"
#include "apsp/closure/scatter.h"
#include "apsp/search/searcher.h"
#include "apsp/sweep/factor.h"

static int32_t at_most(int32_t threads, int64_t tasks)
{
    return tasks < 1 ? 1 : tasks < threads ? (int32_t)tasks : threads;
}

/* Sources are shared out evenly, in batches that have bounds. */
static int64_t search_tasks(const tw_apsp_plan *plan)
{
    const int64_t rows = twi_plan_rows(plan), threads = plan->threads;
    const int64_t share = (rows + threads - 1) / threads, most = twi_searcher_batch(plan->method);
    const int64_t batch = share < most ? share : most;
    return batch > 0 ? (rows + batch - 1) / batch : 1;
}

/* A strip of columns is one task at least; before them the blocks of the tree are. */
static int64_t sweep_tasks(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel)
{
    const int64_t strips = (twi_plan_rows(plan) + kernel->nr - 1) / kernel->nr;
    const int64_t blocks = twi_factor_tasks(plan->tree, plan->threads);
    return strips > blocks ? strips : blocks;
}

int32_t twi_plan_team(const tw_apsp_plan *plan)
{
    if (plan->gpus.count > 0) {
        return plan->threads;
    }
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, plan->work_type);
    switch (plan->method) {
    case TW_APSP_METHOD_REFERENCE:
        return 1;
    case TW_APSP_METHOD_SWEEP:
        return at_most(plan->threads, sweep_tasks(plan, kernel));
    case TW_APSP_METHOD_CLOSURE:
        return at_most(plan->threads, twi_cpu_closure_tasks(kernel, plan->graph->n, plan->threads));
    default:
        return at_most(plan->threads, search_tasks(plan));
    }
}

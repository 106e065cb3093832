/* What a plan says of itself: the graph, every candidate with its estimate or the reason why it is
 * left out, the choice, and, where a run would be long, how to do less. */
#include "apsp/plan/explain.h"

#include "base/clock.h"
#include "base/memory.h"
#include "gpu/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLOSE_CALL 1.5  /* estimates nearer to each other may change places in another run */
#define LONG_RUN 3600.0 /* seconds: worth a word on how to do less */

static void say(tw_apsp_plan *plan, const char *format, ...)
{
    size_t used = strlen(plan->explanation);
    va_list args;
    va_start(args, format);
    vsnprintf(plan->explanation + used, TWI_EXPLANATION_BYTES - used, format, args);
    va_end(args);
}

static void explain_graph(tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    say(plan, "graph: %lld %s, %lld arc%s%s, weights %s from %.9g to %.9g%s%s%s\n",
        (long long)graph->n, graph->n == 1 ? "vertex" : "vertices", (long long)graph->arcs,
        graph->arcs == 1 ? "" : "s", graph->undirected ? ", undirected" : "",
        tw_type_name(graph->weight_type), graph->min_weight, graph->max_weight,
        graph->equal ? ", all equal" : "",
        plan->potential != NULL ? ", made non-negative by potentials" : "",
        plan->part != NULL ? "; without the arcs that no walk from a source to a target uses" : "");
    say(plan, "result: %lld x %lld of %s; %d thread%s, %s\n", (long long)twi_plan_rows(plan),
        (long long)twi_plan_cols(plan), tw_type_name(plan->type), plan->threads,
        plan->threads == 1 ? "" : "s", twi_isa_name(plan->isa));
}

uint64_t twi_plan_held(const tw_apsp_plan *plan)
{
    uint64_t potentials = plan->potential != NULL ? (uint64_t)plan->graph->n * sizeof(double) : 0;
    uint64_t part = plan->part != NULL ? twi_graph_memory(plan->part) : 0;

    return plan->given + part + potentials + sizeof *plan + TWI_EXPLANATION_BYTES;
}

static void explain_candidate(tw_apsp_plan *plan, const twi_candidate *c)
{
    char bytes[32], time[TWI_DURATION];
    if (c->possible) {
        say(plan, "  %-12s  %12s  %8s  %s\n", c->name, twi_duration(time, c->seconds),
            twi_bytes(bytes, (double)(c->memory + twi_plan_held(plan))), c->basis);
    } else {
        say(plan, "  %-12s  left out: %s\n", c->name,
            c->why_not[0] != '\0' ? c->why_not : "another method was requested");
    }
}

/* ", 4.4 GB on the GPU, holding everything", or "" for the CPU. */
static const char *on_device(char text[96], const tw_apsp_plan *plan)
{
    static const char *const ways[] = {
        [TWI_GPU_RESIDENT] = ", holding everything",
        [TWI_GPU_COLUMNS] = ", a batch of columns at a time",
        [TWI_GPU_SEVERAL] = ", a share of the matrix",
        [TWI_GPU_STREAMED] = ", the matrix streamed through it",
    };
    const bool searches =
        plan->method == TW_APSP_METHOD_BFS || plan->method == TW_APSP_METHOD_DIJKSTRA;
    const bool whole = plan->gpu_way == TWI_GPU_SEVERAL && plan->gpus.count == 1;
    char bytes[32];
    text[0] = '\0';
    if (plan->gpus.count > 0) {
        snprintf(text, 96, ", %s on %s GPU%s", twi_bytes(bytes, (double)plan->device_memory),
                 plan->gpus.count > 1 ? "each" : "the",
                 searches ? ", a batch of sources at a time"
                 : whole  ? ", a copy of the matrix"
                          : ways[plan->gpu_way]);
    }
    return text;
}

static void explain_candidates(tw_apsp_plan *plan, const twi_candidate *all, int count)
{
    say(plan, "candidates (estimated time, memory including the graph, basis):\n");
    for (int i = 0; i < count; i++) {
        explain_candidate(plan, &all[i]);
    }
}

/* Whether another candidate may be the fastest the next time, and what makes a long run shorter. */
static void explain_limits(tw_apsp_plan *plan, const twi_candidate *all, int count)
{
    for (int i = 0; i < count && plan->options.method == TW_APSP_METHOD_AUTO; i++) {
        bool chosen = all[i].method == plan->method && all[i].gpu == (plan->gpus.count > 0);
        if (!chosen && all[i].possible && all[i].seconds < CLOSE_CALL * plan->seconds) {
            say(plan,
                "%s is within a factor of %.1f: another run may choose it; name a method to always "
                "get the same one\n",
                all[i].name, CLOSE_CALL);
        }
    }
    if (plan->seconds > LONG_RUN) {
        say(plan,
            "this will take more than an hour; to shorten it: %s%s%stry fewer vertices first to "
            "see what to expect\n",
            plan->options.sources == NULL ? "compute only the sources you need; " : "",
            plan->options.cutoff < 0 ? "set a cutoff, which limits the searches; " : "",
            plan->gpus.count > 0          ? "name more GPUs; "
            : twi_gpu_prefix()[0] != '\0' ? "use a GPU, or more threads; "
                                          : "use more threads; ");
    }
}

static void explain_choice(tw_apsp_plan *plan)
{
    if (plan->gpu_ran) {
        say(plan, "the GPU's driver is already running, so its start is not counted\n");
    }
    char bytes[32], time[TWI_DURATION];
    char there[96];
    say(plan, "choice: %s on %s, working in %s, about %s and %s of memory%s: %s\n",
        tw_apsp_method_name(plan->method), plan->device,
        plan->gpus.count > 0 && plan->gpu_narrow ? "16 bits if that is enough, else i32"
                                                 : tw_type_name(plan->work_type),
        twi_duration(time, plan->seconds), twi_bytes(bytes, (double)plan->memory),
        on_device(there, plan),
        plan->options.method != TW_APSP_METHOD_AUTO
            ? "as requested"
            : "the shortest estimated time that fits in memory");
}

void twi_plan_explain(tw_apsp_plan *plan, const twi_candidate *all, int count)
{
    explain_graph(plan);
    explain_candidates(plan, all, count);
    explain_limits(plan, all, count);
    explain_choice(plan);
}

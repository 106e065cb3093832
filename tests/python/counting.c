/*
 * libtilewright with a counter at its door, for the suites of others: a stand-in that
 * tests/python/run names as $TW_LIBRARY. Whoever opens it finds every function of the library
 * behind it, and these few, which count and pass on. So what is counted is what reached the
 * library, not what Python meant to do.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <tilewright.h>

static atomic_long count;

__attribute__((visibility("default"))) long counted_calls(void);
long counted_calls(void)
{
    return atomic_load(&count);
}

/* The function behind: of the library that this one is linked with. */
static void *behind(const char *name)
{
    atomic_fetch_add(&count, 1);
    return dlsym(RTLD_NEXT, name);
}

TW_API tw_status tw_apsp(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                         const tw_apsp_options *opts)
{
    __typeof__(&tw_apsp) real = (__typeof__(&tw_apsp))behind("tw_apsp");
    return real(ctx, out, graph, opts);
}

TW_API tw_status tw_apsp_plan_run(tw_context *ctx, tw_apsp_plan *plan, tw_sink *sinks,
                                  int32_t sink_count, tw_sink *predecessors, tw_apsp_report *report)
{
    __typeof__(&tw_apsp_plan_run) real = (__typeof__(&tw_apsp_plan_run))behind("tw_apsp_plan_run");
    return real(ctx, plan, sinks, sink_count, predecessors, report);
}

TW_API tw_status tw_apsp_path_create(tw_context *ctx, tw_apsp_path **out, const tw_graph *graph,
                                     const tw_matrix *distances, int32_t from, int32_t to)
{
    __typeof__(&tw_apsp_path_create) real =
        (__typeof__(&tw_apsp_path_create))behind("tw_apsp_path_create");
    return real(ctx, out, graph, distances, from, to);
}

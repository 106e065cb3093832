/*
 * Closures on a real GPU that are cancelled at random moments and resumed, resident, dealt out and
 * streamed: what is on its way between the device and the host when a checkpoint is taken has to
 * have arrived, which the runtime without a GPU cannot show (tests/fake-gpu/checkpoints.c has the
 * kinds of graphs and types). The bytes must be those of a run that was never interrupted; for
 * floats, of one with a checkpoint file, too, since without one it may have other pivots.
 *
 * usage: test_checkpoints [CASES [SEED [VERTICES]]]; without a GPU it is skipped with the reason.
 */
#include "apsp/gpu/gpu.h"
#include "base/context.h"
#include "base/random.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tw_context *ctx;
static uint64_t seed = 1;
static uint64_t drawn;
static int passed;
static int failed;
static int resumed; /* of those that passed or failed */

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static int64_t draw(int64_t low, int64_t high)
{
    return low +
           (int64_t)twi_random_below(twi_random_at(seed, drawn++), (uint64_t)(high - low + 1));
}

typedef enum way { RESIDENT, SEVERAL, STREAMED, WAYS } way;
static const char *const way_names[WAYS] = {"one GPU", "two shares", "streamed"};

typedef struct run_case {
    int64_t n;
    int64_t degree;
    int64_t heaviest;
    bool undirected;
    tw_type type;
    way way;
    uint64_t limit; /* of device memory, if streamed */
    double every;
} run_case;

static run_case draw_case(int64_t most)
{
    static const int64_t heaviest[] = {1, 100, 1000, 40000, 1000000};
    run_case c = {.n = draw(300, most),
                  .degree = draw(1, 12),
                  .heaviest = heaviest[draw(0, 4)],
                  .undirected = draw(0, 3) > 0,
                  .type = draw(0, 3) == 0 ? TW_F32 : TW_I32,
                  .way = (way)(draw(0, 5) < 4 ? STREAMED : draw(RESIDENT, SEVERAL)),
                  .every = draw(0, 2) == 0 ? 0.001 : 0};
    uint64_t least = 0;
    (void)twi_gpu_stream_fits(c.type, c.n, c.type == TW_I32, 0, &least);
    c.limit = least + least * (uint64_t)draw(0, 300) / 100;
    return c;
}

static tw_graph *make_graph(const run_case *c)
{
    const int64_t count = c->n * c->degree;
    int32_t *ends = malloc((size_t)count * 2 * sizeof *ends);
    float *floats = malloc((size_t)count * sizeof *floats);
    int32_t *whole = malloc((size_t)count * sizeof *whole);
    tw_graph *graph = NULL;
    if (ends == NULL || floats == NULL || whole == NULL) {
        exit(1);
    }
    for (int64_t i = 0; i < count; i++) {
        ends[i] = (int32_t)draw(0, c->n - 1);
        ends[count + i] = (int32_t)draw(0, c->n - 1);
        whole[i] = (int32_t)draw(0, c->heaviest);
        floats[i] = (float)whole[i] / 7;
    }
    tw_edges edges = {
        sizeof edges, count, ends, ends + count, c->type == TW_F32 ? (void *)floats : whole,
        c->type,      TW_I32};
    must(tw_graph_from_edges(ctx, &graph, c->n, &edges, c->undirected ? TW_GRAPH_UNDIRECTED : 0),
         "a graph");
    free(whole);
    free(floats);
    free(ends);
    return graph;
}

static int64_t rounds_left; /* until the run is cancelled; negative: it is not */

static void count_down(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)user, (void)done, (void)total, (void)unit;
    if (strcmp(stage, "closing") == 0 && rounds_left >= 0 && rounds_left-- == 0) {
        tw_cancel(ctx);
    }
}

static tw_status run(const run_case *c, const tw_graph *graph, const char *file, void *to)
{
    const size_t bytes = (size_t)(c->n * c->n) * tw_type_size(c->type);
    tw_matrix out = {to, c->n, c->n, c->n, c->type};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    options.type = c->type;
    options.checkpoint = file;
    options.checkpoint_every = c->every;
    memset(to, 0xA5, bytes);
    tw_clear_cancel(ctx);
    must(tw_set_device(ctx, c->way == SEVERAL ? TWI_GPU_PREFIX ":0,0" : TWI_GPU_PREFIX ":0"),
         "the device");
    must(tw_set_device_memory(ctx, c->way == STREAMED ? c->limit : 0), "the limit");
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    must(tw_sink_to_matrix(ctx, &sink, &out), "a matrix");
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, &options);
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    return status;
}

static void compare(const run_case *c, const void *want, const void *got, int interruptions)
{
    const size_t size = tw_type_size(c->type);
    const size_t count = (size_t)(c->n * c->n);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        if (memcmp((const char *)want + i * size, (const char *)got + i * size, size) != 0) {
            first = wrong++ == 0 ? i : first;
        }
    }
    passed += wrong == 0;
    failed += wrong != 0;
    if (wrong != 0) {
        printf("FAILED %s, n = %lld, degree %lld, weights to %lld, %s, %s, %.1f MB, every %g s, "
               "interrupted %d times: %zu entries differ, the first at %zu, %zu\n",
               way_names[c->way], (long long)c->n, (long long)c->degree, (long long)c->heaviest,
               c->undirected ? "undirected" : "directed", tw_type_name(c->type),
               (double)c->limit / 1e6, c->every, interruptions, wrong, first / (size_t)c->n,
               first % (size_t)c->n);
    }
}

static void try_case(const run_case *c, const char *file)
{
    tw_graph *graph = make_graph(c);
    const size_t bytes = (size_t)(c->n * c->n) * tw_type_size(c->type);
    void *want = malloc(bytes);
    void *got = malloc(bytes);
    int interruptions = 0;
    tw_status status = TW_ERR_CANCELLED;
    if (want == NULL || got == NULL) {
        exit(1);
    }
    rounds_left = -1;
    must(run(c, graph, c->type == TW_F32 ? file : NULL, want), "an uninterrupted run");
    while (status == TW_ERR_CANCELLED && interruptions < 4) {
        rounds_left = draw(0, 4);
        status = run(c, graph, file, got);
        interruptions += status == TW_ERR_CANCELLED;
    }
    rounds_left = -1;
    if (status == TW_ERR_CANCELLED) {
        status = run(c, graph, file, got);
    }
    must(status, "a resumed run");
    compare(c, want, got, interruptions);
    resumed += interruptions > 0;
    free(got);
    free(want);
    tw_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    const int64_t cases = argc > 1 ? atoll(argv[1]) : 40;
    const int64_t most = argc > 3 ? atoll(argv[3]) : 3000;
    char folder[] = "/tmp/tilewright-checkpoints-XXXXXX";
    char file[sizeof folder + 16];
    twi_gpu_list list;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK || twi_gpu_select(ctx, &list) != TW_OK) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", tw_last_error(ctx));
        tw_context_destroy(ctx);
        return 77;
    }
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(file, sizeof file, "%s/state", folder);
    tw_set_progress(ctx, count_down, NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    for (int64_t i = 0; i < cases; i++) {
        const run_case c = draw_case(most);
        try_case(&c, file);
    }
    rmdir(folder);
    tw_context_destroy(ctx);
    printf("%d of %lld runs were interrupted\n%d passed, %d failed, 0 skipped\n", resumed,
           (long long)cases, passed, failed);
    return failed > 0 || resumed == 0;
}

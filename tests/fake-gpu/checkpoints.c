/*
 * Checkpoints of closures on GPUs, on the runtime without one: whole runs from a graph to a matrix,
 * over several devices, on one and streamed through one, in 32 bits and in 16. A run that is ended
 * at any moment, by its caller, by a device that fails or by a signal, goes on the same way,
 * another way or on the CPU, and what was begun there goes on on GPUs, with the bytes of a run that
 * was never ended.
 */
#include "runtime.h"

#include "unit/scratch_folder.h"

#include "apsp/closure/checkpoint.h"
#include "apsp/closure/scatter.h"
#include "apsp/gpu/gpu.h"
#include "base/random.h"

#include <signal.h>
#include <sys/wait.h>

#ifndef TW_TEST_EMULATED
#define TW_TEST_EMULATED 0
#endif

/* ThreadSanitizer refuses threads after a fork unless told otherwise. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

typedef enum engine { ONE, THREE, STREAMED, CPU, ENGINES } engine;
static const char *const engine_names[ENGINES] = {"one GPU", "three GPUs", "a stream", "the CPU"};

typedef struct graph_case {
    const char *name;
    int64_t n;
    double density;
    int32_t heaviest;
    bool undirected;
    tw_type cpu; /* what the CPU begins in */
} graph_case;

static const graph_case cases[] = {
    {"u8", 150, 0.3, 9, false, TW_U8},
    {"u8, undirected", 131, 0.3, 9, true, TW_U8},
    {"15 bits", 150, 0.2, 900, false, TW_U16},
    {"15 bits, undirected", 141, 0.2, 900, true, TW_U16},
    {"i32", 133, 0.1, 1000000, false, TW_I32},
    {"i32, undirected", 150, 0.1, 1000000, true, TW_I32},
    {"components", 150, 0.004, 900, false, TW_U16},
    {"components, undirected", 150, 0.004, 900, true, TW_U16},
    {"too far for u8", 140, 0.012, 200, false, TW_U8},
    {"too far for u8, undirected", 140, 0.006, 200, true, TW_U8},
    {"too far for 16 bits", 140, 0.012, 30000, false, TW_U16},
    {"too far for 16 bits, undirected", 140, 0.006, 30000, true, TW_U16},
};
enum { CASES = sizeof cases / sizeof *cases };

static char said[4096];

static void listen(void *user, const char *sentence)
{
    const size_t used = strlen(said);
    (void)user;
    snprintf(said + used, sizeof said - used, "%s\n", sentence);
}

static tw_graph *make_graph(tw_context *ctx, const graph_case *c)
{
    tw_graph *graph = NULL;
    const size_t most = (size_t)(c->n * c->n);
    int32_t *arcs = malloc(3 * most * sizeof *arcs);
    tw_edges edges = {sizeof edges, 0, arcs, arcs + most, arcs + 2 * most, TW_I32, TW_I32};
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = c->undirected ? i + 1 : 0; j < c->n; j++) {
            const uint64_t random = twi_random_at(17, (uint64_t)(i * c->n + j));
            if (i != j && twi_random_unit(random) < c->density) {
                arcs[edges.count] = (int32_t)i;
                arcs[most + (size_t)edges.count] = (int32_t)j;
                arcs[2 * most + (size_t)edges.count++] =
                    (int32_t)twi_random_below(twi_random_at(3, random), (uint64_t)c->heaviest + 1);
            }
        }
    }
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, c->n, &edges,
                                       c->undirected ? TW_GRAPH_UNDIRECTED : 0));
    free(arcs);
    return graph;
}

static double every; /* seconds between checkpoints */

/* Run a graph with checkpoints in `file` (NULL: none) on an engine. On GPUs, `narrow`: 16
 * bits first. */
static tw_status run(tw_context *ctx, tw_matrix *out, const tw_graph *graph, const graph_case *c,
                     engine on, bool narrow, const char *file)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    uint64_t least = 0;
    options.method = TW_APSP_METHOD_CLOSURE;
    options.type = TW_I32;
    options.block = on == CPU ? 32 : 0;
    options.checkpoint = file;
    options.checkpoint_every = every;
    tw_status status = tw_set_device(ctx, "cpu");
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, &plan, graph, &options);
    }
    if (status == TW_OK) {
        status = tw_sink_to_matrix(ctx, &sink, out);
    }
    if (status == TW_OK) {
        plan->work_type = on == CPU ? c->cpu : TW_I32;
        plan->gpus = (twi_gpu_list){.count = on == CPU     ? 0
                                             : on == THREE ? 3
                                                           : 1,
                                    .index = {2, 0, 1}};
        plan->gpu_way = on == STREAMED ? TWI_GPU_STREAMED : TWI_GPU_SEVERAL;
        plan->gpu_narrow = narrow;
        plan->automatic = false; /* no CPU comes to its help */
        (void)twi_gpu_stream_fits(TW_I32, c->n, true, 0, &least);
        plan->gpu_allowed = on == STREAMED ? least * 3 : UINT64_MAX;
        status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    tw_sink_destroy(&sink);
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_matrix poisoned(int64_t n)
{
    const size_t bytes = (size_t)(n * n) * sizeof(int32_t);
    tw_matrix m = {malloc(bytes + 1), n, n, n, TW_I32};
    memset(m.data, 0xA5, bytes);
    return m;
}

/* The distances, on the CPU and without a checkpoint. */
static tw_matrix expected(tw_context *ctx, const tw_graph *graph, const graph_case *c)
{
    tw_matrix m = poisoned(c->n);
    assert_ok(ctx, run(ctx, &m, graph, c, CPU, false, NULL));
    return m;
}

static void assert_same(const tw_matrix *a, const tw_matrix *b, const graph_case *c, engine first,
                        engine then, uint64_t seed)
{
    if (memcmp(a->data, b->data, (size_t)(a->rows * a->cols) * sizeof(int32_t)) != 0) {
        fail_msg("%s: %s, then %s, seed %llu: the bytes differ", c->name, engine_names[first],
                 engine_names[then], (unsigned long long)seed);
    }
}

static tw_context *open_listening(void)
{
    tw_context *ctx = open_context();
    tw_set_log(ctx, listen, NULL);
    assert_ok(ctx, tw_set_threads(ctx, 2));
    said[0] = '\0';
    return ctx;
}

static void checkpoints_change_nothing_and_are_gone_in_the_end(void **state)
{
    (void)state;
    every = 0;
    for (int k = 0; k < CASES; k += 3) { /* every file waits for the disk */
        tw_context *ctx = open_listening();
        tw_graph *graph = make_graph(ctx, &cases[k]);
        tw_matrix wanted = expected(ctx, graph, &cases[k]);
        for (int on = ONE; on < CPU; on++) {
            tw_matrix got = poisoned(cases[k].n);
            said[0] = '\0';
            fake_begin((uint64_t)(7 * k + on), 0);
            assert_ok(ctx, run(ctx, &got, graph, &cases[k], (engine)on, (k / 2 + on) % 2 == 0,
                               in_scratch("c")));
            assert_same(&got, &wanted, &cases[k], (engine)on, (engine)on, 0);
            assert_non_null(strstr(said, "written; the run paused for"));
            assert_int_equal(scratch_count(), 0);
            assert_int_equal(fake_live(), 0);
            free(got.data);
        }
        free(wanted.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* ------------------------------------------------------------------------------ ended by callers
 */

static int rounds_left;

static void count_rounds(void *user, const char *stage, double done, double total, const char *unit)
{
    tw_context *ctx = user;
    (void)done;
    (void)total;
    (void)unit;
    ctx->progress_last = 0; /* every one of them, however fast they are */
    if (strcmp(stage, "closing") == 0 && rounds_left-- == 0) {
        tw_cancel(ctx);
    }
}

/* Whether an engine has rounds between which a run can end: on the CPU tiles of narrow types are as
 * wide as the kernel's strips, and 256 columns of u8 with AVX-512. */
static bool has_rounds(tw_context *ctx, const graph_case *c, engine on)
{
    twi_isa isa;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    return on != CPU || c->n > 2 * twi_block_round(twi_minplus_kernel_find(isa, c->cpu), c->n, 32);
}

/* Begun on one engine and ended after some rounds, then gone on with on another; whether it did. */
static bool end_and_go_on(const graph_case *c, engine first, engine then, uint64_t seed)
{
    tw_context *ctx = open_listening();
    tw_graph *graph = make_graph(ctx, c);
    tw_matrix wanted = expected(ctx, graph, c), got = poisoned(c->n);
    char file[128];
    snprintf(file, sizeof file, "%s", in_scratch("c"));
    every = 0;
    rounds_left = 1 + (int)(seed % (first == CPU ? 2 : 4));
    tw_set_progress(ctx, count_rounds, ctx);
    fake_begin(seed, 0);
    const tw_status ended = run(ctx, &got, graph, c, first, seed % 2 == 0, file);
    assert_true(ended == TW_ERR_CANCELLED || (ended == TW_OK && !has_rounds(ctx, c, first)));
    tw_set_progress(ctx, NULL, NULL);
    tw_clear_cancel(ctx);
    assert_int_equal(fake_live(), 0);
    const bool kept = scratch_count() > 0;
    said[0] = '\0';
    every = seed % 8 == 0 ? 0 : 600;
    fake_begin(seed + 1, 0);
    assert_ok(ctx, run(ctx, &got, graph, c, then, seed % 3 != 0, file));
    assert_same(&got, &wanted, c, first, then, seed);
    const bool resumed = kept && strstr(said, "resuming from checkpoint") != NULL;
    if (!resumed && has_rounds(ctx, c, first)) {
        fail_msg("%s: %s, then %s, seed %llu: begun anew: %s", c->name, engine_names[first],
                 engine_names[then], (unsigned long long)seed, said);
    }
    assert_int_equal(scratch_count(), 0);
    assert_int_equal(fake_live(), 0);
    free(got.data);
    free(wanted.data);
    tw_graph_destroy(graph);
    close_context(ctx);
    return resumed;
}

static void a_run_goes_on_on_any_other_engine_with_the_same_bytes(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (int k = 0; k < CASES; k++) {
        for (int pair = 0; pair < ENGINES * ENGINES; pair++, seed++) {
            (void)end_and_go_on(&cases[k], (engine)(pair / ENGINES), (engine)(pair % ENGINES),
                                seed);
        }
    }
}

/* What is too narrow is told and closed again, in the type that it went on in. */
static void a_checkpoint_that_was_too_narrow_is_closed_again(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_isa isa;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    const bool plain = twi_may_be_plain(isa, TW_U8); /* then 7 bits may have come first */
    close_context(ctx);
    for (int k = 0; k < CASES; k++) {
        if (strstr(cases[k].name, "too far for u8") == NULL) {
            continue;
        }
        for (int on = ONE; on < CPU; on++) {
            const bool resumed = end_and_go_on(&cases[k], CPU, (engine)on, (uint64_t)on);
            assert_true(!resumed || strstr(said, "the limit of the checkpoint, 255") != NULL ||
                        (plain && strstr(said, "the limit of the checkpoint, 127") != NULL));
        }
    }
}

static void a_checkpoint_of_another_graph_is_refused_and_left_alone(void **state)
{
    (void)state;
    every = 0;
    tw_context *ctx = open_listening();
    graph_case other = cases[4];
    other.heaviest--;
    tw_graph *graph = make_graph(ctx, &cases[4]), *second = make_graph(ctx, &other);
    tw_matrix got = poisoned(cases[4].n);
    rounds_left = 3;
    tw_set_progress(ctx, count_rounds, ctx);
    fake_begin(1, 0);
    assert_int_equal(run(ctx, &got, graph, &cases[4], ONE, false, in_scratch("c")),
                     TW_ERR_CANCELLED);
    tw_set_progress(ctx, NULL, NULL);
    tw_clear_cancel(ctx);
    for (int on = ONE; on < CPU; on++) {
        fake_begin(2, 0);
        assert_fails(ctx, TW_ERR_ARGUMENT, "is of another graph",
                     run(ctx, &got, second, &other, (engine)on, on % 2 == 0, in_scratch("c")));
        assert_int_equal(fake_live(), 0);
    }
    assert_int_equal(scratch_count(), 2);
    assert_ok(ctx, run(ctx, &got, graph, &cases[4], CPU, false, in_scratch("c")));
    assert_int_equal(scratch_count(), 0);
    free(got.data);
    tw_graph_destroy(second);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* ------------------------------------------------------------------------- ended by the device */

static void a_device_that_fails_leaves_a_checkpoint_to_go_on_from(void **state)
{
    (void)state;
    every = 0;
    const graph_case *c = &cases[3];
    tw_context *ctx = open_listening();
    tw_graph *graph = make_graph(ctx, c);
    tw_matrix wanted = expected(ctx, graph, c), got = poisoned(c->n);
    int kept = 0;
    for (int i = 0; i < 15; i++) {
        const engine on = (engine)(i % CPU);
        const uint64_t random = twi_random_at(29, (uint64_t)i);
        fake_begin(random, 1 + (int64_t)twi_random_below(random, 9000));
        tw_status status = run(ctx, &got, graph, c, on, i % 2 == 0, in_scratch("c"));
        assert_true(status == TW_OK || status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
        assert_int_equal(fake_live(), 0);
        kept += scratch_count() > 0;
        if (status != TW_OK) {
            fake_begin(random, 0);
            memset(got.data, 0xA5, (size_t)(c->n * c->n) * sizeof(int32_t));
            assert_ok(ctx,
                      run(ctx, &got, graph, c, (engine)((i + 1) % ENGINES), true, in_scratch("c")));
        }
        assert_same(&got, &wanted, c, on, on, random);
        assert_int_equal(scratch_count(), 0);
    }
    assert_true(kept > 3);
    free(got.data);
    free(wanted.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* -------------------------------------------------------------------------------- ended by kills
 */

static pid_t start(const tw_graph *graph, const graph_case *c, engine on, uint64_t seed,
                   const char *file)
{
    const pid_t child = fork();
    if (child == 0) {
        tw_context *ctx = NULL;
        tw_matrix got = {malloc((size_t)(c->n * c->n) * sizeof(int32_t)), c->n, c->n, c->n, TW_I32};
        fake_begin(seed, 0);
        bool good = tw_context_create(&ctx) == TW_OK && tw_set_threads(ctx, 2) == TW_OK &&
                    run(ctx, &got, graph, c, on, seed % 2 == 0, file) == TW_OK;
        _exit(good ? 0 : 1);
    }
    assert_true(child > 0);
    return child;
}

/* What a killed run leaves besides its checkpoints: names of files that it was writing. */
static void sweep_scratch(void)
{
    DIR *folder = opendir(scratch);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlink(in_scratch(entry->d_name));
        }
    }
    closedir(folder);
}

static void a_run_killed_at_any_moment_goes_on(void **state)
{
    (void)state;
    if (TW_TEST_EMULATED) {
        return; /* an emulator's threads do not survive a fork */
    }
    char file[128];
    snprintf(file, sizeof file, "%s", in_scratch("c"));
    every = 0;
    for (int i = 0; i < (small_sizes_only() ? 6 : 12); i++) {
        tw_context *ctx = open_listening();
        const graph_case *c = &cases[i % CASES];
        tw_graph *graph = make_graph(ctx, c);
        tw_matrix wanted = expected(ctx, graph, c), got = poisoned(c->n);
        for (int k = 0; k < 3; k++) { /* each goes on from where the one before was killed */
            const uint64_t random = twi_random_at(31, (uint64_t)(3 * i + k));
            int ended = 0;
            const pid_t child = start(graph, c, (engine)((i + k) % CPU), random, file);
            usleep((useconds_t)twi_random_below(random, 60000));
            (void)kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &ended, 0), child);
            assert_true(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
        }
        fake_begin((uint64_t)i, 0);
        assert_ok(ctx, run(ctx, &got, graph, c, (engine)(i % ENGINES), i % 3 == 0, file));
        assert_same(&got, &wanted, c, (engine)(i % CPU), (engine)(i % ENGINES), (uint64_t)i);
        sweep_scratch();
        free(got.data);
        free(wanted.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_change_nothing_and_are_gone_in_the_end),
        cmocka_unit_test(a_run_goes_on_on_any_other_engine_with_the_same_bytes),
        cmocka_unit_test(a_checkpoint_that_was_too_narrow_is_closed_again),
        cmocka_unit_test(a_checkpoint_of_another_graph_is_refused_and_left_alone),
        cmocka_unit_test(a_device_that_fails_leaves_a_checkpoint_to_go_on_from),
        cmocka_unit_test(a_run_killed_at_any_moment_goes_on),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

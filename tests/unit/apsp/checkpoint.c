/*
 * Checkpoints of the closure: a run that is ended at any moment goes on from its file and ends with
 * the bytes of one that was not; whatever else lies under that name is refused and left alone.
 */
#include "unit/scratch_folder.h"
#include "unit/small_graphs.h"

#include "apsp/closure/checkpoint.h"
#include "apsp/closure/scatter.h"
#include "apsp/shared/plan.h"
#include "base/memory.h"
#include "base/random.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { BLOCK = 64 };

/* ThreadSanitizer refuses threads after a fork unless told otherwise. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* What the library said last, and all of it. */
static char said[4096];

static void listen(void *user, const char *sentence)
{
    (void)user;
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", sentence);
}

static tw_context *open_listening(void)
{
    tw_context *ctx = open_context();
    said[0] = '\0';
    tw_set_log(ctx, listen, NULL);
    assert_ok(ctx, tw_set_threads(ctx, 2));
    return ctx;
}

typedef struct graph_case {
    const char *name;
    const char *kind;
    tw_type weights, type, work;
    double heaviest;
    bool undirected;
    double degree;
} graph_case;

static const graph_case cases[] = {
    {"u8", "dense", TW_I32, TW_I32, TW_AUTO, 9, false, 0},
    {"15 bits", "dense", TW_I32, TW_I32, TW_AUTO, 900, false, 0},
    {"u16", "dense", TW_I32, TW_I32, TW_U16, 40000, true, 0},
    {"i32", "dense", TW_I32, TW_I32, TW_I32, 1000000, false, 0},
    {"i32 undirected", "sparse", TW_I32, TW_I32, TW_I32, 1000000, true, 3},
    {"components", "sparse", TW_I32, TW_I32, TW_AUTO, 50, false, 0.7},
    {"components, undirected", "sparse", TW_I32, TW_U16, TW_AUTO, 50, true, 0.6},
    {"f32", "dense", TW_F32, TW_F32, TW_F32, 10, false, 0},
    {"f32 undirected", "sparse", TW_F32, TW_F32, TW_F32, 10, true, 4},
    {"f64", "dense", TW_F64, TW_F64, TW_AUTO, 10, false, 0},
    {"f64 undirected", "dense", TW_F64, TW_F64, TW_AUTO, 10, true, 0},
    {"f64 of integers", "dense", TW_I32, TW_F64, TW_F64, 10, false, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static tw_graph *make_graph(tw_context *ctx, const graph_case *c, int64_t n, uint64_t seed)
{
    tw_graph *graph = NULL;
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = c->kind;
    opts.vertices = n;
    opts.degree = c->degree;
    opts.density = 0.3;
    opts.seed = seed;
    opts.directed = c->undirected ? TW_GRAPH_DIRECTED_NO : TW_GRAPH_DIRECTED_YES;
    opts.weight_type = c->weights;
    opts.min_weight = 0;
    opts.max_weight = c->heaviest;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
    return graph;
}

static tw_apsp_options options_of(const graph_case *c, const char *file)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    options.type = c->type;
    options.work_type = c->work;
    options.block = BLOCK;
    options.checkpoint = file;
    options.checkpoint_every = 0;
    return options;
}

static tw_matrix poisoned(int64_t n, tw_type type)
{
    const size_t bytes = (size_t)(n * n) * tw_type_size(type);
    tw_matrix m = {malloc(bytes + 1), n, n, n, type};
    memset(m.data, 0xA5, bytes);
    return m;
}

static void assert_same(const tw_matrix *a, const tw_matrix *b, const char *what)
{
    const size_t bytes = (size_t)(a->rows * a->cols) * tw_type_size(a->type);
    if (memcmp(a->data, b->data, bytes) != 0) {
        fail_msg("%s: the bytes differ", what);
    }
}

/* A keeper that ends the run once so many checkpoints were tried. */
typedef struct ending {
    tw_context *ctx;
    twi_keeper inner;
    int64_t left;
} ending;

static bool ending_due(void *self)
{
    const ending *e = self;
    const bool due = e->inner.due(e->inner.self);
    if (strstr(said, "cannot write checkpoint") != NULL) {
        tw_cancel(e->ctx);
    }
    return due;
}

static tw_status ending_keep(void *self, int64_t done)
{
    ending *e = self;
    tw_status status = e->inner.keep(e->inner.self, done);
    if (--e->left == 0 && status == TW_OK) {
        tw_cancel(e->ctx);
        status = twi_check_cancel(e->ctx);
    }
    return status;
}

/* A run as the library's, or with 7 bits, which not every instruction set begins with; ended after
 * so many checkpoints; it goes on from what it finds. */
static void leave_in(const tw_graph *graph, const tw_apsp_options *options, int64_t rounds,
                     double every, bool seven_bits)
{
    tw_context *ctx = open_context();
    tw_apsp_plan *plan = NULL;
    twi_checkpoint *checkpoint = NULL;
    int64_t done = 0;
    tw_set_log(ctx, listen, NULL);
    assert_ok(ctx, tw_set_threads(ctx, 2));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, options));
    twi_work work = {.kernel = seven_bits ? twi_minplus_kernel_plain(plan->isa, TW_U8)
                                          : twi_closure_kernel(plan, plan->work_type),
                     .n = graph->n};
    work.ld = twi_work_stride(work.kernel, work.n);
    assert_ok(ctx, twi_alloc(ctx, &work.data, twi_work_bytes(work.kernel, work.n), 1, "a matrix"));
    twi_scatter(ctx, plan, &work);
    const bool symmetric = plan->symmetric || twi_is_symmetric(ctx, &work);
    const int32_t block = options->block > 0 ? twi_block_round(work.kernel, work.n, options->block)
                                             : twi_block_choose(work.kernel, work.n);
    assert_ok(ctx, twi_checkpoint_open(ctx, &checkpoint, options->checkpoint, every, graph->n, 2));
    const twi_state *found = twi_checkpoint_found(checkpoint);
    twi_checkpoint_begin(checkpoint, &work, block, symmetric);
    if (found != NULL) {
        done = found->done;
        assert_ok(ctx, twi_checkpoint_resume(checkpoint, ctx, work.kernel));
    }
    ending e = {ctx, twi_checkpoint_keeper(checkpoint), rounds};
    const twi_keeper keeper = {&e, ending_due, ending_keep};
    assert_int_equal(twi_cpu_closure_from(ctx, &work, block, 2, symmetric, done, &keeper),
                     TW_ERR_CANCELLED);
    twi_checkpoint_close(ctx, checkpoint, false);
    twi_free(work.data);
    tw_apsp_plan_destroy(plan);
    close_context(ctx);
}

static void leave_every(const tw_graph *graph, const tw_apsp_options *options, int64_t rounds,
                        double every)
{
    leave_in(graph, options, rounds, every, false);
}

static void leave(const tw_graph *graph, const tw_apsp_options *options, int64_t rounds)
{
    leave_every(graph, options, rounds, 0);
}

/* The header of a generation. */
static twi_state state_of(const char *file, int which)
{
    twi_generations files;
    twi_state state;
    int fd = -1;
    char why[TWI_STATE_WHY] = "";
    tw_context *ctx = open_context();
    assert_ok(ctx, twi_generations_name(ctx, &files, file));
    if (twi_generation_open(&files, which, &state, &fd, why) != TWI_STATE_GOOD) {
        fail_msg("generation %d: %s", which, why);
    }
    close(fd);
    close_context(ctx);
    return state;
}

static int64_t rounds_of(const tw_graph *graph, const tw_apsp_options *options)
{
    tw_context *ctx = open_context();
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, options));
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, plan->work_type);
    const int64_t block = twi_block_round(kernel, graph->n, BLOCK);
    tw_apsp_plan_destroy(plan);
    close_context(ctx);
    return (graph->n + block - 1) / block;
}

static void a_run_goes_on_from_every_round_with_the_same_bytes(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK - 1, 4 * BLOCK + 17};
    const char *file = in_scratch("c");
    char name[64];
    snprintf(name, sizeof name, "%s", file);
    for (int k = 0; k < CASES; k++) {
        for (int s = 0; s < (emulated_sizes_only() ? 1 : 4); s++) {
            tw_context *ctx = open_listening();
            tw_graph *graph = make_graph(ctx, &cases[k], sizes[s], 17 + (uint64_t)k);
            tw_apsp_options options = options_of(&cases[k], NULL);
            tw_matrix wanted = poisoned(sizes[s], cases[k].type);
            assert_ok(ctx, tw_apsp(ctx, &wanted, graph, &options));
            options.checkpoint = name;
            const int64_t rounds = rounds_of(graph, &options);
            for (int64_t r = 1; r < rounds; r++) {
                tw_matrix got = poisoned(sizes[s], cases[k].type);
                leave(graph, &options, r);
                const twi_state kept = state_of(name, 0);
                assert_int_equal(kept.done, r * kept.block);
                if (r > 1) {
                    assert_int_equal(state_of(name, 1).done, (r - 1) * kept.block);
                }
                assert_int_equal(kept.lower, cases[k].undirected);
                said[0] = '\0';
                assert_ok(ctx, tw_set_threads(ctx, 1 + (int)r % 3));
                assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
                if (strstr(said, "resuming from checkpoint") == NULL) {
                    fail_msg("%s: it has begun anew: %s", cases[k].name, said);
                }
                assert_same(&got, &wanted, cases[k].name);
                assert_int_equal(scratch_count(), 0);
                free(got.data);
            }
            free(wanted.data);
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

static void checkpoints_change_nothing_and_are_gone_in_the_end(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        tw_context *ctx = open_listening();
        const int64_t n = 5 * BLOCK + 5; /* more than the widest tile, of u8 with AVX-512 */
        tw_graph *graph = make_graph(ctx, &cases[k], n, 5);
        tw_apsp_options options = options_of(&cases[k], NULL);
        tw_matrix wanted = poisoned(n, cases[k].type), got = poisoned(n, cases[k].type);
        assert_ok(ctx, tw_apsp(ctx, &wanted, graph, &options));
        options.checkpoint = in_scratch("c");
        options.method = TW_APSP_METHOD_AUTO; /* the closure, whatever is faster */
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        assert_same(&got, &wanted, cases[k].name);
        assert_non_null(strstr(said, "written; the run paused for"));
        assert_int_equal(scratch_count(), 0);
        said[0] = '\0';
        options.checkpoint_every = 600; /* too seldom for this run */
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        assert_same(&got, &wanted, cases[k].name);
        assert_null(strstr(said, "paused"));
        free(wanted.data);
        free(got.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* A file so large that it is mapped: pairs of vertices, so that the closure has little to do. */
static void large_checkpoints_change_nothing(void **state)
{
    (void)state;
    enum { N = 4160, PAIRS = N / 2 };
    static int32_t from[PAIRS], to[PAIRS], weight[PAIRS];
    if (emulated_sizes_only()) {
        return;
    }
    tw_context *ctx = open_listening();
    tw_graph *graph = NULL;
    for (int32_t v = 0; v < PAIRS; v++) {
        from[v] = v;
        to[v] = N - 1 - v;
        weight[v] = 1000000 + v;
    }
    tw_edges edges = {sizeof edges, PAIRS, from, to, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    tw_apsp_options options = options_of(&cases[3], NULL);
    char file[128];
    snprintf(file, sizeof file, "%s", in_scratch("c"));
    options.checkpoint = file;
    options.checkpoint_every = 1e-9;
    leave_every(graph, &options, 1, 1e-9);
    assert_true(state_of(file, 0).done > 0);
    tw_matrix got = poisoned(N, TW_I32);
    said[0] = '\0';
    assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
    assert_non_null(strstr(said, "resuming from checkpoint"));
    assert_non_null(strstr(said, "written; the run paused"));
    for (int32_t i = 0; i < N; i++) {
        const int32_t *row = (const int32_t *)got.data + (int64_t)i * N;
        for (int32_t j = 0; j < N; j++) {
            const int32_t right = i == j                        ? 0
                                  : i < PAIRS && j == N - 1 - i ? 1000000 + i
                                                                : TW_APSP_INF_I32;
            assert_true(row[j] == right);
        }
    }
    assert_int_equal(scratch_count(), 0);
    free(got.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Small matrices are one tile, or are closed without any; none of them has a moment to keep. */
static void tiny_graphs_have_no_checkpoints(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 33, 64};
    for (int s = 0; s < 5; s++) {
        tw_context *ctx = open_listening();
        tw_graph *graph = make_graph(ctx, &cases[5], sizes[s], 3);
        tw_apsp_options options = options_of(&cases[5], in_scratch("c"));
        tw_matrix got = poisoned(sizes[s], TW_I32), wanted = true_distances(ctx, graph, TW_I32);
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        assert_same(&got, &wanted, "tiny");
        assert_int_equal(scratch_count(), 0);
        free(got.data);
        free(wanted.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* ----------------------------------------------------------------------------------- other files
 */

typedef struct contents {
    char *bytes;
    size_t count;
} contents;

static contents read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    contents c = {.count = (size_t)ftell(file)};
    rewind(file);
    c.bytes = malloc(c.count + 1);
    assert_int_equal(fread(c.bytes, 1, c.count, file), c.count);
    fclose(file);
    return c;
}

static void write_file(const char *path, const contents *c, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(c->bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

typedef struct scene {
    tw_context *ctx;
    tw_graph *graph;
    tw_apsp_options options;
    tw_matrix wanted;
    char file[128], previous[128];
    contents newest, older;
} scene;

/* A graph whose run was ended after two checkpoints. */
static void open_scene(scene *out, const graph_case *c, int64_t n)
{
    scene s = {.ctx = open_listening()};
    snprintf(s.file, sizeof s.file, "%s", in_scratch("c"));
    snprintf(s.previous, sizeof s.previous, "%s", in_scratch("c.previous"));
    s.graph = make_graph(s.ctx, c, n, 11);
    s.options = options_of(c, NULL);
    s.wanted = poisoned(n, c->type);
    assert_ok(s.ctx, tw_apsp(s.ctx, &s.wanted, s.graph, &s.options));
    s.options.checkpoint = s.file;
    leave(s.graph, &s.options, 2);
    s.newest = read_file(s.file);
    s.older = read_file(s.previous);
    said[0] = '\0';
    *out = s;
    out->options.checkpoint = out->file;
}

static void close_scene(scene *s)
{
    unlink(s->file);
    unlink(s->previous);
    assert_int_equal(scratch_count(), 0);
    free(s->newest.bytes);
    free(s->older.bytes);
    free(s->wanted.data);
    tw_graph_destroy(s->graph);
    close_context(s->ctx);
}

/* With that newest file the run goes on from the one before, says so, and is right. */
static void goes_back(scene *s, const contents *newest, size_t count, const char *words)
{
    tw_matrix got = poisoned(s->wanted.rows, s->wanted.type);
    write_file(s->file, newest, count);
    write_file(s->previous, &s->older, s->older.count);
    said[0] = '\0';
    assert_ok(s->ctx, tw_apsp(s->ctx, &got, s->graph, &s->options));
    if (strstr(said, "going back to") == NULL || strstr(said, words) == NULL) {
        fail_msg("wanted \"%s\" in: %s", words, said);
    }
    assert_same(&got, &s->wanted, words);
    assert_int_equal(scratch_count(), 0);
    free(got.data);
}

/* Alone it is refused by these words and stays as it is. */
static void is_refused(scene *s, const contents *file, size_t count, tw_status status,
                       const char *words)
{
    tw_matrix got = poisoned(s->wanted.rows, s->wanted.type);
    write_file(s->file, file, count);
    unlink(s->previous);
    assert_fails(s->ctx, status, words, tw_apsp(s->ctx, &got, s->graph, &s->options));
    const contents after = read_file(s->file);
    assert_int_equal(after.count, count);
    assert_memory_equal(after.bytes, file->bytes, count);
    assert_int_equal(scratch_count(), 1);
    free(after.bytes);
    free(got.data);
}

static void a_damaged_checkpoint_gives_way_to_the_one_before(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &cases[4], 3 * BLOCK + 1);
    contents bad = {malloc(s.newest.count), s.newest.count};
    const twi_state found = state_of(s.file, 0);
    const size_t rows = (size_t)twi_state_row_at(&found, 0);
    printf("seed 4711\n");
    for (uint64_t i = 0; i < (emulated_sizes_only() ? 8 : 60); i++) {
        const uint64_t drawn = twi_random_at(4711, i);
        /* The header, the sums, the rows; not the gap before those, which says nothing. */
        const size_t front = TWI_CHECKPOINT_HEADER + 8 * (size_t)found.n;
        size_t at = i % 3 == 0   ? (size_t)(drawn % TWI_CHECKPOINT_HEADER)
                    : i % 3 == 1 ? (size_t)(drawn % front)
                                 : rows + (size_t)(drawn % (bad.count - rows));
        at = at >= 8 && at < 16 ? 16 : at; /* the version is another story */
        memcpy(bad.bytes, s.newest.bytes, bad.count);
        bad.bytes[at] = (char)(bad.bytes[at] ^ (1 << (drawn >> 40) % 8));
        goes_back(&s, &bad, bad.count, at < 8 ? "not a checkpoint" : "damaged");
        is_refused(&s, &bad, bad.count, TW_ERR_FORMAT, at < 8 ? "not a checkpoint" : "damaged");
    }
    static const size_t cut[] = {0, 7, 8, 100, 127, 128, 129, 5000};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        const char *words = cut[i] < 8 ? "not a checkpoint" : cut[i] < 128 ? "ends after" : "bytes";
        goes_back(&s, &s.newest, cut[i], words);
        is_refused(&s, &s.newest, cut[i], TW_ERR_FORMAT, words);
    }
    goes_back(&s, &s.newest, s.newest.count - 1, "bytes");
    free(bad.bytes);
    close_scene(&s);
}

static void the_one_before_is_enough(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &cases[9], 3 * BLOCK + 1);
    tw_matrix got = poisoned(s.wanted.rows, s.wanted.type);
    unlink(s.file); /* killed between the two renames */
    assert_ok(s.ctx, tw_apsp(s.ctx, &got, s.graph, &s.options));
    assert_non_null(strstr(said, "resuming from checkpoint"));
    assert_same(&got, &s.wanted, "the one before");
    assert_int_equal(scratch_count(), 0);
    /* Damaged, and alone: refused as well. */
    s.older.bytes[s.older.count - 1] ^= 1;
    write_file(s.previous, &s.older, s.older.count);
    assert_fails(s.ctx, TW_ERR_FORMAT, "c.previous", tw_apsp(s.ctx, &got, s.graph, &s.options));
    free(got.data);
    close_scene(&s);
}

static void a_checkpoint_of_something_else_is_refused(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &cases[3], 3 * BLOCK + 1);
    tw_matrix got = poisoned(s.wanted.rows, s.wanted.type);
    tw_graph *graph = s.graph;
    static const contents text = {"vertex,vertex,weight\n1,2,3\n", 27};
    is_refused(&s, &text, text.count, TW_ERR_FORMAT, "not a checkpoint");

    contents old = {malloc(s.newest.count), s.newest.count};
    memcpy(old.bytes, s.newest.bytes, old.count);
    old.bytes[8] = 7;
    is_refused(&s, &old, old.count, TW_ERR_FORMAT,
               "it is of format 7; this version reads format 1");
    write_file(s.previous, &s.older, s.older.count); /* even beside one of ours */
    assert_fails(s.ctx, TW_ERR_FORMAT, "format 7", tw_apsp(s.ctx, &got, graph, &s.options));
    unlink(s.previous);
    free(old.bytes);

    s.graph = make_graph(s.ctx, &cases[3], 3 * BLOCK + 1, 12); /* another seed */
    is_refused(&s, &s.newest, s.newest.count, TW_ERR_ARGUMENT, "is of another graph");
    tw_graph_destroy(s.graph);
    s.graph = make_graph(s.ctx, &cases[3], 3 * BLOCK + 2, 11);
    free(got.data);
    got = s.wanted;
    s.wanted = poisoned(3 * BLOCK + 2, TW_I32);
    is_refused(&s, &s.newest, s.newest.count, TW_ERR_ARGUMENT,
               "193 vertices, but this one has 194");
    free(s.wanted.data);
    s.wanted = got;
    tw_graph_destroy(s.graph);
    s.graph = graph;

    s.options.work_type = TW_F64;
    is_refused(&s, &s.newest, s.newest.count, TW_ERR_ARGUMENT,
               "computed in i32, but this run uses f64");
    /* Left open they are as the file has them. */
    s.options.work_type = TW_AUTO;
    s.options.block = 0;
    got = poisoned(s.wanted.rows, s.wanted.type);
    assert_ok(s.ctx, tw_apsp(s.ctx, &got, graph, &s.options));
    assert_same(&got, &s.wanted, "left open");
    free(got.data);
    close_scene(&s);
}

/* Which changes the last bits of floats. */
static void other_pivots_are_refused_for_floats(void **state)
{
    (void)state;
    for (int k = 7; k < 11; k++) {
        scene s;
        open_scene(&s, &cases[k], 3 * BLOCK + 1);
        s.options.block = 2 * BLOCK;
        is_refused(&s, &s.newest, s.newest.count, TW_ERR_ARGUMENT, "pivots of 64 vertices");
        close_scene(&s);
    }
    scene s;
    open_scene(&s, &cases[3], 3 * BLOCK + 1);
    tw_matrix got = poisoned(s.wanted.rows, s.wanted.type);
    s.options.block = 2 * BLOCK;
    assert_ok(s.ctx, tw_apsp(s.ctx, &got, s.graph, &s.options));
    assert_non_null(strstr(said, "resuming from checkpoint"));
    assert_same(&got, &s.wanted, "other pivots");
    free(got.data);
    close_scene(&s);
}

static void what_has_no_checkpoints_says_so(void **state)
{
    (void)state;
    tw_context *ctx = open_listening();
    tw_graph *graph = make_graph(ctx, &cases[3], 200, 1);
    tw_matrix got = poisoned(200, TW_I32);
    tw_apsp_options options = options_of(&cases[3], in_scratch("c"));
    options.method = TW_APSP_METHOD_DIJKSTRA;
    assert_fails(ctx, TW_ERR_ARGUMENT, "method dijkstra does not support checkpoints",
                 tw_apsp(ctx, &got, graph, &options));
    options.method = TW_APSP_METHOD_AUTO;
    options.checkpoint_every = -1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "checkpoint_every is -1",
                 tw_apsp(ctx, &got, graph, &options));
    options.checkpoint_every = (double)NAN;
    assert_fails(ctx, TW_ERR_ARGUMENT, "checkpoint_every", tw_apsp(ctx, &got, graph, &options));
    options.checkpoint_every = 0;
    options.checkpoint = in_scratch("nowhere/c");
    assert_fails(ctx, TW_ERR_IO, "cannot write a checkpoint beside",
                 tw_apsp(ctx, &got, graph, &options));
    options.checkpoint = scratch; /* a folder */
    assert_fails(ctx, TW_ERR_FORMAT, "not a file", tw_apsp(ctx, &got, graph, &options));
    options.checkpoint = "";
    assert_fails(ctx, TW_ERR_ARGUMENT, "name", tw_apsp(ctx, &got, graph, &options));
    free(got.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* --------------------------------------------------------------------------------- narrow types */

/* Paths so long that 8 bits are not enough, which a plan made from one vertex does not see. */
static void a_narrow_attempt_goes_on_and_then_widens(void **state)
{
    (void)state;
    enum { N = 4 * BLOCK + 3 };
    static int32_t from[2 * N], to[2 * N], weight[2 * N];
    tw_context *ctx = open_listening();
    tw_graph *graph = NULL;
    int64_t count = 0;
    for (int32_t v = 0; v + 1 < N; v++, count++) { /* a chain */
        from[count] = v;
        to[count] = v + 1;
        weight[count] = 2;
    }
    tw_edges edges = {sizeof edges, count, from, to, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.checkpoint = in_scratch("c");
    options.checkpoint_every = 0;
    options.work_type = TW_U8;
    options.block = BLOCK;
    char file[128];
    snprintf(file, sizeof file, "%s", options.checkpoint);
    options.checkpoint = file;
    leave(graph, &options, 1);
    assert_int_equal(state_of(file, 0).type, TW_U8);
    tw_matrix got = poisoned(N, TW_I32), wanted = true_distances(ctx, graph, TW_I32);
    options.work_type = TW_AUTO;
    said[0] = '\0';
    assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
    assert_non_null(strstr(said, "vertices are done, in u8"));
    assert_non_null(strstr(said, "closing again in"));
    assert_same(&got, &wanted, "widened");
    assert_int_equal(scratch_count(), 0);
    free(got.data);
    free(wanted.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* A checkpoint of 7 bits is for every machine, also for those that begin with 8, and where they are
 * too few, 8 or more follow. */
static void seven_bits_go_on_with_any_instruction_set(void **state)
{
    (void)state;
    enum { N = 4 * BLOCK + 3 };
    static int32_t from[N], to[N], weight[N];
    static const int32_t farthest[] = {126, 127, 128, 254, 255, 300};
    char file[128];
    snprintf(file, sizeof file, "%s", in_scratch("c"));
    for (int32_t v = 0; v < N; v++) { /* pairs there and back, and 0 -> 1 -> 3 */
        from[v] = v;
        to[v] = v + 1 < N ? v ^ 1 : v;
        weight[v] = 50;
    }
    from[3] = 1;
    to[3] = 3;
    for (size_t i = 0; i < 2 * sizeof farthest / sizeof *farthest; i++) {
        const int32_t far = farthest[i / 2];
        tw_context *ctx = open_listening();
        tw_graph *graph = NULL;
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        weight[0] = far / 2;
        weight[3] = far - far / 2;
        tw_edges edges = {sizeof edges, N, from, to, weight, TW_I32, TW_I32};
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
        options.method = TW_APSP_METHOD_CLOSURE;
        options.checkpoint = file;
        options.checkpoint_every = 0;
        options.block = BLOCK;
        leave_in(graph, &options, 1, 0, true);
        assert_int_equal(state_of(file, 0).type, TW_U8);
        assert_true(state_of(file, 0).cap == 127);
        tw_matrix got = poisoned(N, TW_I32), wanted = true_distances(ctx, graph, TW_I32);
        said[0] = '\0';
        if (i % 2 != 0) {
            assert_ok(ctx, tw_set_isa(ctx, "scalar"));
        }
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        assert_non_null(strstr(said, "vertices are done, in u8"));
        assert_true((strstr(said, "the limit of 7 bits of u8; closing again in u8") != NULL) ==
                    (far >= 127));
        assert_same(&got, &wanted, "7 bits");
        assert_int_equal(scratch_count(), 0);
        free(got.data);
        free(wanted.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

static void negative_weights_go_on(void **state)
{
    (void)state;
    for (int kind = 6; kind < 8; kind++) {
        tw_context *ctx = open_listening();
        tw_graph *graph = small_graph(ctx, kind, 3 * BLOCK + 7, 21);
        const tw_type type = kind == 6 ? TW_I32 : TW_F64;
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_matrix wanted = poisoned(graph->n, type), got = poisoned(graph->n, type);
        char file[128];
        snprintf(file, sizeof file, "%s", in_scratch("c"));
        options.method = TW_APSP_METHOD_CLOSURE;
        options.block = BLOCK;
        options.checkpoint_every = 0;
        assert_ok(ctx, tw_apsp(ctx, &wanted, graph, &options));
        options.checkpoint = file;
        leave(graph, &options, 1);
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        assert_non_null(strstr(said, "resuming from checkpoint"));
        assert_same(&got, &wanted, "negative weights");
        free(wanted.data);
        free(got.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* ------------------------------------------------------------------------------------- failures */

static void a_full_disk_costs_the_new_checkpoint_alone(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &cases[3], 4 * BLOCK + 1);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    leave(s.graph, &s.options, 1); /* goes on from the newest, and cannot write */
    tw_matrix got = poisoned(s.wanted.rows, s.wanted.type);
    const bool told = strstr(said, "cannot write checkpoint") != NULL;
    const contents newest = read_file(s.file), older = read_file(s.previous);
    said[0] = '\0';
    const tw_status status = tw_apsp(s.ctx, &got, s.graph, &s.options);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_true(told);
    assert_int_equal(newest.count, s.newest.count);
    assert_memory_equal(newest.bytes, s.newest.bytes, newest.count);
    assert_int_equal(older.count, s.older.count);
    assert_memory_equal(older.bytes, s.older.bytes, older.count);
    assert_int_equal(status, TW_OK);
    assert_non_null(strstr(said, "resuming from checkpoint"));
    assert_same(&got, &s.wanted, "without room");
    assert_int_equal(scratch_count(), 0);
    free(newest.bytes);
    free(older.bytes);
    free(got.data);
    close_scene(&s);
}

static void a_failed_allocation_leaves_the_checkpoint(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &cases[10], 3 * BLOCK + 1);
    tw_matrix got = poisoned(s.wanted.rows, s.wanted.type);
    const int64_t blocks = twi_meter_blocks(s.ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t k = 1;
    for (; status != TW_OK; k++) {
        assert_true(k < 1000);
        twi_meter_fail_at(s.ctx->meter, k);
        said[0] = '\0';
        status = tw_apsp(s.ctx, &got, s.graph, &s.options);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(s.ctx->meter), blocks);
        if (status != TW_OK) {
            assert_true(state_of(s.file, 0).done > 0);
        }
    }
    twi_meter_fail_at(s.ctx->meter, 0);
    assert_true(k > 4);
    assert_non_null(strstr(said, "resuming from checkpoint"));
    assert_same(&got, &s.wanted, "after failures");
    free(got.data);
    close_scene(&s);
}

static void the_plan_counts_the_memory(void **state)
{
    (void)state;
    tw_context *ctx = open_listening();
    tw_graph *graph = make_graph(ctx, &cases[3], 500, 1);
    tw_apsp_options options = options_of(&cases[3], in_scratch("c"));
    tw_apsp_plan *plan = NULL;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_matrix got = poisoned(500, TW_I32);
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    const uint64_t planned = describe_plan(plan).memory, small_things = 4096;
    assert_true(twi_checkpoint_memory(500, 2) > small_things);
    assert_true(report.memory_peak <= planned + small_things);
    assert_int_equal(report.method, TW_APSP_METHOD_CLOSURE);
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    free(got.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* ---------------------------------------------------------------------------------------- kills */

/* In a process of its own: the run, into a file. */
static pid_t start(const tw_graph *graph, const tw_apsp_options *options, const char *out)
{
    const pid_t child = fork();
    if (child == 0) {
        tw_context *ctx = NULL;
        tw_apsp_plan *plan = NULL;
        tw_sink sink = TW_SINK_INIT;
        bool good = tw_context_create(&ctx) == TW_OK && tw_set_threads(ctx, 2) == TW_OK &&
                    tw_apsp_plan_create(ctx, &plan, graph, options) == TW_OK &&
                    tw_sink_to_file(ctx, &sink, out, "raw") == TW_OK &&
                    tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL) == TW_OK;
        if (!good) {
            fprintf(stderr, "the run failed: %s\n", ctx != NULL ? tw_last_error(ctx) : "");
        }
        _exit(good ? 0 : 1);
    }
    assert_true(child > 0);
    return child;
}

/* Whether there is a whole checkpoint; how far it has come. */
static int64_t whole_checkpoint(const char *file, int64_t n)
{
    tw_context *ctx = open_context();
    twi_checkpoint *checkpoint = NULL;
    int64_t done = -1;
    assert_ok(ctx, twi_checkpoint_open(ctx, &checkpoint, file, 0, n, 1));
    if (twi_checkpoint_found(checkpoint) != NULL) {
        done = twi_checkpoint_found(checkpoint)->done;
    }
    twi_checkpoint_close(ctx, checkpoint, false);
    close_context(ctx);
    return done;
}

static void a_run_killed_at_any_moment_goes_on(void **state)
{
    (void)state;
    const int64_t n = (small_sizes_only() ? 5 : 10) * BLOCK + 3;
    if (TW_TEST_EMULATED) {
        return; /* an emulator's threads do not survive a fork */
    }
    char file[128], out[128];
    snprintf(file, sizeof file, "%s", in_scratch("c"));
    snprintf(out, sizeof out, "%s", in_scratch("out"));
    for (uint64_t seed = 1; seed <= (small_sizes_only() ? 2 : 6); seed++) {
        const graph_case *c = &cases[seed % 2 == 0 ? 10 : 3];
        tw_context *ctx = open_listening();
        tw_graph *graph = make_graph(ctx, c, n, seed);
        tw_apsp_options options = options_of(c, NULL);
        tw_matrix wanted = poisoned(n, c->type);
        assert_ok(ctx, tw_apsp(ctx, &wanted, graph, &options));
        options.checkpoint = file;
        int64_t reached = -1, kills = 0;
        bool over = false;
        double longest = 20000; /* microseconds */
        for (uint64_t i = 0; !over; i++) {
            /* Longer each time, so that there is an end on any machine. */
            const useconds_t wait = (useconds_t)(longest * twi_random_unit(twi_random_at(seed, i)));
            longest *= 1.15;
            int status = 0;
            const pid_t child = start(graph, &options, out);
            usleep(wait);
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            over = WIFEXITED(status);
            assert_true(over ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
            if (!over && access(out, F_OK) != 0) { /* killed before its last step */
                const int64_t now = whole_checkpoint(file, n);
                if (now < reached) {
                    fail_msg("seed %llu, kill %llu: %lld vertices were done, and now %lld",
                             (unsigned long long)seed, (unsigned long long)i, (long long)reached,
                             (long long)now);
                }
                reached = now;
                kills++;
            }
            over = over || access(out, F_OK) == 0;
        }
        printf("seed %llu: killed %lld times, the last with %lld of %lld vertices done\n",
               (unsigned long long)seed, (long long)kills, (long long)reached, (long long)n);
        unlink(file); /* where it was killed between the end and their removal */
        unlink(in_scratch("c.previous"));
        unlink(in_scratch("c.lock"));
        assert_file("out", wanted.data, (size_t)(n * n) * tw_type_size(c->type));
        free(wanted.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
    /* What a kill leaves under a temporary name is removed by the next run that writes here. */
    assert_int_equal(scratch_count(), 0);
}

int main(void)
{
#define SCRATCH(f) cmocka_unit_test_setup_teardown(f, make_scratch, remove_scratch)
    const struct CMUnitTest tests[] = {
        SCRATCH(a_run_goes_on_from_every_round_with_the_same_bytes),
        SCRATCH(checkpoints_change_nothing_and_are_gone_in_the_end),
        SCRATCH(large_checkpoints_change_nothing),
        SCRATCH(tiny_graphs_have_no_checkpoints),
        SCRATCH(a_damaged_checkpoint_gives_way_to_the_one_before),
        SCRATCH(the_one_before_is_enough),
        SCRATCH(a_checkpoint_of_something_else_is_refused),
        SCRATCH(other_pivots_are_refused_for_floats),
        SCRATCH(what_has_no_checkpoints_says_so),
        SCRATCH(a_narrow_attempt_goes_on_and_then_widens),
        SCRATCH(seven_bits_go_on_with_any_instruction_set),
        SCRATCH(negative_weights_go_on),
        SCRATCH(a_full_disk_costs_the_new_checkpoint_alone),
        SCRATCH(a_failed_allocation_leaves_the_checkpoint),
        SCRATCH(the_plan_counts_the_memory),
        SCRATCH(a_run_killed_at_any_moment_goes_on),
    };
    return cmocka_run_group_tests_name("checkpoints", tests, NULL, NULL);
}

/*
 * Plans and runs on GPUs that are made up: what a device says of itself, what it takes and how it
 * fails stands here, so that the choice, the memory that is stated and what a report tells can be
 * tested where there is none. The closure itself is the plain triple loop.
 */
#include "harness.h"

#include "apsp/gpu/gpu.h"
#include "apsp/gpu/hops.h"
#include "gpu/startup.h"

#include <stdio.h>
#include <string.h>

#define SEVERAL_BYTES 70000 /* of each device of a list */
#define STREAMED_BYTES 5000 /* of a device through which a matrix is streamed */
#define SWEEP_BYTES 9000    /* of a sweep, besides its columns */
#define SMALL_THINGS 500    /* that no plan counts: the delivery itself */
#define MORE 1000           /* bytes that a resident matrix takes besides */

enum { N = 60, CARDS = 3 };
static bool broken;       /* the next run fails */
static bool slow;         /* and no plan would take it */
static bool runs;         /* its driver does, in this process */
static twi_gpu_way taken; /* by the last run from host memory, */
static uint64_t allowed;  /*   and the bytes it might use there */

/* ------------------------------------------------------------------------------ the made-up GPU */

const char *twi_gpu_text(void)
{
    return "3 CUDA devices";
}

const char *twi_gpu_prefix(void)
{
    return "cuda";
}

/* "cuda:0", "cuda:0,2,0", ... */
tw_status twi_gpu_select(tw_context *ctx, twi_gpu_list *out)
{
    *out = (twi_gpu_list){0};
    for (const char *at = strchr(ctx->device, ':'); at != NULL; at = strchr(at + 1, ',')) {
        out->index[out->count++] = at[1] - '0';
    }
    return TW_OK;
}

tw_status twi_gpu_describe(tw_context *ctx, int32_t device, twi_gpu_info *out)
{
    (void)ctx;
    (void)device;
    *out = (twi_gpu_info){.name = "made up", .processors = slow ? 1 : 100, .compute = 90};
    out->clock = slow ? 1 : 1e9;
    return TW_OK;
}

double twi_gpu_await(tw_context *ctx)
{
    (void)ctx;
    return 0.25;
}

bool twi_gpu_is_starting(const tw_context *ctx)
{
    (void)ctx;
    return true;
}

bool twi_gpu_is_running(const tw_context *ctx)
{
    (void)ctx;
    return runs;
}

double twi_gpu_worth_a_look(const tw_context *ctx, const char **why)
{
    (void)ctx;
    *why = "it would have to start";
    return runs ? 0 : 0.1;
}

double twi_gpu_startup_seconds(const tw_context *ctx)
{
    (void)ctx;
    return 0.5;
}

bool twi_gpu_present(char *why, size_t size)
{
    (void)why;
    (void)size;
    return true;
}

tw_status twi_gpu_allowance(tw_context *ctx, const twi_gpu_list *gpus, uint64_t *bytes)
{
    (void)gpus;
    *bytes = ctx->device_memory_limit > 0 ? ctx->device_memory_limit : UINT64_MAX;
    return TW_OK;
}

tw_status twi_gpu_find_way(tw_context *ctx, const twi_gpu_list *gpus, uint64_t limit, tw_type type,
                           int64_t n, bool narrow, twi_gpu_fit *out)
{
    (void)ctx;
    (void)limit;
    (void)type;
    (void)n;
    (void)narrow;
    *out = (twi_gpu_fit){.way = TWI_GPU_SEVERAL, .bytes = SEVERAL_BYTES, .passes = 1};
    if (gpus->count == 1) {
        out->way = TWI_GPU_STREAMED;
        out->bytes = STREAMED_BYTES;
    }
    return TW_OK;
}

uint64_t twi_gpu_several_bytes(const twi_gpu_list *gpus, tw_type type, int64_t n, bool narrow)
{
    (void)gpus;
    (void)narrow;
    return (uint64_t)(n * n) * tw_type_size(type) + MORE;
}

uint64_t twi_gpu_resident_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return (uint64_t)(plan->graph->n * plan->graph->n) * tw_type_size(type) + MORE;
}

uint64_t twi_gpu_resident_memory(const tw_apsp_plan *plan)
{
    (void)plan;
    return 2 * MORE;
}

uint64_t twi_gpu_sweep_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return (uint64_t)plan->graph->n * tw_type_size(type) + SWEEP_BYTES;
}

uint64_t twi_gpu_sweep_memory(const tw_apsp_plan *plan, tw_type type)
{
    (void)plan;
    (void)type;
    return 3 * MORE;
}

bool twi_gpu_narrow_pays(int64_t n, int32_t compute)
{
    (void)n;
    (void)compute;
    return false;
}

static tw_status fail_if_broken(tw_context *ctx)
{
    return broken ? tw_fail(ctx, TW_ERR_DEVICE, "cuda:0: it is broken") : TW_OK;
}

tw_status twi_gpu_close(tw_context *ctx, const twi_gpu_list *gpus, twi_gpu_way way, uint64_t limit,
                        const twi_gpu_host *host, bool narrow, tw_type *used)
{
    int32_t *d = host->data;
    (void)gpus;
    taken = way;
    allowed = limit;
    (void)narrow;
    *used = host->type;
    for (int64_t k = 0; k < host->n; k++) {
        for (int64_t i = 0; i < host->n; i++) {
            for (int64_t j = 0; j < host->n; j++) {
                int32_t sum = d[i * host->ld + k] + d[k * host->ld + j];
                int32_t *at = &d[i * host->ld + j];
                *at = sum < *at ? sum : *at;
            }
        }
    }
    return fail_if_broken(ctx);
}

/* Only what it tells is of interest: nothing is delivered. */
tw_status twi_gpu_resident_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                               twi_gpu_outcome *out)
{
    (void)delivery;
    *out = (twi_gpu_outcome){.used = plan->work_type, .attempts = 1, .seconds_device = 0.125};
    out->seconds_upload = 1e-9;
    return fail_if_broken(ctx);
}

tw_status twi_gpu_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_gpu_outcome *out)
{
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

tw_status twi_gpu_hops_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                           twi_gpu_outcome *out, double *arcs)
{
    *arcs = 1;
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

uint64_t twi_gpu_hops_bytes(const tw_apsp_plan *plan)
{
    return (uint64_t)plan->graph->n * 1000 + MORE;
}

uint64_t twi_gpu_hops_memory(const tw_apsp_plan *plan)
{
    (void)plan;
    return 3 * MORE;
}

tw_status twi_gpu_labels_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                             twi_gpu_outcome *out, double *arcs)
{
    *arcs = 1;
    return twi_gpu_resident_run(ctx, plan, delivery, out);
}

uint64_t twi_gpu_labels_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return (uint64_t)plan->graph->n * 100 * tw_type_size(type) + MORE;
}

uint64_t twi_gpu_labels_memory(const tw_apsp_plan *plan, tw_type type)
{
    (void)plan;
    (void)type;
    return 3 * MORE;
}

tw_status twi_gpu_hops_matrix(tw_context *ctx, int32_t device, const tw_graph *graph,
                              const tw_matrix *matrix, double *seconds)
{
    (void)ctx;
    (void)device;
    (void)graph;
    (void)matrix;
    *seconds = 0;
    return TW_OK;
}

tw_status twi_gpu_ceiling(tw_context *ctx, int32_t device, tw_type type, double *rate)
{
    static const double rates[CARDS] = {100, 20, 3};
    (void)ctx;
    (void)type;
    *rate = rates[device];
    return TW_OK;
}

/* ------------------------------------------------------------------------------------- the tests
 */

typedef struct problem {
    tw_context *ctx;
    tw_graph *graph;
    tw_apsp_options opts;
    tw_apsp_plan *plan;
    tw_sink sink;
    tw_matrix out;
    int32_t rows[N * N];
} problem;

static void open_problem(problem *p, const char *device)
{
    static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    *p = (problem){.ctx = open_context(), .opts = defaults, .sink = TW_SINK_INIT};
    opts.kind = "complete";
    opts.vertices = N;
    p->opts.work_type = TW_I32;
    broken = false;
    slow = false;
    assert_ok(p->ctx, tw_graph_generate(p->ctx, &p->graph, &opts));
    snprintf(p->ctx->device, sizeof p->ctx->device, "%s", device);
}

static void make_plan(problem *p)
{
    p->out = (tw_matrix){p->rows, N, N, N, TW_I32};
    assert_ok(p->ctx, tw_apsp_plan_create(p->ctx, &p->plan, p->graph, &p->opts));
    assert_ok(p->ctx, tw_sink_to_matrix(p->ctx, &p->sink, &p->out));
}

static void close_problem(problem *p)
{
    tw_apsp_plan_destroy(p->plan);
    tw_sink_destroy(&p->sink);
    tw_graph_destroy(p->graph);
    close_context(p->ctx);
}

static void the_memory_of_a_resident_run_is_stated(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0");
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).device_memory, N * N * 4 + MORE);
    assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "using 15 kB of its memory"));
    assert_non_null(
        strstr(tw_apsp_plan_explain(p.plan), " of memory, 15 kB on the GPU, holding everything: "));
    close_problem(&p);
}

static void the_memory_on_each_of_several_is_stated(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0,1,0");
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).device_memory, SEVERAL_BYTES);
    assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "using 70 kB of memory on each"));
    assert_non_null(
        strstr(tw_apsp_plan_explain(p.plan), ", 70 kB on each GPU, a share of the matrix: "));
    close_problem(&p);
}

/* The buffers of the CPU's closure are not needed. */
static void a_streamed_run_takes_the_matrix_and_little_more_of_the_host(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0");
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, STREAMED_BYTES));
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).device_memory, STREAMED_BYTES);
    uint64_t streamed = describe_plan(p.plan).memory;
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, &p.sink, 1, NULL, NULL));
    assert_true(tw_memory_peak(p.ctx) <= streamed + tw_memory_used(p.ctx) + SMALL_THINGS);
    tw_apsp_plan_destroy(p.plan);
    tw_sink_destroy(&p.sink);
    snprintf(p.ctx->device, sizeof p.ctx->device, "cpu");
    make_plan(&p);
    assert_true(streamed < describe_plan(p.plan).memory);
    assert_int_equal(describe_plan(p.plan).device_memory, 0);
    close_problem(&p);
}

/* What is free on a device by then is not asked for again. */
static void a_run_takes_the_way_that_its_plan_has_told(void **state)
{
    static const struct {
        const char *device, *text;
        twi_gpu_way way;
    } cases[] = {{"cuda:0", "the matrix streamed through it: ", TWI_GPU_STREAMED},
                 {"cuda:0,1", "a share of the matrix: ", TWI_GPU_SEVERAL}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        problem p;
        open_problem(&p, cases[i].device);
        assert_ok(p.ctx, tw_set_device_memory(p.ctx, STREAMED_BYTES));
        make_plan(&p);
        assert_non_null(strstr(tw_apsp_plan_explain(p.plan), cases[i].text));
        assert_ok(p.ctx, tw_set_device_memory(p.ctx, 0));
        taken = TWI_GPU_RESIDENT;
        assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, &p.sink, 1, NULL, NULL));
        assert_int_equal(taken, cases[i].way);
        assert_int_equal(allowed, STREAMED_BYTES);
        close_problem(&p);
    }
}

/* A matrix that is to be kept lies in host memory, whatever a GPU holds of it. */
static void with_checkpoints_the_matrix_is_on_the_host(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0");
    p.opts.checkpoint = "/tmp/tilewright-test-never-written";
    make_plan(&p);
    assert_int_equal(p.plan->method, TW_APSP_METHOD_CLOSURE);
    assert_int_equal(p.plan->gpu_way, TWI_GPU_SEVERAL);
    assert_int_equal(describe_plan(p.plan).device_memory, N * N * 4 + MORE);
    assert_true(describe_plan(p.plan).memory > N * N * 4);
    assert_non_null(
        strstr(tw_apsp_plan_explain(p.plan), "15 kB on the GPU, a copy of the matrix: "));
    tw_apsp_plan_destroy(p.plan);
    tw_sink_destroy(&p.sink);
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, STREAMED_BYTES));
    make_plan(&p);
    assert_int_equal(p.plan->gpu_way, TWI_GPU_STREAMED);
    tw_apsp_plan_destroy(p.plan);
    p.plan = NULL;
    p.opts.work_type = TW_U16;
    assert_fails(p.ctx, TW_ERR_MEMORY, "u16 has no checkpoints on a GPU",
                 tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    close_problem(&p);
}

/* Where nobody named a device, one that takes hours may be another the next time. */
static void auto_keeps_checkpoints_of_floats_on_the_cpu(void **state)
{
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        problem p;
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        open_problem(&p, "auto");
        tw_graph_destroy(p.graph);
        opts.kind = "complete";
        opts.vertices = 3000;
        opts.weight_type = floats ? TW_F64 : TW_I32;
        assert_ok(p.ctx, tw_graph_generate(p.ctx, &p.graph, &opts));
        p.opts.work_type = TW_AUTO;
        p.opts.checkpoint = "/tmp/tilewright-test-never-written";
        assert_ok(p.ctx, tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
        const char *text = tw_apsp_plan_explain(p.plan);
        assert_int_equal(strstr(text, "so a GPU must be named") != NULL, floats);
        close_problem(&p);
    }
}

static void a_resident_run_tells_the_devices_seconds(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_problem(&p, "cuda:0");
    make_plan(&p);
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, NULL, 0, NULL, &report));
    assert_true(report.resident != 0 && report.seconds_device == 0.125);
    assert_string_equal(report.device, "cuda:0");
    assert_string_equal(report.fallback, "");
    close_problem(&p);
}

/* The same vertices with equal weights, few arcs. */
static void make_unweighted(problem *p)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.vertices = N;
    opts.min_weight = opts.max_weight = 3;
    tw_graph_destroy(p->graph);
    p->graph = NULL;
    p->opts.work_type = TW_AUTO;
    assert_ok(p->ctx, tw_graph_generate(p->ctx, &p->graph, &opts));
}

static void equal_weights_are_searched_on_the_gpu(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_problem(&p, "cuda:1");
    make_unweighted(&p);
    p.opts.method = TW_APSP_METHOD_BFS;
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_BFS);
    assert_int_equal(describe_plan(p.plan).device_memory, N * 1000 + MORE);
    assert_string_equal(describe_plan(p.plan).device, "cuda:1");
    assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "choice: bfs on cuda:1, working in u8"));
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, NULL, 0, NULL, &report));
    assert_int_equal(report.method, TW_APSP_METHOD_BFS);
    assert_true(report.resident != 0 && report.seconds_device == 0.125);
    close_problem(&p);
}

/* Vertices with weights 1 ... 1000 and few arcs. */
static void make_sparse(problem *p, int64_t n, tw_type type)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.vertices = n;
    opts.degree = 3;
    opts.weight_type = type;
    tw_graph_destroy(p->graph);
    p->graph = NULL;
    p->opts.work_type = TW_AUTO;
    assert_ok(p->ctx, tw_graph_generate(p->ctx, &p->graph, &opts));
}

static void weighted_searches_on_the_gpu_correct_labels(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_problem(&p, "cuda:1");
    make_sparse(&p, N, TW_I32);
    p.opts.method = TW_APSP_METHOD_DIJKSTRA;
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_DIJKSTRA);
    assert_int_equal(describe_plan(p.plan).device_memory, N * 100 * 2 + MORE);
    assert_string_equal(describe_plan(p.plan).device, "cuda:1");
    assert_non_null(
        strstr(tw_apsp_plan_explain(p.plan),
               "choice: dijkstra on cuda:1, working in 16 bits if that is enough, else i32"));
    assert_non_null(
        strstr(tw_apsp_plan_explain(p.plan), " on the GPU, a batch of sources at a time: "));
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, NULL, 0, NULL, &report));
    assert_int_equal(report.method, TW_APSP_METHOD_DIJKSTRA);
    assert_true(report.resident != 0 && report.seconds_device == 0.125);
    close_problem(&p);
}

static void they_take_one_gpu_and_its_memory(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0,1");
    make_sparse(&p, N, TW_I32);
    p.opts.method = TW_APSP_METHOD_DIJKSTRA;
    assert_fails(p.ctx, TW_ERR_ARGUMENT, "searches use one GPU",
                 tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    snprintf(p.ctx->device, sizeof p.ctx->device, "cuda:0");
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, N * 100));
    assert_fails(p.ctx, TW_ERR_ARGUMENT, "searches need 13 kB of GPU memory; 6.0 kB may be used",
                 tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    close_problem(&p);
}

/* Few arcs per vertex, so many vertices that a closure takes long; and all arcs there can be. */
static void the_plan_takes_them_where_arcs_are_few(void **state)
{
    problem p;
    (void)state;
    for (int type = 0; type < 2; type++) {
        open_problem(&p, "cuda:0");
        make_sparse(&p, 5000, type == 0 ? TW_I32 : TW_F32);
        assert_ok(p.ctx, tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
        assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_DIJKSTRA);
        assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "labels corrected along 15000 arcs"));
        close_problem(&p);
        open_problem(&p, "cuda:0");
        p.opts.work_type = type == 0 ? TW_AUTO : TW_F64;
        make_plan(&p);
        assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_CLOSURE);
        close_problem(&p);
    }
}

static void searches_on_the_gpu_need_equal_weights_one_gpu_and_its_memory(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0");
    p.opts.work_type = TW_AUTO;
    p.opts.method = TW_APSP_METHOD_BFS;
    assert_fails(p.ctx, TW_ERR_ARGUMENT, "", tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    make_unweighted(&p);
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, N * 1000));
    assert_fails(p.ctx, TW_ERR_ARGUMENT, "", tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, 0));
    snprintf(p.ctx->device, sizeof p.ctx->device, "cuda:0,1");
    assert_fails(p.ctx, TW_ERR_ARGUMENT, "", tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    p.opts.method = TW_APSP_METHOD_AUTO;
    make_plan(&p);
    assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_CLOSURE);
    close_problem(&p);
}

static void a_run_from_host_memory_tells_the_hosts_seconds(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_problem(&p, "cuda:0,0");
    make_plan(&p);
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, &p.sink, 1, NULL, &report));
    assert_true(report.resident == 0 && report.seconds_device > 0);
    assert_true(report.seconds_device <= report.seconds_compute);
    close_problem(&p);
}

static void a_named_gpu_that_fails_is_an_error(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "cuda:0");
    make_plan(&p);
    broken = true;
    assert_int_equal(tw_apsp_plan_run(p.ctx, p.plan, &p.sink, 1, NULL, NULL), TW_ERR_DEVICE);
    assert_string_equal(tw_last_error(p.ctx), "cuda:0: it is broken");
    close_problem(&p);
}

static void auto_counts_no_start_of_a_gpu_that_runs(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        problem p;
        runs = i == 1;
        open_problem(&p, "auto");
        make_plan(&p);
        const char *text = tw_apsp_plan_explain(p.plan);
        assert_true((strstr(text, "it would have to start") != NULL) == !runs);
        assert_true((strstr(text, "driver is already running, so its start is not counted") !=
                     NULL) == runs);
        close_problem(&p);
    }
    runs = false;
}

/* The CPU may well choose another method: here it is told to. */
static void auto_tells_what_ran_instead_and_why(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_problem(&p, "cuda:0");
    make_plan(&p); /* as 'auto' would make it on a machine whose CPU is slow enough */
    p.plan->automatic = true;
    p.plan->options.work_type = TW_AUTO;
    p.plan->options.method = TW_APSP_METHOD_REFERENCE;
    snprintf(p.ctx->device, sizeof p.ctx->device, "auto");
    broken = true;
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, &p.sink, 1, NULL, &report));
    assert_int_equal(report.method, TW_APSP_METHOD_REFERENCE);
    assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_CLOSURE);
    assert_string_equal(report.device, "cpu");
    assert_string_equal(report.fallback, "cuda:0: it is broken");
    assert_true(report.resident == 0 && report.seconds_device == 0);
    assert_true(report.seconds_wait == 0.25 && report.seconds_startup == 0.5);
    assert_string_equal(p.ctx->device, "auto");
    close_problem(&p);
}

static tw_status count_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)ctx;
    (void)shape;
    (*(int *)self)++;
    return TW_OK;
}

static tw_status ignore_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                             const void *data, int64_t stride)
{
    (void)self;
    (void)ctx;
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    return TW_OK;
}

static tw_status no_memory(void *self, tw_context *ctx)
{
    (void)self;
    return tw_fail(ctx, TW_ERR_MEMORY, "this sink has no memory");
}

static void ignore_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

/* The sink before it has ended, and keeps what it has. */
static void auto_does_not_start_over_for_a_sink_that_failed(void **state)
{
    problem p;
    int begun = 0;
    (void)state;
    open_problem(&p, "cuda:0,0");
    make_plan(&p);
    p.plan->automatic = true;
    tw_sink sinks[2] = {p.sink,
                        {.size = sizeof(tw_sink),
                         .self = &begun,
                         .begin = count_begin,
                         .rows = ignore_rows,
                         .end = no_memory,
                         .abort = ignore_abort}};
    assert_fails(p.ctx, TW_ERR_MEMORY, "this sink has no memory",
                 tw_apsp_plan_run(p.ctx, p.plan, sinks, 2, NULL, NULL));
    assert_int_equal(begun, 1);
    close_problem(&p);
}

/* A grid, which has small separators; the rows of its run are nobody's. */
static void open_grid(problem *p, const char *device, tw_apsp_method method)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    open_problem(p, device);
    tw_graph_destroy(p->graph);
    opts.kind = "grid";
    opts.rows = 20;
    opts.cols = 20;
    opts.density = 1;
    p->opts.method = method;
    p->opts.work_type = TW_AUTO;
    assert_ok(p->ctx, tw_graph_generate(p->ctx, &p->graph, &opts));
}

static void a_sweep_on_a_named_gpu_states_its_memory_and_tells_its_seconds(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_grid(&p, "cuda:1,0", TW_APSP_METHOD_SWEEP);
    assert_ok(p.ctx, tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    assert_int_equal(describe_plan(p.plan).method, TW_APSP_METHOD_SWEEP);
    assert_int_equal(describe_plan(p.plan).device_memory, 20 * 20 * 4 + SWEEP_BYTES);
    assert_string_equal(describe_plan(p.plan).device, "cuda:1,0");
    assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "steps per source in i32 on made up"));
    assert_non_null(strstr(tw_apsp_plan_explain(p.plan), "choice: sweep on cuda:1,0"));
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, NULL, 0, NULL, &report));
    assert_true(report.resident == 0 && report.seconds_device == 0.125);
    assert_true(report.relaxations > 400 * 400);
    close_problem(&p);
}

static void a_named_gpu_weighs_the_sweep_against_the_closure(void **state)
{
    problem p;
    (void)state;
    open_grid(&p, "cuda:0", TW_APSP_METHOD_AUTO);
    assert_ok(p.ctx, tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    const char *text = tw_apsp_plan_explain(p.plan);
    assert_non_null(strstr(text, "  gpu closure   "));
    assert_null(strstr(text, "  gpu closure   left out"));
    assert_null(strstr(text, "  gpu sweep     left out"));
    assert_non_null(strstr(text, "  sweep         left out: it runs on the CPU"));
    close_problem(&p);
}

static void a_sweep_that_does_not_fit_the_gpu_is_refused_with_the_numbers(void **state)
{
    problem p;
    (void)state;
    open_grid(&p, "cuda:0", TW_APSP_METHOD_SWEEP);
    assert_ok(p.ctx, tw_set_device_memory(p.ctx, SWEEP_BYTES));
    assert_fails(p.ctx, TW_ERR_MEMORY,
                 "cuda:0: cannot sweep 400 vertices: needs 11 kB of GPU memory; 9.0 kB may be used",
                 tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    close_problem(&p);
}

static void a_sweep_that_fails_on_a_gpu_nobody_named_is_done_by_the_cpu(void **state)
{
    problem p;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    (void)state;
    open_grid(&p, "cuda:0", TW_APSP_METHOD_SWEEP);
    assert_ok(p.ctx, tw_apsp_plan_create(p.ctx, &p.plan, p.graph, &p.opts));
    p.plan->automatic = true;
    snprintf(p.ctx->device, sizeof p.ctx->device, "auto");
    broken = true;
    assert_ok(p.ctx, tw_apsp_plan_run(p.ctx, p.plan, NULL, 0, NULL, &report));
    assert_string_equal(report.device, "cpu");
    assert_string_equal(report.fallback, "cuda:0: it is broken");
    close_problem(&p);
}

static void auto_leaves_a_slow_gpu_alone(void **state)
{
    problem p;
    (void)state;
    open_problem(&p, "auto");
    slow = true;
    make_plan(&p);
    assert_string_equal(describe_plan(p.plan).device, "cpu");
    assert_int_equal(describe_plan(p.plan).device_memory, 0);
    close_problem(&p);
}

static void the_ceiling_of_several_is_their_sum_each_card_once(void **state)
{
    problem p;
    double rate = 0;
    (void)state;
    open_problem(&p, "cuda:2,0,2,0,0");
    assert_ok(p.ctx, tw_minplus_ceiling(p.ctx, &rate, TW_I32, 1));
    assert_true(rate == 103);
    snprintf(p.ctx->device, sizeof p.ctx->device, "cuda:1");
    assert_ok(p.ctx, tw_minplus_ceiling(p.ctx, &rate, TW_I32, 1));
    assert_true(rate == 20);
    close_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_memory_of_a_resident_run_is_stated),
        cmocka_unit_test(the_memory_on_each_of_several_is_stated),
        cmocka_unit_test(a_streamed_run_takes_the_matrix_and_little_more_of_the_host),
        cmocka_unit_test(a_run_takes_the_way_that_its_plan_has_told),
        cmocka_unit_test(with_checkpoints_the_matrix_is_on_the_host),
        cmocka_unit_test(auto_keeps_checkpoints_of_floats_on_the_cpu),
        cmocka_unit_test(a_resident_run_tells_the_devices_seconds),
        cmocka_unit_test(equal_weights_are_searched_on_the_gpu),
        cmocka_unit_test(weighted_searches_on_the_gpu_correct_labels),
        cmocka_unit_test(they_take_one_gpu_and_its_memory),
        cmocka_unit_test(the_plan_takes_them_where_arcs_are_few),
        cmocka_unit_test(searches_on_the_gpu_need_equal_weights_one_gpu_and_its_memory),
        cmocka_unit_test(a_run_from_host_memory_tells_the_hosts_seconds),
        cmocka_unit_test(a_named_gpu_that_fails_is_an_error),
        cmocka_unit_test(auto_tells_what_ran_instead_and_why),
        cmocka_unit_test(auto_counts_no_start_of_a_gpu_that_runs),
        cmocka_unit_test(auto_does_not_start_over_for_a_sink_that_failed),
        cmocka_unit_test(a_sweep_on_a_named_gpu_states_its_memory_and_tells_its_seconds),
        cmocka_unit_test(a_named_gpu_weighs_the_sweep_against_the_closure),
        cmocka_unit_test(a_sweep_that_does_not_fit_the_gpu_is_refused_with_the_numbers),
        cmocka_unit_test(a_sweep_that_fails_on_a_gpu_nobody_named_is_done_by_the_cpu),
        cmocka_unit_test(auto_leaves_a_slow_gpu_alone),
        cmocka_unit_test(the_ceiling_of_several_is_their_sum_each_card_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

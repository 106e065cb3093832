/*
 * Ladder apsp-files: from a file of edges to a file of distances, and where the time goes, against
 * n (rows A4 and B5: there a quarter to a half of it was files). The graph has 280 edges a vertex,
 * as the largest cases of those rows; the files lie in a scratch folder (TMPDIR, or /tmp).
 *
 *   cpu   read, closed on the CPU, written
 *   gpu   read, edges scattered and closed on a GPU, written while it still computes and copies
 *
 * Its parts are as the library reports them: "read" holds the plan, "write" what of the output was
 * not hidden behind the computing.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"

#include "base/clock.h"
#include "base/memory.h"
#include "gpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define EDGES_A_VERTEX 280
#define CHECKED_ROWS 4

typedef struct bench {
    tw_context *ctx;
    tw_graph *graph; /* for the check */
    char folder[512];
    char input[544];
    char output[544];
} bench;

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        if (b->folder[0] != '\0') {
            (void)unlink(b->output);
            (void)unlink(b->input);
            (void)rmdir(b->folder);
        }
        tw_graph_destroy(b->graph);
        twi_free(b);
    }
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    const char *place = getenv("TMPDIR");
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    snprintf(b->folder, sizeof b->folder, "%s/tilewright-lab-XXXXXX",
             place != NULL && place[0] != '\0' ? place : "/tmp");
    if (mkdtemp(b->folder) == NULL) {
        b->folder[0] = '\0';
        return tw_fail(ctx, TW_ERR_IO, "no scratch folder in %s: set TMPDIR to another one",
                       place != NULL ? place : "/tmp");
    }
    snprintf(b->input, sizeof b->input, "%s/edges.bin", b->folder);
    snprintf(b->output, sizeof b->output, "%s/distances.raw", b->folder);
    options.kind = "sparse";
    options.vertices = n;
    options.degree = n > EDGES_A_VERTEX ? EDGES_A_VERTEX : 1;
    options.min_weight = 0;
    options.seed = seed;
    status = tw_graph_generate(ctx, &b->graph, &options);
    if (status == TW_OK) {
        status = tw_graph_write(ctx, b->graph, b->input, "triples");
    }
    return status;
}

static void spoil(void *given)
{
    const bench *b = given;
    (void)unlink(b->output);
}

/* Rows drawn at random, by a search; the file is read back for it. */
static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    struct stat file;
    tw_status status = tw_graph_describe(b->graph, &info);
    if (status != TW_OK) {
        return status;
    }
    if (stat(b->output, &file) != 0 || file.st_size != info.vertices * info.vertices * 4) {
        return tw_fail(ctx, TW_ERR_VERIFY, "rung %s is wrong: its file has another size",
                       rung->name);
    }
    tw_matrix_file *result = NULL;
    tw_apsp_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    status = tw_matrix_file_create(ctx, &result, b->output, "raw", TW_I32);
    if (status == TW_OK) {
        status = tw_apsp_verifier_create(ctx, &verifier, b->graph, NULL, CHECKED_ROWS, 1);
    }
    if (status == TW_OK) {
        status = tw_apsp_verifier_sink(verifier, &sink);
    }
    if (status == TW_OK) {
        status = tw_feed(ctx, tw_matrix_file_view(result), &sink, 1);
    }
    if (status == TW_OK) {
        status = tw_apsp_verifier_result(ctx, verifier, NULL);
    }
    tw_apsp_verifier_destroy(verifier);
    tw_matrix_file_destroy(result);
    return status;
}

static double traffic(int64_t n)
{
    return 4 * (double)n * (double)n + 12 * EDGES_A_VERTEX * (double)n;
}

static tw_status ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)ctx;
    *out = (lab_ceiling){0};
    return TW_OK;
}

/* a: 1 is a GPU, whose name depends on the build. */
static tw_status run_device(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    double begun = twi_seconds(), read = 0;
    tw_status status = tw_set_device(b->ctx, rung->a != 0 ? twi_gpu_prefix() : "cpu");
    if (status == TW_OK) {
        status = tw_graph_read(b->ctx, &graph, b->input, NULL);
        read = twi_seconds() - begun;
    }
    if (status == TW_OK) {
        status = tw_sink_to_file(b->ctx, &sink, b->output, "raw");
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_create(b->ctx, &plan, graph, NULL);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(b->ctx, plan, &sink, 1, NULL, &report);
    }
    time->total = twi_seconds() - begun;
    time->read = read + report.seconds_plan + report.seconds_wait;
    time->upload = report.seconds_upload;
    time->compute = report.seconds_compute;
    time->download = report.seconds_download;
    time->write = report.seconds_output;
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    tw_graph_destroy(graph);
    return status;
}

static bool has_device(tw_context *ctx, const lab_rung *rung)
{
    twi_gpu_info info;
    return rung->a == 0 || twi_gpu_describe(ctx, 0, &info) == TW_OK;
}

static const lab_rung rungs[] = {
    {.name = "cpu",
     .row = "A4",
     .idea = "read, closed on the CPU, written",
     .run = run_device,
     .most = 4000},
    {.name = "gpu",
     .parent = "cpu",
     .row = "B5",
     .idea = "edges scattered on the card, the output file made ready while it computes",
     .gpu = true,
     .run = run_device,
     .a = 1},
};

static const int64_t default_sizes[] = {1000, 2000, 4000, 11000, 20000, 0};

/* The sum of the parts that row A4 gives. */
static const lab_published published[] = {
    {"gpu", 11000, 2531}, {"gpu", 28911, 30757}, {NULL, 0, 0}};

const lab_ladder lab_apsp_files = {
    .source = "apsp/files.c run_device",
    .name = "apsp-files",
    .title = "From a file of edges to a file of distances",
    .unit = "relaxations",
    .size = "vertices",
    .against = "4 rows drawn at random and found by a search; the file's size",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "a card of the GTX 1080 class (row A4); of it computing, copies and files took "
                    "1245 + 150 + 1136 ms at n = 11000, 22362 + 1039 + 7356 ms at 28911",
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .offers = has_device,
    .work = lab_relaxations,
    .traffic = traffic,
    .ceiling = ceiling,
};

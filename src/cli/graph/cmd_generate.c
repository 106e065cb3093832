/* tilewright generate: graphs and images to try things on, the same for the same options
 * everywhere. */
#include "cli/shared/commands.h"
#include "cli/shared/files.h"
#include "frame/job.h"
#include "frame/report.h"

#include <string.h>

typedef struct settings {
    cli_common common;
    const char *format;
    int64_t vertices;
    int64_t rows;
    int64_t cols;
    double degree;
    double density;
    uint64_t seed;
    cli_interval weights;
    tw_type weight_type;
    int32_t directed;
    int64_t levels;
    const char *output;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT,
                                  .vertices = 1000,
                                  .degree = 5,
                                  .density = -1,
                                  .seed = 1,
                                  .weights = {1, 1000},
                                  .weight_type = TW_I32,
                                  .directed = TW_GRAPH_DIRECTED_AS_FILE,
                                  .levels = 256};

static const cli_option shape_options[] = {
    {"vertices", 'n', CLI_COUNT, "N", offsetof(settings, vertices), 0,
     "Number of vertices (default: 1000)."},
    {"degree", 0, CLI_NUMBER, "D", offsetof(settings, degree), 0,
     "sparse, rmat: D * N arcs; preferential: edges of each new vertex. 5 by default."},
    {"density", 0, CLI_NUMBER, "P", offsetof(settings, density), 0,
     "dense: the probability of each arc, 0.5 by default; grid: of each lattice edge, 1 by "
     "default."},
    {"rows", 0, CLI_COUNT, "R", offsetof(settings, rows), 1,
     "grid: rows of the lattice; near-square for --vertices by default. Images: rows; 1000 by "
     "default."},
    {"cols", 0, CLI_COUNT, "C", offsetof(settings, cols), 1,
     "grid: columns of the lattice. "
     "Images: columns; as many as rows by default."},
    {"levels", 0, CLI_COUNT, "L", offsetof(settings, levels), 0,
     "Images: values from 0 to L-1, stored as u8 up to 256 levels, else as u16; 256 by default."},
    {"directed", 0, CLI_FLAG, NULL, offsetof(settings, directed), TW_GRAPH_DIRECTED_YES,
     "Make a directed graph; in a grid each direction has its own weight."},
    {"undirected", 0, CLI_FLAG, NULL, offsetof(settings, directed), TW_GRAPH_DIRECTED_NO,
     "Make an undirected graph."},
    {0}};

static const cli_option weight_options[] = {
    {"weights", 0, CLI_INTERVAL, "LO:HI", offsetof(settings, weights), 0,
     "Weights between LO and HI, both included; 1:1000 by default."},
    {"weight-type", 0, CLI_TYPE, "TYPE", offsetof(settings, weight_type), CLI_WEIGHT_TYPES,
     "i32 (whole numbers, the default), f32 or f64."},
    {"seed", 0, CLI_SEED, "S", offsetof(settings, seed), 0,
     "Seed of the random numbers; the same seed gives the same graph or image on every machine."},
    {0}};

static const cli_option output_options[] = {
    {"output", 'o', CLI_TEXT, "OUT", offsetof(settings, output), 0, "The same as OUT."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "Graphs: triples, gr, mtx, edges, metis or npy. Images: npy, pnm, png, tiff or records. By "
     "default the "
     "extension of OUT decides."},
    {0}};

static const cli_group groups[] = {
    {"Shape", shape_options},       {"Weights and randomness", weight_options},
    {"Output", output_options},     {"Resources", cli_host_options},
    {"Messages", cli_talk_options}, {NULL, NULL}};

static const cli_operand operands[] = {
    {"KIND",
     "complete: every ordered pair. dense: each pair with probability --density. sparse: --degree "
     "arcs per vertex, between random vertices. grid: a lattice, like roads. preferential: the "
     "rich get richer, like a social network. rmat: skewed and clustered, like the web. Images: "
     "noise: every element random. gradient: from corner to corner. checker: squares. natural: "
     "noise of many sizes, like a photograph."},
    {"OUT", "The file to write; '-' is standard output."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright generate graph grid roads.gr --rows 40 --cols 50",
     "a road-like lattice of 2000 vertices, as DIMACS text"},
    {"tilewright generate graph complete full.bin -n 4000 --weights 0:1000",
     "every pair of 4000 vertices, as binary edge triples"},
    {"tilewright generate graph preferential net.mtx --degree 3 --weights 1:1",
     "a network of 1000 vertices and equal weights, as Matrix Market"},
    {"tilewright generate image natural photo.pgm --rows 480 --cols 640",
     "a grey image to try 'tilewright entropy' on"},
    {NULL, NULL}};

static tw_status report(const cli_job *job, const settings *s, const tw_graph *graph,
                        const char *kind, const char *path)
{
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    char low[CLI_SHOWN], high[CLI_SHOWN];
    tw_status status = tw_graph_describe(graph, &info);
    if (status != TW_OK) {
        return status;
    }
    if (!s->common.json) {
        cli_say(job, "%s: %lld %s, %lld arc%s, %s, weights %s to %s (%s)", path,
                (long long)info.vertices, info.vertices == 1 ? "vertex" : "vertices",
                (long long)info.arcs, info.arcs == 1 ? "" : "s",
                info.undirected ? "undirected" : "directed", cli_show_value(low, info.min_weight),
                cli_show_value(high, info.max_weight), tw_type_name(info.weight_type));
        return TW_OK;
    }
    cli_report json;
    cli_report_begin(&json, cli_report_file(job));
    cli_report_text(&json, "command", "generate graph");
    cli_report_text(&json, "kind", kind);
    cli_report_integer(&json, "vertices", info.vertices);
    cli_report_integer(&json, "arcs", info.arcs);
    cli_report_bool(&json, "undirected", info.undirected != 0);
    cli_report_text(&json, "weight_type", tw_type_name(info.weight_type));
    cli_report_number(&json, "min_weight", info.min_weight);
    cli_report_number(&json, "max_weight", info.max_weight);
    cli_report_integer(&json, "seed", (int64_t)s->seed);
    cli_report_number(&json, "seconds", cli_seconds() - job->started);
    cli_report_text(&json, "output", path);
    cli_report_end(&json);
    return TW_OK;
}

/* Options of the other kind of result. */
static tw_status refuse_options(const cli_job *job, const char *const *names, const char *why)
{
    tw_status status = TW_OK;
    for (; *names != NULL && status == TW_OK; names++) {
        status = cli_refuse(job, *names, why);
    }
    return status;
}

/* What shapes one kind of graph does nothing for another. */
static tw_status refuse_shapes(const cli_job *job, const settings *s, const char *kind)
{
    static const struct {
        const char *option, *kinds;
    } shapes[] = {{"degree", "sparse preferential rmat"},
                  {"density", "dense grid"},
                  {"rows", "grid"},
                  {"cols", "grid"}};
    static const char known[] = "complete dense sparse grid preferential rmat";
    tw_status status = TW_OK;
    char why[80];
    snprintf(why, sizeof why, "on a graph of kind '%.40s'", kind);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && status == TW_OK; i++) {
        if (strstr(shapes[i].kinds, kind) == NULL && strstr(known, kind) != NULL) {
            status = cli_refuse(job, shapes[i].option, why);
        }
    }
    if (status == TW_OK && strcmp(kind, "grid") == 0 && s->rows > 0 && s->cols > 0) {
        status = cli_refuse(job, "vertices", "with --rows and --cols");
    }
    return status;
}

static tw_status run_image(cli_job *job, const settings *s, const char *kind, const char *out)
{
    static const char *const others[] = {"vertices",   "degree",  "density",     "directed",
                                         "undirected", "weights", "weight-type", NULL};
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    tw_image *image = NULL;
    opts.kind = kind;
    opts.rows = s->rows > 0 ? s->rows : opts.rows;
    opts.cols = s->cols > 0 ? s->cols : opts.rows;
    opts.levels = s->levels > INT32_MAX ? INT32_MAX : (int32_t)s->levels;
    opts.seed = s->seed;
    tw_status status = refuse_options(job, others, "on an image");
    if (status == TW_OK && strcmp(kind, "gradient") == 0) {
        status = cli_refuse(job, "seed", "on an image of kind 'gradient'");
    }
    if (status == TW_OK && strcmp(kind, "checker") == 0) {
        status = cli_refuse(job, "seed", "on an image of kind 'checker'");
    }
    if (status == TW_OK) {
        status = tw_image_generate(job->ctx, &image, &opts);
    }
    if (status == TW_OK) {
        status = tw_image_write(job->ctx, image, out, s->format);
    }
    if (status == TW_OK && s->common.json) {
        cli_report json;
        cli_report_begin(&json, cli_report_file(job));
        cli_report_text(&json, "command", "generate image");
        cli_report_text(&json, "kind", kind);
        cli_report_integer(&json, "rows", opts.rows);
        cli_report_integer(&json, "cols", opts.cols);
        cli_report_integer(&json, "levels", opts.levels);
        cli_report_integer(&json, "seed", (int64_t)s->seed);
        cli_report_number(&json, "seconds", cli_seconds() - job->started);
        cli_report_text(&json, "output", out);
        cli_report_end(&json);
    } else if (status == TW_OK) {
        cli_say(job, "%s: %lld x %lld, %d levels", out, (long long)opts.rows, (long long)opts.cols,
                opts.levels);
    }
    tw_image_destroy(image);
    return status;
}

static tw_status run_graph(cli_job *job, const settings *s, const char *kind, const char *out)
{
    static const char *const others[] = {"levels", NULL};
    tw_graph *graph = NULL;
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = kind;
    opts.vertices = s->vertices;
    opts.rows = s->rows;
    opts.cols = s->cols;
    opts.degree = s->degree;
    if (s->density >= 0) {
        opts.density = s->density;
    } else if (strcmp(opts.kind, "grid") == 0) {
        opts.density = 1;
    }
    opts.seed = s->seed;
    opts.weight_type = s->weight_type;
    opts.min_weight = s->weights.low;
    opts.max_weight = s->weights.high;
    opts.directed = s->directed;
    tw_status status = refuse_options(job, others, "on a graph");
    if (status == TW_OK) {
        status = refuse_shapes(job, s, kind);
    }
    if (status == TW_OK) {
        status = cli_check_graph_output(job->ctx, out, s->format);
    }
    if (status == TW_OK) {
        status = tw_graph_generate(job->ctx, &graph, &opts);
    }
    if (status == TW_OK) {
        status = tw_graph_write(job->ctx, graph, out, s->format);
    }
    if (status == TW_OK) {
        status = report(job, s, graph, kind, out);
    }
    tw_graph_destroy(graph);
    return status;
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    const char *out = NULL;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK) {
        status = cli_choose_output(job, &out, count > 2 ? words[2] : NULL, s->output);
    }
    if (status == TW_OK && out == NULL) {
        status =
            tw_fail(job->ctx, TW_ERR_ARGUMENT,
                    "generate: missing operand; usage: tilewright generate %s", cli_generate.usage);
    }
    if (status == TW_OK) {
        static const char *const text[] = {"gr", "mtx", "edges", "metis", NULL};
        const cli_file output = {"OUT", out};
        status = cli_check_terminal(job->ctx, &output, cli_writes(out, s->format, text),
                                    "choose a text format with --out-format");
    }
    if (status != TW_OK) {
        return status;
    }
    if (strcmp(words[0], "graph") == 0) {
        return run_graph(job, s, words[1], out);
    }
    if (strcmp(words[0], "image") == 0) {
        return run_image(job, s, words[1], out);
    }
    return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                   "generate '%.60s': use 'tilewright generate graph KIND OUT' or 'tilewright "
                   "generate image KIND OUT'",
                   words[0]);
}

const cli_command cli_generate = {
    .name = "generate",
    .usage = "graph|image KIND OUT",
    .summary = "make a graph (complete, dense, sparse, grid, ...) or an image",
    .text =
        "Generates a graph and writes it in the format of OUT's extension: .bin (triples), .gr, "
        ".mtx, .el, .graph (METIS) or .npy. Likewise images: .pgm, .npy, .png, .tif or .records.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 2,
    .most = 3,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};

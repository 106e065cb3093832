/*
 * tilewright devices: the machine as the library sees it, and what it can do at most. The ceiling
 * of a type is measured here and now: d = min(d, a + b) on registers alone, on the processor, and
 * on the GPU if one is named. What there is comes first: a GPU that cannot be measured ends the
 * command with its sentence after that.
 */
#include "cli/shared/commands.h"
#include "frame/job.h"
#include "frame/report.h"

#include <string.h>

#define TYPES 5

typedef struct settings {
    cli_common common;
    int32_t no_measure;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};

static const tw_type types[TYPES] = {TW_U8, TW_U16, TW_I32, TW_F32, TW_F64};

/* Relaxations per second on one thread, on all, and on the GPU that is named. */
typedef struct ceilings {
    bool measured;
    const char *gpu; /* its name, or NULL */
    double one[TYPES];
    double all[TYPES];
    double there[TYPES]; /* 0: it does not compute in this type */
} ceilings;

static const cli_option own_options[] = {{"no-measure", 0, CLI_FLAG, NULL,
                                          offsetof(settings, no_measure), 1,
                                          "List only; skip the measurement of the ceilings."},
                                         {0}};

static const cli_option threads_options[] = {
    {"threads", 0, CLI_COUNT, "N", offsetof(cli_common, threads), 0,
     "Measure one thread and N; 0 (the default) is one for each processor this process may use."},
    {0}};

static const cli_group groups[] = {{"Measuring", own_options},
                                   {"Resources", threads_options},
                                   {"Machine", cli_device_options},
                                   {"Messages", cli_report_options},
                                   {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright devices", "the hardware, and how fast it could be"},
    {"tilewright devices --isa scalar", "the same without vector instructions"},
    {"tilewright devices --device cuda", "the ceilings of the first GPU too"},
    {NULL, NULL}};

static const cli_operand operands[] = {{NULL, NULL}};

static bool names_gpu(const char *device)
{
    return device != NULL && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0;
}

static tw_status measure(tw_context *ctx, const char *device, ceilings *out)
{
    out->gpu = names_gpu(device) ? device : NULL;
    tw_status status = tw_set_device(ctx, "cpu");
    for (int t = 0; t < TYPES && status == TW_OK; t++) {
        status = tw_minplus_ceiling(ctx, &out->one[t], types[t], 1);
        if (status == TW_OK) {
            status = tw_minplus_ceiling(ctx, &out->all[t], types[t], tw_threads(ctx));
        }
    }
    if (status == TW_OK && out->gpu != NULL) {
        status = tw_set_device(ctx, out->gpu);
    }
    for (int t = 0; t < TYPES && status == TW_OK && out->gpu != NULL; t++) {
        status = tw_minplus_ceiling(ctx, &out->there[t], types[t], 1);
    }
    out->measured = status == TW_OK;
    return status;
}

static void print_gpu(tw_context *ctx, int32_t index)
{
    char shown[CLI_SHOWN], other[CLI_SHOWN];
    tw_gpu gpu = TW_GPU_INIT;
    if (tw_gpu_describe(ctx, &gpu, index) != TW_OK) {
        cli_print("gpu %-8d%s\n", index, tw_last_error(ctx));
        return;
    }
    cli_print("gpu %-8d%s (%s), %d processors, %s, %s available\n", index, gpu.name,
              gpu.architecture, gpu.processors, cli_show_bytes(shown, (double)gpu.memory),
              cli_show_bytes(other, (double)gpu.memory_available));
}

/* "direct 0" with its rank, with a plus if atomics reach across; "host" if copies go that way. */
static void print_link(tw_context *ctx, int32_t from, int32_t to)
{
    char text[CLI_SHOWN] = "-";
    tw_gpu_link link = TW_GPU_LINK_INIT;
    if (from != to && tw_gpu_link_describe(ctx, &link, from, to) != TW_OK) {
        snprintf(text, sizeof text, "?");
    } else if (from != to && link.direct) {
        snprintf(text, sizeof text, "direct %d%s", link.rank, link.atomics ? "+" : "");
    } else if (from != to) {
        snprintf(text, sizeof text, "host");
    }
    cli_print("%-12s", text);
}

static void print_gpus(tw_context *ctx, const tw_machine *machine)
{
    cli_print("gpu         %s\n", machine->gpu);
    if (machine->gpu_runtime[0] != '\0') {
        bool hip = strncmp(machine->gpu_runtime, "HIP", 3) == 0;
        cli_print("driver      %s\n",
                  machine->gpu_driver[0] != '\0' ? machine->gpu_driver : "none");
        cli_print("runtime     %s%s\n", machine->gpu_runtime,
                  hip ? " (the AMD code compiles but has not yet run on a card)" : "");
    }
    for (int32_t i = 0; i < machine->gpus; i++) {
        print_gpu(ctx, i);
    }
    if (machine->gpus < 2) {
        return;
    }
    cli_print("\nlinks between GPUs: direct, with the rank of their speed and + if atomics work "
              "across them, or through the host\n%-12s",
              "from \\ to");
    for (int32_t to = 0; to < machine->gpus; to++) {
        cli_print("%-12d", to);
    }
    for (int32_t from = 0; from < machine->gpus; from++) {
        cli_print("\n%-12d", from);
        for (int32_t to = 0; to < machine->gpus; to++) {
            print_link(ctx, from, to);
        }
    }
    cli_print("\n");
}

static void print_machine(tw_context *ctx, const tw_machine *machine)
{
    char shown[CLI_SHOWN], other[CLI_SHOWN];
    cli_print("processor   %s\n", machine->processor[0] != '\0' ? machine->processor : "(no name)");
    cli_print("threads     %d\n", tw_threads(ctx));
    cli_print("memory      %s, %s available\n", cli_show_bytes(shown, (double)machine->memory),
              cli_show_bytes(other, (double)machine->memory_available));
    cli_print("isa         %s (of: %s)\n", machine->isa, machine->isas);
    print_gpus(ctx, machine);
    fflush(stdout); /* before what may fail */
}

static void print_ceilings(tw_context *ctx, const ceilings *rates)
{
    char one[CLI_SHOWN], all[CLI_SHOWN], there[CLI_SHOWN], threads[CLI_SHOWN];
    cli_print("\nceiling of d = min(d, a + b) on registers, relaxations per second\n");
    snprintf(threads, sizeof threads, "%d thread%s", tw_threads(ctx),
             tw_threads(ctx) == 1 ? "" : "s");
    if (rates->gpu != NULL) {
        cli_print("type    1 thread    %-12s%s\n", threads, rates->gpu);
    } else {
        cli_print("type    1 thread    %s\n", threads);
    }
    for (int t = 0; t < TYPES; t++) {
        (void)cli_show_scaled(one, rates->one[t]);
        (void)cli_show_scaled(all, rates->all[t]);
        if (rates->gpu != NULL) {
            cli_print("%-8s%-12s%-12s%s\n", tw_type_name(types[t]), one, all,
                      rates->there[t] > 0 ? cli_show_scaled(there, rates->there[t]) : "-");
        } else {
            cli_print("%-8s%-12s%s\n", tw_type_name(types[t]), one, all);
        }
    }
}

static void gpus_json(cli_report *json, tw_context *ctx, const tw_machine *machine)
{
    cli_report_text(json, "gpu", machine->gpu);
    cli_report_text(json, "gpu_driver", machine->gpu_driver);
    cli_report_text(json, "gpu_runtime", machine->gpu_runtime);
    cli_report_array(json, "gpus");
    for (int32_t i = 0; i < machine->gpus; i++) {
        tw_gpu gpu = TW_GPU_INIT;
        cli_report_object(json, NULL);
        cli_report_integer(json, "index", i);
        if (tw_gpu_describe(ctx, &gpu, i) == TW_OK) {
            cli_report_text(json, "name", gpu.name);
            cli_report_text(json, "architecture", gpu.architecture);
            cli_report_integer(json, "processors", gpu.processors);
            cli_report_integer(json, "memory", (int64_t)gpu.memory);
            cli_report_integer(json, "memory_available", (int64_t)gpu.memory_available);
        } else {
            cli_report_text(json, "error", tw_last_error(ctx));
        }
        cli_report_end_object(json);
    }
    cli_report_end_array(json);
    cli_report_array(json, "links");
    for (int32_t pair = 0; pair < machine->gpus * machine->gpus; pair++) {
        int32_t from = pair / machine->gpus;
        int32_t to = pair % machine->gpus;
        tw_gpu_link link = TW_GPU_LINK_INIT;
        if (from == to || tw_gpu_link_describe(ctx, &link, from, to) != TW_OK) {
            continue;
        }
        cli_report_object(json, NULL);
        cli_report_integer(json, "from", from);
        cli_report_integer(json, "to", to);
        cli_report_bool(json, "direct", link.direct);
        cli_report_bool(json, "atomics", link.atomics);
        cli_report_integer(json, "rank", link.rank);
        cli_report_end_object(json);
    }
    cli_report_end_array(json);
}

/* What was measured; and why no more. */
static void ceilings_json(cli_report *json, tw_context *ctx, const ceilings *rates,
                          tw_status status)
{
    cli_report_array(json, "ceilings");
    for (int t = 0; t < TYPES && rates->measured; t++) {
        cli_report_object(json, NULL);
        cli_report_text(json, "type", tw_type_name(types[t]));
        cli_report_number(json, "one_thread", rates->one[t]);
        cli_report_number(json, "all_threads", rates->all[t]);
        if (rates->there[t] > 0) {
            cli_report_number(json, "gpu", rates->there[t]);
        } else {
            cli_report_null(json, "gpu");
        }
        cli_report_end_object(json);
    }
    cli_report_end_array(json);
    if (status != TW_OK) {
        cli_report_text(json, "error", tw_last_error(ctx));
    }
}

static void print_json(tw_context *ctx, const tw_machine *machine, const ceilings *rates,
                       tw_status status)
{
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "devices");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "processor", machine->processor);
    cli_report_integer(&json, "processors", machine->threads);
    cli_report_integer(&json, "threads", tw_threads(ctx));
    cli_report_integer(&json, "memory", (int64_t)machine->memory);
    cli_report_integer(&json, "memory_available", (int64_t)machine->memory_available);
    cli_report_text(&json, "isa", machine->isa);
    cli_report_text(&json, "isas", machine->isas);
    gpus_json(&json, ctx, machine);
    ceilings_json(&json, ctx, rates, status);
    cli_report_end(&json);
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_machine machine = TW_MACHINE_INIT;
    ceilings rates = {0};
    (void)count;
    (void)words;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK) {
        status = tw_machine_describe(job->ctx, &machine);
    }
    if (status != TW_OK) {
        return status;
    }
    if (!s->common.json) {
        print_machine(job->ctx, &machine);
    }
    if (!s->no_measure) {
        status = measure(job->ctx, s->common.device, &rates);
    }
    if (s->common.json) {
        print_json(job->ctx, &machine, &rates, status);
    } else if (rates.measured) {
        print_ceilings(job->ctx, &rates);
    }
    return status;
}

const cli_command cli_devices = {
    .name = "devices",
    .usage = "",
    .summary = "show what this machine has, and its peak rates",
    .text = "Describes the processor, its memory and instruction sets, the GPUs that this build "
            "can use and the links between them, and measures the ceiling of each number type: how "
            "many steps d = min(d, a + b) it does per second when nothing has to be fetched from "
            "memory. The rates of 'apsp --json' and 'bench' are compared with these. A GPU is "
            "measured if --device names it; several are added up.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 0,
    .most = 0,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};

/*
 * tilewright devices: the machine as the library sees it, and what it can do at most. The ceiling
 * of a type is measured here and now: d = min(d, a + b) on registers alone.
 */
#include "commands.h"
#include "job.h"
#include "report.h"

#define TYPES 5

typedef struct settings {
    cli_common common;
    int32_t no_measure;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};

static const tw_type types[TYPES] = {TW_U8, TW_U16, TW_I32, TW_F32, TW_F64};

/* Relaxations a second on one thread and on all. */
typedef struct ceilings {
    double one[TYPES];
    double all[TYPES];
} ceilings;

static const cli_option own_options[] = {{"no-measure", 0, CLI_FLAG, NULL,
                                          offsetof(settings, no_measure), 1,
                                          "List only; skip the measurement of the ceilings."},
                                         {0}};

static const cli_group groups[] = {{"Measuring", own_options},
                                   {"Resources", cli_resource_options},
                                   {"Machine", cli_device_options},
                                   {"What it says", cli_talk_options},
                                   {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright devices", "what is here, and how fast it could be"},
    {"tilewright devices --isa scalar", "the same without vector instructions"},
    {NULL, NULL}};

static const cli_operand operands[] = {{NULL, NULL}};

static tw_status measure(tw_context *ctx, ceilings *out)
{
    tw_status status = TW_OK;
    for (int t = 0; t < TYPES && status == TW_OK; t++) {
        status = tw_ceiling(ctx, &out->one[t], types[t], 1);
        if (status == TW_OK) {
            status = tw_ceiling(ctx, &out->all[t], types[t], tw_threads(ctx));
        }
    }
    return status;
}

static void print_text(tw_context *ctx, const tw_machine *machine, const ceilings *rates)
{
    char shown[CLI_SHOWN], other[CLI_SHOWN];
    printf("processor   %s\n", machine->processor[0] != '\0' ? machine->processor : "(no name)");
    printf("threads     %d\n", tw_threads(ctx));
    printf("memory      %s, %s available\n", cli_show_bytes(shown, (double)machine->memory),
           cli_show_bytes(other, (double)machine->memory_available));
    printf("isa         %s (of: %s)\n", machine->isa, machine->isas);
    printf("gpu         %s\n", machine->gpu);
    if (rates == NULL) {
        return;
    }
    printf("\nceiling of d = min(d, a + b) on registers, relaxations a second\n");
    printf("type    1 thread    %d thread%s\n", tw_threads(ctx), tw_threads(ctx) == 1 ? "" : "s");
    for (int t = 0; t < TYPES; t++) {
        printf("%-8s%-12s%s\n", tw_type_name(types[t]), cli_show_scaled(shown, rates->one[t]),
               cli_show_scaled(other, rates->all[t]));
    }
}

static void print_json(tw_context *ctx, const tw_machine *machine, const ceilings *rates)
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
    cli_report_text(&json, "gpu", machine->gpu);
    cli_report_array(&json, "ceilings");
    for (int t = 0; t < TYPES && rates != NULL; t++) {
        cli_report_object(&json, NULL);
        cli_report_text(&json, "type", tw_type_name(types[t]));
        cli_report_number(&json, "one_thread", rates->one[t]);
        cli_report_number(&json, "all_threads", rates->all[t]);
        cli_report_end_object(&json);
    }
    cli_report_end_array(&json);
    cli_report_end(&json);
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_machine machine;
    ceilings rates;
    (void)count;
    (void)words;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && !s->no_measure) {
        status = measure(job->ctx, &rates);
    }
    if (status == TW_OK) {
        status = tw_machine_describe(job->ctx, &machine);
    }
    if (status == TW_OK && s->common.json) {
        print_json(job->ctx, &machine, s->no_measure ? NULL : &rates);
    } else if (status == TW_OK) {
        print_text(job->ctx, &machine, s->no_measure ? NULL : &rates);
    }
    return status;
}

const cli_command cli_devices = {
    .name = "devices",
    .usage = "",
    .summary = "what this machine has, and the most it can do",
    .text = "Describes the processor, its memory and instruction sets, and measures the ceiling of "
            "each number type: how many steps d = min(d, a + b) it does in a second when nothing "
            "has to be fetched from memory. The rates of 'apsp --json' and 'bench' are compared "
            "with these.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 0,
    .most = 0,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};

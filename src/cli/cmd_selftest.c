/* tilewright selftest: is the library right on this machine? */
#include "cli/shared/commands.h"
#include "frame/job.h"
#include "frame/progress.h"
#include "frame/report.h"

typedef struct settings {
    cli_common common;
    uint64_t seed;
    int32_t verbose;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT, .seed = 1};

static const cli_option own_options[] = {
    {"verbose", 'v', CLI_FLAG, NULL, offsetof(settings, verbose), 1,
     "List every case, not only failures."},
    {"seed", 0, CLI_SEED, "S", offsetof(settings, seed), 0,
     "Seed of the random cases; 1 by default."},
    {"device", 0, CLI_TEXT, "DEVICE", offsetof(cli_common, device), 0,
     "Where to compute: auto, cpu, or a GPU, such as cuda, which is then tested also as several "
     "devices and out of core."},
    {0}};

static const cli_group groups[] = {{"Cases", own_options},
                                   {"Resources", cli_resource_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright selftest", "a line for each failure, then the count"},
    {"tilewright selftest -v --seed 7", "every case, with other random graphs"},
    {"tilewright selftest map", "maps alone"},
    {NULL, NULL}};

static const cli_operand operands[] = {
    {"PROBLEM", "What to check: apsp, reach, entropy or map; all of them by default."},
    {NULL, NULL}};

static void show_case(void *user, const char *name, int32_t passed, const char *detail)
{
    const settings *s = user;
    if (s->common.json || (passed && !s->verbose)) {
        return;
    }
    cli_progress_clear();
    bool more = detail != NULL && detail[0] != '\0';
    cli_print("%-7s %s%s%s\n", passed ? "passed" : "FAILED", name, more ? ": " : "",
              more ? detail : "");
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_selftest_counts counts = TW_SELFTEST_COUNTS_INIT;
    tw_status status = cli_begin(job, &s->common);
    if (status != TW_OK) {
        return status;
    }
    status = tw_selftest(job->ctx, &counts, count > 0 ? words[0] : NULL, s->seed, show_case,
                         (void *)given);
    if (status != TW_OK && status != TW_ERR_VERIFY) {
        return status;
    }
    cli_progress_clear();
    job->answer_is_no = status == TW_ERR_VERIFY;
    if (s->common.json) {
        cli_report json;
        cli_report_begin(&json, stdout);
        cli_report_text(&json, "command", "selftest");
        cli_report_integer(&json, "passed", counts.passed);
        cli_report_integer(&json, "failed", counts.failed);
        cli_report_integer(&json, "skipped", counts.skipped);
        cli_report_integer(&json, "seed", (int64_t)s->seed);
        cli_report_number(&json, "seconds", cli_seconds() - job->started);
        cli_report_end(&json);
    } else {
        cli_print("%lld passed, %lld failed, %lld skipped\n", (long long)counts.passed,
                  (long long)counts.failed, (long long)counts.skipped);
    }
    return TW_OK;
}

const cli_command cli_selftest = {
    .name = "selftest",
    .usage = "[apsp|reach|entropy|map]",
    .summary = "check every method, type and instruction set on this machine",
    .text = "Runs every method, type and instruction set this machine has against plain reference "
            "code, over sizes around the edges of the tiles. Only the installed program is needed. "
            "Prints a line for each case that fails and a count at the end.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 0,
    .most = 1,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};

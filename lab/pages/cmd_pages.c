/*
 * tilewright-lab report and compare. Both read the JSON that 'run --out' keeps; they are pages.py,
 * a Python script installed with this program, since plots come from Matplotlib. This file starts
 * it and hands its exit status on.
 */
#include "commands_lab.h"
#include "script.h"

#include "frame/job.h"

#define MOST_FOLDERS 16
#define DONE_WITHOUT 3 /* the script's exit status: done, but some files were left out */

typedef struct settings {
    cli_common common;
    const char *out;
    const char *plots;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};
static const cli_option no_options[] = {{0}};
static const cli_group no_groups[] = {{"Options", no_options}, {NULL, NULL}};
static const cli_option report_options[] = {
    {"out", 'o', CLI_TEXT, "FOLDER", offsetof(settings, out), 0,
     "Write the page there; by default into the first FOLDER of results."},
    {"plots", 0, CLI_TEXT, "FOLDER", offsetof(settings, plots), 0,
     "Write every plot there as well, as an SVG file of its own, dark on white."},
    {0}};
static const cli_group report_groups[] = {{"Options", report_options}, {NULL, NULL}};

_Static_assert(MOST_FOLDERS + 3 <= LAB_SCRIPT_WORDS, "a report of all folders has room");

/* The script with `count` words, the first of them what it is to do. */
static tw_status run_script(cli_job *job, int count, const char *const *words)
{
    int exit_status = 0;
    tw_status status = lab_run_script(job->ctx, "pages.py", count, words, &exit_status);
    if (status != TW_OK) {
        return status;
    }
    job->answer_is_no = exit_status == 1;
    if (exit_status == DONE_WITHOUT) {
        return tw_fail(job->ctx, TW_ERR_FORMAT,
                       "%s finished without the files named above; remove them, or measure "
                       "again",
                       words[0]);
    }
    if (exit_status > 1) {
        return tw_fail(job->ctx, TW_ERR_FORMAT, "%s did not finish; see the message above",
                       words[0]);
    }
    return TW_OK;
}

static tw_status report(cli_job *job, const void *given, int count, char **folders)
{
    const settings *s = given;
    const char *words[MOST_FOLDERS + 3];
    tw_status status = cli_begin(job, &s->common);
    if (status != TW_OK) {
        return status;
    }
    words[0] = "report";
    words[1] = s->out != NULL ? s->out : "";
    words[2] = s->plots != NULL ? s->plots : "";
    for (int i = 0; i < count; i++) {
        words[3 + i] = folders[i];
    }
    return run_script(job, 3 + count, words);
}

static tw_status compare(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_status status = cli_begin(job, &s->common);
    const char *all[3] = {"compare", words[0], words[count - 1]};
    return status != TW_OK ? status : run_script(job, 3, all);
}

static const cli_operand report_operands[] = {
    {"FOLDER", "Where 'run --out' kept its results; several make one page of several machines."},
    {NULL, NULL}};
static const cli_example report_examples[] = {
    {"tilewright-lab report results", "writes results/report.html and results/report.md"},
    {"tilewright-lab report card host --out both --plots both/plots",
     "two machines on one page, and the plots as files"},
    {NULL, NULL}};

const cli_command lab_report = {
    .name = "report",
    .usage = "FOLDER...",
    .summary = "make one page of tables and plots of the results in a folder",
    .text = "Reads every result in FOLDER and writes report.html, one page that needs no network, "
            "with the machine, tables and plots for each ladder, and report.md with the same "
            "tables. Where the results hold figures of a write-up's authors, the speed-up of each "
            "rung over the first is plotted beside theirs. A damaged file, or one of another "
            "version, is named and left out, the others are kept, and the exit status is 2. Needs "
            "Python 3 with Matplotlib.",
    .examples = report_examples,
    .operands = report_operands,
    .groups = report_groups,
    .least = 1,
    .most = MOST_FOLDERS,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = report,
};

static const cli_operand compare_operands[] = {
    {"BEFORE", "A folder of results, or one of its files."},
    {"AFTER", "Another one."},
    {NULL, NULL}};
static const cli_example compare_examples[] = {
    {"tilewright-lab compare before after", "what became faster or slower beyond noise"},
    {NULL, NULL}};

const cli_command lab_compare = {
    .name = "compare",
    .usage = "BEFORE AFTER",
    .summary = "show what changed between two results, beyond noise",
    .text = "Compares cases of the same ladder, rung and size. A change counts when the medians "
            "differ by more than the spreads of both runs together (slowest minus fastest "
            "repetition), and by more than 1 %, by which even two runs of the same program differ. "
            "A case that ran only once is judged by the usual spread of its ladder. The exit "
            "status is 1 if anything became slower. Needs Python 3.",
    .examples = compare_examples,
    .operands = compare_operands,
    .groups = no_groups,
    .least = 2,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = compare,
};

/* tilewright-lab list and run: which ladders there are, and climbing them. */
#include "base/memory.h"
#include "commands_lab.h"
#include "ladders/ladders.h"
#include "ladders/write_ups.h"
#include "runner/results.h"
#include "runner/runner.h"

#include "gpu/device.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------- list */

typedef struct list_settings {
    cli_common common;
} list_settings;

static const list_settings list_defaults = {.common = CLI_COMMON_INIT};

static const cli_operand list_operands[] = {
    {"LADDER", "Only this one, with the idea of each rung."}, {NULL, NULL}};
static const cli_example list_examples[] = {
    {"tilewright-lab list", "all ladders"},
    {"tilewright-lab list apsp-cpu", "one ladder, with what each rung changes"},
    {NULL, NULL}};
static const cli_option no_options[] = {{0}};
static const cli_group list_groups[] = {{"Options", no_options}, {NULL, NULL}};

static void list_rungs(const lab_ladder *ladder)
{
    lab_write_ups write_ups = 0;
    printf("%s: %s\n", ladder->name, ladder->title);
    if (ladder->against != NULL) {
        printf("checked against %s\n", ladder->against);
    }
    putchar('\n');
    for (int32_t i = 0; i < ladder->count; i++) {
        const lab_rung *rung = &ladder->rungs[i];
        printf("  %-22s %-5s %s", rung->name, rung->row != NULL ? rung->row : "ours", rung->idea);
        if (rung->flaw != NULL) {
            printf("; WRONG: %s", rung->flaw);
        }
        if (rung->against != NULL) {
            printf("; checked against %s", rung->against);
        }
        if (rung->parent != NULL && (i == 0 || strcmp(rung->parent, rung[-1].name) != 0)) {
            printf(" (from %s)", rung->parent);
        }
        putchar('\n');
        lab_add_write_up(&write_ups, rung->row);
    }
    if (write_ups != 0) {
        putchar('\n');
        lab_print_write_ups(write_ups);
    }
}

static tw_status list(cli_job *job, const void *settings, int count, char **words)
{
    const list_settings *s = settings;
    const lab_ladder *ladder = NULL;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && count == 1) {
        status = lab_find_ladder(job->ctx, words[0], &ladder);
        if (status == TW_OK) {
            list_rungs(ladder);
        }
        return status;
    }
    lab_write_ups write_ups = 0;
    for (const lab_ladder *const *each = lab_ladders; status == TW_OK && *each != NULL; each++) {
        printf("  %-20s %s%s", (*each)->name, (*each)->title, (*each)->gpu ? " (GPU)" : "");
        if ((*each)->count > 0) {
            printf("; %d rungs\n", (*each)->count);
        } else {
            printf("; not in this build\n");
        }
        for (int32_t i = 0; i < (*each)->count; i++) {
            lab_add_write_up(&write_ups, (*each)->rungs[i].row);
        }
    }
    if (write_ups != 0) {
        putchar('\n');
        lab_print_write_ups(write_ups);
    }
    return status;
}

const cli_command lab_list = {
    .name = "list",
    .usage = "[LADDER]",
    .summary = "list the ladders, or the rungs of one",
    .text =
        "Lists the ladders, or the rungs of one ladder with what their answers are checked "
        "against, the row of the write-up that each reproduces and the one idea it adds, then the "
        "titles of the write-ups.",
    .examples = list_examples,
    .operands = list_operands,
    .groups = list_groups,
    .least = 0,
    .most = 1,
    .settings_size = sizeof(list_settings),
    .defaults = &list_defaults,
    .run = list,
};

/* ------------------------------------------------------------------------------------------ run */

typedef struct settings {
    cli_common common;
    const char *sizes;
    const char *rungs;
    const char *out;
    int64_t repeat;
    double budget;
    int32_t published;
    int32_t counters;
    int32_t once;
    int32_t turns;
    uint64_t seed;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT, .repeat = 5, .budget = 5, .seed = 1};

static const cli_option own_options[] = {
    {"n", 'n', CLI_TEXT, "LIST", offsetof(settings, sizes), 0,
     "Sizes, such as 500,1000; each ladder has its own by default."},
    {"rungs", 0, CLI_TEXT, "LIST", offsetof(settings, rungs), 0,
     "Run only these rungs, in this order; all by default."},
    {"repeat", 0, CLI_COUNT, "R", offsetof(settings, repeat), 0,
     "Time each rung R times and take the median; 5 by default."},
    {"budget", 0, CLI_NUMBER, "SECONDS", offsetof(settings, budget), 0,
     "Repeat a rung fewer times if it would take longer than this in all; 5 by default."},
    {"turns", 0, CLI_FLAG, NULL, offsetof(settings, turns), 1,
     "Repeat the rungs in turns, not one after another, so that a few slow seconds of the machine "
     "affect all of them alike."},
    {"published", 0, CLI_FLAG, NULL, offsetof(settings, published), 1,
     "Use the sizes of the write-up, or those of them that --n names, and show its authors' "
     "figures beside ours."},
    {"counters", 0, CLI_FLAG, NULL, offsetof(settings, counters), 1,
     "Add a table of what the processor counted while each rung ran, such as instructions per "
     "cycle, branch misses and page faults. A GPU rung is run once more under ncu or rocprof, for "
     "integer operations per second, activity, occupancy, bank conflicts, loads and stores. What "
     "cannot be counted here is named."},
    {"once", 0, CLI_FLAG, NULL, offsetof(settings, once), 1,
     "For a profiler of your own: check each rung and run it once more, timing nothing. 'ncu "
     "--profile-from-start off' sees that one run."},
    {"seed", 0, CLI_SEED, "S", offsetof(settings, seed), 0, "Seed of the inputs; 1 by default."},
    {"out", 'o', CLI_TEXT, "FOLDER", offsetof(settings, out), 0,
     "Keep the results there, one JSON file per ladder, written after each case. Results of the "
     "same build and machine that are already there stay unless they are measured again."},
    {0}};

static const cli_option talk_options[] = {
    {"quiet", 'q', CLI_FLAG, NULL, offsetof(cli_common, quiet), 1,
     "Print only errors to standard error."},
    {"no-progress", 0, CLI_FLAG, NULL, offsetof(cli_common, no_progress), 1,
     "Do not show progress; it is shown only if standard error is a terminal."},
    {0}};

static const cli_group groups[] = {{"What to run", own_options},
                                   {"Machine", cli_resource_options},
                                   {"Messages", talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"LADDER", "The ladder to climb; without one, all that this machine can run."}, {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright-lab run apsp-cpu --n 1000", "one ladder at one size"},
    {"tilewright-lab run entropy-cpu --published", "the authors' sizes and figures beside ours"},
    {"tilewright-lab run --out results", "everything, kept for 'report' and 'compare'"},
    {NULL, NULL}};

static tw_status read_sizes(tw_context *ctx, lab_run *run, const char *text)
{
    run->sizes_given = true;
    for (const char *at = text;;) {
        char word[24];
        int64_t n = 0;
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        if (!cli_read_count(word, &n) || n < 1 || n > 1000000) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "--n '%s': expected sizes from 1 to 1000000",
                           word);
        }
        if (run->size_count == LAB_MOST_SIZES) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "--n: more than %d sizes", LAB_MOST_SIZES);
        }
        run->sizes[run->size_count++] = n;
        if (at[length] == '\0') {
            return TW_OK;
        }
        at += length + 1;
    }
}

static bool is_in(const char *list, const char *end, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at < end; at += strcspn(at, ",") + 1) {
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Every name of --rungs is one of the ladder's, and none is there twice. */
static tw_status check_rungs(tw_context *ctx, const lab_ladder *ladder, const char *text)
{
    tw_status status = TW_OK;
    for (const char *at = text; status == TW_OK; at++) {
        char word[64];
        const lab_rung *rung = NULL;
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        status = lab_find_rung(ctx, ladder, word, &rung);
        if (status == TW_OK && is_in(text, at, word)) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "--rungs names '%s' twice", word);
        }
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return status;
}

static tw_status run_one(cli_job *job, const settings *s, const lab_ladder *ladder,
                         lab_counting *counting)
{
    lab_run one = {.job = job,
                   .ladder = ladder,
                   .published = s->published != 0,
                   .rungs = s->rungs,
                   .repeat = (int32_t)s->repeat,
                   .turns = s->turns != 0,
                   .budget = s->budget,
                   .seed = s->seed,
                   .folder = s->out,
                   .counting = counting,
                   .once = s->once != 0};
    tw_status status = TW_OK;
    if (s->rungs != NULL) {
        status = check_rungs(job->ctx, ladder, s->rungs);
    }
    if (status == TW_OK && s->sizes != NULL) {
        status = read_sizes(job->ctx, &one, s->sizes);
    }
    if (status == TW_OK) {
        status = twi_alloc(job->ctx, &one.cases, LAB_MOST_CASES, sizeof *one.cases, "the cases");
    }
    if (status == TW_OK) {
        status = lab_run_ladder(&one);
    }
    lab_kept_close(&one.kept);
    twi_free(one.cases);
    return status;
}

/* Whether a run of everything includes the ladder. */
static bool is_meant(const settings *s, const lab_ladder *ladder, bool gpu)
{
    return (gpu || !ladder->gpu) && (!s->published || ladder->published != NULL);
}

static bool has_gpu(tw_context *ctx)
{
    twi_gpu_info info;
    return twi_gpu_describe(ctx, 0, &info) == TW_OK;
}

/* Whether the results of every ladder that will run can be kept, before the first does. */
static tw_status check_folder(cli_job *job, const settings *s, bool gpu)
{
    tw_status status = TW_OK;
    for (const lab_ladder *const *each = lab_ladders; status == TW_OK && *each != NULL; each++) {
        if (is_meant(s, *each, gpu)) {
            lab_run one = {.job = job, .ladder = *each, .seed = s->seed, .folder = s->out};
            status = lab_find_results(&one);
            lab_kept_close(&one.kept);
        }
    }
    return status;
}

/* All ladders. One that cannot be climbed here does not keep the others from it; only what would
 * go wrong with them too ends the run. */
static tw_status run_all(cli_job *job, const settings *s, lab_counting *counting)
{
    bool gpu = has_gpu(job->ctx);
    int32_t failed = 0;
    tw_status status = s->out != NULL ? check_folder(job, s, gpu) : TW_OK;
    for (const lab_ladder *const *each = lab_ladders; status == TW_OK && *each != NULL; each++) {
        if ((*each)->gpu && !gpu) {
            cli_say(job, "%s skipped: %s", (*each)->name, twi_gpu_text());
        }
        if (!is_meant(s, *each, gpu)) {
            continue;
        }
        status = run_one(job, s, *each, counting);
        if (status != TW_OK && status != TW_ERR_CANCELLED && status != TW_ERR_IO) {
            cli_error(tw_last_error(job->ctx));
            failed += !lab_is_for_one(status);
            job->answer_is_no = job->answer_is_no || status == TW_ERR_VERIFY;
            status = TW_OK;
        }
    }
    if (status == TW_OK && failed > 0) {
        status =
            tw_fail(job->ctx, TW_ERR_INTERNAL, "%d ladder%s did not finish; see the messages above",
                    (int)failed, failed == 1 ? "" : "s");
    }
    return status;
}

static tw_status run_named(cli_job *job, const settings *s, const char *name,
                           lab_counting *counting)
{
    const lab_ladder *ladder = NULL;
    tw_status status = lab_find_ladder(job->ctx, name, &ladder);
    if (status == TW_OK && ladder->gpu && !has_gpu(job->ctx)) {
        status =
            tw_fail(job->ctx, TW_ERR_DEVICE, "%s needs a GPU: %s", ladder->name, twi_gpu_text());
    }
    return status != TW_OK ? status : run_one(job, s, ladder, counting);
}

static tw_status run_chosen(cli_job *job, const settings *s, int count, char **words,
                            lab_counting *counting)
{
    return count == 0 ? run_all(job, s, counting) : run_named(job, s, words[0], counting);
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    lab_counting counting = {0};
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && (s->repeat < 1 || s->repeat > LAB_MOST_REPEATS)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--repeat %lld: expected 1 to %d",
                         (long long)s->repeat, LAB_MOST_REPEATS);
    }
    if (status == TW_OK && count == 0 && (s->rungs != NULL || s->sizes != NULL)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "%s needs a ladder, since rungs and sizes belong to one",
                         s->rungs != NULL ? "--rungs" : "--n");
    }
    if (status == TW_OK && s->once && (s->out != NULL || s->counters)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "--once times nothing and cannot be combined with %s",
                         s->out != NULL ? "--out" : "--counters");
    }
    if (status == TW_OK && s->turns && (s->once || s->counters)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--turns cannot be combined with %s",
                         s->once ? "--once" : "--counters");
    }
    if (status != TW_OK) {
        return status;
    }
    if (!s->counters) {
        return run_chosen(job, s, count, words, NULL);
    }
    lab_meter_open(&counting.meter, counting.without);
    status = run_chosen(job, s, count, words, &counting);
    lab_meter_close(&counting.meter);
    return status;
}

const cli_command lab_run_command = {
    .name = "run",
    .usage = "[LADDER]",
    .summary = "climb a ladder: check each rung, then time it",
    .text = "Runs the rungs of a ladder, the simplest first. Every answer is checked before its "
            "time counts. The table shows the median time, its spread, the speed-up over the first "
            "rung and over the rung it changes, the work done per second, that rate as a share of "
            "the ceiling measured in the same run, and the bytes per second if every element were "
            "read and written once. A rung whose answer is wrong is marked, one that cannot run "
            "here is skipped, and the others go on. Ctrl-C keeps the results so far.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 0,
    .most = 1,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};

/*
 * The runner of ladders. For each size the bench is opened once; for each rung the output is
 * poisoned, the rung runs, its answer is checked, and then it runs `repeat` times more for its
 * median. A rung that takes long is repeated less often: the time of a whole run is
 * bounded by the sizes, not by the slowest rung. Results are kept after each case, so that Ctrl-C
 * loses nothing but the case it interrupts. A rung whose answer is wrong, or that cannot run here,
 * is shown and kept as such, and the next one has its turn.
 *
 * In turns, each rung is checked and timed once, and then all of them once more, until each has its
 * repetitions: what slows the machine for some seconds meets all rungs alike. They are shown and
 * kept when the last turn is over.
 *
 * With counters a CPU rung is counted while it is timed. A GPU rung is not: when a size is done and
 * its memory free, this program runs itself under the profiler, one rung at a time, with `once`.
 */
#include "runner/runner.h"

#include "runner/results.h"
#include "runner/tables.h"

#include "base/clock.h"
#include "frame/progress.h"
#include "gpu/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROFILER_SECONDS 120 /* that a profiler may take for one rung */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(lab_case *c)
{
    double sorted[LAB_MOST_REPEATS];
    for (int32_t i = 0; i < c->repeats; i++) {
        sorted[i] = c->times[i].total;
    }
    qsort(sorted, (size_t)c->repeats, sizeof *sorted, by_value);
    int32_t middle = c->repeats / 2;
    c->median = c->repeats % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    double nearest = sorted[(c->repeats - 1) / 2];
    for (c->middle = 0; c->times[c->middle].total != nearest;) {
        c->middle++;
    }
    c->spread = c->median > 0 ? (sorted[c->repeats - 1] - sorted[0]) / c->median : 0;
}

/* What others, and this program, have done on the machine in the last minute; -1: unknown. */
static double load_now(void)
{
    double load = -1;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

/* NULL: the authors do not speak of it. */
static const lab_published *published_for(const lab_ladder *ladder, const char *rung, int64_t n)
{
    for (const lab_published *p = ladder->published; p != NULL && p->rung != NULL; p++) {
        if (p->n == n && strcmp(p->rung, rung) == 0) {
            return p;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------- cases */

/* The rung whose turn it is: in the ladder's order or, where some are named, in theirs. NULL: there
 * is none any more. */
static const lab_rung *rung_in_turn(const lab_run *run, int32_t turn)
{
    const lab_ladder *ladder = run->ladder;
    const char *at = run->rungs;
    if (at == NULL) {
        return turn < ladder->count ? &ladder->rungs[turn] : NULL;
    }
    for (; turn > 0 && *at != '\0'; turn--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    const size_t length = strcspn(at, ",");
    for (int32_t i = 0; i < ladder->count; i++) {
        const char *name = ladder->rungs[i].name;
        if (length == strlen(name) && strncmp(at, name, length) == 0) {
            return &ladder->rungs[i];
        }
    }
    return NULL;
}

static tw_status run_once(lab_run *run, void *bench, const lab_rung *rung, lab_time *time)
{
    *time = (lab_time){0};
    double begun = twi_seconds();
    tw_status status = rung->run(bench, rung, time);
    if (time->total == 0) {
        time->total = twi_seconds() - begun;
    }
    return status != TW_OK ? status : twi_check_cancel(run->job->ctx);
}

/* Once more, with what the processor counted added to the tally; a GPU's rung it does not see. */
static tw_status run_counted(lab_run *run, void *bench, const lab_rung *rung, lab_time *time,
                             lab_tally *tally)
{
    lab_reading before, after;
    if (run->counting == NULL || run->ladder->gpu) {
        return run_once(run, bench, rung, time);
    }
    lab_meter_read(&run->counting->meter, &before);
    tw_status status = run_once(run, bench, rung, time);
    lab_meter_read(&run->counting->meter, &after);
    lab_tally_add(tally, &before, &after);
    return status;
}

bool lab_is_for_one(tw_status status)
{
    return status == TW_ERR_VERIFY || status == TW_ERR_MEMORY || status == TW_ERR_DEVICE ||
           status == TW_ERR_UNSUPPORTED;
}

/* Check the rung, then time it. */
static tw_status measure(lab_run *run, void *bench, lab_case *c)
{
    tw_context *ctx = run->job->ctx;
    const lab_rung *rung = c->rung;
    lab_time first;
    lab_tally tally = {0};
    twi_progress(ctx, rung->name, 0, run->repeat, "runs");
    run->ladder->spoil(bench);
    tw_status status = run_once(run, bench, rung, &first);
    if (status == TW_OK) {
        status = run->ladder->check(ctx, bench, rung);
    }
    double spent = 0;
    const int32_t repeat = run->turns ? 1 : run->repeat;
    for (int32_t i = 0; status == TW_OK && i < repeat; i++) {
        if (i > 0 && spent + spent / i > run->budget) {
            break;
        }
        status = run_counted(run, bench, rung, &c->times[i], &tally);
        spent += c->times[i].total;
        c->repeats = i + 1;
        twi_progress(ctx, rung->name, i + 1, run->repeat, "runs");
    }
    if (status == TW_OK && rung->inspect != NULL) {
        status = rung->inspect(bench, rung, &c->kernel);
    }
    if (status == TW_OK) {
        summarise(c);
        if (tally.runs > 0) {
            lab_tally_profile(&tally, run->ladder->work(c->n), &c->profile);
        }
    }
    return status;
}

/* A rung that is wrong or cannot run does not end the others' run. */
static tw_status settle(lab_run *run, lab_case *c, tw_status status)
{
    c->status = status;
    if (lab_is_for_one(status)) {
        snprintf(c->why, sizeof c->why, "%s", tw_last_error(run->job->ctx));
        c->repeats = 0;
        status = TW_OK;
    }
    return status;
}

static tw_status run_case(lab_run *run, void *bench, int64_t n, const lab_rung *rung)
{
    lab_case *c = &run->cases[run->count];
    const lab_published *theirs = published_for(run->ladder, rung->name, n);
    *c = (lab_case){.rung = rung,
                    .n = n,
                    .published = theirs != NULL ? theirs->milliseconds : 0,
                    .load = load_now()};
    lab_profile_clear(&c->profile);
    tw_status status = settle(run, c, measure(run, bench, c));
    run->count += status == TW_OK;
    return status;
}

/* Whether the run wants this rung at n: offered here, and not too slow for a size
 * that nobody asked for: --n asks for it of every rung, --published of those that the authors ran
 * there. */
static bool is_wanted(const lab_run *run, const lab_rung *rung, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    return (ladder->offers == NULL || ladder->offers(run->job->ctx, rung)) &&
           (rung->most == 0 || n <= rung->most || (run->sizes_given && !run->published) ||
            (run->published && published_for(ladder, rung->name, n) != NULL));
}

/* One rung, checked, and then run between marks for a profiler that watches. */
static tw_status run_marked(lab_run *run, void *bench, int64_t n, const lab_rung *rung)
{
    lab_time time;
    run->ladder->spoil(bench);
    tw_status status = run_once(run, bench, rung, &time);
    if (status == TW_OK) {
        status = run->ladder->check(run->job->ctx, bench, rung);
    }
    if (status == TW_OK) {
        lab_mark_begin();
        status = run_once(run, bench, rung, &time);
        lab_mark_end();
    }
    if (status == TW_OK) {
        cli_progress_clear();
        printf("%s, n = %lld: checked, and run once\n", rung->name, (long long)n);
    }
    return status;
}

/* One rung at one size: run, shown and kept. */
static tw_status climb(lab_run *run, void *bench, int64_t n, const lab_rung *rung, bool first)
{
    if (run->once) {
        return run_marked(run, bench, n, rung);
    }
    if (run->count == LAB_MOST_CASES) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "more than %d cases in one run",
                       LAB_MOST_CASES);
    }
    tw_status status = run_case(run, bench, n, rung);
    if (status == TW_OK && !run->turns) {
        cli_progress_clear();
        if (first) {
            lab_print_head(run, n);
        }
        lab_print_case(run, &run->cases[run->count - 1]);
        status = run->folder != NULL ? lab_keep_results(run) : TW_OK;
    }
    return status;
}

/* Whether a rung has time for one repetition more. */
static bool has_time(const lab_run *run, const lab_case *c)
{
    double spent = 0;
    for (int32_t i = 0; i < c->repeats; i++) {
        spent += c->times[i].total;
    }
    return c->status == TW_OK && spent + spent / c->repeats <= run->budget;
}

/* The repetitions of the cases from `first` on, after the first of each: all of them in turns. */
static tw_status take_turns(lab_run *run, void *bench, int32_t first)
{
    tw_status status = TW_OK;
    for (int32_t turn = 1; status == TW_OK && turn < run->repeat; turn++) {
        for (int32_t i = first; status == TW_OK && i < run->count; i++) {
            lab_case *c = &run->cases[i];
            if (has_time(run, c)) {
                twi_progress(run->job->ctx, c->rung->name, turn, run->repeat, "turns");
                lab_time time;
                status = run_once(run, bench, c->rung, &time);
                if (status == TW_OK) {
                    c->times[c->repeats++] = time;
                } else if (status != TW_ERR_CANCELLED) {
                    status = settle(run, c, status);
                }
            }
        }
    }
    for (int32_t i = first; i < run->count; i++) {
        if (run->cases[i].status == TW_OK) {
            summarise(&run->cases[i]);
        }
    }
    return status;
}

/* What turns have measured, or those that were done before an interruption. */
static tw_status show_turns(lab_run *run, int64_t n, int32_t first)
{
    cli_progress_clear();
    for (int32_t i = first; i < run->count; i++) {
        if (i == first) {
            lab_print_head(run, n);
        }
        lab_print_case(run, &run->cases[i]);
    }
    return run->folder != NULL && run->count > first ? lab_keep_results(run) : TW_OK;
}

/* This program, one rung at one size and nothing else, under the profiler. */
static tw_status ask_profiler(lab_run *run, lab_case *c, lab_answer *answer, char why[LAB_WHY])
{
    tw_context *ctx = run->job->ctx;
    char program[4096], n[24], seed[24], threads[24], memory[24], device_memory[24];
    const char *words[] = {program,
                           "run",
                           run->ladder->name,
                           "--n",
                           n,
                           "--rungs",
                           c->rung->name,
                           "--once",
                           "--seed",
                           seed,
                           "--threads",
                           threads,
                           "--memory",
                           memory,
                           "--device-memory",
                           device_memory,
                           "--no-progress",
                           NULL};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    *answer = LAB_HOPELESS;
    if (length < 0) {
        snprintf(why, LAB_WHY, "cannot find this program's own path for the profiler");
        return TW_OK;
    }
    program[length] = '\0';
    snprintf(n, sizeof n, "%lld", (long long)c->n);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%d", ctx->threads);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)ctx->memory_limit);
    snprintf(device_memory, sizeof device_memory, "%llu",
             (unsigned long long)ctx->device_memory_limit);
    if (strcmp(twi_gpu_prefix(), "hip") == 0) {
        twi_progress(ctx, c->rung->name, 0, 0, "under rocprof");
        return lab_ask_rocprof(ctx, words, PROFILER_SECONDS, answer, &c->profile, why);
    }
    twi_progress(ctx, c->rung->name, 0, 0, "under ncu");
    return lab_ask_ncu(ctx, words, PROFILER_SECONDS, &run->counting->unknown, answer, &c->profile,
                       why);
}

/* The counters of GPU rungs, after the fact. */
static tw_status count_cases(lab_run *run, int32_t from)
{
    lab_counting *counting = run->counting;
    tw_status status = TW_OK;
    for (int32_t i = from; status == TW_OK && i < run->count && !counting->hopeless; i++) {
        lab_case *c = &run->cases[i];
        lab_answer answer = LAB_COUNTED;
        char why[LAB_WHY] = "";
        if (c->status != TW_OK) {
            continue;
        }
        uint32_t known = ~counting->unknown;
        status = ask_profiler(run, c, &answer, why);
        if ((counting->unknown & known) != 0) {
            char names[LAB_WHY];
            lab_ncu_names(counting->unknown & known, names);
            cli_say(run->job, "this ncu does not know %s; skipped", names);
        }
        if (status == TW_OK && answer != LAB_COUNTED && strcmp(why, counting->said) != 0) {
            cli_say(run->job, "no counters for %s: %s",
                    answer == LAB_HOPELESS ? "the GPU" : c->rung->name, why);
            snprintf(counting->said, LAB_WHY, "%s", why);
        }
        counting->hopeless = answer == LAB_HOPELESS;
        if (status == TW_OK && run->folder != NULL) {
            status = lab_keep_results(run);
        }
    }
    return status;
}

static tw_status open_bench(lab_run *run, int64_t n, void **bench)
{
    tw_context *ctx = run->job->ctx;
    char why[LAB_SENTENCE];
    twi_progress(ctx, "making the inputs and the right answer", 0, 0, "");
    tw_status status = run->ladder->open(ctx, n, run->seed, bench);
    if (!lab_is_for_one(status)) {
        return status;
    }
    snprintf(why, sizeof why, "%s", tw_last_error(ctx));
    return tw_fail(ctx, status, "%s, n = %lld: %s", run->ladder->name, (long long)n, why);
}

static tw_status run_size(lab_run *run, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    void *bench = NULL;
    bool opened = false;
    int32_t before = run->count;
    tw_status status = TW_OK;
    const lab_rung *rung = rung_in_turn(run, 0);
    for (int32_t turn = 0; status == TW_OK && rung != NULL; rung = rung_in_turn(run, ++turn)) {
        if (!is_wanted(run, rung, n)) {
            continue;
        }
        bool first = !opened;
        if (first) {
            status = open_bench(run, n, &bench);
            opened = true;
        }
        if (status == TW_OK) {
            status = climb(run, bench, n, rung, first);
        }
    }
    if (run->turns && (status == TW_OK || status == TW_ERR_CANCELLED)) {
        status = status == TW_OK ? take_turns(run, bench, before) : status;
        const tw_status kept = show_turns(run, n, before);
        status = status == TW_OK ? kept : status;
    }
    ladder->close(bench);
    if (!run->once) {
        lab_print_notes(run, before);
    }
    if (status == TW_OK && run->counting != NULL && ladder->gpu) {
        status = count_cases(run, before);
        cli_progress_clear();
    }
    lab_print_counters(run->cases + before, run->count - before);
    return status;
}

/* The authors' sizes: each once, in the order of their table. */
static void take_published_sizes(lab_run *run)
{
    run->size_count = 0;
    for (const lab_published *p = run->ladder->published; p != NULL && p->rung != NULL; p++) {
        bool known = false;
        for (int32_t i = 0; i < run->size_count; i++) {
            known = known || run->sizes[i] == p->n;
        }
        if (!known && run->size_count < LAB_MOST_SIZES) {
            run->sizes[run->size_count++] = p->n;
        }
    }
}

/* Sizes asked for together with the authors' figures are some of theirs. */
static tw_status check_published_sizes(const lab_run *run)
{
    for (int32_t i = 0; i < run->size_count; i++) {
        const lab_published *p = run->ladder->published;
        while (p->rung != NULL && p->n != run->sizes[i]) {
            p++;
        }
        if (p->rung == NULL) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "--n %lld: %s has no published figure at that size; omit "
                           "--published, or --n",
                           (long long)run->sizes[i], run->ladder->name);
        }
    }
    return TW_OK;
}

static tw_status take_sizes(lab_run *run)
{
    if (run->published && run->ladder->published == NULL) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "%s has no published figures",
                       run->ladder->name);
    }
    if (run->published && run->sizes_given) {
        return check_published_sizes(run);
    }
    if (run->published) {
        take_published_sizes(run);
        run->sizes_given = true;
        return TW_OK;
    }
    if (!run->sizes_given) {
        run->size_count = 0;
        for (const int64_t *n = run->ladder->sizes; *n != 0; n++) {
            run->sizes[run->size_count++] = *n;
        }
    }
    return TW_OK;
}

/* Without a ceiling the rungs can still be timed. */
static tw_status find_ceiling(lab_run *run)
{
    tw_status status = run->ladder->ceiling(run->job->ctx, &run->ceiling);
    if (lab_is_for_one(status)) {
        cli_say(run->job, "%s: no ceiling: %s", run->ladder->name, tw_last_error(run->job->ctx));
        run->ceiling = (lab_ceiling){0};
        status = TW_OK;
    }
    return status;
}

/* Every size. One that the machine has no room for, or whose right answer cannot be found, is told
 * and left out, unless it was asked for. */
static tw_status run_sizes(lab_run *run)
{
    bool asked = run->sizes_given && !run->published;
    tw_status status = TW_OK, left_out = TW_OK;
    for (int32_t i = 0; status == TW_OK && i < run->size_count; i++) {
        status = run_size(run, run->sizes[i]);
        if (!asked && lab_is_for_one(status)) {
            cli_error(tw_last_error(run->job->ctx));
            run->job->answer_is_no = run->job->answer_is_no || status == TW_ERR_VERIFY;
            left_out = status;
            status = TW_OK;
        }
    }
    if (status == TW_OK && left_out != TW_OK && run->count == 0) {
        status = tw_fail(run->job->ctx, left_out, "no size of %s could be run", run->ladder->name);
    }
    return status;
}

/* What is to be said of rungs without a time; an error if there is no other rung. */
static tw_status conclude(lab_run *run)
{
    int32_t wrong = 0, skipped = 0;
    const lab_case *last = NULL;
    for (int32_t i = 0; i < run->count; i++) {
        const lab_case *c = &run->cases[i];
        wrong += c->status == TW_ERR_VERIFY;
        skipped += c->status != TW_OK && c->status != TW_ERR_VERIFY;
        last = c->status != TW_OK && c->status != TW_ERR_VERIFY ? c : last;
    }
    run->job->answer_is_no = run->job->answer_is_no || wrong > 0;
    if (last != NULL && skipped == run->count) {
        return tw_fail(run->job->ctx, last->status, "%s", last->why);
    }
    if (wrong > 0) {
        char text[80];
        snprintf(text, sizeof text, "%.40s: %d wrong", run->ladder->name, (int)wrong);
        cli_error(text);
    }
    if (skipped > 0) {
        cli_say(run->job, "%s: %d skipped", run->ladder->name, (int)skipped);
    }
    return TW_OK;
}

tw_status lab_run_ladder(lab_run *run)
{
    const lab_ladder *ladder = run->ladder;
    tw_status status = take_sizes(run);
    if (status == TW_OK && run->folder != NULL) {
        status = lab_find_results(run);
    }
    if (status != TW_OK) {
        return status;
    }
    if (run->counting != NULL && !ladder->gpu && run->counting->without[0] != '\0') {
        cli_say(run->job, "%s", run->counting->without);
        run->counting->without[0] = '\0';
    }
    run->load = load_now();
    status = find_ceiling(run);
    if (status == TW_OK) {
        status = run_sizes(run);
    }
    if (status == TW_OK && !run->once) {
        lab_print_sources(run);
    }
    if (status == TW_OK) {
        status = conclude(run);
    }
    return status;
}

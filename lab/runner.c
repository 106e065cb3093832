/*
 * The runner of ladders. For each size the bench is opened once; for each rung the output is
 * poisoned, the rung runs, its answer is checked, and then it runs `repeat` times more for its
 * median. A rung that takes long is content with fewer repetitions: what a whole run takes is
 * bounded by the sizes, not by the slowest rung. Results are kept after each case, so that Ctrl-C
 * loses nothing but the case it interrupts.
 *
 * With counters a CPU rung is counted while it is timed. A GPU rung is not: when a size is done and
 * its memory free, this program runs itself under the profiler, one rung at a time, with `once`.
 */
#include "runner.h"

#include "base/clock.h"
#include "gpu/device.h"
#include "progress.h"

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
    c->spread = c->median > 0 ? (sorted[c->repeats - 1] - sorted[0]) / c->median : 0;
}

double lab_median_of(const lab_run *run, const char *rung, int64_t n)
{
    for (int32_t i = 0; rung != NULL && i < run->count; i++) {
        if (run->cases[i].n == n && strcmp(run->cases[i].rung->name, rung) == 0) {
            return run->cases[i].median;
        }
    }
    return 0;
}

static double published_for(const lab_ladder *ladder, const char *rung, int64_t n)
{
    for (const lab_published *p = ladder->published; p != NULL && p->rung != NULL; p++) {
        if (p->n == n && strcmp(p->rung, rung) == 0) {
            return p->milliseconds;
        }
    }
    return 0;
}

/* --------------------------------------------------------------------------------------- tables */

static const char *show_share(char out[16], double part, double whole)
{
    if (part > 0 && whole > 0) {
        snprintf(out, 16, "%.3g %%", 100 * part / whole);
    } else {
        snprintf(out, 16, "-");
    }
    return out;
}

static const char *show_times(char out[16], double before, double now)
{
    if (before > 0 && now > 0) {
        snprintf(out, 16, "%.3gx", before / now);
    } else {
        snprintf(out, 16, "-");
    }
    return out;
}

static void print_head(const lab_run *run, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    printf("\n%s, n = %lld %s\n", ladder->title, (long long)n, ladder->size);
    printf("%-22s %-5s %10s %7s %8s %8s %11s %8s %10s", "rung", "row", "time", "spread", "first",
           "parent", "per second", "ceiling", "bytes/s");
    if (ladder->gpu) {
        printf(" %5s %7s %6s", "regs", "shared", "warps");
    }
    if (run->published) {
        printf(" %12s", "published");
    }
    putchar('\n');
}

static void print_case(const lab_run *run, const lab_case *c)
{
    const lab_ladder *ladder = run->ladder;
    char time[CLI_SHOWN], rate[CLI_SHOWN], bytes[CLI_SHOWN], spread[16], first[16], parent[16],
        share[16];
    double per_second = ladder->work(c->n) / c->median;
    snprintf(spread, sizeof spread, "%.1f %%", 100 * c->spread);
    printf("%-22s %-5s %10s %7s %8s %8s %11s %8s %10s", c->rung->name,
           c->rung->row != NULL ? c->rung->row : "ours", cli_show_seconds(time, c->median), spread,
           show_times(first, lab_median_of(run, ladder->rungs[0].name, c->n), c->median),
           show_times(parent, lab_median_of(run, c->rung->parent, c->n), c->median),
           cli_show_scaled(rate, per_second), show_share(share, per_second, run->ceiling.rate),
           cli_show_bytes(bytes, ladder->traffic(c->n) / c->median));
    if (ladder->gpu) {
        char warps[16];
        printf(" %5d %7d %6s", c->kernel.registers, c->kernel.shared,
               show_share(warps, c->kernel.occupancy, 1));
    }
    if (run->published && c->published > 0) {
        printf(" %9.4g ms", c->published);
    }
    putchar('\n');
    fflush(stdout);
}

/* ---------------------------------------------------------------------------------------- cases */

static bool is_chosen(const lab_run *run, const lab_rung *rung)
{
    if (run->rungs == NULL) {
        return true;
    }
    size_t length = strlen(rung->name);
    for (const char *at = run->rungs; *at != '\0';) {
        size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, rung->name, length) == 0) {
            return true;
        }
        at += word + (at[word] == ',');
    }
    return false;
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

static tw_status run_case(lab_run *run, void *bench, int64_t n, const lab_rung *rung)
{
    tw_context *ctx = run->job->ctx;
    lab_case *c = &run->cases[run->count];
    lab_time first;
    lab_tally tally = {0};
    *c = (lab_case){.rung = rung, .n = n, .published = published_for(run->ladder, rung->name, n)};
    lab_profile_clear(&c->profile);
    twi_progress(ctx, rung->name, 0, run->repeat, "runs");
    run->ladder->spoil(bench);
    tw_status status = run_once(run, bench, rung, &first);
    if (status == TW_OK) {
        status = run->ladder->check(ctx, bench, rung);
    }
    double spent = 0;
    for (int32_t i = 0; status == TW_OK && i < run->repeat; i++) {
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
            lab_tally_profile(&tally, run->ladder->work(n), &c->profile);
        }
        run->count++;
    }
    return status;
}

/* Whether the run wants this rung at n: named or all, offered here, and not too slow for a size
 * that nobody asked for: --n asks for it of every rung, --published of those with a figure there.
 */
static bool is_wanted(const lab_run *run, const lab_rung *rung, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    return is_chosen(run, rung) &&
           (ladder->offers == NULL || ladder->offers(run->job->ctx, rung)) &&
           (rung->most == 0 || n <= rung->most || (run->sizes_given && !run->published) ||
            published_for(ladder, rung->name, n) > 0);
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
    if (status == TW_OK) {
        cli_progress_clear();
        if (first) {
            print_head(run, n);
        }
        print_case(run, &run->cases[run->count - 1]);
        status = run->folder != NULL ? lab_keep_results(run) : TW_OK;
    }
    return status;
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
    if (length < 0 || strcmp(twi_gpu_prefix(), "hip") == 0) {
        snprintf(why, LAB_WHY, "they are read by ncu, from NVIDIA cards and on Linux only");
        return TW_OK;
    }
    program[length] = '\0';
    snprintf(n, sizeof n, "%lld", (long long)c->n);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%d", ctx->threads);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)ctx->memory_limit);
    snprintf(device_memory, sizeof device_memory, "%llu",
             (unsigned long long)ctx->device_memory_limit);
    twi_progress(ctx, c->rung->name, 0, 0, "under ncu");
    return lab_ask_ncu(ctx, words, PROFILER_SECONDS, answer, &c->profile, why);
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
        status = ask_profiler(run, c, &answer, why);
        if (status == TW_OK && answer != LAB_COUNTED && strcmp(why, counting->said) != 0) {
            cli_say(run->job, "no counters of %s: %s",
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

static tw_status run_size(lab_run *run, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    void *bench = NULL;
    bool opened = false;
    int32_t before = run->count;
    tw_status status = TW_OK;
    for (int32_t i = 0; status == TW_OK && i < ladder->count; i++) {
        const lab_rung *rung = &ladder->rungs[i];
        if (!is_wanted(run, rung, n)) {
            continue;
        }
        bool first = !opened;
        if (first) {
            twi_progress(run->job->ctx, "making the inputs and the right answer", 0, 0, "");
            status = ladder->open(run->job->ctx, n, run->seed, &bench);
            opened = true;
        }
        if (status == TW_OK) {
            status = climb(run, bench, n, rung, first);
        }
    }
    ladder->close(bench);
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

tw_status lab_run_ladder(lab_run *run)
{
    tw_context *ctx = run->job->ctx;
    const lab_ladder *ladder = run->ladder;
    if (run->published) {
        take_published_sizes(run);
        run->sizes_given = true;
        if (run->size_count == 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s has no published figures", ladder->name);
        }
    } else if (!run->sizes_given) {
        run->size_count = 0;
        for (const int64_t *n = ladder->sizes; *n != 0; n++) {
            run->sizes[run->size_count++] = *n;
        }
    }
    if (run->counting != NULL && !ladder->gpu && run->counting->without[0] != '\0') {
        cli_say(run->job, "%s", run->counting->without);
        run->counting->without[0] = '\0';
    }
    if (getloadavg(&run->load, 1) != 1) {
        run->load = -1;
    }
    tw_status status = ladder->ceiling(ctx, &run->ceiling);
    for (int32_t i = 0; status == TW_OK && i < run->size_count; i++) {
        status = run_size(run, run->sizes[i]);
    }
    if (status == TW_OK && run->published) {
        printf("published: on %s\n", ladder->published_on);
    }
    return status;
}

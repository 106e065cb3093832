/*
 * The tables that a run prints: a line for each case as it ends, then what can be said of a size
 * only when it is done: which rung the others are compared with, and where the time went.
 */
#include "runner/tables.h"

#include "ladders/write_ups.h"

#include <math.h>
#include <string.h>

enum { NAME = 22, PART = 10, COUNTER = 9 }; /* characters */

/* The first rung of the ladder that was timed at n; NULL: none. */
static const lab_case *first_at(const lab_run *run, int64_t n)
{
    for (int32_t i = 0; i < run->count; i++) {
        const lab_case *c = &run->cases[i];
        if (c->n == n && c->status == TW_OK && c->rung->flaw == NULL) {
            return c;
        }
    }
    return NULL;
}

/* The median time of a rung at n; 0 if it was not timed, or if its answer is wrong. */
static double median_of(const lab_run *run, const char *rung, int64_t n)
{
    for (int32_t i = 0; rung != NULL && i < run->count; i++) {
        const lab_case *c = &run->cases[i];
        if (c->n == n && strcmp(c->rung->name, rung) == 0) {
            return c->rung->flaw == NULL ? c->median : 0;
        }
    }
    return 0;
}

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

void lab_print_head(const lab_run *run, int64_t n)
{
    const lab_ladder *ladder = run->ladder;
    printf("\n%s, n = %lld %s\n", ladder->title, (long long)n, ladder->size);
    printf("%-*s %-5s %10s %7s %8s %8s %11s %8s %10s", NAME, "rung", "row", "time", "spread",
           "first", "parent", "per second", "ceiling", "bytes/s");
    if (ladder->gpu) {
        printf(" %5s %7s %6s", "regs", "shared", "warps");
    }
    if (run->published) {
        printf(" %12s", "published");
    }
    putchar('\n');
}

/* Those of the library's own kernels are not told. */
static void print_kernel(const lab_kernel *kernel)
{
    char warps[16];
    if (kernel->registers > 0) {
        printf(" %5d %7d %6s", kernel->registers, kernel->shared,
               show_share(warps, kernel->occupancy, 1));
    } else {
        printf(" %5s %7s %6s", "-", "-", "-");
    }
}

static void print_times(const lab_run *run, const lab_case *c)
{
    const lab_ladder *ladder = run->ladder;
    char time[CLI_SHOWN], rate[CLI_SHOWN], bytes[CLI_SHOWN], spread[16], first[16], parent[16],
        share[16];
    double per_second = ladder->work(c->n) / c->median;
    snprintf(spread, sizeof spread, "%.1f %%", 100 * c->spread);
    printf(" %10s %7s", cli_show_seconds(time, c->median), c->repeats > 1 ? spread : "once");
    if (c->rung->flaw != NULL) {
        printf(" %8s %8s %11s %8s %10s", "WRONG", "-", "-", "-", "-");
    } else {
        printf(" %8s %8s %11s %8s %10s", show_times(first, first_at(run, c->n)->median, c->median),
               show_times(parent, median_of(run, c->rung->parent, c->n), c->median),
               cli_show_scaled(rate, per_second), show_share(share, per_second, run->ceiling.rate),
               cli_show_bytes(bytes, ladder->traffic(c->n) / c->median));
    }
    if (ladder->gpu) {
        print_kernel(&c->kernel);
    }
    if (run->published && c->published > 0) {
        printf(" %9.4g ms", c->published);
    }
}

void lab_print_case(const lab_run *run, const lab_case *c)
{
    printf("%-*s %-5s", NAME, c->rung->name, c->rung->row != NULL ? c->rung->row : "ours");
    if (c->status == TW_OK) {
        print_times(run, c);
    } else {
        printf(" %10s  %s", c->status == TW_ERR_VERIFY ? "WRONG" : "skipped", c->why);
    }
    putchar('\n');
    fflush(stdout);
}

static int parts_in(const lab_case *c)
{
    int count = 0;
    for (int p = 0; c->status == TW_OK && p < LAB_PARTS; p++) {
        count += lab_part_of(&c->times[c->middle], &lab_parts[p]) > 0;
    }
    return count;
}

/* Where the time of the middle repetition went, of cases that tell more than one part. */
static void print_parts(const lab_case *cases, int32_t count)
{
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
        any = any || parts_in(&cases[i]) > 1;
    }
    if (!any) {
        return;
    }
    printf("\n%-*s", NAME, "where the time goes");
    for (int p = 0; p < LAB_PARTS; p++) {
        printf(" %*s", PART, lab_parts[p].name);
    }
    putchar('\n');
    for (int32_t i = 0; i < count; i++) {
        if (parts_in(&cases[i]) > 1) {
            printf("%-*s", NAME, cases[i].rung->name);
            for (int p = 0; p < LAB_PARTS; p++) {
                char text[CLI_SHOWN];
                double value = lab_part_of(&cases[i].times[cases[i].middle], &lab_parts[p]);
                printf(" %*s", PART, value > 0 ? cli_show_seconds(text, value) : "-");
            }
            putchar('\n');
        }
    }
}

void lab_print_notes(const lab_run *run, int32_t from)
{
    const lab_case *first = from < run->count ? first_at(run, run->cases[from].n) : NULL;
    if (first != NULL && first < &run->cases[run->count - 1]) {
        printf("first: %s\n", first->rung->name);
    }
    for (int32_t i = from; i < run->count; i++) {
        if (run->cases[i].status == TW_OK && run->cases[i].rung->flaw != NULL) {
            printf("%s is wrong: %s\n", run->cases[i].rung->name, run->cases[i].rung->flaw);
        }
    }
    print_parts(run->cases + from, run->count - from);
    fflush(stdout);
}

void lab_print_sources(const lab_run *run)
{
    char rate[CLI_SHOWN];
    lab_write_ups write_ups = 0;
    if (run->ceiling.of != NULL && run->ceiling.rate > 0) {
        printf("ceiling: %s %s/s, %s\n", cli_show_scaled(rate, run->ceiling.rate),
               run->ladder->unit, run->ceiling.of);
    }
    if (run->published) {
        printf("published: on %s\n", run->ladder->published_on);
    }
    for (int32_t i = 0; i < run->count; i++) {
        lab_add_write_up(&write_ups, run->cases[i].rung->row);
    }
    lab_print_write_ups(write_ups);
    fflush(stdout);
}

/* -------------------------------------------------------------------------------------- counters
 */

static const char *show_counter(char out[CLI_SHOWN], lab_counter_kind kind, double value)
{
    if (isnan(value)) {
        return "-";
    }
    switch (kind) {
    case LAB_SHARE:
        snprintf(out, CLI_SHOWN, "%.3g %%", 100 * value);
        return out;
    case LAB_SCALED:
        return cli_show_scaled(out, value);
    case LAB_BYTES:
        return cli_show_bytes(out, value);
    case LAB_PLAIN:
        break;
    }
    snprintf(out, CLI_SHOWN, "%.3g", value);
    return out;
}

/* Whether a case knows the counter, and it has a column. */
static bool has_column(const lab_case *cases, int32_t count, int counter)
{
    bool known = false;
    for (int32_t i = 0; i < count; i++) {
        known = known || !isnan(cases[i].profile.value[counter]);
    }
    return known && lab_counter_list[counter].heading[0] != NULL;
}

void lab_print_counters(const lab_case *cases, int32_t count)
{
    int width = 4;
    bool shown[LAB_COUNTERS], any = false;
    for (int i = 0; i < LAB_COUNTERS; i++) {
        shown[i] = has_column(cases, count, i);
        any = any || shown[i];
    }
    if (!any) {
        return;
    }
    for (int32_t k = 0; k < count; k++) {
        int length = (int)strlen(cases[k].rung->name);
        width = length > width ? length : width;
    }
    putchar('\n');
    for (int line = 0; line < 2; line++) {
        printf("%-*s", width, line == 1 ? "rung" : "");
        for (int i = 0; i < LAB_COUNTERS; i++) {
            if (shown[i]) {
                printf(" %*s", COUNTER, lab_counter_list[i].heading[line]);
            }
        }
        putchar('\n');
    }
    for (int32_t k = 0; k < count; k++) {
        char text[CLI_SHOWN];
        printf("%-*s", width, cases[k].rung->name);
        for (int i = 0; i < LAB_COUNTERS; i++) {
            if (shown[i]) {
                printf(" %*s", COUNTER,
                       show_counter(text, lab_counter_list[i].kind, cases[k].profile.value[i]));
            }
        }
        putchar('\n');
    }
    fflush(stdout);
}

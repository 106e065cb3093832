/*
 * Counters of the laboratory: what ncu prints becomes a profile or a sentence, whatever it prints;
 * asking it ends, whatever it does; and a GPU ladder's table and results have the numbers. The
 * profiler is a shell script named ncu, first on PATH.
 */
#include "harness.h"

#include "frame/program.h"
#include "runner/ncu_csv.h"
#include "runner/rocprof_csv.h"
#include "runner/runner.h"

#include "gpu/device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA TW_TEST_DATA "/ncu/"
#define PATIENCE 60 /* seconds for a profiler that answers at once */

static char folder[] = "/tmp/tilewright-counters-XXXXXX";
static char usual_path[4096];

const cli_about cli_program = {.name = "counters"};

void lab_mark_begin(void)
{
}

void lab_mark_end(void)
{
}

static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 16);
    assert_non_null(text);
    *size = fread(text, 1, (1 << 16) - 1, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* A script of that name in the folder, which is first on PATH. */
static void write_profiler(const char *name, const char *script)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void write_ncu(const char *script)
{
    write_profiler("ncu", script);
}

static bool read_data(const char *name, lab_profile *profile, char why[LAB_WHY])
{
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof path, DATA "%s", name);
    char *text = contents(path, &size);
    memset(profile, 0x5a, sizeof *profile);
    bool good = lab_ncu_read(text, size, profile, why);
    free(text);
    return good;
}

static void near(const lab_profile *profile, lab_counter counter, double value)
{
    if (!(fabs(profile->value[counter] - value) <= 1e-9 * value)) {
        fail_msg("%s is %.17g, not %g", lab_counter_list[counter].name, profile->value[counter],
                 value);
    }
}

static void is_right(const lab_profile *profile)
{
    near(profile, LAB_INTEGER_RATE, 1e12);
    near(profile, LAB_SM_ACTIVE, 0.88);
    near(profile, LAB_WARPS_ACTIVE, 0.75);
    near(profile, LAB_BRANCHES_UNIFORM, 0.935);
    near(profile, LAB_THREADS_ACTIVE, 31.3);
    near(profile, LAB_SHARED_USEFUL, 0.65); /* of the two that have any, as many accesses each */
    near(profile, LAB_BANK_CONFLICTS, 0.25);
    near(profile, LAB_BANK_CONFLICT_COUNT, 500);
    near(profile, LAB_SHARED_RATE, 2e7);
    near(profile, LAB_LOAD_RATE, 1e11);
    near(profile, LAB_L2_READ, 1.2e11);
    near(profile, LAB_STORE_RATE, 4e10);
    near(profile, LAB_DRAM_READ, 1e8);
    near(profile, LAB_DRAM_WRITTEN, 2e7);
    assert_true(isnan(profile->value[LAB_CORES_BUSY]));
    assert_int_equal(profile->launches, 3);
    assert_string_equal(profile->kernel, "void rest<32, 4>(int *, int, int)");
    assert_true(fabs(profile->kernel_share - 0.9) < 1e-12);
    /* Of the longest kernel alone: 90 us. */
    lab_profile own = *profile;
    memcpy(own.value, profile->of_kernel, sizeof own.value);
    near(&own, LAB_INTEGER_RATE, 98e6 / 90e-6);
    near(&own, LAB_SM_ACTIVE, 8.6 / 9);
    near(&own, LAB_SHARED_USEFUL, 0.65);
    near(&own, LAB_BANK_CONFLICTS, 0.25);
    near(&own, LAB_DRAM_READ, 9500 / 90e-6);
    near(&own, LAB_LOAD_RATE, 9999000 / 90e-6);
    assert_true(isnan(own.value[LAB_CORES_BUSY]));
}

/* -------------------------------------------------------------------------------------- reading */

static void launches_count_by_the_time_they_take(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    assert_true(read_data("launches.txt", &profile, why));
    assert_string_equal(why, "");
    is_right(&profile);
}

static void columns_about_the_card_do_not_matter(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    assert_true(read_data("wide.txt", &profile, why)); /* 300 of them, as ncu 2025.3 prints */
    is_right(&profile);
}

static void units_are_honoured_and_a_metric_that_is_none_is_left_out(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    assert_true(read_data("units.txt", &profile, why));
    near(&profile, LAB_INTEGER_RATE, 2e6);
    near(&profile, LAB_SM_ACTIVE, 0.5);
    near(&profile, LAB_LOAD_RATE, 4e6);
    near(&profile, LAB_DRAM_READ, 8e6);
    static const lab_counter absent[] = {LAB_WARPS_ACTIVE,  LAB_BRANCHES_UNIFORM,
                                         LAB_SHARED_USEFUL, LAB_BANK_CONFLICTS,
                                         LAB_STORE_RATE,    LAB_DRAM_WRITTEN};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        assert_true(isnan(profile.value[absent[i]]));
    }
    assert_string_equal(profile.kernel, "op \"min\"<int>(int, int)");
}

static void what_is_no_table_gets_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *file, *says;
    } cases[] = {{"error.txt", "ncu says: The application returned an error code (2)."},
                 {"permission.txt", "ncu says: ERR_NVGPUCTRPERM"},
                 {"none.txt", "no kernel"},
                 {"zeros.txt", "no kernel"},
                 {"cut.txt", "cannot read the counters"},
                 {"no-times.txt", "cannot read the counters"},
                 {"columns.txt", "cannot read the counters"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_profile profile;
        char why[LAB_WHY];
        assert_false(read_data(cases[i].file, &profile, why));
        if (strstr(why, cases[i].says) == NULL) {
            fail_msg("%s: \"%s\"", cases[i].file, why);
        }
        assert_true(lab_profile_is_empty(&profile));
    }
}

static void every_beginning_of_a_table_is_read_or_refused(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = contents(DATA "launches.txt", &size);
    for (size_t length = 0; length <= size; length++) {
        lab_profile profile;
        char why[LAB_WHY];
        char *exact = malloc(length > 0 ? length : 1); /* so that a sanitizer sees its end */
        assert_non_null(exact);
        memcpy(exact, text, length);
        bool good = lab_ncu_read(exact, length, &profile, why);
        assert_true(good ? why[0] == '\0' : why[0] != '\0');
        assert_int_equal(good, !lab_profile_is_empty(&profile));
        free(exact);
    }
    free(text);
}

/* ------------------------------------------------------------------------------------------ CPU */

/* Cycles, instructions, branches, branches missed, L1 and last-level misses. */
static const lab_reading before = {.wall = 10,
                                   .processor = 100,
                                   .faults = 7,
                                   .count = {1000, 2000, 300, 40, 50, 6},
                                   .enabled = {5, 5, 5, 5, 5, 5},
                                   .running = {5, 5, 5, 5, 5, 5}};
static const lab_reading after = {.wall = 12,
                                  .processor = 103,
                                  .faults = 11,
                                  .switches = 2,
                                  .count = {7000, 11000, 1300, 50, 150, 26},
                                  .enabled = {9, 9, 9, 9, 9, 9},
                                  .running = {9, 9, 9, 7, 6, 5}};

static void counts_are_told_for_a_run_and_for_a_unit_of_work(void **state)
{
    (void)state;
    lab_tally tally = {0};
    lab_profile profile;
    lab_tally_add(&tally, &before, &after);
    lab_tally_add(&tally, &before, &after);
    lab_tally_profile(&tally, 100, &profile);
    near(&profile, LAB_CORES_BUSY, 1.5);
    near(&profile, LAB_CLOCK, 2000);
    near(&profile, LAB_INSTRUCTIONS_PER_CYCLE, 1.5);
    near(&profile, LAB_INSTRUCTIONS, 90);
    near(&profile, LAB_PAGE_FAULTS, 4);
    near(&profile, LAB_SWITCHES, 2);
}

static void events_that_took_turns_are_scaled_or_left_out(void **state)
{
    (void)state;
    lab_tally tally = {0};
    lab_profile profile;
    lab_tally_add(&tally, &before, &after);
    lab_tally_profile(&tally, 100, &profile);
    near(&profile, LAB_BRANCHES_MISSED, 0.02);                /* 10 of 1000 in half of the time */
    near(&profile, LAB_L1_MISSES, 4);                         /* 100 in a quarter of it */
    assert_true(isnan(profile.value[LAB_LAST_LEVEL_MISSES])); /* never counted */
}

static void the_meter_knows_processor_time_whatever_the_machine_counts(void **state)
{
    (void)state;
    lab_meter meter;
    lab_reading first, last;
    lab_tally tally = {0};
    lab_profile profile;
    char why[LAB_WHY];
    volatile double sum = 0;
    memset(why, 0x5a, sizeof why);
    lab_meter_open(&meter, why);
    lab_meter_read(&meter, &first);
    for (int i = 0; i < 1000000; i++) {
        sum += i;
    }
    lab_meter_read(&meter, &last);
    lab_meter_close(&meter);
    lab_tally_add(&tally, &first, &last);
    lab_tally_profile(&tally, 1000000, &profile);
    assert_true(sum > 0 && profile.value[LAB_CORES_BUSY] > 0);
    assert_int_equal(why[0] != '\0', strstr(why, "no hardware counters") != NULL);
    if (why[0] != '\0') {
        assert_true(isnan(profile.value[LAB_INSTRUCTIONS]));
    }
}

/* --------------------------------------------------------------------------------------- asking */

static const char *const words[] = {"program", "run", "--once", NULL};

static lab_answer ask(lab_profile *profile, char why[LAB_WHY], double limit)
{
    tw_context *ctx = open_context();
    lab_answer answer = LAB_COUNTED;
    uint32_t unknown = 0;
    assert_ok(ctx, lab_ask_ncu(ctx, words, limit, &unknown, &answer, profile, why));
    assert_int_equal(unknown, 0);
    assert_int_equal(answer == LAB_COUNTED, why[0] == '\0');
    assert_int_equal(answer == LAB_COUNTED, !lab_profile_is_empty(profile));
    close_context(ctx);
    return answer;
}

static void ncu_is_asked_for_every_metric_of_the_marked_run(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY], path[256];
    size_t size = 0;
    write_ncu("echo \"$LC_ALL $*\" >\"${0%/*}/asked\"; cat " DATA "launches.txt");
    assert_int_equal(ask(&profile, why, PATIENCE), LAB_COUNTED);
    is_right(&profile);
    snprintf(path, sizeof path, "%s/asked", folder);
    char *asked = contents(path, &size);
    static const char *const wanted[] = {"C --csv --page raw ",
                                         "--print-units base",
                                         "--profile-from-start off",
                                         "--metrics gpu__",
                                         "gpu__time_duration.sum,",
                                         ",smsp__sass_thread_inst_executed_op_integer_pred_on.sum,",
                                         ",dram__bytes_write.sum program run --once\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (strstr(asked, wanted[i]) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", wanted[i], asked);
        }
    }
    free(asked);
}

/* A stand-in that knows neither of two metrics, tells so one at a time, and answers once it is
 * asked for neither. Each time it is asked leaves a line. */
#define KNOWS_LESS                                                                          \
    "echo asked >>\"${0%/*}/asked\"\n"                                                      \
    "case \"$*\" in\n"                                                                      \
    "*,l1tex__m_xbar2l1tex_read_bytes.sum*) sed -e /dram/d " DATA "unknown.txt; exit 1;;\n" \
    "*,dram__bytes_read.sum*) grep -v xbar " DATA "unknown.txt; exit 1;;\n"                 \
    "*) cat " DATA "launches.txt;;\n"                                                       \
    "esac"

static int lines_in(const char *name)
{
    char path[256];
    size_t size = 0;
    int lines = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = contents(path, &size);
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    free(text);
    return lines;
}

static void metrics_that_ncu_does_not_know_are_left_out(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    lab_profile profile;
    lab_answer answer = LAB_HOPELESS;
    uint32_t unknown = 0;
    char why[LAB_WHY], names[LAB_WHY], path[256];
    snprintf(path, sizeof path, "%s/asked", folder);
    (void)unlink(path);
    write_ncu(KNOWS_LESS);
    assert_ok(ctx, lab_ask_ncu(ctx, words, PATIENCE, &unknown, &answer, &profile, why));
    assert_int_equal(answer, LAB_COUNTED);
    assert_string_equal(why, "");
    lab_ncu_names(unknown, names);
    assert_string_equal(names, "l1tex__m_xbar2l1tex_read_bytes.sum, dram__bytes_read.sum");
    assert_int_equal(lines_in("asked"), 3);
    /* The next rung is not asked for them. */
    assert_ok(ctx, lab_ask_ncu(ctx, words, PATIENCE, &unknown, &answer, &profile, why));
    assert_int_equal(lines_in("asked"), 4);
    close_context(ctx);
}

static void a_profiler_that_knows_nothing_or_errs_for_ever_is_not_asked_for_ever(void **state)
{
    (void)state;
    static const char *const scripts[] = {/* whatever it is asked for, or always the same one */
                                          "echo \"==ERROR== Failed to find metric $*\"; exit 1",
                                          "cat " DATA "unknown.txt; exit 1"};
    for (int i = 0; i < 2; i++) {
        tw_context *ctx = open_context();
        lab_profile profile;
        lab_answer answer = LAB_COUNTED;
        uint32_t unknown = 0;
        char why[LAB_WHY];
        write_ncu(scripts[i]);
        assert_ok(ctx, lab_ask_ncu(ctx, words, PATIENCE, &unknown, &answer, &profile, why));
        assert_int_equal(answer, LAB_NOT_THIS);
        assert_non_null(strstr(why, "ncu says: Failed to find metric"));
        assert_true(lab_profile_is_empty(&profile));
        close_context(ctx);
    }
}

static void a_profiler_that_cannot_answer_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *script, *says;
        lab_answer answer;
    } cases[] = {
        {"cat " DATA "permission.txt; exit 1", "NVreg_RestrictProfilingToAdminUsers=0",
         LAB_HOPELESS},
        {"echo '==ERROR== Failed to initialize the profiler: LibraryNotLoaded'; exit 1",
         "cannot read the counters of", LAB_HOPELESS},
        {"cat " DATA "error.txt; exit 2", "an error code (2)", LAB_NOT_THIS},
        {"echo out of luck >&2; exit 3", "cannot read the counters", LAB_NOT_THIS},
        {"exit 0", "cannot read the counters", LAB_NOT_THIS},
        {"head -c 100000 /dev/zero", "cannot read the counters", LAB_NOT_THIS},
        {"yes '\"ID\",\"gpu__time_duration.sum\"'", "too much output", LAB_NOT_THIS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_profile profile;
        char why[LAB_WHY];
        write_ncu(cases[i].script);
        assert_int_equal(ask(&profile, why, PATIENCE), cases[i].answer);
        if (strstr(why, cases[i].says) == NULL) {
            fail_msg("%s: \"%s\"", cases[i].script, why);
        }
    }
}

static void without_a_profiler_nothing_else_is_tried(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY], path[256];
    snprintf(path, sizeof path, "%s/ncu", folder);
    unlink(path);
    /* env itself must be found; a real ncu must not. */
    snprintf(path, sizeof path, "%s/env", folder);
    assert_true(symlink("/usr/bin/env", path) == 0 || errno == EEXIST);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    assert_int_equal(ask(&profile, why, PATIENCE), LAB_HOPELESS);
    assert_non_null(strstr(why, "not on PATH"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_int_equal(ask(&profile, why, PATIENCE), LAB_HOPELESS);
    assert_int_equal(setenv("PATH", usual_path, 1), 0);
}

/* Whether a process still runs; one that nobody has waited for does not. */
static bool runs(pid_t process)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    bool known = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return known && strstr(text, ") Z") == NULL;
}

/* The script leaves the number of a process that would live on, if it came so far. */
static void is_gone(void)
{
    char path[256];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/pid", folder);
    if (access(path, R_OK) != 0) {
        return;
    }
    char *text = contents(path, &size);
    pid_t other = (pid_t)strtol(text, NULL, 10);
    assert_true(other > 1);
    for (int i = 0; i < 1000 && runs(other); i++) {
        usleep(10000);
    }
    assert_false(runs(other));
    free(text);
    unlink(path);
}

#define LEAVE(pid) "echo " pid " >\"${0%/*}/pid.new\"; mv \"${0%/*}/pid.new\" \"${0%/*}/pid\"\n"

static void a_profiler_that_hangs_is_stopped_with_what_it_runs(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    static const char *const scripts[] = {
        "trap '' TERM\n(trap - TERM; exec sleep 1000) &\n" LEAVE("$!") "wait; wait",
        LEAVE("$$") "exec sleep 1000 >/dev/null 2>&1"};
    for (size_t i = 0; i < 2; i++) {
        write_ncu(scripts[i]);
        assert_int_equal(ask(&profile, why, 1), LAB_NOT_THIS);
        assert_non_null(strstr(why, "stopped after 1 s"));
        is_gone();
    }
}

static void a_want_of_memory_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_status status = TW_ERR_MEMORY;
    write_ncu("cat " DATA "launches.txt");
    for (int64_t k = 1; status != TW_OK; k++) {
        lab_profile profile;
        lab_answer answer = LAB_COUNTED;
        char why[LAB_WHY];
        assert_true(k < 10);
        twi_meter_fail_at(ctx->meter, k);
        uint32_t unknown = 0;
        status = lab_ask_ncu(ctx, words, PATIENCE, &unknown, &answer, &profile, why);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    twi_meter_fail_at(ctx->meter, 0);
    close_context(ctx);
}

static void cancelling_stops_the_profiler(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    lab_profile profile;
    lab_answer answer = LAB_COUNTED;
    char why[LAB_WHY];
    write_ncu("exec sleep 1000");
    tw_cancel(ctx);
    uint32_t unknown = 0;
    assert_int_equal(lab_ask_ncu(ctx, words, PATIENCE, &unknown, &answer, &profile, why),
                     TW_ERR_CANCELLED);
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------- a ladder */

static tw_status open_nothing(tw_context *ctx, int64_t n, uint64_t seed, void **bench)
{
    (void)ctx, (void)n, (void)seed, (void)bench;
    return TW_OK;
}

static void do_nothing(void *bench)
{
    (void)bench;
}

static tw_status agree(tw_context *ctx, void *bench, const lab_rung *rung)
{
    (void)ctx, (void)bench, (void)rung;
    return TW_OK;
}

static double one(int64_t n)
{
    (void)n;
    return 1;
}

static tw_status know_no_ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)ctx;
    *out = (lab_ceiling){0};
    return TW_OK;
}

static tw_status take_a_second(void *bench, const lab_rung *rung, lab_time *time)
{
    (void)bench, (void)rung;
    time->total = 1;
    return TW_OK;
}

static const lab_rung two_rungs[] = {{.name = "first", .run = take_a_second},
                                     {.name = "second", .run = take_a_second}};
static const lab_ladder gpu_ladder = {.name = "no-card",
                                      .title = "Nothing on a GPU",
                                      .unit = "units",
                                      .size = "n",
                                      .gpu = true,
                                      .rungs = two_rungs,
                                      .count = 2,
                                      .open = open_nothing,
                                      .spoil = do_nothing,
                                      .check = agree,
                                      .close = do_nothing,
                                      .work = one,
                                      .traffic = one,
                                      .ceiling = know_no_ceiling};

/* The ladder climbed with counters; what it printed and kept comes back as text. */
static void climb(char **printed, char **kept)
{
    char path[256];
    size_t size = 0;
    cli_job job = {.ctx = open_context()};
    lab_counting counting = {0};
    static lab_case cases[LAB_MOST_CASES];
    lab_run run = {.job = &job,
                   .ladder = &gpu_ladder,
                   .sizes = {7},
                   .size_count = 1,
                   .sizes_given = true,
                   .repeat = 2,
                   .budget = 100,
                   .folder = folder,
                   .counting = &counting,
                   .cases = cases};
    snprintf(path, sizeof path, "%s/no-card.json", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/printed", folder);
    fflush(stdout);
    fflush(stderr);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    assert_true(dup2(STDOUT_FILENO, STDERR_FILENO) >= 0);
    tw_status status = lab_run_ladder(&run);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    lab_kept_close(&run.kept);
    assert_ok(job.ctx, status);
    assert_int_equal(run.count, 2);
    *printed = contents(path, &size);
    snprintf(path, sizeof path, "%s/no-card.json", folder);
    *kept = contents(path, &size);
    close_context(job.ctx);
}

static int times_in(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static bool is_hip(void)
{
    return strcmp(twi_gpu_prefix(), "hip") == 0;
}

static void the_table_and_the_results_of_a_gpu_ladder_have_the_counters(void **state)
{
    (void)state;
    char *printed = NULL, *kept = NULL;
    write_ncu("cat " DATA "launches.txt");
    climb(&printed, &kept);
    if (is_hip()) { /* ncu knows no AMD card, and rocprof is not here: climbed without counters */
        assert_int_equal(times_in(printed, "no counters for the GPU: rocprof is not on PATH"), 1);
        assert_int_equal(times_in(kept, "\"median\": 1,"), 2);
        free(printed);
        free(kept);
        return;
    }
    static const char row[] =
        "1.00 T      88 %      75 %    93.5 %      65 %      25 %       500    100 GB    120 GB"
        "   40.0 GB\n";
    static const char head[] =
        "integer       SMs     warps  branches    shared      bank  conflict     loads   from L2"
        "    stores\n";
    static const char *const shown[] = {head, "first     ", "second    "};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (strstr(printed, shown[i]) == NULL) {
            fail_msg("\"%s\" is not in\n%s", shown[i], printed);
        }
    }
    assert_int_equal(times_in(printed, row), 2);
    assert_int_equal(times_in(kept, "\"integer_operations_per_second\": "), 4); /* and of_kernel */
    assert_int_equal(times_in(kept, "\"of_kernel\": {"), 2);
    assert_int_equal(times_in(kept, "\"bank_conflicts\": 0.25"), 4);
    assert_int_equal(times_in(kept, "\"kernel\": \"void rest<32, 4>(int *, int, int)\""), 2);
    assert_null(strstr(printed, "no counters"));
    free(printed);
    free(kept);
}

static void a_ladder_says_once_which_metrics_are_left_out(void **state)
{
    (void)state;
    char *printed = NULL, *kept = NULL;
    if (is_hip()) {
        skip();
    }
    write_ncu(KNOWS_LESS);
    climb(&printed, &kept);
    assert_int_equal(times_in(printed, "this ncu does not know"), 1);
    assert_non_null(
        strstr(printed, "l1tex__m_xbar2l1tex_read_bytes.sum, dram__bytes_read.sum; skipped"));
    assert_int_equal(times_in(kept, "\"integer_operations_per_second\": "), 4);
    free(printed);
    free(kept);
}

static void a_ladder_goes_on_without_counters_and_says_so_once(void **state)
{
    (void)state;
    static const struct {
        const char *script, *says;
    } cases[] = {{"cat " DATA "permission.txt", "no counters for the GPU: the driver does not let"},
                 {"echo nonsense", "no counters for first: cannot read the counters that ncu"}};
    if (is_hip()) {
        skip();
    }
    for (size_t i = 0; i < 2; i++) {
        char *printed = NULL, *kept = NULL;
        write_ncu(cases[i].script);
        climb(&printed, &kept);
        assert_non_null(strstr(printed, cases[i].says));
        assert_int_equal(times_in(printed, "no counters"), 1);
        assert_int_equal(times_in(kept, "\"median\": 1,"), 2);
        assert_null(strstr(kept, "counters"));
        free(printed);
        free(kept);
    }
}

/* ------------------------------------------------------------------------------------------ AMD */

/* Two launches, the second three times as long, with a comma in a name and a counter missing. */
static const char amd[] =
    "\"Index\",\"KernelName\",\"wave_size\",\"SQ_INSTS_VALU\",\"SQ_INSTS_LDS\","
    "\"SQ_LDS_BANK_CONFLICT\",\"SQ_LDS_IDX_ACTIVE\",\"GPUBusy\",\"FetchSize\","
    "\"MeanOccupancyPerCU\",\"BeginNs\",\"EndNs\"\n"
    "0,\"close(int*, int) [clone .kd]\",64,1000,0,0,0,100,8,4,1000,2000\n"
    "1,\"rest<64, 16>(int*) [clone .kd]\",64,3000,400,250,1000,60,24,20,2000,5000\n";

static void is_of_amd(const lab_profile *profile)
{
    assert_int_equal(profile->launches, 2);
    assert_string_equal(profile->kernel, "rest<64, 16>(int*) [clone .kd]");
    assert_float_equal(profile->kernel_share, 0.75, 1e-12);
    assert_float_equal(profile->value[LAB_INTEGER_RATE], 4000 * 64 / 4e-6, 1);
    assert_float_equal(profile->value[LAB_SHARED_RATE], 400 / 4e-6, 1);
    assert_float_equal(profile->value[LAB_BANK_CONFLICTS], 0.25, 1e-12);
    assert_float_equal(profile->value[LAB_BANK_CONFLICT_COUNT], 250, 1e-12);
    assert_float_equal(profile->value[LAB_SM_ACTIVE], 0.7, 1e-12);
    assert_float_equal(profile->value[LAB_WARPS_ACTIVE], 0.5, 1e-12);
    assert_float_equal(profile->value[LAB_DRAM_READ], 32 * 1024 / 4e-6, 1);
    assert_true(isnan(profile->value[LAB_DRAM_WRITTEN]));
}

static void what_rocprof_writes_becomes_a_profile_or_a_sentence(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    assert_true(lab_rocprof_read(amd, sizeof amd - 1, &profile, why));
    is_of_amd(&profile);
    for (size_t size = 0; size < sizeof amd - 1; size++) { /* in memory of just that size */
        char *exact = malloc(size > 0 ? size : 1);
        assert_non_null(exact);
        memcpy(exact, amd, size);
        bool good = lab_rocprof_read(exact, size, &profile, why);
        assert_int_equal(good, why[0] == '\0');
        assert_int_equal(good, !lab_profile_is_empty(&profile));
        free(exact);
    }
}

static lab_answer ask_amd(lab_profile *profile, char why[LAB_WHY])
{
    tw_context *ctx = open_context();
    lab_answer answer = LAB_COUNTED;
    why[0] = '\0';
    assert_ok(ctx, lab_ask_rocprof(ctx, words, PATIENCE, &answer, profile, why));
    close_context(ctx);
    return answer;
}

static void rocprof_is_told_what_to_count_and_its_table_is_read(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY], path[256];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/asked", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(amd, file);
    fclose(file);
    /* Called as: --timestamp on -i ASKS -o TABLE program run --once */
    write_profiler("rocprof", "grep -q '^pmc: SQ_INSTS_VALU' \"$4\" || exit 1\n"
                              "[ \"$7 $8 $9\" = 'program run --once' ] || exit 1\n"
                              "cp \"${0%/*}/asked\" \"$6\"; echo \"$6\" >\"${0%/*}/pid\"");
    assert_int_equal(ask_amd(&profile, why), LAB_COUNTED);
    is_of_amd(&profile);
    snprintf(path, sizeof path, "%s/pid", folder);
    char *table = contents(path, &size);
    table[strcspn(table, "\n")] = '\0';
    assert_int_not_equal(access(table, F_OK), 0); /* nothing is left behind */
    free(table);
    write_profiler("rocprof", "echo 'no such counter'; exit 1");
    assert_int_equal(ask_amd(&profile, why), LAB_NOT_THIS);
    assert_string_equal(why, "cannot read the counters that rocprof wrote");
    snprintf(path, sizeof path, "%s/rocprof", folder);
    assert_int_equal(unlink(path), 0);
}

static void without_rocprof_there_is_a_reason(void **state)
{
    (void)state;
    lab_profile profile;
    char why[LAB_WHY];
    if (ask_amd(&profile, why) != LAB_HOPELESS) {
        skip(); /* a real one is here */
    }
    assert_string_equal(why, "rocprof is not on PATH; it is AMD's profiler, part of ROCm");
}

/* ------------------------------------------------------------------------------------------------
 */

static int make_folder(void **state)
{
    (void)state;
    const char *path = getenv("PATH");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(usual_path, sizeof usual_path, "%s:%s", folder, path != NULL ? path : "/usr/bin:/bin");
    return setenv("PATH", usual_path, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"ncu",     "env",     "asked",       "pid",
                                        "pid.new", "printed", "no-card.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_count_by_the_time_they_take),
        cmocka_unit_test(columns_about_the_card_do_not_matter),
        cmocka_unit_test(units_are_honoured_and_a_metric_that_is_none_is_left_out),
        cmocka_unit_test(what_is_no_table_gets_a_sentence),
        cmocka_unit_test(every_beginning_of_a_table_is_read_or_refused),
        cmocka_unit_test(counts_are_told_for_a_run_and_for_a_unit_of_work),
        cmocka_unit_test(events_that_took_turns_are_scaled_or_left_out),
        cmocka_unit_test(the_meter_knows_processor_time_whatever_the_machine_counts),
        cmocka_unit_test(what_rocprof_writes_becomes_a_profile_or_a_sentence),
        cmocka_unit_test(rocprof_is_told_what_to_count_and_its_table_is_read),
        cmocka_unit_test(without_rocprof_there_is_a_reason),
        cmocka_unit_test(ncu_is_asked_for_every_metric_of_the_marked_run),
        cmocka_unit_test(metrics_that_ncu_does_not_know_are_left_out),
        cmocka_unit_test(a_profiler_that_knows_nothing_or_errs_for_ever_is_not_asked_for_ever),
        cmocka_unit_test(a_profiler_that_cannot_answer_says_why),
        cmocka_unit_test(without_a_profiler_nothing_else_is_tried),
        cmocka_unit_test(a_profiler_that_hangs_is_stopped_with_what_it_runs),
        cmocka_unit_test(a_want_of_memory_is_an_error_and_leaves_nothing),
        cmocka_unit_test(cancelling_stops_the_profiler),
        cmocka_unit_test(the_table_and_the_results_of_a_gpu_ladder_have_the_counters),
        cmocka_unit_test(a_ladder_says_once_which_metrics_are_left_out),
        cmocka_unit_test(a_ladder_goes_on_without_counters_and_says_so_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

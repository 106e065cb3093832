/*
 * A ladder climbed with rungs that are wrong, cannot run, or take their time in parts: what is
 * shown, what is kept, how it ends; and results that are added to a file that is there already.
 */
#include "harness.h"

#include "frame/program.h"
#include "runner/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewright-runs-XXXXXX";

const cli_about cli_program = {.name = "runs"};

/* In place of libc's: the load stands in every case that is kept, and changes by itself between the
   two runs that a test compares. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's names are reserved */
int getloadavg(double *loads, int count)
{
    for (int k = 0; k < count; k++) {
        loads[k] = 0.5;
    }
    return count;
}

void lab_mark_begin(void)
{
}

void lab_mark_end(void)
{
}

typedef struct bench {
    tw_context *ctx;
    int32_t turns;
} bench;

/* The first letters of rungs as they ran, and whether they are to run in turns. */
static char order[256];
static bool in_turns;

/* Sizes above 100 do not fit. */
static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    static bench one;
    (void)seed;
    one = (bench){.ctx = ctx};
    *out = &one;
    return n > 100 ? tw_fail(ctx, TW_ERR_MEMORY, "%lld is too large", (long long)n) : TW_OK;
}

static void do_nothing(void *given)
{
    (void)given;
}

/* a: the status of the check. */
static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    (void)given;
    return rung->a == 0 ? TW_OK
                        : tw_fail(ctx, (tw_status)rung->a, "rung %s is \"not\" right", rung->name);
}

static double one(int64_t n)
{
    (void)n;
    return 1;
}

static tw_status ceiling(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){.rate = 8, .of = "what a test says"};
    return tw_set_device(ctx, "cpu");
}

static tw_status no_ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)out;
    return tw_fail(ctx, TW_ERR_DEVICE, "nothing to measure with");
}

static void note(const lab_rung *rung)
{
    const size_t length = strlen(order);
    order[length] = length + 1 < sizeof order ? rung->name[0] : '\0';
}

static tw_status run_plain(void *given, const lab_rung *rung, lab_time *time)
{
    (void)given;
    note(rung);
    time->total = rung->b != 0 ? rung->b : 1;
    return TW_OK;
}

static tw_status run_short(void *given, const lab_rung *rung, lab_time *time)
{
    const bench *b = given;
    (void)rung, (void)time;
    return tw_fail(b->ctx, TW_ERR_MEMORY, "not enough memory for tiles");
}

static tw_status run_damaged(void *given, const lab_rung *rung, lab_time *time)
{
    const bench *b = given;
    (void)rung, (void)time;
    return tw_fail(b->ctx, TW_ERR_IO, "the disk is full");
}

/* The first is the run that is checked. Of those timed, the middle one is neither first nor last,
 * and the shares differ in each. */
static tw_status run_parts(void *given, const lab_rung *rung, lab_time *time)
{
    static const double totals[] = {9, 5, 3, 4, 1, 8};
    bench *b = given;
    note(rung);
    time->total = totals[b->turns % 6];
    time->read = b->turns * 0.125;
    time->compute = time->total - time->read;
    b->turns++;
    return TW_OK;
}

/* The third time it has no memory. */
static tw_status run_tired(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    note(rung);
    time->total = 1;
    return ++b->turns < 3 ? TW_OK : tw_fail(b->ctx, TW_ERR_MEMORY, "no memory any more");
}

static const lab_rung rungs[] = {
    {.name = "wrong", .idea = "errs", .run = run_plain, .a = TW_ERR_VERIFY},
    {.name = "large", .idea = "takes too much", .run = run_short},
    {.name = "plain", .idea = "works", .parent = "wrong", .run = run_plain, .b = 4},
    {.name = "quick", .idea = "works better", .parent = "plain", .run = run_plain, .b = 2},
    {.name = "parts",
     .idea = "tells more",
     .against = "nothing much",
     .parent = "plain",
     .run = run_parts},
    {.name = "damaged", .idea = "ends all", .run = run_damaged, .most = 1},
    {.name = "slow", .idea = "takes its time", .run = run_plain, .most = 1},
    {.name = "tired", .idea = "gives up", .run = run_tired, .most = 1},
    {.name = "half",
     .idea = "takes half of what a rung may",
     .run = run_plain,
     .b = 400,
     .most = 1},
};
static const int64_t sizes[] = {7, 200, 9, 0};
/* Of a machine where it ran at that size; what it took is not told. */
static const lab_published untold[] = {{"slow", 50, 0}, {NULL, 0, 0}};
#define LADDER(measured, theirs)                                                                 \
    {                                                                                            \
        .name = "trial", .title = "A trial", .unit = "units", .size = "n", .against = "a table", \
        .rungs = rungs, .count = LAB_COUNT(rungs), .sizes = sizes, .open = open_bench,           \
        .spoil = do_nothing, .check = check, .close = do_nothing, .work = one, .traffic = one,   \
        .ceiling = (measured), .published = (theirs), .published_on = "theirs"                   \
    }
static const lab_ladder trial = LADDER(ceiling, NULL);
static const lab_ladder unbounded = LADDER(no_ceiling, NULL);
static const lab_ladder published = LADDER(ceiling, untold);

/* --------------------------------------------------------------------------------------- climbing
 */

typedef struct climb {
    tw_status status;
    bool is_no;
    char error[512];
    char said[8192]; /* standard output and error together */
    char kept[65536];
} climb;

static void contents(const char *name, char *out, size_t room)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(out, 1, room - 1, file) : 0;
    out[size] = '\0';
    if (file != NULL) {
        fclose(file);
    }
}

static void forget(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/trial.json", folder);
    (void)unlink(path);
}

/* `n` is a size, or 0 for the default ones. */
static const climb *go(const lab_ladder *ladder, const char *names, int64_t n, uint64_t seed)
{
    static climb done;
    static lab_case cases[LAB_MOST_CASES];
    char path[256];
    cli_job job = {.ctx = open_context()};
    lab_run run = {.job = &job,
                   .ladder = ladder,
                   .sizes = {n},
                   .size_count = n > 0 ? 1 : 0,
                   .sizes_given = n > 0,
                   .rungs = names,
                   .published = ladder->published != NULL,
                   .repeat = 5,
                   .turns = in_turns,
                   .budget = 1000,
                   .seed = seed,
                   .folder = folder,
                   .cases = cases};
    memset(&done, 0, sizeof done);
    memset(order, 0, sizeof order);
    snprintf(path, sizeof path, "%s/printed", folder);
    fflush(stdout);
    fflush(stderr);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    assert_true(dup2(STDOUT_FILENO, STDERR_FILENO) >= 0);
    done.status = lab_run_ladder(&run);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    done.is_no = job.answer_is_no;
    snprintf(done.error, sizeof done.error, "%s", tw_last_error(job.ctx));
    contents("printed", done.said, sizeof done.said);
    contents("trial.json", done.kept, sizeof done.kept);
    lab_kept_close(&run.kept);
    close_context(job.ctx);
    return &done;
}

static int times_in(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static void has(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) {
        fail_msg("\"%s\" is not in\n%s", word, text);
    }
}

static void a_wrong_rung_and_one_that_cannot_run_do_not_end_the_ladder(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, NULL, 0, 1);
    assert_int_equal(done->status, TW_OK);
    assert_true(done->is_no);
    has(done->said, "wrong                  ours       WRONG  rung wrong is \"not\" right\n");
    has(done->said, "large                  ours     skipped  not enough memory for tiles\n");
    has(done->said, "200 is too large\n");
    has(done->said, "trial: 2 wrong\n");
    has(done->said, "trial: 2 skipped\n");
    assert_int_equal(times_in(done->said, "\nquick  "), 2);
    /* In the results: without a time, apart from those that have one. */
    const char *failed = strstr(done->kept, "\"failed\": [");
    assert_non_null(failed);
    assert_int_equal(times_in(failed, "\"outcome\": \"wrong\""), 2);
    assert_int_equal(times_in(failed, "\"outcome\": \"skipped\""), 2);
    has(failed, "\"why\": \"rung wrong is \\\"not\\\" right\"");
    assert_null(strstr(failed, "seconds"));
    assert_int_equal(times_in(done->kept, "\"checked\": true"), 6);
    has(done->kept, "\"against\": \"a table\"");
    assert_int_equal(times_in(done->kept, "\"against\": \"nothing much\""), 2);
}

static void speedups_are_over_the_first_rung_that_ran(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "wrong,plain,quick", 7, 1);
    has(done->said, "\nplain                  ours         4 s   0.0 %       1x        -");
    has(done->said, "\nquick                  ours         2 s   0.0 %       2x       2x");
    has(done->said, "\nfirst: plain\n");
    has(done->said, "ceiling: 8 units/s, what a test says\n");
}

/* What disturbs the machine for a while meets all of them: each is checked and timed, and then all
 * are repeated, as often as without turns. */
static void turns_repeat_all_rungs_and_not_one_after_another(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "plain,quick,parts", 7, 1);
    assert_string_equal(order, "ppppppqqqqqqpppppp");
    static char one_by_one[65536];
    snprintf(one_by_one, sizeof one_by_one, "%s", strstr(done->kept, "\"cases\""));
    forget();
    in_turns = true;
    done = go(&trial, "plain,quick,parts", 7, 1);
    in_turns = false;
    assert_int_equal(done->status, TW_OK);
    assert_string_equal(order, "ppqqpp"
                               "pqppqppqppqp");
    assert_string_equal(strstr(done->kept, "\"cases\""), one_by_one);
    has(done->said, "\nquick                  ours         2 s   0.0 %       2x       2x");
    assert_int_equal(times_in(done->said, "\nplain  "), 1);
}

static void a_rung_that_fails_in_its_turn_does_not_end_the_others(void **state)
{
    (void)state;
    forget();
    in_turns = true;
    const climb *done = go(&trial, "wrong,tired,half,quick", 7, 1);
    in_turns = false;
    assert_int_equal(done->status, TW_OK);
    /* half has no time for a third repetition, wrong is not timed at all. */
    assert_string_equal(order, "w"
                               "tt"
                               "hh"
                               "qq"
                               "thq"
                               "qqq");
    has(done->said, "tired                  ours     skipped  no memory any more\n");
    has(done->said, "wrong                  ours       WRONG");
    assert_int_equal(times_in(strstr(done->kept, "\"cases\""), "\"median\""), 2);
}

static void named_rungs_run_in_the_order_of_their_names(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "quick,plain", 7, 1);
    const char *quick = strstr(done->said, "\nquick  "), *plain = strstr(done->said, "\nplain  ");
    assert_non_null(quick);
    assert_non_null(plain);
    assert_true(quick < plain);
    has(done->said, "\nfirst: quick\n");
    /* What is kept has the ladder's order. */
    assert_true(strstr(done->kept, "\"rung\": \"plain\"") <
                strstr(done->kept, "\"rung\": \"quick\""));
}

static const lab_rung flawed_rungs[] = {
    {.name = "rounded", .idea = "saves digits", .run = run_plain, .b = 1, .flaw = "2 digits only"},
    {.name = "plain", .idea = "works", .parent = "rounded", .run = run_plain, .b = 4},
    {.name = "quick", .idea = "works better", .parent = "plain", .run = run_plain, .b = 2},
};

static void a_rung_with_a_flaw_is_timed_and_compared_with_nothing(void **state)
{
    (void)state;
    lab_ladder flawed = trial;
    flawed.rungs = flawed_rungs;
    flawed.count = LAB_COUNT(flawed_rungs);
    forget();
    const climb *done = go(&flawed, NULL, 7, 1);
    assert_int_equal(done->status, TW_OK);
    assert_false(done->is_no); /* its check passed: it is wrong as it is said to be */
    has(done->said, "\nrounded                ours         1 s   0.0 %    WRONG        -");
    has(done->said, "\nplain                  ours         4 s   0.0 %       1x        -");
    has(done->said, "\nquick                  ours         2 s   0.0 %       2x       2x");
    has(done->said, "\nfirst: plain\nrounded is wrong: 2 digits only\n");
    has(done->kept, "\"flaw\": \"2 digits only\"");
    assert_int_equal(times_in(done->kept, "\"flaw\""), 1);
}

static void parts_are_those_of_the_repetition_in_the_middle(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "parts", 7, 1);
    assert_int_equal(done->status, TW_OK);
    /* Timed: 5, 3, 4, 1, 8. The third of them is the median, with three eighths read. */
    has(done->kept, "\"median\": 4,");
    has(done->kept, "\"parts\": {\n        \"read\": 0.375,\n        \"compute\": 3.625\n");
    has(done->kept, "\"read\": [\n          0.125,\n          0.25,\n          0.375,\n");
    has(done->said, "where the time goes");
    has(done->said, "\nparts                      375 ms          -     3.62 s");
}

static void a_ladder_of_which_nothing_can_run_says_why(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "large", 7, 1);
    assert_int_equal(done->status, TW_ERR_MEMORY);
    assert_string_equal(done->error, "not enough memory for tiles");
    done = go(&trial, "plain", 200, 1);
    assert_int_equal(done->status, TW_ERR_MEMORY);
    has(done->error, "trial, n = 200: 200 is too large");
    done = go(&trial, "damaged", 7, 1);
    assert_int_equal(done->status, TW_ERR_IO);
}

static void authors_sizes_are_run_by_their_rungs_where_no_time_is_told(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&published, "slow,plain", 0, 1);
    assert_int_equal(done->status, TW_OK);
    assert_int_equal(times_in(done->kept, "\"n\": 50"), 2);
    assert_int_equal(times_in(done->kept, "\"rung\": \"slow\""), 1);
    assert_null(strstr(done->kept, "published_milliseconds"));
    forget();
    done = go(&trial, "slow,plain", 0, 1);
    assert_int_equal(times_in(done->kept, "\"rung\": \"slow\""), 0);
}

static void rungs_are_timed_without_a_ceiling_too(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&unbounded, "plain", 7, 1);
    assert_int_equal(done->status, TW_OK);
    has(done->said, "trial: no ceiling: nothing to measure with\n");
    has(done->kept, "\"median\": 4,");
}

/* ----------------------------------------------------------------------------------------- adding
 */

static void a_later_run_adds_to_the_file(void **state)
{
    (void)state;
    forget();
    assert_int_equal(go(&trial, "quick,wrong", 9, 1)->status, TW_OK);
    assert_int_equal(go(&trial, "plain", 7, 1)->status, TW_OK);
    const climb *done = go(&trial, "plain,quick", 9, 1);
    assert_int_equal(done->status, TW_OK);
    assert_int_equal(times_in(done->kept, "\"checked\": true"), 3);
    assert_int_equal(times_in(done->kept, "\"rung\": \"quick\""), 1);
    assert_int_equal(times_in(done->kept, "\"outcome\": \"wrong\""), 1);
    /* In the order of sizes and rungs, whenever they were run. */
    const char *seven = strstr(done->kept, "\"n\": 7"), *plain = strstr(seven, "\"plain\"");
    const char *quick = strstr(seven, "\"quick\"");
    assert_true(seven != NULL && plain != NULL && quick != NULL && plain < quick);
    /* And again: nothing that was there changes but what was measured. */
    static char before[sizeof done->kept];
    memcpy(before, done->kept, sizeof before);
    done = go(&trial, "quick", 9, 1);
    assert_string_equal(strstr(done->kept, "\"cases\""), strstr(before, "\"cases\""));
}

/* The kept file with a word of it changed. */
static const char *change_file(const climb *done, const char *word, const char *other)
{
    static char changed[70000];
    char path[256];
    const char *at = strstr(done->kept, word);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - done->kept), done->kept, other,
             at + strlen(word));
    snprintf(path, sizeof path, "%s/trial.json", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(changed, file);
    fclose(file);
    return changed;
}

static void cases_of_another_build_say_so_beside_new_ones(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"\"version\": \"", "\"version\": \"0.0.1-"},
        {"\"commit\": \"", "\"commit\": \"\\\"e\u00e4"},
    };
    for (int i = 0; i < 2; i++) {
        forget();
        const climb *done = go(&trial, "plain,large", 7, 1);
        (void)change_file(done, words[i][0], words[i][1]);
        done = go(&trial, "quick", 7, 1);
        assert_int_equal(done->status, TW_OK);
        /* The head tells of this build; what was there, of its own, the failed rung as well. */
        const char *cases = strstr(done->kept, "\"cases\"");
        assert_true(strstr(done->kept, words[i][1]) > cases);
        assert_int_equal(times_in(cases, words[i][1]), 2);
        assert_int_equal(times_in(cases, "\"date\": \"20"), 2);
        static char before[sizeof done->kept];
        memcpy(before, cases, strlen(cases) + 1);
        done = go(&trial, "quick", 7, 1); /* once is enough */
        assert_string_equal(strstr(done->kept, "\"cases\""), before);
        /* Measured again, it is of this build. */
        done = go(&trial, "plain", 7, 1);
        assert_int_equal(times_in(done->kept, words[i][1]), 1);
    }
    /* A file that does not tell is not given this build's. */
    forget();
    (void)change_file(go(&trial, "plain", 7, 1), "\"version\": \"", "\"no-version\": \"");
    const climb *done = go(&trial, "quick", 7, 1);
    assert_int_equal(times_in(done->kept, "\"version\": null"), 1);
}

static void what_was_measured_otherwise_is_not_added_to(void **state)
{
    (void)state;
    static const struct {
        const char *word, *other, *says;
    } cases[] = {{"\"compiler\": \"", "\"compiler\": \"x", "of another compiler"},
                 {"\"processor\": \"", "\"processor\": \"x", "of another machine"},
                 {"\"processor\"", "\"gpu\": \"No Such Card\", \"processor\"", "another machine"},
                 {"\"threads\": ", "\"threads\": 9", "of another number of threads"},
                 {"\"seed\": \"1\"", "\"seed\": \"2\"", "of another seed"},
                 {"\"ladder\": \"trial", "\"ladder\": \"trials", "of another ladder"},
                 {"\"format\": \"tilewright-lab 1", "\"format\": \"tilewright-lab 2", "format"},
                 {"\"cases\": [", "\"cases\": [,", "is damaged"},
                 {"\"rung\": \"plain\"", "\"rung\": 3", "is damaged"},
                 {"\"n\": 7", "\"n\": -7", "is damaged"},
                 {"\"idea\": \"", "\"idea\": \"\xff", "is damaged"},
                 {"\"idea\": \"", "\"idea\": \"\\q", "is damaged"},
                 {"\"idea\": \"", "\"idea\": \"\n", "is damaged"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget();
        const climb *done = go(&trial, "plain", 7, 1);
        assert_int_equal(done->status, TW_OK);
        const char *changed = change_file(done, cases[i].word, cases[i].other);
        done = go(&trial, "quick", 7, 1);
        assert_int_not_equal(done->status, TW_OK);
        if (strstr(done->error, cases[i].says) == NULL) {
            fail_msg("%s: \"%s\"", cases[i].other, done->error);
        }
        assert_non_null(strstr(done->error, "--out"));
        assert_string_equal(done->kept, changed); /* as it was */
        assert_string_equal(done->said, "");      /* and before anything ran */
    }
}

static void every_beginning_of_a_file_is_refused_but_the_whole(void **state)
{
    (void)state;
    forget();
    const climb *done = go(&trial, "wrong,plain", 7, 1);
    size_t size = strlen(done->kept);
    for (size_t length = 0; length <= size; length++) {
        lab_kept kept = {0};
        const char *what = NULL;
        char *exact = malloc(length > 0 ? length : 1); /* so that a sanitizer sees its end */
        assert_non_null(exact);
        memcpy(exact, done->kept, length);
        bool good = lab_kept_parse(exact, length, &kept, &what);
        assert_int_equal(good, length + 1 >= size); /* all, or all but the end of the line */
        free(exact);
    }
}

static void a_want_of_memory_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    char path[256];
    forget();
    assert_int_equal(go(&trial, "plain", 7, 1)->status, TW_OK);
    snprintf(path, sizeof path, "%s/trial.json", folder);
    tw_context *ctx = open_context();
    tw_status status = TW_ERR_MEMORY;
    for (int64_t k = 1; status != TW_OK; k++) {
        lab_kept kept;
        assert_true(k < 10);
        twi_meter_fail_at(ctx->meter, k);
        status = lab_kept_open(ctx, path, &kept);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        lab_kept_close(&kept);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    twi_meter_fail_at(ctx->meter, 0);
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------------------
 */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];
    (void)state;
    forget();
    snprintf(path, sizeof path, "%s/printed", folder);
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_rung_and_one_that_cannot_run_do_not_end_the_ladder),
        cmocka_unit_test(speedups_are_over_the_first_rung_that_ran),
        cmocka_unit_test(turns_repeat_all_rungs_and_not_one_after_another),
        cmocka_unit_test(a_rung_that_fails_in_its_turn_does_not_end_the_others),
        cmocka_unit_test(a_rung_with_a_flaw_is_timed_and_compared_with_nothing),
        cmocka_unit_test(parts_are_those_of_the_repetition_in_the_middle),
        cmocka_unit_test(a_ladder_of_which_nothing_can_run_says_why),
        cmocka_unit_test(named_rungs_run_in_the_order_of_their_names),
        cmocka_unit_test(authors_sizes_are_run_by_their_rungs_where_no_time_is_told),
        cmocka_unit_test(rungs_are_timed_without_a_ceiling_too),
        cmocka_unit_test(a_later_run_adds_to_the_file),
        cmocka_unit_test(cases_of_another_build_say_so_beside_new_ones),
        cmocka_unit_test(what_was_measured_otherwise_is_not_added_to),
        cmocka_unit_test(every_beginning_of_a_file_is_refused_but_the_whole),
        cmocka_unit_test(a_want_of_memory_is_an_error_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

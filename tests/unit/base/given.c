/* The mechanism behind every struct that crosses the interface, on a struct of its own: as an
 * older, a newer and a careless caller would hand it over. tests/unit/interface/sizes.c does so
 * with each struct of the header. */
#include "harness.h"

#include "base/given.h"

#include <string.h>

#define POISON 0xa5

typedef struct trial_options {
    size_t size;
    int32_t first;
    double second;
    int32_t third; /* before padding */
} trial_options;

static const trial_options defaults = {sizeof(trial_options), 1, 2, 3};

/* A caller's struct of any length, in memory that is poisoned past it. */
typedef struct caller {
    _Alignas(trial_options) unsigned char bytes[2 * sizeof(trial_options)];
} caller;

/* The defaults, what lies between the members included: it is compared, too. */
static void set_defaults(trial_options *ours)
{
    memcpy(ours, &defaults, sizeof *ours);
}

static trial_options *caller_of(caller *c, size_t size, trial_options values)
{
    memset(c->bytes, POISON, sizeof c->bytes);
    values.size = size;
    memcpy(c->bytes, &values, size < sizeof values ? size : sizeof values);
    if (size > sizeof values) {
        memset(c->bytes + sizeof values, 0, size - sizeof values);
    }
    return (trial_options *)(void *)c->bytes;
}

static void shorter_options_keep_the_defaults_of_the_rest(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const size_t ends[] = {sizeof(size_t), offsetof(trial_options, second),
                                  offsetof(trial_options, third), sizeof(trial_options)};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        caller c;
        trial_options ours;
        set_defaults(&ours);
        trial_options *given = caller_of(&c, ends[k], (trial_options){0, 10, 20, 30});
        assert_ok(ctx, TWI_TAKE(ctx, trial_options, &ours, given));
        assert_int_equal(ours.size, sizeof ours);
        assert_int_equal(ours.first, k >= 1 ? 10 : 1);
        assert_true(ours.second == (k >= 2 ? 20 : 2));
        assert_int_equal(ours.third, k >= 3 ? 30 : 3);
    }
    trial_options ours;
    set_defaults(&ours);
    assert_ok(ctx, TWI_TAKE(ctx, trial_options, &ours, NULL));
    assert_memory_equal(&ours, &defaults, sizeof ours);
    close_context(ctx);
}

static void longer_options_are_taken_if_what_is_unknown_is_zero(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t more = 8; more <= sizeof(trial_options); more += 8) {
        caller c;
        trial_options ours;
        set_defaults(&ours);
        const size_t size = sizeof ours + more;
        trial_options *given = caller_of(&c, size, (trial_options){0, 10, 20, 30});
        assert_ok(ctx, TWI_TAKE(ctx, trial_options, &ours, given));
        assert_int_equal(ours.size, sizeof ours);
        assert_int_equal(ours.third, 30);

        set_defaults(&ours);
        c.bytes[size - 1] = 1;
        assert_fails(ctx, TW_ERR_ARGUMENT, "use a newer library",
                     TWI_TAKE(ctx, trial_options, &ours, given));
        assert_memory_equal(&ours, &defaults, sizeof ours);
    }
    close_context(ctx);
}

static void a_size_that_was_never_set_is_refused_with_the_macro_that_sets_it(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const size_t wrong[] = {0,    1,    sizeof(size_t) - 1, 9,       12, 20,
                                   4095, 4104, SIZE_MAX / 2,       SIZE_MAX};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        trial_options given = {wrong[k], 10, 20, 30};
        trial_options ours;
        set_defaults(&ours);
        assert_fails(ctx, TW_ERR_ARGUMENT, "TRIAL_OPTIONS_INIT",
                     TWI_TAKE(ctx, trial_options, &ours, &given));
        assert_memory_equal(&ours, &defaults, sizeof ours);
        assert_fails(ctx, TW_ERR_ARGUMENT, "TRIAL_OPTIONS_INIT",
                     TWI_CHECK_ROOM(ctx, trial_options, &given));
        assert_fails(ctx, TW_ERR_ARGUMENT, "TRIAL_OPTIONS_INIT",
                     TWI_DESCRIBE(ctx, trial_options, &given, &defaults));
        assert_int_equal(TWI_DESCRIBE(NULL, trial_options, &given, &defaults), TW_ERR_ARGUMENT);
        assert_int_equal(given.first, 10);
    }
    close_context(ctx);
}

static void nothing_is_given_past_the_room_of_the_caller(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t size = sizeof(size_t); size <= 2 * sizeof(trial_options); size += 8) {
        caller c;
        memset(c.bytes, POISON, sizeof c.bytes);
        memcpy(c.bytes, &size, sizeof size);
        trial_options *out = (trial_options *)(void *)c.bytes;
        assert_ok(ctx, TWI_CHECK_ROOM(ctx, trial_options, out));
        TWI_GIVE(trial_options, out, &defaults);
        const size_t known = size < sizeof defaults ? size : sizeof defaults;
        assert_memory_equal(c.bytes, &size, sizeof size);
        assert_memory_equal(c.bytes + sizeof size, (const char *)&defaults + sizeof size,
                            known - sizeof size);
        for (size_t i = known; i < sizeof c.bytes; i++) {
            assert_int_equal(c.bytes[i], POISON);
        }
    }
    close_context(ctx);
}

static void a_report_may_be_missing_and_a_description_may_not(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, TWI_CHECK_ROOM(ctx, trial_options, NULL));
    TWI_GIVE(trial_options, NULL, &defaults);
    assert_fails(ctx, TW_ERR_ARGUMENT, "trial_options",
                 TWI_DESCRIBE(ctx, trial_options, NULL, &defaults));
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_options_keep_the_defaults_of_the_rest),
        cmocka_unit_test(longer_options_are_taken_if_what_is_unknown_is_zero),
        cmocka_unit_test(a_size_that_was_never_set_is_refused_with_the_macro_that_sets_it),
        cmocka_unit_test(nothing_is_given_past_the_room_of_the_caller),
        cmocka_unit_test(a_report_may_be_missing_and_a_description_may_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

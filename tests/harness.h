/* cmocka with the headers it wants, and the small things every test here needs. */
#ifndef TW_TESTS_HARNESS_H
#define TW_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"

/* cmocka compares bytes one after the other, and is called for each element of a loop: under an
 * emulator that is half of what some tests take. These ask it only when something is wrong, and
 * under a sanitizer memcmp looks at where the bytes lie. */
static inline bool are_same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static inline void show_difference(const void *a, const void *b, size_t size)
{
    assert_memory_equal(a, b, size);
}

#undef assert_memory_equal
#define assert_memory_equal(a, b, size)                                       \
    do {                                                                      \
        if (!are_same_bytes((a), (b), (size))) {                              \
            print_error("%s:%d: %s is not %s\n", __FILE__, __LINE__, #a, #b); \
            show_difference((a), (b), (size));                                \
        }                                                                     \
    } while (0)

#undef assert_true
#define assert_true(c)          \
    do {                        \
        if (!(c)) {             \
            fail_msg("%s", #c); \
        }                       \
    } while (0)

/* The types that arrays can be of, those of weights, and those that are computed in. Lists: the
 * order of their numbers means nothing. */
enum { ELEMENT_TYPES = 6, WEIGHT_TYPES = 3, FLOAT_TYPES = 2 };
__attribute__((unused)) static const tw_type element_types[ELEMENT_TYPES] = {
    TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
__attribute__((unused)) static const tw_type weight_types[WEIGHT_TYPES] = {TW_I32, TW_F32, TW_F64};
__attribute__((unused)) static const tw_type float_types[FLOAT_TYPES] = {TW_F32, TW_F64};

/* Whether to leave out the sizes that take seconds and that a plain build has tested: so do the
 * presets of slower builds. */
static inline bool small_sizes_only(void)
{
    return getenv("TW_TEST_SMALL") != NULL;
}

/* Whether an emulator runs the tests, which takes thirty times as long: what is repeated most is
 * then tried once for each kind. */
static inline bool emulated_sizes_only(void)
{
    const char *small = getenv("TW_TEST_SMALL");
    return small != NULL && strcmp(small, "emulated") == 0;
}

/* The call must succeed; its error sentence is shown if it does not. */
#define assert_ok(ctx, call)                                                            \
    do {                                                                                \
        tw_status status_ = (call);                                                     \
        if (status_ != TW_OK) {                                                         \
            fail_msg("%s: %s: %s", #call, tw_status_name(status_), tw_last_error(ctx)); \
        }                                                                               \
    } while (0)

/* The call must fail with `expected` and a sentence that contains `words`. */
#define assert_fails(ctx, expected, words, call)                                                 \
    do {                                                                                         \
        tw_status status_ = (call);                                                              \
        if (status_ != (expected) || strstr(tw_last_error(ctx), (words)) == NULL) {              \
            fail_msg("%s: got %s \"%s\", wanted %s with \"%s\"", #call, tw_status_name(status_), \
                     tw_last_error(ctx), tw_status_name(expected), (words));                     \
        }                                                                                        \
    } while (0)

/* Destroys the context and insists that every block it gave out has come back. */
static inline void close_context(tw_context *ctx)
{
    tw_device_release(ctx);
    int64_t blocks = twi_meter_blocks(ctx->meter);
    int64_t kept = ctx->cycle != NULL ? 1 : 0;
    tw_context_destroy(ctx);
    assert_int_equal(blocks, kept);
}

static inline tw_context *open_context(void)
{
    tw_context *ctx = NULL;
    assert_int_equal(tw_context_create(&ctx), TW_OK);
    return ctx;
}

static inline tw_apsp_plan_info describe_plan(const tw_apsp_plan *plan)
{
    tw_apsp_plan_info info = TW_APSP_PLAN_INFO_INIT;
    assert_int_equal(tw_apsp_plan_describe(plan, &info), TW_OK);
    return info;
}

#endif

/* The ground floor: status, memory, types, instruction sets. */
#include "graph/cycle.h"
#include "harness.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

static void statuses_have_names(void **state)
{
    (void)state;
    assert_string_equal(tw_status_name(TW_OK), "TW_OK");
    assert_string_equal(tw_status_name(TW_ERR_INTERNAL), "TW_ERR_INTERNAL");
    assert_string_equal(tw_status_name(12), "TW_ERR_UNKNOWN");
    assert_string_equal(tw_status_name(-1), "TW_ERR_UNKNOWN");
}

static void types_round_trip_by_name(void **state)
{
    (void)state;
    static const struct {
        tw_type type;
        const char *name;
        size_t size;
    } types[] = {{TW_AUTO, "auto", 0}, {TW_U8, "u8", 1},   {TW_U16, "u16", 2},
                 {TW_I16, "i16", 2},   {TW_I32, "i32", 4}, {TW_F32, "f32", 4},
                 {TW_F64, "f64", 8},   {TW_F16, "f16", 2}, {TW_I64, "i64", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        tw_type parsed = -1;
        assert_string_equal(tw_type_name(types[i].type), types[i].name);
        assert_int_equal(tw_type_size(types[i].type), types[i].size);
        assert_int_equal(tw_type_parse(&parsed, types[i].name), TW_OK);
        assert_int_equal(parsed, types[i].type);
    }
    tw_type parsed;
    assert_int_equal(tw_type_parse(&parsed, "u64"), TW_ERR_ARGUMENT);
    assert_int_equal(tw_type_size(99), 0);
}

static void a_sentence_can_be_set_as_it_stands(void **state)
{
    (void)state;
    char longer[3000];
    tw_context *ctx = open_context();
    tw_set_error(ctx, "100 %s of it, %n and all");
    assert_string_equal(tw_last_error(ctx), "100 %s of it, %n and all");
    tw_set_error(ctx, tw_last_error(ctx) + 4);
    assert_string_equal(tw_last_error(ctx), "%s of it, %n and all");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    tw_set_error(ctx, longer);
    assert_int_equal(strlen(tw_last_error(ctx)), sizeof ctx->error - 1);
    tw_set_error(ctx, NULL);
    assert_string_equal(tw_last_error(ctx), "");
    tw_set_error(NULL, "nobody hears it");
    close_context(ctx);
}

static void an_overflowing_size_is_refused_with_its_factors(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    void *block = NULL;
    assert_fails(ctx, TW_ERR_MEMORY, "the matrix needs more memory than this machine can address",
                 twi_alloc(ctx, &block, UINT64_MAX / 2, 8, "the matrix"));
    assert_null(block);
    close_context(ctx);
}

static void the_memory_limit_is_honoured_and_named(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    void *first = NULL;
    void *second = NULL;
    assert_ok(ctx, tw_set_memory(ctx, 1000000));
    assert_ok(ctx, twi_alloc(ctx, &first, 600000, 1, "the first"));
    assert_fails(ctx, TW_ERR_MEMORY,
                 "600 kB needed, the limit is 1.0 MB; use --memory 1975k or more",
                 twi_alloc(ctx, &second, 600000, 1, "the second"));
    assert_fails(ctx, TW_ERR_MEMORY, "400 kB is left; use --memory 1869k or more",
                 twi_memory_check(ctx, 500001, "the plan"));
    assert_int_equal(tw_memory_used(ctx), 600000);
    twi_free(first);
    assert_int_equal(tw_memory_used(ctx), 0);
    assert_int_equal(tw_memory_peak(ctx), 600000);
    close_context(ctx);
}

static void below_the_floor_nothing_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    void *block = NULL;
    assert_ok(ctx, tw_set_memory(ctx, 1000));
    assert_ok(ctx, tw_set_memory_floor(ctx, 50000));
    assert_int_equal(tw_memory_limit(ctx), 1000);
    assert_int_equal(twi_memory_left(ctx), 1000);
    assert_int_equal(twi_memory_room(ctx), 50000);
    assert_ok(ctx, twi_memory_check(ctx, 50000, "the plan"));
    assert_ok(ctx, twi_alloc(ctx, &block, 40000, 1, "a block"));
    assert_int_equal(twi_memory_left(ctx), 0);
    assert_int_equal(twi_memory_room(ctx), 10000);
    assert_fails(ctx, TW_ERR_MEMORY, "needs 20 kB of memory, but only 10 kB is left; use --memory",
                 twi_memory_check(ctx, 20000, "the plan"));
    assert_ok(ctx, tw_memory_check(ctx, 10000, "the table"));
    assert_fails(ctx, TW_ERR_MEMORY, "the table needs 20 kB of memory, but only 10 kB is left",
                 tw_memory_check(ctx, 20000, "the table"));
    assert_ok(ctx, tw_set_memory(ctx, 100000)); /* above it, the limit counts */
    assert_int_equal(twi_memory_room(ctx), 60000);
    twi_free(block);
    close_context(ctx);
}

static void what_a_library_takes_is_counted_until_it_is_given_back(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_counted taken = {0}, more = {0};
    assert_ok(ctx, tw_set_memory(ctx, 1000000));
    assert_ok(ctx, twi_count(ctx, &taken, 600000, "decoding"));
    assert_int_equal(tw_memory_used(ctx), 600000);
    assert_fails(ctx, TW_ERR_MEMORY, "decoding needs 500 kB of memory, but only 400 kB is left",
                 twi_count(ctx, &more, 500000, "decoding"));
    twi_uncount(&more);
    twi_uncount(&taken);
    twi_uncount(&taken);
    assert_int_equal(tw_memory_used(ctx), 0);
    assert_int_equal(tw_memory_peak(ctx), 600000);
    close_context(ctx);
}

static void a_block_may_outlive_its_context(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    char *block = NULL;
    assert_ok(ctx, twi_alloc_zeroed(ctx, &block, 100, 1, "a block"));
    tw_context_destroy(ctx);
    assert_int_equal(block[99], 0);
    twi_free(block);
}

static void the_planned_allocation_fails_and_no_other(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    void *blocks[3] = {NULL, NULL, NULL};
    twi_meter_fail_at(ctx->meter, 2);
    for (int i = 0; i < 3; i++) {
        blocks[i] = twi_try_alloc(ctx, 8, 8);
    }
    assert_non_null(blocks[0]);
    assert_null(blocks[1]);
    assert_non_null(blocks[2]);
    twi_free(blocks[0]);
    twi_free(blocks[2]);
    close_context(ctx);
}

static void take_and_free(tw_context *ctx, const uint64_t *bytes, int count)
{
    void *blocks[8];
    const uint64_t before = tw_memory_used(ctx);
    for (int i = 0; i < count; i++) {
        assert_ok(ctx, twi_alloc(ctx, &blocks[i], bytes[i], 1, "a block"));
        memset(blocks[i], 'a' + i, bytes[i]);
    }
    for (int i = 0; i < count; i++) { /* all apart */
        assert_int_equal(((char *)blocks[i])[0], 'a' + i);
        assert_int_equal(((char *)blocks[i])[bytes[i] - 1], 'a' + i);
    }
    assert_true(tw_memory_used(ctx) > before);
    for (int i = 0; i < count; i++) {
        twi_free(blocks[i]);
    }
    assert_int_equal(tw_memory_used(ctx), before);
}

/* Four of up to 4 MiB, the last ones; none with a limit, nor where memory is checked. */
static void freed_blocks_are_kept_for_the_next_calls(void **state)
{
    (void)state;
    const uint64_t large = 1 << 20;
    const uint64_t many[] = {large, large - 1, large - 2, large - 3, large - 4, large - 5, large};
    const uint64_t others[] = {2 * large, 2 * large - 1};
    const uint64_t too_large = 5 * large, too_small = 1000;
    tw_context *ctx = open_context();
    void *block, *again, *small;
    take_and_free(ctx, &too_large, 1);
    take_and_free(ctx, &too_small, 1);
    assert_int_equal(twi_meter_kept(ctx->meter), 0);
    take_and_free(ctx, many, 1);
    const bool keeps = twi_meter_kept(ctx->meter) > 0;
    for (int turn = 0; turn < 3; turn++) {
        take_and_free(ctx, many, 7);
        assert_int_equal(twi_meter_kept(ctx->meter), keeps ? 4 : 0);
    }
    take_and_free(ctx, others, 2); /* none has room: they take the places of two */
    assert_ok(ctx, twi_alloc(ctx, &block, 2 * large - 5, 1, "a block"));
    assert_int_equal(twi_meter_kept(ctx->meter), keeps ? 3 : 0);
    assert_ok(ctx, twi_alloc(ctx, &small, too_small, 1, "a block"));
    assert_int_equal(twi_meter_kept(ctx->meter), keeps ? 3 : 0);
    twi_free(block);
    assert_ok(ctx, twi_alloc(ctx, &again, 2 * large - 100, 1, "a block"));
    assert_true(!keeps || twi_meter_kept(ctx->meter) == 3);
    twi_free(again);
    tw_device_release(ctx);
    assert_int_equal(twi_meter_kept(ctx->meter), 0);
    take_and_free(ctx, many, 2);
    assert_int_equal(twi_meter_kept(ctx->meter), keeps ? 2 : 0);
    assert_ok(ctx, tw_set_memory(ctx, 100 * large));
    assert_int_equal(twi_meter_kept(ctx->meter), 0);
    take_and_free(ctx, many, 2);
    tw_device_release(ctx);
    take_and_free(ctx, many, 2);
    assert_int_equal(twi_meter_kept(ctx->meter), 0);
    assert_ok(ctx, tw_set_memory(ctx, 0));
    take_and_free(ctx, many, 2);
    assert_int_equal(twi_meter_kept(ctx->meter), keeps ? 2 : 0);
    assert_ok(ctx, twi_alloc(ctx, &block, large, 1, "a block"));
    twi_meter *meter = ctx->meter;
    tw_context_destroy(ctx); /* two blocks live on, and nothing is kept */
    assert_int_equal(twi_meter_kept(meter), 0);
    memset(block, 1, large);
    twi_free(block);
    assert_int_equal(twi_meter_kept(meter), 0);
    twi_free(small);
}

static void growing_keeps_the_contents(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t *list = NULL;
    assert_ok(ctx, twi_grow(ctx, &list, 0, 4, sizeof *list, "a list"));
    memcpy(list, (int32_t[4]){1, 2, 3, 4}, 16);
    assert_ok(ctx, twi_grow(ctx, &list, 16, 3 << 20, sizeof *list, "a list"));
    assert_int_equal(list[3], 4);
    assert_int_equal((uintptr_t)list % TWI_CACHE_LINE, 0);
    twi_meter_fail_at(ctx->meter, 1);
    assert_fails(ctx, TW_ERR_MEMORY, "a list",
                 twi_grow(ctx, &list, 16, 4 << 20, sizeof *list, "a list"));
    assert_int_equal(list[0], 1);
    twi_free(list);
    close_context(ctx);
}

static void bytes_read_as_people_say_them(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(twi_bytes(text, 0), "0 B");
    assert_string_equal(twi_bytes(text, 999), "999 B");
    assert_string_equal(twi_bytes(text, 1500), "1.5 kB");
    assert_string_equal(twi_bytes(text, 17.2e9), "17 GB");
    assert_string_equal(twi_bytes(text, 2e30), "2000000000 ZB");
}

static void an_unknown_isa_is_an_error_and_scalar_always_works(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_isa isa;
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "'sse9' is not an instruction set",
                 tw_set_isa(ctx, "sse9"));
    assert_ok(ctx, tw_set_isa(ctx, "scalar"));
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    assert_int_equal(isa, TWI_ISA_SCALAR);
    assert_ok(ctx, tw_set_isa(ctx, NULL));
    setenv("TW_ISA", "pentium", 1);
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "TW_ISA='pentium'", twi_isa_resolve(ctx, &isa));
    unsetenv("TW_ISA");
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    close_context(ctx);
}

static void a_device_this_build_lacks_is_an_error(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_device(ctx, "cpu"));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "'tpu'", tw_set_device(ctx, "tpu"));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "'cuda:'", tw_set_device(ctx, "cuda:"));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "'cuda:0,'", tw_set_device(ctx, "cuda:0,"));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "'cuda:x'", tw_set_device(ctx, "cuda:x"));
    close_context(ctx);
}

static void the_machine_describes_itself(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_machine machine = TW_MACHINE_INIT;
    assert_ok(ctx, tw_machine_describe(ctx, &machine));
    assert_true(machine.threads >= 1);
    assert_true(machine.memory >= machine.memory_available);
    assert_non_null(strstr(machine.isas, "scalar"));
    close_context(ctx);
}

static void gpus_that_are_not_there_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_machine machine = TW_MACHINE_INIT;
    tw_gpu gpu = TW_GPU_INIT;
    tw_gpu_link link = TW_GPU_LINK_INIT;
    assert_ok(ctx, tw_machine_describe(ctx, &machine));
    assert_fails(ctx, TW_ERR_DEVICE, "GPU -1 does not exist", tw_gpu_describe(ctx, &gpu, -1));
    assert_fails(ctx, TW_ERR_DEVICE, machine.gpu, tw_gpu_describe(ctx, &gpu, machine.gpus));
    assert_fails(ctx, TW_ERR_DEVICE, "does not exist",
                 tw_gpu_link_describe(ctx, &link, machine.gpus, 0));
    close_context(ctx);
}

static void a_negative_cycle_is_kept_and_shown(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t cycle[3] = {4, 7, 2};
    const int32_t *kept = NULL;
    const tw_graph graph = {.first = 1}; /* as a DIMACS file counts */
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE,
                 "weight -5, so shortest paths do not exist: 5 -> 8 -> 3 -> 5",
                 twi_graph_fail_cycle(ctx, &graph, cycle, 3, -5));
    assert_int_equal(tw_apsp_negative_cycle(ctx, &kept), 3);
    assert_memory_equal(kept, cycle, sizeof cycle);
    close_context(ctx);
}

static void cancelling_stays_until_cleared(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped on request", twi_check_cancel(ctx));
    tw_clear_cancel(ctx);
    assert_ok(ctx, twi_check_cancel(ctx));
    close_context(ctx);
}

static void random_numbers_are_the_documented_ones(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(twi_random_below(twi_random_at(1, i), 10) < 10);
        double unit = twi_random_unit(twi_random_at(2, i));
        assert_true(unit >= 0 && unit < 1);
    }
    assert_true(twi_random_at(1, 0) != twi_random_at(2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(types_round_trip_by_name),
        cmocka_unit_test(a_sentence_can_be_set_as_it_stands),
        cmocka_unit_test(an_overflowing_size_is_refused_with_its_factors),
        cmocka_unit_test(the_memory_limit_is_honoured_and_named),
        cmocka_unit_test(below_the_floor_nothing_is_refused),
        cmocka_unit_test(what_a_library_takes_is_counted_until_it_is_given_back),
        cmocka_unit_test(a_block_may_outlive_its_context),
        cmocka_unit_test(the_planned_allocation_fails_and_no_other),
        cmocka_unit_test(freed_blocks_are_kept_for_the_next_calls),
        cmocka_unit_test(growing_keeps_the_contents),
        cmocka_unit_test(bytes_read_as_people_say_them),
        cmocka_unit_test(an_unknown_isa_is_an_error_and_scalar_always_works),
        cmocka_unit_test(a_device_this_build_lacks_is_an_error),
        cmocka_unit_test(the_machine_describes_itself),
        cmocka_unit_test(gpus_that_are_not_there_are_refused),
        cmocka_unit_test(a_negative_cycle_is_kept_and_shown),
        cmocka_unit_test(cancelling_stays_until_cleared),
        cmocka_unit_test(random_numbers_are_the_documented_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

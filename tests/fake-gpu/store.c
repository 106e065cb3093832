/*
 * What a context keeps of a GPU for its next call (gpu/store.c), on a runtime without a GPU that
 * counts what was not given back.
 */
#include "runtime.h"

#include "base/memory.h"
#include "gpu/store.h"

#include "harness.h"

#define MB ((uint64_t)1 << 20)

static int32_t unloaded;

static void unload(void *module)
{
    unloaded++;
    free(module);
}

/* Take a block and give it back at once; where it lay. */
static void *pass(tw_context *ctx, int32_t device, uint64_t bytes)
{
    twi_gpu_block block;
    assert_ok(ctx, twi_gpu_take(ctx, &block, device, bytes, "a block"));
    assert_true(block.bytes >= bytes);
    void *at = block.data;
    memset(at, 0x5A, bytes);
    twi_gpu_give(&block);
    assert_null(block.data);
    return at;
}

static void what_was_given_back_is_taken_again(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_stream stream;
    fake_begin(1, 0);
    void *pinned = pass(ctx, TWI_PINNED, 2 * MB);
    void *device = pass(ctx, 0, 3 * MB);
    assert_int_equal(fake_live(), 2);
    assert_ptr_equal(pass(ctx, TWI_PINNED, 2 * MB), pinned);
    assert_ptr_equal(pass(ctx, TWI_PINNED, 1), pinned); /* larger is fine */
    assert_ptr_equal(pass(ctx, 0, 2 * MB), device);
    assert_ptr_not_equal(pass(ctx, TWI_PINNED, 2 * MB + 1), pinned);
    (void)cudaSetDevice(1);
    assert_ptr_not_equal(pass(ctx, 1, 2 * MB), device); /* of another device */
    (void)cudaSetDevice(0);
    assert_int_equal(fake_live(), 4);
    assert_ok(ctx, twi_gpu_take_stream(ctx, &stream, 0));
    cudaStream_t first = stream.stream;
    twi_gpu_give_stream(&stream);
    assert_ok(ctx, twi_gpu_take_stream(ctx, &stream, 0));
    assert_ptr_equal(stream.stream, first);
    twi_gpu_give_stream(&stream);
    assert_int_equal(fake_live_without(ctx), 0);
    assert_int_equal(tw_memory_used(ctx), 0);
}

static void the_smallest_block_that_is_large_enough_is_taken(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_block large, small;
    fake_begin(1, 0);
    assert_ok(ctx, twi_gpu_take(ctx, &small, TWI_PINNED, 2 * MB, "a block"));
    assert_ok(ctx, twi_gpu_take(ctx, &large, TWI_PINNED, 8 * MB, "a block"));
    void *at = small.data;
    twi_gpu_give(&small);
    twi_gpu_give(&large);
    assert_ptr_equal(pass(ctx, TWI_PINNED, MB), at);
    assert_int_equal(fake_live_without(ctx), 0);
}

static void what_lies_idle_is_bounded_and_the_oldest_goes_first(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_block blocks[10];
    twi_gpu_stream streams[TWI_MOST_STREAMS + 3];
    fake_begin(1, 0);
    for (int i = 0; i < 10; i++) {
        assert_ok(ctx, twi_gpu_take(ctx, &blocks[i], TWI_PINNED, 9 * MB, "a block"));
    }
    void *last = blocks[9].data;
    assert_true(tw_memory_used(ctx) >= 90 * MB);
    for (int i = 0; i < 10; i++) {
        twi_gpu_give(&blocks[i]);
    }
    assert_int_equal(fake_live(), 7); /* 63 MB of 64 */
    assert_in_range(tw_memory_used(ctx), 63 * MB, 64 * MB);
    assert_ptr_equal(pass(ctx, TWI_PINNED, 9 * MB), last);
    (void)pass(ctx, TWI_PINNED, TWI_MOST_PINNED + 1); /* too large to be kept */
    assert_int_equal(fake_live_without(ctx), 0);
    for (int i = 0; i < TWI_MOST_STREAMS + 3; i++) {
        assert_ok(ctx, twi_gpu_take_stream(ctx, &streams[i], 0));
    }
    for (int i = 0; i < TWI_MOST_STREAMS + 3; i++) {
        twi_gpu_give_stream(&streams[i]);
    }
    assert_int_equal(fake_live(), TWI_MOST_STREAMS);
    assert_int_equal(fake_live_without(ctx), 0);
}

static void idle_memory_is_given_up_before_something_is_refused(void **state)
{
    tw_context *ctx = *state;
    char *block = NULL;
    twi_gpu_block pinned;
    fake_begin(1, 0);
    assert_ok(ctx, tw_set_memory(ctx, 20 * MB));
    (void)pass(ctx, TWI_PINNED, 15 * MB);
    assert_int_equal(fake_live(), 1);
    assert_true(twi_memory_left(ctx) > 19 * MB); /* plans may go by all of it */
    assert_ok(ctx, twi_memory_check(ctx, 4 * MB, "something small"));
    assert_int_equal(fake_live(), 1);
    assert_ok(ctx, twi_memory_check(ctx, 10 * MB, "something"));
    assert_int_equal(fake_live(), 0);
    (void)pass(ctx, TWI_PINNED, 15 * MB);
    assert_ok(ctx, twi_alloc(ctx, &block, 1, 10 * MB, "a block of the host"));
    assert_int_equal(fake_live(), 0);
    assert_fails(ctx, TW_ERR_MEMORY, "a piece",
                 twi_gpu_take(ctx, &pinned, TWI_PINNED, 15 * MB, "a piece"));
    assert_null(pinned.data);
    twi_free(block);
    (void)pass(ctx, TWI_PINNED, 15 * MB);
    (void)pass(ctx, TWI_PINNED, 18 * MB); /* in the place of the other one */
    assert_int_equal(fake_live(), 1);
    assert_fails(ctx, TW_ERR_MEMORY, "use --memory",
                 twi_memory_check(ctx, 21 * MB, "more than there is"));
    assert_ok(ctx, tw_set_memory(ctx, 0));
    assert_int_equal(fake_live_without(ctx), 0);
}

static void a_limit_of_devices_holds_for_kept_memory(void **state)
{
    tw_context *ctx = *state;
    fake_begin(1, 0);
    (void)pass(ctx, 0, 8 * MB);
    assert_int_equal(fake_live(), 1);
    assert_ok(ctx, tw_set_device_memory(ctx, 4 * MB));
    assert_int_equal(fake_live(), 0);
    (void)pass(ctx, 0, 2 * MB);
    (void)pass(ctx, 0, 3 * MB);
    assert_int_equal(fake_live(), 0);
    assert_ok(ctx, tw_set_device_memory(ctx, 0));
    (void)pass(ctx, 0, 8 * MB);
    assert_int_equal(fake_live(), 1);
    twi_store_release(ctx, TWI_STORE_DEVICES); /* as who reads what is free there does */
    assert_int_equal(fake_live(), 0);
    assert_int_equal(fake_live_without(ctx), 0);
}

static void a_device_that_is_full_of_idle_memory_has_room(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_block block;
    (void)pass(ctx, 0, MB);
    fake_begin(1, 1); /* the next allocation fails, the one after it does not */
    assert_ok(ctx, twi_gpu_take(ctx, &block, 0, 2 * MB, "a block"));
    assert_int_equal(fake_live(), 1);
    twi_gpu_give(&block);
    assert_int_equal(fake_live_without(ctx), 0);
}

static void every_call_that_fails_is_told_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    for (int64_t call = 1; call <= 4; call++) {
        twi_gpu_block pinned, memory;
        twi_gpu_stream stream;
        fake_begin(1, call);
        tw_status status = twi_gpu_take(ctx, &pinned, TWI_PINNED, MB, "a block");
        assert_int_equal(status, call == 1 ? TW_ERR_MEMORY : TW_OK);
        status = twi_gpu_take(ctx, &memory, 0, MB, "a block");
        assert_int_equal(status, call == 2 ? TW_ERR_MEMORY : TW_OK);
        status = twi_gpu_take_stream(ctx, &stream, 0);
        assert_int_equal(status, call == 3 ? TW_ERR_MEMORY : TW_OK);
        twi_gpu_give_stream(&stream); /* whose waiting fails as the fourth: it is not kept */
        twi_gpu_give(&memory);
        twi_gpu_give(&pinned);
        assert_int_equal(fake_live(), 2);
        assert_int_equal(fake_live_without(ctx), 0);
        assert_int_equal(tw_memory_used(ctx), 0);
    }
    for (int64_t allocation = 1; allocation <= 4; allocation++) {
        twi_gpu_block pinned;
        fake_begin(1, 0);
        twi_meter_fail_at(ctx->meter, allocation); /* the store, a piece, its bytes */
        assert_int_equal(twi_gpu_take(ctx, &pinned, TWI_PINNED, MB, "a block"),
                         allocation < 4 ? TW_ERR_MEMORY : TW_OK);
        twi_meter_fail_at(ctx->meter, 0);
        twi_gpu_give(&pinned);
        assert_int_equal(fake_live_without(ctx), 0);
    }
}

static void contexts_keep_what_is_theirs_and_leave_the_rest(void **state)
{
    tw_context *ctx = *state;
    tw_context *other = open_context();
    twi_gpu_block mine, used;
    twi_gpu_stream stream;
    fake_begin(1, 0);
    void *at = pass(other, TWI_PINNED, MB);
    assert_ok(ctx, twi_gpu_take(ctx, &mine, TWI_PINNED, MB, "a block"));
    assert_ptr_not_equal(mine.data, at);
    twi_gpu_give(&mine);
    assert_ok(other, twi_gpu_take(other, &used, 0, MB, "a block"));
    assert_ok(other, twi_gpu_take_stream(other, &stream, 0));
    assert_int_equal(fake_live(), 4);
    tw_context_destroy(other); /* with something idle and something in use */
    assert_int_equal(fake_live(), 3);
    twi_gpu_give_stream(&stream); /* as a plan that outlives its context does */
    twi_gpu_give(&used);
    assert_int_equal(fake_live(), 1);
    tw_device_release(ctx);
    tw_device_release(ctx);
    assert_int_equal(fake_live(), 0);
    void *again = pass(ctx, TWI_PINNED, MB); /* a context can be used after that */
    assert_ptr_equal(pass(ctx, TWI_PINNED, MB), again);
    assert_int_equal(fake_live_without(ctx), 0);
}

static void loaded_code_is_found_by_its_text_and_device(void **state)
{
    tw_context *ctx = *state;
    twi_gpu_code code, second;
    int there;
    unloaded = 0;
    assert_ok(ctx, twi_gpu_take_code(ctx, &code, 0, "a + b"));
    assert_null(code.module);
    void *module = malloc(1);
    assert_false(twi_gpu_keeps_code(ctx, 0, "a + b"));
    assert_ok(ctx, twi_gpu_own_code(ctx, &code, 0, "a + b", module, &there, unload));
    assert_false(twi_gpu_keeps_code(ctx, 0, "a + b"));
    assert_ok(ctx, twi_gpu_take_code(ctx, &second, 0, "a + b"));
    assert_null(second.module); /* one has it */
    twi_gpu_give_code(&second);
    twi_gpu_give_code(&code);
    assert_true(twi_gpu_keeps_code(ctx, 0, "a + b"));
    assert_false(twi_gpu_keeps_code(ctx, 1, "a + b"));
    assert_ok(ctx, twi_gpu_take_code(ctx, &code, 1, "a + b"));
    assert_null(code.module);
    assert_ok(ctx, twi_gpu_take_code(ctx, &code, 0, "a * b"));
    assert_null(code.module);
    assert_ok(ctx, twi_gpu_take_code(ctx, &code, 0, "a + b"));
    assert_ptr_equal(code.module, module);
    assert_ptr_equal(code.function, &there);
    twi_gpu_give_code(&code);
    for (int i = 0; i < TWI_MOST_CODES; i++) { /* the first is then the longest idle */
        char text[16] = {(char)('A' + i)};
        assert_ok(ctx, twi_gpu_own_code(ctx, &code, 0, text, malloc(1), &there, unload));
        twi_gpu_give_code(&code);
    }
    assert_int_equal(unloaded, 1);
    tw_device_release(ctx);
    assert_int_equal(unloaded, 1 + TWI_MOST_CODES);
    for (int64_t allocation = 1; allocation <= 3; allocation++) {
        twi_meter_fail_at(ctx->meter, allocation);
        assert_int_equal(twi_gpu_own_code(ctx, &code, 0, "a", malloc(1), &there, unload),
                         TW_ERR_MEMORY);
        twi_meter_fail_at(ctx->meter, 0);
        assert_int_equal(unloaded, 1 + TWI_MOST_CODES + allocation);
        tw_device_release(ctx);
    }
    assert_int_equal(tw_memory_used(ctx), 0);
}

static int open_one(void **state)
{
    *state = open_context();
    return 0;
}

static int close_one(void **state)
{
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_back_is_taken_again),
        cmocka_unit_test(the_smallest_block_that_is_large_enough_is_taken),
        cmocka_unit_test(what_lies_idle_is_bounded_and_the_oldest_goes_first),
        cmocka_unit_test(idle_memory_is_given_up_before_something_is_refused),
        cmocka_unit_test(a_limit_of_devices_holds_for_kept_memory),
        cmocka_unit_test(a_device_that_is_full_of_idle_memory_has_room),
        cmocka_unit_test(every_call_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(contexts_keep_what_is_theirs_and_leave_the_rest),
        cmocka_unit_test(loaded_code_is_found_by_its_text_and_device),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}

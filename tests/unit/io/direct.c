/* Writing past the page cache: every byte in its place, whatever the pieces, and errors told. On a
 * file system that does not do it (tmpfs) these tests are skipped. */
#include "unit/scratch_folder.h"

#include "io/direct.h"

#include <errno.h>
#include <fcntl.h>

#define GIGABYTE ((uint64_t)1 << 30)
#define BUFFER ((size_t)4 << 20)

static unsigned char *make_bytes(size_t count)
{
    unsigned char *bytes = malloc(count);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(i * 41 + (i >> 13));
    }
    return bytes;
}

/* A file that will be said to have a gigabyte. */
static int open_file(const char *name, int flags)
{
    const int fd = open(in_scratch(name), O_CREAT | flags, 0600);
    assert_true(fd >= 0);
    return fd;
}

static twi_direct *open_direct(tw_context *ctx, int fd)
{
    twi_direct *direct = twi_direct_open(ctx, fd, GIGABYTE);
    if (direct == NULL) {
        print_message("skipped: this file system has no direct writes, or is not known to\n");
        close(fd);
        unlink(in_scratch("a"));
        close_context(ctx);
        skip();
    }
    return direct;
}

static void every_byte_is_in_its_place_whatever_the_pieces(void **state)
{
    (void)state;
    const size_t most = 20 * BUFFER + 200000;
    static const size_t heads[] = {0, 128, 4096, 65535, 65536, 65537};
    static const size_t pieces[] = {65536, 100001, BUFFER - 1, BUFFER, 3 * BUFFER + 7};
    const size_t ends[] = {65536 + 65537, 2 * BUFFER, 2 * BUFFER + 65536, 5 * BUFFER + 1, most};
    unsigned char *bytes = make_bytes(most);
    for (size_t k = 0; k < 6 * 5 * 5; k += 7) {
        const size_t head = heads[k % 6], piece = pieces[k / 6 % 5], end = ends[(k / 30 + k) % 5];
        tw_context *ctx = open_context();
        const int fd = open_file("a", O_RDWR);
        twi_direct *direct = open_direct(ctx, fd);
        int error = head > 0 ? twi_direct_write(ctx, direct, bytes, head, 0) : 0;
        for (size_t at = head; at < end && error == 0; at += piece) {
            const size_t some = end - at < piece ? end - at : piece;
            error = twi_direct_write(ctx, direct, bytes + at, some, at);
        }
        assert_int_equal(error, 0);
        assert_int_equal(twi_direct_end(ctx, direct), 0);
        twi_direct_close(direct);
        assert_int_equal(fcntl(fd, F_GETFL) & O_DIRECT, 0);
        close(fd);
        assert_file("a", bytes, end);
        close_context(ctx);
    }
    free(bytes);
}

static void a_small_file_is_left_to_the_system(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int fd = open_file("a", O_RDWR);
    assert_int_equal(twi_direct_memory(GIGABYTE - 1), 0);
    assert_true(twi_direct_memory(GIGABYTE) > 0);
    assert_null(twi_direct_open(ctx, fd, GIGABYTE - 1));
    close(fd);
    assert_file("a", "", 0);
    close_context(ctx);
}

static void an_error_is_told_by_a_later_call(void **state)
{
    (void)state;
    unsigned char *bytes = make_bytes(40 * BUFFER);
    tw_context *ctx = open_context();
    const int fd = open_file("a", O_RDWR);
    twi_direct *direct = open_direct(ctx, fd);
    assert_int_equal(twi_direct_write(ctx, direct, bytes, 2 * BUFFER, 0), 0);
    const int no_writing = open(in_scratch("a"), O_RDONLY);
    assert_int_equal(dup2(no_writing, fd), fd);
    int error = 0;
    for (size_t at = 2 * BUFFER; at < 40 * BUFFER && error == 0; at += BUFFER) {
        error = twi_direct_write(ctx, direct, bytes + at, BUFFER, at);
    }
    assert_int_equal(error != 0 ? error : twi_direct_end(ctx, direct), EBADF);
    twi_direct_close(direct);
    close(fd);
    close(no_writing);
    unlink(in_scratch("a"));
    close_context(ctx);
    free(bytes);
}

static void without_memory_it_says_so_and_the_file_can_be_written_plainly(void **state)
{
    (void)state;
    unsigned char *bytes = make_bytes(BUFFER);
    tw_context *ctx = open_context();
    const int fd = open_file("a", O_RDWR);
    twi_direct *direct = open_direct(ctx, fd);
    assert_ok(ctx, tw_set_memory(ctx, 8 << 20));
    assert_int_equal(twi_direct_write(ctx, direct, bytes, 128, 0), 0);
    assert_int_equal(twi_direct_write(ctx, direct, bytes + 128, BUFFER - 128, 128), ENOTSUP);
    twi_direct_close(direct);
    assert_int_equal(pwrite(fd, bytes + 128, BUFFER - 128, 128), BUFFER - 128);
    close(fd);
    assert_file("a", bytes, BUFFER);
    close_context(ctx);
    free(bytes);
}

/* Fewer buffers do as well. */
static void with_little_memory_it_does_with_few_buffers(void **state)
{
    (void)state;
    unsigned char *bytes = make_bytes(9 * BUFFER + 5);
    tw_context *ctx = open_context();
    const int fd = open_file("a", O_RDWR);
    twi_direct *direct = open_direct(ctx, fd);
    assert_ok(ctx, tw_set_memory(ctx, 14 << 20));
    assert_int_equal(twi_direct_write(ctx, direct, bytes, 9 * BUFFER + 5, 0), 0);
    assert_int_equal(twi_direct_end(ctx, direct), 0);
    twi_direct_close(direct);
    close(fd);
    assert_file("a", bytes, 9 * BUFFER + 5);
    close_context(ctx);
    free(bytes);
}

static void a_cancelled_write_stops(void **state)
{
    (void)state;
    unsigned char *bytes = make_bytes(2 * BUFFER);
    tw_context *ctx = open_context();
    const int fd = open_file("a", O_RDWR);
    twi_direct *direct = open_direct(ctx, fd);
    assert_int_equal(twi_direct_write(ctx, direct, bytes, BUFFER, 0), 0);
    tw_cancel(ctx);
    assert_int_equal(twi_direct_write(ctx, direct, bytes, BUFFER, BUFFER), ECANCELED);
    assert_int_equal(twi_direct_end(ctx, direct), ECANCELED);
    twi_direct_close(direct);
    twi_direct_close(NULL);
    close(fd);
    unlink(in_scratch("a"));
    close_context(ctx);
    free(bytes);
}

static void what_a_sink_into_a_large_file_holds_is_known(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_sink sink = TW_SINK_INIT;
    const tw_shape small = {100, 100, TW_I32}, large = {20000, 20000, TW_I32};
    const tw_shape too_large = {INT64_MAX, INT64_MAX, TW_F64};
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, in_scratch("a.npy"), NULL));
    assert_int_equal(tw_sink_memory(&sink, &small), 0);
    assert_int_equal(tw_sink_memory(&sink, &large), twi_direct_memory(1600000000));
    assert_int_equal(tw_sink_memory(&sink, &too_large), 0);
    tw_sink_destroy(&sink);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_in_its_place_whatever_the_pieces),
        cmocka_unit_test(a_small_file_is_left_to_the_system),
        cmocka_unit_test(an_error_is_told_by_a_later_call),
        cmocka_unit_test(without_memory_it_says_so_and_the_file_can_be_written_plainly),
        cmocka_unit_test(with_little_memory_it_does_with_few_buffers),
        cmocka_unit_test(a_cancelled_write_stops),
        cmocka_unit_test(what_a_sink_into_a_large_file_holds_is_known),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

/* Output files: whole or not at all, and what stood there before survives a failure. */
#include "unit/scratch_folder.h"

#include "io/output.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* In place of the C library's: what a write to a pipe or a terminal fails with, if not 0. */
static int refusal;

ssize_t write(int fd, const void *buf, size_t n)
{
    if (refusal != 0) {
        errno = refusal;
        return -1;
    }
    return syscall(SYS_write, fd, buf, n);
}

static void a_file_appears_at_commit_and_not_before(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 11));
    assert_int_equal(access(in_scratch("a"), F_OK), -1);
    assert_ok(ctx, twi_output_write(ctx, output, "hello ", 6));
    assert_ok(ctx, twi_output_write(ctx, output, "world", 5));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_int_equal(scratch_count(), 1);
    assert_file("a", "hello world", 11);
    close_context(ctx);
}

static void a_file_shorter_than_reserved_has_its_true_length(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 100000));
    assert_ok(ctx, twi_output_write(ctx, output, "abc", 3));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_file("a", "abc", 3);
    close_context(ctx);
}

static void large_pieces_arrive_in_place_for_any_thread_count(void **state)
{
    (void)state;
    const size_t bytes = ((size_t)9 << 20) + 12345;
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(i * 31 + (i >> 11));
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        tw_context *ctx = open_context();
        twi_output *output = NULL;
        assert_ok(ctx, tw_set_threads(ctx, threads));
        assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("big"), 0));
        assert_ok(ctx, twi_output_write(ctx, output, data, 7));
        assert_ok(ctx, twi_output_write(ctx, output, data + 7, bytes - 7));
        assert_ok(ctx, twi_output_commit(ctx, output));
        assert_file("big", data, bytes);
        close_context(ctx);
    }
    free(data);
}

/* Large enough to be written through a mapping, where the system has one. */
enum { LARGE = (64 << 20) + 12345 };

static unsigned char *make_large(void)
{
    unsigned char *data = malloc(LARGE);
    assert_non_null(data);
    for (size_t i = 0; i < LARGE; i++) {
        data[i] = (unsigned char)(i * 37 + (i >> 12));
    }
    return data;
}

static void a_large_file_holds_what_was_written_piece_by_piece(void **state)
{
    (void)state;
    static const size_t ends[] = {7, 4096, 1 << 20, (9 << 20) + 1, (40 << 20) - 3, LARGE};
    unsigned char *data = make_large();
    for (int threads = 1; threads <= 4; threads += 3) {
        tw_context *ctx = open_context();
        twi_output *output = NULL;
        size_t begin = 0;
        assert_ok(ctx, tw_set_threads(ctx, threads));
        assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("large"), LARGE));
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            assert_ok(ctx, twi_output_write(ctx, output, data + begin, ends[i] - begin));
            begin = ends[i];
        }
        assert_ok(ctx, twi_output_commit(ctx, output));
        assert_int_equal(scratch_count(), 1);
        assert_file("large", data, LARGE);
        close_context(ctx);
    }
    free(data);
}

static void a_large_file_may_end_early_or_late(void **state)
{
    (void)state;
    unsigned char *data = make_large();
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("short"), LARGE));
    assert_ok(ctx, twi_output_write(ctx, output, data, 5000));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_file("short", data, 5000);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("long"), LARGE - 5000));
    assert_ok(ctx, twi_output_write(ctx, output, data, LARGE - 6000));
    assert_ok(ctx, twi_output_write(ctx, output, data + LARGE - 6000, 6000));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_file("long", data, LARGE);
    close_context(ctx);
    free(data);
}

static void a_large_file_can_be_given_up(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("large"), LARGE));
    twi_output_discard(output);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("large"), LARGE));
    assert_ok(ctx, twi_output_write(ctx, output, "abc", 3));
    tw_cancel(ctx);
    assert_int_equal(twi_output_write(ctx, output, "abc", 3), TW_ERR_CANCELLED);
    twi_output_discard(output);
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void a_discarded_file_leaves_the_old_one_and_nothing_else(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    put_file("a", "old", 3);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 50));
    assert_ok(ctx, twi_output_write(ctx, output, "new", 3));
    twi_output_discard(output);
    assert_int_equal(scratch_count(), 1);
    assert_file("a", "old", 3);
    twi_output_discard(NULL);
    close_context(ctx);
}

static void a_replaced_file_keeps_its_permissions(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    struct stat found;
    put_file("a", "old", 3);
    assert_int_equal(chmod(in_scratch("a"), 0640), 0);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 0));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_int_equal(stat(in_scratch("a"), &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    assert_file("a", "", 0);
    close_context(ctx);
}

static void a_link_is_written_through(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const targets[] = {"there", "not-yet"};
    put_file("there", "old", 3);
    for (int i = 0; i < 2; i++) {
        twi_output *output = NULL;
        struct stat found;
        assert_int_equal(symlink(targets[i], in_scratch("link")), 0);
        assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("link"), 0));
        assert_ok(ctx, twi_output_write(ctx, output, "new", 3));
        assert_ok(ctx, twi_output_commit(ctx, output));
        assert_int_equal(lstat(in_scratch("link"), &found), 0);
        assert_true(S_ISLNK(found.st_mode));
        assert_file(targets[i], "new", 3);
        assert_int_equal(unlink(in_scratch("link")), 0);
    }
    close_context(ctx);
}

static void links_in_a_circle_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_int_equal(symlink("b", in_scratch("a")), 0);
    assert_int_equal(symlink("a", in_scratch("b")), 0);
    assert_fails(ctx, TW_ERR_IO, "cannot open", twi_output_open(ctx, &output, in_scratch("a"), 0));
    assert_null(output);
    unlink(in_scratch("a"));
    unlink(in_scratch("b"));
    close_context(ctx);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    char name[5000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_fails(ctx, TW_ERR_IO, "it is a folder", twi_output_open(ctx, &output, scratch, 0));
    assert_fails(ctx, TW_ERR_IO, "it is a folder",
                 twi_output_open(ctx, &output, in_scratch("new/"), 0));
    assert_fails(ctx, TW_ERR_IO, "there is no folder",
                 twi_output_open(ctx, &output, in_scratch("no/such"), 0));
    assert_fails(ctx, TW_ERR_IO, "Not a directory",
                 twi_output_open(ctx, &output, "/dev/null/a", 0));
    assert_fails(ctx, TW_ERR_IO, "File name too long", twi_output_open(ctx, &output, name, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "needs a name", twi_output_open(ctx, &output, "", 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "needs a name", twi_output_open(ctx, &output, NULL, 0));
    assert_null(output);
    close_context(ctx);
}

static void a_size_no_disk_has_is_refused_at_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_fails(ctx, TW_ERR_IO, "a'", twi_output_open(ctx, &output, in_scratch("a"), UINT64_MAX));
    assert_fails(ctx, TW_ERR_IO, "no room for",
                 twi_output_open(ctx, &output, in_scratch("a"), (uint64_t)1 << 60));
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void a_full_device_is_reported(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, "/dev/full", 3));
    assert_fails(ctx, TW_ERR_IO, "No space left", twi_output_write(ctx, output, "abc", 3));
    twi_output_discard(output);
    assert_ok(ctx, twi_output_open(ctx, &output, "/dev/null", 3));
    assert_ok(ctx, twi_output_write(ctx, output, "abc", 3));
    assert_ok(ctx, twi_output_commit(ctx, output));
    struct stat found;
    assert_int_equal(stat("/dev/full", &found), 0);
    assert_true(S_ISCHR(found.st_mode));
    close_context(ctx);
}

static void a_pipe_is_written_and_stays_a_pipe(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    char got[8] = {0};
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    int reader = open(in_scratch("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("pipe"), 3));
    assert_ok(ctx, twi_output_write(ctx, output, "abc", 3));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_int_equal(read(reader, got, sizeof got), 3);
    assert_string_equal(got, "abc");
    close(reader);
    assert_int_equal(unlink(in_scratch("pipe")), 0);
    close_context(ctx);
}

/* File systems of users may fail with any number, also with that of a call to tw_cancel. */
static void a_write_that_the_system_cancelled_is_an_error(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    int reader = open(in_scratch("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("pipe"), 3));
    refusal = ECANCELED;
    tw_status status = twi_output_write(ctx, output, "abc", 3);
    refusal = 0;
    close(reader);
    assert_int_equal(unlink(in_scratch("pipe")), 0);
    assert_fails(ctx, TW_ERR_IO, "cannot write", status);
    twi_output_discard(output);
    close_context(ctx);
}

/* Standard output becomes a pipe that nobody reads any more, for one write. */
static void a_reader_that_left_is_an_error_and_no_signal_of_ours(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    signal(SIGPIPE, SIG_IGN); /* as the command does */
    dup2(ends[1], STDOUT_FILENO);
    tw_status opened = twi_output_open(ctx, &output, "-", 3);
    tw_status written = opened == TW_OK ? twi_output_write(ctx, output, "abc", 3) : opened;
    dup2(kept, STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    close(kept);
    close(ends[1]);
    assert_fails(ctx, TW_ERR_IO, "'standard output': the reader closed the pipe", written);
    twi_output_discard(output);
    close_context(ctx);
}

static void a_cancelled_write_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 0));
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", twi_output_write(ctx, output, "abc", 3));
    twi_output_discard(output);
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void no_memory_at_any_point_leaves_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_output *output = NULL;
    tw_status status = TW_ERR_MEMORY;
    for (int64_t k = 1; status != TW_OK; k++) {
        twi_meter_fail_at(ctx->meter, k);
        status = twi_output_open(ctx, &output, in_scratch("a"), 10);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_true(scratch_count() <= (status == TW_OK ? 1 : 0)); /* none, if it has no name */
    }
    twi_meter_fail_at(ctx->meter, 0);
    twi_output_discard(output);
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

/* --------------------------------------------------- temporary files, with and without a name */

static const char *const STALE = ".tilewright-0123456789abcdef";

static mode_t mode_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_mode & 0777;
}

/* Write "new" beside `target` and publish it; its permissions while it has a name. */
static mode_t replace(const char *target, bool named, int mode)
{
    twi_temporary file;
    char name[600];
    mode_t meanwhile = 0;
    assert_int_equal(twi_temporary_open(&file, name, target, named), 0);
    if (named) {
        assert_true(file.named);
    }
    if (file.named) {
        meanwhile = mode_of(name);
    }
    assert_int_equal(write(file.fd, "new", 3), 3);
    assert_int_equal(twi_temporary_publish(&file, name, target, mode), 0);
    assert_int_equal(file.fd, -1);
    return meanwhile;
}

static void a_temporary_file_is_for_its_owner_alone_until_it_has_its_name(void **state)
{
    (void)state;
    mode_t before = umask(026);
    for (int named = 0; named <= 1; named++) {
        char target[512];
        snprintf(target, sizeof target, "%s", in_scratch("a"));
        assert_int_equal(replace(target, named != 0, -1) & 077, 0);
        assert_int_equal(mode_of(target), 0640);
        assert_int_equal(replace(target, named != 0, 0604) & 077, 0);
        assert_int_equal(mode_of(target), 0604);
        assert_file("a", "new", 3);
    }
    umask(before);
    assert_int_equal(scratch_count(), 0);
}

static void a_discarded_temporary_file_is_gone(void **state)
{
    (void)state;
    for (int named = 0; named <= 1; named++) {
        twi_temporary file;
        char name[600];
        char target[512];
        snprintf(target, sizeof target, "%s", in_scratch("a"));
        assert_int_equal(twi_temporary_open(&file, name, target, named != 0), 0);
        assert_int_equal(scratch_count(), file.named ? 1 : 0);
        twi_temporary_discard(&file, name);
        assert_int_equal(scratch_count(), 0);
    }
}

/* A child that is killed while it writes. */
static void kill_a_writer(bool named)
{
    int ready[2];
    char target[512];
    snprintf(target, sizeof target, "%s", in_scratch("killed"));
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        twi_temporary file;
        char name[600];
        int failed = twi_temporary_open(&file, name, target, named);
        if (write(ready[1], failed == 0 ? "y" : "n", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    char answer = 0;
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    if (named) { /* it is alive: its file stays */
        assert_int_equal(scratch_count(), 1);
        assert_int_equal(replace(in_scratch("other"), false, -1), 0);
        assert_file("other", "new", 3);
        assert_int_equal(scratch_count(), 1);
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
}

static void what_a_killed_process_left_is_removed_by_the_next(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    kill_a_writer(true);
    assert_int_equal(scratch_count(), 1);
    twi_output *output = NULL;
    assert_ok(ctx, twi_output_open(ctx, &output, in_scratch("a"), 0));
    assert_ok(ctx, twi_output_commit(ctx, output));
    assert_file("a", "", 0);
    assert_int_equal(scratch_count(), 0);
    kill_a_writer(false); /* no name where the file system can do without */
    put_file("a", "", 0);
    replace(in_scratch("a"), false, -1);
    assert_file("a", "new", 3);
    assert_int_equal(scratch_count(), 0);
    close_context(ctx);
}

static void what_may_be_somebody_elses_is_not_removed(void **state)
{
    (void)state;
    static const char *const others[] = {".tilewright-0123456789abcdef0", ".tilewright-0123",
                                         ".tilewright-0123456789abcdeg", "tilewright-01234567"};
    char target[512];
    snprintf(target, sizeof target, "%s", in_scratch("a"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put_file(others[i], "x", 1);
    }
    put_file("linked", "x", 1);
    assert_int_equal(symlink("linked", in_scratch(STALE)), 0);
    replace(target, false, -1);
    assert_int_equal(access(in_scratch(STALE), F_OK), 0);
    assert_int_equal(unlink(in_scratch(STALE)), 0);
    assert_int_equal(link(in_scratch("linked"), in_scratch(STALE)), 0); /* has another name, too */
    replace(target, false, -1);
    assert_int_equal(unlink(in_scratch("linked")), 0);
    int held = open(in_scratch(STALE), O_RDONLY);
    assert_int_equal(flock(held, LOCK_SH), 0);
    replace(target, false, -1);
    assert_int_equal(access(in_scratch(STALE), F_OK), 0);
    close(held);
    replace(target, false, -1); /* now it is nobody's */
    assert_int_equal(access(in_scratch(STALE), F_OK), -1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_file(others[i], "x", 1);
    }
    assert_file("a", "new", 3);
    assert_int_equal(scratch_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_at_commit_and_not_before),
        cmocka_unit_test(a_file_shorter_than_reserved_has_its_true_length),
        cmocka_unit_test(large_pieces_arrive_in_place_for_any_thread_count),
        cmocka_unit_test(a_large_file_holds_what_was_written_piece_by_piece),
        cmocka_unit_test(a_large_file_may_end_early_or_late),
        cmocka_unit_test(a_large_file_can_be_given_up),
        cmocka_unit_test(a_discarded_file_leaves_the_old_one_and_nothing_else),
        cmocka_unit_test(a_replaced_file_keeps_its_permissions),
        cmocka_unit_test(a_link_is_written_through),
        cmocka_unit_test(links_in_a_circle_are_refused),
        cmocka_unit_test(a_place_that_cannot_be_written_is_named),
        cmocka_unit_test(a_size_no_disk_has_is_refused_at_once),
        cmocka_unit_test(a_full_device_is_reported),
        cmocka_unit_test(a_pipe_is_written_and_stays_a_pipe),
        cmocka_unit_test(a_write_that_the_system_cancelled_is_an_error),
        cmocka_unit_test(a_reader_that_left_is_an_error_and_no_signal_of_ours),
        cmocka_unit_test(a_cancelled_write_stops),
        cmocka_unit_test(no_memory_at_any_point_leaves_nothing),
        cmocka_unit_test(a_temporary_file_is_for_its_owner_alone_until_it_has_its_name),
        cmocka_unit_test(a_discarded_temporary_file_is_gone),
        cmocka_unit_test(what_a_killed_process_left_is_removed_by_the_next),
        cmocka_unit_test(what_may_be_somebody_elses_is_not_removed),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

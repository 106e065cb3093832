/*
 * Memory that control groups leave, read from made-up files of a kernel: each case lays out a few
 * files below a folder of its own and says what is left.
 */
#include "unit/scratch_folder.h"

#include "base/available.h"

#include <errno.h>

#define MOST_FILES 24
#define MIB ((uint64_t)1 << 20)

static char laid[MOST_FILES][512];
static int laid_count;

/* Write a file below the scratch folder, and the folders it lies in. */
static void lay(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", scratch, path);
    for (char *at = whole + strlen(scratch) + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
            *at = '/';
        }
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_true(laid_count < MOST_FILES);
    strcpy(laid[laid_count++], whole);
}

/* Remove all that was laid out, and the folders above it up to the scratch folder. */
static void clear(void)
{
    for (int i = 0; i < laid_count; i++) {
        (void)unlink(laid[i]);
    }
    while (laid_count > 0) {
        char *path = laid[--laid_count];
        for (char *slash = strrchr(path, '/'); (size_t)(slash - path) > strlen(scratch);
             slash = strrchr(path, '/')) {
            *slash = '\0';
            (void)rmdir(path); /* once it is empty */
        }
    }
}

static void machine_with(const char *group, const char *mounts)
{
    lay("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 4194304 kB\n");
    lay("/proc/self/cgroup", group);
    lay("/proc/self/mountinfo", mounts);
}

static void assert_left(uint64_t expected)
{
    assert_int_equal(twi_memory_available_by(scratch), expected);
    clear();
}

#define V2_MOUNT "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void without_groups_it_is_what_the_machine_has(void **state)
{
    (void)state;
    machine_with("0::/\n", V2_MOUNT);
    assert_left(4096 * MIB);
    lay("/proc/meminfo", "MemAvailable: 4194304 kB\n"); /* a kernel without groups */
    assert_left(4096 * MIB);
    assert_left(UINT64_MAX); /* one without files */
}

static void a_nested_group_of_version_2_limits(void **state)
{
    (void)state;
    /* As under Slurm: the limit lies two levels above the process. */
    machine_with("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n", V2_MOUNT);
    lay("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.max",
        "max\n");
    lay("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.current",
        "1048576\n");
    lay("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.max", "1073741824\n");
    lay("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.current", "104857600\n");
    assert_left(924 * MIB);
}

static void the_narrowest_of_all_levels_counts(void **state)
{
    (void)state;
    machine_with("0::/user.slice/app\n", V2_MOUNT);
    lay("/sys/fs/cgroup/user.slice/app/memory.max", "2147483648\n");
    lay("/sys/fs/cgroup/user.slice/app/memory.current", "104857600\n");
    lay("/sys/fs/cgroup/user.slice/memory.max", "3221225472\n");
    lay("/sys/fs/cgroup/user.slice/memory.current", "3170893824\n"); /* others use it up */
    assert_left(48 * MIB);
}

static void a_high_mark_counts_as_a_limit(void **state)
{
    (void)state;
    machine_with("0::/a\n", V2_MOUNT);
    lay("/sys/fs/cgroup/a/memory.max", "max\n");
    lay("/sys/fs/cgroup/a/memory.high", "536870912\n");
    lay("/sys/fs/cgroup/a/memory.current", "16777216\n");
    assert_left(496 * MIB);
}

static void pages_of_files_that_were_read_do_not_count_as_used(void **state)
{
    (void)state;
    machine_with("0::/a\n", V2_MOUNT);
    lay("/sys/fs/cgroup/a/memory.max", "536870912\n");
    lay("/sys/fs/cgroup/a/memory.current", "533725184\n");
    lay("/sys/fs/cgroup/a/memory.stat", "anon 1048576\ninactive_file 419430400\nactive_file 9\n");
    assert_left(403 * MIB);
    machine_with("0::/a\n", V2_MOUNT);
    lay("/sys/fs/cgroup/a/memory.max", "1048576\n");
    lay("/sys/fs/cgroup/a/memory.current", "2097152\n"); /* lowered meanwhile */
    assert_left(0);
}

static void a_group_of_version_1_limits(void **state)
{
    (void)state;
    machine_with("9:cpu,cpuacct:/slurm/uid_0\n4:hugetlb,memory:/slurm/uid_0/job_3\n"
                 "1:name=systemd:/\n0::/\n",
                 "36 33 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                 "37 33 0:34 / /sys/fs/cgroup/mem rw shared:9 - cgroup cgroup rw,memory,hugetlb\n"
                 "43 33 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    lay("/sys/fs/cgroup/mem/slurm/uid_0/job_3/memory.limit_in_bytes", "9223372036854771712\n");
    lay("/sys/fs/cgroup/mem/slurm/uid_0/job_3/memory.usage_in_bytes", "1048576\n");
    lay("/sys/fs/cgroup/mem/slurm/uid_0/memory.limit_in_bytes", "268435456\n");
    lay("/sys/fs/cgroup/mem/slurm/uid_0/memory.usage_in_bytes", "67108864\n");
    lay("/sys/fs/cgroup/mem/slurm/uid_0/memory.stat",
        "cache 1\ninactive_file 5\ntotal_inactive_file 33554432\n");
    assert_left(224 * MIB);
}

static void a_container_sees_its_own_limit(void **state)
{
    (void)state;
    /* A namespace of its own: the group is the root of what is mounted. */
    machine_with("0::/\n", V2_MOUNT);
    lay("/sys/fs/cgroup/memory.max", "134217728\n");
    lay("/sys/fs/cgroup/memory.current", "4194304\n");
    assert_left(124 * MIB);
    /* Version 1 without one: the name is the host's, of which the mount shows the last part. */
    machine_with("4:memory:/docker/0a1b\n",
                 "37 33 0:34 /docker/0a1b /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    lay("/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n");
    lay("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4194304\n");
    assert_left(124 * MIB);
    /* A group outside of what can be seen, and a mount with a blank in its name. */
    machine_with("0::/../other\n", "30 24 0:26 / /sys/fs/c\\040group rw - cgroup2 none rw\n");
    lay("/sys/fs/c group/memory.max", "134217728\n");
    lay("/sys/fs/c group/memory.current", "4194304\n");
    assert_left(124 * MIB);
    /* A name that only begins like the mount's. */
    machine_with("0::/docker/0a1b2\n",
                 "30 24 0:26 /docker/0a1b /sys/fs/cgroup rw - cgroup2 - rw\n");
    lay("/sys/fs/cgroup/memory.max", "134217728\n");
    lay("/sys/fs/cgroup/memory.current", "4194304\n");
    assert_left(124 * MIB);
}

static void malformed_files_are_passed_over(void **state)
{
    (void)state;
    machine_with("\n::\n0:\nmemory\n4:memory\n0::/a\n", "\n - \n1 2 3 - cgroup2\n- cgroup2 x y\n"
                                                        "30 24 - cgroup2 cgroup2 rw\n" V2_MOUNT);
    lay("/sys/fs/cgroup/a/memory.max", "nonsense\n");
    lay("/sys/fs/cgroup/a/memory.current", "4194304\n");
    lay("/sys/fs/cgroup/memory.max", "268435456\n");
    lay("/sys/fs/cgroup/memory.current", "4194304\n");
    assert_left(252 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_it_is_what_the_machine_has),
        cmocka_unit_test(a_nested_group_of_version_2_limits),
        cmocka_unit_test(the_narrowest_of_all_levels_counts),
        cmocka_unit_test(a_high_mark_counts_as_a_limit),
        cmocka_unit_test(pages_of_files_that_were_read_do_not_count_as_used),
        cmocka_unit_test(a_group_of_version_1_limits),
        cmocka_unit_test(a_container_sees_its_own_limit),
        cmocka_unit_test(malformed_files_are_passed_over),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

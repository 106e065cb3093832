/* A folder of its own for tests that write files; it must be empty again at the end. */
#ifndef TW_TESTS_SCRATCH_FOLDER_H
#define TW_TESTS_SCRATCH_FOLDER_H

#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

/* The path of a name in the folder; up to four at a time. */
static inline const char *in_scratch(const char *name)
{
    static char paths[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
    return paths[turn];
}

static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/tilewright-test-XXXXXX");
    return mkdtemp(scratch) == NULL ? -1 : 0;
}

/* Names left in the folder, hidden ones too. */
static inline int scratch_count(void)
{
    int count = 0;
    DIR *folder = opendir(scratch);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 ? 1 : 0;
    }
    closedir(folder);
    return count;
}

/* Fails the test if anything is left over. */
static inline int remove_scratch(void **state)
{
    (void)state;
    return rmdir(scratch);
}

static inline void put_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(in_scratch(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* The file must hold exactly these bytes; it is then removed. */
static inline void assert_file(const char *name, const void *bytes, size_t count)
{
    char *read_back = malloc(count + 1);
    FILE *file = fopen(in_scratch(name), "rb");
    assert_non_null(file);
    assert_int_equal(fread(read_back, 1, count + 1, file), count);
    assert_memory_equal(read_back, bytes, count);
    fclose(file);
    free(read_back);
    assert_int_equal(unlink(in_scratch(name)), 0);
}

#endif

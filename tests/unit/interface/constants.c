/*
 * The values of the public constants, which programs that are already compiled carry with them, and
 * which abidiff does not see. One is added, never changed. The test reads the header, so that none
 * is forgotten; the version alone is free to change.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define SAME(name, value) _Static_assert((name) == (value), #name)
SAME(TW_OK, 0);
SAME(TW_ERR_ARGUMENT, 1);
SAME(TW_ERR_MEMORY, 2);
SAME(TW_ERR_IO, 3);
SAME(TW_ERR_FORMAT, 4);
SAME(TW_ERR_RANGE, 5);
SAME(TW_ERR_UNSUPPORTED, 6);
SAME(TW_ERR_CANCELLED, 7);
SAME(TW_ERR_NEGATIVE_CYCLE, 8);
SAME(TW_ERR_VERIFY, 9);
SAME(TW_ERR_DEVICE, 10);
SAME(TW_ERR_INTERNAL, 11);
SAME(TW_AUTO, 0);
SAME(TW_U8, 1);
SAME(TW_U16, 2);
SAME(TW_I16, 3);
SAME(TW_I32, 4);
SAME(TW_F32, 5);
SAME(TW_F64, 6);
SAME(TW_F16, 7);
SAME(TW_I64, 8);
SAME(TW_GRAPH_UNDIRECTED, 1);
SAME(TW_GRAPH_DIRECTED_AS_FILE, -1);
SAME(TW_GRAPH_DIRECTED_NO, 0);
SAME(TW_GRAPH_DIRECTED_YES, 1);
SAME(TW_GRAPH_HEADER_AUTO, -1);
SAME(TW_GRAPH_HEADER_NO, 0);
SAME(TW_GRAPH_HEADER_YES, 1);
SAME(TW_APSP_METHOD_AUTO, 0);
SAME(TW_APSP_METHOD_CLOSURE, 1);
SAME(TW_APSP_METHOD_DIJKSTRA, 2);
SAME(TW_APSP_METHOD_BFS, 3);
SAME(TW_APSP_METHOD_REFERENCE, 4);
SAME(TW_APSP_METHOD_SWEEP, 5);
SAME(TW_APSP_CLOSENESS_NETWORKX, 0);
SAME(TW_APSP_CLOSENESS_IGRAPH, 1);
SAME(TW_REACH_BYTES, 0);
SAME(TW_REACH_BITS, 1);
SAME(TW_ENTROPY_BORDER_CROP, 0);
SAME(TW_ENTROPY_BORDER_REFLECT, 1);
SAME(TW_ENTROPY_BORDER_SYMMETRIC, 2);
SAME(TW_ENTROPY_BORDER_CLAMP, 3);
SAME(TW_ENTROPY_BORDER_WRAP, 4);
SAME(TW_ENTROPY_BORDER_VALID, 5);
SAME(TW_ENTROPY_BASE_E, 0);
SAME(TW_ENTROPY_BASE_2, 2);
SAME(TW_ENTROPY_BASE_10, 10);
SAME(TW_ENTROPY_BASE_LEVELS, -1);
SAME(TW_TIFF_NONE, 0);
SAME(TW_TIFF_LZW, 1);
SAME(TW_TIFF_DEFLATE, 2);
SAME(TW_TIFF_ZSTD, 3);
SAME(TW_APSP_INF_U8, 255);
SAME(TW_APSP_INF_U16, 65535);
SAME(TW_APSP_INF_I32, 1073741823);
SAME(TW_APSP_NO_VERTEX, -9999);

/* Whether this file says SAME of it. */
static bool is_asserted(const char *name)
{
    char line[256], found[64];
    bool asserted = false;
    FILE *self = fopen(TW_TEST_DATA "/../unit/interface/constants.c", "re");
    assert_non_null(self);
    while (fgets(line, sizeof line, self) != NULL) {
        asserted = asserted ||
                   (sscanf(line, "SAME(%63[A-Z0-9_],", found) == 1 && strcmp(found, name) == 0);
    }
    assert_int_equal(fclose(self), 0);
    return asserted;
}

static bool is_no_constant(const char *name)
{
    const char *end = strstr(name, "_INIT");
    return strcmp(name, "TW_API") == 0 || strcmp(name, "TW_CHECKED") == 0 ||
           strncmp(name, "TW_VERSION_", 11) == 0 || (end != NULL && end[5] == '\0');
}

/* Every TW_NAME that a line defines: behind #define, or before = in an enum, several to a line. */
static int check_line(const char *line)
{
    char name[64];
    int found = 0;
    if (sscanf(line, "#define %63[A-Z0-9_]", name) == 1) {
        if (strncmp(name, "TW_", 3) == 0 && !is_no_constant(name)) {
            found++;
            if (!is_asserted(name)) {
                fail_msg("%s is not in this test", name);
            }
        }
        return found;
    }
    for (const char *at = strstr(line, "TW_"); at != NULL; at = strstr(at + 3, "TW_")) {
        char equals[2];
        if (sscanf(at, "%63[A-Z0-9_] %1[=]", name, equals) == 2) {
            found++;
            if (!is_asserted(name)) {
                fail_msg("%s is not in this test", name);
            }
        }
    }
    return found;
}

static void no_constant_of_the_header_is_missing(void **state)
{
    (void)state;
    char line[512];
    int found = 0;
    FILE *header = fopen(TW_TEST_DATA "/../../include/tilewright.h", "re");
    assert_non_null(header);
    while (fgets(line, sizeof line, header) != NULL) {
        found += check_line(line);
    }
    assert_int_equal(fclose(header), 0);
    assert_true(found >= 50);
}

static void the_changelog_begins_with_the_version_of_the_header(void **state)
{
    (void)state;
    char line[512], version[32] = "";
    FILE *changelog = fopen(TW_TEST_DATA "/../../CHANGELOG.md", "re");
    assert_non_null(changelog);
    while (version[0] == '\0' && fgets(line, sizeof line, changelog) != NULL) {
        (void)sscanf(line, "## [%31[^]]", version);
    }
    assert_int_equal(fclose(changelog), 0);
    assert_string_equal(version, TW_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_constant_of_the_header_is_missing),
        cmocka_unit_test(the_changelog_begins_with_the_version_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

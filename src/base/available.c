/*
 * See available.h. A process belongs to one control group of each hierarchy that counts memory:
 * that of version 2 and, on older systems, one of version 1. Its own group and every one above it
 * may have a limit, and the narrowest counts. /proc/self/cgroup names the group, and
 * /proc/self/mountinfo tells where its files are: in a container often only the part below some
 * group is to be seen, or the group's name is that outside the container; the walk then begins at
 * the mount itself.
 *
 * Pages of files that were only read are given back when memory is needed (inactive_file), so they
 * do not count as used: reading a large graph would otherwise leave no memory to work on it.
 */
#include "base/available.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LINE 8192
#define NONE UINT64_MAX

typedef struct hierarchy {
    int version;
    const char *type; /* of its file system */
    const char *limits[2];
    const char *used;
    const char *reclaimable; /* a line of memory.stat */
} hierarchy;

static const hierarchy hierarchies[] = {
    {2, "cgroup2", {"memory.max", "memory.high"}, "memory.current", "inactive_file "},
    {1, "cgroup", {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "},
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return limit == NONE ? NONE : limit > used ? limit - used : 0;
}

static FILE *open_below(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* The number after `name` at the start of a line in a small file of the kernel's, such as
 * /proc/meminfo; NONE if there is none. */
static uint64_t number_in(const char *folder, const char *file_name, const char *name)
{
    uint64_t value = NONE;
    FILE *file = open_below(folder, file_name);
    if (file != NULL) {
        char line[256];
        while (value == NONE && fgets(line, sizeof line, file) != NULL) {
            char *number = line + strlen(name);
            char *end = number;
            if (strncmp(line, name, strlen(name)) == 0) {
                uint64_t found = strtoull(number, &end, 10);
                value = end != number ? found : NONE;
            }
        }
        fclose(file);
    }
    return value;
}

/* Whether `word` is one of a list with commas. */
static bool lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (*list != '\0') {
        size_t each = strcspn(list, ",");
        if (each == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += each + (list[each] == ',' ? 1 : 0);
    }
    return false;
}

/* The name of this process's group from a line "number:controllers:name", or NULL if the line is
 * about another hierarchy. */
static char *group_in_line(char *line, int version)
{
    char *controllers = strchr(line, ':');
    char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (name == NULL) {
        return NULL;
    }
    *controllers++ = '\0';
    *name++ = '\0';
    name[strcspn(name, "\n")] = '\0';
    bool found = version == 2 ? strcmp(line, "0") == 0 && *controllers == '\0'
                              : lists(controllers, "memory");
    return found ? name : NULL;
}

static bool find_group(const char *root, int version, char group[LINE])
{
    char line[LINE];
    bool found = false;
    FILE *file = open_below(root, "proc/self/cgroup");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *name = group_in_line(line, version);
        if (name != NULL) {
            memmove(group, name, strlen(name) + 1); /* of a line no longer than it has room */
            found = true;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* In place: \040 and the like of /proc/self/mountinfo to the characters they stand for. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        const bool octal = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;
        const int code = octal ? (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0') : 0;
        if (code > 0 && code < 256) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* From a line "id parent device root place options [more] - type source options": where the
 * hierarchy is mounted, and which of its groups is at that place. */
static bool mount_in_line(char *line, const hierarchy *h, char **place, char **top)
{
    char *save = NULL;
    char *rest = strstr(line, " - ");
    if (rest == NULL) {
        return false;
    }
    *rest = '\0';
    const char *type = strtok_r(rest + 3, " \n", &save);
    (void)strtok_r(NULL, " \n", &save);
    const char *options = strtok_r(NULL, " \n", &save);
    if (type == NULL || strcmp(type, h->type) != 0 ||
        (h->version == 1 && (options == NULL || !lists(options, "memory")))) {
        return false;
    }
    char *word = strtok_r(line, " ", &save);
    for (int i = 0; i < 3 && word != NULL; i++) {
        word = strtok_r(NULL, " ", &save);
    }
    *top = word;
    *place = strtok_r(NULL, " ", &save);
    if (*top == NULL || *place == NULL) {
        return false;
    }
    unescape(*top);
    unescape(*place);
    return true;
}

/* The part of a group's name below `top`; "" if it is not below it, as far as can be seen. */
static const char *below(const char *group, const char *top)
{
    const size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(group, top, length) != 0 || strncmp(group, "/..", 3) == 0 ||
        (group[length] != '/' && group[length] != '\0')) {
        return "";
    }
    return strcmp(group + length, "/") == 0 ? "" : group + length;
}

static uint64_t left_in_group(const hierarchy *h, const char *folder)
{
    uint64_t limit = NONE;
    for (int i = 0; i < 2 && h->limits[i] != NULL; i++) {
        limit = least(limit, number_in(folder, h->limits[i], ""));
    }
    uint64_t used = limit != NONE ? number_in(folder, h->used, "") : NONE;
    if (used == NONE) {
        return NONE;
    }
    uint64_t reclaimable = number_in(folder, "memory.stat", h->reclaimable);
    return left_of(limit, reclaimable == NONE ? used : left_of(used, reclaimable));
}

/* The minimum that the group and those above it leave, up to the first `top` characters. */
static uint64_t left_up_to(const hierarchy *h, char *folder, size_t top)
{
    uint64_t left = left_in_group(h, folder);
    while (strlen(folder) > top) {
        *strrchr(folder, '/') = '\0';
        left = least(left, left_in_group(h, folder));
    }
    return left;
}

static uint64_t left_in_hierarchy(const char *root, const hierarchy *h)
{
    char group[LINE];
    char line[LINE];
    uint64_t left = NONE;
    FILE *file =
        find_group(root, h->version, group) ? open_below(root, "proc/self/mountinfo") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char folder[PATH_MAX];
        char *place;
        char *top;
        if (!mount_in_line(line, h, &place, &top)) {
            continue;
        }
        const int base = snprintf(folder, sizeof folder, "%s%s", root, place);
        const int whole = snprintf(folder, sizeof folder, "%s%s%s", root, place, below(group, top));
        if (whole > 0 && whole < (int)sizeof folder) {
            left = least(left, left_up_to(h, folder, (size_t)base));
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return left;
}

uint64_t twi_memory_available_by(const char *root)
{
    uint64_t kib = number_in(root, "proc/meminfo", "MemAvailable:");
    uint64_t available = kib != NONE ? kib << 10 : NONE;
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        available = least(available, left_in_hierarchy(root, &hierarchies[i]));
    }
    return available;
}

uint64_t twi_memory_total(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
}

static uint64_t left_of_resource(__rlimit_resource_t resource, uint64_t pages)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return NONE;
    }
    return left_of((uint64_t)limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGE_SIZE));
}

/* What ulimit -v and -d leave. */
static uint64_t left_of_limits(void)
{
    uint64_t pages[6] = {0}; /* all, resident, shared, text, libraries, data */
    char line[LINE];
    FILE *file = fopen("/proc/self/statm", "re");
    bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    char *at = line;
    for (int i = 0; read && i < 6; i++) {
        char *end = NULL;
        pages[i] = strtoull(at, &end, 10);
        read = end != at;
        at = end;
    }
    return read ? least(left_of_resource(RLIMIT_AS, pages[0]),
                        left_of_resource(RLIMIT_DATA, pages[5]))
                : NONE;
}

uint64_t twi_memory_available(void)
{
    return least(least(twi_memory_available_by(""), left_of_limits()), twi_memory_total());
}

/*
 * Under which conditions a piece of a text is compiled: the #if, #elif and #else around it, nested
 * ones together, as one condition. See sources.h.
 */
#include "show/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

/* One #if and its branch: `before` are the branches that were not taken, joined by ||. */
typedef struct branch {
    char before[LAB_CONDITION];
    char now[LAB_CONDITION]; /* "" after #else, and of a header's guard */
} branch;

/* The words of a directive's line, without its comment. */
static void words_of(const char *at, char out[LAB_CONDITION])
{
    size_t length = strcspn(at, "\n");
    const char *comment = memmem(at, length, "/*", 2);
    length = comment != NULL ? (size_t)(comment - at) : length;
    while (length > 0 && isspace((unsigned char)at[length - 1])) {
        length--;
    }
    snprintf(out, LAB_CONDITION, "%.*s", (int)length, at);
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return *at == '\0' ? at : at + 1;
}

/* Whether the #ifndef on this line guards a header: the next line defines what it asks for. */
static bool is_guard(const char *line, const char *name)
{
    char defined[LAB_CONDITION];
    const char *next = next_line(line);
    if (strncmp(next, "#define ", 8) != 0) {
        return false;
    }
    words_of(next + 8, defined);
    return strcmp(defined, name) == 0;
}

static void open_branch(branch *b, const char *line)
{
    char words[LAB_CONDITION - 32];
    char whole[LAB_CONDITION];
    *b = (branch){.before = ""};
    if (strncmp(line, "#if ", 4) == 0) {
        words_of(line + 4, b->now);
        return;
    }
    const bool unless = strncmp(line, "#ifndef ", 8) == 0;
    words_of(line + (unless ? 8 : 7), whole);
    snprintf(words, sizeof words, "%.*s", (int)sizeof words - 1, whole);
    if (!unless || !is_guard(line, words)) {
        snprintf(b->now, sizeof b->now, "%sdefined(%s)", unless ? "!" : "", words);
    }
}

/* The branch after this one of the same #if. */
static void turn_branch(branch *b, const char *line)
{
    char joined[2 * LAB_CONDITION + 8];
    snprintf(joined, sizeof joined, "%s%s%s", b->before, b->before[0] != '\0' ? " || " : "",
             b->now);
    snprintf(b->before, sizeof b->before, "%.*s", LAB_CONDITION - 1, joined);
    b->now[0] = '\0';
    if (strncmp(line, "#elif ", 6) == 0) {
        words_of(line + 6, b->now);
    }
}

/* One part of a condition; of several, what it joins itself is bracketed. */
static void add_part(char out[LAB_CONDITION], bool negated, const char *part, bool alone)
{
    const size_t used = strlen(out);
    const bool joins = strstr(part, "||") != NULL || strstr(part, "&&") != NULL;
    const bool compares = strpbrk(part, "<>=") != NULL;
    const bool bracket = negated ? joins || compares : !alone && strstr(part, "||") != NULL;
    snprintf(out + used, LAB_CONDITION - used, "%s%s%s%s%s", used > 0 ? " && " : "",
             negated ? "!" : "", bracket ? "(" : "", part, bracket ? ")" : "");
}

void lab_condition_of(const lab_piece *piece, char out[LAB_CONDITION])
{
    branch open[MOST_DEPTH];
    int depth = 0, parts = 0;
    for (const char *line = piece->text; line != NULL && *line != '\0' && line < piece->begin;
         line = next_line(line)) {
        if (strncmp(line, "#if", 3) == 0) {
            if (depth < MOST_DEPTH) {
                open_branch(&open[depth], line);
            }
            depth++;
        } else if (strncmp(line, "#el", 3) == 0 && depth > 0 && depth <= MOST_DEPTH) {
            turn_branch(&open[depth - 1], line);
        } else if (strncmp(line, "#endif", 6) == 0) {
            depth -= depth > 0;
        }
    }
    depth = depth < MOST_DEPTH ? depth : MOST_DEPTH;
    for (int i = 0; i < depth; i++) {
        parts += (open[i].before[0] != '\0') + (open[i].now[0] != '\0');
    }
    out[0] = '\0';
    for (int i = 0; i < depth; i++) {
        if (open[i].before[0] != '\0') {
            add_part(out, true, open[i].before, parts == 1);
        }
        if (open[i].now[0] != '\0') {
            add_part(out, false, open[i].now, parts == 1);
        }
    }
}

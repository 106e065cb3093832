/* See sources.h. */
#include "show/sources.h"

#include <ctype.h>
#include <string.h>

const char *lab_source_of(const char *file, size_t length)
{
    for (const lab_source *each = lab_sources; each->file != NULL; each++) {
        if (strlen(each->file) == length && memcmp(each->file, file, length) == 0) {
            return each->text;
        }
    }
    return NULL;
}

static const char *line_end(const char *at)
{
    return at + strcspn(at, "\n");
}

static const char *next_line(const char *at)
{
    const char *end = line_end(at);
    return *end == '\0' ? end : end + 1;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the name stands as a word before a parenthesis on the line; NULL if it does not. */
static const char *called_at(const char *line, const char *name, size_t length)
{
    for (const char *at = line; at + length < line_end(line); at++) {
        if (memcmp(at, name, length) == 0 && at[length] == '(' &&
            (at == line || !is_name(at[-1]))) {
            return at;
        }
    }
    return NULL;
}

/* Whether what follows the name is a body, and not the end of a declaration. */
static bool is_defined(const char *at)
{
    return at[strcspn(at, "{;")] == '{';
}

/* The first line of the block of lines that ends with this one: a comment, a template. */
static const char *block_begin(const char *text, const char *line)
{
    while (line > text) {
        const char *above = line - 1;
        while (above > text && above[-1] != '\n') {
            above--;
        }
        if (strchr("\n}#", *above) != NULL) {
            break;
        }
        line = above;
    }
    return line;
}

/* The line after a macro: after the first line that is not continued. */
static const char *macro_end(const char *line)
{
    while (*line != '\0' && line_end(line) > line && line_end(line)[-1] == '\\') {
        line = next_line(line);
    }
    return next_line(line);
}

bool lab_find_function(const char *text, const char *name, size_t length, const char **begin,
                       const char **end)
{
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const bool macro = strncmp(line, "#define ", 8) == 0;
        const char *at = macro || is_name(*line) ? called_at(line, name, length) : NULL;
        if (macro && at == line + 8) {
            *begin = block_begin(text, line);
            *end = macro_end(line);
            return true;
        }
        if (at == NULL || macro || !is_defined(at)) {
            continue;
        }
        const char *last = line;
        while (*last != '\0' && *last != '}') {
            last = next_line(last);
        }
        *begin = block_begin(text, line);
        *end = next_line(last);
        return true;
    }
    return false;
}

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

/* Whether a place on a line is within no parentheses of it. */
static bool is_outside(const char *line, const char *at)
{
    int depth = 0;
    for (; line < at; line++) {
        depth += (*line == '(') - (*line == ')');
    }
    return depth == 0;
}

/* Where the name stands as a word before a parenthesis on the line, and in none; NULL if it does
 * not. */
static const char *called_at(const char *line, const char *name, size_t length)
{
    for (const char *at = line; at + length < line_end(line); at++) {
        if (memcmp(at, name, length) == 0 && at[length] == '(' &&
            (at == line || !is_name(at[-1])) && is_outside(line, at)) {
            return at;
        }
    }
    return NULL;
}

/* Where the name stands as a word on the line; NULL if it does not. */
static const char *named_at(const char *line, const char *name, size_t length)
{
    const char *end = line_end(line), *at = line;
    while ((at = memmem(at, (size_t)(end - at), name, length)) != NULL) {
        if (!is_name(at[length]) && (at == line || !is_name(at[-1]))) {
            return at;
        }
        at++;
    }
    return NULL;
}

/* Whether what follows the name and its parentheses is a body: not the end of a declaration, a
 * value, or the name of what these are the bounds of. */
static bool is_defined(const char *at)
{
    const char *after = at + strcspn(at, "(");
    int depth = 0;
    do {
        depth += (*after == '(') - (*after == ')');
    } while (*after++ != '\0' && depth > 0);
    return after[strspn(after, " \n")] == '{';
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

/* Whether the line goes on with a declaration that begins on the one above, which has its kind and
 * its bounds alone. */
static bool goes_on(const char *text, const char *line)
{
    if (line == text || strncmp(line, "    ", 4) != 0 || !is_name(line[4])) {
        return false;
    }
    const char *above = line - 1;
    while (above > text && above[-1] != '\n') {
        above--;
    }
    return is_name(*above) && above + strcspn(above, ";{}=") >= line;
}

/* The line after a macro: after the first line that is not continued. */
static const char *macro_end(const char *line)
{
    while (*line != '\0' && line_end(line) > line && line_end(line)[-1] == '\\') {
        line = next_line(line);
    }
    return next_line(line);
}

/* The first line of the comment that ends above this one; the same line if none does. */
static const char *comment_begin(const char *text, const char *line)
{
    if (line - text < 3 || strncmp(line - 3, "*/\n", 3) != 0) {
        return line;
    }
    const char *above = line - 1;
    while (above > text && (above[-1] != '\n' || strncmp(above, "/*", 2) != 0)) {
        if (above[-1] == '\n' && strncmp(above, " *", 2) != 0) {
            return line; /* it stands after something */
        }
        above--;
    }
    return above;
}

/* The line above a macro that takes an earlier one of its name away; the same line if there is
 * none.
 */
static const char *undefined_begin(const char *text, const char *line)
{
    static const char undefine[] = "#undef ";
    const char *name = line + sizeof "#define";
    size_t length = 0;
    while (is_name(name[length])) {
        length++;
    }
    const size_t above = sizeof undefine - 1 + length + 1;
    return (size_t)(line - text) >= above &&
                   strncmp(line - above, undefine, sizeof undefine - 1) == 0 &&
                   strncmp(line - length - 1, name, length) == 0
               ? line - above
               : line;
}

/* The line after the first semicolon that is within no braces. */
static const char *statement_end(const char *line)
{
    int depth = 0;
    for (; *line != '\0' && (*line != ';' || depth > 0); line++) {
        depth += (*line == '{') - (*line == '}');
    }
    return next_line(line);
}

/* Whether the line begins the definition of a struct of that name, a template's too. */
static bool begins_struct(const char *line, const char *name, size_t length)
{
    const char *at = is_name(*line) ? named_at(line, name, length) : NULL;
    if (at == NULL || at - line < 7) {
        return false;
    }
    if (strncmp(line, "struct __align__", 16) == 0) { /* its brace is on the next line */
        return at + length == line_end(line) && *next_line(line) == '{';
    }
    return strncmp(at - 7, "struct ", 7) == 0 && at[strcspn(at, "{;(\n")] == '{';
}

/* The number after a name's "#", and the name without it. */
static int wanted_of(const char *name, size_t *length)
{
    const char *mark = memchr(name, '#', *length);
    *length = mark != NULL ? (size_t)(mark - name) : *length;
    return mark != NULL ? mark[1] - '0' : 1;
}

/* Whether the line begins an enum that has a constant of that name. */
static bool begins_enum(const char *line, const char *name, size_t length)
{
    if (strncmp(line, "enum", 4) != 0) {
        return false;
    }
    const char *end = statement_end(line);
    for (const char *at = line; at < end; at++) {
        const char *before = at - 1, *after = at + length;
        if (memcmp(at, name, length) != 0 || is_name(*after) || at == line) {
            continue;
        }
        while (before > line && (*before == ' ' || *before == '\n')) {
            before--;
        }
        after += strspn(after, " \n");
        if (strchr("{,/", *before) != NULL && strchr("=,}", *after) != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether the line declares a variable of that name, or shared memory, outside of functions. */
static bool begins_variable(const char *line, const char *name, size_t length)
{
    const char *at = named_at(line, name, length);
    if (at == NULL || (strncmp(line, "static ", 7) != 0 &&
                       strncmp(line, "extern __shared__ ", sizeof "extern __shared__") != 0)) {
        return false;
    }
    return is_outside(line, at) &&
           (strchr("[;", at[length]) != NULL || strncmp(at + length, " =", 2) == 0);
}

static bool begins_typedef(const char *line, const char *name, size_t length)
{
    const char *at = strncmp(line, "typedef ", 8) == 0 ? named_at(line, name, length) : NULL;
    while (at != NULL && strchr("(;", at[length]) == NULL) { /* it may be of the same name */
        at = named_at(at + length, name, length);
    }
    return at != NULL;
}

/* What the line begins to define by that name; false if nothing. */
static bool begins(const char *text, const char *line, const char *name, size_t length,
                   lab_piece *out)
{
    if (strncmp(line, "enum", 4) != 0 && named_at(line, name, length) == NULL) {
        return false; /* as nearly all lines */
    }
    if (strncmp(line, "#define ", 8) == 0) {
        *out = (lab_piece){comment_begin(text, undefined_begin(text, line)), macro_end(line),
                           LAB_MACRO, text};
        return named_at(line, name, length) == line + 8;
    }
    if (strncmp(line, "#undef ", 7) ==
        0) { /* the one above a macro of the same name is a part of it */
        const char *next = next_line(line);
        *out = (lab_piece){line, next, LAB_MACRO, text};
        return named_at(line, name, length) == line + 7 &&
               (strncmp(next, "#define ", 8) != 0 || named_at(next, name, length) != next + 8);
    }
    if (begins_typedef(line, name, length) || begins_enum(line, name, length) ||
        begins_variable(line, name, length)) {
        *out = (lab_piece){comment_begin(text, line), statement_end(line), LAB_DATA, text};
        return true;
    }
    const bool type = begins_struct(line, name, length);
    const bool may = is_name(*line) || goes_on(text, line);
    const char *at = may && !type ? called_at(line, name, length) : NULL;
    const char *last = line;
    if (!type && (at == NULL || at == line || !is_defined(at))) { /* at == line: a macro's use */
        return false;
    }
    while (*last != '\0' && *last != '}') {
        last = next_line(last);
    }
    *out =
        (lab_piece){block_begin(text, line), next_line(last), type ? LAB_DATA : LAB_FUNCTION, text};
    return true;
}

bool lab_find_definition(const char *text, const char *name, size_t length, lab_piece *out)
{
    int wanted = wanted_of(name, &length);
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        if (begins(text, line, name, length, out) && --wanted == 0) {
            return true;
        }
    }
    return false;
}

/* -------------------------------------------------------------------------------------- recipes */

/* "shape_64_16_16" as its macro has it, "64, 16, 16"; any other name as it is. */
static void arguments_of(const char *name, char *out, size_t room)
{
    size_t used = 0;
    const bool numbers = strncmp(name, "shape_", 6) == 0;
    for (name += numbers ? 6 : 0; *name != '\0' && used + 3 < room; name++) {
        if (numbers && *name == '_') {
            out[used++] = ',';
            out[used++] = ' ';
        } else {
            out[used++] = *name;
        }
    }
    out[used] = '\0';
}

const char *lab_find_recipe(const char *text, const char *name, const char **end)
{
    char wanted[64];
    arguments_of(name, wanted, sizeof wanted);
    const size_t length = strlen(wanted);
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const char *at = line;
        while (is_name(*at)) {
            at++;
        }
        if (at > line && *at == '(' && strncmp(at + 1, wanted, length) == 0 &&
            strchr(",)", at[1 + length]) != NULL && at[1 + length] != '\0') {
            *end = next_line(line);
            return line;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------- tables
 */

/* Whether an entry begins on this line, by that name. */
static bool begins_entry(const char *line, const char *name)
{
    static const char named[] = "    {.name = \"";
    const size_t length = strlen(name);
    const char *at = line;
    if (strncmp(line, named, sizeof named - 1) == 0) {
        at = line + sizeof named - 1;
    } else {
        for (at = line + strspn(line, " "); isupper((unsigned char)*at) || *at == '_'; at++) {
        }
        if (strncmp(line, "    ", 4) != 0 || at == line + 4 || *at != '(') {
            return false;
        }
        at += at[1] == '"' ? 2 : 1; /* a macro may put the quotes */
    }
    return strncmp(at, name, length) == 0 && strchr("\",", at[length]) != NULL;
}

/* After the bracket that closes the first one; texts in quotes are passed over. */
static const char *after_brackets(const char *at)
{
    int depth = 0;
    bool quoted = false;
    for (; *at != '\0'; at++) {
        quoted = *at == '"' ? !quoted : quoted;
        depth += !quoted && (*at == '(' || *at == '{');
        depth -= !quoted && (*at == ')' || *at == '}');
        if (!quoted && depth == 0 && (*at == ')' || *at == '}')) {
            return at + 1;
        }
    }
    return at;
}

bool lab_find_entry(const char *text, const char *name, const char *idea, const char **begin,
                    const char **end)
{
    enum { ENOUGH = 16 }; /* an entry may break its idea over lines */
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        if (!begins_entry(line, name)) {
            continue;
        }
        const char *last = after_brackets(line), *next = next_line(last);
        size_t length = strlen(idea) < ENOUGH ? strlen(idea) : ENOUGH;
        for (const char *at = line; at + length < last; at++) {
            if (memcmp(at, idea, length) == 0) {
                *begin = line;
                *end = next;
                return true;
            }
        }
    }
    return false;
}

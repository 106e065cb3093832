/* See sources.h. */
#include "show/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has(const lab_pieces *pieces, const char *begin)
{
    for (int i = 0; i < pieces->count; i++) {
        if (pieces->at[i].begin == begin) {
            return true;
        }
    }
    return false;
}

bool lab_collect(const char *text, const char *name, size_t length, lab_pieces *out)
{
    lab_piece found;
    if (out->count == LAB_MOST_PIECES ||
        !lab_find_function(text, name, length, &found.begin, &found.end)) {
        return false;
    }
    if (!has(out, found.begin)) {
        out->at[out->count++] = found;
    }
    return true;
}

/* Where a comment or a text in quotes that begins here ends; the same place if none does. */
static const char *past_words(const char *at, const char *end)
{
    if (strncmp(at, "/*", 2) == 0) {
        const char *close = strstr(at, "*/");
        return close != NULL && close + 2 < end ? close + 2 : end;
    }
    if (*at == '"') {
        const char *close = strchr(at + 1, '"');
        return close != NULL && close + 1 < end ? close + 1 : end;
    }
    return at;
}

/* The definition of what is named here, if the text has just one: of two, between which the
 * preprocessor chooses, a ladder's table says which it means. A function is meant where it is
 * called or, in a recipe, wherever its name stands; a type and a macro always. */
static void follow(const char *text, const char *name, size_t length, bool in_recipe,
                   lab_pieces *out)
{
    char second[64];
    lab_piece found, other;
    if (length + 3 > sizeof second ||
        !lab_find_function(text, name, length, &found.begin, &found.end)) {
        return;
    }
    snprintf(second, sizeof second, "%.*s#2", (int)length, name);
    const bool is_function = found.end[-2] == '}'; /* a type ends with a semicolon */
    if (lab_find_function(text, second, length + 2, &other.begin, &other.end) ||
        (is_function && !in_recipe && strchr("(<", name[length]) == NULL)) {
        return;
    }
    (void)lab_collect(text, name, length, out);
}

/* Every name in a stretch of the text. */
static void follow_all(const char *text, lab_piece in, bool in_recipe, lab_pieces *out)
{
    for (const char *at = in.begin; at < in.end;) {
        const char *past = past_words(at, in.end);
        if (past > at) {
            at = past;
        } else if (is_name(*at)) {
            size_t length = 0;
            while (is_name(at[length])) {
                length++;
            }
            const bool member = at > text && strchr(".:>", at[-1]) != NULL;
            if (!member && !isdigit((unsigned char)*at)) {
                follow(text, at, length, in_recipe, out);
            }
            at += length;
        } else {
            at++;
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const lab_piece *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void lab_collect_called(const char *text, const lab_piece *recipe, lab_pieces *out)
{
    if (recipe->begin != NULL) {
        follow_all(text, *recipe, true, out);
    }
    for (int i = 0; i < out->count; i++) {
        follow_all(text, out->at[i], false, out);
    }
    qsort(out->at, (size_t)out->count, sizeof *out->at, by_place);
}

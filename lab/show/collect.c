/* See sources.h. */
#include "show/sources.h"

#include <ctype.h>
#include <stdio.h>
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

static bool add(lab_pieces *out, lab_piece piece)
{
    const bool known = has(out, piece.begin);
    if (!known && out->count < LAB_MOST_PIECES) {
        out->at[out->count++] = piece;
        return true;
    }
    return known;
}

bool lab_collect(const char *text, const char *name, size_t length, lab_pieces *out)
{
    lab_piece found;
    return lab_find_definition(text, name, length, &found) && add(out, found);
}

/* ------------------------------------------------------------------------------------- headers */

/* A text and, before it, the ladders' headers that it includes. */
enum { MOST_TEXTS = 8 };
typedef struct texts {
    const char *at[MOST_TEXTS];
    int count;
} texts;

static texts with_headers(const char *text)
{
    static const char include[] = "\n#include \"ladders/";
    texts all = {.count = 0};
    for (const char *at = strstr(text, include); at != NULL; at = strstr(at + 1, include)) {
        const char *file = at + sizeof include - 1;
        const char *header = lab_source_of(file, strcspn(file, "\""));
        if (header != NULL && all.count < MOST_TEXTS - 1) {
            all.at[all.count++] = header;
        }
    }
    all.at[all.count++] = text;
    return all;
}

/* Which of them a piece is of. */
static int text_of(const texts *all, const lab_piece *piece)
{
    int i = 0;
    while (i < all->count - 1 &&
           !(piece->begin >= all->at[i] && piece->begin < all->at[i] + strlen(all->at[i]))) {
        i++;
    }
    return i;
}

/* --------------------------------------------------------------------------------------- names */

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

/* The definitions of what is named here: all of a macro, a type, a constant or a variable, between
 * which the preprocessor may choose. Of a function only where the text has just one: of two, a
 * ladder's table says which it means. A function is meant where it is called or, in a recipe,
 * wherever its name stands. */
static void follow_in(const char *text, const char *name, size_t length, bool in_recipe,
                      lab_pieces *out)
{
    char numbered[64];
    lab_piece found, other;
    if (length + 3 > sizeof numbered || !lab_find_definition(text, name, length, &found)) {
        return;
    }
    snprintf(numbered, sizeof numbered, "%.*s#2", (int)length, name);
    const bool twice = lab_find_definition(text, numbered, length + 2, &other);
    if (found.kind == LAB_FUNCTION &&
        (twice || (!in_recipe && strchr("(<", name[length]) == NULL))) {
        return;
    }
    (void)add(out, found);
    for (char which = '2'; which <= '9' && lab_find_definition(text, numbered, length + 2, &other);
         which++) {
        (void)add(out, other);
        numbered[length + 1] = (char)(which + 1);
    }
}

static void follow(const texts *all, const char *name, size_t length, bool in_recipe,
                   lab_pieces *out)
{
    for (int i = 0; i < all->count; i++) {
        follow_in(all->at[i], name, length, in_recipe, out);
    }
}

/* Every name in a stretch of the text. */
static void follow_all(const texts *all, lab_piece in, bool in_recipe, lab_pieces *out)
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
            const bool member = at > in.begin && strchr(".:>", at[-1]) != NULL;
            if (!member && !isdigit((unsigned char)*at)) {
                follow(all, at, length, in_recipe, out);
            }
            at += length;
        } else {
            at++;
        }
    }
}

/* By insertion: there are few, and the texts are to be asked. */
static void sort(const texts *all, lab_pieces *out)
{
    for (int i = 1; i < out->count; i++) {
        const lab_piece one = out->at[i];
        const int of = text_of(all, &one);
        int to = i;
        for (; to > 0; to--) {
            const int other = text_of(all, &out->at[to - 1]);
            if (other < of || (other == of && out->at[to - 1].begin < one.begin)) {
                break;
            }
            out->at[to] = out->at[to - 1];
        }
        out->at[to] = one;
    }
}

void lab_collect_called(const char *text, const lab_piece *recipe, lab_pieces *out)
{
    const texts all = with_headers(text);
    if (recipe->begin != NULL) {
        follow_all(&all, *recipe, true, out);
    }
    for (int i = 0; i < out->count; i++) {
        follow_all(&all, out->at[i], false, out);
    }
    sort(&all, out);
}

/* See sources.h. */
#include "show/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool lab_has_piece(const lab_pieces *pieces, const lab_piece *piece)
{
    for (int i = 0; i < pieces->count; i++) {
        if (pieces->at[i].begin == piece->begin) {
            return true;
        }
    }
    return false;
}

static bool add(lab_pieces *out, lab_piece piece)
{
    const bool known = lab_has_piece(out, &piece);
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

/* A text and, before it, the headers that it includes, and those that they do. */
enum { MOST_TEXTS = 24, MOST_DEPTH = 8 };
typedef struct texts {
    const char *at[MOST_TEXTS];
    int count;
} texts;

static int place_of(const texts *all, const char *text)
{
    int i = 0;
    while (i < all->count && all->at[i] != text) {
        i++;
    }
    return i;
}

/* The text of what a line includes; NULL if the program does not carry it. */
static const char *included(const char *file)
{
    static const char ladders[] = "ladders/";
    char path[128];
    const size_t length = strcspn(file, "\"\n");
    if (strncmp(file, ladders, sizeof ladders - 1) == 0) {
        return lab_source_of(file + sizeof ladders - 1, length - (sizeof ladders - 1));
    }
    const int whole = snprintf(path, sizeof path, "src/%.*s", (int)length, file);
    return whole < (int)sizeof path ? lab_source_of(path, (size_t)whole) : NULL;
}

static const char include[] = "\n#include \"";

static void add_text(texts *all, const char *text, int depth)
{
    for (const char *at = strstr(text, include); at != NULL && depth < MOST_DEPTH;
         at = strstr(at + 1, include)) {
        const char *header = included(at + sizeof include - 1);
        if (header != NULL && place_of(all, header) == all->count) {
            add_text(all, header, depth + 1);
        }
    }
    if (all->count < MOST_TEXTS && place_of(all, text) == all->count) {
        all->at[all->count++] = text;
    }
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

/* A name that was followed, where it stands, and in which text. */
typedef struct mention {
    const char *at, *text;
    size_t length;
    bool called;
} mention;

/* What is sought: names of a text in it and in its headers, each of them once. */
enum { MOST_NAMES = 4096 };
typedef struct search {
    const char *from; /* the text whose names are followed */
    texts seen_from;  /* and what its names may be defined in */
    mention seen[MOST_NAMES];
    int count;
    lab_pieces *out;
} search;

static bool is_new(search *s, const char *name, size_t length, bool called)
{
    for (int i = 0; i < s->count; i++) {
        const mention *each = &s->seen[i];
        if (each->length == length && each->called == called && each->text == s->from &&
            memcmp(each->at, name, length) == 0) {
            return false;
        }
    }
    if (s->count < MOST_NAMES) {
        s->seen[s->count++] = (mention){name, s->from, length, called};
    }
    return true;
}

static void look_from(search *s, const char *text)
{
    if (s->from != text) {
        s->from = text;
        s->seen_from.count = 0;
        add_text(&s->seen_from, text, 0);
    }
}

static void follow(search *s, const char *name, size_t length, bool in_recipe)
{
    const bool called = in_recipe || (name[length] != '\0' && strchr("(<", name[length]) != NULL);
    if (!is_new(s, name, length, called)) {
        return;
    }
    for (int i = 0; i < s->seen_from.count; i++) {
        follow_in(s->seen_from.at[i], name, length, in_recipe, s->out);
    }
}

/* Every name in a stretch of a text that stays where it is. */
static void follow_all(search *s, lab_piece in, bool in_recipe)
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
                follow(s, at, length, in_recipe);
            }
            at += length;
        } else {
            at++;
        }
    }
}

/* The names of the condition that a piece is compiled under. Its text is this function's own, so
 * that it is not kept among the names that were followed. */
static void follow_condition(search *s, const lab_piece *piece)
{
    char condition[LAB_CONDITION];
    lab_condition_of(piece, condition);
    const int before = s->count;
    follow_all(s, (lab_piece){condition, condition + strlen(condition), LAB_MACRO, NULL}, false);
    s->count = before;
}

/* The pieces of a text from one place to another, in its order. */
static void put_between(const lab_pieces *all, const char *text, const char *from, const char *to,
                        lab_pieces *sorted)
{
    for (const lab_piece *next; from < to; from = next->begin + 1) {
        next = NULL;
        for (int i = 0; i < all->count; i++) {
            const lab_piece *each = &all->at[i];
            if (each->text == text && each->begin >= from && each->begin < to &&
                (next == NULL || each->begin < next->begin)) {
                next = each;
            }
        }
        if (next == NULL) {
            return;
        }
        (void)add(sorted, *next);
    }
}

/* The pieces of a text, those of a header where it is included first: as a compiler meets them. */
static void put_in_order(const lab_pieces *all, const char *text, texts *met, lab_pieces *sorted)
{
    const char *from = text;
    if (met->count == MOST_TEXTS) {
        return;
    }
    met->at[met->count++] = text;
    for (const char *at = strstr(text, include); at != NULL; at = strstr(at + 1, include)) {
        const char *header = included(at + sizeof include - 1);
        if (header != NULL && place_of(met, header) == met->count) {
            put_between(all, text, from, at, sorted);
            put_in_order(all, header, met, sorted);
            from = at;
        }
    }
    put_between(all, text, from, text + strlen(text), sorted);
}

/* In the order of the texts that pieces were asked of, `first` of them. */
static void sort(lab_pieces *all, const texts *first)
{
    texts met = {.count = 0};
    lab_pieces sorted = {.count = 0};
    for (int i = 0; i < first->count; i++) {
        if (place_of(&met, first->at[i]) == met.count) {
            put_in_order(all, first->at[i], &met, &sorted);
        }
    }
    *all = sorted;
}

/* What the host's functions call of the texts of kernels: functions alone, since a macro or a
 * constant of that name may be another one. */
static void follow_host(const lab_pieces *host, const texts *kernels, lab_pieces *out)
{
    lab_pieces called = {.count = 0};
    search s = {.from = NULL, .count = 0, .out = &called};
    s.seen_from = *kernels;
    for (int i = 0; i < host->count; i++) {
        follow_all(&s, host->at[i], false);
    }
    for (int i = 0; i < called.count; i++) {
        if (called.at[i].kind == LAB_FUNCTION) {
            (void)add(out, called.at[i]);
        }
    }
}

void lab_collect_called(const lab_pieces *host, const lab_piece *recipe, lab_pieces *out)
{
    search s = {.from = NULL, .count = 0, .out = out};
    texts asked = {.count = 0};
    for (int i = 0; i < out->count && asked.count < MOST_TEXTS; i++) {
        if (place_of(&asked, out->at[i].text) == asked.count) {
            asked.at[asked.count++] = out->at[i].text;
        }
    }
    follow_host(host, &asked, out);
    if (recipe->begin != NULL) {
        look_from(&s, recipe->text);
        follow_all(&s, *recipe, true);
    }
    for (int i = 0; i < out->count; i++) {
        look_from(&s, out->at[i].text);
        follow_all(&s, out->at[i], false);
        follow_condition(&s, &out->at[i]);
    }
    sort(out, &asked);
}

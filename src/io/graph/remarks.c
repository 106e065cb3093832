/* See remarks.h. */
#include "io/graph/remarks.h"

#include "io/graph/look.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool take_word(twi_text *text, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) {
        return false;
    }
    twi_text after = *text;
    after.at += length;
    if (after.at < after.end && *after.at != '\n' && !twi_text_is_blank(*after.at)) {
        return false;
    }
    twi_text_skip_blanks(&after);
    *text = after;
    return true;
}

static int64_t count_fields(twi_text text)
{
    twi_field field;
    int64_t fields = 0;
    while (twi_field_next(&text, ' ', fields == 0, &field) == TWI_FIELD) {
        fields++;
    }
    return fields;
}

/* The first line of a list of KONECT, if this is one. */
static void look_at_konect(twi_text text, twi_remarks *out)
{
    /* "dynamic" is none of these: its third column says whether an edge comes or goes. */
    static const char *const weights[] = {"unweighted",    "positive",         "posweighted",
                                          "signed",        "multisigned",      "weighted",
                                          "multiweighted", "multiposweighted", NULL};
    int64_t ignored = 0;
    if (text.at == text.end || *text.at != '%') {
        return;
    }
    text.at++;
    twi_text_skip_blanks(&text);
    const bool undirected = take_word(&text, "sym");
    const bool bipartite = !undirected && take_word(&text, "bip");
    if (!undirected && !bipartite && !take_word(&text, "asym")) {
        return;
    }
    for (const char *const *w = weights; *w != NULL; w++) {
        twi_text after = text;
        if (take_word(&after, *w) && twi_text_line_ends(&after)) {
            *out = (twi_remarks){.first = 1, .undirected = undirected, .bipartite = bipartite};
            out->timed = twi_look_for_line(&after, &ignored) && count_fields(after) == 4;
            return;
        }
    }
}

static bool begins_with(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && strncasecmp(at, word, length) == 0 &&
           (at + length == end || !isalnum((unsigned char)at[length]));
}

/* "Undirected", and "graph", "network" or nothing behind it. */
static bool says_undirected(const char *at, const char *end)
{
    static const char word[] = "undirected";
    if (!begins_with(at, end, word)) {
        return false;
    }
    at += sizeof word - 1;
    while (at < end && twi_text_is_blank(*at)) {
        at++;
    }
    return at == end || begins_with(at, end, "graph") || begins_with(at, end, "network");
}

static bool speaks_of_undirected(const char *at, const char *end)
{
    while (at < end && !begins_with(at, end, "undirected")) {
        while (at < end && isalnum((unsigned char)*at)) {
            at++;
        }
        at += at < end;
    }
    return at < end;
}

twi_remarks twi_remarks_look(const twi_text *head)
{
    twi_remarks out = {0};
    twi_text text = *head;
    look_at_konect(text, &out);
    do {
        if (!twi_text_line_ends(&text)) {
            if (*text.at != '#' && *text.at != '%') {
                break;
            }
            text.at++;
            twi_text_skip_blanks(&text);
            const char *begin = text.at;
            twi_text_skip_line(&text);
            out.undirected |= says_undirected(begin, text.at);
            if (out.spoken == 0 && speaks_of_undirected(begin, text.at)) {
                out.spoken = text.lines + 1;
            }
        }
    } while (twi_text_next_line(&text));
    return out;
}

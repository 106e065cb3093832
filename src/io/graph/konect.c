/* See konect.h. */
#include "io/graph/konect.h"

#include "io/graph/columns.h"

#include <string.h>

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

twi_konect twi_konect_look(const twi_text *head)
{
    /* "dynamic" is none of these: its third column says whether an edge comes or goes. */
    static const char *const weights[] = {"unweighted",    "positive",         "posweighted",
                                          "signed",        "multisigned",      "weighted",
                                          "multiweighted", "multiposweighted", NULL};
    twi_konect out = {0};
    twi_text text = *head;
    int64_t ignored = 0;
    if (text.at == text.end || *text.at != '%') {
        return out;
    }
    text.at++;
    twi_text_skip_blanks(&text);
    const bool undirected = take_word(&text, "sym");
    const bool bipartite = !undirected && take_word(&text, "bip");
    if (!undirected && !bipartite && !take_word(&text, "asym")) {
        return out;
    }
    for (const char *const *w = weights; *w != NULL; w++) {
        twi_text after = text;
        if (take_word(&after, *w) && twi_text_line_ends(&after)) {
            out = (twi_konect){.undirected = undirected, .bipartite = bipartite};
            out.timed = twi_columns_find(&after, &ignored) && count_fields(after) == 4;
            return out;
        }
    }
    return out;
}

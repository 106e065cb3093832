/* The titles of columns: see titles.h. */
#include "io/graph/titles.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_LETTERS = 40 }; /* of the title of an end */

static bool is_word(const char *begin, size_t length, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == length && strncasecmp(*words, begin, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Behind the first of these words at `at`; NULL if none is there. */
static const char *skip_word(const char *at, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strncmp(*words, at, strlen(*words)) == 0) {
            return at + strlen(*words);
        }
    }
    return NULL;
}

/* One of `stems`, with words before or behind it that say what kind of vertex it is, in whatever
 * spelling: "from_id", "SourceNodeID", "Origin City", "id-from". */
static bool is_composed(const char *begin, size_t length, const char *const *stems)
{
    static const char *const kinds[] = {
        "id",   "node", "vertex",  "ip",   "address", "account",
        "user", "city", "station", "stop", "airport", NULL,
    };
    char plain[MOST_LETTERS + 1];
    size_t letters = 0;
    for (const char *at = begin; at < begin + length; at++) {
        if (strchr("_- .", *at) == NULL || *at == '\0') {
            if (letters == MOST_LETTERS) {
                return false;
            }
            plain[letters++] = (char)tolower((unsigned char)*at);
        }
    }
    plain[letters] = '\0';
    const char *at = plain;
    for (const char *next; (next = skip_word(at, kinds)) != NULL;) {
        at = next;
    }
    at = skip_word(at, stems);
    for (const char *next; at != NULL && (next = skip_word(at, kinds)) != NULL;) {
        at = next;
    }
    return at != NULL && at == plain + letters;
}

int twi_title_of(const char *begin, size_t length)
{
    /* A word that another one begins with comes behind that. */
    static const char *const source_stems[] = {
        "source", "src", "from", "origin", "orig", "start", "departure", "sender", "caller", NULL,
    };
    static const char *const target_stems[] = {
        "target",  "dst",      "destination", "dest",   "to", "end",
        "arrival", "receiver", "recipient",   "callee", NULL,
    };
    static const char *const sources[] = {
        "u", "i", "node1", "node_1", "vertex1", "head", "tail", NULL,
    };
    /* An arc goes from its tail to its head, but of a triple of head, relation and tail from the
     * head: "tail,head" is certain, "head,tail" is not. */
    static const char *const targets[] = {
        "v", "j", "node2", "node_2", "vertex2", "head", NULL,
    };
    static const char *const weights[] = {
        "weight",  "w",     "distance", "dist",        "cost",     "length",
        "km",      "miles", "metres",   "meters",      "length_m", "minutes",
        "seconds", "time",  "duration", "travel_time", NULL,
    };
    static const char *const plain[] = {"weight", NULL};
    static const char *const remarks[] = {
        "id",       "edge_id",    "key",  "type", "label",     "name", "timeset",
        "directed", "undirected", "year", "date", "timestamp", NULL,
    };
    static const char *const ways[TWI_WAYS][2] = {{"type"}, {"directed"}, {"undirected"}};
    int way = 0;
    for (int w = 0; w < TWI_WAYS; w++) {
        way |= is_word(begin, length, ways[w]) ? TWI_TITLE_TYPE << w : 0;
    }
    const bool source = is_word(begin, length, sources) || is_composed(begin, length, source_stems);
    const bool target = is_word(begin, length, targets) || is_composed(begin, length, target_stems);
    return (source ? TWI_TITLE_SOURCE : 0) | (target ? TWI_TITLE_TARGET : 0) |
           (is_word(begin, length, weights) ? TWI_TITLE_WEIGHT : 0) |
           (is_word(begin, length, plain) ? TWI_TITLE_PLAIN : 0) |
           (is_word(begin, length, remarks) ? TWI_TITLE_REMARK : 0) | way;
}

bool twi_title_both_ways(int way, const char *begin, size_t length)
{
    static const char *const both[TWI_WAYS][6] = {
        {"undirected"},
        {"false", "0", "no", "f", "n"},
        {"true", "1", "yes", "t", "y"},
    };
    return is_word(begin, length, both[way]);
}

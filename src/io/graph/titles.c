/* The titles of columns: see titles.h. */
#include "io/graph/titles.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *begin, size_t length, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == length && strncasecmp(*words, begin, length) == 0) {
            return true;
        }
    }
    return false;
}

int twi_title_of(const char *begin, size_t length)
{
    static const char *const sources[] = {
        "source", "src",   "from",      "u",          "i",         "node1", "node_1", "vertex1",
        "origin", "start", "from_node", "fromnodeid", "source_id", "head",  "tail",   NULL,
    };
    /* An arc goes from its tail to its head, but of a triple of head, relation and tail from the
     * head: "tail,head" is certain, "head,tail" is not. */
    static const char *const targets[] = {
        "target",  "dst",         "dest", "to",      "v",        "j",         "node2", "node_2",
        "vertex2", "destination", "end",  "to_node", "tonodeid", "target_id", "head",  NULL,
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
    return (is_word(begin, length, sources) ? TWI_TITLE_SOURCE : 0) |
           (is_word(begin, length, targets) ? TWI_TITLE_TARGET : 0) |
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

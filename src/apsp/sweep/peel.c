/*
 * Peeling: see peel.h. It goes in rounds; a vertex whose neighbour went in a round stays until the
 * next, so that a chain loses every other vertex at a time and its tree of elimination is
 * logarithmic in depth. A list keeps vertices that have gone until it is looked at, and a vertex of
 * two neighbours stays where one of them has a long list: nothing here takes more than
 * O(arcs + n log n).
 */
#include "apsp/sweep/peel.h"

#include "base/context.h"

#include <stdbool.h>
#include <string.h>

#define LONG_LIST 64
#define CHECK_EVERY 4096 /* vertices between looks at the cancel flag */

typedef struct peeling {
    twi_links *links;
    uint8_t *gone;
    int32_t *live; /* neighbours that have not gone */
} peeling;

static void drop_gone(peeling *p, int32_t v)
{
    int32_t *list = p->links->to + p->links->begin[v];
    int32_t kept = 0;
    for (int32_t i = 0; i < p->links->count[v]; i++) {
        if (!p->gone[list[i]]) {
            list[kept++] = list[i];
        }
    }
    p->links->count[v] = kept;
}

/* Where w stands in the list of v; -1: nowhere. */
static int32_t find(const peeling *p, int32_t v, int32_t w)
{
    const int32_t *list = p->links->to + p->links->begin[v];
    for (int32_t i = 0; i < p->links->count[v]; i++) {
        if (list[i] == w) {
            return i;
        }
    }
    return -1;
}

/* v stands between a and b and goes: a and b are joined. False if that would take long. */
static bool join(peeling *p, int32_t v, int32_t a, int32_t b)
{
    if (p->links->count[a] > LONG_LIST || p->links->count[b] > LONG_LIST) {
        return false;
    }
    if (find(p, a, b) >= 0) {
        p->live[a]--;
        p->live[b]--;
    } else {
        p->links->to[p->links->begin[a] + find(p, a, v)] = b;
        p->links->to[p->links->begin[b] + find(p, b, v)] = a;
    }
    return true;
}

/* Take v out if it can go; its neighbours then wait for the next round. */
static bool take(peeling *p, int32_t v, int32_t round, int32_t *blocked)
{
    drop_gone(p, v);
    const int32_t *list = p->links->to + p->links->begin[v];
    int32_t count = p->links->count[v];
    if (count > 2 || (count == 2 && !join(p, v, list[0], list[1]))) {
        return false;
    }
    if (count == 1) {
        p->live[list[0]]--;
    }
    for (int32_t i = 0; i < count; i++) {
        blocked[list[i]] = round;
    }
    p->gone[v] = 1;
    return true;
}

int64_t twi_peel(tw_context *ctx, twi_links *links, int32_t *vertex, uint8_t *gone, int32_t *live,
                 int32_t *waiting, int32_t *next, int32_t *blocked)
{
    peeling p = {links, gone, live};
    int64_t taken = 0;
    int64_t count = 0;
    memset(gone, 0, (size_t)links->n);
    memset(blocked, 0, (size_t)links->n * sizeof *blocked);
    for (int32_t v = 0; v < links->n; v++) {
        live[v] = links->count[v];
        if (live[v] <= 2) {
            waiting[count++] = v;
        }
    }
    /* blocked[v] is -1 while v waits for the next round, so that it waits once. */
    for (int32_t round = 1; count > 0; round++) {
        int64_t before = taken;
        int64_t left = 0;
        for (int64_t i = 0; i < count; i++) {
            if (i % CHECK_EVERY == 0 && twi_is_cancelled(ctx)) {
                return taken;
            }
            if (blocked[waiting[i]] == round) {
                next[left++] = waiting[i];
            } else if (take(&p, waiting[i], round, blocked)) {
                vertex[taken++] = waiting[i];
            }
        }
        /* Neighbours of those that went may have become easy; those that waited come again. */
        for (int64_t i = 0; i < left; i++) {
            blocked[next[i]] = -1;
        }
        for (int64_t t = before; t < taken; t++) {
            const int32_t *list = links->to + links->begin[vertex[t]];
            for (int32_t i = 0; i < links->count[vertex[t]]; i++) {
                int32_t w = list[i];
                if (!gone[w] && live[w] <= 2 && blocked[w] == round) {
                    blocked[w] = -1;
                    next[left++] = w;
                }
            }
        }
        memcpy(waiting, next, (size_t)left * sizeof *waiting);
        count = left;
    }
    for (int32_t v = 0; v < links->n; v++) {
        if (v % CHECK_EVERY == 0 && twi_is_cancelled(ctx)) {
            break;
        }
        if (!gone[v]) {
            drop_gone(&p, v);
        }
    }
    return taken;
}

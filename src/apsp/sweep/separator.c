/*
 * Separators: see separator.h. Three vertices far from each other are found by searches. For two of
 * them, the difference of a vertex's distances to both is a key that grows from one end to the
 * other; a histogram of the links over the keys has, for every threshold, how many it cuts and how
 * many vertices lie below. The best balanced one of the three pairs cuts the part; the ends of cut
 * links on one side are the first separator. (On a square the far ends are corners: two opposite
 * ones give a diagonal, two beside each other the middle line, which cuts half as many links.)
 *
 * Then vertices of the separator move to a side, for the neighbours they have on the other: the
 * best of a series of moves stays (Fiduccia and Mattheyses). The moves are bounded by the size of
 * the part, so that a separator costs O(links) and an order O(links log n).
 */
#include "apsp/sweep/separator.h"

#include <stddef.h>
#include <string.h>

#define LEAST_SHARE 0.2 /* of the vertices on the smaller side of a cut, */
#define FULL_SHARE 0.42 /*   from which on it costs nothing more */
#define PENALTY 40.0    /* for the square of what lacks */
#define MOST_SHARE 0.6  /* of the vertices on a side, after moves */
#define PATIENCE 24     /* moves without a gain */
#define ROUNDS 3        /* series of moves */
#define HUB 4           /* times the mean degree: a vertex to take out by itself */

int64_t twi_separator_reach(const twi_separator *s, int32_t start, int32_t *distance, int64_t from)
{
    const twi_links *links = s->links;
    int32_t *queue = s->queue;
    int64_t head = from;
    int64_t tail = from;
    queue[tail++] = start;
    distance[start] = 0;
    while (head < tail && !twi_is_cancelled(s->ctx)) {
        int32_t u = queue[head++];
        const int32_t *list = links->to + links->begin[u];
        for (int32_t i = 0; i < links->count[u]; i++) {
            int32_t v = list[i];
            if (s->tag[v] == s->part && distance[v] < 0) {
                distance[v] = distance[u] + 1;
                queue[tail++] = v;
            }
        }
    }
    return tail;
}

static int32_t reach_from(const twi_separator *s, const int32_t *list, int64_t count, int32_t start,
                          int32_t *distance)
{
    for (int64_t i = 0; i < count; i++) {
        distance[list[i]] = -1;
    }
    return s->queue[twi_separator_reach(s, start, distance, 0) - 1];
}

/* The three far ends: the vertex last reached from anywhere, the last reached from that, and the
 * one whose nearer of these two is farthest. */
static void find_ends(const twi_separator *s, const int32_t *list, int64_t count)
{
    int32_t first = s->queue[count - 1];
    int32_t second = reach_from(s, list, count, first, s->distance[0]);
    int32_t third = first;
    int32_t most = -1;
    (void)reach_from(s, list, count, second, s->distance[1]);
    for (int64_t i = 0; i < count; i++) {
        int32_t a = s->distance[0][list[i]];
        int32_t b = s->distance[1][list[i]];
        int32_t nearer = a < b ? a : b;
        if (nearer > most) {
            most = nearer;
            third = list[i];
        }
    }
    (void)reach_from(s, list, count, third, s->distance[2]);
}

/* A cut: vertices whose key by ends a and b is below the threshold lie to the left. */
typedef struct cut {
    int a, b;
    int32_t threshold;
    double cost;
} cut;

static inline int32_t key(const twi_separator *s, const cut *c, int32_t v)
{
    return s->distance[c->a][v] - s->distance[c->b][v];
}

/* The best threshold of one pair into *best, if it is better. Keys are within +-`range`. */
static void try_pair(const twi_separator *s, const int32_t *list, int64_t count, int a, int b,
                     int32_t range, cut *best)
{
    const twi_links *links = s->links;
    cut c = {a, b, 0, 0};
    int32_t *below = s->counts; /* vertices of each key */
    int32_t *cuts = s->counts + 2 * range + 2;
    memset(s->counts, 0, (size_t)(4 * range + 4) * sizeof *s->counts);
    for (int64_t i = 0; i < count && !twi_is_cancelled(s->ctx); i++) {
        int32_t v = list[i];
        int32_t k = key(s, &c, v);
        const int32_t *to = links->to + links->begin[v];
        below[range + k]++;
        for (int32_t j = 0; j < links->count[v]; j++) {
            if (s->tag[to[j]] == s->part) {
                int32_t other = key(s, &c, to[j]);
                if (other > k) {
                    cuts[range + k + 1]++;
                    cuts[range + other + 1]--;
                }
            }
        }
    }
    double left = 0;
    double links_cut = 0;
    for (c.threshold = -range + 1; c.threshold <= range; c.threshold++) {
        left += below[range + c.threshold - 1];
        links_cut += cuts[range + c.threshold];
        double smaller = left < (double)count - left ? left : (double)count - left;
        double share = smaller / (double)count;
        double lack = share < FULL_SHARE ? FULL_SHARE - share : 0;
        c.cost = links_cut * (1 + PENALTY * lack * lack);
        if (share >= LEAST_SHARE && c.cost < best->cost) {
            *best = c;
        }
    }
}

/* Neighbours of v on a side. */
static int32_t touching(const twi_separator *s, int32_t v, uint8_t side)
{
    const int32_t *to = s->links->to + s->links->begin[v];
    int32_t found = 0;
    for (int32_t j = 0; j < s->links->count[v]; j++) {
        found += s->tag[to[j]] == s->part && s->side[to[j]] == side;
    }
    return found;
}

/* Has v a neighbour on a side? */
static bool touches(const twi_separator *s, int32_t v, uint8_t side)
{
    const int32_t *to = s->links->to + s->links->begin[v];
    for (int32_t j = 0; j < s->links->count[v]; j++) {
        if (s->side[to[j]] == side && s->tag[to[j]] == s->part) {
            return true;
        }
    }
    return false;
}

/* Sides by the cut; the ends of cut links on the side that has fewer of them are the separator. */
static void apply(twi_separator *s, const int32_t *list, int64_t count, const cut *best)
{
    int64_t ends[2] = {0, 0}; /* of the left in the queue from its begin, the right from its end */
    memset(s->sizes, 0, sizeof s->sizes);
    for (int64_t i = 0; i < count; i++) {
        uint8_t side = key(s, best, list[i]) < best->threshold ? TWI_LEFT : TWI_RIGHT;
        s->side[list[i]] = side;
        s->sizes[side]++;
    }
    for (int64_t i = 0; i < count; i++) {
        uint8_t side = s->side[list[i]];
        if (touches(s, list[i], side ^ 1)) {
            s->queue[side == TWI_LEFT ? ends[0] : count - 1 - ends[1]] = list[i];
            ends[side]++;
        }
    }
    uint8_t narrow = ends[TWI_LEFT] <= ends[TWI_RIGHT] ? TWI_LEFT : TWI_RIGHT;
    for (int64_t i = 0; i < ends[narrow]; i++) {
        s->side[s->queue[narrow == TWI_LEFT ? i : count - 1 - i]] = TWI_BETWEEN;
    }
    s->sizes[TWI_BETWEEN] = ends[narrow];
    s->sizes[narrow] -= ends[narrow];
}

/* --------------------------------------------------------------------------------------- moves */

/* The separator is queue[0] ... queue[sizes[TWI_BETWEEN] - 1] in no order; what moves have done is
 * kept in `counts`, three numbers each, so that they can be undone. */
typedef struct moves {
    twi_separator *s;
    int64_t done;
    int64_t room;
    int64_t looks; /* at neighbours, that may still be taken */
} moves;

static void set_side(moves *m, int32_t v, uint8_t side)
{
    twi_separator *s = m->s;
    m->s->counts[3 * m->done] = v;
    m->s->counts[3 * m->done + 1] = s->side[v];
    m->s->counts[3 * m->done + 2] = side;
    m->done++;
    s->sizes[s->side[v]]--;
    s->sizes[side]++;
    s->side[v] = side;
}

/* The separator's list once more, after sides were set: what left it is dropped. */
static void sweep_list(const twi_separator *s, int64_t *length)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < *length; i++) {
        if (s->side[s->queue[i]] == TWI_BETWEEN) {
            s->queue[kept++] = s->queue[i];
        }
    }
    *length = kept;
}

typedef struct move {
    int32_t vertex;
    uint8_t side;
    int32_t growth; /* of the separator */
    int64_t larger; /* side, after it */
} move;

/* The best move to a side that stays small enough; false if there is none. */
static bool best_move(moves *m, int64_t length, int64_t most, const int32_t *locked, move *best)
{
    const twi_separator *s = m->s;
    best->vertex = -1;
    for (int64_t i = 0; i < length; i++) {
        int32_t v = s->queue[i];
        m->looks -= 2 * s->links->count[v];
        if (locked[v] == s->part) {
            continue;
        }
        for (uint8_t side = 0; side < 2; side++) {
            int32_t growth = touching(s, v, side ^ 1) - 1;
            int64_t grown = s->sizes[side] + 1;
            int64_t other = s->sizes[side ^ 1] - growth - 1;
            int64_t larger = grown > other ? grown : other;
            if (grown <= most && (best->vertex < 0 || growth < best->growth ||
                                  (growth == best->growth && larger < best->larger))) {
                *best = (move){v, side, growth, larger};
            }
        }
    }
    return best->vertex >= 0;
}

static void make_move(moves *m, const move *best, int64_t *length)
{
    twi_separator *s = m->s;
    const int32_t *to = s->links->to + s->links->begin[best->vertex];
    set_side(m, best->vertex, best->side);
    sweep_list(s, length);
    for (int32_t j = 0; j < s->links->count[best->vertex]; j++) {
        int32_t w = to[j];
        if (s->tag[w] == s->part && s->side[w] == (best->side ^ 1)) {
            set_side(m, w, TWI_BETWEEN);
            s->queue[(*length)++] = w;
        }
    }
}

/* How good sides are: fewer vertices between, then a smaller larger side. */
static int64_t worth(const twi_separator *s)
{
    int64_t larger = s->sizes[0] > s->sizes[1] ? s->sizes[0] : s->sizes[1];
    return s->sizes[TWI_BETWEEN] * ((int64_t)1 << 32) + larger;
}

static void undo_to(moves *m, int64_t done)
{
    twi_separator *s = m->s;
    while (m->done > done) {
        m->done--;
        const int32_t *entry = s->counts + 3 * m->done;
        s->sizes[entry[2]]--;
        s->sizes[entry[1]]++;
        s->side[entry[0]] = (uint8_t)entry[1];
    }
}

/* One series of moves; true if it has gained. `locked` marks what has moved by the part's number.
 */
static bool refine(twi_separator *s, const int32_t *list, int64_t count, int32_t *locked)
{
    moves m = {s, 0, TWI_SEPARATOR_COUNTS * count / 3, 8 * count + 256};
    int64_t length = 0;
    for (int64_t i = 0; i < count; i++) {
        locked[list[i]] = -1;
        if (s->side[list[i]] == TWI_BETWEEN) {
            s->queue[length++] = list[i];
        }
    }
    const int64_t most = (int64_t)(MOST_SHARE * (double)count);
    const int64_t before = worth(s);
    int64_t best = before;
    int64_t best_done = 0;
    move next;
    for (int idle = 0; idle < PATIENCE && m.looks > 0 && !twi_is_cancelled(s->ctx) &&
                       best_move(&m, length, most, locked, &next);
         idle++) {
        if (m.done + 1 + s->links->count[next.vertex] > m.room) {
            break;
        }
        locked[next.vertex] = s->part;
        make_move(&m, &next, &length);
        if (worth(s) < best) {
            best = worth(s);
            best_done = m.done;
            idle = -1;
        }
    }
    undo_to(&m, best_done);
    return best < before;
}

/* ---------------------------------------------------------------------------------------------- */

/* No cut: vertices with far more neighbours than the others make a separator, if there are any. */
static bool take_hubs(twi_separator *s, const int32_t *list, int64_t count)
{
    double links = 0;
    memset(s->sizes, 0, sizeof s->sizes);
    for (int64_t i = 0; i < count; i++) {
        s->side[list[i]] = TWI_LEFT;
    }
    for (int64_t i = 0; i < count; i++) {
        s->distance[1][list[i]] = touching(s, list[i], TWI_LEFT);
        links += s->distance[1][list[i]];
    }
    for (int64_t i = 0; i < count; i++) {
        bool hub = s->distance[1][list[i]] * (double)count > HUB * links;
        s->side[list[i]] = hub ? TWI_BETWEEN : TWI_LEFT;
        s->sizes[s->side[list[i]]]++;
    }
    return s->sizes[TWI_BETWEEN] > 0;
}

bool twi_separate(twi_separator *s, const int32_t *list, int64_t count)
{
    cut best = {0, 0, 0, 1e300};
    find_ends(s, list, count);
    if (twi_is_cancelled(s->ctx)) { /* not all distances are there */
        return false;
    }
    int32_t range = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t away = s->distance[0][list[i]];
        range = away > range ? away : range;
    }
    /* Keys of the pairs with the third end may be larger than the longest search from the first,
     * but never than the number of vertices. */
    range = 2 * range < count ? 2 * range : (int32_t)count - 1;
    try_pair(s, list, count, 0, 1, range, &best);
    try_pair(s, list, count, 0, 2, range, &best);
    try_pair(s, list, count, 1, 2, range, &best);
    if (twi_is_cancelled(s->ctx)) {
        return false;
    }
    if (best.cost >= 1e300) {
        return take_hubs(s, list, count);
    }
    apply(s, list, count, &best);
    for (int round = 0; round < ROUNDS && refine(s, list, count, s->distance[0]); round++) {
    }
    return s->sizes[TWI_LEFT] > 0 && s->sizes[TWI_RIGHT] > 0;
}

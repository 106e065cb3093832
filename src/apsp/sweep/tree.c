/*
 * The tree of elimination: see tree.h. Groups of the order are taken in turn. What a group joins is
 * what its own links lead to and what its children join, all of it above the group; whichever comes
 * first of that is its parent. Then the group takes in children, one by one, as long as the cost of
 * both together is less than that of each alone: a few wide blocks instead of many narrow ones. Of
 * the children that it leaves, those that join the same vertices go together by the same rule: the
 * leaves around a hub, of which there may be thousands. The blocks that are left are numbered from
 * the leaves to the roots.
 *
 * O(sum of |A|) in time: far below the fill, since it counts blocks and not vertices. In memory,
 * the same over the blocks that are left so far, and some 90 bytes per vertex.
 */
#include "apsp/sweep/tree.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define NONE (-1)

/* Cycles on vectors of 4 rows by 4 (Neoverse V1, i32, November 2026); other machines have other
 * cycles in much the same proportions. */
#define STRIP 16.0        /* columns at a time */
#define STEP 2.0          /* a vertex against a higher one, or a pair of a front */
#define ROW_CYCLES 6.0    /* a row read and written */
#define BLOCK_CYCLES 30.0 /* a block */
#define SPREAD 1.5        /* strips that carry up fewer columns than they have */
#define FRONT_STEP 0.3    /* a step of a front, one column */
#define FRONT_ENTRY 3.0   /* an entry of it: filled, passed on, packed */
#define CHILDREN_LOOKED_AT 4096
#define TWINS_JOIN 16 /* vertices at most, of children that are compared with each other, */
#define TWINS_OPEN 64 /*   and of which so many are remembered */

#define ROOM \
    4 /* vertices in lists for each of the graph, at least, so that gaps are worth closing */

/* A group while blocks are being made of it; a block has the number of the group that took in the
 * others. */
typedef struct group {
    int32_t size;
    int32_t count;  /* |A| */
    int64_t high;   /* where its list of them begins */
    int32_t below;  /* vertices of its subtree, itself included */
    int32_t child;  /* list of children: the first, and */
    int32_t next;   /*   the next of the same parent */
    int32_t member; /* list of groups taken in: the first, */
    int32_t last;   /*   the last, */
    int32_t other;  /*   and the next of the same block */
} group;

typedef struct builder {
    tw_context *ctx;
    const twi_skeleton *skeleton;
    const twi_order *order;
    double columns;
    group *groups;
    int32_t *group_of; /* vertices */
    int32_t *mark;     /* vertices */
    int32_t *high;     /* all lists of A, vertices */
    int64_t high_count;
    int64_t high_room;
    double entries; /* of all lists so far, those of gaps, too */
    bool beyond;    /* the order's bound for them */
} builder;

/* Groups of 4 rows, and what a smaller one costs in rows. */
static double rows_paid(double size)
{
    double tail = fmod(size, 4);
    return size - tail + (tail == 0 ? 0 : tail + 0.6);
}

/* Cycles of a block in all: swept down, carried up, factored. */
static double cost(const builder *b, double size, double high, double below)
{
    double front = size + high;
    double share = b->columns / (double)b->skeleton->n;
    double down =
        b->columns / STRIP * (STEP * high * rows_paid(size) + ROW_CYCLES * size + BLOCK_CYCLES);
    double up =
        SPREAD * below * share / STRIP * (STEP * size * front + ROW_CYCLES * front + BLOCK_CYCLES);
    return down + up + FRONT_STEP * size * front * front + FRONT_ENTRY * front * front;
}

static double group_cost(const builder *b, const group *g)
{
    return cost(b, g->size, g->count, g->below);
}

/* Lists of groups that others have taken in go: nobody asks for them again. Those of groups up to g
 * lie one after the other; that of g has no count yet. */
static void close_gaps(builder *b, int32_t g)
{
    int64_t kept = 0;
    b->groups[g].count = (int32_t)(b->high_count - b->groups[g].high);
    for (int32_t i = 0; i <= g; i++) {
        group *self = &b->groups[i];
        memmove(b->high + kept, b->high + self->high, (size_t)self->count * sizeof *b->high);
        self->high = kept;
        kept += self->count;
    }
    b->high_count = kept;
}

/* Room for `more` vertices at the end of the lists, that of g being the last. */
static tw_status make_room(builder *b, int32_t g, int64_t more)
{
    if (b->high_count + more <= b->high_room) {
        return TW_OK;
    }
    if (b->high != NULL) {
        close_gaps(b, g);
    }
    if (4 * (b->high_count + more) <= 3 * b->high_room) { /* lest the next gaps come soon */
        return TW_OK;
    }
    const int64_t least = ROOM * b->skeleton->n, full = 2 * (b->high_count + more);
    const int64_t room = full > least ? full : least;
    tw_status status = twi_grow(b->ctx, &b->high, (uint64_t)b->high_count * sizeof *b->high,
                                (uint64_t)room, sizeof *b->high, "the elimination tree");
    b->high_room = status == TW_OK ? room : b->high_room;
    return status;
}

static inline void include(builder *b, int32_t g, int32_t v)
{
    if (b->group_of[v] > g && b->mark[v] != g) {
        b->mark[v] = g;
        b->high[b->high_count++] = v;
    }
}

/* A(g), from its own links and from what its children join. */
static tw_status find_high(builder *b, int32_t g)
{
    const twi_skeleton *s = b->skeleton;
    group *self = &b->groups[g];
    const int32_t *vertex = b->order->vertex;
    self->high = b->high_count;
    for (int32_t i = b->order->first[g]; i < b->order->first[g + 1]; i++) {
        int32_t v = vertex[i];
        tw_status status = make_room(b, g, s->offsets[v + 1] - s->offsets[v]);
        if (status != TW_OK) {
            return status;
        }
        for (int64_t a = s->offsets[v]; a < s->offsets[v + 1]; a++) {
            include(b, g, s->targets[a]);
        }
    }
    for (int32_t c = self->child; c != NONE; c = b->groups[c].next) {
        tw_status status = make_room(b, g, b->groups[c].count);
        if (status != TW_OK) {
            return status;
        }
        for (int32_t i = 0; i < b->groups[c].count; i++) {
            include(b, g, b->high[b->groups[c].high + i]);
        }
        self->below += b->groups[c].below;
    }
    self->count = (int32_t)(b->high_count - self->high);
    return TW_OK;
}

/* Take in children while it pays. A child that is taken in leaves its own children to be looked at.
 */
static void take_in_children(builder *b, int32_t g)
{
    group *self = &b->groups[g];
    int32_t todo = self->child;
    int64_t looks = CHILDREN_LOOKED_AT;
    self->child = NONE;
    while (todo != NONE) {
        int32_t c = todo;
        group *child = &b->groups[c];
        todo = child->next;
        double apart = group_cost(b, self) + group_cost(b, child);
        double together = cost(b, self->size + child->size, self->count, self->below);
        if (looks-- > 0 && together <= apart) {
            self->size += child->size;
            child->count = 0;
            b->groups[self->last].other = child->member;
            self->last = child->last;
            while (child->child != NONE) {
                int32_t grandchild = child->child;
                child->child = b->groups[grandchild].next;
                b->groups[grandchild].next = todo;
                todo = grandchild;
            }
        } else {
            child->next = self->child;
            self->child = c;
        }
    }
}

/* Do two groups join the same vertices? There are few. */
static bool are_twins(const builder *b, const group *one, const group *other)
{
    const int32_t *list = b->high + one->high, *second = b->high + other->high;
    if (one->count != other->count) {
        return false;
    }
    for (int32_t i = 0; i < one->count; i++) {
        int32_t at = 0;
        while (at < other->count && second[at] != list[i]) {
            at++;
        }
        if (at == other->count) {
            return false;
        }
    }
    return true;
}

static uint32_t hash_of(const builder *b, const group *self)
{
    uint32_t sum = 0;
    for (int32_t i = 0; i < self->count; i++) {
        sum += (uint32_t)b->high[self->high + i] * 0x9e3779b1U; /* in whatever order */
    }
    return sum >> 16;
}

/* Children that join the same vertices become one while that pays. A block whose parts only meet
 * above it is as good as any: all that it joins lies on the way to the root. */
static void merge_children(builder *b, int32_t g)
{
    int32_t open[TWINS_OPEN];
    int32_t todo = b->groups[g].child;
    for (int i = 0; i < TWINS_OPEN; i++) {
        open[i] = NONE;
    }
    b->groups[g].child = NONE;
    while (todo != NONE) {
        const int32_t c = todo;
        group *child = &b->groups[c];
        todo = child->next;
        int32_t *place = child->count <= TWINS_JOIN ? &open[hash_of(b, child) % TWINS_OPEN] : NULL;
        group *twin = place != NULL && *place != NONE ? &b->groups[*place] : NULL;
        if (twin != NULL && are_twins(b, twin, child) &&
            cost(b, twin->size + child->size, twin->count, twin->below + child->below) <=
                group_cost(b, twin) + group_cost(b, child)) {
            twin->size += child->size;
            twin->below += child->below;
            b->groups[twin->last].other = child->member;
            twin->last = child->last;
            while (child->child != NONE) {
                const int32_t grandchild = child->child;
                child->child = b->groups[grandchild].next;
                b->groups[grandchild].next = twin->child;
                twin->child = grandchild;
            }
            continue;
        }
        child->next = b->groups[g].child;
        b->groups[g].child = c;
        if (place != NULL) {
            *place = c;
        }
    }
}

static int32_t parent_of(const builder *b, const group *self)
{
    int32_t parent = NONE;
    for (int32_t i = 0; i < self->count; i++) {
        int32_t g = b->group_of[b->high[self->high + i]];
        parent = parent == NONE || g < parent ? g : parent;
    }
    return parent;
}

/* All groups in turn; *root is the list of those without a parent. */
static tw_status make_blocks(builder *b, int32_t *root)
{
    *root = NONE;
    for (int32_t g = 0; g < b->order->groups; g++) {
        group *self = &b->groups[g];
        tw_status status = find_high(b, g);
        if (status == TW_OK && twi_is_cancelled(b->ctx)) {
            status = twi_check_cancel(b->ctx);
        }
        if (status != TW_OK) {
            return status;
        }
        b->entries += self->count;
        if (b->order->entries > 0 && b->entries > b->order->entries) {
            b->beyond = true;
            return TW_OK;
        }
        take_in_children(b, g);
        merge_children(b, g);
        int32_t parent = parent_of(b, self);
        int32_t *list = parent == NONE ? root : &b->groups[parent].child;
        self->next = *list;
        *list = g;
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------- the tree itself
 */

/* Blocks in the order in which parents come first, from the list of roots on. `order` gets them,
 * *high the members of all sets above them; returns how many, fewer if cancelled. */
static int32_t list_blocks(const builder *b, int32_t root, int32_t *order, int32_t *stack,
                           int64_t *high)
{
    int32_t count = 0;
    int32_t waiting = 0;
    int64_t left = 0;
    *high = 0;
    for (int32_t g = root; g != NONE; g = b->groups[g].next) {
        stack[waiting++] = g;
        while (waiting > 0 && !twi_is_stopped(b->ctx, &left, 1)) {
            int32_t next = stack[--waiting];
            order[count++] = next;
            *high += b->groups[next].count;
            for (int32_t c = b->groups[next].child; c != NONE; c = b->groups[c].next) {
                stack[waiting++] = c;
            }
        }
        if (waiting > 0) {
            break;
        }
    }
    return count;
}

static tw_status allocate_tree(tw_context *ctx, twi_tree *tree, int32_t blocks, int64_t high)
{
    const char *what = "the elimination tree";
    uint64_t n = (uint64_t)tree->n;
    tw_status status = TW_OK;
    tree->blocks = blocks;
    if ((status = twi_alloc(ctx, &tree->first, (uint64_t)blocks + 1, sizeof *tree->first, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &tree->vertex, n, sizeof *tree->vertex, what)) != TW_OK ||
        (status = twi_alloc(ctx, &tree->high_first, (uint64_t)blocks + 1, sizeof *tree->high_first,
                            what)) != TW_OK ||
        (status = twi_alloc(ctx, &tree->high, (uint64_t)high, sizeof *tree->high, what)) != TW_OK ||
        (status = twi_alloc(ctx, &tree->parent, (uint64_t)blocks, sizeof *tree->parent, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &tree->block, n, sizeof *tree->block, what)) != TW_OK ||
        (status = twi_alloc(ctx, &tree->place, n, sizeof *tree->place, what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &tree->height, (uint64_t)blocks, sizeof *tree->height,
                                   what)) != TW_OK ||
        (status = twi_alloc(ctx, &tree->above, (uint64_t)blocks, sizeof *tree->above, what)) !=
            TW_OK) {
        return status;
    }
    return TW_OK;
}

/* The vertices of block i, with all groups that it took in; false if cancelled. `left`: steps until
 * the next look. */
static bool write_members(const builder *b, twi_tree *tree, int32_t g, int32_t i, int32_t *filled,
                          int64_t *left)
{
    for (int32_t m = b->groups[g].member; m != NONE; m = b->groups[m].other) {
        if (twi_is_stopped(b->ctx, left, b->groups[m].size)) {
            return false;
        }
        for (int32_t at = b->order->first[m]; at < b->order->first[m + 1]; at++) {
            int32_t v = b->order->vertex[at];
            tree->block[v] = i;
            tree->place[v] = *filled;
            tree->vertex[(*filled)++] = v;
        }
    }
    return true;
}

/* `order` has parents first: block i is the i-th from its end. */
static tw_status write_tree(const builder *b, twi_tree *tree, const int32_t *order)
{
    int32_t filled = 0;
    int64_t high = 0;
    int64_t left = 0;
    for (int32_t i = 0; i < tree->blocks; i++) {
        const group *g = &b->groups[order[tree->blocks - 1 - i]];
        tree->first[i] = filled;
        tree->high_first[i] = high;
        if (twi_is_stopped(b->ctx, &left, g->count) ||
            !write_members(b, tree, order[tree->blocks - 1 - i], i, &filled, &left)) {
            break;
        }
        for (int32_t h = 0; h < g->count; h++) {
            tree->high[high++] = b->high[g->high + h];
        }
    }
    tree->first[tree->blocks] = filled;
    tree->high_first[tree->blocks] = high;
    return twi_check_cancel(b->ctx);
}

static tw_status find_parents(const builder *b, twi_tree *tree)
{
    int64_t left = 0;
    for (int32_t i = 0; i < tree->blocks; i++) {
        if (twi_is_stopped(b->ctx, &left, twi_tree_high(tree, i))) {
            break;
        }
        int32_t parent = NONE;
        for (int64_t h = tree->high_first[i]; h < tree->high_first[i + 1]; h++) {
            int32_t block = tree->block[tree->high[h]];
            parent = parent == NONE || block < parent ? block : parent;
        }
        tree->parent[i] = parent;
        if (parent != NONE && tree->height[parent] <= tree->height[i]) {
            tree->height[parent] = tree->height[i] + 1;
        }
        tree->heights = tree->height[i] + 1 > tree->heights ? tree->height[i] + 1 : tree->heights;
    }
    return twi_check_cancel(b->ctx);
}

/* `up` is what a column meets on its way from a vertex to the root, on the average. */
static tw_status count_steps(tw_context *ctx, twi_tree *tree, double *way)
{
    int64_t left = 0;
    for (int32_t i = tree->blocks - 1; i >= 0 && !twi_is_stopped(ctx, &left, 1); i--) {
        double size = (double)twi_tree_size(tree, i);
        double front = size + (double)twi_tree_high(tree, i);
        tree->down += size * (front - size);
        tree->factor += size * front * front;
        way[i] = size * front + (tree->parent[i] != NONE ? way[tree->parent[i]] : 0);
        tree->up += size * way[i] / (double)tree->n;
        tree->front_most = (int64_t)fmax((double)tree->front_most, front);
        tree->size_most = (int64_t)fmax((double)tree->size_most, size);
        int32_t parent = tree->parent[i];
        tree->above[i] =
            parent != NONE ? tree->above[parent] + (int32_t)twi_tree_size(tree, parent) : 0;
        tree->depth = (int64_t)fmax((double)tree->depth, tree->above[i] + size);
    }
    return twi_check_cancel(ctx);
}

/* What a block leaves waits from its own height to its parent's. `change` has heights + 1. */
static tw_status count_rests(tw_context *ctx, twi_tree *tree, double *change)
{
    double now = 0;
    int64_t left = 0;
    memset(change, 0, ((size_t)tree->heights + 1) * sizeof *change);
    for (int32_t i = 0; i < tree->blocks && !twi_is_stopped(ctx, &left, 1); i++) {
        double high = (double)twi_tree_high(tree, i);
        if (tree->parent[i] != NONE) {
            tree->rests += high * high;
            change[tree->height[i]] += high * high;
            change[tree->height[tree->parent[i]] + 1] -= high * high;
        }
    }
    for (int32_t h = 0; h < tree->heights; h++) {
        now += change[h];
        tree->rest_most = fmax(tree->rest_most, now);
    }
    return twi_check_cancel(ctx);
}

static tw_status finish(builder *b, twi_tree *tree, int32_t root)
{
    const char *what = "the elimination tree";
    int32_t *order = NULL;
    int32_t *stack = NULL;
    double *way = NULL;
    uint64_t groups = (uint64_t)b->order->groups;
    tw_status status = TW_OK;
    if ((status = twi_alloc(b->ctx, &order, groups, sizeof *order, what)) != TW_OK ||
        (status = twi_alloc(b->ctx, &stack, groups, sizeof *stack, what)) != TW_OK ||
        (status = twi_alloc(b->ctx, &way, groups + 1, sizeof *way, what)) != TW_OK) {
        goto done;
    }
    int64_t high;
    int32_t blocks = list_blocks(b, root, order, stack, &high);
    status = twi_check_cancel(b->ctx);
    if (status == TW_OK) {
        status = allocate_tree(b->ctx, tree, blocks, high);
    }
    if (status == TW_OK) {
        status = write_tree(b, tree, order);
    }
    if (status == TW_OK) {
        status = find_parents(b, tree);
    }
    if (status == TW_OK) {
        status = count_steps(b->ctx, tree, way);
    }
    if (status == TW_OK) {
        status = count_rests(b->ctx, tree, way);
    }
done:
    twi_free(way);
    twi_free(stack);
    twi_free(order);
    return status;
}

static tw_status allocate_builder(builder *b)
{
    const char *what = "the elimination tree";
    uint64_t n = (uint64_t)b->skeleton->n;
    uint64_t groups = (uint64_t)b->order->groups;
    tw_status status = TW_OK;
    if ((status = twi_alloc(b->ctx, &b->groups, groups, sizeof *b->groups, what)) != TW_OK ||
        (status = twi_alloc(b->ctx, &b->group_of, n, sizeof *b->group_of, what)) != TW_OK ||
        (status = twi_alloc(b->ctx, &b->mark, n, sizeof *b->mark, what)) != TW_OK) {
        return status;
    }
    int64_t left = 0;
    for (int32_t g = 0; g < b->order->groups; g++) {
        int32_t size = b->order->first[g + 1] - b->order->first[g];
        if (twi_is_stopped(b->ctx, &left, size)) {
            break;
        }
        b->groups[g] = (group){.size = size,
                               .below = size,
                               .child = NONE,
                               .next = NONE,
                               .member = g,
                               .last = g,
                               .other = NONE};
        for (int32_t i = b->order->first[g]; i < b->order->first[g + 1]; i++) {
            b->group_of[b->order->vertex[i]] = g;
            b->mark[b->order->vertex[i]] = NONE;
        }
    }
    return twi_check_cancel(b->ctx);
}

tw_status twi_tree_create(tw_context *ctx, twi_tree **out, const twi_skeleton *skeleton,
                          const twi_order *order, int64_t columns)
{
    builder b = {.ctx = ctx, .skeleton = skeleton, .order = order, .columns = (double)columns};
    twi_tree *tree = NULL;
    int32_t root = NONE;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &tree, 1, sizeof *tree, "the elimination tree");
    if (status == TW_OK) {
        atomic_init(&tree->users, 1);
        tree->n = skeleton->n;
        status = allocate_builder(&b);
    }
    if (status == TW_OK) {
        status = make_blocks(&b, &root);
    }
    if (status == TW_OK && !b.beyond) {
        status = finish(&b, tree, root);
    }
    if (status == TW_OK && !b.beyond) {
        *out = tree;
    } else {
        twi_tree_destroy(tree);
    }
    twi_free(b.high);
    twi_free(b.mark);
    twi_free(b.group_of);
    twi_free(b.groups);
    return status;
}

twi_tree *twi_tree_share(twi_tree *tree)
{
    atomic_fetch_add(&tree->users, 1);
    return tree;
}

void twi_tree_destroy(twi_tree *tree)
{
    if (tree == NULL || atomic_fetch_sub(&tree->users, 1) > 1) {
        return;
    }
    twi_free(tree->above);
    twi_free(tree->height);
    twi_free(tree->place);
    twi_free(tree->block);
    twi_free(tree->parent);
    twi_free(tree->high);
    twi_free(tree->high_first);
    twi_free(tree->vertex);
    twi_free(tree->first);
    twi_free(tree);
}

/* A group for each vertex and a block for every other one. There are fewer groups where lists are
 * so long that they have to grow. */
uint64_t twi_tree_create_memory(int64_t n)
{
    const uint64_t builder_each = sizeof(group) + (2 + 2 * ROOM) * sizeof(int32_t);
    const uint64_t finish_each = 2 * sizeof(int32_t) + sizeof(double);
    const uint64_t tree_each = 5 * sizeof(int32_t) + sizeof(int64_t) / 2;
    return (uint64_t)n * (builder_each + finish_each + tree_each) + sizeof(twi_tree);
}

uint64_t twi_tree_memory(const twi_tree *tree)
{
    uint64_t blocks = (uint64_t)tree->blocks;
    return sizeof *tree + 3 * (uint64_t)tree->n * sizeof(int32_t) +
           (uint64_t)tree->high_first[blocks] * sizeof(int32_t) +
           (blocks + 1) * (4 * sizeof(int32_t) + sizeof(int64_t));
}

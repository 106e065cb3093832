/*
 * Tarjan's algorithm with the calls of its recursion on a stack of its own: a path of a million
 * vertices is a million calls deep. It finds components in the order in which they are left, sinks
 * of the condensation first; the numbers are turned round at the end.
 *
 * The arcs between components are made in three passes over the vertices of each component: count,
 * fill by target, and, from that, by source. Going through sources in falling order and through
 * targets in rising order leaves both lists sorted.
 */
#include "reach/shared/components.h"

#include "base/memory.h"

#include <string.h>

#define LOOK_EVERY 65536 /* vertices or arcs between two looks at the cancel flag */
#define FINDING_BYTES (4 * sizeof(int32_t) + sizeof(int64_t)) /* of a vertex: see walk */

typedef struct walk {
    const tw_graph *graph;
    int32_t *order; /* when a vertex was entered, from 1; 0: not yet */
    int32_t *low;   /* the earliest vertex known to be in its component */
    int32_t *open;  /* entered, component not known yet */
    int32_t *calls; /* the path from the root to the current vertex */
    int64_t *at;    /* next arc of a vertex */
    int32_t *of;    /* -1: not known yet */
    int64_t entered;
    int64_t opened;
    int64_t components;
    int64_t steps;
} walk;

static void enter(walk *w, int32_t v, int64_t depth)
{
    w->calls[depth] = v;
    w->open[w->opened++] = v;
    w->order[v] = w->low[v] = (int32_t)++w->entered;
    w->at[v] = w->graph->offsets[v];
}

/* v is the first of its component: all that were opened since are in it. */
static void close_component(walk *w, int32_t v)
{
    int32_t member;
    do {
        member = w->open[--w->opened];
        w->of[member] = (int32_t)w->components;
    } while (member != v);
    w->components++;
}

static inline int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* All that can be reached from a root and was not entered before. */
static tw_status walk_from(tw_context *ctx, walk *w, int32_t root)
{
    int64_t depth = 0;
    enter(w, root, depth);
    while (depth >= 0) {
        int32_t v = w->calls[depth];
        if (++w->steps % LOOK_EVERY == 0 && twi_is_cancelled(ctx)) {
            return twi_check_cancel(ctx);
        }
        if (w->at[v] < w->graph->offsets[v + 1]) {
            int32_t u = w->graph->targets[w->at[v]++];
            if (w->order[u] == 0) {
                enter(w, u, ++depth);
            } else if (w->of[u] < 0) {
                w->low[v] = lesser(w->low[v], w->order[u]);
            }
            continue;
        }
        if (w->low[v] == w->order[v]) {
            close_component(w, v);
        }
        if (--depth >= 0) {
            int32_t caller = w->calls[depth];
            w->low[caller] = lesser(w->low[caller], w->low[v]);
        }
    }
    return TW_OK;
}

static tw_status find_components(tw_context *ctx, twi_condensation *out, const tw_graph *graph)
{
    const char *what = "the stacks of the search for components";
    const uint64_t n = (uint64_t)graph->n;
    walk w = {.graph = graph, .of = out->of};
    tw_status status = TW_OK;
    memset(out->of, 0xff, n * sizeof *out->of);
    if ((status = twi_alloc_zeroed(ctx, &w.order, n, sizeof *w.order, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.low, n, sizeof *w.low, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.open, n, sizeof *w.open, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.calls, n, sizeof *w.calls, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.at, n, sizeof *w.at, what)) != TW_OK) {
        goto done;
    }
    for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
        if (w.order[v] == 0) {
            status = walk_from(ctx, &w, (int32_t)v);
            twi_progress(ctx, "components", (double)w.entered, (double)graph->n, "vertices");
        }
    }
    out->components = w.components;
    for (int64_t v = 0; v < graph->n && status == TW_OK; v++) {
        out->of[v] = (int32_t)(w.components - 1) - out->of[v];
    }
done:
    twi_free(w.at);
    twi_free(w.calls);
    twi_free(w.open);
    twi_free(w.low);
    twi_free(w.order);
    return status;
}

/* The vertices of each component, one component after the other; ends[c] is where c ends. */
static void sort_members(const twi_condensation *c, int32_t *members, int32_t *ends)
{
    for (int32_t i = 0, from = 0; i < c->components; i++) {
        ends[i] = from;
        from += c->size[i];
    }
    for (int64_t v = 0; v < c->vertices; v++) {
        members[ends[c->of[v]]++] = (int32_t)v;
    }
}

typedef struct arc_pass {
    const tw_graph *graph;
    const int32_t *members;
    const int32_t *ends;
    int32_t *seen; /* the last component that had an arc to this one; -1: none */
    int64_t steps;
} arc_pass;

/* Each arc between components once, sources falling: counted, or, to fill the lists, put where
 * `before` says, which moves on. */
static tw_status each_arc(tw_context *ctx, twi_condensation *c, arc_pass *pass, bool fill)
{
    memset(pass->seen, 0xff, (size_t)c->components * sizeof *pass->seen);
    for (int64_t from = c->components - 1; from >= 0; from--) {
        for (int32_t i = pass->ends[from] - c->size[from]; i < pass->ends[from]; i++) {
            const int32_t v = pass->members[i];
            for (int64_t a = pass->graph->offsets[v]; a < pass->graph->offsets[v + 1]; a++) {
                if (++pass->steps % LOOK_EVERY == 0 && twi_is_cancelled(ctx)) {
                    return twi_check_cancel(ctx);
                }
                const int32_t to = c->of[pass->graph->targets[a]];
                if (to == from || pass->seen[to] == from) {
                    continue;
                }
                pass->seen[to] = (int32_t)from;
                if (fill) {
                    c->predecessors[c->before[to]++] = (int32_t)from;
                } else {
                    c->before[to + 1]++;
                    c->offsets[from + 1]++;
                }
            }
        }
    }
    return TW_OK;
}

static void add_up(int64_t *offsets, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        offsets[i + 1] += offsets[i];
    }
}

/* After filling, every offset is where the next one was. */
static void turn_back(int64_t *offsets, int64_t count)
{
    for (int64_t i = count; i > 0; i--) {
        offsets[i] = offsets[i - 1];
    }
    offsets[0] = 0;
}

static tw_status link_components(tw_context *ctx, twi_condensation *c, const tw_graph *graph)
{
    const char *what = "the graph of components";
    const uint64_t count = (uint64_t)c->components;
    int32_t *members = NULL;
    int32_t *ends = NULL;
    arc_pass pass = {.graph = graph};
    tw_status status = TW_OK;
    if ((status = twi_alloc(ctx, &members, (uint64_t)c->vertices, sizeof *members, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &ends, count, sizeof *ends, what)) != TW_OK ||
        (status = twi_alloc(ctx, &pass.seen, count, sizeof *pass.seen, what)) != TW_OK) {
        goto done;
    }
    sort_members(c, members, ends);
    pass.members = members;
    pass.ends = ends;
    if ((status = each_arc(ctx, c, &pass, false)) != TW_OK) {
        goto done;
    }
    add_up(c->before, c->components);
    add_up(c->offsets, c->components);
    c->arcs = c->offsets[c->components];
    if ((status = twi_alloc(ctx, &c->predecessors, (uint64_t)c->arcs, sizeof(int32_t), what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &c->successors, (uint64_t)c->arcs, sizeof(int32_t), what)) !=
            TW_OK ||
        (status = each_arc(ctx, c, &pass, true)) != TW_OK) {
        goto done;
    }
    turn_back(c->before, c->components);
    for (int64_t to = 0; to < c->components; to++) {
        for (int64_t a = c->before[to]; a < c->before[to + 1]; a++) {
            c->successors[c->offsets[c->predecessors[a]]++] = (int32_t)to;
        }
    }
    turn_back(c->offsets, c->components);
done:
    twi_free(pass.seen);
    twi_free(ends);
    twi_free(members);
    return status;
}

tw_status twi_condense(tw_context *ctx, twi_condensation *out, const tw_graph *graph)
{
    const char *what = "the components";
    tw_status status = TW_OK;
    memset(out, 0, sizeof *out);
    out->vertices = graph->n;
    status = twi_alloc(ctx, &out->of, (uint64_t)graph->n, sizeof *out->of, what);
    if (status == TW_OK) {
        status = find_components(ctx, out, graph);
    }
    const uint64_t count = (uint64_t)out->components;
    if (status != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &out->size, count, sizeof *out->size, what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &out->offsets, count + 1, sizeof(int64_t), what)) !=
            TW_OK ||
        (status = twi_alloc_zeroed(ctx, &out->before, count + 1, sizeof(int64_t), what)) != TW_OK) {
        return status;
    }
    for (int64_t v = 0; v < graph->n; v++) {
        int32_t now = ++out->size[out->of[v]];
        out->largest = now > out->largest ? now : out->largest;
    }
    if ((status = link_components(ctx, out, graph)) != TW_OK ||
        (status = twi_alloc(ctx, &out->predecessor_count, count, sizeof(int32_t), what)) != TW_OK) {
        return status;
    }
    for (int64_t c = 0; c < out->components; c++) {
        out->predecessor_count[c] = (int32_t)(out->before[c + 1] - out->before[c]);
    }
    return twi_check_cancel(ctx);
}

uint64_t twi_condensation_memory(const twi_condensation *c)
{
    return (uint64_t)c->vertices * sizeof *c->of +
           (uint64_t)c->components * (2 * sizeof(int32_t) + 2 * sizeof(int64_t)) +
           (uint64_t)c->arcs * 2 * sizeof(int32_t) + 2 * sizeof(int64_t);
}

uint64_t twi_condense_memory(const twi_condensation *c)
{
    const uint64_t finding = (uint64_t)c->vertices * (sizeof *c->of + FINDING_BYTES);
    const uint64_t linking = twi_condensation_memory(c) + /* before predecessors are counted: */
                             (uint64_t)c->vertices * sizeof(int32_t) +
                             (uint64_t)c->components * sizeof(int32_t);
    return finding > linking ? finding : linking;
}

void twi_condensation_clear(twi_condensation *c)
{
    twi_free(c->predecessor_count);
    twi_free(c->predecessors);
    twi_free(c->before);
    twi_free(c->successors);
    twi_free(c->offsets);
    twi_free(c->size);
    twi_free(c->of);
    memset(c, 0, sizeof *c);
}

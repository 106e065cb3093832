/*
 * The graph in memory: compressed rows (CSR), immutable once built. An undirected edge is two
 * arcs; parallel arcs stay; self loops >= 0 are dropped. Weights are i32, f32 or f64, never NaN,
 * never -inf; an arc of weight +inf is no arc and is dropped.
 */
#ifndef TWI_GRAPH_GRAPH_H
#define TWI_GRAPH_GRAPH_H

#include "base/context.h"

#define TWI_MOST_VERTICES INT32_MAX

struct tw_graph {
    int64_t n;
    int64_t arcs;
    int64_t *offsets;      /* n + 1 */
    int32_t *targets;      /* arcs */
    void *weights;         /* arcs, of weight_type */
    bool borrowed_targets; /* the caller's, not ours to free */
    bool borrowed_weights;
    tw_type weight_type;
    bool undirected;
    bool equal;    /* all weights are the same positive number */
    bool integral; /* all weights are whole numbers within i32 */
    bool whole;    /* ... within 2^53; see twi_graph_is_exact */
    bool floats;   /* they came as floats, whose sums round */
    double min_weight;
    double max_weight;
    bool header_guessed;    /* tw_graph_info.header */
    int32_t first;          /* tw_graph_info.first */
    char *label_text;       /* names one after another, each ended by 0; NULL if unlabelled */
    int64_t *label_offsets; /* n */
    int32_t *label_order;   /* vertices by name, for tw_graph_find */
    const tw_graph *named;  /* of a part: the graph it was taken from, which has the names */
};

/* A vertex as its file names it: its label, or its number written into `out`. */
#define TWI_VERTEX_NAME 24
const char *twi_vertex_name(char out[TWI_VERTEX_NAME], const tw_graph *graph, int64_t vertex);

/* Bytes that it holds, names included, borrowed arrays not. */
TWI_SHARED uint64_t twi_graph_memory(const tw_graph *graph);

/* Weight of arc `a` as a double (exact for every weight type). */
static inline double twi_graph_weight(const tw_graph *graph, int64_t a)
{
    switch (graph->weight_type) {
    case TW_I32:
        return ((const int32_t *)graph->weights)[a];
    case TW_F32:
        return ((const float *)graph->weights)[a];
    default:
        return ((const double *)graph->weights)[a];
    }
}

/* f64 holds every whole number below it, and no sum of whole numbers rounds to less than it. */
#define TWI_EXACT_LIMIT 0x1p53

/* Whole numbers that were given as such: who gives them counts on each digit of their sums, which
 * are exact in f64 as long as they are below TWI_EXACT_LIMIT. Floats beyond i32 may be whole by
 * chance, or what is left of rounding; sums of them are rounded, too. */
static inline bool twi_graph_is_exact(const tw_graph *graph)
{
    return graph->integral || (graph->whole && !graph->floats);
}

/* TW_ERR_ARGUMENT unless a graph can have so many. */
TW_CHECKED tw_status twi_graph_check_vertices(tw_context *ctx, int64_t vertices);

/* A graph with its offsets, targets and weights allocated; the offsets are zero, the rest is not
 * set. Checks the memory first. */
TWI_SHARED TW_CHECKED tw_status twi_graph_allocate(tw_context *ctx, tw_graph **out,
                                                   int64_t vertices, tw_type weight_type);
TWI_SHARED TW_CHECKED tw_status twi_graph_allocate_arcs(tw_context *ctx, tw_graph *graph,
                                                        int64_t arcs);

/* The arcs the other way round, in the order of their sources, without weights, by up to so many
 * threads of the context; and its bytes. */
TW_CHECKED tw_status twi_graph_reverse(tw_context *ctx, tw_graph **out, const tw_graph *graph,
                                       int threads);
uint64_t twi_graph_reverse_memory(const tw_graph *graph);

/* The graph with only the lightest of parallel arcs, without names; *out is NULL if it has none. */
TW_CHECKED tw_status twi_graph_drop_parallel(tw_context *ctx, tw_graph **out,
                                             const tw_graph *graph);

/* Weights seen so far, kept by each thread and merged. */
typedef struct twi_weight_stats {
    double min;
    double max;
    bool integral;
    bool whole;
} twi_weight_stats;

static inline twi_weight_stats twi_no_weights(void)
{
    return (twi_weight_stats){__builtin_inf(), -__builtin_inf(), true, true};
}

static inline void twi_see_weight(twi_weight_stats *stats, double weight)
{
    stats->min = weight < stats->min ? weight : stats->min;
    stats->max = weight > stats->max ? weight : stats->max;
    stats->whole &= weight >= -TWI_EXACT_LIMIT && weight <= TWI_EXACT_LIMIT &&
                    weight == (double)(int64_t)weight;
    stats->integral &= stats->whole && weight >= INT32_MIN && weight <= INT32_MAX;
}

void twi_merge_stats(twi_weight_stats *into, const twi_weight_stats *from);
/* Writes the statistics into the graph; its arcs must be set. */
void twi_graph_set_stats(tw_graph *graph, const twi_weight_stats *stats);

/* Is the way back always as long? False, too, where it would take long to see, and if the call is
 * cancelled. */
bool twi_graph_is_symmetric(tw_context *ctx, const tw_graph *graph);

#endif

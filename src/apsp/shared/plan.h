/*
 * The plan of one all-pairs run: what was asked, what was chosen, why. Made by plan/plan.c, read by
 * the engines.
 */
#ifndef TWI_APSP_SHARED_PLAN_H
#define TWI_APSP_SHARED_PLAN_H

#include "base/context.h"
#include "gpu/device.h"
#include "graph/graph.h"

/* Where the distances of a run on GPUs lie while they are made. */
typedef enum twi_gpu_way {
    TWI_GPU_RESIDENT, /* all of them on the one device, from the arcs to finished rows */
    TWI_GPU_COLUMNS,  /* some columns at a time: a sweep */
    TWI_GPU_SEVERAL,  /* a share of the matrix on each device */
    TWI_GPU_STREAMED, /* in host memory; they are streamed through one device */
} twi_gpu_way;

/*
 * Rows dealt out as they are wanted, where processes share a run. Each has a plan for all rows, of
 * which it makes those that it is dealt; options.sources are those of the rows dealt so far.
 */
typedef struct twi_dealer {
    /* How many rows from `first` on are made next, at most `most`; 0: there are no more. Those that
     * were dealt before are dealt again. */
    int64_t (*next)(void *self, int64_t first, int64_t most);
    void *self;
} twi_dealer;

struct tw_apsp_plan {
    const tw_graph *graph;    /* the caller's, or `part` */
    tw_graph *part;           /* what of it can matter, NULL: all of it; see relevant.h */
    tw_apsp_options options;  /* as given, defaults filled in */
    const twi_dealer *dealer; /* NULL: all rows, in their order */
    bool any_pivots;          /* will do in a checkpoint: a GPU's, which the CPU may not have */
    tw_apsp_method method;
    tw_type type;      /* of the result */
    tw_type work_type; /* closure: first working type to try; searches: type of their rows */
    twi_isa isa;
    twi_gpu_list gpus; /* that the closure runs on; none: the CPU */
    char device[64];   /* the name of those, or "cpu" */
    bool automatic;    /* nobody named the device: if a GPU fails, the CPU follows */
    twi_gpu_way gpu_way;
    uint64_t gpu_allowed; /* bytes that may be used on each GPU */
    bool gpu_narrow;      /* 16 bits are worth trying on it */
    int32_t threads;
    int32_t block;
    bool symmetric; /* the arcs are symmetric: a closure needs half of the tiles */

    /* Potentials h of Johnson's method, n of them, or NULL when no weight is negative: arc u->v of
     * weight w counts as w + h[u] - h[v] >= 0, and the distance s->t found with those is too large
     * by h[s] - h[t]. Whole numbers below 2^53 in size for whole weights. */
    double *potential;

    double depth;  /* arcs of the paths from one source, at most; 0 where no search was tried */
    double missed; /* the part of the vertices that the search did not reach */
    double reach;  /* how far distances are expected to reach, at most; +inf where nobody knows */

    struct twi_searcher *searcher; /* of the sample, where a run is little more; NULL: none */
    struct twi_tree *tree; /* of elimination (sweep/tree.h), where the method is a sweep, or NULL */
    const char *order_origin; /* of its order: "computed", "cached", "given"; NULL without a tree */
    int32_t order_maker;      /* who made it: sweep/order.h */
    uint64_t order_most;      /* bytes of a sweep by one of the orders that were made, at most */
    const char *order_note;   /* what there is to say of METIS beside that, or "" */

    uint64_t given;         /* bytes of the caller's graph */
    uint64_t memory;        /* of the host, all that the run holds */
    uint64_t device_memory; /* of each device of the list */
    double seconds;         /* estimated */
    double spent;           /* making the plan took */
    double waited;          /* for a GPU to start, before and besides that */
    bool gpu_ran;           /* one that nobody named was running before: no start was counted */
    char *explanation;
    char fallback[256]; /* the sentence of a GPU that failed in the run; "": none did */
};

/* The vertex of a row or column of the result. */
static inline int64_t twi_plan_rows(const tw_apsp_plan *plan)
{
    return plan->options.sources != NULL ? plan->options.source_count : plan->graph->n;
}
static inline int64_t twi_plan_cols(const tw_apsp_plan *plan)
{
    return plan->options.targets != NULL ? plan->options.target_count : plan->graph->n;
}
static inline int32_t twi_plan_source(const tw_apsp_plan *plan, int64_t row)
{
    return plan->options.sources != NULL ? plan->options.sources[row] : (int32_t)row;
}
static inline int32_t twi_plan_target(const tw_apsp_plan *plan, int64_t col)
{
    return plan->options.targets != NULL ? plan->options.targets[col] : (int32_t)col;
}

/* How many rows from `first` on are made next, at most `most`; 0 after the last. */
static inline int64_t twi_plan_next_rows(const tw_apsp_plan *plan, int64_t first, int64_t most)
{
    const int64_t left = twi_plan_rows(plan) - first;
    return plan->dealer != NULL ? plan->dealer->next(plan->dealer->self, first, most)
           : left < most        ? left
                                : most;
}

/* The weight of arc u -> v as a closure and a sweep take it, with the potentials. Rounding can
 * leave a reweighted float a hair below zero. The sum makes -0 a 0: which of the two a minimum
 * takes is up to the instruction. */
static inline double twi_plan_arc_weight(const tw_apsp_plan *plan, int64_t u, int32_t v,
                                         int64_t arc)
{
    double weight = twi_graph_weight(plan->graph, arc);
    if (plan->potential != NULL) {
        weight += plan->potential[u] - plan->potential[v];
        weight = weight > 0 ? weight : 0;
    }
    return weight + 0.0;
}

/* Whether a caller's number is that of a method. */
bool twi_method_exists(tw_apsp_method method);

/* Could a sum of weights on the way of a run leave what `work` holds: the finite numbers of a float
 * type, or for whole weights those below 2^53, up to which f64 is exact? Then delivery looks. */
TWI_SHARED bool twi_plan_may_overflow(const tw_apsp_plan *plan, tw_type work);

/* Could a shortest walk be as long as `cap`? If not, an entry that a closure or sweep under that
 * cap leaves there has no path, and needs no certificate. */
TWI_SHARED bool twi_plan_may_reach(const tw_apsp_plan *plan, double cap);

/* Whole weights of a type that holds them all: an f32 result must not round their distances, as it
 * does those of float weights. */
bool twi_plan_keeps_whole(const tw_apsp_plan *plan);

/* What weights that are not whole are worked in: f32 only where the result is f32, too, and no sum
 * can leave it. A wider result must not inherit the rounding of a narrower type. */
TWI_SHARED tw_type twi_plan_float_type(const tw_apsp_plan *plan);

#endif

/*
 * The edges of the bins of a range, exactly: bin b of L begins where
 *
 *     L v - (L - b) lo - b hi >= 0
 *
 * and its edge is the least f64 for which that holds, so that putting a value into its bin takes
 * comparisons alone and has the same answer on every device. Each product of an f64 and a whole
 * number below 2^17 is two products of halves of the f64, which are exact; the six of them are
 * summed without error, as a list of parts that do not overlap (Shewchuk 1997).
 *
 * From a guess that is a few steps away, the edge is found by doubling steps and halving them
 * again, over the f64 in their order.
 */
#include "entropy/shared/edges.h"

#include "base/memory.h"
#include "entropy/shared/setup.h"

#include <math.h>
#include <string.h>

#define TERMS 6
#define LARGE 0x1p1000 /* products of larger limits could overflow: all is scaled down then */
#define SCALE 0x1p-64

/* Nonoverlapping parts of a sum, the least first. */
typedef struct exact {
    double part[TERMS];
    int count;
} exact;

static void add(exact *sum, double term)
{
    for (int i = 0; i < sum->count; i++) {
        const double other = sum->part[i];
        const double both = term + other;
        const double shadow = both - term;
        sum->part[i] = (term - (both - shadow)) + (other - shadow);
        term = both;
    }
    sum->part[sum->count++] = term;
}

/* times * x as two terms. */
static void add_product(exact *sum, double x, double times)
{
    uint64_t bits;
    double upper;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint64_t)0x7FFFFFF;
    memcpy(&upper, &bits, sizeof upper);
    add(sum, upper * times);
    add(sum, (x - upper) * times);
}

/* The f64 in their order as whole numbers, and back. */
static int64_t order_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double number_at(int64_t order)
{
    const int64_t bits = order >= 0 ? order : INT64_MIN - order;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct edge {
    double low, high, scale;
    int32_t levels, bin;
} edge;

/* Whether the f64 at this place of the order lies at the edge or above it. */
static bool reaches(const edge *e, int64_t order)
{
    exact sum = {.count = 0};
    add_product(&sum, number_at(order) * e->scale, e->levels);
    add_product(&sum, e->low * e->scale, -(e->levels - e->bin));
    add_product(&sum, e->high * e->scale, -e->bin);
    int i = sum.count - 1;
    while (i > 0 && sum.part[i] == 0) {
        i--;
    }
    return sum.part[i] >= 0;
}

/* The least f64 from low to high that reaches the edge; high does. */
static double find_edge(const edge *e)
{
    const double share = (double)e->bin / e->levels;
    double guess = e->low * (1 - share) + e->high * share;
    guess = fmin(fmax(guess, e->low), e->high);
    int64_t above = order_of(guess);
    int64_t below = above;
    for (uint64_t step = 1; !reaches(e, above); step *= 2) { /* up to one that reaches it */
        const uint64_t left = (uint64_t)order_of(e->high) - (uint64_t)above;
        below = above;
        above = (int64_t)((uint64_t)above + (step < left ? step : left));
    }
    for (uint64_t step = 1; below == above || reaches(e, below);
         step *= 2) { /* down to one below */
        const uint64_t left = (uint64_t)below - (uint64_t)order_of(e->low);
        above = below;
        if (left == 0) {
            return e->low;
        }
        below = (int64_t)((uint64_t)below - (step < left ? step : left));
    }
    while ((uint64_t)above - (uint64_t)below > 1) {
        const int64_t middle = below + (int64_t)(((uint64_t)above - (uint64_t)below) / 2);
        *(reaches(e, middle) ? &above : &below) = middle;
    }
    return number_at(above);
}

tw_status twi_edges_make(tw_context *ctx, double **out, const tw_entropy_options *opts)
{
    edge e = {.low = opts->range[0], .high = opts->range[1], .scale = 1, .levels = opts->levels};
    if (fmax(fabs(e.low), fabs(e.high)) >= LARGE) { /* no value of an input is near where this
                                                       changes a digit of an edge */
        e.scale = SCALE;
    }
    tw_status status =
        twi_alloc(ctx, out, (uint64_t)opts->levels + 1, sizeof **out, "the edges of the bins");
    if (status != TW_OK) {
        return status;
    }
    (*out)[0] = e.low;
    for (e.bin = 1; e.bin < opts->levels; e.bin++) {
        (*out)[e.bin] = find_edge(&e);
    }
    (*out)[opts->levels] = (double)INFINITY;
    return TW_OK;
}

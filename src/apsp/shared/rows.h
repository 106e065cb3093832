/*
 * Rows as an engine hands them to delivery, what is known of them before a run, and the distance
 * that one of their values stands for. The functions are here, in a header, because delivery calls
 * them for every entry.
 */
#ifndef TWI_APSP_SHARED_ROWS_H
#define TWI_APSP_SHARED_ROWS_H

#include "apsp/shared/plan.h"
#include "base/type.h"

#include <math.h>

/*
 * `count` rows from result row `first` on: element (i, v) at work[i * stride + v], of `type`, which
 * is TW_U8, TW_U16, TW_I32, TW_F32 or TW_F64, unreachable being tw_apsp_infinity(type). A `scale`
 * other than 1 multiplies every finite value (levels of a breadth-first search).
 */
typedef struct twi_rows {
    int64_t first;
    int64_t count;
    const void *work;
    int64_t stride;
    tw_type type;
    double scale;
    bool potentials_applied; /* values are w + h[u] - h[v] sums; take h[s] - h[t] off */
} twi_rows;

/* What is known of all rows of a run before it begins: it decides which buffers delivery needs. */
typedef struct twi_rows_known {
    tw_type type;    /* of all of them, with a scale of 1; TW_AUTO: not known */
    int64_t at_once; /* handed over at a time, at most; 0: not known */
    bool folds;      /* where folds may stand for rows (fold.h), they stand for all of them */
} twi_rows_known;

static inline bool twi_fits_f32(double value, bool keep_whole)
{
    float stored = (float)value;
    return !isinf(stored) && (stored != 0 || value == 0) &&
           (!keep_whole || (stored == value && fabs(value) < TWI_EXACT_LIMIT));
}

/* Store a distance (+inf: no path); false if the type cannot hold it. */
static inline bool twi_store_distance(void *out, tw_type type, bool keep_whole, int64_t i,
                                      double value)
{
    double infinity = tw_apsp_infinity(type);
    if (type == TW_F64) {
        ((double *)out)[i] = value;
        return true;
    }
    if (type == TW_F32) {
        ((float *)out)[i] = (float)value;
        return value == INFINITY || twi_fits_f32(value, keep_whole);
    }
    double lowest = type == TW_I32 ? (double)INT32_MIN : 0;
    bool fits = isinf(value) || (value >= lowest && value < infinity && value == floor(value));
    double stored = isinf(value) ? infinity : fits ? value : 0;
    switch (type) {
    case TW_U8:
        ((uint8_t *)out)[i] = (uint8_t)stored;
        break;
    case TW_U16:
        ((uint16_t *)out)[i] = (uint16_t)stored;
        break;
    default:
        ((int32_t *)out)[i] = (int32_t)stored;
        break;
    }
    return fits;
}

/* Is it what arithmetic on the way cannot have spoilt? */
static inline bool twi_is_sound(const tw_apsp_plan *plan, double value, double distance)
{
    return isfinite(distance) && !(twi_graph_is_exact(plan->graph) &&
                                   fmax(fabs(value), fabs(distance)) >= TWI_EXACT_LIMIT);
}

/* Does a distance that is not sound lie above the cutoff for certain? Of a sum of whole weights all
 * that is known is that it reached the limit. */
static inline bool twi_is_surely_cut(const tw_apsp_plan *plan, bool shifted)
{
    return !twi_graph_is_exact(plan->graph) || (!shifted && plan->options.cutoff < TWI_EXACT_LIMIT);
}

/* From a working value to the distance, cutoff applied; false, with the distance, if it is not to
 * be trusted. */
static inline bool twi_distance_of(const tw_apsp_plan *plan, const twi_rows *rows, double value,
                                   int32_t source, int32_t target, double *out)
{
    *out = INFINITY;
    if (value >= tw_apsp_infinity(rows->type)) {
        return true;
    }
    double distance = value * rows->scale;
    const bool shifted = rows->potentials_applied && plan->potential != NULL;
    if (shifted) {
        distance += plan->potential[target] - plan->potential[source];
    }
    const bool sound = twi_is_sound(plan, value * rows->scale, distance);
    if (plan->options.cutoff >= 0 && distance > plan->options.cutoff &&
        (sound || twi_is_surely_cut(plan, shifted))) {
        return true;
    }
    *out = distance;
    return sound;
}

#endif

/* See verify.h. Whole weights are compared exactly, others within the rounding that the way of
 * computing them can explain (apsp/shared/textbook.h). */
#include "mpi/shared/verify.h"

#include "apsp/shared/distance.h"
#include "apsp/shared/textbook.h"
#include "base/memory.h"
#include "base/random.h"
#include "mpi/shared/relax.h"

#include <math.h>
#include <string.h>

struct twi_mpi_verifier {
    const tw_mpi_graph *graph;
    const tw_apsp_plan *plan;
    int64_t compared;
    uint8_t *drawn;       /* a row: to be compared */
    twi_reached *reached; /* n, twice */
    double *distance;     /* n */
    int32_t *hops;        /* n */
};

/* `samples` different rows (Floyd): each subset is equally likely. */
static void draw(uint8_t *drawn, int64_t rows, int64_t samples, uint64_t seed)
{
    const bool all = samples == 0 || samples >= rows;
    memset(drawn, all ? 1 : 0, (size_t)rows);
    for (int64_t last = rows - samples; last < rows && !all; last++) {
        const uint64_t random = twi_random_at(seed, (uint64_t)last);
        const int64_t row = (int64_t)twi_random_below(random, (uint64_t)last + 1);
        drawn[drawn[row] ? last : row] = 1;
    }
}

tw_status twi_mpi_verifier_create(tw_context *ctx, twi_mpi_verifier **out,
                                  const tw_mpi_graph *graph, const tw_apsp_plan *plan, int64_t rows,
                                  int64_t samples, uint64_t seed)
{
    const uint64_t n = (uint64_t)graph->whole.n;
    twi_mpi_verifier *verifier = NULL;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &verifier, 1, sizeof *verifier, "the verifier");
    if (status != TW_OK) {
        return status;
    }
    *out = verifier;
    verifier->graph = graph;
    verifier->plan = plan;
    status = twi_alloc(ctx, &verifier->drawn, (uint64_t)rows, 1, "the choice of rows to verify");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &verifier->reached, 2 * n, sizeof *verifier->reached,
                           "the search of the verifier");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &verifier->distance, n, sizeof *verifier->distance,
                           "the search of the verifier");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &verifier->hops, n, sizeof *verifier->hops,
                           "the search of the verifier");
    }
    if (status == TW_OK) {
        draw(verifier->drawn, rows, samples, seed);
    }
    return status;
}

void twi_mpi_verifier_destroy(twi_mpi_verifier *verifier)
{
    if (verifier == NULL) {
        return;
    }
    twi_free(verifier->hops);
    twi_free(verifier->distance);
    twi_free(verifier->reached);
    twi_free(verifier->drawn);
    twi_free(verifier);
}

bool twi_mpi_verifier_wants(const twi_mpi_verifier *verifier, int64_t row)
{
    return verifier != NULL && verifier->drawn[row] != 0;
}

int64_t twi_mpi_verifier_count(const twi_mpi_verifier *verifier)
{
    return verifier != NULL ? verifier->compared : 0;
}

tw_status twi_mpi_verifier_compare(tw_context *ctx, twi_mpi_verifier *verifier, int64_t row,
                                   int32_t source, const twi_textbook *search, const void *data)
{
    const tw_apsp_plan *plan = verifier->plan;
    const tw_graph *graph = plan->graph;
    const double cutoff = plan->options.cutoff;
    double farthest = 0, depth = 0; /* potentials may be taken on and off again, and go as deep */
    for (int64_t v = 0; v < graph->n; v++) {
        farthest =
            isinf(search->distance[v]) ? farthest : fmax(farthest, fabs(search->distance[v]));
        depth = plan->potential != NULL ? fmax(depth, fabs(plan->potential[v])) : 0;
    }
    const double magnitude =
        2 * (farthest + depth) + fmax(fabs(graph->min_weight), fabs(graph->max_weight));
    verifier->compared++;
    for (int64_t j = 0; j < twi_plan_cols(plan); j++) {
        const int32_t target = twi_plan_target(plan, j);
        const double given = twi_distance(data, plan->type, j);
        double low, high;
        twi_textbook_bounds(graph, search, target, plan->type, magnitude, &low, &high);
        const bool may_be_cut = cutoff >= 0 && high > cutoff;
        const bool must_be_cut = cutoff >= 0 && low > cutoff;
        bool right = isinf(given) ? given > 0 && (may_be_cut || isinf(high))
                                  : given >= low && given <= high && !must_be_cut;
        right = right && !(target == source && given != 0) &&
                !(given == 0 && search->distance[target] > 0);
        if (!right) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "row %lld, column %lld: the distance from vertex %d to %d is given as "
                           "%.17g, but a search finds %.17g",
                           (long long)row, (long long)j, source + graph->first,
                           target + graph->first, given, search->distance[target]);
        }
    }
    return TW_OK;
}

tw_status twi_mpi_verifier_row(tw_context *ctx, twi_mpi_verifier *verifier, int64_t row,
                               int32_t source, const void *data)
{
    const int64_t n = verifier->graph->whole.n;
    tw_status status =
        twi_relax(ctx, verifier->graph, source, verifier->reached, verifier->reached + n);
    if (status != TW_OK) {
        return status;
    }
    if (data != NULL) {
        const twi_textbook search = {.distance = verifier->distance, .hops = verifier->hops};
        for (int64_t v = 0; v < n; v++) {
            verifier->distance[v] = verifier->reached[v].distance;
            verifier->hops[v] = verifier->reached[v].hops;
        }
        status = twi_mpi_verifier_compare(ctx, verifier, row, source, &search, data);
    } else {
        verifier->compared++;
    }
    return twi_world_agree(ctx, &verifier->graph->world, status);
}

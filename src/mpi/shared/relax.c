/* See relax.h. */
#include "mpi/shared/relax.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define AT_ONCE (1 << 24) /* vertices of a message */
#define LOCAL_ROUNDS 8    /* before the others are asked */

/* One pass over this rank's arcs; whether anything changed. */
static bool lower(const tw_graph *part, twi_reached *at)
{
    bool changed = false;
    for (int64_t u = 0; u < part->n; u++) {
        const twi_reached from = at[u];
        if (isinf(from.distance)) {
            continue;
        }
        for (int64_t a = part->offsets[u]; a < part->offsets[u + 1]; a++) {
            twi_reached *to = &at[part->targets[a]];
            const double distance = from.distance + twi_graph_weight(part, a);
            if (distance < to->distance) {
                *to = (twi_reached){distance, from.hops + 1};
                changed = true;
            }
        }
    }
    return changed;
}

tw_status twi_relax(tw_context *ctx, const tw_mpi_graph *graph, int32_t source, twi_reached *out,
                    twi_reached *before)
{
    const tw_graph *part = &graph->whole;
    const int64_t n = part->n;
    tw_status status = TW_OK;
    bool changed = true;
    for (int64_t v = 0; v < n; v++) {
        out[v] = (twi_reached){v == source ? 0 : (double)INFINITY, 0};
    }
    while (changed && status == TW_OK) {
        memcpy(before, out, (size_t)n * sizeof *out);
        for (int i = 0; i < LOCAL_ROUNDS && lower(part, out); i++) {
        }
        for (int64_t at = 0; at < n && status == TW_OK; at += AT_ONCE) {
            const int some = (int)(n - at < AT_ONCE ? n - at : AT_ONCE);
            status = twi_mpi_check(ctx,
                                   MPI_Allreduce(MPI_IN_PLACE, out + at, some, MPI_DOUBLE_INT,
                                                 MPI_MINLOC, graph->world.comm),
                                   "compare distances");
        }
        changed = false;
        for (int64_t v = 0; v < n && !changed; v++) {
            changed = out[v].distance != before[v].distance;
        }
        if (status == TW_OK) {
            status = twi_world_agree(ctx, &graph->world, twi_check_cancel(ctx));
        }
    }
    return status;
}

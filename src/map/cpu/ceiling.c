/*
 * The rate of a plain copy: what a map that does nothing would reach. Two arrays far larger than
 * the caches are copied in pieces by all threads, a few times, and the best counts.
 */
#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define COPY_BYTES ((int64_t)128 << 20) /* of each array */
#define PIECE ((int64_t)1 << 20)
#define ROUNDS 5

static void copy_all(char *to, const char *from, int threads)
{
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t piece = 0; piece < COPY_BYTES / PIECE; piece++) {
        memcpy(to + piece * PIECE, from + piece * PIECE, (size_t)PIECE);
    }
    (void)threads;
}

tw_status tw_copy_rate(tw_context *ctx, double *rate, int32_t threads)
{
    tw_status missing = TWI_REQUIRE(ctx, {"rate", rate});
    if (missing != TW_OK) {
        return missing;
    }
    char *from = NULL, *to = NULL;
    double best = 0;
    if (threads < 0 || threads > TWI_THREADS_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d threads: expected 1 to %d, or 0 for all", threads,
                       TWI_THREADS_MOST);
    }
    const int team = threads > 0 ? threads : twi_thread_count(ctx);
    tw_status status = twi_alloc(ctx, &from, (uint64_t)COPY_BYTES, 1, "the copy of the ceiling");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &to, (uint64_t)COPY_BYTES, 1, "the copy of the ceiling");
    }
    if (status == TW_OK) {
        memset(from, 1, (size_t)COPY_BYTES);
        copy_all(to, from, team); /* so that every page is there */
    }
    for (int round = 0; round < ROUNDS && status == TW_OK; round++) {
        double started = twi_seconds();
        copy_all(to, from, team);
        double seconds = twi_seconds() - started;
        best = best == 0 || seconds < best ? seconds : best;
        status = twi_check_cancel(ctx);
    }
    twi_free(to);
    twi_free(from);
    if (status == TW_OK) {
        *rate = 2 * (double)COPY_BYTES / best;
    }
    return status;
}

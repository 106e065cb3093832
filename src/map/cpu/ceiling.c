/*
 * The rate of a plain copy: what a map that does nothing would reach. Two arrays that the caches
 * cannot hold are copied in pieces by all threads, a few times, and the best counts. (Two of 128 MB
 * on a processor with a third cache of 300 MB were copied at twice the rate of its memory.)
 */
#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>
#include <unistd.h>

#define LEAST_PIECES 128 /* of an array */
#define MOST_PIECES 1024
#define PIECE ((int64_t)1 << 20)
#define ROUNDS 5

/* Of each array: twice the largest cache, if that is known. */
static int64_t pieces_of(const tw_context *ctx)
{
    int64_t pieces = LEAST_PIECES;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    pieces = cache > 0 && 2 * (int64_t)cache / PIECE > pieces ? 2 * (int64_t)cache / PIECE : pieces;
#endif
    pieces = pieces < MOST_PIECES ? pieces : MOST_PIECES;
    const bool fits = (uint64_t)(2 * pieces * PIECE) <= twi_memory_left(ctx) / 2;
    return fits ? pieces : LEAST_PIECES;
}

static void fill(char *array, int64_t pieces, int threads)
{
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
        memset(array + piece * PIECE, 1, (size_t)PIECE);
    }
    (void)threads;
}

static void copy_all(char *to, const char *from, int64_t pieces, int threads)
{
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
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
    const int64_t pieces = pieces_of(ctx);
    const uint64_t bytes = (uint64_t)(pieces * PIECE);
    tw_status status = twi_alloc(ctx, &from, bytes, 1, "the copy of the ceiling");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &to, bytes, 1, "the copy of the ceiling");
    }
    if (status == TW_OK) { /* so that every page is there */
        fill(from, pieces, team);
        fill(to, pieces, team);
    }
    for (int round = 0; round < ROUNDS && status == TW_OK; round++) {
        double started = twi_seconds();
        copy_all(to, from, pieces, team);
        double seconds = twi_seconds() - started;
        best = best == 0 || seconds < best ? seconds : best;
        status = twi_check_cancel(ctx);
    }
    twi_free(to);
    twi_free(from);
    if (status == TW_OK) {
        *rate = 2 * (double)bytes / best;
    }
    return status;
}

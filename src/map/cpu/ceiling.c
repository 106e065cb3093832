/*
 * The rate of a plain copy, which maps are compared with. Two arrays that the caches cannot hold
 * are copied in pieces by all threads, a few times, and the best counts, of memcpy and of stores
 * past the caches, as maps have them. (Two of 128 MB on a processor with an L3 cache of 300 MB
 * were copied at twice the rate of its memory.)
 */
#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/threads.h"
#include "map/cpu/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_PIECES 128 /* of an array */
#define MOST_PIECES 1024
#define PIECE ((int64_t)1 << 20)
#define ROUNDS 5

/* The first number in a small file about the L3 cache of a processor; -1: there is none. */
static int64_t number_of_cache(long processor, const char *name)
{
    char path[128];
    char line[64] = "", *end = line;
    int64_t number = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cache/index3/%s", processor, name);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        const bool read = fgets(line, sizeof line, file) != NULL;
        number = read ? strtoll(line, &end, 10) : -1;
        (void)fclose(file);
    }
    return end != line ? number : -1;
}

/* Bytes of all L3 caches of the machine, each counted with the first processor that has it; 0 if
 * that is not known. */
static int64_t l3_caches(void)
{
    int64_t bytes = 0;
    for (long p = 0; p < sysconf(_SC_NPROCESSORS_CONF); p++) {
        const int64_t kib = number_of_cache(p, "size"); /* "32768K" */
        bytes += kib > 0 && number_of_cache(p, "shared_cpu_list") == p ? kib * 1024 : 0;
    }
    return bytes;
}

/* Of each array: twice the L3 caches, if those are known, up to 1 GiB and to what memory there is.
 */
static int64_t pieces_of(const tw_context *ctx)
{
    int64_t pieces = 2 * l3_caches() / PIECE;
    pieces = pieces > LEAST_PIECES ? pieces : LEAST_PIECES;
    pieces = pieces < MOST_PIECES ? pieces : MOST_PIECES;
    const uint64_t fit = twi_memory_left(ctx) / 2 / (2 * PIECE);
    return fit >= (uint64_t)pieces ? pieces : fit > LEAST_PIECES ? (int64_t)fit : LEAST_PIECES;
}

static tw_status fill(tw_context *ctx, char *array, int64_t pieces, int threads)
{
#pragma omp parallel for num_threads(twi_team(threads)) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
        if (!twi_is_cancelled(ctx)) {
            memset(array + piece * PIECE, 1, (size_t)PIECE);
        }
    }
    (void)threads;
    return twi_check_cancel(ctx);
}

static void copy_all(char *to, const char *from, int64_t pieces, int threads, bool past)
{
#pragma omp parallel num_threads(twi_team(threads))
    {
#pragma omp for schedule(static)
        for (int64_t piece = 0; piece < pieces; piece++) {
            const int64_t at = piece * PIECE;
            if (past) {
                twi_write_past(to + at, from + at, PIECE);
            } else {
                memcpy(to + at, from + at, (size_t)PIECE);
            }
        }
        twi_written_past();
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
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d threads: expected 1 to %d, or 0 for the context's",
                       threads, TWI_THREADS_MOST);
    }
    const int team = threads > 0 ? threads : twi_thread_count(ctx);
    const int64_t pieces = pieces_of(ctx);
    const uint64_t bytes = (uint64_t)(pieces * PIECE);
    tw_status status = twi_alloc(ctx, &from, bytes, 1, "the copy of the ceiling");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &to, bytes, 1, "the copy of the ceiling");
    }
    if (status == TW_OK) { /* so that every page is there */
        status = fill(ctx, from, pieces, team);
    }
    if (status == TW_OK) {
        status = fill(ctx, to, pieces, team);
    }
    const int ways = TWI_STORES_PAST ? 2 : 1;
    for (int round = 0; round < ways * ROUNDS && status == TW_OK; round++) {
        double started = twi_seconds();
        copy_all(to, from, pieces, team, round % ways != 0);
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

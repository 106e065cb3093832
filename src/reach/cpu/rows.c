/*
 * Rows of reachability: see rows.h.
 *
 * Turning goes by 64 sources and 512 vertices at a time: eight squares of 64 x 64 bits are mirrored
 * and written as whole cache lines of 64 rows. Rows are padded to an odd number of lines, so that
 * those of 64 rows do not meet in one set of the cache.
 */
#include "reach/cpu/rows.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "bits/transpose.h"
#include "reach/cpu/blocks.h"

#include <string.h>

#define LINE 8              /* words of a cache line */
#define CHUNK_BYTES 4194304 /* of the result, given to the sinks at a time */

typedef struct giving {
    const twi_condensation *condensation;
    twi_reach_rows *rows;
    twi_reach_means means;
    int64_t most;   /* sources of a block: 64 per word of a set */
    int64_t words;  /* from one row of bits to the next */
    uint64_t *sets; /* of each thread */
    uint64_t *bits; /* rows of each thread */
    int32_t *slot;  /* components: of its row in this batch; -1: it has none */
    int32_t *list;  /* slots: the component of each */
    int32_t *place; /* rows of the batch: their slot */
    uint8_t *chunk;
    int64_t share; /* slots of a block in this batch */
} giving;

static int64_t row_words(int64_t vertices)
{
    const int64_t lines = (vertices + 64 * LINE - 1) / (64 * LINE);
    return (lines | 1) * LINE;
}

static uint64_t bytes_of_thread(const twi_condensation *c, int words)
{
    const uint64_t sources = 64 * (uint64_t)words;
    return (uint64_t)c->components * (uint64_t)words * sizeof(uint64_t) +
           sources * (uint64_t)row_words(c->vertices) * sizeof(uint64_t) +
           sources * sizeof(int32_t);
}

static int64_t most_chunk_rows(const twi_condensation *c, const twi_reach_rows *rows)
{
    const int64_t bytes = twi_reach_row_bytes(c->vertices, rows->packed);
    const int64_t fit = bytes > 0 ? CHUNK_BYTES / bytes : 1;
    return fit < 1 ? 1 : fit < rows->count ? fit : rows->count;
}

static uint64_t chunk_bytes(const twi_condensation *c, const twi_reach_rows *rows, int64_t count)
{
    return (uint64_t)count * (uint64_t)twi_reach_row_bytes(c->vertices, rows->packed);
}

static uint64_t bytes_beside(const twi_condensation *c, const twi_reach_rows *rows,
                             int64_t chunk_rows)
{
    return ((uint64_t)c->components + (uint64_t)rows->count) * sizeof(int32_t) +
           chunk_bytes(c, rows, chunk_rows);
}

uint64_t twi_reach_rows_memory(const twi_condensation *c, const twi_reach_rows *rows,
                               const twi_reach_means *means)
{
    return bytes_beside(c, rows, means->chunk_rows) +
           (uint64_t)means->team * bytes_of_thread(c, means->words);
}

/* Blocks of fewer sources take longer, shorter chunks hardly: where both are too large, the larger
 * is halved. */
twi_reach_means twi_reach_rows_means(tw_context *ctx, const twi_condensation *c,
                                     const twi_reach_rows *rows)
{
    const uint64_t left = twi_memory_left(ctx);
    const int64_t distinct = rows->count < c->components ? rows->count : c->components;
    twi_reach_means means = {twi_reach_words(distinct), most_chunk_rows(c, rows), 1};
    while (twi_reach_rows_memory(c, rows, &means) > left &&
           (means.words > 1 || means.chunk_rows > 1)) {
        if (means.words == 1 || (means.chunk_rows > 1 && chunk_bytes(c, rows, means.chunk_rows) >
                                                             bytes_of_thread(c, means.words))) {
            means.chunk_rows = (means.chunk_rows + 1) / 2;
        } else {
            means.words /= 2;
        }
    }
    const int64_t most = 64 * (int64_t)means.words;
    means.team = twi_reach_team(ctx, bytes_beside(c, rows, means.chunk_rows),
                                bytes_of_thread(c, means.words), (distinct + most - 1) / most);
    return means;
}

/* Rows from `first` on whose components have room; returns how many, *used: distinct components. */
static int64_t gather_batch(giving *g, int64_t first, int64_t *used)
{
    const int64_t room = (int64_t)g->means.team * g->most;
    int64_t row = first;
    *used = 0;
    for (; row < g->rows->count; row++) {
        const int32_t component = g->condensation->of[twi_reach_source(g->rows, row)];
        if (g->slot[component] < 0) {
            if (*used == room) {
                break;
            }
            g->list[*used] = component;
            g->slot[component] = (int32_t)(*used)++;
        }
        g->place[row - first] = g->slot[component];
    }
    for (int64_t i = 0; i < *used; i++) {
        g->slot[g->list[i]] = -1;
    }
    return row - first;
}

/* Word `w` of the sets of 512 vertices from `v` on becomes a line of 64 rows. */
static void turn_line(const giving *g, const uint64_t *sets, uint64_t *bits, int64_t v, int w)
{
    const twi_condensation *c = g->condensation;
    uint64_t squares[LINE][TWI_BITS_SIDE];
    for (int k = 0; k < LINE; k++) {
        for (int i = 0; i < TWI_BITS_SIDE; i++) {
            const int64_t at = v + k * TWI_BITS_SIDE + i;
            squares[k][i] = at < c->vertices ? sets[(int64_t)c->of[at] * g->means.words + w] : 0;
        }
        twi_bits_transpose(squares[k]);
    }
    for (int i = 0; i < TWI_BITS_SIDE; i++) {
        uint64_t *line = bits + (w * (int64_t)TWI_BITS_SIDE + i) * g->words + v / TWI_BITS_SIDE;
        for (int k = 0; k < LINE; k++) {
            line[k] = squares[k][i];
        }
    }
}

/* One block of a batch, by one thread. */
static bool fill_block(tw_context *ctx, const giving *g, int64_t used, int64_t block)
{
    const twi_condensation *c = g->condensation;
    const int64_t from = block * g->share;
    const int64_t left = used - from < g->share ? used - from : g->share;
    uint64_t *sets = g->sets + block * c->components * g->means.words;
    uint64_t *bits = g->bits + block * g->most * g->words;
    if (left <= 0) {
        return true;
    }
    const twi_reach_sources sources = {.list = g->list + from, .count = (int)left};
    if (!twi_reach_block(ctx, c, &sources, sets, g->means.words)) {
        return false;
    }
    for (int64_t v = 0; v < c->vertices; v += LINE * TWI_BITS_SIDE) {
        for (int w = 0; w * TWI_BITS_SIDE < left; w++) {
            turn_line(g, sets, bits, v, w);
        }
        if (twi_is_cancelled(ctx)) {
            return false;
        }
    }
    return true;
}

static bool fill_batch(tw_context *ctx, giving *g, int64_t used)
{
    bool going = true;
    const int team = g->means.team;
    const int64_t even = (used + team - 1) / team;
    g->share = (even + TWI_BITS_SIDE - 1) / TWI_BITS_SIDE * TWI_BITS_SIDE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(twi_team(team)) reduction(&& : going)
    for (int block = 0; block < team; block++) {
        going = fill_block(ctx, g, used, block) && going;
    }
    return going;
}

/* `count` rows of the batch from its row `from` on, which is row `first` of the result. */
static tw_status give_chunk(tw_context *ctx, giving *g, twi_sinks *sinks, int64_t first,
                            int64_t from, int64_t count)
{
    const int64_t bytes = twi_reach_row_bytes(g->condensation->vertices, g->rows->packed);
    int64_t pairs = 0;
#pragma omp parallel for schedule(static) num_threads(twi_team(g->means.team)) reduction(+ : pairs)
    for (int64_t i = 0; i < count; i++) {
        const int64_t slot = g->place[from + i];
        const int64_t row = slot / g->share * g->most + slot % g->share;
        const uint64_t *bits = g->bits + row * g->words;
        const int64_t reached = twi_reach_count_row(bits, g->condensation->vertices);
        twi_reach_put_row(g->chunk + i * bytes, bits, g->condensation->vertices, g->rows->packed);
        pairs += reached;
        if (g->rows->counts != NULL) {
            g->rows->counts[first + i] = reached;
        }
    }
    g->rows->pairs += pairs;
    const double started = twi_seconds();
    const tw_status status = twi_sinks_rows(ctx, sinks, first, count, g->chunk, bytes);
    g->rows->seconds_output += twi_seconds() - started;
    return status;
}

static tw_status give_all(tw_context *ctx, giving *g, twi_sinks *sinks)
{
    tw_status status = TW_OK;
    for (int64_t first = 0, count = 0; status == TW_OK && first < g->rows->count; first += count) {
        int64_t used = 0;
        count = gather_batch(g, first, &used);
        if (!fill_batch(ctx, g, used)) {
            return twi_check_cancel(ctx);
        }
        const int64_t rows = g->means.chunk_rows;
        for (int64_t at = 0; status == TW_OK && at < count; at += rows) {
            const int64_t part = count - at < rows ? count - at : rows;
            status = give_chunk(ctx, g, sinks, first + at, at, part);
        }
        twi_progress(ctx, "reachability", (double)(first + count), (double)g->rows->count, "rows");
    }
    return status;
}

tw_status twi_reach_give_rows(tw_context *ctx, const twi_condensation *c, twi_reach_rows *rows,
                              twi_sinks *sinks)
{
    const char *what = "rows of reachability";
    const uint64_t all = (uint64_t)c->components;
    giving g = {.condensation = c, .rows = rows, .words = row_words(c->vertices)};
    const uint64_t bytes = (uint64_t)twi_reach_row_bytes(c->vertices, rows->packed);
    tw_status status = TW_OK;
    rows->pairs = 0;
    rows->seconds_output = 0;
    if (rows->count == 0) {
        return TW_OK;
    }
    g.means = twi_reach_rows_means(ctx, c, rows);
    g.most = 64 * (int64_t)g.means.words;
    const uint64_t team = (uint64_t)g.means.team, most = (uint64_t)g.most;
    if ((status = twi_memory_check(ctx, twi_reach_rows_memory(c, rows, &g.means), what)) != TW_OK ||
        (status = twi_alloc(ctx, &g.sets, team * all, (uint64_t)g.means.words * sizeof *g.sets,
                            what)) != TW_OK ||
        (status = twi_alloc(ctx, &g.bits, team * most, (uint64_t)g.words * sizeof *g.bits, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &g.slot, all, sizeof *g.slot, what)) != TW_OK ||
        (status = twi_alloc(ctx, &g.list, team * most, sizeof *g.list, what)) != TW_OK ||
        (status = twi_alloc(ctx, &g.place, (uint64_t)rows->count, sizeof *g.place, what)) !=
            TW_OK ||
        (status = twi_alloc(ctx, &g.chunk, (uint64_t)g.means.chunk_rows, bytes, what)) != TW_OK) {
        goto done;
    }
    memset(g.slot, 0xff, all * sizeof *g.slot);
    status = give_all(ctx, &g, sinks);
done:
    twi_free(g.chunk);
    twi_free(g.place);
    twi_free(g.list);
    twi_free(g.slot);
    twi_free(g.bits);
    twi_free(g.sets);
    return status;
}

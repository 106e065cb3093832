/*
 * See rows.h. Step t has the rows of tiles t * R ... t * R + R - 1, R being the rows of the grid,
 * one for each of them; rank (r, c) gets the c-th part of row t * R + r of tiles. Of a symmetric
 * matrix what is missing right of the diagonal comes from the tiles below it, transposed by who
 * sends them. What a rank has itself goes from its tiles into its rows at once. All threads of a
 * rank copy, and rows that are as the result has them are not copied again. A step holds, beside
 * the tiles, three times the rows of a rank.
 */
#include "mpi/closure/rows.h"

#include "apsp/shared/deliver.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "mpi/shared/parts.h"

#include <string.h>

/* Rows begin ... begin + rows - 1 of tile (i, j), on their way to or from `at`. */
typedef struct piece {
    int64_t i, j;
    int64_t begin, rows;
    char *at;
} piece;

typedef struct gathering {
    tw_context *ctx;
    const twi_share *share;
    const twi_grid *grid;
    const tw_apsp_plan *asked;
    twi_mpi_out *to;
    tw_sink sinks[1 + TWI_COLLECTORS];
    tw_sink predecessors;
    twi_delivery *delivery;
    tw_apsp_plan plan; /* the same with this rank's rows for sources */
    int32_t *vertices; /* of this rank's rows, in their order */
    int64_t *places;   /* of them in the result */
    int64_t count;
    int64_t delivered; /* so far */
    int64_t kept_from; /* the first row of `kept` */

    piece *pieces;        /* of a step */
    char *going, *coming; /* they themselves */
    char *rows;           /* whole rows in the working type */
    char *kept;           /* the same as the result has them; NULL: nobody wants them again */
    bool as_they_are;     /* those of this step are `rows`, and not in `kept` */
    char *before;         /* their predecessors, where those are wanted */
    int *counts;          /* four times as many as ranks, in elements */
    MPI_Datatype element;
} gathering;

static int64_t rows_of(const twi_grid *grid)
{
    return (grid->block + grid->cols - 1) / grid->cols;
}

/* The row of tiles that row r of the grid has in step t, or -1. */
static int64_t tile_of(const twi_grid *grid, int64_t t, int r)
{
    const int64_t i = t * grid->rows + r;
    return i < grid->tiles ? i : -1;
}

/* Where the part of column c of the grid begins in row i of tiles. */
static int64_t part_begin(const twi_grid *grid, int64_t i, int c)
{
    return twi_tile_size(grid, i) * c / grid->cols;
}

/* ----------------------------------------------------------------------- pieces between ranks */

/* Whether rank (r, c) sends tile (i, j), turned if it lies below the diagonal as (j, i). */
static bool sends(const twi_share *share, int r, int c, int64_t i, int64_t j)
{
    const twi_grid *grid = share->grid;
    const bool turned = share->symmetric && j > i;
    const int64_t row = turned ? j : i, col = turned ? i : j;
    return row % grid->rows == r && col % grid->cols == c;
}

/* Elements that rank (r, c) sends to the rank in column `to` of the grid for row i of tiles. */
static int64_t elements(const twi_share *share, int r, int c, int64_t i, int to)
{
    const twi_grid *grid = share->grid;
    const int64_t rows = part_begin(grid, i, to + 1) - part_begin(grid, i, to);
    int64_t width = 0;
    for (int64_t j = 0; j < grid->tiles; j++) {
        width += sends(share, r, c, i, j) ? twi_tile_size(grid, j) : 0;
    }
    return rows * width;
}

/* A piece of this rank's own tile to `out`, where its rows are `stride` elements apart. */
static void copy_own(const twi_share *share, const piece *p, char *out, int64_t stride)
{
    const twi_grid *grid = share->grid;
    const int64_t width = twi_tile_size(grid, p->j), size = share->size;
    const bool turned = share->symmetric && p->j > p->i;
    const int64_t own = (turned ? p->j : p->i) / grid->rows;
    const int64_t ld = share->rows[own].ld;
    const char *tile = twi_share_tile(share, own, (turned ? p->i : p->j) / grid->cols);
    if (turned) {
        share->kernel->transpose(out, stride, tile + p->begin * size, ld, width, p->rows);
        return;
    }
    for (int64_t r = 0; r < p->rows; r++) {
        memcpy(out + r * stride * size, tile + (p->begin + r) * ld * size, (size_t)(width * size));
    }
}

/* What this rank sends in step t to others, by receiver; and how much comes from whom. */
static void pack(gathering *g, int64_t t)
{
    const twi_grid *grid = g->grid;
    const int ranks = grid->world->size, self = grid->world->rank;
    char *at = g->going;
    int64_t sum = 0, coming = 0, count = 0;
    const int64_t mine = tile_of(grid, t, grid->row);
    for (int q = 0; q < ranks; q++) {
        const int r = q / grid->cols, c = q % grid->cols;
        const int64_t i = tile_of(grid, t, r);
        const char *first = at;
        const int64_t begin = i >= 0 ? part_begin(grid, i, c) : 0;
        const int64_t rows = i >= 0 ? part_begin(grid, i, c + 1) - begin : 0;
        for (int64_t j = 0; q != self && rows > 0 && j < grid->tiles; j++) {
            if (sends(g->share, grid->row, grid->col, i, j)) {
                g->pieces[count++] = (piece){i, j, begin, rows, at};
                at += rows * twi_tile_size(grid, j) * g->share->size;
            }
        }
        g->counts[q] = (int)((at - first) / g->share->size);
        g->counts[2 * ranks + q] = (int)sum;
        sum += g->counts[q];
        g->counts[ranks + q] =
            mine >= 0 && q != self ? (int)elements(g->share, r, c, mine, grid->col) : 0;
        g->counts[3 * ranks + q] = (int)coming;
        coming += g->counts[ranks + q];
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(twi_team(g->asked->threads))
    for (int64_t k = 0; k < count; k++) {
        copy_own(g->share, &g->pieces[k], g->pieces[k].at, twi_tile_size(grid, g->pieces[k].j));
    }
}

/* One tile's piece of this rank's rows, which came, or lies here (NULL). */
static void place_piece(gathering *g, const piece *p)
{
    const twi_grid *grid = g->grid;
    const int64_t size = g->share->size, width = twi_tile_size(grid, p->j) * size;
    char *out = g->rows + p->j * grid->block * size;
    if (p->at == NULL) {
        copy_own(g->share, p, out, grid->n);
        return;
    }
    for (int64_t r = 0; r < p->rows; r++) {
        memcpy(out + r * grid->n * size, p->at + r * width, (size_t)width);
    }
}

/* What came, and what is here, put together to whole rows. */
static void unpack(gathering *g, int64_t i, int64_t rows)
{
    const twi_grid *grid = g->grid;
    const int ranks = grid->world->size;
    int64_t count = 0;
    for (int q = 0; q < ranks; q++) {
        char *at = g->coming + (int64_t)g->counts[3 * ranks + q] * g->share->size;
        for (int64_t j = 0; j < grid->tiles; j++) {
            if (!sends(g->share, q / grid->cols, q % grid->cols, i, j)) {
                continue;
            }
            g->pieces[count++] = (piece){i, j, part_begin(grid, i, grid->col), rows,
                                         q != grid->world->rank ? at : NULL};
            at += rows * twi_tile_size(grid, j) * g->share->size;
        }
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(twi_team(g->asked->threads))
    for (int64_t k = 0; k < count; k++) {
        place_piece(g, &g->pieces[k]);
    }
}

/* Entries at the kernel's infinity become those of its type's, where these differ (15 and 7 bits).
 */
static void name_infinity(gathering *g, int64_t elements)
{
    const twi_minplus_kernel *kernel = g->share->kernel;
    if (!twi_kernel_is_plain(kernel)) {
        return;
    }
    const uint16_t cap = (uint16_t)kernel->infinity;
    uint8_t *bytes = (uint8_t *)g->rows;
    uint16_t *pairs = (uint16_t *)g->rows;
#pragma omp parallel for schedule(static) num_threads(twi_team(g->asked->threads))
    for (int64_t i = 0; i < elements; i++) {
        if (kernel->type == TW_U8) {
            bytes[i] = bytes[i] < cap ? bytes[i] : TW_APSP_INF_U8;
        } else {
            pairs[i] = pairs[i] < cap ? pairs[i] : TW_APSP_INF_U16;
        }
    }
}

/* --------------------------------------------------------------------------- rows of the result */

static tw_status keep_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)ctx;
    (void)shape;
    return TW_OK;
}

static tw_status keep_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    gathering *g = self;
    const int64_t size = (int64_t)tw_type_size(g->plan.type), cols = twi_plan_cols(&g->plan);
    const int64_t within = (first - g->kept_from) * cols * size;
    (void)ctx;
    g->as_they_are =
        g->asked->options.sources == NULL && data == g->rows + within && stride == cols;
    if (g->as_they_are) {
        return TW_OK;
    }
#pragma omp parallel for schedule(static) num_threads(twi_team(g->asked->threads))
    for (int64_t i = 0; i < count; i++) {
        memcpy(g->kept + (first - g->kept_from + i) * cols * size,
               (const char *)data + i * stride * size, (size_t)(cols * size));
    }
    return TW_OK;
}

static tw_status keep_predecessors(void *self, tw_context *ctx, int64_t first, int64_t count,
                                   const void *data, int64_t stride)
{
    gathering *g = self;
    const int64_t size = sizeof(int32_t), cols = twi_plan_cols(&g->plan);
    (void)ctx;
    for (int64_t i = 0; i < count; i++) {
        memcpy(g->before + (first - g->kept_from + i) * cols * size,
               (const char *)data + i * stride * size, (size_t)(cols * size));
    }
    return TW_OK;
}

/* The column of the grid whose part row `within` of row i of tiles is in. */
static int part_of(const twi_grid *grid, int64_t i, int64_t within)
{
    int c = 0;
    while (part_begin(grid, i, c + 1) <= within) {
        c++;
    }
    return c;
}

/* Whether vertex v's row is this rank's, in step t. */
static bool is_mine(const twi_grid *grid, int64_t t, int64_t v)
{
    const int64_t i = v / grid->block;
    return i == tile_of(grid, t, grid->row) && part_of(grid, i, v % grid->block) == grid->col;
}

/* The rows of this rank, in the order of the steps. */
static tw_status list_rows(gathering *g)
{
    const twi_grid *grid = g->grid;
    const int64_t asked = twi_plan_rows(g->asked);
    const int64_t steps = (grid->tiles + grid->rows - 1) / grid->rows;
    const int64_t most = g->asked->options.sources != NULL ? asked : steps * rows_of(grid);
    tw_status status = twi_alloc(g->ctx, &g->vertices, (uint64_t)most, sizeof *g->vertices,
                                 "the list of this rank's rows");
    if (status == TW_OK) {
        status = twi_alloc(g->ctx, &g->places, (uint64_t)most, sizeof *g->places,
                           "the list of this rank's rows");
    }
    for (int64_t t = 0; t < steps && status == TW_OK; t++) {
        const int64_t i = tile_of(grid, t, grid->row);
        if (g->asked->options.sources != NULL) {
            for (int64_t p = 0; p < asked; p++) {
                if (is_mine(grid, t, g->asked->options.sources[p])) {
                    g->vertices[g->count] = g->asked->options.sources[p];
                    g->places[g->count++] = p;
                }
            }
            continue;
        }
        for (int64_t r = i < 0 ? 0 : part_begin(grid, i, grid->col);
             i >= 0 && r < part_begin(grid, i, grid->col + 1); r++) {
            g->vertices[g->count] = (int32_t)(i * grid->block + r);
            g->places[g->count++] = i * grid->block + r;
        }
    }
    return status;
}

/* This rank's rows of step t through the delivery into `kept`; *count of them. */
static tw_status convert(gathering *g, int64_t t, int64_t *count)
{
    const twi_grid *grid = g->grid;
    const int64_t i = tile_of(grid, t, grid->row), size = g->share->size;
    const int64_t base = i < 0 ? 0 : i * grid->block + part_begin(grid, i, grid->col);
    tw_status status = TW_OK;
    *count = 0;
    g->kept_from = g->delivered;
    while (g->delivered < g->count && is_mine(grid, t, g->vertices[g->delivered]) &&
           status == TW_OK) {
        const int64_t within = g->vertices[g->delivered] - base;
        twi_rows rows = {.first = g->delivered,
                         .count = 1,
                         .work = g->rows + within * grid->n * size,
                         .stride = grid->n,
                         .type = g->share->kernel->type,
                         .scale = 1,
                         .potentials_applied = true};
        if (g->asked->options.sources == NULL) { /* all of them at once */
            rows.count = part_begin(grid, i, grid->col + 1) - part_begin(grid, i, grid->col);
        }
        status = twi_delivery_rows(g->ctx, g->delivery, &rows);
        g->delivered += rows.count;
        *count += rows.count;
    }
    return status;
}

/* The rows of this step, as the result has them. */
static const char *result_rows(const gathering *g)
{
    return g->as_they_are ? g->rows : g->kept;
}

/* Drawn rows of step t, which everybody looks for together. */
static tw_status verify(gathering *g, int64_t t, int64_t count)
{
    const twi_grid *grid = g->grid;
    const int64_t row_bytes = twi_plan_cols(g->asked) * (int64_t)tw_type_size(g->plan.type);
    const double began = twi_seconds();
    tw_status status = TW_OK;
    for (int64_t p = 0; p < twi_plan_rows(g->asked) && status == TW_OK; p++) {
        const int32_t source = twi_plan_source(g->asked, p);
        if (source / grid->block / grid->rows != t || !twi_mpi_verifier_wants(g->to->verifier, p)) {
            continue;
        }
        const char *data = NULL;
        for (int64_t k = 0; k < count && data == NULL; k++) {
            data = g->places[g->kept_from + k] == p ? result_rows(g) + k * row_bytes : NULL;
        }
        status = twi_mpi_verifier_row(g->ctx, g->to->verifier, p, source, data);
    }
    g->to->seconds_verify += twi_seconds() - began;
    return status;
}

/* Runs of rows that are adjacent in the result, one of each rank at a time. */
static tw_status write_rows(gathering *g, twi_mpi_file *file, const char *rows, int64_t count)
{
    const int64_t row_bytes = twi_plan_cols(g->asked) * (int64_t)tw_type_size(file->shape.type);
    int64_t done = 0;
    tw_status status = TW_OK;
    for (int more = 1; more != 0 && status == TW_OK;) {
        int64_t run = 0;
        const int64_t *places = g->places + g->kept_from;
        while (done + run < count && places[done + run] == places[done] + run) {
            run++;
        }
        status = twi_mpi_file_write(g->ctx, file, run > 0 ? places[done] : 0, run,
                                    rows + done * row_bytes);
        done += run;
        more = done < count;
        if (status == TW_OK && g->asked->options.sources != NULL) {
            status = twi_mpi_check(
                g->ctx,
                MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, g->grid->world->comm),
                "write the output file");
        }
    }
    return status;
}

static tw_status step(gathering *g, int64_t t)
{
    const twi_grid *grid = g->grid;
    const int ranks = grid->world->size;
    const int64_t i = tile_of(grid, t, grid->row);
    const int64_t rows =
        i < 0 ? 0 : part_begin(grid, i, grid->col + 1) - part_begin(grid, i, grid->col);
    int64_t count = 0;
    pack(g, t);
    tw_status status = twi_mpi_check(
        g->ctx,
        MPI_Alltoallv(g->going, g->counts, g->counts + 2 * ranks, g->element, g->coming,
                      g->counts + ranks, g->counts + 3 * ranks, g->element, grid->world->comm),
        "exchange rows of the result");
    if (status != TW_OK) {
        return status;
    }
    if (i >= 0) {
        unpack(g, i, rows);
        name_infinity(g, rows * grid->n);
    }
    status = convert(g, t, &count);
    if (status == TW_OK) {
        status = twi_check_cancel(g->ctx);
    }
    status = twi_world_agree(g->ctx, grid->world, status);
    if (status == TW_OK && g->to->verifier != NULL) {
        status = verify(g, t, count);
    }
    if (status == TW_OK && g->to->file != NULL) {
        status = write_rows(g, g->to->file, result_rows(g), count);
    }
    return status == TW_OK && g->to->predecessors != NULL
               ? write_rows(g, g->to->predecessors, g->before, count)
               : status;
}

/* How many of the tiles first, first + step ... are below `end`, and their columns. */
static int64_t count_tiles(const twi_grid *grid, int64_t first, int64_t step, int64_t end,
                           int64_t *columns)
{
    const int64_t count = first < end ? (end - first + step - 1) / step : 0;
    const int64_t last = first + (count - 1) * step;
    *columns = count > 0 ? (count - 1) * grid->block + twi_tile_size(grid, last) : 0;
    return count;
}

/* Elements that this rank sends in a step, at most, and their pieces: see sends(). */
static int64_t most_going(const twi_share *share, int64_t *pieces)
{
    const twi_grid *grid = share->grid;
    int64_t most = 0;
    *pieces = 0;
    for (int64_t t = 0; t * grid->rows < grid->tiles; t++) {
        int64_t sum = 0, count = 0;
        for (int r = 0; r < grid->rows; r++) {
            const int64_t i = tile_of(grid, t, r);
            int64_t columns = 0;
            if (i >= 0 && r == grid->row) {
                const int64_t end = share->symmetric ? i + 1 : grid->tiles;
                count += grid->cols * count_tiles(grid, grid->col, grid->cols, end, &columns);
                sum += twi_tile_size(grid, i) * columns;
            }
            if (i >= 0 && share->symmetric && i % grid->cols == grid->col) {
                const int64_t apart = (grid->row - r + grid->rows) % grid->rows;
                const int64_t first = i + (apart > 0 ? apart : grid->rows);
                count += grid->cols * count_tiles(grid, first, grid->rows, grid->tiles, &columns);
                sum += twi_tile_size(grid, i) * columns;
            }
        }
        most = sum > most ? sum : most;
        *pieces = count > *pieces ? count : *pieces;
    }
    return most;
}

/* Whether rows are wanted again when the delivery has seen them. */
static bool keeps(const gathering *g)
{
    return g->to->file != NULL || g->to->verifier != NULL;
}

static tw_status allocate(gathering *g)
{
    const twi_grid *grid = g->grid;
    const uint64_t n = (uint64_t)grid->n, rows = (uint64_t)rows_of(grid);
    const uint64_t size = (uint64_t)g->share->size;
    int64_t pieces = 0;
    const int64_t going = grid->world->size > 1 ? most_going(g->share, &pieces) : 0;
    tw_status status = list_rows(g);
    if (status == TW_OK) {
        status =
            twi_alloc(g->ctx, &g->pieces, (uint64_t)(grid->tiles > pieces ? grid->tiles : pieces),
                      sizeof *g->pieces, "rows of the result");
    }
    if (status == TW_OK) {
        status = twi_alloc(g->ctx, &g->going, (uint64_t)going, size, "rows of the result");
    }
    if (status == TW_OK) {
        status = twi_alloc(g->ctx, &g->coming, grid->world->size > 1 ? rows * n : 0, size,
                           "rows of the result");
    }
    if (status == TW_OK) {
        status = twi_alloc(g->ctx, &g->rows, rows * n, size, "rows of the result");
    }
    const uint64_t kept = g->asked->options.sources != NULL ? (uint64_t)g->count : rows;
    if (status == TW_OK && keeps(g)) {
        status = twi_alloc(g->ctx, &g->kept, kept * (uint64_t)twi_plan_cols(g->asked),
                           tw_type_size(g->asked->type), "rows of the result");
    }
    if (status == TW_OK && g->to->predecessors != NULL) {
        status = twi_alloc(g->ctx, &g->before, kept * (uint64_t)twi_plan_cols(g->asked),
                           sizeof(int32_t), "rows of predecessors");
    }
    if (status == TW_OK) {
        status = twi_alloc(g->ctx, &g->counts, 4 * (uint64_t)grid->world->size, sizeof *g->counts,
                           "rows of the result");
    }
    return status;
}

uint64_t twi_mpi_rows_memory(const twi_share *share, tw_type type)
{
    const twi_grid *grid = share->grid;
    const uint64_t n = (uint64_t)grid->n, band = (uint64_t)rows_of(grid) * n;
    const bool alone = grid->rows * grid->cols == 1;
    int64_t pieces = 0;
    const uint64_t going = alone ? 0 : (uint64_t)most_going(share, &pieces);
    pieces = pieces > grid->tiles ? pieces : grid->tiles;
    return (going + (alone ? 1 : 2) * band) * (uint64_t)share->size + band * tw_type_size(type) +
           (uint64_t)pieces * sizeof(piece) +
           n / (uint64_t)(grid->rows * grid->cols) * (sizeof(int32_t) + sizeof(int64_t));
}

/* That of the delivery of this rank's rows. */
static void take_plan(gathering *g)
{
    g->plan = *g->asked;
    if (g->to->predecessors != NULL) {
        g->plan.graph = g->to->graph;
    }
    g->plan.options.sources = g->vertices;
    g->plan.options.source_count = g->count;
}

static void free_rows(gathering *g)
{
    twi_free(g->counts);
    twi_free(g->before);
    twi_free(g->kept);
    twi_free(g->rows);
    twi_free(g->coming);
    twi_free(g->going);
    twi_free(g->pieces);
    twi_free(g->places);
    twi_free(g->vertices);
}

tw_status twi_mpi_deliver_check(tw_context *ctx, const twi_share *share, const tw_apsp_plan *asked,
                                twi_mpi_out *out)
{
    gathering g = {.ctx = ctx, .share = share, .grid = share->grid, .asked = asked, .to = out};
    g.plan = *asked;
    tw_status status = allocate(&g);
    if (status == TW_OK) {
        take_plan(&g);
        status = twi_memory_check(ctx,
                                  twi_delivery_memory(&g.plan, NULL, out->predecessors != NULL) +
                                      twi_delivery_table(&g.plan, share->kernel->type) +
                                      asked->options.beside,
                                  "the conversion of the rows");
    }
    free_rows(&g);
    return status;
}

static tw_status begin_delivery(gathering *g)
{
    tw_sink sink = {.size = sizeof sink,
                    .self = g,
                    .begin = keep_begin,
                    .rows = keep_rows,
                    .end = twi_sink_ended,
                    .abort = twi_sink_aborted};
    take_plan(g);
    g->predecessors = sink;
    g->predecessors.rows = keep_predecessors;
    int32_t count = 0;
    if (keeps(g)) {
        g->sinks[count++] = sink;
    }
    twi_mpi_collect(&g->to->collectors, g->places, g->asked, g->sinks, &count);
    return twi_delivery_begin(g->ctx, &g->delivery, &g->plan, NULL, g->sinks, count,
                              g->to->predecessors != NULL ? &g->predecessors : NULL);
}

tw_status twi_mpi_deliver(tw_context *ctx, const twi_share *share, const tw_apsp_plan *asked,
                          twi_mpi_out *out)
{
    const twi_grid *grid = share->grid;
    gathering g = {.ctx = ctx, .share = share, .grid = grid, .asked = asked, .to = out};
    const int64_t steps = (grid->tiles + grid->rows - 1) / grid->rows;
    g.plan = *asked;
    (void)MPI_Type_contiguous((int)share->size, MPI_BYTE, &g.element);
    (void)MPI_Type_commit(&g.element);
    tw_status status = allocate(&g);
    if (status == TW_OK) {
        status = begin_delivery(&g);
    }
    status = twi_world_agree(ctx, grid->world, status);
    for (int64_t t = 0; t < steps && status == TW_OK; t++) {
        twi_progress(ctx, "writing", (double)t, (double)steps, "rows of tiles");
        status = step(&g, t);
    }
    if (status == TW_OK) {
        status = twi_world_agree(ctx, grid->world, twi_delivery_end(ctx, g.delivery));
    }
    status = twi_mpi_collected(ctx, grid->world, &out->collectors, status);
    twi_delivery_destroy(ctx, g.delivery);
    (void)MPI_Type_free(&g.element);
    free_rows(&g);
    return status;
}

/*
 * See share.h. Arcs travel from whoever read them to whoever owns their tile in rounds: each rank
 * sorts its next few thousand by owner and all ranks exchange them, so that buffers stay small
 * whatever the graph is. What is its own it takes at once. All threads of a rank sort, each a run
 * of these arcs, into the places that one thread would give them; an entry takes the minimum of its
 * arcs, in whatever order threads bring them. An attempt in another type does it again; nothing of
 * it is kept. Tiles and owners are looked up in tables: a dense graph has as many arcs as the
 * matrix entries, and a division for each of them costs as much as a round of the closure.
 */
#include "mpi/closure/share.h"

#include "apsp/closure/cpu.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define ARCS_AT_ONCE (1 << 18) /* of all ranks together, about; 4 MiB */
#define ARCS_LEAST 1024        /* of one rank */
#define ARCS_A_THREAD 4096     /* from which on another one is worth waking */
#define FILL_AT_ONCE (1 << 19) /* elements */

typedef struct arc {
    int32_t from;
    int32_t to;
    double weight;
} arc;

/* Of a vertex its tile; of a tile the row and column of the grid that it belongs to, and which it
 * is of the tiles there. */
typedef struct places {
    int32_t *tile;      /* n */
    int32_t *row, *col; /* tiles each */
    int32_t *row_at, *col_at;
} places;

/* ----------------------------------------------------------------------------------- memory */

static int64_t tiles_of_row(const twi_grid *grid, int64_t row, bool symmetric)
{
    const int64_t all = twi_own_cols(grid);
    const int64_t tile = twi_row_tile(grid, row);
    if (!symmetric) {
        return all;
    }
    return tile < grid->col ? 0 : (tile - grid->col) / grid->cols + 1;
}

/* Elements from one row to the next where that many tiles lie side by side: the last of the matrix
 * may be narrower. */
static int64_t stride_of(const twi_grid *grid, const twi_minplus_kernel *kernel, int64_t tiles,
                         bool whole)
{
    if (tiles == 0 || whole) {
        return tiles * grid->block;
    }
    return twi_work_stride(kernel, (tiles - 1) * grid->block +
                                       twi_tile_size(grid, twi_col_tile(grid, tiles - 1)));
}

static int64_t height_of(const twi_grid *grid, int64_t row, bool whole)
{
    return whole ? grid->block : twi_tile_size(grid, twi_row_tile(grid, row));
}

uint64_t twi_share_bytes(const twi_grid *grid, const twi_minplus_kernel *kernel, bool symmetric,
                         bool whole)
{
    uint64_t bytes = 0;
    for (int64_t row = 0; row < twi_own_rows(grid); row++) {
        const int64_t ld = stride_of(grid, kernel, tiles_of_row(grid, row, symmetric), whole);
        bytes += (uint64_t)(height_of(grid, row, whole) * ld) * tw_type_size(kernel->type);
    }
    return bytes;
}

#define FILL(T, INFTY)                           \
    {                                            \
        T *at = share->memory;                   \
        for (uint64_t i = begin; i < end; i++) { \
            at[i] = (INFTY);                     \
        }                                        \
    }

static void fill_part(const twi_share *share, uint64_t begin, uint64_t end)
{
    switch (share->kernel->type) {
    case TW_U8:
        FILL(uint8_t, (uint8_t)share->kernel->infinity)
        break;
    case TW_U16:
        FILL(uint16_t, (uint16_t)share->kernel->infinity)
        break;
    case TW_I32:
        FILL(int32_t, TW_APSP_INF_I32)
        break;
    case TW_F32:
        FILL(float, INFINITY)
        break;
    default:
        FILL(double, (double)INFINITY)
        break;
    }
}

/* All of it, by all threads: the system finds the memory as it is touched, which takes longer than
 * to fill it. */
static void fill(const twi_share *share, uint64_t elements, int threads)
{
    (void)threads; /* unused without OpenMP */
    const uint64_t parts = (elements + FILL_AT_ONCE - 1) / FILL_AT_ONCE;
#pragma omp parallel for schedule(static) num_threads(twi_team(threads))
    for (uint64_t part = 0; part < parts; part++) {
        const uint64_t begin = part * FILL_AT_ONCE, left = elements - begin;
        fill_part(share, begin, begin + (left < FILL_AT_ONCE ? left : FILL_AT_ONCE));
    }
}

static void clear_diagonal(const twi_share *share)
{
    const twi_grid *grid = share->grid;
    for (int64_t row = 0; row < share->row_count; row++) {
        const int64_t tile = twi_row_tile(grid, row);
        if (tile % grid->cols != grid->col) {
            continue;
        }
        const twi_strip_row *at = &share->rows[row];
        char *c = twi_share_tile(share, row, tile / grid->cols);
        for (int64_t i = 0; i < twi_tile_size(grid, tile); i++) {
            memset(c + (i * at->ld + i) * share->size, 0, (size_t)share->size);
        }
    }
}

void twi_share_lay_out(twi_share *share, void *memory)
{
    const twi_grid *grid = share->grid;
    char *at = memory;
    share->memory = memory;
    for (int64_t row = 0; row < share->row_count; row++) {
        const int64_t tiles = tiles_of_row(grid, row, share->symmetric);
        const int64_t ld = stride_of(grid, share->kernel, tiles, share->whole);
        share->rows[row] = (twi_strip_row){at, ld, tiles};
        at += height_of(grid, row, share->whole) * ld * share->size;
    }
}

tw_status twi_share_create(tw_context *ctx, twi_share *out, const twi_grid *grid,
                           const twi_minplus_kernel *kernel, bool symmetric, bool whole,
                           const twi_machine *machine, int threads)
{
    static const char what[] = "this rank's share of the distance matrix";
    const bool helps = machine != NULL && machine->help == TWI_HELP_ON;
    *out = (twi_share){.grid = grid,
                       .kernel = kernel,
                       .symmetric = symmetric,
                       .whole = whole,
                       .size = (int64_t)tw_type_size(kernel->type),
                       .row_count = twi_own_rows(grid),
                       .col_count = twi_own_cols(grid),
                       .common = {.fd = -1},
                       .machine = helps ? machine : NULL};
    const uint64_t bytes = twi_share_bytes(grid, kernel, symmetric, whole);
    void *memory = NULL;
    tw_status status =
        twi_alloc(ctx, &out->rows, (uint64_t)out->row_count, sizeof *out->rows, what);
    if (status == TW_OK && helps) {
        status = twi_common_take(ctx, &out->common, bytes, threads, what);
        memory = out->common.memory;
    }
    if (status == TW_OK && memory == NULL) {
        status = twi_alloc(ctx, &memory, bytes, 1, what);
    }
    if (status != TW_OK) {
        return status;
    }
    twi_share_lay_out(out, memory);
    fill(out, bytes / (uint64_t)out->size, threads);
    clear_diagonal(out);
    return TW_OK;
}

void twi_share_clear(twi_share *share)
{
    if (share->common.memory != NULL) {
        twi_common_free(&share->common);
    } else {
        twi_free(share->memory);
    }
    twi_free(share->rows);
    share->memory = NULL;
    share->rows = NULL;
}

/* ------------------------------------------------------------------------------------- arcs */

#define LOWER(T, INFTY)                                                                   \
    {                                                                                     \
        T *at = (T *)twi_share_tile(share, row, tile) + i * ld + j, there;                \
        T entry = weight < (double)(INFTY) ? (T)weight : (INFTY);                         \
        __atomic_load(at, &there, __ATOMIC_RELAXED);                                      \
        if (alone && entry < there) {                                                     \
            *at = entry;                                                                  \
        } else {                                                                          \
            while (entry < there &&                                                       \
                   !__atomic_compare_exchange(at, &there, &entry, true, __ATOMIC_RELAXED, \
                                              __ATOMIC_RELAXED)) {                        \
            }                                                                             \
        }                                                                                 \
    }

/* The minimum of what is there and the arc's weight, at (from, to), which lies in a tile of ours,
 * and where, unless it is alone, another thread may bring another arc. */
static void put(twi_share *share, const places *where, int64_t from, int64_t to, double weight,
                bool alone)
{
    const int64_t block = share->grid->block;
    const int32_t from_tile = where->tile[from], to_tile = where->tile[to];
    const int64_t row = where->row_at[from_tile], tile = where->col_at[to_tile];
    const int64_t i = from - from_tile * block, j = to - to_tile * block;
    const int64_t ld = share->rows[row].ld;
    switch (share->kernel->type) {
    case TW_U8:
        LOWER(uint8_t, (uint8_t)share->kernel->infinity)
        break;
    case TW_U16:
        LOWER(uint16_t, (uint16_t)share->kernel->infinity)
        break;
    case TW_I32:
        LOWER(int32_t, TW_APSP_INF_I32)
        break;
    case TW_F32:
        LOWER(float, INFINITY)
        break;
    default:
        LOWER(double, (double)INFINITY)
        break;
    }
}

/* Of a symmetric matrix the half below the diagonal is kept: there an arc and its like in the other
 * direction meet. Tiles on the diagonal are kept whole. */
static void take(twi_share *share, twi_pattern *pattern, const places *at, const arc *a, bool alone)
{
    const int32_t i = at->tile[a->from], j = at->tile[a->to];
    if (share->symmetric && i < j) {
        put(share, at, a->to, a->from, a->weight, alone);
    } else {
        put(share, at, a->from, a->to, a->weight, alone);
    }
    twi_pattern_add_shared(pattern, i, j);
    if (share->symmetric) {
        twi_pattern_add_shared(pattern, j, i);
    }
}

static tw_status make_places(tw_context *ctx, places *out, const twi_grid *grid)
{
    const uint64_t tiles = (uint64_t)grid->tiles, n = (uint64_t)grid->n;
    tw_status status =
        twi_alloc(ctx, &out->tile, n + 4 * tiles, sizeof *out->tile, "the places of arcs");
    if (status != TW_OK) {
        return status;
    }
    out->row = out->tile + n;
    out->col = out->row + tiles;
    out->row_at = out->col + tiles;
    out->col_at = out->row_at + tiles;
    for (int64_t v = 0; v < grid->n; v++) {
        out->tile[v] = (int32_t)(v / grid->block);
    }
    for (int64_t i = 0; i < grid->tiles; i++) {
        out->row[i] = (int32_t)(i % grid->rows);
        out->col[i] = (int32_t)(i % grid->cols);
        out->row_at[i] = (int32_t)(i / grid->rows);
        out->col_at[i] = (int32_t)(i / grid->cols);
    }
    return TW_OK;
}

typedef struct traffic {
    arc *out;
    arc *in;
    uint64_t in_room;
    int *counts;  /* four times as many as ranks: what goes, what comes, and where each begins */
    int *begin;   /* of each thread, and for each rank: where its next arc goes */
    int64_t each; /* arcs of a rank in a round */
    int threads;
} traffic;

static int owner(const twi_share *share, const places *at, int32_t i, int32_t j)
{
    const bool turned = share->symmetric && i < j;
    return turned ? at->row[j] * share->grid->cols + at->col[i]
                  : at->row[i] * share->grid->cols + at->col[j];
}

/* Arcs of this rank's part that a thread sorts, and where they go. */
typedef struct run {
    int64_t first, end;
    int *begin; /* of each rank: at first how many there are */
    bool alone; /* there is no other */
} run;

static run run_of(const traffic *t, int64_t next, int64_t end, int part, int parts, int ranks)
{
    const int64_t count = end - next;
    return (run){next + count * part / parts, next + count * (part + 1) / parts,
                 t->begin + (int64_t)part * ranks, parts == 1};
}

static int parts_of(const traffic *t, int64_t arcs)
{
    const int64_t most = arcs / ARCS_A_THREAD;
    return most < 1 ? 1 : most < t->threads ? (int)most : t->threads;
}

/* The vertex that an arc of the part leaves. */
static int64_t vertex_of(const tw_graph *part, int64_t arc_number)
{
    int64_t low = 0, high = part->n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (part->offsets[middle] <= arc_number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Count the arcs of a run by owner, but for our own. */
static void count_run(const twi_share *share, const places *at, const tw_mpi_graph *graph,
                      const run *r)
{
    const tw_graph *part = &graph->whole;
    memset(r->begin, 0, (size_t)graph->world.size * sizeof *r->begin);
    int64_t u = r->first < r->end ? vertex_of(part, r->first) : 0;
    for (int64_t a = r->first; a < r->end; a++) {
        while (a >= part->offsets[u + 1]) {
            u++;
        }
        r->begin[owner(share, at, at->tile[u], at->tile[part->targets[a]])]++;
    }
    r->begin[graph->world.rank] = 0;
}

/* Take our own arcs of a run, and lay out those of others from where `begin` says. */
static void sort_run(twi_share *share, twi_pattern *pattern, const places *at,
                     const tw_mpi_graph *graph, traffic *t, const run *r)
{
    const tw_graph *part = &graph->whole;
    int64_t u = r->first < r->end ? vertex_of(part, r->first) : 0;
    for (int64_t a = r->first; a < r->end; a++) {
        while (a >= part->offsets[u + 1]) {
            u++;
        }
        const int to = owner(share, at, at->tile[u], at->tile[part->targets[a]]);
        const arc found = {(int32_t)u, part->targets[a], twi_graph_weight(part, a) + 0.0};
        if (to == graph->world.rank) {
            take(share, pattern, at, &found, r->alone);
        } else {
            t->out[r->begin[to]++] = found;
        }
    }
}

/* The next arcs of this rank's part, sorted by owner, and those of an owner in their order. */
static void sort(twi_share *share, twi_pattern *pattern, const places *at,
                 const tw_mpi_graph *graph, traffic *t, int64_t next, int64_t end)
{
    const int ranks = graph->world.size, parts = parts_of(t, end - next);
    int *going = t->counts, *begin = t->counts + 2 * ranks;
#pragma omp parallel for num_threads(twi_team(parts)) schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        const run r = run_of(t, next, end, p, parts, ranks);
        count_run(share, at, graph, &r);
    }
    int sum = 0;
    for (int to = 0; to < ranks; to++) {
        begin[to] = sum;
        for (int p = 0; p < parts; p++) {
            int *of_thread = t->begin + (int64_t)p * ranks + to;
            const int count = *of_thread;
            *of_thread = sum;
            sum += count;
        }
        going[to] = sum - begin[to];
    }
#pragma omp parallel for num_threads(twi_team(parts)) schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        const run r = run_of(t, next, end, p, parts, ranks);
        sort_run(share, pattern, at, graph, t, &r);
    }
}

/* What has come. */
static void take_all(twi_share *share, twi_pattern *pattern, const places *at, const traffic *t,
                     int64_t coming)
{
    const int parts = parts_of(t, coming);
#pragma omp parallel for num_threads(twi_team(parts)) schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        for (int64_t a = coming * p / parts; a < coming * (p + 1) / parts; a++) {
            take(share, pattern, at, &t->in[a], parts == 1);
        }
    }
}

/* Room for what comes; TW_OK or a failure of this rank alone. */
static tw_status make_room(tw_context *ctx, traffic *t, const twi_world *world, int64_t *coming)
{
    int *comes = t->counts + world->size, *begin = t->counts + 3 * world->size;
    *coming = 0;
    for (int r = 0; r < world->size; r++) {
        begin[r] = (int)*coming;
        *coming += comes[r];
    }
    if ((uint64_t)*coming <= t->in_room) {
        return TW_OK;
    }
    tw_status status = twi_grow(ctx, &t->in, 0, (uint64_t)*coming, sizeof *t->in,
                                "arcs on their way between ranks");
    t->in_room = status == TW_OK ? (uint64_t)*coming : t->in_room;
    return status;
}

static tw_status exchange(tw_context *ctx, twi_share *share, twi_pattern *pattern, const places *at,
                          traffic *t, MPI_Datatype type)
{
    const twi_world *world = share->grid->world;
    const int ranks = world->size;
    int64_t coming = 0;
    tw_status status = twi_mpi_check(
        ctx, MPI_Alltoall(t->counts, 1, MPI_INT, t->counts + ranks, 1, MPI_INT, world->comm),
        "exchange arcs");
    if (status == TW_OK) {
        status = make_room(ctx, t, world, &coming);
    }
    if (status == TW_OK) {
        status = twi_check_cancel(ctx);
    }
    status = twi_world_agree(ctx, world, status);
    if (status != TW_OK) {
        return status;
    }
    status =
        twi_mpi_check(ctx,
                      MPI_Alltoallv(t->out, t->counts, t->counts + 2 * ranks, type, t->in,
                                    t->counts + ranks, t->counts + 3 * ranks, type, world->comm),
                      "exchange arcs");
    if (status == TW_OK) {
        take_all(share, pattern, at, t, coming);
    }
    return status;
}

static tw_status exchange_all(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                              const places *at, const tw_mpi_graph *graph, traffic *t)
{
    const twi_world *world = &graph->world;
    const int64_t arcs = graph->whole.arcs;
    int64_t rounds = (arcs + t->each - 1) / t->each, next = 0;
    MPI_Datatype type;
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT64_T, MPI_MAX, world->comm),
        "exchange arcs");
    (void)MPI_Type_contiguous((int)sizeof(arc), MPI_BYTE, &type);
    (void)MPI_Type_commit(&type);
    for (int64_t round = 0; round < rounds && status == TW_OK; round++) {
        const int64_t end = next + t->each < arcs ? next + t->each : arcs;
        sort(share, pattern, at, graph, t, next, end);
        next = end;
        status = exchange(ctx, share, pattern, at, t, type);
    }
    (void)MPI_Type_free(&type);
    return status;
}

/* Arcs of a rank in a round. */
static int64_t arcs_at_once(int ranks)
{
    const int64_t each = ARCS_AT_ONCE / ranks;
    return each > ARCS_LEAST ? each : ARCS_LEAST;
}

uint64_t twi_share_traffic(int64_t arcs, int ranks)
{
    const int64_t most = arcs_at_once(ranks), there = arcs < most ? arcs : most;
    return (uint64_t)(most + (ranks > 1 ? there : 0)) * sizeof(arc);
}

tw_status twi_share_scatter(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                            const tw_mpi_graph *graph, int threads)
{
    const twi_world *world = &graph->world;
    traffic t = {.each = arcs_at_once(world->size), .threads = threads};
    places at = {0};
    tw_status status =
        twi_alloc(ctx, &t.out, (uint64_t)t.each, sizeof *t.out, "arcs on their way between ranks");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &t.counts, 4 * (uint64_t)world->size, sizeof *t.counts,
                           "arcs on their way between ranks");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &t.begin, (uint64_t)threads * (uint64_t)world->size,
                           sizeof *t.begin, "arcs on their way between ranks");
    }
    if (status == TW_OK) {
        status = make_places(ctx, &at, share->grid);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK && at.tile != NULL) { /* both or neither */
        status = exchange_all(ctx, share, pattern, &at, graph, &t);
    }
    if (status == TW_OK) {
        status = twi_pattern_unite(ctx, pattern, world);
    }
    twi_free(at.tile);
    twi_free(t.begin);
    twi_free(t.counts);
    twi_free(t.in);
    twi_free(t.out);
    return twi_world_agree(ctx, world, status);
}

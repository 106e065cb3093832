/*
 * Graphs over ranks: see graph.h. A file of triples is read in parts: every rank looks at the
 * header and fetches its slice of the edges, so nobody holds more than that. What has to be parsed
 * from its beginning (text, compressed files, matrices) is read by rank 0, which deals out runs of
 * vertices with about as many arcs each.
 */
#include "mpi/shared/graph.h"

#include "base/given.h"
#include "base/memory.h"
#include "graph/build.h"
#include "io/graph/format.h"
#include "io/packed/packed.h"
#include "mpi/shared/alike.h"
#include "mpi/shared/content.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 8, TRIPLE = 12 };
#define AT_ONCE ((int64_t)1 << 26) /* elements of a message */
#define TAG 1

/* ------------------------------------------------------------------------------ what all have */

/* What is true of all parts into graph->whole, of which the arrays are this rank's. */
static tw_status unite(tw_context *ctx, tw_mpi_graph *graph)
{
    const twi_world *world = &graph->world;
    tw_graph *whole = &graph->whole;
    const bool any = whole->arcs > 0;
    double ends[2] = {any ? whole->min_weight : (double)INFINITY,
                      any ? -whole->max_weight : (double)INFINITY};
    int32_t all[4] = {whole->integral, whole->whole, !whole->floats, whole->undirected};
    graph->arcs = whole->arcs;
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, world->comm), "compare");
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, all, 4, MPI_INT32_T, MPI_MIN, world->comm), "compare");
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &graph->arcs, 1, MPI_INT64_T, MPI_SUM, world->comm),
            "compare");
    }
    const bool arcs = graph->arcs > 0;
    whole->min_weight = arcs ? ends[0] : 0;
    whole->max_weight = arcs ? -ends[1] : 0;
    whole->integral = all[0] != 0;
    whole->whole = all[1] != 0;
    whole->floats = all[2] == 0;
    whole->undirected = all[3] != 0;
    whole->equal = arcs && whole->min_weight == whole->max_weight && whole->min_weight > 0;
    return status;
}

static tw_status check_parts(tw_context *ctx, const tw_mpi_graph *graph, const tw_graph *part)
{
    const twi_world *world = &graph->world;
    int64_t most[2] = {part != NULL ? part->n : -1, part != NULL ? (int64_t)part->weight_type : -1};
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, world->comm), "compare");
    if (status == TW_OK && most[0] < 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "no rank gives a part of the graph");
    } else if (status == TW_OK && part != NULL && part->n != most[0]) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the part of rank %d has %lld vertices, but another rank's has %lld",
                         world->rank, (long long)part->n, (long long)most[0]);
    } else if (status == TW_OK && part != NULL && (int64_t)part->weight_type != most[1]) {
        status = tw_fail(
            ctx, TW_ERR_ARGUMENT, "the weights of rank %d's part are %s, but another rank's are %s",
            world->rank, tw_type_name(part->weight_type), tw_type_name((tw_type)most[1]));
    }
    return twi_world_agree(ctx, world, status);
}

/* An empty part for whoever has none. */
static tw_status make_empty(tw_context *ctx, tw_mpi_graph *graph)
{
    int64_t like[4] = {-1, -1, -1, -1}; /* vertices, type, undirected, first */
    const tw_graph *part = &graph->whole;
    const bool have = part->offsets != NULL;
    if (have) {
        like[0] = part->n;
        like[1] = (int64_t)part->weight_type;
        like[2] = part->undirected;
        like[3] = part->first;
    }
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, like, 4, MPI_INT64_T, MPI_MAX, graph->world.comm),
        "compare");
    if (status != TW_OK || have) {
        return status;
    }
    status = twi_graph_allocate(ctx, &graph->own, like[0], (tw_type)like[1]);
    if (status == TW_OK) {
        graph->own->integral = graph->own->whole = true;
        graph->own->undirected = like[2] != 0;
        graph->own->first = (int32_t)like[3];
        graph->whole = *graph->own;
    }
    return status;
}

/* From a part, or none, to the graph. */
static tw_status finish(tw_context *ctx, tw_mpi_graph *graph, const tw_graph *part)
{
    tw_status status = check_parts(ctx, graph, part);
    if (status == TW_OK) {
        graph->whole = part != NULL ? *part : (tw_graph){.n = -1};
        status = twi_world_agree(ctx, &graph->world, make_empty(ctx, graph));
    }
    return status == TW_OK ? twi_world_agree(ctx, &graph->world, unite(ctx, graph)) : status;
}

static tw_status open_graph(tw_context *ctx, tw_mpi_graph **out, MPI_Comm comm)
{
    tw_mpi_graph *graph = NULL;
    twi_world world;
    tw_status status = twi_world_open(ctx, &world, comm);
    if (status != TW_OK) {
        return status;
    }
    status = twi_alloc_zeroed(ctx, &graph, 1, sizeof *graph, "a graph over ranks");
    status = twi_world_agree(ctx, &world, status);
    if (status != TW_OK) {
        twi_free(graph);
        twi_world_close(&world);
        return status;
    }
    graph->world = world;
    *out = graph;
    return TW_OK;
}

/* ---------------------------------------------------------------------------------- triples */

typedef struct slice {
    const char *name;
    int64_t first;
} slice;

static void name_triple(char *text, size_t size, const void *self, int64_t index)
{
    const slice *part = self;
    const long long edge = (long long)(part->first + index);
    snprintf(text, size, "%.400s: edge %lld, at byte %lld", part->name, edge,
             HEADER + edge * TRIPLE);
}

static int32_t load_i32(const char *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Whether the file can be read in parts: triples, whole, not compressed. Whatever else it is, or is
 * wrong with it, rank 0 will find. */
static bool has_parts(const twi_input *input, const char *path, const tw_graph_read_options *opts)
{
    if (opts->format != NULL && strcmp(opts->format, "triples") != 0) {
        return false;
    }
    const twi_graph_format *format = twi_graph_format_of_path(path);
    if (opts->format == NULL && format != NULL && strcmp(format->name, "triples") != 0) {
        return false;
    }
    return !twi_packed_named(path) && twi_triples_recognised(input);
}

static tw_status read_slice(tw_context *ctx, tw_mpi_graph *graph, const twi_input *input,
                            const tw_graph_read_options *opts)
{
    const int64_t edges = load_i32(input->bytes + 4);
    const int64_t first = edges * graph->world.rank / graph->world.size;
    const int64_t count = edges * (graph->world.rank + 1) / graph->world.size - first;
    slice place = {input->name, first};
    char *bytes = NULL;
    tw_status status =
        twi_alloc(ctx, &bytes, (uint64_t)count, TRIPLE, "this rank's part of the file");
    if (status == TW_OK) {
        status = twi_input_fetch(ctx, input, HEADER + (uint64_t)first * TRIPLE, bytes,
                                 (uint64_t)count * TRIPLE);
    }
    if (status == TW_OK) {
        twi_edge_part part = {
            .count = count,
            .source = bytes,
            .target = bytes + 4,
            .weight = opts->unweighted ? NULL : bytes + 8,
            .source_step = TRIPLE,
            .target_step = TRIPLE,
            .weight_step = TRIPLE,
        };
        twi_edge_source source = {
            .vertices = load_i32(input->bytes),
            .parts = &part,
            .part_count = 1,
            .weight_type = TW_I32,
            .both = twi_read_both(opts, false),
            .undirected = twi_read_undirected(opts, false),
            .place = name_triple,
            .place_self = &place,
        };
        status = twi_graph_build(ctx, &graph->own, &source);
    }
    twi_free(bytes);
    return status;
}

/* ------------------------------------------------------------------------- dealt out by rank 0 */

/* Vertices begin[r] ... begin[r+1]-1 for rank r: about as many arcs for each. */
static void cut(const tw_graph *all, int ranks, int64_t *begin)
{
    int64_t v = 0;
    for (int r = 0; r < ranks; r++) {
        begin[r] = v;
        const int64_t until = (int64_t)((double)all->arcs * (r + 1) / ranks);
        while (v < all->n && all->offsets[v + 1] <= until) {
            v++;
        }
        v = r + 1 == ranks ? all->n : v;
    }
    begin[ranks] = all->n;
}

static tw_status send_array(tw_context *ctx, const twi_world *world, const char *data,
                            int64_t count, size_t size, int to)
{
    tw_status status = TW_OK;
    for (int64_t at = 0; at < count && status == TW_OK; at += AT_ONCE / 8) {
        const int64_t some = count - at < AT_ONCE / 8 ? count - at : AT_ONCE / 8;
        status = twi_mpi_check(ctx,
                               MPI_Send(data + at * (int64_t)size, (int)(some * (int64_t)size),
                                        MPI_BYTE, to, TAG, world->comm),
                               "deal out the graph");
    }
    return status;
}

static tw_status receive_array(tw_context *ctx, const twi_world *world, char *data, int64_t count,
                               size_t size)
{
    tw_status status = TW_OK;
    for (int64_t at = 0; at < count && status == TW_OK; at += AT_ONCE / 8) {
        const int64_t some = count - at < AT_ONCE / 8 ? count - at : AT_ONCE / 8;
        status = twi_mpi_check(ctx,
                               MPI_Recv(data + at * (int64_t)size, (int)(some * (int64_t)size),
                                        MPI_BYTE, 0, TAG, world->comm, MPI_STATUS_IGNORE),
                               "deal out the graph");
    }
    return status;
}

/* What rank 0 tells of the graph and of this rank's part. */
typedef struct letter {
    int64_t n;
    int64_t first, last; /* vertices of the part */
    int64_t arcs;        /* of the part */
    int32_t type;
    int32_t undirected, integral, whole, floats;
    int32_t numbered; /* from: tw_graph.first */
    double min_weight, max_weight;
} letter;

static letter letter_for(const tw_graph *all, const int64_t *begin, int rank)
{
    return (letter){.n = all->n,
                    .first = begin[rank],
                    .last = begin[rank + 1],
                    .arcs = all->offsets[begin[rank + 1]] - all->offsets[begin[rank]],
                    .type = (int32_t)all->weight_type,
                    .undirected = all->undirected,
                    .integral = all->integral,
                    .whole = all->whole,
                    .floats = all->floats,
                    .numbered = all->first,
                    .min_weight = all->min_weight,
                    .max_weight = all->max_weight};
}

/* Room for a part, with the numbers of arcs of its vertices still to come. */
static tw_status make_part(tw_context *ctx, tw_graph **out, const letter *about)
{
    tw_status status = twi_graph_allocate(ctx, out, about->n, (tw_type)about->type);
    if (status == TW_OK) {
        status = twi_graph_allocate_arcs(ctx, *out, about->arcs);
    }
    if (status == TW_OK) {
        (*out)->undirected = about->undirected != 0;
        (*out)->integral = about->integral != 0;
        (*out)->whole = about->whole != 0;
        (*out)->floats = about->floats != 0;
        (*out)->first = about->numbered;
        (*out)->min_weight = about->min_weight;
        (*out)->max_weight = about->max_weight;
    }
    return status;
}

/* Offsets of the vertices of a part came as those of the whole graph. */
static void shift_offsets(tw_graph *part, const letter *about)
{
    const int64_t base = part->offsets[about->first];
    for (int64_t v = 0; v <= part->n; v++) {
        part->offsets[v] = v <= about->first ? 0
                           : v > about->last ? about->arcs
                                             : part->offsets[v] - base;
    }
}

static tw_status give_part(tw_context *ctx, const twi_world *world, const tw_graph *all,
                           const int64_t *begin, int to)
{
    const int64_t first = begin[to], at = all->offsets[first];
    const int64_t arcs = all->offsets[begin[to + 1]] - at;
    const size_t size = tw_type_size(all->weight_type);
    tw_status status = send_array(ctx, world, (const char *)(all->offsets + first),
                                  begin[to + 1] - first + 1, sizeof *all->offsets, to);
    if (status == TW_OK) {
        status = send_array(ctx, world, (const char *)(all->targets + at), arcs,
                            sizeof *all->targets, to);
    }
    return status == TW_OK ? send_array(ctx, world, (const char *)all->weights + at * (int64_t)size,
                                        arcs, size, to)
                           : status;
}

static tw_status take_part(tw_context *ctx, const twi_world *world, tw_graph *part,
                           const letter *about)
{
    const size_t size = tw_type_size(part->weight_type);
    tw_status status = receive_array(ctx, world, (char *)(part->offsets + about->first),
                                     about->last - about->first + 1, sizeof *part->offsets);
    if (status == TW_OK) {
        status =
            receive_array(ctx, world, (char *)part->targets, about->arcs, sizeof *part->targets);
    }
    return status == TW_OK ? receive_array(ctx, world, part->weights, about->arcs, size) : status;
}

/* `all`: the graph, on rank 0 alone. */
static tw_status deal(tw_context *ctx, tw_mpi_graph *graph, tw_graph *all)
{
    const twi_world *world = &graph->world;
    int64_t *begin = NULL;
    letter *letters = NULL;
    letter mine = {0};
    tw_status status = TW_OK;
    if (all != NULL) {
        status = twi_alloc(ctx, &begin, (uint64_t)world->size + 1, sizeof *begin, "the parts");
        if (status == TW_OK) {
            status = twi_alloc(ctx, &letters, (uint64_t)world->size, sizeof *letters, "the parts");
        }
        if (status == TW_OK) {
            cut(all, world->size, begin);
            for (int r = 0; r < world->size; r++) {
                letters[r] = letter_for(all, begin, r);
            }
        }
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_mpi_check(ctx,
                               MPI_Scatter(letters, sizeof mine, MPI_BYTE, &mine, sizeof mine,
                                           MPI_BYTE, 0, world->comm),
                               "deal out the graph");
    }
    if (status == TW_OK) {
        status = make_part(ctx, &graph->own, &mine);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK && all != NULL) {
        const size_t size = tw_type_size(all->weight_type);
        for (int r = 1; r < world->size && status == TW_OK; r++) {
            status = give_part(ctx, world, all, begin, r);
        }
        memcpy(graph->own->offsets, all->offsets, (size_t)(mine.last + 1) * sizeof *all->offsets);
        memcpy(graph->own->targets, all->targets, (size_t)mine.arcs * sizeof *all->targets);
        memcpy(graph->own->weights, all->weights, (size_t)mine.arcs * size);
    } else if (status == TW_OK) {
        status = take_part(ctx, world, graph->own, &mine);
    }
    if (status == TW_OK) {
        shift_offsets(graph->own, &mine);
    }
    twi_free(letters);
    twi_free(begin);
    return twi_world_agree(ctx, world, status);
}

static tw_status tell_array(tw_context *ctx, const twi_world *world, void *data, uint64_t bytes)
{
    tw_status status = TW_OK;
    for (uint64_t at = 0; at < bytes && status == TW_OK; at += AT_ONCE) {
        const uint64_t left = bytes - at, some = left < AT_ONCE ? left : AT_ONCE;
        status = twi_mpi_check(
            ctx, MPI_Bcast((char *)data + at, (int)some, MPI_BYTE, 0, world->comm), "tell names");
    }
    return status;
}

/* The names of vertices, which every rank has for lists, sentences and answers; those of `all` move
 * to rank 0's part. */
static tw_status share_names(tw_context *ctx, tw_mpi_graph *graph, tw_graph *all)
{
    const twi_world *world = &graph->world;
    tw_graph *own = graph->own;
    const uint64_t n = (uint64_t)own->n;
    uint64_t bytes = 0;
    tw_status status = TW_OK;
    if (all != NULL && all->label_text != NULL && n > 0) {
        const int64_t last = all->label_offsets[n - 1];
        bytes = (uint64_t)last + strlen(all->label_text + last) + 1;
        own->label_text = all->label_text;
        own->label_offsets = all->label_offsets;
        own->label_order = all->label_order;
        all->label_text = NULL;
        all->label_offsets = NULL;
        all->label_order = NULL;
    }
    status = tell_array(ctx, world, &bytes, sizeof bytes);
    if (status == TW_OK && bytes > 0 && world->rank != 0) {
        status = twi_alloc(ctx, &own->label_text, bytes, 1, "the names of vertices");
        if (status == TW_OK) {
            status = twi_alloc(ctx, &own->label_offsets, n, sizeof *own->label_offsets,
                               "the names of vertices");
        }
        if (status == TW_OK) {
            status = twi_alloc(ctx, &own->label_order, n, sizeof *own->label_order,
                               "the names of vertices");
        }
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK && bytes > 0) {
        status = tell_array(ctx, world, own->label_text, bytes);
    }
    if (status == TW_OK && bytes > 0) {
        status = tell_array(ctx, world, own->label_offsets, n * sizeof *own->label_offsets);
    }
    if (status == TW_OK && bytes > 0) {
        status = tell_array(ctx, world, own->label_order, n * sizeof *own->label_order);
    }
    return twi_world_agree(ctx, world, status);
}

static tw_status read_by_one(tw_context *ctx, tw_mpi_graph *graph, const char *path,
                             const tw_graph_read_options *opts)
{
    tw_graph *all = NULL;
    tw_status status = TW_OK;
    if (graph->world.rank == 0) {
        status = tw_graph_read(ctx, &all, path, opts);
    }
    status = twi_world_agree(ctx, &graph->world, status);
    if (status == TW_OK) {
        status = deal(ctx, graph, all);
    }
    if (status == TW_OK) {
        status = share_names(ctx, graph, all);
    }
    tw_graph_destroy(all);
    return status;
}

/* ---------------------------------------------------------------------------------- entries */

/* A number for the size of the file and its first bytes, by which ranks compare what they see. */
static uint64_t fingerprint(const twi_input *input)
{
    uint64_t hash = 0xcbf29ce484222325u ^ input->size;
    const uint64_t held = twi_input_held(input);
    for (uint64_t i = 0; i < held; i++) {
        hash = (hash ^ (unsigned char)input->bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static tw_status compare_files(tw_context *ctx, const twi_world *world, const twi_input *input,
                               const tw_graph_read_options *opts)
{
    char content[64];
    (void)snprintf(content, sizeof content, "%llu bytes (%016llx)", (unsigned long long)input->size,
                   (unsigned long long)fingerprint(input));
    const twi_told told[] = {{"the graph", input->name}, {"a graph of", content}};
    tw_status status = twi_world_same(ctx, world, told, 2);
    return status == TW_OK ? twi_alike_reading(ctx, world, opts) : status;
}

static tw_status read_graph(tw_context *ctx, tw_mpi_graph *graph, const char *path,
                            const tw_graph_read_options *opts)
{
    const twi_world *world = &graph->world;
    twi_input input = {0};
    tw_status status = TW_OK;
    bool open = false;
    if (strcmp(path, "-") == 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "standard input cannot be read by many ranks; name a file");
    } else {
        status = twi_input_open_head(ctx, &input, path);
        open = status == TW_OK;
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = compare_files(ctx, world, &input, opts);
    }
    if (status == TW_OK) {
        if (has_parts(&input, path, opts)) {
            status = twi_content_same(ctx, world, &input);
            if (status == TW_OK) {
                status = twi_world_agree(ctx, world, read_slice(ctx, graph, &input, opts));
            }
        } else {
            status = read_by_one(ctx, graph, path, opts);
        }
    }
    if (open) {
        twi_input_close(&input);
    }
    return status == TW_OK ? finish(ctx, graph, graph->own) : status;
}

tw_status tw_mpi_graph_read(tw_context *ctx, tw_mpi_graph **out, MPI_Comm comm, const char *path,
                            const tw_graph_read_options *opts)
{
    twi_clear_handle(out);
    tw_graph_read_options ours = TW_GRAPH_READ_OPTIONS_INIT;
    tw_mpi_graph *graph = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    if (ctx == NULL) {
        return status;
    }
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_graph_read_options, &ours, opts);
    }
    status = tw_mpi_agree(ctx, comm, status);
    if (status == TW_OK) {
        status = open_graph(ctx, &graph, comm);
    }
    if (status == TW_OK) {
        status = read_graph(ctx, graph, path, &ours);
        if (status != TW_OK) {
            tw_mpi_graph_destroy(graph);
        }
    }
    if (status == TW_OK) {
        *out = graph;
    }
    return status;
}

tw_status tw_mpi_graph_from_parts(tw_context *ctx, tw_mpi_graph **out, MPI_Comm comm,
                                  const tw_graph *part)
{
    twi_clear_handle(out);
    tw_mpi_graph *graph = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"out", out});
    if (ctx == NULL) {
        return status;
    }
    status = tw_mpi_agree(ctx, comm, status);
    if (status == TW_OK) {
        status = open_graph(ctx, &graph, comm);
    }
    if (status == TW_OK) {
        status = finish(ctx, graph, part);
        if (status != TW_OK) {
            tw_mpi_graph_destroy(graph);
        }
    }
    if (status == TW_OK) {
        *out = graph;
    }
    return status;
}

tw_status tw_mpi_graph_describe(const tw_mpi_graph *graph, tw_graph_info *out)
{
    if (graph == NULL) {
        return TW_ERR_ARGUMENT;
    }
    tw_graph whole = graph->whole;
    whole.arcs = graph->arcs;
    return tw_graph_describe(&whole, out);
}

const tw_graph *tw_mpi_graph_part(const tw_mpi_graph *graph)
{
    return graph != NULL ? &graph->whole : NULL;
}

void tw_mpi_graph_destroy(tw_mpi_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    tw_graph_destroy(graph->own);
    twi_world_close(&graph->world);
    twi_free(graph);
}

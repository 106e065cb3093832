/*
 * Reading graphs written as text: see pieces.h.
 *
 * Piece p of a stretch of text has the lines that begin in its bytes, whatever the pieces before it
 * hold: it looks for the first line end from the byte before its own on, and reads on to the end of
 * its last line. A line longer than a piece is that of the piece in which it begins, and the pieces
 * within it have none.
 *
 * Memory: buffers take at most a SHARE of what is left under the limit, if need be of one thread
 * and LEAST_PIECE bytes, so that whether the edges fit does not depend on them. Cost: a piece of
 * PIECE bytes is still in the cache when it is parsed; a file in pieces is read faster than one
 * that is copied to memory first.
 */
#include "io/graph/pieces.h"

#include "base/memory.h"
#include "base/threads.h"
#include "graph/build.h"

#include <stdio.h>
#include <string.h>

#define PIECE ((uint64_t)1 << 20)        /* bytes a thread parses at a time */
#define LEAST_PIECE ((uint64_t)64 << 10) /* the same where memory is short */
#define SHARE 16                         /* of the memory that is left, the part of the buffers */
#define SLACK ((uint64_t)4 << 10)        /* bytes read behind a piece, for its last line */
#define FLOW_PIECES 4                    /* pieces of each thread in the buffer of a flow */

/* A thread, its buffer, and what went wrong. */
typedef struct twi_text_lane {
    twi_text text;
    char *buffer; /* lines of a file */
    uint64_t room;
    int64_t failed;  /* the piece that could not be parsed; INT64_MAX: none */
    int64_t line;    /* of the error: lines of that piece before it */
    int read_error;  /* twi_input_try's; 0: it is the text's */
    uint64_t longer; /* bytes for a line that could not be had; 0: none */
} twi_text_lane;

/* Text that all threads parse together. */
typedef struct stretch {
    twi_text_file *file;
    const char *bytes; /* NULL: in the file */
    uint64_t begin;    /* of whole lines in those bytes, or in the file */
    uint64_t end;
    uint64_t piece;
    int64_t first; /* piece, of all */
    int64_t count;
    int team;
    atomic_llong next;   /* piece, of these */
    atomic_llong failed; /* the first that could not be parsed */
    atomic_llong done;
    twi_lines_fn lines;
    void *self;
} stretch;

/* ----------------------------------------------------------------------------------- the pieces */

/* Lines that begin in bytes from ... to-1 of memory; false if none does. */
static bool find_lines(const stretch *s, uint64_t from, uint64_t to, twi_text *text)
{
    const char *begin = s->bytes + from;
    const char *end = s->bytes + s->end;
    if (from > s->begin) {
        begin = memchr(begin - 1, '\n', (size_t)(to - from));
        if (begin == NULL) {
            return false;
        }
        begin++;
    }
    if (to < s->end) {
        const char *newline = memchr(s->bytes + to - 1, '\n', (size_t)(s->end - to + 1));
        end = newline != NULL ? newline + 1 : end;
    }
    text->at = begin;
    text->end = end;
    return true;
}

static bool widen_buffer(twi_text_lane *lane, uint64_t kept, uint64_t room)
{
    if (room <= lane->room) {
        return true;
    }
    char *wider = twi_try_alloc(lane->text.ctx, room, 1);
    if (wider == NULL) {
        lane->longer = room;
        lane->text.status = TW_ERR_MEMORY;
        return false;
    }
    memcpy(wider, lane->buffer, (size_t)kept);
    twi_free(lane->buffer);
    lane->buffer = wider;
    lane->room = room;
    return true;
}

static bool read_more(const stretch *s, twi_text_lane *lane, uint64_t at, uint64_t have,
                      uint64_t count)
{
    if (!widen_buffer(lane, have, have + count)) {
        return false;
    }
    lane->read_error = twi_input_try(s->file->input, at + have, lane->buffer + have, count);
    if (lane->read_error != 0) {
        lane->text.status = TW_ERR_IO;
        return false;
    }
    return true;
}

/* The same in the file, whose lines are brought into the buffer. Also false after a failure. */
static bool fetch_lines(const stretch *s, uint64_t from, uint64_t to, twi_text_lane *lane)
{
    const uint64_t at = from > s->begin ? from - 1 : from; /* the byte that buffer[0] is */
    uint64_t have = s->end - to < SLACK ? s->end - at : to + SLACK - at;
    uint64_t begin = 0;
    if (!read_more(s, lane, at, 0, have)) {
        return false;
    }
    if (from > s->begin) {
        const char *newline = memchr(lane->buffer, '\n', (size_t)(to - from));
        if (newline == NULL) {
            return false;
        }
        begin = (uint64_t)(newline - lane->buffer) + 1;
    }
    const char *newline = NULL;
    for (uint64_t seen = to - 1 - at; to < s->end && newline == NULL;) {
        newline = memchr(lane->buffer + seen, '\n', (size_t)(have - seen));
        seen = have;
        if (at + have == s->end) {
            break;
        }
        if (newline == NULL) {
            const uint64_t left = s->end - at - have;
            const uint64_t more = left < have ? left : have;
            if (!read_more(s, lane, at, have, more)) {
                return false;
            }
            have += more;
        }
    }
    lane->text.at = lane->buffer + begin;
    lane->text.end = newline != NULL ? newline + 1 : lane->buffer + have;
    return true;
}

/* The first of all that fail is the one that is told. */
static void fail_piece(stretch *s, twi_text_lane *lane, int64_t piece, const char *begin)
{
    long long first = atomic_load(&s->failed);
    lane->failed = s->first + piece;
    if (begin != NULL && lane->text.error_at != NULL) {
        lane->line = twi_text_count_lines(begin, lane->text.error_at);
    }
    while (piece < first && !atomic_compare_exchange_weak(&s->failed, &first, piece)) {
    }
}

static void parse_piece(stretch *s, int32_t number, int64_t piece)
{
    twi_text_lane *lane = &s->file->lanes[number];
    twi_text *text = &lane->text;
    const uint64_t from = s->begin + (uint64_t)piece * s->piece;
    const uint64_t to = s->end - from < s->piece ? s->end : from + s->piece;
    const int64_t before = twi_edge_blocks_count(&text->edges);
    const char *begin = NULL;
    text->lines = 0;
    const bool found =
        s->bytes != NULL ? find_lines(s, from, to, text) : fetch_lines(s, from, to, lane);
    if (found) {
        begin = text->at;
        (void)s->lines(text, s->self);
    }
    s->file->pieces[s->first + piece] = (twi_text_piece){
        .edges = twi_edge_blocks_count(&text->edges) - before,
        .lines = text->lines,
        .lane = number,
    };
    if (text->status != TW_OK) {
        fail_piece(s, lane, piece, begin);
    }
}

/* Thread 0 is the caller's own. */
static void report_progress(const stretch *s, int64_t done)
{
    if (twi_thread_id() == 0 && s->bytes == NULL) {
        const double size = (double)s->file->input->size;
        twi_progress(s->file->ctx, "read", size * (double)done / (double)s->count, size, "bytes");
    }
}

static void run_lane(stretch *s, int32_t number)
{
    int64_t piece = atomic_fetch_add(&s->next, 1);
    while (piece < s->count && piece < atomic_load(&s->failed) && !twi_is_cancelled(s->file->ctx)) {
        parse_piece(s, number, piece);
        report_progress(s, atomic_fetch_add(&s->done, 1) + 1);
        piece = atomic_fetch_add(&s->next, 1);
    }
}

/* ----------------------------------------------------------------------------------- sentences */

static int64_t count_edges(const twi_text_file *file)
{
    int64_t edges = 0;
    for (int32_t l = 0; l < file->lane_count; l++) {
        edges += twi_edge_blocks_count(&file->lanes[l].text.edges);
    }
    return edges;
}

/* Whether the weights of all are doubles. */
static bool is_real(const twi_text_file *file)
{
    bool real = file->rules.real && !file->rules.unweighted;
    for (int32_t l = 0; l < file->lane_count; l++) {
        real |= file->lanes[l].text.edges.real;
    }
    return real;
}

static uint64_t listed_bytes(const twi_text_file *file, bool real)
{
    return (uint64_t)count_edges(file) *
           (2 * sizeof(int32_t) + (real ? sizeof(double) : sizeof(int32_t)));
}

static bool is_counting(const twi_text_file *file)
{
    bool counting = false;
    for (int32_t l = 0; l < file->lane_count; l++) {
        counting |= file->lanes[l].text.edges.counting;
    }
    return counting;
}

/* Of edges that were counted, or that cannot become doubles where they are. */
static tw_status edges_do_not_fit(const twi_text_file *file, int64_t vertices)
{
    const bool real = is_real(file);
    const uint64_t listed = listed_bytes(file, real);
    const twi_edge_source source = {.vertices = vertices,
                                    .weight_type = real ? TW_F64 : TW_I32,
                                    .both = file->rules.both,
                                    .held = listed};
    /* names are put in order in the end */
    const uint64_t order = (uint64_t)vertices * sizeof(int32_t);
    const uint64_t there = is_counting(file) ? 0 : listed_bytes(file, false);
    const int64_t edges = count_edges(file);
    const uint64_t built = file->names + order + twi_graph_building(file->ctx, &source, edges);
    const uint64_t used = file->kept_names + order + twi_graph_needs(file->ctx, &source, edges);
    uint64_t more = built > file->reading_names ? built : file->reading_names;
    more = used > more ? used : more;
    return twi_graph_refuse(file->ctx, file->input->name, vertices, edges, listed - there + more,
                            file->guessed ? TWI_GUESS_VERTICES : TWI_GUESS_NONE);
}

static tw_status line_does_not_fit(const twi_text_file *file, uint64_t bytes)
{
    char what[560];
    (void)snprintf(what, sizeof what, "a line of %.500s", file->input->name);
    return twi_out_of_memory(file->ctx, bytes, what);
}

/* Lines before that piece. */
static int64_t lines_before(const twi_text_file *file, int64_t piece)
{
    int64_t lines = twi_text_count_lines(file->input->bytes, file->input->bytes + file->begin);
    for (int64_t p = 0; p < piece; p++) {
        lines += file->pieces[p].lines;
    }
    return lines;
}

static tw_status report_lane(const twi_text_file *file, const twi_text_lane *lane)
{
    const char *name = file->input->name;
    if (lane->read_error != 0) {
        return twi_input_failed(file->ctx, name, lane->read_error);
    }
    if (lane->longer > 0) {
        return line_does_not_fit(file, lane->longer);
    }
    if (lane->text.status == TW_ERR_MEMORY) {
        return lane->text.error[0] == '\0'
                   ? edges_do_not_fit(file, twi_text_highest(file) + 1)
                   : tw_fail(file->ctx, TW_ERR_MEMORY, "%.500s: %s", name, lane->text.error);
    }
    const int64_t line = lines_before(file, lane->failed) + lane->line + 1;
    return tw_fail(file->ctx, lane->text.status, "%.500s:%lld: %s", name, (long long)line,
                   lane->text.error);
}

tw_status twi_text_report_end(const twi_text_file *file, const char *sentence)
{
    return tw_fail(file->ctx, TW_ERR_FORMAT, "%.500s:%lld: %s", file->input->name,
                   (long long)lines_before(file, file->piece_count) + 1, sentence);
}

/* ----------------------------------------------------------------------------------- the whole */

static tw_status add_pieces(twi_text_file *file, int64_t count)
{
    if (file->piece_count + count > file->piece_room) {
        const int64_t room = 2 * file->piece_count + count;
        tw_status status =
            twi_grow(file->ctx, &file->pieces, (uint64_t)file->piece_count * sizeof *file->pieces,
                     (uint64_t)room, sizeof *file->pieces, "the pieces of a text");
        if (status != TW_OK) {
            return status;
        }
        file->piece_room = room;
    }
    file->piece_count += count;
    return TW_OK;
}

/* Whole lines, by all threads. */
static tw_status run_stretch(stretch *s)
{
    twi_text_file *file = s->file;
    s->first = file->piece_count;
    s->count = (int64_t)((s->end - s->begin + s->piece - 1) / s->piece);
    atomic_init(&s->next, 0);
    atomic_init(&s->done, 0);
    atomic_init(&s->failed, INT64_MAX);
    tw_status status = add_pieces(file, s->count);
    if (status != TW_OK) {
        return status;
    }
    s->team = s->count < file->lane_count ? (int)s->count : file->lane_count;
#pragma omp parallel num_threads(twi_team(s->team))
    run_lane(s, twi_thread_id());
    status = twi_check_cancel(file->ctx);
    const twi_text_lane *first = NULL;
    for (int32_t l = 0; l < file->lane_count; l++) {
        const twi_text_lane *lane = &file->lanes[l];
        if (lane->failed < (first != NULL ? first->failed : INT64_MAX)) {
            first = lane;
        }
    }
    return status == TW_OK && first != NULL ? report_lane(file, first) : status;
}

static tw_status run_file(stretch *s)
{
    twi_text_file *file = s->file;
    s->bytes = twi_input_is_held(file->input) ? file->input->bytes : NULL;
    s->begin = file->begin;
    s->end = file->input->size;
    s->piece = file->piece;
    tw_status status = TW_OK;
    for (int32_t l = 0; l < file->lane_count && s->bytes == NULL && status == TW_OK; l++) {
        twi_text_lane *lane = &file->lanes[l];
        const uint64_t room = s->piece + 1 + SLACK;
        status = twi_alloc(file->ctx, &lane->buffer, room, 1, "lines of a text");
        lane->room = status == TW_OK ? room : 0;
    }
    return status == TW_OK ? run_stretch(s) : status;
}

/* Lines of a flow that are in memory, and room for more of them. */
typedef struct flow_buffer {
    char *bytes;
    uint64_t size;
    uint64_t room;
    bool more; /* to come */
} flow_buffer;

static tw_status fill(const twi_text_file *file, flow_buffer *buffer)
{
    tw_status status = TW_OK;
    twi_flow *flow = file->input->flow;
    while (status == TW_OK && buffer->more && buffer->size < buffer->room) {
        uint64_t got = 0;
        status = flow->read(file->ctx, flow, buffer->bytes + buffer->size,
                            buffer->room - buffer->size, &got);
        buffer->more = got > 0;
        buffer->size += got;
    }
    return status;
}

/* For a line that is longer. */
static tw_status widen_flow(const twi_text_file *file, flow_buffer *buffer)
{
    char *wider = twi_try_alloc(file->ctx, 2 * buffer->room, 1);
    if (wider == NULL) {
        return line_does_not_fit(file, 2 * buffer->room);
    }
    memcpy(wider, buffer->bytes, (size_t)buffer->size);
    twi_free(buffer->bytes);
    buffer->bytes = wider;
    buffer->room *= 2;
    return TW_OK;
}

/* The lines that are in the buffer, of which `whole` bytes are such. */
static tw_status run_lines(stretch *s, flow_buffer *buffer, uint64_t whole)
{
    s->bytes = buffer->bytes;
    s->end = whole;
    const tw_status status = run_stretch(s);
    buffer->size -= whole;
    memmove(buffer->bytes, buffer->bytes + whole, (size_t)buffer->size);
    return status;
}

/* What came before the flow failed may be at fault itself, and is told then: which of the two it is
 * does not depend on how much is read at a time. */
static tw_status run_rest(stretch *s, flow_buffer *buffer, uint64_t whole, tw_status failed)
{
    tw_context *ctx = s->file->ctx;
    char sentence[sizeof ctx->error];
    (void)snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    const tw_status status = failed != TW_ERR_CANCELLED ? run_lines(s, buffer, whole) : TW_OK;
    return status != TW_OK ? status : tw_fail(ctx, failed, "%s", sentence);
}

static tw_status run_buffers(stretch *s, flow_buffer *buffer)
{
    tw_status status = TW_OK;
    while (status == TW_OK && (buffer->more || buffer->size > 0)) {
        const tw_status filled = fill(s->file, buffer);
        const char *newline = memrchr(buffer->bytes, '\n', (size_t)buffer->size);
        const uint64_t lines = newline != NULL ? (uint64_t)(newline - buffer->bytes) + 1 : 0;
        if (filled != TW_OK) {
            status = run_rest(s, buffer, lines, filled);
        } else if (!buffer->more) {
            status = run_lines(s, buffer, buffer->size);
        } else {
            status = lines > 0 ? run_lines(s, buffer, lines) : widen_flow(s->file, buffer);
        }
    }
    return status;
}

static tw_status run_flow(stretch *s)
{
    twi_text_file *file = s->file;
    twi_input *input = file->input;
    flow_buffer buffer = {.size = input->size - file->begin, .more = true};
    const uint64_t room = (uint64_t)file->lane_count * file->piece;
    buffer.room = room > 2 * buffer.size ? room : 2 * buffer.size;
    s->piece = file->piece > FLOW_PIECES ? file->piece / FLOW_PIECES : 1;
    tw_status status = twi_alloc(file->ctx, &buffer.bytes, buffer.room, 1, "lines of a text");
    if (status == TW_OK) {
        memcpy(buffer.bytes, input->bytes + file->begin, (size_t)buffer.size);
        status = run_buffers(s, &buffer);
    }
    twi_free(buffer.bytes);
    input->flow->close(input->flow); /* what it took is free for the graph */
    input->flow = NULL;
    return status;
}

static tw_status parse(twi_text_file *file, twi_lines_fn lines, void *self)
{
    stretch s = {.file = file, .lines = lines, .self = self};
    const tw_status status = file->input->flow != NULL ? run_flow(&s) : run_file(&s);
    for (int32_t l = 0; l < file->lane_count; l++) {
        twi_free(file->lanes[l].buffer);
        file->lanes[l].buffer = NULL;
        twi_edge_blocks_trim(file->ctx, &file->lanes[l].text.edges);
    }
    return status;
}

typedef struct each_line {
    twi_line_fn line;
    const void *self;
} each_line;

static bool parse_lines(twi_text *text, void *self)
{
    const each_line *each = self;
    return twi_text_each_line(text, each->line, each->self);
}

tw_status twi_text_parse(twi_text_file *file, twi_line_fn line, const void *self)
{
    each_line each = {line, self};
    return parse(file, parse_lines, &each);
}

tw_status twi_text_parse_in_order(twi_text_file *file, twi_lines_fn lines, void *self)
{
    return parse(file, lines, self);
}

/* Bytes of a piece, and threads that have one each. */
static void choose_pieces(twi_text_file *file, bool in_order)
{
    const uint64_t most = twi_memory_left(file->ctx) / SHARE;
    uint64_t threads = in_order ? 1 : (uint64_t)twi_thread_count(file->ctx);
    uint64_t piece = most / threads < PIECE ? most / threads : PIECE;
    piece = piece > LEAST_PIECE ? piece : LEAST_PIECE;
    threads = threads * piece <= most || threads == 1 ? threads : most / piece;
    file->piece = file->input->piece > 0 ? file->input->piece : piece;
    file->lane_count = threads > 0 ? (int32_t)threads : 1;
}

tw_status twi_text_cut(twi_text_file *file, tw_context *ctx, twi_input *input, const char *begin,
                       bool in_order)
{
    file->ctx = ctx;
    file->input = input;
    file->begin = (uint64_t)(begin - input->bytes);
    choose_pieces(file, in_order);
    tw_status status = twi_alloc(ctx, &file->lanes, (uint64_t)file->lane_count, sizeof *file->lanes,
                                 "the pieces of a text");
    if (status != TW_OK) {
        file->lane_count = 0;
        return status;
    }
    for (int32_t l = 0; l < file->lane_count; l++) {
        file->lanes[l] = (twi_text_lane){.text = {.ctx = ctx, .rules = &file->rules, .highest = -1},
                                         .failed = INT64_MAX};
    }
    return TW_OK;
}

int64_t twi_text_records(const twi_text_file *file)
{
    int64_t records = 0;
    for (int32_t l = 0; l < file->lane_count; l++) {
        records += file->lanes[l].text.records;
    }
    return records;
}

int64_t twi_text_highest(const twi_text_file *file)
{
    int64_t highest = -1;
    for (int32_t l = 0; l < file->lane_count; l++) {
        const int64_t of_lane = file->lanes[l].text.highest;
        highest = of_lane > highest ? of_lane : highest;
    }
    return highest;
}

/* ----------------------------------------------------------------------------------- the graph */

/* Weights of one type in all blocks; false when there is no memory. */
static bool settle_type(twi_text_file *file, tw_type *type)
{
    const bool real = is_real(file);
    *type = real ? TW_F64 : TW_I32;
    bool settled = true;
    for (int32_t l = 0; l < file->lane_count && real && settled; l++) {
        settled = twi_edge_blocks_all_real(file->ctx, &file->lanes[l].text.edges);
    }
    return settled;
}

static void name_edge(char *text, size_t size, const void *self, int64_t index)
{
    const twi_text_file *file = self;
    snprintf(text, size, "%.400s: edge %lld", file->input->name, (long long)index + 1);
}

/* Where a thread's next edge is. */
typedef struct cursor {
    const twi_edge_block *block;
    int64_t at;
} cursor;

/* The next edges of a cursor that lie together, at most so many. */
static twi_edge_part take_part(cursor *c, int64_t most)
{
    while (c->at == c->block->count) {
        *c = (cursor){.block = c->block->next};
    }
    const twi_edge_block *block = c->block;
    const int64_t left = block->count - c->at;
    const size_t size = block->real ? sizeof(double) : sizeof(int32_t);
    const twi_edge_part part = {
        .count = left < most ? left : most,
        .source = (const char *)(block->source + c->at),
        .target = (const char *)(block->target + c->at),
        .weight = (const char *)block->weight + (size_t)c->at * size,
        .source_step = sizeof(int32_t),
        .target_step = sizeof(int32_t),
        .weight_step = (int32_t)size,
    };
    c->at += part.count;
    return part;
}

/* The parts in the order of the file; counted only if `parts` is NULL. */
static int64_t list_parts(const twi_text_file *file, cursor *cursors, twi_edge_part *parts)
{
    int64_t count = 0;
    for (int32_t l = 0; l < file->lane_count; l++) {
        cursors[l] = (cursor){.block = file->lanes[l].text.edges.first};
    }
    for (int64_t p = 0; p < file->piece_count; p++) {
        const twi_text_piece *piece = &file->pieces[p];
        for (int64_t left = piece->edges; left > 0; count++) {
            const twi_edge_part part = take_part(&cursors[piece->lane], left);
            left -= part.count;
            if (parts != NULL) {
                parts[count] = part;
            }
        }
    }
    return count;
}

static tw_status create_parts(const twi_text_file *file, twi_edge_part **out, int64_t *count)
{
    cursor *cursors = NULL;
    tw_status status = twi_alloc(file->ctx, &cursors, (uint64_t)file->lane_count, sizeof *cursors,
                                 "lists of edges");
    if (status == TW_OK) {
        *count = list_parts(file, cursors, NULL);
        status = twi_alloc(file->ctx, out, (uint64_t)*count, sizeof **out, "lists of edges");
    }
    if (status == TW_OK) {
        (void)list_parts(file, cursors, *out);
    }
    twi_free(cursors);
    return status;
}

tw_status twi_text_build(twi_text_file *file, tw_graph **out, int64_t vertices)
{
    twi_edge_source source = {
        .vertices = vertices,
        .both = file->rules.both,
        .undirected = file->rules.undirected,
        .name = file->input->name,
        .place = name_edge,
        .place_self = file,
    };
    twi_edge_part *parts = NULL;
    if (is_counting(file)) {
        return edges_do_not_fit(file, vertices);
    }
    source.held = listed_bytes(file, is_real(file));
    tw_status status =
        settle_type(file, &source.weight_type) ? TW_OK : edges_do_not_fit(file, vertices);
    if (status == TW_OK) {
        status = create_parts(file, &parts, &source.part_count);
    }
    if (status == TW_OK) {
        source.parts = parts;
        status = twi_graph_build(file->ctx, out, &source);
    }
    if (status == TW_OK) {
        (*out)->first = (int32_t)file->rules.base;
    }
    twi_free(parts);
    return status;
}

void twi_text_clear(twi_text_file *file)
{
    for (int32_t l = 0; l < file->lane_count; l++) {
        twi_edge_blocks_clear(&file->lanes[l].text.edges);
    }
    twi_free(file->lanes);
    twi_free(file->pieces);
    file->lanes = NULL;
    file->pieces = NULL;
    file->lane_count = 0;
    file->piece_count = 0;
}

/* Reading graphs written as text: see text.h. */
#include "io/graph/text.h"

#include "base/memory.h"
#include "base/threads.h"
#include "graph/build.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE ((uint64_t)2 << 20) /* bytes a thread parses at a time */
#define LONGEST_NUMBER 4095       /* characters of a number that is no mistake */
#define CANCEL_LINES 16384        /* lines between two looks at the cancel flag */

/* ---------------------------------------------------------------------------------- errors */

bool twi_text_fail(twi_text *text, tw_status status, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text->error, sizeof text->error, format, args);
    va_end(args);
    text->status = status;
    text->error_at = at != NULL ? at : text->at;
    return false;
}

/* Bytes of the character at `at` that can be shown: printable ASCII, or UTF-8 that is no control
 * character. 0: neither. */
static size_t shown_length(const char *at, const char *end)
{
    const unsigned char *byte = (const unsigned char *)at;
    const unsigned char lead = byte[0];
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7F;
    }
    const size_t length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool control = lead == 0xC2 && byte[1] < 0xA0;
    const bool overlong = (lead == 0xE0 && byte[1] < 0xA0) || (lead == 0xF0 && byte[1] < 0x90);
    const bool forbidden = (lead == 0xED && byte[1] >= 0xA0) || (lead == 0xF4 && byte[1] >= 0x90);
    return control || overlong || forbidden ? 0 : length;
}

const char *twi_text_show(char *out, size_t room, const char *begin, const char *end)
{
    size_t used = 0;
    while (begin < end) {
        const size_t length = shown_length(begin, end);
        const size_t taken = length > 0 ? length : 1;
        if (used + taken >= room) {
            break;
        }
        if (length > 0) {
            memcpy(out + used, begin, length);
        } else {
            out[used] = '?';
        }
        used += taken;
        begin += taken;
    }
    out[used] = '\0';
    return begin;
}

/* The field at `at`, shortened. */
static void quote_field(const twi_text *text, const char *at, char out[32])
{
    const char *end = at;
    while (end < text->end && !twi_text_is_break(*end) && end - at < 64) {
        end++;
    }
    if (twi_text_show(out, 29, at, end) < end) {
        memcpy(out + strlen(out), "...", 4);
    }
}

bool twi_text_not(twi_text *text, const char *at, const char *wanted)
{
    char field[32];
    quote_field(text, at, field);
    if (field[0] == '\0') {
        return twi_text_fail(text, TW_ERR_FORMAT, at, "the line ends; expected %s", wanted);
    }
    return twi_text_fail(text, TW_ERR_FORMAT, at, "'%s' is not %s", field, wanted);
}

tw_status twi_text_report(tw_context *ctx, const twi_input *input, const twi_text *text)
{
    int64_t line = 1;
    for (const char *at = input->bytes; at < text->error_at; at++) {
        at = memchr(at, '\n', (size_t)(text->error_at - at));
        if (at == NULL) {
            break;
        }
        line++;
    }
    tw_status status = text->status;
    if (status == TW_ERR_MEMORY) {
        return tw_fail(ctx, status, "%.500s: %s", input->name, text->error);
    }
    return tw_fail(ctx, status, "%.500s:%lld: %s", input->name, (long long)line, text->error);
}

/* --------------------------------------------------------------------------------- numbers */

void twi_text_skip_line(twi_text *text)
{
    if (text->at < text->end) {
        const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        text->at = newline != NULL ? newline : text->end;
    }
}

/* "1.25e3": at most 19 digits whose value is exact in a double, and a power of ten that is too,
 * make one rounded operation: the right result. Anything else is left to strtod. */
static bool quick_real(const char *at, const char *end, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    uint64_t mantissa = 0;
    int digits = 0;
    int exponent = 0;
    bool point = false;
    for (; at < end && (isdigit((unsigned char)*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        exponent -= point;
        if (++digits > 18) {
            return false;
        }
    }
    if (at != end || digits == 0 || mantissa > (uint64_t)1 << 53 || exponent < -22) {
        return false;
    }
    double value = (double)mantissa / powers[-exponent];
    *out = negative ? -value : value;
    return true;
}

/* Letters only as an exponent or as the names of what is not a number: no hexadecimal. */
static bool looks_like_a_number(const char *token)
{
    const char *at = token + (*token == '+' || *token == '-');
    if (strcasecmp(at, "inf") == 0 || strcasecmp(at, "infinity") == 0 ||
        strcasecmp(at, "nan") == 0) {
        return true;
    }
    return (isdigit((unsigned char)*at) || *at == '.') && at[strspn(at, "0123456789.eE+-")] == '\0';
}

/* In the "C" locale, whatever the program has set; glibc's and musl's are static. */
static bool slow_real(const char *token, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return false;
    }
    char *stop;
    *out = strtod_l(token, &stop, c);
    freelocale(c);
    return *stop == '\0' && stop != token;
}

/* Digits that f64 turned into infinity, or, not being zeros, into 0: not what the file says. */
static bool left_f64(const char *token, double real)
{
    const char *digits = token + strcspn(token, "123456789eEiI");
    bool some = *digits != '\0' && isdigit((unsigned char)*digits);
    return some && (isinf(real) || real == 0);
}

bool twi_text_slow_number(twi_text *text, twi_number *out, const char *wanted)
{
    char token[LONGEST_NUMBER + 1];
    const char *at = text->at;
    size_t length = 0;
    while (at + length < text->end && !twi_text_is_break(at[length]) && length < LONGEST_NUMBER) {
        token[length] = at[length];
        length++;
    }
    token[length] = '\0';
    bool ended = at + length == text->end || twi_text_is_break(at[length]);
    if (!ended || strlen(token) != length || !looks_like_a_number(token)) {
        return twi_text_not(text, at, wanted);
    }
    double real;
    if (!quick_real(token, token + length, &real) && !slow_real(token, &real)) {
        return twi_text_not(text, at, wanted);
    }
    if (left_f64(token, real)) {
        char field[32];
        quote_field(text, at, field);
        return twi_text_fail(text, TW_ERR_RANGE, at, "'%s' is too %s for a number of f64%s", field,
                             real == 0 ? "small" : "large",
                             real == 0 ? "; write 0" : "; write inf for no edge");
    }
    const char *digits = token + (*token == '+' || *token == '-');
    bool whole = digits[strspn(digits, "0123456789")] == '\0';
    int64_t integer = 0;
    if (whole) { /* cut off where whoever needs it exact has long refused it */
        integer = (int64_t)fmin(fmax(real, -0x1p62), 0x1p62);
    }
    *out = (twi_number){whole, integer, real};
    text->at = at + length;
    return true;
}

bool twi_text_whole(twi_text *text, int64_t *out, const char *wanted)
{
    twi_number number = {0};
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!twi_text_number(text, &number, wanted)) {
        return false;
    }
    if (!number.whole) {
        return twi_text_not(text, at, wanted);
    }
    *out = number.integer;
    return true;
}

bool twi_text_count(twi_text *text, int64_t *out, const char *wanted, int64_t most)
{
    int64_t value = 0;
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!twi_text_whole(text, &value, wanted)) {
        return false;
    }
    if (value < 0 || value > most) {
        char field[32];
        quote_field(text, at, field);
        return twi_text_fail(text, value < 0 ? TW_ERR_FORMAT : TW_ERR_RANGE, at,
                             "%s is not %s: it must be from 0 to %lld", field, wanted,
                             (long long)most);
    }
    *out = value;
    return true;
}

bool twi_text_bad_vertex(twi_text *text, const char *at, const twi_number *number)
{
    int64_t base = text->rules->base;
    char field[32];
    quote_field(text, at, field);
    if (!number->whole) {
        return twi_text_not(text, at, "a vertex: vertices are whole numbers");
    }
    if (text->rules->vertices >= 0) {
        return twi_text_fail(
            text, TW_ERR_FORMAT, at, "vertex %s is outside %lld ... %lld: the file says %lld %s",
            field, (long long)base, (long long)(text->rules->vertices - 1 + base),
            (long long)text->rules->vertices, text->rules->vertices == 1 ? "vertex" : "vertices");
    }
    return twi_text_fail(text, TW_ERR_FORMAT, at,
                         "vertex %s is outside 0 ... %d; vertex names need --ids", field,
                         TWI_MOST_VERTICES - 1);
}

/* ----------------------------------------------------------------------------------- edges */

static bool no_memory(twi_text *text)
{
    char shown[32];
    return twi_text_fail(text, TW_ERR_MEMORY, NULL,
                         "its edges do not fit in the %s of memory that may be used",
                         twi_bytes(shown, (double)tw_memory_limit(text->ctx)));
}

bool twi_text_add(twi_text *text, const char *at, int32_t source, int32_t target,
                  const twi_number *weight)
{
    const twi_text_rules *rules = text->rules;
    text->records++;
    if (rules->unweighted) {
        return twi_edge_blocks_add(text->ctx, &text->edges, source, target, 1) || no_memory(text);
    }
    if (weight->whole && !rules->real) {
        if (__builtin_expect(weight->integer < INT32_MIN || weight->integer > INT32_MAX, 0)) {
            char field[32];
            quote_field(text, at, field);
            return twi_text_fail(text, TW_ERR_RANGE, at,
                                 "the weight %s is outside the 32 bits of whole weights; with a "
                                 "decimal point it is read as floating point",
                                 field);
        }
        return twi_edge_blocks_add(text->ctx, &text->edges, source, target,
                                   (int32_t)weight->integer) ||
               no_memory(text);
    }
    if (isnan(weight->real) || weight->real == -INFINITY) {
        return twi_text_fail(text, TW_ERR_FORMAT, at,
                             "the weight is %s: it must be a number, or inf for no edge",
                             isnan(weight->real) ? "NaN" : "-inf");
    }
    if (weight->real == INFINITY) {
        return true;
    }
    if (rules->whole) {
        return twi_text_not(text, at, "a whole number, as the file promises its weights to be");
    }
    return twi_edge_blocks_add_real(text->ctx, &text->edges, source, target, weight->real) ||
           no_memory(text);
}

/* ---------------------------------------------------------------------------------- pieces */

twi_text twi_text_head(tw_context *ctx, const twi_input *input, const twi_text_rules *rules)
{
    return (twi_text){
        .ctx = ctx,
        .rules = rules,
        .at = input->bytes + twi_input_mark(input->bytes, input->size),
        .end = input->bytes + input->size,
        .highest = -1,
    };
}

tw_status twi_text_cut(twi_text_file *file, tw_context *ctx, const twi_input *input,
                       const char *begin, bool in_order)
{
    const char *end = input->bytes + input->size;
    uint64_t size = (uint64_t)(end - begin);
    file->ctx = ctx;
    file->input = input;
    file->piece_count = in_order ? 1 : (int64_t)(size / PIECE) + 1;
    tw_status status = twi_alloc(ctx, &file->pieces, (uint64_t)file->piece_count,
                                 sizeof *file->pieces, "the pieces of a text");
    if (status != TW_OK) {
        file->piece_count = 0;
        return status;
    }
    for (int64_t p = 0; p < file->piece_count; p++) {
        twi_text *piece = &file->pieces[p];
        *piece = twi_text_head(ctx, input, &file->rules);
        piece->at = begin;
        if (p + 1 < file->piece_count && (uint64_t)(end - begin) > PIECE) {
            const char *cut = memchr(begin + PIECE, '\n', (size_t)(end - begin) - PIECE);
            piece->end = cut != NULL ? cut + 1 : end;
        }
        begin = piece->end;
    }
    return TW_OK;
}

static void parse_piece(twi_text *text, twi_line_fn line, const void *self)
{
    int64_t lines = 0;
    while (text->at < text->end) {
        if (!twi_text_line_ends(text)) {
            if (!line(text, self)) {
                return;
            }
            if (!twi_text_line_ends(text)) {
                char field[32];
                quote_field(text, text->at, field);
                twi_text_fail(text, TW_ERR_FORMAT, NULL, "'%s' is more than the line should hold",
                              field);
                return;
            }
        }
        (void)twi_text_next_line(text);
        if (++lines % CANCEL_LINES == 0 && twi_is_cancelled(text->ctx)) {
            return;
        }
    }
}

tw_status twi_text_parse(twi_text_file *file, twi_line_fn line, const void *self)
{
    int64_t done = 0;
    int64_t pieces = file->piece_count;
    int64_t threads = twi_thread_count(file->ctx);
    threads = pieces < threads ? pieces : threads;
#pragma omp parallel for num_threads(twi_team((int)threads)) schedule(dynamic, 1)
    for (int64_t p = 0; p < pieces; p++) {
        if (twi_is_cancelled(file->ctx)) {
            continue;
        }
        parse_piece(&file->pieces[p], line, self);
        int64_t now;
#pragma omp atomic capture
        now = ++done;
        if (twi_thread_id() == 0) {
            double share = (double)now / (double)pieces;
            twi_progress(file->ctx, "read", share * (double)file->input->size,
                         (double)file->input->size, "bytes");
        }
    }
    tw_status status = twi_check_cancel(file->ctx);
    for (int64_t p = 0; p < pieces && status == TW_OK; p++) {
        if (file->pieces[p].status != TW_OK) {
            status = twi_text_report(file->ctx, file->input, &file->pieces[p]);
        }
    }
    return status;
}

int64_t twi_text_records(const twi_text_file *file)
{
    int64_t records = 0;
    for (int64_t p = 0; p < file->piece_count; p++) {
        records += file->pieces[p].records;
    }
    return records;
}

int64_t twi_text_highest(const twi_text_file *file)
{
    int64_t highest = -1;
    for (int64_t p = 0; p < file->piece_count; p++) {
        highest = file->pieces[p].highest > highest ? file->pieces[p].highest : highest;
    }
    return highest;
}

/* Weights of one type in all blocks; returns the number of blocks. */
static tw_status settle_type(twi_text_file *file, tw_type *type, int64_t *blocks)
{
    bool real = file->rules.real && !file->rules.unweighted;
    *blocks = 0;
    for (int64_t p = 0; p < file->piece_count; p++) {
        real |= file->pieces[p].edges.real;
        *blocks += file->pieces[p].edges.blocks;
    }
    *type = real ? TW_F64 : TW_I32;
    tw_status status = TW_OK;
    for (int64_t p = 0; p < file->piece_count && real && status == TW_OK; p++) {
        status = twi_edge_blocks_all_real(file->ctx, &file->pieces[p].edges);
    }
    return status;
}

static void name_edge(char *text, size_t size, const void *self, int64_t index)
{
    const twi_text_file *file = self;
    snprintf(text, size, "%.400s: edge %lld", file->input->name, (long long)index + 1);
}

tw_status twi_text_build(twi_text_file *file, tw_graph **out, int64_t vertices)
{
    twi_edge_source source = {
        .vertices = vertices,
        .both = file->rules.both,
        .undirected = file->rules.undirected,
        .place = name_edge,
        .place_self = file,
    };
    twi_edge_part *parts = NULL;
    int64_t blocks;
    tw_status status = settle_type(file, &source.weight_type, &blocks);
    if (status == TW_OK) {
        status = twi_alloc(file->ctx, &parts, (uint64_t)blocks, sizeof *parts, "lists of edges");
    }
    if (status == TW_OK) {
        for (int64_t p = 0; p < file->piece_count; p++) {
            const twi_edge_block *block = file->pieces[p].edges.first;
            for (; block != NULL; block = block->next) {
                parts[source.part_count++] = (twi_edge_part){
                    .count = block->count,
                    .source = (const char *)block->source,
                    .target = (const char *)block->target,
                    .weight = block->weight,
                    .source_step = sizeof(int32_t),
                    .target_step = sizeof(int32_t),
                    .weight_step = (int32_t)tw_type_size(source.weight_type),
                };
            }
        }
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
    for (int64_t p = 0; p < file->piece_count; p++) {
        twi_edge_blocks_clear(&file->pieces[p].edges);
    }
    twi_free(file->pieces);
    file->pieces = NULL;
    file->piece_count = 0;
}

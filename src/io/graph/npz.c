/*
 * Sparse matrices as scipy.sparse.save_npz writes them: a zip archive of arrays, whose member
 * "format" says csr, csc, coo, bsr or dia. Members are found by the archive's directory at its end,
 * and are stored as they are or deflated. An entry that is stored is an edge, of weight 0 too.
 */
#include "base/memory.h"
#include "graph/build.h"
#include "io/extension.h"
#include "io/graph/npz_expand.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#ifdef TWI_HAVE_ZLIB
#include <zlib.h>
#endif

#define END_BYTES 22    /* of the record that ends an archive */
#define COMMENT 65535   /* bytes of a comment behind it, at most */
#define ENTRY_BYTES 46  /* of an entry of the directory, before its name */
#define MEMBER_BYTES 30 /* of what stands before a member, before its name */
#define BEYOND UINT32_MAX
#define NPY_BYTES 128 /* of the header of an array, as NumPy writes it */

static uint32_t two(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t four(const char *at)
{
    return two(at) | two(at + 2) << 16;
}

bool twi_npz_recognised(const twi_input *input)
{
    return input->size >= END_BYTES && memcmp(input->bytes, "PK\x03\x04", 4) == 0;
}

static tw_status damaged(tw_context *ctx, const twi_input *input, const char *what)
{
    return tw_fail(ctx, TW_ERR_FORMAT, "%.500s: damaged npz: %s", input->name, what);
}

/* ------------------------------------------------------------------------------ the archive */

/* The directory: its first byte and how many entries it has. */
static tw_status find_directory(tw_context *ctx, const twi_input *input, uint64_t *at, int *entries)
{
    const uint64_t size = input->size;
    const uint64_t last = size >= END_BYTES ? size - END_BYTES : 0;
    for (uint64_t back = 0; back <= COMMENT && back <= last && size >= END_BYTES; back++) {
        const char *end = input->bytes + last - back;
        if (memcmp(end, "PK\x05\x06", 4) == 0) {
            *entries = (int)two(end + 10);
            *at = four(end + 16);
            return *at <= size ? TW_OK : damaged(ctx, input, "its directory is not in it");
        }
    }
    return damaged(ctx, input, "it has no directory at its end");
}

#ifdef TWI_HAVE_ZLIB
static tw_status inflate_member(tw_context *ctx, const twi_input *input, const char *from,
                                uint32_t packed, char *out, uint32_t size)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for unpacking %.500s", input->name);
    }
    stream.next_in = (z_const Bytef *)from;
    stream.avail_in = packed;
    stream.next_out = (Bytef *)out;
    stream.avail_out = size;
    int result = inflate(&stream, Z_FINISH);
    bool whole = result == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole ? TW_OK : damaged(ctx, input, "an array does not unpack to the size it states");
}
#else
static tw_status inflate_member(tw_context *ctx, const twi_input *input, const char *from,
                                uint32_t packed, char *out, uint32_t size)
{
    (void)from;
    (void)packed;
    (void)out;
    (void)size;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "%.500s: this build cannot read compressed npz files: install zlib (zlib1g-dev "
                   "on Debian) and rebuild, or save it with compressed=False",
                   input->name);
}
#endif

/* The array that an entry of the directory points to; a `stack` is one of two dimensions or three.
 */
static tw_status take_member(tw_context *ctx, const twi_input *input, const char *entry, bool stack,
                             twi_npz_member *out)
{
    const uint32_t method = two(entry + 10);
    const uint32_t packed = four(entry + 20);
    const uint32_t size = four(entry + 24);
    const uint64_t local = four(entry + 42);
    if (packed == BEYOND || size == BEYOND || local == BEYOND) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "%.500s: an array of 4 GB or more; save the matrix as .mtx or as edges",
                       input->name);
    }
    if (out->memory != NULL) {
        return damaged(ctx, input, "it has an array twice");
    }
    if ((method != 0 && method != 8) || (method == 0 && packed != size)) {
        return damaged(ctx, input, "an array is neither stored nor deflated");
    }
    if (local + MEMBER_BYTES > input->size || memcmp(input->bytes + local, "PK\x03\x04", 4) != 0) {
        return damaged(ctx, input, "an array is not where its directory says");
    }
    const char *header = input->bytes + local;
    const uint64_t begin = local + MEMBER_BYTES + two(header + 26) + two(header + 28);
    if (begin > input->size || packed > input->size - begin) {
        return damaged(ctx, input, "an array goes beyond its end");
    }
    const char *what = "an array of the file";
    tw_status status = twi_memory_check(ctx, size, what);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->memory, size, 1, what);
    }
    if (status != TW_OK) {
        return status;
    }
    if (method == 0) {
        memcpy(out->memory, input->bytes + begin, size);
    } else {
        status = inflate_member(ctx, input, input->bytes + begin, packed, out->memory, size);
    }
    if (status == TW_OK) {
        const twi_input array = {.name = input->name, .bytes = out->memory, .size = size};
        status = stack ? twi_npy_parse_stack(ctx, &out->about, &array)
                       : twi_npy_parse_flat(ctx, &out->about, &array);
        out->elements = (const char *)out->memory + out->about.start;
    }
    return status;
}

/* Where the array of this name belongs; NULL: nowhere. */
static twi_npz_member *place_of(twi_npz *out, const char *name, size_t length)
{
    const struct {
        const char *name;
        twi_npz_member *place;
    } known[] = {
        {"format.npy", &out->format_word}, {"shape.npy", &out->shape},
        {"data.npy", &out->data},          {"indptr.npy", &out->first},
        {"row.npy", &out->first},          {"indices.npy", &out->second},
        {"col.npy", &out->second},         {"offsets.npy", &out->first},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strlen(known[k].name) == length && memcmp(known[k].name, name, length) == 0) {
            return known[k].place;
        }
    }
    return NULL;
}

/* Bytes of the arrays, as the directory has them. */
typedef struct bill {
    uint64_t first, second, data, all;
    bool by_rows; /* or by columns; else entries */
} bill;

/* False for a directory that cannot be, which is left to the reader. */
static bool add_up(const char *directory, uint64_t bytes, bill *out)
{
    twi_npz a;
    uint64_t at = 0;
    while (bytes - at >= ENTRY_BYTES && memcmp(directory + at, "PK\x01\x02", 4) == 0) {
        const char *entry = directory + at, *name = entry + ENTRY_BYTES;
        const uint64_t length = two(entry + 28), size = four(entry + 24);
        const uint64_t next = ENTRY_BYTES + length + two(entry + 30) + two(entry + 32);
        if (next > bytes - at || size == BEYOND) {
            return false;
        }
        const twi_npz_member *place = place_of(&a, name, (size_t)length);
        out->first += place == &a.first ? size : 0;
        out->second += place == &a.second ? size : 0;
        out->data += place == &a.data ? size : 0;
        out->all += place != NULL ? size : 0;
        out->by_rows |= length == 10 && memcmp(name, "indptr.npy", 10) == 0;
        at += next;
    }
    return at > 0;
}

/* All that the file says before it is read: of vertices and entries, that they are of four bytes.
 */
static tw_status refuse_bill(tw_context *ctx, const twi_input *input,
                             const tw_graph_read_options *opts, const bill *b)
{
    /* more than 8 bytes for an index of 4: values of blocks or diagonals, of 8 bytes maybe */
    const bool filled = b->data > 2 * b->second + TWI_NPY_HEADER_MOST;
    const int64_t edges =
        (int64_t)(filled ? b->data / sizeof(double) : b->second / sizeof(int32_t));
    const int64_t diagonals = b->second == 0 && b->first > NPY_BYTES
                                  ? (int64_t)((b->first - NPY_BYTES) / sizeof(int32_t))
                                  : 0;
    const int64_t vertices = b->by_rows      ? (int64_t)(b->first / sizeof(int32_t))
                             : diagonals > 0 ? edges / diagonals
                                             : edges;
    const twi_edge_source source = {.vertices =
                                        vertices < TWI_MOST_VERTICES ? vertices : TWI_MOST_VERTICES,
                                    .weight_type = b->data >= 2 * b->second ? TW_F64 : TW_F32,
                                    .both = twi_read_both(opts, false),
                                    .held = input->size + b->all};
    /* values of 8 or 16 bits become ones of 32 */
    const uint64_t widened = b->data < b->second ? (uint64_t)edges * sizeof(int32_t) : 0;
    const uint64_t load = (twi_input_is_held(input) ? 0 : input->size) + b->all + widened;
    /* ends of entries in 64 bits, and then in 32 */
    const uint64_t ends =
        b->by_rows && !filled ? 0 : (uint64_t)edges * 2 * (sizeof(int64_t) + sizeof(int32_t));
    const uint64_t graph = b->by_rows && !source.both && !filled
                               ? twi_graph_bytes(source.vertices, edges, source.weight_type)
                               : twi_graph_building(ctx, &source, edges);
    if (load + ends + graph <= twi_memory_room(ctx)) {
        return TW_OK;
    }
    const uint64_t needs = twi_graph_needs(ctx, &source, edges);
    const bool building = needs == twi_graph_building(ctx, &source, edges);
    return twi_graph_refuse(ctx, input->name, source.vertices, edges,
                            load + ends + (building ? graph : needs), TWI_GUESS_ALL);
}

tw_status twi_npz_check(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts)
{
    char end[END_BYTES];
    char *directory = NULL;
    bill b = {0};
    if (input->size < END_BYTES) {
        return TW_OK;
    }
    const uint64_t last = input->size - END_BYTES;
    tw_status status = twi_input_fetch(ctx, input, last, end, END_BYTES);
    const uint64_t at = four(end + 16);
    if (status != TW_OK || memcmp(end, "PK\x05\x06", 4) != 0 || at > last || last - at > COMMENT) {
        return status;
    }
    status = twi_alloc(ctx, &directory, last - at + 1, 1, "the directory of an archive");
    if (status == TW_OK) {
        status = twi_input_fetch(ctx, input, at, directory, last - at);
    }
    const bool known = status == TW_OK && add_up(directory, last - at, &b);
    twi_free(directory);
    return known ? refuse_bill(ctx, input, opts, &b) : status;
}

/* Blocks or diagonals, which zeros fill. */
static bool is_filled(const twi_npz *a)
{
    return strcmp(a->format, "bsr") == 0 || strcmp(a->format, "dia") == 0;
}

/* The array that names the format, or all the others. */
static tw_status read_members(tw_context *ctx, const twi_input *input, twi_npz *out,
                              bool only_format)
{
    uint64_t at = 0;
    int entries = 0;
    tw_status status = find_directory(ctx, input, &at, &entries);
    for (int e = 0; e < entries && status == TW_OK; e++) {
        if (input->size - at < ENTRY_BYTES || memcmp(input->bytes + at, "PK\x01\x02", 4) != 0) {
            return damaged(ctx, input, "its directory ends too early");
        }
        const char *entry = input->bytes + at;
        const uint64_t length = two(entry + 28);
        const uint64_t next = at + ENTRY_BYTES + length + two(entry + 30) + two(entry + 32);
        if (next > input->size) {
            return damaged(ctx, input, "its directory ends too early");
        }
        twi_npz_member *place = place_of(out, entry + ENTRY_BYTES, (size_t)length);
        place = (place == &out->format_word) == only_format ? place : NULL;
        if (place != NULL) {
            const bool stack = place == &out->data && is_filled(out);
            status = take_member(ctx, input, entry, stack, place);
        }
        at = next;
    }
    return status;
}

/* ------------------------------------------------------------------------------- the matrix */

static tw_type index_type(const twi_npz_member *array)
{
    return array->about.width == sizeof(int64_t) ? TW_I64 : TW_I32;
}

static tw_status check_format(tw_context *ctx, const twi_input *input, twi_npz *a)
{
    const twi_npz_member *word = &a->format_word;
    if (word->memory == NULL || word->about.kind != 'S' || word->about.width != 3 ||
        word->about.rows != 1) {
        if (strcasecmp(twi_extension(input->name), "npz") != 0) {
            return tw_fail(
                ctx, TW_ERR_FORMAT,
                "%.500s: a zip archive, which is not supported; unpack it, or compress what "
                "is in it as .gz, .zst or .xz",
                input->name);
        }
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: a zip archive without a sparse matrix of SciPy (save_npz) in it; "
                       "save a dense matrix as .npy, a table as .csv",
                       input->name);
    }
    memcpy(a->format, word->elements, 3);
    static const char *const kinds[] = {"csr", "csc", "coo", "bsr", "dia"};
    bool known = false;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        known |= strcmp(a->format, kinds[k]) == 0;
    }
    if (!known) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "%.500s: not a supported sparse matrix (csr, csc, coo, bsr or dia); convert "
                       "it with .tocsr()",
                       input->name);
    }
    return TW_OK;
}

static tw_status check_arrays(tw_context *ctx, const twi_input *input, twi_npz *a)
{
    const bool dia = strcmp(a->format, "dia") == 0;
    if (!twi_npz_is_index(&a->shape) || a->shape.about.rows != 2 || !twi_npz_is_index(&a->first) ||
        (!dia && !twi_npz_is_index(&a->second)) || a->data.memory == NULL ||
        (!dia && index_type(&a->first) != index_type(&a->second))) {
        return damaged(ctx, input, "arrays are missing, or are not of whole numbers");
    }
    a->rows = twi_npz_whole(&a->shape, 0);
    a->cols = twi_npz_whole(&a->shape, 1);
    a->count = a->data.about.rows;
    const bool coo = a->format[2] == 'o';
    if (a->rows != a->cols || a->rows < 0 || a->rows > TWI_MOST_VERTICES) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s holds a matrix of %lld x %lld; a graph needs a square one",
                       input->name, (long long)a->rows, (long long)a->cols);
    }
    if (is_filled(a)) {
        return TW_OK; /* which is for who expands it */
    }
    if (a->second.about.rows != a->count || a->first.about.rows != (coo ? a->count : a->rows + 1)) {
        return damaged(ctx, input, "its arrays have inconsistent lengths");
    }
    return TW_OK;
}

static tw_status build_rows(tw_context *ctx, tw_graph **out, const twi_npz *a, tw_type values,
                            uint32_t flags)
{
    tw_csr csr = TW_CSR_INIT;
    csr.vertices = a->rows;
    csr.offsets = a->first.elements;
    csr.offset_type = index_type(&a->first);
    csr.targets = a->second.elements;
    csr.target_type = index_type(&a->second);
    csr.values = values != TW_AUTO ? a->data.elements : NULL;
    csr.value_type = values != TW_AUTO ? values : TW_F64;
    if (a->count != twi_npz_whole(&a->first, a->rows)) {
        return tw_fail(ctx, TW_ERR_FORMAT, "indptr ends with %lld, but there are %lld values",
                       (long long)twi_npz_whole(&a->first, a->rows), (long long)a->count);
    }
    return tw_graph_from_csr(ctx, out, &csr, flags);
}

/* Columns, from indptr, for each entry; checked to be what offsets are. */
static tw_status spread_columns(tw_context *ctx, const twi_npz *a, int64_t *columns)
{
    int64_t before = 0;
    for (int64_t c = 0; c <= a->cols; c++) {
        int64_t next = twi_npz_whole(&a->first, c);
        if (next < before || next > a->count || (c == 0 && next != 0)) {
            return tw_fail(ctx, TW_ERR_FORMAT, "indptr decreases or is out of range at %lld",
                           (long long)c);
        }
        for (int64_t i = before; i < next && c > 0; i++) {
            columns[i] = c - 1;
        }
        before = next;
    }
    return before == a->count
               ? TW_OK
               : tw_fail(ctx, TW_ERR_FORMAT, "indptr ends with %lld, but there are %lld values",
                         (long long)before, (long long)a->count);
}

/* Entries by row and column, whatever the order. */
static tw_status build_entries(tw_context *ctx, tw_graph **out, const twi_npz *a, tw_type values,
                               uint32_t flags)
{
    const bool coo = a->format[2] == 'o';
    int64_t *ends[2] = {NULL, NULL};
    tw_status status = TW_OK;
    const bool wide = coo && index_type(&a->first) == TW_I64; /* as they are wanted */
    for (int e = 0; e < 2 && status == TW_OK && !wide; e++) {
        status = twi_alloc(ctx, &ends[e], (uint64_t)a->count, sizeof *ends[e], "the entries");
    }
    for (int64_t i = 0; i < a->count && status == TW_OK && !wide; i++) {
        ends[0][i] = twi_npz_whole(coo ? &a->first : &a->second, i);
        ends[1][i] = coo ? twi_npz_whole(&a->second, i) : 0;
    }
    if (status == TW_OK && !coo) {
        status = spread_columns(ctx, a, ends[1]);
    }
    if (status == TW_OK) {
        tw_edges edges = TW_EDGES_INIT;
        edges.count = a->count;
        edges.source = wide ? (const void *)a->first.elements : ends[0];
        edges.target = wide ? (const void *)a->second.elements : ends[1];
        edges.index_type = TW_I64;
        edges.weight = values != TW_AUTO ? a->data.elements : NULL;
        edges.weight_type = values != TW_AUTO ? values : TW_I32;
        status = tw_graph_from_edges(ctx, out, a->rows, &edges, flags);
    }
    twi_free(ends[1]);
    twi_free(ends[0]);
    return status;
}

tw_status twi_npz_read(tw_context *ctx, tw_graph **out, twi_input *input,
                       const tw_graph_read_options *opts)
{
    twi_npz a = {0};
    tw_type values = TW_AUTO;
    tw_graph *graph = NULL;
    tw_status status = read_members(ctx, input, &a, true);
    if (status == TW_OK) {
        status = check_format(ctx, input, &a);
    }
    if (status == TW_OK) {
        status = read_members(ctx, input, &a, false);
    }
    if (status == TW_OK) {
        status = check_arrays(ctx, input, &a);
    }
    if (status == TW_OK && is_filled(&a)) {
        status = twi_npz_expand(ctx, input, opts, &a);
    }
    if (status == TW_OK && !opts->unweighted) {
        status = twi_npz_settle_values(ctx, input, &a.data, &values);
    }
    if (status == TW_OK) {
        const uint32_t flags = opts->directed == TW_GRAPH_DIRECTED_NO ? TW_GRAPH_UNDIRECTED : 0;
        status = strcmp(a.format, "csr") == 0 ? build_rows(ctx, &graph, &a, values, flags)
                                              : build_entries(ctx, &graph, &a, values, flags);
        if (status != TW_OK) {
            char why[400];
            snprintf(why, sizeof why, "%s", tw_last_error(ctx));
            status = tw_fail(ctx, status == TW_ERR_ARGUMENT ? TW_ERR_FORMAT : status, "%.500s: %s",
                             input->name, why);
        }
    }
    twi_free(a.format_word.memory);
    twi_free(a.first.memory);
    twi_free(a.second.memory);
    twi_free(a.data.memory);
    twi_free(a.shape.memory);
    if (status == TW_OK) {
        *out = graph;
    }
    return status;
}

tw_status twi_npz_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)graph;
    (void)extension;
    return tw_fail(printer->ctx, TW_ERR_UNSUPPORTED,
                   "npz files are read, not written; use .mtx, which scipy.io.mmread reads");
}

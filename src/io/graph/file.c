/* Reading and writing graphs: the entries. The formats are in files of their own. */
#include "base/given.h"
#include "base/memory.h"
#include "io/extension.h"
#include "io/foreign.h"
#include "io/gathered.h"
#include "io/graph/format.h"
#include "io/graph/text.h"
#include "io/packed/packed.h"

#include <locale.h>
#include <string.h>
#include <sys/stat.h>

#define GRAPH_OF_PACKED 8 /* bytes that a graph usually takes for one of a compressed list */

/* The caller's options over the defaults in *opts. */
static tw_status take_options(tw_context *ctx, tw_graph_read_options *opts,
                              const tw_graph_read_options *given)
{
    tw_status status = TWI_TAKE(ctx, tw_graph_read_options, opts, given);
    if (status != TW_OK) {
        return status;
    }
    opts->ids = opts->ids != 0;
    if (opts->directed < TW_GRAPH_DIRECTED_AS_FILE || opts->directed > TW_GRAPH_DIRECTED_YES) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "directed is %d; use one of TW_GRAPH_DIRECTED_*",
                       opts->directed);
    }
    if (opts->header < TW_GRAPH_HEADER_AUTO || opts->header > TW_GRAPH_HEADER_YES) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "header is %d; use one of TW_GRAPH_HEADER_*",
                       opts->header);
    }
    return TW_OK;
}

/* A compressed file says so by its name or by its content. Of the formats only triples may begin
 * like one by chance: a file that is as long as its triples make it, if it may hold them, is not
 * compressed. */
static bool is_packed(const twi_input *input, const char *path, const char *format)
{
    return twi_packed_named(path) ||
           (twi_packed_recognised(input) &&
            (format == NULL ? !twi_triples_recognised(input) : strcmp(format, "triples") != 0));
}

/* What people have and this does not read, rather than what the reader of edges makes of it. */
static tw_status refuse_foreign(tw_context *ctx, const twi_input *input)
{
    const char *name = twi_foreign_name(input->bytes, input->size);
    return name == NULL ? TW_OK
                        : tw_fail(ctx, TW_ERR_UNSUPPORTED,
                                  "%.500s: %s files are not supported; write the table as .csv",
                                  input->name, name);
}

/* By its content. What is no text may be a format that is known by its size alone, so all of a flow
 * has to come first; of a text, the first line that is no comment decides. */
static tw_status recognise(tw_context *ctx, twi_input *input, const twi_graph_format **out)
{
    const bool text = memchr(input->bytes, '\0', (size_t)twi_input_held(input)) == NULL;
    tw_status status = text ? TW_OK : twi_input_gather(ctx, input, false);
    if (status == TW_OK) {
        *out = twi_graph_format_of_bytes(input);
    }
    if (status == TW_OK && (*out)->in_pieces) { /* comments may be all there is in the head */
        status = twi_text_open(ctx, input, "c");
        *out = twi_graph_format_of_bytes(input);
    }
    return status;
}

static tw_status find_format(tw_context *ctx, twi_input *input, const char *path,
                             const tw_graph_read_options *opts, const twi_graph_format **out)
{
    if (opts->format != NULL) {
        *out = twi_graph_format_named(ctx, opts->format);
        return *out != NULL ? TW_OK : TW_ERR_ARGUMENT;
    }
    *out = twi_graph_format_of_path(path);
    return *out != NULL ? TW_OK : recognise(ctx, input, out);
}

static tw_status read_input(tw_context *ctx, tw_graph **out, twi_input *input, const char *path,
                            const tw_graph_read_options *opts)
{
    char inner[TWI_PACKED_NAME];
    const twi_graph_format *format = NULL;
    tw_status status = TW_OK;
    if (input->size > 0 && is_packed(input, path, opts->format)) {
        input->beside = input->flow == NULL ? GRAPH_OF_PACKED * input->size : 0;
        status = twi_unpack(ctx, input);
        path = twi_packed_inner(path, inner);
    }
    if (status == TW_OK && input->size == 0) {
        status = tw_fail(ctx, TW_ERR_FORMAT, "%.500s is empty; it holds no graph", input->name);
    }
    if (status == TW_OK) {
        status = refuse_foreign(ctx, input);
    }
    if (status == TW_OK) {
        status = find_format(ctx, input, path, opts, &format);
    }
    if (status == TW_OK && !format->in_pieces) {
        status = twi_input_gather(ctx, input, true);
    }
    if (status == TW_OK && format->check != NULL && ctx->memory_limit > 0) {
        status = format->check(ctx, input, opts);
    }
    if (status == TW_OK && !format->in_pieces) {
        status = twi_input_load(ctx, input);
    }
    return status == TW_OK ? format->read(ctx, out, input, opts) : status;
}

tw_status twi_graph_read_input(tw_context *ctx, tw_graph **out, twi_input *input,
                               const tw_graph_read_options *opts)
{
    tw_graph_read_options ours = TW_GRAPH_READ_OPTIONS_INIT;
    *out = NULL;
    tw_status status = take_options(ctx, &ours, opts);
    return status == TW_OK ? read_input(ctx, out, input, input->name, &ours) : status;
}

tw_status twi_graph_read_memory(tw_context *ctx, tw_graph **out, const void *bytes, uint64_t size,
                                const char *name, const tw_graph_read_options *opts)
{
    twi_input input = {.name = name, .bytes = bytes, .size = size};
    tw_status status = twi_graph_read_input(ctx, out, &input, opts);
    twi_input_close(&input);
    return status;
}

/* A compressed file from its beginning, with names for vertices. A pipe has none any more. */
static tw_status read_again(tw_context *ctx, tw_graph **out, const char *path,
                            const tw_graph_read_options *opts, tw_status failed)
{
    tw_graph_read_options with_ids = *opts;
    struct stat found;
    twi_input input;
    char why[TWI_WHY_NAMES];
    if (strcmp(path, "-") == 0 || stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return failed;
    }
    twi_edges_why_names(ctx, why);
    with_ids.ids = TWI_IDS_FOUND;
    tw_status status = twi_input_open_flow(ctx, &input, path);
    if (status == TW_OK) {
        status = read_input(ctx, out, &input, path, &with_ids);
        twi_input_close(&input);
    }
    if (status == TW_OK) {
        twi_log(ctx, "%s", why);
    }
    return status;
}

tw_status tw_graph_read(tw_context *ctx, tw_graph **out, const char *path,
                        const tw_graph_read_options *opts)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    if (missing != TW_OK) {
        return missing;
    }
    tw_graph_read_options ours = TW_GRAPH_READ_OPTIONS_INIT;
    twi_input input;
    tw_status status = take_options(ctx, &ours, opts);
    if (status != TW_OK) {
        return status;
    }
    status = twi_input_open_flow(ctx, &input, path);
    if (status != TW_OK) {
        return status;
    }
    status = read_input(ctx, out, &input, path, &ours);
    const bool has_names = input.has_names;
    twi_input_close(&input);
    return has_names ? read_again(ctx, out, path, &ours, status) : status;
}

/* Numbers are printed in the "C" locale, whatever the program has set for this thread. */
static tw_status write_in_c_locale(twi_printer *printer, const tw_graph *graph,
                                   const twi_graph_format *format, const char *extension)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return tw_fail(printer->ctx, TW_ERR_MEMORY, "not enough memory for the C locale");
    }
    locale_t before = uselocale(c);
    tw_status status = format->write(printer, graph, extension);
    uselocale(before);
    freelocale(c);
    return status == TW_OK ? twi_print_flush(printer) : status;
}

tw_status tw_graph_write(tw_context *ctx, const tw_graph *graph, const char *path,
                         const char *format)
{
    tw_status missing = TWI_REQUIRE(ctx, {"graph", graph}, {"path", path});
    if (missing != TW_OK) {
        return missing;
    }
    const twi_graph_format *found =
        format != NULL ? twi_graph_format_named(ctx, format) : twi_graph_format_of_path(path);
    if (found == NULL) {
        return format != NULL ? TW_ERR_ARGUMENT
                              : tw_fail(ctx, TW_ERR_ARGUMENT,
                                        "%.500s: unknown extension; choose the graph format with "
                                        "--out-format: triples, gr, mtx, edges, metis or npy",
                                        path);
    }
    twi_printer printer = {.ctx = ctx, .total = (double)graph->arcs, .unit = "arcs"};
    tw_status status = twi_alloc(ctx, &printer.buffer, TWI_PRINT_BUFFER, 1, "the output buffer");
    if (status == TW_OK) {
        status = twi_output_open(ctx, &printer.output, path, 0);
    }
    if (status == TW_OK) {
        status = write_in_c_locale(&printer, graph, found, twi_extension(path));
        if (status == TW_OK) {
            status = twi_output_commit(ctx, printer.output);
        } else {
            twi_output_discard(printer.output);
        }
    }
    twi_free(printer.buffer);
    return status;
}

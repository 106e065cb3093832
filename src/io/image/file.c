/*
 * Image files: the table of formats, recognition by extension and else by content, and .npy, whose
 * header is matrix/npy.c's.
 */
#include "base/memory.h"
#include "io/extension.h"
#include "io/gathered.h"
#include "io/image/format.h"
#include "io/matrix/format.h"

#include <string.h>
#include <strings.h>

/* Records are told by their size alone, so they come last. */
#define FORMATS 7
static const twi_image_format *const formats[FORMATS] = {
    &twi_image_npy,  &twi_image_pnm,  &twi_image_pfm,    &twi_image_png,
    &twi_image_tiff, &twi_image_jpeg, &twi_image_records};

static bool listed(const char *words, const char *wanted)
{
    size_t length = strlen(wanted);
    while (*words != '\0') {
        size_t word = strcspn(words, " ");
        if (word == length && strncasecmp(words, wanted, length) == 0) {
            return true;
        }
        words += word + (words[word] == ' ');
    }
    return false;
}

/* By name, else by the extension of the path; NULL with TW_OK if neither says. */
static tw_status find_format(tw_context *ctx, const twi_image_format **out, const char *name,
                             const char *path)
{
    *out = NULL;
    for (size_t f = 0; f < FORMATS; f++) {
        if (name != NULL ? strcmp(name, formats[f]->name) == 0
                         : listed(formats[f]->extensions, twi_extension(path))) {
            *out = formats[f];
        }
    }
    if (name != NULL && *out == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown image format '%.40s'; use npy, pnm, pfm, png, tiff, jpeg or "
                       "records",
                       name);
    }
    return TW_OK;
}

static tw_status recognise(tw_context *ctx, const twi_image_format **out, const twi_input *input)
{
    for (size_t f = 0; f < FORMATS && *out == NULL; f++) {
        if (formats[f]->recognised(input)) {
            *out = formats[f];
        }
    }
    if (*out == NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s is not an image that can be read; use npy, PGM, PPM, PFM, PNG, "
                       "TIFF, JPEG or records",
                       input->name);
    }
    return TW_OK;
}

tw_status twi_image_format_find(tw_context *ctx, const twi_image_format **out, const char *format,
                                const char *path, const twi_input *input)
{
    tw_status status = find_format(ctx, out, format, path);
    return status == TW_OK ? recognise(ctx, out, input) : status;
}

static void release_input(void *kept)
{
    twi_input_close(kept);
    twi_free(kept);
}

static tw_status read_tags(tw_context *ctx, tw_image_tags **out, const twi_image_format *format,
                           const twi_input *input)
{
    tw_status status = twi_tags_create(ctx, out);
    return status == TW_OK && format->tags != NULL ? format->tags(ctx, *out, input) : status;
}

tw_status tw_image_tags_read(tw_context *ctx, tw_image_tags **out, const char *path,
                             const char *format)
{
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    if (status != TW_OK) {
        return status;
    }
    twi_input input = {0};
    const twi_image_format *found = NULL;
    tw_image_tags *tags = NULL;
    if (strcmp(path, "-") == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tags of an image need a file with a name");
    }
    status = twi_input_open_head(ctx, &input, path);
    if (status != TW_OK) {
        return status;
    }
    status = twi_image_format_find(ctx, &found, format, path, &input);
    if (status == TW_OK) {
        status = read_tags(ctx, &tags, found, &input);
    }
    twi_input_close(&input);
    if (status != TW_OK) {
        tw_image_tags_destroy(tags);
        return status;
    }
    *out = tags;
    return TW_OK;
}

/* Close the input, unless planes lie in it: then it lives as long as the image. */
static tw_status settle_input(tw_context *ctx, tw_image *image, twi_input *input)
{
    twi_input *kept = NULL;
    if (image->count == 0 || !image->views[0]) {
        twi_input_close(input);
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &kept, 1, sizeof *kept, "an image");
    if (status == TW_OK) {
        *kept = *input;
        kept->name = "";
        twi_image_keep(image, kept, release_input);
    }
    return status;
}

tw_status tw_image_read(tw_context *ctx, tw_image **out, const char *path, const char *format)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    if (missing != TW_OK) {
        return missing;
    }
    twi_input input = {0};
    tw_image *image = NULL;
    const twi_image_format *found = NULL;
    tw_status status = find_format(ctx, &found, format, path);
    if (status == TW_OK) {
        status = twi_input_open_flow(ctx, &input, path);
    }
    if (status != TW_OK) {
        return status;
    }
    status = twi_input_gather(ctx, &input, false);
    if (status == TW_OK) {
        status = recognise(ctx, &found, &input);
    }
    if (status == TW_OK) {
        status = tw_image_create(ctx, &image);
    }
    if (status == TW_OK) {
        status = found->read(ctx, image, &input);
    }
    if (status == TW_OK) {
        status = read_tags(ctx, &image->tags, found, &input);
    }
    if (status == TW_OK) {
        status = settle_input(ctx, image, &input);
    }
    if (status != TW_OK) {
        tw_image_destroy(image);
        twi_input_close(&input);
        return status;
    }
    *out = image;
    return TW_OK;
}

tw_status twi_no_company(tw_context *ctx, const char *name, int64_t plane)
{
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s: plane %lld is decoded alone", name,
                   (long long)plane);
}

tw_status tw_image_read_some(tw_context *ctx, tw_image **out, const char *path, const char *format,
                             int64_t plane, uint64_t bytes)
{
    const twi_image_format *found = NULL;
    tw_image *image = NULL;
    twi_input input = {0};
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    if (status == TW_OK && (plane < 0 || strcmp(path, "-") == 0)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "some planes of an image need a file with a name and a plane from 0");
    }
    if (status != TW_OK) {
        return status;
    }
    *out = NULL;
    status = twi_input_open_head(ctx, &input, path);
    if (status != TW_OK) {
        return status;
    }
    status = twi_image_format_find(ctx, &found, format, path, &input);
    if (status == TW_OK && found->some == NULL) {
        status = twi_no_company(ctx, path, plane);
    }
    if (status == TW_OK) {
        status = tw_image_create(ctx, &image);
    }
    if (status == TW_OK) {
        status = found->some(ctx, image, &input, plane, bytes);
    }
    twi_input_close(&input);
    if (status != TW_OK) {
        tw_image_destroy(image);
        return status;
    }
    *out = image;
    return TW_OK;
}

tw_status twi_image_writer_find(tw_context *ctx, const twi_image_format **out, const char *format,
                                const char *path)
{
    tw_status status = find_format(ctx, out, format, path);
    if (status == TW_OK && *out == NULL) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the name %.500s has no known image extension; use .npy, .pgm, .ppm, "
                         ".pfm, .png, .tif or .records, or choose with --out-format",
                         path);
    }
    return status;
}

static tw_status find_writer(tw_context *ctx, const twi_image_format **out, const tw_image *image,
                             const char *path, const char *format)
{
    tw_status status = twi_image_writer_find(ctx, out, format, path);
    return status == TW_OK ? (*out)->accepts(ctx, image) : status;
}

tw_status twi_image_accepts(tw_context *ctx, const tw_image *image, const char *path,
                            const char *format)
{
    const twi_image_format *found = NULL;
    return find_writer(ctx, &found, image, path, format);
}

tw_status tw_image_write(tw_context *ctx, const tw_image *image, const char *path,
                         const char *format)
{
    tw_status missing = TWI_REQUIRE(ctx, {"image", image}, {"path", path});
    if (missing != TW_OK) {
        return missing;
    }
    const twi_image_format *found = NULL;
    twi_output *output = NULL;
    tw_status status = find_writer(ctx, &found, image, path, format);
    if (status == TW_OK) {
        status = twi_output_open(ctx, &output, path, 0);
    }
    if (status != TW_OK) {
        return status;
    }
    status = found->write(ctx, image, output);
    if (status != TW_OK) {
        twi_output_discard(output);
        return status;
    }
    return twi_output_commit(ctx, output);
}

/* ------------------------------------------------------------------------------------------ npy */

static bool npy_recognised(const twi_input *input)
{
    return twi_npy_recognised(input->bytes, input->size);
}

/* The type that holds elements of an npy file, and how they are stored; false if none does. */
static bool find_type(const twi_npy *npy, tw_type *type, twi_stored *stored)
{
    static const struct {
        char kind;
        int32_t width;
        tw_type type;
        twi_stored stored;
    } others[] = {{'b', 1, TW_U8, TWI_STORED_ALIKE},
                  {'i', 1, TW_I16, TWI_STORED_I8},
                  {'u', 4, TW_F64, TWI_STORED_U32},
                  {'i', 8, TW_F64, TWI_STORED_I64},
                  {'u', 8, TW_F64, TWI_STORED_U64}};
    *type = npy->type;
    *stored = TWI_STORED_ALIKE;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (npy->kind == others[i].kind && npy->width == others[i].width) {
            *type = others[i].type;
            *stored = others[i].stored;
        }
    }
    return *type != TW_AUTO;
}

static tw_status npy_layout(tw_context *ctx, twi_layout *out, const twi_input *input, int64_t plane)
{
    twi_npy npy;
    tw_type type = TW_AUTO;
    twi_stored stored = TWI_STORED_ALIKE;
    tw_status status = twi_npy_parse_stack(ctx, &npy, input);
    if (status == TW_OK && !find_type(&npy, &type, &stored)) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s has elements of NumPy's type '%c%d'; integers of 1 to 8 bytes, "
                         "f4, f8 and bool can be read (convert it with .astype)",
                         input->name, npy.kind, (int)npy.width);
    }
    if (status == TW_OK && plane >= npy.planes) {
        status = twi_no_plane(ctx, input->name, plane, npy.planes);
    }
    if (status == TW_OK) {
        const int64_t row = npy.cols * npy.width;
        *out = (twi_layout){.planes = npy.planes,
                            .rows = npy.rows,
                            .cols = npy.cols,
                            .type = type,
                            .stored = stored,
                            .start = npy.start + (uint64_t)(plane * npy.rows * row),
                            .row_step = row,
                            .col_step = npy.width};
    }
    return status;
}

static tw_status npy_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    twi_layout layout = {.planes = 1};
    tw_status status = TW_OK;
    for (int64_t k = 0; k < layout.planes && status == TW_OK; k++) {
        status = npy_layout(ctx, &layout, input, k);
        if (status == TW_OK) {
            status = twi_layout_add(ctx, image, input, &layout);
        }
    }
    return status;
}

static tw_status npy_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    twi_npy npy;
    tw_status status = twi_npy_parse_stack(ctx, &npy, input);
    if (status == TW_OK) {
        tags->info.made_here = twi_npy_made_here(input->bytes, twi_input_held(input), &npy);
    }
    return status;
}

static tw_status npy_accepts(tw_context *ctx, const tw_image *image)
{
    const tw_matrix *plane = image->planes;
    for (int64_t k = 1; k < image->count; k++) {
        if (plane[k].rows != plane->rows || plane[k].cols != plane->cols ||
            plane[k].type != plane->type) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "the planes of an npy file must have the same size and type");
        }
    }
    return image->count > 0 ? TW_OK : tw_fail(ctx, TW_ERR_ARGUMENT, "an npy file needs a plane");
}

static tw_status npy_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    const tw_matrix *plane = image->planes;
    const uint64_t bytes = (uint64_t)(plane->rows * plane->cols) * tw_type_size(plane->type);
    char header[TWI_NPY_HEADER_MOST];
    tw_shape shape = {plane->rows, plane->cols, plane->type};
    size_t length = image->count == 1 ? twi_npy_header(header, &shape)
                                      : twi_npy_header_stack(header, &shape, image->count);
    tw_status status = twi_output_write(ctx, output, header, length);
    for (int64_t k = 0; k < image->count && status == TW_OK; k++) {
        status = twi_output_write(ctx, output, plane[k].data, bytes);
    }
    return status;
}

/* A stack row by row, plane after plane. */
static tw_status stack_begin(tw_context *ctx, void **state, twi_output *output,
                             const tw_image_file_options *opts, const tw_shape *shape)
{
    char header[TWI_NPY_HEADER_MOST];
    tw_shape *first = NULL;
    tw_status status = twi_alloc(ctx, &first, 1, sizeof *first, "an npy writer");
    if (status != TW_OK) {
        return status;
    }
    *state = first;
    *first = *shape;
    const size_t length = opts->planes == 1 ? twi_npy_header(header, shape)
                                            : twi_npy_header_stack(header, shape, opts->planes);
    return twi_output_write(ctx, output, header, length);
}

static tw_status stack_next(tw_context *ctx, void *state, twi_output *output, const tw_shape *shape)
{
    const tw_shape *first = state;
    (void)output;
    return shape->rows == first->rows && shape->cols == first->cols && shape->type == first->type
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the planes of an npy file must have the same size and type");
}

static tw_status stack_row(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    const tw_shape *shape = state;
    return twi_output_write(ctx, output, row, (uint64_t)shape->cols * tw_type_size(shape->type));
}

static tw_status stack_end(tw_context *ctx, void *state, twi_output *output)
{
    (void)ctx;
    (void)state;
    (void)output;
    return TW_OK;
}

static const twi_row_writer stack_writer = {stack_begin, stack_next, stack_row,
                                            stack_end,   twi_free,   false};

const twi_image_format twi_image_npy = {
    "npy",       "npy",     npy_recognised, npy_read, npy_layout, NULL,
    npy_accepts, npy_write, &stack_writer,  npy_tags, NULL};

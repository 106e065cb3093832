/*
 * Image files: the table of formats, recognition by extension and else by content, and .npy, whose
 * header is matrix_npy.c's.
 */
#include "io/image_format.h"
#include "io/matrix_format.h"

#include <string.h>
#include <strings.h>

/* Records are told by their size alone, so they come last. */
#define FORMATS 5
static const twi_image_format *const formats[FORMATS] = {
    &twi_image_npy, &twi_image_pnm, &twi_image_pfm, &twi_image_png, &twi_image_records};

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
                       "there is no image format '%.40s': take npy, pnm, pfm, png or records",
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
                       "%.500s is no image: neither its name nor its %llu bytes look like npy, "
                       "PGM, PPM, PFM, PNG or records",
                       input->name, (unsigned long long)input->size);
    }
    return TW_OK;
}

tw_status tw_image_read(tw_context *ctx, tw_image **out, const char *path, const char *format)
{
    twi_input input = {0};
    tw_image *image = NULL;
    const twi_image_format *found = NULL;
    *out = NULL;
    tw_status status = find_format(ctx, &found, format, path);
    if (status == TW_OK) {
        status = twi_input_open(ctx, &input, path);
    }
    if (status != TW_OK) {
        return status;
    }
    status = recognise(ctx, &found, &input);
    if (status == TW_OK) {
        status = tw_image_create(ctx, &image);
    }
    if (status == TW_OK) {
        status = found->read(ctx, image, &input);
    }
    twi_input_close(&input);
    if (status != TW_OK) {
        tw_image_destroy(image);
        return status;
    }
    *out = image;
    return TW_OK;
}

static tw_status find_writer(tw_context *ctx, const twi_image_format **out, const tw_image *image,
                             const char *path, const char *format)
{
    tw_status status = find_format(ctx, out, format, path);
    if (status == TW_OK && *out == NULL) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the name %.500s tells no image format: use .npy, .pgm, .ppm, .pfm, "
                         ".png or .records, or say which",
                         path);
    }
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

static tw_status npy_read(tw_context *ctx, tw_image *image, const twi_input *input)
{
    twi_npy npy;
    tw_status status = twi_npy_parse(ctx, &npy, input->name, input->bytes, input->size);
    bool truth = status == TW_OK && npy.kind == 'b' && npy.width == 1;
    if (status == TW_OK && npy.type == TW_AUTO && !truth) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s has elements of type '%c%d'; b1, u1, u2, i2, i4, f4 and f8 can be "
                         "read (convert with .astype)",
                         input->name, npy.kind, (int)npy.width);
    }
    if (status == TW_OK) {
        status = tw_image_add(ctx, image, npy.rows, npy.cols, truth ? TW_U8 : npy.type);
    }
    if (status == TW_OK) {
        memcpy(twi_image_last(image)->data, input->bytes + npy.start, input->size - npy.start);
    }
    return status;
}

static tw_status npy_accepts(tw_context *ctx, const tw_image *image)
{
    if (image->count != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an npy file holds one plane, not %lld",
                       (long long)image->count);
    }
    return TW_OK;
}

static tw_status npy_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    const tw_matrix *plane = &image->planes[0];
    char header[TWI_NPY_HEADER_MOST];
    tw_shape shape = {plane->rows, plane->cols, plane->type};
    size_t length = twi_npy_header(header, &shape);
    tw_status status = twi_output_write(ctx, output, header, length);
    if (status == TW_OK) {
        status =
            twi_output_write(ctx, output, plane->data,
                             (uint64_t)(plane->rows * plane->cols) * tw_type_size(plane->type));
    }
    return status;
}

const twi_image_format twi_image_npy = {"npy",    "npy",       npy_recognised,
                                        npy_read, npy_accepts, npy_write};

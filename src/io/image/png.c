/*
 * PNG through libpng. Elements come as the file has them: 1, 2, 4 and 8 bits as u8, 16 bits as u16,
 * never stretched to another range; a palette becomes its three colours; grey, colours and an alpha
 * channel are planes. Rows are decoded one by one, an interlaced file all at once.
 *
 * libpng leaves by longjmp when something is wrong. Each call into it is therefore a step: a
 * function that touches nothing but the job it is given, run by attempt(), which is the only place
 * where setjmp stands. Its memory comes from the library's own, so it counts and may fail.
 *
 * Deflate makes at most 1032 bytes out of one, so a header that promises more than 1032 times the
 * file is refused before anything is reserved for it.
 */
#include "io/image/format.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <png.h>
#include <string.h>

#define SIGNATURE_BYTES 8
#define DEFLATE_MOST 1032
#define LARGEST_SIDE 0x7FFFFFFF

typedef struct png_job {
    tw_context *ctx;
    png_structp png;
    png_infop info;
    const twi_input *input; /* when reading */
    uint64_t at;            /* bytes of it taken */
    int input_error;        /* of taking them; 0: none */
    twi_output *output;     /* when writing */
    tw_status output_status;
    bool out_of_memory;
    char words[128]; /* what libpng says is wrong */
    int64_t rows, cols;
    int channels;
    tw_type type;
    bool interlaced;
    uint64_t stored_bytes;  /* of a row in the file, inflated */
    uint64_t row_bytes;     /* of a decoded row, all channels */
    unsigned char *decoded; /* a row, or all of an interlaced image */
} png_job;

/* ------------------------------------------------------------------------- what libpng calls back
 */

static void keep_words(png_structp png, png_const_charp words)
{
    png_job *job = png_get_error_ptr(png);
    size_t length = strnlen(words, sizeof job->words - 1);
    memcpy(job->words, words, length);
    job->words[length] = '\0';
    png_longjmp(png, 1);
}

static void ignore_words(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

static png_voidp give_memory(png_structp png, png_alloc_size_t bytes)
{
    png_job *job = png_get_mem_ptr(png);
    void *block = twi_try_alloc(job->ctx, bytes, 1);
    job->out_of_memory |= block == NULL;
    return block;
}

static void take_memory(png_structp png, png_voidp block)
{
    (void)png;
    twi_free(block);
}

static void give_bytes(png_structp png, png_bytep out, size_t count)
{
    png_job *job = png_get_io_ptr(png);
    if (count > job->input->size - job->at) {
        job->at = job->input->size;
        png_error(png, "the file ends before the image does");
    }
    job->input_error = twi_input_try(job->input, job->at, out, count);
    if (job->input_error != 0) {
        png_error(png, "");
    }
    job->at += count;
}

static void take_bytes(png_structp png, png_bytep bytes, size_t count)
{
    png_job *job = png_get_io_ptr(png);
    job->output_status = twi_output_write(job->ctx, job->output, bytes, count);
    if (job->output_status != TW_OK) {
        png_error(png, "");
    }
}

static void flush_bytes(png_structp png)
{
    (void)png;
}

/* The sentence for a step that did not come to its end. */
static tw_status failed(const png_job *job)
{
    const char *name = job->input != NULL ? job->input->name : "";
    if (job->output_status != TW_OK) {
        return job->output_status; /* the sentence stands */
    }
    if (job->input_error != 0) {
        return twi_input_failed(job->ctx, name, job->input_error);
    }
    if (job->out_of_memory) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for libpng%s%.500s",
                       job->input != NULL ? " to decode " : "", name);
    }
    if (job->input == NULL) {
        return tw_fail(job->ctx, TW_ERR_INTERNAL, "libpng cannot write this image: %s", job->words);
    }
    return tw_fail(job->ctx, TW_ERR_FORMAT, "%.500s: byte %llu: %s", name,
                   (unsigned long long)job->at, job->words);
}

static tw_status attempt(png_job *job, void (*step)(png_job *))
{
    if (setjmp(png_jmpbuf(job->png)) != 0) {
        return failed(job);
    }
    step(job);
    return TW_OK;
}

/* -------------------------------------------------------------------------------------- reading */

static bool png_recognised(const twi_input *input)
{
    return input->size >= SIGNATURE_BYTES &&
           png_sig_cmp((png_const_bytep)input->bytes, 0, SIGNATURE_BYTES) == 0;
}

static void close_reader(png_job *job)
{
    png_destroy_read_struct(&job->png, &job->info, NULL);
    twi_free(job->decoded);
    job->decoded = NULL;
}

static void read_header(png_job *job)
{
    png_structp png = job->png;
    png_set_read_fn(png, job, give_bytes);
    png_set_user_limits(png, LARGEST_SIDE, LARGEST_SIDE);
    png_read_info(png, job->info);
    job->rows = png_get_image_height(png, job->info);
    job->cols = png_get_image_width(png, job->info);
    job->stored_bytes = png_get_rowbytes(png, job->info);
}

/* Makes libpng reserve its own rows: only after the header is believed. */
static void set_up_rows(png_job *job)
{
    const uint16_t one = 1;
    png_structp png = job->png;
    if (png_get_color_type(png, job->info) == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(png);
        png_set_strip_alpha(png);
    } else {
        png_set_packing(png);
    }
    if (png_get_bit_depth(png, job->info) == 16 && *(const unsigned char *)&one == 1) {
        png_set_swap(png);
    }
    job->interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, job->info);
    job->channels = png_get_channels(png, job->info);
    job->type = png_get_bit_depth(png, job->info) == 16 ? TW_U16 : TW_U8;
    job->row_bytes = png_get_rowbytes(png, job->info);
}

static void read_row(png_job *job)
{
    png_read_row(job->png, job->decoded, NULL);
}

static void read_passes(png_job *job)
{
    const int passes = png_set_interlace_handling(job->png);
    for (int pass = 0; pass < passes; pass++) {
        for (int64_t row = 0; row < job->rows; row++) {
            png_read_row(job->png, job->decoded + (uint64_t)row * job->row_bytes, NULL);
        }
    }
}

static void read_end(png_job *job)
{
    png_read_end(job->png, NULL);
}

/* The header of the file, checked against the file. */
static tw_status open_header(png_job *job, tw_context *ctx, const twi_input *input)
{
    uint64_t bytes;
    *job = (png_job){.ctx = ctx, .input = input};
    job->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, job, keep_words, ignore_words, job,
                                        give_memory, take_memory);
    job->info = job->png != NULL ? png_create_info_struct(job->png) : NULL;
    job->out_of_memory = job->info == NULL;
    tw_status status = job->info == NULL ? failed(job) : attempt(job, read_header);
    if (status == TW_OK && (!twi_mul((uint64_t)job->rows, job->stored_bytes, &bytes) ||
                            bytes / DEFLATE_MOST > input->size)) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s: the header says %lld x %lld elements, which %llu bytes of PNG "
                         "cannot hold",
                         input->name, (long long)job->cols, (long long)job->rows,
                         (unsigned long long)input->size);
    }
    return status == TW_OK ? attempt(job, set_up_rows) : status;
}

/* Room for a row, or for all of an interlaced image, which are decoded at once. */
static tw_status decode_first(png_job *job)
{
    uint64_t bytes;
    if (!twi_mul(job->interlaced ? (uint64_t)job->rows : 1, job->row_bytes, &bytes)) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "%.500s cannot be addressed", job->input->name);
    }
    tw_status status = twi_memory_check(job->ctx, bytes, "the decoded rows");
    if (status == TW_OK) {
        status = twi_alloc(job->ctx, &job->decoded, bytes, 1, "the decoded rows");
    }
    return status == TW_OK && job->interlaced ? attempt(job, read_passes) : status;
}

/* The decoded row `row`, the one after the last; of an interlaced image any. */
static tw_status next_row(png_job *job, int64_t row, const unsigned char **out)
{
    tw_status status = TW_OK;
    if (!job->interlaced) {
        status = attempt(job, read_row);
    }
    *out = job->decoded + (job->interlaced ? (uint64_t)row * job->row_bytes : 0);
    return status;
}

/* Channel k of a decoded row. */
static void take_channel(const png_job *job, const unsigned char *row, int k, void *out)
{
    if (job->type == TW_U8) {
        for (int64_t i = 0; i < job->cols; i++) {
            ((uint8_t *)out)[i] = row[i * job->channels + k];
        }
        return;
    }
    for (int64_t i = 0; i < job->cols; i++) {
        memcpy((uint16_t *)out + i, row + 2 * (i * job->channels + k), sizeof(uint16_t));
    }
}

static tw_status read_planes(tw_context *ctx, const tw_image *image, png_job *job)
{
    tw_status status = TW_OK;
    for (int64_t row = 0; row < job->rows && status == TW_OK; row++) {
        const unsigned char *line;
        status = next_row(job, row, &line);
        for (int k = 0; k < job->channels && status == TW_OK; k++) {
            take_channel(job, line, k, twi_matrix_row(&image->planes[k], row));
        }
        if (status == TW_OK && row % 64 == 0) {
            twi_progress(ctx, "read", (double)row, (double)job->rows, "rows");
            status = twi_check_cancel(ctx);
        }
    }
    return status == TW_OK ? attempt(job, read_end) : status;
}

static tw_status png_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    png_job job;
    tw_status status = open_header(&job, ctx, input);
    if (status == TW_OK) {
        status = decode_first(&job);
    }
    for (int k = 0; k < job.channels && status == TW_OK; k++) {
        status = tw_image_add(ctx, image, job.rows, job.cols, job.type);
    }
    if (status == TW_OK) {
        status = read_planes(ctx, image, &job);
    }
    close_reader(&job);
    return status;
}

/* One plane, row after row. */
typedef struct png_plane {
    png_job job;
    int channel;
    int64_t next;
} png_plane;

static tw_status plane_next(tw_context *ctx, void *state, void *row)
{
    png_plane *plane = state;
    const unsigned char *line;
    (void)ctx;
    tw_status status = next_row(&plane->job, plane->next, &line);
    if (status == TW_OK) {
        take_channel(&plane->job, line, plane->channel, row);
        plane->next++;
    }
    if (status == TW_OK && plane->next == plane->job.rows) {
        status = attempt(&plane->job, read_end);
    }
    return status;
}

static void plane_close(void *state)
{
    png_plane *plane = state;
    if (plane != NULL) {
        close_reader(&plane->job);
        twi_free(plane);
    }
}

static tw_status png_rows(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane)
{
    png_plane *state = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &state, 1, sizeof *state, "a PNG reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_header(&state->job, ctx, input);
    if (status == TW_OK && state->job.interlaced) {
        status = tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s is interlaced, and is read as a whole",
                         input->name);
    }
    if (status == TW_OK && plane >= state->job.channels) {
        status = twi_no_plane(ctx, input->name, plane, state->job.channels);
    }
    if (status == TW_OK) {
        status = decode_first(&state->job);
    }
    if (status != TW_OK) {
        plane_close(state);
        return status;
    }
    state->channel = (int)plane;
    *out = (twi_rows){.planes = state->job.channels,
                      .shape = {state->job.rows, state->job.cols, state->job.type},
                      .state = state,
                      .next = plane_next,
                      .close = plane_close};
    return TW_OK;
}

/* -------------------------------------------------------------------------------------- writing */

static tw_status png_accepts(tw_context *ctx, const tw_image *image)
{
    const tw_matrix *plane = image->planes;
    if (image->count < 1 || image->count > 4) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a PNG file holds one to four planes, not %lld",
                       (long long)image->count);
    }
    for (int64_t k = 0; k < image->count; k++) {
        if (plane[k].type != TW_U8 && plane[k].type != TW_U16) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "a PNG file cannot hold elements of %s; it holds u8 or u16",
                           tw_type_name(plane[k].type));
        }
        if (plane[k].rows != plane[0].rows || plane[k].cols != plane[0].cols ||
            plane[k].type != plane[0].type) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "the planes of a PNG file must be alike");
        }
    }
    if (plane->rows < 1 || plane->cols < 1 || plane->rows > LARGEST_SIDE ||
        plane->cols > LARGEST_SIDE) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an image of %lld x %lld cannot be a PNG file",
                       (long long)plane->cols, (long long)plane->rows);
    }
    return TW_OK;
}

static void write_header(png_job *job)
{
    static const int kinds[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(job->png, job, take_bytes, flush_bytes);
    png_set_user_limits(job->png, LARGEST_SIDE, LARGEST_SIDE);
    png_set_IHDR(job->png, job->info, (png_uint_32)job->cols, (png_uint_32)job->rows,
                 job->type == TW_U16 ? 16 : 8, kinds[job->channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (job->ctx->compression >= 0) {
        png_set_compression_level(job->png, job->ctx->compression);
    }
    png_write_info(job->png, job->info);
}

static void write_row(png_job *job)
{
    png_write_row(job->png, job->decoded);
}

static void write_end(png_job *job)
{
    png_write_end(job->png, NULL);
}

/* Row `row` of all planes as PNG has it: channels side by side, the high byte first. */
static void weave(const png_job *job, const tw_matrix *planes, int channels, int64_t row)
{
    const int64_t step = channels;
    for (int k = 0; k < channels; k++) {
        const void *from = twi_matrix_row(&planes[k], row);
        for (int64_t i = 0; i < job->cols; i++) {
            if (job->type == TW_U8) {
                job->decoded[i * step + k] = ((const uint8_t *)from)[i];
            } else {
                uint16_t value = ((const uint16_t *)from)[i];
                job->decoded[2 * (i * step + k)] = (unsigned char)(value >> 8);
                job->decoded[2 * (i * step + k) + 1] = (unsigned char)value;
            }
        }
    }
}

static void close_writer(png_job *job)
{
    png_destroy_write_struct(&job->png, &job->info);
    twi_free(job->decoded);
    job->decoded = NULL;
}

/* The job of an image whose sizes, channels and type are set: its header is written. */
static tw_status open_writer(png_job *job)
{
    job->row_bytes = (uint64_t)job->cols * (uint64_t)job->channels * tw_type_size(job->type);
    tw_status status = twi_alloc(job->ctx, &job->decoded, job->row_bytes, 1, "a row of the image");
    if (status != TW_OK) {
        return status;
    }
    job->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, job, keep_words, ignore_words, job,
                                         give_memory, take_memory);
    job->info = job->png != NULL ? png_create_info_struct(job->png) : NULL;
    job->out_of_memory = job->info == NULL;
    return job->info == NULL ? failed(job) : attempt(job, write_header);
}

static tw_status png_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    const tw_matrix *plane = image->planes;
    png_job job = {.ctx = ctx,
                   .output = output,
                   .rows = plane->rows,
                   .cols = plane->cols,
                   .channels = (int)image->count,
                   .type = plane->type};
    tw_status status = open_writer(&job);
    for (int64_t row = 0; row < job.rows && status == TW_OK; row++) {
        weave(&job, plane, job.channels, row);
        status = attempt(&job, write_row);
    }
    if (status == TW_OK) {
        status = attempt(&job, write_end);
    }
    close_writer(&job);
    return status;
}

/* A grey image row by row. */
static tw_status grey_begin(tw_context *ctx, void **state, twi_output *output,
                            const tw_shape *shape)
{
    png_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a PNG writer");
    if (status != TW_OK) {
        return status;
    }
    *state = job;
    *job = (png_job){.ctx = ctx,
                     .output = output,
                     .rows = shape->rows,
                     .cols = shape->cols,
                     .channels = 1,
                     .type = shape->type};
    return open_writer(job);
}

static tw_status grey_row(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    png_job *job = state;
    const tw_matrix plane = {(void *)row, 1, job->cols, job->cols, job->type};
    (void)ctx;
    (void)output;
    weave(job, &plane, 1, 0);
    return attempt(job, write_row);
}

static tw_status grey_end(tw_context *ctx, void *state, twi_output *output)
{
    (void)ctx;
    (void)output;
    return attempt(state, write_end);
}

static void grey_close(void *state)
{
    if (state != NULL) {
        close_writer(state);
        twi_free(state);
    }
}

static const twi_row_writer grey_writer = {grey_begin, grey_row, grey_end, grey_close};

const twi_image_format twi_image_png = {"png",    "png",       png_recognised, png_read,    NULL,
                                        png_rows, png_accepts, png_write,      &grey_writer};

/*
 * Reading PNG through libpng. Elements come as the file has them: 1, 2, 4 and 8 bits as u8, 16 bits
 * as u16, never stretched to another range; a palette becomes its three colours; grey, colours and
 * an alpha channel are planes. Rows are decoded one by one, an interlaced file all at once.
 *
 * libpng leaves by longjmp when something is wrong. Each call into it is therefore a step: a
 * function that touches nothing but the job it is given, run by attempt(), which is the only place
 * where setjmp stands. Its memory comes from the library's own, so it counts and may fail.
 *
 * Deflate makes at most 1032 bytes out of one, so a header that promises more than 1032 times the
 * file is refused before anything is reserved for it.
 */
#include "io/image/png_write.h"
#include "io/image/woven.h"

#include "base/memory.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

#define SIGNATURE_BYTES 8
#define LIBPNG_BYTES ((uint64_t)128 << 10) /* that it takes beside rows: zlib, tables */
#define DEFLATE_MOST 1032

typedef struct png_job {
    tw_context *ctx;
    png_structp png;
    png_infop info;
    const twi_input *input;
    uint64_t at;     /* bytes of it taken */
    int input_error; /* of taking them; 0: none */
    bool out_of_memory;
    char words[128]; /* what libpng says is wrong */
    int64_t rows, cols;
    int channels;
    tw_type type;
    bool interlaced;
    uint64_t stored_bytes;  /* of a row in the file, inflated */
    uint64_t row_bytes;     /* of a decoded row, all channels */
    unsigned char *decoded; /* a row, or all of an interlaced image */
    int64_t next;           /* row of it that comes next */
    bool ready;             /* which is decoded already */
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

/* The sentence for a step that did not come to its end. */
static tw_status failed(const png_job *job)
{
    const char *name = job->input->name;
    if (job->input_error != 0) {
        return twi_input_failed(job->ctx, name, job->input_error);
    }
    if (job->out_of_memory) {
        char what[560];
        (void)snprintf(what, sizeof what, "decoding %.500s", name);
        return twi_out_of_memory(job->ctx, LIBPNG_BYTES, what);
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
    png_set_user_limits(png, TWI_PNG_SIDE_MOST, TWI_PNG_SIDE_MOST);
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

/* Room for a row, or for all of an interlaced image, which is decoded when its first row is wanted.
 * `beside`: what is taken next. */
static tw_status make_room(png_job *job, uint64_t beside)
{
    uint64_t bytes;
    if (!twi_mul(job->interlaced ? (uint64_t)job->rows : 1, job->row_bytes, &bytes)) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "%.500s cannot be addressed", job->input->name);
    }
    tw_status status = twi_memory_check(job->ctx, bytes + beside, "a decoded PNG");
    if (status == TW_OK) {
        status = twi_alloc(job->ctx, &job->decoded, bytes, 1, "the decoded rows");
    }
    return status;
}

static tw_status next_row(tw_context *ctx, void *state, const unsigned char **out)
{
    png_job *job = state;
    job->ctx = ctx;
    tw_status status = TW_OK;
    if (!job->ready) {
        status = attempt(job, job->interlaced ? read_passes : read_row);
    }
    job->ready = job->interlaced;
    *out = job->decoded + (job->interlaced ? (uint64_t)job->next * job->row_bytes : 0);
    job->next++;
    return status;
}

static tw_status look_at_end(void *state)
{
    return attempt(state, read_end);
}

static void close_job(void *state)
{
    if (state != NULL) {
        close_reader(state);
        twi_free(state);
    }
}

static twi_woven woven(png_job *job)
{
    return (twi_woven){.channels = job->channels,
                       .shape = {job->rows, job->cols, job->type},
                       .state = job,
                       .next = next_row,
                       .finish = look_at_end,
                       .close = close_job};
}

static tw_status png_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    png_job job;
    tw_status status = open_header(&job, ctx, input);
    if (status == TW_OK) {
        status = make_room(&job, (uint64_t)job.rows * (uint64_t)job.cols * (uint64_t)job.channels *
                                     tw_type_size(job.type));
    }
    for (int k = 0; k < job.channels && status == TW_OK; k++) {
        status = tw_image_add(ctx, image, job.rows, job.cols, job.type);
    }
    if (status == TW_OK) {
        const twi_woven from = woven(&job);
        status = twi_woven_read(ctx, &from, image);
    }
    close_reader(&job);
    return status;
}

static tw_status png_rows(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane)
{
    png_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a PNG reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_header(job, ctx, input);
    if (status == TW_OK && job->interlaced && job->channels > 1) { /* else once for each plane */
        status = tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s is interlaced, and is read as a whole",
                         input->name);
    }
    if (status == TW_OK) {
        status = make_room(job, 0);
    }
    if (status == TW_OK && job->rows > 0 &&
        !job->interlaced) { /* zlib takes its memory now, not what others count on */
        status = attempt(job, read_row);
        job->ready = true;
    }
    if (status != TW_OK) {
        close_job(job);
        return status;
    }
    const twi_woven from = woven(job);
    return twi_woven_rows(ctx, out, &from, input->name, plane);
}

/* Whether the file says so before its elements, as ours do. */
static bool is_made_here(const png_job *job)
{
    png_textp texts = NULL;
    int count = 0;
    bool found = false;
    (void)png_get_text(job->png, job->info, &texts, &count);
    for (int i = 0; i < count; i++) {
        found |= texts[i].text != NULL && strcmp(texts[i].key, "Software") == 0 &&
                 strcmp(texts[i].text, TWI_MAKER) == 0;
    }
    return found;
}

static tw_status png_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    png_job job;
    tw_status status = open_header(&job, ctx, input);
    if (status == TW_OK) {
        tags->info.planes = tags->info.bands = job.channels;
        tags->info.colours = job.channels >= 3;
        tags->info.alpha = job.channels % 2 == 0 ? job.channels - 1 : -1;
        tags->info.made_here = is_made_here(&job);
    }
    close_reader(&job);
    return status;
}

const twi_image_format twi_image_png = {
    "png",           "png",         png_recognised,  png_read, NULL, png_rows,
    twi_png_accepts, twi_png_write, &twi_png_writer, png_tags, NULL};

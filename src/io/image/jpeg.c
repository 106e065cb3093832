/*
 * Reading JPEG through libjpeg: grey as one plane of u8, colours as three. Rows are decoded one by
 * one; of a progressive file libjpeg holds all coefficients, two bytes for each element of each
 * channel. What it will take by itself is counted as ours: what does not fit is refused with the
 * numbers before libjpeg takes anything.
 *
 * libjpeg leaves by longjmp when something is wrong. Each call into it is therefore a step: a
 * function that touches nothing but the job it is given, run by attempt(), which is the only place
 * where setjmp stands. A file that ends before its image is refused, other damage is mended as
 * libjpeg does; what takes more scans than any writer makes is refused, too.
 */
#include "io/image/woven.h"

#include "base/memory.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#define PIECE ((uint64_t)1 << 16) /* bytes of the file at a time */
#define SCANS_MOST 500
#define ENTRIES_MOST 200 /* of notes that are looked at */
enum { MARK_FIRST = 0xFFE0, MARK_NOTES = 0xFFE1, MARK_LAST = 0xFFEF };
enum { EXIF = 0x45786966, ORIENTATION = 274 };
#define TABLES ((uint64_t)128 << 10) /* bytes that libjpeg takes whatever the image */

typedef struct jpeg_job {
    struct jpeg_decompress_struct jpeg; /* the first: libjpeg gives it back */
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    tw_context *ctx;
    const twi_input *input;
    uint64_t at; /* bytes of it taken */
    int input_error;
    char words[JMSG_LENGTH_MAX]; /* what is wrong; "": nothing */
    bool open;
    int64_t rows, cols;
    int channels;
    unsigned char *line; /* a decoded row */
    unsigned char *piece;
    twi_counted counted; /* what libjpeg holds */
    bool started;
} jpeg_job;

/* ----------------------------------------------------------------------- what libjpeg calls back
 */

static void leave(j_common_ptr jpeg)
{
    jpeg_job *job = (jpeg_job *)jpeg;
    if (job->words[0] == '\0') {
        jpeg->err->format_message(jpeg, job->words);
    }
    longjmp(job->out, 1);
}

static void say_nothing(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static void start_source(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean give_bytes(j_decompress_ptr jpeg)
{
    jpeg_job *job = (jpeg_job *)jpeg;
    const uint64_t left = job->input->size - job->at;
    const uint64_t count = left < PIECE ? left : PIECE;
    if (count == 0) {
        job->source.bytes_in_buffer = 0;
        strcpy(job->words, "the file ends before the image does");
        leave((j_common_ptr)jpeg);
    }
    job->input_error = twi_input_try(job->input, job->at, job->piece, count);
    if (job->input_error != 0) {
        leave((j_common_ptr)jpeg);
    }
    job->at += count;
    job->source.next_input_byte = job->piece;
    job->source.bytes_in_buffer = (size_t)count;
    return TRUE;
}

static void skip_bytes(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *source = jpeg->src;
    while (count > 0 && (size_t)count > source->bytes_in_buffer) {
        count -= (long)source->bytes_in_buffer;
        (void)give_bytes(jpeg);
    }
    if (count > 0) {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
    }
}

static void end_source(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static void count_scans(j_common_ptr jpeg)
{
    jpeg_job *job = (jpeg_job *)jpeg;
    if (job->jpeg.input_scan_number > SCANS_MOST) {
        snprintf(job->words, sizeof job->words, "it has more than %d scans", SCANS_MOST);
        leave(jpeg);
    }
}

static tw_status failed(const jpeg_job *job)
{
    if (job->input_error != 0) {
        return twi_input_failed(job->ctx, job->input->name, job->input_error);
    }
    return tw_fail(job->ctx, TW_ERR_FORMAT, "%.500s: byte %llu: %s", job->input->name,
                   (unsigned long long)(job->at - job->source.bytes_in_buffer), job->words);
}

static tw_status attempt(jpeg_job *job, void (*step)(jpeg_job *))
{
    if (setjmp(job->out) != 0) {
        return failed(job);
    }
    step(job);
    return TW_OK;
}

/* ---------------------------------------------------------------------------------------- steps */

static void read_header(jpeg_job *job)
{
    jpeg_create_decompress(&job->jpeg);
    job->open = true;
    job->jpeg.src = &job->source;
    job->jpeg.progress = &job->progress;
    job->jpeg.mem->max_memory_to_use = LONG_MAX; /* what it holds is counted before */
    (void)jpeg_read_header(&job->jpeg, TRUE);
    job->rows = job->jpeg.image_height;
    job->cols = job->jpeg.image_width;
    job->channels = job->jpeg.num_components;
}

static void start(jpeg_job *job)
{
    job->jpeg.out_color_space = job->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    (void)jpeg_start_decompress(&job->jpeg);
}

static void read_row(jpeg_job *job)
{
    JSAMPROW rows[1] = {job->line};
    (void)jpeg_read_scanlines(&job->jpeg, rows, 1);
}

static void close_reader(jpeg_job *job)
{
    if (job->open) {
        jpeg_destroy_decompress(&job->jpeg);
    }
    twi_free(job->line);
    twi_free(job->piece);
    twi_uncount(&job->counted);
    job->open = false;
    job->line = job->piece = NULL;
}

/* The header, and what of it can be read. */
static tw_status open_header(jpeg_job *job, tw_context *ctx, const twi_input *input)
{
    memset(job, 0, sizeof *job);
    job->ctx = ctx;
    job->input = input;
    job->jpeg.err = jpeg_std_error(&job->errors);
    job->errors.error_exit = leave;
    job->errors.emit_message = say_nothing;
    job->progress.progress_monitor = count_scans;
    job->source = (struct jpeg_source_mgr){.init_source = start_source,
                                           .fill_input_buffer = give_bytes,
                                           .skip_input_data = skip_bytes,
                                           .resync_to_restart = jpeg_resync_to_restart,
                                           .term_source = end_source};
    tw_status status = twi_alloc(ctx, &job->piece, PIECE, 1, "a piece of a JPEG");
    if (status == TW_OK) {
        status = attempt(job, read_header);
    }
    if (status == TW_OK && job->channels != 1 && job->channels != 3) {
        status = tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.500s: JPEG with %d channels (CMYK?) is not supported; convert it to grey or RGB",
            input->name, job->channels);
    }
    return status;
}

/* What libjpeg will hold of a file whose scans each have a part of every element. */
static uint64_t coefficient_bytes(jpeg_job *job)
{
    uint64_t blocks = 0;
    for (int k = 0; k < job->channels && jpeg_has_multiple_scans(&job->jpeg); k++) {
        const jpeg_component_info *part = &job->jpeg.comp_info[k];
        const uint64_t h = (uint64_t)part->h_samp_factor, v = (uint64_t)part->v_samp_factor;
        blocks +=
            (part->width_in_blocks + h - 1) / h * h * ((part->height_in_blocks + v - 1) / v) * v;
    }
    return blocks * DCTSIZE2 * sizeof(JCOEF);
}

/* And of any file: its tables, and the rows of blocks that become rows of elements. */
static uint64_t row_bytes(const jpeg_job *job)
{
    uint64_t high = 1;
    for (int k = 0; k < job->channels; k++) {
        const uint64_t v = (uint64_t)job->jpeg.comp_info[k].v_samp_factor;
        high = v > high ? v : high;
    }
    return TABLES + (uint64_t)job->channels * (high + 1) * DCTSIZE * (uint64_t)job->cols;
}

static tw_status count_memory(jpeg_job *job, uint64_t beside)
{
    char needed[32], left[32], advice[TWI_ADVICE];
    const uint64_t coefficients = coefficient_bytes(job), room = twi_memory_room(job->ctx);
    const uint64_t bytes = coefficients + row_bytes(job);
    if (coefficients > 0 && bytes + beside > room) {
        twi_bytes_apart(needed, bytes + beside, left, room);
        twi_memory_advice(advice, job->ctx, bytes + beside);
        return tw_fail(job->ctx, TW_ERR_MEMORY,
                       "%.500s is a progressive JPEG, which is decoded as a whole: that needs %s "
                       "of memory, but only %s is left%s%s save it as a baseline JPEG or PNG",
                       job->input->name, needed, left, advice, advice[0] != '\0' ? ", or" : ";");
    }
    tw_status status = twi_memory_check(job->ctx, bytes + beside, "decoding a JPEG");
    return status == TW_OK ? twi_count(job->ctx, &job->counted, bytes, "decoding a JPEG") : status;
}

/* `whole`: all of it will be in memory. */
static tw_status open_rows(jpeg_job *job, tw_context *ctx, const twi_input *input, bool whole)
{
    tw_status status = open_header(job, ctx, input);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &job->line, (uint64_t)job->cols * (uint64_t)job->channels, 1,
                           "a decoded row");
    }
    const uint64_t planes = (uint64_t)job->rows * (uint64_t)job->cols * (uint64_t)job->channels;
    return status == TW_OK ? count_memory(job, whole ? planes : 0) : status;
}

static tw_status next_row(tw_context *ctx, void *state, const unsigned char **out)
{
    jpeg_job *job = state;
    tw_status status = TW_OK;
    job->ctx = ctx;
    if (!job->started) { /* which decodes all of a progressive file */
        job->started = true;
        status = attempt(job, start);
    }
    *out = job->line;
    return status == TW_OK ? attempt(job, read_row) : status;
}

static void close_job(void *state)
{
    if (state != NULL) {
        close_reader(state);
        twi_free(state);
    }
}

static twi_woven woven(jpeg_job *job)
{
    return (twi_woven){.channels = job->channels,
                       .shape = {job->rows, job->cols, TW_U8},
                       .state = job,
                       .next = next_row,
                       .close = close_job};
}

/* -------------------------------------------------------------------------------------- entries */

static bool jpeg_recognised(const twi_input *input)
{
    return twi_input_held(input) >= 3 && memcmp(input->bytes, "\xff\xd8\xff", 3) == 0;
}

static tw_status jpeg_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    jpeg_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a JPEG reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_rows(job, ctx, input, true);
    for (int k = 0; k < job->channels && status == TW_OK; k++) {
        status = tw_image_add(ctx, image, job->rows, job->cols, TW_U8);
    }
    if (status == TW_OK) {
        const twi_woven from = woven(job);
        status = twi_woven_read(ctx, &from, image);
    }
    close_job(job);
    return status;
}

static tw_status jpeg_rows(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane)
{
    jpeg_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a JPEG reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_rows(job, ctx, input, false);
    if (status != TW_OK) {
        close_job(job);
        return status;
    }
    const twi_woven from = woven(job);
    return twi_woven_rows(ctx, out, &from, input->name, plane);
}

/* A number of `bytes` bytes at a place of the file; -1: it is not there. */
static int64_t number_at(const twi_input *input, uint64_t at, int bytes, bool low_first)
{
    unsigned char data[4];
    int64_t value = 0;
    if (at > input->size || (uint64_t)bytes > input->size - at ||
        twi_input_try(input, at, data, (uint64_t)bytes) != 0) {
        return -1;
    }
    for (int i = 0; i < bytes; i++) {
        value = value << 8 | data[low_first ? bytes - 1 - i : i];
    }
    return value;
}

/* Whether the directory of a camera's notes, a TIFF that begins at `at`, says that the first row is
 * not the top one, or its first column not on the left. */
static bool says_turned(const twi_input *input, uint64_t at)
{
    const bool low_first = number_at(input, at, 2, false) == 0x4949;
    const int64_t place = number_at(input, at + 4, 4, low_first);
    const int64_t entries = place >= 0 ? number_at(input, at + (uint64_t)place, 2, low_first) : 0;
    for (int64_t i = 0; i < entries && i < ENTRIES_MOST; i++) {
        const uint64_t entry = at + (uint64_t)place + 2 + (uint64_t)i * 12;
        if (number_at(input, entry, 2, low_first) == ORIENTATION) {
            const int64_t kind = number_at(input, entry + 8, 2, low_first);
            return kind >= 2 && kind <= 8;
        }
    }
    return false;
}

/* Whether the camera noted that it was turned: in the notes before the image. */
static bool is_turned(const twi_input *input)
{
    uint64_t at = 2;
    for (int i = 0; i < ENTRIES_MOST; i++) {
        const int64_t mark = number_at(input, at, 2, false);
        const int64_t length = number_at(input, at + 2, 2, false);
        if (mark < MARK_FIRST || mark > MARK_LAST || length < 2) {
            return false;
        }
        if (mark == MARK_NOTES && number_at(input, at + 4, 4, false) == EXIF) {
            return says_turned(input, at + 10);
        }
        at += 2 + (uint64_t)length;
    }
    return false;
}

static tw_status jpeg_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    jpeg_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a JPEG reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_header(job, ctx, input);
    if (status == TW_OK && is_turned(input)) {
        twi_log(ctx,
                "%.400s: its orientation tag is ignored: rows are in the order in which they are "
                "stored",
                input->name);
    }
    if (status == TW_OK) {
        tags->info.planes = tags->info.bands = job->channels;
        tags->info.colours = job->channels == 3;
    }
    close_reader(job);
    twi_free(job);
    return status;
}

static tw_status jpeg_accepts(tw_context *ctx, const tw_image *image)
{
    (void)image;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "JPEG is read, but not written; use PNG or TIFF");
}

static tw_status jpeg_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    (void)output;
    return jpeg_accepts(ctx, image);
}

const twi_image_format twi_image_jpeg = {
    "jpeg",     "jpg jpeg", jpeg_recognised, jpeg_read, NULL, jpeg_rows, jpeg_accepts,
    jpeg_write, NULL,       jpeg_tags,       NULL};

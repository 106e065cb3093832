/*
 * Writing PNG by all threads. Deflate is what takes the time, and a stream of it may be put
 * together from parts: rows are gathered into bands of about 128 kB, each band is filtered and
 * deflated by itself, with the 32 kB before it as its dictionary and a flush to a whole byte at its
 * end, and the checksums of the bands are combined to the one at the end of the stream. Bands are
 * cut by the shape of the image alone, so the bytes of the file do not depend on the number of
 * threads. Each band is a chunk of its own.
 *
 * The filter of a row is the one of the five whose differences have the smallest sum of absolute
 * values, as libpng chooses.
 *
 * In memory are as many bands as there are threads, fewer where memory is short, each as rows, as
 * filtered rows and deflated, beside the 270 kB that zlib takes.
 */
#include "io/image/png_write.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>
#include <zlib.h>

#define BAND_BYTES ((uint64_t)128 << 10) /* of filtered rows, if one row is not more */
#define WINDOW ((uint64_t)32 << 10)      /* bytes that deflate looks back */
#define ZLIB_BYTES ((uint64_t)270 << 10) /* that it takes for a stream */
#define PIECE_MOST ((uint64_t)1 << 30)   /* zlib counts in 32 bits, chunks in 31 */
#define LEVEL 2                          /* by default */

/* One stream of zlib, which deflates one band after the other. */
typedef struct slot {
    z_stream stream;
    bool open;
    unsigned char *packed; /* two bytes, the deflated band, four bytes */
    uint64_t packed_bytes;
    uint32_t sum;
} slot;

typedef struct png_job {
    tw_context *ctx;
    int64_t rows, cols;
    int channels;
    tw_type type;
    int level;
    uint64_t row_bytes;
    int64_t band_rows;
    uint64_t band_bytes; /* of band_rows filtered rows */
    uint64_t room;       /* for a deflated band */
    int slot_count;
    slot *slots;
    unsigned char *raw;      /* the row above, then rows of all slots */
    unsigned char *filtered; /* the window above, then bands of all slots */
    uint64_t history;        /* bytes of that window that there are */
    int64_t gathered;        /* rows in `raw` */
    int64_t done;            /* rows written */
    uint32_t sum;            /* of all filtered bytes so far */
} png_job;

tw_status twi_png_accepts(tw_context *ctx, const tw_image *image)
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
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "the planes of a PNG file must have the same size and type");
        }
    }
    if (plane->rows < 1 || plane->cols < 1 || plane->rows > TWI_PNG_SIDE_MOST ||
        plane->cols > TWI_PNG_SIDE_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an image of %lld x %lld cannot be a PNG file",
                       (long long)plane->cols, (long long)plane->rows);
    }
    return TW_OK;
}

/* --------------------------------------------------------------------------------------- chunks */

static void put_number(unsigned char out[4], uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

static tw_status write_chunk(tw_context *ctx, twi_output *output, const char *kind,
                             const unsigned char *data, uint64_t bytes)
{
    unsigned char head[8], tail[4];
    put_number(head, (uint32_t)bytes);
    memcpy(head + 4, kind, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (bytes > 0) { /* without bytes crc32 would begin again */
        sum = crc32(sum, data, (uInt)bytes);
    }
    put_number(tail, (uint32_t)sum);
    tw_status status = twi_output_write(ctx, output, head, sizeof head);
    if (status == TW_OK && bytes > 0) {
        status = twi_output_write(ctx, output, data, bytes);
    }
    return status == TW_OK ? twi_output_write(ctx, output, tail, sizeof tail) : status;
}

static tw_status write_header(const png_job *job, twi_output *output)
{
    static const unsigned char kinds[] = {0, 4, 2, 6}; /* grey, with alpha, colours, with alpha */
    static const unsigned char maker[] = "Software\0" TWI_MAKER;
    unsigned char header[13] = {0};
    tw_status status = twi_output_write(job->ctx, output, "\x89PNG\r\n\x1a\n", 8);
    put_number(header, (uint32_t)job->cols);
    put_number(header + 4, (uint32_t)job->rows);
    header[8] = (unsigned char)(8 * tw_type_size(job->type));
    header[9] = kinds[job->channels - 1];
    if (status == TW_OK) {
        status = write_chunk(job->ctx, output, "IHDR", header, sizeof header);
    }
    return status == TW_OK ? write_chunk(job->ctx, output, "tEXt", maker, sizeof maker - 1)
                           : status;
}

/* -------------------------------------------------------------------------------------- filters */

enum { FILTERS = 5 };

/* What is left of x when the filter has told it from its neighbours: left, above, left above. */
static inline __attribute__((always_inline)) uint8_t residue(int filter, uint8_t x, uint8_t left,
                                                             uint8_t above, uint8_t corner)
{
    switch (filter) {
    case 1:
        return (uint8_t)(x - left);
    case 2:
        return (uint8_t)(x - above);
    case 3:
        return (uint8_t)(x - ((left + above) >> 1));
    case 4: {
        const int16_t to_left = (int16_t)(above - corner), to_above = (int16_t)(left - corner);
        const int16_t to_corner = (int16_t)(to_left + to_above);
        const int16_t a = (int16_t)(to_left < 0 ? -to_left : to_left);
        const int16_t b = (int16_t)(to_above < 0 ? -to_above : to_above);
        const int16_t c = (int16_t)(to_corner < 0 ? -to_corner : to_corner);
        const uint8_t vertical = b <= c ? above : corner;
        return (uint8_t)(x - (a <= b && a <= c ? left : vertical));
    }
    default:
        return x;
    }
}

static inline uint32_t weight(uint8_t difference)
{
    return difference < 128 ? difference : 256U - difference;
}

/* Elements of `step` bytes; the first has nothing to its left. */
#define STEPS_WITHOUT_LEFT(USE)                          \
    for (uint64_t i = 0; i < step && i < bytes; i++) {   \
        USE(i, residue(filter, row[i], 0, above[i], 0)); \
    }
#define STEPS_WITH_LEFT(USE)                                                       \
    for (uint64_t i = step; i < bytes; i++) {                                      \
        USE(i, residue(filter, row[i], row[i - step], above[i], above[i - step])); \
    }

static inline __attribute__((always_inline)) uint64_t cost(int filter, const uint8_t *restrict row,
                                                           const uint8_t *restrict above,
                                                           uint64_t bytes, uint64_t step)
{
    uint64_t total = 0;
#define ADD(i, value) total += weight(value)
    STEPS_WITHOUT_LEFT(ADD)
#undef ADD
    for (uint64_t begin = step; begin < bytes; begin += 1 << 16) { /* sums of 32 bits */
        const uint64_t end = bytes - begin < 1 << 16 ? bytes : begin + (1 << 16);
        uint32_t sum = 0;
        for (uint64_t i = begin; i < end; i++) {
            sum += weight(residue(filter, row[i], row[i - step], above[i], above[i - step]));
        }
        total += sum;
    }
    return total;
}

static inline __attribute__((always_inline)) void apply(int filter, uint8_t *restrict out,
                                                        const uint8_t *restrict row,
                                                        const uint8_t *restrict above,
                                                        uint64_t bytes, uint64_t step)
{
#define STORE(i, value) out[i] = (value)
    STEPS_WITHOUT_LEFT(STORE)
    STEPS_WITH_LEFT(STORE)
#undef STORE
}

static void filter_row(uint8_t *out, const uint8_t *row, const uint8_t *above, uint64_t bytes,
                       uint64_t step, bool plain)
{
    int best = 0;
    if (!plain) {
        const uint64_t costs[FILTERS] = {
            cost(0, row, above, bytes, step), cost(1, row, above, bytes, step),
            cost(2, row, above, bytes, step), cost(3, row, above, bytes, step),
            cost(4, row, above, bytes, step)};
        for (int f = 1; f < FILTERS; f++) {
            best = costs[f] < costs[best] ? f : best;
        }
    }
    out[0] = (uint8_t)best;
    switch (best) {
    case 0:
        memcpy(out + 1, row, bytes);
        break;
    case 1:
        apply(1, out + 1, row, above, bytes, step);
        break;
    case 2:
        apply(2, out + 1, row, above, bytes, step);
        break;
    case 3:
        apply(3, out + 1, row, above, bytes, step);
        break;
    default:
        apply(4, out + 1, row, above, bytes, step);
        break;
    }
}

/* ---------------------------------------------------------------------------------------- bands */

/* Rows of band b among those gathered. */
static int64_t rows_of_band(const png_job *job, int b)
{
    const int64_t left = job->gathered - b * job->band_rows;
    return left < job->band_rows ? left : job->band_rows;
}

static unsigned char *band_at(const png_job *job, int b)
{
    return job->filtered + WINDOW + (uint64_t)b * job->band_bytes;
}

static void filter_band(const png_job *job, int b)
{
    const uint64_t step = (uint64_t)job->channels * tw_type_size(job->type);
    const int64_t count = rows_of_band(job, b);
    unsigned char *out = band_at(job, b);
    const unsigned char *above = job->raw + (uint64_t)(b * job->band_rows) * job->row_bytes;
    for (int64_t i = 0; i < count; i++) {
        filter_row(out, above + job->row_bytes, above, job->row_bytes, step, job->level == 0);
        above += job->row_bytes;
        out += job->row_bytes + 1;
    }
}

/* Deflate a band behind the two bytes at the head of its slot. */
static void deflate_band(const png_job *job, int b, bool last)
{
    slot *s = &job->slots[b];
    const unsigned char *data = band_at(job, b);
    const uint64_t before = job->history + (uint64_t)b * job->band_bytes;
    const uint64_t known = before < WINDOW ? before : WINDOW;
    uint64_t left = (uint64_t)rows_of_band(job, b) * (job->row_bytes + 1);
    uint64_t room = job->room;
    uLong sum = adler32(0, NULL, 0);
    (void)deflateReset(&s->stream);
    if (known > 0) {
        (void)deflateSetDictionary(&s->stream, data - known, (uInt)known);
    }
    s->stream.next_in = (z_const Bytef *)data;
    s->stream.next_out = s->packed + 2;
    s->stream.avail_out = 0;
    while (left > 0) {
        const uint64_t piece = left < PIECE_MOST ? left : PIECE_MOST;
        const bool end = piece == left;
        sum = adler32(sum, s->stream.next_in, (uInt)piece);
        s->stream.avail_in = (uInt)piece;
        left -= piece;
        do {
            const uint64_t given = room < PIECE_MOST ? room : PIECE_MOST;
            s->stream.avail_out = (uInt)given;
            (void)deflate(&s->stream, !end ? Z_NO_FLUSH : last ? Z_FINISH : Z_SYNC_FLUSH);
            room -= given - s->stream.avail_out;
        } while (s->stream.avail_out == 0 && room > 0);
    }
    s->packed_bytes = 2 + job->room - room;
    s->sum = (uint32_t)sum;
}

/* The band as chunks; the first has the header of the stream before it, the last its sum behind. */
static tw_status write_band(png_job *job, twi_output *output, int b, bool first, bool last)
{
    slot *s = &job->slots[b];
    const uint64_t bytes = (uint64_t)rows_of_band(job, b) * (job->row_bytes + 1);
    const unsigned char *data = s->packed + (first ? 0 : 2);
    job->sum = first ? s->sum : (uint32_t)adler32_combine(job->sum, s->sum, (z_off_t)bytes);
    if (first) {
        static const unsigned char speeds[] = {0x01, 0x01, 0x5e, 0x5e, 0x5e,
                                               0x5e, 0x9c, 0xda, 0xda, 0xda};
        s->packed[0] = 0x78;
        s->packed[1] = speeds[job->level];
    }
    if (last) {
        put_number(s->packed + s->packed_bytes, job->sum);
        s->packed_bytes += 4;
    }
    uint64_t left = s->packed_bytes - (first ? 0 : 2);
    tw_status status = TW_OK;
    while (left > 0 && status == TW_OK) {
        const uint64_t piece = left < PIECE_MOST ? left : PIECE_MOST;
        status = write_chunk(job->ctx, output, "IDAT", data, piece);
        data += piece;
        left -= piece;
    }
    return status;
}

/* Keep what the next band needs of those gathered: the last row and the last window. */
static void keep_end(png_job *job)
{
    const uint64_t bytes = (uint64_t)job->gathered * (job->row_bytes + 1);
    const uint64_t have = job->history + bytes;
    const uint64_t keep = have < WINDOW ? have : WINDOW;
    memmove(job->filtered + WINDOW - keep, job->filtered + WINDOW + bytes - keep, keep);
    memcpy(job->raw, job->raw + (uint64_t)job->gathered * job->row_bytes, job->row_bytes);
    job->history = keep;
    job->done += job->gathered;
    job->gathered = 0;
}

static tw_status write_gathered(png_job *job, twi_output *output)
{
    const int bands = (int)((job->gathered + job->band_rows - 1) / job->band_rows);
    const bool end = job->done + job->gathered == job->rows;
#pragma omp parallel num_threads(twi_team(bands)) if (bands > 1)
    {
#pragma omp for schedule(dynamic, 1)
        for (int b = 0; b < bands; b++) {
            filter_band(job, b);
        }
#pragma omp for schedule(dynamic, 1)
        for (int b = 0; b < bands; b++) {
            deflate_band(job, b, end && b == bands - 1);
        }
    }
    tw_status status = TW_OK;
    for (int b = 0; b < bands && status == TW_OK; b++) {
        status = write_band(job, output, b, job->done == 0 && b == 0, end && b == bands - 1);
    }
    keep_end(job);
    return status;
}

/* ------------------------------------------------------------------------------------- the image
 */

static voidpf give_memory(voidpf ctx, uInt items, uInt size)
{
    return twi_try_alloc(ctx, items, size);
}

static void take_memory(voidpf ctx, voidpf block)
{
    (void)ctx;
    twi_free(block);
}

static void close_job(png_job *job)
{
    for (int b = 0; b < job->slot_count; b++) {
        if (job->slots[b].open) {
            (void)deflateEnd(&job->slots[b].stream);
        }
        twi_free(job->slots[b].packed);
    }
    twi_free(job->filtered);
    twi_free(job->raw);
    twi_free(job->slots);
    *job = (png_job){.ctx = job->ctx};
}

static tw_status open_slot(png_job *job, slot *s)
{
    s->stream.zalloc = give_memory;
    s->stream.zfree = take_memory;
    s->stream.opaque = job->ctx;
    s->open = deflateInit2(&s->stream, job->level, Z_DEFLATED, -15, 8, Z_FILTERED) == Z_OK;
    if (!s->open) {
        return twi_out_of_memory(job->ctx, ZLIB_BYTES, "deflating an image");
    }
    /* The bound is for one stream; a flush adds an empty block. */
    job->room = deflateBound(&s->stream, (uLong)job->band_bytes) + 64;
    return twi_alloc(job->ctx, &s->packed, job->room + 6, 1, "a deflated band");
}

/* As many bands at a time as there are threads and memory for. */
static void choose_slots(png_job *job)
{
    const int64_t bands = (job->rows + job->band_rows - 1) / job->band_rows;
    const uint64_t each = 4 * job->band_bytes + ZLIB_BYTES; /* with alignment and the rest */
    const uint64_t most = twi_memory_left(job->ctx) / 2 / each;
    job->slot_count = twi_thread_count(job->ctx);
    job->slot_count = bands < job->slot_count ? (int)bands : job->slot_count;
    job->slot_count = most < (uint64_t)job->slot_count ? (int)most : job->slot_count;
    job->slot_count = job->slot_count > 1 ? job->slot_count : 1;
}

/* The job of an image whose sizes, channels and type are set: its header is written. */
static tw_status open_job(png_job *job, twi_output *output)
{
    tw_context *ctx = job->ctx;
    job->level = ctx->compression >= 0 ? ctx->compression : LEVEL;
    job->row_bytes = (uint64_t)job->cols * (uint64_t)job->channels * tw_type_size(job->type);
    job->band_rows = (int64_t)((BAND_BYTES + job->row_bytes) / (job->row_bytes + 1));
    job->band_rows = job->rows < job->band_rows ? job->rows : job->band_rows;
    job->band_bytes = (uint64_t)job->band_rows * (job->row_bytes + 1);
    choose_slots(job);
    const uint64_t rows = (uint64_t)(job->slot_count * job->band_rows) + 1;
    tw_status status = twi_alloc_zeroed(ctx, &job->slots, (uint64_t)job->slot_count,
                                        sizeof *job->slots, "a PNG writer");
    if (status != TW_OK) {
        job->slot_count = 0;
        return status;
    }
    status = twi_alloc_zeroed(ctx, &job->raw, rows, job->row_bytes, "rows of the image");
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &job->filtered, WINDOW + (uint64_t)job->slot_count * job->band_bytes, 1,
                      "rows of the image");
    }
    for (int b = 0; b < job->slot_count && status == TW_OK; b++) {
        status = open_slot(job, &job->slots[b]);
    }
    return status == TW_OK ? write_header(job, output) : status;
}

/* A row of all planes as PNG has it: channels side by side, the high byte first. */
static void weave(const png_job *job, const void *const rows[4], unsigned char *out)
{
    const int64_t step = job->channels;
    for (int k = 0; k < job->channels; k++) {
        if (job->type == TW_U8 && step == 1) {
            memcpy(out, rows[k], (size_t)job->cols);
            continue;
        }
        for (int64_t i = 0; i < job->cols; i++) {
            if (job->type == TW_U8) {
                out[i * step + k] = ((const uint8_t *)rows[k])[i];
            } else {
                uint16_t value = ((const uint16_t *)rows[k])[i];
                out[2 * (i * step + k)] = (unsigned char)(value >> 8);
                out[2 * (i * step + k) + 1] = (unsigned char)value;
            }
        }
    }
}

static tw_status add_row(png_job *job, twi_output *output, const void *const rows[4])
{
    job->gathered++;
    weave(job, rows, job->raw + (uint64_t)job->gathered * job->row_bytes);
    const bool full = job->gathered == job->slot_count * job->band_rows;
    return full || job->done + job->gathered == job->rows ? write_gathered(job, output) : TW_OK;
}

tw_status twi_png_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    const tw_matrix *plane = image->planes;
    png_job job = {.ctx = ctx,
                   .rows = plane->rows,
                   .cols = plane->cols,
                   .channels = (int)image->count,
                   .type = plane->type};
    tw_status status = open_job(&job, output);
    for (int64_t row = 0; row < plane->rows && status == TW_OK; row++) {
        const void *rows[4];
        for (int k = 0; k < 4; k++) {
            rows[k] = twi_matrix_row(&plane[k < image->count ? k : 0], row);
        }
        status = add_row(&job, output, rows);
    }
    if (status == TW_OK) {
        status = write_chunk(ctx, output, "IEND", NULL, 0);
    }
    close_job(&job);
    return status;
}

/* Row by row. */
static tw_status rows_begin(tw_context *ctx, void **state, twi_output *output,
                            const tw_image_file_options *opts, const tw_shape *shape)
{
    png_job *job = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a PNG writer");
    if (status != TW_OK) {
        return status;
    }
    *state = job;
    *job = (png_job){.ctx = ctx,
                     .rows = shape->rows,
                     .cols = shape->cols,
                     .channels = (int)opts->planes,
                     .type = shape->type};
    return open_job(job, output);
}

static tw_status rows_add(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    png_job *job = state;
    const void *rows[4] = {row, row, row, row};
    for (int k = 1; k < job->channels; k++) {
        rows[k] = (const char *)row + (size_t)k * (size_t)job->cols * tw_type_size(job->type);
    }
    job->ctx = ctx;
    return add_row(job, output, rows);
}

static tw_status rows_end(tw_context *ctx, void *state, twi_output *output)
{
    (void)state;
    return write_chunk(ctx, output, "IEND", NULL, 0);
}

static void rows_close(void *state)
{
    if (state != NULL) {
        close_job(state);
        twi_free(state);
    }
}

const twi_row_writer twi_png_writer = {rows_begin, NULL, rows_add, rows_end, rows_close, false};

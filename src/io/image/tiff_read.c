/*
 * Reading TIFF through libtiff, which gets the bytes it asks for. Pages come one after the
 * other, and the channels of a page are planes. Strips are decoded line by line, tiles a row of
 * tiles at a time, so that no more of an image is in memory than that and what libtiff holds: the
 * bytes of a block as they are in the file, and the state of a codec. That is counted as ours
 * before libtiff takes it. Of large blocks that are not compressed lines are read where they lie,
 * without libtiff.
 *
 * What a page promises is checked against the file before anything is reserved: uncompressed
 * elements must be there, compressed ones may be a few thousand times the file. Blocks that a
 * sparse file leaves out (their place and size are 0) read as its no-data value, or 0, as GDAL has
 * it; the file must have entries for them, and none may be larger than SPARSE_MOST.
 */
#include "io/image/tiff_read.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "image/tags.h"
#include "io/image/tiff_elements.h"
#include "io/image/tiff_filler.h"
#include "io/image/tiff_tags.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#define RATIO_MOST 8192                 /* elements' bytes out of one of the file */
#define SINGLE_MOST ((tmsize_t)1 << 30) /* bytes that libtiff may reserve at once */
#define PAGES_MOST 65536
#define SPARSE_MOST ((uint64_t)16 << 20)  /* bytes of a block that is left out */
#define ENTRY_BYTES 4                     /* of a block in the file, at least */
#define PLACE_BYTES 16                    /* of a block in memory: where it is, and its size */
#define CODEC_BYTES ((uint64_t)400 << 10) /* tables of a decoder, at most */
#define DIRECT_LEAST ((uint64_t)1 << 20)  /* bytes of a block that libtiff is not asked for */

typedef struct reader {
    tw_context *ctx;
    const twi_input *input;
    uint64_t at;
    int input_error; /* of the last read that failed; 0: none did */
    TIFF *tiff;
    char words[160]; /* what libtiff says is wrong, the first time */
    bool no_data_known;
    double no_data;
    /* the page */
    int64_t page;
    int64_t rows, cols;
    int channels;
    bool separate; /* channels lie one after the other, not side by side */
    bool tiled;
    uint32_t tile_rows, tile_cols;
    twi_tiff_element element;
    bool sparse; /* blocks are left out, and read as `filler` */
    bool direct; /* lines are read where they lie */
    uint64_t blocks;
    uint64_t largest; /* bytes of one in the file */
    unsigned char filler[8];
    uint64_t line_bytes;  /* of a line in `lines` */
    unsigned char *lines; /* one line, or those of a row of tiles */
    unsigned char *tile;
    bool tile_cleared;
    twi_counted counted; /* what libtiff holds */
} reader;

/* ------------------------------------------------------------------------ what libtiff calls back
 */

static tmsize_t give_bytes(thandle_t handle, void *out, tmsize_t count)
{
    reader *r = handle;
    uint64_t left = r->input->size - r->at;
    uint64_t given = (uint64_t)count < left ? (uint64_t)count : left;
    const int error = twi_input_try(r->input, r->at, out, given);
    if (error != 0) {
        r->input_error = error;
        return 0; /* libtiff counts with a -1 as if it were bytes */
    }
    r->at += given;
    return (tmsize_t)given;
}

static tmsize_t take_nothing(thandle_t handle, void *data, tmsize_t count)
{
    (void)handle;
    (void)data;
    (void)count;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    reader *r = handle;
    uint64_t from = whence == SEEK_CUR ? r->at : whence == SEEK_END ? r->input->size : 0;
    uint64_t to = from + offset;
    r->at = to < r->input->size ? to : r->input->size;
    return r->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((reader *)handle)->input->size;
}

static int keep_words(TIFF *tiff, void *user, const char *module, const char *format, va_list list)
{
    reader *r = user;
    (void)tiff;
    (void)module;
    if (r->words[0] == '\0') {
        vsnprintf(r->words, sizeof r->words, format, list);
    }
    return 1;
}

static int ignore_words(TIFF *tiff, void *user, const char *module, const char *format,
                        va_list list)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)list;
    return 1;
}

/* ------------------------------------------------------------------------------------- the pages
 */

static tw_status failed(const reader *r, const char *what)
{
    const char *words = r->words + strspn(r->words, ": "); /* libtiff knows no name of the file */
    if (r->input_error != 0) {
        return twi_input_failed(r->ctx, r->input->name, r->input_error);
    }
    return tw_fail(r->ctx, TW_ERR_FORMAT, "%.400s: page %lld: %s%s%s", r->input->name,
                   (long long)r->page, what, words[0] != '\0' ? ": " : "", words);
}

static void close_reader(reader *r)
{
    if (r->tiff != NULL) {
        TIFFClose(r->tiff);
    }
    twi_uncount(&r->counted);
    twi_free(r->tile);
    twi_free(r->lines);
    r->tiff = NULL;
    r->tile = r->lines = NULL;
}

static tw_status open_reader(reader *r, tw_context *ctx, const twi_input *input)
{
    *r = (reader){.ctx = ctx, .input = input};
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for libtiff");
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, SINGLE_MOST);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_words, r);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_words, r);
    r->tiff = TIFFClientOpenExt("", "rm", r, give_bytes, take_nothing, seek, close_nothing, size_of,
                                NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return r->tiff != NULL ? TW_OK : failed(r, "not a TIFF file");
}

/* Colours that are coded: libtiff and libjpeg make red, green and blue of JPEG's YCbCr, of which
 * the sizes of lines and tiles are then. */
static tw_status decode_colours(reader *r, uint16_t light, bool separate)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    if (light == PHOTOMETRIC_LOGL || light == PHOTOMETRIC_LOGLUV) {
        return failed(r, "its colours are coded as LogLuv: convert it to grey or RGB");
    }
    if (light != PHOTOMETRIC_YCBCR) {
        return TW_OK;
    }
    if (compression != COMPRESSION_JPEG || separate) {
        return failed(r, "its colours are coded as YCbCr, which is read in JPEG compression only: "
                         "convert it to grey or RGB");
    }
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) {
        return failed(r, "its colours are compressed with JPEG, which this libtiff was built "
                         "without: convert it to another compression");
    }
    return TIFFSetField(r->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0
               ? TW_OK
               : failed(r, "its colours cannot be decoded");
}

/* What the directory of the current page says; true if libtiff can decode it and we can hold it. */
static tw_status read_directory(reader *r)
{
    uint32_t cols = 0, rows = 0;
    uint16_t bits = 1, format = SAMPLEFORMAT_UINT, channels = 1, planar = PLANARCONFIG_CONTIG;
    uint16_t light = PHOTOMETRIC_MINISBLACK;
    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &cols);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &rows);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetField(r->tiff, TIFFTAG_PHOTOMETRIC, &light);
    format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format;
    if (!twi_tiff_element_find(&r->element, bits, format)) {
        return tw_fail(r->ctx, TW_ERR_FORMAT,
                       "%.400s: page %lld has %u-bit %s, which are not supported; convert it to "
                       "integers of 8, 16, 32 or 64 bits, f32 or f64",
                       r->input->name, (long long)r->page, bits, twi_tiff_kind(format));
    }
    tw_status status = decode_colours(r, light, channels > 1 && planar == PLANARCONFIG_SEPARATE);
    if (status != TW_OK) {
        return status;
    }
    if (cols == 0 || rows == 0 || channels == 0) {
        return failed(r, "it has no elements");
    }
    r->cols = cols;
    r->rows = rows;
    r->channels = channels;
    r->separate = planar == PLANARCONFIG_SEPARATE && channels > 1;
    r->tiled = TIFFIsTiled(r->tiff) != 0;
    return TW_OK;
}

static bool is_left_out(const reader *r, uint32_t block)
{
    return TIFFGetStrileByteCount(r->tiff, block) == 0 && TIFFGetStrileOffset(r->tiff, block) == 0;
}

static tw_status too_large(const reader *r)
{
    return tw_fail(r->ctx, TW_ERR_FORMAT,
                   "%.400s: page %lld says %lld x %lld elements, which %llu bytes cannot hold",
                   r->input->name, (long long)r->page, (long long)r->cols, (long long)r->rows,
                   (unsigned long long)r->input->size);
}

/* The blocks that are left out, and the largest of the others; *held: at most their bytes. */
static tw_status count_blocks(reader *r, uint64_t *held)
{
    const uint32_t blocks = r->tiled ? TIFFNumberOfTiles(r->tiff) : TIFFNumberOfStrips(r->tiff);
    const uint64_t each = r->tiled ? TIFFTileSize64(r->tiff) : TIFFStripSize64(r->tiff);
    uint64_t absent = 0;
    r->blocks = blocks;
    r->largest = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const uint64_t bytes = TIFFGetStrileByteCount(r->tiff, i);
        r->largest = bytes > r->largest ? bytes : r->largest;
        absent += is_left_out(r, i);
    }
    r->largest = r->largest < r->input->size ? r->largest : r->input->size;
    r->sparse = absent > 0;
    if (r->sparse && (each > SPARSE_MOST || absent > r->input->size / ENTRY_BYTES)) {
        return too_large(r);
    }
    if (r->sparse) { /* one of the others may be the last, a shorter strip */
        const uint64_t present = blocks - absent;
        const uint64_t others = present > 0 ? (present - 1) * each : 0;
        *held = others < *held ? others : *held;
    }
    return TW_OK;
}

/* Of so many columns and channels, as the file has them. */
static uint64_t row_bytes(const reader *r, uint64_t cols, int channels)
{
    return twi_tiff_element_bytes(&r->element, cols * (uint64_t)channels);
}

/* Of so many columns of what is decoded together: all channels, or one. */
static uint64_t part_bytes(const reader *r, uint64_t cols)
{
    return row_bytes(r, cols, r->separate ? 1 : r->channels);
}

static tw_status check_promise(reader *r)
{
    uint16_t compression = COMPRESSION_NONE;
    uint64_t bytes;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    const uint64_t ratio = compression == COMPRESSION_NONE ? 1 : RATIO_MOST;
    if (!twi_mul((uint64_t)r->rows, row_bytes(r, (uint64_t)r->cols, r->channels), &bytes)) {
        return too_large(r);
    }
    tw_status status = count_blocks(r, &bytes);
    return status == TW_OK && bytes / ratio > r->input->size ? too_large(r) : status;
}

static void fill(const reader *r, unsigned char *out, uint64_t bytes)
{
    if (r->element.packed > 0) {
        twi_tiff_repeat(&r->element, r->filler, out, bytes);
        return;
    }
    for (uint64_t at = 0; at < bytes; at += r->element.size) {
        memcpy(out + at, r->filler, r->element.size);
    }
}

/* What libtiff takes to decode a block of so many bytes. */
static uint64_t decoder_bytes(const reader *r, uint64_t block)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    switch (compression) {
    case COMPRESSION_NONE:
        return r->largest;
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
        return r->largest + CODEC_BYTES;
    default: /* which keep what they have decoded, for a window or as a whole */
        return r->largest + CODEC_BYTES + block;
    }
}

/* Elements as the file has them, in the order of bits that everybody has, in blocks that are worth
 * it. */
static bool lies_plain(const reader *r, uint64_t block)
{
    uint16_t compression = COMPRESSION_NONE, order = FILLORDER_MSB2LSB;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_FILLORDER, &order);
    return compression == COMPRESSION_NONE && order == FILLORDER_MSB2LSB &&
           r->element.packed == 0 && block >= DIRECT_LEAST;
}

/* All that a page takes, and what its caller will beside it, so that what is refused names it. */
static tw_status count_memory(reader *r, uint64_t lines, uint64_t tile, uint64_t beside)
{
    char what[560];
    const uint64_t block = r->tiled ? tile : TIFFStripSize64(r->tiff);
    r->direct = lies_plain(r, block);
    const uint64_t libtiff = r->blocks * PLACE_BYTES + (r->direct ? 0 : decoder_bytes(r, block));
    const uint64_t ours = r->direct ? r->line_bytes : lines * r->line_bytes + tile;
    (void)snprintf(what, sizeof what, "decoding %s of %.500s",
                   r->tiled ? "a row of tiles" : "lines", r->input->name);
    tw_status status = twi_memory_check(r->ctx, libtiff + ours + beside, what);
    return status == TW_OK ? twi_count(r->ctx, &r->counted, libtiff, what) : status;
}

/* Room for a line or a row of tiles. `beside`: what is taken next. */
static tw_status reserve_lines(reader *r, uint64_t beside)
{
    uint64_t lines = 1, tile = 0;
    twi_uncount(&r->counted);
    twi_free(r->tile);
    twi_free(r->lines);
    r->tile = r->lines = NULL;
    r->tile_cleared = false;
    r->line_bytes = part_bytes(r, (uint64_t)r->cols);
    if (r->tiled) {
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &r->tile_cols);
        TIFFGetField(r->tiff, TIFFTAG_TILELENGTH, &r->tile_rows);
        const tmsize_t bytes = TIFFTileSize(r->tiff);
        if (r->tile_cols == 0 || r->tile_rows == 0 || bytes <= 0 || bytes > SINGLE_MOST ||
            (uint64_t)bytes != part_bytes(r, r->tile_cols) * r->tile_rows ||
            !twi_tiff_element_fits(&r->element, r->tile_cols)) {
            return failed(r, "invalid tile size");
        }
        lines = r->tile_rows < (uint64_t)r->rows ? r->tile_rows : (uint64_t)r->rows;
        tile = (uint64_t)bytes;
    } else if ((uint64_t)TIFFScanlineSize(r->tiff) != r->line_bytes) {
        return failed(r, "invalid line size");
    }
    tw_status status = count_memory(r, lines, tile, beside);
    if (status == TW_OK && tile > 0 && !r->direct) {
        status = twi_alloc(r->ctx, &r->tile, tile, 1, "a tile");
    }
    if (status == TW_OK) {
        status =
            twi_alloc(r->ctx, &r->lines, r->direct ? 1 : lines, r->line_bytes, "lines of a TIFF");
    }
    return status;
}

/* The no-data value is that of the file, and looked for once. */
static tw_status find_filler(reader *r)
{
    tw_image_tags *tags = NULL;
    tw_status status = r->no_data_known ? TW_OK : twi_tags_create(r->ctx, &tags);
    if (status == TW_OK && !r->no_data_known) {
        status = twi_tiff_tags(r->ctx, tags, r->input);
    }
    if (status == TW_OK && !r->no_data_known) {
        r->no_data = tags->info.has_no_data ? tags->info.no_data : 0;
        r->no_data_known = true;
    }
    tw_image_tags_destroy(tags);
    twi_tiff_filler(r->filler, r->element.stored, r->element.type, r->no_data);
    return status;
}

/* The page whose directory libtiff has read. */
static tw_status look_at_page(reader *r)
{
    tw_status status = twi_check_cancel(r->ctx);
    if (status == TW_OK) {
        status = read_directory(r);
    }
    if (status == TW_OK) {
        status = check_promise(r);
    }
    return status == TW_OK && r->sparse ? find_filler(r) : status;
}

/* On to the page after this one, if there is one: *more. A page by its number would be looked for
 * from the first, and a file of many pages would take the square of their number. Smaller versions
 * of another page (overviews), and masks, are passed over. */
static tw_status next_page(reader *r, bool *more)
{
    uint32_t kind = 0;
    do {
        *more = TIFFLastDirectory(r->tiff) == 0;
        if (!*more) {
            return TW_OK;
        }
        r->page++;
        if (r->page >= PAGES_MOST || TIFFReadDirectory(r->tiff) == 0) {
            return failed(r, "it cannot be read");
        }
        kind = 0;
        TIFFGetField(r->tiff, TIFFTAG_SUBFILETYPE, &kind);
    } while ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0);
    return look_at_page(r);
}

static tw_status decode_tiles(reader *r, int64_t row, int channel)
{
    const uint64_t tile_line = part_bytes(r, r->tile_cols);
    if (!r->tile_cleared) { /* a damaged tile may leave some of it as it was */
        memset(r->tile, 0, r->tile_rows * tile_line);
        r->tile_cleared = true;
    }
    const int64_t high = r->rows - row < r->tile_rows ? r->rows - row : r->tile_rows;
    for (int64_t col = 0; col < r->cols; col += r->tile_cols) {
        const int64_t wide = r->cols - col < r->tile_cols ? r->cols - col : r->tile_cols;
        const uint32_t number =
            TIFFComputeTile(r->tiff, (uint32_t)col, (uint32_t)row, 0, (uint16_t)channel);
        if (r->sparse && is_left_out(r, number)) {
            fill(r, r->tile, r->tile_rows * tile_line);
        } else if (TIFFReadTile(r->tiff, r->tile, (uint32_t)col, (uint32_t)row, 0,
                                (uint16_t)channel) < 0) {
            return failed(r, "a tile cannot be decoded");
        }
        for (int64_t y = 0; y < high; y++) {
            memcpy(r->lines + (uint64_t)y * r->line_bytes + part_bytes(r, (uint64_t)col),
                   r->tile + (uint64_t)y * tile_line, part_bytes(r, (uint64_t)wide));
        }
    }
    return TW_OK;
}

/* `count` bytes that begin `at` bytes into a block which is not compressed. */
static bool read_plain(reader *r, uint32_t block, uint64_t at, unsigned char *out, uint64_t count)
{
    const uint64_t place = TIFFGetStrileOffset(r->tiff, block);
    if (r->sparse && is_left_out(r, block)) {
        fill(r, out, count);
        return true;
    }
    if (at + count > TIFFGetStrileByteCount(r->tiff, block) || place > r->input->size ||
        at + count > r->input->size - place) {
        return false;
    }
    r->input_error = twi_input_try(r->input, place + at, out, count);
    for (uint64_t i = 0; TIFFIsByteSwapped(r->tiff) && i < count; i += r->element.size) {
        for (uint64_t low = 0, high = r->element.size - 1; low < high; low++, high--) {
            const unsigned char kept = out[i + low];
            out[i + low] = out[i + high];
            out[i + high] = kept;
        }
    }
    return r->input_error == 0;
}

static tw_status read_line(reader *r, int64_t row, int channel)
{
    const uint64_t element = part_bytes(r, 1); /* not packed */
    const uint64_t wide = r->tiled ? r->tile_cols : (uint64_t)r->cols;
    uint32_t high = r->tile_rows;
    if (!r->tiled) {
        TIFFGetFieldDefaulted(r->tiff, TIFFTAG_ROWSPERSTRIP, &high);
    }
    for (uint64_t col = 0; col < (uint64_t)r->cols; col += wide) {
        const uint32_t block =
            r->tiled ? TIFFComputeTile(r->tiff, (uint32_t)col, (uint32_t)row, 0, (uint16_t)channel)
                     : TIFFComputeStrip(r->tiff, (uint32_t)row, (uint16_t)channel);
        const uint64_t left = (uint64_t)r->cols - col;
        if (!read_plain(r, block, (uint64_t)(row % high) * wide * element, r->lines + col * element,
                        (left < wide ? left : wide) * element)) {
            return failed(r, r->tiled ? "a tile is incomplete" : "a line is incomplete");
        }
    }
    return TW_OK;
}

/* Line `row` of all channels, or of one if they are separate; rows in order. */
static tw_status decode_line(reader *r, int64_t row, int channel, const unsigned char **out)
{
    *out = r->lines;
    if (r->direct) {
        return read_line(r, row, channel);
    }
    if (!r->tiled && r->sparse &&
        is_left_out(r, TIFFComputeStrip(r->tiff, (uint32_t)row, (uint16_t)channel))) {
        fill(r, r->lines, r->line_bytes);
        return TW_OK;
    }
    if (!r->tiled) {
        return TIFFReadScanline(r->tiff, r->lines, (uint32_t)row, (uint16_t)channel) == 1
                   ? TW_OK
                   : failed(r, "a line cannot be decoded");
    }
    *out = r->lines + (uint64_t)(row % r->tile_rows) * r->line_bytes;
    return row % r->tile_rows == 0 ? decode_tiles(r, row, channel) : TW_OK;
}

static tw_status take_channel(const reader *r, const unsigned char *line, int64_t row, int channel,
                              void *out)
{
    const size_t size = r->element.size;
    if (r->element.packed > 0) {
        twi_tiff_unpack(&r->element, line, r->separate ? 0 : (uint64_t)channel,
                        r->separate ? 1 : (uint64_t)r->channels, (uint64_t)r->cols, out);
        return TW_OK;
    }
    const size_t step = r->separate ? size : size * (size_t)r->channels;
    const unsigned char *from = line + (r->separate ? 0 : (size_t)channel * size);
    if (r->element.stored != TWI_STORED_ALIKE) {
        return twi_stored_row(r->ctx, r->input->name, r->element.stored, from, (int64_t)step,
                              r->cols, row, out);
    }
    if (step == size) {
        memcpy(out, from, (size_t)r->cols * size);
        return TW_OK;
    }
    for (int64_t j = 0; j < r->cols; j++) {
        memcpy((char *)out + (size_t)j * size, from + (size_t)j * step, size);
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------------ the entries
 */

/* Channels first ... end-1 of the page, which are decoded together, into as many planes. */
static tw_status read_channels(reader *r, const tw_matrix *planes, int first, int end)
{
    tw_status status = TW_OK;
    for (int64_t row = 0; row < r->rows && status == TW_OK; row++) {
        const unsigned char *line;
        status = decode_line(r, row, r->separate ? first : 0, &line);
        for (int k = first; k < end && status == TW_OK; k++) {
            status = take_channel(r, line, row, k, twi_matrix_row(&planes[k - first], row));
        }
        if (status == TW_OK && row % 64 == 0) {
            status = twi_check_cancel(r->ctx);
        }
    }
    return status;
}

static uint64_t planes_bytes(const reader *r)
{
    return (uint64_t)r->rows * (uint64_t)r->cols * (uint64_t)r->channels *
           tw_type_size(r->element.type);
}

/* Of all pages, beside what the first takes to be decoded: the sentence of a limit that is too low
 * names what is enough for all. */
static tw_status check_pages(reader *r)
{
    const uint64_t place = TIFFCurrentDirOffset(r->tiff);
    uint64_t bytes = 0;
    bool more = true;
    tw_status status = TW_OK;
    while (more && status == TW_OK) {
        bytes += planes_bytes(r);
        status = next_page(r, &more);
    }
    if (status == TW_OK && r->page > 0) {
        r->page = 0;
        status = TIFFSetSubDirectory(r->tiff, place) != 0 ? look_at_page(r)
                                                          : failed(r, "it cannot be read");
    }
    return status == TW_OK ? reserve_lines(r, bytes) : status;
}

static tw_status read_page(reader *r, tw_image *image)
{
    const int64_t before = image->count;
    tw_status status = reserve_lines(r, planes_bytes(r));
    for (int k = 0; k < r->channels && status == TW_OK; k++) {
        status = tw_image_add(r->ctx, image, r->rows, r->cols, r->element.type);
    }
    const tw_matrix *planes = image->planes + before;
    for (int k = 0; k < r->channels && status == TW_OK; k += r->separate ? 1 : r->channels) {
        status = read_channels(r, planes + k, k, r->separate ? k + 1 : r->channels);
    }
    return status;
}

tw_status twi_tiff_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    reader r;
    bool more = true;
    tw_status status = open_reader(&r, ctx, input);
    if (status == TW_OK) {
        status = look_at_page(&r);
    }
    if (status == TW_OK && ctx->memory_limit > 0) {
        status = check_pages(&r);
    }
    while (more && status == TW_OK) {
        status = read_page(&r, image);
        if (status == TW_OK) {
            status = next_page(&r, &more);
        }
    }
    close_reader(&r);
    return status;
}

/* One plane, row after row. */
typedef struct plane_rows {
    reader reader;
    int channel;
    int64_t next;
} plane_rows;

static tw_status plane_next(tw_context *ctx, void *state, void *row)
{
    plane_rows *plane = state;
    const unsigned char *line;
    plane->reader.ctx = ctx;
    tw_status status = decode_line(&plane->reader, plane->next,
                                   plane->reader.separate ? plane->channel : 0, &line);
    if (status == TW_OK) {
        status = take_channel(&plane->reader, line, plane->next, plane->channel, row);
        plane->next++;
    }
    return status;
}

static void plane_close(void *state)
{
    if (state != NULL) {
        close_reader(&((plane_rows *)state)->reader);
        twi_free(state);
    }
}

/* To the page and channel of a plane, counted over all pages; *planes: how many there are. */
static tw_status find_plane(plane_rows *p, int64_t plane, int64_t *planes)
{
    reader *r = &p->reader;
    int64_t page = -1;
    uint64_t place = 0; /* of its directory */
    bool more = true;
    tw_status status = look_at_page(r);
    *planes = 0;
    while (more && status == TW_OK) {
        if (plane >= *planes && plane < *planes + r->channels) {
            page = r->page;
            place = TIFFCurrentDirOffset(r->tiff);
            p->channel = (int)(plane - *planes);
        }
        *planes += r->channels;
        status = next_page(r, &more);
    }
    if (status == TW_OK && page < 0) {
        return twi_no_plane(r->ctx, r->input->name, plane, *planes);
    }
    if (status == TW_OK) {
        r->page = page;
        status = TIFFSetSubDirectory(r->tiff, place) != 0 ? look_at_page(r)
                                                          : failed(r, "it cannot be read");
    }
    return status;
}

tw_status twi_tiff_rows(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane)
{
    plane_rows *p = NULL;
    int64_t planes = 0;
    tw_status status = twi_alloc_zeroed(ctx, &p, 1, sizeof *p, "a TIFF reader");
    if (status != TW_OK) {
        return status;
    }
    status = open_reader(&p->reader, ctx, input);
    if (status == TW_OK) {
        status = find_plane(p, plane, &planes);
    }
    if (status == TW_OK) {
        status = reserve_lines(&p->reader, 0);
    }
    if (status != TW_OK) {
        plane_close(p);
        return status;
    }
    *out = (twi_rows){.planes = planes,
                      .shape = {p->reader.rows, p->reader.cols, p->reader.element.type},
                      .state = p,
                      .next = plane_next,
                      .close = plane_close};
    return TW_OK;
}

tw_status twi_tiff_some(tw_context *ctx, tw_image *image, const twi_input *input, int64_t plane,
                        uint64_t bytes)
{
    plane_rows p = {.channel = 0};
    reader *r = &p.reader;
    int64_t planes = 0;
    tw_status status = open_reader(r, ctx, input);
    if (status == TW_OK) {
        status = find_plane(&p, plane, &planes);
    }
    if (status == TW_OK) {
        status = reserve_lines(r, 0);
    }
    if (status == TW_OK) {
        const uint64_t each = planes_bytes(r) / (uint64_t)r->channels, left = twi_memory_left(ctx);
        const uint64_t fit = (bytes < left ? bytes : left) / each;
        const int others = r->separate ? 1 : r->channels - p.channel;
        const int count = fit < (uint64_t)others ? (int)fit : others;
        if (count < 2) {
            status = twi_no_company(ctx, input->name, plane);
        }
        for (int k = 0; k < count && status == TW_OK; k++) {
            status = tw_image_add(ctx, image, r->rows, r->cols, r->element.type);
        }
        if (status == TW_OK) {
            status = read_channels(r, image->planes, p.channel, p.channel + count);
        }
    }
    close_reader(r);
    return status;
}

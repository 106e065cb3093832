/*
 * Writing TIFF, plane after plane and row after row. The planes of a page are its bands, one after
 * the other (PlanarConfiguration 2), so that a result need not be in memory as a whole whatever the
 * number of its bands.
 *
 * A band is cut into strips or tiles. What is not compressed has sizes that are known: the
 * directory of a page comes before its elements, and the file may go into a pipe. Otherwise blocks
 * are compressed by all threads as their rows are there, the directory follows the elements, and
 * the place before it that points to it is written last. The bytes do not depend on the number of
 * threads.
 *
 * In memory are the rows of as many strips as there are threads, fewer where memory is short, or of
 * a row of tiles, and a block and its packed form for each thread.
 */
#include "io/image/tiff_write.h"

#include "base/memory.h"
#include "base/threads.h"
#include "io/image/metadata.h"
#include "io/image/tiff_codec.h"
#include "io/image/tiff_directory.h"
#include "io/image/tiff_tags.h"

#include <string.h>

#define BIG_FROM ((uint64_t)4000000000)    /* bytes; offsets of 32 bits end somewhat later */
#define STRIP_BYTES ((uint64_t)128 << 10)  /* if a row is not more */
#define BLOCK_MOST ((uint64_t)1 << 30)     /* bytes: codecs count in 32 bits */
#define BLACK_ZERO 1                       /* how elements are shown, as TIFF counts it */
#define PACKER_BYTES ((uint64_t)512 << 10) /* what a codec takes beside its blocks */

/* What one thread works on. */
typedef struct slot {
    twi_tiff_packer *packer;
    unsigned char *block;
    unsigned char *packed;
    uint64_t packed_bytes;
} slot;

typedef struct tiff_job {
    tw_context *ctx;
    tw_image_file_options opts;
    double no_data;
    char *metadata;
    unsigned char *opacities; /* of the bands of a page; NULL: none is opacity */
    bool lacks_opacity;       /* that the pages of the tags' file have */
    twi_tiff_page page;
    int64_t plane;  /* of the file */
    int64_t row;    /* of the plane that comes next */
    int64_t across; /* blocks in a row of them */
    uint64_t row_bytes;
    uint64_t block_bytes;
    uint64_t at;   /* bytes written */
    uint64_t link; /* where the place of the next directory is to be written */
    uint64_t *offsets, *counts;
    int64_t gathered; /* rows in `rows` */
    int64_t most;     /* that there is room for */
    unsigned char *rows;
    slot *slots;
    int slot_count;
} tiff_job;

tw_status twi_tiff_accepts(tw_context *ctx, const tw_image *image)
{
    if (image->count < 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a TIFF file needs a plane");
    }
    for (int64_t k = 0; k < image->count; k++) {
        const tw_matrix *plane = &image->planes[k];
        if (plane->rows < 1 || plane->cols < 1 || plane->rows > UINT32_MAX ||
            plane->cols > UINT32_MAX) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "an image of %lld x %lld cannot be a TIFF page",
                           (long long)plane->cols, (long long)plane->rows);
        }
    }
    return TW_OK;
}

static bool is_packed(const tiff_job *job)
{
    return job->opts.codec != TW_TIFF_NONE;
}

/* Rows go into the file as they come. */
static bool is_plain(const tiff_job *job)
{
    return !is_packed(job) && !job->page.tiled;
}

static tw_status write_bytes(tiff_job *job, twi_output *output, const void *data, uint64_t bytes)
{
    job->at += bytes;
    if (!job->page.big && job->at > UINT32_MAX) {
        return tw_fail(job->ctx, TW_ERR_RANGE, "the TIFF file would exceed 4 GB: use --tiff big");
    }
    return bytes > 0 ? twi_output_write(job->ctx, output, data, bytes) : TW_OK;
}

/* Zeros up to where something may begin. */
static tw_status pad(tiff_job *job, twi_output *output, uint64_t step)
{
    const char zeros[8] = {0};
    return write_bytes(job, output, zeros, (step - job->at % step) % step);
}

/* --------------------------------------------------------------------------------------- blocks */

/* x - the element to its left, from the right end of a row on. */
#define DIFFERENCES(TYPE)                                                   \
    for (int64_t i = cols; i-- > 1;) {                                      \
        ((TYPE *)row)[i] = (TYPE)(((TYPE *)row)[i] - ((TYPE *)row)[i - 1]); \
    }                                                                       \
    break

static void subtract(void *row, int64_t cols, size_t size)
{
    switch (size) {
    case 1:
        DIFFERENCES(uint8_t);
    case 2:
        DIFFERENCES(uint16_t);
    case 4:
        DIFFERENCES(uint32_t);
    default:
        DIFFERENCES(uint64_t);
    }
}

/* Floats: the high bytes of all elements, then the next, ..., and of all that differences. */
static void subtract_floats(unsigned char *row, int64_t cols, size_t size, unsigned char *scratch)
{
    const size_t n = (size_t)cols;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < size; k++) {
            scratch[(size - 1 - k) * n + i] = row[i * size + k];
        }
    }
    memcpy(row, scratch, n * size);
    subtract(row, (int64_t)(n * size), 1);
}

/* Rows of the block that are in the image, and for a strip all there are. */
static int64_t rows_in_block(const tiff_job *job, int64_t index)
{
    const int64_t left = job->gathered - index / job->across * job->page.block_rows;
    return left < job->page.block_rows ? left : job->page.block_rows;
}

/* Block `index` of the rows that are gathered, into the slot; its bytes. */
static uint64_t fill_block(const tiff_job *job, int64_t index, slot *s)
{
    const twi_tiff_page *page = &job->page;
    const size_t size = tw_type_size(page->shape.type);
    const int64_t col = index % job->across * page->block_cols;
    const int64_t first = index / job->across * page->block_rows;
    const int64_t wide =
        page->shape.cols - col < page->block_cols ? page->shape.cols - col : page->block_cols;
    const int64_t high = rows_in_block(job, index);
    const uint64_t line = (uint64_t)page->block_cols * size;
    const uint64_t bytes = (uint64_t)(page->tiled ? page->block_rows : high) * line;
    if (wide < page->block_cols || high < page->block_rows) {
        memset(s->block, 0, bytes);
    }
    for (int64_t i = 0; i < high; i++) {
        unsigned char *to = s->block + (uint64_t)i * line;
        memcpy(to, job->rows + (uint64_t)(first + i) * job->row_bytes + (uint64_t)col * size,
               (uint64_t)wide * size);
        if (page->predictor == 2) {
            subtract(to, page->block_cols, size);
        } else if (page->predictor == 3) {
            subtract_floats(to, page->block_cols, size, s->packed);
        }
    }
    return bytes;
}

static void pack_block(const tiff_job *job, int64_t index, slot *s)
{
    const uint64_t bytes = fill_block(job, index, s);
    s->packed_bytes = is_packed(job)
                          ? twi_tiff_pack(s->packer, s->block, bytes, s->packed,
                                          twi_tiff_codec_bound(job->opts.codec, job->block_bytes))
                          : bytes;
}

/* The blocks of what is gathered: whole strips or a row of tiles. */
static tw_status write_gathered(tiff_job *job, twi_output *output)
{
    const twi_tiff_page *page = &job->page;
    const int64_t down = (job->gathered + page->block_rows - 1) / page->block_rows;
    const int64_t blocks = down * job->across;
    const int64_t before = (job->row - job->gathered) / page->block_rows * job->across;
    const int64_t band = job->plane % page->bands * (page->blocks / page->bands);
    tw_status status = TW_OK;
    for (int64_t first = 0; first < blocks && status == TW_OK; first += job->slot_count) {
        const int count =
            (int)(blocks - first < job->slot_count ? blocks - first : job->slot_count);
#pragma omp parallel for num_threads(twi_team(count)) schedule(dynamic, 1) if (count > 1)
        for (int i = 0; i < count; i++) {
            pack_block(job, first + i, &job->slots[i]);
        }
        for (int i = 0; i < count && status == TW_OK; i++) {
            const slot *s = &job->slots[i];
            const int64_t number = band + before + first + i;
            if (s->packed_bytes == 0) {
                return tw_fail(job->ctx, TW_ERR_MEMORY, "a block of a TIFF cannot be compressed");
            }
            status = is_packed(job) ? pad(job, output, 2) : TW_OK;
            job->offsets[number] = job->at;
            job->counts[number] = s->packed_bytes;
            if (status == TW_OK) {
                status = write_bytes(job, output, is_packed(job) ? s->packed : s->block,
                                     s->packed_bytes);
            }
        }
    }
    job->gathered = 0;
    return status;
}

/* ---------------------------------------------------------------------------------------- pages */

static void forget_page(tiff_job *job)
{
    for (int i = 0; i < job->slot_count && job->slots != NULL; i++) {
        twi_tiff_packer_close(job->slots[i].packer);
        twi_free(job->slots[i].packed);
        twi_free(job->slots[i].block);
    }
    twi_free(job->slots);
    twi_free(job->rows);
    twi_free(job->counts);
    twi_free(job->offsets);
    job->slots = NULL;
    job->rows = NULL;
    job->counts = job->offsets = NULL;
}

static tw_status choose_blocks(tiff_job *job, const tw_shape *shape)
{
    twi_tiff_page *page = &job->page;
    const uint64_t size = tw_type_size(shape->type);
    const bool real = shape->type == TW_F32 || shape->type == TW_F64 || shape->type == TW_F16;
    page->shape = *shape;
    page->predictor = !job->opts.predictor ? 1 : real ? 3 : 2;
    page->tiled = job->opts.tile > 0;
    job->row_bytes = (uint64_t)shape->cols * size;
    if (page->tiled) {
        page->block_rows = page->block_cols = job->opts.tile;
    } else {
        page->block_rows = (int64_t)((STRIP_BYTES + job->row_bytes - 1) / job->row_bytes);
        page->block_rows = shape->rows < page->block_rows ? shape->rows : page->block_rows;
        page->block_cols = shape->cols;
    }
    job->across = (shape->cols + page->block_cols - 1) / page->block_cols;
    const int64_t down = (shape->rows + page->block_rows - 1) / page->block_rows;
    page->blocks = job->across * down * page->bands;
    job->block_bytes = (uint64_t)page->block_rows * (uint64_t)page->block_cols * size;
    if (is_packed(job) && job->block_bytes > BLOCK_MOST) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                       "rows of %lld elements are too long to be compressed as strips; use tiles",
                       (long long)shape->cols);
    }
    return TW_OK;
}

/* Room for as many blocks at a time as there are threads and memory for: those beyond the first,
 * without which nothing can be done, take half of what a row of tiles leaves. */
static tw_status open_slots(tiff_job *job)
{
    tw_context *ctx = job->ctx;
    const twi_tiff_page *page = &job->page;
    const uint64_t bound = twi_tiff_codec_bound(job->opts.codec, job->block_bytes);
    const uint64_t each =
        job->block_bytes * (page->tiled ? 1 : 2) + bound + (is_packed(job) ? PACKER_BYTES : 0);
    const int64_t high = page->block_rows < page->shape.rows ? page->block_rows : page->shape.rows;
    const uint64_t tiles = page->tiled ? (uint64_t)high * job->row_bytes : 0;
    const uint64_t left = twi_memory_left(ctx);
    const uint64_t most = left > tiles ? (left - tiles) / 2 / each : 0;
    const int64_t blocks = page->blocks / page->bands;
    int count = twi_thread_count(ctx);
    count = blocks < count ? (int)blocks : count;
    count = most < (uint64_t)count ? (int)most : count;
    job->slot_count = count > 1 ? count : 1;
    job->most = high * (page->tiled ? 1 : job->slot_count);
    tw_status status = twi_alloc_zeroed(ctx, &job->slots, (uint64_t)job->slot_count,
                                        sizeof *job->slots, "a TIFF writer");
    if (status == TW_OK) {
        status = twi_memory_check(ctx, (uint64_t)job->most * job->row_bytes, "a row of tiles");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &job->rows, (uint64_t)job->most, job->row_bytes, "rows of a TIFF");
    }
    for (int i = 0; i < job->slot_count && status == TW_OK; i++) {
        slot *s = &job->slots[i];
        status = twi_alloc(ctx, &s->block, job->block_bytes, 1, "a block of a TIFF");
        if (status == TW_OK && is_packed(job)) {
            status = twi_alloc(ctx, &s->packed, bound, 1, "a block of a TIFF");
        }
        if (status == TW_OK) {
            status = twi_tiff_packer_open(ctx, &s->packer, job->opts.codec, ctx->compression);
        }
    }
    return status;
}

/* Blocks of a page that is not compressed lie where its bytes say. */
static void place_blocks(tiff_job *job, uint64_t at)
{
    const twi_tiff_page *page = &job->page;
    const int64_t down = page->blocks / page->bands / job->across;
    for (int64_t i = 0; i < page->blocks; i++) {
        const int64_t first = i / job->across % down * page->block_rows;
        const int64_t left = page->shape.rows - first;
        const bool last = !page->tiled && left < page->block_rows;
        job->offsets[i] = at;
        job->counts[i] = last ? (uint64_t)left * job->row_bytes : job->block_bytes;
        at += job->counts[i];
    }
}

/* The directory at the end of what is written; `next`: where the next will be. */
static tw_status write_directory(tiff_job *job, twi_output *output, uint64_t bytes, uint64_t next)
{
    unsigned char *directory = NULL;
    tw_status status = twi_alloc(job->ctx, &directory, bytes, 1, "a TIFF directory");
    if (status == TW_OK) {
        status = twi_tiff_directory(job->ctx, &job->page, job->at, next, directory);
    }
    if (status == TW_OK) {
        status = write_bytes(job, output, directory, bytes);
    }
    twi_free(directory);
    return status;
}

/* A page that is not compressed begins with its directory. */
static tw_status write_directory_first(tiff_job *job, twi_output *output)
{
    uint64_t bytes = 0, link = 0;
    tw_status status = twi_tiff_directory_size(job->ctx, &job->page, &bytes, &link);
    if (status != TW_OK) {
        return status;
    }
    place_blocks(job, job->at + bytes);
    const bool last = job->plane + job->page.bands >= job->opts.planes;
    const uint64_t end = job->offsets[job->page.blocks - 1] + job->counts[job->page.blocks - 1];
    return write_directory(job, output, bytes, last ? 0 : (end + 7) / 8 * 8);
}

/* One that is has it at its end, and what points there learns of it now. */
static tw_status write_directory_last(tiff_job *job, twi_output *output)
{
    uint64_t bytes = 0, link = 0;
    tw_status status = pad(job, output, 8);
    const uint64_t at = job->at;
    if (status == TW_OK) {
        status = twi_tiff_directory_size(job->ctx, &job->page, &bytes, &link);
    }
    if (status == TW_OK) {
        status = write_directory(job, output, bytes, 0);
    }
    if (status == TW_OK) {
        status = twi_output_patch(job->ctx, output, job->link, &at, job->page.big ? 8 : 4);
        job->link = at + link;
    }
    return status;
}

/* The plane of the tags' file that the next one of this is about. */
static int64_t tags_plane(const tiff_job *job)
{
    if (job->opts.tags == NULL || job->opts.place_plane >= 0) {
        return job->opts.place_plane;
    }
    const int64_t bands = job->opts.tags->info.bands;
    return job->lacks_opacity ? job->plane / (bands - 1) * bands : job->plane;
}

/* Elements that are those of the first band of a page are shown as it was. */
static void choose_light(tiff_job *job, const tw_shape *shape)
{
    twi_tiff_page *page = &job->page;
    const tw_image_tags *tags = job->opts.tags;
    const int64_t plane = tags_plane(job);
    const twi_page_tags *from = twi_tags_page(tags, plane);
    page->tags_plane = plane;
    page->light = BLACK_ZERO;
    page->table = NULL;
    if (!job->opts.unchanged || tags == NULL || page->colours) {
        return;
    }
    const int64_t bands = from != NULL ? from->bands : tags->info.bands;
    const uint16_t light = from != NULL ? from->light : tags->light;
    if (bands < 1 || (plane - (from != NULL ? from->first : 0)) % bands != 0 ||
        page->bands > bands) {
        return;
    }
    const twi_tag *table = twi_tiff_table(tags, plane);
    const uint64_t values = shape->type == TW_U8 ? 256 : shape->type == TW_U16 ? 65536 : 0;
    page->table = table != NULL && table->count / 3 <= values ? table : NULL;
    page->light = page->table != NULL || light == 0 ? light : BLACK_ZERO;
}

static tw_status begin_page(tiff_job *job, twi_output *output, const tw_shape *shape)
{
    forget_page(job);
    choose_light(job, shape);
    tw_status status = choose_blocks(job, shape);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(job->ctx, &job->offsets, (uint64_t)job->page.blocks,
                                  sizeof *job->offsets, "the places of blocks");
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(job->ctx, &job->counts, (uint64_t)job->page.blocks,
                                  sizeof *job->counts, "the sizes of blocks");
    }
    job->page.offsets = job->offsets;
    job->page.counts = job->counts;
    if (status == TW_OK && !is_plain(job)) {
        status = open_slots(job);
    }
    if (status == TW_OK && !is_packed(job)) {
        status = pad(job, output, 8);
    }
    return status == TW_OK && !is_packed(job) ? write_directory_first(job, output) : status;
}

static tw_status begin_plane(tiff_job *job, twi_output *output, const tw_shape *shape)
{
    const tw_shape *first = &job->page.shape;
    job->row = 0;
    if (job->plane % job->page.bands == 0) {
        return begin_page(job, output, shape);
    }
    if (shape->rows != first->rows || shape->cols != first->cols || shape->type != first->type) {
        return tw_fail(
            job->ctx, TW_ERR_ARGUMENT,
            "the bands of a TIFF page must have the same size and type; write them as pages");
    }
    return TW_OK;
}

static tw_status end_plane(tiff_job *job, twi_output *output)
{
    job->plane++;
    const bool whole = job->plane % job->page.bands == 0;
    return whole && is_packed(job) ? write_directory_last(job, output) : TW_OK;
}

/* ------------------------------------------------------------------------------------- the file */

static tw_status check_options(tw_context *ctx, const tw_image_file_options *opts,
                               const twi_output *output)
{
    if (opts->tile < 0 || opts->tile % 16 != 0 || opts->tile > 8192) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tiles of %d x %d elements: use a multiple of 16 up to 8192", opts->tile,
                       opts->tile);
    }
    if (opts->predictor && opts->codec == TW_TIFF_NONE) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a predictor needs compression: deflate, lzw or zstd");
    }
    if (opts->codec != TW_TIFF_NONE && !twi_output_can_patch(output)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a compressed TIFF cannot be written to a pipe or standard output; write "
                       "it to a file, or uncompressed");
    }
    return twi_tiff_codec_check(ctx, opts->codec);
}

/* What the bands of a page are, by the tags and the options. Those of a page that has all bands of
 * the tags' file, perhaps but its opacity, are what they were. */
static tw_status choose_bands(tiff_job *job, const tw_shape *shape)
{
    const tw_image_file_options *opts = &job->opts;
    const tw_image_tags *tags = opts->tags;
    twi_tiff_page *page = &job->page;
    const int64_t bands = tags != NULL && opts->first_plane == 0 ? tags->info.bands : 0;
    const int64_t alpha = bands > 0 ? tags->info.alpha : -1;
    const bool whole = page->bands == bands;
    const bool less = !opts->alpha && alpha >= 0 && page->bands == bands - 1;
    page->colours =
        page->colours || (tags != NULL && tags->colours_first && (whole || (less && alpha >= 3)));
    job->lacks_opacity = less && bands > 1;
    choose_light(job, shape);
    /* Bands that become pages are not what the first of them is. */
    const bool apart = page->bands < opts->planes && !whole && !less;
    const twi_metadata_bands kept = {.first = apart ? -1 : opts->first_plane,
                                     .count = page->bands,
                                     .without = less ? alpha : -1,
                                     .opacity = whole && opts->alpha != 0,
                                     .table = page->table != NULL,
                                     .unchanged = opts->unchanged != 0};
    tw_status status = twi_metadata_kept(job->ctx, &job->metadata, tags, &kept);
    if (status != TW_OK || !opts->alpha) {
        return status;
    }
    status = twi_alloc_zeroed(job->ctx, &job->opacities, (uint64_t)page->bands, 1, "TIFF bands");
    if (status == TW_OK && whole && tags->opacities != NULL) {
        memcpy(job->opacities, tags->opacities, (size_t)bands);
    } else if (status == TW_OK) { /* colours are not multiplied by it */
        job->opacities[whole && alpha >= 0 ? alpha : page->bands - 1] = 2;
    }
    return status;
}

static tw_status open_job(tiff_job *job, twi_output *output, const tw_shape *shape)
{
    twi_tiff_page *page = &job->page;
    const tw_image_file_options *opts = &job->opts;
    const uint64_t plane =
        (uint64_t)shape->rows * (uint64_t)shape->cols * tw_type_size(shape->type);
    page->bands = opts->bands > 0 && opts->bands < opts->planes ? opts->bands : opts->planes;
    page->big = opts->big != 0 || plane > BIG_FROM / (uint64_t)opts->planes;
    page->colours = opts->colours != 0;
    page->compression = twi_tiff_codec_number(opts->codec);
    page->tags = opts->tags;
    page->no_data = opts->no_data;
    page->first_row = opts->first_row;
    page->first_col = opts->first_col;
    tw_status status =
        page->bands > UINT16_MAX
            ? tw_fail(job->ctx, TW_ERR_ARGUMENT, "%lld bands; a TIFF page holds at most 65535",
                      (long long)page->bands)
            : choose_bands(job, shape);
    page->metadata = job->metadata;
    page->opacities = job->opacities;
    if (status == TW_OK) {
        const uint64_t first = is_packed(job) ? 0 : page->big ? 16 : 8;
        unsigned char head[16] = {'I', 'I', page->big ? 43 : 42, 0, page->big ? 8 : 0};
        memcpy(head + (page->big ? 8 : 4), &first, page->big ? 8 : 4);
        job->link = page->big ? 8 : 4;
        status = write_bytes(job, output, head, page->big ? 16 : 8);
    }
    return status == TW_OK ? begin_plane(job, output, shape) : status;
}

static tw_status file_begin(tw_context *ctx, void **state, twi_output *output,
                            const tw_image_file_options *opts, const tw_shape *shape)
{
    tiff_job *job = NULL;
    tw_status status = check_options(ctx, opts, output);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &job, 1, sizeof *job, "a TIFF writer");
    }
    if (status != TW_OK) {
        return status;
    }
    *state = job;
    job->ctx = ctx;
    job->opts = *opts;
    if (opts->no_data != NULL) {
        job->no_data = *opts->no_data;
        job->opts.no_data = &job->no_data;
    }
    return open_job(job, output, shape);
}

static tw_status file_next(tw_context *ctx, void *state, twi_output *output, const tw_shape *shape)
{
    tiff_job *job = state;
    job->ctx = ctx;
    tw_status status = end_plane(job, output);
    return status == TW_OK ? begin_plane(job, output, shape) : status;
}

static tw_status file_row(tw_context *ctx, void *state, twi_output *output, const void *row)
{
    tiff_job *job = state;
    job->ctx = ctx;
    job->row++;
    if (is_plain(job)) {
        return write_bytes(job, output, row, job->row_bytes);
    }
    memcpy(job->rows + (uint64_t)job->gathered * job->row_bytes, row, job->row_bytes);
    job->gathered++;
    const bool full = job->gathered == job->most || job->row == job->page.shape.rows;
    return full ? write_gathered(job, output) : TW_OK;
}

static tw_status file_end(tw_context *ctx, void *state, twi_output *output)
{
    tiff_job *job = state;
    job->ctx = ctx;
    return end_plane(job, output);
}

static void file_close(void *state)
{
    tiff_job *job = state;
    if (job != NULL) {
        forget_page(job);
        twi_free(job->opacities);
        twi_free(job->metadata);
        twi_free(job);
    }
}

const twi_row_writer twi_tiff_writer = {file_begin, file_next,  file_row,
                                        file_end,   file_close, false};

static uint64_t page_bytes(const tw_matrix *plane)
{
    return (uint64_t)plane->rows * (uint64_t)plane->cols * tw_type_size(plane->type);
}

/* Every plane is a page of its own size and type. */
tw_status twi_tiff_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    void *state = NULL;
    tw_status status = TW_OK;
    uint64_t total = 0;
    opts.planes = image->count;
    opts.bands = 1;
    for (int64_t k = 0; k < image->count; k++) {
        const tw_matrix *plane = &image->planes[k];
        total += page_bytes(plane) + 1024;
    }
    opts.big = total > BIG_FROM;
    for (int64_t k = 0; k < image->count && status == TW_OK; k++) {
        const tw_matrix *plane = &image->planes[k];
        const tw_shape shape = {plane->rows, plane->cols, plane->type};
        status = k == 0 ? file_begin(ctx, &state, output, &opts, &shape)
                        : file_next(ctx, state, output, &shape);
        if (status == TW_OK) { /* not compressed, and its rows lie side by side */
            status = write_bytes(state, output, plane->data, page_bytes(plane));
        }
    }
    if (status == TW_OK && state != NULL) {
        status = file_end(ctx, state, output);
    }
    file_close(state);
    return status;
}

/* See raster.h. */
#include "cli/image/raster.h"

#include "cli/image/beside.h"
#include "cli/image/rehearsal.h"
#include "cli/shared/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes: to open a file for each smaller plane costs more. */
#define LEAST_PLANE ((uint64_t)1 << 20)
#define TILE 256

/* ------------------------------------------------------------------------------------ how stored
 */

bool cli_writes_tiff(const char *output, const char *format)
{
    static const char *const tiff[] = {"tiff", "tif", NULL};
    return output != NULL && cli_writes(output, format, tiff);
}

bool cli_writes_alpha(const cli_raster *raster, const char *output, const char *format)
{
    static const char *const png[] = {"png", NULL};
    const bool picture =
        raster->file_planes == raster->info.bands && (raster->planes == 1 || raster->planes == 3);
    return cli_writes_tiff(output, format) ||
           (output != NULL && cli_writes(output, format, png) && picture);
}

/* One of the words of --tiff; *kind: which of those that exclude each other it is one of. */
static bool take_word(const char *word, tw_image_file_options *out, char *layout, char *kind)
{
    static const char *const codecs[] = {"none", "lzw", "deflate", "zstd"};
    int64_t side = 0;
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, codecs[i]) == 0) {
            out->codec = i;
            *kind = 'c';
            return true;
        }
    }
    if (strcmp(word, "predictor") == 0) {
        out->predictor = 1;
        *kind = 'p';
    } else if (strcmp(word, "big") == 0) {
        out->big = 1;
        *kind = 'b';
    } else if (strcmp(word, "bands") == 0 || strcmp(word, "pages") == 0) {
        *layout = word[0];
        *kind = 'l';
    } else if (strcmp(word, "tiles") == 0) {
        out->tile = TILE;
        *kind = 't';
    } else if (strncmp(word, "tiles=", 6) == 0 && cli_read_count(word + 6, &side) && side >= 16 &&
               side <= 8192 && side % 16 == 0) {
        out->tile = (int32_t)side;
        *kind = 't';
    } else {
        return false;
    }
    return true;
}

static tw_status take_words(const cli_job *job, const char *words, tw_image_file_options *out,
                            char *layout)
{
    char word[32], kinds[8] = "", kind = '\0';
    size_t taken = 0;
    for (const char *at = words; at != NULL;) {
        const char *comma = strchr(at, ',');
        const size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), at);
        if (!take_word(word, out, layout, &kind)) {
            return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                           "--tiff '%.60s': expected none, deflate, lzw, zstd, predictor, tiles, "
                           "tiles=N with a multiple of 16 up to 8192, big, bands or pages",
                           word);
        }
        if (strchr(kinds, kind) != NULL) {
            return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                           "--tiff %.60s: '%.30s' repeats or contradicts a word before it", words,
                           word);
        }
        kinds[taken++] = kind; /* of five there are */
        at = comma != NULL ? comma + 1 : NULL;
    }
    return TW_OK;
}

tw_status cli_read_storage(const cli_job *job, const cli_storage *s, const char *output,
                           const char *format, bool several, tw_image_file_options *out,
                           char *layout)
{
    static const char *const packed[] = {"png", NULL};
    const bool tiff = cli_writes_tiff(output, format);
    tw_status status = TW_OK;
    *layout = 0;
    if (s->tiff != NULL && !tiff && !several) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--tiff has no effect %s",
                       output == NULL ? "without OUT" : "unless OUT is a .tif");
    }
    if (s->compression >= 0 && !tiff && !several &&
        (output == NULL || !cli_writes(output, format, packed))) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--compression has no effect %s",
                       output == NULL ? "without OUT" : "unless OUT is a .png or .tif");
    }
    if (s->compression > 9) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--compression %lld: expected 0 to 9",
                       (long long)s->compression);
    }
    if (tiff && s->compression > 0) {
        out->codec = TW_TIFF_DEFLATE;
    }
    if (s->tiff != NULL && tiff) {
        status = take_words(job, s->tiff, out, layout);
    }
    if (status == TW_OK && tiff && s->compression >= 0 && s->tiff != NULL &&
        (out->codec == TW_TIFF_NONE || out->codec == TW_TIFF_LZW)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--compression has no effect with --tiff %.60s",
                         s->tiff);
    }
    return status == TW_OK ? tw_set_compression(job->ctx, (int32_t)s->compression) : status;
}

int64_t cli_raster_bands(const cli_raster *raster, int64_t planes, char layout)
{
    if (layout != 0) {
        return layout == 'b' ? 0 : 1;
    }
    const int64_t bands = raster->info.bands;
    if (raster->mixes || raster->file_planes == bands) {
        return bands > 1 ? 0 : 1;
    }
    const int64_t left = bands - (raster->alpha >= 0 && planes == raster->planes);
    return left > 1 && planes % left == 0 ? left : 1;
}

/* ---------------------------------------------------------------------------------------- inputs
 */

/* The number of the plane that was asked for, from 0; -1: all. */
static tw_status find_plane(cli_job *job, cli_raster *r)
{
    int64_t number = r->plane;
    if (r->band != NULL) {
        const cli_band band = {r->path, r->band, r->tags, r->file_planes};
        tw_status status = cli_band_find(job, &band, &number);
        if (status != TW_OK) {
            return status;
        }
    } else if (r->lenient && r->file_planes == 1 && number > 0) {
        number = 0;
    }
    if (number >= r->file_planes) {
        return cli_no_plane(job, r->path, number, r->file_planes);
    }
    r->first = number >= 0 ? number : 0;
    r->planes = number >= 0 ? 1 : r->file_planes;
    return TW_OK;
}

/* Which planes are computed with, once the file is known. */
static tw_status choose_planes(cli_job *job, cli_raster *r)
{
    const bool all = r->plane < 0 && r->band == NULL;
    tw_image_tags_info *info = &r->info;
    *info = (tw_image_tags_info)TW_IMAGE_TAGS_INFO_INIT;
    tw_status status = tw_image_tags_describe(r->tags, info);
    if (status != TW_OK) {
        return status;
    }
    if (info->bands < 1 || r->file_planes % info->bands != 0) { /* pages of different bands */
        info->bands = 1;
        info->alpha = -1;
        info->colours = 0;
    }
    r->alpha = -1;
    status = find_plane(job, r);
    if (status != TW_OK) {
        return status;
    }
    const bool picture = r->file_planes == info->bands; /* one page */
    if (all && info->alpha >= 0 && info->alpha < info->bands && info->bands > 1) {
        r->alpha = info->alpha;
        r->planes -= r->file_planes / info->bands;
    }
    if (r->grey && !all) {
        return tw_fail(job->ctx, TW_ERR_ARGUMENT, "--grey needs all colours; leave out --plane");
    }
    if (r->grey && r->planes > 1) {
        if (!picture || !info->colours) {
            return tw_fail(job->ctx, TW_ERR_ARGUMENT,
                           "--grey: %.500s has %lld planes that are not red, green and blue",
                           r->path, (long long)r->planes);
        }
        r->mixes = true;
        r->planes = 1;
    }
    return TW_OK;
}

/* One plane alone, out of a file whose rows can be had. */
static tw_status load_plane(cli_job *job, cli_raster *r)
{
    tw_source source = TW_SOURCE_INIT;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_image_create(job->ctx, &r->image);
    if (status == TW_OK) {
        status = tw_image_source(job->ctx, &source, r->path, r->format, r->first, NULL);
    }
    if (status == TW_OK) {
        status = tw_sink_to_image(job->ctx, &sink, r->image);
    }
    if (status == TW_OK) {
        status = tw_feed_source(job->ctx, &source, &sink, 1);
    }
    r->image_first = r->first;
    tw_sink_destroy(&sink);
    tw_source_destroy(&source);
    return status;
}

/* Whether rows are better read as they are needed. */
static bool suits_streaming(const cli_job *job, const cli_raster *r, bool in_order)
{
    const uint64_t limit = tw_memory_limit(job->ctx), used = tw_memory_used(job->ctx);
    const uint64_t left = limit > used ? limit - used : 0;
    const uint64_t each = r->bytes / (uint64_t)(r->file_planes > 0 ? r->file_planes : 1);
    const uint64_t needed = r->planes == 1 && !r->mixes ? each : r->bytes;
    if (in_order && r->again) {
        return false;
    }
    if (needed > left / 2) {
        return true;
    }
    return r->eager && !in_order && (r->planes == 1 || each >= LEAST_PLANE);
}

static tw_status read_whole(cli_job *job, cli_raster *r)
{
    tw_status status = tw_image_read(job->ctx, &r->image, r->path, r->format);
    if (status == TW_OK) {
        r->file_planes = tw_image_planes(r->image);
        r->tags = tw_image_tags_of(r->image);
        r->image_first = 0;
        if (r->file_planes > 0) {
            const tw_matrix *plane = tw_image_plane(r->image, 0);
            r->shape = (tw_shape){plane->rows, plane->cols, plane->type};
        }
        status = choose_planes(job, r);
    }
    return status;
}

/* A file that takes too much memory: a plane that it does not have is told before that. */
static tw_status refuse_file(cli_job *job, cli_raster *r)
{
    char sentence[1024];
    tw_image_tags_info info = TW_IMAGE_TAGS_INFO_INIT;
    snprintf(sentence, sizeof sentence, "%s", tw_last_error(job->ctx));
    tw_status status = tw_image_tags_read(job->ctx, &r->own, r->path, r->format);
    r->tags = r->own;
    if (status == TW_OK && tw_image_tags_describe(r->own, &info) == TW_OK && info.planes > 0) {
        r->file_planes = info.planes;
        status = choose_planes(job, r);
        if (status != TW_OK) {
            return status;
        }
    }
    return tw_fail(job->ctx, TW_ERR_MEMORY, "%s", sentence);
}

static tw_status open_raster(cli_job *job, cli_raster *r)
{
    tw_context *ctx = job->ctx;
    tw_image_info info = TW_IMAGE_INFO_INIT;
    tw_source probe = TW_SOURCE_INIT;
    const bool file = cli_is_file(r->path);
    tw_status status =
        file ? tw_image_source(ctx, &probe, r->path, r->format, 0, &info) : TW_ERR_UNSUPPORTED;
    if (file && status == TW_ERR_MEMORY) { /* as a whole it takes more */
        return refuse_file(job, r);
    }
    if (status != TW_OK) {
        return r->reading == CLI_REHEARSED ? status : read_whole(job, r);
    }
    const bool in_order = probe.in_order != 0;
    r->shape = probe.shape;
    tw_source_destroy(&probe);
    r->file_planes = info.planes;
    r->bytes = info.bytes;
    status = tw_image_tags_read(ctx, &r->own, r->path, r->format);
    r->tags = r->own;
    if (status == TW_OK) {
        status = choose_planes(job, r);
    }
    const bool either = !(in_order && r->again);
    const bool rows =
        r->reading != 0 && either ? r->reading != 'w' : suits_streaming(job, r, in_order);
    r->tried = !either ? 0 : rows ? 'r' : 'w';
    if (status != TW_OK || rows) {
        return status;
    }
    if (r->reading == CLI_REHEARSED) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s has to be read as a whole", r->path);
    }
    if (r->planes == 1 && r->file_planes > 1 && !r->mixes && r->alpha < 0) {
        return load_plane(job, r);
    }
    tw_image_tags_destroy(r->own);
    r->own = NULL;
    r->tags = NULL;
    r->mixes = false;
    return read_whole(job, r);
}

/* An array of colours side by side, as others save it, is many narrow planes. */
static void tell_narrow(cli_job *job, const cli_raster *r)
{
    const tw_shape *shape = &r->shape;
    const bool colours = shape->cols == 3 || shape->cols == 4;
    if (colours && shape->rows > 4 && r->file_planes > 4 && r->info.planes == 0) {
        cli_say(
            job,
            "%s is read as %lld planes of %lld x %lld; if it is one image of %lld colours, save "
            "it with transpose(2, 0, 1)",
            r->path, (long long)r->file_planes, (long long)shape->rows, (long long)shape->cols,
            (long long)shape->cols);
    }
}

tw_status cli_raster_open(cli_job *job, cli_raster *r)
{
    tw_status status = open_raster(job, r);
    if (status == TW_OK && r->reading == 0) { /* another try would say it again */
        tell_narrow(job, r);
        cli_tell_beside(job, r->path);
        if (r->band != NULL) {
            const cli_band band = {r->path, r->band, r->tags, r->file_planes};
            cli_band_tell(job, &band, r->first);
        }
    }
    if (status == TW_OK && r->grey && !r->mixes) {
        cli_say(job, "--grey has no effect on %s, which has no colours", r->path);
    }
    return status;
}

char cli_raster_retry(const cli_raster *const *rasters, int count, tw_status status,
                      const char *output)
{
    struct stat found;
    const bool file = output == NULL || (strcmp(output, "-") != 0 &&
                                         (stat(output, &found) != 0 || S_ISREG(found.st_mode)));
    char reading = 0;
    for (int i = 0; i < count && file && status == TW_ERR_MEMORY; i++) {
        const cli_raster *r = rasters[i];
        const bool open = r->tried != 0 && (r->reading == 0 || r->reading == 's');
        if (open && reading != 'r' && (reading != 's' || r->tried == 'w')) {
            reading = r->tried == 'w' ? 'r' : r->tried == 'h' ? 's' : 'w';
        }
    }
    return reading;
}

tw_status cli_raster_retried(const cli_job *job, char reading, const char *sentence,
                             tw_status status)
{
    return status == TW_ERR_MEMORY && reading == 'w'
               ? tw_fail(job->ctx, TW_ERR_MEMORY, "%s", sentence)
               : status;
}

void cli_raster_close(cli_raster *r)
{
    tw_image_tags_destroy(r->own);
    tw_image_destroy(r->image);
    tw_image_destroy(r->held);
    r->held = NULL;
    r->own = NULL;
    r->tags = NULL;
    r->image = NULL;
}

/* ------------------------------------------------------------------------------------------ grey
 */

#define RED 0.2126
#define GREEN 0.7152
#define BLUE 0.0722

#define MIX_WHOLE(TYPE)                                                                        \
    for (int64_t j = 0; j < cols; j++) {                                                       \
        ((TYPE *)out)[j] =                                                                     \
            (TYPE)rint(RED * ((const TYPE *)rows[0])[j] + GREEN * ((const TYPE *)rows[1])[j] + \
                       BLUE * ((const TYPE *)rows[2])[j]);                                     \
    }                                                                                          \
    break
#define MIX_REAL(TYPE)                                                         \
    for (int64_t j = 0; j < cols; j++) {                                       \
        ((TYPE *)out)[j] = (TYPE)(RED * (double)((const TYPE *)rows[0])[j] +   \
                                  GREEN * (double)((const TYPE *)rows[1])[j] + \
                                  BLUE * (double)((const TYPE *)rows[2])[j]);  \
    }                                                                          \
    break

#define MARK(TYPE)                                         \
    for (int64_t j = 0; j < cols; j++) {                   \
        if ((double)((const TYPE *)rows[0])[j] == value || \
            (double)((const TYPE *)rows[1])[j] == value || \
            (double)((const TYPE *)rows[2])[j] == value) { \
            ((TYPE *)out)[j] = (TYPE)value;                \
        }                                                  \
    }                                                      \
    break

/* Where a colour is no data, grey is. NaN needs no care: it stays NaN in any mixture. */
static void mark_no_data(void *out, const void *const rows[3], tw_type type, int64_t cols,
                         double value)
{
    switch (type) {
    case TW_U8:
        MARK(uint8_t);
    case TW_U16:
        MARK(uint16_t);
    case TW_I16:
        MARK(int16_t);
    case TW_I32:
        MARK(int32_t);
    case TW_F32:
        value = (double)(float)value; /* as elements are */
        MARK(float);
    default:
        MARK(double);
    }
}

static void mix(void *out, const void *const rows[3], tw_type type, int64_t cols)
{
    switch (type) {
    case TW_U8:
        MIX_WHOLE(uint8_t);
    case TW_U16:
        MIX_WHOLE(uint16_t);
    case TW_I16:
        MIX_WHOLE(int16_t);
    case TW_I32:
        MIX_WHOLE(int32_t);
    case TW_F32:
        MIX_REAL(float);
    default:
        MIX_REAL(double);
    }
}

/* Three planes as one, row by row: from memory or from their file. */
typedef struct mixed {
    tw_matrix planes[3];
    tw_source sources[3];
    tw_shape shape;
    void *rows[3]; /* of sources */
    const double *no_data;
} mixed;

static tw_status mixed_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                            int64_t stride)
{
    mixed *m = self;
    const size_t size = tw_type_size(m->shape.type);
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const void *rows[3];
        for (int k = 0; k < 3 && status == TW_OK; k++) {
            const tw_matrix *plane = &m->planes[k];
            rows[k] =
                (const char *)plane->data + (size_t)(first + i) * (size_t)plane->stride * size;
            if (m->sources[k].rows != NULL) {
                rows[k] = m->rows[k];
                status = m->sources[k].rows(m->sources[k].self, ctx, first + i, 1, m->rows[k],
                                            m->shape.cols);
            }
        }
        if (status == TW_OK) {
            char *out = (char *)data + (size_t)(i * stride) * size;
            mix(out, rows, m->shape.type, m->shape.cols);
            if (m->no_data != NULL) {
                mark_no_data(out, rows, m->shape.type, m->shape.cols, *m->no_data);
            }
        }
    }
    return status;
}

static void mixed_destroy(void *self)
{
    mixed *m = self;
    for (int k = 0; k < 3; k++) {
        tw_source_destroy(&m->sources[k]);
        free(m->rows[k]);
    }
    free(m);
}

/* One of the three. */
static tw_status open_colour(cli_job *job, const cli_raster *r, mixed *m, int k)
{
    m->sources[k] = (tw_source)TW_SOURCE_INIT;
    if (r->image != NULL) {
        m->planes[k] = *tw_image_plane(r->image, k);
        m->shape = (tw_shape){m->planes[k].rows, m->planes[k].cols, m->planes[k].type};
        return TW_OK;
    }
    tw_status status = tw_image_source(job->ctx, &m->sources[k], r->path, r->format, k, NULL);
    if (status == TW_OK) {
        m->shape = m->sources[k].shape;
        m->rows[k] = malloc((size_t)m->shape.cols * tw_type_size(m->shape.type) + 1);
        if (m->rows[k] == NULL) {
            status = tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for a row of colours");
        }
    }
    return status;
}

static tw_status mix_planes(cli_job *job, cli_raster *r, tw_source *out)
{
    mixed *m = calloc(1, sizeof *m);
    tw_status status = TW_OK;
    if (m == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory to mix colours");
    }
    m->no_data = r->no_data;
    for (int k = 0; k < 3 && status == TW_OK; k++) {
        status = open_colour(job, r, m, k);
    }
    if (status != TW_OK) {
        mixed_destroy(m);
        return status;
    }
    *out = (tw_source){sizeof(tw_source),      m,          m->shape,
                       m->sources[0].in_order, mixed_rows, mixed_destroy};
    return TW_OK;
}

/* ---------------------------------------------------------------------------------------- narrow
 */

/* A plane of i32 or f64 as f32, row by row. */
typedef struct narrowed {
    tw_matrix plane; /* unless there is a source */
    tw_source source;
    tw_type type;
    int64_t cols;
    void *row; /* of the source */
} narrowed;

static tw_status narrowed_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                               void *data, int64_t stride)
{
    narrowed *n = self;
    const size_t size = tw_type_size(n->type);
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const void *row = n->row;
        float *out = (float *)data + i * stride;
        if (n->source.rows != NULL) {
            status = n->source.rows(n->source.self, ctx, first + i, 1, n->row, n->cols);
        } else {
            row =
                (const char *)n->plane.data + (size_t)(first + i) * (size_t)n->plane.stride * size;
        }
        for (int64_t j = 0; j < n->cols && status == TW_OK; j++) {
            out[j] = n->type == TW_I32 ? (float)((const int32_t *)row)[j]
                                       : (float)((const double *)row)[j];
        }
    }
    return status;
}

static void narrowed_destroy(void *self)
{
    narrowed *n = self;
    tw_source_destroy(&n->source);
    free(n->row);
    free(n);
}

/* Put a source of f32 in the place of a plane that is wider. */
static tw_status narrow_plane(cli_job *job, const tw_matrix **matrix, tw_source *source)
{
    const tw_shape shape = *matrix != NULL
                               ? (tw_shape){(*matrix)->rows, (*matrix)->cols, (*matrix)->type}
                               : source->shape;
    if (shape.type != TW_I32 && shape.type != TW_F64) {
        return TW_OK;
    }
    narrowed *n = calloc(1, sizeof *n);
    void *row = n != NULL ? malloc((size_t)shape.cols * tw_type_size(shape.type) + 1) : NULL;
    if (row == NULL) {
        free(n);
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld elements",
                       (long long)shape.cols);
    }
    const int32_t in_order = *matrix == NULL ? source->in_order : 0;
    *n = (narrowed){.source = *source, .type = shape.type, .cols = shape.cols, .row = row};
    if (*matrix != NULL) {
        n->plane = **matrix;
    }
    *matrix = NULL;
    *source =
        (tw_source){sizeof(tw_source), n, {shape.rows, shape.cols, TW_F32}, in_order, narrowed_rows,
                    narrowed_destroy};
    return TW_OK;
}

/* ---------------------------------------------------------------------------------------- planes
 */

/* The plane of the file that is plane k of those that are computed with. */
static int64_t file_plane(const cli_raster *r, int64_t k)
{
    if (r->alpha < 0) {
        return r->first + k;
    }
    const int64_t others = r->info.bands - 1; /* of a page */
    return k / others * r->info.bands + k % others + (k % others >= r->alpha);
}

/* The plane of the file that is opacity and stands before plane k of the others; -1: none. */
static int64_t alpha_before(const cli_raster *r, int64_t k, bool last)
{
    const int64_t others = r->info.bands - 1;
    if (r->alpha < 0 || (k == 0 && r->alpha > 0)) {
        return -1;
    }
    if (last || r->mixes) {
        return k == r->planes ? r->alpha : -1;
    }
    const int64_t page = (k - (r->alpha > 0)) / others;
    const int64_t plane = page * r->info.bands + r->alpha;
    return k == page * others + r->alpha && plane < r->file_planes ? plane : -1;
}

static const tw_matrix *find_held(const cli_raster *r, int64_t plane)
{
    const int64_t at = plane - r->held_first;
    return r->held != NULL && at >= 0 && at < tw_image_planes(r->held) ? tw_image_plane(r->held, at)
                                                                       : NULL;
}

/* A plane of a file too large to be read as a whole, with those behind it that are decoded
 * together, in half of the memory; TW_OK without it where it is decoded alone. */
static tw_status hold_planes(cli_job *job, cli_raster *r, int64_t plane)
{
    if (r->reading != 0 || r->tried == 0 || r->planes == 1 || r->described || r->alone) {
        return TW_OK;
    }
    tw_image_destroy(r->held);
    r->held = NULL;
    const uint64_t limit = tw_memory_limit(job->ctx), used = tw_memory_used(job->ctx);
    tw_status status = tw_image_read_some(job->ctx, &r->held, r->path, r->format, plane,
                                          limit > used ? (limit - used) / 2 : 0);
    if (status == TW_OK && r->tried != 'h') {
        const int64_t count = tw_image_planes(r->held);
        cli_say(
            job,
            "%s: only %lld planes fit in memory at a time, so the file is decoded about %lld times",
            r->path, (long long)count, (long long)((r->planes + count - 1) / count));
        r->tried = 'h';
    }
    r->held_first = plane;
    r->alone = status != TW_OK && r->tried != 'h';
    return status == TW_ERR_UNSUPPORTED || status == TW_ERR_MEMORY ? TW_OK : status;
}

static tw_status open_plane(cli_job *job, cli_raster *r, int64_t k, const tw_matrix **matrix,
                            tw_source *source)
{
    *matrix = NULL;
    if (r->mixes) {
        return mix_planes(job, r, source);
    }
    if (r->image != NULL) {
        *matrix = tw_image_plane(r->image, file_plane(r, k) - r->image_first);
        return TW_OK;
    }
    const int64_t plane = file_plane(r, k);
    tw_status status = find_held(r, plane) != NULL ? TW_OK : hold_planes(job, r, plane);
    *matrix = status == TW_OK ? find_held(r, plane) : NULL;
    return status == TW_OK && *matrix == NULL
               ? tw_image_source(job->ctx, source, r->path, r->format, plane, NULL)
               : status;
}

tw_status cli_raster_plane(cli_job *job, cli_raster *r, int64_t k, const tw_matrix **matrix,
                           tw_source *source)
{
    tw_status status = open_plane(job, r, k, matrix, source);
    if (status == TW_OK && r->reading == CLI_REHEARSED) {
        cli_rehearse_source(source);
    }
    return status == TW_OK && r->narrow ? narrow_plane(job, matrix, source) : status;
}

tw_status cli_raster_alpha_shape(cli_job *job, cli_raster *r, tw_shape *out)
{
    tw_source source = TW_SOURCE_INIT;
    if (r->image != NULL) {
        const tw_matrix *plane = tw_image_plane(r->image, r->alpha);
        *out = (tw_shape){plane->rows, plane->cols, plane->type};
        return TW_OK;
    }
    tw_status status = tw_image_source(job->ctx, &source, r->path, r->format, r->alpha, NULL);
    *out = source.shape;
    tw_source_destroy(&source);
    return status;
}

int64_t cli_raster_alphas(const cli_raster *r)
{
    return r->mixes ? 1 : r->file_planes / r->info.bands;
}

tw_status cli_raster_feed_alpha(cli_job *job, cli_raster *r, int64_t k, bool last, tw_sink *sink)
{
    tw_source source = TW_SOURCE_INIT;
    const int64_t plane = alpha_before(r, k, last);
    if (plane < 0) {
        return TW_OK;
    }
    const tw_matrix *held =
        r->image != NULL ? tw_image_plane(r->image, plane) : find_held(r, plane);
    if (held != NULL) {
        return tw_feed(job->ctx, held, sink, 1);
    }
    tw_status status = tw_image_source(job->ctx, &source, r->path, r->format, plane, NULL);
    if (status == TW_OK) {
        status = tw_feed_source(job->ctx, &source, sink, 1);
    }
    tw_source_destroy(&source);
    return status;
}

/*
 * Images as entropy and map take and give them: planes chosen by number or name, opacity left
 * alone, colours as one grey, in memory or row by row as the memory allows; and how OUT is stored.
 */
#ifndef CLI_RASTER_H
#define CLI_RASTER_H

#include "cli/image/band.h"
#include "frame/job.h"

#include <tilewright.h>

#include <stdbool.h>

/* ------------------------------------------------------------------------------------ how stored
 */

typedef struct cli_storage {
    int64_t compression; /* -1: not given */
    const char *tiff;
} cli_storage;

#define CLI_STORAGE_OPTIONS(SETTINGS)                                                            \
    {"compression",                                                                              \
     0,                                                                                          \
     CLI_COUNT,                                                                                  \
     "LEVEL",                                                                                    \
     offsetof(SETTINGS, storage.compression),                                                    \
     0,                                                                                          \
     "How hard a .png or .tif is compressed: 0 (not at all) to 9 (smallest); by default a fast " \
     "level. A .tif is then compressed with deflate, unless --tiff names another codec."},       \
    {                                                                                            \
        "tiff", 0, CLI_TEXT, "WORDS", offsetof(SETTINGS, storage.tiff), 0,                       \
            "How a .tif is stored, as words separated by commas: none (the default), deflate, "  \
            "lzw or zstd; predictor; tiles or tiles=N (256 by default) instead of strips; big "  \
            "(BigTIFF; otherwise only from 4 GB on); bands or pages for several planes (by "     \
            "default as in IN)."                                                                 \
    }

/* What the options say, into `out`; *layout: 'b' bands, 'p' pages, 0 neither was said. Refuses what
 * would do nothing, unless `several` files are written, some of which may not take it. */
TW_CHECKED tw_status cli_read_storage(const cli_job *job, const cli_storage *s, const char *output,
                                      const char *format, bool several, tw_image_file_options *out,
                                      char *layout);

/* Whether OUT is a tiff, by format or extension. */
bool cli_writes_tiff(const char *output, const char *format);

/* ---------------------------------------------------------------------------------------- inputs
 */

typedef struct cli_raster {
    /* set by the caller */
    const char *path;
    const char *format; /* NULL: as it is */
    int64_t plane;      /* -1: all */
    const char *band;   /* plane by name or number; NULL: `plane` */
    bool grey;          /* colours become one plane */
    bool eager;         /* rows that can be had in any order are not read before they are needed */
    bool again;         /* rows are needed out of order, or twice */
    bool lenient;       /* a file of one plane has that, whatever `plane` is */
    bool narrow;        /* i32 and f64 are given as f32 */
    bool described;     /* planes are looked at, and none is read */
    const double *no_data; /* where a colour is that, so is grey; NULL: none. May be set later */
    char reading; /* 'r' or, unless 'w' was tried, 's': row by row; 'w' as a whole, where it can be;
                     CLI_REHEARSED; 0: as suits the memory */
    /* the rest is cli_raster_open's */
    tw_image *image; /* NULL: rows are read as they are needed */
    tw_image_tags *own;
    const tw_image_tags *tags;
    tw_image_tags_info info;
    tw_shape shape; /* of the file's first plane */
    uint64_t bytes; /* that it takes as a whole, if it was not read */
    int64_t file_planes;
    int64_t first;       /* of the file's planes: the first that is computed with */
    int64_t planes;      /* that are */
    int64_t alpha;       /* the band of each page that is left alone; -1: none */
    int64_t image_first; /* the plane of `image` that is the file's first one */
    bool mixes;          /* colours into grey */
    char tried;          /* 'r' or 'w', if it could be read in either way; else 0. 'h': by rows,
                            with some planes held */
    tw_image *held;      /* planes that were decoded together; NULL: none */
    int64_t held_first;  /* the plane of the file that is the first of them */
    bool alone;          /* planes are decoded one at a time */
} cli_raster;

TW_CHECKED tw_status cli_raster_open(cli_job *job, cli_raster *raster);
/* How to read the inputs if a run that ended with `status` is worth another try, since memory did
 * not suffice, they can be read the other way, too, and no byte has gone into a pipe; else 0. So
 * more memory never fails where less is enough. */
char cli_raster_retry(const cli_raster *const *rasters, int count, tw_status status,
                      const char *output);
/* The status of the other try, after one that ended with `sentence`, which stays the sentence if
 * reading as a whole did not fit either. */
TW_CHECKED tw_status cli_raster_retried(const cli_job *job, char reading, const char *sentence,
                                        tw_status status);
void cli_raster_close(cli_raster *raster);
/* Plane k of those that are computed with: *matrix, or the source if that is NULL. The caller
 * destroys the source. */
TW_CHECKED tw_status cli_raster_plane(cli_job *job, cli_raster *raster, int64_t k,
                                      const tw_matrix **matrix, tw_source *source);
/* The shape of the plane that is left alone. */
TW_CHECKED tw_status cli_raster_alpha_shape(cli_job *job, cli_raster *raster, tw_shape *out);
/* How many such planes there are, if there are: one in each page. */
int64_t cli_raster_alphas(const cli_raster *raster);
/* Whether a result may have the opacity of its input beside it: a tiff, and a png of grey or
 * colours. */
bool cli_writes_alpha(const cli_raster *raster, const char *output, const char *format);
/* The one that stands before plane k of the others into a sink; nothing if none does. `last`: it
 * stands behind all of them whatever its place in the file, as in a png. */
TW_CHECKED tw_status cli_raster_feed_alpha(cli_job *job, cli_raster *raster, int64_t k, bool last,
                                           tw_sink *sink);

/* Planes of a page for a result of `planes`, by what the input was: opts->bands. */
int64_t cli_raster_bands(const cli_raster *raster, int64_t planes, char layout);

#endif

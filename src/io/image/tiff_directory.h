/* The directory of a TIFF page as bytes: see tiff_directory.c. */
#ifndef TWI_IO_IMAGE_TIFF_DIRECTORY_H
#define TWI_IO_IMAGE_TIFF_DIRECTORY_H

#include "image/tags.h"

/* What a page is. */
typedef struct twi_tiff_page {
    bool big;
    tw_shape shape;
    int64_t bands;
    bool colours;                   /* red, green and blue come first */
    const unsigned char *opacities; /* of each band: 1 or 2 if it is opacity; NULL: none is */
    uint16_t compression;           /* as TIFF counts them, as is the predictor */
    uint16_t predictor;
    bool tiled;
    int64_t block_rows, block_cols; /* of a strip or tile */
    int64_t blocks;                 /* of all bands */
    const uint64_t *offsets;        /* of each */
    const uint64_t *counts;
    const tw_image_tags *tags;    /* NULL: none */
    int64_t tags_plane;           /* of the tags' file, whose page the place is that of */
    const twi_tag *table;         /* of colours; NULL: none */
    uint16_t light;               /* as TIFF counts them, unless there are colours */
    int64_t first_row, first_col; /* of the tags' file */
    const char *metadata;         /* GDAL's, instead of that of the tags; NULL: none */
    const double *no_data;        /* likewise */
} twi_tiff_page;

/* Its bytes, which depend on no offset, and where in it the place of the next one stands. */
TW_CHECKED tw_status twi_tiff_directory_size(tw_context *ctx, const twi_tiff_page *page,
                                             uint64_t *bytes, uint64_t *link);
/* The directory, which is to lie at byte `at` of the file; `next` is where the next one will. */
TW_CHECKED tw_status twi_tiff_directory(tw_context *ctx, const twi_tiff_page *page, uint64_t at,
                                        uint64_t next, unsigned char *out);

#endif

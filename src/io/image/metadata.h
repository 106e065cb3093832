/*
 * GDAL's metadata in a TIFF, the text of tag 42112:
 *     <GDALMetadata>
 *       <Item name="DESCRIPTION" sample="0" role="description">red</Item>
 *     </GDALMetadata>
 * Items are looked for by their marks alone; whatever else there is, is passed over.
 */
#ifndef TWI_IO_IMAGE_METADATA_H
#define TWI_IO_IMAGE_METADATA_H

#include "image/tags.h"

typedef struct twi_metadata_item {
    const char *begin, *end; /* of all of it */
    const char *inside;      /* what stands between its marks */
    uint64_t inside_bytes;
    int64_t sample; /* -1: it is about no band */
    char name[48];  /* cut if it is longer, as is the role */
    char role[24];
} twi_metadata_item;

/* The next item in begin ... end-1; false if there is none. */
bool twi_metadata_next(twi_metadata_item *out, const char *begin, const char *end);

/* Names of the planes from the items of role "description". */
TW_CHECKED tw_status twi_metadata_names(tw_context *ctx, tw_image_tags *tags);

/* Which planes are colours or opacity by the items of role "colorinterp", whatever the page says:
 * into the tags' info. */
void twi_metadata_colours(tw_image_tags *tags);

/* The bands of a file that become 0 ... count-1 of a result. */
typedef struct twi_metadata_bands {
    int64_t first;   /* -1: none do */
    int64_t count;   /* of the result */
    int64_t without; /* the one that does not, where those around it do; -1: none */
    bool opacity;    /* that of the file is still opacity */
    bool table;      /* indices of colours are still that */
    bool unchanged;  /* so are elements */
} twi_metadata_bands;

/* What of it is true of a result: items about the file as a whole, and those about its bands; not
 * statistics, nor scales, offsets and units if elements are others. NULL with TW_OK: nothing is
 * left. */
TW_CHECKED tw_status twi_metadata_kept(tw_context *ctx, char **out, const tw_image_tags *tags,
                                       const twi_metadata_bands *bands);

#endif

/*
 * What an image file says besides its elements: which plane is opacity, which value means "no
 * data", names of bands, and the tags of a TIFF that say where on Earth it lies and what it is
 * about, kept as the file has them so that they can be written again.
 */
#ifndef TWI_IMAGE_TAGS_H
#define TWI_IMAGE_TAGS_H

#include "base/context.h"

/* An entry of a TIFF directory; numbers have the byte order of this machine. */
typedef struct twi_tag {
    uint16_t tag;
    uint16_t type; /* as TIFF counts them */
    uint64_t count;
    uint64_t bytes;
    unsigned char *data; /* a zero follows */
} twi_tag;

#define TWI_TAGS_MOST 32

/* Who wrote a file, as TIFF and PNG say it by "Software" and PNM by a comment. */
#define TWI_MAKER "tilewright"

struct tw_image_tags {
    tw_image_tags_info info;
    twi_tag list[TWI_TAGS_MOST];
    int32_t count;
    char **names; /* of planes, NULL for those without; NULL: none has one */
    int64_t name_count;
    /* of the bands of a page of a TIFF, all pages being alike; else NULL and false */
    unsigned char *opacities; /* as TIFF counts kinds of extra bands: 1, 2; 0 for the others */
    bool colours_first;       /* red, green and blue by the page itself, not by metadata */
};

/* Tags that say nothing. */
TW_CHECKED tw_status twi_tags_create(tw_context *ctx, tw_image_tags **out);
const twi_tag *twi_tags_find(const tw_image_tags *tags, uint16_t tag);

#endif

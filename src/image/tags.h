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
#define TWI_PAGE_TAGS_MOST 8

/* Pages of a TIFF that follow each other, have as many bands, lie at the same place and show their
 * values in the same way; not as the first page does. */
typedef struct twi_page_tags {
    int64_t first, end; /* planes of the file */
    int64_t bands;
    uint16_t light; /* as TIFF counts them: 0, 0 is white; 1, it is black; 3, indices of colours */
    bool elsewhere; /* `list` says where they lie, or nothing does; else the first page says it */
    twi_tag list[TWI_PAGE_TAGS_MOST];
    int32_t count;
} twi_page_tags;

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
    uint16_t light;           /* of the first page */
    twi_page_tags *pages;     /* that differ from it, in order; NULL: none does */
    int64_t page_count;
};

/* Tags that say nothing. */
TW_CHECKED tw_status twi_tags_create(tw_context *ctx, tw_image_tags **out);
const twi_tag *twi_tags_find(const tw_image_tags *tags, uint16_t tag);
/* The pages that have this plane, if they are not like the first one; else NULL. */
const twi_page_tags *twi_tags_page(const tw_image_tags *tags, int64_t plane);
const twi_tag *twi_tags_find_among(const twi_tag *list, int32_t count, uint16_t tag);

#endif

/* The tags of a TIFF, read and laid out: see tiff_tags.c. */
#ifndef TWI_IO_IMAGE_TIFF_TAGS_H
#define TWI_IO_IMAGE_TIFF_TAGS_H

#include "image/tags.h"
#include "io/input.h"

#define TWI_TIFF_SOFTWARE 305
#define TWI_TIFF_COLOURS 320 /* the colour table: all reds, all greens, all blues */
#define TWI_TIFF_METADATA 42112
#define TWI_TIFF_NO_DATA 42113

/* Bytes of a number of this type of TIFF; 0 for types that there are not. */
uint64_t twi_tiff_type_bytes(uint16_t type);

/* The colour table of the page that has this plane; NULL: it has none. */
const twi_tag *twi_tiff_table(const tw_image_tags *tags, int64_t plane);

/* What the file says. Tags that are damaged are as if they were not there: the reader of the
 * elements says what is wrong with a file. */
TW_CHECKED tw_status twi_tiff_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input);

#endif

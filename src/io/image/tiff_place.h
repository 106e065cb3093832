/* The place on Earth of a part of a TIFF: see tiff_place.c. */
#ifndef TWI_IO_IMAGE_TIFF_PLACE_H
#define TWI_IO_IMAGE_TIFF_PLACE_H

#include "image/tags.h"

#define TWI_TIFF_TIE_POINTS 33922
#define TWI_TIFF_TRANSFORMATION 34264
#define TWI_TIFF_RPC 50844

/* Whether a tag is one of those that together say where an image lies. */
bool twi_tiff_places(uint16_t tag);

/* Whether the tags say where the image, or one of its pages, lies. */
bool twi_tiff_has_place(const tw_image_tags *tags);

/* Whether what a tag says depends on which element is the first. */
bool twi_tiff_is_place(const twi_tag *tag);

/* The numbers of such a tag for an image whose first element is that of row `row` and column `col`:
 * into `out`, which has room for its bytes. */
void twi_tiff_place(const twi_tag *tag, int64_t row, int64_t col, unsigned char *out);

#endif

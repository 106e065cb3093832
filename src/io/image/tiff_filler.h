/* The element in place of one that a sparse TIFF leaves out. */
#ifndef TWI_IO_IMAGE_TIFF_FILLER_H
#define TWI_IO_IMAGE_TIFF_FILLER_H

#include "io/image/format.h"

/* `value` as the file would hold it; one that it cannot hold is 0. */
void twi_tiff_filler(unsigned char out[8], twi_stored stored, tw_type type, double value);

#endif

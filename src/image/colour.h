/* The colour map of previews: see colour.c. */
#ifndef TWI_IMAGE_COLOUR_H
#define TWI_IMAGE_COLOUR_H

#include <stdint.h>

#define TWI_COLOURS 256

/* Colours of TWI_COLOURS values, from smallest to largest, as red, green and blue of sRGB. */
void twi_colour_map(uint8_t out[TWI_COLOURS][3]);

#endif

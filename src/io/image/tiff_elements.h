/* How a TIFF holds its elements: see tiff_elements.c. */
#ifndef TWI_IO_IMAGE_TIFF_ELEMENTS_H
#define TWI_IO_IMAGE_TIFF_ELEMENTS_H

#include "io/image/format.h"

typedef struct twi_tiff_element {
    tw_type type; /* that holds it */
    twi_stored stored;
    uint64_t size;   /* in the file, in bytes; of packed ones: that of the type */
    uint32_t packed; /* bits, if they lie side by side; 0: whole bytes */
} twi_tiff_element;

/* False if no type holds such elements. */
bool twi_tiff_element_find(twi_tiff_element *out, uint16_t bits, uint16_t format);
/* What elements of a SampleFormat are, for a sentence. */
const char *twi_tiff_kind(uint16_t format);

/* Of `count` side by side, from the beginning of a byte to the end of one. */
uint64_t twi_tiff_element_bytes(const twi_tiff_element *element, uint64_t count);
/* Whether so many end where a byte does. */
bool twi_tiff_element_fits(const twi_tiff_element *element, uint64_t count);

/* `count` packed elements, every `step`-th from the one numbered `first`. */
void twi_tiff_unpack(const twi_tiff_element *element, const unsigned char *line, uint64_t first,
                     uint64_t step, uint64_t count, void *out);
/* Bytes full of one packed element, which is given as its type has it. */
void twi_tiff_repeat(const twi_tiff_element *element, const unsigned char *value,
                     unsigned char *out, uint64_t bytes);

#endif

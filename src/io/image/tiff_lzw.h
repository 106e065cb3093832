/* LZW as TIFF has it: see tiff_lzw.c. */
#ifndef TWI_IO_IMAGE_TIFF_LZW_H
#define TWI_IO_IMAGE_TIFF_LZW_H

#include <stdint.h>

#define TWI_LZW_SLOTS 8192
typedef struct twi_lzw_slot {
    uint32_t key; /* 0: empty */
    uint16_t code;
} twi_lzw_slot;

/* Bytes that a block may take at most, and those it took. The table may have any contents. */
uint64_t twi_lzw_bound(uint64_t bytes);
uint64_t twi_lzw_pack(twi_lzw_slot table[TWI_LZW_SLOTS], const unsigned char *block, uint64_t bytes,
                      unsigned char *out);

#endif

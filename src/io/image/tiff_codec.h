/* Compression of the blocks of a TIFF: see tiff_codec.c. */
#ifndef TWI_IO_IMAGE_TIFF_CODEC_H
#define TWI_IO_IMAGE_TIFF_CODEC_H

#include "base/context.h"

/* One stream, for one thread at a time. */
typedef struct twi_tiff_packer twi_tiff_packer;

/* TW_ERR_UNSUPPORTED, with what to install, if this build has it not. */
TW_CHECKED tw_status twi_tiff_codec_check(tw_context *ctx, tw_tiff_codec codec);
/* What TIFF calls it. */
uint16_t twi_tiff_codec_number(tw_tiff_codec codec);
/* Bytes that a block may take at most. */
uint64_t twi_tiff_codec_bound(tw_tiff_codec codec, uint64_t bytes);

/* NULL in *out for TW_TIFF_NONE. level as tw_set_compression has it. */
TW_CHECKED tw_status twi_tiff_packer_open(tw_context *ctx, twi_tiff_packer **out,
                                          tw_tiff_codec codec, int32_t level);
/* The size of a block, packed; 0 if that failed. Safe for worker threads. */
uint64_t twi_tiff_pack(twi_tiff_packer *packer, const unsigned char *block, uint64_t bytes,
                       unsigned char *out, uint64_t room);
void twi_tiff_packer_close(twi_tiff_packer *packer); /* accepts NULL */

#endif

/* TIFF: recognised here, written by tiff_write.c, read through libtiff where there is one. */
#include "io/image/tiff_read.h"
#include "io/image/tiff_tags.h"
#include "io/image/tiff_write.h"

#include <string.h>

static bool tiff_recognised(const twi_input *input)
{
    static const char heads[][4] = {
        {'I', 'I', 42, 0}, {'M', 'M', 0, 42}, {'I', 'I', 43, 0}, {'M', 'M', 0, 43}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads && input->size >= 8; i++) {
        if (memcmp(input->bytes, heads[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

const twi_image_format twi_image_tiff = {
    "tiff",           "tif tiff",     tiff_recognised,  twi_tiff_read, NULL,         twi_tiff_rows,
    twi_tiff_accepts, twi_tiff_write, &twi_tiff_writer, twi_tiff_tags, twi_tiff_some};

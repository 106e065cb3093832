/* Elements in place of those that a sparse TIFF leaves out: see tiff_filler.h. */
#include "io/image/tiff_filler.h"

#include <string.h>

#define FILLER(TYPE, LEAST, MOST)                                                   \
    {                                                                               \
        const TYPE element = value >= (LEAST) && value <= (MOST) ? (TYPE)value : 0; \
        memcpy(out, &element, sizeof element);                                      \
        break;                                                                      \
    }

void twi_tiff_filler(unsigned char out[8], twi_stored stored, tw_type type, double value)
{
    const float single = (float)value;
    switch (stored) {
    case TWI_STORED_I8:
        FILLER(int8_t, INT8_MIN, INT8_MAX)
    case TWI_STORED_U32:
        FILLER(uint32_t, 0, UINT32_MAX)
    case TWI_STORED_I64:
        FILLER(int64_t, -0x1p53, 0x1p53)
    case TWI_STORED_U64:
        FILLER(uint64_t, 0, 0x1p53)
    case TWI_STORED_ALIKE:
        break;
    }
    if (stored != TWI_STORED_ALIKE) {
        return;
    }
    switch (type) {
    case TW_U8:
        FILLER(uint8_t, 0, UINT8_MAX)
    case TW_U16:
        FILLER(uint16_t, 0, UINT16_MAX)
    case TW_I16:
        FILLER(int16_t, INT16_MIN, INT16_MAX)
    case TW_I32:
        FILLER(int32_t, INT32_MIN, INT32_MAX)
    case TW_F32:
        memcpy(out, &single, sizeof single);
        break;
    default:
        memcpy(out, &value, sizeof value);
    }
}

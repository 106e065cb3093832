/*
 * Elements of a TIFF: whole bytes in the order of this machine, as libtiff gives them, or unsigned
 * integers of 1 to 15 other bits, which lie side by side, the highest bit first, each line from the
 * beginning of a byte on. Those become u8 or u16 with the values that they have.
 */
#include "io/image/tiff_elements.h"

#include <string.h>
#include <tiff.h>

bool twi_tiff_element_find(twi_tiff_element *out, uint16_t bits, uint16_t format)
{
    static const struct {
        uint16_t bits, format;
        tw_type type;
        twi_stored stored;
    } types[] = {{8, SAMPLEFORMAT_UINT, TW_U8, TWI_STORED_ALIKE},
                 {16, SAMPLEFORMAT_UINT, TW_U16, TWI_STORED_ALIKE},
                 {16, SAMPLEFORMAT_INT, TW_I16, TWI_STORED_ALIKE},
                 {32, SAMPLEFORMAT_INT, TW_I32, TWI_STORED_ALIKE},
                 {32, SAMPLEFORMAT_IEEEFP, TW_F32, TWI_STORED_ALIKE},
                 {64, SAMPLEFORMAT_IEEEFP, TW_F64, TWI_STORED_ALIKE},
                 {8, SAMPLEFORMAT_INT, TW_I16, TWI_STORED_I8},
                 {32, SAMPLEFORMAT_UINT, TW_F64, TWI_STORED_U32},
                 {64, SAMPLEFORMAT_INT, TW_F64, TWI_STORED_I64},
                 {64, SAMPLEFORMAT_UINT, TW_F64, TWI_STORED_U64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].bits == bits && types[i].format == format) {
            *out = (twi_tiff_element){types[i].type, types[i].stored, bits / 8, 0};
            return true;
        }
    }
    if (format != SAMPLEFORMAT_UINT || bits == 0 || bits > 15) {
        return false;
    }
    *out = (twi_tiff_element){bits < 8 ? TW_U8 : TW_U16, TWI_STORED_ALIKE, bits < 8 ? 1 : 2, bits};
    return true;
}

const char *twi_tiff_kind(uint16_t format)
{
    switch (format) {
    case SAMPLEFORMAT_UINT:
        return "unsigned integers";
    case SAMPLEFORMAT_INT:
        return "signed integers";
    case SAMPLEFORMAT_IEEEFP:
        return "floating-point numbers";
    case SAMPLEFORMAT_COMPLEXINT:
    case SAMPLEFORMAT_COMPLEXIEEEFP:
        return "complex numbers";
    default:
        return "numbers of an unknown kind";
    }
}

uint64_t twi_tiff_element_bytes(const twi_tiff_element *element, uint64_t count)
{
    return element->packed > 0 ? (count * element->packed + 7) / 8 : count * element->size;
}

bool twi_tiff_element_fits(const twi_tiff_element *element, uint64_t count)
{
    return count * element->packed % 8 == 0;
}

void twi_tiff_unpack(const twi_tiff_element *element, const unsigned char *line, uint64_t first,
                     uint64_t step, uint64_t count, void *out)
{
    const uint32_t bits = element->packed, mask = (1U << bits) - 1;
    for (uint64_t j = 0; j < count; j++) {
        const uint64_t begin = (first + j * step) * bits;
        const uint64_t last = (begin + bits - 1) / 8;
        uint32_t value = 0;
        for (uint64_t at = begin / 8; at <= last; at++) {
            value = value << 8 | line[at];
        }
        value = value >> (last * 8 + 8 - begin - bits) & mask;
        if (element->type == TW_U8) {
            ((uint8_t *)out)[j] = (uint8_t)value;
        } else {
            ((uint16_t *)out)[j] = (uint16_t)value;
        }
    }
}

void twi_tiff_repeat(const twi_tiff_element *element, const unsigned char *value,
                     unsigned char *out, uint64_t bytes)
{
    uint16_t wide = value[0];
    if (element->type == TW_U16) {
        memcpy(&wide, value, sizeof wide);
    }
    for (uint64_t at = 0; at < bytes; at++) {
        uint32_t byte = 0;
        for (uint64_t bit = at * 8; bit < at * 8 + 8; bit++) {
            byte = byte << 1 | (wide >> (element->packed - 1 - bit % element->packed) & 1U);
        }
        out[at] = (unsigned char)byte;
    }
}

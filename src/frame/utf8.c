/* Text in UTF-8: see utf8.h. Widths are those of Unicode's East Asian Width and of its combining
 * marks, in ranges as coarse as a table of names needs. */
#include "frame/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct range {
    uint32_t first, last;
} range;

int cli_utf8_length(const char *bytes)
{
    const unsigned char *text = (const unsigned char *)bytes;
    unsigned char lead = text[0];
    int length = lead < 0x80   ? 1
                 : lead < 0xC2 ? 0
                 : lead < 0xE0 ? 2
                 : lead < 0xF0 ? 3
                 : lead < 0xF5 ? 4
                               : 0;
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
    bool forbidden = (lead == 0xED && text[1] >= 0xA0) || (lead == 0xF4 && text[1] >= 0x90);
    return overlong || forbidden ? 0 : length;
}

static bool is_in(const range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

static int width_of(uint32_t character)
{
    static const range none[] = {
        {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
        {0x900, 0x902},   {0x93C, 0x93C},   {0x941, 0x948},   {0x94D, 0x94D},   {0xE31, 0xE31},
        {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
        {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
    static const range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                                 {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                                 {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                 {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                 {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    return is_in(none, sizeof none / sizeof *none, character)   ? 0
           : is_in(wide, sizeof wide / sizeof *wide, character) ? 2
                                                                : 1;
}

int cli_utf8_width(const char *text)
{
    int width = 0;
    while (*text != '\0') {
        const int length = cli_utf8_length(text);
        uint32_t character = (unsigned char)text[0];
        if (length > 1) {
            character &= 0x7FU >> length;
            for (int i = 1; i < length; i++) {
                character = character << 6 | ((unsigned char)text[i] & 0x3FU);
            }
        }
        width += length > 0 ? width_of(character) : 1;
        text += length > 0 ? length : 1;
    }
    return width;
}

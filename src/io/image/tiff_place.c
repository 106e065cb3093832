/*
 * Where an image lies whose first element is one inside another, whose tags are known. Tie points
 * (I, J, K, X, Y, Z) say which column I and row J lie at X, Y: those of the part are counted from
 * its own first element, and so are the offsets of rational polynomials. A transformation is a
 * matrix of four rows, (X, Y, Z, 1) = M (I, J, K, 1): its last column moves.
 */
#include "io/image/tiff_place.h"

#include <string.h>

enum { TYPE_DOUBLE = 12 };
enum { POINT = 6 };                      /* numbers of a tie point */
enum { LINE_OFFSET = 2, SAMPLE_OFFSET }; /* numbers of rational polynomials */

bool twi_tiff_places(uint16_t tag)
{
    return tag == 33550 || tag == TWI_TIFF_TIE_POINTS || tag == TWI_TIFF_TRANSFORMATION ||
           (tag >= 34735 && tag <= 34737) || tag == TWI_TIFF_RPC; /* scale, ..., keys */
}

static bool lists_place(const twi_tag *list, int32_t count)
{
    return twi_tags_find_among(list, count, TWI_TIFF_TIE_POINTS) != NULL ||
           twi_tags_find_among(list, count, TWI_TIFF_TRANSFORMATION) != NULL ||
           twi_tags_find_among(list, count, TWI_TIFF_RPC) != NULL;
}

bool twi_tiff_has_place(const tw_image_tags *tags)
{
    bool found = lists_place(tags->list, tags->count);
    for (int64_t i = 0; i < tags->page_count; i++) {
        found |= lists_place(tags->pages[i].list, tags->pages[i].count);
    }
    return found;
}

bool twi_tiff_is_place(const twi_tag *tag)
{
    return tag->type == TYPE_DOUBLE &&
           (tag->tag == TWI_TIFF_TIE_POINTS || tag->tag == TWI_TIFF_TRANSFORMATION ||
            tag->tag == TWI_TIFF_RPC);
}

/* A number of the tag and where it is put: the bytes of a tag lie anywhere. */
static double get(const twi_tag *tag, uint64_t i)
{
    double value;
    memcpy(&value, tag->data + i * sizeof value, sizeof value);
    return value;
}

static void put(unsigned char *out, uint64_t i, double value)
{
    memcpy(out + i * sizeof value, &value, sizeof value);
}

void twi_tiff_place(const twi_tag *tag, int64_t row, int64_t col, unsigned char *out)
{
    const double down = (double)row, across = (double)col;
    memcpy(out, tag->data, tag->bytes);
    if (tag->tag == TWI_TIFF_TIE_POINTS) {
        for (uint64_t i = 0; i + POINT <= tag->count; i += POINT) {
            put(out, i, get(tag, i) - across);
            put(out, i + 1, get(tag, i + 1) - down);
        }
    } else if (tag->tag == TWI_TIFF_TRANSFORMATION) {
        for (uint64_t i = 0; i < 12 && tag->count >= 16; i += 4) {
            put(out, i + 3, get(tag, i + 3) + get(tag, i) * across + get(tag, i + 1) * down);
        }
    } else if (tag->count > SAMPLE_OFFSET) {
        put(out, LINE_OFFSET, get(tag, LINE_OFFSET) - down);
        put(out, SAMPLE_OFFSET, get(tag, SAMPLE_OFFSET) - across);
    }
}

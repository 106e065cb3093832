/*
 * LZW as TIFF has it: codes of 9 to 12 bits, the high bit first, 256 to clear the table and 257 at
 * the end; a code grows one entry before the table would need it. The table is a hash of (code of a
 * string, next byte), empty whenever it is cleared.
 */
#include "io/image/tiff_lzw.h"

#include <string.h>

enum { CLEAR = 256, END = 257, FIRST = 258, LAST = 4094 };

typedef struct bits {
    unsigned char *out;
    uint64_t used; /* whole bytes */
    uint32_t held; /* bits not yet written, at the low end */
    int count;
} bits;

static void put(bits *b, uint32_t code, int width)
{
    b->held = b->held << width | code;
    b->count += width;
    while (b->count >= 8) {
        b->count -= 8;
        b->out[b->used++] = (unsigned char)(b->held >> b->count);
    }
}

uint64_t twi_lzw_bound(uint64_t bytes)
{
    return bytes + bytes / 2 + 16; /* each code is of a byte or more and has 12 bits at most */
}

static twi_lzw_slot *find(twi_lzw_slot table[TWI_LZW_SLOTS], uint32_t key)
{
    uint32_t at = (key * 2654435761U) >> 19; /* the upper 13 bits */
    while (table[at].key != 0 && table[at].key != key) {
        at = (at + 1) % TWI_LZW_SLOTS;
    }
    return &table[at];
}

uint64_t twi_lzw_pack(twi_lzw_slot table[TWI_LZW_SLOTS], const unsigned char *block, uint64_t bytes,
                      unsigned char *out)
{
    bits b = {.out = out};
    int width = 9;
    uint16_t next = FIRST;
    memset(table, 0, TWI_LZW_SLOTS * sizeof *table);
    put(&b, CLEAR, width);
    uint32_t string = bytes > 0 ? block[0] : END;
    for (uint64_t i = 1; i < bytes; i++) {
        const uint32_t key = (string << 8 | block[i]) + 1;
        twi_lzw_slot *slot = find(table, key);
        if (slot->key == key) {
            string = slot->code;
            continue;
        }
        put(&b, string, width);
        *slot = (twi_lzw_slot){key, next++};
        if (next == LAST) {
            put(&b, CLEAR, width);
            memset(table, 0, TWI_LZW_SLOTS * sizeof *table);
            width = 9;
            next = FIRST;
        } else if (next == 1 << width) {
            width++;
        }
        string = block[i];
    }
    if (bytes > 0) {
        put(&b, string, width);
        next++; /* the reader's table grows here, too */
        if (next == 1 << width && width < 12) {
            width++;
        }
    }
    put(&b, END, width);
    if (b.count > 0) {
        put(&b, 0, 8 - b.count);
    }
    return b.used;
}

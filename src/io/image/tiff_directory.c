/*
 * The directory of a TIFF page: entries in the order of their tags, the place of the next
 * directory, and behind that what does not fit into the entries. Numbers have the low byte first,
 * as on the machines that this is compiled for.
 */
#include "io/image/tiff_directory.h"

#include "base/memory.h"
#include "io/image/tiff_place.h"
#include "io/image/tiff_tags.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MOST (TWI_TAGS_MOST + 24)
#define PLACES_MOST 3

enum { ASCII = 2, SHORT = 3, LONG = 4, LONG8 = 16 };

typedef struct list {
    twi_tag entries[ENTRIES_MOST];
    int count;
    uint32_t numbers[ENTRIES_MOST]; /* behind entries of one number */
    uint16_t *bands;                /* bits, formats and what extra bands are, of each band */
    uint16_t *table;                /* of colours, for every value */
    void *places;                   /* offsets and counts as they are written */
    char no_data[40];
    unsigned char *moved[PLACES_MOST]; /* data of tags about the place */
    int moved_count;
} list;

static void add(list *l, uint16_t tag, uint16_t type, uint64_t count, const void *data)
{
    const uint64_t bytes = count * twi_tiff_type_bytes(type);
    l->entries[l->count++] = (twi_tag){tag, type, count, bytes, (unsigned char *)data};
}

static void add_number(list *l, uint16_t tag, uint16_t type, uint64_t value)
{
    l->numbers[l->count] = (uint32_t)value;
    add(l, tag, type, 1, &l->numbers[l->count]);
}

static void add_elements(list *l, const twi_tiff_page *page)
{
    const tw_type type = page->shape.type;
    const uint16_t bits = (uint16_t)(8 * tw_type_size(type));
    const uint16_t format = type == TW_F32 || type == TW_F64 || type == TW_F16 ? 3
                            : type == TW_I16 || type == TW_I32                 ? 2
                                                                               : 1;
    const bool colours = page->colours && page->bands >= 3;
    const int64_t extra = page->bands - (colours ? 3 : 1);
    uint16_t *formats = l->bands + page->bands, *extras = formats + page->bands;
    for (int64_t i = 0; i < page->bands; i++) {
        l->bands[i] = bits;
        formats[i] = format;
        extras[i] = 0;
    }
    for (int64_t i = 0; i < extra && page->opacities != NULL; i++) {
        extras[i] = page->opacities[page->bands - extra + i];
    }
    add_number(l, 256, LONG, (uint64_t)page->shape.cols);
    add_number(l, 257, LONG, (uint64_t)page->shape.rows);
    add(l, 258, SHORT, (uint64_t)page->bands, l->bands);
    add_number(l, 259, SHORT, page->compression);
    add_number(l, 262, SHORT, colours ? 2 : page->light);
    add_number(l, 277, SHORT, (uint64_t)page->bands);
    add_number(l, 284, SHORT, page->bands > 1 ? 2 : 1); /* 2: one band after the other */
    add(l, 339, SHORT, (uint64_t)page->bands, formats);
    if (extra > 0) {
        add(l, 338, SHORT, (uint64_t)extra, extras);
    }
    if (page->predictor > 1) {
        add_number(l, 317, SHORT, page->predictor);
    }
}

static void add_blocks(list *l, const twi_tiff_page *page)
{
    const uint16_t type = page->big ? LONG8 : LONG;
    const int64_t n = page->blocks;
    const char *counts = (const char *)l->places + (uint64_t)n * (page->big ? 8 : 4);
    for (int64_t i = 0; i < n; i++) {
        if (page->big) {
            ((uint64_t *)l->places)[i] = page->offsets[i];
            ((uint64_t *)l->places)[n + i] = page->counts[i];
        } else {
            ((uint32_t *)l->places)[i] = (uint32_t)page->offsets[i];
            ((uint32_t *)l->places)[n + i] = (uint32_t)page->counts[i];
        }
    }
    if (page->tiled) {
        add_number(l, 322, LONG, (uint64_t)page->block_cols);
        add_number(l, 323, LONG, (uint64_t)page->block_rows);
    } else {
        add_number(l, 278, LONG, (uint64_t)page->block_rows);
    }
    add(l, page->tiled ? 324 : 273, type, (uint64_t)n, l->places);
    add(l, page->tiled ? 325 : 279, type, (uint64_t)n, counts);
}

/* The table has a colour for every value of the elements, that of another file perhaps not. */
static tw_status add_table(tw_context *ctx, list *l, const twi_tiff_page *page)
{
    if (page->table == NULL) {
        return TW_OK;
    }
    const uint64_t all = (uint64_t)1 << (8 * tw_type_size(page->shape.type));
    const uint64_t there = page->table->count / 3;
    tw_status status =
        twi_alloc_zeroed(ctx, &l->table, 3 * all, sizeof *l->table, "a colour table");
    for (uint64_t k = 0; k < 3 && status == TW_OK; k++) {
        memcpy(l->table + k * all, page->table->data + k * there * sizeof *l->table,
               there * sizeof *l->table);
    }
    if (status == TW_OK) {
        add(l, TWI_TIFF_COLOURS, SHORT, 3 * all, l->table);
    }
    return status;
}

/* A tag of another file, whose place moves with the first element. */
static tw_status add_kept(tw_context *ctx, list *l, const twi_tiff_page *page, const twi_tag *tag)
{
    twi_tag *entry = &l->entries[l->count++];
    *entry = *tag;
    if (!twi_tiff_is_place(tag) || (page->first_row == 0 && page->first_col == 0) ||
        l->moved_count == PLACES_MOST) {
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &entry->data, tag->bytes, 1, "a TIFF directory");
    if (status != TW_OK) {
        return status;
    }
    l->moved[l->moved_count++] = entry->data;
    twi_tiff_place(tag, page->first_row, page->first_col, entry->data);
    return TW_OK;
}

static tw_status add_tags(tw_context *ctx, list *l, const twi_tiff_page *page)
{
    const twi_page_tags *from = twi_tags_page(page->tags, page->tags_plane);
    tw_status status = add_table(ctx, l, page);
    from = from != NULL && from->elsewhere ? from : NULL;
    for (int32_t i = 0; page->tags != NULL && i < page->tags->count && status == TW_OK; i++) {
        const twi_tag *tag = &page->tags->list[i];
        const bool ours = tag->tag == TWI_TIFF_METADATA || tag->tag == TWI_TIFF_NO_DATA ||
                          tag->tag == TWI_TIFF_SOFTWARE || tag->tag == TWI_TIFF_COLOURS;
        const bool other = from != NULL && twi_tiff_places(tag->tag);
        if (!ours && !other && (page->big || tag->type < LONG8)) {
            status = add_kept(ctx, l, page, tag);
        }
    }
    for (int32_t i = 0; from != NULL && i < from->count && status == TW_OK; i++) {
        const twi_tag *tag = &from->list[i];
        if (twi_tiff_places(tag->tag) && (page->big || tag->type < LONG8)) {
            status = add_kept(ctx, l, page, tag);
        }
    }
    add(l, TWI_TIFF_SOFTWARE, ASCII, sizeof TWI_MAKER, TWI_MAKER);
    if (page->metadata != NULL) {
        add(l, TWI_TIFF_METADATA, ASCII, strlen(page->metadata) + 1, page->metadata);
    }
    if (page->no_data != NULL) {
        if (isnan(*page->no_data)) {
            strcpy(l->no_data, "nan");
        } else {
            snprintf(l->no_data, sizeof l->no_data, "%.17g", *page->no_data);
        }
        add(l, TWI_TIFF_NO_DATA, ASCII, strlen(l->no_data) + 1, l->no_data);
    }
    return status;
}

static int by_tag(const void *a, const void *b)
{
    return (int)((const twi_tag *)a)->tag - (int)((const twi_tag *)b)->tag;
}

static tw_status gather(tw_context *ctx, list *l, const twi_tiff_page *page)
{
    l->count = 0;
    tw_status status =
        twi_alloc(ctx, &l->bands, (uint64_t)page->bands * 3, sizeof *l->bands, "a TIFF directory");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &l->places, (uint64_t)page->blocks * 2, page->big ? 8 : 4,
                           "a TIFF directory");
    }
    if (status == TW_OK) {
        add_elements(l, page);
        add_blocks(l, page);
        status = add_tags(ctx, l, page);
        qsort(l->entries, (size_t)l->count, sizeof *l->entries, by_tag);
    }
    return status;
}

static void forget(list *l)
{
    while (l->moved_count > 0) {
        twi_free(l->moved[--l->moved_count]);
    }
    twi_free(l->table);
    twi_free(l->places);
    twi_free(l->bands);
    twi_free(l);
}

static tw_status make(tw_context *ctx, list **out, const twi_tiff_page *page)
{
    tw_status status = twi_alloc_zeroed(ctx, out, 1, sizeof **out, "a TIFF directory");
    if (status == TW_OK) {
        status = gather(ctx, *out, page);
        if (status != TW_OK) {
            forget(*out);
        }
    }
    return status;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static uint64_t head_bytes(const list *l, bool big)
{
    return big ? 8 + (uint64_t)l->count * 20 + 8 : 2 + (uint64_t)l->count * 12 + 4;
}

tw_status twi_tiff_directory_size(tw_context *ctx, const twi_tiff_page *page, uint64_t *bytes,
                                  uint64_t *link)
{
    list *l = NULL;
    tw_status status = make(ctx, &l, page);
    if (status != TW_OK) {
        return status;
    }
    *link = head_bytes(l, page->big) - (page->big ? 8 : 4);
    *bytes = padded(head_bytes(l, page->big));
    for (int i = 0; i < l->count; i++) {
        *bytes += l->entries[i].bytes > (page->big ? 8 : 4) ? padded(l->entries[i].bytes) : 0;
    }
    forget(l);
    return TW_OK;
}

static unsigned char *put(unsigned char *out, uint64_t value, size_t bytes)
{
    memcpy(out, &value, bytes);
    return out + bytes;
}

tw_status twi_tiff_directory(tw_context *ctx, const twi_tiff_page *page, uint64_t at, uint64_t next,
                             unsigned char *out)
{
    const uint64_t wide = page->big ? 8 : 4;
    list *l = NULL;
    tw_status status = make(ctx, &l, page);
    if (status != TW_OK) {
        return status;
    }
    uint64_t behind = padded(head_bytes(l, page->big));
    unsigned char *head = put(out, (uint64_t)l->count, page->big ? 8 : 2);
    memset(head, 0, behind - (page->big ? 8 : 2));
    for (int i = 0; i < l->count; i++) {
        const twi_tag *entry = &l->entries[i];
        head = put(head, entry->tag, 2);
        head = put(head, entry->type, 2);
        head = put(head, entry->count, wide);
        if (entry->bytes <= wide) {
            memcpy(head, entry->data, entry->bytes);
        } else {
            (void)put(head, at + behind, wide);
            memcpy(out + behind, entry->data, entry->bytes);
            memset(out + behind + entry->bytes, 0, padded(entry->bytes) - entry->bytes);
            behind += padded(entry->bytes);
        }
        head += wide;
    }
    (void)put(head, next, wide);
    forget(l);
    return TW_OK;
}

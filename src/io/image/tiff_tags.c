/*
 * The tags of a TIFF that are not about how its elements are stored: where on Earth it lies
 * (GeoTIFF), what GDAL adds, resolution, authors. They are read from the directory of the first
 * page as they are, without libtiff, which does not know most of them, and turned to the byte order
 * of this machine. The other directories are looked at for the number of planes.
 */
#include "io/image/tiff_tags.h"

#include "base/memory.h"
#include "io/image/metadata.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAG_BYTES_MOST ((uint64_t)1 << 24) /* more is not kept */
#define ENTRIES_MOST 4096
#define PAGES_MOST 65536

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4 };
enum { SMALLER = 1, MASK = 4 }; /* kinds of pages */

/* Kept for the result: descriptions, resolution, authors, GeoTIFF, GDAL, sensor models. */
static const uint16_t kept[] = {270,   271,   272,   282,   283,   286,   287,   296,
                                305,   306,   315,   316,   700,   33432, 33550, 33922,
                                34264, 34735, 34736, 34737, 42112, 42113, 50844};

typedef struct walker {
    tw_context *ctx;
    const twi_input *input;
    bool swapped; /* the high byte first */
    bool big;     /* BigTIFF */
} walker;

/* What the directories say of the elements. */
typedef struct page {
    uint16_t kind; /* bits of SMALLER and MASK */
    uint16_t bands, bits, format, light, extra;
    uint16_t extra_kind; /* of the last band */
} page;

uint64_t twi_tiff_type_bytes(uint16_t type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

/* Numbers of RATIONAL are two of 4 bytes. */
static uint64_t swap_unit(uint16_t type)
{
    return type == 5 || type == 10 ? 4 : twi_tiff_type_bytes(type);
}

static void swap(unsigned char *data, uint64_t bytes, uint64_t unit)
{
    for (uint64_t at = 0; unit > 1 && at + unit <= bytes; at += unit) {
        for (uint64_t i = 0; i < unit / 2; i++) {
            const unsigned char byte = data[at + i];
            data[at + i] = data[at + unit - 1 - i];
            data[at + unit - 1 - i] = byte;
        }
    }
}

/* Bytes of the file; false if they are not there. */
static bool fetch(const walker *w, uint64_t at, void *out, uint64_t bytes)
{
    return at <= w->input->size && bytes <= w->input->size - at &&
           twi_input_try(w->input, at, out, bytes) == 0;
}

/* A number of the file; false if it is not there. */
static bool number(const walker *w, uint64_t at, uint64_t bytes, uint64_t *out)
{
    unsigned char data[8] = {0};
    if (!fetch(w, at, data, bytes)) {
        return false;
    }
    if (w->swapped) {
        swap(data, bytes, bytes);
    }
    *out = 0;
    memcpy(out, data, sizeof data); /* the low byte first */
    return true;
}

/* An entry of a directory. */
typedef struct entry {
    uint16_t tag, type;
    uint64_t count, bytes;
    uint64_t at; /* of its data */
} entry;

static bool read_entry(const walker *w, uint64_t at, entry *out)
{
    const uint64_t wide = w->big ? 8 : 4;
    uint64_t tag, type, place;
    if (!number(w, at, 2, &tag) || !number(w, at + 2, 2, &type) ||
        !number(w, at + 4, wide, &out->count)) {
        return false;
    }
    out->tag = (uint16_t)tag;
    out->type = (uint16_t)type;
    if (!twi_mul(out->count, twi_tiff_type_bytes(out->type), &out->bytes)) {
        out->bytes = UINT64_MAX;
    }
    out->at = at + 4 + wide;
    if (out->bytes > wide) {
        if (!number(w, out->at, wide, &place)) {
            return false;
        }
        out->at = place;
    }
    return true;
}

/* A number in an entry of SHORT or LONG, the i-th; `otherwise` if there is none. */
static uint16_t small_number(const walker *w, const entry *e, uint64_t i, uint16_t otherwise)
{
    const uint64_t size = twi_tiff_type_bytes(e->type);
    uint64_t value;
    if ((e->type != TYPE_SHORT && e->type != TYPE_LONG) || i >= e->count ||
        !number(w, e->at + i * size, size, &value) || value > UINT16_MAX) {
        return otherwise;
    }
    return (uint16_t)value;
}

static tw_status keep(const walker *w, tw_image_tags *tags, const entry *e)
{
    bool wanted = false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        wanted |= kept[i] == e->tag;
    }
    if (!wanted || tags->count == TWI_TAGS_MOST || e->bytes == 0 || e->bytes > TAG_BYTES_MOST ||
        e->at > w->input->size || e->bytes > w->input->size - e->at ||
        twi_tags_find(tags, e->tag) != NULL) {
        return TW_OK;
    }
    unsigned char *data = NULL;
    tw_status status = twi_alloc(w->ctx, &data, e->bytes + 1, 1, "the tags of an image");
    if (status != TW_OK) {
        return status;
    }
    if (!fetch(w, e->at, data, e->bytes)) {
        twi_free(data);
        return TW_OK;
    }
    if (w->swapped) {
        swap(data, e->bytes, swap_unit(e->type));
    }
    data[e->bytes] = '\0';
    tags->list[tags->count++] = (twi_tag){e->tag, e->type, e->count, e->bytes, data};
    return TW_OK;
}

static void look(const walker *w, page *p, const entry *e)
{
    switch (e->tag) {
    case 254:
        p->kind = small_number(w, e, 0, 0);
        break;
    case 258:
        p->bits = small_number(w, e, 0, 1);
        break;
    case 262:
        p->light = small_number(w, e, 0, 1);
        break;
    case 277:
        p->bands = small_number(w, e, 0, 1);
        break;
    case 338:
        p->extra = (uint16_t)(e->count < UINT16_MAX ? e->count : UINT16_MAX);
        p->extra_kind = e->count > 0 ? small_number(w, e, e->count - 1, 0) : 0;
        break;
    case 339:
        p->format = small_number(w, e, 0, 1);
        break;
    default:
        break;
    }
}

/* The directory at *at, and where the next one is, 0 if there is none. */
static tw_status read_directory(const walker *w, page *p, tw_image_tags *tags, uint64_t *at)
{
    const uint64_t wide = w->big ? 8 : 2, step = w->big ? 20 : 12;
    uint64_t count, next = 0;
    entry e;
    tw_status status = TW_OK;
    *p = (page){.bands = 1, .bits = 1, .format = 1, .light = 1};
    if (!number(w, *at, wide, &count) || count == 0 || count > ENTRIES_MOST) {
        *at = 0;
        p->bands = 0;
        return TW_OK;
    }
    for (uint64_t i = 0; i < count && status == TW_OK; i++) {
        if (read_entry(w, *at + wide + i * step, &e)) {
            look(w, p, &e);
            status = tags != NULL ? keep(w, tags, &e) : TW_OK;
        }
    }
    *at = number(w, *at + wide + count * step, w->big ? 8 : 4, &next) ? next : 0;
    return status;
}

/* The value of GDAL's tag, as elements of the file have it. */
static void read_no_data(tw_image_tags *tags, const page *p)
{
    const twi_tag *tag = twi_tags_find(tags, TWI_TIFF_NO_DATA);
    if (tag == NULL || tag->type != TYPE_ASCII) {
        return;
    }
    const char *text = (const char *)tag->data;
    char *end = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double value = plain != (locale_t)0 ? strtod_l(text, &end, plain) : 0;
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    if (end == NULL || end == text) {
        return;
    }
    tags->info.has_no_data = 1;
    tags->info.no_data = p->format == 3 && p->bits == 32 ? (double)(float)value : value;
}

tw_status twi_tiff_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    walker w = {.ctx = ctx, .input = input};
    page first, other;
    uint64_t at, version;
    bool masked = false;
    unsigned char mark[2];
    if (!fetch(&w, 0, mark, 2) || mark[0] != mark[1] || (mark[0] != 'I' && mark[0] != 'M')) {
        return TW_OK;
    }
    w.swapped = mark[0] == 'M';
    if (!number(&w, 2, 2, &version) || (version != 42 && version != 43)) {
        return TW_OK;
    }
    w.big = version == 43;
    if (!number(&w, w.big ? 8 : 4, w.big ? 8 : 4, &at) || at == 0) {
        return TW_OK;
    }
    tw_status status = read_directory(&w, &first, tags, &at);
    tags->info.planes = tags->info.bands = first.bands;
    for (int i = 1; status == TW_OK && at != 0 && i < PAGES_MOST; i++) {
        status = read_directory(&w, &other, NULL, &at);
        if (status == TW_OK && (other.kind & (SMALLER | MASK)) == 0) {
            tags->info.planes += other.bands;
        }
        masked |= (other.kind & (SMALLER | MASK)) == MASK;
        if (status == TW_OK) {
            status = twi_check_cancel(ctx);
        }
    }
    if (status == TW_OK && masked) {
        twi_log(ctx,
                "%.400s: its mask is not applied: masked elements count like others; 'entropy "
                "--mask' takes a mask that is a file of its own",
                input->name);
    }
    tags->info.colours = first.light == 2 && first.bands >= 3;
    if (first.bands > 1 && first.extra > 0 && (first.extra_kind == 1 || first.extra_kind == 2)) {
        tags->info.alpha = first.bands - 1;
    }
    read_no_data(tags, &first);
    const twi_tag *software = twi_tags_find(tags, TWI_TIFF_SOFTWARE);
    tags->info.made_here = software != NULL && software->type == TYPE_ASCII &&
                           strcmp((const char *)software->data, TWI_MAKER) == 0;
    return status == TW_OK ? twi_metadata_names(ctx, tags) : status;
}

/*
 * The tags of a TIFF that are not about how its elements are stored: where on Earth it lies
 * (GeoTIFF), what GDAL adds, resolution, authors. They are read from the directory of the first
 * page as they are, without libtiff, which does not know most of them, and turned to the byte order
 * of this machine. The other directories are looked at for the number of planes, for where their
 * pages lie, as those that GDAL appends (APPEND_SUBDATASET) lie anywhere, and for colour tables.
 */
#include "io/image/tiff_tags.h"

#include "base/memory.h"
#include "io/image/metadata.h"
#include "io/image/tiff_place.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAG_BYTES_MOST ((uint64_t)1 << 24)   /* more is not kept */
#define PAGES_KEPT_MOST ((uint64_t)1 << 24)  /* bytes, of the pages after the first */
#define PAGES_BYTES_MOST ((uint64_t)1 << 28) /* that are read of them */
#define ENTRIES_MOST 4096
#define PAGES_MOST 65536

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4 };
enum { SMALLER = 1, MASK = 4 };                                            /* kinds of pages */
enum { LIGHT_WHITE = 0, LIGHT_RGB = 2, LIGHT_TABLE = 3, LIGHT_YCBCR = 6 }; /* read as RGB */
#define LOOKED_AT 16 /* bands behind the colours, in pages after the first */

/* Kept for the result: descriptions, which corner comes first, resolution, authors, GeoTIFF, GDAL,
 * sensor models. */
static const uint16_t kept[] = {270,   271,   272,   274,   282,   283,   286,   287,   296,
                                305,   306,   315,   316,   320,   700,   33432, 33550, 33922,
                                34264, 34735, 34736, 34737, 42112, 42113, 50844};

typedef struct walker {
    tw_context *ctx;
    const twi_input *input;
    bool swapped; /* the high byte first */
    bool big;     /* BigTIFF */
} walker;

/* An entry of a directory. */
typedef struct entry {
    uint16_t tag, type;
    uint64_t count, bytes;
    uint64_t at; /* of its data */
} entry;

/* What the directories say of the elements. */
typedef struct page {
    uint16_t kind; /* bits of SMALLER and MASK */
    uint16_t bands, bits, format, light;
    uint64_t rows, cols;
    entry extra;   /* what the last of its bands are: SHORT each */
    entry no_data; /* GDAL's */
} page;

/* Where tags of a directory are kept. */
typedef struct keeper {
    twi_tag *list;
    int32_t *count;
    int32_t most;
    bool (*wanted)(uint16_t tag);
    uint64_t left; /* bytes that there is room for */
    bool full;     /* there was none for a tag */
} keeper;

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

static uint64_t side(const walker *w, const entry *e)
{
    uint64_t value = 0;
    const bool known = e->type == TYPE_SHORT || e->type == TYPE_LONG;
    return known && number(w, e->at, twi_tiff_type_bytes(e->type), &value) ? value : 0;
}

static bool is_kept(uint16_t tag)
{
    bool wanted = false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        wanted |= kept[i] == tag;
    }
    return wanted;
}

static tw_status keep(const walker *w, keeper *k, const entry *e)
{
    if (!k->wanted(e->tag) || *k->count == k->most || e->bytes == 0 || e->bytes > TAG_BYTES_MOST ||
        e->at > w->input->size || e->bytes > w->input->size - e->at ||
        twi_tags_find_among(k->list, *k->count, e->tag) != NULL) {
        return TW_OK;
    }
    if (e->bytes > k->left) {
        k->full = true;
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
    k->list[(*k->count)++] = (twi_tag){e->tag, e->type, e->count, e->bytes, data};
    k->left -= e->bytes;
    return TW_OK;
}

static void look(const walker *w, page *p, const entry *e)
{
    switch (e->tag) {
    case 254:
        p->kind = small_number(w, e, 0, 0);
        break;
    case 256:
        p->cols = side(w, e);
        break;
    case 257:
        p->rows = side(w, e);
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
        p->extra = *e;
        break;
    case 339:
        p->format = small_number(w, e, 0, 1);
        break;
    case TWI_TIFF_NO_DATA:
        p->no_data = *e;
        break;
    default:
        break;
    }
}

static bool has_colours(const page *p)
{
    return p->bands >= 3 && (p->light == LIGHT_RGB || p->light == LIGHT_YCBCR);
}

/* What band `band` of a page is besides a colour: 1 or 2 if it is opacity, else 0. */
static unsigned char opacity(const walker *w, const page *p, int64_t band)
{
    const int64_t extra = p->extra.count < p->bands ? (int64_t)p->extra.count : p->bands;
    const int64_t at = band - (p->bands - extra);
    const bool behind = at >= 0 && band >= (has_colours(p) ? 3 : 1);
    const uint16_t kind = behind ? small_number(w, &p->extra, (uint64_t)at, 0) : 0;
    return kind == 1 || kind == 2 ? (unsigned char)kind : 0;
}

/* The first band that is opacity, of the first LOOKED_AT behind the colours and the last; -1: none.
 */
static int64_t first_opacity(const walker *w, const page *p)
{
    const int64_t extra = p->extra.count < p->bands ? (int64_t)p->extra.count : p->bands;
    for (int64_t i = 0; i < extra && i <= LOOKED_AT; i++) {
        const int64_t band = i < LOOKED_AT ? p->bands - extra + i : p->bands - 1;
        if (opacity(w, p, band) != 0) {
            return band;
        }
    }
    return -1;
}

static bool are_alike(const walker *w, const page *a, const page *b)
{
    return a->bands == b->bands && has_colours(a) == has_colours(b) &&
           first_opacity(w, a) == first_opacity(w, b);
}

/* Which bands are colours, and which opacity, wherever it stands. */
static tw_status find_opacities(const walker *w, tw_image_tags *tags, const page *first)
{
    int64_t *alpha = &tags->info.alpha;
    tags->info.colours = tags->colours_first = has_colours(first);
    if (first->bands < 2 || first->extra.count == 0) {
        return TW_OK;
    }
    tw_status status = twi_alloc(w->ctx, &tags->opacities, first->bands, 1, "the bands of a TIFF");
    for (int64_t k = 0; k < first->bands && status == TW_OK; k++) {
        tags->opacities[k] = opacity(w, first, k);
        *alpha = *alpha < 0 && tags->opacities[k] != 0 ? k : *alpha;
    }
    return status;
}

/* Of pages that differ. */
static void forget_colours(tw_context *ctx, tw_image_tags *tags, const char *name, bool opaque)
{
    if (opaque || tags->info.alpha >= 0) {
        twi_log(ctx,
                "%.400s: its pages are not alike, so their alpha channels count like other planes",
                name);
    }
    twi_free(tags->opacities);
    tags->opacities = NULL;
    tags->info.alpha = -1;
    tags->info.colours = tags->colours_first = 0;
}

/* The directory at *at, and where the next one is, 0 if there is none. */
static tw_status read_directory(const walker *w, page *p, keeper *k, uint64_t *at)
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
            status = keep(w, k, &e);
        }
    }
    *at = number(w, *at + wide + count * step, w->big ? 8 : 4, &next) ? next : 0;
    return status;
}

/* ------------------------------------------------------------------------------- other pages */

static bool same_tags(const twi_tag *a, int32_t a_count, const twi_tag *b, int32_t b_count,
                      bool (*counts)(uint16_t tag))
{
    int32_t left = 0;
    for (int32_t i = 0; i < b_count; i++) {
        left += counts(b[i].tag);
    }
    for (int32_t i = 0; i < a_count; i++) {
        const twi_tag *one = &a[i];
        const twi_tag *two = counts(one->tag) ? twi_tags_find_among(b, b_count, one->tag) : NULL;
        if (!counts(one->tag)) {
            continue;
        }
        if (two == NULL || two->type != one->type || two->bytes != one->bytes ||
            memcmp(two->data, one->data, one->bytes) != 0) {
            return false;
        }
        left--;
    }
    return left == 0;
}

static bool is_table(uint16_t tag)
{
    return tag == TWI_TIFF_COLOURS;
}

static bool is_of_page(uint16_t tag)
{
    return is_table(tag) || twi_tiff_places(tag);
}

static bool is_placed(const twi_tag *list, int32_t count)
{
    bool found = false;
    for (int32_t i = 0; i < count; i++) {
        found |= twi_tiff_places(list[i].tag);
    }
    return found;
}

/* Whether a page is as those before it are: the first one, or `last` if that is not NULL. */
static bool is_as_before(const tw_image_tags *tags, const twi_page_tags *last,
                         const twi_page_tags *next)
{
    if (last == NULL) {
        return !next->elsewhere && next->bands == tags->info.bands && next->light == tags->light &&
               same_tags(tags->list, tags->count, next->list, next->count, is_table);
    }
    return next->elsewhere == last->elsewhere && next->bands == last->bands &&
           next->light == last->light &&
           same_tags(last->list, last->count, next->list, next->count, is_of_page);
}

/* What the pages after the first are found to be. */
typedef struct others {
    uint64_t unread; /* bytes of tags that may still be read */
    uint64_t left;   /* and be kept */
    int64_t room;    /* in tags->pages */
    bool full;       /* there are more */
    bool masked;     /* one of them is a mask */
    bool alike;      /* they have the bands of the first */
    bool opaque;     /* one of them has opacity */
    bool apart;      /* one has another no-data value */
} others;

static tw_status add_page(const walker *w, tw_image_tags *tags, others *o,
                          const twi_page_tags *next)
{
    if (tags->page_count == o->room) {
        const int64_t room = o->room > 0 ? 2 * o->room : 4;
        twi_page_tags *pages = NULL;
        tw_status status =
            twi_alloc(w->ctx, &pages, (uint64_t)room, sizeof *pages, "the tags of an image");
        if (status != TW_OK) {
            return status;
        }
        if (tags->page_count > 0) {
            memcpy(pages, tags->pages, (size_t)tags->page_count * sizeof *pages);
        }
        twi_free(tags->pages);
        tags->pages = pages;
        o->room = room;
    }
    tags->pages[tags->page_count++] = *next;
    return TW_OK;
}

static void forget_tags(twi_page_tags *next)
{
    while (next->count > 0) {
        twi_free(next->list[--next->count].data);
    }
}

/* A page of elements: where it lies, and how they are shown, if not as in the first. One without a
 * place, such as those of a stack, lies where the first does if it has the size of it. */
static tw_status take_page(const walker *w, tw_image_tags *tags, others *o, const page *first,
                           const page *p, twi_page_tags *next)
{
    const bool placed = is_placed(next->list, next->count);
    const bool size = p->rows == first->rows && p->cols == first->cols && !o->full;
    twi_page_tags *last = tags->page_count > 0 ? &tags->pages[tags->page_count - 1] : NULL;
    last = last != NULL && last->end == tags->info.planes ? last : NULL;
    next->first = tags->info.planes;
    next->end = tags->info.planes += p->bands;
    next->bands = p->bands;
    next->light = p->light;
    next->elsewhere = (placed || !size) &&
                      !same_tags(tags->list, tags->count, next->list, next->count, twi_tiff_places);
    if (is_as_before(tags, NULL, next)) {
        forget_tags(next);
        return TW_OK;
    }
    if (last != NULL && is_as_before(tags, last, next)) {
        last->end = next->end;
        forget_tags(next);
        return TW_OK;
    }
    for (int32_t i = 0; i < next->count; i++) {
        o->left -= next->list[i].bytes; /* no more than there was: see read_others */
    }
    o->left -= o->left < sizeof *next ? o->left : sizeof *next;
    tw_status status = add_page(w, tags, o, next);
    if (status != TW_OK) {
        forget_tags(next);
    }
    return status;
}

static bool same_no_data(const walker *w, const page *a, const page *b)
{
    char texts[2][64] = {"", ""};
    const entry *const entries[] = {&a->no_data, &b->no_data};
    for (int i = 0; i < 2; i++) {
        const uint64_t bytes = entries[i]->bytes < 63 ? entries[i]->bytes : 63;
        if (bytes > 0 && !fetch(w, entries[i]->at, texts[i], bytes)) {
            texts[i][0] = '\0';
        }
    }
    return strcmp(texts[0], texts[1]) == 0;
}

static tw_status read_others(const walker *w, tw_image_tags *tags, const page *first, uint64_t at,
                             others *o)
{
    tw_status status = TW_OK;
    for (int i = 1; status == TW_OK && at != 0 && i < PAGES_MOST; i++) {
        page p;
        twi_page_tags next = {.count = 0};
        const uint64_t most = o->left < o->unread ? o->left : o->unread;
        keeper k = {next.list, &next.count, TWI_PAGE_TAGS_MOST, is_of_page, most, false};
        status = read_directory(w, &p, &k, &at);
        o->unread -= most - k.left;
        if (k.full) {
            o->full = true;
            forget_tags(&next);
        }
        o->masked |= (p.kind & (SMALLER | MASK)) == MASK;
        if (status == TW_OK && (p.kind & (SMALLER | MASK)) == 0 && p.bands > 0) {
            o->alike = o->alike && are_alike(w, first, &p);
            o->opaque = o->opaque || first_opacity(w, &p) >= 0;
            o->apart = o->apart || !same_no_data(w, first, &p);
            status = take_page(w, tags, o, first, &p, &next);
        } else {
            forget_tags(&next);
        }
        if (status == TW_OK) {
            status = twi_check_cancel(w->ctx);
        }
    }
    return status;
}

/* ----------------------------------------------------------------------------------- no data */

/* A number as GDAL reads it: with a comma, and what is none as Windows writes it ("-1.#QNAN"). */
static bool read_number(const char *text, double *out)
{
    static const char *const words[] = {"1.#QNAN", "1.#SNAN", "1.#IND", "1.#INF"};
    char plain[64], *end = NULL, *comma;
    text += strspn(text, " ");
    const size_t length = strlen(text);
    const bool negative = text[0] == '-';
    for (int i = 0; i < 4; i++) {
        if (strncasecmp(text + negative, words[i], strlen(words[i])) == 0) {
            *out = i < 3 ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
            return true;
        }
    }
    if (length >= sizeof plain) {
        return false;
    }
    memcpy(plain, text, length + 1);
    comma = strchr(plain, '.') == NULL ? strchr(plain, ',') : NULL;
    if (comma != NULL) {
        *comma = '.';
    }
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0) {
        return false;
    }
    *out = strtod_l(plain, &end, locale);
    freelocale(locale);
    return end != plain && end[strspn(end, " \t\r\n")] == '\0';
}

/* The value of GDAL's tag, as elements of the file have it. */
static void read_no_data(const walker *w, tw_image_tags *tags, const page *p)
{
    const twi_tag *tag = twi_tags_find(tags, TWI_TIFF_NO_DATA);
    if (tag == NULL || tag->type != TYPE_ASCII) {
        return;
    }
    const char *text = (const char *)tag->data;
    double value;
    if (!read_number(text, &value)) {
        if (text[strspn(text, " ")] != '\0') {
            twi_log(w->ctx, "%.400s: its no-data value '%.40s' is not a number, and is ignored",
                    w->input->name, text);
        }
        return;
    }
    tags->info.has_no_data = 1;
    tags->info.no_data = p->format == 3 && p->bits == 32 ? (double)(float)value : value;
}

static void speak_of(tw_context *ctx, const char *name, const others *o)
{
    if (o->masked) {
        twi_log(ctx,
                "%.400s: its mask is not applied: masked elements count like any other; 'entropy "
                "--mask' takes a mask that is a file of its own",
                name);
    }
    if (o->apart) {
        twi_log(ctx,
                "%.400s: its pages differ in their no-data values; that of the first counts in "
                "all, unless --no-data names another",
                name);
    }
    if (o->full) {
        twi_log(ctx,
                "%.400s: the georeferencing of its last pages is left out; the file has more than "
                "is kept",
                name);
    }
}

const twi_tag *twi_tiff_table(const tw_image_tags *tags, int64_t plane)
{
    const twi_page_tags *from = twi_tags_page(tags, plane);
    const uint16_t light = from != NULL ? from->light : tags->light;
    const twi_tag *table = from != NULL
                               ? twi_tags_find_among(from->list, from->count, TWI_TIFF_COLOURS)
                               : twi_tags_find(tags, TWI_TIFF_COLOURS);
    const bool right = table != NULL && table->type == TYPE_SHORT && table->count > 0 &&
                       table->count <= 3 * 65536 && table->count % 3 == 0;
    return right && light <= LIGHT_TABLE && light != LIGHT_RGB ? table : NULL;
}

/* The kind of file, and where its first directory lies; false if it is no TIFF. */
static bool open_walker(walker *w, uint64_t *at)
{
    unsigned char mark[2];
    uint64_t version;
    if (!fetch(w, 0, mark, 2) || mark[0] != mark[1] || (mark[0] != 'I' && mark[0] != 'M')) {
        return false;
    }
    w->swapped = mark[0] == 'M';
    if (!number(w, 2, 2, &version) || (version != 42 && version != 43)) {
        return false;
    }
    w->big = version == 43;
    return number(w, w->big ? 8 : 4, w->big ? 8 : 4, at) && *at != 0;
}

tw_status twi_tiff_tags(tw_context *ctx, tw_image_tags *tags, const twi_input *input)
{
    walker w = {.ctx = ctx, .input = input};
    keeper k = {tags->list, &tags->count, TWI_TAGS_MOST, is_kept, UINT64_MAX, false};
    others o = {.unread = PAGES_BYTES_MOST, .left = PAGES_KEPT_MOST, .alike = true};
    page first;
    uint64_t at;
    if (!open_walker(&w, &at)) {
        return TW_OK;
    }
    tw_status status = read_directory(&w, &first, &k, &at);
    tags->info.planes = tags->info.bands = first.bands;
    tags->light = first.light;
    if (status == TW_OK) {
        status = read_others(&w, tags, &first, at, &o);
    }
    if (status == TW_OK) {
        speak_of(ctx, input->name, &o);
        status = find_opacities(&w, tags, &first);
    }
    if (!o.alike) {
        forget_colours(ctx, tags, input->name, o.opaque);
    }
    read_no_data(&w, tags, &first);
    tags->info.has_place = twi_tiff_has_place(tags);
    tags->info.colour_table = twi_tiff_table(tags, 0) != NULL;
    tags->info.zero_is_white = first.light == LIGHT_WHITE;
    const twi_tag *software = twi_tags_find(tags, TWI_TIFF_SOFTWARE);
    tags->info.made_here = software != NULL && software->type == TYPE_ASCII &&
                           strcmp((const char *)software->data, TWI_MAKER) == 0;
    if (status == TW_OK) {
        twi_metadata_colours(tags);
        status = twi_metadata_names(ctx, tags);
    }
    return status;
}

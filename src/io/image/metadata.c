/* See metadata.h. */
#include "io/image/metadata.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAG_METADATA 42112
#define HEAD "<GDALMetadata>\n"
#define FOOT "</GDALMetadata>\n"
#define SAMPLE_ROOM 64 /* for a changed number of a band */

static const char *find(const char *begin, const char *end, const char *word)
{
    return begin < end ? memmem(begin, (size_t)(end - begin), word, strlen(word)) : NULL;
}

/* The value of NAME="..." among begin ... end-1, cut to the room. */
static bool attribute(char *out, size_t room, const char *begin, const char *end, const char *name)
{
    char mark[32];
    snprintf(mark, sizeof mark, " %s=\"", name);
    const char *at = find(begin, end, mark);
    out[0] = '\0';
    if (at == NULL) {
        return false;
    }
    at += strlen(mark);
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (quote == NULL) {
        return false;
    }
    size_t length = (size_t)(quote - at) < room - 1 ? (size_t)(quote - at) : room - 1;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

bool twi_metadata_next(twi_metadata_item *out, const char *begin, const char *end)
{
    const char *item = find(begin, end, "<Item ");
    const char *close = item != NULL ? find(item, end, ">") : NULL;
    const char *foot = close != NULL ? find(close, end, "</Item>") : NULL;
    char number[24];
    if (foot == NULL) {
        return false;
    }
    *out = (twi_metadata_item){.begin = item,
                               .end = foot + strlen("</Item>"),
                               .inside = close + 1,
                               .inside_bytes = (uint64_t)(foot - close - 1),
                               .sample = -1};
    attribute(out->name, sizeof out->name, item, close, "name");
    attribute(out->role, sizeof out->role, item, close, "role");
    if (attribute(number, sizeof number, item, close, "sample") && number[0] >= '0' &&
        number[0] <= '9') {
        out->sample = strtoll(number, NULL, 10);
    }
    return true;
}

/* Entities as the characters they stand for, in place. */
static void unescape(char *text)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&quot;", "&apos;", "&amp;"};
    static const char characters[] = "<>\"'&";
    char *out = text;
    while (*text != '\0') {
        char c = *text;
        size_t taken = 1;
        for (size_t e = 0; c == '&' && e < 5 && taken == 1; e++) {
            if (strncmp(text, entities[e], strlen(entities[e])) == 0) {
                c = characters[e];
                taken = strlen(entities[e]);
            }
        }
        *out++ = c;
        text += taken;
    }
    *out = '\0';
}

/* The text between the marks. GDAL escapes it twice, and takes what others escaped once. */
static void copy_inside(char *out, const twi_metadata_item *item)
{
    memcpy(out, item->inside, item->inside_bytes);
    out[item->inside_bytes] = '\0';
    unescape(out);
    unescape(out);
}

tw_status twi_metadata_names(tw_context *ctx, tw_image_tags *tags)
{
    const twi_tag *tag = twi_tags_find(tags, TAG_METADATA);
    twi_metadata_item item;
    tw_status status = TW_OK;
    if (tag == NULL) {
        return TW_OK;
    }
    const char *at = (const char *)tag->data;
    const char *end = at + tag->bytes;
    for (; status == TW_OK && twi_metadata_next(&item, at, end); at = item.end) {
        if (strcmp(item.role, "description") != 0 || item.sample < 0 ||
            item.sample >= tags->info.bands) {
            continue;
        }
        if (tags->names == NULL) {
            status = twi_alloc_zeroed(ctx, &tags->names, (uint64_t)tags->info.bands,
                                      sizeof *tags->names, "names of bands");
            tags->name_count = status == TW_OK ? tags->info.bands : 0;
        }
        if (status == TW_OK && tags->names[item.sample] == NULL) {
            status = twi_alloc(ctx, &tags->names[item.sample], item.inside_bytes + 1, 1,
                               "the name of a band");
            if (status == TW_OK) {
                copy_inside(tags->names[item.sample], &item);
            }
        }
    }
    return status;
}

/* Whether the text between the marks is this word, in any case. */
static bool says(const twi_metadata_item *item, const char *word)
{
    return item->inside_bytes == strlen(word) &&
           strncasecmp(item->inside, word, item->inside_bytes) == 0;
}

void twi_metadata_colours(tw_image_tags *tags)
{
    static const char *const colours[] = {"Red", "Green", "Blue"};
    const twi_tag *tag = twi_tags_find(tags, TAG_METADATA);
    tw_image_tags_info *info = &tags->info;
    twi_metadata_item item;
    int right = 0, wrong = 0;
    if (tag == NULL || info->planes != info->bands) { /* of the first page, not of others */
        return;
    }
    const char *at = (const char *)tag->data;
    const char *end = at + tag->bytes;
    for (; twi_metadata_next(&item, at, end); at = item.end) {
        if (strcmp(item.role, "colorinterp") != 0 || item.sample < 0 ||
            item.sample >= info->bands) {
            continue;
        }
        if (item.sample < 3) {
            right += says(&item, colours[item.sample]);
            wrong += !says(&item, colours[item.sample]);
        }
        if (says(&item, "Alpha") && info->bands > 1) {
            info->alpha = info->alpha < 0 ? item.sample : info->alpha;
        } else if (info->alpha == item.sample) {
            info->alpha = -1;
        }
    }
    info->colours = wrong == 0 && (info->colours || right == 3);
}

/* The band of the result that an item is about; -1: none. */
static int64_t band_of(const twi_metadata_item *item, const twi_metadata_bands *bands)
{
    if (bands->first < 0 || item->sample < bands->first || item->sample == bands->without) {
        return -1;
    }
    const bool moved = bands->without >= bands->first && item->sample > bands->without;
    const int64_t band = item->sample - bands->first - moved;
    return band < bands->count ? band : -1;
}

/* Of the elements. */
static bool is_measure(const twi_metadata_item *item)
{
    return strcmp(item->role, "scale") == 0 || strcmp(item->role, "offset") == 0 ||
           strcmp(item->role, "unittype") == 0;
}

/* Scale, offset and unit have roles of their own, and statistics names. */
static bool is_kept(const twi_metadata_item *item, const twi_metadata_bands *bands)
{
    const bool name = strcmp(item->role, "description") == 0 && item->sample >= 0;
    const bool colour = strcmp(item->role, "colorinterp") == 0 && item->sample >= 0 &&
                        (bands->opacity || !says(item, "Alpha")) &&
                        (bands->table || !says(item, "Palette"));
    const bool measure = bands->unchanged && is_measure(item) && item->sample >= 0;
    if (strncmp(item->name, "STATISTICS_", 11) == 0 ||
        (item->role[0] != '\0' && !name && !colour && !measure)) {
        return false;
    }
    return item->sample < 0 || band_of(item, bands) >= 0;
}

/* The item at the end of the text, its band counted as that of the result; how long it is. */
static size_t put_item(char *out, const twi_metadata_item *item, const twi_metadata_bands *bands)
{
    static const char mark[] = " sample=\"";
    const char *number = item->sample < 0 ? NULL : find(item->begin, item->inside, mark);
    if (number == NULL) {
        return (size_t)sprintf(out, "  %.*s\n", (int)(item->end - item->begin), item->begin);
    }
    number += strlen(mark);
    const char *rest = memchr(number, '"', (size_t)(item->inside - number));
    return (size_t)sprintf(out, "  %.*s%lld%.*s\n", (int)(number - item->begin), item->begin,
                           (long long)band_of(item, bands), (int)(item->end - rest), rest);
}

tw_status twi_metadata_kept(tw_context *ctx, char **out, const tw_image_tags *tags,
                            const twi_metadata_bands *bands)
{
    const twi_tag *tag = twi_tags_find(tags, TAG_METADATA);
    twi_metadata_item item;
    *out = NULL;
    if (tag == NULL) {
        return TW_OK;
    }
    const char *const begin = (const char *)tag->data;
    const char *const end = begin + tag->bytes;
    uint64_t bytes = 0;
    for (const char *at = begin; twi_metadata_next(&item, at, end); at = item.end) {
        bytes += is_kept(&item, bands) ? (uint64_t)(item.end - item.begin) + SAMPLE_ROOM : 0;
    }
    if (bytes == 0) {
        return TW_OK;
    }
    char *text = NULL;
    tw_status status = twi_alloc(ctx, &text, bytes + sizeof HEAD + sizeof FOOT, 1, "metadata");
    if (status != TW_OK) {
        return status;
    }
    size_t used = (size_t)sprintf(text, HEAD);
    for (const char *at = begin; twi_metadata_next(&item, at, end); at = item.end) {
        if (is_kept(&item, bands)) {
            used += put_item(text + used, &item, bands);
        }
    }
    memcpy(text + used, FOOT, sizeof FOOT);
    *out = text;
    return TW_OK;
}

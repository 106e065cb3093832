/* See tags.h. */
#include "image/tags.h"

#include "base/given.h"
#include "base/memory.h"

tw_status twi_tags_create(tw_context *ctx, tw_image_tags **out)
{
    tw_status status = twi_alloc_zeroed(ctx, out, 1, sizeof **out, "the tags of an image");
    if (status == TW_OK) {
        (*out)->info = (tw_image_tags_info)TW_IMAGE_TAGS_INFO_INIT;
    }
    return status;
}

void tw_image_tags_destroy(tw_image_tags *tags)
{
    if (tags == NULL) {
        return;
    }
    for (int64_t i = 0; i < tags->name_count; i++) {
        twi_free(tags->names[i]);
    }
    for (int32_t i = 0; i < tags->count; i++) {
        twi_free(tags->list[i].data);
    }
    for (int64_t i = 0; i < tags->page_count; i++) {
        for (int32_t k = 0; k < tags->pages[i].count; k++) {
            twi_free(tags->pages[i].list[k].data);
        }
    }
    twi_free(tags->pages);
    twi_free(tags->names);
    twi_free(tags->opacities);
    twi_free(tags);
}

const twi_tag *twi_tags_find_among(const twi_tag *list, int32_t count, uint16_t tag)
{
    for (int32_t i = 0; i < count; i++) {
        if (list[i].tag == tag) {
            return &list[i];
        }
    }
    return NULL;
}

const twi_tag *twi_tags_find(const tw_image_tags *tags, uint16_t tag)
{
    return tags != NULL ? twi_tags_find_among(tags->list, tags->count, tag) : NULL;
}

const twi_page_tags *twi_tags_page(const tw_image_tags *tags, int64_t plane)
{
    for (int64_t i = 0; tags != NULL && i < tags->page_count; i++) {
        if (plane >= tags->pages[i].first && plane < tags->pages[i].end) {
            return &tags->pages[i];
        }
    }
    return NULL;
}

tw_status tw_image_tags_describe(const tw_image_tags *tags, tw_image_tags_info *out)
{
    const tw_image_tags_info none = TW_IMAGE_TAGS_INFO_INIT;
    return TWI_DESCRIBE(NULL, tw_image_tags_info, out, tags != NULL ? &tags->info : &none);
}

const char *tw_image_tags_name(const tw_image_tags *tags, int64_t plane)
{
    return tags != NULL && plane >= 0 && plane < tags->name_count ? tags->names[plane] : NULL;
}

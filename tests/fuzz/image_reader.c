/* Any bytes given to the image readers end in an image whose planes can be read, or in a sentence.
 */
#include "io/image_format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((uint64_t)32 << 20)

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FORMATS = 6 };
    static const twi_image_format *const formats[FORMATS] = {&twi_image_npy,  &twi_image_pnm,
                                                             &twi_image_pfm,  &twi_image_png,
                                                             &twi_image_tiff, &twi_image_records};
    tw_context *ctx = NULL;
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_set_threads(ctx, 1) == TW_OK && tw_set_memory(ctx, MEMORY) == TW_OK);
    for (size_t f = 0; f < FORMATS; f++) {
        twi_input input = {.name = "input", .bytes = (const char *)data, .size = size};
        tw_image *image = NULL;
        insist(tw_image_create(ctx, &image) == TW_OK);
        formats[f]->recognised(&input);
        if (formats[f]->read(ctx, image, &input) != TW_OK) {
            insist(tw_last_error(ctx)[0] != '\0');
        }
        tw_image_destroy(image);
    }
    insist(tw_memory_used(ctx) == 0);
    tw_context_destroy(ctx);
    return 0;
}

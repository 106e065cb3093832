/*
 * An expression evaluated at every element of an array, with row and column available: a picture
 * of rings is made from nothing but its coordinates, then brightened three times over in place.
 *
 *     4-map
 */
#include <stdio.h>
#include <tilewright.h>

enum { SIDE = 400 };

static uint8_t picture[SIDE][SIDE];

static tw_status apply(tw_context *ctx, const char *text, const tw_map_options *opts)
{
    tw_matrix x = {picture, SIDE, SIDE, SIDE, TW_U8};
    tw_expr *expr = NULL;
    tw_status status = tw_expr_create(ctx, &expr, text, NULL);
    if (status == TW_OK) {
        status = tw_map(ctx, &x, expr, &x, 1, opts); /* the result may be the input itself */
    }
    tw_expr_destroy(expr);
    return status;
}

int main(void)
{
    tw_map_options bytes = TW_MAP_OPTIONS_INIT, thrice = TW_MAP_OPTIONS_INIT;
    tw_context *ctx = NULL;
    bytes.type = TW_U8; /* rounded to the nearest, and clamped to 0 ... 255 */
    thrice.type = TW_U8;
    thrice.repeat = 3;

    int ok =
        tw_context_create(&ctx) == TW_OK &&
        apply(ctx, "100 + 99 * cos(hypot(row - rows / 2, col - cols / 2) / 8)", &bytes) == TW_OK &&
        apply(ctx, "x + (255 - x) / 4", &thrice) == TW_OK;
    if (ok) {
        printf("from %d in the middle to %d beside it\n", picture[SIDE / 2][SIDE / 2],
               picture[SIDE / 2][SIDE / 2 + 25]);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "no memory");
    }
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}

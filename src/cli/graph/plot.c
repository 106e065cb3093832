/*
 * The histogram of distances as a picture: bars, two axes, round numbers along them. One layout is
 * made for both formats; svg gets it as text, png as pixels with letters of five by seven.
 */
#include "cli/graph/plot.h"

#include "cli/shared/files.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 480, LEFT = 90, RIGHT = 24, TOP = 24, BOTTOM = 62 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM };
#define LETTER 6      /* pixels from one letter of a png to the next */
#define MOST_TICKS 12 /* along an axis; there are about five */

typedef struct canvas {
    tw_context *ctx;
    const char *path;
    char *text; /* of an svg */
    size_t used, room;
    bool failed;
    tw_image *image; /* of a png */
    uint8_t *pixels; /* grey */
} canvas;

static const char *const drawable[] = {"svg", "png", NULL};

tw_status cli_plot_check(tw_context *ctx, const char *path)
{
    static const char *const png[] = {"png", NULL};
    if (path == NULL) {
        return TW_OK;
    }
    if (!cli_writes(path, NULL, drawable)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--plot '%.200s': use .svg or .png", path);
    }
    if (cli_writes(path, NULL, png) && strstr(tw_features(), "png") == NULL) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "--plot '%.200s': this build has no libpng; use .svg", path);
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------------- drawing */

static void __attribute__((format(printf, 2, 3))) add(canvas *c, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (c->used + (size_t)length + 1 > c->room) {
        const size_t room = 2 * (c->room + (size_t)length + 1024);
        char *larger = realloc(c->text, room);
        c->failed = c->failed || larger == NULL;
        if (larger == NULL) {
            return;
        }
        c->text = larger;
        c->room = room;
    }
    memcpy(c->text + c->used, line, (size_t)length + 1);
    c->used += (size_t)length;
}

/* Five bits a row, seven rows, the leftmost highest. */
static const struct {
    char letter;
    uint8_t rows[7];
} font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'c', {0, 0, 14, 16, 16, 17, 14}},   {'d', {1, 1, 13, 19, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},   {'i', {4, 0, 12, 4, 4, 4, 14}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'p', {0, 0, 30, 17, 30, 16, 16}},
    {'r', {0, 0, 22, 25, 16, 16, 16}},   {'s', {0, 0, 14, 16, 14, 1, 30}},
    {'t', {8, 8, 28, 8, 8, 9, 6}},
};

static void fill(canvas *c, double x0, double y0, double x1, double y1, uint8_t grey)
{
    for (int y = (int)(y0 + 0.5); y < (int)(y1 + 0.5) && y < HEIGHT; y++) {
        for (int x = (int)(x0 + 0.5); x < (int)(x1 + 0.5) && x < WIDTH; x++) {
            c->pixels[y * WIDTH + x] = grey;
        }
    }
}

static void draw_bar(canvas *c, double x0, double y0, double x1, double y1)
{
    if (c->image == NULL) {
        add(c, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#4c72b0\"/>\n",
            x0, y0, x1 - x0, y1 - y0);
    } else {
        fill(c, x0, y0, x1, y1, 110);
    }
}

/* Level or upright. */
static void draw_line(canvas *c, double x0, double y0, double x1, double y1)
{
    if (c->image == NULL) {
        add(c, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#333\"/>\n", x0, y0,
            x1, y1);
    } else {
        fill(c, x0, y0, x1 + (x1 == x0), y1 + (y1 == y0), 50);
    }
}

/* Its anchor is the middle or, if `right`, the right end of the text; y is its middle. */
static void draw_text(canvas *c, double x, double y, bool right, const char *text)
{
    if (c->image == NULL) {
        add(c,
            "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" "
            "dominant-baseline=\"middle\">%s</text>\n",
            x, y, right ? "end" : "middle", text);
        return;
    }
    const int length = (int)strlen(text) * LETTER;
    int at = (int)x - (right ? length : length / 2);
    for (; *text != '\0'; text++, at += LETTER) {
        for (size_t f = 0; f < sizeof font / sizeof *font; f++) {
            for (int dot = 0; dot < 35 && font[f].letter == *text; dot++) {
                const int down = dot / 5, right_of = dot % 5;
                if (font[f].rows[down] >> (4 - right_of) & 1) {
                    const int left = at + right_of, top = (int)y - 3 + down;
                    fill(c, left, top, left + 1, top + 1, 0);
                }
            }
        }
    }
}

/* -------------------------------------------------------------------------------------- layout */

/* 1, 2 or 5 times a power of ten, so that about five fit. */
static double round_step(double range)
{
    const double power = pow(10, floor(log10(range / 5)));
    const double part = range / 5 / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* Round numbers below the distances. Where doubles are too coarse or too large for steps between
 * the ends, the ends alone. */
static void draw_distances(canvas *c, double low, double high)
{
    const double bottom = TOP + PLOT_HEIGHT;
    const double range = high > low ? high - low : 1;
    const double step = isfinite(range) ? round_step(range) : 0;
    const bool even = step > fabs(low) * 1e-9 && step > fabs(high) * 1e-9;
    const double first = even ? ceil(low / step) : 0;
    for (int i = 0; i < (even ? MOST_TICKS : 2); i++) {
        const double value = even ? (first + i) * step : i == 0 ? low : high;
        const double x = LEFT + (even ? (value - low) / range : i) * PLOT_WIDTH;
        char shown[32];
        if (even && value > low + range * 1.0001) {
            break;
        }
        draw_line(c, x, bottom, x, bottom + 5);
        snprintf(shown, sizeof shown, "%.10g", value + 0.0); /* not -0 */
        draw_text(c, x, bottom + 16, false, shown);
    }
}

/* The bins are of equal width. */
static void draw(canvas *c, const double *edges, const int64_t *counts, int32_t bins)
{
    const double bottom = TOP + PLOT_HEIGHT;
    char shown[32];
    int64_t most = 1;
    for (int32_t i = 0; i < bins; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    for (int32_t i = 0; i < bins; i++) {
        const double x0 = LEFT + (double)i / bins * PLOT_WIDTH;
        const double x1 = LEFT + (double)(i + 1) / bins * PLOT_WIDTH;
        const double gap = x1 - x0 > 4 ? 1 : 0;
        const double height = (double)counts[i] / (double)most * PLOT_HEIGHT;
        if (counts[i] > 0) {
            draw_bar(c, x0, bottom - (height > 1 ? height : 1), x1 - gap, bottom);
        }
    }
    draw_line(c, LEFT, bottom, WIDTH - RIGHT, bottom);
    draw_line(c, LEFT, TOP, LEFT, bottom);
    draw_distances(c, edges[0], edges[bins]);
    const double rise = fmax(round_step((double)most), 1);
    for (int i = 0; i < MOST_TICKS && i * rise <= (double)most * 1.0001; i++) {
        const double value = i * rise;
        const double y = bottom - value / (double)most * PLOT_HEIGHT;
        draw_line(c, LEFT - 5, y, LEFT, y);
        snprintf(shown, sizeof shown, "%.6g", value);
        draw_text(c, LEFT - 9, y, true, shown);
    }
    draw_text(c, LEFT + PLOT_WIDTH / 2.0, HEIGHT - 16, false, "distance");
    draw_text(c, LEFT - 9, TOP - 12, true, "pairs");
}

/* --------------------------------------------------------------------------------------- files */

static tw_status write_svg(canvas *c, const double *edges, const int64_t *counts, int32_t bins)
{
    add(c,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"white\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw(c, edges, counts, bins);
    add(c, "</svg>\n");
    return c->failed ? tw_fail(c->ctx, TW_ERR_MEMORY, "not enough memory for the plot")
                     : tw_file_write(c->ctx, c->path, c->text, c->used);
}

static tw_status write_png(canvas *c, const double *edges, const int64_t *counts, int32_t bins)
{
    tw_status status = tw_image_create(c->ctx, &c->image);
    if (status == TW_OK) {
        status = tw_image_add(c->ctx, c->image, HEIGHT, WIDTH, TW_U8);
    }
    if (status == TW_OK) {
        c->pixels = tw_image_plane(c->image, 0)->data;
        memset(c->pixels, 255, (size_t)WIDTH * HEIGHT);
        draw(c, edges, counts, bins);
        status = tw_image_write(c->ctx, c->image, c->path, "png");
    }
    tw_image_destroy(c->image);
    return status;
}

tw_status cli_plot(tw_context *ctx, const tw_apsp_summary *summary, const char *path)
{
    static const char *const svg[] = {"svg", NULL};
    const double *edges = NULL;
    const int64_t *counts = NULL;
    const double nothing[] = {0, 1};
    const int64_t none[] = {0};
    canvas c = {.ctx = ctx, .path = path};
    int32_t bins = tw_apsp_summary_histogram(summary, &edges, &counts);
    if (bins == 0) { /* no pair has a path: the axes alone */
        edges = nothing;
        counts = none;
        bins = 1;
    }
    tw_status status = cli_writes(path, NULL, svg) ? write_svg(&c, edges, counts, bins)
                                                   : write_png(&c, edges, counts, bins);
    free(c.text);
    return status;
}

/*
 * A peer to be measured against: local entropy by a histogram that slides along each row of a
 * binary PGM. A step takes one column of the window out and one in; what a count adds to the sum
 * of n log n is looked up, so a step costs two look-ups for each row of the window, whatever the
 * number of levels. One thread.
 *
 * sliding_entropy IN OUT WINDOW LEVELS writes raw f32, windows cropped at the borders, in natural
 * logarithms. The times of the three parts go to standard error.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct image {
    int cols, rows;
    uint8_t *data;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_image(const char *path, struct image *image)
{
    int most;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fscanf(file, "P5 %d %d %d", &image->cols, &image->rows, &most) != 3 ||
        most > 255 || image->cols < 1 || image->rows < 1 || fgetc(file) == EOF) {
        return 1;
    }
    size_t count = (size_t)image->cols * (size_t)image->rows;
    image->data = malloc(count);
    int bad = image->data == NULL || fread(image->data, 1, count, file) != count;
    fclose(file);
    return bad;
}

/* Column x of the rows from ... to-1 into the histogram or out of it; the change of the sum. */
static double enter(const struct image *image, int x, int from, int to, uint16_t *histogram,
                    const double *step)
{
    double change = 0;
    const uint8_t *at = image->data + (size_t)from * (size_t)image->cols + x;
    for (int y = from; y < to; y++, at += image->cols) {
        change += step[++histogram[*at]];
    }
    return change;
}

static double leave(const struct image *image, int x, int from, int to, uint16_t *histogram,
                    const double *step)
{
    double change = 0;
    const uint8_t *at = image->data + (size_t)from * (size_t)image->cols + x;
    for (int y = from; y < to; y++, at += image->cols) {
        change += step[histogram[*at]--];
    }
    return change;
}

static void compute_row(const struct image *image, int y, int window, const double *step,
                        const double *inverse, const double *logarithm, float *out)
{
    uint16_t histogram[256] = {0};
    const int reach = window / 2;
    const int from = y > reach ? y - reach : 0;
    const int to = y + reach + 1 < image->rows ? y + reach + 1 : image->rows;
    const int high = to - from;
    double sum = 0;
    int n = 0;
    for (int x = 0; x < reach && x < image->cols; x++) {
        sum += enter(image, x, from, to, histogram, step);
        n += high;
    }
    for (int x = 0; x < image->cols; x++) {
        if (x + reach < image->cols) {
            sum += enter(image, x + reach, from, to, histogram, step);
            n += high;
        }
        if (x - reach - 1 >= 0) {
            sum -= leave(image, x - reach - 1, from, to, histogram, step);
            n -= high;
        }
        out[x] = (float)(logarithm[n] - sum * inverse[n]);
    }
}

int main(int argc, char **argv)
{
    struct image image;
    double begun = now();
    if (argc != 5 || read_image(argv[1], &image) != 0) {
        fprintf(stderr, "sliding_entropy IN OUT WINDOW LEVELS: IN is a binary PGM\n");
        return 2;
    }
    const int window = atoi(argv[3]);
    const int most = window * window;
    const size_t count = (size_t)image.cols * (size_t)image.rows;
    float *out = malloc(count * sizeof *out);
    double *step = calloc((size_t)most + 1, sizeof *step);
    double *inverse = calloc((size_t)most + 1, sizeof *inverse);
    double *logarithm = calloc((size_t)most + 1, sizeof *logarithm);
    if (window % 2 == 0 || out == NULL || step == NULL || inverse == NULL || logarithm == NULL) {
        return 2;
    }
    double read = now();
    for (int n = 1; n <= most; n++) {
        logarithm[n] = log(n);
        inverse[n] = 1.0 / n;
        step[n] = n * log(n) - (n > 1 ? (n - 1) * log(n - 1) : 0);
    }
    for (int y = 0; y < image.rows; y++) {
        compute_row(&image, y, window, step, inverse, logarithm,
                    out + (size_t)y * (size_t)image.cols);
    }
    double computed = now();
    FILE *file = fopen(argv[2], "wb");
    if (file == NULL || fwrite(out, sizeof *out, count, file) != count || fclose(file) != 0) {
        return 2;
    }
    fprintf(stderr, "{\"read\": %.6f, \"compute\": %.6f, \"write\": %.6f}\n", read - begun,
            computed - read, now() - computed);
    return 0;
}

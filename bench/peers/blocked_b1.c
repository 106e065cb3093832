/*
 * A peer to be measured against: blocked Floyd-Warshall in int32 as a good textbook has it.
 *
 * blocked_b1 IN OUT reads edge triples and writes the raw distance matrix. The matrix is padded to
 * whole tiles of 64 x 64 and kept row-major; each round closes the pivot tile, then its row and
 * column of tiles, then all the others, with OpenMP over the tiles of a phase. The inner loop has
 * constant bounds and no branch, so that the compiler makes 128-bit SIMD of it (NEON; SSE4.1 on
 * x86-64, where the build asks for it). Reading and writing are one call each. The times of the
 * three parts go to standard error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 64, INFINITE = 1073741823 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* target = min(target, left (x) up), all three tiles of one matrix with rows `stride` apart. They
 * may be the same tile: a value that is overwritten early is only replaced by a shorter path. */
static void relax_tile(int32_t *target, const int32_t *left, const int32_t *up, size_t stride)
{
    for (int k = 0; k < TILE; k++) {
        const int32_t *row = up + (size_t)k * stride;
        for (int i = 0; i < TILE; i++) {
            int32_t *out = target + (size_t)i * stride;
            int32_t through = left[(size_t)i * stride + (size_t)k];
#pragma omp simd
            for (int j = 0; j < TILE; j++) {
                int32_t sum = through + row[j];
                out[j] = sum < out[j] ? sum : out[j];
            }
        }
    }
}

static void close_matrix(int32_t *matrix, size_t stride)
{
    long tiles = (long)(stride / TILE);
#define AT(i, j) (matrix + (size_t)(i)*TILE * stride + (size_t)(j)*TILE)
    for (long p = 0; p < tiles; p++) {
        relax_tile(AT(p, p), AT(p, p), AT(p, p), stride);
#pragma omp parallel
        {
#pragma omp for schedule(static)
            for (long q = 0; q < 2 * tiles; q++) {
                long t = q / 2;
                if (t != p && q % 2 == 0) {
                    relax_tile(AT(p, t), AT(p, p), AT(p, t), stride);
                } else if (t != p) {
                    relax_tile(AT(t, p), AT(t, p), AT(p, p), stride);
                }
            }
#pragma omp for collapse(2) schedule(static)
            for (long i = 0; i < tiles; i++) {
                for (long j = 0; j < tiles; j++) {
                    if (i != p && j != p) {
                        relax_tile(AT(i, j), AT(i, p), AT(p, j), stride);
                    }
                }
            }
        }
    }
#undef AT
}

static int32_t *read_matrix(const char *path, size_t *n, size_t *stride)
{
    int32_t head[2] = {0, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(head, sizeof head, 1, file) != 1 || head[0] < 0 || head[1] < 0) {
        return NULL;
    }
    *n = (size_t)head[0];
    *stride = (*n + TILE - 1) / TILE * TILE;
    size_t edges = (size_t)head[1];
    int32_t *triples = malloc(edges * 12 + 1);
    int32_t *matrix = aligned_alloc(64, *stride * *stride * sizeof *matrix + 64);
    if (triples == NULL || matrix == NULL || fread(triples, 12, edges, file) != edges) {
        return NULL;
    }
    fclose(file);
    for (size_t i = 0; i < *stride * *stride; i++) {
        matrix[i] = INFINITE;
    }
    for (size_t i = 0; i < *stride; i++) {
        matrix[i * *stride + i] = 0;
    }
    for (size_t e = 0; e < edges; e++) {
        const int32_t *edge = triples + 3 * e;
        int32_t *entry = matrix + (size_t)edge[0] * *stride + (size_t)edge[1];
        *entry = edge[2] < *entry ? edge[2] : *entry;
    }
    free(triples);
    return matrix;
}

static int write_matrix(const char *path, const int32_t *matrix, size_t n, size_t stride)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return 1;
    }
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        failed |= fwrite(matrix + i * stride, sizeof *matrix, n, file) != n;
    }
    return fclose(file) != 0 || failed;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: blocked_b1 TRIPLES RAW\n");
        return 2;
    }
    size_t n = 0;
    size_t stride = 0;
    double begun = now();
    int32_t *matrix = read_matrix(argv[1], &n, &stride);
    if (matrix == NULL) {
        fprintf(stderr, "blocked_b1: cannot read %s\n", argv[1]);
        return 2;
    }
    double read = now();
    close_matrix(matrix, stride);
    double computed = now();
    int failed = write_matrix(argv[2], matrix, n, stride);
    fprintf(stderr, "{\"read\": %.4f, \"compute\": %.4f, \"write\": %.4f}\n", read - begun,
            computed - read, now() - computed);
    free(matrix);
    return failed;
}

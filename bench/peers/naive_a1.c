/*
 * A peer to be measured against: plain Floyd-Warshall in int32, rows divided over threads.
 *
 * naive_a1 IN OUT reads edge triples and writes the raw distance matrix. For each k every thread
 * relaxes its band of rows through row k, and all meet at a barrier before the next k. The matrix
 * passes through the memory system n times, which is what blocking is for. The times of the three
 * parts go to standard error.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { INFINITE = 1073741823, MOST_THREADS = 1024 };

struct band {
    int32_t *matrix;
    size_t n;
    size_t first;
    size_t end;
    pthread_barrier_t *barrier;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *relax_band(void *argument)
{
    const struct band *band = argument;
    size_t n = band->n;
    for (size_t k = 0; k < n; k++) {
        const int32_t *pivot = band->matrix + k * n;
        for (size_t i = band->first; i < band->end; i++) {
            int32_t *row = band->matrix + i * n;
            int32_t through = row[k];
            if (i == k) {
                continue;
            }
            for (size_t j = 0; j < n; j++) {
                int32_t sum = through + pivot[j];
                row[j] = sum < row[j] ? sum : row[j];
            }
        }
        pthread_barrier_wait(band->barrier);
    }
    return NULL;
}

static int close_matrix(int32_t *matrix, size_t n)
{
    static struct band bands[MOST_THREADS];
    static pthread_t threads[MOST_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = processors < 1 ? 1 : (size_t)processors;
    pthread_barrier_t barrier;
    count = count > MOST_THREADS ? MOST_THREADS : count;
    if (pthread_barrier_init(&barrier, NULL, (unsigned)count) != 0) {
        return 1;
    }
    for (size_t t = 0; t < count; t++) {
        bands[t] = (struct band){matrix, n, n * t / count, n * (t + 1) / count, &barrier};
        if (pthread_create(&threads[t], NULL, relax_band, &bands[t]) != 0) {
            return 1;
        }
    }
    for (size_t t = 0; t < count; t++) {
        pthread_join(threads[t], NULL);
    }
    pthread_barrier_destroy(&barrier);
    return 0;
}

static int32_t *read_matrix(const char *path, size_t *n)
{
    int32_t head[2] = {0, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(head, sizeof head, 1, file) != 1 || head[0] < 0 || head[1] < 0) {
        return NULL;
    }
    *n = (size_t)head[0];
    int32_t *matrix = malloc(*n * *n * sizeof *matrix + 1);
    if (matrix == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < *n * *n; i++) {
        matrix[i] = i % (*n + 1) == 0 ? 0 : INFINITE;
    }
    int32_t edge[3];
    for (int32_t e = 0; e < head[1]; e++) {
        if (fread(edge, sizeof edge, 1, file) != 1) {
            return NULL;
        }
        int32_t *entry = matrix + (size_t)edge[0] * *n + (size_t)edge[1];
        *entry = edge[2] < *entry ? edge[2] : *entry;
    }
    fclose(file);
    return matrix;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: naive_a1 TRIPLES RAW\n");
        return 2;
    }
    size_t n = 0;
    double begun = now();
    int32_t *matrix = read_matrix(argv[1], &n);
    if (matrix == NULL) {
        fprintf(stderr, "naive_a1: cannot read %s\n", argv[1]);
        return 2;
    }
    double read = now();
    int failed = close_matrix(matrix, n);
    double computed = now();
    FILE *file = fopen(argv[2], "wb");
    failed |= file == NULL || fwrite(matrix, sizeof *matrix, n * n, file) != n * n;
    failed |= file == NULL || fclose(file) != 0;
    fprintf(stderr, "{\"read\": %.4f, \"compute\": %.4f, \"write\": %.4f}\n", read - begun,
            computed - read, now() - computed);
    free(matrix);
    return failed;
}

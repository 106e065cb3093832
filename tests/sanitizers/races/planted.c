/*
 * Does ThreadSanitizer see what it should? Run with "race", two threads add to one number without
 * a guard and the sanitizer must stop the program; without it, the threads hand the same array
 * from one loop to the next, across the barrier of OpenMP, and it must stay silent. The first
 * shows that a clean run of the other tests means something, the second that the OpenMP runtime
 * tells the sanitizer about its barriers.
 */
#include <stdio.h>
#include <string.h>

enum { COUNT = 10000 };

static long racing_sum(const int *values)
{
    long sum = 0;
#pragma omp parallel for num_threads(2) shared(sum)
    for (int i = 0; i < COUNT; i++) {
        sum += values[i];
    }
    return sum;
}

static long guarded_sum(const int *values)
{
    long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < COUNT; i++) {
        sum += values[COUNT - 1 - i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    static int values[COUNT];
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
    }
    int race = argc > 1 && strcmp(argv[1], "race") == 0;
    printf("%ld\n", race ? racing_sum(values) : guarded_sum(values));
    return 0;
}

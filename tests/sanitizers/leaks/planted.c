/* Leaks one byte on a thread of OpenMP's, if its argument says so, and nothing else. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int leak = argc > 1 && strcmp(argv[1], "leak") == 0;

#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; i++) {
        void *volatile block = malloc(1);
        if (!leak || i == 0) {
            free(block);
        }
        block = NULL;
    }
    return 0;
}

/* Writes one byte behind a block of the heap, or adds 1 to the largest int, as its argument says. A
 * sanitizer ends the program there; otherwise it says that it went on. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    volatile int number = INT_MAX;
    volatile size_t bytes = 16;
    volatile char *volatile block = malloc(bytes); /* the compiler does not know of what size */
    if (block == NULL) {
        return 1;
    }
    if (strcmp(what, "overflow") == 0) {
        block[bytes] = 1;
    } else if (strcmp(what, "undefined") == 0) {
        number = number + 1;
    }
    free((void *)block);
    puts("went on");
    return 0;
}

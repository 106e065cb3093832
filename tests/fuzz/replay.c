/*
 * Runs a fuzz target once over each file below the folders named on the command line, so that
 * every seed and every input that once broke a reader is a test on any compiler. Prints how many
 * files it ran and fails when there were none. A file is handed over in a block of exactly its
 * size, so that a sanitizer sees a read one byte past the end.
 */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int files;

static int replay(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F) {
        return 0;
    }
    size_t size = (size_t)info->st_size;
    uint8_t *data = malloc(size > 0 ? size : 1);
    FILE *file = fopen(path, "rb");
    int status = data == NULL || file == NULL || fread(data, 1, size, file) != size;
    if (status == 0) {
        LLVMFuzzerTestOneInput(data, size);
        files++;
    } else {
        fprintf(stderr, "cannot read %s\n", path);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(data);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc && status == 0; i++) {
        status = nftw(argv[i], replay, 16, FTW_PHYS);
    }
    printf("%d files\n", files);
    return status != 0 || files == 0;
}

/*
 * Files beside an image: GDAL keeps what a format has no place for in IMAGE.aux.xml, masks in
 * IMAGE.msk; a world file has the place of a picture, and the extension of the picture with a w:
 * .tfw or .tifw for .tif, or .wld.
 */
#include "cli/image/beside.h"

#include "cli/shared/files.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED 65536 /* bytes of an .aux.xml; histograms may follow */

/* Whether an .aux.xml says more than statistics, of which there are many. */
static bool says_place(const char *path)
{
    static const char *const words[] = {"<GeoTransform", "<SRS", "<GCPList", "<NoDataValue"};
    char *text = calloc(LOOKED + 1, 1);
    FILE *file = fopen(path, "rbe");
    bool says = false;
    if (text != NULL && file != NULL && fread(text, 1, LOOKED, file) > 0) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            says |= strstr(text, words[i]) != NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(text);
    return says;
}

/* The world file of an image, if there is one, in `out`. */
static bool find_world(char out[PATH_MAX], const char *path)
{
    const char *extension = cli_extension(path);
    const size_t length = strlen(extension);
    const int stem = (int)(strlen(path) - length);
    if (length < 3) {
        return false;
    }
    const char last = extension[length - 1];
    const char *upper = isupper((unsigned char)last) ? "W" : "w";
    snprintf(out, PATH_MAX, "%.*s%c%c%s", stem, path, extension[0], last, upper);
    if (cli_is_file(out)) {
        return true;
    }
    snprintf(out, PATH_MAX, "%s%s", path, upper);
    if (cli_is_file(out)) {
        return true;
    }
    snprintf(out, PATH_MAX, "%.*swld", stem, path);
    return cli_is_file(out);
}

void cli_tell_beside(const cli_job *job, const char *path)
{
    char other[PATH_MAX];
    if (!cli_is_file(path)) {
        return;
    }
    snprintf(other, sizeof other, "%s.aux.xml", path);
    if (cli_is_file(other) && says_place(other)) {
        cli_note(job, "%s is not read: any georeferencing or no-data value in it is lost", other);
    }
    snprintf(other, sizeof other, "%s.msk", path);
    if (cli_is_file(other)) {
        cli_note(job, "%s is not read: masked elements count like any other", other);
    }
    if (find_world(other, path)) {
        cli_note(job, "%s is not read: any georeferencing that only this file has is lost", other);
    }
}

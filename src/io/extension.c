/* The extension of a file: see extension.h. */
#include "io/extension.h"

#include <stdbool.h>
#include <string.h>

const char *twi_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    bool number = dot != NULL && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
    return dot != NULL && dot != file && !number ? dot + 1 : "";
}

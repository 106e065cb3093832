/* Files of other programs: see foreign.h. */
#include "io/foreign.h"

#include <stddef.h>
#include <string.h>

const char *twi_foreign_name(const void *bytes, uint64_t size)
{
    static const struct {
        const char *begin;
        const char *name;
    } foreign[] = {{"PAR1", "Parquet"}, {"\x89HDF", "HDF5"}, {"SQLite format 3", "SQLite"}};
    for (size_t f = 0; f < sizeof foreign / sizeof *foreign; f++) {
        const size_t length = strlen(foreign[f].begin);
        if (size >= length && memcmp(bytes, foreign[f].begin, length) == 0) {
            return foreign[f].name;
        }
    }
    return NULL;
}

/* Where the result of a raster lies, and what its elements no longer show. */
#ifndef CLI_LIGHT_H
#define CLI_LIGHT_H

#include "cli/image/raster.h"

/* The plane of the file whose page says where a result of the planes that are computed with lies,
 * or -1 if each lies where its own does: opts->place_plane. */
int64_t cli_raster_place(const cli_raster *raster);
/* Say that what the elements mean to the eye is lost in a result: colours of which they are the
 * indices, which `remedy` would keep (NULL: nothing would), or that 0 is white, if it `matters`. */
void cli_raster_tell_light(const cli_job *job, const cli_raster *raster, const char *remedy,
                           bool matters);

#endif

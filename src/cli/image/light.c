/* See light.h. */
#include "cli/image/light.h"

int64_t cli_raster_place(const cli_raster *raster)
{
    return raster->planes > 1 ? -1 : raster->mixes ? 0 : raster->first;
}

void cli_raster_tell_light(const cli_job *job, const cli_raster *raster, const char *remedy,
                           bool matters)
{
    const bool first = raster->first % raster->info.bands == 0; /* of the bands */
    if (raster->info.colour_table && first) {
        cli_say(job, "%s: its elements are indices of a colour table, which is left out%s%s",
                raster->path, remedy != NULL ? "; " : "", remedy != NULL ? remedy : "");
    } else if (raster->info.zero_is_white && first && matters) {
        cli_say(job, "%s: 0 is white in it; its elements are taken as they are", raster->path);
    }
}

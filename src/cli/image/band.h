/*
 * FILE[BAND]: one plane of a file, by its number from 0 or the name that the file gives it. Where a
 * word may be both, the number is meant if there is such a plane, and said.
 */
#ifndef CLI_BAND_H
#define CLI_BAND_H

#include "frame/job.h"

#include <tilewright.h>

typedef struct cli_band {
    const char *path;
    const char *name; /* BAND */
    const tw_image_tags *tags;
    int64_t planes; /* of the file */
} cli_band;

/* The length of FILE in FILE[BAND], unless there is a file of the whole name. BAND may have
 * brackets, too. */
size_t cli_band_path_length(const char *word);
/* The plane; two bands of one name are refused. */
TW_CHECKED tw_status cli_band_find(const cli_job *job, const cli_band *band, int64_t *plane);
/* Which plane was taken, where BAND is a number and the name of another plane. */
void cli_band_tell(const cli_job *job, const cli_band *band, int64_t plane);
/* The sentence for a plane that a file of `planes` does not have. */
TW_CHECKED tw_status cli_no_plane(const cli_job *job, const char *path, int64_t plane,
                                  int64_t planes);

#endif

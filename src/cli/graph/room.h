/* Whether the file system has room for a result, before anything is computed. */
#ifndef CLI_ROOM_H
#define CLI_ROOM_H

#include "cli/shared/files.h"

/* A matrix of that shape in a file, text or binary; refused if it surely does not fit, with
 * the ways to use that need less. `gaps`: an entry of text may be empty, as names of predecessors
 * are where there is none. NULL, a pipe or a device has room. */
TW_CHECKED tw_status cli_check_room(tw_context *ctx, const cli_file *file, const char *format,
                                    const tw_shape *shape, bool gaps, const char *ways);

#endif

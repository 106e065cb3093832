/* Room for a result: see room.h. */
#include "cli/graph/room.h"

#include "frame/show.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Bytes of an entry of a .csv at least: a digit and what follows it, or that alone. */
#define TEXT_ENTRY 2.0
#define TEXT_GAP 1.0

/* Bytes that a file of that name could have; false where nobody can tell. */
static bool free_bytes(const char *path, double *bytes)
{
    struct stat found;
    struct statvfs disk;
    char folder[4096];
    const bool there = stat(path, &found) == 0;
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if ((there && !S_ISREG(found.st_mode)) || length >= sizeof folder) {
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (statvfs(there ? path : length > 0 ? folder : ".", &disk) != 0 || disk.f_blocks == 0) {
        return false;
    }
    *bytes = (double)disk.f_bavail * (double)disk.f_frsize + (there ? (double)found.st_size : 0);
    return true;
}

tw_status cli_check_room(tw_context *ctx, const cli_file *file, const char *format,
                         const tw_shape *shape, bool gaps, const char *ways)
{
    static const char *const text[] = {"csv", NULL};
    char need[CLI_SHOWN], have[CLI_SHOWN];
    double room = 0;
    if (file->path == NULL || cli_is_stdout(file->path) || !free_bytes(file->path, &room)) {
        return TW_OK;
    }
    const bool is_text = cli_writes(file->path, format, text);
    const double entry = !is_text ? (double)tw_type_size(shape->type)
                         : gaps   ? TEXT_GAP
                                  : TEXT_ENTRY;
    const double bytes = (double)shape->rows * (double)shape->cols * entry;
    if (bytes <= room) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_IO,
                   "no room for '%.600s': %lld x %lld entries take %s%s, but %s is free; use %s",
                   file->path, (long long)shape->rows, (long long)shape->cols,
                   is_text ? "at least " : "", cli_show_bytes(need, bytes),
                   cli_show_bytes(have, room), ways);
}

/*
 * See temporary.h. Who finds a file of that name, of his own and of one link, and gets its lock,
 * knows that its maker is gone: the kernel gives a lock back with the last descriptor. That holds
 * where one kernel has the file system to itself, so elsewhere (NFS, FUSE) nothing is removed. A
 * maker whose new file was taken for a left one between its creation and its lock sees that it has
 * no link any more, and makes another.
 */
#include "io/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PREFIX ".tilewright-"
#define DIGITS 16
#define NAME_TRIES 100
#define NAMES_LOOKED_AT 100000 /* of a folder, in search of files left behind: some 20 ms */

_Static_assert(sizeof PREFIX + DIGITS <= TWI_TEMPORARY_NAME, "the name has room");

/* The folder part of a path, "/" at the end included; "" for the current one. */
static size_t folder_length(const char *path)
{
    const char *name = strrchr(path, '/');
    return name == NULL ? 0 : (size_t)(name - path) + 1;
}

/* A name nobody can guess, in the folder of the target. Returns 0 or an errno. */
static int choose_name(char *name, const char *target)
{
    uint64_t random = 0;
    const size_t folder = folder_length(target);
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return errno;
    }
    memcpy(name, target, folder);
    snprintf(name + folder, TWI_TEMPORARY_NAME, PREFIX "%016llx", (unsigned long long)random);
    return 0;
}

static int open_folder(const char *target, int flags, int mode)
{
    char folder[PATH_MAX] = ".";
    const size_t length = folder_length(target);
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (length > 0) {
        memcpy(folder, target, length);
        folder[length] = '\0';
    }
    return open(folder, flags | O_CLOEXEC, mode);
}

/* ---------------------------------------------------------------------- what others left behind */

/* From linux/magic.h: file systems of one machine, whose locks all its processes see. */
static bool locks_are_certain(int fd)
{
    static const long long types[] = {0x01021994 /* tmpfs */, 0xEF53 /* ext */,
                                      0x58465342 /* xfs */, 0x9123683E /* btrfs */,
                                      0x794C7630 /* overlay */};
    struct statfs found;
    bool certain = false;
    if (fstatfs(fd, &found) == 0) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            certain = certain || (long long)found.f_type == types[i];
        }
    }
    return certain;
}

static bool is_temporary_name(const char *name)
{
    const size_t prefix = sizeof PREFIX - 1;
    return strncmp(name, PREFIX, prefix) == 0 && strlen(name) == prefix + DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == DIGITS;
}

static void remove_if_left(int folder, const char *name)
{
    struct stat held;
    struct stat named;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &held) == 0 && S_ISREG(held.st_mode) && held.st_uid == geteuid() &&
        held.st_nlink == 1 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == held.st_dev &&
        named.st_ino == held.st_ino) {
        (void)unlinkat(folder, name, 0);
    }
    close(fd);
}

static void remove_left_files(const char *target)
{
    int fd = open_folder(target, O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd >= 0 && locks_are_certain(fd) ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    int looked_at = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL && looked_at < NAMES_LOOKED_AT;
         entry = readdir(folder)) {
        if (is_temporary_name(entry->d_name)) {
            remove_if_left(fd, entry->d_name);
        }
        looked_at++;
    }
    closedir(folder);
}

/* ----------------------------------------------------------------------------------- our own */

/* Give a file without a name one. Returns 0 or an errno. */
static int link_file(int fd, char *name, const char *target)
{
    char self[64];
    int error = EEXIST;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    for (int i = 0; i < NAME_TRIES && error == EEXIST; i++) {
        error = choose_name(name, target);
        if (error == 0 && linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) {
            error = errno;
        }
    }
    return error;
}

/* Whether a file without a name could get one here: better seen now than after the work. */
static bool names_can_follow(char *name, const char *target)
{
    int fd = open_folder(target, O_TMPFILE | O_RDWR, 0600);
    bool can = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && link_file(fd, name, target) == 0 &&
               unlink(name) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return can;
}

/* Nobody can open it by name, so it may have the permissions of any new file from the start. */
static int open_nameless(char *name, const char *target)
{
    if (!names_can_follow(name, target)) {
        return -1;
    }
    int fd = open_folder(target, O_TMPFILE | O_RDWR, 0666);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) { /* for the moment between name and rename */
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Lock a file just created. False if somebody took it for one left behind. A file system without
 * locks has nobody who could. */
static bool keep(int fd)
{
    struct stat found;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    return fstat(fd, &found) == 0 && found.st_nlink > 0;
}

static int open_named(twi_temporary *out, char *name, const char *target)
{
    int error = EEXIST;
    for (int i = 0; i < NAME_TRIES && (error == EEXIST || error == EINTR); i++) {
        error = choose_name(name, target);
        out->fd = error == 0 ? open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
        if (error == 0 && out->fd < 0) {
            error = errno;
        } else if (error == 0 && !keep(out->fd)) {
            close(out->fd);
            out->fd = -1;
            error = EEXIST;
        }
    }
    out->named = error == 0;
    return error;
}

int twi_temporary_open(twi_temporary *out, char *name, const char *target, bool named)
{
    *out = (twi_temporary){-1, false};
    remove_left_files(target);
    out->fd = named ? -1 : open_nameless(name, target);
    return out->fd >= 0 ? 0 : open_named(out, name, target);
}

/* The permissions of any new file. The process tells its mask in a file; where it does not, the
 * mask has to be set to be seen. */
static mode_t new_file_mode(void)
{
    unsigned mask = 0;
    bool found = false;
    char line[128];
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, "Umask:", 6) == 0;
        mask = found ? (unsigned)strtoul(line + 6, NULL, 8) : 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (!found) {
        mask = (unsigned)umask(077);
        (void)umask((mode_t)mask);
    }
    return 0666 & ~(mode_t)mask;
}

/* Where permissions cannot be set there are none, or they stay narrower than asked for. */
static void set_permissions(const twi_temporary *file, int mode)
{
    if (mode >= 0 || file->named) {
        int failed = fchmod(file->fd, mode >= 0 ? (mode_t)mode : new_file_mode());
        (void)failed;
    }
}

int twi_temporary_publish(twi_temporary *file, char *name, const char *target, int mode)
{
    int error = 0;
    set_permissions(file, mode);
    if (!file->named) {
        error = link_file(file->fd, name, target);
        file->named = error == 0;
    }
    /* Some file systems report a full disk no earlier than when it is closed; the lock stays with
     * the copy until the file has its name. */
    int lock = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (close(file->fd) != 0 && errno != EINTR && error == 0) {
        error = errno;
    }
    file->fd = lock;
    if (error == 0 && rename(name, target) != 0) {
        error = errno;
    }
    file->named = file->named && error != 0;
    twi_temporary_discard(file, name);
    return error;
}

void twi_temporary_discard(twi_temporary *file, const char *name)
{
    if (file->named) {
        (void)unlink(name);
        file->named = false;
    }
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}

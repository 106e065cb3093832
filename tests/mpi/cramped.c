/* Before a program, by LD_PRELOAD: /dev/shm has 64 KB left, other file systems that only their
 * names are asked about 64 GB. */
#include <string.h>
#include <sys/statvfs.h>

int cramped(const char *path, struct statvfs *out) __asm__("statvfs");

int cramped(const char *path, struct statvfs *out)
{
    const int scarce = strncmp(path, "/dev/", 5) == 0;
    memset(out, 0, sizeof *out);
    out->f_bsize = out->f_frsize = 4096;
    out->f_blocks = out->f_bfree = out->f_bavail = scarce ? 16 : 16 << 20;
    return 0;
}

/* As it is called where files may have any size. */
int cramped_64(const char *path, struct statvfs *out) __asm__("statvfs64")
    __attribute__((alias("statvfs")));

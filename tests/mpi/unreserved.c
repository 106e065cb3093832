/* Before a program, by LD_PRELOAD: its file systems cannot reserve room, as NFS 3 cannot, so that a
 * full one shows when it is written to. */
#include <errno.h>
#include <sys/types.h>

int fallocate(int fd, int mode, off_t offset, off_t length); /* of <fcntl.h> */

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    (void)fd;
    (void)mode;
    (void)offset;
    (void)length;
    errno = EOPNOTSUPP;
    return -1;
}

/* As it is called where files may have any size. */
int fallocate64(int fd, int mode, off_t offset, off_t length) __attribute__((alias("fallocate")));

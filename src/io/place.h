/* Writing all bytes to their place in a file, however many calls that takes. */
#ifndef TWI_IO_PLACE_H
#define TWI_IO_PLACE_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Returns 0 or an errno. */
static inline int twi_write_at(int fd, const char *data, uint64_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        const ssize_t done = pwrite(fd, data, (size_t)bytes, (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done > 0) {
            data += done;
            offset += (uint64_t)done;
            bytes -= (uint64_t)done;
        }
    }
    return 0;
}

#endif

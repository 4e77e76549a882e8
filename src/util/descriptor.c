/* SPDX-License-Identifier: MIT
 *
 * File descriptors that cannot be mistaken for the standard streams. */
#include "util/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int dti_descriptor_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    close(fd);
    errno = error;
    return moved;
}

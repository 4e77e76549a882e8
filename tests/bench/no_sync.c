/* SPDX-License-Identifier: MIT
 *
 * To be preloaded: writing without waiting for the disk, so that a program that syncs can be held
 * against one that does not. */
#include <fcntl.h>
#include <unistd.h>

int fsync(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

/* SPDX-License-Identifier: MIT
 *
 * File descriptors: opening them above the standard streams, and reserving disk space.
 */
#define _GNU_SOURCE /* fallocate() */
#include "io/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/run/caller.h"

enum { RESERVE_FROM = 1 << 20 }; /* smaller files are not worth the call */

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

/* Never falls back to emulation: posix_fallocate() would write the whole file. */
int dti_descriptor_reserve(int fd, uint64_t size)
{
#ifdef __linux__
    if (size < RESERVE_FROM || size > INT64_MAX)
        return 0;
    int result;
    DTI_AGAIN(result = fallocate(fd, 0, 0, (off_t)size));
    if (result != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        return errno;
#else
    (void)fd;
    (void)size;
#endif
    return 0;
}

void dti_descriptor_allow(size_t count)
{
    struct rlimit limit;
    if (!dti_caller_is_process() || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= count)
        return;
    const bool enough = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= count;
    limit.rlim_cur = enough ? (rlim_t)count : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

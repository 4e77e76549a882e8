/* SPDX-License-Identifier: MIT
 *
 * The end of an output: it is synced and renamed. */
#define _GNU_SOURCE /* renameat2() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "util/descriptor.h"
#include "util/output_file.h"

static int sync_descriptor(int fd)
{
    int result;
    DTI_AGAIN(result = fsync(fd));
    return result == 0 ? 0 : errno;
}

int dti_output_finish(struct dti_output_file *output)
{
    const int error = sync_descriptor(output->fd);
    const int closed = close(output->fd);
    output->fd = -1;
    return error == 0 && closed != 0 && errno != EINTR ? errno : error;
}

int dti_output_rename(const struct dti_output_temp *from, const struct dti_output_path *to,
                      bool force, bool is_folder)
{
    if (!force) {
#ifdef RENAME_NOREPLACE
        if (renameat2(from->folder, from->name, to->folder, to->name, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != ENOSYS && errno != EINVAL)
            return errno;
#endif
        if (!is_folder) {
            if (linkat(from->folder, from->name, to->folder, to->name, 0) == 0)
                return unlinkat(from->folder, from->name, 0) == 0 ? 0 : errno;
            if (errno == EEXIST)
                return errno;
        }
        struct stat st = {0}; /* no links either: the best that is left */
        if (fstatat(to->folder, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return EEXIST;
        if (errno != ENOENT)
            return errno;
    }
    return renameat(from->folder, from->name, to->folder, to->name) == 0 ? 0 : errno;
}

/* Some file systems cannot sync a folder, and one that may not be listed is not open for it. */
int dti_output_sync_folder(int fd)
{
    const int error = sync_descriptor(fd);
    return error == EINVAL || error == EBADF || error == ENOTSUP ? 0 : error;
}

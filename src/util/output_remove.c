/* SPDX-License-Identifier: MIT
 *
 * Removes old files beside new ones, in a folder that is held open, and never a new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtinfo/ascii.h"
#include "util/output_file.h"

struct identity {
    dev_t device;
    ino_t inode;
};

static int compare(const void *a, const void *b)
{
    const struct identity *const one = a, *const other = b;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* Whether it is there, and no new file: one of them may have replaced what a link leads to. */
static bool is_old(int folder, const char *name, const struct identity *kept, size_t count)
{
    struct stat st = {0};
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    const struct identity is = {st.st_dev, st.st_ino};
    return S_ISLNK(st.st_mode) ||
           (S_ISREG(st.st_mode) && !bsearch(&is, kept, count, sizeof *kept, compare));
}

static enum dti_status fail(const char *path, int error, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    return dti_fail_remedy(reterr, DTI_WRITE_FAILED, DTI_REMEDY_REPLACE_AGAIN,
                           "the new files are written, but %s, which programs may load instead, "
                           "cannot be removed: %s",
                           dti_quote(label, path, strlen(path)), strerror(error));
}

static enum dti_status remove_all(int folder, const char *const *paths, size_t count, size_t lead,
                                  const struct identity *kept, size_t kept_count,
                                  struct dti_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        const char *const name = dti_path_base(paths[i]);
        int error = i == lead ? dti_output_sync_folder(folder) : 0;
        if (error == 0 && is_old(folder, name, kept, kept_count) &&
            unlinkat(folder, name, 0) != 0 && errno != ENOENT)
            error = errno;
        if (error == 0 && i + 1 == count)
            error = dti_output_sync_folder(folder);
        if (error != 0)
            return fail(paths[i], error, reterr);
    }
    return DTI_OK;
}

enum dti_status dti_output_remove(const char *folder, const char *const *paths, size_t count,
                                  size_t lead, const char *const *kept, size_t kept_count,
                                  struct dti_error *reterr)
{
    struct dti_output_path at;
    char label[DTI_QUOTE_SIZE];
    if (count == 0)
        return DTI_OK;
    struct identity *const list = calloc(kept_count + 1, sizeof *list);
    if (!list)
        return dti_no_memory(reterr);
    size_t known = 0;
    for (size_t i = 0; i < kept_count; i++) {
        struct stat st = {0};
        if (stat(kept[i], &st) == 0)
            list[known++] = (struct identity){st.st_dev, st.st_ino};
    }
    if (known > 0)
        qsort(list, known, sizeof *list, compare);
    dti_quote(label, folder, strlen(folder));
    enum dti_status status = dti_output_path_resolve(&at, folder, true, label, reterr);
    if (status == DTI_OK) {
        const int fd = at.name[0] != '\0' ? dti_output_folder_open(at.folder, at.name) : at.folder;
        status = fd < 0 ? fail(paths[0], errno, reterr)
                        : remove_all(fd, paths, count, lead, list, known, reterr);
        if (fd >= 0 && fd != at.folder)
            (void)close(fd);
        (void)close(at.folder);
    }
    free(list);
    return status;
}

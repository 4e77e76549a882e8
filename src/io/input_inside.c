/* SPDX-License-Identifier: MIT
 *
 * Opens a file that another file refers to, only inside that file's folder. Each folder of the
 * path is held open while the next is looked up in it, and no step follows a symbolic link, so
 * that swapping a folder for a link in the meantime has no effect. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "io/input.h"
#include "io/net/remote.h"
#include "util/run/allocate.h"

/* The outcome of a lookup. */
enum stop { OPENED, FAILED, LINK, IRREGULAR };

/* Looks up one component of the path; the last one must be a regular file. */
static enum stop enter(int folder, const char *name, bool is_last, int *ret)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
    struct stat st = {0};
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return FAILED;
    if (S_ISLNK(st.st_mode))
        return LINK;
    if (is_last && !S_ISREG(st.st_mode))
        return IRREGULAR;
    DTI_AGAIN(*ret = openat(folder, name, flags | (is_last ? 0 : O_DIRECTORY)));
    if (*ret < 0)
        return errno == ELOOP ? LINK : FAILED;
    const int error = is_last && fstat(*ret, &st) != 0 ? errno : 0;
    if (!is_last || (error == 0 && S_ISREG(st.st_mode)))
        return OPENED;
    (void)close(*ret);
    errno = error;
    return error != 0 ? FAILED : IRREGULAR;
}

/* Walks from a folder to a file below it. Closes the folder. */
static enum stop walk(int folder, const char *name, int *ret)
{
    enum stop stop = folder < 0 ? FAILED : OPENED;
    char *const copy = dti_strdup(name);
    if (!copy) {
        errno = ENOMEM;
        stop = FAILED;
    }
    for (char *part = copy; stop == OPENED && part;) {
        char *const slash = strchr(part, '/');
        int next = -1;
        if (slash)
            *slash = '\0';
        stop = enter(folder, part, !slash, &next);
        const int error = errno;
        (void)close(folder);
        errno = error;
        folder = stop == OPENED ? next : -1;
        part = slash ? slash + 1 : NULL;
    }
    const int error = errno;
    dti_free(copy);
    if (stop == OPENED)
        *ret = folder;
    else if (folder >= 0)
        (void)close(folder);
    errno = error;
    return stop;
}

static int open_folder(const char *path)
{
    int fd;
    DTI_AGAIN(fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd;
}

/* The part of a real path below the folder of another path, or NULL. */
static const char *below(const char *path, const char *anchor)
{
    const size_t folder = (size_t)(strrchr(anchor, '/') + 1 - anchor);
    return strncmp(path, anchor, folder) == 0 ? path + folder : NULL;
}

/* Follows a link if its target is in the same folder, or in the folder that holds the target of
 * the linked file `anchor`: download caches store the files of one model that way. */
static enum stop follow(const char *anchor, const char *path, int *ret)
{
    char *const real = realpath(path, NULL), *const model = real ? realpath(anchor, NULL) : NULL;
    char *const folder = model ? dti_strdup(anchor) : NULL;
    char *real_folder = NULL;
    const char *rest = NULL;
    enum stop stop = LINK;
    if (!folder)
        stop = FAILED;
    if (folder) {
        char *const slash = strrchr(folder, '/');
        if (slash)
            slash[1] = '\0';
        real_folder = realpath(slash ? folder : ".", NULL);
        const size_t length = real_folder ? strlen(real_folder) : 0;
        if (real_folder && strncmp(real, real_folder, length) == 0 && real[length] == '/')
            rest = real + length + 1;
        else
            rest = below(real, model);
    }
    if (rest && *rest != '\0') {
        char *const root = dti_strndup(real, (size_t)(rest - real));
        stop = root ? walk(open_folder(root), rest, ret) : FAILED;
        dti_free(root);
    }
    const int error = errno;
    free(real);
    free(model);
    dti_free(folder);
    free(real_folder);
    errno = error;
    return stop;
}

enum dti_status dti_input_open_inside(struct dti_input *ret, const char *anchor, const char *name,
                                      const char *path, struct dti_error *reterr)
{
    const struct dti_input named = {.name = path};
    if (dti_is_address(anchor))
        return dti_remote_open_sibling(ret, anchor, name, reterr);
    const char *const slash = strrchr(anchor, '/');
    char *const folder =
        slash ? dti_strndup(anchor, (size_t)(slash + 1 - anchor)) : dti_strdup(".");
    char label[DTI_QUOTE_SIZE];
    int fd = -1;
    if (!folder)
        return dti_no_memory(reterr);
    enum stop stop = walk(open_folder(folder), name, &fd);
    if (stop == LINK)
        stop = follow(anchor, path, &fd);
    const int error = errno;
    dti_free(folder);
    if (stop == OPENED)
        return dti_input_take(ret, fd, path, reterr);
    if (stop == FAILED)
        return dti_input_fail(&named, error, reterr);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s %s", dti_input_label(&named, label),
                    stop == LINK ? "is a symbolic link that leads out of the folder"
                                 : "is not a regular file");
}

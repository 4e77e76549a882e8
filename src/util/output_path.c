/* SPDX-License-Identifier: MIT
 *
 * Finding an output's real folder. Links are read here, not by the kernel, because the temporary
 * file must lie beside what the last of them points to, which need not exist. Each step is relative
 * to a folder that is held open, so that a folder renamed meanwhile changes nothing. */
#define _GNU_SOURCE /* O_PATH */
#include "util/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/descriptor.h"

enum { LINKS_MAX = 40, PATH_SIZE = 4096 };

enum dti_status dti_output_fail(struct dti_error *reterr, const char *label, int error)
{
    return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write %s: %s", label, strerror(error));
}

/* Splits path at its last slash; false when what is behind it can only be a folder. */
static bool split(char path[PATH_SIZE], const char **ret_folder, const char **ret_name)
{
    char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    *ret_name = name;
    if (!slash) {
        *ret_folder = ".";
    } else if (slash == path) {
        *ret_folder = "/";
    } else {
        *slash = '\0';
        *ret_folder = path;
    }
    return true;
}

static int open_folder(int from, const char *path)
{
    int fd = openat(from, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#ifdef O_PATH
    if (fd < 0 && errno == EACCES) /* one may write into a folder that one may not list */
        fd = openat(from, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#endif
    return dti_descriptor_above_standard(fd);
}

/* Where everybody may make links, somebody else's could lead anywhere. Linux has the same rule
 * (fs.protected_symlinks) for links that it follows itself. */
static bool is_trap(int folder, const struct stat *link)
{
    struct stat st = {0};
    const mode_t shared = S_ISVTX | S_IWOTH;
    return link->st_uid != geteuid() && fstat(folder, &st) == 0 &&
           (st.st_mode & shared) == shared && link->st_uid != st.st_uid;
}

/* One step: opens the folder of *path, looks at the name in it. *ret_link: path now holds the
 * target of a link, and the next step starts from the folder. An errno value, or 0. */
static int step(struct dti_output_path *at, int from, char path[PATH_SIZE], bool *ret_link,
                bool *ret_trap)
{
    const char *folder, *name;
    if (!split(path, &folder, &name))
        return EISDIR;
    if (strlen(name) > NAME_MAX)
        return ENAMETOOLONG;
    at->folder = open_folder(from, folder);
    if (at->folder < 0)
        return errno;
    memcpy(at->name, name, strlen(name) + 1);
    *ret_link = false;
    memset(&at->old, 0, sizeof at->old);
    at->exists = fstatat(at->folder, at->name, &at->old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!at->exists)
        return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(at->old.st_mode))
        return EISDIR;
    if (!S_ISLNK(at->old.st_mode))
        return 0;
    *ret_trap = is_trap(at->folder, &at->old);
    if (*ret_trap)
        return EACCES;
    const ssize_t length = readlinkat(at->folder, at->name, path, PATH_SIZE);
    if (length < 0)
        return errno;
    if (length == PATH_SIZE)
        return ENAMETOOLONG;
    path[length] = '\0';
    *ret_link = true;
    return 0;
}

enum dti_status dti_output_path_resolve(struct dti_output_path *ret, const char *path,
                                        const char *label, struct dti_error *reterr)
{
    const size_t length = strlen(path);
    if (length == 0 || length >= PATH_SIZE)
        return dti_output_fail(reterr, label, length == 0 ? ENOENT : ENAMETOOLONG);
    char rest[PATH_SIZE];
    memcpy(rest, path, length + 1);

    struct dti_output_path at;
    bool link = true, trap = false;
    int from = AT_FDCWD, error = 0;
    for (int links = 0; link && error == 0; links++) {
        at.folder = -1;
        error = links > LINKS_MAX ? ELOOP : step(&at, from, rest, &link, &trap);
        if (from >= 0)
            close(from);
        from = at.folder;
    }
    if (error == 0) {
        *ret = at;
        return DTI_OK;
    }
    if (at.folder >= 0)
        close(at.folder);
    if (trap)
        return dti_fail(reterr, DTI_WRITE_FAILED,
                        "%s is another user's link in a folder open to all; name the file itself",
                        label);
    return dti_output_fail(reterr, label, error);
}

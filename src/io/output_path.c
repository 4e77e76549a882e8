/* SPDX-License-Identifier: MIT
 *
 * Resolves an output's real folder, for files and folders. Links are resolved here, not by the
 * kernel, because new files must be in the same folder as the target of the last link, which
 * need not exist, and because the kernel by default follows other users' links. Each step is
 * relative to a folder that is held open, so renaming a folder in the meantime has no effect. */
#define _GNU_SOURCE /* O_PATH */
#include "io/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "io/net/remote.h"
#include "util/errno_text.h"

enum { LINKS_MAX = 40, PATH_SIZE = 4096 };

/* The rest of the path, relative to at.folder. */
struct path_walk {
    struct dti_output_path at;
    char rest[PATH_SIZE];
    int links;
    bool as_folder, trap, done;
};

enum dti_status dti_output_fail(struct dti_error *reterr, const char *label, int error)
{
    const enum dti_status status = error == ENOMEM ? DTI_NO_MEMORY : DTI_WRITE_FAILED;
    return dti_fail_remedy(reterr, status,
                           error == EISDIR ? DTI_REMEDY_OUTPUT_FILE : DTI_REMEDY_NONE,
                           "cannot write %s: %s", label, dti_errno_text(error));
}

int dti_output_folder_open(int from, const char *path)
{
    const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd;
    DTI_AGAIN(fd = openat(from, path, O_RDONLY | flags));
#ifdef O_PATH
    if (fd < 0 && errno == EACCES) /* a folder may be writable without being listable */
        DTI_AGAIN(fd = openat(from, path, O_PATH | flags));
#endif
    return dti_descriptor_above_standard(fd);
}

/* Enters a folder: 0 or an errno value. */
static int enter(struct dti_output_path *at, const char *name)
{
    const int fd = dti_output_folder_open(at->folder, name);
    if (fd < 0)
        return errno;
    (void)close(at->folder);
    at->folder = fd;
    return 0;
}

/* In a world-writable folder, another user's link could lead anywhere. Linux applies the same
 * rule (fs.protected_symlinks) to links that it follows itself. */
static int check_link(struct path_walk *walk)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    const struct stat *const link = &walk->at.old;
    struct stat st = {0};
    if (link->st_uid == geteuid())
        return 0;
    if (fstat(walk->at.folder, &st) != 0)
        return errno;
    walk->trap = (st.st_mode & shared) == shared && link->st_uid != st.st_uid;
    return walk->trap ? EACCES : 0;
}

/* Prepends a link's target to the rest of the path. */
static int follow(struct path_walk *walk, bool slash)
{
    char target[PATH_SIZE];
    const int error = walk->links++ == LINKS_MAX ? ELOOP : check_link(walk);
    if (error != 0)
        return error;
    const ssize_t got = readlinkat(walk->at.folder, walk->at.name, target, sizeof target);
    if (got < 0)
        return errno;
    const size_t length = (size_t)got, rest = strlen(walk->rest);
    if (length + slash + rest >= PATH_SIZE)
        return ENAMETOOLONG;
    memmove(walk->rest + length + slash, walk->rest, rest + 1);
    memcpy(walk->rest, target, length);
    if (slash)
        walk->rest[length] = '/';
    return 0;
}

/* Takes the next component off the rest of the path; returns whether a slash followed it. */
static bool take_name(struct path_walk *walk, size_t length)
{
    const size_t slashes = strspn(walk->rest + length, "/");
    memcpy(walk->at.name, walk->rest, length);
    walk->at.name[length] = '\0';
    memmove(walk->rest, walk->rest + length + slashes, strlen(walk->rest + length + slashes) + 1);
    return slashes > 0;
}

/* Resolves one component of the path: 0 or an errno value. */
static int step(struct path_walk *walk)
{
    struct dti_output_path *const at = &walk->at;
    const size_t length = strcspn(walk->rest, "/");
    if (length > NAME_MAX)
        return ENAMETOOLONG;
    const bool slash = take_name(walk, length), last = walk->rest[0] == '\0';
    if (length == 0 || strcmp(at->name, ".") == 0 || strcmp(at->name, "..") == 0) {
        const int error = enter(at, length == 0 ? "/" : at->name);
        at->name[0] = '\0';
        at->exists = walk->done = last;
        return error != 0 ? error : last && !walk->as_folder ? EISDIR : 0;
    }
    at->exists = fstatat(at->folder, at->name, &at->old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!at->exists && (errno != ENOENT || !last))
        return errno;
    if (at->exists && S_ISLNK(at->old.st_mode))
        return follow(walk, slash);
    if (!last)
        return enter(at, at->name);
    walk->done = true;
    if (walk->as_folder)
        return at->exists && !S_ISDIR(at->old.st_mode) ? EEXIST : 0;
    return slash || (at->exists && S_ISDIR(at->old.st_mode)) ? EISDIR : 0;
}

int dti_output_path_find(struct dti_output_path *ret, const char *path, bool as_folder,
                         bool *ret_trap)
{
    struct path_walk walk = {.at = {.folder = -1}, .as_folder = as_folder};
    const size_t length = strlen(path);
    int error = length == 0 ? ENOENT : length >= PATH_SIZE ? ENAMETOOLONG : 0;
    if (error == 0) {
        memcpy(walk.rest, path, length + 1);
        walk.at.folder = dti_output_folder_open(AT_FDCWD, path[0] == '/' ? "/" : ".");
        error = walk.at.folder < 0 ? errno : 0;
    }
    while (error == 0 && !walk.done)
        error = step(&walk);
    if (error == 0)
        *ret = walk.at;
    else if (walk.at.folder >= 0)
        (void)close(walk.at.folder);
    *ret_trap = walk.trap;
    return error;
}

enum dti_status dti_output_path_resolve(struct dti_output_path *ret, const char *path,
                                        bool as_folder, const char *label, struct dti_error *reterr)
{
    bool trap;
    if (dti_is_address(path))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is an address, and addresses are not written; give the name of a file",
                        label);
    const int error = dti_output_path_find(ret, path, as_folder, &trap);
    if (error == 0)
        return DTI_OK;
    if (trap)
        return dti_fail(reterr, DTI_WRITE_FAILED,
                        "%s goes through another user's symbolic link in a world-writable folder; "
                        "give the path that it points to",
                        label);
    if (error == EEXIST && as_folder) {
        (void)dti_fail(reterr, DTI_USAGE,
                       "%s is not a folder; give an existing folder or a new name", label);
        dti_error_argument(reterr, path, strlen(path));
        return DTI_USAGE;
    }
    return dti_output_fail(reterr, label, error);
}

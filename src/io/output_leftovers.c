/* SPDX-License-Identifier: MIT
 *
 * Finds and removes files left by killed runs. A running process holds a lock on its own files.
 */
#define _GNU_SOURCE /* flock() */
#include "io/output_leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "io/output_file.h"

/* Opens a folder for listing. On failure NULL and errno, which is EACCES if it may not be
 * listed. */
static DIR *list_folder(int folder, const char *path)
{
    int fd;
    DTI_AGAIN(fd = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    DIR *const list = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !list) {
        const int error = errno;
        (void)close(fd);
        errno = error;
    }
    return list;
}

/* The next name, or NULL with *ret_error an errno value, or 0 at the end. */
static const char *next_name(DIR *list, int *ret_error)
{
    errno = 0;
    const struct dirent *const entry = readdir(list);
    *ret_error = entry ? 0 : errno;
    return entry ? entry->d_name : NULL;
}

static bool remove_folder(int folder, const char *name)
{
    DIR *const list = list_folder(folder, name);
    int error = 0;
    for (const char *inner; list && (inner = next_name(list, &error)) != NULL;) {
        if (strcmp(inner, ".") != 0 && strcmp(inner, "..") != 0)
            (void)unlinkat(dirfd(list), inner, 0);
    }
    if (list)
        (void)closedir(list);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* A file without a lock belongs to no running process. The shared lock taken here is held until
 * the file is gone. */
static enum dti_leftover judge(int folder, const char *name, bool is_folder, bool remove)
{
    int fd;
    DTI_AGAIN(fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0)
        return errno == ENOENT ? DTI_LEFTOVER_COUNT : DTI_LEFTOVER_STUCK;
    enum dti_leftover is = DTI_LEFTOVER_KILLED;
    int result;
    DTI_AGAIN(result = flock(fd, LOCK_SH | LOCK_NB));
    if (result != 0)
        is = errno == EWOULDBLOCK ? DTI_LEFTOVER_LIVE : DTI_LEFTOVER_STUCK;
    else if (remove && (is_folder ? remove_folder(folder, name) : unlinkat(folder, name, 0) == 0))
        is = DTI_LEFTOVER_REMOVED;
    else if (remove)
        is = DTI_LEFTOVER_STUCK;
    (void)close(fd);
    return is;
}

static void count(struct dti_output_leftovers *leftovers, int folder, const char *name, bool remove)
{
    struct stat st = {0};
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid() ||
        !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return;
    const enum dti_leftover is = judge(folder, name, S_ISDIR(st.st_mode), remove);
    if (is != DTI_LEFTOVER_COUNT && leftovers->count[is]++ == 0)
        dti_quote(leftovers->first[is], name, strlen(name));
}

enum dti_status dti_output_leftovers_find(struct dti_output_leftovers *leftovers, const char *path,
                                          bool as_folder, bool remove, struct dti_error *reterr)
{
    struct dti_output_path at;
    char label[DTI_QUOTE_SIZE];
    dti_quote(label, path, strlen(path));
    if (dti_output_is_stream(path) ||
        dti_output_path_resolve(&at, path, as_folder, label, NULL) != DTI_OK)
        return DTI_OK;
    DIR *const list = at.name[0] != '\0' ? list_folder(at.folder, ".") : NULL;
    int error = at.name[0] != '\0' && !list && errno != EACCES ? errno : 0;
    for (const char *name; list && (name = next_name(list, &error)) != NULL;) {
        if (dti_output_temp_is(name, at.name))
            count(leftovers, at.folder, name, remove);
    }
    if (list)
        (void)closedir(list);
    (void)close(at.folder);
    return error == 0 ? DTI_OK : dti_output_fail(reterr, label, error);
}

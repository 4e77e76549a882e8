/* SPDX-License-Identifier: MIT
 *
 * Making a folder, and removing it again. */
#include "dtinfo/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/output_path.h"
#include "util/output_temp.h"

static bool is_folder(const char *path)
{
    struct stat st = {0};
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum dti_status fail(const char *path, int error, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_quote(label, path, strlen(path));
    if (error != EEXIST)
        return dti_output_fail(reterr, label, error);
    (void)dti_fail(reterr, DTI_USAGE, "%s is no folder; give the name of one, or a new name",
                   label);
    dti_error_argument(reterr, path, strlen(path));
    return DTI_USAGE;
}

enum dti_status dti_output_folder_make(struct dti_output_folder *ret, const char *path,
                                       struct dti_error *reterr)
{
    struct dti_output_folder folder = {.path = strdup(path[0] != '\0' ? path : "."), .made = false};
    if (!folder.path)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (!is_folder(folder.path)) {
        dti_output_temp_folder(folder.path); /* before it exists, as for temporary files */
        if (mkdir(folder.path, 0777) == 0) {
            folder.made = true;
        } else {
            const int error = errno;
            dti_output_temp_folder(NULL);
            if (error != EEXIST || !is_folder(folder.path)) {
                free(folder.path);
                return fail(path, error, reterr);
            }
        }
    }
    *ret = folder;
    return DTI_OK;
}

/* The folder that holds the last part of path, which is cut off. */
static const char *parent_of(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    path[length] = '\0';
    return length > 0 ? path : ".";
}

enum dti_status dti_output_folder_check(const char *path, bool *ret_there, struct dti_error *reterr)
{
    struct stat st = {0};
    const char *const name = path[0] != '\0' ? path : ".";
    *ret_there = is_folder(name);
    if (*ret_there)
        return DTI_OK;
    if (lstat(name, &st) == 0)
        return fail(path, EEXIST, reterr);
    char *const copy = strdup(name);
    if (!copy)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const int error = stat(parent_of(copy), &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    free(copy);
    return error == 0 ? DTI_OK : fail(path, error, reterr);
}

static void forget(struct dti_output_folder *folder)
{
    if (folder->made)
        dti_output_temp_folder(NULL);
    free(folder->path);
    folder->path = NULL;
    folder->made = false;
}

void dti_output_folder_keep(struct dti_output_folder *folder)
{
    if (folder->made) {
        const int fd = open(parent_of(folder->path), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
        if (fd >= 0) {
            (void)fsync(fd);
            (void)close(fd);
        }
    }
    forget(folder);
}

void dti_output_folder_discard(struct dti_output_folder *folder)
{
    if (folder->made)
        (void)rmdir(folder->path);
    forget(folder);
}

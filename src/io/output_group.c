/* SPDX-License-Identifier: MIT
 *
 * Publishes several files together: the folder of new files is renamed to the output folder if
 * that does not exist; otherwise its files are moved into the existing folder. */
#include "io/output_group.h"
#include "util/text/ascii.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "io/input.h"
#include "io/output_file.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

struct dti_output_group {
    bool is_new, force;
    char label[DTI_QUOTE_SIZE];    /* of the folder, if it is new */
    struct dti_output_path target; /* of the folder, if it is new */
    struct dti_output_temp temp;   /* the folder of new files; "" if there is none */
    int inside;                    /* that folder, open and locked, or -1 */
    size_t count;
    const char **paths;
    struct dti_output_file *files[];
};

/* Resolves the folder's path: *ret->folder is open, or -1 after a failure. */
static enum dti_status find_folder(struct dti_output_path *ret, const char *path,
                                   char label[DTI_QUOTE_SIZE], struct dti_error *reterr)
{
    dti_quote(label, path, strlen(path));
    ret->folder = -1;
    return dti_output_path_resolve(ret, path[0] != '\0' ? path : ".", true, label, reterr);
}

enum dti_status dti_output_folder_check(const char *folder, bool *ret_there,
                                        struct dti_error *reterr)
{
    struct dti_output_path target;
    char label[DTI_QUOTE_SIZE];
    const enum dti_status status = find_folder(&target, folder, label, reterr);
    if (status != DTI_OK)
        return status;
    (void)close(target.folder);
    *ret_there = target.exists;
    return DTI_OK;
}

enum dti_status dti_output_folder_make(const char *folder, bool *ret_made, struct dti_error *reterr)
{
    struct dti_output_path target;
    char label[DTI_QUOTE_SIZE];
    enum dti_status status = find_folder(&target, folder, label, reterr);
    if (status != DTI_OK)
        return status;
    const bool made = !target.exists && mkdirat(target.folder, target.name, 0777) == 0;
    int error = target.exists || made || errno == EEXIST ? 0 : errno;
    if (made)
        error = dti_output_sync_folder(target.folder);
    (void)close(target.folder);
    *ret_made = made;
    return error == 0 ? DTI_OK : dti_output_fail(reterr, label, error);
}

void dti_output_folder_unmake(const char *folder)
{
    struct dti_output_path target;
    char label[DTI_QUOTE_SIZE];
    if (find_folder(&target, folder, label, NULL) != DTI_OK)
        return;
    if (target.name[0] != '\0')
        (void)unlinkat(target.folder, target.name, AT_REMOVEDIR);
    (void)close(target.folder);
}

/* Resolves where each file goes, if the folder exists already. */
static enum dti_status find_files(struct dti_output_group *group,
                                  const struct dti_output_member *members, struct dti_error *reterr)
{
    for (size_t i = 0; i < group->count; i++) {
        group->paths[i] = members[i].path;
        group->files[i] = dti_output_new(members[i].path, group->force, members[i].size);
        if (!group->files[i])
            return dti_no_memory(reterr);
        if (group->is_new)
            continue;
        const enum dti_status status = dti_output_find(group->files[i], members[i].path, reterr);
        if (status == DTI_USAGE || status == DTI_WRITE_FAILED)
            dti_error_argument(reterr, members[i].path, strlen(members[i].path));
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

/* Makes the folder of new files: with its final permissions if it becomes the output, otherwise
 * closed to other users. */
static enum dti_status make_staging(struct dti_output_group *group, size_t lead,
                                    struct dti_error *reterr)
{
    const struct dti_output_file *const first = group->files[lead];
    const struct dti_output_path *const place = group->is_new ? &group->target : &first->target;
    const struct dti_output_names names = {.paths = group->paths, .count = group->count};
    group->inside = dti_output_temp_make(&group->temp, place->folder, place->name,
                                         group->is_new ? 0777 : 0700, &names);
    if (group->inside >= 0)
        return DTI_OK;
    return dti_output_fail(reterr, group->is_new ? group->label : first->label, errno);
}

static enum dti_status open_file(const struct dti_output_group *group, size_t at, dev_t device,
                                 struct dti_error *reterr)
{
    struct dti_output_file *const file = group->files[at];
    struct stat st = {0};
    if (!group->is_new && fstat(file->target.folder, &st) != 0)
        return dti_output_fail(reterr, file->label, errno);
    if (!group->is_new && st.st_dev != device)
        return dti_fail_remedy(reterr, DTI_WRITE_FAILED, DTI_REMEDY_REMOVE_LINK,
                               "%s links to a different file system than the other output files",
                               file->label);
    const char *const name = dti_path_base(group->paths[at]);
    if (strlen(name) > NAME_MAX)
        return dti_output_fail(reterr, file->label, ENAMETOOLONG);
    DTI_AGAIN(file->fd =
                  openat(group->inside, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         file->target.exists ? 0600 : 0666));
    if (file->fd < 0)
        return dti_output_fail(reterr, file->label, errno);
    file->temp = (struct dti_output_temp){.folder = group->inside};
    memcpy(file->temp.name, name, strlen(name) + 1);
    return dti_output_prepare(file, reterr);
}

static enum dti_status open_files(struct dti_output_group *group, struct dti_error *reterr)
{
    struct stat st = {0};
    if (fstat(group->inside, &st) != 0)
        return dti_output_fail(reterr, group->files[0]->label, errno);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < group->count && status == DTI_OK; i++)
        status = open_file(group, i, st.st_dev, reterr);
    return status;
}

enum dti_status dti_output_group_open(struct dti_output_group **ret, const char *folder,
                                      const struct dti_output_member *members, size_t count,
                                      size_t lead, bool force, struct dti_error *reterr)
{
    struct dti_output_group *const group =
        dti_calloc(1, sizeof *group + count * sizeof *group->files);
    if (!group)
        return dti_no_memory(reterr);
    group->force = force;
    group->inside = group->target.folder = -1;
    group->count = count;
    group->paths = dti_calloc(count, sizeof *group->paths);
    enum dti_status status = group->paths ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK && folder)
        status = find_folder(&group->target, folder, group->label, reterr);
    group->is_new = status == DTI_OK && folder && !group->target.exists;
    if (status == DTI_OK)
        status = find_files(group, members, reterr);
    if (status == DTI_OK)
        status = make_staging(group, lead, reterr);
    if (status == DTI_OK)
        status = open_files(group, reterr);
    if (status == DTI_OK)
        *ret = group;
    else
        dti_output_group_discard(group);
    return status;
}

struct dti_output_file *dti_output_group_file(const struct dti_output_group *group, size_t at)
{
    return group->files[at];
}

/* Renames the new folder: 0 or an errno value; EEXIST if another process has created it in the
 * meantime. */
static int publish_folder(struct dti_output_group *group)
{
    int error = dti_output_sync_folder(group->inside);
    if (error == 0)
        error = dti_output_rename(&group->temp, &group->target, false, true);
    if (error == 0)
        dti_output_temp_forget(&group->temp);
    return error;
}

/* Moves the files into a folder that did not exist when they were begun. */
static int enter_folder(struct dti_output_group *group)
{
    const int folder = dti_output_folder_open(group->target.folder, group->target.name);
    int error = folder < 0 ? errno : 0;
    for (size_t i = 0; i < group->count && error == 0; i++) {
        struct dti_output_path *const target = &group->files[i]->target;
        memcpy(target->name, group->files[i]->temp.name, sizeof target->name);
        target->folder = fcntl(folder, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        error = target->folder < 0 ? errno : 0;
    }
    if (folder >= 0)
        (void)close(folder);
    return error;
}

/* Reports the state after `done` of the files were renamed. */
static enum dti_status fail_between(const struct dti_output_group *group, size_t done, int error,
                                    struct dti_error *reterr)
{
    const char *const label = group->files[done]->label;
    const size_t left = group->count - done;
    char first[DTI_QUOTE_SIZE], last[DTI_QUOTE_SIZE], others[48] = "it";
    if (done == 0)
        return error == EEXIST ? dti_output_fail_exists(label, reterr)
                               : dti_output_fail(reterr, label, error);
    const char *const from = dti_path_base(group->paths[0]);
    const char *const to = dti_path_base(group->paths[done - 1]);
    if (left > 1)
        (void)snprintf(others, sizeof others, "the other %zu files", left);
    dti_quote(first, from, strlen(from));
    dti_quote(last, to, strlen(to));
    return dti_fail_remedy(reterr, DTI_WRITE_FAILED, DTI_REMEDY_REPLACE_AGAIN,
                           "cannot put %s in place: %s; %s%s%s %s new, and %s %s not in place",
                           label, dti_errno_text(error), first, done > 1 ? " to " : "",
                           done > 1 ? last : "", done > 1 ? "are" : "is", others,
                           left > 1 ? "are" : "is");
}

static enum dti_status publish_files(struct dti_output_group *group, struct dti_error *reterr)
{
    for (size_t i = 0; i < group->count; i++) {
        struct dti_output_file *const file = group->files[i];
        const int error = dti_output_rename(&file->temp, &file->target, file->force, false);
        if (error != 0)
            return fail_between(group, i, error, reterr);
        dti_output_temp_forget(&file->temp);
    }
    return DTI_OK;
}

/* Syncs the folders that received files; consecutive equal ones once. */
static int sync_folders(const struct dti_output_group *group)
{
    struct stat last = {0}, st = {0};
    for (size_t i = 0; i < group->count; i++) {
        const int folder = group->files[i]->target.folder;
        if (fstat(folder, &st) == 0 && i > 0 && st.st_dev == last.st_dev &&
            st.st_ino == last.st_ino)
            continue;
        const int error = dti_output_sync_folder(folder);
        if (error != 0)
            return error;
        last = st;
    }
    return 0;
}

static enum dti_status commit(struct dti_output_group *group, struct dti_error *reterr)
{
    for (size_t i = 0; i < group->count; i++) {
        const int error = dti_output_finish(group->files[i]);
        if (error != 0)
            return dti_output_fail(reterr, group->files[i]->label, error);
    }
    enum dti_status unchanged = dti_inputs_unchanged(reterr);
    if (unchanged == DTI_OK && dti_interrupted())
        unchanged = dti_cancelled(reterr);
    if (unchanged != DTI_OK)
        return unchanged;
    bool renamed = false;
    if (group->is_new) {
        int error = publish_folder(group);
        renamed = error == 0;
        if (error == EEXIST)
            error = enter_folder(group);
        if (error != 0)
            return dti_output_fail(reterr, group->label, error);
    }
    const enum dti_status status = renamed ? DTI_OK : publish_files(group, reterr);
    if (status != DTI_OK)
        return status;
    dti_inputs_forget();
    const int error = renamed ? dti_output_sync_folder(group->target.folder) : sync_folders(group);
    if (error == 0)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRITE_FAILED, "wrote %s, but cannot sync its folder: %s",
                    group->is_new ? group->label : group->files[group->count - 1]->label,
                    dti_errno_text(error));
}

enum dti_status dti_output_group_commit(struct dti_output_group *group, struct dti_error *reterr)
{
    const enum dti_status status = commit(group, reterr);
    dti_output_group_discard(group);
    return status;
}

void dti_output_group_discard(struct dti_output_group *group)
{
    if (!group)
        return;
    const bool renamed = group->temp.name[0] == '\0'; /* or not created */
    for (size_t i = 0; i < group->count && group->files[i]; i++) {
        struct dti_output_file *const file = group->files[i];
        if (renamed)
            dti_output_temp_forget(&file->temp);
        if (file->fd >= 0) /* network file systems cannot delete files that are open */
            (void)close(file->fd);
        file->fd = -1;
        if (file->temp.name[0] != '\0')
            dti_output_temp_remove(&file->temp);
    }
    if (!renamed)
        dti_output_temp_remove(&group->temp);
    for (size_t i = 0; i < group->count; i++)
        dti_output_discard(group->files[i]);
    if (group->inside >= 0)
        (void)close(group->inside);
    if (group->target.folder >= 0)
        (void)close(group->target.folder);
    dti_free(group->paths);
    dti_free(group);
}

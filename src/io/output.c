/* SPDX-License-Identifier: MIT
 *
 * Writes a new file under a temporary name until it is complete, then syncs and renames it; or
 * writes a pipe directly. Also removes old files next to new ones, in a folder that is held
 * open, and never a new one. */
#define _GNU_SOURCE /* syscall(), sync_file_range() */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "io/descriptor.h"
#include "io/input.h"
#include "io/output_file.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/thread.h"
#include "util/text/ascii.h"

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
#ifdef SYS_renameat2                         /* glibc has a function since 2.28 */
        static const unsigned noreplace = 1; /* RENAME_NOREPLACE */
        if (syscall(SYS_renameat2, from->folder, from->name, to->folder, to->name, noreplace) == 0)
            return 0;
        if (errno != ENOSYS && errno != EINVAL)
            return errno;
#endif
        if (!is_folder) {
            if (linkat(from->folder, from->name, to->folder, to->name, 0) == 0) {
                (void)unlinkat(from->folder, from->name, 0); /* the file is in place either way */
                return 0;
            }
            if (errno == EEXIST)
                return errno;
        }
        struct stat st = {0}; /* no hard links either: check, then rename */
        if (fstatat(to->folder, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return EEXIST;
        if (errno != ENOENT)
            return errno;
    }
    return renameat(from->folder, from->name, to->folder, to->name) == 0 ? 0 : errno;
}

/* Ignores file systems that cannot sync a folder, and folders that could not be opened for
 * reading because they may not be listed. */
int dti_output_sync_folder(int fd)
{
    const int error = sync_descriptor(fd);
    return error == EINVAL || error == EBADF || error == ENOTSUP ? 0 : error;
}

/* Start writing dirty pages to disk after this many bytes, so that the final sync has little
 * left to wait for. */
enum { WRITE_BEHIND = 32 << 20 };

enum dti_status dti_output_fail_exists(const char *label, struct dti_error *reterr)
{
    return dti_fail_remedy(reterr, DTI_WRITE_FAILED, DTI_REMEDY_REPLACE, "%s exists", label);
}

/* Reports the errno of a write that ended at byte `offset`. */
static enum dti_status fail_at(const struct dti_output_file *output, uint64_t offset,
                               struct dti_error *reterr)
{
    const int error = errno;
    if (error == EPIPE && dti_caller_is_process())
        return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
    const unsigned long long at = offset, size = output->size;
    if (size > 0)
        return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write %s: %s, at byte %llu of %llu",
                        output->label, dti_errno_text(error), at, size);
    return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write %s: %s, at byte %llu", output->label,
                    dti_errno_text(error), at);
}

/* Starts a pipe, a device or standard output; output->fd is open. */
static enum dti_status begin_in_place(struct dti_output_file *output, struct dti_error *reterr)
{
    struct stat st = {0};
    output->in_place = true;
    if (isatty(output->fd))
        return dti_fail(reterr, DTI_USAGE, "%s is a terminal; binary data goes to a file or a pipe",
                        output->label);
    if (fstat(output->fd, &st) != 0)
        return dti_output_fail(reterr, output->label, errno);
    if (S_ISREG(st.st_mode)) {
        output->device = (uint64_t)st.st_dev;
        output->inode = (uint64_t)st.st_ino;
    }
#ifdef F_SETPIPE_SZ
    if (S_ISFIFO(st.st_mode))
        (void)fcntl(output->fd, F_SETPIPE_SZ, 1 << 20); /* fewer context switches; optional */
#endif
    return DTI_OK;
}

/* Copies permissions (no setuid, setgid or sticky bits) and owner of the file being replaced. If
 * the group cannot be kept, the new group gets the permissions of others. */
static int keep_mode(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    struct stat st = {0};
    if (fstat(fd, &st) != 0)
        return errno;
    int given = 0, kept = 0, changed;
    if (st.st_uid != old->st_uid)
        DTI_AGAIN(given = fchown(fd, old->st_uid, (gid_t)-1));
    (void)given; /* unprivileged users cannot give files away */
    if (st.st_gid != old->st_gid)
        DTI_AGAIN(kept = fchown(fd, (uid_t)-1, old->st_gid));
    if (kept != 0)
        mode = (mode & 0707) | ((mode & 07) << 3);
    DTI_AGAIN(changed = fchmod(fd, mode));
    return changed == 0 ? 0 : errno;
}

enum dti_status dti_output_find(struct dti_output_file *output, const char *path,
                                struct dti_error *reterr)
{
    struct dti_output_path *const target = &output->target;
    const enum dti_status status =
        dti_output_path_resolve(target, path, false, output->label, reterr);
    if (status != DTI_OK)
        return status;
    if (target->exists && !S_ISREG(target->old.st_mode))
        return dti_fail(reterr, DTI_USAGE, "%s is not a regular file, so it cannot be replaced",
                        output->label);
    return target->exists && !output->force ? dti_output_fail_exists(output->label, reterr)
                                            : DTI_OK;
}

enum dti_status dti_output_prepare(struct dti_output_file *output, struct dti_error *reterr)
{
    const int error = output->target.exists ? keep_mode(output->fd, &output->target.old) : 0;
    if (error != 0)
        return dti_output_fail(reterr, output->label, error);
    const int full = dti_descriptor_reserve(output->fd, output->size);
    if (full != 0)
        return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write %s: %s (it needs %llu bytes)",
                        output->label, dti_errno_text(full), (unsigned long long)output->size);
    return DTI_OK;
}

static enum dti_status begin_replacement(struct dti_output_file *output, const char *path,
                                         struct dti_error *reterr)
{
    struct dti_output_path *const target = &output->target;
    const enum dti_status status = dti_output_find(output, path, reterr);
    if (status != DTI_OK)
        return status;
    output->fd = dti_output_temp_make(&output->temp, target->folder, target->name,
                                      target->exists ? 0600 : 0666, NULL);
    if (output->fd < 0)
        return dti_output_fail(reterr, output->label, errno);
    return dti_output_prepare(output, reterr);
}

/* Names of the standard output descriptor. As symbolic links they resolve to nothing useful. */
static bool names_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           strcmp(path, "/dev/fd/1") == 0 || strcmp(path, "/proc/self/fd/1") == 0;
}

bool dti_output_is_standard(const char *path)
{
    struct stat target = {0}, own = {0};
    return names_standard_output(path) ||
           (stat(path, &target) == 0 && S_ISFIFO(target.st_mode) &&
            fstat(STDOUT_FILENO, &own) == 0 && target.st_dev == own.st_dev &&
            target.st_ino == own.st_ino);
}

static bool is_stream(const struct stat *st)
{
    return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode);
}

bool dti_output_is_stream(const char *path)
{
    struct stat st = {0};
    return names_standard_output(path) || (stat(path, &st) == 0 && is_stream(&st));
}

static enum dti_status begin(struct dti_output_file *output, const char *path,
                             struct dti_error *reterr)
{
    struct stat st = {0};
    if (names_standard_output(path)) {
        snprintf(output->label, sizeof output->label, "%s", "standard output");
        output->fd = STDOUT_FILENO;
        return begin_in_place(output, reterr);
    }
    if (stat(path, &st) != 0) {
        /* on EACCES the kernel may have refused a link: our own link check reports why */
        if (errno != ENOENT && errno != EACCES)
            return dti_output_fail(reterr, output->label, errno);
        return begin_replacement(output, path, reterr);
    }
    if (!is_stream(&st))
        return begin_replacement(output, path, reterr);
    DTI_AGAIN(output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (output->fd < 0)
        return dti_output_fail(reterr, output->label, errno);
    struct stat opened = {0};
    if (fstat(output->fd, &opened) != 0 || opened.st_dev != st.st_dev || opened.st_ino != st.st_ino)
        return dti_fail(reterr, DTI_WRITE_FAILED, "%s was replaced while being opened",
                        output->label);
    return begin_in_place(output, reterr);
}

struct dti_output_file *dti_output_new(const char *path, bool force, uint64_t size)
{
    struct dti_output_file *const output = dti_calloc(1, sizeof *output);
    if (!output)
        return NULL;
    output->fd = output->target.folder = -1;
    output->force = force;
    output->size = size;
    dti_quote(output->label, path, strlen(path));
    return output;
}

void dti_output_watch(struct dti_output_file *output, struct dti_output_watch *watch)
{
    output->watch = watch;
}

struct dti_output_file *dti_output_to(dti_output_take *take, void *context)
{
    struct dti_output_file *const output = dti_output_new("", false, 0);
    if (output) {
        output->take = take;
        output->take_context = context;
    }
    return output;
}

enum dti_status dti_output_open(struct dti_output_file **ret, const char *path, bool force,
                                uint64_t size, struct dti_error *reterr)
{
    struct dti_output_file *const output = dti_output_new(path, force, size);
    if (!output)
        return dti_no_memory(reterr);
    const enum dti_status status = begin(output, path, reterr);
    if (status == DTI_OK)
        *ret = output;
    else
        dti_output_discard(output);
    if (status == DTI_USAGE || status == DTI_WRITE_FAILED)
        dti_error_argument(reterr, path, strlen(path));
    return status;
}

enum dti_status dti_output_check(const char *path, bool force, struct dti_error *reterr)
{
    struct dti_output_file output = {.fd = -1, .force = force, .target = {.folder = -1}};
    if (dti_output_is_stream(path))
        return DTI_OK;
    dti_quote(output.label, path, strlen(path));
    const enum dti_status status = dti_output_find(&output, path, reterr);
    if (output.target.folder >= 0)
        (void)close(output.target.folder);
    if (status == DTI_USAGE || status == DTI_WRITE_FAILED)
        dti_error_argument(reterr, path, strlen(path));
    return status;
}

bool dti_output_seekable(const struct dti_output_file *output)
{
    return !output->in_place;
}

bool dti_output_is_file(const struct dti_output_file *output, uint64_t device, uint64_t inode)
{
    return output->inode != 0 && output->device == device && output->inode == inode;
}

static bool try_again(const struct dti_output_file *output)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    struct pollfd wanted = {.fd = output->fd, .events = POLLOUT};
    (void)poll(&wanted, 1, dti_interruptible() ? DTI_POLL_MS : -1);
    return true;
}

/* A call that can be cancelled writes less at once. */
static size_t piece(size_t size)
{
    enum { MOST = 8 << 20 };
    return size > MOST && dti_interruptible() ? MOST : size;
}

/* In a process that belongs to a caller, a closed pipe is an error and no signal. */
static ssize_t write_some(int fd, const char *data, size_t size)
{
    struct dti_pipe_guard guard;
    if (dti_caller_is_process())
        return write(fd, data, size);
    dti_pipe_guard_begin(&guard);
    const ssize_t written = write(fd, data, size);
    dti_pipe_guard_end(&guard);
    return written;
}

enum dti_status dti_output_write(struct dti_output_file *output, const void *data, size_t size,
                                 struct dti_error *reterr)
{
    for (size_t done = 0; done < size;) {
        if (dti_interrupted())
            return dti_cancelled(reterr);
        const ssize_t written =
            write_some(output->fd, (const char *)data + done, piece(size - done));
        if (written > 0) {
            done += (size_t)written;
            output->position += (uint64_t)written;
        } else if (written == 0) {
            errno = EIO;
            return fail_at(output, output->position, reterr);
        } else if (!try_again(output)) {
            return fail_at(output, output->position, reterr);
        }
    }
    return DTI_OK;
}

/* Starts writeback of the page cache; errors show up at the sync. */
static void write_behind(struct dti_output_file *output, size_t size)
{
    if (atomic_fetch_add(&output->behind, size) + size < WRITE_BEHIND)
        return;
    atomic_store(&output->behind, 0);
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
}

enum dti_status dti_output_write_at(struct dti_output_file *output, const void *data, size_t size,
                                    uint64_t offset, struct dti_error *reterr)
{
    if (output->take)
        return output->take(output->take_context, data, size, offset, reterr);
    if (offset > INT64_MAX || size > (uint64_t)INT64_MAX - offset) {
        errno = EFBIG;
        return fail_at(output, offset, reterr);
    }
    for (size_t done = 0; done < size;) {
        if (dti_interrupted())
            return dti_cancelled(reterr);
        const ssize_t written = pwrite(output->fd, (const char *)data + done, piece(size - done),
                                       (off_t)(offset + done));
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0) {
            errno = EIO;
            return fail_at(output, offset + done, reterr);
        } else if (!try_again(output)) {
            return fail_at(output, offset + done, reterr);
        }
    }
    write_behind(output, size);
    if (output->watch)
        output->watch->take(output->watch, data, size, offset);
    return DTI_OK;
}

static enum dti_status commit_in_place(struct dti_output_file *output, struct dti_error *reterr)
{
    const int fd = output->fd;
    output->fd = -1;
    if (fd == STDOUT_FILENO || close(fd) == 0 || errno == EINTR)
        return DTI_OK;
    return dti_output_fail(reterr, output->label, errno);
}

static enum dti_status commit_replacement(struct dti_output_file *output, struct dti_error *reterr)
{
    /* keep the lock until the rename, so that no other run takes the file for a leftover */
    const int lock = fcntl(output->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = dti_output_finish(output);
    enum dti_status unchanged = error == 0 ? dti_inputs_unchanged(reterr) : DTI_OK;
    if (error == 0 && unchanged == DTI_OK && dti_interrupted())
        unchanged = dti_cancelled(reterr);
    if (error == 0 && unchanged == DTI_OK)
        error = dti_output_rename(&output->temp, &output->target, output->force, false);
    if (lock >= 0)
        (void)close(lock);
    if (unchanged != DTI_OK)
        return unchanged;
    if (error == EEXIST)
        return dti_output_fail_exists(output->label, reterr);
    if (error != 0)
        return dti_output_fail(reterr, output->label, error);
    dti_output_temp_forget(&output->temp);
    dti_inputs_forget();
    error = dti_output_sync_folder(output->target.folder);
    if (error != 0)
        return dti_fail(reterr, DTI_WRITE_FAILED, "wrote %s, but cannot sync its folder: %s",
                        output->label, dti_errno_text(error));
    return DTI_OK;
}

enum dti_status dti_output_commit(struct dti_output_file *output, struct dti_error *reterr)
{
    const enum dti_status status =
        output->in_place ? commit_in_place(output, reterr) : commit_replacement(output, reterr);
    dti_output_discard(output);
    return status;
}

void dti_output_discard(struct dti_output_file *output)
{
    if (!output)
        return;
    if (output->fd > STDERR_FILENO)
        (void)close(output->fd);
    if (output->temp.name[0] != '\0')
        dti_output_temp_remove(&output->temp);
    if (output->target.folder >= 0)
        (void)close(output->target.folder);
    dti_free(output);
}

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

/* Removes it if it exists and is not a new file: a new file may have replaced a link's target. 0 or
 * an errno value. */
static int remove_old(int folder, const char *name, const struct identity *kept, size_t count)
{
    struct stat st = {0};
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    const struct identity is = {st.st_dev, st.st_ino};
    const bool old = S_ISLNK(st.st_mode) ||
                     (S_ISREG(st.st_mode) && !bsearch(&is, kept, count, sizeof *kept, compare));
    return !old || unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

enum dti_status dti_output_fail_remove(const char *path, int error,
                                       const struct dti_output_removal *words,
                                       struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    const enum dti_status status = error == ENOMEM ? DTI_NO_MEMORY : DTI_WRITE_FAILED;
    return dti_fail_remedy(reterr, status, words->remedy, "%s %s%s cannot be removed: %s",
                           words->before, dti_quote(label, path, strlen(path)), words->after,
                           dti_errno_text(error));
}

static enum dti_status remove_all(int folder, const char *const *paths, size_t count, size_t lead,
                                  const struct identity *kept, size_t kept_count,
                                  const struct dti_output_removal *words, struct dti_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        const char *const name = dti_path_base(paths[i]);
        int error = i == lead ? dti_output_sync_folder(folder) : 0;
        if (error == 0)
            error = remove_old(folder, name, kept, kept_count);
        if (error == 0 && i + 1 == count)
            error = dti_output_sync_folder(folder);
        if (error != 0)
            return dti_output_fail_remove(paths[i], error, words, reterr);
    }
    return DTI_OK;
}

/* Opens a folder of new files: 0 or an errno value. */
static int open_folder(const char *path, int *ret)
{
    struct dti_output_path at;
    bool trap;
    int error = dti_output_path_find(&at, path, true, &trap);
    if (error != 0)
        return error;
    *ret = at.name[0] != '\0' ? dti_output_folder_open(at.folder, at.name) : at.folder;
    if (*ret < 0)
        error = errno;
    if (*ret != at.folder)
        (void)close(at.folder);
    return error;
}

enum dti_status dti_output_remove(const char *folder, const char *const *paths, size_t count,
                                  size_t lead, const char *const *kept, size_t kept_count,
                                  const struct dti_output_removal *words, struct dti_error *reterr)
{
    if (count == 0)
        return DTI_OK;
    struct identity *const list = dti_calloc(kept_count + 1, sizeof *list);
    int error = list ? 0 : ENOMEM;
    size_t known = 0;
    for (size_t i = 0; i < kept_count && error == 0; i++) {
        struct stat st = {0};
        if (stat(kept[i], &st) == 0)
            list[known++] = (struct identity){st.st_dev, st.st_ino};
        else if (errno != ENOENT)
            error = errno;
    }
    if (known > 0)
        qsort(list, known, sizeof *list, compare);
    int fd = -1;
    if (error == 0)
        error = open_folder(folder, &fd);
    const enum dti_status status =
        error != 0 ? dti_output_fail_remove(paths[0], error, words, reterr)
                   : remove_all(fd, paths, count, lead, list, known, words, reterr);
    if (fd >= 0)
        (void)close(fd);
    dti_free(list);
    return status;
}

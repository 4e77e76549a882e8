/* SPDX-License-Identifier: MIT
 *
 * Temporary files without a name. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"

const char *dti_scratch_folder(void)
{
    const char *const wanted = dti_environment("TMPDIR");
    return wanted && *wanted ? wanted : "/tmp";
}

static enum dti_status fail(const char *name, const char *why, struct dti_error *reterr)
{
    const struct dti_input input = {.name = name};
    char label[DTI_QUOTE_SIZE], place[DTI_QUOTE_SIZE];
    return dti_fail(
        reterr, DTI_WRITE_FAILED,
        "%s needs a temporary file, but writing one in %s failed: %s; set TMPDIR to another folder",
        dti_input_label(&input, label),
        dti_quote(place, dti_scratch_folder(), strlen(dti_scratch_folder())), why);
}

/* Signals are blocked between the file's creation and its unlinking. */
static int open_and_unlink(const char *path)
{
    static const char suffix[] = "/.dtinfo-XXXXXX";
    const size_t length = strlen(path);
    char *const name = dti_malloc(length + sizeof suffix);
    if (!name)
        return -1;
    memcpy(name, path, length);
    memcpy(name + length, suffix, sizeof suffix);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int fd = mkstemp(name); /* 0600 */
    const int error = errno;
    if (fd >= 0) {
        (void)unlink(name);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    dti_free(name);
    errno = error;
    return fd;
}

static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
    int fd;
    DTI_AGAIN(fd = open(path, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
    if (fd >= 0)
        return fd;
    /* the file system or the kernel lacks O_TMPFILE */
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return -1;
#endif
    return open_and_unlink(path);
}

enum dti_status dti_scratch_open(struct dti_input *ret, const char *name, uint64_t size,
                                 struct dti_error *reterr)
{
    struct dti_input input = {.name = name, .seekable = true, .size = size};
    if (size > INT64_MAX)
        return fail(name, dti_errno_text(EFBIG), reterr);
    input.fd = dti_descriptor_above_standard(open_nameless(dti_scratch_folder()));
    if (input.fd < 0)
        return fail(name, dti_errno_text(errno), reterr);
    struct stat st = {0};
    int error = dti_descriptor_reserve(input.fd, size);
    int result = 0;
    if (error == 0)
        DTI_AGAIN(result = ftruncate(input.fd, (off_t)size));
    if (error == 0 && (result != 0 || fstat(input.fd, &st) != 0))
        error = errno;
    if (error != 0) {
        dti_input_close(&input);
        return fail(name, dti_errno_text(error), reterr);
    }
    input.device = (uint64_t)st.st_dev;
    input.inode = (uint64_t)st.st_ino;
    *ret = input;
    return DTI_OK;
}

static enum dti_status write_at(const struct dti_input *scratch, const char *data, size_t size,
                                uint64_t offset, struct dti_error *reterr)
{
    for (size_t done = 0; done < size;) {
        const ssize_t written =
            pwrite(scratch->fd, data + done, size - done, (off_t)(offset + done));
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            char why[128];
            snprintf(why, sizeof why, "%s, at byte %llu",
                     dti_errno_text(written == 0 ? EIO : errno),
                     (unsigned long long)(offset + done));
            return fail(scratch->name, why, reterr);
        }
    }
    return DTI_OK;
}

enum dti_status dti_scratch_write_at(const struct dti_input *scratch, const void *data, size_t size,
                                     uint64_t offset, struct dti_error *reterr)
{
    if (offset > scratch->size || size > scratch->size - offset)
        return dti_fail(reterr, DTI_BUG, "a write past the end of a temporary file");
    return write_at(scratch, data, size, offset, reterr);
}

enum dti_status dti_scratch_append(struct dti_input *scratch, const void *data, size_t size,
                                   struct dti_error *reterr)
{
    if (size > (uint64_t)INT64_MAX - scratch->size)
        return fail(scratch->name, dti_errno_text(EFBIG), reterr);
    const enum dti_status status = write_at(scratch, data, size, scratch->size, reterr);
    if (status == DTI_OK)
        scratch->size += size;
    return status;
}

enum dti_status dti_scratch_extend(struct dti_input *scratch, uint64_t size,
                                   struct dti_error *reterr)
{
    if (size > (uint64_t)INT64_MAX - scratch->size)
        return fail(scratch->name, dti_errno_text(EFBIG), reterr);
    const uint64_t end = scratch->size + size;
    const int error = dti_descriptor_reserve(scratch->fd, end);
    int result = 0;
    if (error == 0)
        DTI_AGAIN(result = ftruncate(scratch->fd, (off_t)end));
    if (error != 0 || result != 0)
        return fail(scratch->name, dti_errno_text(error != 0 ? error : errno), reterr);
    scratch->size = end;
    return DTI_OK;
}

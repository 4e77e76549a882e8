/* SPDX-License-Identifier: MIT
 *
 * Reads files: handles short reads and interruptions. Keeps the stat of each regular file at
 * opening, by descriptor, so that callers need not track changes and cannot miss one. */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "io/net/remote.h"
#include "io/sandbox/sandbox.h"
#include "io/unread.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/grown.h"

/* A regular file that was opened, and its state then. */
struct opened {
    int fd;
    char *name;
    bool by_name; /* name is a path to it; otherwise it is standard input */
    bool settled; /* what was read so far is published or dropped */
    struct stat st;
};

/* Of the current caller: two callers in two threads do not see each other's files. */
struct inputs {
    struct dti_caller_state state;
    pthread_mutex_t lock;
    struct opened *list; /* in the order of descriptors */
    size_t count, room;
    bool changed; /* a closed input had changed; the first error: */
    struct dti_error error;
};

static void begin_inputs(void *state)
{
    pthread_mutex_init(&((struct inputs *)state)->lock, NULL);
}

static void end_inputs(struct dti_caller_state *state)
{
    struct inputs *const inputs = (struct inputs *)(void *)state;
    for (size_t i = 0; i < inputs->count; i++)
        dti_free(inputs->list[i].name);
    dti_free(inputs->list);
    pthread_mutex_destroy(&inputs->lock);
}

static bool differ(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

static bool leads_to(const char *name, const struct stat *st)
{
    struct stat now = {0};
    return stat(name, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* What changed, or NULL. New links, owners, permissions or names also change the ctime, but are
 * visible by themselves. If only the ctime changed, a writer may have set the mtime back. */
static const char *find_change(const struct opened *was, const struct stat *is)
{
    if (is->st_size != was->st.st_size)
        return "its size";
    if (differ(&is->st_mtim, &was->st.st_mtim))
        return "its modification time";
    const bool explained = is->st_nlink != was->st.st_nlink || is->st_mode != was->st.st_mode ||
                           is->st_uid != was->st.st_uid || is->st_gid != was->st.st_gid;
    if (!differ(&is->st_ctim, &was->st.st_ctim) || explained ||
        (was->by_name && !leads_to(was->name, is)))
        return NULL;
    return "its status";
}

/* Compares a file with its state at opening. */
static enum dti_status judge(const struct opened *was, struct dti_error *reterr)
{
    struct stat is = {0};
    char label[DTI_QUOTE_SIZE];
    if (was->settled || fstat(was->fd, &is) != 0 || is.st_dev != was->st.st_dev ||
        is.st_ino != was->st.st_ino)
        return DTI_OK; /* closed, and the descriptor reused for another file */
    const char *const change = find_change(was, &is);
    if (!change)
        return DTI_OK;
    (void)dti_fail(reterr, DTI_BAD_INPUT,
                   "%s changed while it was read (%s); run it again when nothing writes to it",
                   was->by_name ? dti_quote(label, was->name, strlen(was->name)) : was->name,
                   change);
    if (was->by_name)
        dti_error_argument(reterr, was->name, strlen(was->name));
    return DTI_BAD_INPUT;
}

/* Where a descriptor is in the list, or would be. */
static size_t place_of(const struct inputs *inputs, int fd)
{
    size_t low = 0, high = inputs->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (inputs->list[middle].fd < fd)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct opened *find_opened(const struct inputs *inputs, int fd)
{
    const size_t at = place_of(inputs, fd);
    return at < inputs->count && inputs->list[at].fd == fd ? &inputs->list[at] : NULL;
}

/* Puts in a file, instead of an old one that had the same descriptor. */
static bool put_opened(struct inputs *inputs, const struct opened *opened)
{
    struct opened *const old = find_opened(inputs, opened->fd);
    if (old) {
        dti_free(old->name);
        *old = *opened;
        return true;
    }
    struct opened *const more = dti_grown(inputs->list, inputs->count, &inputs->room, sizeof *more);
    if (!more)
        return false;
    inputs->list = more;
    struct opened *const at = inputs->list + place_of(inputs, opened->fd);
    memmove(at + 1, at, (size_t)(inputs->list + inputs->count - at) * sizeof *at);
    *at = *opened;
    inputs->count++;
    return true;
}

/* Records the state of a regular file at opening. by_name: name is a path to it. Returns false
 * if memory ran out. */
static bool input_changes_note(int fd, const char *name, bool by_name, const struct stat *st)
{
    struct inputs *const inputs =
        dti_caller_state(DTI_STATE_INPUTS, sizeof *inputs, begin_inputs, end_inputs);
    struct dti_call call;
    if (!inputs)
        return false;
    dti_call_keep(&call);
    char *const copy = dti_strdup(name);
    const struct opened opened = {.fd = fd, .name = copy, .by_name = by_name, .st = *st};
    pthread_mutex_lock(&inputs->lock);
    const bool good = copy && put_opened(inputs, &opened);
    pthread_mutex_unlock(&inputs->lock);
    if (!good)
        dti_free(copy);
    dti_call_leave(&call);
    return good;
}

/* Call before the descriptor is closed. */
static void input_changes_end(int fd)
{
    struct inputs *const inputs = dti_caller_state_there(DTI_STATE_INPUTS);
    struct dti_error error;
    struct dti_call call;
    if (!inputs || fd < 0)
        return;
    dti_call_keep(&call);
    pthread_mutex_lock(&inputs->lock);
    struct opened *const opened = find_opened(inputs, fd);
    if (opened) {
        if (judge(opened, &error) != DTI_OK && !inputs->changed) {
            inputs->changed = true;
            inputs->error = error;
        }
        dti_free(opened->name);
        inputs->count--;
        memmove(opened, opened + 1,
                (size_t)(inputs->list + inputs->count - opened) * sizeof *opened);
    }
    pthread_mutex_unlock(&inputs->lock);
    dti_call_leave(&call);
}

enum dti_status dti_inputs_unchanged(struct dti_error *reterr)
{
    struct inputs *const inputs = dti_caller_state_there(DTI_STATE_INPUTS);
    if (!inputs)
        return DTI_OK;
    pthread_mutex_lock(&inputs->lock);
    enum dti_status status = inputs->changed ? DTI_BAD_INPUT : DTI_OK;
    if (inputs->changed && reterr)
        *reterr = inputs->error;
    for (size_t i = 0; i < inputs->count && status == DTI_OK; i++)
        status = judge(&inputs->list[i], reterr);
    pthread_mutex_unlock(&inputs->lock);
    return status;
}

static void settle(bool settled)
{
    struct inputs *const inputs = dti_caller_state_there(DTI_STATE_INPUTS);
    if (!inputs)
        return;
    pthread_mutex_lock(&inputs->lock);
    for (size_t i = 0; i < inputs->count; i++)
        inputs->list[i].settled = settled;
    inputs->changed = false;
    pthread_mutex_unlock(&inputs->lock);
}

void dti_inputs_forget(void)
{
    settle(true);
}

void dti_inputs_resume(void)
{
    settle(false);
}

enum {
    STOP_CHECK_MS = 50,
    READ_PIECE = 64 << 10,
    PIECE = 8 << 20, /* read at once if the call can be cancelled */
};

static const char standard_input[] = "standard input";

const char *dti_input_label(const struct dti_input *input, char buffer[DTI_QUOTE_SIZE])
{
    if (input->name == standard_input)
        return memcpy(buffer, standard_input, sizeof standard_input);
    return dti_quote(buffer, input->name, strlen(input->name));
}

static int remote_there(const char *address)
{
    struct dti_input input;
    struct dti_error ignored;
    int absent = EIO;
    if (dti_remote_open(&input, address, &absent, &ignored) != DTI_OK)
        return absent;
    dti_input_close(&input);
    return 0;
}

int dti_input_find(const char *path, enum dti_input_kind *ret_kind)
{
    struct stat st = {.st_mode = S_IFREG};
    if (!dti_is_address(path) && stat(path, &st) != 0)
        return errno;
    *ret_kind = S_ISREG(st.st_mode)   ? DTI_INPUT_REGULAR
                : S_ISDIR(st.st_mode) ? DTI_INPUT_FOLDER
                                      : DTI_INPUT_SPECIAL;
    return 0;
}

char *dti_input_same_folder(const char *path, const char *name)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
    char *const ret = dti_malloc(folder + length + 1);
    if (!ret)
        return NULL;
    memcpy(ret, path, folder);
    memcpy(ret + folder, name, length + 1);
    return ret;
}

int dti_input_there(const char *path)
{
    if (dti_is_hub_model(path))
        return 0; /* opening it asks */
    if (dti_is_address(path))
        return remote_there(path);
    if (access(path, F_OK) == 0)
        return 0;
    return errno == ENOTDIR || errno == ENAMETOOLONG ? ENOENT : errno;
}

bool dti_input_may_be_there(const char *path)
{
    const int there = dti_input_there(path);
    return there != ENOENT && (there != EACCES || !dti_is_address(path));
}

enum dti_status dti_input_fail(const struct dti_input *input, int error, struct dti_error *reterr)
{
    const enum dti_status status = error == ENOMEM ? DTI_NO_MEMORY : DTI_BAD_INPUT;
    char label[DTI_QUOTE_SIZE];
    const bool remote = error == ENOENT && strstr(input->name, "://");
    dti_fail(reterr, status, "cannot read %s: %s", dti_input_label(input, label),
             remote ? "only https:// and hf:// addresses are read; download the file first"
                    : dti_errno_text(error));
    dti_error_argument(reterr, input->name, strlen(input->name));
    return status;
}

static enum dti_status look(struct dti_input *input, struct dti_error *reterr)
{
    struct stat st = {0};
    if (fstat(input->fd, &st) != 0)
        return dti_input_fail(input, errno, reterr);
    if (S_ISDIR(st.st_mode))
        return dti_input_fail(input, EISDIR, reterr);
    if (S_ISCHR(st.st_mode) && input->name != standard_input && !isatty(input->fd)) {
        char label[DTI_QUOTE_SIZE];
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is a device; dtinfo reads files and pipes",
                        dti_input_label(input, label));
    }
    if (!S_ISREG(st.st_mode))
        return DTI_OK;
    input->device = (uint64_t)st.st_dev;
    input->inode = (uint64_t)st.st_ino;
    const off_t start = lseek(input->fd, 0, SEEK_CUR);
    if (start < 0) /* not seekable after all */
        return errno == ESPIPE ? DTI_OK : dti_input_fail(input, errno, reterr);
    input->seekable = true;
    input->start = (uint64_t)start;
    input->size = st.st_size > start ? (uint64_t)(st.st_size - start) : 0;
    if (!input_changes_note(input->fd, input->name, input->name != standard_input, &st))
        return dti_no_memory(reterr);
    if (st.st_size > 0)
        return DTI_OK;
    char byte;
    ssize_t got;
    DTI_AGAIN(got = pread(input->fd, &byte, 1, start));
    if (got < 0)
        return dti_input_fail(input, errno, reterr);
    input->seekable = got == 0; /* files in /proc have content but report size 0 */
    return DTI_OK;
}

static enum dti_status look_or_close(struct dti_input *ret, struct dti_input input,
                                     struct dti_error *reterr)
{
    const enum dti_status status = look(&input, reterr);
    if (status != DTI_OK)
        dti_input_close(&input);
    else
        *ret = input;
    return status;
}

enum dti_status dti_input_take(struct dti_input *ret, int fd, const char *path,
                               struct dti_error *reterr)
{
    const struct dti_input input = {.name = path, .fd = dti_descriptor_above_standard(fd)};
    return input.fd < 0 ? dti_input_fail(&input, errno, reterr) : look_or_close(ret, input, reterr);
}

static enum dti_status open_with(struct dti_input *ret, const char *path, int flags,
                                 struct dti_error *reterr)
{
    const struct dti_input standard = {.name = standard_input, .fd = STDIN_FILENO};
    int fd, absent;
    if (dti_is_address(path))
        return dti_remote_open(ret, path, &absent, reterr);
    if (strcmp(path, "-") == 0)
        return look_or_close(ret, standard, reterr);
    DTI_AGAIN(fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags));
    if (fd < 0 && errno == EACCES && dti_sandbox_limits_files() && access(path, R_OK) == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "cannot read %s: %s, maybe by the sandbox, which holds only the folders of "
                        "the files that were named",
                        DTI_QUOTED(path, strlen(path)), dti_errno_text(EACCES));
    return dti_input_take(ret, fd, path, reterr);
}

enum dti_status dti_input_open(struct dti_input *ret, const char *path, struct dti_error *reterr)
{
    return open_with(ret, path, 0, reterr);
}

enum dti_status dti_input_open_file(struct dti_input *ret, const char *path,
                                    struct dti_error *reterr)
{
    return open_with(ret, path, O_NONBLOCK, reterr);
}

void dti_input_close(struct dti_input *input)
{
    if (input->source)
        input->source->close(input);
    input_changes_end(input->fd);
    if (input->fd > STDERR_FILENO)
        (void)close(input->fd);
    input->fd = -1;
}

static bool stopped(const struct dti_input *input)
{
    return input->stop && atomic_load_explicit(input->stop, memory_order_relaxed);
}

/* Whether a wait for the next bytes may have to end before they come. */
static bool may_stop(const struct dti_input *input)
{
    return input->stop || dti_interruptible();
}

/* Waits for input; returns false if asked to stop. */
static bool wait_readable(const struct dti_input *input)
{
    struct pollfd wanted = {.fd = input->fd, .events = POLLIN};
    while (!stopped(input) && !dti_interrupted()) {
        const int ready = poll(&wanted, 1, may_stop(input) ? STOP_CHECK_MS : -1);
        if (ready > 0 || (ready < 0 && errno != EINTR && errno != EAGAIN))
            return true; /* read() reports the error */
    }
    return false;
}

/* Reads the next bytes from a source other than a descriptor. */
static enum dti_status read_on(struct dti_input *input, void *buffer, size_t size, size_t *ret_size,
                               struct dti_error *reterr)
{
    const uint64_t left = input->size - input->position;
    const size_t some = left < size ? (size_t)left : size;
    const enum dti_status status =
        input->source->read_at(input, buffer, some, input->position, reterr);
    if (status != DTI_OK)
        return status;
    input->position += some;
    *ret_size = some;
    return DTI_OK;
}

enum dti_status dti_input_read(struct dti_input *input, void *buffer, size_t size, size_t *ret_size,
                               struct dti_error *reterr)
{
    if (input->source)
        return read_on(input, buffer, size, ret_size, reterr);
    size_t done = 0;
    while (done < size) {
        if (may_stop(input) && !input->seekable && !wait_readable(input))
            break;
        const ssize_t got = read(input->fd, (char *)buffer + done, size - done);
        if (got == 0)
            break;
        if (got > 0) {
            done += (size_t)got;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_readable(input))
                break;
        } else if (errno != EINTR) {
            return dti_input_fail(input, errno, reterr);
        }
    }
    if (done < size && dti_interrupted())
        return dti_cancelled(reterr);
    *ret_size = done;
    return DTI_OK;
}

enum dti_status dti_input_read_all(struct dti_input *input, size_t most, const char *purpose,
                                   struct dti_buffer *ret, struct dti_error *reterr)
{
    const size_t start = ret->length;
    for (size_t got = READ_PIECE; got == READ_PIECE;) {
        if (!dti_buffer_reserve(ret, READ_PIECE))
            return dti_no_memory(reterr);
        const enum dti_status status =
            dti_input_read(input, ret->data + ret->length, READ_PIECE, &got, reterr);
        if (status != DTI_OK)
            return status;
        ret->length += got;
        if (ret->length - start > most) {
            char label[DTI_QUOTE_SIZE];
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is larger than %zu bytes, the limit for %s",
                            dti_input_label(input, label), most, purpose);
        }
    }
    return DTI_OK;
}

static enum dti_status pread_at(const struct dti_input *input, void *buffer, size_t size,
                                uint64_t offset, struct dti_error *reterr)
{
    const uint64_t limit = (uint64_t)INT64_MAX - input->start;
    if (offset > limit || size > limit - offset)
        return dti_input_fail(input, EOVERFLOW, reterr);
    size_t done = 0;
    while (done < size) {
        const size_t left = size - done, most = dti_interruptible() ? PIECE : left;
        if (dti_interrupted())
            return dti_cancelled(reterr);
        const ssize_t got = pread(input->fd, (char *)buffer + done, left < most ? left : most,
                                  (off_t)(input->start + offset + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            char label[DTI_QUOTE_SIZE];
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s shrank while being read: it ends at byte %llu of %llu",
                            dti_input_label(input, label), (unsigned long long)(offset + done),
                            (unsigned long long)input->size);
        } else if (errno != EINTR) {
            return dti_input_fail(input, errno, reterr);
        }
    }
    return DTI_OK;
}

static _Thread_local bool unread;

bool dti_input_was_unread(void)
{
    const bool was = unread;
    unread = false;
    return was;
}

static enum dti_status read_at(const struct dti_input *input, void *buffer, size_t size,
                               uint64_t offset, bool once, struct dti_error *reterr)
{
    const enum dti_status status =
        (input->source ? input->source->read_at : pread_at)(input, buffer, size, offset, reterr);
    struct dti_watch *const watch = input->watch;
    unread = unread || status != DTI_OK;
    if (status != DTI_OK)
        return status;
    return watch ? watch->take(watch, buffer, size, offset, once, reterr) : DTI_OK;
}

enum dti_status dti_input_read_at(const struct dti_input *input, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr)
{
    return read_at(input, buffer, size, offset, false, reterr);
}

enum dti_status dti_input_read_once_at(const struct dti_input *input, void *buffer, size_t size,
                                       uint64_t offset, struct dti_error *reterr)
{
    return read_at(input, buffer, size, offset, true, reterr);
}

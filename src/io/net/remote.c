/* SPDX-License-Identifier: MIT
 *
 * Remote inputs: opens them, and reads with as few requests as possible. The first request
 * brings the header of most files and is shared by all who open the address. Sequential reads
 * are read ahead, in growing steps. */
#include "io/net/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/net/names.h"
#include "io/net/net_state.h"
#include "io/net/remote_file.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"

enum {
    DIRECT = 1 << 20, /* larger reads bypass the cache */
    NEAR = 256 << 10, /* counts as sequential: reader threads overtake each other */
};

static void close_remote(struct dti_input *input)
{
    dti_remote_release(input->remote);
    input->remote = NULL;
    input->source = NULL;
}

/* The read-ahead size at offset, on a cache miss. */
static size_t choose_ahead(struct dti_remote *remote, size_t size, uint64_t offset)
{
    pthread_mutex_lock(&remote->lock);
    const bool near = offset >= remote->next && offset - remote->next <= NEAR;
    size_t ahead = near ? 2 * remote->ahead : DTI_REMOTE_HEAD;
    pthread_mutex_unlock(&remote->lock);
    ahead = ahead < DTI_REMOTE_SLOT ? ahead : DTI_REMOTE_SLOT;
    ahead = ahead > size ? ahead : size;
    const uint64_t left = remote->file.size - offset;
    return left < ahead ? (size_t)left : ahead;
}

static enum dti_status read_slot(struct dti_remote *remote, struct dti_remote_slot *slot,
                                 char *buffer, size_t size, size_t ahead, uint64_t offset,
                                 struct dti_error *reterr)
{
    pthread_mutex_lock(&remote->lock);
    remote->next = offset + ahead;
    remote->ahead = ahead < DTI_REMOTE_HEAD ? DTI_REMOTE_HEAD : ahead;
    pthread_mutex_unlock(&remote->lock);
    const enum dti_status status = dti_remote_fetch(remote, slot->bytes, ahead, offset, reterr);
    if (status == DTI_OK)
        memcpy(buffer, slot->bytes, size);
    dti_remote_filled(slot, status == DTI_OK ? ahead : 0);
    return status;
}

/* Reads bytes after the head. */
static enum dti_status read_rest(struct dti_remote *remote, char *buffer, size_t size,
                                 uint64_t offset, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (size >= DIRECT)
        return dti_remote_fetch(remote, buffer, size, offset, reterr);
    while (size > 0 && status == DTI_OK) {
        struct dti_remote_slot *slot = NULL;
        const size_t ahead = choose_ahead(remote, size, offset);
        size_t some = dti_remote_copy(remote, buffer, size, offset, ahead, &slot);
        if (some == 0) {
            some = size;
            status = slot ? read_slot(remote, slot, buffer, size, ahead, offset, reterr)
                          : dti_remote_fetch(remote, buffer, size, offset, reterr);
        }
        buffer += some;
        offset += some;
        size -= some;
    }
    return status;
}

/* A failure is sticky: later reads fail at once with the same error. */
static bool has_failed(struct dti_remote *remote, struct dti_error *reterr)
{
    pthread_mutex_lock(&remote->lock);
    const bool failed = remote->failed;
    if (failed && reterr)
        *reterr = remote->error;
    pthread_mutex_unlock(&remote->lock);
    return failed;
}

static void keep_failure(struct dti_remote *remote, const struct dti_error *error)
{
    pthread_mutex_lock(&remote->lock);
    if (!remote->failed)
        remote->error = *error;
    remote->failed = true;
    pthread_mutex_unlock(&remote->lock);
}

static enum dti_status read_at(const struct dti_input *input, void *buffer, size_t size,
                               uint64_t offset, struct dti_error *reterr)
{
    struct dti_remote *const remote = input->remote;
    struct dti_error error;
    char *at = buffer;
    if (offset > input->size || size > input->size - offset)
        return dti_remote_fail(remote, dti_errno_text(EOVERFLOW), reterr);
    if (offset < remote->head_size) {
        const size_t left = remote->head_size - (size_t)offset, some = left < size ? left : size;
        memcpy(at, remote->head + offset, some);
        at += some;
        size -= some;
        offset += some;
    }
    if (size == 0)
        return DTI_OK;
    if (has_failed(remote, reterr))
        return DTI_BAD_INPUT;
    const enum dti_status status = read_rest(remote, at, size, offset, &error);
    if (status == DTI_BAD_INPUT)
        keep_failure(remote, &error);
    if (status != DTI_OK && reterr)
        *reterr = error;
    return status;
}

/* What a remote file learns while it is read outlives the call. */
static enum dti_status read_kept(const struct dti_input *input, void *buffer, size_t size,
                                 uint64_t offset, struct dti_error *reterr)
{
    struct dti_call call;
    dti_call_keep(&call);
    const enum dti_status status = read_at(input, buffer, size, offset, reterr);
    dti_call_leave(&call);
    return status;
}

static enum dti_status read_address(struct dti_remote *remote, const char *path,
                                    struct dti_error *reterr)
{
    const char *why = NULL;
    enum dti_status status = DTI_OK;
    remote->shown = dti_strndup(path, dti_remote_shown_length(path));
    if (!remote->shown)
        return dti_no_memory(reterr);
    remote->of_hf = strncmp(path, "hf://", 5) == 0;
    if (remote->of_hf)
        status = dti_hf_address(remote, &why, reterr);
    else
        why = dti_address_parse(&remote->start, remote->key);
    if (why == dti_address_no_memory)
        return dti_no_memory(reterr);
    if (why && strchr(remote->shown, '@') && !remote->of_hf) /* the address would show a password */
        return dti_fail(reterr, DTI_BAD_INPUT, "cannot read an address: %s", why);
    if (why)
        return dti_remote_fail(remote, why, reterr);
    return status == DTI_OK ? dti_hf_token(remote, reterr) : status;
}

static enum dti_status read_head(struct dti_remote *remote, int *ret_status,
                                 struct dti_error *reterr)
{
    char *const head = dti_malloc(DTI_REMOTE_HEAD);
    size_t size = 0;
    if (!head)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_remote_first(remote, head, DTI_REMOTE_HEAD, &size, ret_status, reterr);
    if (status == DTI_OK && size > 0 && dti_remote_reserve_head(size)) {
        char *const less = dti_realloc(head, size);
        remote->head = less ? less : head;
        remote->head_size = size;
    } else {
        dti_free(head);
    }
    remote->next = size;
    remote->ahead = DTI_REMOTE_HEAD / 2;
    return status;
}

static void want(struct dti_remote *remote, size_t size)
{
    size = size < remote->file.size ? size : (size_t)remote->file.size;
    if (size <= remote->head_size || has_failed(remote, NULL))
        return;
    const size_t more = size - remote->head_size;
    if (!dti_remote_reserve_head(more))
        return;
    char *const head = dti_realloc(remote->head, size);
    if (head)
        remote->head = head;
    if (!head || dti_remote_fetch(remote, head + remote->head_size, more, remote->head_size,
                                  NULL) != DTI_OK) {
        dti_remote_release_head(more);
        return;
    }
    remote->head_size = size;
    remote->next = size;
}

void dti_remote_want(const struct dti_input *input, size_t size)
{
    struct dti_call call;
    dti_call_keep(&call);
    want(input->remote, size);
    dti_call_leave(&call);
}

static int absence(int status)
{
    if (status == 404 || status == 410)
        return ENOENT;
    return status == 401 || status == 403 ? EACCES : EIO;
}

void dti_remote_prepare(void)
{
    const struct dti_curl *curl;
    (void)dti_curl_load(&curl, NULL);
}

static enum dti_status load(struct dti_remote *remote, struct dti_error *reterr)
{
    struct dti_error error;
    const enum dti_status status = dti_curl_load(&remote->curl, &error);
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    if (status != DTI_OK)
        return dti_fail(reterr, status, "reading addresses needs libcurl: %s", error.text);
    return DTI_OK;
}

static enum dti_status open_new(struct dti_remote *remote, const char *path,
                                struct dti_error *reterr)
{
    int http = 0;
    enum dti_status status = read_address(remote, path, reterr);
    if (status == DTI_OK)
        status = load(remote, reterr);
    if (status == DTI_OK)
        status = read_head(remote, &http, reterr);
    remote->absent = absence(http);
    return status;
}

/* Opens an address that is not in the cache. A server's failure is cached like a file. */
static struct dti_remote *ask(const char *path, struct dti_error *error)
{
    struct dti_remote *const remote = dti_calloc(1, sizeof *remote);
    if (!remote || !(remote->key = dti_strdup(dti_remote_whole(path)))) {
        dti_free(remote);
        (void)dti_no_memory(error);
        return NULL;
    }
    pthread_mutex_init(&remote->lock, NULL);
    remote->file.size = remote->linked.size = UINT64_MAX;
    error->status = open_new(remote, path, error);
    if (error->status != DTI_OK && error->status != DTI_BAD_INPUT) {
        dti_remote_free(remote);
        return NULL;
    }
    remote->failed = error->status != DTI_OK;
    remote->error = *error;
    dti_remote_keep(remote);
    return remote;
}

static enum dti_status open_kept(struct dti_input *ret, const char *path, int *ret_absent,
                                 struct dti_error *reterr)
{
    static const struct dti_input_source source = {.read_at = read_kept, .close = close_remote};
    struct dti_error error = {.status = DTI_OK};
    *ret_absent = EIO;
    if (!dti_net_make())
        return dti_no_memory(reterr);
    struct dti_remote *remote = dti_remote_find(dti_remote_whole(path));
    if (!remote && !(remote = ask(path, &error))) {
        if (reterr)
            *reterr = error;
        return error.status;
    }
    if (remote->file.size == UINT64_MAX) {
        const enum dti_status status = remote->error.status;
        *ret_absent = remote->absent;
        if (reterr)
            *reterr = remote->error;
        dti_remote_release(remote);
        return status;
    }
    *ret = (struct dti_input){.name = remote->shown,
                              .fd = -1,
                              .seekable = true,
                              .size = remote->file.size,
                              .source = &source,
                              .remote = remote};
    return DTI_OK;
}

enum dti_status dti_remote_open(struct dti_input *ret, const char *path, int *ret_absent,
                                struct dti_error *reterr)
{
    struct dti_call call;
    dti_call_keep(&call);
    const enum dti_status status = open_kept(ret, path, ret_absent, reterr);
    dti_call_leave(&call);
    return status;
}

enum dti_status dti_remote_open_sibling(struct dti_input *ret, const char *anchor, const char *name,
                                        struct dti_error *reterr)
{
    const bool of_hf = strncmp(anchor, "hf://", 5) == 0; /* dti_hf_address() escapes these */
    size_t folder = dti_remote_shown_length(anchor);
    struct dti_buffer path;
    int absent;
    dti_buffer_init(&path);
    while (folder > 0 && anchor[folder - 1] != '/')
        folder--;
    dti_buffer_append(&path, anchor, folder);
    if (of_hf)
        dti_buffer_puts(&path, name);
    else
        dti_address_escape(&path, name);
    const enum dti_status status =
        path.failed ? dti_no_memory(reterr) : dti_remote_open(ret, path.data, &absent, reterr);
    dti_buffer_free(&path);
    return status;
}

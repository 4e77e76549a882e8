/* SPDX-License-Identifier: MIT
 *
 * A remote file, and requests for its bytes. */
#ifndef IO_NET_REMOTE_FILE_H
#define IO_NET_REMOTE_FILE_H

#include <pthread.h>

#include "io/input.h"
#include "io/net/pool.h"

struct dti_remote {
    const struct dti_curl *curl;
    char *key, *shown, *token; /* key: the address with its query */
    struct dti_address start;
    enum dti_host_place place;       /* of the start, once known */
    struct dti_exchange_file file;   /* size UINT64_MAX: could not be opened */
    struct dti_exchange_file linked; /* the redirect target, as the start describes it */
    bool of_hf;
    int absent; /* why it could not be opened: ENOENT, EACCES, EIO */
    /* cached first bytes */
    char *head;
    size_t head_size;

    pthread_mutex_t lock;       /* guards the members below */
    struct dti_address current; /* last redirect target; url NULL: use the start */
    uint64_t next;              /* end of the last read */
    size_t ahead;               /* size of the last read-ahead */
    bool failed;
    struct dti_error error;

    struct dti_remote *older; /* cache list and users, guarded by the cache's lock */
    size_t users;
};

/* Cache of opened files: all that are in use, plus the most recently used idle ones, so that
 * each file is requested once and stays the same meanwhile. Both functions add a user;
 * dti_remote_find() returns NULL on a miss. */
struct dti_remote *dti_remote_find(const char *key);
void dti_remote_keep(struct dti_remote *remote);
void dti_remote_release(struct dti_remote *remote);
void dti_remote_free(struct dti_remote *remote);

/* The hub's address, checked. Fails with DTI_BAD_ENVIRONMENT, DTI_NO_MEMORY. */
enum dti_status dti_hf_endpoint(const char **ret, struct dti_error *reterr);
/* Resolves an hf:// address to remote->start, at the model's pinned commit once that is known.
 * *ret_why: why it is invalid. Fails with DTI_BAD_ENVIRONMENT, DTI_NO_MEMORY. */
enum dti_status dti_hf_address(struct dti_remote *remote, const char **ret_why,
                               struct dti_error *reterr);
/* Pins the commit that the hub answered from: all files of the model are read from it. Returns
 * false if the model is already pinned to another commit. */
bool dti_hf_pin(const struct dti_remote *remote, const char *commit);
/* Reads the hub's token, which is sent only with hf:// requests. */
enum dti_status dti_hf_token(struct dti_remote *remote, struct dti_error *reterr);

/* Reads size bytes at offset, with as many requests as necessary. Fails with DTI_BAD_INPUT,
 * DTI_NO_MEMORY. */
enum dti_status dti_remote_fetch(struct dti_remote *remote, char *bytes, size_t size,
                                 uint64_t offset, struct dti_error *reterr);
/* The first request: identifies the file, and returns its first *ret_size bytes. *ret_status:
 * status of the last response, also on failure. */
enum dti_status dti_remote_first(struct dti_remote *remote, char *bytes, size_t size,
                                 size_t *ret_size, int *ret_status, struct dti_error *reterr);

/* Reads a document that is not served in ranges, of at most `size` bytes. */
enum dti_status dti_remote_document(struct dti_remote *remote, char *bytes, size_t size,
                                    size_t *ret_size, struct dti_error *reterr);

/* Reports "cannot read LABEL: WHY". */
enum dti_status dti_remote_fail(const struct dti_remote *remote, const char *why,
                                struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A file behind an address, and requests for its bytes. */
#ifndef IO_NET_REMOTE_FILE_H
#define IO_NET_REMOTE_FILE_H

#include <pthread.h>

#include "io/input.h"
#include "io/net/pool.h"

struct dti_remote {
    const struct dti_curl *curl;
    char *key, *shown, *token; /* key: the address with its query */
    struct dti_address start;
    enum dti_host_place place;       /* of the start, once it is known */
    struct dti_exchange_file file;   /* size UINT64_MAX: it could not be opened */
    struct dti_exchange_file linked; /* what the start says of the file that it redirects to */
    bool of_hf;
    int absent; /* what is known of a file that could not be opened: ENOENT, EACCES, EIO */
    /* the first bytes */
    char *head;
    size_t head_size;

    pthread_mutex_t lock;       /* of what follows */
    struct dti_address current; /* where the start redirects to; url NULL: nowhere */
    uint64_t next;              /* the end of what was read last */
    size_t ahead;               /* how much of it was wanted at once */
    bool failed;
    struct dti_error error;

    struct dti_remote *older; /* of those that are kept; with their lock, and users */
    size_t users;
};

/* Files are kept for whoever opens them again: all of them that are in use, and the last ones that
 * were, so that a file is asked for once and stays the same for as long. Both count a user;
 * dti_remote_find() returns NULL where the address was not asked for. */
struct dti_remote *dti_remote_find(const char *key);
void dti_remote_keep(struct dti_remote *remote);
void dti_remote_release(struct dti_remote *remote);
void dti_remote_free(struct dti_remote *remote);

/* What hf:// stands for: remote->start, of the model's commit once that is known. *ret_why: why it
 * is none. Fails with DTI_BAD_ENVIRONMENT, DTI_NO_MEMORY. */
enum dti_status dti_hf_address(struct dti_remote *remote, const char **ret_why,
                               struct dti_error *reterr);
/* Takes the commit that the hub has answered from: all files of the model are read from that one.
 * false: other files came from another commit. */
bool dti_hf_pin(const struct dti_remote *remote, const char *commit);
/* The token of the hub: for requests of its addresses alone. */
enum dti_status dti_hf_token(struct dti_remote *remote, struct dti_error *reterr);

/* Reads size bytes from offset on, over as many requests as it takes. Fails with DTI_BAD_INPUT,
 * DTI_NO_MEMORY. */
enum dti_status dti_remote_fetch(struct dti_remote *remote, char *bytes, size_t size,
                                 uint64_t offset, struct dti_error *reterr);
/* The first request, which learns what the file is: *ret_size of the first bytes came with it.
 * *ret_status: of the last answer, also of a failure. */
enum dti_status dti_remote_first(struct dti_remote *remote, char *bytes, size_t size,
                                 size_t *ret_size, int *ret_status, struct dti_error *reterr);

/* "cannot read LABEL: WHY" */
enum dti_status dti_remote_fail(const struct dti_remote *remote, const char *why,
                                struct dti_error *reterr);

#endif

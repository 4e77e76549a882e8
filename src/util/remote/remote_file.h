/* SPDX-License-Identifier: MIT
 *
 * A file behind an address, and requests for its bytes. */
#ifndef UTIL_REMOTE_REMOTE_FILE_H
#define UTIL_REMOTE_REMOTE_FILE_H

#include <pthread.h>

#include "dtinfo/input.h"
#include "util/remote/pool.h"

struct dti_remote {
    const struct dti_curl *curl;
    char *shown, *token;
    struct dti_address start;
    enum dti_host_place place; /* of the start, once it is known */
    struct dti_exchange_file file;
    struct dti_exchange_file linked; /* what the start says of the file that it redirects to */
    bool of_hub;
    /* the first bytes */
    char *head;
    size_t head_size;

    pthread_mutex_t lock;       /* of what follows */
    struct dti_address current; /* where the start redirects to; url NULL: nowhere */
    uint64_t next;              /* the end of what was read last */
    size_t ahead;               /* how much of it was wanted at once */
    bool failed;
    struct dti_error error;
};

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

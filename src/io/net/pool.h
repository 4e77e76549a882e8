/* SPDX-License-Identifier: MIT
 *
 * What all remote inputs share: two connections, and a little memory for what was read ahead. */
#ifndef IO_NET_POOL_H
#define IO_NET_POOL_H

#include "io/net/exchange.h"

enum {
    DTI_REMOTE_CONNECTIONS = 2,
    DTI_REMOTE_SLOTS = 4,
    DTI_REMOTE_SLOT = 2 << 20,
    DTI_REMOTE_HEAD = 64 << 10, /* of the first request */
    DTI_REMOTE_HEADS = 8 << 20, /* first bytes that are kept, of all inputs together */
};

/* Forgets what was read ahead for an owner that ends. */
void dti_remote_leave(const void *owner);

/* Memory for the first bytes of an input, or false: enough of it is in use. */
bool dti_remote_reserve_head(size_t size);
void dti_remote_release_head(size_t size);

/* Bytes of a file that were read ahead. */
struct dti_remote_slot {
    const void *owner; /* NULL: the slot is empty */
    char *bytes;       /* DTI_REMOTE_SLOT of them, or NULL */
    uint64_t offset;
    size_t size;
    bool busy; /* being read into */
    uint64_t used;
};

/* Copies what a slot has of the bytes from offset on, at least one; waits for a slot that is being
 * read into. Returns their number, or 0 and an own busy slot in *ret_slot, to be read into from
 * offset on: NULL where there is no memory. */
size_t dti_remote_copy(const void *owner, void *buffer, size_t size, uint64_t offset, size_t ahead,
                       struct dti_remote_slot **ret_slot);
/* The slot has been read into; size 0: in vain. */
void dti_remote_filled(struct dti_remote_slot *slot, size_t size);

#endif

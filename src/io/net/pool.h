/* SPDX-License-Identifier: MIT
 *
 * Shared by all remote inputs: a few connections and a small read-ahead cache. */
#ifndef IO_NET_POOL_H
#define IO_NET_POOL_H

#include "io/net/exchange.h"

enum {
    DTI_REMOTE_CONNECTIONS = 8,
    DTI_REMOTE_SLOTS = 4,
    DTI_REMOTE_SLOT = 2 << 20,
    DTI_REMOTE_HEAD = 64 << 10,  /* size of the first request */
    DTI_REMOTE_HEADS = 32 << 20, /* limit on cached first bytes of all inputs together */
};

/* Drops the read-ahead data of an owner that closes. */
void dti_remote_leave(const void *owner);

/* Reserves memory for the first bytes of an input; false if the limit is reached. */
bool dti_remote_reserve_head(size_t size);
void dti_remote_release_head(size_t size);

/* A cache slot for bytes read ahead. */
struct dti_remote_slot {
    const void *owner; /* NULL: the slot is empty */
    char *bytes;       /* DTI_REMOTE_SLOT bytes, or NULL */
    uint64_t offset;
    size_t size;
    bool busy; /* being filled */
    uint64_t used;
};

/* Copies cached bytes from offset on, at least one; waits for a slot that is being filled.
 * Returns the number copied. On a miss returns 0 and a busy slot in *ret_slot, which the caller
 * must fill from offset on; NULL if memory ran out. */
size_t dti_remote_copy(const void *owner, void *buffer, size_t size, uint64_t offset, size_t ahead,
                       struct dti_remote_slot **ret_slot);
/* Marks the slot as filled; size 0: the read failed. */
void dti_remote_filled(struct dti_remote_slot *slot, size_t size);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the current caller (util/run/caller.h) keeps of remote files. */
#ifndef IO_NET_NET_STATE_H
#define IO_NET_NET_STATE_H

#include <pthread.h>

#include "io/net/pool.h"
#include "util/run/caller.h"

struct dti_remote;

/* A model at a revision, with its pinned commit; there are few. */
struct dti_hf_pinned {
    struct dti_hf_pinned *next;
    char commit[DTI_EXCHANGE_COMMIT];
    size_t length;
    char model[]; /* "hf://org/model@revision/" */
};

struct dti_net {
    struct dti_caller_state state;
    pthread_mutex_t lock;      /* guards all members below */
    pthread_cond_t changed;    /* a connection or a slot is free, or a slot is filled */
    struct dti_remote *newest; /* opened files */
    struct dti_hf_pinned *pins;
    size_t head_bytes;
    struct dti_exchange *connection[DTI_REMOTE_CONNECTIONS];
    bool taken[DTI_REMOTE_CONNECTIONS];
    struct dti_remote_slot slot[DTI_REMOTE_SLOTS];
    uint64_t clock;
};

/* Made at the first use; NULL if memory ran out. */
struct dti_net *dti_net_make(void);
/* That of a caller that has opened a remote file. */
static inline struct dti_net *dti_net(void)
{
    return dti_caller_state_there(DTI_STATE_REMOTE);
}

#endif

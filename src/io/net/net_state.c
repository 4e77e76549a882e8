/* SPDX-License-Identifier: MIT
 *
 * Makes and frees what a caller keeps of remote files. */
#include "io/net/net_state.h"

#include "io/net/remote_file.h"
#include "util/run/allocate.h"

static void begin(void *state)
{
    struct dti_net *const net = state;
    pthread_mutex_init(&net->lock, NULL);
    pthread_cond_init(&net->changed, NULL);
}

static void end(struct dti_caller_state *state)
{
    struct dti_net *const net = (struct dti_net *)(void *)state;
    while (net->newest) {
        struct dti_remote *const remote = net->newest;
        net->newest = remote->older;
        dti_remote_free(remote);
    }
    while (net->pins) {
        struct dti_hf_pinned *const pin = net->pins;
        net->pins = pin->next;
        dti_free(pin);
    }
    for (size_t i = 0; i < DTI_REMOTE_CONNECTIONS; i++)
        dti_exchange_free(net->connection[i]);
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++)
        dti_free(net->slot[i].bytes);
    pthread_cond_destroy(&net->changed);
    pthread_mutex_destroy(&net->lock);
}

struct dti_net *dti_net_make(void)
{
    return dti_caller_state(DTI_STATE_REMOTE, sizeof(struct dti_net), begin, end);
}

/* SPDX-License-Identifier: MIT
 *
 * Cache of opened remote files. A command first opens a file to identify it, then again to read
 * it; the second open gets the first response, or the same failure. */
#include "io/net/net_state.h"
#include "io/net/remote_file.h"
#include "util/run/allocate.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE_MOST = 16 }; /* unused entries; each holds at most DTI_REMOTE_HEAD bytes */

void dti_remote_free(struct dti_remote *remote)
{
    dti_remote_leave(remote);
    if (remote->head)
        dti_remote_release_head(remote->head_size);
    dti_free(remote->head);
    dti_free(remote->key);
    dti_free(remote->shown);
    dti_free(remote->token);
    dti_address_free(&remote->start);
    dti_address_free(&remote->current);
    pthread_mutex_destroy(&remote->lock);
    dti_free(remote);
}

/* Removes an entry from the list; NULL if it is not there. */
static struct dti_remote *take_out(struct dti_net *net, const char *key)
{
    for (struct dti_remote **at = &net->newest; *at; at = &(*at)->older) {
        struct dti_remote *const remote = *at;
        if (strcmp(remote->key, key) == 0) {
            *at = remote->older;
            return remote;
        }
    }
    return NULL;
}

static void put_first(struct dti_net *net, struct dti_remote *remote)
{
    remote->users++;
    remote->older = net->newest;
    net->newest = remote;
}

struct dti_remote *dti_remote_find(const char *key)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    struct dti_remote *const remote = take_out(net, key);
    if (remote)
        put_first(net, remote);
    pthread_mutex_unlock(&net->lock);
    return remote;
}

void dti_remote_keep(struct dti_remote *remote)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    put_first(net, remote);
    pthread_mutex_unlock(&net->lock);
}

void dti_remote_release(struct dti_remote *remote)
{
    struct dti_net *const net = dti_net();
    struct dti_remote *last = NULL;
    size_t idle = 0;
    pthread_mutex_lock(&net->lock);
    remote->users--;
    for (struct dti_remote **at = &net->newest; *at; at = &(*at)->older) {
        idle += (*at)->users == 0;
        if (idle > IDLE_MOST) {
            last = *at;
            *at = last->older;
            break;
        }
    }
    pthread_mutex_unlock(&net->lock);
    if (last)
        dti_remote_free(last);
}

/* SPDX-License-Identifier: MIT
 *
 * The connections and the memory of all remote inputs, which last as long as the program. Readers
 * of one file often stand side by side: what one of them reads ahead, the others wait for. */
#include "util/remote/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t head_bytes;
    struct dti_exchange *connection[DTI_REMOTE_CONNECTIONS];
    bool taken[DTI_REMOTE_CONNECTIONS];
    struct dti_remote_slot slot[DTI_REMOTE_SLOTS];
    uint64_t clock;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct dti_exchange *dti_remote_take(void)
{
    struct dti_exchange *found = NULL;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        size_t i = 0;
        while (i < DTI_REMOTE_CONNECTIONS && pool.taken[i])
            i++;
        if (i < DTI_REMOTE_CONNECTIONS) {
            if (!pool.connection[i])
                pool.connection[i] = calloc(1, sizeof *pool.connection[i]);
            found = pool.connection[i];
            pool.taken[i] = found != NULL;
            break;
        }
        pthread_cond_wait(&pool.changed, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return found;
}

void dti_remote_give(struct dti_exchange *exchange)
{
    pthread_mutex_lock(&pool.lock);
    for (size_t i = 0; i < DTI_REMOTE_CONNECTIONS; i++) {
        if (pool.connection[i] == exchange)
            pool.taken[i] = false;
    }
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

void dti_remote_leave(const void *owner)
{
    pthread_mutex_lock(&pool.lock);
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        if (pool.slot[i].owner == owner)
            pool.slot[i].owner = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
}

bool dti_remote_reserve_head(size_t size)
{
    pthread_mutex_lock(&pool.lock);
    const bool fits = size <= DTI_REMOTE_HEADS - pool.head_bytes;
    if (fits)
        pool.head_bytes += size;
    pthread_mutex_unlock(&pool.lock);
    return fits;
}

void dti_remote_release_head(size_t size)
{
    pthread_mutex_lock(&pool.lock);
    pool.head_bytes -= size;
    pthread_mutex_unlock(&pool.lock);
}

static struct dti_remote_slot *find(const void *owner, uint64_t offset)
{
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        struct dti_remote_slot *const slot = &pool.slot[i];
        if (slot->owner == owner && offset >= slot->offset && offset - slot->offset < slot->size)
            return slot;
    }
    return NULL;
}

/* The slot that was used longest ago, of those that nobody reads into. */
static struct dti_remote_slot *oldest(void)
{
    struct dti_remote_slot *best = NULL;
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        struct dti_remote_slot *const slot = &pool.slot[i];
        if (!slot->busy && (!best || !slot->owner || slot->used < best->used))
            best = slot;
        if (best && !best->owner)
            break;
    }
    return best;
}

static struct dti_remote_slot *begin(struct dti_remote_slot *slot, const void *owner,
                                     uint64_t offset, size_t size)
{
    if (!slot->bytes && !(slot->bytes = malloc(DTI_REMOTE_SLOT)))
        return NULL;
    slot->owner = owner;
    slot->offset = offset;
    slot->size = size;
    slot->busy = true;
    slot->used = ++pool.clock;
    return slot;
}

size_t dti_remote_copy(const void *owner, void *buffer, size_t size, uint64_t offset, size_t ahead,
                       struct dti_remote_slot **ret_slot)
{
    size_t copied = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        struct dti_remote_slot *slot = find(owner, offset);
        if (slot && !slot->busy) {
            const size_t skipped = (size_t)(offset - slot->offset), there = slot->size - skipped;
            copied = there < size ? there : size;
            memcpy(buffer, slot->bytes + skipped, copied);
            slot->used = ++pool.clock;
            break;
        }
        if (!slot && (slot = oldest())) {
            *ret_slot = begin(slot, owner, offset, ahead);
            break;
        }
        pthread_cond_wait(&pool.changed, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return copied;
}

void dti_remote_filled(struct dti_remote_slot *slot, size_t size)
{
    pthread_mutex_lock(&pool.lock);
    slot->size = size;
    slot->busy = false;
    if (size == 0)
        slot->owner = NULL;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

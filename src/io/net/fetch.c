/* SPDX-License-Identifier: MIT
 *
 * Requests that follow redirects and resume after a cut connection.
 *
 * Connection pool and read-ahead cache of all remote inputs of a caller, which last as long as it.
 * Several readers of one file often read nearby ranges: while one reads ahead, the others wait
 * for its data. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/net/net_state.h"
#include "io/net/remote_file.h"
#include "util/run/allocate.h"

/* Takes a free connection from the pool, waiting for one if necessary. NULL if memory ran out. */
static struct dti_exchange *remote_take(void)
{
    struct dti_net *const net = dti_net();
    struct dti_exchange *found = NULL;
    pthread_mutex_lock(&net->lock);
    for (;;) {
        size_t i = 0;
        while (i < DTI_REMOTE_CONNECTIONS && net->taken[i])
            i++;
        if (i < DTI_REMOTE_CONNECTIONS) {
            if (!net->connection[i])
                net->connection[i] = dti_calloc(1, sizeof *net->connection[i]);
            found = net->connection[i];
            net->taken[i] = found != NULL;
            break;
        }
        pthread_cond_wait(&net->changed, &net->lock);
    }
    pthread_mutex_unlock(&net->lock);
    return found;
}

/* Returns a connection to the pool, on the thread that took it. */
static void remote_give(struct dti_exchange *exchange)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    for (size_t i = 0; i < DTI_REMOTE_CONNECTIONS; i++) {
        if (net->connection[i] == exchange)
            net->taken[i] = false;
    }
    pthread_cond_broadcast(&net->changed);
    pthread_mutex_unlock(&net->lock);
}

void dti_remote_leave(const void *owner)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        if (net->slot[i].owner == owner)
            net->slot[i].owner = NULL;
    }
    pthread_mutex_unlock(&net->lock);
}

bool dti_remote_reserve_head(size_t size)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    const bool fits = size <= DTI_REMOTE_HEADS - net->head_bytes;
    if (fits)
        net->head_bytes += size;
    pthread_mutex_unlock(&net->lock);
    return fits;
}

void dti_remote_release_head(size_t size)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    net->head_bytes -= size;
    pthread_mutex_unlock(&net->lock);
}

static struct dti_remote_slot *find(struct dti_net *net, const void *owner, uint64_t offset)
{
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        struct dti_remote_slot *const slot = &net->slot[i];
        if (slot->owner == owner && offset >= slot->offset && offset - slot->offset < slot->size)
            return slot;
    }
    return NULL;
}

/* The least recently used slot that is not being filled. */
static struct dti_remote_slot *oldest(struct dti_net *net)
{
    struct dti_remote_slot *best = NULL;
    for (size_t i = 0; i < DTI_REMOTE_SLOTS; i++) {
        struct dti_remote_slot *const slot = &net->slot[i];
        if (!slot->busy && (!best || !slot->owner || slot->used < best->used))
            best = slot;
        if (best && !best->owner)
            break;
    }
    return best;
}

static struct dti_remote_slot *begin(struct dti_net *net, struct dti_remote_slot *slot,
                                     const void *owner, uint64_t offset, size_t size)
{
    if (!slot->bytes && !(slot->bytes = dti_malloc(DTI_REMOTE_SLOT)))
        return NULL;
    slot->owner = owner;
    slot->offset = offset;
    slot->size = size;
    slot->busy = true;
    slot->used = ++net->clock;
    return slot;
}

size_t dti_remote_copy(const void *owner, void *buffer, size_t size, uint64_t offset, size_t ahead,
                       struct dti_remote_slot **ret_slot)
{
    struct dti_net *const net = dti_net();
    size_t copied = 0;
    pthread_mutex_lock(&net->lock);
    for (;;) {
        struct dti_remote_slot *slot = find(net, owner, offset);
        if (slot && !slot->busy) {
            const size_t skipped = (size_t)(offset - slot->offset), there = slot->size - skipped;
            copied = there < size ? there : size;
            memcpy(buffer, slot->bytes + skipped, copied);
            slot->used = ++net->clock;
            break;
        }
        if (!slot && (slot = oldest(net))) {
            *ret_slot = begin(net, slot, owner, offset, ahead);
            break;
        }
        pthread_cond_wait(&net->changed, &net->lock);
    }
    pthread_mutex_unlock(&net->lock);
    return copied;
}

void dti_remote_filled(struct dti_remote_slot *slot, size_t size)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    slot->size = size;
    slot->busy = false;
    if (size == 0)
        slot->owner = NULL;
    pthread_cond_broadcast(&net->changed);
    pthread_mutex_unlock(&net->lock);
}

enum {
    REDIRECTS = 5,
    FAILURES = 5,
    PROGRESS = 1024, /* bytes; a response cut before this many counts as a failure */
    WAIT_MOST_S = 60,
    PAUSE_MS = 250,
    PAUSE_MOST_MS = 4000,
};

enum dti_status dti_remote_fail(const struct dti_remote *remote, const char *why,
                                struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_BAD_INPUT, "cannot read %s: %s",
                   dti_quote(label, remote->shown, strlen(remote->shown)), why);
    dti_error_argument(reterr, remote->shown, strlen(remote->shown));
    return DTI_BAD_INPUT;
}

static enum dti_exchange_end refuse(struct dti_exchange *exchange, const char *why)
{
    if (why == dti_address_no_memory)
        return DTI_EXCHANGE_NO_MEMORY;
    (void)snprintf(exchange->why, sizeof exchange->why, "%s", why);
    return DTI_EXCHANGE_REFUSED;
}

static bool copy_address(struct dti_address *ret, const struct dti_address *from)
{
    *ret = *from;
    ret->url = dti_strdup(from->url);
    return ret->url != NULL;
}

/* Copies the address to request: the last redirect target, or else the start. */
static bool choose_address(struct dti_remote *remote, struct dti_address *ret, bool *ret_moved)
{
    pthread_mutex_lock(&remote->lock);
    *ret_moved = remote->current.url != NULL;
    const bool copied = copy_address(ret, *ret_moved ? &remote->current : &remote->start);
    pthread_mutex_unlock(&remote->lock);
    return copied;
}

/* Uses this address from now on; one without a url goes back to the start. Takes ownership. */
static void move_to(struct dti_remote *remote, struct dti_address address)
{
    pthread_mutex_lock(&remote->lock);
    const struct dti_address old = remote->current;
    remote->current = address;
    pthread_mutex_unlock(&remote->lock);
    dti_free(old.url);
}

/* Whether the hub's metadata of the file is the same as in its first response. */
static bool check_linked(struct dti_remote *remote, const struct dti_exchange *exchange)
{
    const struct dti_exchange_file *const found_linked = &exchange->linked;
    bool same = true;
    if (found_linked->size == UINT64_MAX && found_linked->tag[0] == '\0')
        return true;
    pthread_mutex_lock(&remote->lock);
    if (remote->linked.size == UINT64_MAX && remote->linked.tag[0] == '\0')
        remote->linked = *found_linked;
    else
        same = remote->linked.size == found_linked->size &&
               strcmp(remote->linked.tag, found_linked->tag) == 0;
    pthread_mutex_unlock(&remote->lock);
    return same;
}

/* Replaces the address with the redirect target, if the policy allows it. */
static enum dti_exchange_end redirect(const struct dti_remote *remote,
                                      struct dti_exchange *exchange, struct dti_address *address,
                                      unsigned count)
{
    struct dti_address next;
    if (count == REDIRECTS)
        return refuse(exchange, "the server redirects more than 5 times");
    const char *why = dti_address_redirected(&next, address, exchange->location);
    if (why)
        return refuse(exchange, why);
    if (!dti_host_may_lead(remote->place, next.place)) {
        dti_address_free(&next);
        return refuse(exchange, "the server redirects to an address of a private network");
    }
    dti_address_free(address);
    *address = next;
    return DTI_EXCHANGE_REDIRECT;
}

/* Requests the exchange's range and follows redirects. Sends the token only to the host of the
 * start. */
static enum dti_exchange_end ask(struct dti_remote *remote, struct dti_exchange *exchange)
{
    struct dti_address address;
    bool moved;
    unsigned count = 0;
    enum dti_exchange_end end;
    exchange->got = 0;
    exchange->status = 0;
    if (!choose_address(remote, &address, &moved))
        return DTI_EXCHANGE_NO_MEMORY;
    do {
        const bool first = count == 0 && !moved;
        exchange->address = &address;
        exchange->from = first ? DTI_HOST_NAMED : remote->place;
        exchange->token = dti_address_same_host(&address, &remote->start) ? remote->token : NULL;
        end = dti_exchange_run(exchange, remote->curl);
        if (first && remote->file.size == UINT64_MAX)
            remote->place = exchange->place != DTI_HOST_NAMED ? exchange->place : DTI_HOST_PUBLIC;
        if (first && !check_linked(remote, exchange))
            end = refuse(exchange, "it changed on the server while it was read");
        if (remote->of_hf && exchange->commit[0] != '\0' &&
            dti_address_same_host(&address, &remote->start) &&
            !dti_hf_pin(remote, exchange->commit))
            end = refuse(exchange, "the model changed on the hub while it was read");
        if (end == DTI_EXCHANGE_REDIRECT)
            end = redirect(remote, exchange, &address, count++);
    } while (end == DTI_EXCHANGE_REDIRECT);
    if (end == DTI_EXCHANGE_DONE && count > 0) {
        move_to(remote, address);
        address.url = NULL;
    }
    dti_address_free(&address);
    if (end == DTI_EXCHANGE_LATER && moved) { /* storage URLs expire */
        move_to(remote, (struct dti_address){.url = NULL});
        end = DTI_EXCHANGE_AGAIN;
    }
    return end;
}

/* Ends early if the call is cancelled. */
static void pause_ms(unsigned ms)
{
    while (ms > 0 && !dti_interrupted()) {
        const unsigned some = dti_interruptible() && ms > DTI_POLL_MS ? DTI_POLL_MS : ms;
        struct timespec left = {.tv_sec = (time_t)(some / 1000),
                                .tv_nsec = (long)(some % 1000) * 1000000};
        while (nanosleep(&left, &left) != 0 && errno == EINTR)
            continue;
        ms -= some;
    }
}

static enum dti_status fail(const struct dti_remote *remote, const struct dti_exchange *exchange,
                            unsigned failures, struct dti_error *reterr)
{
    const bool closed = exchange->status == 401 || exchange->status == 403;
    char why[2 * DTI_EXCHANGE_WHY];
    const char *remedy = "";
    if (exchange->whole && exchange->status == 404)
        remedy = "; the hub has no such model or revision";
    else if (exchange->whole && closed && !remote->token)
        remedy = "; the hub has no such model, or wants HF_TOKEN with a token that may read it";
    else if (remote->of_hf && closed)
        remedy = remote->token ? "; the token of HF_TOKEN may not read it"
                               : "; set HF_TOKEN to a token that may read it";
    if (exchange->retry_after > WAIT_MOST_S)
        (void)snprintf(why, sizeof why, "%s and asks to wait for %u seconds; try again later",
                       exchange->why, exchange->retry_after);
    else if (failures > 1)
        (void)snprintf(why, sizeof why, "%s, %u times in a row", exchange->why, failures);
    else
        (void)snprintf(why, sizeof why, "%s%s", exchange->why, remedy);
    return dti_remote_fail(remote, why, reterr);
}

/* Whether to retry; pauses first. */
static bool wait_for(const struct dti_remote *remote, const struct dti_exchange *exchange,
                     unsigned failures)
{
    const bool opening = remote->file.size == UINT64_MAX;
    if (failures > FAILURES || exchange->retry_after > WAIT_MOST_S ||
        (opening && exchange->unreachable))
        return false;
    unsigned pause = (unsigned)PAUSE_MS << (failures > 0 ? failures - 1 : 0);
    pause = pause < PAUSE_MOST_MS ? pause : PAUSE_MOST_MS;
    pause_ms(exchange->retry_after > 0 ? 1000 * exchange->retry_after : pause);
    return true;
}

static enum dti_status fetch(struct dti_remote *remote, struct dti_exchange *exchange, char *bytes,
                             size_t size, uint64_t offset, struct dti_error *reterr)
{
    unsigned failures = 0;
    for (size_t done = 0; done < size; done += exchange->got) {
        exchange->wanted = &remote->file;
        exchange->offset = offset + done;
        exchange->bytes = bytes + done;
        exchange->room = size - done;
        const enum dti_exchange_end end = ask(remote, exchange);
        if (exchange->whole && end != DTI_EXCHANGE_DONE)
            exchange->got = 0; /* it starts again */
        if (end == DTI_EXCHANGE_NO_MEMORY)
            return dti_no_memory(reterr);
        if (dti_interrupted())
            return dti_cancelled(reterr);
        if (exchange->got >= PROGRESS)
            failures = 0;
        if (remote->file.size == UINT64_MAX &&
            (end == DTI_EXCHANGE_DONE ||
             (end == DTI_EXCHANGE_AGAIN && exchange->fits && !exchange->whole)))
            return DTI_OK; /* the first request accepts a partial response */
        if (end == DTI_EXCHANGE_DONE)
            continue;
        failures += exchange->got < PROGRESS;
        if (end != DTI_EXCHANGE_AGAIN || !wait_for(remote, exchange, failures))
            return fail(remote, exchange, failures, reterr);
    }
    return DTI_OK;
}

enum dti_status dti_remote_fetch(struct dti_remote *remote, char *bytes, size_t size,
                                 uint64_t offset, struct dti_error *reterr)
{
    struct dti_exchange *const exchange = remote_take();
    if (!exchange)
        return dti_no_memory(reterr);
    const enum dti_status status = fetch(remote, exchange, bytes, size, offset, reterr);
    remote_give(exchange);
    return status;
}

enum dti_status dti_remote_document(struct dti_remote *remote, char *bytes, size_t size,
                                    size_t *ret_size, struct dti_error *reterr)
{
    struct dti_exchange *const exchange = remote_take();
    if (!exchange)
        return dti_no_memory(reterr);
    exchange->whole = true;
    const enum dti_status status = fetch(remote, exchange, bytes, size, 0, reterr);
    *ret_size = exchange->got;
    exchange->whole = false;
    remote_give(exchange);
    return status;
}

enum dti_status dti_remote_first(struct dti_remote *remote, char *bytes, size_t size,
                                 size_t *ret_size, int *ret_status, struct dti_error *reterr)
{
    struct dti_exchange *const exchange = remote_take();
    if (!exchange)
        return dti_no_memory(reterr);
    enum dti_status status = fetch(remote, exchange, bytes, size, 0, reterr);
    *ret_status = exchange->status;
    if (status == DTI_OK) {
        remote->file = exchange->file;
        *ret_size = exchange->got;
    }
    remote_give(exchange);
    const char *why = NULL; /* stays NULL: the address was validated before */
    if (status == DTI_OK && remote->of_hf)
        status = dti_hf_address(remote, &why, reterr);
    if (why == dti_address_no_memory)
        return dti_no_memory(reterr);
    const uint64_t linked = remote->linked.size;
    if (status == DTI_OK && linked != UINT64_MAX && linked != remote->file.size)
        status = dti_remote_fail(remote, "the server announces another size than its storage has",
                                 reterr);
    return status;
}

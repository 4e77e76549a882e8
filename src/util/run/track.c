/* SPDX-License-Identifier: MIT
 *
 * A call within a call, whose allocator passes all to the outer one and keeps the addresses. */
#include "util/run/track.h"

#include "util/run/allocate.h"

enum { LEAST = 64 };

static size_t hash(const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
}

static void insert(struct dti_track *track, void *block)
{
    size_t at = hash(block) % track->room;
    while (track->blocks[at])
        at = (at + 1) % track->room;
    track->blocks[at] = block;
    track->count++;
}

/* Removes a block and closes the gap; false if it is not there. */
static bool take_out(struct dti_track *track, const void *block)
{
    if (track->room == 0)
        return false;
    size_t at = hash(block) % track->room;
    while (track->blocks[at] && track->blocks[at] != block)
        at = (at + 1) % track->room;
    if (!track->blocks[at])
        return false;
    track->blocks[at] = NULL;
    track->count--;
    for (size_t next = (at + 1) % track->room; track->blocks[next];
         next = (next + 1) % track->room) {
        void *const moved = track->blocks[next];
        track->blocks[next] = NULL;
        track->count--;
        insert(track, moved);
    }
    return true;
}

/* Room for one more; the table is at most half full. */
static bool reserve(struct dti_track *track)
{
    if (2 * (track->count + 1) <= track->room)
        return true;
    const size_t old_room = track->room;
    void **const old = track->blocks;
    const size_t room = old_room > 0 ? 2 * old_room : LEAST;
    void **const blocks = dti_process_calloc(room, sizeof *blocks);
    if (!blocks)
        return false;
    track->blocks = blocks;
    track->room = room;
    track->count = 0;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i])
            insert(track, old[i]);
    }
    dti_process_free(old);
    return true;
}

static void *pass(const struct dti_track *track, void *block, size_t size, size_t alignment)
{
    const struct dti_call *const outer = track->call.outer;
    if (outer->allocate)
        return outer->allocate(outer->allocate_context, block, size, alignment);
    if (block && size == 0) {
        dti_process_free(block);
        return NULL;
    }
    return alignment > 0 ? dti_process_malloc_aligned(alignment, size)
                         : dti_process_realloc(block, size);
}

/* A dti_allocate_fn. A block from before stays one when it is resized. */
static void *allocate(void *context, void *block, size_t size, size_t alignment)
{
    struct dti_track *const track = context;
    void *ret = NULL;
    pthread_mutex_lock(&track->lock);
    if (size == 0) {
        (void)take_out(track, block);
        (void)pass(track, block, 0, 0);
    } else if (reserve(track)) {
        const bool ours = !block || take_out(track, block);
        ret = pass(track, block, size, alignment);
        if (ours && (ret || block))
            insert(track, ret ? ret : block);
    }
    pthread_mutex_unlock(&track->lock);
    return ret;
}

void dti_track_begin(struct dti_track *ret)
{
    struct dti_call *const outer = dti_call_current();
    pthread_mutex_init(&ret->lock, NULL);
    ret->blocks = NULL;
    ret->count = ret->room = 0;
    dti_call_join(&ret->call, outer);
    ret->call.allocate = allocate;
    ret->call.allocate_context = ret;
}

void dti_track_end(struct dti_track *track, bool drop)
{
    dti_call_leave(&track->call);
    for (size_t i = 0; drop && i < track->room; i++) {
        if (track->blocks[i])
            (void)pass(track, track->blocks[i], 0, 0);
    }
    dti_process_free(track->blocks);
    pthread_mutex_destroy(&track->lock);
}

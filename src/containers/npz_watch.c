/* SPDX-License-Identifier: MIT
 *
 * The CRC of a stored array while it is read. Pieces come from several threads, in any order, and
 * some come twice; each byte counts when it is first read. The sums of pieces can be combined in
 * any order, so only the set of counted bytes has to be kept. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/crc32.h"
#include "containers/npz.h"

struct file_range {
    uint64_t begin, end; /* places in the file */
};

/* Bytes that have been counted, and what they add to the sum. */
struct tally {
    uint64_t bytes;
    uint32_t sum;
};

struct dti_npz_watch {
    struct dti_watch watch; /* first: a pointer to it is one to the whole */
    struct dti_input input; /* the view that shows what is read */
    const struct dti_zip_member *member;
    uint64_t begin, end; /* of the data in the file */
    pthread_mutex_t lock;
    struct tally known;       /* of the ranges, when those who added them have summed them up */
    struct tally once;        /* of readers who read each byte once and need no ranges */
    struct file_range *taken; /* sorted; apart from each other by at least a byte */
    size_t count, capacity;
    bool whole; /* all was read, and was right: nothing is looked at any more */
};

/* Room for one more, at `at`. */
static bool insert(struct dti_npz_watch *watch, size_t at, struct file_range range)
{
    if (watch->count == watch->capacity) {
        const size_t capacity = watch->capacity > 0 ? 2 * watch->capacity : 8;
        struct file_range *const larger = realloc(watch->taken, capacity * sizeof *larger);
        if (!larger)
            return false;
        watch->taken = larger;
        watch->capacity = capacity;
    }
    memmove(&watch->taken[at + 1], &watch->taken[at], (watch->count - at) * sizeof range);
    watch->taken[at] = range;
    watch->count++;
    return true;
}

/* Takes the first bytes of *left that are not yet taken into *ret, and *left continues after them.
 * An empty *ret: there are none. False: memory ran out. */
static bool take_first(struct dti_npz_watch *watch, struct file_range *left, struct file_range *ret)
{
    struct file_range *const taken = watch->taken;
    size_t low = 0, high = watch->count;
    while (low < high) { /* to the first range that does not end before */
        const size_t middle = low + (high - low) / 2;
        if (taken[middle].end < left->begin)
            low = middle + 1;
        else
            high = middle;
    }
    const bool joins = low < watch->count && taken[low].begin <= left->begin;
    if (joins && taken[low].end > left->begin)
        left->begin = taken[low].end < left->end ? taken[low].end : left->end;
    const size_t next = low + joins;
    uint64_t end = left->end;
    if (next < watch->count && taken[next].begin < end)
        end = taken[next].begin;
    *ret = (struct file_range){left->begin, end};
    if (end == left->begin)
        return true;
    left->begin = end;
    const bool reaches = next < watch->count && taken[next].begin == end;
    if (joins && reaches) {
        taken[low].end = taken[next].end;
        watch->count--;
        memmove(&taken[next], &taken[next + 1], (watch->count - next) * sizeof *taken);
    } else if (joins) {
        taken[low].end = end;
    } else if (reaches) {
        taken[next].begin = ret->begin;
    } else {
        return insert(watch, low, *ret);
    }
    return true;
}

/* Adds bytes of the file to a tally; called with the lock held, which is released in the meantime.
 */
static enum dti_status add(struct dti_npz_watch *watch, struct tally *tally, const void *bytes,
                           struct file_range range, struct dti_error *reterr)
{
    pthread_mutex_unlock(&watch->lock);
    const size_t size = (size_t)(range.end - range.begin);
    const uint32_t part = dti_crc32_part(dti_crc32(0, bytes, size), watch->end - range.end);
    pthread_mutex_lock(&watch->lock);
    tally->sum ^= part;
    tally->bytes += size;
    if (watch->whole || tally->bytes < watch->end - watch->begin)
        return DTI_OK;
    char label[DTI_ZIP_LABEL_SIZE];
    dti_zip_label(label, &watch->input, watch->member);
    const enum dti_status status = dti_zip_check_crc(label, watch->member, tally->sum, reterr);
    watch->whole = status == DTI_OK;
    return status;
}

static enum dti_status take(struct dti_watch *own, const void *bytes, size_t size, uint64_t offset,
                            bool once, struct dti_error *reterr)
{
    struct dti_npz_watch *const watch = (struct dti_npz_watch *)own;
    struct file_range left = {offset, offset + size}; /* there: they were read */
    if (left.begin < watch->begin)
        left.begin = watch->begin;
    if (left.end > watch->end)
        left.end = watch->end;
    enum dti_status status = DTI_OK;
    pthread_mutex_lock(&watch->lock);
    while (left.begin < left.end && !watch->whole && status == DTI_OK) {
        struct file_range range = left;
        if (once)
            left.begin = left.end;
        else if (!take_first(watch, &left, &range))
            status = dti_no_memory(reterr);
        if (status == DTI_OK && range.begin < range.end)
            status = add(watch, once ? &watch->once : &watch->known,
                         (const char *)bytes + (range.begin - offset), range, reterr);
    }
    pthread_mutex_unlock(&watch->lock);
    return status;
}

enum dti_status dti_npz_watch(struct dti_npz *npz, struct dti_npz_array *array,
                              const struct dti_input *input, const struct dti_input **ret,
                              struct dti_error *reterr)
{
    const struct dti_zip_member *const member = &npz->zip.members[array->member];
    const uint64_t size = member->size - array->start;
    struct dti_npz_watch *watch = array->watch;
    if (!watch) {
        watch = dti_pool_alloc(npz->pool, sizeof *watch);
        if (!watch)
            return dti_no_memory(reterr);
        const uint32_t header = dti_crc32_part(array->header_crc, size);
        *watch = (struct dti_npz_watch){
            .watch = {.take = take},
            .input = *input,
            .member = member,
            .begin = member->data + array->start,
            .end = member->data + member->size,
            .known = {.sum = header},
            .once = {.sum = header},
        };
        watch->input.watch = &watch->watch;
        pthread_mutex_init(&watch->lock, NULL);
        array->watch = watch;
    }
    if (size == 0) {
        char label[DTI_ZIP_LABEL_SIZE];
        dti_zip_label(label, input, member);
        const enum dti_status status = dti_zip_check_crc(label, member, array->header_crc, reterr);
        if (status != DTI_OK)
            return status;
        watch->whole = true;
    }
    *ret = &watch->input;
    return DTI_OK;
}

bool dti_npz_watch_is_whole(struct dti_npz_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const bool whole = watch->whole;
    pthread_mutex_unlock(&watch->lock);
    return whole;
}

void dti_npz_watch_free(struct dti_npz_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch->taken);
}

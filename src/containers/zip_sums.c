/* SPDX-License-Identifier: MIT
 *
 * The CRCs of members while their data are written. The sums of pieces can be combined in any
 * order, so that nothing is read again. */
#include "containers/zip_sums.h"

#include <pthread.h>
#include <stdlib.h>

#include "containers/crc32.h"
#include "dtinfo/little_endian.h"

struct dti_zip_sums {
    struct dti_output_watch watch; /* first: a pointer to it is one to the whole */
    pthread_mutex_t lock;
    size_t count;
    struct dti_zip_sum list[];
};

/* The first member whose data end after `offset`; the count: there is none. */
static size_t find(const struct dti_zip_sums *sums, uint64_t offset)
{
    size_t low = 0, high = sums->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sums->list[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take(struct dti_output_watch *watch, const void *bytes, size_t size, uint64_t offset)
{
    struct dti_zip_sums *const sums = (struct dti_zip_sums *)watch;
    const uint64_t end = offset + size;
    for (size_t i = find(sums, offset); i < sums->count && sums->list[i].begin < end; i++) {
        struct dti_zip_sum *const sum = &sums->list[i];
        const uint64_t from = sum->begin > offset ? sum->begin : offset,
                       to = sum->end < end ? sum->end : end;
        const char *const part = (const char *)bytes + (from - offset);
        const uint32_t adds =
            dti_crc32_part(dti_crc32(0, part, (size_t)(to - from)), sum->end - to);
        pthread_mutex_lock(&sums->lock);
        sum->data ^= adds;
        sum->bytes += to - from;
        pthread_mutex_unlock(&sums->lock);
    }
}

struct dti_zip_sums *dti_zip_sums_new(size_t count)
{
    struct dti_zip_sums *sums = NULL;
    if (count < (SIZE_MAX - sizeof *sums) / sizeof *sums->list)
        sums = calloc(1, sizeof *sums + count * sizeof *sums->list);
    if (!sums)
        return NULL;
    sums->watch.take = take;
    sums->count = count;
    pthread_mutex_init(&sums->lock, NULL);
    return sums;
}

void dti_zip_sums_free(struct dti_zip_sums *sums)
{
    if (sums)
        pthread_mutex_destroy(&sums->lock);
    free(sums);
}

struct dti_zip_sum *dti_zip_sums_of(struct dti_zip_sums *sums, size_t member)
{
    return &sums->list[member];
}

struct dti_output_watch *dti_zip_sums_watch(struct dti_zip_sums *sums)
{
    return &sums->watch;
}

enum dti_status dti_zip_sums_put(const struct dti_zip_sums *sums, struct dti_buffer *text,
                                 struct dti_error *reterr)
{
    for (size_t i = 0; i < sums->count; i++) {
        const struct dti_zip_sum *const sum = &sums->list[i];
        const uint64_t bytes = sum->end - sum->begin;
        if (sum->bytes != bytes)
            return dti_fail(reterr, DTI_BUG, "member %zu has %llu bytes, but %llu were written", i,
                            (unsigned long long)bytes, (unsigned long long)sum->bytes);
        const uint32_t crc = dti_crc32_part(sum->head, bytes) ^ sum->data;
        dti_little_put((unsigned char *)text->data + sum->local, 4, crc);
        dti_little_put((unsigned char *)text->data + sum->entry, 4, crc);
    }
    return DTI_OK;
}

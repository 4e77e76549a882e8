/* SPDX-License-Identifier: MIT
 *
 * Writes scales in tiles (scale_tiles.h), and what else a matrix with a mark has. Stripes of 128
 * rows follow each other in the file, so those that lie in one piece are written together. A stripe
 * that several pieces share is kept until its last scale is there; pieces are taken in order, so
 * only a few are kept at once. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "files/stored/quant_marks.h"
#include "files/stored/scale_tiles.h"
#include "util/checked.h"
#include "util/run/allocate.h"

struct dti_quant_stripe {
    struct dti_quant_stripe *next;
    uint64_t number, missing; /* scales that are not there yet */
    unsigned char bytes[];
};

/* The matrix of a task's scales, all matrices of a stack below each other. */
struct tiled {
    uint64_t columns, stripe_scales, stripe_bytes, scales;
};

static struct tiled tiled_of(const struct dti_quant_task *task)
{
    const struct dti_quant_stored *const stored = &task->stored;
    const uint64_t columns =
        dti_divide_up(stored->shape[stored->rank - 1], stored->row->block->length);
    return (struct tiled){.columns = columns,
                          .stripe_scales = DTI_TILE_ROWS * columns,
                          .stripe_bytes = DTI_TILE_ROWS * dti_tiled_columns(columns),
                          .scales = task->sizes.scales};
}

uint64_t dti_quant_tiles_room(const struct dti_quant_task *task, uint64_t scales)
{
    if ((task->stored.row->flags & DTI_QUANT_TILED) == 0 || task->sizes.scales == 0)
        return 0;
    const struct tiled of = tiled_of(task);
    return (scales / of.stripe_scales + 1) * of.stripe_bytes;
}

/* Puts scales of one stripe into place; first: the index of the first one in the stripe. */
static void put(const struct tiled *of, unsigned char *stripe, uint64_t first,
                const unsigned char *scales, uint64_t n)
{
    uint64_t row = first / of->columns, column = first % of->columns;
    for (uint64_t i = 0; i < n;) {
        const uint64_t left = DTI_TILE_COLUMNS - column % DTI_TILE_COLUMNS;
        uint64_t run = of->columns - column < left ? of->columns - column : left;
        run = n - i < run ? n - i : run;
        memcpy(stripe + dti_tile_offset(row, column), scales + i, (size_t)run);
        i += run;
        column += run;
        if (column == of->columns) {
            column = 0;
            row++;
        }
    }
}

/* The number of scales in a stripe. */
static uint64_t scales_in(const struct tiled *of, uint64_t number)
{
    const uint64_t left = of->scales - number * of->stripe_scales;
    return left < of->stripe_scales ? left : of->stripe_scales;
}

/* Adds scales to a stripe that other pieces complete. The last one gets the stripe, to write it;
 * else *ret is NULL. Call it with the lock. */
static enum dti_status share(struct dti_quant_task *task, const struct tiled *of, uint64_t number,
                             uint64_t first, const unsigned char *scales, uint64_t n,
                             struct dti_quant_stripe **ret, struct dti_error *reterr)
{
    struct dti_quant_stripe **at = &task->stripes;
    *ret = NULL;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (!*at) {
        if (of->stripe_bytes > SIZE_MAX - sizeof **at)
            return dti_no_memory(reterr);
        *at = dti_calloc(1, sizeof **at + (size_t)of->stripe_bytes);
        if (!*at)
            return dti_no_memory(reterr);
        (*at)->number = number;
        (*at)->missing = scales_in(of, number);
    }
    put(of, (*at)->bytes, first, scales, n);
    (*at)->missing -= n;
    if ((*at)->missing == 0) {
        *ret = *at;
        *at = (*at)->next;
    }
    return DTI_OK;
}

/* Scales of a part of a stripe. */
static enum dti_status write_part(struct dti_quant_task *task, pthread_mutex_t *lock,
                                  const struct tiled *of, uint64_t number, uint64_t first,
                                  const unsigned char *scales, uint64_t n, struct dti_error *reterr)
{
    struct dti_quant_stripe *whole = NULL;
    pthread_mutex_lock(lock);
    enum dti_status status = share(task, of, number, first, scales, n, &whole, reterr);
    pthread_mutex_unlock(lock);
    if (whole)
        status = dti_quant_task_write(task, DTI_PART_SCALE, whole->bytes, (size_t)of->stripe_bytes,
                                      number * of->stripe_bytes, reterr);
    dti_free(whole);
    return status;
}

enum dti_status dti_quant_task_tiles(struct dti_quant_task *task, pthread_mutex_t *lock,
                                     const unsigned char *scales, uint64_t first, uint64_t n,
                                     unsigned char *room, struct dti_error *reterr)
{
    const struct tiled of = tiled_of(task);
    const uint64_t end = first + n;
    enum dti_status status = DTI_OK;
    while (first < end && status == DTI_OK) {
        const uint64_t number = first / of.stripe_scales, begin = number * of.stripe_scales;
        uint64_t count = 0, at = first;
        while (at == begin + count * of.stripe_scales && at < end &&
               scales_in(&of, number + count) <= end - at) {
            unsigned char *const stripe = room + count * of.stripe_bytes;
            memset(stripe, 0, (size_t)of.stripe_bytes);
            put(&of, stripe, 0, scales, scales_in(&of, number + count));
            scales += scales_in(&of, number + count);
            at += scales_in(&of, number + count++);
        }
        if (count > 0) {
            status =
                dti_quant_task_write(task, DTI_PART_SCALE, room, (size_t)(count * of.stripe_bytes),
                                     number * of.stripe_bytes, reterr);
            first = at;
            continue;
        }
        const uint64_t left = scales_in(&of, number) - (first - begin);
        const uint64_t part = end - first < left ? end - first : left;
        status = write_part(task, lock, &of, number, first - begin, scales, part, reterr);
        scales += part;
        first += part;
    }
    return status;
}

void dti_quant_stripes_free(struct dti_quant_task *task)
{
    for (struct dti_quant_stripe *at = task->stripes, *next; at; at = next) {
        next = at->next;
        dti_free(at);
    }
    task->stripes = NULL;
}

enum dti_status dti_quant_task_mark(const struct dti_quant_task *task, struct dti_error *reterr)
{
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    char text[DTI_QUANT_MARK_SIZE];
    const enum dti_status status = dti_quant_parts(&task->stored, parts, reterr);
    if (status != DTI_OK)
        return status;
    const bool padded = dti_quant_is_filled_up(&task->stored, &parts[DTI_PART_CODES]);
    const size_t length = dti_quant_mark_text(&task->stored, padded, text);
    return dti_quant_task_write(task, DTI_PART_STATE, text, length, 0, reterr);
}

enum dti_status dti_quant_task_fill_rows(const struct dti_quant_task *task,
                                         struct dti_error *reterr)
{
    static const unsigned char zeros[4096];
    const struct dti_rewrite *const rewrite = task->rewrite;
    const uint64_t end = dti_rewrite_part(rewrite, task->at, DTI_PART_CODES)->bytes;
    enum dti_status status = DTI_OK;
    for (uint64_t at = task->sizes.code_bytes; at < end && status == DTI_OK;) {
        const size_t n = end - at < sizeof zeros ? (size_t)(end - at) : sizeof zeros;
        status = dti_quant_task_write(task, DTI_PART_CODES, zeros, n, at, reterr);
        at += n;
    }
    return status;
}

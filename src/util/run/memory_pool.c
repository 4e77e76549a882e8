/* SPDX-License-Identifier: MIT
 *
 * An arena: chunks double in size up to a limit, and each is a bump allocator. */
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/run/memory_pool.h"

enum { FIRST_CHUNK = 4 * 1024, LAST_CHUNK = 1024 * 1024, WIDE = alignof(max_align_t), WORD = 8 };

struct dti_pool_chunk {
    struct dti_pool_chunk *next;
    size_t size;
    bool alone; /* holds a single piece */
    alignas(max_align_t) char memory[];
};

static struct dti_pool_chunk *chunk_new(size_t size)
{
    struct dti_pool_chunk *const chunk = dti_malloc(sizeof *chunk + size);
    if (chunk)
        *chunk = (struct dti_pool_chunk){.size = size};
    return chunk;
}

/* Gives a piece its own chunk if it would leave much of a shared chunk unused. */
static void *take_alone(struct dti_pool *pool, size_t size)
{
    struct dti_pool_chunk *const chunk = chunk_new(size);
    if (!chunk)
        return NULL;
    chunk->alone = true;
    if (pool->chunks) {
        chunk->next = pool->chunks->next;
        pool->chunks->next = chunk;
    } else {
        chunk->next = NULL;
        pool->chunks = chunk;
        pool->left = 0;
    }
    return chunk->memory;
}

void *dti_pool_alloc(struct dti_pool *pool, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size += size == 0; /* every piece has a distinct address */
    size = (size + WORD - 1) / WORD * WORD;
    /* the size of a type is a multiple of its alignment; chunks end at a multiple of the widest */
    const size_t loose = pool->left % (size % WIDE == 0 ? (size_t)WIDE : (size_t)WORD);
    pool->left -= loose;
    if (size <= pool->left) {
        assert(pool->chunks);
        pool->left -= size;
        return pool->chunks->memory + (pool->chunks->size - pool->left - size);
    }
    const size_t last = pool->chunks ? pool->chunks->size : 0;
    const size_t next = last >= LAST_CHUNK / 2 ? LAST_CHUNK : last > 0 ? 2 * last : FIRST_CHUNK;
    if (size > next / 4)
        return take_alone(pool, size);
    struct dti_pool_chunk *const chunk = chunk_new(next);
    if (!chunk)
        return NULL;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->left = next - size;
    return chunk->memory;
}

void *dti_pool_array(struct dti_pool *pool, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        return NULL;
    return dti_pool_alloc(pool, count * size);
}

void *dti_pool_grow(struct dti_pool *pool, void *piece, size_t used, size_t size)
{
    struct dti_pool_chunk **link = &pool->chunks;
    while (*link && !((*link)->alone && (*link)->memory == (char *)piece))
        link = &(*link)->next;
    if (!*link) {
        void *const copy = dti_pool_alloc(pool, size);
        if (copy && used > 0)
            memcpy(copy, piece, used);
        return copy;
    }
    if (size > SIZE_MAX / 2)
        return NULL;
    struct dti_pool_chunk *const chunk = dti_realloc(*link, sizeof *chunk + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    *link = chunk;
    return chunk->memory;
}

char *dti_pool_text(struct dti_pool *pool, const char *text, size_t length)
{
    char *copy;
    if (length < pool->left) { /* texts are packed without gaps */
        copy = pool->chunks->memory + (pool->chunks->size - pool->left);
        pool->left -= length + 1;
    } else {
        copy = length < SIZE_MAX / 2 ? dti_pool_alloc(pool, length + 1) : NULL;
    }
    if (!copy)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void dti_pool_free(struct dti_pool *pool)
{
    for (struct dti_pool_chunk *chunk = pool->chunks; chunk;) {
        struct dti_pool_chunk *const next = chunk->next;
        dti_free(chunk);
        chunk = next;
    }
    *pool = (struct dti_pool){.chunks = NULL};
}

/* SPDX-License-Identifier: MIT
 *
 * An arena for many small objects with the same lifetime: names, shapes and lists from one file.
 * A zeroed pool is empty and ready. Everything is freed at once. */
#ifndef UTIL_RUN_MEMORY_POOL_H
#define UTIL_RUN_MEMORY_POOL_H

#include <stddef.h>

struct dti_pool_chunk;
struct dti_pool {
    struct dti_pool_chunk *chunks; /* newest first, but large pieces are inserted after it */
    size_t left;                   /* bytes free at the end of the newest */
};

/* Allocates size bytes, or count elements of size bytes each, aligned for any type of that size or
 * for 8 bytes, not cleared.
 * 0 bytes also get an address, so NULL always means that memory ran out (or that the product
 * overflows). */
void *dti_pool_alloc(struct dti_pool *pool, size_t size);
void *dti_pool_array(struct dti_pool *pool, size_t count, size_t size);

/* Grows a piece, or makes a large one smaller, and keeps its first `used` bytes. A large piece
 * moves only when realloc() moves it; a small one is copied. On NULL memory ran out, and the old
 * piece stays valid. */
void *dti_pool_grow(struct dti_pool *pool, void *piece, size_t used, size_t size);

/* Copies text and appends a NUL; NULL if memory ran out. */
char *dti_pool_text(struct dti_pool *pool, const char *text, size_t length);

void dti_pool_free(struct dti_pool *pool); /* leaves an empty pool */

#endif

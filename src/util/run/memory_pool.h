/* SPDX-License-Identifier: MIT
 *
 * Memory for many small objects with the same lifetime: names, shapes and lists from one file. A
 * pool of zeros is empty and ready; nothing is freed before all of it is. */
#ifndef UTIL_RUN_MEMORY_POOL_H
#define UTIL_RUN_MEMORY_POOL_H

#include <stddef.h>

struct dti_pool_chunk;
struct dti_pool {
    struct dti_pool_chunk *chunks; /* newest first, except that large pieces come after it */
    size_t left;                   /* bytes free at the end of the newest */
};

/* Memory for size bytes, or for count elements of size bytes each, aligned for any type, not
 * cleared. Also for 0 bytes, so NULL always means that memory ran out (or that the product does not
 * fit). */
void *dti_pool_alloc(struct dti_pool *pool, size_t size);
void *dti_pool_array(struct dti_pool *pool, size_t count, size_t size);

/* More memory for a piece of which `used` bytes are kept: a large one moves no more often than
 * realloc() moves it, of a small one a copy is made. NULL: memory ran out, and the piece stays. */
void *dti_pool_grow(struct dti_pool *pool, void *piece, size_t used, size_t size);

/* A copy of text with a NUL after it; NULL when memory ran out. */
char *dti_pool_text(struct dti_pool *pool, const char *text, size_t length);

void dti_pool_free(struct dti_pool *pool); /* leaves an empty pool */

#endif

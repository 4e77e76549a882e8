/* SPDX-License-Identifier: MIT
 *
 * Heap memory, from the allocator of the current call (caller.h), or else from the C library. A
 * block is freed under a call of the same caller. Only memory that the C library itself returns
 * (realpath()) is freed with free(). */
#ifndef UTIL_RUN_ALLOCATE_H
#define UTIL_RUN_ALLOCATE_H

#include <stddef.h>

/* As malloc(), calloc(), realloc(), free(), strdup() and strndup(). A size of 0 gives a block of
 * one byte. */
void *dti_malloc(size_t size);
void *dti_calloc(size_t count, size_t size);
void *dti_realloc(void *block, size_t size);
void dti_free(void *block);
char *dti_strdup(const char *text);
char *dti_strndup(const char *text, size_t most);

/* A block at a multiple of alignment, a power of two of at least sizeof(void *). */
void *dti_malloc_aligned(size_t alignment, size_t size);

/* The same from the C library, for every caller: memory that outlives calls and contexts. It
 * belongs to the process: loaded libraries, what a driver that hangs may still write to, and GMP's
 * numbers.
 */
void *dti_process_malloc(size_t size);
void *dti_process_calloc(size_t count, size_t size);
void *dti_process_realloc(void *block, size_t size);
void *dti_process_malloc_aligned(size_t alignment, size_t size);
void dti_process_free(void *block);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Heap memory. All of it passes through one hook, so that a program that links the layers can bring
 * its own allocator. Only memory that the C library itself returns (realpath(), open_memstream())
 * is freed with free(). */
#ifndef UTIL_RUN_ALLOCATE_H
#define UTIL_RUN_ALLOCATE_H

#include <stddef.h>

/* Allocates (block NULL), resizes, or frees (size 0) a block, like realloc(): NULL if memory ran
 * out, and then the old block is unchanged. alignment: 0 for that of malloc(), or a power of two
 * when a block is allocated that is never resized. Called from any thread. */
typedef void *dti_allocate_fn(void *context, void *block, size_t size, size_t alignment);

/* Replaces the C library's allocator, before anything is allocated; context is passed to each
 * call. */
void dti_allocate_with(dti_allocate_fn *allocate, void *context);

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

#endif

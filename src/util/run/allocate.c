/* SPDX-License-Identifier: MIT
 *
 * The C library's allocator, unless another one was brought. */
#include "util/run/allocate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static dti_allocate_fn *other; /* NULL: the C library */
static void *other_context;

void dti_allocate_with(dti_allocate_fn *allocate, void *context)
{
    other = allocate;
    other_context = context;
}

void *dti_malloc(size_t size)
{
    const size_t least = size > 0 ? size : 1;
    return other ? other(other_context, NULL, least, 0) : malloc(least);
}

void *dti_calloc(size_t count, size_t size)
{
    if (!other)
        return count > 0 && size > 0 ? calloc(count, size) : calloc(1, 1);
    if (size > 0 && count > SIZE_MAX / size)
        return NULL;
    void *const block = dti_malloc(count * size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void *dti_realloc(void *block, size_t size)
{
    const size_t least = size > 0 ? size : 1;
    return other ? other(other_context, block, least, 0) : realloc(block, least);
}

void dti_free(void *block)
{
    if (!other)
        free(block);
    else if (block)
        (void)other(other_context, block, 0, 0);
}

char *dti_strdup(const char *text)
{
    return dti_strndup(text, SIZE_MAX);
}

char *dti_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *const copy = dti_malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

void *dti_malloc_aligned(size_t alignment, size_t size)
{
    if (other)
        return other(other_context, NULL, size > 0 ? size : 1, alignment);
    void *block;
    return posix_memalign(&block, alignment, size > 0 ? size : 1) == 0 ? block : NULL;
}

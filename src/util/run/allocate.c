/* SPDX-License-Identifier: MIT
 *
 * The allocator of the current call, or that of the C library. */
#include "util/run/allocate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/run/call_now.h"

/* The current call, if it has an allocator. */
static inline const struct dti_call *other(void)
{
    const struct dti_call *const call = dti_call_now;
    return call && call->allocate ? call : NULL;
}

static size_t at_least(size_t size)
{
    return size > 0 ? size : 1;
}

void *dti_malloc(size_t size)
{
    const struct dti_call *const call = other();
    return call ? call->allocate(call->allocate_context, NULL, at_least(size), 0)
                : malloc(at_least(size));
}

void *dti_calloc(size_t count, size_t size)
{
    if (!other())
        return dti_process_calloc(count, size);
    if (size > 0 && count > SIZE_MAX / size)
        return NULL;
    void *const block = dti_malloc(count * size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void *dti_realloc(void *block, size_t size)
{
    const struct dti_call *const call = other();
    return call ? call->allocate(call->allocate_context, block, at_least(size), 0)
                : realloc(block, at_least(size));
}

void dti_free(void *block)
{
    const struct dti_call *const call = other();
    if (!call)
        free(block);
    else if (block)
        (void)call->allocate(call->allocate_context, block, 0, 0);
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
    const struct dti_call *const call = other();
    return call ? call->allocate(call->allocate_context, NULL, at_least(size), alignment)
                : dti_process_malloc_aligned(alignment, size);
}

void *dti_process_malloc(size_t size)
{
    return malloc(at_least(size));
}

void *dti_process_calloc(size_t count, size_t size)
{
    return count > 0 && size > 0 ? calloc(count, size) : calloc(1, 1);
}

void *dti_process_realloc(void *block, size_t size)
{
    return realloc(block, at_least(size));
}

void *dti_process_malloc_aligned(size_t alignment, size_t size)
{
    void *block;
    return posix_memalign(&block, alignment, at_least(size)) == 0 ? block : NULL;
}

void dti_process_free(void *block)
{
    free(block);
}

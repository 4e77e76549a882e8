/* SPDX-License-Identifier: MIT
 *
 * Preloaded: makes the DTI_TEST_FAIL_AT-th call of malloc(), calloc() and realloc() fail,
 * counted from the program's start, and with DTI_TEST_FAIL_ON all later ones too. At exit the
 * number of calls is written to the file named by DTI_TEST_FAIL_COUNT. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static unsigned long calls, fail_at;
static bool fail_on, counting;

/* ISO C has no conversion between object and function pointers; POSIX guarantees the same
 * representation. */
#define FIND(name) (*(void **)(&real_##name) = dlsym(RTLD_NEXT, #name))

/* dlsym() itself may allocate before the real functions are found: served from here, never
 * freed. */
static _Alignas(16) char early[4096];
static size_t early_used;

static void *take_early(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - early_used)
        return NULL;
    void *const memory = early + early_used;
    early_used += size;
    return memory;
}

__attribute__((constructor)) static void start(void)
{
    FIND(malloc);
    FIND(calloc);
    FIND(realloc);
    const char *const text = getenv("DTI_TEST_FAIL_AT");
    fail_at = text ? strtoul(text, NULL, 10) : 0;
    fail_on = getenv("DTI_TEST_FAIL_ON") != NULL;
    counting = true;
}

__attribute__((destructor)) static void end(void)
{
    counting = false;
    const char *const name = getenv("DTI_TEST_FAIL_COUNT");
    FILE *const file = name ? fopen(name, "w") : NULL;
    if (!file)
        return;
    (void)fprintf(file, "%lu\n", calls);
    (void)fclose(file);
}

static bool fails(void)
{
    if (!counting)
        return false;
    calls++;
    if (fail_at == 0 || (fail_on ? calls < fail_at : calls != fail_at))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    if (!real_malloc)
        return take_early(size);
    return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!real_calloc) /* early memory is already zero */
        return size == 0 || count <= sizeof early / size ? take_early(count * size) : NULL;
    return fails() ? NULL : real_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    if (!real_realloc)
        return memory ? NULL : take_early(size);
    return fails() ? NULL : real_realloc(memory, size);
}

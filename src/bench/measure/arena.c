/* SPDX-License-Identifier: MIT
 *
 * Mapping memory, and what Linux tells about it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include "bench/measure/arena.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uint64_t)2 << 20)

/* The number behind a key in a small text file of the kernel; false when it is not there. */
static bool read_number(const char *path, const char *key, uint64_t *ret_number)
{
    char text[4096];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t length = read(file, text, sizeof text - 1);
    (void)close(file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    const char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    at += strspn(at, " ");
    if (*at < '0' || *at > '9')
        return false;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *ret_number = number;
    return true;
}

/* A container's limit, version 2 of control groups; what its files take can be dropped. */
static uint64_t group_available(void)
{
    uint64_t limit, used, files;
    if (!read_number("/sys/fs/cgroup/memory.max", "", &limit) ||
        !read_number("/sys/fs/cgroup/memory.current", "", &used) ||
        !read_number("/sys/fs/cgroup/memory.stat", "\nfile ", &files))
        return UINT64_MAX;
    used = used > files ? used - files : 0;
    return limit > used ? limit - used : 0;
}

uint64_t dti_memory_available(void)
{
    uint64_t kib, available = UINT64_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kib))
        available = kib * 1024;
    const uint64_t group = group_available();
    return group < available ? group : available;
}

uint64_t dti_huge_page_bytes(void)
{
    uint64_t kib;
    return read_number("/proc/self/smaps_rollup", "AnonHugePages:", &kib) ? kib * 1024 : 0;
}

struct amount {
    unsigned long long number;
    const char *unit;
};

/* In the largest unit of which there are ten. */
static struct amount amount_of(uint64_t bytes)
{
    static const char *const units[] = {"MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (bytes >>= 20; bytes >> 10 >= 10 && unit + 1 < sizeof units / sizeof *units; bytes >>= 10)
        unit++;
    return (struct amount){.number = bytes, .unit = units[unit]};
}

enum dti_status dti_arena_check(uint64_t size, struct dti_error *reterr)
{
    const uint64_t available = dti_memory_available();
    /* something is left for the rest of the machine */
    if (size <= available - available / 16 && size <= SIZE_MAX - 2 * HUGE_PAGE)
        return DTI_OK;
    const struct amount needed = amount_of(size), there = amount_of(available);
    return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_MEASURE_LESS,
                           "%llu %s of memory are needed and %llu %s are available", needed.number,
                           needed.unit, there.number, there.unit);
}

enum dti_status dti_arena_new(struct dti_arena *ret, uint64_t size, struct dti_error *reterr)
{
    const enum dti_status status = dti_arena_check(size, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const size_t mapped = (size_t)(rounded + HUGE_PAGE);
    void *const mapping =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const size_t over = (size_t)((uintptr_t)mapping % HUGE_PAGE);
    unsigned char *const data = (unsigned char *)mapping + (over > 0 ? HUGE_PAGE - over : 0);
#ifdef MADV_HUGEPAGE
    (void)madvise(data, (size_t)rounded, MADV_HUGEPAGE);
#endif
    *ret = (struct dti_arena){
        .data = data, .size = (size_t)rounded, .mapping = mapping, .mapping_size = mapped};
    return DTI_OK;
}

void dti_arena_free(struct dti_arena *arena)
{
    if (arena->mapping)
        (void)munmap(arena->mapping, arena->mapping_size);
    *arena = (struct dti_arena){0};
}

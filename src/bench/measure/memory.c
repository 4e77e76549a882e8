/* SPDX-License-Identifier: MIT
 *
 * The operands of a measurement: arrays next to each other, in consecutive sets. The available
 * memory is checked before it is allocated. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include "bench/measure/frame.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/checked.h"

#define HUGE_PAGE ((uint64_t)2 << 20)

enum { PAGE = 4096, POISON = 0xA5 };

/* Reads the number after a key in a small /proc or /sys file; false if it is missing. */
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

/* Available memory under a container's limit (cgroup v2); its file cache counts as reclaimable. */
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

/* Bytes that this process may still allocate, if the system reports it; UINT64_MAX otherwise. */
static uint64_t available_bytes(void)
{
    uint64_t kib, available = UINT64_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kib))
        available = kib * 1024;
    const uint64_t group = group_available();
    return group < available ? group : available;
}

/* Bytes of this process on huge pages; 0 if the system does not report it. */
static uint64_t huge_page_bytes(void)
{
    uint64_t kib;
    return read_number("/proc/self/smaps_rollup", "AnonHugePages:", &kib) ? kib * 1024 : 0;
}

struct amount {
    unsigned long long number;
    const char *unit;
};

/* Bytes in the largest unit that gives a number of at least ten. */
static struct amount amount_of(uint64_t bytes)
{
    static const char *const units[] = {"MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (bytes >>= 20; bytes >> 10 >= 10 && unit + 1 < sizeof units / sizeof *units; bytes >>= 10)
        unit++;
    return (struct amount){.number = bytes, .unit = units[unit]};
}

enum dti_status dti_host_has_memory(uint64_t bytes, struct dti_error *reterr)
{
    const uint64_t available = available_bytes();
    /* keep 1/16 for the rest of the machine */
    if (bytes <= available - available / 16 && bytes <= SIZE_MAX - 2 * HUGE_PAGE)
        return DTI_OK;
    const struct amount needed = amount_of(bytes), there = amount_of(available);
    return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_MEASURE_LESS,
                           "%llu %s of memory are needed and %llu %s are available", needed.number,
                           needed.unit, there.number, there.unit);
}

/* Uses huge pages if available, because first touches of small pages are expensive. Does not
 * touch the memory. */
static enum dti_status map(struct dti_bench_memory *memory, uint64_t size, struct dti_error *reterr)
{
    const enum dti_status status = dti_host_has_memory(size, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const size_t mapped = (size_t)(rounded + HUGE_PAGE);
    unsigned char *const mapping =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return dti_no_memory(reterr);
    const size_t over = (size_t)((uintptr_t)mapping % HUGE_PAGE);
    memory->data = mapping + (over > 0 ? HUGE_PAGE - over : 0);
    memory->size = (size_t)rounded;
    memory->mapping = mapping;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory->data, memory->size, MADV_HUGEPAGE);
#endif
    return DTI_OK;
}

struct dti_bench_shape dti_bench_alike(size_t operands, uint64_t bytes, enum dti_bench_cache cache)
{
    struct dti_bench_shape shape = {.operands = operands, .cache = cache};
    for (size_t i = 0; i < operands; i++)
        shape.bytes[i] = bytes;
    return shape;
}

size_t dti_bench_sets(enum dti_bench_cache cache, uint64_t bytes)
{
    if (cache == DTI_BENCH_HOT)
        return 1;
    return (size_t)(2 * (uint64_t)dti_usable_cache_bytes() / (bytes > 0 ? bytes : 1) + 1);
}

/* Sets everything but the memory itself. If only part of a set counts, the caller checks the
 * total, and UINT64_MAX means overflow. */
static enum dti_status lay_out(struct dti_bench_memory *ret, const struct dti_bench_shape *shape,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    const uint64_t most = shape->counted > 0 ? UINT64_MAX : SIZE_MAX / 8;
    uint64_t set = 0, bytes = 0, sets, size = 0;
    bool fits = true;
    for (size_t i = 0; i < shape->operands && fits; i++) {
        uint64_t stride;
        ret->at[i] = (size_t)set;
        bytes += shape->bytes[i];
        fits = dti_add_u64(shape->bytes[i], PAGE - 1, &stride) &&
               dti_add_u64(set, stride / PAGE * PAGE, &set) && set <= most;
    }
    sets = dti_bench_sets(shape->cache, shape->counted > 0 ? shape->counted : set);
    fits = fits && dti_mul_u64(sets, set, &size) && (size <= SIZE_MAX / 2 || shape->counted > 0);
    if (!fits && shape->counted == 0)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes exceed the address space",
                        (unsigned long long)shape->bytes[0]);
    ret->sets = (size_t)sets;
    ret->set_size = (size_t)set;
    ret->in_cache = (shape->counted > 0 ? shape->counted : bytes) <= dti_usable_cache_bytes();
    *ret_size = fits ? size : UINT64_MAX;
    return DTI_OK;
}

enum dti_status dti_bench_memory_check(struct dti_bench_shape shape, struct dti_error *reterr)
{
    struct dti_bench_memory memory;
    uint64_t size;
    const enum dti_status status = lay_out(&memory, &shape, &size, reterr);
    return status == DTI_OK ? dti_host_has_memory(size, reterr) : status;
}

/* Each member touches the memory it will use, so that it is local on NUMA machines. */
struct memory_filling {
    const struct dti_bench_memory *memory;
    size_t operand, bytes, pool_bytes;
    const unsigned char *pool; /* NULL: any contents */
};

static void fill_job(void *context, size_t member, size_t size)
{
    const struct memory_filling *const filling = context;
    const struct dti_share share = dti_share_of(filling->bytes, filling->pool_bytes, member, size);
    for (size_t set = 0; set < filling->memory->sets; set++) {
        unsigned char *const at = dti_bench_memory_at(filling->memory, set, filling->operand);
        if (filling->pool)
            dti_bench_repeat(at + share.first, share.count, filling->pool, filling->pool_bytes);
        else
            memset(at + share.first, POISON, share.count);
    }
}

void dti_bench_repeat(unsigned char *to, size_t bytes, const unsigned char *pool, size_t pool_bytes)
{
    for (size_t done = 0; done < bytes; done += pool_bytes)
        memcpy(to + done, pool, bytes - done < pool_bytes ? bytes - done : pool_bytes);
}

void dti_bench_memory_fill(const struct dti_bench_memory *memory, size_t operand, uint64_t bytes,
                           const void *pool, size_t pool_bytes, struct dti_team *team)
{
    struct memory_filling filling = {memory, operand, (size_t)bytes, pool_bytes, pool};
    dti_in_team(team, fill_job, &filling);
}

enum dti_status dti_bench_memory_new(struct dti_bench_memory *ret, struct dti_bench_shape shape,
                                     struct dti_team *team, struct dti_error *reterr)
{
    struct dti_bench_memory memory = {.sets = 0};
    uint64_t size;
    const uint64_t before = huge_page_bytes();
    enum dti_status status = lay_out(&memory, &shape, &size, reterr);
    if (status == DTI_OK)
        status = map(&memory, size, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < shape.operands; i++) {
        const size_t end = i + 1 < shape.operands ? memory.at[i + 1] : memory.set_size;
        dti_bench_memory_fill(&memory, i, end - memory.at[i], NULL, PAGE, team);
    }
    const uint64_t after = huge_page_bytes();
    memory.huge_page_bytes = after > before ? after - before : 0;
    *ret = memory;
    return DTI_OK;
}

void dti_bench_memory_free(struct dti_bench_memory *memory)
{
    if (memory->mapping)
        (void)munmap(memory->mapping, memory->size + (size_t)HUGE_PAGE);
    *memory = (struct dti_bench_memory){.sets = 0};
}

void dti_bench_memory_describe(const struct dti_bench_memory *memory, struct dti_bench_table *table)
{
    table->in_cache = memory->in_cache && (table->sets == 0 || table->in_cache);
    table->sets = memory->sets > table->sets ? memory->sets : table->sets;
    table->memory += memory->size;
    table->huge_page_bytes += memory->huge_page_bytes;
}

/* SPDX-License-Identifier: MIT
 *
 * Memory that ends at an inaccessible page: reading or writing one byte too far ends the test. */
#ifndef DTINFO_TESTS_GUARDED_H
#define DTINFO_TESTS_GUARDED_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    unsigned char *end; /* one past the last byte */
    void *mapping;
    size_t mapped;
};

/* Allocates `size` bytes before the end; end is NULL if memory runs out. */
static inline struct guarded guarded_new(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded ret = {.mapped = (size + page - 1) / page * page + page};
    ret.mapping =
        mmap(NULL, ret.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ret.mapping == MAP_FAILED)
        return ret;
    unsigned char *const end = (unsigned char *)ret.mapping + ret.mapped - page;
    if (mprotect(end, page, PROT_NONE) == 0)
        ret.end = end;
    return ret;
}

static inline void guarded_free(struct guarded *memory)
{
    if (memory->mapping != MAP_FAILED)
        (void)munmap(memory->mapping, memory->mapped);
}

#endif

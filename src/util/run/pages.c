/* SPDX-License-Identifier: MIT
 *
 * Pages from the C library, with a hint for huge pages, which the system may ignore. */
#define _DEFAULT_SOURCE /* madvise() */
#include "util/run/pages.h"

#include "util/run/allocate.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

size_t dti_pages_round(size_t size)
{
    return (size + DTI_PAGE - 1) / DTI_PAGE * DTI_PAGE;
}

static void *alloc(void *(*allocate)(size_t alignment, size_t size), size_t size, bool may_be_huge)
{
    const bool huge = may_be_huge && size >= DTI_HUGE_PAGE;
    void *const memory = allocate(huge ? DTI_HUGE_PAGE : DTI_PAGE, size);
#ifdef MADV_HUGEPAGE
    if (memory && huge)
        (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

void *dti_pages_alloc(size_t size, bool may_be_huge)
{
    return alloc(dti_malloc_aligned, size, may_be_huge);
}

void dti_pages_use(void *piece, size_t size)
{
    const size_t skip = (DTI_HUGE_PAGE - (uintptr_t)piece % DTI_HUGE_PAGE) % DTI_HUGE_PAGE;
    const size_t whole = size > skip ? (size - skip) / DTI_HUGE_PAGE * DTI_HUGE_PAGE : 0;
#ifdef MADV_HUGEPAGE
    if (piece && whole > 0)
        (void)madvise((unsigned char *)piece + skip, whole, MADV_HUGEPAGE);
#else
    (void)whole;
#endif
}

void dti_pages_drop(void *piece, size_t size)
{
    const size_t skip = (DTI_PAGE - (uintptr_t)piece % DTI_PAGE) % DTI_PAGE;
    const size_t whole = size > skip ? (size - skip) / DTI_PAGE * DTI_PAGE : 0;
#ifdef MADV_DONTNEED
    if (whole > 0 && sysconf(_SC_PAGESIZE) == DTI_PAGE)
        (void)madvise((unsigned char *)piece + skip, whole, MADV_DONTNEED);
#else
    (void)whole;
#endif
}

void *dti_process_pages_alloc(size_t size, bool may_be_huge)
{
    return alloc(dti_process_malloc_aligned, size, may_be_huge);
}

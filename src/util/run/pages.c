/* SPDX-License-Identifier: MIT
 *
 * Pages from the C library, with a hint for huge pages, which the system may ignore. */
#define _DEFAULT_SOURCE /* madvise() */
#include "util/run/pages.h"

#include "util/run/allocate.h"

#include <stdlib.h>
#include <sys/mman.h>

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

void *dti_process_pages_alloc(size_t size, bool may_be_huge)
{
    return alloc(dti_process_malloc_aligned, size, may_be_huge);
}

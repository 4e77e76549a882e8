/* SPDX-License-Identifier: MIT
 *
 * Pages from the C library, with a hint for huge pages, which the system may ignore. */
#define _DEFAULT_SOURCE /* madvise() */
#include "util/run/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

size_t dti_pages_round(size_t size)
{
    return (size + DTI_PAGE - 1) / DTI_PAGE * DTI_PAGE;
}

void *dti_pages_alloc(size_t size, bool may_be_huge)
{
    const bool huge = may_be_huge && size >= DTI_HUGE_PAGE;
    void *memory;
    if (posix_memalign(&memory, huge ? DTI_HUGE_PAGE : DTI_PAGE, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (huge)
        (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

/* SPDX-License-Identifier: MIT
 *
 * Large page-aligned memory blocks. */
#ifndef UTIL_RUN_PAGES_H
#define UTIL_RUN_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { DTI_PAGE = 4096, DTI_HUGE_PAGE = 2 << 20 };

size_t dti_pages_round(size_t size); /* rounds up to whole pages */

/* Page-aligned memory, released with dti_free(); NULL if memory ran out. may_be_huge: request huge
 * pages if the block fills at least one; for blocks that will be used from end to end. */
void *dti_pages_alloc(size_t size, bool may_be_huge);
void *dti_process_pages_alloc(size_t size, bool may_be_huge); /* with dti_process_free() */

/* Asks for huge pages within a piece of a block that is about to be used from end to end: a small
 * page takes 3 microseconds when it is first touched, as 4 KiB of a huge one do in a tenth of
 * that. Memory does not grow, since only huge pages that are whole in the piece are asked for. */
void dti_pages_use(void *piece, size_t size);

/* Gives the whole pages within a piece of a block back to the system, where it takes them. What
 * they held is lost. */
void dti_pages_drop(void *piece, size_t size);

#endif

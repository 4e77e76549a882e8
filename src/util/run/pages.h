/* SPDX-License-Identifier: MIT
 *
 * Large blocks of memory that begin at a page. */
#ifndef UTIL_RUN_PAGES_H
#define UTIL_RUN_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { DTI_PAGE = 4096, DTI_HUGE_PAGE = 2 << 20 };

size_t dti_pages_round(size_t size); /* up to whole pages */

/* Memory at a page's beginning, to be given back by free(); NULL when there is none. may_be_huge: a
 * block that will be used from end to end is best made of huge pages, if it fills one. */
void *dti_pages_alloc(size_t size, bool may_be_huge);

#endif

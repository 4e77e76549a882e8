/* SPDX-License-Identifier: MIT
 *
 * A stream for lines, tables and pictures, and what was written to it. Only one at a time. */
#ifndef DTINFO_TESTS_WRITTEN_PAGE_H
#define DTINFO_TESTS_WRITTEN_PAGE_H

#include <stdlib.h>

#include "unit.h"

static char *page;
static size_t page_length;

static inline FILE *page_open(void)
{
    free(page);
    page = NULL;
    return open_memstream(&page, &page_length);
}

/* Closes the stream and compares its content. */
static inline void check_page(FILE *stream, const char *want)
{
    fclose(stream);
    CHECK_STR(page, want);
    free(page);
    page = NULL;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Which elements have been written: ranges in order, with gaps between them. */
#ifndef LIBRARY_SPANS_H
#define LIBRARY_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dti_span {
    uint64_t begin, end;
};

/* A zeroed one is empty. Adding at an end of a range that is there takes constant time but for a
 * binary search. */
struct dti_spans {
    struct dti_span *list;
    size_t count, room;
    uint64_t total; /* elements in all of them */
};

/* Whether one of the elements first to first + count - 1 is in it; the sum is at most 2^64 - 1. */
bool dti_spans_overlap(const struct dti_spans *spans, uint64_t first, uint64_t count);
/* Adds elements that do not overlap, at least one; false: out of memory. */
bool dti_spans_add(struct dti_spans *spans, uint64_t first, uint64_t count);
void dti_spans_free(struct dti_spans *spans);

#endif

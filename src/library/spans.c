/* SPDX-License-Identifier: MIT
 *
 * Ranges of elements that have been written: see spans.h. */
#include "library/spans.h"

#include <string.h>

#include "util/run/allocate.h"
#include "util/run/grown.h"

/* The first range that ends at or after an element. */
static size_t place_of(const struct dti_spans *spans, uint64_t element)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans->list[middle].end < element)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool dti_spans_overlap(const struct dti_spans *spans, uint64_t first, uint64_t count)
{
    size_t at = place_of(spans, first);
    if (at < spans->count && spans->list[at].end == first)
        at++;
    return count > 0 && at < spans->count && spans->list[at].begin < first + count;
}

static bool insert(struct dti_spans *spans, size_t at, struct dti_span span)
{
    struct dti_span *const larger = dti_grown(spans->list, spans->count, &spans->room, sizeof span);
    if (!larger)
        return false;
    spans->list = larger;
    memmove(&spans->list[at + 1], &spans->list[at], (spans->count - at) * sizeof span);
    spans->list[at] = span;
    spans->count++;
    return true;
}

bool dti_spans_add(struct dti_spans *spans, uint64_t first, uint64_t count)
{
    const struct dti_span span = {first, first + count};
    const size_t at = place_of(spans, first);
    struct dti_span *const list = spans->list;
    const bool joins = at < spans->count && list[at].end == first;
    const size_t next = at + joins;
    const bool reaches = next < spans->count && list[next].begin == span.end;
    if (joins && reaches) {
        list[at].end = list[next].end;
        spans->count--;
        memmove(&list[next], &list[next + 1], (spans->count - next) * sizeof *list);
    } else if (joins) {
        list[at].end = span.end;
    } else if (reaches) {
        list[next].begin = first;
    } else if (!insert(spans, at, span)) {
        return false;
    }
    spans->total += count;
    return true;
}

void dti_spans_free(struct dti_spans *spans)
{
    dti_free(spans->list);
    *spans = (struct dti_spans){.count = 0};
}

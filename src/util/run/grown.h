/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow by one element at a time. */
#ifndef UTIL_RUN_GROWN_H
#define UTIL_RUN_GROWN_H

#include <stddef.h>

/* The array, with room for one element after the first `count`: as it is, or moved, with twice the
 * capacity. size: of an element. NULL: memory ran out, or the array would be larger than memory;
 * it and *capacity are as they were. */
void *dti_grown(void *array, size_t count, size_t *capacity, size_t size);

#endif

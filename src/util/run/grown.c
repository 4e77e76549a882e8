/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow by one element at a time: grown.h. */
#include "util/run/grown.h"

#include <stdint.h>

#include "util/run/allocate.h"

void *dti_grown(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { LEAST = 16 };
    if (count < *capacity)
        return array;
    if (*capacity > SIZE_MAX / 2 / size)
        return NULL;
    const size_t larger = *capacity > 0 ? 2 * *capacity : LEAST;
    void *const moved = dti_realloc(array, larger * size);
    if (moved)
        *capacity = larger;
    return moved;
}

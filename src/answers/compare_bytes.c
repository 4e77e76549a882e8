/* SPDX-License-Identifier: MIT
 *
 * Two tensors whose values cannot be read, byte by byte. */
#include <stdlib.h>
#include <string.h>

#include "answers/compare.h"

enum { PIECE = 256 * 1024 };

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i])
        i++;
    return i;
}

enum dti_status dti_compare_bytes(struct dti_container *a, size_t tensor_a, struct dti_container *b,
                                  size_t tensor_b, uint64_t *ret_first, struct dti_error *reterr)
{
    const uint64_t bytes = a->tensors[tensor_a].bytes;
    const struct dti_input *input_a, *input_b;
    uint64_t offset_a, offset_b;
    enum dti_status status = dti_container_data(a, tensor_a, &input_a, &offset_a, reterr);
    if (status == DTI_OK)
        status = dti_container_data(b, tensor_b, &input_b, &offset_b, reterr);
    if (status != DTI_OK)
        return status;

    unsigned char *const buffer = malloc(2 * PIECE);
    if (!buffer)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    uint64_t first = UINT64_MAX;
    const bool to_end = input_a->watch || input_b->watch; /* so that sums are checked */
    for (uint64_t done = 0; done < bytes && (to_end || first == UINT64_MAX); done += PIECE) {
        const size_t size = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        status = dti_input_read_at(input_a, buffer, size, offset_a + done, reterr);
        if (status == DTI_OK)
            status = dti_input_read_at(input_b, buffer + PIECE, size, offset_b + done, reterr);
        if (status != DTI_OK)
            break;
        if (first == UINT64_MAX && memcmp(buffer, buffer + PIECE, size) != 0)
            first = done + first_difference(buffer, buffer + PIECE, size);
    }
    free(buffer);
    if (status == DTI_OK)
        *ret_first = first;
    return status;
}

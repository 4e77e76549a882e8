/* SPDX-License-Identifier: MIT
 *
 * How array codes are stored in memory and in files. A code occupies its width rounded up to 8, 16,
 * 32 or 64 bits, in the low bits of that container, with the rest zero; tf32 occupies the top 19
 * bits of 32, so the container is also the fp32 code of the same value. Formats narrower than 8
 * bits may be packed without gaps if dti_format_packs() allows it. */
#ifndef CORE_DTYPE_STORAGE_H
#define CORE_DTYPE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"

struct __attribute__((packed)) dti_layout { /* two bytes: each tensor of a container has one */
    enum dti_packing packing : 8;           /* only for formats narrower than 8 bits */
    bool swapped; /* containers have the byte order opposite to this machine's */
};
_Static_assert(sizeof(struct dti_layout) == 2, "two bytes");

/* Bytes of one element's container: 1, 2, 4 or 8; not for complex. */
size_t dti_format_container(const struct dti_format *format);

/* Bytes per element when elements are only moved: the container, or both parts of a complex
 * number. */
size_t dti_format_item(const struct dti_format *format);

/* The position of a code's lowest bit in its container: 13 for tf32, else 0. */
unsigned dti_format_code_shift(const struct dti_format *format);

/* Bits per element in an array: the width if packed, else 8 x container. */
unsigned dti_format_stored_bits(const struct dti_format *format, const struct dti_layout *layout);

/* Bytes of n elements, the last byte padded with zero bits; false when that overflows. */
bool dti_format_bytes(const struct dti_format *format, const struct dti_layout *layout, uint64_t n,
                      uint64_t *ret_bytes);

/* The number of elements of `bits` bits (dti_format_stored_bits()) in the bytes; *ret_padding: bits
 * left over in the last byte, fewer than one packed element. Fails with DTI_BAD_INPUT ("7 bytes are
 * 1 fp32 and 3 bytes left over"); label names the input. */
enum dti_status dti_storage_count(const struct dti_format *format, unsigned bits, uint64_t bytes,
                                  const char *label, uint64_t *ret_elements, unsigned *ret_padding,
                                  struct dti_error *reterr);

/* Whether the padding, 1 to 7 bits in the last byte of a packed array, is zero; the second function
 * fails with DTI_BAD_INPUT if it is not. */
bool dti_storage_padding_is_zero(const struct dti_layout *layout, unsigned char last,
                                 unsigned padding);
enum dti_status dti_storage_check_padding(const struct dti_format *format,
                                          const struct dti_layout *layout, unsigned char last,
                                          unsigned padding, const char *label,
                                          struct dti_error *reterr);

/* Accesses one element of an array in memory, in native byte order unless swapped. Simple but
 * slow. */
uint64_t dti_storage_get(const struct dti_format *format, const struct dti_layout *layout,
                         const void *array, uint64_t index);
void dti_storage_put(const struct dti_format *format, const struct dti_layout *layout, void *array,
                     uint64_t index, uint64_t code);

/* Counts the elements among n with stray bits, set in the container outside the code: below the
 * code of tf32, above the code of other formats narrower than their container, or a bool other than
 * 0 and 1. Readers ignore these bits (a bool is true unless it is 0). */
size_t dti_storage_stray(const struct dti_format *format, const struct dti_layout *layout,
                         const void *array, size_t n);

#endif

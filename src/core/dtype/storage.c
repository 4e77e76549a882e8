/* SPDX-License-Identifier: MIT
 *
 * Where the codes of an array are: containers, packing, byte order. This is the definition; the
 * kernels, which do the same for whole arrays, are checked against it. */
#include "core/dtype/storage.h"

#include <assert.h>
#include <string.h>

#include "util/checked.h"

size_t dti_format_container(const struct dti_format *format)
{
    assert(format->kind != DTI_KIND_COMPLEX);
    return format->width <= 8 ? 1 : format->width <= 16 ? 2 : format->width <= 32 ? 4 : 8;
}

size_t dti_format_item(const struct dti_format *format)
{
    return format->kind == DTI_KIND_COMPLEX ? format->width / 8u : dti_format_container(format);
}

unsigned dti_format_code_shift(const struct dti_format *format)
{
    return format->id == DTI_TF32 ? 13 : 0;
}

static bool is_packed(const struct dti_format *format, const struct dti_layout *layout)
{
    return dti_format_packs(format) && layout->packing != DTI_PACKING_BYTES;
}

unsigned dti_format_stored_bits(const struct dti_format *format, const struct dti_layout *layout)
{
    if (is_packed(format, layout))
        return format->width;
    return 8 * (unsigned)dti_format_container(format);
}

bool dti_format_bytes(const struct dti_format *format, const struct dti_layout *layout, uint64_t n,
                      uint64_t *ret_bytes)
{
    const unsigned bits = dti_format_stored_bits(format, layout);
    uint64_t whole, bytes;
    if (!dti_mul_u64(n / 8, bits, &whole) || !dti_add_u64(whole, (n % 8 * bits + 7) / 8, &bytes))
        return false;
    *ret_bytes = bytes;
    return true;
}

enum dti_status dti_storage_count(const struct dti_format *format, unsigned bits, uint64_t bytes,
                                  const char *label, uint64_t *ret_elements, unsigned *ret_padding,
                                  struct dti_error *reterr)
{
    /* bytes x 8 / bits without overflow */
    const uint64_t groups = bytes / bits, rest = bytes % bits * 8;
    const unsigned left = (unsigned)(rest % bits);
    if (groups > (UINT64_MAX - 8) / 8 - 1)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: too many elements", label);
    const uint64_t elements = groups * 8 + rest / bits;
    if (bits >= 8 && left > 0)
        return dti_fail(
            reterr, DTI_BAD_INPUT,
            "%s: %llu bytes are %llu %s plus %u extra byte%s; wrong dtype, or truncated file?",
            label, (unsigned long long)bytes, (unsigned long long)elements, format->name, left / 8,
            left == 8 ? "" : "s");
    *ret_elements = elements;
    *ret_padding = left;
    return DTI_OK;
}

bool dti_storage_padding_is_zero(const struct dti_layout *layout, unsigned char last,
                                 unsigned padding)
{
    const bool high = layout->packing == DTI_PACKING_HIGH;
    return (high ? last & ((1U << padding) - 1) : (unsigned)last >> (8 - padding)) == 0;
}

enum dti_status dti_storage_check_padding(const struct dti_format *format,
                                          const struct dti_layout *layout, unsigned char last,
                                          unsigned padding, const char *label,
                                          struct dti_error *reterr)
{
    if (dti_storage_padding_is_zero(layout, last, padding))
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: the last %u bits are too few for another %s and are not zero", label,
                    padding, format->name);
}

/* Bit i of an element is bit `at` of the array's bit string, counted from the lowest bit of byte
 * 0 (low first) or from its highest bit (high first, where an element's highest bit comes
 * first). */
static void locate(const struct dti_layout *layout, unsigned width, uint64_t index, unsigned i,
                   uint64_t *ret_byte, unsigned *ret_bit)
{
    const bool high = layout->packing == DTI_PACKING_HIGH;
    const unsigned place = high ? width - 1 - i : i;
    /* index x width in bytes and bits, without overflowing 64 bits */
    const unsigned at = (unsigned)(index % 8) * width + place;
    *ret_byte = index / 8 * width + at / 8;
    *ret_bit = high ? 7 - at % 8 : at % 8;
}

static uint64_t packed_get(const struct dti_layout *layout, unsigned width,
                           const unsigned char *bytes, uint64_t index)
{
    uint64_t code = 0;
    for (unsigned i = 0; i < width; i++) {
        uint64_t byte;
        unsigned bit;
        locate(layout, width, index, i, &byte, &bit);
        code |= (uint64_t)(bytes[byte] >> bit & 1) << i;
    }
    return code;
}

static void packed_put(const struct dti_layout *layout, unsigned width, unsigned char *bytes,
                       uint64_t index, uint64_t code)
{
    for (unsigned i = 0; i < width; i++) {
        uint64_t byte;
        unsigned bit;
        locate(layout, width, index, i, &byte, &bit);
        const unsigned cleared = bytes[byte] & ~(1u << bit);
        bytes[byte] = (unsigned char)(cleared | (unsigned)(code >> i & 1) << bit);
    }
}

static uint64_t reversed(uint64_t word, size_t size)
{
    uint64_t result = 0;
    for (size_t i = 0; i < size; i++)
        result = result << 8 | (word >> (8 * i) & 0xff);
    return result;
}

static uint64_t load(const unsigned char *at, size_t size)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t whole;
    switch (size) {
    case 1:
        memcpy(&byte, at, sizeof byte);
        return byte;
    case 2:
        memcpy(&half, at, sizeof half);
        return half;
    case 4:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
}

static void save(unsigned char *at, size_t size, uint64_t container)
{
    const uint8_t byte = (uint8_t)container;
    const uint16_t half = (uint16_t)container;
    const uint32_t word = (uint32_t)container;
    switch (size) {
    case 1:
        memcpy(at, &byte, sizeof byte);
        return;
    case 2:
        memcpy(at, &half, sizeof half);
        return;
    case 4:
        memcpy(at, &word, sizeof word);
        return;
    default:
        memcpy(at, &container, sizeof container);
        return;
    }
}

uint64_t dti_storage_get(const struct dti_format *format, const struct dti_layout *layout,
                         const void *array, uint64_t index)
{
    const unsigned char *bytes = array;
    if (is_packed(format, layout))
        return packed_get(layout, format->width, bytes, index);
    const size_t size = dti_format_container(format);
    uint64_t container = load(bytes + index * size, size);
    if (layout->swapped)
        container = reversed(container, size);
    return container >> dti_format_code_shift(format) & dti_low_bits(format->width);
}

size_t dti_storage_stray(const struct dti_format *format, const struct dti_layout *layout,
                         const void *array, size_t n)
{
    const unsigned char *const bytes = array;
    const size_t size = dti_format_container(format);
    const unsigned width = format->kind == DTI_KIND_BOOL ? 1 : format->width;
    const uint64_t code = dti_low_bits(width) << dti_format_code_shift(format);
    size_t stray = 0;
    if (is_packed(format, layout) || width == 8 * size)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t container = load(bytes + i * size, size);
        stray += ((layout->swapped ? reversed(container, size) : container) & ~code) != 0;
    }
    return stray;
}

void dti_storage_put(const struct dti_format *format, const struct dti_layout *layout, void *array,
                     uint64_t index, uint64_t code)
{
    unsigned char *bytes = array;
    code &= dti_low_bits(format->width);
    if (is_packed(format, layout)) {
        packed_put(layout, format->width, bytes, index, code);
        return;
    }
    const size_t size = dti_format_container(format);
    uint64_t container = code << dti_format_code_shift(format);
    if (layout->swapped)
        container = reversed(container, size);
    save(bytes + index * size, size, container);
}

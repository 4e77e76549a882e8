/* SPDX-License-Identifier: MIT
 *
 * The types of .npy headers: "<f4" and the like, and the names of ml_dtypes that some writers put
 * there. '>' is big-endian and everything else little-endian, so that a file means the same on
 * every machine; numpy, which writes '<' and '>' wherever there is an order, agrees. */
#include <string.h>

#include "containers/npy_header.h"
#include "dtinfo/storage.h"

enum { ITEM_BYTES_MAX = INT32_MAX };

static uint64_t item_bytes(const struct dti_format *format)
{
    return format->kind == DTI_KIND_COMPLEX ? format->width / 8u : dti_format_container(format);
}

static bool is_text(const char *text, size_t length, const char *want)
{
    return strlen(want) == length && memcmp(text, want, length) == 0;
}

/* The dtype that numpy or ml_dtypes spells so, or, with NPY, that has this letter and size. */
static const struct dti_format *find(enum dti_system system, const char *text, size_t length)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *const row = &dti_dtype_names[i];
        if (row->system != system)
            continue;
        const char *const name = system == DTI_SYSTEM_NPY ? row->name + 1 : row->name;
        if (text[0] == name[0] && is_text(text, length, name) &&
            !strchr(name, '.')) /* "np.byte" is a name with a prefix */
            return dti_format_get(row->dtype);
    }
    return NULL;
}

static bool set_format(struct dti_npy_type *ret, const struct dti_format *format, bool big_endian)
{
    if (!format)
        return false;
    *ret = (struct dti_npy_type){.sort = DTI_NPY_DTYPE,
                                 .format = format,
                                 .big_endian = big_endian,
                                 .item_bytes = item_bytes(format)};
    return true;
}

static bool set_foreign(struct dti_npy_type *ret, uint64_t bytes, const char *refusal)
{
    *ret = (struct dti_npy_type){.sort = DTI_NPY_FOREIGN, .item_bytes = bytes, .refusal = refusal};
    return bytes <= ITEM_BYTES_MAX;
}

/* Digits up to the end, without leading zeros; up to 10^9. */
static bool read_size(const char *text, size_t length, uint64_t *ret)
{
    uint64_t value = 0;
    if (length == 0 || length > 10 || (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *ret = value;
    return value <= ITEM_BYTES_MAX;
}

/* "8", "8[ns]", "8[25s]" */
static bool is_time(const char *text, size_t length)
{
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                        "ms", "us", "ns", "ps", "fs", "as", "generic"};
    if (length == 0 || text[0] != '8')
        return false;
    if (length == 1)
        return true;
    if (length < 4 || text[1] != '[' || text[length - 1] != ']')
        return false;
    text += 2;
    length -= 3;
    for (size_t digits = 0; length > 1 && *text >= '0' && *text <= '9' && digits < 9; digits++) {
        if (digits == 0 && *text == '0')
            return false;
        text++;
        length--;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (is_text(text, length, units[i]))
            return true;
    }
    return false;
}

/* A type whose dtype numpy could not name: '|V2', or a letter that it does not know. */
static bool set_lost(struct dti_npy_type *ret, bool big_endian, uint64_t bytes)
{
    *ret =
        (struct dti_npy_type){.sort = DTI_NPY_LOST, .big_endian = big_endian, .item_bytes = bytes};
    return true;
}

/* Without the mark of a byte order. */
static bool read_letter(const char *text, size_t length, bool big_endian, struct dti_npy_type *ret)
{
    uint64_t size = 0;
    const char letter = text[0];
    const bool sized = read_size(text + 1, length - 1, &size);
    switch (letter) {
    case 'O':
        *ret = (struct dti_npy_type){.sort = DTI_NPY_OBJECT,
                                     .item_bytes = 8,
                                     .refusal = "holds Python objects (pickle), which is never "
                                                "read"};
        return length == 1 || size == 8;
    case 'M':
    case 'm':
        return is_time(text + 1, length - 1) &&
               set_foreign(ret, 8,
                           letter == 'M' ? "holds dates, which are not read"
                                         : "holds time spans, which are not read");
    case 'S':
        return sized && set_foreign(ret, size, "holds text, which is not read");
    case 'U':
        return sized && set_foreign(ret, 4 * size, "holds text, which is not read");
    case 'V':
        return sized && set_lost(ret, big_endian, size);
    case 'b':
    case 'i':
    case 'u':
    case 'f':
    case 'c':
        if (is_text(text, length, "f16") || is_text(text, length, "c32"))
            return set_foreign(ret, size,
                               "is numpy's long double, which differs between machines, and is "
                               "not read");
        if (!set_format(ret, find(DTI_SYSTEM_NPY, text, length), big_endian))
            return false;
        ret->guessed = is_text(text, length, "f1");
        return true;
    default:
        return ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) && sized &&
               size > 0 && set_lost(ret, big_endian, size);
    }
}

bool dti_npy_type(const char *descr, size_t length, struct dti_npy_type *ret)
{
    struct dti_npy_type type;
    if (length == 0)
        return false;
    const bool marked = strchr("<>=|", descr[0]) != NULL && descr[0] != '\0';
    bool good;
    if (marked)
        good = length > 1 && read_letter(descr + 1, length - 1, descr[0] == '>', &type);
    else
        good = set_format(&type, find(DTI_SYSTEM_NUMPY, descr, length), false) ||
               set_format(&type, find(DTI_SYSTEM_ML_DTYPES, descr, length), false) ||
               read_letter(descr, length, false, &type);
    if (good)
        *ret = type;
    return good;
}

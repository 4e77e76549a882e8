/* SPDX-License-Identifier: MIT
 *
 * The types in .npy headers: "<f4" etc., and ml_dtypes names that some writers use. '>' is
 * big-endian and everything else little-endian, so that a file means the same on every machine;
 * this agrees with numpy, which always writes '<' or '>' where byte order matters. Also what a type
 * implies for a tensor: dtype and layout, or why it is not read; its size. */
#include <stdio.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "core/dtype/storage.h"
#include "util/checked.h"
#include "util/text/ascii.h"

enum { ITEM_BYTES_MAX = INT32_MAX };

/* The dtype with this spelling in numpy or ml_dtypes or, with NPY, with this letter and size. */
static const struct dti_format *find(enum dti_system system, const char *text, size_t length)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *const row = &dti_dtype_names[i];
        if (row->system != system)
            continue;
        const char *const name = system == DTI_SYSTEM_NPY ? row->name + 1 : row->name;
        if (text[0] == name[0] && dti_text_is(text, length, name) &&
            !strchr(name, '.')) /* "np.byte" has a module prefix */
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
                                 .item_bytes = dti_format_item(format)};
    return true;
}

static bool set_foreign(struct dti_npy_type *ret, uint64_t bytes, const char *refusal)
{
    *ret = (struct dti_npy_type){.sort = DTI_NPY_FOREIGN, .item_bytes = bytes, .refusal = refusal};
    return bytes <= ITEM_BYTES_MAX;
}

/* Digits up to the end, no leading zeros; at most ITEM_BYTES_MAX. */
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
        if (dti_text_is(text, length, units[i]))
            return true;
    }
    return false;
}

/* Single letters and the types they abbreviate. */
static const struct {
    char letter;
    const char *type;
} letters[] = {
    {'?', "b1"},  {'b', "i1"}, {'B', "u1"},  {'h', "i2"},  {'H', "u2"}, {'i', "i4"},
    {'I', "u4"},  {'q', "i8"}, {'Q', "u8"},  {'e', "f2"},  {'f', "f4"}, {'d', "f8"},
    {'g', "f16"}, {'F', "c8"}, {'D', "c16"}, {'G', "c32"}, {'c', "S1"}, {'S', "S0"},
    {'a', "S0"},  {'U', "U0"}, {'V', "V0"},  {'M', "M8"},  {'m', "m8"},
};

static const char *type_of_letter(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].letter == letter)
            return letters[i].type;
    }
    return NULL;
}

static bool set_object(struct dti_npy_type *ret, const char *refusal)
{
    *ret = (struct dti_npy_type){.sort = DTI_NPY_OBJECT, .item_bytes = 8, .refusal = refusal};
    return true;
}

/* A letter and a size. */
static bool read_sized(const char *text, size_t length, bool big_endian, struct dti_npy_type *ret)
{
    uint64_t size = 0;
    const bool sized = read_size(text + 1, length - 1, &size);
    switch (text[0]) {
    case 'O':
        return (size == 4 || size == 8) &&
               set_object(ret, "holds Python objects (pickle), which is never read");
    case 'M':
        return is_time(text + 1, length - 1) &&
               set_foreign(ret, 8, "holds dates, which are not supported");
    case 'm':
        return is_time(text + 1, length - 1) &&
               set_foreign(ret, 8, "holds time spans, which are not supported");
    case 'a':
    case 'S':
        return sized && set_foreign(ret, size, "holds text, which is not supported");
    case 'U':
        return sized && set_foreign(ret, 4 * size, "holds text, which is not supported");
    case 'g': /* "<g2" and "<W4" (complex32): numpy's spelling of some ml_dtypes dtypes */
    case 'W':
    case 'V': /* also "|V2": a type whose dtype numpy could not name */
        *ret = (struct dti_npy_type){
            .sort = DTI_NPY_LOST, .big_endian = big_endian, .item_bytes = size};
        return text[0] == 'V' ? sized
                              : dti_text_is(text, length, "g2") || dti_text_is(text, length, "W4");
    case 'b':
    case 'i':
    case 'u':
    case 'f':
    case 'c':
        if (dti_text_is(text, length, "f16") || dti_text_is(text, length, "c32"))
            return set_foreign(
                ret, size,
                "is numpy's long double, which differs between machines and is not supported");
        if (!set_format(ret, find(DTI_SYSTEM_NPY, text, length), big_endian))
            return false;
        ret->guessed = dti_text_is(text, length, "f1");
        return true;
    default:
        return false;
    }
}

/* A type without a byte-order mark. */
static bool read_letter(const char *text, size_t length, bool big_endian, struct dti_npy_type *ret)
{
    if (length > 1)
        return read_sized(text, length, big_endian, ret);
    const char *const type = type_of_letter(text[0]);
    if (type)
        return read_sized(type, strlen(type), big_endian, ret);
    switch (text[0]) {
    case 'O':
        return set_object(ret, "holds Python objects (pickle), which is never read");
    case 'T':
        return set_object(ret, "holds text as Python objects (pickle), which is never read");
    case 'l':
    case 'L':
    case 'n':
    case 'N':
    case 'p':
    case 'P': /* 8 bytes on most machines */
        return set_foreign(
            ret, 8, "is C's long or pointer, which differs between machines and is not supported");
    default:
        return false;
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

/* As in numpy, the product of the nonzero dimensions must not overflow, even for an empty array. */
bool dti_npy_measure(const uint64_t *shape, unsigned rank, uint64_t item_bytes,
                     struct dti_tensor *ret)
{
    uint64_t elements = 1, bytes;
    bool empty = false;
    for (unsigned i = 0; i < rank; i++) {
        empty |= shape[i] == 0;
        if (shape[i] != 0 && !dti_mul_u64(elements, shape[i], &elements))
            return false;
    }
    if (!dti_mul_u64(elements, item_bytes, &bytes) || elements > INT64_MAX || bytes > INT64_MAX)
        return false;
    ret->elements = empty ? 0 : elements;
    ret->bytes = empty ? 0 : bytes;
    return true;
}

/* Why the values of a type without a dtype cannot be read, and what makes them readable. */
static enum dti_remedy refuse_lost(char *text, size_t size, uint64_t bytes,
                                   const struct dti_format *assume)
{
    const enum dti_remedy remedy = bytes == 1   ? DTI_REMEDY_ASSUME_1_BYTE
                                   : bytes == 2 ? DTI_REMEDY_ASSUME_2_BYTES
                                   : bytes == 4 ? DTI_REMEDY_ASSUME_4_BYTES
                                   : bytes == 8 ? DTI_REMEDY_ASSUME_8_BYTES
                                                : DTI_REMEDY_NONE;
    if (remedy == DTI_REMEDY_NONE)
        (void)snprintf(text, size, "is %llu-byte void, and no dtype has that size",
                       (unsigned long long)bytes);
    else if (assume)
        (void)snprintf(text, size, "is %llu-byte void (the dtype is lost), but %s has %zu byte%s",
                       (unsigned long long)bytes, assume->name, dti_format_item(assume),
                       dti_format_item(assume) == 1 ? "" : "s");
    else
        (void)snprintf(text, size, "is %llu-byte void, the dtype is lost",
                       (unsigned long long)bytes);
    return assume ? DTI_REMEDY_NONE : remedy;
}

bool dti_npy_settle(struct dti_npy_reading *reading, const char *descr, size_t length,
                    const struct dti_npy_type *type, struct dti_tensor *ret)
{
    /* "|V2" means the same as "V2" */
    const size_t mark = type->sort == DTI_NPY_LOST && strchr("<>=|", descr[0]) ? 1 : 0;
    struct dti_opening *const opening = reading->opening;
    const struct dti_format *const assume = opening->options.assume;
    const bool open = type->sort == DTI_NPY_LOST || type->guessed;
    const bool fits = open && assume && dti_format_item(assume) == type->item_bytes;
    ret->stored_as = dti_opening_text(opening, descr + mark, length - mark);
    ret->format = type->sort == DTI_NPY_DTYPE ? type->format : NULL;
    ret->own.refusal = type->refusal;
    reading->guessed |= type->guessed && !fits;
    if (!ret->stored_as)
        return false;
    if (fits) {
        ret->format = dti_opening_copy(opening, assume, 1, sizeof *assume);
        if (!ret->format)
            return false;
    } else if (type->sort == DTI_NPY_LOST) {
        char text[160];
        ret->remedy = refuse_lost(text, sizeof text, type->item_bytes, assume);
        ret->own.refusal = dti_opening_text(opening, text, strlen(text));
        return ret->own.refusal != NULL;
    }
    if (ret->format)
        ret->layout = dti_file_layout(
            ret->format, dti_format_packs(ret->format) ? DTI_PACKING_BYTES : DTI_PACKING_LOW,
            type->big_endian);
    return true;
}

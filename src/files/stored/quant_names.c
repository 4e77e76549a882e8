/* SPDX-License-Identifier: MIT
 *
 * Finds the scales of codes by name. */
#include "files/stored/quant_names.h"

#include <stdlib.h>
#include <string.h>

#include "files/stored/quant_state.h"
#include "util/run/allocate.h"

enum { MORE = 64 }; /* the longest prefix or suffix */

static unsigned hash_of_end(const char *name, size_t length, size_t last)
{
    uint64_t word = 0;
    memcpy(&word, name + length - last, last);
    return (unsigned)(word * UINT64_C(0x9E3779B97F4A7C15) >> 52); /* DTI_NAME_ENDS values */
}

static void add_end(struct dti_name_ends *ends, const char *name, size_t length)
{
    if (length >= 4) {
        const unsigned four = hash_of_end(name, length, 4);
        ends->four[four / 64] |= UINT64_C(1) << four % 64;
    }
    if (length >= 8) {
        const unsigned eight = hash_of_end(name, length, 8);
        ends->eight[eight / 64] |= UINT64_C(1) << eight % 64;
    }
}

/* Whether a name may end with the suffix; false: none does. */
static bool may_end(const struct dti_name_ends *ends, const char *suffix, size_t length)
{
    const size_t last = length >= 8 ? 8 : 4;
    if (length < 4)
        return true;
    const unsigned end = hash_of_end(suffix, length, last);
    return ((last == 8 ? ends->eight : ends->four)[end / 64] >> end % 64 & 1) != 0;
}

bool dti_quant_names_init(struct dti_quant_names *ret, const struct dti_container *container)
{
    size_t longest = 0;
    ret->container = container;
    ret->buffer = NULL;
    ret->last = NULL;
    memset(&ret->ends, 0, sizeof ret->ends);
    if (!dti_name_order_over(&ret->order, container->tensors, container->tensor_count,
                             DTI_NAMED(struct dti_tensor, name)))
        return false;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        add_end(&ret->ends, tensor->name, tensor->name_length);
        longest = tensor->name_length > longest ? tensor->name_length : longest;
    }
    ret->last = dti_malloc(sizeof *ret->last + longest + MORE);
    if (!ret->last)
        return false;
    *ret->last = 0;
    ret->buffer = (char *)(ret->last + 1);
    return true;
}

void dti_quant_names_free(struct dti_quant_names *names)
{
    dti_name_order_free(&names->order);
    dti_free(names->last); /* and the buffer */
    names->last = NULL;
    names->buffer = NULL;
}

/* Looks next to the tensor found last, which spares most searches their cache misses. Names are
 * unique. */
static bool find_near(const struct dti_quant_names *names, const char *name, size_t length,
                      const char *suffix, size_t more, size_t *ret)
{
    enum { BEFORE = 1, AFTER = 3 };
    const size_t last = *names->last, count = names->container->tensor_count;
    const size_t end = count - last > AFTER ? last + AFTER : count;
    for (size_t at = last > BEFORE ? last - BEFORE : 0; at < end; at++) {
        const struct dti_tensor *const tensor = &names->container->tensors[at];
        if (tensor->name_length == length + more &&
            memcmp(tensor->name + length, suffix, more) == 0 &&
            memcmp(tensor->name, name, length) == 0) {
            *ret = at;
            return true;
        }
    }
    return false;
}

bool dti_quant_names_find(const struct dti_quant_names *names, const char *name, size_t length,
                          const char *suffix, size_t *ret)
{
    const size_t more = strlen(suffix);
    if (!may_end(&names->ends, suffix, more))
        return false;
    if (!find_near(names, name, length, suffix, more, ret)) {
        memcpy(names->buffer, name, length);
        memcpy(names->buffer + length, suffix, more);
        if (!dti_name_order_find(&names->order, names->buffer, length + more, ret))
            return false;
    }
    *names->last = *ret;
    return true;
}

/* Dtypes of codes that keep their tensor's own name. */
static bool may_be_codes(enum dti_dtype id)
{
    switch (id) {
    case DTI_INT8:
    case DTI_UINT8:
    case DTI_INT16:
    case DTI_UINT16:
    case DTI_FP8_E4M3FN:
    case DTI_FP8_E5M2:
    case DTI_FP8_E4M3FNUZ:
    case DTI_FP8_E5M2FNUZ:
    case DTI_FP4_E2M1:
        return true;
    default:
        return false;
    }
}

/* Looks for Y.scale of Y.weight: scales of fp8 codes, or power-of-two scales of int8 codes. */
static void find_sibling_scale(const struct dti_quant_names *names, const struct dti_tensor *tensor,
                               struct dti_named_codes *codes)
{
    static const char weight[] = ".weight";
    const enum dti_dtype id = tensor->format->id;
    size_t at;
    if (codes->packed || !dti_quant_name_ends(tensor->name, tensor->name_length, weight) ||
        !dti_quant_names_find(names, tensor->name, tensor->name_length - (sizeof weight - 1),
                              ".scale", &at))
        return;
    const struct dti_format *const scale = names->container->tensors[at].format;
    const bool floats = id == DTI_FP8_E4M3FN || id == DTI_FP8_E5M2;
    codes->sibling_scale = scale && (floats ? dti_format_is_float(scale)
                                            : id == DTI_INT8 && scale->id == DTI_FP8_E8M0);
    codes->scaled = codes->sibling_scale;
    codes->scale = at;
}

/* Codes with a state may have any dtype, since they can be viewed as other numbers. */
static bool look_for_state(const struct dti_quant_names *names, const struct dti_tensor *tensor,
                           struct dti_named_codes *codes)
{
    for (size_t i = 0; i < dti_quant_state_name_count && !codes->row; i++) {
        const struct dti_quant_state_name *const state = &dti_quant_state_names[i];
        if (dti_quant_names_find(names, tensor->name, codes->name_length, state->suffix,
                                 &codes->state))
            codes->row = dti_quant_row_find(state->layout, state->dtype);
    }
    if (codes->row)
        codes->scaled =
            dti_quant_names_find(names, tensor->name, codes->name_length,
                                 dti_quant_suffix(codes->row, DTI_PART_SCALE), &codes->scale);
    return codes->row != NULL;
}

bool dti_quant_names_codes(const struct dti_quant_names *names, size_t at,
                           struct dti_named_codes *ret)
{
    static const char packed[] = "_packed";
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    struct dti_named_codes codes = {.name_length = tensor->name_length};
    if (!tensor->format || dti_tensor_refusal(tensor))
        return false;
    if (look_for_state(names, tensor, &codes)) {
        *ret = codes;
        return true;
    }
    codes.packed = (tensor->format->id == DTI_UINT8 || tensor->format->id == DTI_INT32) &&
                   dti_quant_name_ends(tensor->name, tensor->name_length, packed);
    if (!codes.packed && !may_be_codes(tensor->format->id))
        return false;
    codes.name_length -= codes.packed ? sizeof packed - 1 : 0;
    codes.scaled =
        dti_quant_names_find(names, tensor->name, codes.name_length, "_scale", &codes.scale);
    if (!codes.scaled) {
        codes.inverse = dti_quant_names_find(names, tensor->name, codes.name_length, "_scale_inv",
                                             &codes.scale);
        codes.scaled = codes.inverse;
    }
    if (!codes.scaled)
        find_sibling_scale(names, tensor, &codes);
    *ret = codes;
    return true;
}

static bool contains(const char *text, size_t length, const char *word)
{
    const size_t wanted = strlen(word);
    const char *const end = text + length;
    while ((text = memchr(text, word[0], (size_t)(end - text))) && (size_t)(end - text) >= wanted) {
        if (memcmp(text, word, wanted) == 0)
            return true;
        text++;
    }
    return false;
}

bool dti_quant_names_other(const char *module, size_t length)
{
    static const char *const words[] = {"emb", "norm", "wte", "wpe", "_bias", "shared"};
    size_t begin = length;
    while (begin > 0 && module[begin - 1] != '.')
        begin--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const bool whole = strcmp(words[i], "shared") == 0; /* the T5 embedding */
        if (whole ? length - begin == strlen(words[i]) &&
                        memcmp(module + begin, words[i], length - begin) == 0
                  : contains(module + begin, length - begin, words[i]))
            return true;
    }
    return false;
}

bool dti_quant_names_part(const struct dti_tensor *tensor)
{
    static const char *const words[] = {"scale", "absmax", "SCB", "qzeros", "zero_point"};
    bool may = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        may = may || contains(tensor->name, tensor->name_length, words[i]);
    return may;
}

bool dti_is_quant_entry(const struct dti_metadata *entry)
{
    const size_t length = sizeof DTI_QUANT_KEY - 1;
    return entry->key_length > length && memcmp(entry->key, DTI_QUANT_KEY, length) == 0;
}

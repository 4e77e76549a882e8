/* SPDX-License-Identifier: MIT
 *
 * Recognises layouts that are not decoded: see unread_layouts.h. */
#include "files/stored/unread_layouts.h"

#include <string.h>
#include <strings.h>

#include "util/checked.h"

static const struct dti_unread_layout layouts[] = {
#define UNREAD_LAYOUT(name_, codes_, other_, method_, reader_) \
    {.name = (name_),                                          \
     .codes = (codes_),                                        \
     .other = (other_),                                        \
     .method = (method_),                                      \
     .reader = (reader_)},
#include "files/stored/unread_layouts.def"
#undef UNREAD_LAYOUT
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

const struct dti_unread_layout *dti_unread_layout_of_method(const char *method)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        if (strcasecmp(method, layouts[i].method) == 0)
            return &layouts[i];
    }
    return NULL;
}

const struct dti_unread_layout *dti_unread_layout_of(const struct dti_quant_names *names,
                                                     size_t tensor)
{
    const struct dti_tensor *const codes = &names->container->tensors[tensor];
    size_t other;
    for (size_t i = 0; i < LAYOUTS; i++) {
        const char *const suffix = layouts[i].codes;
        if (suffix && dti_quant_name_ends(codes->name, codes->name_length, suffix) &&
            dti_quant_names_find(names, codes->name, codes->name_length - strlen(suffix),
                                 layouts[i].other, &other))
            return &layouts[i];
    }
    return NULL;
}

bool dti_unread_is_side(const struct dti_quant_names *names, size_t tensor)
{
    static const char *const sides[] = {".suh", ".svh", ".su", ".sv", ".mcg", ".mul1"};
    const struct dti_tensor *const side = &names->container->tensors[tensor];
    size_t codes;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        if (dti_quant_name_ends(side->name, side->name_length, sides[i]))
            return dti_quant_names_find(names, side->name, side->name_length - strlen(sides[i]),
                                        ".trellis", &codes) &&
                   dti_unread_layout_of(names, codes);
    }
    return false;
}

/* EXL3: tiles of 16 x 16 weights, the inputs first, each of 16 words per bit. */
bool dti_unread_shape(const struct dti_unread_layout *layout, const struct dti_tensor *tensor,
                      uint64_t ret_shape[2], uint64_t *ret_bits)
{
    enum { TILE = 16 };
    uint64_t elements;
    if (strcmp(layout->name, "EXL3") != 0 || tensor->rank != 3 || tensor->shape[2] == 0 ||
        tensor->shape[2] % TILE != 0 || !dti_mul_u64(tensor->shape[1], TILE, &ret_shape[0]) ||
        !dti_mul_u64(tensor->shape[0], TILE, &ret_shape[1]) ||
        !dti_mul_u64(ret_shape[0], ret_shape[1], &elements))
        return false;
    *ret_bits = tensor->shape[2] / TILE;
    return true;
}

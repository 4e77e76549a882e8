/* SPDX-License-Identifier: MIT
 *
 * Dtypes of codes; names of weights and of the modules that own them. */
#ifndef FILES_DEQUANT_DEQUANT_NAMES_H
#define FILES_DEQUANT_DEQUANT_NAMES_H

#include "files/dequant/dequant_layouts.h"

#define dti_weight_end ".weight"

/* Dtypes of codes. */
enum dti_codes_class {
    DTI_CODES_FP8,
    DTI_CODES_INT8,
    DTI_CODES_UINT8,
    DTI_CODES_INT16,
    DTI_CODES_WORDS,
    DTI_CODES_FP4,
    DTI_CODES_CLASSES
};

static inline bool dti_is_weight(const struct dti_tensor *tensor)
{
    return dti_quant_name_ends(tensor->name, tensor->name_length, dti_weight_end);
}

/* The length of the name of the module that owns the tensor. */
static inline size_t dti_module_length(const struct dti_tensor *tensor)
{
    size_t length = tensor->name_length;
    while (length > 0 && tensor->name[length - 1] != '.')
        length--;
    return length - (length > 0);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * How parts of quantized tensors are called in all layouts that are read, and which dtypes are
 * those of codes. */
#ifndef DTINFO_FILES_DEQUANT_DEQUANT_NAMES_H
#define DTINFO_FILES_DEQUANT_DEQUANT_NAMES_H

#include "files/dequant/dequant_layouts.h"

#define dti_weight_end ".weight"

/* A part is called like its codes, with one end instead of the other. */
struct dti_part_name {
    const char *codes, *part;
    const char *scale, *state; /* what else such codes have; the latter may be NULL */
    bool sure;                 /* nothing but codes is called like them */
    bool activations;          /* it is no part of numbers, but there are none without codes */
};

enum { DTI_PART_NAMES = 160 };
struct dti_part_names {
    struct dti_part_name list[DTI_PART_NAMES];
    size_t count;
};
void dti_part_names_init(struct dti_part_names *ret);
/* Whether it is called like a part of something: then it holds no codes. */
bool dti_part_names_has(const struct dti_part_names *names, const struct dti_tensor *tensor);
/* Whether parameters of other modules may be called so. */
bool dti_part_is_vague(const char *part);

/* By its dtype; -1: it holds no codes. */
enum dti_codes_class {
    DTI_CODES_FP8,
    DTI_CODES_INT8,
    DTI_CODES_UINT8,
    DTI_CODES_INT16,
    DTI_CODES_WORDS,
    DTI_CODES_FP4,
    DTI_CODES_CLASSES
};
int dti_codes_class(const struct dti_tensor *tensor);

static inline bool dti_is_weight(const struct dti_tensor *tensor)
{
    return dti_quant_name_ends(tensor->name, tensor->name_length, dti_weight_end);
}

/* The length of the name of the module that has the tensor. */
size_t dti_module_length(const struct dti_tensor *tensor);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs that are read, by the names of their tensors: "mlp.up_proj.qweight" is
 * the weight of mlp.up_proj. */
#ifndef DTINFO_FILES_DEQUANT_LAYOUTS_H
#define DTINFO_FILES_DEQUANT_LAYOUTS_H

#include "files/dequant_find.h"

/* Names: what comes before `codes` is the stem, which is followed by `numbers` in the view, and by
 * suffix[part] for each of the other parts. */
struct dti_read_layout {
    const char *name; /* of the layout */
    enum dti_dtype dtype;
    const char *codes, *numbers;
    const char *suffix[DTI_PART_COUNT]; /* that of the codes is not looked at */
    bool sure;                          /* the names of codes alone tell that they are */
    /* By dtypes and shapes. NULL: always. */
    bool (*fits)(const struct dti_dequant_group *group);
    /* Fills all of *ret. Parts are plain arrays. */
    enum dti_status (*match)(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group,
                             const struct dti_quant_config *config, struct dti_dequant_found *ret,
                             struct dti_error *reterr);
};

/* The layout by which tensor `at` holds codes, with its parts; NULL: by none. Fails with
 * DTI_NO_MEMORY, or DTI_BAD_INPUT where the numbers' name is taken. */
enum dti_status dti_dequant_layout_of(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_group *group, struct dti_error *reterr);

/* The rows: dequant_gptq.c. */
extern const struct dti_read_layout dti_layout_gptq, dti_layout_awq;

/* What all rows do. A part that is needed. */
enum dti_status dti_dequant_need(const struct dti_dequant_group *group, enum dti_quant_part part,
                                 struct dti_error *reterr);
/* What the configuration says contradicts the shapes: "bits 4" and so on. */
enum dti_status dti_dequant_refuse_config(const struct dti_dequant_group *group,
                                          const struct dti_quant_config *config, const char *what,
                                          uint64_t said, uint64_t found, struct dti_error *reterr);
/* Integers of `bits` bits from 0 on, in the order of the file, with a scale each. */
enum dti_status dti_dequant_set_unsigned(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, unsigned bits,
                                         struct dti_dequant_found *ret, struct dti_error *reterr);

#endif

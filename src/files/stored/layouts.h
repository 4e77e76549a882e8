/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs: what is said of each, in one row. Tensors are known by their names:
 * "mlp.up_proj.qweight" is the weight of mlp.up_proj. */
#ifndef DTINFO_FILES_STORED_LAYOUTS_H
#define DTINFO_FILES_STORED_LAYOUTS_H

#include "dtinfo/quant_layout.h"

struct dti_file_dequant;
struct dti_dequant_group;
struct dti_dequant_found;
struct dti_quant_config;

/* A packing of AutoRound, which has names of its own for what others write; format: theirs. */
struct dti_layout_packing {
    const char *packing, *format;
};

/* Names: what comes before `codes` is the stem, which is followed by `numbers` in the view, and by
 * suffix[part] for each of the other parts. A row without a suffix of scales is not found by names:
 * match() looks whether there are any, and no configuration is read. */
struct dti_layout_ops {
    const char *name;     /* of the layout */
    const char *variant;  /* of a second one with the same parts, or NULL */
    enum dti_dtype dtype; /* of codes; DTI_NONE: any that they have */
    const char *codes, *numbers;
    const char *suffix[DTI_PART_COUNT]; /* that of the codes is not looked at */
    bool sure;                          /* the names of codes alone tell that they are; else
                                         * any other part does */
    /* By dtypes and shapes; any part but the codes may be missing. NULL: always. */
    bool (*fits)(const struct dti_dequant_group *group);
    /* Fills all of *ret. Parts are plain arrays. */
    enum dti_status (*match)(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group,
                             const struct dti_quant_config *config, struct dti_dequant_found *ret,
                             struct dti_error *reterr);
    /* In configurations; the last of each array stays empty. */
    const char *methods[3];  /* words of "quant_method", first the one that is in use most */
    const char *config_file; /* all of which is about it; NULL: none */
    struct dti_layout_packing packings[4];
    bool grouped;    /* no "group_size" 0: that of a whole row is -1 */
    bool one_scheme; /* for all parts of what loaders fuse, where methods[0] is said */
};

/* All rows, in the order in which they are tried; NULL after the last. */
#define DTI_LAYOUTS(ROW)                                                                       \
    ROW(gptq), ROW(awq), ROW(awq_fast), ROW(mlx), ROW(gpt_oss), ROW(bitsandbytes), ROW(comfy), \
        ROW(comfy_old), ROW(torchao), ROW(pairs), ROW(bitnet), ROW(quark)
#define ROW(name) dti_layout_##name
extern const struct dti_layout_ops DTI_LAYOUTS(ROW);
#undef ROW
extern const struct dti_layout_ops *const dti_layouts[];

/* The row that has the method among its own, in any case of letters; NULL: none has. */
const struct dti_layout_ops *dti_layout_of_method(const char *method);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs: one row describes each. Tensors are identified by their names:
 * "mlp.up_proj.qweight" is the weight of mlp.up_proj. */
#ifndef FILES_STORED_LAYOUTS_H
#define FILES_STORED_LAYOUTS_H

#include "files/stored/quant_layout.h"

struct dti_buffer;
struct dti_config_form;
struct dti_transcode_target;
struct dti_file_dequant;
struct dti_dequant_group;
struct dti_dequant_found;
struct dti_quant_config;

/* An AutoRound packing. AutoRound has its own names for formats that other methods write; format:
 * the other method's name. */
struct dti_layout_packing {
    const char *packing, *format;
};

/* Names: the stem is what precedes `codes`. `numbers` follows the stem in the view, suffix[part] in
 * the names of the other parts. A row without a suffix for scales is not found by names: match()
 * looks for its tensors, and no configuration is read. A row without codes is not read through this
 * table; it holds the other properties of the layout. */
struct dti_layout_ops {
    const char *name;                   /* of the layout */
    const char *variant;                /* of a second layout with the same parts, or NULL */
    enum dti_dtype dtype;               /* of codes; DTI_NONE: any dtype */
    const char *codes, *numbers;        /* NULL: see above */
    const char *suffix[DTI_PART_COUNT]; /* the one for the codes is ignored */
    bool sure;                          /* the name of the codes alone identifies them; else any
                                         * other part must exist too */
    /* Checks dtypes and shapes; any part except the codes may be missing. NULL: always fits. */
    bool (*fits)(const struct dti_dequant_group *group);
    /* Fills all of *ret. Parts are plain arrays. */
    enum dti_status (*match)(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group,
                             const struct dti_quant_config *config, struct dti_dequant_found *ret,
                             struct dti_error *reterr);
    /* For configurations; the last entry of each array stays empty. */
    const char *methods[5];    /* values of "quant_method", the most common one first */
    const char *config_file;   /* the layout's own file; NULL: none */
    const char *config_member; /* the member of that file to read; NULL: the whole file */
    struct dti_layout_packing packings[4];
    bool grouped;        /* "group_size" 0 is not allowed: a whole row is -1 */
    unsigned one_scheme; /* all parts of a fused matrix must share one scheme, for the first this
                          * many methods */
    bool algorithms;     /* "quant_algo" names the scheme */
    bool tensor_scales;  /* nvfp4 always stores the scale of the whole tensor */
    const char *scale;   /* suffix after a module's name in the name of its scales, where the method
                          * determines it; NULL: it does not */
    unsigned ignored[2]; /* lists of unquantized modules, enum dti_config_list; the first one with
                          * an entry counts; 0: no other */
    unsigned ignored_as; /* how to match their entries: DTI_MODULE_...; 0: there are none */
    const struct dti_transcode_target *targets[4]; /* files/transcode/transcode.h;
                                                    * NULL-terminated */
    /* For `quant`: writes the value of quantization_config for matrices that all share one row and
     * form. nested: the scales are quantized too. kept: a JSON array of the modules that were left
     * unquantized. Returns false if no loader is known. */
    bool (*config)(const struct dti_quant_row *row, const struct dti_config_form *form, bool nested,
                   const char *kept, struct dti_buffer *ret);
};

/* All rows, in the order in which they are tried; NULL after the last. */
#define DTI_LAYOUTS(ROW)                                                                          \
    ROW(compressed_tensors), ROW(modelopt), ROW(bitsandbytes), ROW(fp8), ROW(scale), ROW(fbgemm), \
        ROW(gguf), ROW(mlx), ROW(gpt_oss), ROW(gptq), ROW(awq), ROW(awq_fast), ROW(comfy),        \
        ROW(comfy_old), ROW(torchao), ROW(pairs), ROW(bitnet), ROW(quark), ROW(onnx)
#define ROW(name) dti_layout_##name
extern const struct dti_layout_ops DTI_LAYOUTS(ROW);
#undef ROW
extern const struct dti_layout_ops *const dti_layouts[];

/* The row that lists the method, case-insensitively; NULL: none. */
const struct dti_layout_ops *dti_layout_of_method(const char *method);
/* The first row of that name; NULL: none. */
const struct dti_layout_ops *dti_layout_called(const char *name);

#endif

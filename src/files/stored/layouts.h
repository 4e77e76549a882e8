/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs: what is said of each, in one row. Tensors are known by their names:
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

/* A packing of AutoRound, which has names of its own for what others write; format: theirs. */
struct dti_layout_packing {
    const char *packing, *format;
};

/* Names: what comes before `codes` is the stem, which is followed by `numbers` in the view, and by
 * suffix[part] for each of the other parts. A row without a suffix of scales is not found by names:
 * match() looks whether there are any, and no configuration is read. A row without codes is not
 * read by this table; it says what else there is to say of the layout. */
struct dti_layout_ops {
    const char *name;                   /* of the layout */
    const char *variant;                /* of a second one with the same parts, or NULL */
    enum dti_dtype dtype;               /* of codes; DTI_NONE: any that they have */
    const char *codes, *numbers;        /* NULL: see above */
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
    const char *methods[5];    /* words of "quant_method", first the one that is in use most */
    const char *config_file;   /* which is about it; NULL: none */
    const char *config_member; /* of that file, which is; NULL: all of it */
    struct dti_layout_packing packings[4];
    bool grouped;        /* no "group_size" 0: that of a whole row is -1 */
    unsigned one_scheme; /* for all parts of what loaders fuse, by the first so many methods */
    bool algorithms;     /* "quant_algo" says what the scheme is */
    bool tensor_scales;  /* of nvfp4 the scale of the whole tensor is always stored */
    const char *scale;   /* what follows the name of a module in that of its scales, where the
                          * method tells; NULL: it does not */
    unsigned ignored[2]; /* lists of modules that are not quantized, enum dti_config_list, of which
                          * the first that has an entry counts; 0: no other */
    unsigned ignored_as; /* how their entries are meant: DTI_MODULE_...; 0: there are none */
    const struct dti_transcode_target *targets[4]; /* files/transcode/transcode.h; then NULL */
    /* Where `quant` writes it: the value of quantization_config for matrices that are all of a row
     * and a form; nested: so are scales; kept: a JSON array of the modules that stay what they
     * were. False: no loader is known. */
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

/* The row that has the method among its own, in any case of letters; NULL: none has. */
const struct dti_layout_ops *dti_layout_of_method(const char *method);
/* The first row of that name; NULL: there is none. */
const struct dti_layout_ops *dti_layout_called(const char *name);

#endif

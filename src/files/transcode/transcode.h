/* SPDX-License-Identifier: MIT
 *
 * Converts quantized tensors to the parts of another layout, keeping their codes and scales: the
 * interface of the target layouts for the view of file_transcode.h. A tensor is converted part by
 * part; each part is a plain array whose bytes are computed while they are read. */
#ifndef FILES_TRANSCODE_TRANSCODE_H
#define FILES_TRANSCODE_TRANSCODE_H

#include "files/config/quant_config_forms.h"
#include "files/dequant/dequant_layouts.h"
#include "files/stored/quant_marks.h"
#include "util/buffer.h"

enum { DTI_TRANSCODE_PARTS = 6 };

/* A tensor of the target layout. */
struct dti_transcode_part {
    const char *suffix; /* after the stem: "_packed" */
    size_t less;        /* bytes at the end of the stem that are left out first */
    enum dti_dtype dtype;
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    struct dti_batch_source source; /* of its bytes, readable at any offset; its data are in the
                                     * view's pool */
    unsigned char number[4];        /* of a source of one number, little-endian */
    struct dti_dequant_part copied; /* container not NULL: the bytes are those of this tensor, and
                                     * the source is ignored */
    const struct dti_gguf_type *blocks; /* not NULL: the bytes are such blocks; dtype is ignored */
    bool numbers; /* the numbers of the tensor in dtype: the recipe casts them; no source */
};

/* What a quantized tensor becomes, and whether its numbers stay the same. A block is a set of
 * numbers that share a scale. */
struct dti_transcoded {
    size_t stem_length; /* length of the name before the suffixes: with or without ".weight" */
    const char *dtype;  /* what the codes become; NULL: they stay what they are */
    size_t count;
    struct dti_transcode_part part[DTI_TRANSCODE_PARTS];
    uint64_t blocks, lossless;      /* number of blocks, and of those whose numbers are exactly the
                                     * same */
    double worst;                   /* for the others: the largest |new - old| / |old| of a
                                     * number */
    char mark[DTI_QUANT_MARK_SIZE]; /* the text of its mark, for the metadata; "": none */
    char entry[DTI_MLX_ENTRY_SIZE]; /* metadata entry for what the shapes leave open; "": none */
};

/* What a target accepts: floats and blocks; same, converting mxfp4 to nvfp4; integers with groups.
 */
enum dti_transcode_takes {
    DTI_TAKES_BLOCKS,
    DTI_TAKES_FOR_NVFP4,
    DTI_TAKES_INTEGERS,
    DTI_TAKES_COUNT
};

/* A target layout. Rows share functions: plan() and config() get their own row.
 */
struct dti_transcode_target {
    const char *name; /* as in transcode_layouts.def */
    enum dti_transcode_takes takes;
    bool marks;     /* each matrix has a mark, and there is no configuration */
    bool experts;   /* reads stacks of transposed matrices */
    bool lanes;     /* each word has eight rows of a column, in AWQ's order */
    unsigned less;  /* subtracted from zero points */
    bool no_inputs; /* has no scales of activations: those of its weights are left out */
    /* Fills all of *ret from a source tensor, whose numbers have the rank and shape of
     * found->shown. Reads scales if the verdict needs them, codes only if it must. Fails with
     * DTI_WRONG_KIND if the layout cannot hold the codes and scales: the message names the tensor
     * and what the layout supports. */
    enum dti_status (*plan)(const struct dti_transcode_target *target, struct dti_pool *pool,
                            struct dti_dequant_found *found, struct dti_transcoded *ret,
                            struct dti_error *reterr);
    /* Writes the value of quantization_config for loaders, with line feeds and two spaces per
     * level, and the layout's own file, if it has one. target: of blocks, if there are any. all[i]:
     * the tensors that were found. kept: a JSON array of the modules whose matrices stay unchanged,
     * or NULL. If there is none, *ret_why has the reason, and nothing is written. */
    void (*config)(const struct dti_transcode_target *target,
                   const struct dti_dequant_found *const *all, size_t count, const char *kept,
                   struct dti_config_texts *ret, const char **ret_why);
    /* compressed-tensors, instead of config(): describes a planned matrix for a group of its
     * configuration; false: not possible. NULL: use config(). */
    bool (*form)(const struct dti_dequant_found *found, struct dti_config_form *ret);
};
/* transcode_comfy.c */
extern const struct dti_transcode_target dti_target_comfy, dti_target_comfy_nvfp4,
    dti_target_comfy_integers;
/* transcode_gpt_oss.c */
extern const struct dti_transcode_target dti_target_gpt_oss;
/* transcode_blocks.c, transcode_compressed_words.c */
extern const struct dti_transcode_target dti_target_compressed_blocks, dti_target_compressed_nvfp4;
extern const struct dti_transcode_target dti_target_compressed_words;
/* transcode_gguf.c, transcode_gguf_groups.c */
extern const struct dti_transcode_target dti_target_gguf_blocks, dti_target_gguf_integers;

#endif

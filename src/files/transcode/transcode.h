/* SPDX-License-Identifier: MIT
 *
 * Quantized tensors in the parts of another layout, with their codes and scales carried over: what
 * the target layouts tell the view of file_transcode.h. Numbers become a tensor of the target part
 * by part; each part is a plain array whose bytes are computed while they are read. */
#ifndef FILES_TRANSCODE_TRANSCODE_H
#define FILES_TRANSCODE_TRANSCODE_H

#include "files/config/quant_config_forms.h"
#include "files/dequant/dequant_layouts.h"
#include "util/buffer.h"

enum { DTI_TRANSCODE_PARTS = 6 };

/* A tensor of the target. */
struct dti_transcode_part {
    const char *suffix; /* after the stem: "_packed" */
    enum dti_dtype dtype;
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    struct dti_batch_source source; /* of its bytes, in pieces that begin and end anywhere; what it
                                     * needs is in the pool of the view */
    struct dti_dequant_part copied; /* container not NULL: they are those of this tensor, and the
                                     * source is not looked at */
};

/* What a quantized tensor becomes, and whether its numbers stay the same. A block is what has a
 * scale of its own. */
struct dti_transcoded {
    size_t stem_length; /* of the numbers' name, before the suffixes: with or without ".weight" */
    size_t count;
    struct dti_transcode_part part[DTI_TRANSCODE_PARTS];
    uint64_t blocks, lossless;      /* all of them, and those whose numbers are exactly the same */
    double worst;                   /* of the others: the largest |new - old| / |old| of a number */
    char entry[DTI_MLX_ENTRY_SIZE]; /* a metadata entry about it: what its shapes leave open; "":
                                     * none
                                     */
};

/* What a target takes: floats and blocks, the same where mxfp4 becomes nvfp4, integers with groups.
 */
enum dti_transcode_takes { DTI_TAKES_BLOCKS, DTI_TAKES_FOR_NVFP4, DTI_TAKES_INTEGERS };

/* A target layout. Rows share functions: plan() and config() are given the row that they stand in.
 */
struct dti_transcode_target {
    const char *name; /* as in transcode_layouts.def */
    enum dti_transcode_takes takes;
    bool experts;  /* stacks of matrices that are stored transposed are read */
    bool lanes;    /* words have columns of eight rows, in AWQ's order */
    unsigned less; /* subtracted from zero points */
    /* Fills all of *ret from a tensor of the source, whose numbers have rank and shape of
     * found->shown. Reads scales where the verdict needs them, codes only if it must. Fails with
     * DTI_WRONG_KIND where the layout cannot hold the codes and scales: the message names the
     * tensor, and says what the layout holds. */
    enum dti_status (*plan)(const struct dti_transcode_target *target, struct dti_pool *pool,
                            struct dti_dequant_found *found, struct dti_transcoded *ret,
                            struct dti_error *reterr);
    /* The value of quantization_config by which loaders read it, with line feeds and two spaces a
     * level; all[i] are the tensors that were found; kept: a JSON array of the modules whose
     * matrices stay what they are, or NULL. Where there is none *ret_why says so, and nothing is
     * written. */
    void (*config)(const struct dti_transcode_target *target,
                   const struct dti_dequant_found *const *all, size_t count, const char *kept,
                   struct dti_buffer *ret, const char **ret_why);
    /* compressed-tensors, in place of config(): how a matrix that was planned is described in a
     * group of its configuration; false: there is no description. NULL: there is config(). */
    bool (*form)(const struct dti_dequant_found *found, struct dti_config_form *ret);
};
/* transcode_gpt_oss.c */
extern const struct dti_transcode_target dti_target_gpt_oss;
/* transcode_blocks.c, transcode_compressed_words.c */
extern const struct dti_transcode_target dti_target_compressed_blocks, dti_target_compressed_nvfp4;
extern const struct dti_transcode_target dti_target_compressed_words;

#endif

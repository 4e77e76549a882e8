/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs are read by the rows of layouts.h: the tensors of each, and what its
 * match() is made of. */
#ifndef FILES_DEQUANT_DEQUANT_LAYOUTS_H
#define FILES_DEQUANT_DEQUANT_LAYOUTS_H

#include "files/dequant/dequant_find.h"
#include "files/stored/layouts.h"

/* The layout by which tensor `at` holds codes, with its parts; NULL: by none. Fails with
 * DTI_NO_MEMORY, or DTI_BAD_INPUT where the numbers' name is taken. */
enum dti_status dti_dequant_layout_of(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_group *group, struct dti_error *reterr);

/* By names and the dtype of codes, or the node of an ONNX model, alone: whether a tensor is a part,
 * not the codes, of such a tensor; and the scale of codes. */
bool dti_layouts_part(const struct dti_quant_names *names, size_t at);
/* Whether a tensor is called as a part of which there are no codes; *ret_codes: how they would be
 * called. */
bool dti_layouts_orphan(const struct dti_quant_names *names, size_t at, const char **ret_codes);
bool dti_layouts_scale(const struct dti_quant_names *names, size_t at, size_t *ret_scale);

/* What the metadata of a file say of ComfyUI's layers; NULL: nothing. Read once. */
struct dti_comfy_layers;
/* Whether an entry of the metadata, or a tensor that is no part, is about layers that are no longer
 * quantized. */
bool dti_comfy_is_entry(const struct dti_metadata *entry);
bool dti_torchao_is_entry(const struct dti_metadata *entry); /* dequant_torchao.c */
bool dti_comfy_is_marker(const struct dti_tensor *tensor);
/* Whether the metadata say that the layer is quantized. */
bool dti_comfy_has_layer(struct dti_file_dequant *dequant, const char *name, size_t length);

/* For fits(). NULL: it cannot be read, which whoever needs it reports. */
const struct dti_quant_config *dti_dequant_config(struct dti_file_dequant *dequant);

/* What all rows do. A part that is needed. */
enum dti_status dti_dequant_need(const struct dti_dequant_group *group, enum dti_quant_part part,
                                 struct dti_error *reterr);
/* What the configuration says contradicts the shapes: "bits 4" and so on. */
enum dti_status dti_dequant_refuse_config(const struct dti_dequant_group *group,
                                          const struct dti_quant_config *config, const char *what,
                                          uint64_t said, uint64_t found, struct dti_error *reterr);
/* The length of a row of codes and the other dimensions are the scales' too. */
bool dti_dequant_same_rows(const struct dti_tensor *codes, const struct dti_tensor *scales);
/* Blocks of whole rows, with scales of a byte. */
enum dti_status dti_dequant_set_blocks(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       const struct dti_block_format *block,
                                       struct dti_dequant_found *ret, struct dti_error *reterr);
/* Integers of `bits` bits from 0 on, in the order of the file, with a scale each. */
enum dti_status dti_dequant_set_unsigned(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, unsigned bits,
                                         struct dti_dequant_found *ret, struct dti_error *reterr);
/* Rows of codes and scales as in the table of layouts that are written; the hint
 * is all that is known besides. */
enum dti_status dti_dequant_match_as(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_hint *hint,
                                     struct dti_dequant_found *ret, struct dti_error *reterr);
/* The value of a metadata entry about a tensor whose parts leave something open; its key:
 * DTI_QUANT_KEY and the name of the numbers. */
enum { DTI_MLX_ENTRY_SIZE = 40 };
/* dequant_tiled.c: a matrix of blocks with scales in tiles, and a tensor scale that is a factor, if
 * there is one; order: of codes of less than 8 bits. */
enum dti_status dti_dequant_set_tiled(struct dti_file_dequant *dequant,
                                      const struct dti_dequant_group *group,
                                      const struct dti_block_format *block,
                                      enum dti_block_order order, struct dti_dequant_found *ret,
                                      struct dti_error *reterr);

/* dequant_shared_rows.c: bytes hold codes of several rows of a matrix; row_step, the length of
 * groups and what numbers are is still to be set. */
enum dti_status dti_dequant_set_rows(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group, unsigned bits,
                                     struct dti_dequant_found *ret, struct dti_error *reterr);

static inline bool dti_dequant_is_float_scale(const struct dti_format *format)
{
    return format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
}

#endif

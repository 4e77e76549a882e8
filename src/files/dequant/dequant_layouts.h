/* SPDX-License-Identifier: MIT
 *
 * Layouts of other programs, read through the rows of layouts.h: finds the tensors of each, and
 * provides the building blocks of match(). */
#ifndef FILES_DEQUANT_DEQUANT_LAYOUTS_H
#define FILES_DEQUANT_DEQUANT_LAYOUTS_H

#include "files/dequant/dequant_find.h"
#include "files/stored/layouts.h"

/* The layout in which tensor `at` holds codes, with its parts; NULL: none. Fails with
 * DTI_NO_MEMORY, or with DTI_BAD_INPUT if the name for the numbers is taken. */
enum dti_status dti_dequant_layout_of(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_group *group, struct dti_error *reterr);

/* dti_layouts_part(): whether a tensor is a part, other than the codes, of a quantized tensor.
 * dti_layouts_scale(): the scale of codes. Both use only names and the dtype of codes, or the node
 * of an ONNX model. */
bool dti_layouts_part(const struct dti_quant_names *names, size_t at);
/* Whether a tensor is named like a part whose codes are missing; *ret_codes: the name the codes
 * would have. */
bool dti_layouts_orphan(const struct dti_quant_names *names, size_t at, const char **ret_codes);
bool dti_layouts_scale(const struct dti_quant_names *names, size_t at, size_t *ret_scale);

/* ComfyUI layers described in a file's metadata; NULL: none. Parsed once. */
struct dti_comfy_layers;
/* Whether a metadata entry, or a tensor that is not a part, describes layers that are no longer
 * quantized in the view. */
bool dti_comfy_is_entry(const struct dti_metadata *entry);
bool dti_torchao_is_entry(const struct dti_metadata *entry); /* dequant_torchao.c */
bool dti_comfy_is_marker(const struct dti_tensor *tensor);
/* Whether the metadata mark the layer as quantized. */
bool dti_comfy_has_layer(struct dti_file_dequant *dequant, const char *name, size_t length);

/* For fits(). NULL: the configuration cannot be read; the code that requires it reports that. */
const struct dti_quant_config *dti_dequant_config(struct dti_file_dequant *dequant);

/* Shared by all rows. Fails unless the part exists. */
enum dti_status dti_dequant_need(const struct dti_dequant_group *group, enum dti_quant_part part,
                                 struct dti_error *reterr);
/* Fails because the configuration contradicts the shapes: "bits 4" and so on. */
enum dti_status dti_dequant_refuse_config(const struct dti_dequant_group *group,
                                          const struct dti_quant_config *config, const char *what,
                                          uint64_t stated, uint64_t found,
                                          struct dti_error *reterr);
/* Whether codes and scales agree in all dimensions but the last. */
bool dti_dequant_same_rows(const struct dti_tensor *codes, const struct dti_tensor *scales);
/* Blocks of whole rows, with one-byte scales. */
enum dti_status dti_dequant_set_blocks(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       const struct dti_block_format *block,
                                       struct dti_dequant_found *ret, struct dti_error *reterr);
/* Unsigned integers of `bits` bits, in file order, each with a scale. */
enum dti_status dti_dequant_set_unsigned(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, unsigned bits,
                                         struct dti_dequant_found *ret, struct dti_error *reterr);
/* Matches rows of codes and scales as in the table of layouts that are also written; uses nothing
 * but the hint in addition. */
enum dti_status dti_dequant_match_as(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_hint *hint,
                                     struct dti_dequant_found *ret, struct dti_error *reterr);
/* Size of the metadata value for a tensor whose parts are ambiguous; its key is DTI_QUANT_KEY plus
 * the name of the numbers. */
enum { DTI_MLX_ENTRY_SIZE = 40 };
/* dequant_comfy.c: layers of ComfyUI, and those from before comfy_quant. */
bool dti_comfy_is_layer(const struct dti_dequant_group *group);
enum dti_status dti_comfy_match(struct dti_file_dequant *dequant,
                                const struct dti_dequant_group *group,
                                const struct dti_quant_config *config,
                                struct dti_dequant_found *ret, struct dti_error *reterr);
bool dti_comfy_is_old(const struct dti_dequant_group *group);
enum dti_status dti_comfy_match_old(struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct dti_quant_config *config,
                                    struct dti_dequant_found *ret, struct dti_error *reterr);
/* dequant_tiled.c: a matrix of blocks with tiled scales and an optional tensor scale, which is a
 * factor; order: of codes of less than 8 bits; original: its rows and columns before both were
 * filled up to a multiple of a block, or NULL. */
enum dti_status dti_dequant_set_tiled(struct dti_file_dequant *dequant,
                                      const struct dti_dequant_group *group,
                                      const struct dti_block_format *block,
                                      enum dti_block_order order, const uint64_t *original,
                                      struct dti_dequant_found *ret, struct dti_error *reterr);

/* dequant_rotated.c: a matrix of signed codes whose groups of `length` columns were rotated, with a
 * scale for the tensor or for each row; bits: 8, or 4 with the first of two codes in the low bits.
 */
enum dti_status dti_dequant_set_rotated(struct dti_file_dequant *dequant,
                                        const struct dti_dequant_group *group, unsigned bits,
                                        uint64_t length, struct dti_dequant_found *ret,
                                        struct dti_error *reterr);

/* dequant_shared_rows.c: bytes hold codes of several rows of a matrix. The caller still sets
 * row_step, the group length and the meaning of the codes. */
enum dti_status dti_dequant_set_rows(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group, unsigned bits,
                                     struct dti_dequant_found *ret, struct dti_error *reterr);

static inline bool dti_dequant_is_float_scale(const struct dti_format *format)
{
    return format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
}

#endif

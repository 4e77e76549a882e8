/* SPDX-License-Identifier: MIT
 *
 * What the metadata of a file say of ComfyUI's layers. */
#ifndef DTINFO_FILES_DEQUANT_DEQUANT_COMFY_H
#define DTINFO_FILES_DEQUANT_DEQUANT_COMFY_H

#include "files/dequant/dequant_parts.h"

/* NULL: nothing. Read once. */
struct dti_comfy_layers;

/* Whether an entry of the metadata, or a tensor that is no part, is about layers that are no longer
 * quantized. */
bool dti_comfy_is_entry(const struct dti_metadata *entry);
bool dti_torchao_is_entry(const struct dti_metadata *entry); /* dequant_torchao.c */
bool dti_comfy_is_marker(const struct dti_tensor *tensor);

#endif

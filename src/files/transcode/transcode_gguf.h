/* SPDX-License-Identifier: MIT
 *
 * Parts of a tensor in a GGUF file: one tensor of blocks, and for nvfp4 one with the scale of the
 * whole tensor. Codes and scales stay; they are stored in each other's neighbourhood. */
#ifndef FILES_TRANSCODE_TRANSCODE_GGUF_H
#define FILES_TRANSCODE_TRANSCODE_GGUF_H

#include "files/transcode/transcode_bytes.h"
#include "kernels/gguf/gguf_halves.h"

/* Starts with one part of such blocks, of the shape of the numbers. Fails with DTI_WRONG_KIND if
 * rows are not whole blocks. */
enum dti_status dti_gguf_begin(const struct dti_dequant_found *found,
                               const struct dti_gguf_type *type, struct dti_transcoded *ret,
                               struct dti_error *reterr);
/* Starts with the numbers themselves; the caller counts what the cast to the dtype loses. */
void dti_gguf_numbers(const struct dti_dequant_found *found, enum dti_dtype dtype,
                      struct dti_transcoded *ret);
/* Fails: the tensor cannot become the type that was asked for. what: "of 8 bits". */
enum dti_status dti_gguf_refuse_type(const struct dti_dequant_found *found, const char *what,
                                     const char *types, struct dti_error *reterr);

#endif

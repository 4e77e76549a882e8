/* SPDX-License-Identifier: MIT
 *
 * GGUF's blocks as a layout: dequant_gguf.c reads them; what other layouts become there. */
#include "files/stored/layouts.h"
#include "files/transcode/transcode.h"

const struct dti_layout_ops dti_layout_gguf = {
    .name = "gguf", .targets = {&dti_target_gguf_blocks, &dti_target_gguf_integers}};

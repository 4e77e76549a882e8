/* SPDX-License-Identifier: MIT
 *
 * Tensors that are flattened, with a state that tells what they were: bitsandbytes'. Its JSON has
 * the members of QuantState.as_dict(), in that order and spelled as Python does, so that without
 * nested scales the bytes are those of bitsandbytes. The offset of nested scales is known after the
 * file has been laid out: spaces at the end make up for its length. */
#ifndef FILES_STORED_QUANT_STATE_H
#define FILES_STORED_QUANT_STATE_H

#include "files/stored/quant_layout.h"

struct dti_quant_state_name {
    enum dti_quant_layout layout;
    const char *dtype, *word, *suffix; /* quant_layouts.def */
};
extern const struct dti_quant_state_name dti_quant_state_names[];
extern const size_t dti_quant_state_name_count;
/* Of a row; NULL: its layout has no state. */
const struct dti_quant_state_name *dti_quant_state_name(const struct dti_quant_row *row);

enum {
    DTI_QUANT_MAP_SIZE = 16,        /* numbers of codes of 4 bits */
    DTI_QUANT_STATE_SIZE_MAX = 640, /* of what is written, with a NUL */
};

/* Its state; returns the length, which does not depend on the offset. */
size_t dti_quant_state_text(const struct dti_quant_stored *stored, float offset,
                            char buffer[DTI_QUANT_STATE_SIZE_MAX]);
/* What a state calls the dtype of numbers: "float32". Rounded to fp32 first, others are that. */
const char *dti_quant_state_dtype(const struct dti_format *number);

#endif

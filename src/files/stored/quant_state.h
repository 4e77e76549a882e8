/* SPDX-License-Identifier: MIT
 *
 * Flattened tensors with a state that describes the original tensor, as in bitsandbytes. The state
 * is JSON with the members of QuantState.as_dict(), in that order and spelled as Python does, so
 * without nested scales the bytes equal those of bitsandbytes. The offset of nested scales is only
 * known after the file has been laid out: trailing spaces pad the text to a fixed length. */
#ifndef FILES_STORED_QUANT_STATE_H
#define FILES_STORED_QUANT_STATE_H

#include "files/stored/quant_layout.h"

struct dti_quant_state_name {
    enum dti_quant_layout layout;
    const char *dtype, *word, *suffix; /* see quant_layouts.def */
};
extern const struct dti_quant_state_name dti_quant_state_names[];
extern const size_t dti_quant_state_name_count;
/* The state name of a row; NULL: its layout has no state. */
const struct dti_quant_state_name *dti_quant_state_name(const struct dti_quant_row *row);

enum {
    DTI_QUANT_MAP_SIZE = 16,        /* numbers that 4-bit codes stand for */
    DTI_QUANT_STATE_SIZE_MAX = 640, /* of the text written, including the NUL */
};

/* Writes the state of a tensor; returns its length, which does not depend on the offset. */
size_t dti_quant_state_text(const struct dti_quant_stored *stored, float offset,
                            char buffer[DTI_QUANT_STATE_SIZE_MAX]);
/* The name of a dtype in a state: "float32". Other dtypes are rounded to fp32 first and use
 * that. */
const char *dti_quant_state_dtype(const struct dti_format *number);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Layouts with a part that names the format of a matrix, such as ComfyUI's:
 *
 *   codes         Y.weight          [N, K], nvfp4 [N, K/2] with the first of two in the high bits
 *   scale         Y.weight_scale    per tensor []; per channel [N, 1]; blocks in tiles, with N
 *                                   filled up to a multiple of 128 and their count to one of 4
 *   tensor scale  Y.weight_scale_2  []
 *   state         Y.comfy_quant     JSON as uint8: {"format": "nvfp4"}; if N or K were padded, the
 *                                   original shape too: "orig_shape": [5, 20], which ComfyUI
 * ignores (it has the shape from the model) The same JSON for all layers is in the metadata entry
 * DTI_QUANT_MARKS_ENTRY. */
#ifndef FILES_STORED_QUANT_MARKS_H
#define FILES_STORED_QUANT_MARKS_H

#include "files/stored/quant_layout.h"
#include "util/buffer.h"

struct dti_quant_mark {
    enum dti_quant_layout layout;
    const char *dtype, *word; /* see quant_layouts.def */
    uint64_t rows;            /* of a padded matrix: a multiple of it */
};
extern const struct dti_quant_mark dti_quant_marks[];
extern const size_t dti_quant_mark_count;
#define DTI_QUANT_MARK_SUFFIX ".comfy_quant"
#define DTI_QUANT_MARKS_ENTRY "_quantization_metadata"

/* The mark of a row; NULL: its layout has none. */
const struct dti_quant_mark *dti_quant_mark(const struct dti_quant_row *row);
bool dti_quant_layout_marks(enum dti_quant_layout layout);

/* Whether such a layout can hold a tensor of this name: a matrix, or several, named Y.weight. */
bool dti_quant_can_mark(const char *name, size_t length, unsigned rank);
/* The length of Y in a name Y.weight. */
size_t dti_quant_mark_stem(size_t length);

enum { DTI_QUANT_MARK_SIZE = 128 }; /* of the text written, including the NUL */
/* Writes the state of a matrix; returns its length. padded: its shape differs from that of the
 * codes. */
size_t dti_quant_mark_text(const struct dti_quant_stored *stored, bool padded,
                           char buffer[DTI_QUANT_MARK_SIZE]);

/* The state of a matrix of int8 with a scale for each square: int8_blockwise. */
void dti_quant_mark_squares(uint64_t side, char buffer[DTI_QUANT_MARK_SIZE]);
/* Appends the metadata entry; layers: a JSON object. */
void dti_quant_marks_entry(const char *layers, size_t length, struct dti_buffer *ret);

/* Completes the parts of a matrix whose codes and scales have shapes without tiles. Fails as
 * dti_quant_parts() does. */
enum dti_status dti_quant_mark_parts(const struct dti_quant_stored *stored,
                                     struct dti_quant_part_shape parts[DTI_PART_COUNT],
                                     struct dti_error *reterr);
/* Whether codes of such a matrix have rows or columns of padding. */
bool dti_quant_is_filled_up(const struct dti_quant_stored *stored,
                            const struct dti_quant_part_shape *codes);

#endif

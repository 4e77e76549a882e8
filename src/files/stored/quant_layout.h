/* SPDX-License-Identifier: MIT
 *
 * A file stores a quantized tensor as several tensors: codes, scales, and whatever else is needed
 * to recover the numbers. One table, quant_layouts.def, defines their names and shapes for both
 * directions: quantization asks for the parts of a tensor; dequantization looks up the names,
 * dtypes and shapes in a file and compares them with the expected parts.
 *
 * X is the name of the tensor, [r, c] its shape; other ranks follow the same rules.
 *   codes         X or X_packed  [r, c]; WORDS [r, ceil(c bits / 32)] int32; BITS [r, c bits / 8]
 *                                uint8. With padding, c is the padded length
 *   scale         X_scale        per tensor [1]; per channel [r, 1] (axis 0) or [1, c]; groups and
 *                                blocks [r, c / group]. modelopt: per tensor [], per channel [r]
 *   zero point    X_zero_point   shape of the scales, dtype of the codes; absent where all are 0
 *                                by definition (signed codes with DTI_SYMMETRY_FULL or _HALF;
 *                                floats). WORDS: int8 per tensor and for rank 0 and 1, minus
 *                                2^(bits - 1) for unsigned codes; else packed as the codes are,
 *                                but along the second-to-last dimension:
 *                                [ceil(r bits / 32), c / group]
 *   tensor scale  X_global_scale [1] fp32, its inverse; modelopt: X_scale_2 []
 *   bias          Y.biases       mlx, for Y.weight: shape and dtype of Y.scales
 *   shape         X_shape        [rank] int64, the original shape: with WORDS and with padding
 *
 * bitsandbytes flattens the tensor to n elements in order; blocks cross rows:
 *   codes         X              [ceil(n / 2), 1] uint8, the first of two in the high bits
 *   scale         X.absmax       [blocks] fp32; nested: uint8, codes of X.nested_quant_map
 *   map           X.quant_map    [16] fp32, the number of each code
 *   nested scale  X.nested_absmax     [ceil(blocks / 256)] fp32: see nested_scales.h
 *   nested map    X.nested_quant_map  [256] fp32
 *   state         X.quant_state.bitsandbytes__nf4 or __fp4: JSON as uint8
 * comfy: see quant_marks.h.
 * The metadata entry "dtinfo.quant.X" = "DTYPE low" or "DTYPE high" (the order of BITS) is written
 * where the parts are ambiguous: rows flagged IN_METADATA, high order, 2 bits in WORDS where a row
 * is one word, and WORDS whose rows were padded to whole groups; those add the group length, as in
 * "int4 low 32". npy files have neither names nor metadata: OUT.npy holds the codes, next to
 * OUT_scale.npy and so on. */
#ifndef FILES_STORED_QUANT_LAYOUT_H
#define FILES_STORED_QUANT_LAYOUT_H

#include "kernels/quant/quant_kernel.h"

enum dti_quant_layout {
#define QUANT_LAYOUT(id, ...) DTI_LAYOUT_##id,
#include "files/stored/quant_layouts.def"
#undef QUANT_LAYOUT
    DTI_LAYOUT_COUNT
};
const char *dti_quant_layout_name(enum dti_quant_layout layout);
/* The shapes of scales of a whole tensor and of channels: see quant_layouts.def. */
enum dti_quant_scale_shapes {
    DTI_QUANT_SCALES_FULL,
    DTI_QUANT_SCALES_BARE,
    DTI_QUANT_SCALES_COLUMN
};
enum dti_quant_scale_shapes dti_quant_layout_scales(enum dti_quant_layout layout);
/* Names of all layouts that can be read, each once; NULL after the last. */
const char *dti_layout_name(size_t index);

/* The parts that a quantized tensor is stored as. */
enum dti_quant_part {
    DTI_PART_CODES,
    DTI_PART_SCALE,
    DTI_PART_ZERO_POINT,
    DTI_PART_TENSOR_SCALE,
    DTI_PART_SHAPE,
    DTI_PART_MAP,
    DTI_PART_NESTED_SCALE,
    DTI_PART_NESTED_MAP,
    DTI_PART_STATE,
    DTI_PART_ORDER, /* the group of each row; this and the next only in read-only layouts */
    DTI_PART_BIAS,  /* added to numbers */
    DTI_PART_COUNT
};
/* The number of parts in a set that come before one. */
static inline size_t dti_parts_before(unsigned parts, enum dti_quant_part part)
{
    size_t count = 0;
    for (parts &= (1u << part) - 1; parts != 0; parts &= parts - 1)
        count++;
    return count;
}
enum dti_quant_packing { DTI_QUANT_PLAIN, DTI_QUANT_BITS, DTI_QUANT_WORDS };
enum { /* flags */
       DTI_QUANT_INVERSE = 1,
       DTI_QUANT_IN_METADATA = 2,
       DTI_QUANT_TILED = 4,
       DTI_QUANT_HIGH = 8,
       DTI_QUANT_ROTATED = 16,
};

struct dti_quant_row {
    const struct dti_block_format *block; /* NULL: codes of `number` */
    enum dti_quant_layout layout;
    enum dti_dtype number;
    enum dti_dtype codes;
    enum dti_quant_packing packing;
    enum dti_dtype scale;
    unsigned char odd; /* number is DTI_NONE: the bits of unsigned codes */
    unsigned char flags;
};
/* A row of the table (quant_layouts.def). */
#define DTI_QUANT_ROW(layout_id, what, codes_id, packing_id, scale_id, more) \
    {.layout = DTI_LAYOUT_##layout_id,                                       \
     what,                                                                   \
     .codes = DTI_##codes_id,                                                \
     .packing = DTI_QUANT_##packing_id,                                      \
     .scale = DTI_##scale_id,                                                \
     .flags = more},
extern const struct dti_quant_row dti_quant_rows[];
extern const size_t dti_quant_row_count;

/* The row for a dtype or block format, or NULL. */
const struct dti_quant_row *dti_quant_row_find(enum dti_quant_layout layout, const char *dtype);
/* The suffix after X in the name of a part: "_scale"; NULL: the layout has no such part, or its
 * name is X with another end. */
const char *dti_quant_suffix(const struct dti_quant_row *row, enum dti_quant_part part);
/* The name of the row's block format or dtype; the format of one code, and its bits. */
const char *dti_quant_row_name(const struct dti_quant_row *row);
const struct dti_format *dti_quant_row_code(const struct dti_quant_row *row);
static inline unsigned dti_quant_row_bits(const struct dti_quant_row *row)
{
    return dti_quant_row_code(row)->width;
}
/* Whether a layout (or a row's layout) flattens tensors and stores their shape in a state. Its
 * parts are found by name, so npy files cannot have it. */
bool dti_quant_layout_is_flat(enum dti_quant_layout layout);
static inline bool dti_quant_is_flat(const struct dti_quant_row *row)
{
    return dti_quant_layout_is_flat(row->layout);
}
/* Whether a layout has codes of this dtype only after a rotation. */
static inline bool dti_quant_is_rotated(const struct dti_quant_row *row)
{
    return (row->flags & DTI_QUANT_ROTATED) != 0;
}
/* Whether each tensor of a layout has a part that says what it is; it is then read by that part. */
bool dti_quant_layout_has_state(enum dti_quant_layout layout);
/* Whether a layout's parts are named after modules: X is Y.weight, and they are Y.scales ... Such a
 * layout has matrices only, and is read by its row of layouts.h. */
bool dti_quant_layout_has_stems(enum dti_quant_layout layout);
/* Whether the table of this layout is for writing only. */
static inline bool dti_quant_layout_is_read_elsewhere(enum dti_quant_layout layout)
{
    return dti_quant_layout_has_state(layout) || dti_quant_layout_has_stems(layout);
}
/* The name of a part: *ret_suffix follows that many bytes of X, whose length is `length`. The row
 * has the part. */
size_t dti_quant_part_stem(const struct dti_quant_row *row, enum dti_quant_part part, size_t length,
                           const char **ret_suffix);
/* Whether the name could be that of a part other than codes, in any layout. *ret_length is the
 * length of X in it. */
bool dti_quant_is_side_name(const char *name, size_t length, size_t *ret_length);

enum { DTI_QUANT_RANK_MAX = 16 };
struct dti_quant_part_shape {
    bool there;
    enum dti_dtype dtype;
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX];
};

/* One quantized tensor, and its parts. */
struct dti_quant_stored {
    const struct dti_quant_row *row;
    enum dti_quant_per per; /* blocks: DTI_PER_GROUP */
    uint32_t group;         /* DTI_PER_GROUP */
    bool zero_points;       /* zero points are stored */
    bool pad;               /* rows are padded to whole groups */
    bool high;              /* BITS: element 0 in the high bits */
    bool tensor_scale;
    bool biases;                     /* each group has one */
    bool nested;                     /* scales are quantized too */
    const struct dti_format *number; /* original dtype, from a state; else NULL */
    unsigned rank, axis;             /* axis < rank; 0 for rank 0 */
    unsigned rotation;               /* columns of each group that was rotated; 0: none */
    const uint64_t *shape;
};
/* Dtypes and shapes of the parts. Fails with DTI_WRONG_KIND; the text continues a tensor's name:
 * "has 17 dimensions", "its rows of 33 elements are no whole blocks of 32". */
enum dti_status dti_quant_parts(const struct dti_quant_stored *stored,
                                struct dti_quant_part_shape ret[DTI_PART_COUNT],
                                struct dti_error *reterr);

/* The metadata entry: whether one is needed, and its value (see above). Key: DTI_QUANT_KEY and X.
 */
#define DTI_QUANT_KEY "dtinfo.quant."
enum { DTI_QUANT_ENTRY_SIZE = DTI_NAME_SIZE + 20 };
bool dti_quant_needs_entry(const struct dti_quant_stored *stored);
void dti_quant_entry(const struct dti_quant_stored *stored, char buffer[DTI_QUANT_ENTRY_SIZE]);
/* The entry of codes with biases: "affine 4 64". Shapes do not determine the two numbers. */
void dti_quant_biased_entry(unsigned bits, uint64_t length, char *buffer, size_t size);
/* Whether the rows are WORDS padded to groups whose length only the metadata entry has. */
bool dti_quant_hides_groups(const struct dti_quant_stored *stored);
/* Returns false if the value is not valid. *ret_group is 0 where it has no group length. */
bool dti_quant_entry_parse(const char *value, size_t length, const char **ret_dtype, bool *ret_high,
                           uint64_t *ret_group);

#endif

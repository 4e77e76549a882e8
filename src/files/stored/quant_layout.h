/* SPDX-License-Identifier: MIT
 *
 * A quantized tensor in a file is several tensors: codes, scales, and whatever else is needed to
 * recover the numbers. One table, quant_layouts.def, defines their names and shapes, for both
 * directions: quantization asks for the parts of a tensor, dequantization looks up what the names,
 * dtypes and shapes of a file mean, and then compares it with the parts that should be there.
 *
 * X is the name of the tensor, [r, c] its shape; others by the same rules.
 *   codes         X or X_packed  [r, c]; WORDS [r, ceil(c bits / 32)] int32; BITS [r, c bits / 8]
 *                                uint8. With padding c is what it was filled up to
 *   scale         X_scale        per tensor [1]; per channel [r, 1] (axis 0) or [1, c]; groups and
 *                                blocks [r, c / group]. modelopt: per tensor [], per channel [r]
 *   zero point    X_zero_point   as the scales, of the codes' dtype; absent where all are 0 by
 *                                definition (signed codes and DTI_SYMMETRY_FULL or _HALF; floats).
 *                                WORDS: per tensor, and of rank 0 and 1, int8, less 2^(bits - 1)
 *                                for unsigned codes; others packed as the codes are, but along
 *                                the last but one dimension: [ceil(r bits / 32), c / group]
 *   tensor scale  X_global_scale [1] fp32, its inverse; modelopt: X_scale_2 []
 *   shape         X_shape        [rank] int64, of the tensor as it was: WORDS, and where it was
 *                                padded
 *
 * bitsandbytes flattens the tensor, n elements in order; blocks cross rows:
 *   codes         X              [ceil(n / 2), 1] uint8, the first of two in the highest bits
 *   scale         X.absmax       [blocks] fp32; nested: uint8, codes of X.nested_quant_map
 *   map           X.quant_map    [16] fp32, the numbers of codes
 *   nested scale  X.nested_absmax     [ceil(blocks / 256)] fp32: see nested_scales.h
 *   nested map    X.nested_quant_map  [256] fp32
 *   state         X.quant_state.bitsandbytes__nf4 or __fp4: JSON as uint8
 * The metadata entry "dtinfo.quant.X" = "DTYPE low" or "DTYPE high" (the order of BITS) is there
 * where that does not follow: rows that are TOLD, high, 2 bits in WORDS where a row is a word, and
 * WORDS whose rows were filled up to whole groups; for these the group's length follows, as in
 * "int4 low 32". npy files have neither names nor metadata: OUT.npy has the codes, OUT_scale.npy
 * and so on are next to it. */
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
/* All layouts that are read, those first, each once; NULL after the last. */
const char *dti_layout_name(size_t index);

/* The tensors that a quantized one becomes. */
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
    DTI_PART_ORDER, /* which group a row has: of layouts that are only read, as are the next */
    DTI_PART_BIAS,  /* added to numbers */
    DTI_PART_COUNT
};
enum dti_quant_packing { DTI_QUANT_PLAIN, DTI_QUANT_BITS, DTI_QUANT_WORDS };
enum { DTI_QUANT_INVERSE = 1, DTI_QUANT_TOLD = 2 }; /* flags */

struct dti_quant_row {
    enum dti_quant_layout layout;
    const struct dti_block_format *block; /* NULL: codes of `number` */
    enum dti_dtype number;
    enum dti_dtype codes;
    enum dti_quant_packing packing;
    enum dti_dtype scale;
    unsigned flags;
};
/* One of the table (quant_layouts.def). */
#define DTI_QUANT_ROW(layout_id, what, codes_id, packing_id, scale_id, more) \
    {.layout = DTI_LAYOUT_##layout_id,                                       \
     what,                                                                   \
     .codes = DTI_##codes_id,                                                \
     .packing = DTI_QUANT_##packing_id,                                      \
     .scale = DTI_##scale_id,                                                \
     .flags = more},
extern const struct dti_quant_row dti_quant_rows[];
extern const size_t dti_quant_row_count;

/* The row of a dtype or block format, or NULL. */
const struct dti_quant_row *dti_quant_row_find(enum dti_quant_layout layout, const char *dtype);
/* The suffix after X in the name of a part: "_scale"; NULL: the layout has no such part. */
const char *dti_quant_suffix(const struct dti_quant_row *row, enum dti_quant_part part);
/* The name of the row's block format or dtype; the format of one code, and its bits. */
const char *dti_quant_row_name(const struct dti_quant_row *row);
const struct dti_format *dti_quant_row_code(const struct dti_quant_row *row);
static inline unsigned dti_quant_row_bits(const struct dti_quant_row *row)
{
    return dti_quant_row_code(row)->width;
}
/* Whether a layout, or that of a row, flattens tensors, and a state tells their shape. Its parts
 * are found by names: npy files cannot have it. */
bool dti_quant_layout_is_flat(enum dti_quant_layout layout);
static inline bool dti_quant_is_flat(const struct dti_quant_row *row)
{
    return dti_quant_layout_is_flat(row->layout);
}
/* Whether the name could be of a part other than codes, in any layout: *ret_length is that of the
 * X in it. */
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
    bool zero_points;       /* there are some */
    bool pad;               /* rows of groups are filled up to whole ones */
    bool high;              /* BITS: element 0 in the highest bits */
    bool tensor_scale;
    bool nested;                     /* scales are codes themselves */
    const struct dti_format *number; /* what it was before: a state tells it; else NULL */
    unsigned rank, axis;             /* axis: below rank; 0 for rank 0 */
    const uint64_t *shape;
};
/* What the parts look like. Fails with DTI_WRONG_KIND, with a reason that follows a tensor's name:
 * "has 17 dimensions", "its rows of 33 elements are no whole blocks of 32". */
enum dti_status dti_quant_parts(const struct dti_quant_stored *stored,
                                struct dti_quant_part_shape ret[DTI_PART_COUNT],
                                struct dti_error *reterr);

/* The metadata entry. Key: DTI_QUANT_KEY and X. Value: see above; needed or not. */
#define DTI_QUANT_KEY "dtinfo.quant."
enum { DTI_QUANT_ENTRY_SIZE = DTI_NAME_SIZE + 20 };
bool dti_quant_entry(const struct dti_quant_stored *stored, char buffer[DTI_QUANT_ENTRY_SIZE]);
/* Whether it is WORDS padded to groups whose length only that entry gives. */
bool dti_quant_hides_groups(const struct dti_quant_stored *stored);
/* False: the value is none. *ret_group is 0 where no group is given. */
bool dti_quant_entry_parse(const char *value, size_t length, const char **ret_dtype, bool *ret_high,
                           uint64_t *ret_group);

#endif

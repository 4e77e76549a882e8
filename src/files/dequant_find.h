/* SPDX-License-Identifier: MIT
 *
 * A tensor with its parts, as their names tell, and what is made of them. */
#ifndef DTINFO_FILES_DEQUANT_FIND_H
#define DTINFO_FILES_DEQUANT_FIND_H

#include "files/dequant_parts.h"

struct dti_dequant_group {
    const char *name; /* X; not ended by a NUL */
    size_t name_length;
    size_t at;        /* the tensor with the codes, in the container */
    bool packed_name; /* it is called X_packed */
    bool free_name;   /* an npy file: names say nothing */
    bool inverse;     /* scales are called X_scale_inv: those of rectangles, and factors for all
                       * their name */
    bool bound;       /* only rows of `layout` are meant */
    enum dti_quant_layout layout;
    bool told, told_high; /* there is a metadata entry */
    const char *told_dtype;
    uint64_t told_group;                          /* 0: no length of groups */
    struct dti_dequant_part part[DTI_PART_COUNT]; /* by enum dti_quant_part; container NULL: none */
};

static inline bool dti_dequant_has(const struct dti_dequant_group *group, enum dti_quant_part part)
{
    return group->part[part].container != NULL;
}

static inline const struct dti_tensor *dti_dequant_of(const struct dti_dequant_group *group,
                                                      enum dti_quant_part part)
{
    return dti_dequant_part_tensor(&group->part[part]);
}

/* What the codes are. */
struct dti_dequant_scheme {
    const struct dti_quant_row *row;
    const struct dti_block_format *block; /* or affine codes: */
    struct dti_format code;               /* of a code; WORDS: unsigned, as they are stored */
    unsigned bits;
};

/* dequant_match.c: fills all of *ret. */
enum dti_status dti_dequant_match(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  struct dti_dequant_found *ret, struct dti_error *reterr);

/* dequant_rows.c: which row of the table the parts are by; fills *ret_scheme, and of ret->how and
 * ret->form what follows from dtypes and shapes. told: the shape of the numbers by the part that
 * holds it, or NULL; otherwise it is filled. */
enum dti_status dti_dequant_choose(const struct dti_dequant_group *group, const uint64_t *told,
                                   uint64_t shape[DTI_QUANT_RANK_MAX],
                                   struct dti_dequant_scheme *ret_scheme,
                                   struct dti_dequant_found *ret, struct dti_error *reterr);

/* dequant_shape.c: from the shapes of codes and scales to rows and maps. shape: of the numbers, of
 * the codes' rank; stored: the same with all padding. Looks at ret->how.bits, row_bytes and
 * elements. False: the scales' shape fits no way. */
struct dti_dequant_shape {
    unsigned rank;
    const uint64_t *shape, *stored;
    const struct dti_tensor *scales;
};
bool dti_dequant_place_scales(const struct dti_dequant_shape *shape, unsigned block_length,
                              bool rectangles, struct dti_dequant_found *ret);

/* A refusal that names the part. */
enum dti_status dti_dequant_refuse(const struct dti_dequant_part *part, struct dti_error *reterr,
                                   const char *format, ...) DTI_PRINTF(3, 4);

#endif
